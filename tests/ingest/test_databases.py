"""Databases: their tables by name, and what is said where there is none."""

import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from typing import Any

import duckdb
import ibis
import psycopg
import pyarrow as pa
import pytest

from anonhist.errors import DataError, MissingExtraError, UsageError
from anonhist.ingest import read_profile, sqlite_values
from anonhist.ingest.columns import Opened
from anonhist.ingest.holders import holder_of
from anonhist.ingest.query import Columns, events_query, fetch
from anonhist.profiles import Profile

Read = Callable[..., Profile]
Refused = Callable[..., str]
ROWS = [("a", "u"), ("b", "u"), ("a", "v")]


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with the tables ``first`` and ``Second "one"``, and a view."""
    kind, path = request.param, tmp_path / "shop.db"
    server = request.getfixturevalue("postgresql") if kind == "postgresql" else ""
    opened = {
        "duckdb": lambda: duckdb.connect(path),
        "sqlite": lambda: sqlite3.connect(path),
        "postgresql": lambda: psycopg.connect(server),
    }[kind]()
    with closing(opened) as connection:
        cursor = connection.cursor()
        for name in ("first", 'Second ""one""'):
            cursor.execute(f'DROP TABLE IF EXISTS "{name}" CASCADE' if server else "SELECT 1")
            cursor.execute(f'CREATE TABLE "{name}" (sku TEXT, "user" TEXT)')
            for row in ROWS:
                cursor.execute(f'INSERT INTO "{name}" VALUES ({"%s, %s" if server else "?, ?"})', row)  # noqa: S608
        cursor.execute("CREATE VIEW shown AS SELECT sku FROM first")
        connection.commit()
    return server or f"{kind}:///{path}"


@pytest.mark.slow
@pytest.mark.parametrize("table", ["first", 'Second "one"', "shown"])
def test_tables_and_views(database: str, table: str) -> None:
    assert read_profile(database, table=table, label="sku") == Profile.from_prevalences({1: 1, 2: 1})


@pytest.mark.slow
def test_tables_that_are_not_there(database: str, refuse: Refused) -> None:
    for table in ("nowhere", 'first"; DROP TABLE first; --', "First"):
        message = refuse(DataError, database, table=table, label="sku")
        assert "has no table" in message
        assert "'first'" in message
    message = refuse(UsageError, database, label="sku")
    assert "(table)" in message
    assert "'first'" in message
    assert "'sku', 'user'" in refuse(DataError, database, table="first", label="nowhere")


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_missing_database_is_not_made(
    tmp_path: Path, refuse: Refused, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("missing.db", str(tmp_path / "missing.db"), "."):
        assert "no database file" in refuse(DataError, f"{kind}:///{path}", table="t")
    for url in (f"{kind}://", f"{kind}:///", f"{kind}://missing.db"):
        assert f"{kind}:///" in refuse(UsageError, url, table="t")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_relative_and_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.chdir(tmp_path)
    connect: Callable[[str], duckdb.DuckDBPyConnection | sqlite3.Connection] = (
        duckdb.connect if kind == "duckdb" else sqlite3.connect
    )
    with closing(connect("shop.db")) as connection:
        connection.execute("CREATE TABLE t (label TEXT)")
        connection.execute("INSERT INTO t VALUES ('a')")
        connection.commit()
    for path in ("shop.db", "./shop.db", str(tmp_path / "shop.db")):
        assert read_profile(f"{kind}:///{path}", table="t").n == 1


@pytest.mark.parametrize(("kind", "says"), [("duckdb", "not a DuckDB database"), ("sqlite", "SQLite database")])
def test_files_that_are_no_databases(tmp_path: Path, refuse: Refused, kind: str, says: str) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"label\nhunter2\n" * 500)
    assert says in refuse(DataError, f"{kind}:///{path}", table="t", secret="hunter2")  # noqa: S106


def test_a_database_of_another_kind_is_said_to_be_one(tmp_path: Path, refuse: Refused) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (label TEXT)")
        connection.commit()
    message = refuse(DataError, f"duckdb:///{path}", table="t")
    assert "not a DuckDB database" in message
    assert "sqlite:///PATH" in message
    assert "remote" not in message


@pytest.mark.parametrize(
    ("name", "schemes"),
    [("shop.db", "sqlite duckdb"), ("shop.duckdb", "duckdb"), ("shop.sqlite", "sqlite"), ("shop.sqlite3", "sqlite")],
)
def test_a_file_of_a_database_is_told_its_url(tmp_path: Path, refuse: Refused, name: str, schemes: str) -> None:
    path = tmp_path / name
    path.write_text("a\n")
    told = f"Read a database as {' or '.join(f'{scheme}:///{path}' for scheme in schemes.split())}, and name"
    assert told in refuse(UsageError, str(path), table="t", label="a")
    assert told in refuse(UsageError, str(path), label="a")


def test_databases_that_are_not_read_are_told_which_are(refuse: Refused) -> None:
    told = "duckdb:///FILE, sqlite:///FILE, postgresql://…, bigquery://…, clickhouse://…, databricks://…, snowflake://…"
    assert told in refuse(UsageError, "mysql://shop/t", table="t", label="a")


def test_a_database_that_this_program_writes_is_read_through_its_connection(tmp_path: Path, refuse: Refused) -> None:
    path = tmp_path / "shop.db"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS label")
        assert "connection.table('events')" in refuse(DataError, f"duckdb:///{path}", table="t")
        kept = connection.table("t")
        assert read_profile(kept).n == 1
    assert "connection that was closed" in refuse(DataError, kept)


def test_a_database_that_another_connection_has_locked_is_said_to_be(
    tmp_path: Path, refuse: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "shop.db"
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **options: connect(*given, **options | {"timeout": 0}))
    with closing(connect(path)) as connection:
        connection.execute("CREATE TABLE t (label TEXT)")
        connection.commit()
        connection.execute("BEGIN EXCLUSIVE")
        assert "locked by another program" in refuse(DataError, f"sqlite:///{path}", table="t", label="label")


def test_an_empty_database_has_no_tables(tmp_path: Path, refuse: Refused) -> None:
    (tmp_path / "a.db").touch()
    assert "it has none" in refuse(DataError, f"sqlite:///{tmp_path / 'a.db'}", table="t")


def test_a_server_that_is_not_there(tmp_path: Path, refuse: Refused) -> None:
    message = refuse(DataError, f"postgresql://someone:hunter2@/shop?host={tmp_path}", table="t", secret="hunter2")  # noqa: S106
    assert "cannot be reached" in message


@pytest.mark.parametrize("url", ["sqlite:///shop.db", "postgresql://localhost/shop", "postgres://localhost/shop"])
def test_without_the_extra_one_sentence_says_what_to_install(
    refuse: Refused, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setitem(sys.modules, "ibis", None)
    assert "pip install 'anonhist[ibis]'" in refuse(MissingExtraError, url, table="t")


@pytest.mark.parametrize("scheme", ["bigquery", "clickhouse", "databricks", "snowflake", "trino"])
def test_without_its_driver_a_warehouse_says_what_to_install(
    refuse: Refused, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setitem(sys.modules, f"ibis.backends.{scheme}", None)
    monkeypatch.delitem(vars(ibis), scheme, raising=False)
    url = f"{scheme}://someone:hunter2@host/shop?http_path=hunter2"
    message = refuse(MissingExtraError, url, table="t", secret="hunter2")  # noqa: S106
    assert f"pip install 'ibis-framework[{scheme}]'" in message


class _Warehouse:
    """What Ibis has for an engine whose driver is installed; it notes what it is asked for."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.asked: list[Any] = []
        self._answer = answer

    def connect(self, **options: Any) -> Any:
        self.asked.append(options)
        return self._answer()

    def _from_url(self, url: Any, **options: Any) -> Any:
        return self.connect(host=url.hostname, database=url.path.strip("/"), **options)


