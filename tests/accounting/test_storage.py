"""The databases themselves: versions of the schema, ledgers that cannot be written, and the text of entries."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.accounting import Charge, Entry, Ledger, sqlite, verify
from anonhist.accounting.budget import Cost
from anonhist.accounting.entry import Charged, canonical
from anonhist.accounting.postgresql import PostgresqlStorage
from anonhist.accounting.sqlite import SqliteStorage
from anonhist.errors import DataError, MissingExtraError, OutputError, UsageError
from anonhist_testing.cases import each_of
from anonhist_testing.strategies import repeatable

Asking = Callable[..., Charge]
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def old(tmp_path: Path) -> str:
    """Return a ledger as version 1 wrote it."""
    path = tmp_path / "budget.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((GOLDEN / "schema-1.sql").read_text(encoding="utf-8"))
    return str(path)


def test_a_ledger_of_every_version_is_read_and_goes_on(old: str, asking: Asking) -> None:
    with Ledger(old) as ledger:
        assert verify(ledger).problems == ()
        balance = ledger.balance("passwords")
        assert [each.state for each in balance.items] == ["released", "void", "charged, file unknown"]
        assert balance.left == (1, balance.budget.delta)
        assert [each.event.kind for each in ledger.entries()] == [
            "create",
            "charge",
            "complete",
            "charge",
            "void",
            "charge",
        ]
        ledger.charge(asking("1"))
        assert verify(ledger).problems == ()


@pytest.mark.full
def test_old_schemas_are_migrated_once(
    address: str, ledger: Ledger, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage: Any = PostgresqlStorage if address.startswith("postgresql") else SqliteStorage
    ledger.charge(asking("1"))
    ledger.close()
    monkeypatch.setattr(storage, "migrations", (*storage.migrations, ("CREATE TABLE anonhist_more (name TEXT)",)))
    for _ in range(2):
        with Ledger(address) as newer:
            newer.charge(asking("0.1"))
    monkeypatch.undo()
    with Ledger(address) as older, pytest.raises(DataError, match=r"newer version of anonhist \(its schema is 3"):
        older.charge(asking("1"))


def test_a_migration_that_fails_leaves_the_ledger_as_it_was(
    tmp_path: Path, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{tmp_path}/budget.db"
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=2)
    broken = ("CREATE TABLE anonhist_more (name TEXT)", "CREATE NONSENSE")
    monkeypatch.setattr(SqliteStorage, "migrations", (*SqliteStorage.migrations, broken))
    with Ledger(path) as newer, pytest.raises(DataError):
        newer.charge(asking("1"))
    monkeypatch.undo()
    with Ledger(path) as again:
        again.charge(asking("1"))


def test_a_locked_ledger_is_waited_for_and_then_refused(
    tmp_path: Path, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_PATIENCE", 0.01)
    path = f"{tmp_path}/budget.db"
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(DataError, match="locked by another program"):
                ledger.charge(asking("1"))
            assert ledger.balance("passwords").spent.epsilon == 0  # reading does not wait
            other.execute("ROLLBACK")
        ledger.charge(asking("1"))


@pytest.mark.parametrize(
    ("pragma", "told"), [("PRAGMA query_only = ON", "cannot be written to"), ("PRAGMA max_page_count = 1", "make room")]
)
def test_a_ledger_that_cannot_be_written_charges_nothing(
    pragma: str, told: str, tmp_path: Path, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{tmp_path}/budget.db"
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=2)
    connect = SqliteStorage._connect

    def limited(storage: SqliteStorage, *, make: bool) -> Any:
        connection = connect(storage, make=make)
        connection.execute(pragma)
        return connection

    monkeypatch.setattr(SqliteStorage, "_connect", limited)
    long = "x" * 1000  # more than the last page has room for, sooner or later

    def charge_often(ledger: Ledger) -> None:
        for _ in range(100):
            ledger.charge(asking("1e-9", purpose=long))

    with Ledger(path) as full, pytest.raises(OutputError, match=told):
        charge_often(full)
    monkeypatch.undo()
    with Ledger(path) as again:
        assert verify(again).problems == ()


def test_without_psycopg_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'anonhist\[ledger\]'"):
        Ledger("postgresql://db/x").datasets()


def test_entries_are_on_the_disk_when_a_charge_returns(tmp_path: Path) -> None:
    storage = SqliteStorage(f"{tmp_path}/budget.db")
    storage.make()
    with storage.reading() as state:
        asked = state._connection
        assert asked.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert asked.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    storage.close()


@pytest.mark.full
@repeatable
@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none() | st.lists(st.booleans())))
def test_canonical_text_does_not_depend_on_order(value: dict[str, Any]) -> None:
    assert canonical(value) == canonical(dict(reversed(value.items())))


def test_entries_that_say_nothing_are_refused() -> None:
    for wrong in (
        "",
        "[]",
        "{}",
        '{"kind":"steal"}',
        "null",
        '{"kind":"create","dataset":"x","details":{"epsilon":"1/0"}}',
        "[" * 100_000,
    ):
        with pytest.raises(DataError):
            Entry.read(wrong)


@each_of("number", ["-2", "-0", "1/0", "1e999999999", "0.5", " 1", "1" * 5000, "x", 1, 1.0, None])
def test_numbers_of_privacy_are_fractions_of_at_least_0(number: Any, asking: Asking) -> None:
    asked = Charged(asking("1/2"), Cost(Fraction(1, 2), Fraction(0)))
    told = json.loads(Entry("0" * 32, 2, asked, "2026-11-24T02:46:38Z", "eve", "1").document)
    told["details"]["cost"][0] = number
    with pytest.raises(DataError):
        Entry.read(canonical(told))


@pytest.mark.full
@each_of(
    ("statement", "told"),
    [
        ("UPDATE anonhist_ledger SET value = 'abc' WHERE name = 'schema'", "schema version is missing"),
        ("UPDATE anonhist_ledger SET value = '-1' WHERE name = 'schema'", "schema version is missing"),
        ("DELETE FROM anonhist_ledger", "schema version is missing"),
        ("DELETE FROM anonhist_ledger WHERE name = 'id'", "has no id"),
        ("DELETE FROM anonhist_entries WHERE number = 1", "entry 1 is missing"),
        ("UPDATE anonhist_entries SET document = 5", "entry 1 is not in the format of this version"),
        ("UPDATE anonhist_entries SET document = replace(document, '1/2', '1/8')", "entry 2 was changed"),
        ("UPDATE anonhist_entries SET digest = '00' WHERE number = 2", "entry 2 was changed"),
        ("UPDATE anonhist_entries SET dataset = 'x' WHERE number = 2", "entry 2 was changed"),
        ("UPDATE anonhist_entries SET number = 'x' WHERE number = 2", "entry 2 is missing"),
        ("DROP TABLE anonhist_entries", "is damaged"),
    ],
)
def test_nothing_is_added_to_a_damaged_ledger(statement: str, told: str, tmp_path: Path, asking: Asking) -> None:
    path = f"{tmp_path}/budget.db"
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        ledger.charge(asking("1/2"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER anonhist_no_update")
        connection.execute("DROP TRIGGER anonhist_no_delete")
        connection.execute(statement)
        connection.commit()
        before = connection.iterdump()
        with Ledger(path) as damaged:
            with pytest.raises(DataError, match=told) as refused:
                damaged.create("queries", "user", epsilon=1)
            assert repr(path) in str(refused.value)
            with pytest.raises((DataError, UsageError)):
                damaged.charge(asking("1/2"))
        assert "queries" not in "".join(before)


def test_a_number_that_is_none_is_not_counted_on(tmp_path: Path, asking: Asking) -> None:
    path = f"{tmp_path}/budget.db"
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=2)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO anonhist_entries VALUES ('x', 'passwords', NULL, '', '')")
        connection.commit()
    with Ledger(path) as ledger, pytest.raises(DataError, match="entry 2 is missing"):
        ledger.charge(asking("1/2"))


def test_a_schema_that_is_not_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger(str(path)) as ledger:
        ledger.create("letters", "item", epsilon=2)
    content = path.read_bytes()
    for intact in (b"CREATE TABLE anonhist_ledger", b"ON anonhist_entries (dataset"):
        assert intact in content
        path.write_bytes(content.replace(intact, intact[:7] + b"\xff" + intact[8:]))
        with Ledger(str(path)) as ledger, pytest.raises(DataError, match="is damaged: its schema is not text"):
            ledger.balance("letters")
