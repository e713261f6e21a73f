"""A profile and its known errors: the input of intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.numeric.pulse import pulsing
from anonhist.properties.estimator import error_of, value_of
from anonhist.properties.levels import quantile, widening_factor

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Estimator, Resimulated


@dataclass(frozen=True)
class Sample:
    """A profile of n ≥ 1 items, or the profile of a release together with runs of its mechanism.

    Attributes
    ----------
    profile
        The profile, exact or released.
    level
        Probability with which intervals are meant to contain the truth.
    release
        The release that the profile comes from, if any.
    runs
        Runs of the mechanism of the release on the profile.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> Sample(Profile.from_counts([3, 1])).labels
    (2.0, 2.0)
    """

    profile: Profile
    level: float = 0.95
    release: Resimulated | None = None
    runs: tuple[Profile, ...] = ()

    @property
    def z(self) -> float:
        """The normal quantile of the level, for two sides."""
        return quantile(self.level)

    @property
    def labels(self) -> tuple[float, float]:
        """Bounds on the number of labels in the data: the exact number, or the interval of the release."""
        return self._number_with(1, or_more=True)

    def exactly(self, count: int) -> tuple[float, float]:
        """Return bounds on the number of labels in the data with exactly this count."""
        return self._number_with(count, or_more=False)

    def _number_with(self, count: int, *, or_more: bool) -> tuple[float, float]:
        if self.release is None:
            counted = float(self.profile.k_plus(count) if or_more else self.profile.prevalence(count))
            return counted, counted
        found = self.release.k_plus(count) if or_more else self.release.prevalence(count)
        # The interval of a release is for its own level: a higher level needs a wider one.
        wider = max(self.z / quantile(found.level), 1.0)
        low, high = found.interval
        return max(found.value - wider * (found.value - low), 0.0), found.value + wider * (high - found.value)

    def of(self, estimator: Estimator) -> tuple[float, float]:
        """Return the value of an estimator and the error that intervals are computed from."""
        point = estimator.point(self.profile)
        return point.value, self.error(error_of(point, self.profile), self.noise(estimator, point.value))

    def noise(self, estimator: Estimator, value: float) -> float:
        """Return ``sqrt(mean_b (f(R*_b) − f(R))²)`` over the runs R*_b on the release R; 0 without runs.

        Examples
        --------
        >>> from anonhist.profiles import Profile
        >>> from anonhist.properties.support_size.observed import Observed
        >>> Sample(Profile.from_counts([3, 1]), runs=(Profile.from_counts([4]),)).noise(Observed(), 2.0)
        1.0
        """
        if not self.runs:
            return 0.0
        far = math.fsum((value_of(estimator, run) - value) ** 2 for run in pulsing(self.runs))
        return math.sqrt(far / len(self.runs))

    def error(self, own: float, noise: float) -> float:
        """Return the error that an interval is computed from: sampling error and noise, widened for the number of runs.

        Examples
        --------
        >>> from anonhist.profiles import Profile
        >>> Sample(Profile.from_counts([3, 1])).error(3.0, 0.0)
        3.0
        """
        return math.hypot(own, widening_factor(len(self.runs)) * noise) if self.runs else own
