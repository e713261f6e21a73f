"""Counting events on the engine that holds them, for a part."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.ingest.engine import NO_LIMITS, connect
from anonhist.ingest.holders import holder_of
from anonhist.ingest.naming import NAMED, as_text, check_batch, has_no_type, name_columns, names_of
from anonhist.ingest.parts.rows import AT_ONCE, Rows, ascending, bounded, schema_of, without_missing
from anonhist.ingest.protection import Protection
from anonhist.ingest.query import (
    added_counts,
    batches,
    bounded_rows,
    check_sums,
    check_whole,
    is_item,
    number_of_rows,
    record_batches,
    tell_of_bound,
    tell_of_unlabelled,
)
from anonhist.ingest.random_order import HASH, add_hash
from anonhist.ingest.source import Source
from anonhist.ingest.user_bounds import TIMES
from anonhist.profiles.where import parse_where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anonhist.ingest.engine import EngineLimits
    from anonhist.ingest.parts.rows import PartDocument
    from anonhist.ingest.query import Columns

_WRONG, _SIZE = "wrong", "size"


def label_counts(table: Any, columns: Columns) -> Any:
    """Return the lazy query (label, count) over events; if labels may lack a name, ``named`` is 0 for those."""
    rows = bounded_rows(table, columns)
    names = [name for name in rows.collect_schema().names() if name != TIMES]
    return rows.group_by(names).agg(count=number_of_rows(rows))


def user_items(table: Any, columns: Columns) -> Any:
    """Return the lazy query (user_name, hash, label) of each user's first rows in the order of the keyed hash.

    No other part has the same key.
    """
    import narwhals as nw

    user = str(columns.user)
    kind = table.collect_schema()[user]
    is_plain = isinstance(kind, nw.String | nw.Enum | nw.Categorical | nw.Object)
    # If all users are missing, there may be no type; one more user would give it one.
    if not (is_plain or kind.is_integer() or kind.is_float() or has_no_type(table, user)):
        raise UsageError(
            "Users of parts must be text or whole numbers, which all engines write alike: convert that column to text."
        )
    flags = name_columns(table, {user: True, columns.label: False})
    # Users are distinguished by their names, which are all that other parts have.
    name = as_text(table, user, only_whole=True)
    rows = table.select(label=as_text(table, columns.label), user=name, user_name=name, **flags)
    rows = rows.filter(is_item(columns)).with_columns(one=nw.lit(1))
    number = nw.col("one").cum_sum()
    rows = rows.with_columns(occurrence=number.over("user", "label", order_by="label").cast(nw.Int64))
    rows = add_hash(rows, columns.order_key)
    order = [*flags, HASH, "label"]
    rows = rows.with_columns(rank=number.over("user", order_by=order)).filter(nw.col("rank") <= columns.max_per_user)
    return rows.select("user_name", HASH, "label", *flags)


@contextmanager
def in_order(query: Any, columns: Columns, document: PartDocument, limits: EngineLimits) -> Iterator[Iterator[Rows]]:
    """Run a query of this module and give its rows in the order of their keys, in batches.

    A separate row for missing labels comes first; its key is missing.
    """
    native = query.to_native()
    if type(native).__name__ == "DuckDBPyRelation":
        yield _rows(native, columns, document)
        return
    with connect(limits=limits) as connection:
        yield _rows(connection.from_arrow(_reader(query)), columns, document)


def _reader(query: Any) -> Any:
    """Return another engine's result as an Arrow reader."""
    import pyarrow as pa

    found = record_batches(query, AT_ONCE)
    first = next(found, None)
    if first is None:
        return _empty(query)

    return pa.RecordBatchReader.from_batches(first.schema, chain([first], found))


def _empty(query: Any) -> Any:
    """Return a table without rows that has the columns of a query."""
    import pyarrow as pa

    names = query.collect_schema().names()
    types = [pa.string() if name in ("label", "user_name", HASH) else pa.int64() for name in names]
    return pa.table({name: pa.array([], kind) for name, kind in zip(names, types, strict=True)})


