"""Labels of every kind of source into a sketch: counted as the sketch itself counts them, and no others."""

import gzip
import io
import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.privacy import PrivacyUnit
from anonhist.sketches import DomainSketch, HashedSketch, Sketch
from anonhist.sketches import reading as module
from anonhist.sketches.reading import check_sources, update_sketch
from anonhist_testing.cases import each_of
from anonhist_testing.user_bound import kept_items

pytestmark = pytest.mark.usefixtures("lent_duckdb")

KEY = "1" * 32
DOMAIN = ("cat", "Käfer", 'a,"b', "1.0", "1", " cat", "dog")
LABELS = ["cat", "Käfer", 'a,"b', "1.0", "1", " cat", "cat", "cat", "1", "dog"] * 7
TABLE = pa.table({"pet": LABELS, "n": list(range(1, 71)), "who": ["u", "v"] * 35})


def _sketch(**given: Any) -> DomainSketch:
    return DomainSketch(alphabet=DOMAIN, epsilon=1, **given)


def _sketch_counts(source: Any, *, sketch: Sketch | None = None, **options: Any) -> dict[str, int]:
    """Return how often each label was counted."""
    made = _sketch() if sketch is None else sketch
    before = made.counters.copy()
    update_sketch(made, source, **options)
    return {label: n for label, n in zip(DOMAIN, (made.counters - before).tolist(), strict=True) if n}


def _csv(separator: str) -> bytes:
    sink = io.BytesIO()
    TABLE.to_pandas().to_csv(sink, sep=separator, index=False)
    return sink.getvalue()


def _file(folder: Path, name: str) -> str:
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(TABLE, path)
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()))
    elif name.endswith(".db"):
        with sqlite3.connect(path) as connection:
            TABLE.to_pandas().to_sql("pets", connection, index=False)
        return f"sqlite:///{path}"
    elif name.endswith(".duckdb"):
        with duckdb.connect(str(path)) as database:
            database.from_arrow(TABLE).create("pets")
        return f"duckdb:///{path}"
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(_csv(",")))
    elif name.endswith(".zst"):
        path.write_bytes(pa.compress(_csv(","), codec="zstd", asbytes=True))
    else:
        path.write_bytes(_csv("\t" if name.endswith(".tsv") else ","))
    return str(path)


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.csv.zst", "a.db", "a.duckdb"]
)
def test_files_are_counted(tmp_path: Path, name: str) -> None:
    given = {"table": "pets"} if "d" in name[2:4] else {}
    source = _file(tmp_path, name)
    assert _sketch_counts(source, label="pet", **given, count="none") == Counter(LABELS)
    totals: Counter[str] = Counter()
    for label, n in zip(LABELS, range(1, 71), strict=True):
        totals[label] += n
    assert _sketch_counts(source, label="pet", count="n", **given) == totals


@each_of(
    "make", [lambda: TABLE, TABLE.to_pandas, lambda: pl.from_arrow(TABLE), lambda: pl.from_arrow(TABLE).lazy()]  # type: ignore[union-attr]
)  # fmt: skip
def test_tables_in_memory_are_counted(make: Callable[[], Any]) -> None:
    assert _sketch_counts(make(), label="pet", count="none") == Counter(LABELS)
    assert _sketch_counts(make(), label="n", ignore_unknown=True) == {"1": 1}


@pytest.mark.parametrize("name", ["a.csv", "a.csv.zst", "a.parquet", "a.duckdb", "table"])
def test_no_engine_of_ours_may_spill_what_a_sketch_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    asked: list[dict[str, Any]] = []
    source = TABLE if name == "table" else _file(tmp_path, name)
    given = {"count": "none"} | ({"table": "pets"} if name == "a.duckdb" else {})
    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *args, **options: asked.append(options) or connect(*args, **options))
    sketch = _sketch(unit=PrivacyUnit.user(max_items=100))
    assert _sketch_counts(source, sketch=sketch, label="pet", user="who", **given) == Counter(LABELS)
    assert [options["config"]["temp_directory"] for options in asked] == [""]


def test_sqlite_keeps_its_temporary_tables_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    batches = module.record_batches

    def spy(query: Any, rows: int) -> Any:
        kept.append(query.to_native().get_backend().con.execute("PRAGMA temp_store").fetchone()[0])
        return batches(query, rows)

    monkeypatch.setattr(module, "record_batches", spy)
    assert _sketch_counts(_file(tmp_path, "a.db"), label="pet", table="pets", count="none") == Counter(LABELS)
    assert kept == [2]


