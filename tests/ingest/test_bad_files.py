"""Every bad file is refused in one sentence that holds nothing of its data."""

import gzip
import os
import stat
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.ingest.engine import translate_failures
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Refused = Callable[..., str]
SECRET = "hunter2"  # noqa: S105  # a value of the data
MANY = b"label,other\n" + b"a,1\n" * 50_000


def _gzip(data: bytes) -> bytes:
    """Compress without a date: nothing of a test may depend on the clock."""
    return gzip.compress(data, mtime=0)


BAD_FILES = {
    "empty CSV": ("a.csv", b"", "is empty"),
    "empty JSON lines": ("a.jsonl", b"", "is empty"),
    "empty Parquet": ("a.parquet", b"", "is empty"),
    "no bytes, called gzip": ("a.csv.gz", b"", "is empty"),
    "no bytes, called Zstandard": ("a.csv.zst", b"", "is empty"),
    "gzip of nothing": ("a.csv.gz", _gzip(b""), "is empty"),
    "short row": ("a.csv", b"label,other\nhunter2\n", "more or fewer columns"),
    "long row": ("a.csv", b"label,other\nhunter2,1,2\n", "more or fewer columns"),
    "long row of one column": ("a.csv", b"label\nhunter2,1\n", "more or fewer columns"),
    "short row far down": ("a.csv", MANY + b"hunter2\n", "more or fewer columns"),
    "long row far down": ("a.csv", MANY + b"hunter2,1,2\n", "more or fewer columns"),
    "commas in a TSV": ("a.tsv", b"label\tother\nhunter2,1\n", "more or fewer columns"),
    "quote without an end": ("a.csv", b'label,other\n"hunter2,1\n', "quot"),
    "text after a quote": ("a.csv", b'label,other\n"hunter"2,1\n', "quot"),
    "mixed line ends": ("a.csv", b"label,other\r\nhunter2,1\nb,2\r\n", "different endings"),
    "CSV of other bytes": ("a.csv", b"label,other\nhunter2\xff,1\n", "UTF-8"),
    "CSV in UTF-16": ("a.csv", "label,other\nhunter2,1\n".encode("utf-16"), "UTF-8"),
    "two columns of one name": ("a.csv", b"label,label\nhunter2,1\n", "Several columns have the name of the label"),
    "empty header": ("a.csv", b"\nlabel,other\nhunter2,1\n", "empty line"),
    "quote without an end in the header": ("a.csv", b'"label,other\nhunter2,1\n', "first line"),
    "gzip called CSV": ("a.csv", _gzip(b"label\nhunter2\n"), "UTF-8"),
    "CSV called gzip": ("a.csv.gz", b"label\nhunter2\n", "decompressed"),
    "gzip without its last byte": ("a.csv.gz", _gzip(b"label\nhunter2\n")[:-1], "decompressed"),
    "gzip without its trailer": ("a.csv.gz", _gzip(MANY)[:-9], "decompressed"),
    "gzip cut in its data": ("a.csv.gz", _gzip(b"label\nhunter2\n")[:12], "decompressed"),
    "gzip cut in its header": ("a.csv.gz", _gzip(b"label\nhunter2\n")[:5], "decompressed"),
    "JSON lines in cut gzip": ("a.jsonl.gz", _gzip(b'{"label":"hunter2"}\n')[:-1], "decompressed"),
    "CSV called Zstandard": ("a.csv.zst", b"label\nhunter2\n", "decompressed"),
    "gzip called Zstandard": ("a.csv.zst", _gzip(b"label\nhunter2\n"), "decompressed"),
    "CSV called Parquet": ("a.parquet", b"label\nhunter2\n" * 9, "Parquet"),
    "Parquet without a footer": ("a.parquet", b"PAR1hunter2PAR1", "Parquet"),
    "Parquet of four bytes": ("a.parquet", b"PAR1", "Parquet"),
    "CSV called JSON lines": ("a.jsonl", b"label\nhunter2\n", "JSON lines"),
    "object without an end": ("a.jsonl", b'{"label":"a"}\n{"label":"hunter2"\n', "JSON lines"),
    "word instead of an object": ("a.jsonl", b'{"label":"a"}\nhunter2\n', "JSON lines"),
    "number instead of an object": ("a.jsonl", b'{"label":"a"}\n5\n', "JSON lines"),
    "list of objects": ("a.jsonl", b'[{"label":"hunter2"},{"label":"b"}]\n', "JSON lines"),
    "key said twice": ("a.jsonl", b'{"label":"hunter2","label":"b"}\n', "JSON lines"),
    "JSON lines of other bytes": ("a.jsonl", b'{"label":"hunter2\xff"}\n', "UTF-8"),
}


