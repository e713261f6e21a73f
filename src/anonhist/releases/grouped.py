"""A release of several groups: a private profile of each, under one guarantee."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from anonhist.accounting import Receipt
from anonhist.catalogue import Levels
from anonhist.errors import UsageError
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.privacy import Guarantee, left_out, short_decimal
from anonhist.privacy.guarantee import round_up
from anonhist.profiles.grouped import Group, prefixes_of
from anonhist.profiles.profile import Bounded
from anonhist.releases.excess import Excess
from anonhist.releases.protocols import Mechanism
from anonhist.releases.release import Release
from anonhist.releases.runs import part_of
from anonhist.releases.totals import CrossingTotals, NestedTotals

if TYPE_CHECKING:
    from collections.abc import Sequence

EVERYTHING = "everything together"


def guarantee_of(
    levels: Sequence[tuple[tuple[str, ...], Mapping[Group, Release]]], *, found_with: tuple[Fraction, Fraction] | None
) -> Guarantee:
    """Return what holds for all releases together.

    ``levels`` has, for each level that was released on its own, the grouping columns and the release of each group, all
    by one mechanism; the level of all columns is the last. ``found_with`` is ε and δ that were spent on finding the
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
    return replace(whole, epsilon=epsilon, delta=delta, spending=tuple(steps))


# How the condition begins on which the release of one group that was found keeps its promise.
ON_FOUND_GROUPS = "nobody learns from it which groups there are: finding them"


def on_condition(release: Release, found_with: tuple[Fraction, Fraction] | None) -> Release:
    """Return the release of one group with the condition under which it alone keeps its promise, if there is one."""
    if found_with is None or release.guarantee.conditions:
        return release
    epsilon, delta = found_with
    condition = f"{ON_FOUND_GROUPS} cost an epsilon of {short_decimal(epsilon)} and a δ of {round_up(delta)} more"
    return replace(release, guarantee=replace(release.guarantee, conditions=(condition,)))


def _level_guarantee(releases: Mapping[Group, Release], *, is_public: bool) -> Guarantee:
    first = next(iter(releases.values()))
    for each in releases.values():
        if (each.mechanism, each.reason, each.order_key) != (first.mechanism, first.reason, first.order_key):
            raise UsageError("The releases of all groups must be made by one mechanism, in one step.")
    delta = total_delta(first.mechanism, len(releases) if is_public else None)
    return replace(first.mechanism.guarantee, delta=delta)


def total_delta(mechanism: Mechanism, groups: int | None) -> Fraction:
    """Return δ of so many groups together: a unit changes at most ``l1_sensitivity`` of them. None: of any number."""
    one: Fraction = mechanism.guarantee.delta
    unit, relation = mechanism.guarantee.unit, mechanism.guarantee.relation
    most = unit.max_distance * relation.distance
    return one * (most if groups is None else min(most, groups))


# The step of the budget of the profiles of all groups, where there is no other.
_PROFILES_STEP = "the profiles of all groups"


