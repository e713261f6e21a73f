"""A release of several groups: one private profile per group, under one guarantee."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from anonhist.catalogue import Levels
from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.privacy import Guarantee, left_out, short_decimal
from anonhist.privacy.parameters import round_up
from anonhist.profiles import Profile
from anonhist.profiles.grouped import Group, prefixes_of, total_of
from anonhist.profiles.profile import Bounded
from anonhist.releases.agreement import agreed, moved_to, weight_of
from anonhist.releases.error import ReleaseError
from anonhist.releases.excess import Excess
from anonhist.releases.made import Mechanism, ReleaseByGroup, ReleaseKind, runs_fall_short
from anonhist.releases.relations import Design, check_adjusted
from anonhist.releases.release import Release
from anonhist.releases.runs import generator_of, part_of

if TYPE_CHECKING:
    import numpy as np

    from anonhist.properties.estimate import Estimate
    from anonhist.releases.evidence import Evidence


@dataclass(frozen=True)
class NestedTotals:
    """Totals that are sums of released groups.

    ``known`` holds what is known about the error of each total, by the first names of its groups: evidence from noisy
    values, errors that were computed before, or None.
    """

    known: Mapping[Group, Evidence | ReleaseError | None]

    def releases(self, groups: Mapping[Group, Release], guarantee: Guarantee) -> dict[Group, Release]:
        """Return the release of each total, with the joint guarantee of all groups."""
        first, runs = next(iter(groups.values())), RunsOfTotals(groups)
        sums = _sums({group: each.profile for group, each in groups.items()})
        totals = {}
        for prefix, known in self.known.items():
            mechanism = SumOfReleases(first.mechanism, prefix, runs, guarantee)
            error = known if isinstance(known, ReleaseError) else None
            totals[prefix] = Release(
                profile=Profile(sums[prefix].counts, sums[prefix].prevalences, unit=guarantee.unit.total_unit),
                guarantee=guarantee,
                mechanism=mechanism,
                reason=first.reason,
                library_version=first.library_version,
                recorded_error=error,
                simulations=runs.size if error is None else error.simulations,
                order_key=first.order_key,
                where=first.where,
                evidence=None if isinstance(known, ReleaseError) else known,
            )
        return totals


@dataclass(frozen=True)
class CrossingTotals:
    """Totals that were released separately, by the first names of their groups."""

    known: Mapping[Group, Release]


@runtime_checkable
class SimulatesEach(Protocol):
    """A mechanism that releases several profiles together."""

    def simulate_each_fast(
        self, profiles: Sequence[Profile], *, size: int, rng: np.random.Generator
    ) -> Iterator[Sequence[Profile]]:
        """Yield ``size`` runs on several public profiles together, fast ones if there are any."""


@frozen
class RunsOfTotals:
    """Runs of a mechanism on the releases of all groups together; only the totals are kept."""

    groups: Converted[Mapping[Group, Release], dict[Group, Release]] = converted(dict, shown=False)

    @property
    def size(self) -> int:
        """Number of runs: that of the group with the fewest."""
        return min(each.simulations for each in self.groups.values())

    @cached_property
    def on_releases(self) -> list[dict[Group, Profile]]:
        """The totals of each run on the releases."""
        return self._draw([each.profile for each in self.groups.values()])

    @cached_property
    def on_nothing(self) -> list[dict[Group, Profile]]:
        """The totals of each run on no data."""
        return self._draw([Profile([], [], unit=each.profile.unit) for each in self.groups.values()])

    def _draw(self, profiles: list[Profile]) -> list[dict[Group, Profile]]:
        mechanism = next(iter(self.groups.values())).mechanism
        if not isinstance(mechanism, SimulatesEach):
            raise UsageError(f"The mechanism {mechanism.name} does not release groups together.")
        rng = generator_of(mechanism, total_of(profiles), None)
        runs = mechanism.simulate_each_fast(profiles, size=self.size, rng=rng)
        return [_sums(dict(zip(self.groups, run, strict=True))) for run in runs]


def _sums(profiles: Mapping[Group, Profile]) -> dict[Group, Profile]:
    """Return the total of each prefix of groups."""
    parts: dict[Group, list[Profile]] = {prefix: [] for prefix in prefixes_of(profiles)}
    for group, each in profiles.items():
        for depth in range(len(group)):
            parts[group[:depth]].append(each)
    return {prefix: total_of(each) for prefix, each in parts.items()}


@frozen
class SumOfReleases:
    """What made a total: the mechanism of its groups, and the addition of those with the first names ``prefix``.

    The guarantee is the joint one of all groups, of which the total is a function; runs are on all groups together.
    """

    mechanism: Mechanism
    prefix: Group
    runs: RunsOfTotals
    guarantee: Guarantee

    @property
    def kind(self) -> ReleaseKind:
        """The kind of release of a group."""
        return self.mechanism.kind

    @property
    def name(self) -> str:
        """The name of the mechanism of a group."""
        return self.mechanism.name

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """The parameters of the mechanism of a group."""
        return self.mechanism.parameters

    @property
    def runs_fall_short(self) -> str:
        """Why runs give no intervals: the reason for a group holds for a sum."""
        return runs_fall_short(self.mechanism)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return runs on the released groups, added up; for an empty profile, runs on no data.

        There are at most as many as for the group with the fewest. ``rng`` is not used: one generator drew the runs of
        all totals.
        """
        runs = self.runs.on_releases if profile.n else self.runs.on_nothing
        return [run[self.prefix] for run in runs[:size]]

    def range_of_sum(self, expected: Estimate, least: float) -> tuple[float, float]:
        """Return the range of the sorted ℓ1 error of the total, from those of its groups.

        The distance of a total from the true one is at most the sum of its groups' distances, because no pairing of
        counts has a smaller sum of differences than the descending order, and pairing within groups is one pairing. So
        the upper end is the sum of the groups' upper ends. If groups may err less than their runs show, so may the
        total: its range begins at the same share of the expected error as the sum of the groups' ranges, if that is
        less than ``least``, the lower end from runs on the total alone.
        """
        errors = [each.error for group, each in self.runs.groups.items() if group[: len(self.prefix)] == self.prefix]
        ranges = [each.expected_range for each in errors]
        values = sum(each.sorted_l1.value for each in errors if each.sorted_l1 is not None)
        lows, highs = (sum(ends[side] for ends in ranges if ends is not None) for side in (0, 1))
        share = min(1.0, lows / values) if values else 0.0
        return min(least, share * expected.value), max(expected.interval[1], highs)