def test_hashed_sketches_count_what_they_count_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Several batches, the last one not full.
    monkeypatch.setattr(module, "_ROWS", 1000)
    labels = [f"label {number % 937}" for number in range(10_500)]
    pq.write_table(pa.table({"pet": labels}), tmp_path / "a.parquet")
    sketch = HashedSketch(buckets=500, epsilon=1, key=b"k", sampling_rate="1/2")
    mine = Sketch.from_parts(
        sketch.addresses,
        unit=sketch.unit,
        relation=sketch.relation,
        noise=sketch.noise,
        counters=sketch.counters.copy(),
    )
    heard: list[float] = []
    update_sketch(sketch, tmp_path / "a.parquet", counted=heard.append)
    mine.update(labels)
    assert sketch == mine
    assert heard == sorted(heard)
    assert heard[-1] == 10_500


def test_a_pattern_is_one_source(tmp_path: Path) -> None:
    for number in range(3):
        pq.write_table(pa.table({"pet": ["cat"]}), tmp_path / f"a{number}.parquet")
    assert _sketch_counts(f"{tmp_path}/*.parquet") == {"cat": 3}


def test_rows_without_a_label_are_left_out(tmp_path: Path) -> None:
    table = pa.table({"pet": ["cat", None, "dog", None], "n": [2, 50, 3, 60]})
    pq.write_table(table, tmp_path / "a.parquet")
    told: list[str] = []
    as_events = _sketch_counts(tmp_path / "a.parquet", label="pet", count="none", notify=told.append)
    assert as_events == {"cat": 1, "dog": 1}
    assert _sketch_counts(tmp_path / "a.parquet", label="pet", count="n", notify=told.append) == {"cat": 2, "dog": 3}
    assert told == 2 * ["2 rows counted; 2 without a label were left out."]
    assert _sketch_counts(pa.table({"pet": pa.array([], pa.string())})) == {}
    assert _sketch_counts(pa.table({"pet": pa.array([None, None], pa.string())})) == {}


