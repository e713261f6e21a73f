"""The labels of one column, to be randomized: a row a person."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError
from anonhist.ingest.columns import required_key
from anonhist.ingest.engine import Spilling, connect, followed, translate_failures
from anonhist.ingest.files import check_stated, file_table, is_json, names_are_a_line
from anonhist.ingest.naming import as_text, check_batch, name_columns
from anonhist.ingest.plain_types import with_plain_types
from anonhist.ingest.query import batches
from anonhist.ingest.row_kinds import refuse_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ROWS = 1 << 17


@contextmanager
def opened_values(
    source: str,
    label: str | None,
    *,
    format: str | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Iterator[list[str]]]:
    """Open a column of a file, a pattern or ``-`` (standard input) as texts, in batches and in any order.

    Parameters
    ----------
    source
        As for :func:`read_profile`, but for databases.
    label
        Column of labels, or key of JSON lines; may be left out where there is only one column.
    format
        ``"events"`` or ``"labels"`` (one label per line); by default events. On standard input say this or ``label``.
    delimiter, header
        Of delimited text.
    progress
        Receives the share done, in [0, 1].

    Raises
    ------
    DataError
        If the data cannot be used, or a row has no value; the message holds no value.
    UsageError
        If the call contradicts itself.
    """
    check_stated(source, format, label, header=header)
    if format == "labels" and (label is not None or delimiter is not None):
        raise UsageError(
            "Data with one label per line have no columns: leave out the columns, or leave out the format."
        )
    follow = followed(progress)
    with connect(spilling=Spilling.FORBIDDEN) as connection:
        # What fails while the values are used is no matter of the input.
        with translate_failures("The input", path=source):
            follow.attach(connection)
            keys = [required_key(label)] if is_json(source, format=format) else []
            named = file_table(connection, source, format=format, delimiter=delimiter, header=header, keys=keys)
            names = named.header(is_line=names_are_a_line(source, format=format, header=header))
            label = names.label_column(label)
            if format is None:
                refuse_counts(names.without(label), "write a row for each item, or give `format='events'` if each is")
            name, table = names.in_table(label), with_plain_types(named.table)
            query = table.select(value=as_text(table, name), **name_columns(table, {name: False})).to_native()
        with follow:
            yield _texts(query, source)


def _texts(query: Any, source: str) -> Iterator[list[str]]:
    with translate_failures("The input", path=source):
        for batch in batches(query, _ROWS):
            check_batch(batch)
            values = batch.column("value")
            if values.null_count:
                raise DataError("A row has no value in that column: remove such rows, or give them a label.")
            yield values.to_pylist()
