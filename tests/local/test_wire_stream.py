"""Reports of gateways as Arrow streams: what Arrow writes is read as Arrow reads it, and nothing else is."""

import tracemalloc
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local import KRR, LocalHashing, Reports, SubsetSelection, read_wire_stream, wire_stream
from anonhist.local.arrow_messages import _part, read_stream
from anonhist_testing.streams import changed, stream_of

from .test_wire import IDS, SURVEYS, lines_of

SURVEY = KRR(alphabet=200, epsilon=1)
SEEDS = LocalHashing(epsilon=1, key="wire")


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda survey: survey.name)
def test_streams_are_read_back_and_have_one_length(survey: Any) -> None:
    reports, _ = lines_of(survey, 300)
    received = read_wire_stream(survey, wire_stream(survey, reports, IDS[7]))
    assert (received.identifier, received.reports, received.bad) == (IDS[7], reports, {})
    parts = [wire_stream(survey, reports.rows(np.arange(start, start + 10)), IDS[start]) for start in range(0, 300, 10)]
    assert len(set(map(len, parts))) == 1
    # Arrow reads the same.
    table = pa.ipc.open_stream(parts[0]).read_all()
    assert table.column_names == [column.name for column in survey.columns]
    assert table.schema.metadata == {b"id": IDS[0].encode()}


@pytest.mark.parametrize(
    "kind", [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.int16(), pa.int32(), pa.int64()]
)
def test_whole_numbers_have_any_width(kind: pa.DataType) -> None:
    values = [0, 199, 7, 199]
    received = read_wire_stream(SURVEY, stream_of({"report": pa.array(values, kind)}))
    assert received.reports.columns["report"].tolist() == values
    assert not received.bad


def test_streams_of_polars_and_of_several_batches_are_read() -> None:
    frame = pl.DataFrame({"report": [0, 1, 199]}, schema={"report": pl.UInt16})
    received = read_wire_stream(SURVEY, stream_of({"report": frame.to_arrow()["report"]}))
    assert received.reports.columns["report"].tolist() == [0, 1, 199]
    # Its own writer, which knows no metadata.
    columns = read_stream(frame.write_ipc_stream(None).getvalue(), ["report"], b"id").columns
    assert columns["report"].tolist() == [0, 1, 199]
    values = np.arange(200).tolist()
    received = read_wire_stream(SURVEY, stream_of({"report": values}, rows_at_once=3))
    assert received.reports.columns["report"].tolist() == values


def test_bad_rows_are_named_and_the_rest_counts() -> None:
    values = [0, None, 200, -1, 199, 2**62, None, 7, None]
    received = read_wire_stream(SURVEY, stream_of({"report": pa.array(values, pa.int64())}, rows_at_once=4))
    assert received.reports.columns["report"].tolist() == [0, 199, 7]
    missing = "A value is missing."
    assert {row: what == missing for row, what in received.bad.items()} == {
        2: True,
        3: False,
        4: False,
        6: False,
        7: True,
        9: True,
    }
    # Beyond 2⁶³, numbers are out of range, too.
    received = read_wire_stream(SURVEY, stream_of({"report": pa.array([2**64 - 1, 2**63, 3], pa.uint64())}))
    assert (received.reports.columns["report"].tolist(), list(received.bad)) == ([3], [1, 2])
    # A row is there if all of its values are; columns come in any order.
    columns = {"report": pa.array([0, None, 1], pa.int8()), "seed": pa.array([None, 1, 2**32 - 1], pa.int64())}
    received = read_wire_stream(SEEDS, stream_of(columns))
    assert received.reports.columns["seed"].tolist() == [2**32 - 1]
    assert list(received.bad) == [1, 2]
    survey = SubsetSelection(alphabet=30, epsilon=1)
    rows = pa.array([b"\xff" * 16, None], pa.binary(16))
    received = read_wire_stream(survey, stream_of({"report": rows}))
    assert list(received.bad) == [1, 2]


REFUSED: dict[str, bytes] = {
    "nothing": b"",
    "a line": b'{"id":"00","reports":{}}',
    "no end marker": stream_of({"report": [1, 2]})[:-8],
    "something after the end": stream_of({"report": [1, 2]}) + b"\0",
    "two streams": stream_of({"report": [1, 2]}) * 2,
    "no rows": stream_of({"report": pa.array([], pa.int64())}),
    "no identifier": stream_of({"report": [1]}, metadata=None),
    "a short identifier": stream_of({"report": [1]}, metadata={"id": "00"}),
    "an identifier in capitals": stream_of({"report": [1]}, metadata={"id": "A" * 32}),
    "another column": stream_of({"reports": [1]}),
    "a column more": stream_of({"report": [1], "survey": [1]}),
    "a long identifier": stream_of({"report": [1]}, metadata={"id": "0" * 200}),
    "a column twice": stream_of({"report": [1]}).replace(b"report", b"repor\0"),
    "LZ4": stream_of({"report": [1]}, compression="lz4"),
    "ZSTD": stream_of({"report": [1]}, compression="zstd"),
    "much in LZ4": stream_of({"report": [1] * 100_000}, compression="lz4"),
    "floats": stream_of({"report": [1.0]}),
    "texts": stream_of({"report": ["01"]}),
    "bytes": stream_of({"report": pa.array([b"1"], pa.binary(1))}),
    "bytes of any length": stream_of({"report": [b"1"]}),
    "truth values": stream_of({"report": [True]}),
    "days": stream_of({"report": pa.array([1], pa.date32())}),
    "nothing in all rows": stream_of({"report": pa.nulls(5)}),
    "lists": stream_of({"report": [[1]]}),
    "structures": stream_of({"report": [{"a": 1}]}),
    "a dictionary": stream_of({"report": pa.array([1, 1]).dictionary_encode()}),
    "101 batches": stream_of({"report": [1] * 101}, rows_at_once=1),
    "the old format": stream_of({"report": [1]}, use_legacy_format=True),
}


