"""From a value and its standard error to an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from anonhist.properties.statement import Bounds, Holds, Statement

if TYPE_CHECKING:
    from anonhist.properties.estimator import Estimator
    from anonhist.properties.sample import Sample


class Interval(Protocol):
    """A way to make intervals for one property."""

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the interval for a value with a standard error, from a sample with at least one item."""

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""


@dataclass(frozen=True)
class NormalInterval:
    """``value ± z·error``, clipped to the range of the property: for estimators with negligible bias.

    Attributes
    ----------
    least, most
        Range of the property.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
    >>> found = NormalInterval(0.0, 1.0).of(Sample(Profile([1], [1])), 0.5, 0.1)
    >>> round(found.low, 3), round(found.high, 3)
    (0.304, 0.696)
    """

    least: float = -math.inf
    most: float = math.inf

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        half = sample.z * error
        return Bounds(max(value - half, self.least), min(value + half, self.most)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        return self.least, self.most


@dataclass(frozen=True)
class LowerEnd:
    """The lower end of the normal interval of an estimator that is too low on average, for every distribution.

    It is the same for all methods, since they estimate the same truth.

    Attributes
    ----------
    estimator
        The estimator that gives the end.
    reason
        Why there is no upper end.
    range
        Range of the property.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
    >>> from anonhist.properties.support_size.observed import Observed
    >>> round(LowerEnd(Observed(), "labels may be missing").of(Sample(Profile([90], [2])), 3.0, 9.0).low, 6)
    2.0
    """

    estimator: Estimator
    reason: str
    range: NormalInterval = NormalInterval(0.0)

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the lower end, and the largest value of the property as the upper one."""
        del error
        low = self.range.of(sample, *sample.of(self.estimator)).low
        return Bounds(low, max(self.range.most, low), Statement(Holds.AT_LEAST, self.reason)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        return self.range.of_nothing()
