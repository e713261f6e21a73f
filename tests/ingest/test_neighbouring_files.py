"""One row more or less in a file changes what is read by what is promised and no more, or the file is refused."""

import io
import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonhist.errors import DataError
from anonhist.graphs.reading import read_degrees, read_edges
from anonhist.ingest import read_profile
from anonhist.ingest.delimited import label_blocks
from anonhist.profiles import Profile
from anonhist.profiles.distances import sorted_l1
from anonhist_testing.strategies import repeatable

pytestmark = pytest.mark.usefixtures("lent_duckdb")

# What has been taken for something else than a value: headers, comments, missing values, quotes, numbers, controls.
NASTY = [
    *("label", "count", "label,count", "prevalence", "#", "#a", "# a", "%", "//", "--", ";", "|", "\\", "\\N", "\\n"),
    *("NULL", "null", "NaN", "nan", "None", "N/A", "true", "True", "1", "1.0", "01", "1e0", "-0", "inf", "9" * 30),
    *(
        " ",
        " a",
        "a ",
        "a b",
        "\t",
        "a\tb",
        ",",
        "a,b",
        "'",
        "'a'",
        '"',
        '""',
        '"a"',
        'a"b',
        ' "a"',
        '",',
        "2024-01-01",
    ),
    *("\x00", "\x01", "a\x01b", "\x0b", "\x0c", "\x1a", "\x1f", "\x7f", "\x85", "\u2028", "\u2029", "\u200b"),
    *(
        "\ufeff",
        "\ufeffa",
        "\ufeff\ufeffa",
        "a\ufeff",
        "é",
        "e\u0301",
        "\U0001f642",
        "{}",
        "[]",
        '{"label":"x"}',
        "x" * 5000,
    ),
]
BREAKS = ["a\nb", "\n", "a\n", "\na,b\n", '"\n"', "a\r\nb", "\r", "a\rb"]
KEY = "0" * 32
FORMATS = ["csv", "csv.gz", "tsv", "tsv.zst", "jsonl", "jsonl.gz", "parquet", "labels", "labels.gz", "no header"]
Row = tuple[Any, ...]
Compress = Callable[[Path, bytes], None]

labels = st.sampled_from(["a", "b", "c", *NASTY, None])
broken = labels | st.sampled_from(BREAKS)


def _field(value: str | None, delimiter: str) -> str:
    text = value or ""
    quoted = any(sign in text for sign in (delimiter, '"', "\r", "\n"))
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _content(form: str, names: list[str], rows: list[Row]) -> bytes:
    """Return a file of text as the format says, written by nothing that reads it."""
    if form == "jsonl":
        lines = [
            json.dumps({name: value for name, value in zip(names, row, strict=True) if value is not None})
            for row in rows
        ]
    elif form == "labels":
        lines = [row[0] or "" for row in rows]
    else:
        delimiter = "\t" if form == "tsv" else ","
        lines = [] if form == "no header" else [delimiter.join(names)]
        lines += [delimiter.join(_field(value, delimiter) for value in row) for row in rows]
    return "".join(line + "\n" for line in lines).encode()


def _write(folder: Path, form: str, names: list[str], parts: list[list[Row]], compress: Compress) -> dict[str, Any]:
    """Write the parts as files of one pattern, and return what to tell the reader."""
    kind, _, packed = form.partition(".")
    ending = {"labels": "log", "no header": "csv"}.get(kind, kind)
    for number, rows in enumerate(parts):
        path = folder / f"part{number}.{ending}{'.' * bool(packed)}{packed}"
        if kind == "parquet":
            columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(names)}
            pq.write_table(pa.table(columns), path)
        elif packed:
            compress(path, _content(kind, names, rows))
        else:
            path.write_bytes(_content(kind, names, rows))
    if kind == "labels":
        return {"format": "labels"}
    return {"label": "column0", "header": False} if kind == "no header" else {"label": names[0]}


def _count_rows(form: str, rows: list[Row]) -> Profile:
    """Count what the rows say: an empty field of text is no value, an empty text of JSON or Parquet is one."""
    kind = form.partition(".")[0]
    values = [row[0] for row in rows]
    if kind in ("labels", "no header"):
        values = [value and value.lstrip("\ufeff") for value in values]
    if kind not in ("jsonl", "parquet"):
        values = [value or None for value in values]
    return Profile.from_counts(Counter(value for value in values if value is not None).values())


