"""How many units each group of a source has, where no list of groups is public: users, labels or rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.ingest.few_groups import few_groups_of_users, in_few_groups_of_labels
from anonhist.ingest.group_counts import check_size
from anonhist.ingest.group_profiles import group_batches
from anonhist.ingest.grouping import GROUP, Grouping, group_keys, in_groups
from anonhist.ingest.naming import NAMED, as_text, check_named, identity_of, name_columns
from anonhist.ingest.query import Columns, bounded_rows, fetch, is_item
from anonhist.ingest.record_batches import whole_column

if TYPE_CHECKING:
    from anonhist.profiles.grouped import Group


def group_units(table: Any, columns: Columns) -> dict[Group, int]:
    """Return how many units each group has: as private as the data, and so is which groups there are.

    Each user, and each label where labels are bounded, counts in as few groups as ``columns`` says, a user without
    such a number in at most ``max_per_user``. Otherwise rows are counted.
    """
    if columns.grouping is None:
        raise ValueError("Units are counted in groups.")
    if columns.rows != "events":
        return _of_counted(table, columns, columns.grouping)
    rows = fetch(_units_query(table, columns))
    check_named(all(all(row[2:]) for row in rows))
    return {columns.grouping.group_of(key): int(units) for key, units, *_ in rows}


def _of_counted(table: Any, columns: Columns, grouping: Grouping) -> dict[Group, int]:
    """Return how many items groups have, or labels where these are bounded, of rows that are counted already."""
    units: dict[str, int] = {}
    for batch in group_batches(table, columns):
        counts, many = (whole_column(batch.column(name)).tolist() for name in ("count", "prevalence"))
        for key, count, labels in zip(batch.column(GROUP).to_pylist(), counts, many, strict=True):
            units[key] = units.get(key, 0) + (labels if grouping.groups_per_label is not None else count * labels)
    return {grouping.group_of(key): check_size(number) for key, number in units.items()}


def _units_query(table: Any, columns: Columns) -> Any:
    import narwhals as nw

    grouping = columns.grouping
    if columns.user is not None:
        units = _users(table, columns)
    else:
        rows = bounded_rows(table, columns)
        units = rows if columns.keep_null else rows.filter(~nw.col("label").is_null())
        if grouping is not None and grouping.groups_per_label is not None:
            flags = [name for name in units.collect_schema().names() if name in (NAMED, GROUP)]
            labels = units.group_by("label", *flags).agg(count=nw.len())
            units = in_few_groups_of_labels(labels, grouping.groups_per_label, columns.order_key)
    flags = [name for name in units.collect_schema().names() if name == NAMED]
    return units.group_by(GROUP, *flags).agg(units=nw.len()).select(GROUP, "units", *flags)


def _users(table: Any, columns: Columns) -> Any:
    """Return the rows (user, group), each user in few groups."""
    import narwhals as nw

    grouping, user = columns.grouping, str(columns.user)
    if grouping is None:
        raise ValueError("Units are counted in groups.")
    by = {part.column: False for part in grouping.parts if part.period is None}
    flags = name_columns(table, {**by, user: False})
    rows = table.select(
        label=as_text(table, columns.label),
        user=identity_of(table, user),
        user_name=as_text(table, user),
        **group_keys(table, grouping.parts),
        **flags,
    )
    rows = in_groups(rows.filter(is_item(columns)), grouping, keep_null=columns.keep_null)
    pairs = rows.group_by("user", GROUP, *flags).agg(nw.col("user_name").max())
    most = grouping.groups_per_user or columns.max_per_user or 1
    return few_groups_of_users(pairs, most, columns.order_key)
