"""The expected error of each group of a release, and the checks of its options, before any data are touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log
from typing import SupportsIndex

import numpy as np

from anonhist.accounting.recording import Price
from anonhist.catalogue import Levels
from anonhist.errors import UsageError
from anonhist.frozen import Converted, frozen, named, optional
from anonhist.kinds import Printed, Tabular
from anonhist.mechanisms.bound_choosing import PreparedChoice
from anonhist.mechanisms.excess import ExcessMechanism, parse_excess_share
from anonhist.mechanisms.picking import choose
from anonhist.mechanisms.planning import LARGEST_PLAN, Shape, power_law_profile, staircase_profile, zipf_profile
from anonhist.mechanisms.releasing import AskedRelease, PreparedRelease
from anonhist.mechanisms.setting import check_unit
from anonhist.mechanisms.skeletons import CentralMechanism
from anonhist.numeric.pulse import tell_share
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
)
from anonhist.privacy.parameters import MOST_SIMULATIONS
from anonhist.profiles import Bounded, Profile, sorted_l1
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist.profiles.grouped import Group
from anonhist.properties.estimate import Estimate
from anonhist.releases.excess import covers
from anonhist.releases.grouped import joint_arithmetic, total_delta
from anonhist.releases.made import KnowsWork
from anonhist.releases.runs import expected_distance

# Errors are skewed: most runs are close to the mean or below, and a few have three times as much. The standard error of
# few runs is then too small, and the more so the smaller their mean. So the number of runs is such that all sizes
# together take some five seconds, on one core, but at least 32.
_LEAST_RUNS, _MICROSECONDS = 32, 5_000_000
# This many sizes are simulated. If there are more, sizes within the first of these ratios that leaves fewer are treated
# as one: errors grow more slowly than sizes, so by less than the ratio.
_MOST_PLANNED = 64
_NEAR = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 4.0, 16.0)
_METHOD = "simulated on a public shape of that size"


@frozen
class GroupSize:
    """Public knowledge about the size of a group.

    Attributes
    ----------
    items
        A guess of the number of items, from 0 to 10¹⁵.
    labels
        A guess of the number of labels, at most the number of items; None without a guess.

    Raises
    ------
    UsageError
        If a number is out of its range.

    Examples
    --------
    >>> GroupSize(1000, labels=80).labels
    80
    """

    items: Converted[SupportsIndex, int] = named(parse_whole_number, least=0, most=LARGEST_PLAN)
    labels: Converted[SupportsIndex | None, int | None] = named(
        optional(parse_whole_number), least=0, most=LARGEST_PLAN, default=None
    )

    def __post_init__(self) -> None:
        if self.labels is not None and not (self.labels <= self.items and bool(self.labels) == bool(self.items)):
            raise UsageError("`labels` must be at most `items`, and at least 1 where there are items.")


@dataclass(frozen=True)
class GroupPlanRow:
    """The predicted accuracy of one group.

    Attributes
    ----------
    group
        A name for each grouping column.
    items
        Number of items planned for.
    sorted_l1
        Expected sorted ℓ1 error, in items.
    simulations
        Number of runs behind this mean.
    """

    group: Group
    items: int
    sorted_l1: Estimate
    simulations: int

    @property
    def relative_error(self) -> float:
        """``sorted_l1 / items``: the share of items expected to be wrong; infinite for no items."""
        return self.sorted_l1.value / self.items if self.items else float("inf")

    @property
    def mostly_noise(self) -> bool:
        """Whether at least a third of the items are expected to be wrong."""
        return 3 * self.sorted_l1.value >= self.items


@frozen(repr=False)
class GroupPlan(Printed, Tabular):
    """Predictions of :func:`plan_groups`, one row per group, to loop over, or as a data frame.

    Attributes
    ----------
    by
        The names of the grouping columns.
    epsilon, unit, mechanism
        The whole budget, the unit, and the name of the mechanism that would be picked.
    rows
        In the order of the groups.
    near
        Sizes that differ by less than this factor were planned as one; 1 if each was planned separately.

    Examples
    --------
    >>> planned = plan_groups({("DE",): 9000, ("FR",): 40}, by=["country"], epsilon=1, rng=np.random.default_rng(0))
    >>> [(row.group, row.mostly_noise) for row in planned]
    [(('DE',), False), (('FR',), False)]
    >>> planned.to_arrow().column_names
    ['country', 'items', 'sorted_l1', 'standard_error', 'relative_error', 'mostly_noise']
    """

    known_as = "group plan"
    by: tuple[str, ...]
    epsilon: Fraction
    unit: PrivacyUnit
    mechanism: str
    rows: tuple[GroupPlanRow, ...]
    near: float

    def __iter__(self) -> Iterator[GroupPlanRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> GroupPlanRow:
        return self.rows[place]


def plan_groups(
    sizes: Mapping[Group, GroupSize | int],
    *,
    by: tuple[str, ...] | list[str],
    epsilon: EpsilonLike,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    shape: Shape = "zipf",
    simulations: int | None = None,
    rng: np.random.Generator | None = None,
    progress: Callable[[float], None] | None = None,
) -> GroupPlan:
    """Predict the error of each group of a release, from public guesses of the groups' sizes.

    The mechanism is that of :func:`release_groups`, whose noise does not depend on the number of groups. Measured
    errors of groups of the planned size were between 0.5 and 1.6 times the predicted ones, on all shapes of
    ``bench/group_plans.py``.

    Parameters
    ----------
    sizes
        The guess for each group, a name for each grouping column; a plain number means items. The guesses must be
        public: numbers from the data to be released are not.
    by
        The names of the grouping columns.
    epsilon
        The budget of the profiles of all groups together, > 0, without the budget for finding groups.
    unit
        The unit to protect, with its bounds on groups: ``PrivacyUnit.user(max_items=5, groups=7)`` or
        ``PrivacyUnit.label(max_count=20, groups=7)``; the item unit by default.
    relation
        As in :func:`release_groups`.
    shape
        ``"zipf"`` or ``"worst"``, as in :func:`plan`. With a number of labels, it must be ``"zipf"``: the k-th most
        frequent label occurs ``(L/k)^s`` times, with s chosen to match the number of items.
    simulations
        Runs per size, from 2 to 1,000; by default 1,000, or fewer if these take long, but at least 32.
    rng
        Simulation randomness.
    progress
        Called with the share done, in (0, 1].

    Returns
    -------
    GroupPlan
        One row per group, in the order given. With label privacy, errors refer to the capped counts.

    Raises
    ------
    UsageError
        If the budget, a size, the unit or the shape is impossible, there is no group, or a group does not have one name
        for each column.

    Examples
    --------
    >>> week = PrivacyUnit.label(max_count=20, groups=7)
    >>> sizes = {("spring", "2026-11-22"): GroupSize(50_000, labels=20_000), ("fall", "2026-11-22"): 300}
    >>> planned = plan_groups(sizes, by=["campaign", "day"], epsilon=1, unit=week, rng=np.random.default_rng(0))
    >>> planned.mechanism, [row.mostly_noise for row in planned]
    ('prevalence', [False, True])
    """
    if not sizes:
        raise UsageError("There is no group to plan for: give at least one.")
    if isinstance(by, str) or not by or any(not isinstance(g, tuple) or len(g) != len(by) for g in sizes):
        raise UsageError(f"Each group must have one name for each grouping column: {', '.join(by)}.")
    known = {group: size if isinstance(size, GroupSize) else GroupSize(size) for group, size in sizes.items()}
    if shape not in ("zipf", "worst"):
        raise UsageError(f"`shape` must be 'zipf' or 'worst', not {shape!r:.80}.")
    if shape == "worst" and any(size.labels is not None for size in known.values()):
        raise UsageError("A number of labels sets the shape: leave `shape` out, or the labels.")
    protected = check_unit(PrivacyUnit.item() if unit is None else unit)
    mechanism, _ = choose(epsilon=epsilon, unit=protected, relation=relation)
    asked = None
    if simulations is not None:
        asked = parse_whole_number(simulations, name="simulations", least=2, most=MOST_SIMULATIONS)
    # This simulates public shapes: no private data depend on this generator.
    generator = rng or np.random.default_rng()
    classes, near = _alike(set(known.values()))
    errors: dict[GroupSize, tuple[Estimate, int]] = {}
    planned: dict[GroupSize, tuple[Estimate, int]] = {}
    number = len(set(classes.values()))
    for size, stands_for in classes.items():
        if stands_for not in planned:
            first, last = len(errors) / len(classes), (len(errors) + 1) / len(classes)
            with tell_share(progress, first, last):
                truth = mechanism.admit(_profile(stands_for, shape))
                runs = asked or _affordable(truth, mechanism, number)
                planned[stands_for] = _expected(truth, mechanism, runs, generator), runs
        errors[size] = planned[stands_for]
    rows = tuple(GroupPlanRow(group, size.items, *errors[size]) for group, size in known.items())
    return GroupPlan(tuple(by), parse_epsilon(epsilon), protected, mechanism.name, rows, near)


def _alike(sizes: set[GroupSize]) -> tuple[dict[GroupSize, GroupSize], float]:
    """Return, for each size, the size planned in its place, and the factor within which the two agree."""
    ordered = sorted(sizes, key=lambda size: (size.items, size.labels or 0, size.labels is None))
    if len(ordered) <= _MOST_PLANNED:
        return {size: size for size in ordered}, 1.0
    for near in _NEAR:
        # The last of the similar sizes is the largest.
        largest = {_class_of(size, near): size for size in ordered}
        if len(largest) <= _MOST_PLANNED:
            break
    return {size: largest[_class_of(size, near)] for size in ordered}, near


def _class_of(size: GroupSize, near: float) -> tuple[int | None, ...]:
    return tuple(
        None if number is None else -1 if number == 0 else floor(log(number) / log(near))
        for number in (size.items, size.labels)
    )


def _profile(size: GroupSize, shape: Shape) -> Profile:
    """Return a public profile of a given size."""
    if not size.items:
        return Profile([], [])
    if size.labels is not None:
        return power_law_profile(size.items, size.labels)
    return zipf_profile(size.items) if shape == "zipf" else staircase_profile(size.items)


def _affordable(truth: Profile, mechanism: CentralMechanism, sizes: int) -> int:
    """Return about how many runs on a profile fit into its share of the time; the same on all machines."""
    own = mechanism.simulation_work(truth) if isinstance(mechanism, KnowsWork) else 0
    microseconds = 300 + 14 * len(truth) + own // 64
    return max(_LEAST_RUNS, min(MOST_SIMULATIONS, _MICROSECONDS // (sizes * microseconds)))


def _expected(truth: Profile, mechanism: CentralMechanism, runs: int, rng: np.random.Generator) -> Estimate:
    """Return the mean error over runs on a profile, which is the truth here, with its standard error."""
    found = [float(sorted_l1(truth, run)) for run in mechanism.simulate(truth, size=runs, rng=rng)]
    # Identical runs do not make the mean exact: another run may differ by an item.
    spread = max(1 / runs, float(np.std(found, ddof=1)) / runs**0.5)
    return expected_distance(float(np.mean(found)), spread, runs, method=_METHOD)


# Mechanisms whose loss is at most ε/Δ per unit of distance, so that losses of groups add up to ε:
# docs/proofs/groups.md.
FOR_GROUPS = ("auto", "frobenius", "partition", "prevalence")
_NEEDS_UNITS = (
    "`excess_share` estimates what a bound left out: read the groups with `max_groups_per_label`, or with `user` and "
    "`max_per_user`, and with `count_units=True`."
)


@dataclass(frozen=True)
class PreparedGroups:
    """A release of groups, prepared and checked without its data; see :func:`prepare_groups`.

    ``epsilons`` are the budgets of the separately released levels, with that of the groups themselves last. The excess
    is for all groups together.
    """

    epsilons: tuple[Fraction, ...]
    unit: PrivacyUnit
    asked: AskedRelease
    excess: ExcessMechanism | None = None
    choice: ChosenBound | None = None

    def made(self, epsilon: Fraction, unit: PrivacyUnit) -> PreparedRelease:
        """Return the mechanism that releases a level, with its budget and its unit."""
        return replace(self.asked, epsilon=epsilon, unit=unit).prepared(unit, choice=self.choice)

    def price(self, found_with: tuple[Fraction, Fraction] | None) -> Price:
        """Return the cost of the release, for any groups; ``found_with`` are the ε and δ of finding them."""
        mechanisms = [self.made(epsilon, self.unit).mechanism for epsilon in self.epsilons]
        told: list[Guarantee] = [each.guarantee for each in mechanisms]
        costs = [(each.guarantee.epsilon, total_delta(each, None)) for each in mechanisms]
        costs += [] if found_with is None else [found_with]
        costs += [] if self.excess is None else [(self.excess.epsilon, Fraction(0))]
        epsilon, delta = (sum(each, start=Fraction(0)) for each in zip(*costs, strict=True))
        arithmetic = joint_arithmetic(told)
        # A chosen bound has no other steps beside it: see prepare_groups.
        steps = () if self.choice is None else told[-1].spending
        whole = replace(told[-1], epsilon=epsilon, delta=delta, arithmetic=arithmetic, spending=steps)
        return Price(whole, mechanisms[-1].name, mechanisms[-1].parameters)


def prepare_groups(
    asked: AskedRelease,
    read_for: PrivacyUnit,
    *,
    shares: Sequence[Fraction] = (Fraction(1),),
    bounded: tuple[Bounded, int] | None = None,
    choice: ChosenBound | None = None,
) -> PreparedGroups:
    """Check the options of a release of groups before the data are read.

    Errors are those of :func:`release_groups`, whatever the data. ``shares`` are the shares of ε of the separately
    released levels; with an excess, shares of the rest. ``bounded`` says what is bounded and how many are kept, if
    units are counted before bounding, ``choice`` how the number of items of users was chosen, or will be.
    """
    if asked.mechanism not in FOR_GROUPS:
        raise UsageError(
            f"`mechanism` of a release of groups must be one of {', '.join(FOR_GROUPS)}, not {asked.mechanism!r}."
        )
    whole, protected = asked.whole, read_for
    if asked.unit is not None:
        protected = replace(asked.unit, in_one_group=read_for.in_one_group and asked.unit.groups == 1)
    if choice is not None and (len(shares) > 1 or asked.excess_share is not None or asked.unit not in (None, read_for)):
        raise UsageError(
            "A chosen bound decides the unit, and crossing levels and an excess need a given one: leave these out, or "
            "give the bound."
        )
    for_excess = parse_excess_share(asked.excess_share, asked.excess_cap)
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
        excess = ExcessMechanism(whole * for_excess, bound, asked.excess_cap, asked.relation, of)
    left = whole * (1 - for_excess)
    of_a_level = replace(asked, excess_share=None, excess_cap=None)
    prepared = PreparedGroups(tuple(left * share for share in shares), protected, of_a_level, excess, choice)
    for budget in prepared.epsilons:
        prepared.made(budget, prepared.unit)
    return prepared


def price_of_choice(choice: PreparedChoice) -> Price:
    """Return the cost of choosing a bound and of the release of groups after it, whatever bound is chosen."""
    asked, unit = choice.asked, choice.units[-1]
    wanted = AskedRelease(asked.epsilon, unit, asked.relation, asked.mechanism)
    return prepare_groups(wanted, unit, choice=asked).price(None)


def parse_level_shares(
    given: Sequence[EpsilonLike] | None, levels: Levels | None, *, columns: int
) -> tuple[Fraction, ...]:
    """Return the share of ε of each separately released level; the shares add up to one."""
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
