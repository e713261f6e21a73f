"""Columns that a person names, under the names that the table which is read has for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.ingest.columns import Header
    from anonhist.ingest.group_values import Part
    from anonhist.ingest.query import Columns


def columns_in_table(columns: Columns, header: Header) -> Columns:
    """Return the columns to read under the names that the table has for them."""
    grouping = columns.grouping
    return replace(
        columns,
        label=header.in_table(columns.label),
        user=header.in_table(columns.user),
        count=header.in_table(columns.count),
        prevalence=header.in_table(columns.prevalence),
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
