"""From a source of events to a profile for each of several groups, by one query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.ingest.columns import required_key
from anonhist.ingest.files import check_there, is_json, stated_format
from anonhist.ingest.group_units import group_units
from anonhist.ingest.grouping import GROUP, Grouping, key_of, listed_groups, parts_of
from anonhist.ingest.naming import NAMED, check_named
from anonhist.ingest.query import Columns, check_users, events_query
from anonhist.ingest.random_order import random_key
from anonhist.ingest.record_batches import record_batches
from anonhist.ingest.sources import as_path, open_source, plain_labels
from anonhist.mechanisms.group_selection import FindGroups, GroupSelection
from anonhist.privacy import PrivacyUnit, parse_order_key, parse_whole_number
from anonhist.profiles import Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.randomness import SystemSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from anonhist.profiles.grouped import Group
    from anonhist.randomness import RandomSource

_ROWS = 2**16


def read_groups(
    source: Any,
    /,
    *,
    by: str | Iterable[str],
    groups: Iterable[Any] | FindGroups,
    label: str | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    max_groups_per_user: int | None = None,
    max_groups_per_label: int | None = None,
    other: str | None = None,
    order_by: str | None = None,
    order_key: str | None = None,
    table: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    keep_null: bool = False,
    unit: PrivacyUnit | None = None,
    progress: Callable[[float], None] | None = None,
    randomness: RandomSource | None = None,
) -> GroupedProfile:
    """Read how often things occur in each of several groups, on the engine that holds the data, by one query.

    Parameters
    ----------
    source
        One row per item, in anything that :func:`read_profile` reads but plain lists of labels.
    by
        The grouping columns; ``"day(column)"`` and ``"month(column)"`` group dates: 2026-11-22, 2026-11.
    groups
        The groups, which must be public: a value for each where there is one grouping column, else a tuple. Values are
        compared as text, as labels are. Groups without data have an empty profile; rows of other groups are left out
        before anything is bounded. If no such list is public, :class:`FindGroups` finds groups
        with many units, at a cost; the source is asked twice then.
    label, user, order_by, table, delimiter, header
        As for :func:`read_profile`.
    max_per_user
        How many items of each user count, over all groups together; or, with ``max_groups_per_user``, in each group.
    max_groups_per_user
        In how many groups a user's items count.
    max_groups_per_label
        In how many groups a label counts: required to protect labels, which may occur in many.
    other
        Name of one more group, of all rows of groups that are not listed.
    order_key
        Key of the random order in which items of users and groups of users and labels are kept; drawn anew by default.
    keep_null
        Count rows without a label as one more label, and rows without a value in a grouping column as a group, which is
        listed as None; without it, they are left out.
    unit
        Whom a release protects, where the source says nothing of users.
    progress
        Receives the share done, in [0, 1].
    randomness
        Privacy randomness of :class:`FindGroups`; the operating system's by default.

    Returns
    -------
    GroupedProfile
        Private: it holds exact counts.

    Raises
    ------
    UsageError
        If the call contradicts itself, or a label unit comes without ``max_groups_per_label``.
    DataError
        If the data cannot be used, as for :func:`read_profile`.

    Examples
    --------
    >>> import polars as pl
    >>> views = pl.DataFrame({"viewer": ["a", "b", "a"], "day": ["Mon", "Mon", "Tue"]})
    >>> read = read_groups(views, label="viewer", by="day", groups=["Mon", "Tue", "Wed"])
    >>> [(group, profile.n) for group, profile in read.items()]
    [(('Mon',), 2), (('Tue',), 1), (('Wed',), 0)]
    """
    most = check_users(user, max_per_user, order_by, count_users=False)
    parts = parts_of(by)
    of_user, of_label = (
        None if given is None else parse_whole_number(given, name=name)
        for given, name in (
            (max_groups_per_user, "max_groups_per_user"),
            (max_groups_per_label, "max_groups_per_label"),
        )
    )
    if of_user is not None and most is None:
        raise UsageError("`max_groups_per_user` requires `user` and `max_per_user`.")
    finding = groups if isinstance(groups, FindGroups) else None
    listed = None if isinstance(groups, FindGroups) else listed_groups(groups, parts)
    grouping = Grouping(parts, listed, other, of_user, of_label)
    if listed is not None and grouping.other_group in listed:
        raise UsageError("`other` names a group that is listed: give it another name.")
    protected = protected_unit(unit, most, of_user, of_label)
    chooses = user is not None or of_label is not None
    if order_key is not None and not chooses:
        raise UsageError("`order_key` chooses items or groups, so it requires `user` or `max_groups_per_label`.")
    key = None if not chooses else random_key() if order_key is None else parse_order_key(order_key)
    source = as_path(source)
    if plain_labels(source) is not None:
        raise UsageError("A list of labels has no grouping columns: pass a table.")
    format_ = stated_format(source, None, label)
    keys: tuple[str | None, ...] = ()
    names = [part.column for part in parts]
    if is_json(source, format=format_):
        check_there(source)
        keys = (required_key(label), user, order_by, *names)
    with open_source(
        source,
        table=table,
        format=format_,
        delimiter=delimiter,
        header=header,
        keys=keys,
        twice=finding is not None,
        progress=progress,
    ) as opened:
        columns = Columns(
            opened.header.without(*names, user, order_by).label_column(label) if label is None else label,
            user,
            most,
            order_by,
            key or "",
            keep_null,
            grouping=grouping,
        )
        opened.header.require(label=columns.label, user=user, order=order_by)
        for name in names:
            opened.header.require(group=name)
        if finding is not None:
            found = _found(opened.table, columns, finding.selection(protected), randomness)
            grouping = replace(grouping, listed=tuple(group for group in found if group != grouping.other_group))
        profiles = _profiles(opened.table, replace(columns, grouping=grouping), grouping, protected, key)
    names_of_parts = tuple(part.name for part in parts)
    return GroupedProfile(names_of_parts, profiles, unit=protected, order_key=key, finding=finding)


def _found(
    table: Any, columns: Columns, selection: GroupSelection, randomness: RandomSource | None
) -> tuple[Group, ...]:
    """Return the groups that are found; from here on they are public."""
    units = group_units(table, columns)
    # Files hold these names, and terminals show them; whether one can be shown is a matter of the name alone.
    named = {group: many for group, many in units.items() if all(each is None or each.isprintable() for each in group)}
    kept = selection.select(np.array(list(named.values()), dtype=np.int64), source=randomness or SystemSource())
    found = tuple(group for group, is_kept in zip(named, kept.tolist(), strict=True) if is_kept)
    if not found and (columns.grouping is None or columns.grouping.other is None):
        raise DataError(
            "No group was found: groups have too few units for this budget, which is spent all the same. Another try "
            "with a larger one, or with listed groups, comes on top."
        )
    return found


def protected_unit(
    unit: PrivacyUnit | None, per_user: int | None, groups_per_user: int | None, groups_per_label: int | None
) -> PrivacyUnit:
    """Return whom a release of all groups protects, or refuse what its bounds do not cover.

    Examples
    --------
    >>> print(protected_unit(PrivacyUnit.label(max_count=20), None, None, 3))
    one label with all its items in at most 3 groups (counts of 20 or more in a group are taken together)
    """
    if groups_per_label is not None and (per_user is not None or unit is None or unit.max_count is None):
        raise UsageError("`max_groups_per_label` applies only to a label unit: PrivacyUnit.label(max_count=c).")
    if per_user is not None:
        bounded = PrivacyUnit.user(max_items=per_user, groups=groups_per_user or 1)
        # Another user unit may say as much of items and less of groups.
        if unit not in (None, bounded):
            raise UsageError(f"The bounds make it a release for {bounded}: leave `unit` out.")
        return bounded
    if unit is None or unit == PrivacyUnit.item():
        return PrivacyUnit.item()
    if unit.max_count is None:
        raise UsageError(
            f"Groups are released for items, for users (`user`, `max_per_user`) or for labels, not {unit}."
        )
    if groups_per_label is None:
        raise UsageError(
            "A label may occur in many groups: say with `max_groups_per_label` in how many of them each label counts."
        )
    return PrivacyUnit.label(max_count=unit.max_count, groups=groups_per_label)


def _profiles(
    table: Any, columns: Columns, grouping: Grouping, unit: PrivacyUnit, key: str | None
) -> dict[tuple[str | None, ...], Profile]:
    """Run the query, and return a profile for each group that is released."""
    place = {key_of(group): at for at, group in enumerate(grouping.groups)}
    places, counts, prevalences = [], [], []
    for batch in record_batches(events_query(table, columns), _ROWS):
        if NAMED in batch.schema.names:
            check_named(all(batch.column(NAMED).to_pylist()))
        is_kept = np.ones(batch.num_rows, dtype=bool)
        if not columns.keep_null:
            is_kept = ~np.asarray(batch.column("is_null").to_pylist(), dtype=bool)
        coded = batch.column(GROUP).dictionary_encode()
        codes = np.array([place[key] for key in coded.dictionary.to_pylist()], dtype=np.int64)
        places.append(codes[coded.indices.to_numpy(zero_copy_only=False)][is_kept])
        counts.append(_whole(batch.column("count"))[is_kept])
        prevalences.append(_whole(batch.column("prevalence"))[is_kept])
    at, count, prevalence = (
        np.concatenate([np.zeros(0, dtype=np.int64), *each]) for each in (places, counts, prevalences)
    )
    order = np.lexsort((count, at))
    ends = np.searchsorted(at[order], np.arange(len(place) + 1))
    return {
        group: _merged(count[order[first:last]], prevalence[order[first:last]], unit, key)
        for group, first, last in zip(grouping.groups, ends[:-1], ends[1:], strict=True)
    }


def _merged(counts: NDArray[np.int64], prevalences: NDArray[np.int64], unit: PrivacyUnit, key: str | None) -> Profile:
    """Return the profile of counts, ascending, which labels and a missing one may share."""
    levels, first = np.unique(counts, return_index=True)
    return Profile(levels, np.add.reduceat(prevalences, first) if first.size else prevalences, unit=unit, order_key=key)


def _whole(column: Any) -> NDArray[np.int64]:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
