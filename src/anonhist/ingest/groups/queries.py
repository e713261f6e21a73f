"""Whom a release of several groups protects, and how units are bounded for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError
from anonhist.ingest.group_names import (
    GROUP,
    Grouping,
    group_keys,
    in_few_groups_of_labels,
    in_groups,
    is_shown_as_written,
    parts_of,
)
from anonhist.ingest.naming import NAMED, as_text, identity_of, name_columns
from anonhist.ingest.query import (
    LARGEST,
    Columns,
    check_sums,
    check_whole,
    counts_something,
    fetch,
    is_item,
    large_units,
    one_if,
    whole_numbers,
)
from anonhist.ingest.random_order import random_key
from anonhist.privacy import PrivacyUnit, parse_order_key, parse_whole_number
from anonhist.profiles import Bounded, BoundedUnits, Profile

if TYPE_CHECKING:
    from collections.abc import Iterable


def protected_unit(
    unit: PrivacyUnit | None, per_user: int | None, groups_per_user: int | None, groups_per_label: int | None
) -> PrivacyUnit:
    """Return whom a release of all groups protects, or refuse what its bounds do not cover."""
    if groups_per_label is not None and (per_user is not None or unit is None or unit.max_count is None):
        raise UsageError("`max_groups_per_label` applies only to a label unit: PrivacyUnit.label(max_count=c).")
    if per_user is not None:
        bounded = PrivacyUnit.user(max_items=per_user, groups=groups_per_user or 1)
        # A unit without groups says what a user may have in one; another may promise more than is kept.
        if unit not in (None, bounded, PrivacyUnit.user(max_items=per_user)):
            raise UsageError(f"The bounds make it a release for {bounded}: leave `unit` out.")
        return replace(bounded, in_one_group=groups_per_user == 1)
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
    return replace(
        PrivacyUnit.label(max_count=unit.max_count, groups=groups_per_label), in_one_group=groups_per_label == 1
    )


def unlisted_grouping(
    by: str | Iterable[str], other: str | None, most: int | None, of_user: Any, of_label: Any
) -> Grouping:
    """Return how rows are put into groups, which are not known yet."""
    parts = parts_of(by)
    most_of_user, most_of_label = (
        None if given is None else parse_whole_number(given, name=name)
        for given, name in ((of_user, "max_groups_per_user"), (of_label, "max_groups_per_label"))
    )
    if most_of_user is not None and most is None:
        raise UsageError("`max_groups_per_user` requires `user` and `max_per_user`.")
    if other is not None and not (isinstance(other, str) and other.strip() and is_shown_as_written((other,))):
        raise UsageError(f"`other` must be a name for the group of all others, in plain text, not {other!a:.80}.")
    return Grouping(parts, None, other, most_of_user, most_of_label)


def order_key_of(given: str | None, *, chooses: bool) -> str | None:
    """Return the key by which items or groups are chosen, None where none are."""
    if given is not None and not chooses:
        raise UsageError("`order_key` chooses items or groups, so it requires `user` or `max_groups_per_label`.")
    return None if not chooses else random_key() if given is None else parse_order_key(given)


def units_of_groups(table: Any, columns: Columns, grouping: Grouping, bounded: tuple[Bounded, int]) -> BoundedUnits:
    """Return how many groups, or items, each unit has, of a table in which all values have names and are counts."""
    of, bound = bounded
    numbers = [(int(number), int(units)) for number, units in fetch(units_query(table, columns, grouping, of))]
    return BoundedUnits(bound, Profile.from_prevalences(numbers), of)


def units_query(table: Any, columns: Columns, grouping: Grouping, of: Bounded) -> Any:
    """Return the lazy query (number, units): how many units have each number of what is bounded, before any bound."""
    import narwhals as nw

    selected = {"label": as_text(table, columns.label)} | group_keys(table, grouping.parts)
    if of.unit == "user":
        rows = table.select(**selected, user=identity_of(table, str(columns.user))).filter(is_item(columns))
    elif columns.rows == "counts":
        _, number = whole_numbers(table, columns.count or "count")
        rows = table.select(**selected, count=number).filter(nw.col("count") > 0)
    else:
        rows = table.select(**selected)
    if of.unit == "label" and not columns.keep_null:
        rows = rows.filter(~nw.col("label").is_null())
    rows = in_groups(rows, grouping, keep_null=columns.keep_null)
    if of.part == "group":
        rows = rows.group_by(of.unit, GROUP).agg(items=nw.len())
    return rows.group_by(of.unit).agg(number=nw.len()).group_by("number").agg(units=nw.len()).select("number", "units")


_WRONG = ("wrong_counts", "wrong_prevalences")


def counts_of_groups(table: Any, columns: Columns) -> Any:
    """Return the lazy query (group, count, is_null, prevalence) over rows (group…, label, count), and what is wrong.

    Rows of one label in one group are added up. ``wrong_counts`` says how many values are no whole number from 0 to
    2^63 − 1, and ``size`` how large the largest sum is, as in :func:`~anonhist.ingest.query.added_counts`.
    """
    import narwhals as nw

    good, number = whole_numbers(table, columns.count or "count")
    label = {"label": as_text(table, columns.label)}
    rows = _in_groups(table, columns, {**label, "count": number, "wrong_counts": one_if(~good)}, named=columns.label)
    flags = [name for name in rows.collect_schema().names() if name == NAMED]
    rows = rows.with_columns(size=large_units(nw.col("count")))
    counted = rows.group_by("label", GROUP, *flags).agg(nw.col("count", "wrong_counts", "size").sum())
    # A label is in no group where it counts nothing.
    counted = counted.filter(counts_something("count", "wrong_counts"))
    if columns.grouping is not None and columns.grouping.groups_per_label is not None:
        most, key = columns.grouping.groups_per_label, columns.order_key
        # What is wrong comes first, so that it is seen and refused, and not left out.
        counted = in_few_groups_of_labels(counted, most, key, first=nw.col("wrong_counts") > 0)
    counted = counted.with_columns(is_null=nw.col("label").is_null())
    grouped = counted.group_by("count", "is_null", GROUP, *flags).agg(
        nw.len().alias("prevalence"), nw.col("wrong_counts").sum(), nw.col("size").max()
    )
    return grouped.select(GROUP, "count", "is_null", "prevalence", "wrong_counts", "size", *flags)


def prevalences_of_groups(table: Any, columns: Columns) -> Any:
    """Return the same over rows (group…, count, prevalence); rows of one count in one group are added up."""
    import narwhals as nw

    good_count, count = whole_numbers(table, columns.count or "count")
    good, prevalence = whole_numbers(table, columns.prevalence or "prevalence")
    wrong = {"wrong_counts": one_if(~good_count), "wrong_prevalences": one_if(~good)}
    rows = _in_groups(table, columns, {"count": count, "prevalence": prevalence, **wrong}, named=None)
    flags = [name for name in rows.collect_schema().names() if name == NAMED]
    rows = rows.with_columns(size=large_units(nw.col("prevalence")))
    added = rows.group_by("count", GROUP, *flags).agg(nw.col("prevalence", *_WRONG, "size").sum())
    # Labels that count nothing are none.
    is_wrong = (nw.col(_WRONG[0]) > 0) | (nw.col(_WRONG[1]) > 0)
    added = added.filter(is_wrong | ((nw.col("count") > 0) & counts_something("prevalence")))
    return added.select(GROUP, "count", "prevalence", *_WRONG, "size", *flags, is_null=nw.col("count") < 1)


def check_counted(batch: Any, columns: Columns) -> None:
    """Refuse an Arrow batch of these queries if a count is none, or a sum too large."""
    import pyarrow.compute as pc

    if not batch.num_rows:
        return
    for name in _WRONG:
        if name in batch.schema.names:
            held = columns.count if name == _WRONG[0] else columns.prevalence
            check_whole(held, pc.sum(batch.column(name)).as_py())
    size = pc.max(batch.column("size")).as_py()
    ends = (end(batch.column(name)).as_py() for name in ("count", "prevalence") for end in (pc.min, pc.max))
    check_sums([(end, size) for end in ends])


def check_combination(columns: Columns, unit: PrivacyUnit, *, levels_cross: bool) -> None:
    """Refuse counted data of groups of which something would have to be known that they do not say.

    In counted data users cannot be bounded; of prevalences, labels cannot be protected nor groups be put together.
    """
    if columns.rows != "events" and columns.user is not None:
        raise UsageError(
            "Counted data do not say which user an item came from, so the items of a user cannot be bounded."
        )
    if columns.rows != "prevalences" or columns.grouping is None:
        return
    if unit.max_count is not None:
        raise UsageError(
            "Prevalences do not say which labels are the same in several groups, so labels cannot be protected: give "
            "a row for each group and label (`format='counts'`)."
        )
    is_dated = any(part.period is not None for part in columns.grouping.parts)
    if is_dated or columns.grouping.other is not None or levels_cross:
        what = "days, weeks and months" if is_dated else "other groups" if columns.grouping.other else "crossing levels"
        raise UsageError(
            f"Prevalences do not say which labels are the same in several groups, so these cannot be put together into "
            f"{what}: give a row for each group and label (`format='counts'`)."
        )


def check_size(units: int) -> int:
    """Return a number of units, or refuse what a release cannot count."""
    if units > LARGEST:
        raise DataError("The data hold more than 2^63 − 1 items, the most that can be counted; split the data.")
    return units


def _in_groups(table: Any, columns: Columns, selected: dict[str, Any], *, named: str | None) -> Any:
    """Return the rows of groups that are released."""
    grouping = columns.grouping
    if grouping is None:
        raise ValueError("These are queries of groups.")
    by = {part.column: False for part in grouping.parts if part.period is None}
    flags = name_columns(table, by | ({} if named is None else {named: False}))
    rows = table.select(**selected, **group_keys(table, grouping.parts), **flags)
    return in_groups(rows, grouping, keep_null=columns.keep_null)