EVERYTHING = "everything together"


def joint_arithmetic(guarantees: Iterable[Guarantee]) -> str:
    """Return what floating point costs on all levels together: those above and below ln 3 are drawn differently."""
    return ", and ".join(dict.fromkeys(each.arithmetic for each in guarantees))


def guarantee_of(
    levels: Sequence[tuple[tuple[str, ...], Mapping[Group, Release]]], *, found_with: tuple[Fraction, Fraction] | None
) -> Guarantee:
    """Return the joint guarantee of all releases.

    ``levels`` has, for each level that was released separately, the grouping columns and the release of each group, all
    by one mechanism; the level of all columns is the last. ``found_with`` holds the ε and δ spent on finding the
    groups, if they were not listed.
    """
    # How many groups were found is a result, and δ must hold for every result.
    costs = [_level_guarantee(releases, is_public=found_with is None) for _, releases in levels]
    whole = costs[-1]
    steps = [
        (f"groups by {', '.join(by)}" if by else EVERYTHING, each.epsilon)
        for (by, _), each in zip(levels, costs, strict=True)
    ]
    delta = sum((each.delta for each in costs), start=whole.delta * 0)
    if found_with is not None:
        own = steps if len(steps) > 1 else [("their profiles", whole.epsilon)]
        steps = [("finding the groups", found_with[0]), *own]
        delta += found_with[1]
    if len(steps) == 1:
        return whole
    epsilon = sum((spent for _, spent in steps), start=whole.epsilon * 0)
    return replace(whole, epsilon=epsilon, delta=delta, arithmetic=joint_arithmetic(costs), spending=tuple(steps))


