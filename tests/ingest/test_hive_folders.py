"""Keys in the names of folders, as Hive writes them: columns where they are named, and always text."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import UsageError
from anonhist.graphs.reading import read_degrees
from anonhist.ingest import read_profile
from anonhist.ingest.columns import MissingColumnError, UnnamedColumnError
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.locations import folder_keys, keys_of_path
from anonhist.ingest.windows import read_cumulative
from anonhist.local.reading import opened_values
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

# How a folder is called, its value, and how many rows it holds; as numbers, 01 and 1 would be one.
FOLDERS = {
    "2026-11-01": ("2026-11-01", 30),
    "2026-11-02": ("2026-11-02", 20),
    "01": ("01", 11),
    "1": ("1", 13),
    "a%2Fb c": ("a/b c", 50),
    "x=y": ("x=y", 7),
    "[1]*": ("[1]*", 5),
    "__HIVE_DEFAULT_PARTITION__": (None, 40),
    "": (None, 60),
}
VALUES = Profile.from_counts([rows for value, rows in FOLDERS.values() if value is not None])
KINDS = ["csv", "tsv", "csv.gz", "jsonl", "parquet"]


def write(path: Path, columns: dict[str, list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    rows = list(zip(*columns.values(), strict=True))
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
    else:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        text = "".join(delimiter.join(row) + "\n" for row in (list(columns), *rows))
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def write_all(folder: Path, kind: str) -> str:
    for at, (name, (_, rows)) in enumerate(FOLDERS.items()):
        # A column that is called as the engine calls that of the file's name.
        write(folder / f"h={at % 2}" / f"day={name}" / f"x.{kind}", {"q": ["a"] * rows, "filename": ["f"] * rows})
    return f"{folder}/*/*/x.{kind}"


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_a_key_is_a_column_of_text(kind: str, tmp_path: Path) -> None:
    source = write_all(tmp_path, kind)
    assert read_profile(source, label="day") == VALUES
    assert read_profile(source, label="day", keep_null=True).n == VALUES.n + 100
    assert read_profile(source, label="h").num_labels == 2
    assert read_profile(source, label="filename") == read_profile(source, label="q") == Profile.from_counts([236])
    kept = read_profile(source, label="q", user="day", max_per_user=1)
    assert kept.n == 7
    grouped = read_groups(source, label="q", by=["day", "filename"], groups=[("01", "f"), ("1", "f"), ("a/b c", "f")])
    assert {group: profile.n for group, profile in grouped.items()} == {
        ("01", "f"): 11,
        ("1", "f"): 13,
        ("a/b c", "f"): 50,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_one_more_file_changes_no_value(kind: str, tmp_path: Path) -> None:
    source = write_all(tmp_path, kind)
    for name in ("text", "9", "2026-11-03", "1.5", "true"):
        write(tmp_path / "h=1" / f"day={name}" / f"x.{kind}", {"q": ["a"] * 3, "filename": ["f"] * 3})
        counts = Counter({value: rows for value, rows in FOLDERS.values() if value is not None})
        assert read_profile(source, label="day") == Profile.from_counts((counts + Counter({name: 3})).values())
        (tmp_path / "h=1" / f"day={name}" / f"x.{kind}").unlink()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_key_is_a_column_only_if_all_files_have_it(kind: str, tmp_path: Path) -> None:
    source = write_all(tmp_path, kind)
    write(tmp_path / "h=1" / "other" / f"x.{kind}", {"q": ["a"], "filename": ["f"]})
    with pytest.raises(MissingColumnError, match="There is no column 'day'"):
        read_profile(source, label="day")
    assert read_profile(source, label="q").n == 237


def test_a_row_of_json_has_its_own_value_if_it_has_one(tmp_path: Path) -> None:
    # Rows of JSON lines have no columns, so each is read for itself: other rows and other files change nothing.
    source = write_all(tmp_path, "jsonl")
    (tmp_path / "h=1" / "other").mkdir()
    for folder in ("day=7", "other"):
        (tmp_path / "h=1" / folder).mkdir(exist_ok=True)
        (tmp_path / "h=1" / folder / "x.jsonl").write_text('{"q":"a","day":"8"}\n{"q":"a"}\n{"day":null}\n')
    counts = Counter({value: rows for value, rows in FOLDERS.values() if value is not None})
    expected = counts + Counter({"8": 2, "7": 2})
    assert read_profile(source, label="day") == Profile.from_counts(expected.values())
    assert read_profile(source, label="day", user="Day", max_per_user=1).n == 0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_the_file_comes_first(kind: str, tmp_path: Path) -> None:
    write(tmp_path / "day=1" / "Day=2" / f"x.{kind}", {"day": ["5", "6"], "q": ["a", "a"]})
    source = str(tmp_path / "day=1" / "Day=2" / f"x.{kind}")
    assert read_profile(source, label="day") == Profile.from_counts([1, 1])
    # Names that differ in case are two.
    assert read_profile(source, label="Day") == Profile.from_counts([2])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_key_that_nobody_names_is_not_there(kind: str, tmp_path: Path) -> None:
    write(tmp_path / "day=1" / f"one.{kind}", {"q": ["a", "b"]})
    assert read_profile(tmp_path / "day=1" / f"one.{kind}") == Profile.from_counts([1, 1])
    write(tmp_path / "day=1" / f"counted.{kind}", {"label": ["a", "b"], "count": ["3", "4"]})
    if kind == "csv":
        assert read_profile(tmp_path / "day=1" / f"counted.{kind}").n == 7
    write(tmp_path / "day=1" / f"edges.{kind}", {"source": ["a", "b"], "target": ["c", "c"]})
    assert read_degrees(tmp_path / "day=1" / f"edges.{kind}").profile.n == 4
    assert read_degrees(tmp_path / "day=1" / f"edges.{kind}", origin="source", target="day").profile.n == 4
    write(tmp_path / "day=1" / f"two.{kind}", {"q": ["a"], "r": ["b"]})
    with pytest.raises(UnnamedColumnError):
        read_profile(tmp_path / "day=1" / f"two.{kind}")


@pytest.mark.full
def test_days_in_folders_make_windows(tmp_path: Path) -> None:
    for kind in KINDS:
        source = write_all(tmp_path / kind, kind)
        found = read_cumulative(
            source, label="filename", by="day(day)", days="2026-11-01..2026-11-02", thresholds=(1, 40)
        )
        assert found.increments.tolist() == [[1, 0], [0, 1]]


def test_a_key_can_be_randomized(tmp_path: Path) -> None:
    for name in ("yes", "no"):
        write(tmp_path / f"answer={name}" / "x.csv", {"q": ["a"] * 150})
    with opened_values(f"{tmp_path}/*/x.csv", "answer") as batches:
        assert Counter(value for batch in batches for value in batch) == {"yes": 150, "no": 150}


@each_of("key", ["we ird", "a.b", "k[ey]", "é", "it's", 'a"b', "a#b-c&d~e", "(x)", "x|y", "100%25", "back`"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_keys_may_hold_any_signs(kind: str, key: str, tmp_path: Path) -> None:
    path = tmp_path / f"{key}=v" / f"x.{kind}"
    write(path, {"q": ["a", "b"]})
    assert read_profile(path, label=key.replace("%25", "%")) == Profile.from_counts([2])


@pytest.mark.parametrize("name", ["./day=1/x.csv", ".//day=1//x.csv", "day=1/./x.csv", "day=1/../day=1/x.csv"])
def test_paths_may_be_written_in_any_way(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "day=1" / "x.csv", {"q": ["a", "b"]})
    if ".." in name:
        # The key is there twice, and is none.
        with pytest.raises(MissingColumnError):
            read_profile(name, label="day")
    else:
        assert read_profile(name, label="day") == Profile.from_counts([2])


def test_which_keys_paths_have() -> None:
    assert list(keys_of_path("/log/day=1/h=2/x.csv")) == ["day", "h"]
    for path in ("day=1.csv", "log/=1/x.csv", "a=1/a=2/x.csv"):
        assert keys_of_path(path) == {}
    assert list(keys_of_path("https://example.org/day=1/x.csv?part=/h=2/")) == ["day"]
    assert folder_keys([]) == folder_keys(["day=1/x", "x"]) == folder_keys(["a=1/x", "a=1/b=2/x"]) == {}
    assert folder_keys(["a=1/b=2/x", "b=2/a=1/x"]) == {"a": "a", "b": "b"}


def test_json_lines_need_their_key_all_the_same(tmp_path: Path) -> None:
    write(tmp_path / "day=1" / "x.jsonl", {"q": ["a"]})
    with pytest.raises(UsageError, match=r"name the keys to read|name the key that"):
        read_profile(tmp_path / "day=1" / "x.jsonl")
