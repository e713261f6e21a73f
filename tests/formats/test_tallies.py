import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.formats.files import write
from anonhist.local import KRR, Tally
from anonhist.local.files import is_tally_file, read_tally, tally_text
from anonhist_testing.cases import each_of

GOLDEN = Path(__file__).parent / "golden"
DIGEST = "0123456789abcdef" * 2
TALLIES = {
    "few": Tally(DIGEST, 7, np.array([0, 3, 2**62]), np.array([1, 5, 1])),
    "none": Tally(DIGEST, 0, np.array([], dtype=np.int64), np.array([], dtype=np.int64)),
    "most": Tally(DIGEST, 2**62, np.array([2**63 - 1]), np.array([2**62])),
}
ABSENT = object()
# Where, what is put there, and what the refusal says; in Parquet, cells and counts are columns.
BAD: list[tuple[str, Any, str]] = [
    ("format", "anonhist/survey", "its format"),
    ("format", None, "its format is not 'anonhist/tally'"),
    ("format", ABSENT, "format"),
    ("version", 2, "its version is not 1, .* a newer program may read it"),
    ("version", 0, "its version is not 1"),
    ("version", True, "its version is not 1"),
    ("version", ABSENT, "its version is not 1"),
    ("extra", 1, "exactly the fields"),
    ("survey", ABSENT, "exactly the fields"),
    ("survey", 5, "digest"),
    ("survey", DIGEST[1:], "digest"),
    ("survey", DIGEST + "0", "digest"),
    ("survey", DIGEST + "\n", "digest"),
    ("survey", DIGEST.upper(), "digest"),
    ("users", ABSENT, "exactly the fields"),
    ("users", -1, "users"),
    ("users", 2**62 + 1, "users"),
    ("users", 7.0, "users"),
    ("users", True, "users"),
    ("users", "7", "users"),
    ("users", None, "users"),
    ("users", 4, "between 1 and"),
]
BAD_CELLS: list[tuple[str, Any, str]] = [
    ("cells", [0, 3], "one count for each"),
    ("cells", [3, 0, 5], "ascending"),
    ("cells", [0, 3, 3], "ascending"),
    ("cells", [-1, 3, 5], "ascending"),
    ("cells", [0, 3, 2**63], "whole numbers"),
    ("cells", [0, 3, 5.0], "whole numbers"),
    ("cells", [0, 3, None], "whole numbers"),
    ("cells", [0, 3, True], "whole numbers"),
    ("cells", 5, "whole numbers"),
    ("cells", ABSENT, "exactly the fields"),
    ("counts", [0, 5, 1], "between 1 and"),
    ("counts", [1, 8, 1], "between 1 and"),
    ("counts", [-1, 5, 1], "between 1 and"),
    ("counts", [[1], [5], [1]], "whole numbers"),
]


