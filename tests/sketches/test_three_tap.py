"""The three-tap inverse: exact on average, of the stated norm, on values however far apart."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.sketches import inverses
from anonhist.sketches.decoder import Counters
from anonhist.sketches.inverses import Circulant, at_least_zero, without_noise
from anonhist.sketches.noise import NoiseDistribution
from anonhist_testing.cases import each_of


def distribution_of(*parts: tuple[float, float]) -> NoiseDistribution:
    return NoiseDistribution(tuple((Fraction(str(gamma)), Fraction(str(shape))) for gamma, shape in parts))


DISTRIBUTIONS = {
    "one": distribution_of((1, 1)),
    "little privacy": distribution_of((20, 1)),
    "merged": distribution_of((0.5, 1), (1, 1), (3, 1)),
    "the same twice": distribution_of((1, 1), (1, 1)),
    "too few shares": distribution_of((1, 0.75)),
    "more shares than needed": distribution_of((1, 1.25)),
    "twice as many shares": distribution_of((1, 2)),
    "shares and a whole": distribution_of((0.8, 0.5), (2, 1)),
}


def expected_counters(distribution: NoiseDistribution, counts: list[int], reach: int) -> Counters:
    """Return what is expected to be observed of these counts: shares of counters, not whole numbers."""
    low = min(counts) - reach
    seen = np.zeros(max(counts) - min(counts) + 2 * reach + 1)
    for count in counts:
        seen[count - low - reach : count - low + reach + 1] += distribution.pmf(reach)
    met = seen > 0  # far out the distribution is below the least float
    return Counters(np.arange(low, low + seen.size)[met], seen[met])  # type: ignore[arg-type]  # expectations are no whole numbers


@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_the_expectation_is_the_profile_exactly(distribution: NoiseDistribution) -> None:
    counts = [0, 0, 0, 1, 4, 4, 9]
    reach = 60 if len(distribution.parts) > 1 else 45
    values, numbers = without_noise(expected_counters(distribution, counts, reach), distribution)
    truth = np.array([counts.count(value) for value in values.tolist()])
    # The ends of the window are where the noise is cut off, and count for less than e^(−0.5·60).
    np.testing.assert_allclose(numbers, truth, atol=1e-11)
    assert numbers.sum() == pytest.approx(len(counts), abs=1e-11)


def filter_of(distribution: NoiseDistribution) -> NDArray[np.float64]:
    return without_noise(Counters.of(np.zeros(1, dtype=np.int64)), distribution)[1]


@each_of("gammas", [(1,), (0.3,), (3,), (0.5, 1), (1, 1, 2)])
def test_norms_are_products_of_squared_hyperbolic_cotangents(gammas: tuple[float, ...]) -> None:
    taps = filter_of(distribution_of(*((gamma, 1) for gamma in gammas)))
    assert taps.size == 2 * len(gammas) + 1
    expected = math.prod(1 / math.tanh(gamma / 2) ** 2 for gamma in gammas)
    # In ℓ1 and ℓ∞ a convolution has the norm of its filter; in ℓ2, that of its largest transfer, at every other value.
    assert np.abs(taps).sum() == pytest.approx(expected, rel=1e-12)
    assert np.abs(np.fft.fft(taps, 64)).max() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_is_the_inverse_of_the_circulant_matrix_of_wrapped_noise(distribution: NoiseDistribution) -> None:
    length, low = 512, -200
    noise = Circulant(length, distribution.characteristic(2 * np.pi * np.arange(length // 2 + 1) / length))
    observed = Counters.of(np.random.default_rng(5).poisson(6, 300) - 2)
    expected = noise.solve(observed.dense(low, low + length - 1).astype(np.float64))
    values, numbers = without_noise(observed, distribution)
    found = np.zeros(length)
    inside = (values >= low) & (values < low + length)
    found[values[inside] - low] = numbers[inside]
    np.testing.assert_allclose(found, expected, atol=1e-9 * float(np.abs(expected).max()))
    np.testing.assert_allclose(numbers[~inside], 0, atol=1e-12)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_values_far_apart_do_not_meet(distribution: NoiseDistribution) -> None:
    rng = np.random.default_rng(6)
    near = rng.integers(-3, 40, 200) ** 2
    far = np.concatenate((near - 2**61, near, near + 2**61, [2**62, -(2**62)]))
    values, numbers = without_noise(Counters.of(far), distribution)
    assert (values[1:] > values[:-1]).all()
    for shift in (-(2**61), 0, 2**61):
        alone_values, alone = without_noise(Counters.of(near + shift), distribution)
        np.testing.assert_array_equal(alone_values, values[np.isin(values, alone_values)])
        np.testing.assert_allclose(
            numbers[np.isin(values, alone_values)], alone, atol=1e-9 * float(np.abs(alone).max())
        )
    assert values[-1] > 2**62
    assert values.size < 300 * (2 * 3 + 1) + 700 * 70


def test_both_ends_alone_stay_apart() -> None:
    # Their distance is more than int64 holds.
    values, _ = without_noise(Counters.of(np.array([-(2**62), 2**62])), DISTRIBUTIONS["one"])
    assert values.tolist() == [end + step for end in (-(2**62), 2**62) for step in (-1, 0, 1)]


def test_one_value_between_rows_belongs_to_both() -> None:
    # Rows two, three and four apart, where two filters meet, touch and miss each other.
    for gap in (2, 3, 4, 5, 6):
        observed = Counters.of(np.array([7, 7, 7 + gap]))
        for distribution in (DISTRIBUTIONS["one"], DISTRIBUTIONS["the same twice"]):
            taps = filter_of(distribution)
            expected = np.convolve([2] + [0] * (gap - 1) + [1], taps)
            values, numbers = without_noise(observed, distribution)
            found = np.zeros(expected.size)
            found[values - 7 + taps.size // 2] = numbers
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_what_stands_below_zero_is_counted_as_zero() -> None:
    for low, seen, counts, expected in [
        (-2, [1.0, 2.0, 4.0, 8.0], [0, 1], [7.0, 8.0]),
        (-3, [1.0, 2.0], [0], [3.0]),
        (0, [1.0, 2.0], [0, 1], [1.0, 2.0]),
        (4, [1.0, 2.0], [0, 4, 5], [0.0, 1.0, 2.0]),
    ]:
        found = at_least_zero(np.arange(low, low + len(seen)), np.array(seen))
        assert found[0].tolist() == counts
        assert found[1].tolist() == expected


def test_fractions_of_shares_are_refused_on_values_too_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inverses, "_LONGEST", 1000)
    observed = Counters.of(np.arange(0, 20_000, 1000))
    assert without_noise(observed, DISTRIBUTIONS["merged"])[0].size == 20 * 7
    with pytest.raises(UsageError, match="add the shares of the missing parties"):
        without_noise(observed, DISTRIBUTIONS["too few shares"])


def test_the_noise_of_a_hundred_sketches_stays_finite() -> None:
    distribution = NoiseDistribution(((Fraction(1, 1000), Fraction(1)),) * 100)
    _, numbers = without_noise(Counters.of(np.array([0, 3])), distribution)
    assert np.isfinite(numbers).all()