class GroupedRelease(Shown, Tabular, Saved):
    """The private profile of each of several groups, with one guarantee for all of them together.

    The guarantee of each group's release is that of the group alone; :attr:`guarantee` is for all of them.

    It is a mapping from a group, a name for each grouping column, to its release: ``release["spring", "2026-11-22"]``,
    or ``release["DE"]`` where there is one grouping column. Each of these releases has intervals and estimates of its
    own, at no further cost.

    With :attr:`levels`, there are groups of fewer columns too: ``release["spring"]`` of all days, ``release[()]`` of
    everything. Iteration, ``len`` and :attr:`groups` leave them out; :meth:`level` has them.

    :meth:`to_pandas` and :meth:`to_polars` return all groups as one tidy table, a row per group and released count; a
    group without labels has no row.
    It behaves like a mapping but is no ``Mapping``: data frame libraries take one for columns by name.

    Parameters
    ----------
    by
        The names of the grouping columns.
    releases
        The release of each group, all made by one mechanism, independently.
    found_with
        ε and δ that were spent on finding the groups, if they were not listed.
    totals
        The totals of groups with the same first names, from none to all but the last, if there are any: released on
        their own, or sums, of which only the errors are given.
    excess
        What the bound on users or labels left out, of all groups together, if a share of the budget was spent on it.

    Raises
    ------
    UsageError
        If there is no group, a group has not one name for each column, the releases of a level differ in their
        mechanism, totals are not those of the groups, or the excess is for another unit or relation.

    Notes
    -----
    The guarantee is that of each group, whose unit is one of all groups together, but for δ: a unit changes at most Δ
    groups, Δ the largest sorted ℓ1 distance of neighbors over all groups, so δ is Δ times the δ of one group, or as
    many times as there are groups, if these are fewer. If groups were found in the data, what that cost is added; the
    guarantee of a group's own release names it as a condition. Totals of nested levels cost nothing; of crossing ones,
    what all levels cost is added up. Proof: docs/proofs/groups.md.

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
    by: tuple[str, ...]
    guarantee: Guarantee
    found_with: tuple[Fraction, Fraction] | None
    _releases: Mapping[Group, Release]
    _totals: Mapping[Group, Release]
    totals: NestedTotals | CrossingTotals | None
    excess: Excess | None

    def __init__(
        self,
        by: tuple[str, ...],
        releases: Mapping[Group, Release],
        *,
        found_with: tuple[Fraction, Fraction] | None = None,
        totals: NestedTotals | CrossingTotals | None = None,
        excess: Excess | None = None,
    ) -> None:
        """Check the groups, and state the guarantee of all of them."""
        if not releases:
            raise UsageError("A release of groups has at least one group.")
        if not by or any(not isinstance(group, tuple) or len(group) != len(by) for group in releases):
            raise UsageError(f"Each group must have one name for each grouping column: {', '.join(by)}.")
        if totals is not None and list(totals.known) != prefixes_of(releases):
            raise UsageError(
                "Levels need the total of each: of everything, then by the first grouping column, and so on."
            )
        levels: list[tuple[tuple[str, ...], Mapping[Group, Release]]] = [(by, releases)]
        if isinstance(totals, CrossingTotals):
            levels = [(by[:depth], _at(depth, totals.known)) for depth in range(len(by))] + levels
        whole = guarantee_of(levels, found_with=found_with)
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
        vars(self).update(
            by=tuple(by),
            guarantee=whole,
            found_with=found_with,
            totals=totals,
            excess=excess and _in_groups(excess, len(releases), whole),
            _releases=_frozen(releases, found_with),
            _totals=_frozen(above, found_with),
        )

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: it is a value."""
        raise AttributeError(f"A GroupedRelease is immutable; make a new one instead of setting {name}.")

    def __getitem__(self, group: Group | str | None) -> Release:
        """Return the release of a group, or of a total by the first names of its groups; a single name will do."""
        key = group if isinstance(group, tuple) else (group,)
        found = self._releases.get(key, self._totals.get(key))
        if found is None:
            raise KeyError(f"There is no group {key!r:.80}.")
        return found

    def __iter__(self) -> Iterator[Group]:
        """Iterate over the groups, in the order of their names."""
        return iter(self._releases)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._releases)

    def __contains__(self, group: object) -> bool:
        """Return whether there is such a group or total; a single name will do."""
        key = group if isinstance(group, tuple) else (group,)
        return key in self._releases or key in self._totals

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse: pandas would make a table of the names of groups, without what was released."""
        raise UsageError("A release of groups is no array: take its table with to_pandas() or to_polars().")

    def __eq__(self, other: object) -> bool:
        """Compare the grouping columns, what finding groups cost, the excess, and all releases."""
        if not isinstance(other, GroupedRelease):
            return NotImplemented
        mine = (self.by, self.found_with, self.totals, self.excess, self._releases)
        return mine == (other.by, other.found_with, other.totals, other.excess, other._releases)

    def __hash__(self) -> int:
        """Hash what equal releases share."""
        return hash((self.by, self.found_with, self.groups, self.mechanism))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle through the constructor."""
        rebuild = partial(type(self), found_with=self.found_with, totals=self.totals, excess=self.excess)
        return rebuild, (self.by, dict(self._releases))

    def keys(self) -> KeysView[Group]:
        """Return the groups."""
        return self._releases.keys()

    def values(self) -> ValuesView[Release]:
        """Return the release of each group."""
        return self._releases.values()

    def items(self) -> ItemsView[Group, Release]:
        """Return pairs of a group and its release."""
        return self._releases.items()

    def get(self, group: Group | str | None, default: Release | None = None) -> Release | None:
        """Return the release of a group or of a total; ``default`` if there is none."""
        return self[group] if self.__contains__(group) else default

    def __repr__(self) -> str:
        told, delta = self.guarantee, ""
        if told.delta:
            delta = f", delta={round_up(told.delta)}"
        return (
            f"GroupedRelease({len(self):,} groups by {', '.join(self.by)}, {self.mechanism.name}, "
            f"epsilon={short_decimal(told.epsilon)}{delta}, {told.unit})"
        )

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, in order."""
        return tuple(self)

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
        found = self._releases if depth == len(self.by) else _at(depth, self._totals)
        if not found:
            raise UsageError(f"This release has no level of {depth} grouping columns; make it with levels.")
        return MappingProxyType(dict(found))

    @property
    def everything(self) -> Mapping[Group, Release]:
        """The releases of all levels, totals before their groups; without levels, those of the groups.

        Examples
        --------
        >>> import anonhist as ah
        >>> from anonhist.profiles.grouped import GroupedProfile
        >>> from anonhist.catalogue import Levels
        >>> profiles = {("CA",): ah.Profile.from_counts([3, 1]), ("NV",): ah.Profile.from_counts([2])}
        >>> grouped = GroupedProfile(("state",), profiles, unit=ah.PrivacyUnit.item(), levels=Levels.NESTED)
        >>> list(ah.release_groups(grouped, epsilon=1).everything)
        [(), ('CA',), ('NV',)]
        """
        return MappingProxyType({**self._totals, **self._releases})

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that released each group."""
        return next(iter(self.values())).mechanism

    @property
    def reason(self) -> str:
        """Why that mechanism was chosen."""
        return next(iter(self.values())).reason

    @property
    def order_key(self) -> str | None:
        """The key of the random choice by which items of users, or groups of users and labels, were kept, if any."""
        return next(iter(self.values())).order_key

    @property
    def left_out(self) -> str:
        """What errors and intervals leave out, because units were bounded; empty if they were not."""
        return left_out(self.guarantee.unit, levels_cross=isinstance(self.totals, CrossingTotals))

    @property
    def drawn(self) -> Mapping[Group, Release]:
        """The releases that were drawn, those of crossing totals first; the others follow from them."""
        return self.everything if isinstance(self.totals, CrossingTotals) else self._releases

    @property
    def receipt(self) -> Receipt | None:
        """Where the release was charged, if a ledger keeps account."""
        return next(iter(self.values())).receipt

    def with_receipt(self, receipt: Receipt | None) -> GroupedRelease:
        """Return the release with its receipt, which the release of each group carries, too."""
        if receipt is None:
            return self
        own = {group: replace(each, receipt=receipt) for group, each in self._releases.items()}
        totals = self.totals
        if isinstance(totals, CrossingTotals):
            totals = CrossingTotals({group: replace(each, receipt=receipt) for group, each in self._totals.items()})
        return self._with(own, totals)

    def with_error(self, *, progress: Callable[[float], None] | None = None) -> GroupedRelease:
        """Return the release with the error of each group recorded, as :meth:`Release.with_error` does.

        Parameters
        ----------
        progress
            Called from time to time with the share done, in (0, 1].
        """
        drawn = [*self._releases.items()]
        if isinstance(self.totals, CrossingTotals):
            drawn += self._totals.items()
        told: dict[Group, Release] = {}
        for at, (group, each) in enumerate(drawn):
            told[group] = each.with_error(progress=part_of(progress, at / len(drawn), (at + 1) / len(drawn)))
        own = {group: told[group] for group in self._releases}
        totals: NestedTotals | CrossingTotals | None = None
        if isinstance(self.totals, CrossingTotals):
            totals = CrossingTotals({group: told[group] for group in self._totals})
        elif self.totals is not None:
            # Their runs are those of the groups, which are there by now.
            sums = self._with(own, self.totals)
            totals = NestedTotals({prefix: sums[prefix].error for prefix in self._totals})
        return self._with(own, totals)

    def _with(self, releases: Mapping[Group, Release], totals: NestedTotals | CrossingTotals | None) -> GroupedRelease:
        """Return the same release with these of its groups and totals."""
        return GroupedRelease(self.by, releases, found_with=self.found_with, totals=totals, excess=self.excess)


def _in_groups(excess: Excess, groups: int, guarantee: Guarantee) -> Excess:
    """Return the excess with what holds for all groups, and with how many there are, where these are bounded."""
    return replace(excess, guarantee=guarantee, groups=groups if excess.of.part == "group" else None)


def _at(depth: int, totals: Mapping[Group, Release]) -> dict[Group, Release]:
    return {group: each for group, each in totals.items() if len(group) == depth}


def _frozen(releases: Mapping[Group, Release], found_with: tuple[Fraction, Fraction] | None) -> Mapping[Group, Release]:
    return MappingProxyType({group: on_condition(each, found_with) for group, each in releases.items()})
