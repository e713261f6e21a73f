"""From files, tables and streams into a sketch: labels go as bytes from the engine to the counters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.ingest.delimited import label_blocks
from anonhist.ingest.engine import EngineLimits, Spilling
from anonhist.ingest.files import LINES, input_files
from anonhist.ingest.holders import StandardInput
from anonhist.ingest.locations import identity
from anonhist.ingest.naming import check_batch
from anonhist.ingest.plain_types import is_spark
from anonhist.ingest.protection import Protection
from anonhist.ingest.query import bounded_rows, check_whole, record_batches, text_buffers, whole_column
from anonhist.ingest.random_order import key_where
from anonhist.ingest.source import SaidOfRows, Source
from anonhist.ingest.user_bounds import TIMES
from anonhist.sketches.cluster import ExactPartials, NoisyPartials, Partials, PartitionReading
from anonhist.sketches.sketch import Sketch

FORMATS = ("events", "labels", "counts", "uniq")
_PREVALENCES = "Prevalences do not say which label has a count, so a sketch cannot count them: count the events."
_ROWS = 1 << 17


def update_sketch(
    sketch: Sketch,
    source: Any,
    /,
    *,
    label: str | None = None,
    count: str | None = None,
    user: str | None = None,
    order_key: str | None = None,
    table: str | None = None,
    format: Literal["events", "labels", "counts", "uniq"] | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool = True,
    ignore_unknown: bool = False,
    notify: Callable[[str], None] | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
    counted: Callable[[int], None] | None = None,
    partials: Partials | None = None,
) -> None:
    """Count the labels of a file, a table or a stream in a sketch, in memory that does not grow with it.

    Parameters
    ----------
    sketch
        The sketch to count in, which is changed.
    source
        As for :func:`read_profile`, except lists of labels: pass those to ``sketch.update``.
    label
        The column of labels, or the key in JSON lines; may be left out if there is only one. Labels are compared as
        text, as written. Numeric labels must be whole: 7.0 in a column of floats is the label 7, and fractions and
        floats of 2^53 and more are refused. Rows without a label are left out, and so are empty lines.
    count
        As for :func:`read_profile`.
    user
        The column of users, only for sketches that protect users: for each user, at most the unit's number of rows is
        counted, chosen at random. That holds within one call: a user must not occur again in a later one.
    table, delimiter, header, order_key
        As for :func:`read_profile`.
    format
        ``"events"``, ``"labels"``, ``"counts"`` or ``"uniq"``, as for :func:`read_profile`.
    ignore_unknown
        Leave out labels that are not in the sketch's domain; by default, they are refused.
    notify
        Receives remarks for the operator's terminal, such as how many rows were counted. They are as private as the
        data.
    progress
        Receives the share done, in [0, 1], while the engine works; for standard input it is unknown.
    limits
        The memory and the number of threads that DuckDB may use; it never spills here.
    counted
        Receives the number of rows counted so far, which is as private as the data.
    partials
        Required for tables of Spark, and only for those: how partitions are counted on the cluster. With
        :class:`~anonhist.sketches.cluster.ExactPartials` each adds up counts without noise, which the sketch adds at
        once; with :class:`~anonhist.sketches.cluster.NoisyPartials` each has a sketch with its own noise, all sketches
        are merged, and ``notify`` and ``counted`` receive nothing. No row comes to the driver, and all rows are counted
        or none. If users are bounded, Spark shuffles rows first, and so writes them to disks of executors.

    Raises
    ------
    DataError
        If the data cannot be used; the message contains none of their values. Earlier data stay counted:
        :func:`~anonhist.sketches.files.sketch_in_place` leaves a file unchanged.
    UsageError
        If the call contradicts itself or the sketch's unit.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from anonhist.sketches import DomainSketch
    >>> sketch = DomainSketch(alphabet=["cat", "dog"], epsilon=20)
    >>> update_sketch(sketch, pa.table({"pet": ["dog", "cat", "dog"]}), label="pet")
    """
    _check_user(sketch, user)
    bound = None if user is None else sketch.unit.bound
    protection = Protection(sketch.unit, user, bound, order_key=key_where(order_key, needed=user is not None))
    if type(source).__module__ in ("builtins", "numpy") and not isinstance(source, str):
        raise UsageError("Only files and tables are read here; give labels that are in memory to sketch.update.")
    counting = _Counting(sketch, counted, ignore_unknown=ignore_unknown)
    if format not in (None, *FORMATS):
        raise UsageError(f"`format` must be one of {', '.join(FORMATS)}, not {format!r}.")
    if format in LINES and any(each is not None for each in (label, user, table, delimiter)):
        raise UsageError(
            "Data with one label per line have no columns: leave out the columns, or leave out the format."
        )
    said = SaidOfRows(format, label, count, header)
    named = Source.named(source, said, user=user, table=table, delimiter=delimiter, limits=limits).as_counted()
    if format == "labels" and isinstance(named.holder, StandardInput):
        _check_partials(partials, on_cluster=False)
        counting.add_standard_input()
    else:
        with named.open(protection, progress=progress, spilling=Spilling.FORBIDDEN) as opened:
            _check_partials(partials, on_cluster=is_spark(opened.table))
            kind = named.kind(opened.header, protection)
            if kind.rows == "prevalences":
                raise UsageError(_PREVALENCES)
            columns = replace(protection.columns(kind, opened.header), only_whole=True)
            query = bounded_rows(opened.table, columns)
            if partials is not None:
                counting.add_partitions(
                    query.to_native(), PartitionReading(sketch.addresses, kind.count, ignore_unknown), partials
                )
            else:
                for batch in record_batches(query, _ROWS):
                    counting.add_batch(batch, kind.count)
    if notify is not None and not isinstance(partials, NoisyPartials):
        counting.tell(notify)


def check_sources(sketch: Sketch, sources: Iterable[Any]) -> None:
    """Refuse duplicate files, which would count twice, and several sources of users, who might be in all of them."""
    listed = list(sources)
    if len(listed) > 1 and sketch.unit.max_items is not None:
        raise UsageError(
            "This sketch protects users, and a user may be in several sources: name one source, or a pattern such "
            "as 'logs/*.csv'."
        )
    files = [identity(path) for source in listed for path in input_files(source)]
    if len(set(files)) < len(files):
        raise UsageError("A file is named twice, so its labels would count twice; name each file once.")


class _Counting:
    """Labels on their way into a sketch."""

    def __init__(self, sketch: Sketch, counted: Callable[[int], None] | None, *, ignore_unknown: bool) -> None:
        self._sketch, self._counted, self._ignore_unknown = sketch, counted, ignore_unknown
        self.rows, self.left_out = 0, 0

    def add(self, data: NDArray[np.uint8], offsets: NDArray[Any], counts: NDArray[np.int64] | None) -> None:
        """Count contiguous labels, once each or as often as counts say."""
        self.rows += offsets.size - 1
        self._sketch.update_buffer(data, offsets, counts, ignore_unknown=self._ignore_unknown)
        if self._counted is not None:
            self._counted(self.rows)

    def add_standard_input(self) -> None:
        """Count labels, one per line, except empty lines."""
        if sys.stdin is None:
            raise DataError("Standard input is closed: pipe labels into it, one a line.")
        for data, offsets in label_blocks(sys.stdin.buffer):
            is_label = offsets[1:] > offsets[:-1]
            self.left_out += int(np.count_nonzero(~is_label))
            self.add(data, offsets[np.append(np.True_, is_label)], None)

    def add_batch(self, batch: Any, count: str | None) -> None:
        """Count the rows of an Arrow batch that have a label."""
        import pyarrow.compute as pc

        check_batch(batch, only_whole=True)
        if count is not None:
            check_whole(count, pc.sum(batch.column("wrong")).as_py())
            # A count of zero does not count, whether the label is known or not.
            batch = batch.filter(pc.greater(batch.column("count"), 0))
        has_label = batch.column("label").is_valid()
        self.left_out += batch.num_rows - has_label.true_count
        kept = batch if has_label.true_count == batch.num_rows else batch.filter(has_label)
        data, offsets = text_buffers(kept.column("label"))
        if TIMES in batch.schema.names:
            times = whole_column(kept.column(TIMES))
            self.rows += int(times.sum()) - times.size
            self.add(data, offsets, times)
        else:
            self.add(data, offsets, None if count is None else kept.column("count").to_numpy().astype(np.int64))

    def add_partitions(self, frame: Any, reading: PartitionReading, partials: Partials) -> None:
        """Count a table of Spark on its cluster."""
        found = partials.count(self._sketch, frame, reading)
        if found is None:
            return
        self.rows, self.left_out = found
        if self._counted is not None:
            self._counted(self.rows)

    def tell(self, notify: Callable[[str], None]) -> None:
        """Report the number of counted rows, only to the operator."""
        rows = f"{self.rows:,} row{'' if self.rows == 1 else 's'}"
        without = f"; {self.left_out:,} without a label were left out" if self.left_out else ""
        notify(f"{rows} counted{without}.")


def _check_partials(partials: Partials | None, *, on_cluster: bool) -> None:
    """Require ``partials`` for a table of Spark, and refuse it for any other table."""
    if partials is not None and not isinstance(partials, ExactPartials | NoisyPartials):
        raise UsageError(f"`partials` must be ExactPartials() or NoisyPartials(partitions=k), not {partials!r:.80}.")
    if partials is None and on_cluster:
        raise UsageError(
            "A table of Spark is counted partition by partition: say whether partitions send exact counts, or counts "
            "with noise of their own (`partials`)."
        )
    if partials is not None and not on_cluster:
        raise UsageError("`partials` is for tables of Spark; this source is counted in this process: leave it out.")


def _check_user(sketch: Sketch, user: str | None) -> None:
    """Require a column of users if the sketch protects users, and refuse it otherwise."""
    if user is not None and sketch.unit.max_items is None:
        raise UsageError("This sketch protects single items; to protect users, make a sketch with that unit (`unit`).")
    if user is None and sketch.unit.max_items is not None:
        raise UsageError("This sketch protects users: name the column of users (`user`).")
