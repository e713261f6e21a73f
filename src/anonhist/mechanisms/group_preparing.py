"""The options of a release of groups, checked before the data are read, and what it will cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from anonhist.accounting.recording import Price
from anonhist.catalogue.levels import Levels
from anonhist.errors import UsageError
from anonhist.mechanisms.excess import ExcessMechanism, asked_excess_share
from anonhist.mechanisms.releasing import PreparedRelease, prepare
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.releases.excess import covers
from anonhist.releases.grouped import total_delta

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anonhist.privacy import EpsilonLike, Guarantee
    from anonhist.profiles import Bounded

# Whose loss is at most ε/Δ for each unit of distance, so that losses of groups add up to ε: docs/proofs/groups.md.
FOR_GROUPS = ("auto", "frobenius", "partition", "prevalence")
_NEEDS_UNITS = (
    "`excess_share` estimates what a bound left out: read the groups with `max_groups_per_label`, or with `user` and "
    "`max_per_user`, and with `count_units=True`."
)


@dataclass(frozen=True)
class PreparedGroups:
    """A release of groups prepared without its data, checked; see :func:`prepare_groups`.

    Attributes
    ----------
    epsilons
        The budget of each level that is released on its own, that of the groups themselves last.
    unit
        The unit to protect.
    made
        Makes what releases a level, of its budget and of the unit there.
    excess
        What releases the excess of all groups together; None if it was not requested.
    """

    epsilons: tuple[Fraction, ...]
    unit: PrivacyUnit
    made: Callable[[Fraction, PrivacyUnit], PreparedRelease]
    excess: ExcessMechanism | None = None

    def price(self, found_with: tuple[Fraction, Fraction] | None) -> Price:
        """Return what the release will cost, whatever groups there are.

        Parameters
        ----------
        found_with
            ε and δ that are spent on finding the groups, if they are not listed.
        """
        mechanisms = [self.made(epsilon, self.unit).mechanism for epsilon in self.epsilons]
        told: Guarantee = mechanisms[-1].guarantee
        costs = [(each.guarantee.epsilon, total_delta(each, None)) for each in mechanisms]
        costs += [] if found_with is None else [found_with]
        costs += [] if self.excess is None else [(self.excess.epsilon, Fraction(0))]
        epsilon, delta = (sum(each, start=Fraction(0)) for each in zip(*costs, strict=True))
        whole = replace(told, epsilon=epsilon, delta=delta, spending=())
        return Price(whole, mechanisms[-1].name, mechanisms[-1].parameters)


def prepare_groups(
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit | None,
    relation: NeighboringRelation,
    mechanism: str,
    public_cap: int | None,
    simulations: int | None,
    read_for: PrivacyUnit,
    shares: Sequence[Fraction] = (Fraction(1),),
    excess_share: EpsilonLike | None = None,
    excess_cap: int | None = None,
    bounded: tuple[Bounded, int] | None = None,
) -> PreparedGroups:
    """Check the options of a release of groups before the data are read.

    Parameters
    ----------
    epsilon, unit, relation, mechanism, public_cap, simulations
        As for :func:`release_groups`.
    read_for
        The unit that the data are read for.
    shares
        The share of ε of each level that is released on its own, as :func:`parse_level_shares` returns them. With an
        excess, the share of what that leaves.
    excess_share, excess_cap
        As for :func:`release_groups`.
    bounded
        What is bounded and how many are kept, if units are counted before the bound.

    Raises
    ------
    UsageError
        As for :func:`release_groups`, whatever the data.
    """
    if mechanism not in FOR_GROUPS:
        raise UsageError(
            f"`mechanism` of a release of groups must be one of {', '.join(FOR_GROUPS)}, not {mechanism!r}."
        )
    made = partial(
        _prepare,
        relation=relation,
        mechanism=mechanism,
        expected_items=None,
        options={"public_cap": public_cap},
        excess_share=None,
        excess_cap=None,
        simulations=simulations,
        users_bound=None,
    )
    whole, protected = parse_epsilon(epsilon), read_for
    if unit is not None:
        protected = replace(unit, in_one_group=read_for.in_one_group and unit.groups == 1)
    for_excess = asked_excess_share(excess_share, excess_cap)
    excess = None
    if for_excess:
        if bounded is None:
            raise UsageError(_NEEDS_UNITS)
        of, bound = bounded
        if not covers(protected, of, bound):
            raise UsageError(
                f"`excess_share` applies only to releases for {of.unit}s with at least {bound:,} {of.part}s, not "
                f"{protected}."
            )
        excess = ExcessMechanism(whole * for_excess, bound, excess_cap, relation, of)
    left = whole * (1 - for_excess)
    prepared = PreparedGroups(tuple(left * share for share in shares), protected, made, excess)
    for budget in prepared.epsilons:
        made(budget, prepared.unit)
    return prepared


def _prepare(epsilon: Fraction, unit: PrivacyUnit, **options: Any) -> PreparedRelease:
    return prepare(epsilon=epsilon, unit=unit, read_for=unit, **options)


def parse_level_shares(
    given: Sequence[EpsilonLike] | None, levels: Levels | None, *, columns: int
) -> tuple[Fraction, ...]:
    """Return the share of ε of each level that is released on its own.

    Raises
    ------
    UsageError
        If there are not as many as levels, they do not add up to one, or levels are not crossing.

    Examples
    --------
    >>> parse_level_shares(None, Levels.CROSSING, columns=1)
    (Fraction(1, 2), Fraction(1, 2))
    >>> parse_level_shares(None, Levels.NESTED, columns=1)
    (Fraction(1, 1),)
    """
    if levels is not Levels.CROSSING:
        if given is not None:
            raise UsageError("`level_shares` splits ε among crossing levels; leave it out.")
        return (Fraction(1),)
    if given is None:
        return (Fraction(1, columns + 1),) * (columns + 1)
    shares = tuple(parse_epsilon(each, name="level_shares") for each in given)
    if len(shares) != columns + 1 or sum(shares) != 1:
        raise UsageError(
            f"`level_shares` must be {columns + 1} numbers that add up to 1: for everything together, then for each "
            "grouping column."
        )
    return shares
