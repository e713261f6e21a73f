"""Reading and writing parts, Parquet files whose rows are checked as they arrive, and adding them up to a profile.

A few parts are merged in the order of their keys; the engine adds up many.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeGuard

import numpy as np

from anonhist.errors import AnonhistError, DataError, OutputError, UsageError, mask, public_error
from anonhist.ingest.engine import connect, followed, translate_failures
from anonhist.ingest.locations import escape_pattern, identity, is_remote, match_files, readable
from anonhist.ingest.parts.rows import (
    AT_ONCE,
    ENDING,
    FORMAT,
    KEY_BYTES,
    PartDocument,
    Rows,
    ascending,
    bounded,
    lower_bound,
    schema_of,
    together,
    without_missing,
)
from anonhist.ingest.protection import check_users
from anonhist.ingest.query import LARGEST, check_sums
from anonhist.numeric.arrays import sum_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from anonhist.ingest.engine import EngineLimits

TOO_LARGE = "A label has more than 2^63 − 1 items in these parts, the most that can be counted: split the data."


def all_rows(document: PartDocument, runs: list[Iterator[Rows]]) -> Iterator[Rows]:
    """Merge the rows of parts, at least one; this is fastest if the first is by far the longest."""
    join = added if document.holds == "labels" else side_by_side
    first, others = runs[0], runs[1:]
    # Pair by pair, so that merges of a thousand parts are nested ten deep, not a thousand.
    while len(others) > 1:
        pairs = zip(others[::2], others[1::2], strict=False)
        left = others[len(others) // 2 * 2 :]
        others = [*(merged(ours, theirs, join) for ours, theirs in pairs), *left]
    return merged(first, others[0], join) if others else first


def merged(first: Iterator[Rows], second: Iterator[Rows], join: Callable[[Rows, Rows], Rows]) -> Iterator[Rows]:
    """Merge two runs of rows with ascending keys, in batches; this is faster if the second is the shorter one.

    ``join`` merges complete rows: :func:`added` or :func:`side_by_side`.
    """
    ours, theirs = _next(first), _next(second)
    while ours is not None and theirs is not None:
        stop = _common(ours, theirs)
        yield join(ours.between(0, stop[0]), theirs.between(0, stop[1]))
        ours = ours.between(stop[0], len(ours)) if stop[0] < len(ours) else _next(first)
        theirs = theirs.between(stop[1], len(theirs)) if stop[1] < len(theirs) else _next(second)
    for rest, run in ((ours, first), (theirs, second)):
        if rest is not None:
            yield rest
            yield from run


def added(first: Rows, second: Rows) -> Rows:
    """Merge labels with their counts; equal labels are added up, and a sum past 2^63 − 1 is refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(first) < len(second):
        first, second = second, first
    if not len(second):
        return first
    places = lower_bound(first.keys, second.keys)
    nearest = first.keys.take(pa.array(np.minimum(places, len(first) - 1)))
    is_there = (places < len(first)) & np.asarray(pc.equal(nearest, second.keys).to_numpy(zero_copy_only=False))
    counts = np.array(first.values.to_numpy())
    counts[places[is_there]] += second.values.to_numpy()[is_there]
    if (counts < 1).any():
        raise DataError(TOO_LARGE)
    both = Rows(first.keys, pa.array(counts))
    new = np.flatnonzero(~is_there)
    return _woven(both, second.at(new), places[new]) if len(new) else both


def side_by_side(first: Rows, second: Rows) -> Rows:
    """Merge items of users, each of which stays a separate row."""
    if len(first) < len(second):
        first, second = second, first
    return _woven(first, second, lower_bound(first.keys, second.keys)) if len(second) else first


def _woven(first: Rows, second: Rows, places: NDArray[np.int64]) -> Rows:
    """Put each of the second rows before the first row at its position."""
    import pyarrow as pa

    index = np.empty(len(first) + len(second), dtype=np.int64)
    is_first = np.ones(len(index), dtype=np.bool_)
    into = places + np.arange(len(second))
    is_first[into] = False
    index[into] = np.arange(len(first), len(index))
    index[is_first] = np.arange(len(first))
    both = (pa.concat_arrays(pair) for pair in zip(first, second, strict=True))
    return Rows(*both).at(index)