# The beginning of the condition on which the release of one found group keeps its guarantee.
ON_FOUND_GROUPS = "nobody learns from it which groups there are: finding them"


def on_condition(release: Release, found_with: tuple[Fraction, Fraction] | None) -> Release:
    """Return the release of one group with the condition, if any, on which its own guarantee holds."""
    if found_with is None or release.guarantee.conditions:
        return release
    epsilon, delta = found_with
    condition = f"{ON_FOUND_GROUPS} cost an epsilon of {short_decimal(epsilon)} and a δ of {round_up(delta)} more"
    return replace(release, guarantee=replace(release.guarantee, conditions=(condition,)))


_SHARED = ("mechanism", "reason", "order_key", "where")


def _level_guarantee(releases: Mapping[Group, Release], *, is_public: bool) -> Guarantee:
    first = next(iter(releases.values()))
    for each in releases.values():
        if any(getattr(each, name) != getattr(first, name) for name in _SHARED):
            raise UsageError("The releases of all groups must be made by one mechanism, in one step.")
    delta = total_delta(first.mechanism, len(releases) if is_public else None)
    return replace(first.mechanism.guarantee, delta=delta)


def total_delta(mechanism: Mechanism, groups: int | None) -> Fraction:
    """Return δ of this many groups together: a unit changes at most ``l1_sensitivity`` of them. None is any number."""
    one: Fraction = mechanism.guarantee.delta
    unit, relation = mechanism.guarantee.unit, mechanism.guarantee.relation
    most = unit.max_distance * relation.distance
    return one * (most if groups is None else min(most, groups))


# The budget step of the profiles of all groups, if there is no other.
_PROFILES_STEP = "the profiles of all groups"


