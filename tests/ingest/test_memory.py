"""Tables and lists in memory: whatever their types, labels are text on the engine; plain labels need none."""

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Read = Callable[..., Profile]
Refused = Callable[..., str]

# Five labels: one twice, one null, three once.
TYPED = {
    "int": [1, 1, None, 10, -3, 0],
    "large": [2**53, 2**53, None, 2**53 + 1, 2**53 + 2, 2**53 + 3],
    "float": [1.0, 1.0, None, 1.5, 0.1, 0.1 + 0.2],
    "bool": [True, True, None, False],
    "date": [dt.date(2024, 1, 1), dt.date(2024, 1, 1), None, dt.date(2024, 1, 2), dt.date(1, 1, 1)],
    "time": [dt.datetime(2024, 1, 1, 0, 0, 0, n, tzinfo=dt.UTC) for n in (1, 1, 2, 3)],
    "decimal": [Decimal("1.00"), Decimal("1.00"), None, Decimal("1.01"), Decimal("0.10")],
    "text": ["a", "a", None, "A", "á", "a "],
    "nulls": [None, None, None],
}


@pytest.mark.slow
@each_of("kind", TYPED)
@each_of("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
@each_of("keep_null", [False, True])
def test_labels_of_every_type(make: Callable[..., Any], kind: str, keep_null: bool) -> None:  # noqa: FBT001
    values = pa.array(TYPED[kind])
    if make is pd.DataFrame:
        table: Any = pd.DataFrame({"label": values.to_pandas(types_mapper=pd.ArrowDtype), "other": "x"})
    else:
        table = make({"label": values if make is pa.table else pl.Series(TYPED[kind]), "other": ["x"] * len(values)})
    expected = Profile.from_labels(TYPED[kind], keep_null=keep_null)
    assert read_profile(table, label="label", keep_null=keep_null) == expected


@each_of("kind", TYPED)
def test_parquet_labels_of_every_type(tmp_path: Any, kind: str) -> None:
    pq.write_table(pa.table({"label": pa.array(TYPED[kind])}), tmp_path / "a.parquet")
    expected = Profile.from_labels(TYPED[kind])
    assert read_profile(tmp_path / "a.parquet") == expected


def test_dictionaries_and_bytes(tmp_path: Any) -> None:
    words = pa.array(["b", "a", "b", None]).dictionary_encode()
    blobs = pa.array([b"\xff", b"\xfe", b"\xff", None])
    for values in (words, blobs):
        table = pa.table({"label": values})
        pq.write_table(table, tmp_path / "a.parquet")
        assert read_profile(table).counts.tolist() == [1, 2]
        assert read_profile(tmp_path / "a.parquet").counts.tolist() == [1, 2]
    assert read_profile(pd.DataFrame({"x": pd.Categorical(["b", "a", "b", None])})).counts.tolist() == [1, 2]
    assert read_profile(pl.DataFrame({"x": ["b", "a", "b", None]}, schema={"x": pl.Categorical})).n == 3
    assert read_profile(pl.DataFrame({"x": ["b", "a"]}, schema={"x": pl.Enum(["a", "b", "c"])})).num_labels == 2


def test_labels_of_mixed_type_are_compared_as_text() -> None:
    values = [1, "1", 1.0, "1.0", None, float("nan")]
    for source in (values, np.array(values, dtype=object), pd.DataFrame({"x": pd.Series(values, dtype=object)})):
        # A whole number has one name, whatever holds it.
        assert read_profile(source) == Profile.from_prevalences({1: 1, 3: 1})


def test_columns_of_every_package() -> None:
    words = ["b", "a", "b", None]
    for source in (
        pd.Series(words),
        pl.Series(words),
        pl.Series("named", words),
        pa.array(words),
        pa.chunked_array([words, []]),
        pa.record_batch({"any": words}),
        pa.RecordBatchReader.from_batches(pa.schema({"x": pa.string()}), [pa.record_batch({"x": words})]),
        nw.from_native(pl.DataFrame({"x": words})),
        nw.from_native(pl.LazyFrame({"x": words})),
    ):
        assert read_profile(source) == Profile.from_prevalences({1: 1, 2: 1})


def generate() -> Iterator[object]:
    yield from ("b", "a", "b", None)


@each_of(
    "source",
    [
        ["b", "a", "b"],
        ("b", "a", "b", None),
        ["b", "a", "b", float("nan"), pd.NA, pd.NaT, np.float64("nan")],
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b", None], dtype=object),
        np.array(["b", "a", "b"], dtype=np.dtypes.StringDType()),
        np.array([1.5, 2.5, 1.5, np.nan]),
        np.array([2**63, 1, 2**63], dtype=np.uint64),
        np.array([True, False, True]),
        iter(["b", "a", "b"]),
        {"b": 2, "a": 1}.keys() | {"b"},
    ],
)
def test_plain_labels(source: Any) -> None:
    expected = {1: 2} if isinstance(source, set) else {1: 1, 2: 1}
    assert read_profile(source) == Profile.from_prevalences(expected)


def test_plain_labels_with_nulls() -> None:
    notes: list[str] = []
    assert read_profile(generate(), keep_null=True) == Profile.from_prevalences({1: 2, 2: 1})
    assert read_profile(generate(), notify=notes.append) == Profile.from_prevalences({1: 1, 2: 1})
    assert len(notes) == 1
    assert "1 item without a label was left out" in notes[0]
    assert read_profile([], unit=PrivacyUnit.label(max_count=2)).unit == PrivacyUnit.label(max_count=2)


@each_of("options", [{"label": "x"}, {"table": "x"}, {"format": "counts"}, {"format": "prevalences"}])
def test_plain_labels_have_no_columns(refuse: Refused, options: dict[str, Any]) -> None:
    assert "no columns" in refuse(UsageError, [3, 4], **options)


@pytest.mark.parametrize("source", [np.zeros((2, 2)), np.array(3)])
def test_arrays_have_one_dimension(refuse: Refused, source: Any) -> None:
    assert "one-dimensional" in refuse(UsageError, source)


def test_tables_are_not_changed() -> None:
    frame = pd.DataFrame({"user": ["u", "u"], "label": ["b", "a"]})
    before = frame.copy()
    read_profile(frame, label="label", user="user", max_per_user=1)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.slow
def test_users_of_every_type() -> None:
    for users in ([1, 1, None, 2], [1.5, 1.5, None, 2.5], [dt.date(2024, 1, day) for day in (1, 1, 2, 3)]):
        table = pa.table({"user": users, "label": ["a", "b", "c", "a"]})
        frame = table.to_pandas()
        kept = 2 + (None not in users)
        for source in (table, frame, pl.from_arrow(table)):
            assert read_profile(source, label="label", user="user", max_per_user=1).n == kept


@each_of(
    ("columns", "options"),
    [
        ("label, 'u' AS user", {"label": "label"}),
        ("label, 'u' AS user", {"label": "label", "user": "user", "max_per_user": 9}),
        ("label, 1 AS count", {}),
        ("label AS count, 1 AS prevalence", {}),
    ],
)
def test_a_relation_is_executed_once(columns: str, options: dict[str, Any]) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TEMP SEQUENCE executed")
        rows = "(SELECT CAST(range AS VARCHAR) AS label FROM range(1, 6) WHERE nextval('executed') > 0)"
        assert read_profile(connection.sql(f"SELECT {columns} FROM {rows}"), **options).n in (5, 15)  # noqa: S608
        assert connection.execute("SELECT currval('executed')").fetchone() == (5,)


def test_a_relation_stays_usable() -> None:
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT 'a' AS label")
        assert read_profile(relation) == read_profile(relation)
        assert relation.fetchall() == [("a",)]


def test_what_the_engine_says_is_not_repeated(refuse: Refused) -> None:
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT CAST(x AS INTEGER) AS label FROM (VALUES ('hunter2')) t(x)")
        assert refuse(DataError, relation, secret="hunter2")  # noqa: S106