def test_tables_of_a_warehouse_are_named_and_read(monkeypatch: pytest.MonkeyPatch, refuse: Refused) -> None:
    def opened() -> Any:
        connection = ibis.sqlite.connect()
        connection.con.execute("CREATE TABLE events AS VALUES ('a'), ('b'), ('a')")
        return connection

    warehouse = _Warehouse(opened)
    monkeypatch.setitem(vars(ibis), "trino", warehouse)
    assert read_profile("trino://eve@host:8080/hive/shop", table="events").n == 3
    assert warehouse.asked == [{"host": "host", "database": "hive/shop"}]
    assert "it has 'events'" in refuse(UsageError, "trino://eve@host:8080/hive/shop")


def test_databricks_takes_its_url_apart(monkeypatch: pytest.MonkeyPatch, refuse: Refused) -> None:
    def fail() -> Any:
        raise ConnectionError("https://host: hunter2 is no token")

    warehouse = _Warehouse(fail)
    monkeypatch.setitem(vars(ibis), "databricks", warehouse)
    url = "databricks://token:hunter%202@host/main/shop?http_path=/sql/1.0/warehouses/9"
    message = refuse(DataError, url, table="events", secret="hunter")  # noqa: S106
    assert "Databricks cannot be reached: check the URL, whose form is databricks://token:TOKEN@HOST" in message
    parts = {"server_hostname": "host", "access_token": "hunter 2", "catalog": "main", "schema": "shop"}
    assert warehouse.asked == [parts | {"http_path": "/sql/1.0/warehouses/9"}]


