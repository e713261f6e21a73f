"""The distribution of the noise on a counter: closed forms against sums and convolutions, at every scale."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.randomness import discrete_laplace_pmf, discrete_laplace_variance, negative_binomial_pmf
from anonhist.sketches.noise import NoiseComponent, NoiseDistribution
from anonhist_testing.cases import each_of
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

ONE = Fraction(1)
DISTRIBUTIONS = {
    "whole": [(Fraction(1, 2), ONE)],
    "steep": [(Fraction(12), ONE)],
    "two": [(Fraction(1), ONE), (Fraction(2), ONE)],
    "twice": [(Fraction(1), ONE), (Fraction(1), ONE)],
    "five": [(Fraction(1, 2), ONE)] * 3 + [(Fraction(1), ONE), (Fraction(3), ONE)],
    "share": [(Fraction(1), Fraction(1, 3))],
    "more than needed": [(Fraction(1), Fraction(1, 2))] * 3,
    "whole and share": [(Fraction(1), ONE), (Fraction(2), Fraction(1, 2))],
}


def slow_pmf(parts: list[tuple[Fraction, Fraction]], reach: int) -> np.ndarray:
    """By convolution of what each part is made of, wide enough that nothing is missing."""
    half = 150
    total = np.eye(1, 2 * half + 1, half)[0]
    for gamma, shape in parts:
        if shape == 1:
            distribution = discrete_laplace_pmf(gamma, np.arange(-half, half + 1))
        else:
            one = negative_binomial_pmf(gamma, shape.denominator, np.arange(half + 1))
            distribution = np.convolve(one, one[::-1])
        total = np.convolve(total, distribution)[half : 3 * half + 1]
    return total[half - reach : half + reach + 1]


@each_of("name", DISTRIBUTIONS)
def test_the_distribution_is_the_convolution_of_its_parts(name: str) -> None:
    distribution = NoiseDistribution.of(DISTRIBUTIONS[name])
    expected = slow_pmf(DISTRIBUTIONS[name], 30)
    assert distribution.pmf(30) == pytest.approx(expected, rel=0, abs=3e-15)
    wide = distribution.pmf(100)
    values = np.arange(-100, 101)
    assert distribution.variance == pytest.approx((values**2 * wide).sum(), rel=1e-10)
    angles = np.linspace(-4, 4, 9)
    assert distribution.characteristic(angles) == pytest.approx(np.cos(np.outer(angles, values)) @ wide, abs=1e-13)


@each_of("name", DISTRIBUTIONS)
@each_of("probability", [0.3, 1e-3, 1e-9])
def test_noise_stays_within_its_reach(name: str, probability: float) -> None:
    distribution = NoiseDistribution.of(DISTRIBUTIONS[name])
    reach = distribution.reach(probability)
    masses = slow_pmf(DISTRIBUTIONS[name], 140)
    beyond = np.array([masses[: 140 - k].sum() + masses[141 + k :].sum() for k in range(100)])
    assert beyond[reach] <= probability * (1 + 1e-12)
    least = int(np.flatnonzero(beyond <= probability)[0])
    if name in {"whole", "steep"}:
        assert reach == least
    else:
        assert reach <= 1.5 * least + 8


def test_parts_are_sorted_and_shares_of_one_rate_add_up() -> None:
    half = Fraction(1, 2)
    assert NoiseDistribution.of([(Fraction(2), ONE), (ONE, ONE)]) == NoiseDistribution.of(
        [(ONE, ONE), (Fraction(2), ONE)]
    )
    assert NoiseDistribution.of([(ONE, ONE), (ONE, ONE)]).parts == ((ONE, ONE), (ONE, ONE))
    assert NoiseDistribution.of([(ONE, half), (ONE, half)]).parts == ((ONE, ONE),)
    assert NoiseDistribution.of([(ONE, half), (Fraction(2), half)]).parts == ((ONE, half), (Fraction(2), half))
    component = NoiseComponent("0" * 32, ONE, half, "s", participants=3)
    assert NoiseDistribution.of([component] * 3).parts == ((ONE, Fraction(3, 2)),)


def test_no_parts_are_no_noise() -> None:
    distribution = NoiseDistribution.of([])
    assert (distribution.reach(1e-9), distribution.variance) == (0, 0)
    assert distribution.pmf(2).tolist() == [0, 0, 1, 0, 0]
    assert distribution.simulate(3, rng=np.random.default_rng(1)).tolist() == [0, 0, 0]


@pytest.mark.fresh
@pytest.mark.parametrize("name", ["whole", "five", "share"])
def test_simulated_noise_follows_the_distribution(name: str) -> None:
    """Each assertion fails by chance with probability at most 10^−9; the seed is fixed."""
    distribution = NoiseDistribution.of(DISTRIBUTIONS[name])
    masses = np.append(distribution.pmf(120), 0.0)
    values = distribution.simulate(20_000, rng=np.random.default_rng(1))
    assert values.dtype == np.int64

    def pmf(at: Any) -> np.ndarray:
        return masses[np.where(np.abs(at) <= 120, at + 120, -1)]

    assert_pmf_equal(values, pmf)
    assert_pmf_differs(2 * values, pmf)


@each_of("gamma", ["1/1099511627776", "1e-6", "1/1000", "50", "800", "1e64"])
@each_of("shapes", [["1"], ["1", "1"], ["1/2"], ["1", "1/7"]])
def test_every_rate_gives_finite_numbers(gamma: str, shapes: list[str]) -> None:
    distribution = NoiseDistribution.of([(Fraction(gamma), Fraction(shape)) for shape in shapes])
    assert np.isfinite(distribution.characteristic(np.linspace(0, 3.2, 7))).all()
    assert distribution.characteristic(np.zeros(1)).tolist() == [1.0]
    total = sum(map(Fraction, shapes))
    assert distribution.variance == pytest.approx(float(total) * discrete_laplace_variance(Fraction(gamma)), rel=1e-12)
    for probability in (0.5, 1e-15):
        assert distribution.reach(probability) >= 0
    assert distribution.simulate(5, rng=np.random.default_rng(1)).shape == (5,)
    if Fraction(gamma) >= Fraction(1, 1000):
        assert 0 < distribution.pmf(3).sum() <= 1 + 1e-12


def test_a_distribution_that_fills_the_memory_is_refused() -> None:
    wide = NoiseDistribution.of([(Fraction(1, 10**7), ONE)] * 2)
    with pytest.raises(UsageError, match="too wide"):
        wide.pmf(3)


@each_of("probability", [0.0, 1.0, -1.0, float("nan")])
def test_a_reach_needs_a_probability(probability: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        NoiseDistribution.of([(ONE, ONE)]).reach(probability)


@each_of(
    ("changed", "message"),
    [
        ({"identity": "0" * 31}, "32 hexadecimal digits"),
        ({"identity": "G" * 32}, "32 hexadecimal digits"),
        ({"identity": "0" * 32 + "\n"}, "32 hexadecimal digits"),
        ({"identity": None}, "32 hexadecimal digits"),
        ({"gamma": 1.0}, "exact number from 2"),
        ({"gamma": Fraction(0)}, "exact number from 2"),
        ({"gamma": Fraction(1, 2**41)}, "exact number from 2"),
        ({"gamma": Fraction(10**65)}, "exact number from 2"),
        ({"shape": 1}, "1, or 1/h"),
        ({"shape": Fraction(2)}, "1, or 1/h"),
        ({"shape": Fraction(2, 3)}, "1, or 1/h"),
        ({"shape": Fraction(-1, 2)}, "1, or 1/h"),
        ({"shape": Fraction(1, 2**32)}, "1, or 1/h"),
        ({"shape": Fraction(1, 2)}, "have a session"),
        ({"session": "s"}, "have a session"),
        ({"shape": Fraction(1, 2), "session": "a\nb"}, "have a session"),
    ],
)
def test_a_part_that_is_none_is_refused(changed: dict[str, Any], message: str) -> None:
    right: dict[str, Any] = {"identity": "0" * 32, "gamma": ONE, "shape": ONE, "session": ""}
    with pytest.raises(DataError, match=message):
        NoiseComponent(**{**right, **changed})
    assert NoiseComponent(**right) == NoiseComponent(**right)


def test_a_distribution_needs_rates_and_shapes_above_zero() -> None:
    for part in ((Fraction(0), ONE), (ONE, Fraction(0)), (ONE, Fraction(-1))):
        with pytest.raises(UsageError, match="greater than zero"):
            NoiseDistribution.of([part])
