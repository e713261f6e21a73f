"""A header line of one column with another separator in its name is refused, wherever tables are read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anonhist.errors import AnonhistError, DataError
from anonhist.graphs.reading import read_degrees
from anonhist.ingest import read_profile, write_part
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.windows import read_cumulative
from anonhist.local import KRR
from anonhist.local.reading import opened_values, tally_reports
from anonhist.profiles import Profile
from anonhist.sketches import HashedSketch
from anonhist.sketches.reading import update_sketch
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")


def _values(path: Path) -> None:
    with opened_values(str(path), None) as batches:
        list(batches)


def _sketch(path: Path) -> None:
    update_sketch(HashedSketch(buckets=10, epsilon=1, key=b"k"), path)


def _windows(path: Path) -> None:
    read_cumulative(path, label="word", by="day(when)", days=["2026-11-01"], thresholds=[1])


READERS: dict[str, Callable[[Path], Any]] = {
    "profile": read_profile,
    "part": lambda path: write_part(path, path.with_suffix(".counts")),
    "groups": lambda path: read_groups(path, label="word", by="where", groups=["a"]),
    "list of groups": lambda path: read_groups(path, label="word", by="where", groups=path),
    "windows": _windows,
    "sketch": _sketch,
    "values": _values,
    "degrees": read_degrees,
    "nodes": lambda path: read_degrees([("a", "b")], nodes=path),
    "URL of a file": lambda path: read_profile(path.as_uri()),
    "reports": lambda path: tally_reports(KRR(alphabet=3, epsilon=1), path),
}


@pytest.mark.full
@each_of("reader", READERS)
def test_another_separator_is_refused(tmp_path: Path, reader: str) -> None:
    # Rows of any kind: what is refused is the header line, whatever follows.
    for ending, separator in ((".csv", ";"), (".csv", "\t"), (".csv", "|"), (".tsv", ","), (".tsv", ";")):
        path = tmp_path / f"secret{ending}"
        for rows in ("", f"hunter2{separator}x\n", '"hunter2\n'):
            path.write_text(f"word{separator}where\n{rows}")
            with pytest.raises(DataError) as caught:
                READERS[reader](path)
            assert f"has one column, by its header line, and {separator!r} in its name" in str(caught.value)
            assert f"give delimiter={separator!r}" in str(caught.value)
            assert caught.value.is_public
            assert not caught.value.may_tell_rows
            assert not [word for word in ("hunter2", "word", "where") if word in str(caught.value)]


@each_of(
    ("header", "other"),
    [
        ("label;count", ";"),
        ('"label";"count"', ";"),
        ('"label"\t"count"', "\t"),
        ("a b|c;d;e", ";"),
        ("\ufefflabel;count\r", ";"),
        ('"label;count"', ";"),
        ('"label,count"', ","),
    ],
)
def test_what_to_give_is_told(tmp_path: Path, header: str, other: str) -> None:
    (tmp_path / "a.csv").write_text(f"{header}\n")
    with pytest.raises(DataError) as caught:
        read_profile(tmp_path / "a.csv")
    assert f"`delimiter={other!r}`" in caught.value.sentence


@each_of("line", ["sep=;", '"sep=;"', "SEP=;", "sep=;\r"])
@each_of("said", [{}, {"delimiter": ";"}, {"format": "counts"}])
def test_a_line_for_excel_is_no_header(tmp_path: Path, line: str, said: dict[str, Any]) -> None:
    (tmp_path / "a.csv").write_text(f"{line}\nlabel;count\nA;1234\nB;12\n")
    with pytest.raises(DataError, match=r"begins with a line for Excel.*: remove that line") as caught:
        read_profile(tmp_path / "a.csv", **said)
    assert caught.value.is_public
    assert "`delimiter=';'`" in caught.value.sentence


@pytest.mark.full
@each_of(
    ("text", "said", "expected"),
    [
        ("label;count\nA;1234\nB;12\nC;12\n", {"delimiter": ";"}, [1234, 12, 12]),
        ("query;user\nA;1\nA;2\nB;1\n", {"delimiter": ";", "label": "query"}, [2, 1]),
        ("count\tprevalence\n1\t900\n2\t50\n", {"delimiter": "\t"}, [1] * 900 + [2] * 50),
        ("query;user\nA;1\nA;1\n", {"format": "events"}, [2]),
        ("query;user\nA;1\nA;1\n", {"format": "labels"}, [1, 2]),
        ("query;user\nA;1\nA;1\n", {"delimiter": ","}, [2]),
        ("query;user\nA;1\nA;1\n", {"header": False}, [1, 2]),
        ("sep=;\nA;1\nA;1\n", {"header": False, "delimiter": ",", "format": "events"}, [1, 2]),
        ('"query;user"\nA;1\nA;1\n', {"delimiter": ","}, [2]),
        # A comma says that there are two.
        ("a;b,query\n1,A\n2,A\n", {"label": "query"}, [2]),
    ],
)
def test_what_is_said_is_read(tmp_path: Path, text: str, said: dict[str, Any], expected: list[int]) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert read_profile(tmp_path / "a.csv", **said) == Profile.from_counts(expected)


def test_every_header_of_several_files_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("query\nA\n")
    (tmp_path / "b.csv").write_text("query;user\nA;1\n")
    with pytest.raises(DataError, match=r"b\.csv' has one column"):
        read_profile(f"{tmp_path}/*.csv")


def test_without_a_header_the_first_line_decides_nothing(tmp_path: Path) -> None:
    for first in ("a;b", "sep=;", "a"):
        (tmp_path / "a.csv").write_text(f"{first}\nx\nx\n")
        assert read_profile(tmp_path / "a.csv", header=False) == Profile.from_counts([1, 2])


def test_other_mistakes_keep_their_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"label"x\n')
    with pytest.raises(AnonhistError, match="is not a row with this delimiter and quoting"):
        read_profile(tmp_path / "a.csv")