@pytest.mark.parametrize("value", ["'hunter2'", "1.5", "-1", "x'31'", "NULL", "9e18 * 9"])
def test_sqlite_keeps_anything_in_a_column_of_numbers(tmp_path: Path, refuse: Refused, value: str) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE t (label TEXT, count INTEGER)")
        connection.execute("INSERT INTO t VALUES ('a', 3)")
        connection.execute(f"INSERT INTO t VALUES ('b', {value})")  # noqa: S608  # the values above
        connection.commit()
    message = refuse(DataError, f"sqlite:///{tmp_path / 'a.db'}", table="t", secret="hunter2")  # noqa: S106
    assert "must hold whole numbers" in message


@pytest.mark.slow
def test_databases_are_only_read(database: str) -> None:
    path = database.partition(":///")[2]
    before = Path(path).read_bytes() if path.startswith("/") else b""
    read_profile(database, table="first", label="sku", user="user", max_per_user=1)
    assert (Path(path).read_bytes() if path.startswith("/") else b"") == before


@pytest.mark.parametrize("kind", ["file", "table in memory", "database"])
def test_the_engine_downloads_nothing_and_spills_to_a_private_folder_that_is_removed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("label\na\n")
    with duckdb.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS label")
    connect, folders, modes = duckdb.connect, list[Path](), list[int]()
    downloads, read_only = list[bool](), list[bool]()

    def record_connection(*arguments: Any, **options: Any) -> duckdb.DuckDBPyConnection:
        opened = connect(*arguments, **options)
        folders.extend(Path(row[0]) for row in opened.execute("SELECT current_setting('temp_directory')").fetchall())
        modes.append(stat.S_IMODE(folders[-1].stat().st_mode))
        setting = opened.execute("SELECT current_setting('autoinstall_known_extensions')").fetchone()
        downloads.append(setting != (False,))
        kept = opened.execute("SELECT readonly FROM duckdb_databases() WHERE NOT internal").fetchall()
        read_only.extend(row[0] for row in kept)
        return opened

    monkeypatch.setattr(duckdb, "connect", record_connection)
    sources = {"file": tmp_path / "a.csv", "database": f"duckdb:///{tmp_path / 'a.db'}"}
    source = sources.get(kind, pa.table({"label": ["a"]}))
    assert read_profile(source, table="t" if kind == "database" else None).n == 1
    assert (modes, downloads, read_only) == ([0o700], [False], [kind == "database"])
    assert not folders[0].exists()
    assert tmp_path not in folders[0].parents
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.db"]


@pytest.mark.parametrize("source", ["mysql://host/shop", "https://host/a.csv"])
def test_tables_of_what_is_not_read_as_a_database_are_refused(source: str) -> None:
    scheme = source.partition(":")[0]
    told = rf"^Tables of {scheme}:// cannot be read: name a database as duckdb:///FILE, sqlite:///FILE, postgresql://"
    with pytest.raises(UsageError, match=told):
        read_profile(source, table="t", label="sku")
    with pytest.raises(UsageError, match=r"^table names a table of a database, but the source is not a database"):
        read_profile("events.csv", table="t", label="sku")


