"""JSON lines: the keys to read are said, so that no row decides how others are read."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.graphs.reading import read_degrees, read_edges
from anonhist.ingest import read_profile
from anonhist.ingest.files import file_table
from anonhist.local.reading import opened_values
from anonhist.profiles import Profile
from anonhist.sketches import DomainSketch
from anonhist.sketches.reading import update_sketch
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

pytestmark = pytest.mark.usefixtures("lent_duckdb")

ROWS = [{"label": f"w{number % 7}", "count": number + 1} for number in range(40)]
# Rows that brought other columns, other types or another kind of table when keys were looked for.
NASTY = [
    {"count": 3, "prevalence": 2},
    {"label": "x", "count": 5, "user": "u"},
    {"Label": "x"},
    {"LABEL": 1, "label": "x"},
    {"label": 1.0},
    {"label": {"a": 1}},
    {"label": [1, 2]},
    {"label": None},
    {"": "x"},
    {},
    {"prevalence": 1},
    {f"key{number}": number for number in range(300)},
]


def _write_rows(folder: Path, rows: list[Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 20, 40])
def test_a_row_changes_what_is_read_by_itself_alone(tmp_path: Path, place: int) -> None:
    expected = Counter(str(row["label"]) for row in ROWS)
    for row in NASTY:
        source = _write_rows(tmp_path, [*ROWS[:place], row, *ROWS[place:]])
        added = row.get("label")
        text = added if isinstance(added, str) else "1" if added == 1.0 else json.dumps(added, separators=(",", ":"))
        counts = expected + Counter(() if added is None else [text])
        assert read_profile(source, label="label") == Profile.from_counts(counts.values()), row


@pytest.mark.slow
def test_rows_are_events_unless_they_are_said_to_be_counted(tmp_path: Path) -> None:
    source = _write_rows(tmp_path, ROWS)
    assert read_profile(source, label="label").n == 40
    assert read_profile(source, format="counts").n == 40 * 41 // 2
    counted = _write_rows(tmp_path, [{"count": 2, "prevalence": 3}, {"prevalence": 1, "count": 1, "other": "x"}])
    assert read_profile(counted, format="prevalences").n == 7
    with pytest.raises(DataError, match="'count' must hold whole numbers"):
        read_profile(_write_rows(tmp_path, [*ROWS, {"label": "x"}]), format="counts")


def test_keys_must_be_said(tmp_path: Path) -> None:
    source = _write_rows(tmp_path, [{"hunter2": "a"}])
    sketch = DomainSketch(alphabet=["a"], epsilon=1)
    for read, option in (
        (lambda: read_profile(source), "labels (label)"),
        (lambda: read_profile(tmp_path / "*.jsonl"), "labels (label)"),
        (lambda: read_profile("https://example.org/a.ndjson.gz?x=1"), "labels (label)"),
        (lambda: update_sketch(sketch, source), "labels (label)"),
        (lambda: opened_values(str(source), None).__enter__(), "labels (label)"),
        (lambda: read_edges(source), "sources (origin)"),
        (lambda: read_degrees(source, origin="hunter2"), "targets (target)"),
    ):
        with pytest.raises(UsageError) as caught:
            read()
        assert str(caught.value) == f"JSON lines have no header: name the key that holds the {option}."
        assert not hasattr(caught.value, "for_operator")


def test_a_key_that_is_nowhere_leaves_all_rows_without_a_label(tmp_path: Path) -> None:
    told: list[str] = []
    assert read_profile(_write_rows(tmp_path, ROWS), label="lable", notify=told.append).n == 0
    assert told == ["40 items without a label were left out (`keep_null=True` counts them as one label)."]


@pytest.mark.slow
def test_keys_are_compared_exactly(tmp_path: Path) -> None:
    keys = ["a b", 'a"b', "a'b", "a.b", "é", "order", "A", "x" * 300]
    for key in keys:
        rows = [{other: "x" for other in keys if other != key}, {key: "y"}, {key.upper() + "?": "z"}]
        assert read_profile(_write_rows(tmp_path, rows), label=key).n == 1
    rows = [{"label": "a", "Label": "u", "Label_2": "v"}, {"label": "b", "Label": "u"}, {"LABEL": "c"}, None]
    source = _write_rows(tmp_path, rows * 100)
    for user, kept in (("Label", 1), ("Label_2", 1), ("LABEL", 0)):
        assert read_profile(source, label="label", user=user, max_per_user=1).n == kept


@pytest.mark.slow
def test_users_and_orders_are_keys_too(tmp_path: Path) -> None:
    rows = [{"label": "b", "user": 1, "at": "1"}, {"at": "2", "user": "1", "label": "a"}, {"label": "c"}]
    source = _write_rows(tmp_path, rows)
    assert read_profile(source, label="label", user="user", max_per_user=1).n == 1
    assert read_profile(source, label="label", user="user", max_per_user=1, order_by="at").n == 1
    assert read_profile(source, label="label", user="label", max_per_user=1).n == 3


def test_edges_and_nodes_are_keys_too(tmp_path: Path) -> None:
    source = _write_rows(tmp_path, [{"weight": 1}, {"u": "a", "v": "b", "w": 1}, {"v": "c", "u": "a"}])
    assert read_degrees(source, origin="u", target="v").profile.counts.tolist() == [1, 2]
    assert read_edges(source, origin="u", target="v").num_edges == 2
    listed = tmp_path / "nodes.jsonl"
    listed.write_text('{"name":"z"}\n{"node":"a"}\n{"node":"b"}\n{"node":"c","name":"q"}\n{"node":"d"}\n')
    assert read_edges(source, origin="u", target="v", nodes=listed).num_nodes == 4


@each_of(
    "text",
    [
        '{"label":"hunter2","label":"b"}\n',
        "5\n",
        '["hunter2"]\n',
        "[]\n",
        "true\n",
        '"hunter2"\n',
        '{"label":"hunter2"} {"label":"b"}\n',
        '{"label":"hunter2"},\n',
        '{"label":{"\\x":"hunter2"}}\n',
        '{"label":"\x01hunter2"}\n',
        '{"label":01}\n',
        "# hunter2\n",
        '{"label":\n"hunter2"}\n',
    ],
)
def test_lines_that_are_no_object_are_refused(tmp_path: Path, text: str) -> None:
    path = _write_rows(tmp_path, ROWS)
    path.write_text(path.read_text() + text)
    with pytest.raises(DataError, match="not in JSON lines format") as caught:
        read_profile(path, label="label")
    assert "hunter2" not in str(caught.value)


@each_of(
    ("text", "told"),
    [
        ('{"label":"\\ud83dhunter2"}\n', "contains half of a surrogate pair"),
        ('{"other":"\\ude00hunter2","label":"a"}\n', "contains half of a surrogate pair"),
        ('[{"label":"hunter2"},{"label":"b"}]\n', "an array, or an object over several lines, must become"),
        ('[\n{"label":"hunter2"},\n{"label":"b"}\n]\n', "an array, or an object over several lines, must become"),
        ('"gzip hunter2 utf-8"\n', "each line must be one object with unique keys"),
    ],
)
@pytest.mark.parametrize("place", [0, 300])
def test_what_is_wrong_with_a_line_is_said(tmp_path: Path, place: int, text: str, told: str) -> None:
    (tmp_path / "rows.json").write_text('{"label":"a"}\n' * place + text + '{"label":"a"}\n' * (300 - place))
    with pytest.raises(DataError, match=told) as caught:
        read_profile(tmp_path / "rows.json", label="label")
    assert "hunter2" not in str(caught.value)


def test_nan_is_missing_and_infinity_is_refused_as_in_frames(tmp_path: Path) -> None:
    # Python's json writes both, though JSON has neither.
    numbers = [1.5, float("nan"), 2.0, -float("nan")] * 100
    source = _write_rows(tmp_path, [{"label": number, "user": number} for number in numbers])
    frame = pd.DataFrame({"label": numbers, "user": numbers})
    for said in ({}, {"keep_null": True}):
        assert read_profile(source, label="label", **said) == read_profile(frame, label="label", **said)
    assert read_profile(source, label="label") == Profile.from_counts([100, 100])
    assert read_profile(source, label="label", user="user", max_per_user=3).n == 6
    # A text is a label whatever it spells.
    for word in ("NaN", "Infinity", "-Infinity", "inf"):
        assert read_profile(_write_rows(tmp_path, [{"label": word}] * 200), label="label").n == 200
    for number in (float("inf"), -float("inf"), 1e300):
        for table in (
            _write_rows(tmp_path, [{"label": 1}] * 200 + [{"label": number}]),
            pd.DataFrame({"label": [number]}),
        ):
            with pytest.raises(DataError, match="cannot represent every whole number"):
                read_profile(table, label="label")
    # Within a list it is a part of a text.
    assert read_profile(_write_rows(tmp_path, [{"label": [float("nan")]}] * 2), label="label").n == 2


@pytest.mark.parametrize(("text", "value"), [("null\n", None), ('{"label":"a","x":1,"x":2}\n', "a"), ("\r\n\t\n", ...)])
def test_lines_that_are_read_for_themselves(tmp_path: Path, text: str, value: Any) -> None:
    path = _write_rows(tmp_path, [{"label": "first"}])
    path.write_text(text + path.read_text())
    with duckdb.connect() as connection:
        named = file_table(connection, str(path), format=None, delimiter=None, header=True, keys=["label"])
        relation = named.table.to_native()
        assert sorted(relation.fetchall(), key=repr) == sorted(
            [("first",)] + ([] if value is ... else [(value,)]), key=repr
        )


def test_nodes_keep_their_names_when_a_row_lacks_an_end(tmp_path: Path) -> None:
    # As pandas writes them: one missing value makes floats of a whole column.
    edges = [{"a": number, "b": (number + 1) % 50} for number in range(50)]
    floats = [{"a": float(number["a"]), "b": number["b"]} for number in edges]
    whole = read_edges(_write_rows(tmp_path, edges), origin="a", target="b")
    assert (whole.num_nodes, whole.num_edges) == (50, 50)
    one_more = read_edges(_write_rows(tmp_path, [*floats, {"a": None, "b": 3}]), origin="a", target="b")
    assert sorted(one_more.identities) == sorted(whole.identities)
    assert one_more.num_edges == 50
    sketch, other = (DomainSketch(alphabet=list(map(str, range(50))), epsilon=20, source=SeededSource(1)) for _ in "ab")
    update_sketch(sketch, _write_rows(tmp_path, edges), label="a")
    update_sketch(other, _write_rows(tmp_path, [*floats, {"a": None}]), label="a")
    assert (sketch.counters == other.counters).all()


@pytest.mark.parametrize("number", ["9007199254740992.0", "-1e300", "1e400"])
def test_floats_that_may_be_different_whole_numbers_are_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"label":1}}\n{{"label":{number}}}\n')
    with pytest.raises(DataError, match=r"^The input holds floats of 2\^53 and more, .* or text\.$"):
        read_profile(path, label="label")
