"""A ledger in PostgreSQL that another schema has: refused with the way out, and moved, all of it or nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from anonhist.accounting import Charge, Ledger, verify
from anonhist.accounting.ledger import storage_at
from anonhist.accounting.postgresql import move
from anonhist.cli.entry import run
from anonhist.errors import BudgetError, DataError
from anonhist_testing.cases import each_of
from anonhist_testing.postgresql import Database

Asking = Callable[..., Charge]


@pytest.fixture
def old(database: Database, asking: Asking) -> list[Any]:
    """Make a ledger in the schema public, as old versions did, and return its rows."""
    with Ledger(database.address(schema="public")) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        ledger.complete(ledger.charge(asking("1/2")), "ab" * 32)
        ledger.charge(asking("1/2"))
        return list(ledger.rows())


@pytest.mark.usefixtures("old")
def test_an_old_ledger_is_refused_with_the_way_out(database: Database, asking: Asking) -> None:
    with Ledger(database.address()) as ledger:
        for ask in (
            ledger.datasets,
            lambda: ledger.charge(asking("1/2")),
            lambda: ledger.create("passwords", "user", epsilon=2),
        ):
            with pytest.raises(DataError, match=r"in the schema 'public', .* with 'anonhist budget move'\.$"):
                ask()
    assert database.schemas() == ["public"]


def test_an_old_ledger_is_moved_and_goes_on(
    old: list[Any], database: Database, asking: Asking, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [name for _, name in database.tables()]
    address = database.address()
    assert run(["budget", "move", "--ledger", address]) == 0
    assert capsys.readouterr().out == (
        "Moved the ledger of 'tester' from the schema 'public' to anonhist; its chain of 4 entries is whole. Everyone "
        "who makes releases needs GRANT USAGE ON SCHEMA anonhist.\n"
    )
    # Indexes, too.
    assert database.tables() == [("anonhist", name) for name in before]
    functions = "SELECT pronamespace::regnamespace::text FROM pg_proc WHERE proname LIKE 'anonhist%'"
    assert database.sql.execute(functions).fetchall() == [("anonhist",)]
    with Ledger(address) as ledger:
        assert ledger.rows() == old
        ledger.charge(asking("1/2"))
        with pytest.raises(BudgetError):
            ledger.charge(asking("1"))
        assert verify(ledger).problems == ()
        # The trigger, too.
        for change in ("DELETE FROM", "TRUNCATE"):
            with pytest.raises(Exception, match="entries are never changed"):
                database.sql.execute(f"{change} anonhist.anonhist_entries")
    assert run(["budget", "move", "--ledger", address]) == 0
    assert capsys.readouterr().out == "The ledger is already in the schema anonhist; its chain of 5 entries is whole.\n"


def test_a_ledger_in_a_schema_that_no_address_names_is_moved(
    old: list[Any], database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    # As that of a user with such a name was.
    database.sql.execute('ALTER SCHEMA public RENAME TO "Odd ""name;"')
    assert run(["budget", "move", "--ledger", database.address(schema="budgets"), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    with Ledger(database.address(schema="budgets")) as ledger:
        assert ledger.rows() == old


@pytest.mark.full
@each_of(
    ("statement", "told"),
    [
        ("CREATE SCHEMA anonhist CREATE TABLE anonhist_ledger (name text)", "has a ledger in 'public', too"),
        ("CREATE SCHEMA other CREATE TABLE anonhist_ledger (name text)", "has a ledger in 'other' and 'public', and"),
        ("CREATE SCHEMA anonhist CREATE TABLE anonhist_entries_of (name text)", "refused with the SQL state 42P07"),
        ("DROP TABLE anonhist_entries", "has an incomplete ledger"),
        ("ALTER TABLE anonhist_entries RENAME digest TO other", "refused with the SQL state 42703"),
    ],
)
def test_what_cannot_be_moved_stays(
    statement: str,
    told: str,
    new_database: Callable[[], Database],
    asking: Asking,
    capsys: pytest.CaptureFixture[str],
) -> None:
    database = new_database()
    with Ledger(database.address(schema="public")) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        ledger.charge(asking("1/2"))
    database.sql.execute(statement)
    before = database.tables()
    assert run(["budget", "move", "--ledger", database.address()]) == 3
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert database.tables() == before


@pytest.mark.usefixtures("old")
def test_only_who_owns_a_ledger_moves_it(database: Database, capsys: pytest.CaptureFixture[str]) -> None:
    user = database.role()
    before = database.tables()
    for rights, told in (
        ("ALL ON ALL TABLES IN SCHEMA public", "may not make the schema"),
        (f"CREATE ON DATABASE {database.name}", "has too few rights to the ledger"),
    ):
        database.sql.execute(f"GRANT {rights} TO {user}")
        assert run(["budget", "move", "--ledger", database.address(user)]) == 3
        assert told in capsys.readouterr().err
        assert database.tables() == before


def test_a_file_and_nothing_are_not_moved(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["budget", "move", "--ledger", f"{tmp_path}/budget.db"]) == 2
    assert "" in capsys.readouterr().err
    assert run(["budget", "move", "--ledger", database.address()]) == 3
    assert "There is no ledger in the database of" in capsys.readouterr().err
    assert database.tables() == []
    assert list(tmp_path.iterdir()) == []


def test_what_is_charged_while_a_ledger_moves_is_in_it(database: Database, asking: Asking) -> None:
    with Ledger(database.address(schema="public")) as ledger:
        ledger.create("passwords", "user", epsilon=100)
    start = Barrier(5)

    def charge(_: int) -> int:
        """Charge until the ledger is elsewhere."""
        with Ledger(database.address(schema="public")) as ledger:
            ledger.datasets()
            start.wait()
            for number in range(100):
                try:
                    ledger.charge(asking("1/10"))
                except DataError:
                    return number
        return 100

    with ThreadPoolExecutor(4) as pool:
        charging = pool.map(charge, range(4))
        start.wait()
        assert move(storage_at(database.address())).source == "public"
        charged = sum(charging)
    with Ledger(database.address()) as ledger:
        assert len(ledger.entries()) == 1 + charged
        assert verify(ledger).problems == ()
