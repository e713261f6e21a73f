"""Conditions on columns of all types: whole numbers of all widths, times in all units, categories, collations."""

import operator
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import UsageError
from anonhist.ingest.holders import holder_of
from anonhist.ingest.query import fetch
from anonhist.ingest.where import filtered
from anonhist.profiles.where import parse_where
from anonhist_testing.cases import each_of

SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LARGEST = "9" * 38
TABLE = pa.table(
    {
        "id": ["a", "b", "none"],
        "i8": pa.array([-128, 127, None], pa.int8()),
        "u64": pa.array([0, 2**64 - 1, None], pa.uint64()),
        "f32": pa.array([0.1, float("inf"), None], pa.float32()),
        "s": pa.array([0, 1, None], pa.timestamp("s")),
        "ms": pa.array([0, 1, None], pa.timestamp("ms")),
        "us": pa.array([0, 1, None], pa.timestamp("us")),
        "ns": pa.array([0, 1, None], pa.timestamp("ns")),
        "zoned": pa.array([0, 3600 * 10**6, None], pa.timestamp("us", "America/New_York")),
        "zoned_ns": pa.array([0, 1, None], pa.timestamp("ns", "Asia/Tokyo")),
        "day": pa.array([date(1969, 12, 31), date(9999, 12, 31), None]),
        "clock": pa.array([time(1), time(2), None]),
        "lists": pa.array([[1], [2], None]),
        "kind": pa.array(["Z", "a", None]).dictionary_encode(),
        "d38": pa.array([Decimal(LARGEST), Decimal(f"-{LARGEST}"), None], pa.decimal128(38, 0)),
        "d2": pa.array([Decimal("0.10"), Decimal("-0.01"), None], pa.decimal128(5, 2)),
        "bytes": pa.array([b"a", b"b", None]),
        "nothing": pa.nulls(3),
    }
)
HOLD: dict[str, Callable[[], Any]] = {
    "arrow": lambda: TABLE,
    "polars": lambda: pl.DataFrame(TABLE),
    "polars lazy": lambda: pl.DataFrame(TABLE).lazy(),
    "duckdb relation": lambda: duckdb.connect().from_arrow(TABLE),
    "ibis memtable": lambda: ibis.memtable(TABLE),
    "pandas of arrow": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas": TABLE.to_pandas,
}
START = "1970-01-01"
KEPT = [
    ("i8 = 127", "b"),
    ("i8 < 127.5", "ab"),
    ("i8 > 300", ""),
    ("i8 <> 300", "ab"),
    ("i8 >= -128", "ab"),
    ("i8 in (-128, 500, 1.5)", "a"),
    ("u64 = 18446744073709551615", "b"),
    ("u64 >= 9223372036854775808", "b"),
    ("u64 > -1", "ab"),
    ("u64 < 0.5", "a"),
    # In double precision it is more than a tenth.
    ("f32 > 0.1", "ab"),
    ("f32 = 0.1", ""),
    ("f32 < 1", "a"),
    (f"s = '{START}'", "a"),
    (f"s > '{START} 00:00:00.5'", "b"),
    (f"s <= '{START} 00:00:00.5'", "a"),
    (f"s = '{START} 00:00:01'", "b"),
    (f"ms = '{START} 00:00:00.0005'", ""),
    (f"ms < '{START} 00:00:00.0005'", "a"),
    (f"us = '{START}T00:00:00.000001'", "b"),
    (f"ns > '{START}'", "b"),
    ("ns < '9999-12-31'", "ab"),
    ("ns > '9999-12-31'", ""),
    ("ns <> '0001-01-01'", "ab"),
    (f"zoned = '{START}'", "a"),
    (f"zoned >= '{START} 01:00'", "b"),
    (f"zoned_ns > '{START}'", "b"),
    ("day < '1970-01-01'", "a"),
    ("day = '9999-12-31'", "b"),
    ("kind >= 'Z'", "ab"),
    ("kind < 'a'", "a"),
    (f"d38 = {LARGEST}", "a"),
    (f"d38 >= -{LARGEST}", "ab"),
    ("d2 = 0.1", "a"),
    ("d2 < 0.001", "b"),
    ("d2 < 1000", "ab"),
    ("d2 > 0.099", "a"),
    ("clock is not null and lists is not null and bytes is not null", "ab"),
    ("nothing = 5 or nothing <> 'a' or not nothing = true or nothing is not null", ""),
]


def kept(source: Any, condition: str) -> str:
    with holder_of(source).open() as opened:
        names = [name for (name,) in fetch(filtered(opened, parse_where(condition)).table.select("id"))]
    return "".join(sorted(name for name in names if name != "none"))