@each_of(("name", "data", "says"), BAD_FILES.values())
def test_bad_files(tmp_path: Path, refuse: Refused, name: str, data: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert says in refuse(DataError, tmp_path / name, label="label", secret=SECRET)


def test_a_byte_order_mark_of_json_lines_is_no_data(tmp_path: Path, refuse: Refused) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"label":"hunter2"}\n{"label":"hunter2"}\n')
    if duckdb.__version__ == "2.0.0":  # newer engines skip it
        assert "byte order mark" in refuse(DataError, path, label="label", secret=SECRET)
    else:
        assert read_profile(path, label="label") == Profile.from_counts([2])


@pytest.mark.parametrize("ending", ["csv.zst", "jsonl.zst"])
def test_every_cut_of_a_zstandard_file_is_refused(
    tmp_path: Path, compress: Callable[[Path, bytes], None], refuse: Refused, ending: str
) -> None:
    path = tmp_path / f"a.{ending}"
    compress(path, b"".join(b'{"label":"%d"}\n' % number for number in range(3_000)))
    whole = path.read_bytes()
    for length in {1, 3, 4, 5, 8, len(whole) // 2, len(whole) - 4, len(whole) - 1}:
        path.write_bytes(whole[:length])
        assert "decompressed" in refuse(DataError, path, label="label")


def test_a_ragged_row_is_found_whatever_columns_are_read(tmp_path: Path, refuse: Refused) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(MANY + b"a,1,2\n")
    for label in ("label", "other"):
        assert "columns" in refuse(DataError, path, label=label)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.txt", b"a\n" + b"hunter2" * 300_000 + b"\n", "a line that is too long"),
        ("a.csv", b"label\n" + b"hunter2" * 300_000 + b"\n", "a line that is too long"),
        ("a.jsonl", b'{"label":"' + b"hunter2" * 6_000_000 + b'"}\n', "a line that is too long"),
        ("a.txt", b"a\nhunter2\rb\n", "have different endings"),
        ("a.txt", b"a\nhunter2\r\n", "have different endings"),
        ("a.txt", b"a\nhunter2\xff\n", "not UTF-8"),
    ],
)
def test_lines_are_refused_for_the_right_reason(
    tmp_path: Path, refuse: Refused, name: str, data: bytes, says: str
) -> None:
    (tmp_path / name).write_bytes(data)
    kind = "labels" if name == "a.txt" else "events"
    assert says in refuse(DataError, tmp_path / name, label="label", format=kind, secret=SECRET)


@each_of("source", ["nowhere.csv", "nowhere.parquet", "nowhere-*.csv", "nowhere", "no/where.csv"])
def test_missing_files(tmp_path: Path, refuse: Refused, source: str) -> None:
    message = refuse(DataError, tmp_path / source)
    assert "There is no file" in message
    assert source in message


def test_folders_and_pipes_are_no_files(tmp_path: Path, refuse: Refused) -> None:
    assert "folder" in refuse(DataError, tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    assert "standard input" in refuse(DataError, tmp_path / "pipe.csv")


@pytest.mark.parametrize("label", ["count", "label"])
def test_prevalences_have_no_labels(tmp_path: Path, label: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("label,count,prevalence,word\na,1,1,x\n")
    with pytest.raises(UsageError, match=r"Data of format prevalences have no labels: leave out label\.$"):
        read_profile(path, format="prevalences", label=label)
    for named in ("label", "word"):
        assert read_profile(path, format="counts", label=named).n == 1


def test_unreadable_file(tmp_path: Path, refuse: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text("label\nhunter2\n")
    if os.geteuid() == 0:
        # Nothing is closed to root, so the refusal is played.
        opening = Path.open

        def refuse_path(self: Path, *args: object, **options: object) -> object:
            if self == path:
                raise PermissionError(13, "Permission denied", str(path))
            return opening(self, *args, **options)  # type: ignore[call-overload]  # passes on what it was given

        monkeypatch.setattr(Path, "open", refuse_path)
    else:
        path.chmod(stat.S_IWUSR)
    assert "cannot be read: Permission denied" in refuse(DataError, path, secret=SECRET)


@each_of("source", [3, 3.5, b"a,b", object(), None, {"a": 3}])
def test_no_sources(refuse: Refused, source: object) -> None:
    assert refuse(UsageError, source)


@each_of("name", ["a.csv", "a.tsv.gz", "a.jsonl", "a.parquet"])
def test_no_rows_make_an_empty_profile(tmp_path: Path, write_table: Callable[..., str], name: str) -> None:
    if name == "a.jsonl":
        (tmp_path / name).write_text('{"label":null}\n')
    else:
        write_table(tmp_path / name, {"label": []})
    assert read_profile(tmp_path / name, label="label").n == 0


def test_an_interrupted_query_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), translate_failures("The input"):
        raise RuntimeError("Query interrupted")


def test_a_word_of_the_data_does_not_change_what_is_said(tmp_path: Path, refuse: Refused) -> None:
    path = tmp_path / "json-parquet.gzip-extension.csv"
    path.write_text("label,other\nhunter2 gzip parquet extension memory json overflow\n")
    assert "more or fewer columns" in refuse(DataError, path, label="label", secret=SECRET)
