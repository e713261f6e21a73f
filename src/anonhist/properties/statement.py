"""Which ends of an interval hold: both, one or none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Holds(StrEnum):
    """Which ends of an interval hold with the stated probability."""

    BOTH = "interval"
    AT_LEAST = "at least"
    AT_MOST = "at most"
    NONE = "no interval"


@dataclass(frozen=True)
class Statement:
    """Which ends of an interval hold, and why not both.

    Attributes
    ----------
    holds
        Which ends hold.
    reason
        Why an end is missing, or what the interval covers besides random error: a phrase without a full stop. If empty,
        the estimator is taken as unbiased, and the interval is the value plus and minus a multiple of its error.

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
    """The two ends of an interval and which of them hold.

    Attributes
    ----------
    low, high
        The ends; an end that does not hold is the extreme value of the property.
    statement
        Which of them hold.
    """

    low: float
    high: float
    statement: Statement = PLUS_MINUS

    def around(self, value: float) -> Bounds:
        """Return the interval, widened to contain a value: the statement stays true.

        Examples
        --------
        >>> Bounds(2.0, 4.0).around(1.0).low
        1.0
        """
        return Bounds(min(self.low, value), max(self.high, value), self.statement)
