"""Delimited text and JSON lines: labels as they are written, empty fields null, and nothing guessed."""

import gzip
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.ingest.files import file_table
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Refused = Callable[..., str]


def rows(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    """What the engine is given to count."""
    reading: dict[str, Any] = {"format": None, "delimiter": None, "header": True, "keys": ["label"]} | options
    with duckdb.connect() as connection:
        return sorted(file_table(connection, str(path), **reading).table.to_native().fetchall(), key=repr)


@pytest.mark.slow
@each_of(
    ("text", "labels"),
    [
        ("label\n007\n1.0\n1\n", ["007", "1", "1.0"]),
        ("label\n1\n1 \n 1\n+1\n1e0\n0x1\n", [" 1", "+1", "0x1", "1", "1 ", "1e0"]),
        ("label\n2024-01-01\n2024-1-1\n", ["2024-01-01", "2024-1-1"]),
        ("label\nTRUE\ntrue\nt\n", ["TRUE", "t", "true"]),
        ("label\nNULL\nNaN\nnan\n\\N\n", ["NULL", "NaN", "\\N", "nan"]),
        ("label\n\na\n", ["a", None]),
        ('label\n""\na\n', ["a", None]),
        ('label\n"a,b"\n"say ""so"""\n"two\nlines"\n', ["a,b", 'say "so"', "two\nlines"]),
        ('label\n"a"\na\n', ["a", "a"]),
        ("label\n'a'\n", ["'a'"]),
        ("label\n#a\n", ["#a"]),
        ("label\na\\nb\n", ["a\\nb"]),
        ("label\né\ne\u0301\n日本\n🙂\n", ["e\u0301", "é", "日本", "🙂"]),
        ("label\r\na\r\nb\r\n", ["a", "b"]),
        ('label\r\n"a\nb"\r\n', ["a\nb"]),
        ("label\ra\rb\r", ["a", "b"]),
        ("\ufefflabel\na\n", ["a"]),
        ('\ufeff"label"\na\n', ["a"]),
        ("label\na", ["a"]),
        ("label\nlabel\n", ["label"]),
        ("label\n", []),
        ("label", []),
        ("label\n" + "7\n" * 30_000 + "seven\n", ["7"] * 30_000 + ["seven"]),
    ],
)
def test_labels_as_written(tmp_path: Path, text: str, labels: list[str | None]) -> None:
    path = tmp_path / "events.csv"
    path.write_bytes(text.encode())
    assert sorted((row[0] for row in rows(path)), key=repr) == sorted(labels, key=repr)


@each_of(
    ("text", "labels"),
    [
        ('{"label":"007"}\n{"label":"1.0"}\n{"label":"1"}\n', ["007", "1", "1.0"]),
        ('{"label":7}\n{"label":1.0}\n{"label":-0.0}\n{"label":1.5}\n{"label":1e3}\n', ["0", "1", "1.5", "1000", "7"]),
        ('{"label":"2024-01-01"}\n{"label":"2024-01-02"}\n', ["2024-01-01", "2024-01-02"]),
        ('{"label":"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"}\n', ["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"]),
        ('{"label":123456789012345678901234567890}\n', ["123456789012345678901234567890"]),
        ('{"label":null}\n{"label":""}\n{"other":1}\n', ["", None, None]),
        ('{"label":true}\n{"label":"\\u00e9"}\n', ["true", "é"]),
        ('{"label":"a"}\r\n\r\n{"label":"b"}', ["a", "b"]),
    ],
)
def test_json_values_as_written(tmp_path: Path, text: str, labels: list[str | None]) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(text.encode())
    assert sorted((row[0] for row in rows(path)), key=repr) == sorted(labels, key=repr)


@pytest.mark.full
@each_of(
    ("name", "text", "options", "expected"),
    [
        ("a.tsv", "label\tx\na,b\t1\n", {}, [("a,b", "1")]),
        ("a.tab", "label\tx\na b\t1\n", {}, [("a b", "1")]),
        ("a.csv", "label;x\na;1\n", {"delimiter": ";"}, [("a", "1")]),
        ("a.csv", "label;x\na;1\n", {"format": "events"}, [("a;1",)]),
        ("a.csv", "label;x\na;1\n", {"delimiter": ","}, [("a;1",)]),
        ("a.csv", '"label;x"\na;1\n', {"delimiter": ","}, [("a;1",)]),
        ("a.tsv", "label|x\na|1\n", {"delimiter": "|"}, [("a", "1")]),
        ("a.log", "label x\na 1\n", {"delimiter": " "}, [("a", "1")]),
        ("a.csv", "a,1\nb,2\n", {"header": False}, [("a", "1"), ("b", "2")]),
        ("a.csv", "\na\n", {"header": False}, [("a",), (None,)]),
        ("a.CSV", "label,x\na,1\n", {}, [("a", "1")]),
        ("a.log", 'label\n"a"\n\n a,b\n', {"format": "labels"}, [(" a,b",), ('"a"',), ("label",), (None,)]),
        ("a.csv", "a\r\nb\r\n", {"format": "labels"}, [("a",), ("b",)]),
        ("a.csv", "\ufeffa\n", {"format": "labels"}, [("a",)]),
        ("a.csv", "\ufeffa\n\ufeff\n\ufeff\ufeffb\ufeff\n", {"format": "labels"}, [("a",), ("b\ufeff",), (None,)]),
        ("a.csv", "\ufeffa,\ufeffb\n\ufeffa,\n", {"header": False}, [("a", "\ufeffb"), ("a", None)]),
        ("a.csv", "\ufeffa,b\n\ufeffa,b\n", {}, [("\ufeffa", "b")]),
    ],
)
def test_options_of_text(
    tmp_path: Path, name: str, text: str, options: dict[str, Any], expected: list[tuple[str | None, ...]]
) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert rows(tmp_path / name, **options) == sorted(expected, key=repr)


@pytest.mark.parametrize(
    ("text", "label", "n"),
    [
        ("a,b\nc,d\n", "column0", 2),
        ("a,b\nc,d\n", "column1", 2),
    ],
)
def test_without_a_header_columns_are_numbered(tmp_path: Path, text: str, label: str, n: int) -> None:
    path = tmp_path / "plain.csv"
    path.write_text(text)
    assert read_profile(path, label=label, header=False).n == n


def test_names_are_trimmed_and_never_empty(tmp_path: Path) -> None:
    path = tmp_path / "index.csv"
    path.write_text(', label ,"x"\n0,a,1\n')
    assert read_profile(path, label="label").n == 1
    assert read_profile(path, label="column0").n == 1
    assert read_profile(path, label="x").n == 1


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "ndjson", "parquet", "csv.gz", "tsv.zst", "jsonl.gz"])
def test_every_ending(tmp_path: Path, write_table: Callable[..., str], ending: str) -> None:
    table = {"label": ["b", "a", "b", None], "other": list("1234")}
    source = write_table(tmp_path / f"events.{ending}", table) if ending != "ndjson" else str(tmp_path / "e.ndjson")
    if ending == "ndjson":
        Path(source).write_text('{"label":"b"}\n{"label":"a"}\n{"label":"b"}\n{"label":null}\n')
    for given in (source, Path(source)):
        assert read_profile(given, label="label").counts.tolist() == [1, 2]


