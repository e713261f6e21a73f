"""From a table of Spark into a sketch: partition by partition, on the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from functools import partial
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, frozen, named
from anonhist.ingest.naming import NAMED, check_named
from anonhist.ingest.query import check_whole, text_buffers
from anonhist.ingest.spark import numbers_batch, numbers_of_partitions, work_on_partitions
from anonhist.numeric.hashing import hash_buffer
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_whole_number
from anonhist.randomness import SystemSource, discrete_laplace
from anonhist.sketches.addresses import UNKNOWN, UNKNOWN_LABEL, DomainAddresses, HashedAddresses
from anonhist.sketches.changes import FULL, LARGEST_COUNTER, check_unclipped, total_of
from anonhist.sketches.noise import NoiseComponent
from anonhist.sketches.promise import UsersIn
from anonhist.sketches.sketch import Sketch

MOST_PARTITIONS = 10_000


@dataclass(frozen=True)
class ExactPartials:
    """Each partition adds up its counts exactly, in memory; the sketch adds all of them at once.

    The noise of the sketch is unchanged, so its error does not grow. Counts without noise exist in the memory of the
    processes that count, 8 bytes for each counter of the sketch, and are sent to the driver: this program writes them
    nowhere, but Spark sends results of more than ``spark.task.maxDirectResultSize`` through its block managers, which
    may put them on disks of executors. Use it if the cluster may hold the exact counts for a while, as it holds the
    table itself.
    """

    def count(self, sketch: Sketch, frame: Any, reading: PartitionReading) -> tuple[int, int]:
        """Count a Spark table in a sketch, all or nothing; return the numbers of rows counted and left out.

        Both numbers are as private as the data.
        """
        check_unclipped(sketch, "updated")
        places, numbers = numbers_of_partitions(frame, partial(_exact_partial, reading))
        reading.check(set(places.tolist()) if places.size and int(places.min()) < Told.LEFT_OUT else set())
        is_counter = places >= 0
        sketch.add(places[is_counter], numbers[is_counter])
        return int(numbers[places == Told.ROWS].sum()), int(numbers[places == Told.LEFT_OUT].sum())


@frozen
class NoisyPartials:
    """Each partition has a sketch with its own noise, drawn where it is counted; all sketches are merged.

    A counting process returns nothing without noise, neither counts nor the number of rows; but Spark's own task
    metrics report how many rows were read. The noise of the sketch grows by that of k others: with one update, the
    variance of a counter is ``(k + 1)·2p/(1 − p)²``, p = e^(−γ). So use few partitions.

    A task that Spark repeats, or runs twice because it is slow (``spark.speculation``), draws new noise, and one of its
    results is merged. An observer who also sees the others, between executors and driver, sees the partition's items at
    a cost of ε for each run: leave speculation off.

    k, the number of ``partitions`` from 1 to 10,000, is chosen before the data: the table is divided into at most this
    many, and missing ones count as empty, so that the noise does not depend on the table.
    """

    partitions: Converted[SupportsIndex, int] = named(parse_whole_number, most=MOST_PARTITIONS)

    def count(self, sketch: Sketch, frame: Any, reading: PartitionReading) -> None:
        """Count a Spark table in a sketch, all or nothing; the number of rows stays on the cluster."""
        parts = PartialSketches.of(sketch)
        # This gives fewer partitions without moving a row: a shuffle would leave rows on the disks of executors.
        few = frame.coalesce(self.partitions)
        found: dict[str, NDArray[np.int64]] = {}
        refused = set()
        for batch in work_on_partitions(few, partial(_noisy_partial, parts, reading), _PIECES):
            for identity, place, piece in zip(*(batch.column(name).to_pylist() for name in _NAMES), strict=True):
                if place < 0:
                    refused.add(place)
                    continue
                counters = found.setdefault(identity, np.zeros(reading.addresses.size, dtype=np.int64))
                values = np.frombuffer(piece, dtype="<i8")
                counters[place : place + values.size] = values
        reading.check(refused)
        merged = [parts.restored(identity, counters) for identity, counters in found.items()]
        # The number of partitions may depend on the data; the amount of noise does not.
        merged += [parts.empty() for _ in range(self.partitions - len(merged))]
        total = merged[0]
        for each in merged[1:]:
            total = total + each
        sketch.merge(total)


Partials = ExactPartials | NoisyPartials


@dataclass(frozen=True)
class PartialSketches:
    """Public values that partial sketches share with the one they are merged into; nothing of a sketch's state.

    ``gamma`` is the largest rate of noise in that sketch, so that its epsilon stays the same.
    """

    addresses: HashedAddresses | DomainAddresses
    unit: PrivacyUnit
    relation: NeighboringRelation
    users_in: UsersIn
    gamma: Fraction

    @classmethod
    def of(cls, sketch: Sketch) -> PartialSketches:
        """Return the values that a sketch must share to be merged into this one, or refuse one that cannot have parts.

        It refuses a sketch that is clipped, has shares of noise, or protects users that may be in every sketch: the
        epsilons of all parts would add up, although no user has more than m items in all parts together.
        """
        check_unclipped(sketch, "updated")
        if any(part.shape < 1 for part in sketch.noise):
            raise UsageError(
                "A sketch with a share of the noise takes no partitions with whole noise: use exact partials."
            )
        if sketch.unit.max_items is not None and sketch.users_in is not UsersIn.ONE_SKETCH:
            raise UsageError(
                "Partitions with their own noise are sketches, and here a user may be in every sketch: the "
                "epsilons would add up. Make the sketch with `users_in=UsersIn.ONE_SKETCH`, or count exact "
                "partials."
            )
        gamma = max(part.gamma for part in sketch.noise)
        return cls(sketch.addresses, sketch.unit, sketch.relation, sketch.users_in, gamma)

    def empty(self) -> Sketch:
        """Return the sketch of a part before anything is counted, with fresh noise."""
        entropy = SystemSource()
        identity = entropy.words(2).astype("<u8").tobytes().hex()
        return self.restored(identity, discrete_laplace(self.gamma, self.addresses.size, source=entropy))

    def restored(self, identity: str, counters: NDArray[np.int64]) -> Sketch:
        """Return the sketch of a part with this noise and these counters, or refuse an invalid one."""
        return Sketch.from_parts(
            self.addresses,
            unit=self.unit,
            relation=self.relation,
            noise=[NoiseComponent(identity, self.gamma)],
            counters=counters,
            users_in=self.users_in,
        )


# One row holds this many counters of a sketch: Arrow holds at most 2^31 bytes in one.
_PIECE = 1 << 20
_NAMES = ("identity", "place", "counters")
_PIECES = "identity string, place long, counters binary"


class Told(IntEnum):
    """Codes that a partition sends beside its counters, in place of a counter's address."""

    ROWS = -1
    LEFT_OUT = -2
    # Reasons why nothing can be counted, in order of precedence.
    NAMELESS = -3
    NOT_WHOLE = -4
    UNKNOWN = -5
    TOO_MANY = -6