@pytest.mark.parametrize("name", HOLD)
def test_values_of_each_type_are_compared_alike(name: str) -> None:
    source = HOLD[name]()
    assert {condition: kept(source, condition) for condition, _ in KEPT} == dict(KEPT)
    # What is between two whole numbers near 2^64, pandas has no place for: beside a missing one they are floats.
    assert kept(source, "u64 > 18446744073709551614") == ("" if name.startswith("pandas") else "b")
    for condition in ("clock = '01:00:00'", "lists = 1", "bytes = 'a'"):
        if name.startswith("pandas"):
            assert not kept(source, condition)
            continue
        with pytest.raises(UsageError, match="holds values of another type: only is null and is not null apply"):
            kept(source, condition)


def test_whole_numbers_of_pandas_are_compared_as_beside_a_missing_one() -> None:
    numbers = [2**53 + 1, 2**53, 7]
    for condition in ("n = 9007199254740993", "n > 9007199254740992", "n <= 9007199254740992"):
        whole = pd.DataFrame({"id": ["a", "b", "c"], "n": numbers})
        beside = pd.DataFrame({"id": ["a", "b", "c", "d"], "n": [*numbers, None]})
        mixed = pd.DataFrame({"id": ["a", "b", "c", "d"], "n": pd.Series([*numbers, "x"], dtype=object)})
        assert kept(whole, condition) == kept(beside, condition) == kept(mixed, condition)


WHOLE = [0, 7, -7, 10, -10, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 10**16, 10**16 - 1, 2**63 - 1, -(2**63)]
ASKED = [*WHOLE, Decimal("7.5"), Decimal("-7.5"), Decimal("-0.5"), 2**63, 10**30, -(10**30)]


@pytest.mark.slow
def test_whole_numbers_are_compared_by_their_digits_where_types_do_not_bind(tmp_path: Path) -> None:
    ids = [f"{at:02}," for at in range(len(WHOLE))]
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t (id TEXT, n)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [*zip(ids, WHOLE, strict=True), ("", 0.5), ("", "7")])
        connection.commit()
    for name, numbers in (("1", pa.array(WHOLE)), ("2", pa.array([0.5, None]))):
        held = {"id": ids if name == "1" else ["", ""], "n": numbers}
        pq.write_table(pa.table(held), tmp_path / f"{name}.parquet")
    with (
        holder_of(f"sqlite:///{tmp_path}/t.db", table="t").open() as of_sqlite,
        holder_of(f"{tmp_path}/*.parquet").open() as of_parquet,
    ):
        for opened, (sign, compare), asked in product((of_sqlite, of_parquet), SIGNS.items(), ASKED):
            condition = parse_where(f"n {sign} {asked}")
            found = sorted(name for (name,) in fetch(filtered(opened, condition).table.select("id")) if name)
            assert found == [name for name, number in zip(ids, WHOLE, strict=True) if compare(number, asked)], condition


_ZONE = timezone(timedelta(hours=2))
_OBJECTS: list[Any] = [
    *("x", True, np.True_, 7, 7.0, np.int8(7), np.float32(7), Decimal("7.0"), 10**400, -(10**400), 7j, b"x"),
    *(date(2026, 11, 1), datetime.fromisoformat("2026-11-01 12:00"), datetime(2026, 11, 1, 14, tzinfo=_ZONE)),
    *(pd.Timestamp("2026-11-01 12:00:00.000000001"), pd.Timestamp("2026-11-01 12:00", tz="UTC")),
    *(np.datetime64("2026-11-01T12"), np.datetime64("2026-11-01T12:00:00.000000001"), timedelta(1), [7], ("x",)),
    *(pd.NA, pd.NaT, None, float("nan"), np.datetime64("NaT"), Decimal("nan"), Decimal("Infinity")),
    *(datetime.min.replace(tzinfo=_ZONE), datetime.max.replace(tzinfo=timezone(-timedelta(hours=2)))),
]


@each_of(
    ("condition", "expected"),
    [
        ("v = 'x'", [0]),
        ("v = true", [1, 2]),
        ("v = 7", [3, 4, 5, 6, 7]),
        ("v <> 7", [0, 1, 2, *range(8, 22), 28, 29, 30]),
        ("not v <> 7", [3, 4, 5, 6, 7]),
        ("v > 7", [8, 28]),
        ("v < 7", [9]),
        ("v = '2026-11-01'", [12]),
        ("v = '2026-11-01 12:00'", [13, 14, 16, 17]),
        ("v > '2026-11-01 12:00'", [0, 15, 18, 30]),
        ("v < '2026-11-01 12:00'", [12, 29]),
        ("v is null", [22, 23, 24, 25, 26, 27]),
        ("v not in (7, 'x', true, '2026-11-01')", [8, 9, 10, 11, *range(13, 22), 28, 29, 30]),
    ],
)
def test_objects_are_compared_one_by_one_and_none_is_refused(condition: str, expected: list[int]) -> None:
    table = pd.DataFrame({"id": [f"{at:02}," for at in range(len(_OBJECTS))], "v": pd.Series(_OBJECTS, dtype=object)})
    assert kept(table, condition) == "".join(f"{at:02}," for at in expected)