@each_of("ending", ["csv", "csv.zst", "jsonl", "parquet"])
@each_of("pattern", ["part*.{}", "part?.{}", "part[12].{}", "**/part*.{}"])
def test_globs(tmp_path: Path, write_table: Callable[..., str], ending: str, pattern: str) -> None:
    for name, label in (("part1", "a"), ("part2", "b"), ("rest", "c")):
        write_table(tmp_path / f"{name}.{ending}", {"label": [label, "both"], "other": ["1", "2"]})
    profile = read_profile(str(tmp_path / pattern.format(ending)), label="label")
    assert (profile.n, profile.num_labels) == (4, 3)


@each_of("name", ["part*.csv", "part[1].csv", "part?.csv", "[[1]].csv"])
@each_of("format", [None, "labels"])
def test_a_file_named_like_a_pattern_is_that_file(tmp_path: Path, name: str, format: str | None) -> None:  # noqa: A002
    for other in ("part1.csv", "part2.csv", "1.csv"):
        (tmp_path / other).write_text("label\na\na\n")
    (tmp_path / name).write_text("label\nb\n")
    assert read_profile(tmp_path / name, format=format).n == (1 if format is None else 2)


def test_compressed_files_may_have_several_members(tmp_path: Path, compress: Callable[..., None]) -> None:
    one, two = gzip.compress(b"label\na\n"), gzip.compress(b"b\n")
    (tmp_path / "e.csv.gz").write_bytes(one + two)
    assert read_profile(tmp_path / "e.csv.gz").n == 2
    compress(tmp_path / "1.zst", b"label\na\n")
    compress(tmp_path / "2.zst", b"b\n")
    (tmp_path / "e.csv.zst").write_bytes((tmp_path / "1.zst").read_bytes() + (tmp_path / "2.zst").read_bytes())
    assert read_profile(tmp_path / "e.csv.zst").n == 2


@each_of("second", ["label,v\nsecret,1\n", "u,label\n1,secret\n", "label\nsecret\n", "label,u,v\nb,1,2\n"])
def test_files_of_one_pattern_have_one_header(tmp_path: Path, refuse: Refused, second: str) -> None:
    (tmp_path / "p1.csv").write_text("label,u\na,1\n")
    (tmp_path / "p2.csv").write_text(second)
    message = refuse(DataError, tmp_path / "p[12].csv", label="label", secret="secret")  # noqa: S106
    assert "p2.csv" in message


def test_files_of_one_pattern_are_of_one_kind(tmp_path: Path, refuse: Refused) -> None:
    (tmp_path / "p.csv").write_text("label\na\n")
    (tmp_path / "p.tsv").write_text("label\na\n")
    assert ".csv, .tsv" in refuse(UsageError, tmp_path / "p.*")


