"""What was promised."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from anonhist.errors import UsageError
from anonhist.privacy.unit import NeighboringRelation, PrivacyUnit


@dataclass(frozen=True)
class Guarantee:
    """A differential privacy promise, complete: whom, between which data sets, how much.

    For every two neighbouring data sets x, x' and every set E of outputs,
    ``P(M(x) ∈ E) ≤ exp(epsilon) · P(M(x') ∈ E) + delta``.

    Parameters
    ----------
    unit, relation
        Whom the promise protects, and what neighbouring means.
    epsilon
        Exact, > 0. It covers everything spent, the looks of an automatic choice and the rounding of floating-point
        arithmetic included.
    delta
        Exact, in [0, 1).
    arithmetic
        One clause: what floating point costs in the program that ran, and where that is accounted for.
    spending
        (purpose, epsilon) of each budgeted step, when there was more than one; they add up to ``epsilon``.

    Examples
    --------
    >>> print(Guarantee(PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 2), Fraction(0)))
    0.5-differentially private (δ = 0) when one item is added or removed; integer arithmetic throughout.
    """

    unit: PrivacyUnit
    relation: NeighboringRelation
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    arithmetic: str = "integer arithmetic throughout"
    spending: tuple[tuple[str, Fraction], ...] = field(default=())

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            message = f"epsilon of a guarantee must be an exact Fraction greater than zero, not {self.epsilon!r}."
            raise UsageError(message)
        if not isinstance(self.delta, Fraction) or not 0 <= self.delta < 1:
            message = (
                f"delta of a guarantee must be an exact Fraction from 0 up to, not including, 1, not {self.delta!r}."
            )
            raise UsageError(message)
        if self.spending and sum(spent for _, spent in self.spending) != self.epsilon:
            raise UsageError("The steps of a guarantee must add up to its epsilon.")

    def __str__(self) -> str:
        change = "added or removed" if self.relation is NeighboringRelation.ADD_OR_REMOVE else "exchanged for another"
        delta = "δ = 0" if self.delta == 0 else f"δ = {float(self.delta):.1e}"
        parts = "".join(f", of which {short_decimal(spent)} {purpose}" for purpose, spent in self.spending[:-1])
        return (
            f"{short_decimal(self.epsilon)}-differentially private ({delta}) when {self.unit} is {change}{parts}; "
            f"{self.arithmetic}."
        )


def short_decimal(value: Fraction) -> str:
    """Write an exact number as a decimal where that is exact and short, else as a fraction."""
    as_float = float(value)
    return repr(as_float).removesuffix(".0") if Fraction(repr(as_float)) == value else str(value)
