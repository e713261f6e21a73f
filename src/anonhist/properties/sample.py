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
    """A profile of n ≥ 1 items, or the profile of a release with runs of its mechanism.

    Attributes
    ----------
    profile
        The profile, as released where it is of a release.
    level
        Probability with which intervals are meant to hold the truth.
    release
        Where the profile comes from, if from a release.
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
        """Between how many labels and how many the data hold: what was counted, or the interval of the release."""
        return self._number_with(1, or_more=True)

    def exactly(self, count: int) -> tuple[float, float]:
        """Return between how many labels and how many of the data have exactly this count."""
        return self._number_with(count, or_more=False)

    def _number_with(self, count: int, *, or_more: bool) -> tuple[float, float]:
        if self.release is None:
            counted = float(self.profile.k_plus(count) if or_more else self.profile.prevalence(count))
            return counted, counted
        found = self.release.k_plus(count) if or_more else self.release.prevalence(count)
        # What a release says is meant for its own level: a higher one needs more room.
        wider = max(self.z / quantile(found.level), 1.0)
        low, high = found.interval
        return max(found.value - wider * (found.value - low), 0.0), found.value + wider * (high - found.value)

    def of(self, estimator: Estimator) -> tuple[float, float]:
        """Return the value of an estimator, with the error that intervals are made from."""
        point = estimator.point(self.profile)
        return point.value, self.error(error_of(point, self.profile), self.noise(estimator, point.value))

    def noise(self, estimator: Estimator, value: float) -> float:
        """Return ``sqrt(mean_b (f(R*_b) − f(R))²)`` over the runs R*_b on what was released; 0 where nothing was.

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
        """Return what an interval is made from: a sampling error and such noise, widened as it rests on few runs.

        Examples
        --------
        >>> from anonhist.profiles import Profile
        >>> Sample(Profile.from_counts([3, 1])).error(3.0, 0.0)
        3.0
        """
        return math.hypot(own, widening_factor(len(self.runs)) * noise) if self.runs else own
