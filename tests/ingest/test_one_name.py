"""One value has one name on every engine: decimals, times, durations; lists and structures have none."""

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError
from anonhist.graphs.node_names import node_names
from anonhist.ingest import read_profile
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.holders import holder_of
from anonhist.ingest.naming import as_text
from anonhist.ingest.query import fetch
from anonhist.local.reading import opened_values
from anonhist.numeric.value_name import value_name
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

NEW_YORK = ZoneInfo("America/New_York")
# Both instants of the hour that is repeated in autumn, one with a fraction, one before 1970, and one missing.
INSTANTS = [1604208600, 1604212200, 1604212200.5, -0.25]
ZONED = [*(datetime.fromtimestamp(at, NEW_YORK) for at in INSTANTS), None]
IN_UTC = ["2020-11-01 05:30:00", "2020-11-01 06:30:00", "2020-11-01 06:30:00.500000", "1969-12-31 23:59:59.750000"]
TIMES = [*map(datetime.fromisoformat, IN_UTC), None]
DURATIONS = [timedelta(days=1), timedelta(0), -timedelta(milliseconds=1500), timedelta(microseconds=1), None]
SECONDS = ["86400", "0", "-1.5", "0.000001"]
DECIMALS = [*map(Decimal, ("1.50", "2.00", "100.00", "-0.50", "0.00", "12345678901234567890123456789.10")), None]
PLAIN = ["1.5", "2", "100", "-0.5", "0", "12345678901234567890123456789.1"]
COLUMNS: dict[str, tuple[list[Any], list[str], str]] = {
    "zoned": (ZONED, IN_UTC, "timestamptz"),
    "times": (TIMES, IN_UTC, "timestamp"),
    "durations": (DURATIONS, SECONDS, "interval"),
    "decimals": (DECIMALS, PLAIN, "numeric"),
}
_OPENED: dict[str, Any] = {"table": None, "format": None, "delimiter": None, "header": True}


def names(source: Any, column: str = "a", **said: Any) -> list[str]:
    """Return the names of a column's values, sorted; one is missing."""
    with holder_of(source, **_OPENED | said).open() as opened:
        found = [text for (text,) in fetch(opened.table.select(a=as_text(opened.table, column)))]
    assert sum(not isinstance(text, str) for text in found) == 1
    return sorted(text for text in found if isinstance(text, str))


@pytest.mark.parametrize("column", ["zoned", "times", "durations"])
def test_python_names_values_so(column: str) -> None:
    values, told, _ = COLUMNS[column]
    assert [value_name(value) for value in values] == [*told, None]


@pytest.mark.parametrize("nanoseconds", [False, True])
@pytest.mark.parametrize("column", COLUMNS)
def test_tables_in_memory_name_values_so(column: str, nanoseconds: bool) -> None:  # noqa: FBT001
    values, told, _ = COLUMNS[column]
    table = pa.table({"a": values})
    kinds = {"zoned": pa.timestamp("ns", "Asia/Tokyo"), "times": pa.timestamp("ns"), "durations": pa.duration("ns")}
    if nanoseconds and column in kinds:
        table = table.cast(pa.schema([("a", kinds[column])]))
    elsewhere = duckdb.connect()
    elsewhere.execute("SET TimeZone = 'America/New_York'")
    polars = pl.DataFrame(table)
    held = {
        "arrow": table,
        "polars": polars,
        "polars lazy": polars.lazy(),
        "duckdb": elsewhere.from_arrow(table),
        "ibis": ibis.memtable(table),
    }
    if column != "decimals":
        held |= {"pandas": table.to_pandas(), "pandas pyarrow": table.to_pandas(types_mapper=pd.ArrowDtype)}
    for kind, source in held.items():
        assert names(source) == sorted(told), kind


