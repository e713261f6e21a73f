"""A private estimate of what a bound on users or labels left out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import SupportsIndex

from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, completed, converted, frozen, named, optional
from anonhist.mechanisms.noise import Noise, exact_noise
from anonhist.mechanisms.setting import NOISE_IS_EXACT, check_relation
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
)
from anonhist.profiles import Bounded, BoundedUnits
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.randomness import RandomSource
from anonhist.releases.excess import Excess, noise_rates

# Share of the budget for units. The amount left out needs more: one unit changes it by up to C.
_USERS_PART = Fraction(1, 4)
_CAP_OF_BOUND = 10
_LARGEST = 2**62


def _whole_cap(mechanism: ExcessMechanism, cap: SupportsIndex | None) -> int:
    given = min(_CAP_OF_BOUND * mechanism.bound, _LARGEST) if cap is None else cap
    return parse_whole_number(given, name="excess_cap")


@frozen
class ExcessMechanism:
    """Release the number of units with more than m items, or groups, and the amount left out, capped per unit.

    Parameters
    ----------
    epsilon
        The budget, > 0: a quarter for the units, three quarters for the amount left out.
    bound
        m, the number of items or groups kept for each unit, from 1 to 2⁶².
    cap
        C, the number beyond m counted for each unit, from 1 to 2⁶²; 10·m by default. It is public, and chosen without
        looking at the data. The noise on the amount left out grows with it.
    relation
        Which data sets are neighbors.
    of
        What is bounded.
    groups
        The public number G of groups, if groups are bounded and G is known; see :meth:`in_groups`.

    Raises
    ------
    UsageError
        If a number is out of its range, ε is so small that the noise cannot be drawn, or no unit can be in as many
        groups as the cap counts.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy for one user or label, whichever is bounded, with any rows. Noise is exact and
    added to whole numbers, so floating point costs nothing. Proof: docs/proofs/excess.md.

    Examples
    --------
    >>> from anonhist.profiles import BoundedUnits, Profile
    >>> users = BoundedUnits(1, Profile.from_prevalences({1: 9_000, 5: 1_000}))
    >>> found = ExcessMechanism(1, bound=1).release(users)
    >>> 3_000 < found.at_least < 5_000
    True
    """

    epsilon: Converted[EpsilonLike, Fraction] = converted(parse_epsilon)
    bound: Converted[SupportsIndex, int] = named(parse_whole_number)
    cap: Converted[SupportsIndex | None, int] = completed(_whole_cap, default=None)
    relation: Checked[NeighboringRelation] = converted(check_relation, default=NeighboringRelation.ADD_OR_REMOVE)
    of: Bounded = Bounded.ITEMS_OF_USERS
    groups: Converted[SupportsIndex | None, int | None] = named(optional(parse_whole_number), default=None)

    def __post_init__(self) -> None:
        noise_rates(*self._division, self.cap, self.relation)
        if self.groups is not None and (self.of.part != "group" or self.groups - self.bound < self.cap):
            raise UsageError("The cap of the excess exceeds the number of groups: use ExcessMechanism.in_groups.")

    def in_groups(self, groups: int) -> ExcessMechanism | None:
        """Return the same with this many groups: the cap is lowered to the number that a unit can have beyond m.

        If groups are not bounded, nothing changes. If there are no more than m, nothing can be left out, and there is
        no mechanism.

        Parameters
        ----------
        groups
            G, which is public or was released before.

        Examples
        --------
        >>> asked = ExcessMechanism(1, bound=2, of=Bounded.GROUPS_OF_LABELS)
        >>> asked.cap, asked.in_groups(5).cap, asked.in_groups(2)
        (20, 3, None)
        """
        if self.of.part != "group":
            return self
        most = groups - self.bound
        return replace(self, cap=min(self.cap, most), groups=groups) if most > 0 else None

    def release(self, units: BoundedUnits, *, source: RandomSource | None = None) -> Excess:
        """Spend the budget once on private units.

        Parameters
        ----------
        units
            The number of items or groups of each unit before bounding.
        source
            Privacy randomness; the operating system's by default.

        Raises
        ------
        UsageError
            If the units were bounded to another m, or in another way.
        """
        return self.release_with(units, exact_noise(source))

    def check(self, units: BoundedUnits) -> None:
        """Refuse units that were bounded to another m, or in another way."""
        if (units.bound, units.of) != (self.bound, self.of):
            raise UsageError(f"The {self.of.unit}s were bounded to a different number of {self.of.part}s.")

    def release_with(self, units: BoundedUnits, noise: Noise) -> Excess:
        """Release with noise from ``noise``; also for simulations on public numbers."""
        self.check(units)
        rates = noise_rates(*self._division, self.cap, self.relation)
        truth = (units.within, units.above, units.excess(self.cap))
        # Python's integers do not overflow.
        sums = (number + int(noise(rate, 1)[0]) for number, rate in zip(truth, rates, strict=True))
        # Impossibly large numbers are clipped, as a function of released values.
        within, above, items = (min(max(each, -MAX_ITEMS), MAX_ITEMS) for each in sums)
        told = (*self._division, within, above, items, self.of, self.groups)
        return Excess(self.bound, self.cap, self.relation, *told, guarantee=self.guarantee)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of these numbers alone; it holds for a unit with any rows."""
        # Each group of a unit counts once.
        bounds = (self.bound, 1, 1) if self.of.part == "item" else (1, 1, self.bound)
        return Guarantee(PrivacyUnit(self.of.unit, *bounds), self.relation, self.epsilon, arithmetic=NOISE_IS_EXACT)

    @property
    def _division(self) -> tuple[Fraction, Fraction]:
        for_users = _USERS_PART * self.epsilon
        return for_users, self.epsilon - for_users


def refuse_nothing(of: Bounded, bound: int, groups: int) -> None:
    """Refuse an excess if groups are bounded and there are no more of them than the bound: nothing can be left out."""
    if of.part == "group" and groups <= bound:
        there = "there is only one group" if groups == 1 else f"there are only {groups:,} groups"
        raise UsageError(
            f"A bound of {bound:,} on the groups of each {of.unit} leaves nothing out where {there}: leave "
            "`excess_share` out, which would spend epsilon on nothing."
        )


def parse_excess_share(share: EpsilonLike | None, cap: SupportsIndex | None = None) -> Fraction:
    """Return the share of ε for the excess, a number ≥ 0 and below 1; 0 if not given. Refuse a cap without a share."""
    parsed = Fraction(0)
    if share is not None and (isinstance(share, bool) or str(share).strip() not in ("0", "0.0")):
        parsed = parse_epsilon(share, name="excess_share")
    if parsed >= 1:
        raise UsageError(f"`excess_share` must be a share of ε below 1, such as 0.05, not {share!r:.80}.")
    if cap is not None and not parsed:
        raise UsageError(
            "`excess_cap` requires `excess_share`: give a share of epsilon, such as 0.05, or leave it out."
        )
    return parsed