class _Refused(Exception):  # noqa: N818  # it never leaves this file
    """A partition cannot be counted; the reason is a code of :class:`Told`."""

    def __init__(self, why: Told) -> None:
        super().__init__(why)
        self.why = why


@dataclass
class _Rows:
    """The number of rows that a partition has counted, which is as private as the data."""

    counted: int = 0
    left_out: int = 0
    items: int = 0


@dataclass(frozen=True)
class PartitionReading:
    """How the rows (label) or (label, count, wrong) of a partition are read; public.

    ``count`` is the owner's name of the column of counts, or None if each row is one item.
    """

    addresses: HashedAddresses | DomainAddresses
    count: str | None
    ignore_unknown: bool

    def increments(self, batches: Iterator[Any], rows: _Rows) -> Iterator[tuple[NDArray[np.int64], Any]]:
        """Yield the counters of labels, and how often each counts (None: once), or raise the reason for refusal."""
        import pyarrow.compute as pc

        for batch in batches:
            if not batch.num_rows:
                continue
            if NAMED in batch.schema.names and pc.min(batch.column(NAMED)).as_py() == 0:
                raise _Refused(Told.NAMELESS)
            if self.count is not None and pc.sum(batch.column("wrong")).as_py():
                raise _Refused(Told.NOT_WHOLE)
            if self.count is not None:
                # A count of zero does not count, whether the label is known or not.
                batch = batch.filter(pc.greater(batch.column("count"), 0))  # noqa: PLW2901
            kept = batch.filter(batch.column("label").is_valid())
            rows.counted += kept.num_rows
            rows.left_out += batch.num_rows - kept.num_rows
            places = self._places(kept)
            counts = None if self.count is None else kept.column("count").to_numpy()[places >= 0]
            places = places[places >= 0]
            if counts is not None and counts.size and int(counts.max()) > LARGEST_COUNTER:
                raise _Refused(Told.TOO_MANY)
            rows.items += places.size if counts is None else total_of(counts)
            if rows.items > LARGEST_COUNTER:
                raise _Refused(Told.TOO_MANY)
            yield places, counts

    def _places(self, kept: Any) -> NDArray[np.int64]:
        data, offsets = text_buffers(kept.column("label"))
        places = self.addresses.of_hashes(hash_buffer(data, offsets, key=self.addresses.key))
        if not self.ignore_unknown and bool((places == UNKNOWN).any()):
            raise _Refused(Told.UNKNOWN)
        return places

    def check(self, told: set[int]) -> None:
        """Refuse data that a partition could not count, with the same words as for other tables."""
        check_named(Told.NAMELESS not in told, only_whole=True)
        if self.count is not None:
            check_whole(self.count, Told.NOT_WHOLE in told)
        if Told.UNKNOWN in told:
            raise DataError(UNKNOWN_LABEL)
        if Told.TOO_MANY in told:
            raise DataError(FULL)