def _common(ours: Rows, theirs: Rows) -> tuple[int, int]:
    """Return how many rows of each do not exceed the last of the other: all later rows do."""
    import pyarrow.compute as pc

    ends = (ours.keys.slice(len(ours) - 1), theirs.keys.slice(len(theirs) - 1))
    if pc.less(*ends)[0].as_py():
        return len(ours), int(lower_bound(theirs.keys, ends[0], pc.less_equal)[0])
    return int(lower_bound(ours.keys, ends[1], pc.less_equal)[0]), len(theirs)


def _next(run: Iterator[Rows]) -> Rows | None:
    return next((rows for rows in run if len(rows)), None)


@dataclass(frozen=True)
class PartFile:
    """An existing part, with its metadata."""

    path: str
    document: PartDocument
    # Its metadata and its identity when it was opened.
    text: bytes
    identity: tuple[int, int, int]

    @classmethod
    def open(cls, path: str) -> PartFile:
        """Read the metadata of a part, not its rows; refuse other files, damaged parts and newer versions."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        shown = repr(mask(path))
        (path,) = readable(path)
        try:
            identity = _identity(path)
            schema = pq.read_schema(path)
        except (pa.ArrowException, OSError) as error:
            if _is_of_system(error):
                raise public_error(f"The part {shown} cannot be read: {error.strerror}.") from None
            raise public_error(f"{shown} is not a part, or a damaged one: count its events again.") from None
        text = (schema.metadata or {}).get(FORMAT.encode())
        if text is None:
            raise public_error(f"{shown} is not a part, despite its ending: parts are made by 'anonhist count'.")
        found = cls(path, PartDocument.read(text, shown), text, identity)
        if not schema.equals(schema_of(found.document)):
            raise public_error(f"The part {shown} is damaged: count its events again.")
        return found

    def damaged(self) -> DataError:
        """Return the error about rows that no part can have."""
        error = DataError(f"The part {mask(self.path)!r} is damaged: count its events again.")
        error.may_tell_rows = True
        return error

    def check_unchanged(self) -> None:
        """Refuse a file that was replaced since it was opened: its metadata may not match its rows."""
        try:
            is_same = _identity(self.path) == self.identity
        except OSError:
            is_same = False
        if not is_same:
            raise DataError(f"The part {mask(self.path)!r} was replaced while it was read: try again.")


def _identity(path: str) -> tuple[int, int, int]:
    found = os.stat(path)  # noqa: PTH116
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _is_of_system(error: BaseException) -> TypeGuard[OSError]:
    """Return whether the operating system refused something, such as one more open file: the file may be intact."""
    return isinstance(error, OSError) and bool(error.errno)


def is_parts(source: Any) -> bool:
    """Return whether a source is parts, judged by the ending of a path or pattern, or of all paths in a list.

    A list of texts is a list of labels, whatever their endings.
    """
    if isinstance(source, list | tuple):
        return bool(source) and all(isinstance(path, os.PathLike) and is_parts(path) for path in source)
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    return isinstance(source, str) and source.lower().endswith(ENDING)


def open_parts(source: Any) -> list[PartFile]:
    """Open the parts, at least one, that a path, a pattern or a list of paths names; refuse a file named twice."""
    named = [os.fspath(path) for path in (source if isinstance(source, list | tuple) else [source])]
    if any(is_remote(name) for name in named):
        raise UsageError("Parts are private and are read only from local files: copy them to this machine first.")
    paths = [path for name in named for path in (match_files(name) or [name])]
    if len({identity(path) for path in paths}) < len(paths):
        # This is checked before duplicate names, because this sentence says more.
        raise UsageError("A part is named twice, perhaps through a link: leave one out.")
    return [PartFile.open(path) for path in paths]


@contextmanager
def reading_rows(part: PartFile) -> Iterator[tuple[int, Iterator[Rows]]]:
    """Open the rows of a part: the number of items without a label, and the other rows in the order of their keys.

    Everything is checked: keys ascend, each label occurs once, counts are at least 1. The message about damage gives no
    details.
    """
    import pyarrow.parquet as pq

    with _told(part):
        file = pq.ParquetFile(part.path)
    with file:
        part.check_unchanged()
        yield without_missing(_checked(part, file))


@contextmanager
def _told(part: PartFile) -> Iterator[None]:
    """Turn read errors into one about a damaged part, unless the operating system refused something."""
    import pyarrow as pa

    try:
        yield
    except AnonhistError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if _is_of_system(error):
            raise DataError(f"The part {mask(part.path)!r} cannot be read: {error.strerror}.") from None
        raise part.damaged() from None


def _checked(part: PartFile, file: Any) -> Iterator[Rows]:
    import pyarrow.compute as pc

    in_order, seen = ascending(part.document), 0
    # One row, the first, may count items without a label.
    may_miss = part.document.holds == "labels" and part.document.keep_null
    with _told(part):
        for batch in file.iter_batches(AT_ONCE):
            rows = Rows(batch.column(0), batch.column(1))
            keys = rows.keys.slice(1) if may_miss and not seen and not rows.keys[0].is_valid else rows.keys
            good = not keys.null_count and in_order(keys)
            if part.document.holds == "labels":
                good = good and not rows.values.null_count and pc.all(pc.greater(rows.values, 0)).as_py() is not False
            else:
                good = good and (part.document.keep_null or not rows.values.null_count)
            seen += len(rows)
            if not good:
                raise part.damaged()
            yield rows
        if seen != file.metadata.num_rows:
            raise part.damaged()


class PartWriter:
    """Writes the rows of a part, as they arrive, to ``file``, which nobody else must be able to read."""

    def __init__(self, file: BinaryIO, document: PartDocument) -> None:
        import pyarrow.parquet as pq

        self._file = file
        self._schema = schema_of(document).with_metadata({FORMAT.encode(): document.to_json()})
        # Neighboring labels have common prefixes, so each is written as its difference from the last.
        encodings = dict.fromkeys(self._schema.names, "PLAIN")
        if document.holds == "labels" and document.labels == "text":
            encodings["label"] = "DELTA_BYTE_ARRAY"
        self._writer = pq.ParquetWriter(
            file, self._schema, use_dictionary=False, column_encoding=encodings, write_statistics=False
        )

    def missing(self, count: int) -> None:
        """Write the row of items without a label, before all others."""
        import pyarrow as pa

        if count > LARGEST:
            raise DataError(TOO_LARGE)
        if count:
            self._write([pa.array([None], self._schema.types[0]), pa.array([count], pa.int64())])

    def write(self, rows: Iterable[Rows]) -> None:
        """Write rows with ascending keys."""
        for batch in rows:
            self._write([batch.keys, batch.values])

    def __enter__(self) -> Self:
        """Begin; the end of the file is written when the block succeeds."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the end of the file, or discard it."""
        try:
            if kind is None:
                with _refusals():
                    self._writer.close()
        finally:
            # Otherwise it would try again when the file is closed.
            self._writer.is_open = False

    def _write(self, columns: list[Any]) -> None:
        import pyarrow as pa

        with _refusals():
            self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Otherwise the error would name the engine that holds the data.
        reason = error.strerror or "the system refused it"
        raise OutputError(f"The part could not be written: {reason}; nothing was left behind.") from None


