"""From a source of events to the distinct pairs of a user and a label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import optional
from anonhist.ingest.columns import Opened
from anonhist.ingest.engine import EngineLimits
from anonhist.ingest.naming import NAMED, check_batch
from anonhist.ingest.parts.files import is_parts
from anonhist.ingest.plain_types import is_spark
from anonhist.ingest.protection import Protection
from anonhist.ingest.query import Columns, named_rows, record_batches
from anonhist.ingest.source import SaidOfRows, Source
from anonhist.ingest.warehouses import batch_of_postgresql, is_postgresql
from anonhist.numeric.arrays import Ints
from anonhist.profiles.user_labels import UserLabels
from anonhist.profiles.where import parse_where

_ROWS = 1 << 20


def read_user_labels(
    source: Any,
    /,
    *,
    label: str | None = None,
    user: str,
    count: str | None = None,
    table: str | None = None,
    format: Literal["events", "labels", "counts", "prevalences", "uniq"] | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool = True,
    keep_null: bool = False,
    where: str | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
) -> UserLabels:
    """Read which users have which labels: the distinct pairs come into the memory of this process.

    Parameters
    ----------
    source, label, user, count, table, format, delimiter, header, keep_null, where, progress, limits
        As for :func:`~anonhist.ingest.read.read_profile`. Rows without a user are left out, and so are those without a
        label unless ``keep_null`` is true. No pair is left out for any other reason, and a pair depends on the rows of
        its user alone.

    Returns
    -------
    UserLabels
        Private data.

    Raises
    ------
    DataError, UsageError
        As for :func:`~anonhist.ingest.read.read_profile`.
    """
    if is_parts(source):
        raise UsageError("Parts hold counts of labels, and not which users have them: give the events.")
    condition = optional(parse_where)(where)
    protection = Protection(user=user, keep_null=keep_null, where=condition)
    said = SaidOfRows(format, label, count, header)
    named = Source.named(source, said, user=user, table=table, delimiter=delimiter, limits=limits).as_counted()
    named.refuse_labels("users")
    with named.open(protection, progress=progress) as opened:
        columns = protection.columns(named.kind(opened.header, protection), opened.header)
        users, labels = _pairs(opened, columns)
    return UserLabels(users, labels, protection.said_where)


def _pairs(opened: Opened, columns: Columns) -> tuple[Ints, Ints]:
    """Return the distinct pairs, with users and labels numbered."""
    import narwhals as nw

    rows = named_rows(opened.table, columns)
    kinds = rows.collect_schema()
    if not (kinds["user"].is_integer() or kinds["user"] == nw.String):
        # Arrow may not have the type. One value may be written in two ways, such as 1.5 and 1.50: one of them names it.
        rows = rows.with_columns(user=nw.col("user_name").min().over("user"))
    rows = rows.select("user", "label", *([NAMED] if NAMED in kinds else [])).unique()
    if is_spark(rows) and kinds["user"].is_integer():
        # Older versions send numbers through pandas.
        rows = rows.with_columns(nw.col("user").cast(nw.String))
    users, labels = [], []
    for batch in (batch_of_postgresql(rows),) if is_postgresql(rows) else record_batches(rows, _ROWS):
        check_batch(batch)
        users.append(batch.column("user"))
        labels.append(batch.column("label"))
    of_user, of_label = _numbers(users), _numbers(labels)
    # Pairs of an engine may differ in more than the values.
    size = int(of_label.max(initial=0)) + 1
    return np.divmod(np.unique(of_user * size + of_label), size)


def _numbers(parts: list[Any]) -> Ints:
    """Return a number for each value, the same for equal ones; a missing value is one more value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not parts:
        return np.zeros(0, dtype=np.int64)
    if len({part.type for part in parts}) > 1 or pa.types.is_dictionary(parts[0].type):
        parts = [part.cast(pa.large_string()) for part in parts]
    encoded = pa.chunked_array(parts).dictionary_encode()
    return np.concatenate(
        [pc.fill_null(chunk.indices, len(chunk.dictionary)).to_numpy().astype(np.int64) for chunk in encoded.chunks]
    )
