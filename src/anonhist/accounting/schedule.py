"""How much each of several planned releases may cost, if all of them are to fit into what is left."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from anonhist.accounting.budget import Cost, rounded_down
from anonhist.errors import UsageError
from anonhist.privacy.loss_distribution import epsilon_at

if TYPE_CHECKING:
    from anonhist.accounting.balance import Balance

_DAYS = {"day": Fraction(1), "week": Fraction(7), "month": Fraction(365, 12), "quarter": Fraction(365, 4)}
_DAYS["year"] = Fraction(365)
_LETTERS = {"d": "day", "w": "week", "m": "month", "y": "year"}
_SPAN = re.compile(r"([1-9][0-9]{0,3})\s*([dwmy]|days?|weeks?|months?|quarters?|years?)")
_MOST = 10_000
# Of the highest ε that fits, as many halvings as give four digits.
_HALVINGS = 16


def parse_span(text: str, name: str) -> Fraction:
    """Return a span of time in days.

    Examples
    --------
    >>> parse_span("1y", "span"), parse_span("week", "every"), parse_span("6 months", "span")
    (Fraction(365, 1), Fraction(7, 1), Fraction(365, 2))
    """
    lower = text.strip().lower()
    found = _SPAN.fullmatch(lower if lower[:1].isdigit() else f"1 {lower}")
    if found is None:
        raise UsageError(f"`{name}` must be a span of time, such as day, week, 2w, month or 1y, not {text!r:.40}.")
    word = found[2]
    return int(found[1]) * _DAYS[_LETTERS.get(word) or word.removesuffix("s")]


def count_releases(every: str, span: str) -> int:
    """Return how many releases are made in a span of time.

    Examples
    --------
    >>> count_releases("week", "1y"), count_releases("day", "1y"), count_releases("month", "2y")
    (52, 365, 24)
    """
    number = parse_span(span, "span") // parse_span(every, "every")
    if not 1 <= number <= _MOST:
        raise UsageError(f"A plan needs from 1 to {_MOST:,} releases, not {number:,}: change `every` or `span`.")
    return number


@dataclass(frozen=True)
class Schedule:
    """What each of several releases may cost.

    Attributes
    ----------
    releases
        How many there are.
    plain
        ε and δ of each, so that all of them fit into what is left: rounded down to what a ledger takes as it is.
    at_delta
        ε of each, if each has δ = 0, such that all releases of the data set, past and planned, together have no more
        than ε of the budget at its δ; None if that was not asked for. A ledger counts the plain sum.
    """

    releases: int
    plain: Cost
    at_delta: Fraction | None


def schedule(balance: Balance, releases: int, *, with_distributions: bool) -> Schedule:
    """Return what each of several releases may cost.

    Parameters
    ----------
    balance
        The state of the budget.
    releases
        How many releases are planned.
    with_distributions
        Whether to also compose losses as distributions, which needs dp-accounting.

    Raises
    ------
    UsageError
        If nothing is left.

    Examples
    --------
    >>> from anonhist.accounting.balance import Balance
    >>> from anonhist.accounting.budget import Budget
    >>> schedule(Balance(Budget("passwords", "user", epsilon=2), ()), 52, with_distributions=False).plain.epsilon
    Fraction(1, 26)
    """
    left = balance.left
    if rounded_down(left.epsilon / releases) <= 0:
        raise UsageError(f"Nothing is left of the budget of {balance.budget.dataset!r}.")
    plain = Cost(rounded_down(left.epsilon / releases), rounded_down(left.delta / releases))
    return Schedule(releases, plain, _highest(balance, releases) if with_distributions else None)


def _highest(balance: Balance, releases: int) -> Fraction | None:
    """Return the highest ε that fits, rounded down to three digits."""
    limit = balance.budget.limit
    if not limit.delta:
        return None
    past = list(balance.losses)
    low, high = balance.left.epsilon / releases, limit.epsilon
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rounded = _three_digits(middle)
        try:
            fits = epsilon_at([*past, *([Cost(rounded, Fraction(0))] * releases)], limit.delta) <= limit.epsilon
        except UsageError as error:
            if type(error) is not UsageError:
                raise
            fits = False
        low, high = (middle, high) if fits else (low, middle)
    return _three_digits(low)


def _three_digits(value: Fraction) -> Fraction:
    from decimal import ROUND_FLOOR, Context, Decimal

    return Fraction(Context(prec=3, rounding=ROUND_FLOOR).divide(Decimal(value.numerator), Decimal(value.denominator)))