@st.composite
def neighbours(draw: st.DrawFn, row: st.SearchStrategy[Row]) -> tuple[list[list[Row]], list[list[Row]]]:
    """Draw files that have one row more than others; none is without a row, for then it has no columns either."""
    parts = draw(st.lists(st.lists(row, min_size=1, max_size=20), min_size=1, max_size=3))
    chosen = draw(st.integers(0, len(parts) - 1))
    place = draw(st.integers(0, len(parts[chosen])))
    more = [[*part] for part in parts]
    more[chosen].insert(place, draw(row))
    return parts, more


def _several(examples: int) -> Any:
    return settings(repeatable, max_examples=examples)


@pytest.mark.slow
@_several(6)
@given(data=st.data())
@pytest.mark.parametrize("form", FORMATS)
def test_one_row_more_is_one_item_more(compress: Compress, form: str, data: st.DataObject) -> None:
    # Lines cannot hold the end of a line, and the first of a table without a header says how many columns there are.
    values = labels if form.startswith(("labels", "no header")) else broken
    profiles = []
    for parts in data.draw(neighbours(st.tuples(values, labels))):
        with TemporaryDirectory() as folder:
            profiles.append(
                read_profile(f"{folder}/part*", **_write(Path(folder), form, ["label", "other"], parts, compress))
            )
        assert profiles[-1] == _count_rows(form, [row for part in parts for row in part])
    assert sorted_l1(*profiles) <= 1


@pytest.mark.slow
@_several(4)
@given(data=st.data(), bound=st.integers(1, 3), by_column=st.booleans())
@pytest.mark.parametrize("form", ["csv.gz", "tsv", "jsonl", "parquet"])
def test_all_rows_of_a_user_are_so_many_items_at_most(
    compress: Compress,
    form: str,
    data: st.DataObject,
    bound: int,
    by_column: bool,  # noqa: FBT001
) -> None:
    row = st.tuples(broken, st.sampled_from(["u", "v", "", " ", "NULL", "\ufeff", None]), labels)
    parts = data.draw(st.lists(st.lists(row, max_size=20), min_size=1, max_size=3))
    left = data.draw(st.sampled_from(["u", "v", " ", None]))
    profiles = []
    for kept in (parts, [[row for row in part if row[1] != left] or [(None, None, None)] for part in parts]):
        with TemporaryDirectory() as folder:
            kept_rows = [part or [(None, None, None)] for part in kept]
            said = _write(Path(folder), form, ["label", "user", "at"], kept_rows, compress)
            order = {"order_by": "at"} if by_column else {}
            profiles.append(
                read_profile(f"{folder}/part*", **said, user="user", max_per_user=bound, order_key=KEY, **order)
            )
    assert sorted_l1(*profiles) <= (0 if left is None else bound)


@pytest.mark.slow
@_several(6)
@given(data=st.data())
def test_a_label_replaced_by_none_takes_an_item_unless_it_is_counted(compress: Compress, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(broken, labels), min_size=1, max_size=20))
    place = data.draw(st.integers(0, len(rows) - 1))
    replaced = [(None, "other") if number == place else row for number, row in enumerate(rows)]
    profiles = []
    for keep_null in (True, False):
        for each in (rows, replaced):
            with TemporaryDirectory() as folder:
                said = _write(Path(folder), "jsonl", ["label", "other"], [each], compress)
                profiles.append(read_profile(f"{folder}/part*", **said, keep_null=keep_null))
    assert profiles[0].n == profiles[1].n == len(rows)
    assert sorted_l1(profiles[0], profiles[1]) <= 2
    assert profiles[2].n - profiles[3].n == (rows[place][0] is not None)
    assert sorted_l1(profiles[2], profiles[3]) <= 1


RAW = {
    "csv": [
        b"",
        b",",
        b"a",
        b"a,b,c",
        b"a\rb,c",
        b"\xff,b",
        b"\xef\xbb\xbfa,b",
        b"# a",
        b"#a,b",
        b'"a"b,c',
        b"a,b\r",
        b"label,other",
    ],
    "jsonl": [
        b"",
        b"5",
        b"null",
        b"[]",
        b'["a"]',
        b"{}",
        b"{",
        b'{"label":1.0}',
        b'{"Label":"a"}',
        b'{"label":[1,{"a":2}]}',
        b'{"label":"a","label":"b"}',
        b'{"count":1,"prevalence":2}',
        b'\xef\xbb\xbf{"label":"a"}',
        b'{"label":"\xff"}',
        b"# a",
    ],
    "labels": [
        b"",
        b"\xff",
        b"a\rb",
        b"a\r",
        b"\r",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\x00",
        b"a\x01b\x01",
        b"x" * 2_100_000,
    ],
}


