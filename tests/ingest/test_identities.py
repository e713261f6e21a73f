"""Users that an engine takes for one, however they are written, and users that differ by their case alone."""

import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import polars as pl
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.ingest.groups.read import read_groups
from anonhist.profiles import Profile, sorted_l1
from anonhist_testing.cases import each_of

KEYS = [f"{key:032x}" for key in range(8)]


def read(source: Any, most: int, key: str, **options: Any) -> Profile:
    return read_profile(source, label="what", user="who", max_per_user=most, order_key=key, **options)


@pytest.mark.full
@each_of("spellings", [1, 2, 3, 10])
def test_one_value_in_several_spellings_is_one_user(spellings: int) -> None:
    # Thirty days are one interval, in days or in hours, and have different texts.
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE log (who INTERVAL, what TEXT)")
        for days in range(spellings):
            spelled = [30 - days, 24 * days]
            query = "INSERT INTO log SELECT to_days(?) + to_hours(?), 'l' || item FROM range(5) AS items (item)"
            connection.execute(query, spelled)
        for most in (1, 2, 5):
            assert read(connection.table("log"), most, KEYS[0]).n == most


@pytest.mark.full
def test_which_name_is_hashed_does_not_depend_on_the_order_of_rows() -> None:
    found = set()
    with duckdb.connect() as connection:
        for order in ("name", "name DESC", "hash(name)"):
            # Of other users label l3 has three rows, so the counts tell which labels of the first were kept.
            query = f"""
                SELECT who, what FROM (
                    SELECT to_days(30 - days) + to_hours(24 * days) AS who, 'l' || days AS what, days AS name
                    FROM range(12) AS spellings (days)
                    UNION ALL SELECT to_days(100 + 50 * label + row), 'l' || label, 99
                    FROM range(12) AS labels (label), range(label) AS rows (row)
                ) ORDER BY {order}
            """  # noqa: S608  # one of those above
            found.add(tuple(read(connection.sql(query), 2, key) for key in KEYS))
    assert len(found) == 1


@pytest.mark.full
def test_one_number_in_several_spellings_is_one_user(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE log (who, what TEXT)")
        # Columns without a type hold what they are given: 1 and 1.0 are equal, and written in two ways.
        database.executemany(
            "INSERT INTO log VALUES (?, ?)", [(who, f"{who}{at}") for at in range(9) for who in (1, 1.0)]
        )
    database.close()
    for key in KEYS:
        assert read(f"sqlite:///{path}", 3, key, table="log").n == 3


@pytest.mark.slow
def test_users_that_differ_by_case_are_others_whatever_the_collation(tmp_path: Path) -> None:
    rows = [(name, "same") for name in ("ann", "Ann", "aNn", "anN", "ANN") for _ in range(5)]
    added = [("AnN", f"new{at}") for at in range(40)]
    profiles = []
    for number, some in enumerate((rows, rows + added)):
        path = tmp_path / f"{number}.db"
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE log (who TEXT COLLATE NOCASE, what TEXT COLLATE NOCASE, day INTEGER)")
            database.executemany("INSERT INTO log VALUES (?, ?, 1)", some)
        database.close()
        profiles += [
            [read(f"sqlite:///{path}", 3, key, table="log", **options) for key in KEYS]
            for options in ({}, {"order_by": "day"})
        ]
    for without, with_user in ((profiles[0], profiles[2]), (profiles[1], profiles[3])):
        assert [each.n for each in without] == [15] * len(KEYS)
        assert [sorted_l1(*pair) for pair in zip(without, with_user, strict=True)] == [3] * len(KEYS)


def test_a_connection_that_takes_different_texts_for_equal_is_refused() -> None:
    backend = ibis.duckdb.connect()
    backend.raw_sql("CREATE TABLE log AS FROM (VALUES ('ann', 'a'), ('ANN', 'A')) AS rows (who, what)")
    with warnings.catch_warnings():
        # Ibis asks for a schema in a way that DuckDB is about to give up.
        warnings.simplefilter("ignore", DeprecationWarning)
        table = backend.table("log")
    assert read(table, 1, KEYS[0]).n == 2
    backend.raw_sql("SET default_collation = 'nocase'")
    with pytest.raises(UsageError, match="RESET default_collation"):
        read(table, 1, KEYS[0])
    assert read(backend.con.table("log"), 1, KEYS[0]).n == 2
    # As texts, names of an enumeration would have the collation of the connection.
    listed = backend.con.sql("SELECT who::ENUM('ann', 'ANN') AS who, what::ENUM('a', 'A') AS what FROM log")
    assert (read(listed, 1, KEYS[0]).n, read_profile(listed, label="what").num_labels) == (2, 2)


def as_polars(rows: list[tuple[str, float, str]]) -> Any:
    return pl.DataFrame(rows, schema=["who", "what", "place"], orient="row")


def as_duckdb(rows: list[tuple[str, float, str]]) -> Any:
    return duckdb.from_arrow(as_polars(rows).to_arrow())


@pytest.mark.full
@each_of("hold", [as_polars, as_duckdb])
def test_what_has_no_name_is_refused_whatever_groups_are_chosen(hold: Callable[..., Any]) -> None:
    source = hold([("u", 1.0, "A"), ("u", 2.0, "A"), ("u", 1e300, "B"), ("u", 3.0, "C")])
    for key in KEYS:
        with pytest.raises(DataError, match="2\\^53"):
            read_groups(
                source,
                by="place",
                groups=["A", "B", "C"],
                label="what",
                user="who",
                max_per_user=1,
                max_groups_per_user=1,
                order_key=key,
            )


@pytest.mark.full
def test_an_order_that_a_connection_prefers_changes_nothing() -> None:
    rows = [(who, label) for who, labels in (("u", "abcdefghij"), ("v", "abcdefghijk")) for label in labels]
    table = pl.DataFrame(rows, schema=["who", "what"], orient="row")
    with duckdb.connect() as connection:
        connection.execute("SET default_order = 'DESC'")
        connection.execute("SET default_null_order = 'NULLS LAST'")
        held = connection.from_arrow(table.to_arrow())
        for key in KEYS:
            assert read(held, 3, key) == read(table, 3, key)


def test_users_whose_values_cannot_all_be_compared_are_refused() -> None:
    # A union of which a member is null is no null, is grouped, and equals nothing.
    with duckdb.connect() as connection:
        log = connection.sql(
            "SELECT union_value(number := NULL::INT) AS who, 'l' || n AS what FROM range(100) AS ns (n)"
        )
        for options in ({}, {"order_by": "what"}):
            with pytest.raises(DataError, match="convert it to text first"):
                read(log, 5, KEYS[0], **options)
        assert read(log.project("who::VARCHAR AS who, what"), 5, KEYS[0]).n == 5


@pytest.mark.slow
def test_users_whom_spark_cannot_sort_are_refused_whatever_their_number(spark: Any) -> None:
    log = spark.sql("SELECT make_interval(0, 0, 0, 1) AS who, 'a' AS what")
    with pytest.raises(DataError, match="convert it to text first"):
        read(log, 5, KEYS[0])
    assert read(log.selectExpr("CAST(who AS string) AS who", "what"), 5, KEYS[0]).n == 1
