"""What a bound on users or labels left out: released noisy numbers, and estimates from them."""

from __future__ import annotations

import math
from dataclasses import field, replace
from fractions import Fraction
from functools import partial
from typing import SupportsIndex

from anonhist.errors import UsageError
from anonhist.frozen import Converted, frozen, named, optional
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
)
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.profiles.profile import Bounded
from anonhist.properties.estimate import Estimate, Holds, Statement
from anonhist.randomness import discrete_laplace_variance
from anonhist.randomness.source import SMALLEST_GAMMA

METHOD = "exact quantiles of the discrete Laplace noise"
# The budget step of a profile, if there is only one.
PROFILE_STEP = "the profile"
_TAIL = 0.025
_OF_BOTH = Statement(Holds.BOTH, "the interval covers the noise on both numbers")


_noisy = partial(parse_whole_number, least=-MAX_ITEMS, most=MAX_ITEMS)


@frozen
class Excess:
    """What a bound of m items, or groups, per unit left out: how many units had more, and at least how much.

    A unit is a user or a label. With c_u the number of its items, or of the groups that it is in, before the bound,
    these numbers are released with discrete Laplace noise:

    - V, the number of units with ``1 ≤ c_u ≤ m``: noise of rate ``(ε₁ + ε₂)/d``;
    - U, the number of units with ``c_u > m``: noise of rate ``ε₁/d``;
    - L = ``Σ_u min(max(c_u − m, 0), C)``: noise of rate ``ε₂/(d·C)``.

    d is 1 if neighbors differ by a unit added or removed, 2 if one is replaced by another. L counts items, or pairs of
    a unit and a group.

    Attributes
    ----------
    bound
        m, from 1 to 2^62.
    cap
        C, the largest number beyond m that counts for each unit, from 1 to 2^62.
    relation
        The neighboring relation.
    users_epsilon, items_epsilon
        ε₁ and ε₂, exact, > 0; they add up to the budget spent.
    noisy_within, noisy_above, noisy_items
        The noisy V, U and L: whole numbers, which may be negative.
    of
        What was bounded.
    groups
        If groups are bounded: G, the public number of groups that a unit can be in at all; None if it is not known.
    guarantee
        The guarantee of the release that they belong to, which includes them; without a release, their own.

    Raises
    ------
    UsageError
        If a number is out of range, or a budget is too small for its noise to be drawn.

    Notes
    -----
    Proof: docs/proofs/excess.md. The distribution of the noise is known exactly, so intervals have their stated
    coverage for all data. If L is capped, there is no upper bound on the total that was left out. With C ≥ G − m the
    cap has no effect, and there is one.

    Examples
    --------
    >>> from fractions import Fraction
    >>> relation = NeighboringRelation.ADD_OR_REMOVE
    >>> found = Excess(3, 30, relation, Fraction(1, 80), Fraction(3, 80), 8_000, 2_000, 20_000)
    >>> found.units.interval, found.at_least
    ((1760.0, 2240.0), 17603)
    """

    bound: Converted[SupportsIndex, int] = named(parse_whole_number)
    cap: Converted[SupportsIndex, int] = named(parse_whole_number)
    relation: NeighboringRelation
    users_epsilon: Converted[EpsilonLike, Fraction] = named(parse_epsilon)
    items_epsilon: Converted[EpsilonLike, Fraction] = named(parse_epsilon)
    noisy_within: Converted[SupportsIndex, int] = named(_noisy)
    noisy_above: Converted[SupportsIndex, int] = named(_noisy)
    noisy_items: Converted[SupportsIndex, int] = named(_noisy)
    of: Bounded = Bounded.ITEMS_OF_USERS
    groups: Converted[SupportsIndex | None, int | None] = named(optional(parse_whole_number), default=None)
    guarantee: Guarantee | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        noise_rates(self.users_epsilon, self.items_epsilon, self.cap, self.relation)
        if self.groups is not None and self.of.part != "group":
            raise UsageError("Only an excess of groups can have a number of groups.")

    @property
    def epsilon(self) -> Fraction:
        """The budget of all three numbers together."""
        return self.users_epsilon + self.items_epsilon

    @property
    def units(self) -> Estimate:
        """How many units had more than m, with a 95% interval."""
        return self._estimate(self.noisy_above, self._rates[1], f"{self.of.unit}s")

    @property
    def share_of_units(self) -> Estimate:
        """Share of units with more than m among all with any item, with a 95% interval: both numbers are noisy."""
        within, above = (
            (number, _reach(rate, _TAIL / 2))
            for number, rate in zip((self.noisy_within, self.noisy_above), self._rates, strict=False)
        )
        low = _share(above[0] - above[1], within[0] + within[1], of_none=0.0)
        high = _share(above[0] + above[1], within[0] - within[1], of_none=1.0)
        value = min(max(_share(self.noisy_above, self.noisy_within, of_none=0.0), low), high)
        return Estimate(value, (high - low) / 4, (low, high), METHOD, guarantee=self.guarantee, statement=_OF_BOTH)

    @property
    def capped_amount(self) -> Estimate:
        """How much was left out, counting at most C for each unit, with a 95% interval."""
        return self._estimate(self.noisy_items, self._rates[2], f"{self.of.part}s")

    @property
    def amount(self) -> Estimate:
        """How much was left out, with a 95% interval if all of it is counted.

        Otherwise, the lower bound :attr:`at_least`, with the reason why there is no upper bound.
        """
        capped, least = self.capped_amount, float(self.at_least)
        if self.counts_all:
            # Two error probabilities of 1.25% below, one of 2.5% above; by chance the lower end can exceed the upper
            # one.
            ends = zip((self.noisy_above, self.noisy_items), self._rates[1:], strict=True)
            low = float(max(0, *(noisy - _reach(rate, _TAIL / 2) for noisy, rate in ends)))
            high = max(low, capped.interval[1])
            return replace(capped, value=min(max(capped.value, low), high), interval=(low, high), statement=_OF_BOTH)
        why = Statement(
            Holds.AT_LEAST, f"at most {self.cap:,} {self.of.part}s of each {self.of.unit} beyond the bound count"
        )
        return replace(capped, value=max(capped.value, least), interval=(least, math.inf), statement=why)

    @property
    def at_least(self) -> int:
        """Lower bound on how much was left out, with 95% confidence; 0 if the noise is too large to tell.

        It is the larger of the lower ends of U and L, since each unit with more than m lost at least one. Each end is
        too large with probability at most 2.5%.
        """
        return int(max(self.units.interval[0], self.capped_amount.interval[0]))

    @property
    def counts_all(self) -> bool:
        """Whether the cap has no effect, because no unit can be in more groups than there are."""
        return self.groups is not None and self.groups - self.bound <= self.cap

    def add_to(self, guarantee: Guarantee, *, step: str = PROFILE_STEP) -> Guarantee:
        """Return the joint guarantee of profiles and these numbers: budgets add up."""
        steps = guarantee.spending or ((step, guarantee.epsilon),)
        return replace(guarantee, epsilon=guarantee.epsilon + self.epsilon, spending=(*steps, *self._steps))

    def is_of(self, guarantee: Guarantee) -> bool:
        """Return whether a guarantee states the budget that these numbers spent, for their unit and relation."""
        fits = covers(guarantee.unit, self.of, self.bound)
        return fits and guarantee.relation is self.relation and guarantee.spending[-2:] == self._steps

    @property
    def _steps(self) -> tuple[tuple[str, Fraction], ...]:
        return (
            (f"{self.of.unit}s above the bound", self.users_epsilon),
            (f"{self.of.part}s above the bound", self.items_epsilon),
        )

    @property
    def _rates(self) -> tuple[Fraction, Fraction, Fraction]:
        return noise_rates(self.users_epsilon, self.items_epsilon, self.cap, self.relation)

    def _estimate(self, noisy: int, rate: Fraction, unit: str) -> Estimate:
        reach, error = _reach(rate, _TAIL), math.sqrt(discrete_laplace_variance(rate))
        low, high = (float(max(0, noisy + each)) for each in (-reach, reach))
        return Estimate(float(max(0, noisy)), error, (low, high), METHOD, unit=unit, guarantee=self.guarantee)