@pytest.mark.parametrize("kind", [pa.decimal128(10, 2), pa.decimal128(20, 10), pa.decimal256(50, 10)])
def test_pandas_names_decimals_as_python_does(kind: Any) -> None:
    numbers = [number for number in DECIMALS if number is None or abs(number) < 1000]
    table = pa.table({"a": pa.array(numbers, pa.decimal128(10, 2)).cast(kind)})
    told = sorted(value_name(number) or "" for number in table["a"].drop_null().to_pylist())
    assert names(table.to_pandas()) == told
    held = table.to_pandas(types_mapper=pd.ArrowDtype)
    assert names(held) == (sorted(PLAIN[:-1]) if kind.scale == 2 else told)
    with pytest.raises(DataError, match="whole numbers or text first"):
        node_names(held)
    assert node_names(held[1:3]).to_pylist() == ["2", "100"]


@pytest.mark.parametrize("column", COLUMNS)
def test_files_and_databases_name_values_so(column: str, tmp_path: Any, postgresql: str) -> None:
    values, told, kind = COLUMNS[column]
    table = pa.table({"a": values})
    if column != "durations":
        pq.write_table(table, tmp_path / "a.parquet")
        assert names(str(tmp_path / "a.parquet")) == sorted(told)
        pq.write_table(table.filter(pa.compute.is_valid(table["a"])), tmp_path / "b.parquet")
        with opened_values(str(tmp_path / "b.parquet"), "a") as batches:
            assert sorted(value for batch in batches for value in batch) == sorted(told)
    with duckdb.connect(tmp_path / "a.db") as connection:
        connection.from_arrow(table).create("t")
    assert names(f"duckdb:///{tmp_path / 'a.db'}", table="t") == sorted(told)
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS one_name")
        connection.execute(f"CREATE TABLE one_name (a {kind})")
        connection.cursor().executemany("INSERT INTO one_name VALUES (%s)", [(value,) for value in values])
    assert names(postgresql, table="one_name") == sorted(told)
    # In the zone of its session Ibis sets its own.
    mine = ibis.postgres.from_connection(psycopg.connect(postgresql, autocommit=True))
    assert names(mine.table("one_name")) == sorted(told)
    mine.disconnect()


def test_no_other_row_changes_how_a_time_of_pandas_is_written() -> None:
    for zone in (None, "UTC", "America/New_York"):
        for more in ([], ["2020-11-01 05:30:00.5"], ["2020-11-01 05:30:00.000000001"]):
            times = pd.to_datetime(["2020-11-01 05:30:00", *more], format="ISO8601").tz_localize("UTC").tz_convert(zone)
            assert "2020-11-01 05:30:00" in node_names(pd.Series(times)).to_pylist()


def test_other_types_of_pandas_are_named_value_by_value() -> None:
    identity = uuid.UUID(int=1)
    for column, name in (
        (pd.Series(pd.arrays.SparseArray([7.0, 1.5])), "7"),
        (pd.Series(pd.PeriodIndex(["2026-11", "2026-12"], freq="M")), "2026-11"),
        (pd.Series([identity, identity]), str(identity)),
    ):
        table = column.to_frame("a")
        with holder_of(table, **_OPENED).open() as opened:
            assert name in opened.table.select(a=as_text(opened.table, "a"))["a"].to_list()


@pytest.mark.full
def test_users_are_told_apart_by_value_and_times_come_in_order() -> None:
    table = pa.table(
        {"label": list("abcd"), "user": [ZONED[0], ZONED[0].astimezone(UTC), ZONED[1], None], "at": ZONED[:4]}
    )
    for source in (table, table.to_pandas(), pl.DataFrame(table), ibis.memtable(table)):
        read = read_profile(source, label="label", user="user", max_per_user=1, order_by="at")
        assert (read.n, read.num_labels) == (2, 2), type(source)
    spans = pa.table({"label": list("abc"), "user": [1, 1, 1], "at": DURATIONS[:3]})
    kept = Profile.from_counts([1, 1])
    for source in (spans, spans.to_pandas(), pl.DataFrame(spans)):
        read = read_profile(source, label="label", user="user", max_per_user=2, order_by="at")
        assert read.prevalences.tolist() == kept.prevalences.tolist()
        assert read_groups(source, label="label", by="at", groups=[86400, "0"])["86400"].n == 1


