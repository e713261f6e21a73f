"""Which groups a release has, where no list of them is public: those with many units, chosen privately."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, SupportsIndex

from anonhist.accounting.recording import Price
from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, converted, frozen
from anonhist.mechanisms.basis.setting import check_relation
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
    short_decimal,
)
from anonhist.randomness import discrete_laplace

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource

NAME = "finding groups"
_DIGITS = 60
_LARGEST_THRESHOLD = 2**40


def _delta(given: EpsilonLike) -> Fraction:
    found = parse_epsilon(given, name="delta")
    if found >= 1:
        raise UsageError(f"`delta` must be below 1, such as 1e-9, not {short_decimal(found)}.")
    return found


@frozen
class FindGroups:
    """Groups that are found in the data, with a budget of their own, instead of a list.

    Groups with few units are left out: one with n units is found with a probability that :class:`GroupSelection` has.

    Parameters
    ----------
    epsilon, delta
        The budget for finding groups: ε > 0 and 0 < δ < 1. It adds to that of the release.
    relation
        Which data sets are neighbors, as in the release.

    Examples
    --------
    >>> FindGroups("0.1", "1e-9").epsilon
    Fraction(1, 10)
    """

    epsilon: Converted[EpsilonLike, Fraction] = converted(parse_epsilon)
    delta: Converted[EpsilonLike, Fraction] = converted(_delta)
    relation: Checked[NeighboringRelation] = converted(check_relation, default=NeighboringRelation.ADD_OR_REMOVE)

    def selection(self, unit: PrivacyUnit) -> GroupSelection:
        """Return the selection for units that are in so many groups.

        Examples
        --------
        >>> from anonhist.privacy import PrivacyUnit
        >>> FindGroups(1, "1e-9").selection(PrivacyUnit.user(max_items=5)).groups
        5
        >>> FindGroups(1, "1e-9").selection(PrivacyUnit.user(max_items=5, groups=2)).groups
        2
        """
        of_one = unit.groups if unit.max_items is None or unit.groups > 1 else unit.max_distance
        return GroupSelection(self.epsilon, self.delta, of_one * self.relation.distance)

    def price(self, unit: PrivacyUnit) -> Price:
        """Return what finding groups will cost, whatever is found.

        Examples
        --------
        >>> from anonhist.privacy import PrivacyUnit
        >>> print(FindGroups(1, "1e-9").price(PrivacyUnit.item()).guarantee)
        1-differentially private (δ ≤ 1.0e-9) when one item is added or removed; noise is drawn exactly.
        """
        made = self.selection(unit)
        told = Guarantee(unit, self.relation, self.epsilon, self.delta, arithmetic="noise is drawn exactly")
        return Price(told, NAME, {"groups": made.groups, "threshold": made.threshold})


@frozen
class GroupSelection:
    """Keep each group that has many units, with noise: a group with none is never kept.

    A group with n units is kept if ``n + G > k``, with ``P(G = j) ∝ exp(−γ|j|)`` for ``|j| ≤ k``, γ = ε/κ, independent
    for each group. k is the smallest for which ``P(G = k) ≤ δ/κ``: then a group with one unit is kept with probability
    δ/κ at most. No selection with the same promise keeps a group of any n more often, up to the rounding of k, if a
    unit is in one group (κ = 1; Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 2).

    Parameters
    ----------
    epsilon, delta
        The budget of the selection of all groups together, ε > 0 and 0 < δ < 1.
    groups
        κ, in how many groups the numbers of units of neighbors differ, by one each: ≥ 1.

    Raises
    ------
    UsageError
        If a number is impossible, or k would be beyond 2⁴⁰.

    Guarantees
    ----------
    ``(epsilon, delta)``-differential privacy of which groups are kept. Draws are exact; k is computed with bounds on
    either side, so floating point costs nothing. Proof: docs/proofs/groups.md.

    Examples
    --------
    >>> selection = GroupSelection(1, "1e-9", 1)
    >>> selection.threshold
    20
    >>> selection.probability(0), round(selection.probability(20), 3), selection.probability(41)
    (0.0, 0.269, 1.0)
    """

    epsilon: Converted[EpsilonLike, Fraction] = converted(parse_epsilon)
    delta: Converted[EpsilonLike, Fraction] = converted(_delta)
    groups: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="groups"), default=1)

    def __post_init__(self) -> None:
        if self.threshold > _LARGEST_THRESHOLD:
            raise UsageError("`epsilon` or `delta` of a selection of groups is too small: give larger numbers.")

    @property
    def rate(self) -> Fraction:
        """γ, the rate of the noise of one group."""
        return self.epsilon / self.groups

    @cached_property
    def threshold(self) -> int:
        """The threshold k."""
        share = self.delta / self.groups
        # P(G = k) = p^k (1 − p)/(1 + p − 2p^(k+1)), p = exp(−γ), falls with k.
        low, high = 0, 1
        while high <= 2 * _LARGEST_THRESHOLD and not self._is_rare(high, share):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_rare(middle, share) else (middle, high)
        return high

    def _is_rare(self, k: int, share: Fraction) -> bool:
        """Return whether P(G = k) is surely at most a share: p^k (1 − p + 2·share·p) ≤ share·(1 + p)."""
        up, down = Context(prec=_DIGITS, rounding=ROUND_CEILING), Context(prec=_DIGITS, rounding=ROUND_FLOOR)
        rate = (Decimal(-self.rate.numerator), Decimal(self.rate.denominator))
        # An exponential is rounded to the nearest: one step further it is a bound.
        p_low = down.next_minus(down.exp(down.divide(*rate)))
        p_high = up.next_plus(up.exp(up.divide(*rate)))
        power = up.next_plus(up.exp(up.divide(up.multiply(rate[0], Decimal(k)), rate[1])))
        shared = up.divide(Decimal(share.numerator), Decimal(share.denominator))
        left = up.multiply(
            power, up.add(up.subtract(Decimal(1), p_low), up.multiply(Decimal(2), up.multiply(shared, p_high)))
        )
        right = down.multiply(
            down.divide(Decimal(share.numerator), Decimal(share.denominator)), down.add(Decimal(1), p_low)
        )
        return left <= right

    def select(self, units: NDArray[np.int64], *, source: RandomSource) -> NDArray[np.bool_]:
        """Return which groups are kept, given how many units each has.

        Parameters
        ----------
        units
            How many units each group has, shape (g,), ≥ 0.
        source
            Privacy randomness.
        """
        # n + G could wrap; k − n cannot: k is at most 2⁴⁰, and n is from 0 to 2⁶³ − 1.
        return self._noise(units.size, source) > self.threshold - units

    def _noise(self, size: int, source: RandomSource) -> NDArray[np.int64]:
        """Draw noise again where it is beyond k: how often that happens does not depend on the data."""
        noise = discrete_laplace(self.rate, size, source=source)
        while (beyond := (noise > self.threshold) | (noise < -self.threshold)).any():
            noise[beyond] = discrete_laplace(self.rate, int(beyond.sum()), source=source)
        return noise

    def probability(self, units: int) -> float:
        """Return with which probability a group with so many units is kept.

        Examples
        --------
        >>> GroupSelection(2, "1e-6", 2).probability(1) <= 1e-6 / 2
        True
        """
        if units > self.threshold:
            # The noise is symmetric: the group is left out where it is at most k − n.
            return 1.0 - self.probability(2 * self.threshold + 1 - units)
        # Σ_{j=a}^{b} p^j = p^a (1 − p^(b−a+1)) / (1 − p), p = exp(−γ); k may be far too large to list all j.
        rate, most = float(self.rate), self.threshold
        above = math.exp(-rate * (most - units + 1)) * -math.expm1(-rate * max(units, 0))
        return above / (1.0 + math.exp(-rate) * (1.0 - 2.0 * math.exp(-rate * most)))
