"""How many items, or groups, each unit has before any bound: what a bound leaves out, and what chooses one."""

from __future__ import annotations

from typing import Any

from anonhist.errors import DataError, UsageError
from anonhist.ingest.group_names import GROUP, group_keys, in_few_groups_of_users, in_groups
from anonhist.ingest.holders import holder_of
from anonhist.ingest.locations import as_path
from anonhist.ingest.naming import NAMED, as_text, check_named, identity_of
from anonhist.ingest.query import (
    Columns,
    check_sums,
    check_whole,
    fetch,
    is_item,
    named_rows,
    ranked_labels,
    whole_numbers,
)
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Bounded, BoundedUnits, Profile


def bounded_units(table: Any, columns: Columns, of: Bounded, bound: int) -> BoundedUnits:
    """Return the number of groups, or items, of each unit, from a table whose values all have names and are counts."""
    numbers = [(int(number), int(units)) for number, units in fetch(units_query(table, columns, of))]
    return BoundedUnits(bound, Profile.from_prevalences(numbers), of)


def units_query(table: Any, columns: Columns, of: Bounded) -> Any:
    """Return the lazy query (items, users): how many units have each number of bounded things, before any bound."""
    import narwhals as nw

    selected, grouping = {"label": as_text(table, columns.label)}, columns.grouping
    if grouping.parts:
        selected |= group_keys(table, grouping.parts)
    if of.unit == "user":
        selected["user"] = identity_of(table, str(columns.user))
        rows = table.select(**selected).filter(is_item(columns))
    elif columns.rows == "counts":
        _, number = whole_numbers(table, columns.count or "count")
        rows = table.select(**selected, count=number).filter(nw.col("count") > 0)
    else:
        rows = table.select(**selected)
    if of.unit == "label" and not columns.keep_null:
        rows = rows.filter(~nw.col("label").is_null())
    rows = in_groups(rows, grouping, keep_null=columns.keep_null) if grouping.parts else rows
    if of.part == "group":
        rows = rows.group_by(of.unit, GROUP).agg(items=nw.len())
    numbers, units = f"{of.part}s", f"{of.unit}s"
    counted = rows.group_by(of.unit).agg(nw.len().alias(numbers))
    return counted.group_by(numbers).agg(nw.len().alias(units)).select(numbers, units)


def sizes_of_users(table: Any, columns: Columns, largest: int) -> dict[int, int]:
    """Return how many users have each number of items before any bound, numbers above ``largest`` as that.

    If users count in few groups, with a bound in each, it is how many pairs of a user and such a group have them. They
    are the rows that a reading bounds, so values without a name are refused here, whatever bound is chosen.
    """
    import narwhals as nw

    rows, within, most = named_rows(table, columns), ["user"], columns.grouping.groups_per_user
    if most is not None:
        rows, within = in_few_groups_of_users(rows, most, columns.order_key), ["user", GROUP]
    flags = [name for name in rows.collect_schema().names() if name == NAMED]
    users = rows.group_by(*within).agg(*(nw.col(name).min() for name in flags), items=nw.len())
    items = nw.when(nw.col("items") > largest).then(nw.lit(largest)).otherwise(nw.col("items"))
    sizes = users.with_columns(size=items).group_by("size", *flags).agg(users=nw.len())
    found = fetch(sizes.select("size", "users", *flags))
    check_named(all(all(row[2:]) for row in found))
    return {int(size): int(many) for size, many, *_ in found}


_ITEMS, _USERS = "items", "users"


def sizes_from_file(path: str) -> dict[int, int]:
    """Return how many users have each number of items, from a public file.

    It has a column ``items``, and perhaps ``users``, how many users have that number; otherwise a row is one user.
    """
    with holder_of(as_path(path)).open() as opened:
        names = opened.header.names
        if _ITEMS not in names or set(names) - {_ITEMS, _USERS}:
            raise UsageError(f"{path!r} must have the column {_ITEMS}, perhaps {_USERS}, and no others.")
        opened.header.require(items=_ITEMS, **({"users": _USERS} if _USERS in names else {}))
        held = [opened.header.in_table(name) for name in (_ITEMS, _USERS) if name in names]
        rows = fetch(
            opened.table.select(**{f"column{at}": as_text(opened.table, name) for at, name in enumerate(held)})
        )
    found: dict[int, int] = {}
    for row in rows:
        size, users = (_number(text, path) for text in (row[0], row[1] if len(row) > 1 else "1"))
        found[size] = found.get(size, 0) + users
    if not found:
        raise UsageError(f"{path!r} lists no user: give each number of items a row.")
    return found


def _number(text: str | None, path: str) -> int:
    if text is None or not (text.isascii() and text.isdigit() and 0 < len(text) < 17 and int(text)):
        raise DataError(f"The columns {_ITEMS} and {_USERS} of {path!r} must hold whole numbers from 1 on, such as 12.")
    return int(text)


def sizes_of_labels(table: Any, columns: Columns, largest: PrivacyUnit) -> list[dict[int, int]]:
    """Return, for each place up to ``largest.groups``, how many labels have each number of items in the group there.

    Groups of a label are in the order of their hashes, so each number of groups keeps the first of them. Numbers above
    the largest bound count as it. What every reading refuses is refused here, whatever bounds are chosen.
    """
    import narwhals as nw

    rows = ranked_labels(table, columns, largest.groups)
    wrong = [name for name in rows.collect_schema().names() if name in ("wrong", "size")]
    flags = [name for name in rows.collect_schema().names() if name == NAMED]
    items = nw.when(nw.col("count") > largest.bound).then(nw.lit(largest.bound)).otherwise(nw.col("count"))
    sizes = rows.with_columns(items=items, is_null=nw.col("label").is_null())
    checks = {"wrong": nw.col("wrong").sum(), "size": nw.col("size").max()} if wrong else {}
    ends = {"least": nw.col("count").min(), "most": nw.col("count").max()}
    grouped = sizes.group_by("rank", "items", "is_null", *flags).agg(labels=nw.len(), **ends, **checks)
    found = fetch(grouped.select("rank", "items", "is_null", "labels", *ends, *checks, *flags))
    known = 4 + len(ends)
    check_named(all(all(row[known + len(checks) :]) for row in found))
    if checks:
        check_whole(columns.count, sum(int(row[known]) for row in found))
        check_sums([(row[at], row[known + 1]) for row in found for at in (4, 5)])
    places: list[dict[int, int]] = [{} for _ in range(largest.groups)]
    for rank, size, is_null, labels, *_ in found:
        if columns.keep_null or not is_null:
            sizes_there = places[int(rank) - 1]
            sizes_there[int(size)] = sizes_there.get(int(size), 0) + int(labels)
    return places