@each_of(
    "column",
    [
        pd.Series([[1], [1]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        pd.Series([[1], [1]], dtype=pd.ArrowDtype(pa.list_view(pa.int64()))),
        pd.Series([{"a": 1}] * 2, dtype=pd.ArrowDtype(pa.struct([("a", pa.int64())]))),
        pd.Series([[("a", 1)]] * 2, dtype=pd.ArrowDtype(pa.map_(pa.string(), pa.int64()))),
        pl.Series([[1], [1]]),
        pl.Series([{"a": 1}] * 2),
        pl.Series([[1], [1]], dtype=pl.Array(pl.Int64, 1)),
    ],
)
def test_lists_and_structures_of_pandas_and_polars_hold_no_names(column: Any) -> None:
    frame = (pd.DataFrame if isinstance(column, pd.Series) else pl.DataFrame)({"a": column})
    with pytest.raises(DataError, match=r"^A column of lists or structures cannot hold names: choose one of text or"):
        read_profile(frame)


def test_lists_that_an_engine_writes_in_one_way_are_names() -> None:
    assert read_profile(pa.table({"a": [[1], [1], [2]]})) == Profile.from_counts([2, 1])


def test_intervals_of_calendars_hold_no_names_in_pandas() -> None:
    column = pd.Series([(1, 2, 3)] * 2, dtype=pd.ArrowDtype(pa.month_day_nano_interval()))
    with pytest.raises(DataError, match=r"^Durations have no names on this engine: make a column of their seconds"):
        read_profile(column.to_frame("a"))


def test_intervals_of_a_month_have_thirty_days_where_duckdb_compares_them() -> None:
    rows = duckdb.sql(
        "SELECT unnest([INTERVAL '1 month', INTERVAL '30 days', INTERVAL '24 hours', INTERVAL '1 day']) AS a"
    )
    assert read_profile(rows) == Profile.from_counts([2, 2])
    assert read_profile(rows.select("a, a AS u"), label="a", user="u", max_per_user=9).n == 4


def test_infinite_times_of_duckdb_keep_their_names() -> None:
    rows = duckdb.sql("SELECT unnest(['infinity', '-infinity', NULL]::TIMESTAMPTZ[]) AS a")
    assert names(rows) == ["-infinity", "infinity"]


@pytest.mark.slow
def test_spark_names_values_so(spark: Any) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        micros = ", ".join(f"({int(at * 10**6)}L)" for at in INSTANTS)
        rows = spark.sql(
            f"SELECT timestamp_micros(at) AS zoned FROM VALUES {micros}, (NULL) AS rows (at)"  # noqa: S608  # ours
        )
        assert names(rows, "zoned") == sorted(IN_UTC)
        assert read_profile(rows, label="zoned") == Profile.from_counts([1, 1, 1, 1])
    finally:
        spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    durations = "(INTERVAL '1' DAY), (INTERVAL '0' DAY), (INTERVAL '-0 00:00:01.5' DAY TO SECOND), (NULL)"
    spans = spark.sql(f"SELECT a FROM VALUES {durations}, (INTERVAL '0 00:00:00.000001' DAY TO SECOND) AS rows (a)")  # noqa: S608
    assert names(spans) == sorted(SECONDS)
    hours = spark.sql("SELECT a FROM VALUES (INTERVAL '24' HOUR), (NULL) AS rows (a)")
    assert names(hours) == ["86400"]
    decimals = ", ".join(f"({value})" for value in PLAIN)
    numbers = spark.sql(f"SELECT CAST(a AS DECIMAL(38, 6)) AS a FROM VALUES {decimals}, (NULL) AS rows (a)")  # noqa: S608
    assert names(numbers) == sorted(PLAIN)
