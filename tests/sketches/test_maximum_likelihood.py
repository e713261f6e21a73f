from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.sketches.decoder import STRAY, Counters, CounterSetting, Prevalences, Window, between_cells
from anonhist.sketches.likelihood import _GAP, MaximumLikelihood, _along, _most_likely
from anonhist.sketches.noise import NoiseDistribution
from anonhist_testing.cases import each_of
from anonhist_testing.strategies import repeatable


def _distribution(*epsilons: str) -> NoiseDistribution:
    return NoiseDistribution.of([(Fraction(epsilon), Fraction(1)) for epsilon in epsilons])


def _decode(counters: NDArray[np.int64], distribution: NoiseDistribution) -> Prevalences:
    return MaximumLikelihood().decode(Counters.of(counters), CounterSetting(distribution, is_hashed=False))


def _case(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Numbers seen, and a kernel: noise on counts 0 to 11."""
    rng = np.random.default_rng(seed)
    epsilon = float(rng.choice([0.3, 1.0, 3.0]))
    kernel = np.exp(-epsilon * np.abs(np.arange(-6, 18)[:, np.newaxis] - np.arange(12)))
    kernel /= kernel.sum(axis=0)
    weights = rng.dirichlet(np.full(12, 0.2))
    seen = rng.multinomial(10 ** int(rng.integers(1, 6)), kernel @ weights / (kernel @ weights).sum()).astype(float)
    return seen[seen > 0], kernel[seen > 0]


def _missing(seen: NDArray[np.float64], kernel: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The bound of what is missing to the maximum, in nats."""
    total = seen.sum()
    return float(total * np.log(max(float((kernel.T @ (seen / (kernel @ weights))).max()), 1.0)))


@each_of("seed", range(12))
def test_no_other_distribution_is_more_likely(seed: int) -> None:
    from scipy.optimize import minimize

    seen, kernel = _case(seed)
    total = seen.sum()
    found = _most_likely(seen, kernel)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total)

    def loss(share: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        means = np.maximum(kernel @ share, 1e-300)
        return -float(seen @ np.log(means)) / total, -kernel.T @ (seen / means) / total

    other = minimize(
        loss,
        np.full(12, 1 / 12),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * 12,
        constraints={"type": "eq", "fun": lambda share: share.sum() - 1, "jac": lambda _: np.ones(12)},
        options={"ftol": 1e-13, "maxiter": 500},
    )
    reached = float(seen @ np.log(kernel @ found / total))
    assert reached >= -total * other.fun - _GAP
    # The certificate, computed anew.
    assert _missing(seen, kernel, found) <= _GAP * 1.001


@each_of("seed", range(6))
def test_the_bound_holds_on_the_way(seed: int) -> None:
    """For any weights, the best are at most so much better as the bound says."""
    seen, kernel = _case(seed)
    best = _most_likely(seen, kernel)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        weights = rng.dirichlet(np.ones(12)) * seen.sum()
        better = float(seen @ np.log((kernel @ best) / (kernel @ weights)))
        assert better <= _missing(seen, kernel, weights)


@each_of("seed", range(6))
def test_steps_are_shortened_until_they_gain(seed: int) -> None:
    seen, kernel = _case(seed)
    weights = 0.9 * _most_likely(seen, kernel) + 0.1 * seen.sum() / 12
    gradient = kernel.T @ (seen / (kernel @ weights))
    upward = np.flatnonzero(gradient > 1.001)
    assert upward.size > 0
    for corner in upward:
        target = seen.sum() * np.eye(12)[corner]
        moved = _along(seen, kernel, weights, target)
        assert moved.sum() == pytest.approx(seen.sum())
        assert float(seen @ np.log((kernel @ moved) / (kernel @ weights))) > 0


@pytest.mark.slow
@each_of("epsilon", ["0.3", "1", "3"])
@each_of("shape", ["long", "narrow"])
def test_many_counters_are_converged_too(shape: str, epsilon: str) -> None:
    distribution, counts = _distribution(epsilon), np.arange(1.0, 5001)
    share = counts**-1.5 if shape == "long" else np.exp(-0.5 * (counts - 6) ** 2 / 5)
    reach = distribution.reach(1e-14)
    numbers = np.random.default_rng(3).poisson(1e8 * np.convolve(share / share.sum(), distribution.pmf(reach)))
    values = np.arange(1 - reach, 5001 + reach)
    observed = Counters(values[numbers > 0], numbers[numbers > 0])
    found = MaximumLikelihood().decode(observed, CounterSetting(distribution, is_hashed=False))
    window = Window.of(observed, distribution)
    kernel = between_cells(distribution.pmf(window.reach), -window.reach, window.values, window.counts) / np.diff(
        window.counts
    )
    met = window.cell_numbers > 0
    weights = np.add.reduceat(found.numbers[: window.last], window.counts[:-1])
    assert _missing(window.cell_numbers[met], kernel[met] + STRAY, weights) <= 1.001 * _GAP


@pytest.mark.parametrize(("epsilon", "most"), [("0.3", 0.06), ("1", 0.02), ("3", 0.004)])
def test_it_is_converged_where_all_counts_are_one(epsilon: str, most: float) -> None:
    found = _decode(1 + _distribution(epsilon).simulate(10**5, rng=np.random.default_rng(6)), _distribution(epsilon))
    assert found.numbers[1] > (1 - most) * 10**5


@pytest.mark.parametrize("epsilons", [("1",), ("0.3",), ("1", "2")])
def test_a_few_different_counts_are_found(epsilons: tuple[str, ...]) -> None:
    distribution = _distribution(*epsilons)
    rng = np.random.default_rng(1)
    counts = rng.choice([0, 3, 40, 200], 10**5, p=[0.5, 0.3, 0.1, 0.1])
    found = _decode(counts + distribution.simulate(10**5, rng=rng), distribution)
    for count, least, most in ((0, 0, 1), (3, 2, 4), (40, 38, 42), (200, 185, 215)):
        around = found.numbers[(found.counts >= least) & (found.counts <= most)].sum()
        assert around == pytest.approx(np.count_nonzero(counts == count), rel=0.03)


def test_hardly_any_noise_leaves_the_counts() -> None:
    counters = np.array([0, 0, 0, 1, 1, 2, 7, 7, 7, 40])
    for distribution in (_distribution("20"), NoiseDistribution(())):
        found = _decode(counters, distribution)
        np.testing.assert_allclose(found.numbers, np.bincount(counters)[found.counts], atol=0.01)


def test_a_value_that_nothing_explains_is_unlikely_but_not_impossible() -> None:
    distribution = NoiseDistribution.of([(Fraction(20), Fraction(1, 10))])
    assert distribution.pmf(2)[0] == 0
    found = MaximumLikelihood().decode(
        Counters(np.array([-(2**40), 0, 3, 2**20]), np.array([2, 50, 7, 1])),
        CounterSetting(distribution, is_hashed=False),
    )
    # All counts explain it as badly, so each gets its share of those two counters.
    np.testing.assert_allclose(found.numbers[[0, 3, -1]], [59 * 50 / 57, 59 * 7 / 57, 1], atol=0.02)


def test_noise_that_hides_all_is_refused() -> None:
    with pytest.raises(UsageError, match="use a larger epsilon"):
        _decode(np.array([3]), _distribution("0.00001"))


def test_nothing_is_learned_from_nothing() -> None:
    assert _decode(np.zeros(0, dtype=np.int64), _distribution("1")).counts.size == 0


DISTRIBUTIONS = [
    *(_distribution(epsilon) for epsilon in ("0.02", "0.3", "1", "20")),
    _distribution("1", "1", "0.5"),
    NoiseDistribution.of([(Fraction(13), Fraction(1, 10)), (Fraction(2), Fraction(1))]),
    NoiseDistribution(()),
]
HISTOGRAMS = st.dictionaries(
    st.one_of(st.integers(-3, 12), st.integers(-60, 300), st.sampled_from([-(2**61), 2**20, 2**61])),
    st.sampled_from([1, 2, 3, 1000, 10**12]),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow
@settings(repeatable, max_examples=40)
@given(HISTOGRAMS, st.sampled_from(DISTRIBUTIONS))
def test_any_values_give_finite_numbers_and_lose_no_counter(
    numbers: dict[int, int], distribution: NoiseDistribution
) -> None:
    values = sorted(numbers)
    observed = Counters(np.array(values), np.array([numbers[value] for value in values]))
    found = MaximumLikelihood().decode(observed, CounterSetting(distribution, is_hashed=False))
    assert np.isfinite(found.numbers).all()
    assert found.numbers.sum() == pytest.approx(observed.size, rel=1e-9)