class GroupedRelease(ReleaseByGroup[Release]):
    """The private profiles of several groups, with one joint guarantee.

    The guarantee of each group's release is that of the group alone; :attr:`guarantee` is for all of them.

    It is a mapping from a group, a name for each grouping column, to its release: ``release["spring", "2026-11-22"]``,
    or ``release["DE"]`` if there is one grouping column. Each of these releases has its own intervals and estimates, at
    no further cost.

    With :attr:`levels`, there are groups of fewer columns, too: ``release["spring"]`` for all days, ``release[()]`` for
    everything. Iteration, ``len`` and :attr:`groups` leave them out; :meth:`level` returns them.

    :meth:`to_pandas` and :meth:`to_polars` return all groups as one tidy table, a row per group and released count; a
    group without labels has no row.
    It behaves like a mapping but is not a ``Mapping``, because data frame libraries would read one as named columns.

    Parameters
    ----------
    by
        The names of the grouping columns.
    releases
        The release of each group, all made by one mechanism, independently.
    found_with
        The ε and δ spent on finding the groups, if they were not listed.
    totals
        The totals of groups with the same first names, from none to all but the last, if there are any: released
        separately, or sums, for which only the errors are given.
    excess
        What the bound on users or labels left out in all groups together, if a share of the budget was spent on it.
    adjusted
        The profiles of all levels, moved until totals and groups agree; None to leave them as they were drawn.

    Raises
    ------
    UsageError
        If there is no group, a group does not have one name for each column, the releases of a level differ in their
        mechanism, totals do not belong to the groups, or the excess is for another unit or relation; if adjusted
        profiles are not for crossing levels, or contradict each other.

    Notes
    -----
    The guarantee is that of each group, whose unit is one of all groups together, except for δ: a unit changes at most
    Δ groups, where Δ is the largest sorted ℓ1 distance of neighbors over all groups, so δ is the δ of one group times Δ
    or, if smaller, times the number of groups. If groups were found in the data, that cost is added; the guarantee of a
    group's own release names the finding as a condition. Totals of nested levels cost nothing; the costs of crossing
    levels add up. An adjusted profile is a function of all levels, so its release has the guarantee of all; the drawn
    one is its :attr:`Release.unadjusted`. Proof: docs/proofs/groups.md.

    Examples
    --------
    >>> import anonhist as ah
    >>> from anonhist.profiles.grouped import GroupedProfile
    >>> profiles = {("DE",): ah.Profile.from_counts([3, 1]), ("FR",): ah.Profile.from_counts([])}
    >>> release = ah.release_groups(GroupedProfile(("country",), profiles, unit=ah.PrivacyUnit.item()), epsilon=1)
    >>> release["DE"].guarantee == release.guarantee
    True
    >>> release.groups
    (('DE',), ('FR',))
    """

    known_as = "groups"
    guarantee: Guarantee
    found_with: tuple[Fraction, Fraction] | None
    totals: NestedTotals | CrossingTotals | None
    excess: Excess | None
    adjusted: Mapping[Group, Profile] | None
    _drawn: Mapping[Group, Release]
    _others = ("found_with", "totals", "excess", "adjusted")
    # Totals and adjusted profiles are compared as part of the groups that can be asked for.
    _not_compared = ("totals", "adjusted")

    def __init__(
        self,
        by: tuple[str, ...],
        releases: Mapping[Group, Release],
        *,
        found_with: tuple[Fraction, Fraction] | None = None,
        totals: NestedTotals | CrossingTotals | None = None,
        excess: Excess | None = None,
        adjusted: Mapping[Group, Profile] | None = None,
    ) -> None:
        """Check the groups, and state their joint guarantee."""
        super().__init__(by, _frozen(releases, found_with))
        if not by:
            raise UsageError("Each group must have one name for each grouping column: .")
        if totals is not None and list(totals.known) != prefixes_of(releases):
            raise UsageError(
                "Levels need the total of each: of everything, then by the first grouping column, and so on."
            )
        first = next(iter(releases.values()))
        levels: list[tuple[tuple[str, ...], Mapping[Group, Release]]] = [(by, releases)]
        if isinstance(totals, CrossingTotals):
            levels = [(by[:depth], _at(depth, totals.known)) for depth in range(len(by))] + levels
        whole = guarantee_of(levels, found_with=found_with)
        of_levels = guarantee_of(levels, found_with=None)
        if excess is not None:
            whole = excess.add_to(whole, step=_PROFILES_STEP)
            if excess.of is Bounded.ITEMS_OF_LABELS or not excess.is_of(whole):
                raise UsageError("The excess must be for the unit and the relation of the groups.")
        alone = guarantee_of([(by, releases)], found_with=None)
        above = {}
        if isinstance(totals, NestedTotals):
            above = totals.releases(releases, alone)
        elif totals is not None:
            above = dict(totals.known)
        known = {**_frozen(above, found_with), **self._values}
        drawn = known if isinstance(totals, CrossingTotals) else dict(self._values)
        if adjusted is not None:
            if not isinstance(totals, CrossingTotals):
                raise UsageError("Only crossing levels are adjusted: others agree as they are.")
            check_adjusted(Design(tuple(releases), first.mechanism.guarantee.unit), adjusted)
            moved = {group: moved_to(each, adjusted[group], of_levels) for group, each in drawn.items()}
            known = _agreeing(_frozen(moved, found_with), drawn)
            vars(self).update(_values=MappingProxyType({group: known[group] for group in releases}))
        vars(self).update(
            guarantee=whole,
            found_with=found_with,
            totals=totals,
            adjusted=None if adjusted is None else dict(adjusted),
            # This includes what holds for all groups, and their number, if it is bounded.
            excess=excess
            and replace(excess, guarantee=whole, groups=len(releases) if excess.of.part == "group" else None),
            _known=MappingProxyType(known),
            _drawn=MappingProxyType(drawn),
        )

    @property
    def levels(self) -> Levels | None:
        """What totals count, if there are any."""
        if self.totals is None:
            return None
        return Levels.NESTED if isinstance(self.totals, NestedTotals) else Levels.CROSSING

    def level(self, depth: int) -> Mapping[Group, Release]:
        """Return the releases of one level, by the first ``depth`` grouping columns.

        Parameters
        ----------
        depth
            From 0, for everything together, to the number of grouping columns, for the groups themselves.

        Raises
        ------
        UsageError
            If there is no such level.
        """
        found = _at(depth, self._known)
        if not found:
            raise UsageError(f"This release has no level of {depth} grouping columns; make it with levels.")
        return MappingProxyType(found)

    @property
    def left_out(self) -> str:
        """What errors and intervals leave out, because units were bounded; empty if they were not."""
        return left_out(self.guarantee.unit, levels_cross=isinstance(self.totals, CrossingTotals))

    @property
    def drawn(self) -> Mapping[Group, Release]:
        """The releases that were drawn, crossing totals first; the others follow from them."""
        return self._drawn

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle what was drawn."""
        return self._again, ({group: self._drawn[group] for group in self},)

    @property
    def is_consistent(self) -> bool:
        """Whether the numbers of crossing levels were moved until totals and groups agree."""
        return self.adjusted is not None

    def consistent(self) -> GroupedRelease:
        """Return the release with the numbers of crossing levels moved until totals and groups agree.

        Which relations hold depends on the unit for which the data were read, its bounds and the list of groups alone:
        see docs/proofs/groups.md. It is post-processing. Other releases, and those in which nothing can be compared,
        stay as they are.

        Examples
        --------
        >>> import anonhist as ah
        >>> import pyarrow as pa
        >>> clicks = pa.table({"query": ["a", "b", "a", "c"], "country": ["DE", "DE", "FR", "FR"]})
        >>> grouped = ah.read_groups(clicks, label="query", by="country", groups=["DE", "FR"], levels="crossing")
        >>> release = ah.release_groups(grouped, epsilon=1, consistent=False)
        >>> agreed = release.consistent()
        >>> agreed[()].n == agreed["DE"].n + agreed["FR"].n
        True
        """
        if not isinstance(self.totals, CrossingTotals) or self.is_consistent:
            return self
        design = Design(self.groups, self.first.mechanism.guarantee.unit)
        weights = [weight_of(next(iter(self.level(depth).values())).mechanism) for depth in range(len(self.by) + 1)]
        found = agreed(design, {group: each.profile for group, each in self._drawn.items()}, weights)
        return self if found is None else self._with_totals(self.totals, self._drawn, found)

    def with_error(self, *, progress: Callable[[float], None] | None = None) -> GroupedRelease:
        """Return the release with the error of each group recorded, as :meth:`Release.with_error` does.

        Parameters
        ----------
        progress
            Called from time to time with the share done, in (0, 1].
        """
        told: dict[Group, Release] = {}
        firsts: dict[int, Release] = {}
        for at, (group, each) in enumerate(drawn := self.drawn.items()):
            # Runs on no data are shared by all groups.
            each.share_runs(firsts.setdefault(each.simulations, each))
            told[group] = each.with_error(progress=part_of(progress, at / len(drawn), (at + 1) / len(drawn)))
        made = self._of_drawn(told)
        if not isinstance(made.totals, NestedTotals):
            return made
        # Their runs are those of the groups, which exist by now.
        return self._with_totals(
            NestedTotals({prefix: made[prefix].error for prefix in made.totals.known}), made.everything, None
        )

    def _of_drawn(self, drawn: Mapping[Group, Release]) -> GroupedRelease:
        totals = self.totals
        if isinstance(totals, CrossingTotals):
            totals = CrossingTotals({prefix: drawn[prefix] for prefix in totals.known})
        return self._with_totals(totals, drawn, self.adjusted)

    def _with_totals(
        self,
        totals: NestedTotals | CrossingTotals | None,
        releases: Mapping[Group, Release],
        adjusted: Mapping[Group, Profile] | None,
    ) -> GroupedRelease:
        own = {group: releases[group] for group in self}
        return GroupedRelease(
            self.by, own, found_with=self.found_with, totals=totals, excess=self.excess, adjusted=adjusted
        )


def _at(depth: int, totals: Mapping[Group, Release]) -> dict[Group, Release]:
    return {group: each for group, each in totals.items() if len(group) == depth}


def _agreeing(moved: dict[Group, Release], drawn: Mapping[Group, Release]) -> dict[Group, Release]:
    for each in moved.values():
        each.agree_with(drawn)
    return moved


def _frozen(releases: Mapping[Group, Release], found_with: tuple[Fraction, Fraction] | None) -> dict[Group, Release]:
    return {group: on_condition(each, found_with) for group, each in releases.items()}
