"""What the curves are of: profiles of counts up to 50, counters with noise, errors in three norms, slopes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonhist.sketches.decoder import Counters, CounterSetting, Prevalences
from anonhist.sketches.noise import NoiseDistribution

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from anonhist.numeric.arrays import Floats
    from anonhist_papers.experiment import Point

# n: the largest count.
LARGEST = 50
BETA = 0.01
NORMS = {"1": "ℓ1", "2": "ℓ2", "inf": "ℓ∞"}
_ONES, _EVEN, _ZIPF = "all labels once", "counts spread evenly over 0..50", "Zipf(2) − 1, at most 50"
SHAPES = (_ONES, _EVEN, _ZIPF)


def shares_of(shape: str) -> Floats:
    """Return the probabilities of the counts 0..50.

    Examples
    --------
    >>> shares_of("all labels once")[:3].tolist()
    [0.0, 1.0, 0.0]
    """
    if shape == _ONES:
        found = np.zeros(LARGEST + 1)
        found[1] = 1
    elif shape == _EVEN:
        found = np.full(LARGEST + 1, 1 / (LARGEST + 1))
    elif shape == _ZIPF:
        found = np.arange(1.0, LARGEST + 2) ** -2 * 6 / math.pi**2
        found[-1] += 1 - found.sum()
    else:
        raise ValueError(shape)
    return found


def counts_of(shape: str, size: int, *, rng: np.random.Generator) -> Counters:
    """Return the counts of ``size`` labels, how many have each.

    Examples
    --------
    >>> counts_of("all labels once", 7, rng=np.random.default_rng()).numbers.tolist()
    [7]
    """
    return Counters.sum_of(np.arange(LARGEST + 1), rng.multinomial(size, shares_of(shape)))


def setting_of(epsilon: float) -> CounterSetting:
    """Return counters with discrete Laplace noise of this ε, one for each label of a known domain.

    Examples
    --------
    >>> setting_of(0.5).noise.parts
    ((Fraction(1, 2), Fraction(1, 1)),)
    """
    rate = Fraction(epsilon).limit_denominator(1000)
    return CounterSetting(NoiseDistribution.of([(rate, Fraction(1))]), is_hashed=False)


def as_they_are(observed: Counters) -> Prevalences:
    """Read counters as counts, moved into 0..50.

    Examples
    --------
    >>> as_they_are(Counters.of(np.array([-1, 0, 60]))).counts.tolist()
    [0, 50]
    """
    clipped = Counters.sum_of(np.clip(observed.values, 0, LARGEST), observed.numbers)
    return Prevalences(clipped.values, clipped.numbers.astype(np.float64))


def error_of(found: Prevalences, truth: Counters, norm: str) -> float:
    """Return ``‖f̂ − f‖`` of profiles, shares of the labels, in a norm ``"1"``, ``"2"`` or ``"inf"``.

    Examples
    --------
    >>> truth = Counters.of(np.array([0, 3]))
    >>> error_of(Prevalences(np.array([0, 4]), np.array([1.0, 1.0])), truth, "1")
    1.0
    """
    last = int(max(found.counts.max(initial=0), truth.values.max(initial=0)))
    apart = -truth.dense(0, last).astype(np.float64)
    apart[found.counts] += found.numbers
    return float(np.linalg.norm(apart / truth.size, float(norm)))


def slope(points: Mapping[float, Point]) -> tuple[float, float]:
    """Return the slope of a line in logarithms of both axes, by weighted least squares, and its standard error.

    Examples
    --------
    >>> from anonhist_papers.experiment import Point
    >>> points = {x: Point("", "error", x, x**-0.5, 0.01 * x**-0.5, 100) for x in (100.0, 1000.0, 10_000.0)}
    >>> tuple(round(each, 4) for each in slope(points))
    (-0.5, 0.0031)
    """
    x = np.log([point.x for point in points.values()])
    y = np.log([point.mean for point in points.values()])
    relative = np.array([max(point.standard_error / point.mean, 1e-9) for point in points.values()])
    weights = relative**-2
    centered = x - (weights @ x) / weights.sum()
    spread = weights @ centered**2
    return float((weights * centered) @ y / spread), float(spread**-0.5)


def mean_of(numbers: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean of independent numbers, each with its standard error, and that of the mean.

    Examples
    --------
    >>> mean_of([(-0.4, 0.3), (-0.6, 0.4)])
    (-0.5, 0.25)
    """
    each = list(numbers)
    return math.fsum(one for one, _ in each) / len(each), math.hypot(*(error for _, error in each)) / len(each)


def within(found: float, error: float, margin: float) -> bool | None:
    """Whether a number, with its standard error, is at most ``margin`` from 0; None if two of them leave it open.

    Examples
    --------
    >>> within(0.01, 0.01, 0.05), within(0.2, 0.01, 0.05), within(0.04, 0.02, 0.05)
    (True, False, None)
    """
    if abs(found) + 2 * error <= margin:
        return True
    return False if abs(found) - 2 * error > margin else None


def signed(number: float, digits: int = 3) -> str:
    """Return a number with a minus sign, not a hyphen.

    Examples
    --------
    >>> signed(-0.5)
    '−0.500'
    """
    return f"{number:.{digits}f}".replace("-", "−")


def all_of(*parts: bool | None) -> bool | None:
    """Whether all parts hold; None if none fails but some are open.

    Examples
    --------
    >>> all_of(True, None), all_of(None, False), all_of(True, True)
    (None, False, True)
    """
    if False in parts:
        return False
    return None if None in parts else True