@each_of("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())])
def test_arrow_texts_of_every_kind_are_counted(kind: pa.DataType) -> None:
    column = pa.array([None, "dog", "Käfer", "cat", "dog"], pa.string()).cast(kind)
    assert _sketch_counts(pa.table({"pet": column})) == {"dog": 2, "Käfer": 1, "cat": 1}
    # A slice begins inside of its buffers.
    batch = pa.record_batch({"label": pa.array(["x", "cat", "dog", "y"], pa.string())}).slice(1, 2)
    sketch = _sketch()
    before = sketch.counters.copy()
    module._Counting(sketch, None, ignore_unknown=False).add_batch(batch, None)
    assert (sketch.counters - before).tolist() == [1, 0, 0, 0, 0, 0, 1]


def test_a_table_of_labels_and_counts_is_counted_already() -> None:
    table = pa.table({"label": ["cat", "dog", "cat"], "count": [3, 4, 5]})
    for given in ({}, {"label": "label"}, {"label": "label", "count": "count"}, {"count": "count"}):
        assert _sketch_counts(table, **given) == {"cat": 8, "dog": 4}
    assert _sketch_counts(table, label="label", count="none") == {"cat": 2, "dog": 1}
    renamed = table.rename_columns(["pet", "Reads"]).append_column("x", table.column(0))
    with pytest.raises(UsageError, match="Column 'Reads' may hold the number of items of each row: give count='Reads'"):
        _sketch_counts(renamed, label="pet")
    assert _sketch_counts(renamed, label="pet", count="Reads") == {"cat": 8, "dog": 4}
    assert _sketch_counts(renamed, label="pet", format="events") == {"cat": 2, "dog": 1}


def test_zeros_count_nothing_also_of_labels_that_are_not_listed() -> None:
    table = pa.table({"label": ["cat", "no pet", "cat", None], "count": [3, 0, 0, 0]})
    assert _sketch_counts(table) == {"cat": 3}


@each_of("bad", ["-731", "7.5", "zebra", "", "9223372036854775808"])
def test_what_is_no_count_is_refused(tmp_path: Path, bad: str) -> None:
    (tmp_path / "a.csv").write_text(f"pet,n\ncat,5\ndog,{bad}\n")
    with pytest.raises(DataError, match="'n' must hold whole numbers from 0") as caught:
        _sketch_counts(tmp_path / "a.csv", label="pet", count="n")
    assert not bad or bad not in str(caught.value)


def test_labels_outside_of_the_domain_are_refused_or_left_out() -> None:
    table = pa.table({"pet": ["cat", "zebra"]})
    with pytest.raises(DataError, match="not in the sketch's domain") as caught:
        _sketch_counts(table)
    assert "zebra" not in str(caught.value)
    assert _sketch_counts(table, ignore_unknown=True) == {"cat": 1}


def _users(bound: int) -> DomainSketch:
    return _sketch(unit=PrivacyUnit.user(max_items=bound))


@pytest.mark.parametrize("name", ["csv", "parquet", "polars"])
def test_no_more_rows_of_a_user_count_than_the_sketch_says(tmp_path: Path, name: str) -> None:
    table = pa.table(
        {
            "pet": ["dog", "cat", "Käfer", "cat", "dog", None, "1", "dog"],
            "who": ["u", "u", "u", "v", None, "v", "v", "w"],
        }
    )
    source: Any = pl.from_arrow(table)
    if name == "csv":
        table.to_pandas().to_csv(tmp_path / "a.csv", index=False)
        source = tmp_path / "a.csv"
    elif name == "parquet":
        pq.write_table(table, tmp_path / "a.parquet")
        source = tmp_path / "a.parquet"
    # Who has no name is nobody.
    rows = [(who, pet, None) for pet, who in zip(*table.to_pydict().values(), strict=True)]
    for bound, num_kept in ((1, 3), (2, 5), (9, 6)):
        kept = _sketch_counts(source, sketch=_users(bound), label="pet", user="who", order_key=KEY)
        assert kept == kept_items(rows, bound=bound, key=KEY)
        assert sum(kept.values()) == num_kept


def test_no_more_rows_of_a_user_count_in_many_random_tables() -> None:
    rng = np.random.default_rng(5)
    for bound in (1, 2, 5):
        users, labels = rng.integers(0, 40, 600), rng.integers(0, len(DOMAIN), 600)
        table = pa.table({"pet": [DOMAIN[each] for each in labels], "who": users})
        expected: Counter[str | None] = Counter()
        for user in range(40):
            rows = [(str(user), DOMAIN[each], None) for each in labels[users == user]]
            expected.update(kept_items(rows, bound=bound, key=KEY))
        assert _sketch_counts(table, sketch=_users(bound), label="pet", user="who", order_key=KEY) == expected


def test_users_are_bounded_whatever_their_column_is_called() -> None:
    table = pa.table({"label": ["cat", "cat", "dog"], "count": [7, 7, 8]})
    assert _sketch_counts(table, sketch=_users(1), user="count") == {"cat": 1, "dog": 1}


def test_users_and_units_belong_together() -> None:
    for given, sketch, reason in (
        ({"user": "who"}, _sketch(), "protects single items"),
        ({}, _users(2), r"name the column of users \(user\)"),
        ({"user": "who", "count": "n"}, _users(2), "the items of a user cannot be bounded"),
    ):
        with pytest.raises(UsageError, match=reason):
            _sketch_counts(TABLE, sketch=sketch, label="pet", **given)
    check_sources(_users(2), ["*.csv"])
    with pytest.raises(UsageError, match="a user may be in several sources"):
        check_sources(_users(2), ["a.csv", "b.csv"])


def test_a_file_counts_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("pet\ncat\n")
    (tmp_path / "link.csv").symlink_to("a.csv")
    check_sources(_sketch(), [f"{tmp_path}/a.csv", "-", "nowhere.csv"])
    for sources in (["-", "-"], [f"{tmp_path}/a.csv", f"{tmp_path}/link.csv"], [f"{tmp_path}/*.csv"] * 2):
        with pytest.raises(UsageError, match="A file is named twice"):
            check_sources(_sketch(), sources)


@each_of(
    ("source", "given", "kind", "reason"),
    [
        (TABLE, {}, UsageError, r"Name the column that holds the labels \(label\); the columns are 'pet', 'n', 'who'"),
        (TABLE, {"label": "x"}, DataError, "no column 'x' to use as label"),
        (TABLE, {"label": "pet", "count": "x"}, DataError, "no column 'x' to use as count"),
        (["cat"], {}, UsageError, "give labels that are in memory to sketch.update"),
        (np.array(["cat"]), {}, UsageError, "give labels that are in memory to sketch.update"),
        ({"cat": 1}, {}, UsageError, "give labels that are in memory to sketch.update"),
        (object(), {}, UsageError, "Only files and tables"),
        ("nowhere.csv", {}, DataError, "no file 'nowhere.csv'"),
        ("-", {}, UsageError, r"\(format='labels'\), or CSV with a header line .* \(label\)"),
        ("-", {"count": "n"}, UsageError, "Give the format of standard input"),
        ("-", {"table": "t", "format": "labels"}, UsageError, "have no columns"),
        ("-", {"delimiter": ";", "format": "labels"}, UsageError, "have no columns"),
        ("-", {"label": "pet", "format": "labels"}, UsageError, "have no columns"),
        ("-", {"count": "n", "format": "uniq"}, UsageError, "have no columns"),
        (TABLE, {"count": "n", "format": "events"}, UsageError, "leave one of the two out"),
        (TABLE, {"count": "none", "format": "counts"}, UsageError, "leave one of the two out"),
        (TABLE, {"count": "n", "label": "n"}, UsageError, "cannot hold both labels and counts"),
        (pa.table({"count": [1], "prevalence": [1]}), {}, UsageError, "Prevalences do not say which label"),
        ("-", {"format": "prevalences"}, UsageError, "format must be one of events, labels, counts"),
        (Counter(cat=1), {}, UsageError, "Name what the mapping holds"),
        (pd.Series(["cat"]).value_counts(), {}, UsageError, "This Series"),
    ],
)  # fmt: skip
def test_wrong_calls_are_refused(source: Any, given: dict[str, Any], kind: type[AnonhistError], reason: str) -> None:
    sketch = _sketch()
    before = sketch.counters.copy()
    with pytest.raises(kind, match=reason):
        update_sketch(sketch, source, **given)
    assert (sketch.counters == before).all()


def _standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    # It has no file that an engine, or whoever copies it, could open.
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))


