"""Files behind URLs are read as local files are: nothing of them is guessed.

The engine reaches the network by other packages, so it is given what it takes for that: ``file://`` URLs, which the
readers themselves would take for paths. Tests of servers are in ``test_urls.py``.
"""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonhist.errors import DataError
from anonhist.ingest import files, locations, read_profile
from anonhist.ingest.engine import connect
from anonhist.profiles import Profile

pytestmark = pytest.mark.usefixtures("lent_duckdb")

# Rows in which a comment character, skipped lines or another header were found.
ROWS = [f"w{number % 9},{number}" for number in range(600)]
NASTY = ["#a,1", "# comment,", ",", "label,user", "%a,%", "//a,1", '"a,b",1', '"a\r\nb",1', "\ufeffa,1", ";,;", " , "]


Rows = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture(autouse=True)
def urls_are_remote(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave ``file://`` URLs to the engine."""

    def is_remote(source: str) -> bool:
        return "://" in source

    for module in (files, locations):
        monkeypatch.setattr(module, "is_remote", is_remote)
    monkeypatch.setattr(files, "attach", lambda *_: None)


@pytest.fixture(scope="module")
def rows() -> Iterator[Rows]:
    """Read a source with one engine."""
    with connect() as connection:

        def read(source: str, **options: Any) -> list[tuple[Any, ...]]:
            reading: dict[str, Any] = {"format": None, "delimiter": None, "header": True} | options
            return sorted(files.file_table(connection, source, **reading).table.to_native().fetchall(), key=repr)

        yield read


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 300, 600])
def test_a_row_is_read_as_in_a_local_file(tmp_path: Path, rows: Rows, place: int) -> None:
    path = tmp_path / "a.csv"
    for row in NASTY:
        path.write_bytes("\n".join(["label,user", *ROWS[:place], row, *ROWS[place:], ""]).encode())
        found = rows(path.as_uri())
        assert len(found) == 601, row
        assert found == rows(str(path)), row


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 300, 600])
def test_a_row_of_one_column_is_no_comment(tmp_path: Path, rows: Rows, place: int) -> None:
    path = tmp_path / "a.csv"
    labels = [row.partition(",")[0] for row in ROWS]
    for row in ("# c", "#", "%", "--", ""):
        path.write_text("\n".join(["label", *labels[:place], row, *labels[place:], ""]))
        assert len(rows(path.as_uri())) == 601, row
        path.write_text("\n".join(["label,user", *ROWS[:place], row or "a", *ROWS[place:], ""]))
        for source in (path.as_uri(), str(path)):
            with pytest.raises(DataError, match="more or fewer columns"):
                read_profile(source, label="label")


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst", "a.tsv", "a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_every_ending_is_read(tmp_path: Path, write_table: Callable[..., str], name: str) -> None:
    write_table(tmp_path / name, {"label": ["b", "#a", "b", None], "other": list("1234")})
    for pattern in (name, name.replace("a.", "*.")):
        assert read_profile(f"file://{tmp_path}/{pattern}", label="label").counts.tolist() == [1, 2]


def test_the_first_line_names_the_columns(tmp_path: Path, rows: Rows) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("\ufefflabel, x\r\n1,2\r\n".encode())
    assert read_profile(path.as_uri(), label="x").n == 1
    assert rows(path.as_uri(), header=False) == [("1", "2"), ("label", " x")]
    path.write_bytes(b"\nlabel\na\n")
    with pytest.raises(DataError, match="begins with an empty line"):
        read_profile(path.as_uri())
    path.write_bytes(b"label,Label\na,b\nc,b\n")
    assert read_profile(path.as_uri(), label="Label").num_labels == 1
    path.write_bytes(b"label,label\na,b\n")
    with pytest.raises(DataError, match="Several columns have the name of the label column"):
        read_profile(path.as_uri(), label="label")


def test_keys_of_folders(tmp_path: Path) -> None:
    for day in ("1", "01"):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}" / "a.csv").write_text("label\n" + "x\n" * 200)
    assert read_profile(f"{tmp_path.as_uri()}/day=*/a.csv", label="day") == Profile.from_counts([200, 200])


def test_labels_one_a_line(tmp_path: Path, rows: Rows) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"#a\n\n%b\n"))
    assert rows(path.as_uri(), format="labels") == [("#a",), ("%b",), (None,)]


def test_files_of_one_pattern_have_one_schema(tmp_path: Path, write_table: Callable[..., str]) -> None:
    (tmp_path / "1.csv").write_text("label,x\na,1\n")
    (tmp_path / "2.csv").write_text("x,label\n1,a\n")
    with pytest.raises(DataError, match="does not have the same columns"):
        read_profile(f"file://{tmp_path}/*.csv", label="label")
    write_table(tmp_path / "1.parquet", {"label": [7]})
    write_table(tmp_path / "2.parquet", {"label": [1.5, 7.0]})
    assert read_profile(f"file://{tmp_path}/*.parquet", label="label").partition().tolist() == [2, 1]
    write_table(tmp_path / "3.parquet", {"label": [b"7"]})
    with pytest.raises(DataError, match="same columns of the same types"):
        read_profile(f"file://{tmp_path}/*.parquet", label="label")


def test_the_first_line_is_the_first_of_many(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("label,x\n" + "row,1\n" * 2_000_000)
    with duckdb.connect(config={"preserve_insertion_order": "false", "threads": 8}) as connection:
        named = files.file_table(connection, path.as_uri(), format=None, delimiter=None, header=True)
        assert tuple(named.header.names) == ("label", "x")


def test_another_separator_and_lines_of_uniq(tmp_path: Path, rows: Rows) -> None:
    (tmp_path / "a.csv").write_text("word;n\na;3\n")
    with pytest.raises(DataError, match="has one column, by its header line, and ';' in its name"):
        rows((tmp_path / "a.csv").as_uri())
    assert rows((tmp_path / "a.csv").as_uri(), delimiter=";") == [("a", "3")]
    (tmp_path / "a.txt").write_text("      3 kiwi fruit\n      1 \n")
    assert rows((tmp_path / "a.txt").as_uri(), format="uniq") == [("kiwi fruit", "3"), (None, "1")]
