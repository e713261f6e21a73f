"""Sources of rows: databases, and types that do not bind."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from anonhist_testing.way_in.sources import Held, Rows, Source, arrow_table, callers_engine
from anonhist_testing.way_in.values import Kind, as_kind, written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A name with a space, which needs quotes, as people have them.
TABLE = "the table"
_EXPRESSIONS = ("v", "v || ''", "v + 0", "coalesce(v, NULL)")
_DECLARED = ("TEXT", "INTEGER", "REAL")


@cache
def _scratch() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False)


def _in_sqlite(value: Any, declared: str) -> Any:
    """Ask SQLite how it shows a value in a column that is declared, or computed, in this way."""
    if isinstance(value, bool):
        value = int(value)
    elif not isinstance(value, int | float | str | None):
        value = written(value)
    engine = _scratch()
    if declared in _EXPRESSIONS:
        (shown,) = engine.execute(f"SELECT {declared} FROM (SELECT ? AS v)", [value]).fetchone()  # noqa: S608
        return shown
    engine.execute("DROP TABLE IF EXISTS one")
    engine.execute(f"CREATE TABLE one (v {declared})")
    engine.execute("INSERT INTO one VALUES (?)", [value])
    return engine.execute("SELECT v FROM one").fetchone()[0]


def _write_sqlite(path: Path, columns: dict[str, str], rows: Rows) -> None:
    """Write values as they are shown: declared and computed columns do not change them."""
    is_view = any(declared in _EXPRESSIONS for declared in columns.values())
    table = "rows" if is_view else TABLE
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        types = (f'"{name}" {"" if is_view else declared}' for name, declared in columns.items())
        connection.execute(f'CREATE TABLE "{table}" ({", ".join(types)})')
        marks = ", ".join("?" for _ in columns)
        connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)  # noqa: S608  # marks only
        if is_view:
            quoted = {f'"{name}"': each for name, each in columns.items()}
            shown = (f"{each.replace('v', name, 1)} AS {name}" for name, each in quoted.items())
            connection.execute(f'CREATE VIEW "{TABLE}" AS SELECT {", ".join(shown)} FROM rows')  # noqa: S608
        connection.commit()


@contextmanager
def _sqlite(columns: dict[str, str], rows: Rows, folder: Path) -> Iterator[Held]:
    path = folder / "rows.db"
    _write_sqlite(path, columns, rows)
    yield f"sqlite:///{path}", {"table": TABLE}


@contextmanager
def _sqlite_of_ibis(columns: dict[str, str], rows: Rows, folder: Path) -> Iterator[Held]:
    import ibis

    path = folder / "rows.db"
    _write_sqlite(path, columns, rows)
    connection = ibis.sqlite.connect(path)
    try:
        yield connection.table(TABLE), {}
    finally:
        connection.disconnect()


@contextmanager
def _duckdb(columns: dict[str, str], rows: Rows, folder: Path) -> Iterator[Held]:
    path = folder / "rows.duckdb"
    with callers_engine().cursor() as engine:
        engine.execute(f"ATTACH '{path}' AS made")
        engine.from_arrow(arrow_table(columns, rows)).create(f'made."{TABLE}"')
        engine.execute("DETACH made")
    yield f"duckdb:///{path}", {"table": TABLE}


DATABASES = (
    Source("sqlite", _sqlite, _in_sqlite, has_address=True),
    Source("sqlite declared", _sqlite, _in_sqlite, declarations=_DECLARED, has_address=True),
    Source("sqlite view", _sqlite, _in_sqlite, declarations=_EXPRESSIONS, has_address=True),
    Source("sqlite of ibis", _sqlite_of_ibis, _in_sqlite),
    Source(
        "duckdb",
        _duckdb,
        lambda value, declared: as_kind(value, Kind(declared)),
        tuple(Kind),
        binds=True,
        has_address=True,
    ),
)
SQL_TYPES = {
    Kind.TEXT: "TEXT",
    Kind.WHOLE: "BIGINT",
    Kind.FLOATS: "DOUBLE PRECISION",
    Kind.DECIMALS: "NUMERIC(20, 4)",
    Kind.TRUTH: "BOOLEAN",
    Kind.DATES: "DATE",
    Kind.TIMES: "TIMESTAMP",
}


def postgresql(address: str) -> Source:
    """Return a PostgreSQL server as a source."""

    @contextmanager
    def hold(columns: dict[str, str], rows: Rows, _: Path) -> Iterator[Held]:
        import psycopg

        with psycopg.connect(address) as connection:
            types = ", ".join(f'"{name}" {SQL_TYPES[Kind(declared)]}' for name, declared in columns.items())
            connection.execute(f'DROP TABLE IF EXISTS "{TABLE}"'.encode())
            connection.execute(f'CREATE TABLE "{TABLE}" ({types})'.encode())
            marks = ", ".join("%s" for _ in columns)
            with connection.cursor() as cursor:
                cursor.executemany(f'INSERT INTO "{TABLE}" VALUES ({marks})'.encode(), rows)  # noqa: S608
        yield address, {"table": TABLE}

    return Source(
        "postgresql",
        hold,
        lambda value, declared: as_kind(value, Kind(declared)),
        tuple(Kind),
        binds=True,
        is_slow=True,
    )