def _exact_partial(reading: PartitionReading, batches: Iterator[Any]) -> Iterator[Any]:
    """Add up one partition, in the process that works on it."""
    counters, rows = np.zeros(reading.addresses.size, dtype=np.int64), _Rows()
    try:
        for places, counts in reading.increments(batches, rows):
            np.add.at(counters, places, 1 if counts is None else counts)
    except _Refused as refused:
        yield numbers_batch(np.array([refused.why], dtype=np.int64), np.ones(1, dtype=np.int64))
        return
    yield numbers_batch(np.array([Told.ROWS, Told.LEFT_OUT], dtype=np.int64), np.array([rows.counted, rows.left_out]))
    for start in range(0, counters.size, _PIECE):
        found = np.flatnonzero(counters[start : start + _PIECE]) + start
        yield numbers_batch(found, counters[found])


def _noisy_partial(parts: PartialSketches, reading: PartitionReading, batches: Iterator[Any]) -> Iterator[Any]:
    """Count one partition into its own sketch, in the process that works on it."""
    import pyarrow as pa

    # The noise exists before the first row is seen.
    sketch = parts.empty()
    try:
        for places, counts in reading.increments(batches, _Rows()):
            sketch.add(places, counts)
    except (_Refused, DataError) as refused:
        why = refused.why if isinstance(refused, _Refused) else Told.TOO_MANY
        yield pa.RecordBatch.from_arrays([[""], pa.array([int(why)], pa.int64()), [b""]], names=_NAMES)
        return
    identity = sketch.noise[0].identity
    for start in range(0, sketch.counters.size, _PIECE):
        piece = sketch.counters[start : start + _PIECE].astype("<i8").tobytes()
        yield pa.RecordBatch.from_arrays([[identity], pa.array([start], pa.int64()), [piece]], names=_NAMES)