def _rows(relation: Any, counted: Columns, document: PartDocument) -> Iterator[Rows]:
    key, has_users, schema = document.key, document.holds == "users", schema_of(document)
    label = "label"
    if document.labels == "hashes":
        hashed = _hashed(f"'{key} label ' || label")
        label = f"CASE WHEN label IS NOT NULL THEN {hashed} END"
    others = [name for name in (NAMED, _WRONG, _SIZE) if name in relation.columns]
    if has_users:
        user = _hashed(f"'{key} user ' || user_name")
        # A value without a name may have no text; it is refused below.
        columns = [f"coalesce({user} || unhex({HASH}), ''::BLOB) AS user_item", f"{label} AS label"]
    else:
        columns = [f"{label} AS label", "count::BIGINT AS count"]
    ordered = relation.project(", ".join([*columns, *others])).order(f"{schema.names[0]} NULLS FIRST")
    checked = ascending(document)
    for batch in batches(ordered, AT_ONCE):
        check_batch(batch)
        _check_counts(batch, counted)
        keys, values = (batch.column(place).cast(schema.types[place]) for place in (0, 1))
        is_right = checked(keys.slice(keys.null_count))
        assert is_right  # noqa: S101  # the engine was asked for this order
        yield Rows(keys, values)


def _hashed(text: str) -> str:
    """Return the first 128 bits of the SHA-256 of a text: nobody can construct two texts with the same bits."""
    return f"unhex(left(sha256({text}), 32))"


def _check_counts(batch: Any, counted: Columns) -> None:
    """Refuse invalid counts, and sums that wrapped."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if _WRONG not in batch.schema.names:
        return
    check_whole(counted.count, int(pc.sum(batch.column(_WRONG)).as_py()))
    sizes = pc.max(batch.column(_SIZE)).as_py()
    least = pc.min(batch.column("count").cast(pa.int64())).as_py()
    check_sums([(least, sizes)])


_PREVALENCES = "Prevalences do not reveal which label has a count, so parts cannot be made of them: count the events."


@contextmanager
def counted(
    source: Source,
    document: PartDocument,
    user: str | None,
    *,
    notify: Callable[[str], None] | None,
    progress: Callable[[float], None] | None,
) -> Iterator[tuple[int, Iterator[Rows]]]:
    """Count a source: return the number of items without a label, and the rows of its part in the order of their keys.

    If rows without a label are left out, the operator is told their number.
    """
    key = document.order_key() if document.holds == "users" else None
    where = None if document.where is None else parse_where(document.where)
    protection = Protection(None, user, document.max_per_user, order_key=key, keep_null=document.keep_null, where=where)
    source, asks_again = _as_table(source, protection), user is not None and notify is not None
    with source.open(protection, twice=asks_again, progress=progress) as opened:
        kind = source.kind(opened.header, protection)
        if kind.rows == "prevalences":
            raise UsageError(_PREVALENCES)
        columns = protection.columns(kind, opened.header)
        query = added_counts if kind.rows == "counts" else user_items if document.holds == "users" else label_counts
        limits = source.limits or NO_LIMITS
        with in_order(query(opened.table, columns), columns, document, limits) as rows:
            missing, others = without_missing(rows)
            kept = [0]
            if document.max_per_user is not None:
                others = bounded(others, document.max_per_user)
            yield (missing if document.keep_null else 0), _tallied(others, kept)
        if notify is not None and user is not None:
            tell_of_bound(opened.table, columns, kept[0], notify)
        elif notify is not None and not columns.keep_null:
            tell_of_unlabelled(missing, notify)


def _as_table(source: Source, protection: Protection) -> Source:
    """Return a source in the form of columns."""
    said = source.rows
    if said.format == "prevalences":
        raise UsageError(_PREVALENCES)
    source = source.as_counted()
    labels = source.lone_labels(protection)
    if labels is None:
        return source
    import pyarrow as pa

    table = pa.table({"label": names_of(labels)})
    return replace(source, holder=holder_of(table), rows=replace(said, label="label", format="events"))


def _tallied(rows: Iterator[Rows], kept: list[int]) -> Iterator[Rows]:
    for batch in rows:
        kept[0] += len(batch)
        yield batch
