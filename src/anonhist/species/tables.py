"""Species tables as cells: files and tables in memory are read like all others, rows in Python as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError, kind_of
from anonhist.ingest.engine import EngineLimits
from anonhist.ingest.files import Form
from anonhist.ingest.holders import Files, Reading, holder_of
from anonhist.ingest.locations import as_path
from anonhist.ingest.memory import is_table
from anonhist.ingest.naming import as_text, check_batch, name_columns
from anonhist.ingest.plain_types import is_spark
from anonhist.ingest.query import record_batches
from anonhist.numeric.value_name import value_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.ingest.columns import Opened

_ROWS = 1 << 16
_FORMS = (Form.DELIMITED, Form.PARQUET)
_SOURCES = "A species table is a CSV, TSV or Parquet file, a table in memory, or its rows as lists, the header first"
# With one thread, rows come in the order of the file: the first may be the number of sampling units.
_IN_ORDER = EngineLimits(threads=1)

Row = tuple[str, ...]


@dataclass(frozen=True)
class SpeciesTable:
    """A header, and rows of as many cells.

    Attributes
    ----------
    header
        The names of the columns.
    rows
        The cells as text, without blanks around them; missing ones are empty.

    Examples
    --------
    >>> SpeciesTable.of([["species", "north"], ["oak", 3]]).rows
    (('oak', '3'),)
    """

    header: Row
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, source: Any, delimiter: str | None = None) -> SpeciesTable:
        """Read a source.

        In delimited text, a row is one line: a quote that is not closed in its field, or only on another line, is
        refused, so that no row hides another one.

        Raises
        ------
        UsageError
            If it is no such source, or the delimiter does not fit.
        DataError
            If a file cannot be read, or rows have different lengths.
        """
        if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
            raise UsageError("`delimiter` must be one character, such as ';'.")
        path = as_path(source)
        if isinstance(path, str) or is_table(path):
            return _of_source(path, delimiter)
        if delimiter is not None:
            raise UsageError("`delimiter` is for files: leave it out.")
        return _of_rows(source)

    def place(self, name: str, *, of: str) -> int:
        """Return the place of a column.

        Raises
        ------
        UsageError
            If there is none of this name, or more than one.
        """
        if self.header.count(name) != 1:
            found = "no column" if name not in self.header else "more than one column"
            raise UsageError(f"The species table has {found} {name!r:.80}, which `{of}` names.")
        return self.header.index(name)


def _of_rows(source: Any) -> SpeciesTable:
    """Return rows in Python as a table."""
    if isinstance(source, bytes | Mapping | np.ndarray) or not isinstance(source, Iterable):
        raise UsageError(f"{_SOURCES}, not {kind_of(source)}.")
    rows = []
    for row in source:
        if isinstance(row, str | bytes | Mapping) or not isinstance(row, Iterable):
            raise UsageError(f"{_SOURCES}: one of its rows is {kind_of(row)}.")
        rows.append(tuple(_cell(cell) for cell in row))
    if not rows or not rows[0]:
        raise DataError("A species table has a header: its first row has the names of its columns.")
    header, *others = rows
    if any(len(row) != len(header) for row in others):
        raise DataError("A row of the species table has another number of columns than its header.")
    return SpeciesTable(header, tuple(others))


def _cell(cell: object) -> str:
    return _text(cell).strip()


def _text(cell: object) -> str:
    return value_name(cell) or ""


def _of_source(source: Any, delimiter: str | None) -> SpeciesTable:
    """Read a file, or a table in memory, in the order of its rows."""
    # An index of names is no column: the first site would be taken for the names.
    if getattr(getattr(source, "index", None), "dtype", None) in ("object", "str", "string", "category"):
        raise UsageError("The names of a pandas data frame are in its index: make them a column, with reset_index().")
    holder = holder_of(source, delimiter=delimiter)
    is_file = isinstance(holder, Files)
    if isinstance(source, str) and not (is_file and holder.form in _FORMS):
        raise UsageError(f"{_SOURCES}: read others yourself, and give the table.")
    with holder.open(Reading(what="The species table", limits=_IN_ORDER if holder.is_ours else None)) as opened:
        if is_spark(opened.table):
            raise UsageError("Rows of Spark have no order: collect the species table first, as with toPandas().")
        header = tuple(name.strip() for name in opened.header.names)
        is_text = is_file and holder.form is Form.DELIMITED
        rows = _rows(opened, is_text=is_text)
    if is_text and any("\n" in cell or "\r" in cell for row in rows for cell in row):
        raise DataError("A quote in the species table spans lines: each row must be one line.")
    return SpeciesTable(header, tuple(tuple(map(_cell, row)) for row in rows))


def _rows(opened: Opened, *, is_text: bool) -> Sequence[Row]:
    """Return the cells; if all of them are text, types need not be looked up, which for each takes as long as all."""
    import narwhals as nw

    table, width = opened.table, len(opened.header.names)
    # Equal names have other ones in the table, by their position.
    held = list(table.collect_schema().names())[:width]
    cells = [(nw.col(name) if is_text else as_text(table, name)).alias(f"c{at}") for at, name in enumerate(held)]
    query = table.select(*cells, **({} if is_text else name_columns(table, dict.fromkeys(held, False))))
    rows: list[Row] = []
    for batch in record_batches(query, _ROWS):
        check_batch(batch)
        columns = (batch.column(at).to_pylist() for at in range(width))
        rows += (tuple(map(_text, row)) for row in zip(*columns, strict=True))
    return rows
