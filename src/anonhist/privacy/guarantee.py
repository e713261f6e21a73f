"""The guarantee of a release."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from anonhist.errors import UsageError
from anonhist.privacy.protection import WEAK_ABOVE, protection
from anonhist.privacy.unit import NeighboringRelation, PrivacyUnit

# Up to here, δ is not repeated beside what ε says; the guarantee itself always states it.
_TINY = Fraction(1, 10**9)
_SHORT = 8


@dataclass(frozen=True)
class Guarantee:
    """A complete differential privacy guarantee: for whom, between which data sets, and how much.

    For any two neighboring data sets x, x' and any set E of outputs,
    ``P(M(x) ∈ E) ≤ exp(epsilon) · P(M(x') ∈ E) + delta``.

    Parameters
    ----------
    unit, relation
        Whom the guarantee protects, and which data sets are neighbors.
    epsilon
        Exact, > 0. It includes the budgeted steps of an automatic choice and the rounding of floating-point
        arithmetic.
    delta
        Exact, in [0, 1).
    arithmetic
        One clause: what floating-point rounding costs in the program that ran, and where that is accounted for.
    spending
        (purpose, epsilon) of each budgeted step, when there was more than one; each is > 0, and they add up to
        ``epsilon``.
    conditions
        Clauses that must all be true for the guarantee to hold, and that no program can check.
    party_epsilon
        If parties share the noise, so that ``epsilon`` holds only toward outsiders: the epsilon toward each party,
        which knows its own share; greater than ``epsilon``. Otherwise None.

    Raises
    ------
    UsageError
        If a number is not an exact Fraction in its range, the steps do not add up, or a field is of another type.

    Notes
    -----
    :attr:`sentence` is the guarantee in one sentence, with δ rounded up to two digits. ``str(guarantee)`` also says if
    epsilon is so large that it gives weak or practically no protection
    (:func:`~anonhist.privacy.protection.protection`).

    Examples
    --------
    >>> relation = NeighboringRelation.ADD_OR_REMOVE
    >>> print(Guarantee(PrivacyUnit.item(), relation, Fraction(1, 2), arithmetic="noise is exact"))
    0.5-differentially private (δ = 0) when one item is added or removed; noise is exact.
    >>> print(Guarantee(PrivacyUnit.item(), relation, Fraction(20), arithmetic="noise is exact"))
    20-differentially private (δ = 0) when one item is added or removed; noise is exact. An epsilon of 20 is
    practically no protection.
    """

    unit: PrivacyUnit
    relation: NeighboringRelation
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    arithmetic: str = "what floating-point rounding costs is not accounted for"
    spending: tuple[tuple[str, Fraction], ...] = ()
    conditions: tuple[str, ...] = ()
    party_epsilon: Fraction | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.unit, PrivacyUnit) or not isinstance(self.relation, NeighboringRelation):
            raise UsageError("A guarantee needs a PrivacyUnit and a NeighboringRelation.")
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            message = f"epsilon of a guarantee must be an exact Fraction greater than zero, not {self.epsilon!r:.80}."
            raise UsageError(message)
        if not isinstance(self.delta, Fraction) or not 0 <= self.delta < 1:
            raise UsageError(
                "delta of a guarantee must be an exact Fraction from 0 up to, not including, 1,"
                f" not {self.delta!r:.80}."
            )
        if not isinstance(self.arithmetic, str) or not self.arithmetic:
            raise UsageError("A guarantee must say, in a clause of text, what arithmetic costs.")
        if not all(isinstance(spent, Fraction) and spent > 0 for _, spent in self.spending):
            raise UsageError("Each step of a guarantee must spend an exact Fraction greater than zero.")
        if self.spending and sum(spent for _, spent in self.spending) != self.epsilon:
            raise UsageError("The steps of a guarantee must add up to its epsilon.")
        if not all(isinstance(each, str) and each for each in self.conditions):
            raise UsageError("The conditions of a guarantee must be clauses of text.")
        if self.party_epsilon is not None and (
            not isinstance(self.party_epsilon, Fraction) or self.party_epsilon <= self.epsilon or not self.conditions
        ):
            raise UsageError("Toward a party, the epsilon of a guarantee is an exact Fraction greater than epsilon.")

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as in files."""
        change = "added or removed" if self.relation is NeighboringRelation.ADD_OR_REMOVE else "replaced by another"
        delta = "δ = 0" if self.delta == 0 else f"δ ≤ {round_up(self.delta)}"
        spent = ", ".join(f"{short_decimal(part)} for {purpose}" for purpose, part in self.spending)
        steps = f", spent in steps ({spent})" if spent else ""
        toward = " toward outsiders" if self.party_epsilon is not None else ""
        party = (
            f", and {short_decimal(self.party_epsilon)}-differentially private toward each party, which knows its "
            "own share of the noise"
            if self.party_epsilon is not None
            else ""
        )
        conditions = f", provided that {', and that '.join(self.conditions)}" if self.conditions else ""
        return (
            f"{short_decimal(self.epsilon)}-differentially private ({delta}){toward} when {self.unit} is "
            f"{change}{steps}{party}{conditions}; {self.arithmetic}."
        )

    def __str__(self) -> str:
        toward = "An epsilon" if self.party_epsilon is None else "Toward outsiders an epsilon"
        said = [self.sentence, _describe_epsilon(self.epsilon, toward)]
        if self.party_epsilon is not None:
            said.append(_describe_epsilon(self.party_epsilon, "Toward a party an epsilon"))
        return " ".join(filter(None, said))


def short_decimal(value: Fraction) -> str:
    """Write an exact number as a decimal if that is exact and short, otherwise as a fraction.

    Examples
    --------
    >>> short_decimal(Fraction(1, 10)), short_decimal(Fraction(1, 3))
    ('0.1', '1/3')
    """
    try:
        as_float = float(value)
    except OverflowError:
        return str(value)
    return repr(as_float).removesuffix(".0") if Fraction(repr(as_float)) == value else str(value)


def delta_apart(delta: Fraction) -> str:
    """Return the clause that excepts δ from what ε alone says; nothing where δ is tiny, up to 10⁻⁹.

    Examples
    --------
    >>> delta_apart(Fraction(1, 1000)), delta_apart(Fraction(1, 3000)), delta_apart(Fraction(1, 10**9))
    (', apart from δ = 0.001', ', apart from δ ≤ 3.4e-4', '')
    """
    if delta <= _TINY:
        return ""
    exact = short_decimal(delta)
    is_short = len(exact) <= _SHORT and "/" not in exact
    return f", apart from δ = {exact}" if is_short else f", apart from δ ≤ {round_up(delta)}"


def _describe_epsilon(epsilon: Fraction, subject: str) -> str:
    """Say that an epsilon is large; nothing if it is not."""
    return f"{subject} of {short_decimal(epsilon)} is {protection(epsilon)}." if epsilon > WEAK_ABOVE else ""


def round_up(value: Fraction) -> str:
    """Write a small number with two digits, rounded up.

    Examples
    --------
    >>> round_up(Fraction(1, 3000))
    '3.4e-4'
    """
    context = Context(prec=2, rounding=ROUND_CEILING)
    return f"{context.divide(Decimal(value.numerator), Decimal(value.denominator)):.1e}"
