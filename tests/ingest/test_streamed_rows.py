"""Rows of SQLite's users, which DuckDB bounds: the same are kept as by SQLite's own windows, whatever values are."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import ibis
import pytest

from anonhist.errors import DataError
from anonhist.ingest import read_profile, user_bounds
from anonhist.ingest.groups.read import read_groups
from anonhist_testing.cases import each_of

KEYS = [f"{key:032x}" for key in range(2)]
# A zero byte, a sign of four bytes, bytes that are no text, and numbers that have the names of texts.
VALUES = ["'a'", "'b'", "CAST(x'610062' AS TEXT)", "'😀'", "x'ff61'", "7", "7.0", "'7'", "1.5", "NULL"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "log.db"
    rows = [f"('u{at % 4}', {VALUES[at * 7 % 10]}, 'g{at % 3}')" for at in range(150)]
    rows += [f"({user}, 'x', 'g1')" for user in ("NULL", "3", "3.0", "'3'") for _ in range(4)]
    with closing(sqlite3.connect(made)) as connection:
        connection.execute("CREATE TABLE log (who, what, place TEXT)")
        connection.execute(f"INSERT INTO log VALUES {', '.join(rows)}")  # noqa: S608  # ours
        connection.commit()
    return made


@pytest.fixture
def connection(path: Path) -> Iterator[Any]:
    """Connect as a caller does."""
    opened = ibis.sqlite.connect(path)
    yield opened
    opened.disconnect()


def read(path: Path, key: str, **options: Any) -> list[Any]:
    said = {"table": "log", "label": "what", "user": "who", "max_per_user": 9, "order_key": key} | options
    grouped = read_groups(f"sqlite:///{path}", by="place", groups=["g0", "g1"], max_groups_per_user=1, **said)
    return [read_profile(f"sqlite:///{path}", **said), *grouped.items()]


@each_of("keep_null", [False, True])
def test_the_same_rows_are_kept_as_by_windows(path: Path, monkeypatch: pytest.MonkeyPatch, *, keep_null: bool) -> None:
    streamed = [read(path, key, keep_null=keep_null) for key in KEYS]
    monkeypatch.setattr(user_bounds, "in_duckdb", lambda _: None)
    assert streamed == [read(path, key, keep_null=keep_null) for key in KEYS]


@pytest.mark.parametrize("column", ["who", "what"])
def test_texts_that_are_no_utf8_are_refused(path: Path, column: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"INSERT INTO log ({column}, place) VALUES (CAST(x'ff61' AS TEXT), 'g1')")  # noqa: S608
        connection.commit()
    options: dict[str, Any] = {"table": "log", "user": "who", "label": "what", "max_per_user": 2, "keep_null": True}
    if column == "what":
        options |= {"user": "place"}
    with pytest.raises(DataError, match=r"^The database holds text that is not UTF-8: convert the column"):
        read_profile(f"sqlite:///{path}", **options)


def test_rows_are_read_once(connection: Any) -> None:
    ran: list[str] = []
    table = connection.table("log")
    connection.con.set_trace_callback(ran.append)
    read_profile(table, label="what", user="who", max_per_user=2)
    connection.con.set_trace_callback(None)
    reads = [query for query in ran if 'FROM "log"' in query and "LIMIT 0" not in query]
    assert len(reads) == 1