def test_categories_are_compared_as_their_text_whatever_order_they_declare() -> None:
    ids, values = ["a", "b", "c"], ["Z", "a", "DE"]
    order = ["a", "DE", "Z"]
    sources: list[Any] = [
        pd.DataFrame({"id": ids, "v": pd.Categorical(values, categories=order, ordered=True)}),
        pl.DataFrame({"id": ids, "v": pl.Series(values, dtype=pl.Enum(order))}),
        pl.DataFrame({"id": ids, "v": pl.Series(values, dtype=pl.Categorical)}),
        duckdb.connect().sql(
            "SELECT id, v::ENUM('a', 'DE', 'Z') AS v FROM (VALUES ('a', 'Z'), ('b', 'a'), ('c', 'DE')) AS t(id, v)"
        ),
    ]
    for source in sources:
        assert [kept(source, f"v {test}") for test in ("< 'a'", ">= 'Z'", "= 'de'", "in ('DE', 'x')")] == [
            *("ac", "ab", "", "c")
        ]


def test_collations_of_duckdb_decide_nothing() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (id VARCHAR, v VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO t VALUES ('a', 'DE'), ('b', 'de'), ('c', 'Z')")
    connection.execute("SET default_collation = 'nocase'")
    relation = connection.table("t")
    assert [kept(relation, f"v {test}") for test in ("= 'DE'", "<> 'DE'", "< 'a'", ">= 'Z'")] == ["a", "bc", "ac", "bc"]
    enums = connection.sql("SELECT id, v::ENUM('DE', 'de', 'Z') AS v FROM t")
    assert [kept(enums, f"v {test}") for test in ("= 'DE'", "<> 'DE'", "< 'a'")] == ["a", "bc", "ac"]


def test_conditions_of_many_tests_are_no_deeper_than_engines_take() -> None:
    table = pa.table({"id": ["a", "b"], "n": [329, 330]})
    numbers = " or ".join(f"n = {number}" for number in range(330))
    for source in (table, pl.DataFrame(table), ibis.memtable(table)):
        assert kept(source, numbers) == "a"
        assert kept(source, f"n in ({', '.join(map(str, range(330)))})") == "a"


def _counted(table: Any, where: str) -> int:
    with holder_of(table).open() as opened:
        # Rows may hold what Python cannot.
        return len(fetch(filtered(opened, parse_where(where)).table.select("label")))


ZONED = pd.DatetimeIndex(["2026-11-02"] * 3).as_unit("ns").tz_localize("UTC").tz_convert("Europe/Berlin")
DAYS = pa.array([20_000, 2_932_897, 2**31 - 1, None], pa.int32()).cast(pa.date32())
# The last that pandas can hold, which is written for what has no end.
UNTIL = pd.DatetimeIndex([pd.Timestamp.max.tz_localize("UTC"), pd.NaT]).tz_convert("Europe/Berlin")


@pytest.mark.parametrize(
    ("column", "after", "missing"),
    [
        (ZONED[:2].append(UNTIL), 3, 1),
        (pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32())), 2, 1),
    ],
    ids=["zone", "days"],
)
def test_times_beyond_those_of_python_are_compared_like_others(column: Any, after: int, missing: int) -> None:
    table = pd.DataFrame({"label": list("abcd"), "end": column})
    assert _counted(table, "end >= '2026-11-01'") == after
    assert _counted(table, "end is null") == missing
    assert _counted(table, "not end >= '2026-11-01'") == 4 - after - missing


@each_of("unit", ["s", "ms", "us", "ns"])
def test_a_time_after_the_last_that_a_type_can_hold_is_after_all(unit: str) -> None:
    times = pa.array(["2020-01-01", "2262-01-01", None]).cast(pa.timestamp(unit))
    table = pa.table({"label": list("abc"), "x": times})
    last = "'9999-12-31 23:59:59.999999'"
    for held in (table, pl.from_arrow(table), table.to_pandas()):
        assert [_counted(held, f"x {sign} {last}") for sign in (">", ">=", "<", "<=", "=")] == [0, 0, 2, 2, 0]


def test_half_floats_of_arrow_are_numbers_in_pandas() -> None:
    halves = pd.Series(pa.array([0.5, None, 2.0], pa.float16()), dtype=pd.ArrowDtype(pa.float16()))
    table = pd.DataFrame({"label": list("abc"), "x": halves})
    asked = ("x is null", "x is not null", "x > 1", "x <> 0.5", "x = 2")
    assert [_counted(table, each) for each in asked] == [1, 2, 1, 1, 1]