@pytest.mark.parametrize("what", REFUSED)
def test_everything_else_is_refused_in_a_sentence(what: str) -> None:
    with pytest.raises(DataError, match=r"^This is not an Arrow stream .*\.$"):
        read_wire_stream(SURVEY, REFUSED[what])


def test_lengths_must_agree() -> None:
    good = stream_of({"report": pa.array(range(77), pa.uint8())})
    node = (77).to_bytes(8, "little") + bytes(8)
    assert good.count(node) == 1
    with pytest.raises(DataError):
        read_wire_stream(SURVEY, good.replace(node, (76).to_bytes(8, "little") + bytes(8)))


@pytest.mark.parametrize(("place", "length"), [(-1, 2), (-3, 2), (1, -1), (0, 4), (3, 1), (1 << 63, 0)])
def test_no_part_is_outside(place: int, length: int) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        _part(memoryview(b"abc"), place, length)


def test_what_cannot_be_sent_is_refused() -> None:
    reports = SURVEY.randomize([1])
    with pytest.raises(UsageError):
        wire_stream(SEEDS, reports, IDS[0])
    with pytest.raises(DataError, match="32 hexadecimal digits"):
        wire_stream(SURVEY, reports, "0")
    with pytest.raises(DataError, match="at least one"):
        wire_stream(SURVEY, Reports(SURVEY.digest, {"report": np.empty(0, dtype=np.int64)}), IDS[0])


GOOD = [
    stream_of({"report": pa.array([0, None, 199, 300], pa.int16())}, rows_at_once=2),
    stream_of({"report": pa.array([1, 2, 3], pa.uint8())}),
    stream_of({"report": pa.array(range(40), pa.int64())}, metadata={"pandas": "{}", "id": IDS[7]}),
]


def values_by_arrow(content: bytes) -> Any:
    """Return what Arrow's own reader makes of a stream."""
    table = pa.ipc.open_stream(content).read_all()
    table.validate(full=True)
    return table["report"].to_pylist()


def fuzz(rounds: int, seed: int) -> None:
    numbers, compared = np.random.default_rng(seed), 0
    for turn in range(rounds):
        content = changed(GOOD[turn % len(GOOD)], numbers)
        try:
            found = read_stream(content, ["report"], b"id")
        except DataError:
            continue
        try:
            expected = values_by_arrow(content)
        except (pa.ArrowException, OSError):
            # It checks more of the metadata, such as where they are aligned.
            continue
        compared += 1
        values = zip(found.columns["report"].tolist(), found.present, strict=True)
        assert [value if is_there else None for value, is_there in values] == expected
    assert compared > rounds / 20


def test_changed_streams_are_refused_or_read_as_arrow_reads_them() -> None:
    fuzz(4_000, 1)


@pytest.mark.slow
def test_it_is_so_for_many_more() -> None:
    fuzz(300_000, 2)


def test_texts_that_many_keys_share_take_no_memory() -> None:
    long, names = "x" * 900_000, [f"value {number:03d}" for number in range(90)]
    made = bytearray(stream_of({"report": [1]}, metadata={"long": long, **{f"k{name}": name for name in names}}))

    def lead(text: str, place: int) -> None:
        """Make all references to a text lead somewhere else."""
        old = made.index(len(text).to_bytes(4, "little") + text.encode() + b"\0")
        for at in range(0, old, 4):
            if at + int.from_bytes(made[at : at + 4], "little") == old and place > at:
                made[at : at + 4] = (place - at).to_bytes(4, "little")

    for name in names:
        lead(name, made.index(len(long).to_bytes(4, "little") + b"xxx"))
    shared = bytes(made)
    assert [len(each) for each in pa.ipc.open_stream(shared).schema.metadata.values()] == [900_000] * 91
    assert memory_of([shared]) < len(shared) / 10


def memory_of(contents: list[bytes]) -> int:
    """Return how much memory reading streams takes at most."""
    tracemalloc.start()
    try:
        for content in contents:
            with suppress(DataError):
                read_wire_stream(SURVEY, content)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_lengths_in_a_stream_take_no_memory() -> None:
    numbers = np.random.default_rng(3)
    large = stream_of({"report": pa.array(np.zeros(1 << 17, dtype=np.int64))})
    contents = [changed(large[:600], numbers) + large[600:] for _ in range(300)]
    contents += [changed(each, numbers) for each in GOOD for _ in range(300)]
    assert memory_of([large, *contents]) < 4 * len(large)