Pairs = list[tuple[int, int]]
# For two or three parts, such as a total and a day, a merge takes a third of the time; for many of one size, the engine
# is faster.
FEW = 3
_SETTLED = {"header": True, "keep_null": False, "count_users": False}


def refuse_settled(**given: Any) -> None:
    """Refuse keywords of :func:`read_profile` that were fixed when the parts were counted."""
    for name, value in given.items():
        if value is not None and value != _SETTLED.get(name):
            raise UsageError(f"Parts are already counted, and `{name}` applies to events: leave it out.")


def check_bound(max_per_user: Any) -> int | None:
    """Return the requested number of items of each user, None for all, or refuse it."""
    return check_users(None if max_per_user is None else "user", max_per_user, None, count_users=False)


class Parts:
    """Parts that are added up: their joint description is public, and known before any row is read.

    ``max_per_user`` is at most the least bound of the parts, and must be given if their bounds differ.
    """

    def __init__(self, source: Any, max_per_user: int | None) -> None:
        self._files: list[PartFile] = open_parts(source)
        self.document: PartDocument = together(each.document for each in self._files)
        held = self.document.max_per_user
        bounds = {each.document.max_per_user for each in self._files}
        if max_per_user is not None and held is None:
            raise UsageError(
                "These parts hold counts of labels and no users, so the items of a user cannot be bounded: count the "
                "events again with `user` and `max_per_user`."
            )
        if max_per_user is None and len(bounds) > 1:
            raise UsageError(
                f"These parts keep different numbers of items of each user: give `max_per_user`, at most {held}."
            )
        if max_per_user is not None and held is not None and max_per_user > held:
            raise UsageError(f"These parts keep {held} items of each user: `max_per_user` can be at most {held}.")
        self.max_per_user = held if max_per_user is None else max_per_user

    def pairs(self, limits: EngineLimits, progress: Callable[[float], None] | None) -> Pairs:
        """Return (count, prevalence) of all parts together: private; refuse damaged rows and over 2^63 − 1 items."""
        opening = connect(limits=limits)
        with translate_failures("A part"), opening as connection, followed(connection, progress):
            if len(self._files) <= FEW:
                return self._merged(connection)
            users = self.max_per_user
            pairs = self._of_labels(connection) if users is None else self._of_users(connection, users)
            for each in self._files:
                each.check_unchanged()
            return pairs

    def _merged(self, connection: Any) -> Pairs:
        """Read few parts in the order of their keys, which is checked on arrival, so that each label occurs once."""
        with ExitStack() as stack:
            runs = [stack.enter_context(reading_rows(each)) for each in self._files]
            rows = all_rows(self.document, [rows for _, rows in runs])
            if self.max_per_user is not None:
                return _pairs_of_items(connection, bounded(rows, self.max_per_user))
            missing = sum(count for count, _ in runs)
            return [*_prevalences(rows), *([(missing, 1)] if missing else [])]

    def _of_labels(self, connection: Any) -> Pairs:
        """Let the engine add up equal labels, wherever they are."""
        of_label = """sum("count") AS items, min(coalesce("count", 0)) AS least, sum("count" // 4294967296) AS size"""
        added = self._relation(connection).aggregate(of_label, "label")
        found = added.aggregate("items, count(*), min(least), max(size)", "items").fetchall()
        if any(least < 1 for _, _, least, _ in found):
            error = DataError("One of these parts is damaged: count the events of each again.")
            error.may_tell_rows = True
            raise error
        check_sums([(items, size) for items, _, _, size in found])
        return [(int(items), int(labels)) for items, labels, _, _ in found]

    def _of_users(self, connection: Any, most: int) -> Pairs:
        """Let the engine keep the first rows of each user, wherever they are."""
        user = f"user_item[1:{KEY_BYTES}]"
        place = f"row_number() OVER (PARTITION BY {user} ORDER BY user_item, label)"
        ranked = self._relation(connection).project(f"label, {place} AS place")
        return _pairs_of_labels(ranked.filter(f"place <= {most:d}"))

    def _relation(self, connection: Any) -> Any:
        return connection.read_parquet([escape_pattern(each.path) for each in self._files], hive_partitioning=False)


def _pairs_of_items(connection: Any, rows: Iterator[Rows]) -> Pairs:
    """Return how many labels have each number of rows, from rows in batches."""
    import pyarrow as pa

    first = next(rows, None)
    if first is None:
        return []
    schema = pa.schema([("label", first.values.type)])
    labels = (pa.RecordBatch.from_arrays([each.values], schema=schema) for each in chain([first], rows))
    return _pairs_of_labels(connection.from_arrow(pa.RecordBatchReader.from_batches(schema, labels)))


def _pairs_of_labels(rows: Any) -> Pairs:
    """Return how many labels have each number of rows, from rows in the engine."""
    counted = rows.aggregate("label, count(*) AS items", "label").aggregate("items, count(*)", "items")
    return [(int(items), int(labels)) for items, labels in counted.fetchall()]


def _prevalences(rows: Iterator[Rows]) -> Pairs:
    """Return how many labels have each count, from rows in which each label occurs once."""
    counts, labels = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for batch in rows:
        some, many = np.unique(batch.values.to_numpy(), return_counts=True)
        counts, labels = sum_equal(np.concatenate([counts, some]), np.concatenate([labels, many]))
    return list(zip(counts.tolist(), labels.tolist(), strict=True))