@pytest.mark.parametrize(
    ("name", "schemes"), [("shop.db", ("sqlite", "duckdb")), ("shop.duckdb", ("duckdb",)), ("shop.SQLite", ("sqlite",))]
)
def test_the_file_of_a_database_is_told_its_url(name: str, schemes: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("SQLite format 3\n")
    urls = " or ".join(f"{scheme}:///{path}" for scheme in schemes)
    for table in ("t", None):
        with pytest.raises(UsageError, match=f"Read a database as {urls}, and name one of its tables"):
            read_profile(str(path), table=table, label="sku")


@pytest.mark.filterwarnings("ignore:fetch_arrow_table")  # by Ibis, of DuckDB
@pytest.mark.parametrize("held", ["duckdb", "ibis duckdb", "sqlite", "postgresql"])
def test_texts_that_a_collation_takes_for_equal_are_different(
    held: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("postgresql") if held == "postgresql" else ""
    path = tmp_path / "shop.db"
    opened: Any = {
        "sqlite": lambda: sqlite3.connect(path),
        "postgresql": lambda: psycopg.connect(server, autocommit=True),
    }.get(held, lambda: duckdb.connect(path))()
    with closing(opened) as connection:
        cursor = connection.cursor()
        if server:
            cursor.execute("DROP TABLE IF EXISTS collated")
            cursor.execute("DROP COLLATION IF EXISTS blind")
            try:
                cursor.execute(
                    "CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
                )
            except psycopg.errors.FeatureNotSupported:
                pytest.skip("this PostgreSQL was built without ICU")
        kind = "TEXT COLLATE blind" if server else "TEXT COLLATE NOCASE"
        cursor.execute(f'CREATE TABLE collated (sku {kind}, "user" {kind}, "when" {kind})')
        rows = "('de', 'u', 'b'), ('DE', 'u', 'B'), ('De', 'U', 'A'), ('de', 'U', 'a')"
        cursor.execute(f"INSERT INTO collated VALUES {rows}")  # noqa: S608  # the rows above
        if held == "sqlite":
            connection.commit()
    url = server or f"{held.removeprefix('ibis ')}:///{path}"
    native = ibis.duckdb.connect(path).table("collated") if held == "ibis duckdb" else None
    source, named = (url, {"table": "collated"}) if native is None else (native, {})
    assert read_profile(source, label="sku", **named) == Profile.from_prevalences({1: 2, 2: 1})
    bounded = read_profile(source, label="sku", user="user", max_per_user=1, order_by="when", **named)
    # Capitals come first, as they do where nothing is collated, so both keep what is written in them.
    assert dict(zip(bounded.counts, bounded.prevalences, strict=True)) == {1: 2}
    everything = read_profile(source, label="user", user="user", max_per_user=9, **named)
    assert dict(zip(everything.counts, everything.prevalences, strict=True)) == {2: 2}


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Any]:
    """Return a table of SQLite whose connection several threads may use."""
    with closing(sqlite3.connect(tmp_path / "shop.db", check_same_thread=False)) as connection:
        connection.execute("CREATE TABLE log (sku TEXT, who TEXT)")
        connection.executemany("INSERT INTO log VALUES (?, ?)", [*ROWS, ("c", "u")])
        connection.commit()
        backend = ibis.sqlite.connect()
        backend.disconnect()
        backend.con = connection
        yield backend.table("log")


def opened(table: Any) -> AbstractContextManager[Opened]:
    return holder_of(table, table=None, format=None, delimiter=None, header=True).open()


def bounded(source: Opened) -> Any:
    """Return the query of a table whose four rows are three within the bound."""
    return events_query(source.table, Columns("sku", user="who", max_per_user=2, order_key="0" * 32))


def items(query: Any) -> int:
    return sum(count * prevalence for count, _, prevalence, *_ in fetch(query))


def test_sources_of_one_connection_are_closed_in_any_order(shared: Any) -> None:
    first, second = opened(shared), opened(shared)
    with ExitStack() as closing_last:
        with ExitStack() as closing_first:
            read = closing_first.enter_context(first)
            other = closing_last.enter_context(second)
            assert items(bounded(read)) == 3
        assert items(bounded(other)) == 3
    assert not sqlite_values._BESIDE


def test_threads_that_share_a_connection_have_an_engine_each(shared: Any) -> None:
    with opened(shared) as source, ThreadPoolExecutor(1) as pool:
        other = opened(shared)
        assert items(bounded(pool.submit(other.__enter__).result())) == 3
        query = bounded(source)
        pool.submit(other.__exit__, None, None, None).result()
        assert items(query) == 3
    assert not sqlite_values._BESIDE


def test_a_database_is_not_locked_after_an_error(shared: Any, tmp_path: Path) -> None:
    connection = shared.get_backend().con
    # It stops before the last lot of rows.
    connection.execute("INSERT INTO log VALUES (CAST(x'ff' AS TEXT), 'w')")
    connection.executemany("INSERT INTO log VALUES (?, ?)", ROWS * 200)
    connection.commit()
    with pytest.raises(DataError, match="not UTF-8") as told:
        read_profile(shared, label="sku", user="who", max_per_user=2)
    with closing(sqlite3.connect(tmp_path / "shop.db", timeout=0)) as other:
        other.execute("DELETE FROM log")
        other.commit()
    assert told.value.__traceback__ is not None
