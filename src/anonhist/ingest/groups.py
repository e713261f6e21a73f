"""From a source of events to a profile for each of several groups, by one query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anonhist.catalogue.levels import Levels
from anonhist.errors import DataError, UsageError
from anonhist.ingest.columns import required_key
from anonhist.ingest.counted import COUNTED, check_label_of_counted, recognize
from anonhist.ingest.files import check_there, is_json, stated_format
from anonhist.ingest.group_bounds import order_key_of, protected_unit, unlisted_grouping
from anonhist.ingest.group_counts import check_combination
from anonhist.ingest.group_lists import group_rows
from anonhist.ingest.group_memory import check_memory
from anonhist.ingest.group_profiles import group_profiles, labels_of_several
from anonhist.ingest.group_units import group_units
from anonhist.ingest.grouping import is_shown_as_written, listed_groups, with_periods
from anonhist.ingest.query import Columns, check_users
from anonhist.ingest.sources import as_path, open_source, plain_labels
from anonhist.mechanisms.group_selection import FindGroups, GroupSelection
from anonhist.profiles.grouped import GroupedProfile
from anonhist.profiles.levels import parse_levels
from anonhist.randomness import SystemSource

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from anonhist.ingest.columns import Header
    from anonhist.ingest.limits import EngineLimits
    from anonhist.privacy import PrivacyUnit
    from anonhist.profiles.grouped import Group
    from anonhist.randomness import RandomSource

_NONE_COUNTS = "No item is in any of the groups: look how they are written in the data, and that dates are YYYY-MM-DD."


def read_groups(
    source: Any,
    /,
    *,
    by: str | Iterable[str],
    groups: Iterable[Any] | os.PathLike[str] | FindGroups,
    label: str | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    max_groups_per_user: int | None = None,
    max_groups_per_label: int | None = None,
    other: str | None = None,
    order_by: str | None = None,
    order_key: str | None = None,
    table: str | None = None,
    format: Literal["events", "counts", "prevalences"] | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool = True,
    keep_null: bool = False,
    unit: PrivacyUnit | None = None,
    levels: Literal["nested", "crossing"] | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
    notify: Callable[[str], None] | None = None,
    randomness: RandomSource | None = None,
) -> GroupedProfile:
    """Read how often things occur in each of several groups, on the engine that holds the data, by one query.

    Parameters
    ----------
    source
        One row per item, in anything that :func:`read_profile` reads but plain lists of labels.
    by
        The grouping columns; ``"day(column)"``, ``"week(column)"`` and ``"month(column)"`` group dates: 2026-11-22,
        2026-11-16 (the Monday of that week, as in ISO 8601), 2026-11. Times with a zone are taken in UTC. Text is taken
        as written if it begins with a date; other text has none, as a missing value.
    groups
        The groups, which must be public: a value for each where there is one grouping column, else a tuple; a file or
        table with these columns; or text, of names with commas between them or of a range of days,
        ``"2026-11-01..2026-11-30"``, for all days, weeks or months with one of them. Values are compared by name, as
        labels are: 7, 7.0 and the text 7 are the same; what the type of the column cannot hold is refused. Groups
        without data have an empty profile; rows of other groups are left out before anything is bounded. If no such
        list is public, :class:`FindGroups` finds groups with many units, at a cost; the source is asked twice then.
    label, user, order_by, table, delimiter, header
        As for :func:`read_profile`.
    format
        ``"events"`` (one row per item), ``"counts"`` (the grouping columns, label, count: rows of one label in one
        group are added up) or ``"prevalences"`` (the grouping columns, count, prevalence: how many labels of a group
        have that count). By default the other columns decide, as for :func:`read_profile`. In prevalences nothing says
        which labels are the same in several groups: they protect items only, and groups are not put together.
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
    levels
        Whether totals are released, too: of groups with the same first names, up to everything together.
        ``"nested"``: of labels that are others in each group, such as households; totals are sums of what is released.
        ``"crossing"``: of labels that are the same in all groups, such as queries; the source is asked once for each
        level, and bounds on groups and on items hold for each level by itself.
    progress
        Receives the share done, in [0, 1].
    limits
        How much memory and how many threads DuckDB may use, and where it spills: for files and its own databases.
    notify
        Receives a sentence if no item is in any group; and, for nested levels, if labels of several groups will count
        several times in totals, for which the source is asked once more. Both are private: for the operator alone, as
        for :func:`read_profile`.
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
        If the data cannot be used, as for :func:`read_profile`, or the machine cannot hold so many groups.

    Examples
    --------
    >>> import polars as pl
    >>> views = pl.DataFrame({"viewer": ["a", "b", "a"], "day": ["Mon", "Mon", "Tue"]})
    >>> read = read_groups(views, label="viewer", by="day", groups=["Mon", "Tue", "Wed"])
    >>> [(group, profile.n) for group, profile in read.items()]
    [(('Mon',), 2), (('Tue',), 1), (('Wed',), 0)]
    """
    most = check_users(user, max_per_user, order_by, count_users=False)
    grouping = unlisted_grouping(by, other, most, max_groups_per_user, max_groups_per_label)
    parts = grouping.parts
    asked = parse_levels(levels)
    tells = asked is Levels.NESTED and notify is not None
    finding = groups if isinstance(groups, FindGroups) else None
    rows = None if isinstance(groups, FindGroups) else group_rows(groups, parts)
    check_memory(0 if rows is None else len(rows))
    protected = protected_unit(unit, most, grouping.groups_per_user, grouping.groups_per_label)
    key = order_key_of(order_key, chooses=user is not None or grouping.groups_per_label is not None)
    source, format = _checked_source(source, format, label)  # noqa: A001
    reading = Columns(label or "label", user, most, order_by, key or "", keep_null, grouping=grouping)
    keys: tuple[str | None, ...] = ()
    if is_json(source, format=format):
        check_there(source)
        # Keys are data: they do not decide what the rows are.
        format = format or "events"  # noqa: A001
        counted = COUNTED.get(format, ())
        keys = (*(counted or (required_key(label), user, order_by)), *(part.column for part in parts))
    with open_source(
        source,
        table=table,
        format=format,
        delimiter=delimiter,
        header=header,
        keys=keys,
        twice=finding is not None or asked is Levels.CROSSING or tells,
        progress=progress,
        limits=limits,
    ) as opened:
        columns = _columns_in(opened.header, reading, label, format)
        check_combination(columns, protected, levels_cross=asked is Levels.CROSSING)
        kinds = [part.kind_in(opened.table) for part in parts]
        if rows is not None:
            grouping = grouping.of_listed(listed_groups(rows, parts, kinds, keep_null=keep_null))
            if asked is not None:
                grouping.check_totals()
        events = with_periods(opened.table, parts)
        if finding is not None:
            grouping = grouping.of_found(_found(events, columns, finding.selection(protected), randomness))
            check_memory(len(grouping.groups))
        columns = replace(columns, grouping=grouping)
        own = tuple(part.name for part in parts)

        def read_level(depth: int) -> GroupedProfile:
            level = grouping.above(depth)
            least = protected.in_at_most(len(level.groups))
            profiles = group_profiles(events, replace(columns, grouping=level), level, least, key)
            return GroupedProfile(own[:depth], profiles, unit=least, order_key=key)

        profiles = group_profiles(events, columns, grouping, protected, key)
        if notify is not None and not any(profile.n for profile in profiles.values()):
            notify(_NONE_COUNTS)
        if tells and notify is not None and columns.rows != "prevalences":
            _tell_of_shared(labels_of_several(events, columns), notify)
        above = tuple(map(read_level, range(len(parts) if asked is Levels.CROSSING else 0)))
    return GroupedProfile(own, profiles, unit=protected, order_key=key, finding=finding, levels=asked, above=above)


def _checked_source(source: Any, format: Any, label: str | None) -> tuple[Any, Any]:  # noqa: A002
    """Return the source and its format, having refused those that have no grouping columns."""
    if format not in (None, "events", *COUNTED):
        raise UsageError(f"`format` must be one of events, {', '.join(COUNTED)} for groups, not {format!r}.")
    check_label_of_counted(format, label)
    source = as_path(source)
    if plain_labels(source) is not None:
        raise UsageError("A list of labels has no grouping columns: pass a table.")
    return source, stated_format(source, format, label)


def _columns_in(header: Header, reading: Columns, label: str | None, format: str | None) -> Columns:  # noqa: A002
    """Return which columns to read, having refused those that are not there, or are said to be two things."""
    parts = () if reading.grouping is None else reading.grouping.parts
    for part in parts:
        header.require(group=part.column)
        if part.period is not None and part.name in header.names:
            raise UsageError(f"The data have a column {part.name!r} beside {part.column!r}: rename one of them.")
    others = header.without(*(part.column for part in parts), reading.user, reading.order_by)
    rows = format or recognize(others, label, reading.user)
    if rows in COUNTED:
        header.require(**{name: name for name in COUNTED[rows]})
        used = dict.fromkeys(COUNTED[rows], "counted")
    else:
        reading = replace(reading, label=others.label_column(None) if label is None else label)
        header.require(label=reading.label, user=reading.user, order=reading.order_by)
        used = {reading.label: "label", str(reading.user): "user"}
    for part in parts:
        if part.period is None and part.column in used:
            raise UsageError(
                f"The grouping column {part.column!r} is the {used[part.column]} column, too: group by another column."
            )
    return replace(reading, rows=rows)


def _tell_of_shared(labels: int, notify: Callable[[str], None]) -> None:
    if labels:
        told = "1 label is" if labels == 1 else f"{labels:,} labels are"
        notify(f"{told} in several groups: nested totals count them in each.")


def _found(
    table: Any, columns: Columns, selection: GroupSelection, randomness: RandomSource | None
) -> tuple[Group, ...]:
    """Return the groups that are found; from here on they are public."""
    units = group_units(table, columns)
    # Files hold these names, and terminals show them; whether one can be shown is a matter of the name alone.
    named = {group: many for group, many in units.items() if is_shown_as_written(group)}
    kept = selection.select(np.array(list(named.values()), dtype=np.int64), source=randomness or SystemSource())
    found = tuple(group for group, is_kept in zip(named, kept.tolist(), strict=True) if is_kept)
    if not found and (columns.grouping is None or columns.grouping.other is None):
        raise DataError(
            "No group was found: groups have too few units for this budget, which is spent all the same. Another try "
            "with a larger one, or with listed groups, comes on top."
        )
    return found
