"""Missing and unnamed columns, what errors may reveal about them, and names that every engine distinguishes.

The names of a table, a database or a Parquet file are schema, and so is the header line of delimited text. But without
a header, that line is a row of data, so its words stay out of public error messages. The keys of JSON lines are data:
the caller names those to read, and none is ever listed.

Names are compared exactly. DuckDB and Spark treat ``id`` and ``ID`` as one name, and read the first of two columns for
both; Spark reads ``a.b`` as the field b of a structure a, and treats backquotes as quotation marks. So columns get
distinct names by their position when a table is opened: see :attr:`Header.renamed`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.ingest.plain_types import is_spark
from anonhist.ingest.warehouses import engine_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Name = TypeVar("Name", str, str | None)


class ColumnError(AnonhistError):
    """A column was not found; the error's text is public, its attributes are for the operator alone.

    In delimited text without a header, and in a view of such text, ``columns`` would be data.
    """

    is_public = True

    # They have no arguments of their own, because errors travel between processes and are rebuilt from their text.
    columns: tuple[str, ...] = ()
    for_operator: str = ""


class MissingColumnError(ColumnError, DataError):
    """There is no column with that name."""


class RepeatedColumnError(ColumnError, DataError):
    """There are several columns with that name."""


class UnnamedColumnError(ColumnError, UsageError):
    """There are several columns, and none was named."""


def required_key(key: str | None, *, role: str = "label", option: str = "label") -> str:
    """Return the key of JSON lines that holds the labels, or has another role; rows must not determine it."""
    if not key:
        raise UsageError(f"JSON lines have no header: name the key that holds the {role}s (`{option}`).")
    return key


class Schema(Enum):
    """The origin of the names and types of columns, and so whether they are public."""

    #: Declared: columns of a Parquet file, of a database table, and of most tables in memory.
    DECLARED = "declared"
    #: The first line of a text, whose columns are all text: a row of data, if the file has no header.
    FIRST_LINE = "first line"
    #: Named explicitly, but with types that may depend on rows, as in pandas.
    NAMED = "named"
    #: They may depend on rows, as in a view of DuckDB, or there is nothing but lines.
    FOUND = "found"


@dataclass(frozen=True)
class Header:
    """The names of the columns of a source.

    ``renamed`` has the table's names of columns whose own names its engine would misread. ``folders``, the keys of
    folders, are columns only if they are named. ``unclear`` are names that the engine may confuse with another
    column's, because it ignores case.
    """

    names: Sequence[str]
    schema: Schema = Schema.DECLARED
    renamed: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[str] = ()
    unclear: frozenset[str] = frozenset()

    @property
    def is_line(self) -> bool:
        """Whether the names are the first line of a text."""
        return self.schema is Schema.FIRST_LINE

    def require(self, **columns: str | None) -> None:
        """Refuse missing and repeated columns; each is given with its role."""
        for role, name in columns.items():
            if name is None or name in self.folders:
                continue
            if name not in self.names:
                use = "for the condition" if role == "filter" else f"to use as {role}"
                raise self._error(MissingColumnError, f"There is no column {name!r} {use}")
            if self.names.count(name) > 1:
                # A default name, such as that of an edge's end, would come from the first line.
                called = f"have the name of the {role} column" if self.is_line else f"are called {name!r}"
                raise RepeatedColumnError(f"Several columns {called}: rename all but one of them.")
            if name in self.unclear:
                raise RepeatedColumnError(
                    f"The engine of this table compares names without regard to case, so several columns are {name!r} "
                    "to it: rename all but one of them."
                )

    def in_table(self, name: Name) -> Name:
        """Return the name that the table has for a column; None for None."""
        return name if name is None else self.renamed.get(name, name)

    def label_column(self, label: str | None, *, role: str = "label", option: str = "label") -> str:
        """Return the column of labels, or of another role, which must be named if there are several."""
        if label is not None:
            self.require(**{role: label})
            return label
        if len(self.names) != 1:
            raise self._error(UnnamedColumnError, f"Name the column that holds the {role}s (`{option}`)")
        return self.names[0]

    def without(self, *columns: str | None) -> Header:
        """Return the header without some columns."""
        return replace(self, names=[name for name in self.names if name not in columns])

    def _error(self, kind: type[ColumnError], told: str) -> ColumnError:
        columns = (*self.names, *self.folders)
        named = f"{told}; the columns are {', '.join(map(repr, columns))}."
        many = "there is 1 column" if len(self.names) == 1 else f"there are {len(self.names)} columns"
        # Standard input must have a header.
        hint = "`header=False`, if the first line of a file holds data instead of names"
        if len(self.names) == 1:
            hint = f"`delimiter`, if columns are separated by another character; {hint}"
        counted = f"{told}; {many} ({hint})." if self.is_line else f"{told}; {many}."
        error = kind(named if self.schema in (Schema.DECLARED, Schema.NAMED) else counted)
        error.columns, error.for_operator = columns, named
        return error


@dataclass(frozen=True)
class RowKind:
    """What a row stands for (``"events"``, ``"counts"`` or ``"prevalences"``), and which columns hold it.

    For prevalences, ``label`` is the column of counts.
    """

    rows: str
    label: str
    count: str | None = None
    prevalence: str | None = None


_SIGNS_OF_SPARK = ".`"
# These engines compare quoted names exactly; others that Ibis reads treat names that differ in case as one.
_EXACT = {"clickhouse", "postgres", "snowflake"}


@dataclass(frozen=True)
class Opened:
    """An open source: a Narwhals table in which every column can be read by name, and these names.

    ``read_again`` are the files that DuckDB can quickly read again, unchanged.
    """

    table: Any
    header: Header
    read_again: tuple[str, ...] = ()


def opened_as(
    table: Any, schema: Schema, names: Sequence[str], held: Sequence[str], folders: Sequence[str] = ()
) -> Opened:
    """Return a table with its columns as ``held``, by their position, and then those of the keys of ``folders``."""
    both = zip((*names, *folders), held, strict=True)
    return Opened(table, Header(list(names), schema, {name: own for name, own in both if name != own}, tuple(folders)))


def opened_relation(relation: Any, schema: Schema, names: Sequence[str], folders: Sequence[str] = ()) -> Opened:
    """Return a relation of DuckDB with columns called ``names``, and then ``folders``, by their position."""
    import narwhals as nw

    held = distinct_names((*names, *folders))
    if held != list(relation.columns):
        relation = relation.project(", ".join(f"#{at} AS {quoted(name)}" for at, name in enumerate(held, start=1)))
    return opened_as(nw.from_native(relation), schema, names, held, folders)


def opened_frame(table: Any, schema: Schema) -> Opened:
    """Return a Narwhals table as one whose columns can be read by name."""
    import narwhals as nw

    if table.implementation.is_duckdb():
        native = table.to_native()
        return opened_relation(native, schema, native.columns)
    if is_spark(table):
        native = table.to_native()
        held = distinct_names(native.columns, unclear_signs=_SIGNS_OF_SPARK)
        renamed = table if held == native.columns else nw.from_native(native.toDF(*held))
        return opened_as(renamed, schema, native.columns, held)
    is_ibis = table.implementation.is_ibis()
    # Narwhals refuses a table with a column of an unknown type, even if the column is not read.
    names = list(table.to_native().columns if is_ibis else table.collect_schema().names())
    is_exact = not is_ibis or engine_of(table) in _EXACT
    return Opened(table, Header(names, schema, unclear=frozenset() if is_exact else _equal_but_for_case(names)))


def distinct_names(names: Sequence[str], *, unclear_signs: str = "") -> list[str]:
    """Return a name for each column; no two are equal except for case, and none contains one of ``unclear_signs``.

    The first of several equal names is kept, and so are all distinct ones; no column gets the name of another.
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


def literal(text: str) -> str:
    """Return a text as a literal in DuckDB's SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Return a name as quoted in DuckDB's SQL."""
    return '"' + name.replace('"', '""') + '"'


def _equal_but_for_case(names: Sequence[str]) -> frozenset[str]:
    folded = [name.casefold() for name in names]
    return frozenset(name for name in names if folded.count(name.casefold()) > 1)
