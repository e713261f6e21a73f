"""How much each user or label has in the groups that are released, before any bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.ingest.grouping import GROUP, group_keys, in_groups
from anonhist.ingest.naming import as_text, identity_of
from anonhist.ingest.query import Columns, fetch, is_item, whole_numbers
from anonhist.profiles import Bounded, BoundedUnits, Profile

if TYPE_CHECKING:
    from anonhist.ingest.grouping import Grouping

_NOT_BOUNDED = (
    "`count_units` counts what a bound leaves out, so it requires `max_groups_per_label`, or `user` and `max_per_user`."
)


def what_is_bounded(
    max_per_user: int | None, groups_per_user: int | None, groups_per_label: int | None
) -> tuple[Bounded, int]:
    """Return what is bounded and how many are kept: groups, where they are bounded.

    Raises
    ------
    UsageError
        If nothing is.

    Examples
    --------
    >>> what_is_bounded(5, 3, None)
    (<Bounded.GROUPS_OF_USERS: 'groups of users'>, 3)
    """
    if groups_per_label is not None:
        return Bounded.GROUPS_OF_LABELS, groups_per_label
    if groups_per_user is not None:
        return Bounded.GROUPS_OF_USERS, groups_per_user
    if max_per_user is not None:
        return Bounded.ITEMS_OF_USERS, max_per_user
    raise UsageError(_NOT_BOUNDED)


def units_of_groups(table: Any, columns: Columns, grouping: Grouping) -> BoundedUnits:
    """Return how many groups, or items, each unit has, of a table in which all values have names and are counts."""
    of, bound = what_is_bounded(columns.max_per_user, grouping.groups_per_user, grouping.groups_per_label)
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
