"""A release of several groups: a private profile of each, under one guarantee."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.outward import Saved, Shown, Tabular
from anonhist.privacy import short_decimal
from anonhist.privacy.guarantee import round_up
from anonhist.profiles.grouped import Group
from anonhist.releases.release import Release
from anonhist.releases.runs import part_of

if TYPE_CHECKING:
    from fractions import Fraction

    from anonhist.privacy import Guarantee
    from anonhist.releases.protocols import Mechanism


class GroupedRelease(Mapping[Group, Release], Shown, Tabular, Saved):
    """The private profile of each of several groups, with one guarantee for all of them together.

    The guarantee of each group's release is that of the group alone; :attr:`guarantee` is for all of them.

    It is a mapping from a group, a name for each grouping column, to its release: ``release["spring", "2026-11-22"]``,
    or ``release["DE"]`` where there is one grouping column. Each of these releases has intervals and estimates of its
    own, at no further cost.

    Parameters
    ----------
    by
        The names of the grouping columns.
    releases
        The release of each group, all made by one mechanism, independently.
    found_with
        ε and δ that were spent on finding the groups, if they were not listed.

    Raises
    ------
    UsageError
        If there is no group, a group has not one name for each column, or the releases differ in their mechanism.

    Notes
    -----
    The guarantee is that of each group, whose unit is one of all groups together, but for δ: a unit changes at most Δ
    groups, Δ the largest sorted ℓ1 distance of neighbors over all groups, so δ is Δ times the δ of one group, or as
    many times as there are groups, if these are fewer. If groups were found in the data, what that cost is added; the
    guarantee of a group's own release names it as a condition. Proof: docs/proofs/groups.md.

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

    def __init__(
        self,
        by: tuple[str, ...],
        releases: Mapping[Group, Release],
        *,
        found_with: tuple[Fraction, Fraction] | None = None,
    ) -> None:
        """Check the groups, and state the guarantee of all of them."""
        if not releases:
            raise UsageError("A release of groups has at least one group.")
        if not by or any(not isinstance(group, tuple) or len(group) != len(by) for group in releases):
            raise UsageError(f"Each group must have one name for each grouping column: {', '.join(by)}.")
        first = next(iter(releases.values()))
        for each in releases.values():
            if (each.mechanism, each.reason, each.order_key) != (first.mechanism, first.reason, first.order_key):
                raise UsageError("The releases of all groups must be made by one mechanism, in one step.")
        # How many groups were found is a result, and δ must hold for every result.
        public = len(releases) if found_with is None else None
        whole = replace(first.mechanism.guarantee, delta=total_delta(first.mechanism, public))
        if found_with is not None:
            found = _found(*found_with)
            releases = {
                group: replace(each, guarantee=replace(each.guarantee, conditions=(found,)))
                for group, each in releases.items()
            }
            (epsilon, delta), released = found_with, whole.epsilon
            steps = (("finding the groups", epsilon), ("their profiles", released))
            whole = replace(whole, epsilon=epsilon + released, delta=delta + whole.delta, spending=steps)
        vars(self).update(
            by=tuple(by),
            guarantee=whole,
            found_with=found_with,
            _releases=MappingProxyType(dict(releases)),
        )

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: it is a value."""
        raise AttributeError(f"A GroupedRelease is immutable; make a new one instead of setting {name}.")

    def __getitem__(self, group: Group | str | None) -> Release:
        """Return the release of a group; of a single grouping column, its name will do."""
        key = group if isinstance(group, tuple) else (group,)
        try:
            return self._releases[key]
        except KeyError:
            raise KeyError(f"There is no group {key!r:.80}.") from None

    def __iter__(self) -> Iterator[Group]:
        """Iterate over the groups, in the order of their names."""
        return iter(self._releases)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._releases)

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
    def mechanism(self) -> Mechanism:
        """The mechanism that released each group."""
        return next(iter(self.values())).mechanism

    @property
    def reason(self) -> str:
        """Why that mechanism was chosen."""
        return next(iter(self.values())).reason

    @property
    def order_key(self) -> str | None:
        """The key of the random order in which items of users, or groups of users and labels, were kept, if any."""
        return next(iter(self.values())).order_key

    def with_error(self, *, progress: Callable[[float], None] | None = None) -> GroupedRelease:
        """Return the release with the error of each group recorded, as :meth:`Release.with_error` does.

        Parameters
        ----------
        progress
            Called from time to time with the share done, in (0, 1].
        """
        told = {}
        for at, (group, each) in enumerate(self.items()):
            told[group] = each.with_error(progress=part_of(progress, at / len(self), (at + 1) / len(self)))
        return GroupedRelease(self.by, told, found_with=self.found_with)


def _found(epsilon: Fraction, delta: Fraction) -> str:
    """Return the condition under which the release of one group alone keeps its promise."""
    return (
        "nobody learns from it which groups there are: finding them cost an epsilon of "
        f"{short_decimal(epsilon)} and a δ of {round_up(delta)} more"
    )


def total_delta(mechanism: Mechanism, groups: int | None) -> Fraction:
    """Return δ of so many groups together: a unit changes at most ``l1_sensitivity`` of them. None: of any number.

    Examples
    --------
    >>> from anonhist.mechanisms import PartitionMechanism
    >>> partition = PartitionMechanism(2)
    >>> total_delta(partition, 100) == partition.delta, total_delta(partition, 1) == partition.delta
    (True, True)
    """
    one: Fraction = mechanism.guarantee.delta
    unit, relation = mechanism.guarantee.unit, mechanism.guarantee.relation
    most = unit.max_distance * relation.distance
    return one * (most if groups is None else min(most, groups))
