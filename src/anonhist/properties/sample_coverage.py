"""The sample coverage, the probability of all labels seen: estimators and intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from anonhist.profiles import Profile
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement
from anonhist.properties.estimator import LinearEstimator, LinearStatistic, Point, Resimulated, apply, check_method

if TYPE_CHECKING:
    from anonhist.properties.estimator import Estimator, Sample


class GoodTuring(LinearEstimator):
    """``C = 1 − φ_1/n`` (Good 1953), with the error of :func:`esty_error`.

    For one label it is 1; for singletons, even one, it is 0.
    """

    name = "good-turing"
    assumes = "items are drawn independently"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        # This is exact up to the division.
        value = (profile.n - profile.prevalence(1)) / profile.n
        return Point(value, self.statistic(profile.n).weights, esty_error(profile), zero_error_warning(profile))

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items: ``w(j) = j/n`` for j ≥ 2, and 0 below."""
        return LinearStatistic(lambda counts: np.where(counts > 1, counts / n, 0.0), head=2)


def esty_error(profile: Profile) -> float:
    """Return ``sqrt((φ_1·(n − φ_1) + 2n·φ_2)/n³)``, from exact integers (Esty 1983).

    This is the error relative to the coverage of this sample, which is itself random: it exceeds the sampling error of
    φ_1/n.
    """
    n, once, twice = profile.n, profile.prevalence(1), profile.prevalence(2)
    return math.sqrt((once * (n - once) + 2 * n * twice) / n**3)


def zero_error_warning(profile: Profile) -> tuple[str, ...]:
    """Warn if the error is 0 only because the sample does not show it."""
    if profile.prevalence(1) == profile.n:
        return ("Every label was seen once: the coverage is small, but how small cannot be estimated.",)
    if profile.prevalence(1) or profile.prevalence(2):
        return ()
    return ("No label was seen once or twice: the coverage is close to 1, but how close cannot be estimated.",)


@dataclass(frozen=True)
class ChaoJost:
    """``C = 1 − (φ_1/n)·A`` with ``A = (n − 1)·φ_1/((n − 1)·φ_1 + 2·φ_2)`` (Chao and Jost 2012, eq. 4a).

    If φ_2 is 0, ``A = (n − 1)·(φ_1 − 1)/((n − 1)·(φ_1 − 1) + 2)``, as in iNEXT. It is exact up to the last division. It
    differs from Good–Turing by about ``2·φ_2/n²``, far less than the error of both, which is Esty's. For one label it
    is 1, or 0 if it was seen once; for n ≥ 2 singletons ``2/((n − 1)² + 2)``; for one singleton among labels seen more
    than twice it is 1.
    """

    name: ClassVar[str] = "chao-jost"
    assumes: ClassVar[str] = "items are drawn independently, and labels not seen are about as frequent as singletons"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        n, once, twice = profile.n, profile.prevalence(1), profile.prevalence(2)
        if n == 1 or not once:
            value = float(n > 1)
        else:
            above, below = ((n - 1) * once, 2 * twice) if twice else ((n - 1) * (once - 1), 2)
            value = (n * (above + below) - once * above) / (n * (above + below))
        return Point(value, standard_error=esty_error(profile), warnings=zero_error_warning(profile))


_LITTLE = 0.5
_FEW = "the interval is that of a count: labels may be missing even if none was seen once"


@dataclass(frozen=True)
class CoverageInterval:
    """``1 − M`` with ``n·M`` from ``φ_1 + z²/2 ± z·sqrt(n²·error² + z²)``, for all methods; M is the missing mass.

    ``n·M`` is as random as its estimate φ_1, and both move in few, large steps: a missed label may have an expected
    count of five. So the interval is that of a count, as Wilson's is of a share, with four times the Poisson term z²/4;
    with z²/4 itself, the interval held in only 87% on the worst measured shape. For n items without labels seen once
    or twice, M may be up to ``1.5·z²/n``. If less than half is covered, the upper end of the coverage is
    ``C + z²/n + z·sqrt(error² + z²/n²)``: n singletons may have a coverage up to ``2·z²/n``.
    """

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        covered, spread = sample.of(GoodTuring())
        z, n = sample.z, float(sample.profile.n)
        middle, half = 1.0 - covered + z**2 / (2 * n), z * math.hypot(spread, z / n)
        low, high = max(1.0 - middle - half, 0.0), min(1.0 - middle + half, 1.0)
        if covered < _LITTLE:
            # In this case the repeats are the count, and each is two items.
            high = min(covered + z**2 / n + half, 1.0)
        return Bounds(low, high, Statement(Holds.BOTH, _FEW)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return 0.0, 1.0


_ESTIMATORS: dict[str, Estimator] = {estimator.name: estimator for estimator in (GoodTuring(), ChaoJost())}
SampleCoverageMethod = Literal["good-turing", "chao-jost"]
SAMPLE_COVERAGE_METHODS: tuple[str, ...] = get_args(SampleCoverageMethod)


def sample_coverage(
    data: Profile | Resimulated, *, method: SampleCoverageMethod | None = None, level: float = 0.95
) -> Estimate:
    """Estimate the probability ``Σ_{x seen} p_x`` that the next item has a label seen before.

    Source: Good 1953; Chao and Jost 2012, eq. 4a; Esty 1983.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    method
        ``"good-turing"`` (default) or ``"chao-jost"``.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, or the level is impossible.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(sample_coverage(Profile.from_counts([9, 4, 2, 2, 1, 1, 1])))
    0.85 (95% interval 0.438059 to 1)
    """
    return apply(data, sample_coverage_estimator(method), CoverageInterval(), level=level)


def sample_coverage_estimator(method: str | None) -> Estimator:
    """Return the estimator with this name."""
    name = method or GoodTuring.name
    check_method(name, SAMPLE_COVERAGE_METHODS, of="sample coverage")
    return _ESTIMATORS[name]
