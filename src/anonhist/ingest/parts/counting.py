"""Counting events on the engine that holds them, for a part."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.ingest.counted import check_no_structures, counted_table
from anonhist.ingest.files import check_stated, check_there, is_json, is_stdin
from anonhist.ingest.limits import NO_LIMITS, EngineLimits
from anonhist.ingest.parts.query import in_order, label_counts, user_items
from anonhist.ingest.parts.rows import Rows, bounded, without_missing
from anonhist.ingest.plain_names import names_of
from anonhist.ingest.query import Columns, added_counts, dropped_query, fetch
from anonhist.ingest.renaming import columns_in_table
from anonhist.ingest.row_kinds import SaidOfRows
from anonhist.ingest.sources import as_path, open_source, plain_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anonhist.ingest.columns import Header
    from anonhist.ingest.parts.document import PartDocument

_PREVALENCES = "Prevalences do not say which label has a count, so parts cannot be made of them: count the events."


@dataclass(frozen=True)
class Reading:
    """How events are read, as :func:`write_part` calls it."""

    label: str | None = None
    count: str | None = None
    user: str | None = None
    table: str | None = None
    format: str | None = None
    delimiter: str | None = None
    header: bool = True
    notify: Callable[[str], None] | None = None
    progress: Callable[[float], None] | None = None
    limits: EngineLimits | None = None

    @property
    def said(self) -> SaidOfRows:
        """What is said of the rows."""
        return SaidOfRows(self.format, self.label, self.count, self.header)


@contextmanager
def counted(source: Any, document: PartDocument, reading: Reading) -> Iterator[tuple[int, Iterator[Rows]]]:
    """Count a source: how many items have no label, and the rows of its part in the order of their keys.

    Where rows without a label are left out, the operator is told how many there were.
    """
    source, reading = _as_table(source, reading)
    keys: tuple[str | None, ...] = ()
    if is_json(source, format=reading.format):
        check_there(source)
        keys = (*reading.said.keys(), reading.user)
    opening = open_source(
        source,
        table=reading.table,
        format=reading.format,
        delimiter=reading.delimiter,
        header=reading.header,
        keys=keys,
        twice=reading.user is not None and reading.notify is not None,
        progress=reading.progress,
        limits=reading.limits,
    )
    with opening as opened:
        may_recognize = not keys and not is_stdin(source)
        columns = _columns_in(opened.header, document, reading, may_recognize=may_recognize)
        query = _query(opened.table, columns, document)
        with in_order(query, columns, document, reading.limits or NO_LIMITS) as rows:
            missing, others = without_missing(rows)
            kept = [0]
            if document.max_per_user is not None:
                others = bounded(others, document.max_per_user)
            yield (missing if document.keep_null else 0), _tallied(others, kept)
        if reading.notify is not None:
            for remark in _remarks(opened.table, columns, missing, kept[0]):
                reading.notify(remark)


def _as_table(source: Any, reading: Reading) -> tuple[Any, Reading]:
    """Return a source that has columns, and how it is read."""
    if reading.format == "prevalences":
        raise UsageError(_PREVALENCES)
    reading.said.check(reading.user)
    source = as_path(source)
    check_stated(source, reading.format, reading.label, header=reading.header)
    source = counted_table(source, reading.format)
    check_no_structures(source)
    labels = plain_labels(source)
    if labels is None:
        return source, reading
    named = (reading.label, reading.count, reading.user, reading.table)
    if named != (None, None, None, None) or reading.format in ("counts", "uniq"):
        raise UsageError("A list of labels has no columns; to name columns or give counts, pass a table.")
    return _table_of(labels), replace(reading, label="label", format="events")


def _columns_in(header: Header, document: PartDocument, reading: Reading, *, may_recognize: bool) -> Columns:
    """Return the columns that a part reads, as the table calls them."""
    kind = reading.said.kind(header, (reading.user,), user=reading.user, may_recognize=may_recognize)
    if kind.rows == "prevalences":
        raise UsageError(_PREVALENCES)
    header.require(user=reading.user)
    columns = Columns(kind.label, reading.user, document.max_per_user, keep_null=document.keep_null)
    columns = columns_in_table(replace(columns, rows=kind.rows, count=kind.count), header)
    return replace(columns, order_key=document.order_key()) if document.holds == "users" else columns


def _query(table: Any, columns: Columns, document: PartDocument) -> Any:
    """Return the query of a part."""
    if columns.rows == "counts":
        return added_counts(table, columns)
    return (user_items if document.holds == "users" else label_counts)(table, columns)


def _table_of(labels: list[Any]) -> Any:
    import pyarrow as pa

    return pa.table({"label": names_of(labels)})


def _tallied(rows: Iterator[Rows], kept: list[int]) -> Iterator[Rows]:
    for batch in rows:
        kept[0] += len(batch)
        yield batch


def _remarks(table: Any, columns: Columns, missing: int, kept: int) -> Iterator[str]:
    if columns.user is not None:
        rows, nobody = fetch(dropped_query(table, columns))[0]
        if int(rows) > kept:
            yield (
                f"{int(rows) - kept:,} of {int(rows):,} rows were left out: {int(nobody or 0):,} without a user, the "
                f"others without a label or over the limit of {columns.max_per_user} per user."
            )
    elif missing and not columns.keep_null:
        many = "1 item without a label was" if missing == 1 else f"{missing:,} items without a label were"
        yield f"{many} left out (`keep_null=True` counts them as one label)."
