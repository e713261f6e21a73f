"""A budget: how much privacy a data set may lose, for one kind of unit."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, converted, frozen
from anonhist.privacy import EpsilonLike, Guarantee, NeighboringRelation, parse_epsilon, short_decimal
from anonhist.privacy.conversion import as_kind
from anonhist.privacy.parameters import for_people
from anonhist.privacy.unit import parse_kind

_LONGEST_NAME = 200
_SHORT = 16
DEFAULT_DELTA = Fraction(1, 10**9)
_LARGEST_DENOMINATOR, _FINEST = 4096, 10**18


def parse_name(name: str) -> str:
    """Return the name of a data set, or refuse one that would not fit on one line."""
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= _LONGEST_NAME
        or not name.isprintable()
        or name != name.strip()
    ):
        raise UsageError(
            f"The name of a data set must have 1 to {_LONGEST_NAME} characters on one line, without spaces around it, "
            f"not {name!r:.80}."
        )
    return name


def parse_limit(value: EpsilonLike, name: str) -> Fraction:
    """Return an upper limit on δ: exact, at least 0 and below 1."""
    is_zero = value in {0, "0"} and not isinstance(value, bool)
    limit = Fraction(0) if is_zero else parse_epsilon(value, name=name)
    if limit >= 1:
        raise UsageError(f"`{name}` must be below 1, such as 1e-9, not {short_decimal(limit)}.")
    return limit


def is_plain(number: Fraction) -> bool:
    """Return whether a ledger stores a number exactly: its denominator divides lcm(1, …, 4096) · 10¹⁸.

    This holds for numbers with at most 18 decimals, for denominators up to 4,096, and for all sums and differences of
    such numbers, whose denominators therefore have at most 1,802 digits. Denominators of sums of arbitrary numbers
    would grow without end.
    """
    return _common_denominator() % number.denominator == 0


@cache
def _common_denominator() -> int:
    return math.lcm(*range(1, _LARGEST_DENOMINATOR + 1)) * _FINEST


def rounded_down(number: Fraction) -> Fraction:
    """Return the number itself if a ledger stores it exactly, otherwise rounded down to 18 decimals."""
    return number if is_plain(number) else Fraction(math.floor(number * _FINEST), _FINEST)


class Cost(NamedTuple):
    """The cost of a release to a budget: exact ε and δ."""

    epsilon: Fraction
    delta: Fraction

    def plus(self, other: Cost) -> Cost:
        """Return the sum of both costs."""
        return Cost(self.epsilon + other.epsilon, self.delta + other.delta)

    def minus(self, other: Cost) -> Cost:
        """Return the difference to another cost."""
        return Cost(self.epsilon - other.epsilon, self.delta - other.delta)

    def rounded(self) -> Cost:
        """Return the amounts to charge: numbers that a ledger cannot store exactly are rounded up to 18 decimals."""
        return Cost(*(-rounded_down(-each) for each in self))


NOTHING = Cost(Fraction(0), Fraction(0))


@frozen
class Budget:
    """How much privacy a data set may lose in total, for one kind of unit.

    It belongs to the data, not to an analyst, because analysts can combine what they learned. It belongs to a kind of
    unit, such as users, however many items of each a release uses.

    Attributes
    ----------
    dataset
        The name of the data set.
    kind
        Whom it protects: ``"item"``, ``"user"``, ``"label"``, ``"edge"`` or ``"node"``.
    epsilon, delta
        The limits, exact; δ is 10⁻⁹ by default, since some releases have one.
    relation
        Which data sets are neighbors. A release for units added or removed costs a budget for replaced units twice
        its ε; the opposite is refused.

    Raises
    ------
    UsageError
        If a value is impossible.

    Examples
    --------
    >>> Budget("passwords", "user", epsilon=2).epsilon
    Fraction(2, 1)
    """

    dataset: Checked[str] = converted(parse_name)
    kind: Checked[str] = converted(parse_kind)
    epsilon: Converted[EpsilonLike, Fraction] = converted(parse_epsilon)
    delta: Converted[EpsilonLike, Fraction] = converted(
        lambda given: parse_limit(given, "delta"), default=DEFAULT_DELTA
    )
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE

    @property
    def limit(self) -> Cost:
        """ε and δ together."""
        return Cost(self.epsilon, self.delta)

    def cost(self, guarantee: Guarantee) -> Cost:
        """Return the cost of a release with this guarantee.

        Its guarantee is converted to the unit and relation of the budget
        (:meth:`~anonhist.privacy.guarantee.Guarantee.for_neighbors`) without an assumption about the data. If parties
        share the noise, the larger ε toward a party counts.

        Raises
        ------
        UsageError
            If the guarantee does not cover the unit of the budget.

        Examples
        --------
        >>> from anonhist.privacy import Guarantee, PrivacyUnit
        >>> of_users = Guarantee(
        ...     PrivacyUnit.user(max_items=5), NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 2), arithmetic="exact"
        ... )
        >>> Budget("passwords", "user", epsilon=2).cost(of_users).epsilon
        Fraction(1, 2)
        """
        try:
            told = guarantee.for_neighbors(as_kind(guarantee.unit, self.kind), self.relation)
        except UsageError as error:
            raise UsageError(
                f"The budget of {self.dataset!r} is for {self.kind}s {_CHANGES[self.relation]}, which a release for "
                f"{guarantee.neighbors} does not fit. {error.sentence}"
            ) from None
        return Cost(told.party_epsilon or told.epsilon, told.delta)


def check_limits(budget: Budget) -> None:
    """Refuse a budget whose sums could have too many digits (:func:`is_plain`)."""
    for name, limit in (("epsilon", budget.epsilon), ("delta", budget.delta)):
        if not is_plain(limit):
            raise UsageError(
                f"`{name}` of a budget must have at most 18 decimals, or be a fraction with a denominator of at most "
                f"{_LARGEST_DENOMINATOR:,}: round it."
            )


_CHANGES = {
    NeighboringRelation.ADD_OR_REMOVE: "added or removed",
    NeighboringRelation.SUBSTITUTE: "replaced",
}


def exceeded(budget: Budget, left: Cost, cost: Cost) -> str:
    """Describe the rest of a budget, which is public in a ledger."""
    place = 0 if cost.epsilon > left.epsilon else 1
    asked = equal("εδ"[place], amount(cost[place], longest=_SHORT))
    limit = amount(budget.limit[place], longest=_SHORT)
    # Amounts below the last decimal to which costs are rounded count as zero.
    is_spent = left[place] * _FINEST < 1
    rest = equal("εδ"[place], amount(left[place], rounding=ROUND_FLOOR, longest=_SHORT))
    there = (
        f"nothing is left of the budget of {budget.dataset!r} ({equal('εδ'[place], limit)})"
        if is_spent
        else f"only {rest} of {limit} is left in the budget of {budget.dataset!r}"
    )
    way_out = {
        (0, False): "; use a smaller `epsilon`",
        (0, True): "",
        (1, False): "; use a mechanism with a smaller δ",
        (1, True): "; use a mechanism with δ = 0",
    }
    return f"The release would cost {asked}, but {there}: nothing was released{way_out[place, is_spent]}."


def amount(value: Fraction, *, rounding: str = ROUND_CEILING, longest: int = 8) -> str:
    """Format spent ε or δ: exactly if that is short, otherwise rounded up to four digits."""
    exact = short_decimal(value)
    if "/" not in exact and len(exact) <= longest:
        return for_people(exact)
    rounded = Context(prec=4, rounding=rounding).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"≈ {for_people(f'{float(rounded):.4g}')}"


def amount_left(value: Fraction) -> str:
    """Format the remaining ε or δ, rounded down."""
    return amount(value, rounding=ROUND_FLOOR)


def equal(name: str, number: str) -> str:
    """Format an equation for ε or δ, exact or approximate."""
    return f"{name} {number}" if number.startswith("≈") else f"{name} = {number}"
