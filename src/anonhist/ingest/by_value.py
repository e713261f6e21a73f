"""Columns whose types do not bind: each value is named for itself, and says of what kind it is.

A column of pandas may hold Python objects of any types, a column of SQLite whatever was put in it, and one column of
several Parquet files numbers of one type in this file and of another in that. What a library takes for the type of such
a column follows from some of its rows, and so must decide nothing about the others.

Where SQL reads the values, the table has their names, as text, in place of the column, and their kinds in another
column beside it. Objects of pandas are named by Python (see :mod:`~anonhist.ingest.python_objects`).
"""

from __future__ import annotations

from enum import Enum
from typing import Any

# Kinds of values, in their order: numbers before text before bytes.
WHOLE, FRACTION, LARGE, TEXT, BYTES = "1 whole", "1 fraction", "1 large", "2 text", "3 bytes"
_CLASS_OF_NUMBERS = "1"
# The columns of an order that is total over values of several kinds.
RANKS = ("rank_class", "rank_number", "rank_by")


# What SQLite orders by itself as it should: the column of that is called so, too.
ORDER = "\x1forder"


class Declared(Enum):
    """What a column is declared to hold, which binds nobody; the column of its kinds is called so."""

    NUMBERS = "\x1fkinds, of numbers"
    TRUTH = "\x1fkinds, of truth values"
    DATES = "\x1fkinds, of dates"
    TEXT = "\x1fkinds, of text"
    ANYTHING = "\x1fkinds"

    def column(self, name: str) -> str:
        """Return what the column is called that has the kinds of another's values; no name of a person's ends so."""
        return f"{name}{self.value}"


def declared(table: Any, name: str) -> Declared | None:
    """Return what a column is declared to hold whose values are named one by one; None if its type binds."""
    names = table.collect_schema().names()
    return next((each for each in Declared if each.column(name) in names), None)


def kinds(table: Any, name: str) -> Any | None:
    """Return the kinds of a column's values, null where there is none, an expression; None if its type binds."""
    import narwhals as nw

    held = declared(table, name)
    return None if held is None else nw.col(held.column(name))


def is_nameless(kind: Any, *, only_whole: bool) -> Any:
    """Return whether values of some kinds are numbers without a name: an expression, null where there is no value."""
    return (kind == LARGE) | (kind == FRACTION) if only_whole else kind == LARGE


def total_order(table: Any, name: str) -> dict[str, Any] | None:
    """Return the columns by which to order a column's values: numbers, then texts, then bytes; None if its type binds.

    Numbers are compared as floats, texts as they are written.
    """
    import narwhals as nw

    kind, named = kinds(table, name), nw.col(name)
    if kind is None:
        return None
    if name + ORDER in table.collect_schema().names():
        return {RANKS[-1]: nw.col(name + ORDER)}
    rank = kind.str.slice(0, 1)
    is_number = rank == _CLASS_OF_NUMBERS
    # Engines may cast rows of which they are not asked.
    number = nw.when(is_number).then(named).otherwise(nw.lit("0")).cast(nw.Float64)
    return dict(zip(RANKS, (rank, number, nw.when(~is_number).then(named).otherwise(nw.lit(""))), strict=True))