def covers(unit: PrivacyUnit, of: Bounded, bound: int) -> bool:
    """Return whether a release for this unit protects units with this bound, so that it may state what was left out."""
    own = unit.max_items if of in (Bounded.ITEMS_OF_USERS, Bounded.GROUPS_OF_USERS) else unit.max_count
    if own is None:
        return False
    if of is Bounded.ITEMS_OF_LABELS:
        # Counts are cut as the unit states.
        return own == bound
    return (own if of is Bounded.ITEMS_OF_USERS else unit.groups) >= bound


def noise_rates(
    users_epsilon: Fraction, items_epsilon: Fraction, cap: int, relation: NeighboringRelation
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the rates of the noise on V, U and L, which docs/proofs/excess.md proves sufficient."""
    steps = relation.distance
    rates = ((users_epsilon + items_epsilon) / steps, users_epsilon / steps, items_epsilon / (steps * cap))
    if min(rates) < SMALLEST_GAMMA:
        raise UsageError("The noise of the excess is too large to draw: give a larger share, or a smaller cap.")
    return rates


def _reach(rate: Fraction, tail: float) -> int:
    """Return the least q with ``P(G > q) = p^(q+1)/(1 + p) ≤ tail``, p = e^(−γ), or one more."""
    gamma = float(rate)
    return max(0, math.ceil(-math.log(tail * (1 + math.exp(-gamma))) / gamma) - 1)


def _share(above: int, within: int, *, of_none: float) -> float:
    above, within = max(0, above), max(0, within)
    return above / (above + within) if above + within else of_none