@pytest.mark.slow
@_several(6)
@given(data=st.data())
@pytest.mark.parametrize("form", list(RAW))
def test_any_line_more_is_one_item_more_or_refused_for_itself(form: str, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(labels, labels), max_size=20))
    lines = _content(form, ["label", "other"], rows).split(b"\n")[:-1]
    first = int(form == "csv")
    place = data.draw(st.integers(first, len(lines)))
    raw = data.draw(st.sampled_from(RAW[form]))
    plain = _content(form, ["label", "other"], [("a", "b")]).split(b"\n")[:-1]
    found = [_read_lines(form, each) for each in (lines, [*lines[:place], raw, *lines[place:]], plain, [*plain, raw])]
    assert isinstance(found[0], Profile)
    assert isinstance(found[2], Profile)
    # Whether it is refused, and why, is a matter of that line.
    assert isinstance(found[1], Profile) == isinstance(found[3], Profile)
    if isinstance(found[1], Profile):
        assert sorted_l1(found[0], found[1]) <= 1
    else:
        assert found[1] == found[3]


def _read_lines(form: str, lines: list[bytes]) -> Profile | str:
    with TemporaryDirectory() as folder:
        path = Path(folder, f"a.{form}")
        # A file without a byte is refused.
        path.write_bytes(b"".join(line + b"\n" for line in lines) or b"\n")
        said: dict[str, str] = {"format": "labels"} if form == "labels" else {"label": "label"}
        try:
            return read_profile(path, **said)
        except DataError as error:
            return str(error)


_NODES = [
    "a",
    "b",
    "c",
    "é",
    "#",
    "%",
    "#a",
    "a#",
    '"',
    '"a"',
    '"a b"',
    '"#a"',
    "\x01",
    "\x00",
    "\ufeff",
    "\ufeffa",
    "1",
    "1.0",
    "\u2028",
    "\x85",
    "x" * 3000,
]
_SPACES = [" ", "\t", "  ", "\x0c", " \t "]
_edge_lines = st.lists(st.sampled_from(_NODES) | st.sampled_from(_SPACES), max_size=7).map("".join)


class _BrokenError(Exception):
    """A line has a quote that is not closed."""


def _ends(line: str) -> tuple[str, str] | None:
    words: list[str] = []
    rest = line.lstrip("\ufeff").strip("\t\f ")
    while rest and rest[:1] not in ("#%" if not words else "") and len(words) < 2:
        found = re.match(r'"((?:[^"]|"")*)"(?=[\t\f ]|$)|([^"\t\f ][^\t\f ]*)', rest)
        if found is None:
            raise _BrokenError
        words.append(found[2] or found[1].replace('""', '"'))
        rest = rest[found.end() :].lstrip("\t\f ")
    return None if len(words) < 2 or "" in words or words[0] == words[1] else (min(words), max(words))


@pytest.mark.slow
@_several(12)
@given(lines=neighbours(_edge_lines))  # type: ignore[arg-type]  # a row is a line here
def test_one_line_of_edges_more_is_one_edge_more(compress: Compress, lines: Any) -> None:
    profiles = []
    for parts in lines:
        with TemporaryDirectory() as folder:
            for number, part in enumerate(parts):
                content = "".join(line + "\n" for line in ["a b", *part]).encode()
                compress(Path(folder, f"part{number}.txt.gz"), content)
            source = f"{folder}/*.txt.gz"
            try:
                edges = {_ends(line) for part in parts for line in part} | {("a", "b")}
            except _BrokenError:
                for read in (read_edges, read_degrees):
                    with pytest.raises(DataError, match="begins with a quote"):
                        read(source)
                continue
            graph = read_edges(source)
            profiles.append(read_degrees(source).profile)
        expected = Counter(node for edge in edges if edge is not None for node in edge)
        assert profiles[-1] == Profile.from_counts(expected.values(), unit=profiles[-1].unit)
        assert graph.num_edges == len(edges - {None})
    assert len(profiles) < 2 or sorted_l1(*profiles) <= 2


@pytest.mark.slow
@_several(50)
@given(rows=st.lists(labels.map(lambda value: value or ""), max_size=30), block=st.integers(1, 40))
def test_a_stream_of_labels_is_split_by_lines_alone(rows: list[str], block: int) -> None:
    content = "".join(row + "\n" for row in rows).encode()
    found = []
    for data, offsets in label_blocks(io.BytesIO(content), block=block):
        found += [data[start:end].tobytes().decode() for start, end in pairwise(offsets)]
    assert found == [row.lstrip("\ufeff") for row in rows]