@each_of("ending", ["json", "parquet"])
@each_of("name", TALLIES)
def test_a_tally_is_read_as_it_was_written(tmp_path: Path, name: str, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    write(TALLIES[name], path)
    assert read_tally(path) == TALLIES[name]
    assert is_tally_file(path)


@each_of("ending", ["json", "parquet"])
@each_of("name", TALLIES)
def test_golden_files_stay_readable(name: str, ending: str) -> None:
    # Written when the format was made; never to be written anew.
    assert read_tally(GOLDEN / f"tally-{name}.{ending}") == TALLIES[name]


def _assert_refused(path: Path, reason: str) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        read_tally(path)
    assert str(caught.value).startswith(f"'{path}' is not a tally that can be read: ")
    assert "\n" not in str(caught.value)


@each_of(("where", "value", "reason"), BAD + BAD_CELLS)
def test_bad_documents_are_refused(tmp_path: Path, where: str, value: object, reason: str) -> None:
    document = json.loads(tally_text(TALLIES["few"]))
    document[where] = value
    if value is ABSENT:
        del document[where]
    (tmp_path / "bad.json").write_text(json.dumps(document))
    _assert_refused(tmp_path / "bad.json", reason)


@each_of(("where", "value", "reason"), BAD)
def test_bad_heads_of_tables_are_refused(tmp_path: Path, where: str, value: object, reason: str) -> None:
    path = tmp_path / "bad.parquet"
    write(TALLIES["few"], path)
    table = pq.read_table(path)
    head = json.loads(table.schema.metadata[b"anonhist/tally"])
    head[where] = value
    if value is ABSENT:
        del head[where]
    pq.write_table(table.replace_schema_metadata({"anonhist/tally": json.dumps(head)}), path)
    _assert_refused(path, reason)


@each_of(
    ("columns", "reason"),
    [
        ({"cell": [0, 3, 5]}, "cell and count"),
        ({"count": [1, 5, 1], "cell": [0, 3, 5]}, "cell and count"),
        ({"cell": [0, 3, 5], "count": [1, 5, None]}, "cell and count"),
        ({"cell": [0, 3, 5], "count": [1.0, 5.0, 1.0]}, "cell and count"),
        ({"cell": [0, 3, 5], "count": ["1", "5", "1"]}, "cell and count"),
        ({"cell": [0, 3, 5], "count": [1, 5, 1], "more": [1, 1, 1]}, "cell and count"),
        ({"cell": [0, 5, 3], "count": [1, 5, 1]}, "ascending"),
        ({"cell": [0, 3, 5], "count": [1, 8, 1]}, "between 1 and"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, columns: dict[str, list[Any]], reason: str) -> None:
    path = tmp_path / "bad.parquet"
    write(TALLIES["few"], path)
    metadata = pq.read_table(path).schema.metadata
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), path)
    _assert_refused(path, reason)


def test_cells_that_a_file_cannot_hold_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path, columns = tmp_path / "bad.parquet", {"cell": np.zeros(1 << 19, dtype=np.int64)}
    write(TALLIES["few"], path)
    metadata = pq.read_table(path).schema.metadata
    table = pa.table(columns | {"count": columns["cell"]}).replace_schema_metadata(metadata)
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(3):
            writer.write_table(table)
    assert path.stat().st_size < 1 << 14
    _assert_refused(path, "more cells than a file of its size")


def test_tallies_that_may_unpack_to_any_size_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tight.parquet"
    write(TALLIES["few"], path)
    pq.write_table(pq.read_table(path), path, compression="zstd")
    _assert_refused(path, "not compressed with Snappy")


@pytest.mark.parametrize(
    ("place", "damage"),
    [
        # A column that has no missing values, with statistics of missing ones: Arrow ends the process if asked for it.
        (b"\x02\x18\x04cell", b"\x00\x18\x04cell"),
        (b"cell", b"\xffell"),
    ],
    ids=["statistics of another column", "a name that is no text"],
)
def test_damaged_footers_are_refused(tmp_path: Path, place: bytes, damage: bytes) -> None:
    path = tmp_path / "bad.parquet"
    write(TALLIES["few"], path)
    whole = path.read_bytes()
    assert place in whole
    path.write_bytes(whole.replace(place, damage))
    _assert_refused(path, "not a Parquet file, or a damaged one")


@pytest.mark.slow
def test_as_many_cells_as_are_counted_are_read(tmp_path: Path) -> None:
    # Of all tallies these are the shortest in a file: cells next to each other, each met once.
    cells = np.arange(3 << 20)
    tally = Tally(DIGEST, cells.size, cells, np.ones_like(cells))
    write(tally, tmp_path / "many.parquet")
    assert read_tally(tmp_path / "many.parquet") == tally


def test_what_is_no_file_of_a_tally_is_refused(tmp_path: Path) -> None:
    write(TALLIES["few"], tmp_path / "good.parquet")
    whole = (tmp_path / "good.parquet").read_bytes()
    for content in (b"", b"PAR1", whole[:-1], whole[: len(whole) // 2]):
        (tmp_path / "bad.parquet").write_bytes(content)
        _assert_refused(tmp_path / "bad.parquet", "not a Parquet file")
        assert not is_tally_file(tmp_path / "bad.parquet")
    survey = KRR(alphabet=3, epsilon=1)
    write(survey.randomize([0, 1]), tmp_path / "reports.parquet")
    _assert_refused(tmp_path / "reports.parquet", "not one of a tally")
    assert not is_tally_file(tmp_path / "reports.parquet")
    with pytest.raises(DataError, match="There is no file"):
        read_tally(tmp_path / "none.json")
    for ending in ("csv", "ndjson"):
        with pytest.raises(UsageError, match=r"\.json or \.parquet"):
            read_tally(tmp_path / f"a.{ending}")
