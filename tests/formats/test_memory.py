"""Small files that unpack to large ones are refused before they do."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonhist as ah
from anonhist.errors import DataError
from anonhist.formats.tables import to_arrow
from anonhist.formats.untrusted import batches, codecs_of, open_parquet
from anonhist.releases import Release
from anonhist.sketches import HashedSketch

ROOM = 100 * 2**20
# A column of them takes half as much again as there is room.
ROWS = 20_000_000

# In one process that may not take much more memory than it has when everything is loaded.
READ = """
import json, resource, sys
import pyarrow.ipc, pyarrow.parquet, anonhist as ah
from anonhist.formats.document import from_document
room, *paths = sys.argv[1:]
pyarrow.set_cpu_count(1), pyarrow.set_io_thread_count(1)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(room),) * 2)
told = {}
for path in paths:
    try:
        ah.read(path)
        told[path] = "read"
    except ah.AnonhistError as error:
        told[path] = str(error)
    except BaseException as error:
        told[path] = type(error).__name__
print(json.dumps(told))
"""


def _bomb_of_rows(path: Path, release: Release) -> Path:
    """Write a release with far more rows than it says, all equal."""
    rows = pa.repeat(1, ROWS)
    table = pa.table({"count": rows, "prevalence": rows})
    pq.write_table(table.replace_schema_metadata(to_arrow(release).schema.metadata), path)
    return path


def _packed_tightly(path: Path, release: Release) -> Path:
    """Write a release whose pages may unpack to any size: how large they are, they say themselves."""
    pq.write_table(to_arrow(release), path, compression="zstd")
    return path


def _bomb_of_counters(path: Path, compression: str) -> Path:
    """Write a sketch whose counters are compressed, with a right digest."""
    small = path.with_name("small.sketch")
    ah.write(HashedSketch(buckets=10, epsilon=1, key=b"a key of the test"), small, overwrite=True)
    with pa.ipc.open_file(small) as reader:
        metadata = reader.schema.metadata
    schema = pa.schema([pa.field("counter", pa.int64(), nullable=False)])
    batch = pa.RecordBatch.from_arrays([pa.repeat(0, ROWS)], schema=schema)
    head = json.loads(metadata[b"anonhist/sketch"])
    for digest in ("0" * 64, None):
        found = digest or hashlib.sha256(path.read_bytes()).hexdigest()
        named = schema.with_metadata({b"anonhist/sketch": json.dumps(head | {"sha256": found})})
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(path, named, options=options) as writer:
            writer.write_batch(batch.replace_schema_metadata(named.metadata))
    return path


@pytest.fixture(scope="module")
def tell_bombs(tmp_path_factory: pytest.TempPathFactory, releases: dict[str, Release]) -> Callable[[str], str]:
    folder = tmp_path_factory.mktemp("bombs")
    release = releases["partition"]
    paths = [
        _bomb_of_rows(folder / "rows.parquet", release),
        _packed_tightly(folder / "tight.parquet", release),
        _bomb_of_counters(folder / "zstd.sketch", "zstd"),
        _bomb_of_counters(folder / "lz4.sketch", "lz4"),
    ]
    assert max(path.stat().st_size for path in paths) < 4 * 2**20
    done = subprocess.run(
        [sys.executable, "-c", READ, str(ROOM), *map(str, paths)], check=True, capture_output=True, text=True
    )
    answers = {Path(path).name: sentence for path, sentence in json.loads(done.stdout).items()}
    return answers.__getitem__


@pytest.mark.slow
def test_rows_that_were_not_released_are_not_unpacked(tell_bombs: Callable[[str], str]) -> None:
    assert "its rows are not those that were released" in tell_bombs("rows.parquet")


@pytest.mark.full
def test_columns_that_may_unpack_to_any_size_are_refused(tell_bombs: Callable[[str], str]) -> None:
    assert "not compressed with Snappy" in tell_bombs("tight.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zstd.sketch", "lz4.sketch"])
def test_compressed_counters_are_not_unpacked(tell_bombs: Callable[[str], str], name: str) -> None:
    assert "compressed" in tell_bombs(name)


def test_the_codecs_of_a_file_are_those_that_arrow_wrote(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"a": [1, 2], "b": pa.array([["x"], []]), "c": [1.5, None], "d": [{"e": True}, None]})
    for number, codec in enumerate(["none", "snappy", "gzip", "lz4", "zstd"]):
        pq.write_table(table, path, compression=codec, row_group_size=1)
        assert codecs_of(path.read_bytes()) == {(0, 1, 2, 7, 6)[number]}
    pq.write_table(table, path, compression={"a": "zstd", "c": "snappy"})
    assert 6 in codecs_of(path.read_bytes())
    whole = path.read_bytes()
    lists_in_lists = b"\x19" * 10_000
    deep = lists_in_lists + len(lists_in_lists).to_bytes(4, "little") + b"PAR1"
    broken = (b"", b"PAR1", whole[:-9], whole[:-8] + b"\xff" * 4 + b"PAR1", bytes(9) + b"PAR1", b"\xff" * 50, deep)
    for content in broken:
        with pytest.raises(DataError, match="damaged"):
            codecs_of(content)


def test_no_more_rows_are_read_than_a_file_says_it_has(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": pa.repeat(1, 200_000)}), path)
    # The first in the footer is that of the file; those of its groups stay. Both are numbers of three bytes.
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    declared = content[start:].replace(_varint(400_000), _varint(6), 1)
    seen = []
    with pytest.raises(DataError, match="damaged"):
        seen.extend(batches(open_parquet(content[:start] + declared), ["a"]))
    assert seen == []


def _varint(number: int) -> bytes:
    return bytes([number & 127 | 128, number >> 7 & 127 | 128, number >> 14])
