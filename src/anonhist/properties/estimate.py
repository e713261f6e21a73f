"""A number with its uncertainty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anonhist.frozen import frozen
from anonhist.outward import Saved, Shown, Tabular
from anonhist.privacy import Guarantee, left_out
from anonhist.properties.statement import PLUS_MINUS, Holds, Statement


@frozen
class Estimate(Shown, Tabular, Saved):
    """One number with its error, its interval and their assumptions.

    Attributes
    ----------
    value
        The estimated value, in ``unit``.
    standard_error
        Root of the expected squared error, ≥ 0, in the same unit. It covers random error, not broken assumptions or the
        bias of the estimator. ``value ± standard_error`` is shown only if the statement has no reason.
    interval
        (low, high), low ≤ high, which contains the truth with probability ``level``. An end that does not hold is the
        extreme value of the property; ``statement`` says which ends hold.
    method
        Source of the value and its uncertainty, in a few words.
    assumes
        What the interval assumes, in a sentence; empty if it assumes nothing.
    level
        Probability with which the interval is meant to contain the truth, in (0, 1).
    parts
        (cause, standard error) for each cause of error, if there are several; their squares add up to the square of
        :attr:`standard_error`.
    warnings
        Sentences about assumptions that visibly fail, and numbers that are less informative than they seem.
    unit
        The unit, in the plural: ``"labels"``, ``"nats"``; empty for a share.
    guarantee
        The guarantee, for a private estimate.
    statement
        Which ends of the interval hold, and why not both: see :class:`~anonhist.properties.statement.Holds`.

    Examples
    --------
    >>> print(Estimate(12.0, 2.0, (8.0, 16.0), "re-simulated"))
    12 ± 2 (95 % interval 8 to 16)
    >>> rare = Statement(Holds.AT_LEAST, "any number of labels may be too rare to be seen")
    >>> print(Estimate(12.0, 2.0, (9.0, float("inf")), "chao1", unit="labels", statement=rare))
    at least 9 labels (95 % confidence), estimate 12: any number of labels may be too rare to be seen
    """

    known_as = "estimate"
    value: float
    standard_error: float
    interval: tuple[float, float]
    method: str
    assumes: str = ""
    level: float = 0.95
    parts: tuple[tuple[str, float], ...] = ()
    warnings: tuple[str, ...] = ()
    unit: str = ""
    guarantee: Guarantee | None = None
    statement: Statement = PLUS_MINUS

    @property
    def left_out(self) -> str:
        """What the interval leaves out, because units were bounded before noise was added; empty if they were not."""
        return "" if self.guarantee is None else left_out(self.guarantee.unit)

    def __repr__(self) -> str:
        return f"Estimate({self}; {self.method})"

    def __str__(self) -> str:
        low, high = (format_number(end, digits=6) for end in self.interval)
        value, reason = format_number(self.value, digits=6), self.statement.reason
        unit, share = f" {self.unit}" if self.unit else "", f"{100 * self.level:.6g} %"
        if self.statement.holds is Holds.BOTH:
            error = "" if reason else f" ± {format_number(self.standard_error, digits=3)}"
            return f"{value}{error}{unit} ({share} interval {low} to {high})"
        if self.statement.holds is Holds.NONE:
            return f"{value}{unit}, no interval: {reason}"
        end = low if self.statement.holds is Holds.AT_LEAST else high
        return f"{self.statement.holds.value} {end}{unit} ({share} confidence), estimate {value}: {reason}"


@dataclass(frozen=True)
class Estimates(Shown, Tabular, Saved):
    """Several estimates, which iterate as pairs of a name and an estimate and are one table.

    Not a tuple, although it behaves like one: data frame libraries take a tuple for a list of columns.

    Attributes
    ----------
    named
        Pairs of the name of the property, with the value of its option, and the estimate.

    Examples
    --------
    >>> one = Estimate(12.0, 2.0, (8.0, 16.0), "re-simulated", unit="labels")
    >>> found = Estimates((("support-size", one),))
    >>> [name for name, _ in found], found.to_arrow().column_names[:3]
    (['support-size'], ['property', 'value', 'standard_error'])
    """

    known_as = "estimates"
    named: tuple[tuple[str, Estimate], ...]

    @property
    def left_out(self) -> str:
        """What the intervals leave out, because units were bounded before noise was added; empty if they were not."""
        return " ".join(dict.fromkeys(filter(None, (each.left_out for _, each in self.named))))

    def __iter__(self) -> Iterator[tuple[str, Estimate]]:
        return iter(self.named)

    def __len__(self) -> int:
        return len(self.named)

    def __getitem__(self, place: int) -> tuple[str, Estimate]:
        return self.named[place]

    def __repr__(self) -> str:
        return f"Estimates({len(self)} of {', '.join(dict.fromkeys(name.partition(', ')[0] for name, _ in self))})"


def format_number(number: float, *, digits: int) -> str:
    """Write a number with this many digits, but keep all digits of whole numbers: 14,344,391, not 1.43444e+07.

    Examples
    --------
    >>> format_number(14344391.4, digits=6), format_number(0.12345678, digits=3), format_number(float("inf"), digits=6)
    ('14,344,391', '0.123', 'infinity')
    """
    if number in (float("inf"), float("-inf")):
        return "infinity" if number > 0 else "−infinity"
    return f"{number:,.0f}" if abs(number) >= 10**digits else f"{number:,.{digits}g}"
