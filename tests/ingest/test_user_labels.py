"""Who has which labels, from every kind of source: distinct pairs, and nothing of rows without a user."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest.user_labels import read_user_labels
from anonhist.profiles.user_labels import UserLabels
from anonhist_testing.cases import each_of

ROWS: dict[str, list[Any]] = {
    "who": ["ann", "ann", "ann", "bob", None, "eve", "eve"],
    "what": ["x", "y", "x", "x", "z", None, "y"],
}


def sizes(held: UserLabels) -> tuple[list[int], list[int]]:
    """Return how many labels each user has, and how many users each label, in descending order."""
    return tuple(sorted(map(list(each).count, set(each)), reverse=True) for each in (held.users, held.labels))  # type: ignore[return-value]


def in_sqlite(folder: Path) -> str:
    with sqlite3.connect(folder / "rows.db") as database:
        pd.DataFrame(ROWS).to_sql("rows", database, index=False)
    database.close()
    return f"sqlite:///{folder / 'rows.db'}"


def in_csv(folder: Path) -> str:
    pl.DataFrame(ROWS).write_csv(folder / "rows.csv")
    return str(folder / "rows.csv")


def in_parquet(folder: Path) -> str:
    pq.write_table(pa.table(ROWS), folder / "rows.parquet")
    return str(folder / "rows.parquet")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "arrow": lambda _: pa.table(ROWS),
    "pandas": lambda _: pd.DataFrame(ROWS),
    "polars": lambda _: pl.DataFrame(ROWS),
    "csv": in_csv,
    "parquet": in_parquet,
    "sqlite": in_sqlite,
}


@each_of("kind", SOURCES)
def test_every_source_has_the_same_pairs(kind: str, tmp_path: Path) -> None:
    source = SOURCES[kind](tmp_path)
    options: dict[str, Any] = {"user": "who", "label": "what"} | ({"table": "rows"} if kind == "sqlite" else {})
    held = read_user_labels(source, **options)
    assert sizes(held) == ([2, 1, 1], [2, 2])
    assert (held.num_matched(1), held.where) == (2, None)
    assert sizes(read_user_labels(source, keep_null=True, **options)) == ([2, 2, 1], [2, 2, 1])
    assert sizes(read_user_labels(source, where="what <> 'x'", **options)) == ([1, 1], [2])


@each_of(
    "users",
    [[1, 2, 1], [1.5, 2.5, 1.5], [True, False, True], [b"a", b"b", b"a"], [2**60, 2**60 + 1, 2**60]],
)
def test_users_of_every_type_are_told_apart(users: list[Any]) -> None:
    table = pa.table({"who": users, "what": ["x", "x", "y"]})
    assert sizes(read_user_labels(table, user="who", label="what")) == ([2, 1], [2, 1])


def test_a_user_in_a_column_of_objects_is_one_user_however_written() -> None:
    table = pd.DataFrame({"who": pd.Series([1, "1", 2], dtype=object), "what": ["x", "x", "x"]})
    assert sizes(read_user_labels(table, user="who", label="what")) == ([1, 1], [2])


@each_of(
    "users", [[date(2026, 11, 1), date(2026, 11, 1), date(1, 1, 1)], [Decimal("1.5"), Decimal("1.50"), Decimal(2)]]
)
@each_of("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_users_of_types_with_names_are_told_apart(users: list[Any], frame: Any) -> None:
    held = read_user_labels(frame({"who": users, "what": ["x", "x", "y"]}), label="what", user="who")
    assert sizes(held) == ([1, 1], [1, 1])


@each_of(
    ("kind", "one", "other"),
    [
        ("uuid", "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"),
        ("inet", "10.0.0.1", "10.0.0.2"),
        ("int[]", "{1}", "{2}"),
        ("date", "infinity", "12000-01-01"),
        ("numeric", "Infinity", "1e-12"),
        ("numeric", "1.50", "1e30"),
        ("interval", "1 day", "1 month"),
    ],
)
def test_no_user_of_postgresql_decides_whether_others_are_read(
    postgresql: str, kind: str, one: str, other: str
) -> None:
    with closing(psycopg.connect(postgresql)) as connection:
        connection.execute(f"CREATE TABLE typed (who {kind}, what text)")
        connection.execute("INSERT INTO typed VALUES (%s, 'x'), (%s, 'x'), (%s, 'y')", (one, one, other))
        connection.commit()
        held = read_user_labels(postgresql, table="typed", label="what", user="who")
        assert sizes(held) == ([1, 1], [1, 1])
        # A caller's transaction stays open, with its own rows.
        connection.execute("INSERT INTO typed VALUES (%s, 'z')", (one,))
        mine = ibis.postgres.from_connection(connection).table("typed")
        assert sizes(read_user_labels(mine, label="what", user="who")) == ([2, 1], [1, 1, 1])
        connection.execute("DROP TABLE typed")
        connection.commit()


def test_no_rows_are_no_pairs() -> None:
    assert sizes(read_user_labels(pl.DataFrame(ROWS).head(0), user="who", label="what")) == ([], [])


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (["a", "b"], {}, "has no users"),
        ("day.counts", {}, "Parts hold counts"),
        (pa.table(ROWS), {"label": "when"}, "no column 'when'"),
        (pa.table(ROWS), {"where": "who like 'a'"}, "where"),
        (pa.table(ROWS), {"label": "what", "count": "n"}, "cannot be bounded"),
    ],
    ids=["list", "parts", "column", "where", "count"],
)
def test_what_cannot_be_read_is_refused(source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, DataError), match=message):
        read_user_labels(source, **{"user": "who", **options})
