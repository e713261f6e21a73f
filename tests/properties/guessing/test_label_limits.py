"""Upper bounds of guessing success from how many labels a sample has."""

from fractions import Fraction
from itertools import product
from math import comb, factorial

import numpy as np
import pytest

from anonhist.profiles import Profile
from anonhist.properties.estimator import Sample
from anonhist.properties.guessing_curve import guessing_curve, guessing_success
from anonhist.properties.label_limits import LabelWeights, all_weights, label_limits
from anonhist.properties.share_band import largest_shares


def exact_weight(a: Fraction, h: Fraction, items: int, count: int) -> Fraction:
    """The unique weights with the mean G(x): coefficients of its Bernstein form."""
    # (1 − h·n·x)² = ((1 − a·x) − b·x)², b = h·n − a; and x^k·(1 − a·x)^(n − k) = Σ_c [c]_k/[n]_k·s^(c − k)·pmf(c).
    b, s = h * items - a, 1 - a
    mean = Fraction(0)
    for k in range(3):
        falling = Fraction(comb(count, k), comb(items, k))
        mean += comb(2, k) * (-b) ** k * falling * (s ** (count - k) if count >= k else 0)
    return 1 - mean


@pytest.mark.parametrize(("a", "h"), [(1.0, 0.0), (0.5, 0.0), (0.5, 1.0), (0.25, 1.0), (1.0, 4.0)])
@pytest.mark.parametrize("items", [2, 5, 9])
def test_weights_have_the_mean_that_the_proof_needs(a: float, h: float, items: int) -> None:
    made = LabelWeights.of(a, h, items)
    exact = [exact_weight(Fraction(a), Fraction(h), items, count) for count in range(items + 1)]
    assert exact[0] == 0
    np.testing.assert_allclose(made.weights[:items], np.array(exact[1:], dtype=float), rtol=1e-12)
    steps = np.diff(np.array(exact, dtype=float))
    assert made.range >= steps.max() - steps.min()
    for x in (Fraction(number, 40) for number in range(41)):
        mean = sum(
            comb(items, count) * x**count * (1 - x) ** (items - count) * exact[count] for count in range(items + 1)
        )
        assert mean == 1 - (1 - Fraction(a) * x) ** (items - 2) * (1 - Fraction(h) * items * x) ** 2
        assert mean <= 1
        assert mean <= items * x * (Fraction(a) + 2 * Fraction(h))


@pytest.mark.parametrize("p", [(6, 3, 1), (4, 4, 2), (8, 1, 1)])
def test_the_mean_bound_lies_above_the_distribution(p: tuple[int, ...]) -> None:
    items, shares = 6, [Fraction(each, sum(p)) for each in p]
    for a, h in ((1.0, 0.0), (0.5, 0.5), (1.0, 2.0)):
        made, mean = LabelWeights.of(a, h, items), 0.0
        weights = np.append(0.0, made.weights)
        for counts in product(range(items + 1), repeat=3):
            if sum(counts) == items:
                chance = Fraction(factorial(items))
                for share, count in zip(shares, counts, strict=True):
                    chance *= share**count / factorial(count)
                mean += float(chance) * float(weights[list(counts)].sum())
        for guesses in (1, 2, 3):
            assert 1 - made.width / items * (mean - guesses) >= float(sum(shares[:guesses])) - 1e-12


def test_one_item_moves_the_sum_by_no_more_than_its_range() -> None:
    items, rng = 60, np.random.default_rng(1)
    for made in all_weights(items):
        weights = np.append(0.0, made.weights)
        largest = 0.0
        for _ in range(60):
            counts = rng.multinomial(items, np.full(20, 0.05))
            source, target = rng.choice(20, 2, replace=False)
            if counts[source]:
                after = counts.copy()
                after[source] -= 1
                after[target] += 1
                largest = max(largest, abs(float(weights[after].sum() - weights[counts].sum())))
        assert 0 < largest <= made.range + 1e-12


def test_the_bound_is_far_below_the_sample_where_labels_are_rare() -> None:
    rng = np.random.default_rng(2)
    drawn = Profile.from_counts(np.unique(rng.integers(200_000, size=100_000), return_counts=True)[1])
    marks, sample = np.array([1, 1_000, 20_000, 50_000, 100_000]), Sample(drawn, 0.95, None)
    found = label_limits(sample, marks, miss=0.005)
    assert np.all(found >= marks / 200_000)
    assert found[3] < 0.55
    by_items = largest_shares(np.array([0.6]), drawn.n, miss=0.02)
    assert by_items[0] > 0.6
    # What is known of the distribution leaves out the share of the sample, 0.72.
    success = guessing_success(drawn, guesses=50_000)
    assert 0.25 < success.value == success.interval[1] < 0.55
    assert success.method == "plug-in, moved into bounds"
    curve = guessing_curve(drawn, points=5, rng=rng)
    assert curve.value[-1] == curve.high[-1] < 0.8
    assert guessing_success(drawn, guesses=50_000, of="data").value > 0.7


def test_samples_too_small_say_nothing() -> None:
    for counts in ([1], [2], [1, 1]):
        sample = Sample(Profile.from_counts(counts), 0.95, None)
        assert np.minimum(label_limits(sample, np.array([1, 2]), miss=0.005), 1).tolist() == [1.0, 1.0]