def test_data_that_are_counted_are_counted() -> None:
    counts = Counter(cat=2, dog=1)
    for source in (counts, pd.Series([*counts.elements()]).value_counts()):
        assert _sketch_counts(source, format="counts") == counts


def test_standard_input_is_a_label_per_line(monkeypatch: pytest.MonkeyPatch) -> None:
    _standard_input(monkeypatch, 'cat\r\n\n cat\nKäfer\n"cat"\n1.0\n\n\n1'.encode())
    told: list[str] = []
    counted = _sketch_counts("-", format="labels", ignore_unknown=True, notify=told.append)
    assert counted == {"cat": 1, " cat": 1, "Käfer": 1, "1.0": 1, "1": 1}
    assert told == ["6 rows counted; 3 without a label were left out."]


def test_standard_input_that_is_no_text_or_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _standard_input(monkeypatch, b"cat\n\xff\n")
    with pytest.raises(DataError, match="not UTF-8"):
        _sketch_counts("-", format="labels")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="closed"):
        _sketch_counts("-", format="labels")


def test_lines_are_counted_as_rows_are(monkeypatch: pytest.MonkeyPatch) -> None:
    _standard_input(monkeypatch, "".join(f"{label}\n" for label in LABELS).encode())
    assert _sketch_counts("-", format="labels") == _sketch_counts(pd.DataFrame({"pet": LABELS})) == Counter(LABELS)


def test_equal_rows_of_users_of_postgresql_count_one_by_one(postgresql: str) -> None:
    rows = [(f"u{at % 3}", DOMAIN[at % 2]) for at in range(60)] + [("few", "dog")] * 2
    with psycopg.connect(postgresql, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE equal_rows (who text, pet text)")
        cursor.executemany("INSERT INTO equal_rows VALUES (%s, %s)", rows)
    told: list[str] = []
    sketch = _sketch(unit=PrivacyUnit.user(max_items=7))
    options: dict[str, Any] = {"label": "pet", "user": "who", "order_key": KEY, "notify": told.append}
    counts = _sketch_counts(postgresql, sketch=sketch, table="equal_rows", **options)
    assert counts == dict(kept_items([(who, pet, None) for who, pet in rows], bound=7, key=KEY))
    assert told == ["23 rows counted."]
