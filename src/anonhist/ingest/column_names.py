"""Names of columns, compared exactly on engines that compare them otherwise, or not at all.

DuckDB and Spark take ``id`` and ``ID`` for one name, and read the first of two columns for both; Spark reads ``a.b`` as
the field b of a structure a, too, and takes backquotes for quotation marks. So when a table is opened, its columns get
names, by their place, that each engine tells apart; :attr:`~anonhist.ingest.columns.Header.renamed` says which.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonhist.ingest.columns import Header
from anonhist.ingest.naming import is_spark
from anonhist.ingest.warehouses import engine_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIGNS_OF_SPARK = ".`"
# These compare quoted names as they are written; others that Ibis reads take names that differ in case for one.
_EXACT = {"clickhouse", "postgres", "snowflake"}


@dataclass(frozen=True)
class NamedTable:
    """A table of which every column can be read by name.

    Attributes
    ----------
    table
        A Narwhals table.
    names
        What its columns are called, by their place.
    held
        What the table calls them. Columns for the keys of folders, whose values its files do not hold, come last.
    folders
        The keys of folders.
    unclear
        Names that its engine may take for another column's.
    """

    table: Any
    names: tuple[str, ...]
    held: tuple[str, ...]
    folders: tuple[str, ...] = ()
    unclear: frozenset[str] = frozenset()

    def header(self, *, is_line: bool) -> Header:
        """Return the names; ``is_line`` says whether they are the first line of a text."""
        both = zip((*self.names, *self.folders), self.held, strict=True)
        renamed = {name: held for name, held in both if name != held}
        return Header(list(self.names), is_line, renamed, self.folders, self.unclear)


def named_relation(relation: Any, names: Sequence[str], folders: Sequence[str] = ()) -> NamedTable:
    """Return a relation of DuckDB whose columns can be read by name.

    Parameters
    ----------
    relation
        The relation, whose names may be others.
    names
        What its columns are called, by their place.
    folders
        The keys of folders, whose columns follow.
    """
    import narwhals as nw

    held = distinct_names((*names, *folders))
    if held != list(relation.columns):
        relation = relation.project(", ".join(f"#{at} AS {quoted(name)}" for at, name in enumerate(held, start=1)))
    return NamedTable(nw.from_native(relation), tuple(names), tuple(held), tuple(folders))


def named_table(table: Any) -> NamedTable:
    """Return a Narwhals table as one whose columns can be read by name."""
    import narwhals as nw

    if table.implementation.is_duckdb():
        native = table.to_native()
        return named_relation(native, native.columns)
    if is_spark(table):
        native = table.to_native()
        names = tuple(native.columns)
        held = tuple(distinct_names(names, unclear_signs=_SIGNS_OF_SPARK))
        return NamedTable(table if held == names else nw.from_native(native.toDF(*held)), names, held)
    is_ibis = table.implementation.is_ibis()
    # Narwhals refuses a table with a column of a type that it does not know, whatever is read of it.
    names = tuple(table.to_native().columns if is_ibis else table.collect_schema().names())
    is_exact = not is_ibis or engine_of(table) in _EXACT
    return NamedTable(table, names, names, unclear=frozenset() if is_exact else _equal_but_for_case(names))


def distinct_names(names: Sequence[str], *, unclear_signs: str = "") -> list[str]:
    """Return a name for each column, no two of which are equal but for case.

    The first of several equal ones keeps its name, and so do all others; none gets the name of another column.

    Parameters
    ----------
    names
        The names by the place of their columns.
    unclear_signs
        Signs that no name is to have.

    Examples
    --------
    >>> distinct_names(["l", "L", "L_2", "x", "x"])
    ['l', 'L_3', 'L_2', 'x', 'x_2']
    >>> distinct_names(["user.id", "user_id"], unclear_signs=".")
    ['user_id_2', 'user_id']
    """
    used: set[str] = set()
    unclear = []
    for at, name in enumerate(names):
        if set(name) & set(unclear_signs) or name.casefold() in used:
            unclear.append(at)
        else:
            used.add(name.casefold())
    held = list(names)
    for at in unclear:
        plain = "".join("_" if sign in unclear_signs else sign for sign in names[at])
        candidate, number = plain, 1
        while candidate.casefold() in used:
            number += 1
            candidate = f"{plain}_{number}"
        used.add(candidate.casefold())
        held[at] = candidate
    return held


def are_distinct(names: Sequence[str]) -> bool:
    """Return whether no two names are equal but for case."""
    return len({name.casefold() for name in names}) == len(names)


def quoted(name: str) -> str:
    """Return a name as SQL of DuckDB writes it."""
    return '"' + name.replace('"', '""') + '"'


def _equal_but_for_case(names: Sequence[str]) -> frozenset[str]:
    folded = [name.casefold() for name in names]
    return frozenset(name for name in names if folded.count(name.casefold()) > 1)
