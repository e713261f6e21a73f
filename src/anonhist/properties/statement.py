"""What the two ends of an estimate say: both hold the truth, one does, or none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Holds(StrEnum):
    """Which ends of an interval hold the truth with the probability that it names."""

    BOTH = "interval"
    AT_LEAST = "at least"
    AT_MOST = "at most"
    NONE = "no interval"


@dataclass(frozen=True)
class Statement:
    """What the ends of an estimate say, and why no more.

    Attributes
    ----------
    holds
        Which ends hold the truth.
    reason
        Why an end is missing, or what the interval holds besides chance: a phrase without a full stop. Where it is
        empty the estimator is taken to be unbiased, and the interval is the value plus and minus its error.

    Examples
    --------
    >>> Statement(Holds.AT_LEAST, "any number of labels may be too rare to be seen").holds.value
    'at least'
    """

    holds: Holds = Holds.BOTH
    reason: str = ""


PLUS_MINUS = Statement()


@dataclass(frozen=True)
class Bounds:
    """The two ends of an estimate and what they say.

    Attributes
    ----------
    low, high
        The ends; one that does not hold is as far out as the property can be.
    statement
        What they say.
    """

    low: float
    high: float
    statement: Statement = PLUS_MINUS

    def around(self, value: float) -> Bounds:
        """Return the same, drawn out to hold a value: no statement becomes false by that.

        Examples
        --------
        >>> Bounds(2.0, 4.0).around(1.0).low
        1.0
        """
        return Bounds(min(self.low, value), max(self.high, value), self.statement)

    def scale(self, factor: float) -> Bounds:
        """Return both ends multiplied by a positive factor."""
        return Bounds(factor * self.low, factor * self.high, self.statement)
