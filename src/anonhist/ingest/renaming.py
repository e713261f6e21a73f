"""Columns whose names Spark takes for something else: read under other names, and spoken of under their own.

Spark reads ``a.b`` as the field b of a structure a, takes backquotes for quotation marks, and tells names apart without
regard to case. People name such columns all the same, and other engines read them. So these columns get other names,
by their place, when a table is opened; :attr:`~anonhist.ingest.columns.Header.renamed` says which.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.ingest.columns import Header
    from anonhist.ingest.group_values import Part
    from anonhist.ingest.query import Columns


def renamed_in_spark(table: Any) -> tuple[Any, dict[str, str]]:
    """Return a table of Spark that can be read by name, and which of its columns are renamed."""
    import narwhals as nw

    native = table.to_native()
    names = list(native.columns)
    renamed = readable_names(names)
    if not renamed:
        return table, renamed
    return nw.from_native(native.toDF(*(renamed.get(name, name) for name in names))), renamed


def readable_names(names: Sequence[str]) -> dict[str, str]:
    """Return other names for those that Spark takes for something else; none is the name of another column.

    Examples
    --------
    >>> readable_names(["user.id", "user_id", "label", "Label"])
    {'user.id': 'user_id_2', 'Label': 'Label_2'}
    """
    used: set[str] = set()
    unclear = []
    for name in names:
        if set(name) & set(".`") or (name.casefold() in used and names.count(name) == 1):
            unclear.append(name)
        else:
            used.add(name.casefold())
    renamed: dict[str, str] = {}
    for name in unclear:
        plain = name.replace(".", "_").replace("`", "_")
        candidate, number = plain, 1
        while candidate.casefold() in used:
            number += 1
            candidate = f"{plain}_{number}"
        used.add(candidate.casefold())
        renamed[name] = candidate
    return renamed


def columns_in_table(columns: Columns, header: Header) -> Columns:
    """Return the columns to read under the names that the table has for them."""
    grouping = columns.grouping
    return replace(
        columns,
        label=header.in_table(columns.label),
        user=header.in_table(columns.user),
        order_by=header.in_table(columns.order_by),
        grouping=None if grouping is None else replace(grouping, parts=parts_in_table(grouping.parts, header)),
        days=None if columns.days is None else (part_in_table(columns.days[0], header), columns.days[1]),
    )


def parts_in_table(parts: Sequence[Part], header: Header) -> tuple[Part, ...]:
    """Return grouping columns under the names that the table has for them."""
    return tuple(part_in_table(part, header) for part in parts)


def part_in_table(part: Part, header: Header) -> Part:
    """Return a grouping column under the name that the table has for it."""
    return part.in_table(header.in_table(part.column))
