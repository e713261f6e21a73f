"""From a value and its standard error to an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from anonhist.properties.statement import Bounds, Holds, Statement

if TYPE_CHECKING:
    from anonhist.properties.estimator import Estimator
    from anonhist.properties.sample import Sample


class Interval(Protocol):
    """A way to make intervals for one property."""

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends for a value with a standard error, from a sample with at least one item."""

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""


@dataclass(frozen=True)
class NormalInterval:
    """``value ± z·error``, cut where the property ends: for estimators without bias worth a mention.

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
        """Return the ends of the property."""
        return self.least, self.most


@dataclass(frozen=True)
class OneSided:
    """One end of another interval: for estimators whose bias is known to be on one side.

    Attributes
    ----------
    statement
        Which end holds, and why the other does not.
    both
        Where the end comes from.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
    >>> at_most = OneSided(Statement(Holds.AT_MOST, "it is overstated"), NormalInterval(0.0, 1.0))
    >>> round(at_most.of(Sample(Profile([1], [1])), 0.5, 0.1).high, 3)
    0.696
    """

    statement: Statement
    both: Interval

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the end that holds, and all that the property can be on the other side."""
        found, (least, most) = self.both.of(sample, value, error), self.of_nothing()
        if self.statement.holds is Holds.AT_LEAST:
            return Bounds(found.low, max(most, found.low), self.statement).around(value)
        return Bounds(min(least, found.high), found.high, self.statement).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        return self.both.of_nothing()


@dataclass(frozen=True)
class Resting:
    """The interval of another estimator of the same property: whatever the method, the truth is the same.

    Attributes
    ----------
    estimator
        What the interval rests on.
    interval
        How its value and error become ends.
    reason
        What to say of it; see :class:`~anonhist.properties.statement.Statement`.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
    >>> from anonhist.properties.support_size.observed import Observed
    >>> Resting(Observed(), NormalInterval(0.0)).of(Sample(Profile([90], [2])), 3.0, 9.0).high
    3.0
    """

    estimator: Estimator
    interval: Interval
    reason: str = ""

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value of the method asked for always lies between them."""
        del error
        found = self.interval.of(sample, *sample.of(self.estimator))
        statement = replace(found.statement, reason=self.reason) if self.reason else found.statement
        return Bounds(found.low, found.high, statement).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        return self.interval.of_nothing()