def test_parquet_files_of_one_pattern_have_one_schema(
    tmp_path: Path, write_table: Callable[..., str], refuse: Refused
) -> None:
    write_table(tmp_path / "1.parquet", {"label": ["a"]})
    write_table(tmp_path / "2.parquet", {"other": ["b"]})
    assert "same columns" in refuse(DataError, tmp_path / "*.parquet", label="label")


@each_of("delimiter", ["", ",,", '"', "\n", "\r"])
def test_impossible_delimiters(tmp_path: Path, refuse: Refused, delimiter: str) -> None:
    (tmp_path / "a.csv").write_text("label\na\n")
    assert "delimiter" in refuse(UsageError, tmp_path / "a.csv", delimiter=delimiter)


def test_an_unknown_ending_needs_a_delimiter(tmp_path: Path, refuse: Refused) -> None:
    (tmp_path / "events.log").write_text("label\na\n")
    message = refuse(UsageError, tmp_path / "events.log")
    assert "(delimiter)" in message
    assert ".parquet" in message


def test_unknown_formats_and_stray_tables(tmp_path: Path, refuse: Refused) -> None:
    assert "events, labels, counts, prevalences" in refuse(UsageError, "a.csv", format="csv")
    assert "table" in refuse(UsageError, str(tmp_path / "a.csv"), table="t")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_names_of_folders_are_no_columns(tmp_path: Path, write_table: Callable[..., str], name: str) -> None:
    folder = tmp_path / "label=folder" / "other=folder"
    folder.mkdir(parents=True)
    write_table(folder / name, {"label": ["a", "b", "b"]})
    assert read_profile(folder / name, label="label").counts.tolist() == [1, 2]
    assert read_profile(tmp_path / "label=*" / "*" / name, label="label").counts.tolist() == [1, 2]


@each_of("values", [[b"7", b"8"], [datetime(2026, 11, 1), None], [[7], [8]]])  # noqa: DTZ001  # no zone
@each_of("names", ["12", "21"])
def test_parquet_files_of_one_pattern_have_types_that_go_together(
    tmp_path: Path, write_table: Callable[..., str], refuse: Refused, values: list[Any], names: str
) -> None:
    write_table(tmp_path / f"{names[0]}.parquet", {"label": [7, 8]})
    write_table(tmp_path / f"{names[1]}.parquet", {"label": values})
    assert "columns of the same types" in refuse(DataError, tmp_path / "*.parquet", label="label")


@each_of("text", ["a\x01b", "\x01", "a\x00b", "\x00", "a\x0bb", "a\x0cb", "a\x85b", "a\u2028b", "\x1a", " ", '"'])
def test_nothing_but_the_end_of_a_line_ends_a_label(tmp_path: Path, text: str) -> None:
    path = tmp_path / "labels.txt"
    path.write_text(f"x\n{text}\nx\n", encoding="utf-8")
    assert rows(path, format="labels") == sorted([("x",), ("x",), (text,)], key=repr)


@each_of("name", ["a.txt", "a.TXT", "a.txt.gz"])
def test_the_first_line_of_a_txt_file_is_not_taken_for_a_header_unless_that_is_said(tmp_path: Path, name: str) -> None:
    lines = b"apple\nbanana\napple\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(lines) if name.endswith(".gz") else lines)
    for told in ({}, {"format": "events"}):
        with pytest.raises(
            UsageError, match=r"A \.txt file may hold one label per line or columns: give format='labels'"
        ):
            read_profile(path, **told)
    assert read_profile(path, format="labels").n == 3
    assert read_profile(path, label="apple").n == 2
    assert read_profile(path, header=False).n == 3
    with pytest.raises(DataError, match="There is no file"):
        read_profile(tmp_path / "none.txt")


@pytest.mark.full
@each_of("end", ["\n", "\r\n", "\r"])
def test_breaks_in_quotes_end_no_row_of_files_wherever_they_stand(end: str, tmp_path: Path) -> None:
    others = [f"x{at}" for at in range(300)]
    for breaking in ("\n", "\r\n", "\r"):
        for lines in ([f'"a{breaking}b"', *others], [*others, f'"a{breaking}b"']):
            path = tmp_path / "rows.csv"
            path.write_text(end.join(lines) + end, newline="")
            assert read_profile(path, label="column0", header=False).num_labels == 301
            path.write_text(end.join(["label", *lines]) + end, newline="")
            assert read_profile(path, label="label").num_labels == 301


def test_files_that_end_lines_otherwise_are_read_together(tmp_path: Path) -> None:
    for at, end in enumerate(("\n", "\r\n", "\r")):
        for folder, lines in (("named", ["label", "a", f"x{at}"]), ("bare", ["a", f"x{at}"])):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / f"{at}.csv").write_text(end.join(lines) + end, newline="")
    for pattern, options in (("named", {"label": "label"}), ("bare", {"label": "column0", "header": False})):
        profile = read_profile(tmp_path / pattern / "*.csv", **options)
        assert dict(zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True)) == {1: 3, 3: 1}
