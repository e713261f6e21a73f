"""Who may do what with a ledger in PostgreSQL, and what is said to those who may not, or do not get there."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from anonhist.accounting import Charge, Ledger, verify
from anonhist.errors import BudgetError, DataError, OutputError
from anonhist_testing.cases import each_of
from anonhist_testing.postgresql import PASSWORDED, Database

Asking = Callable[..., Charge]
GUIDE = Path(__file__).parents[2] / "docs" / "budget.md"


def test_nothing_but_create_makes_tables(address: str, asking: Asking) -> None:
    if not address.startswith("postgresql"):
        Path(address).touch()
    with Ledger(address) as ledger:
        for ask in (
            ledger.datasets,
            ledger.entries,
            lambda: ledger.balance("passwords"),
            lambda: ledger.charge(asking("1/2")),
            lambda: ledger.void(1, "a test"),
            lambda: verify(ledger),
        ):
            with pytest.raises(DataError, match="There is no ledger in"):
                ask()
    if address.startswith("postgresql"):
        import psycopg

        with psycopg.connect(address) as connection:
            made = "SELECT count(*) FROM pg_class WHERE relname LIKE 'anonhist%'"
            assert connection.execute(made).fetchone() == (0,)
    else:
        assert Path(address).stat().st_size == 0


def _rights() -> list[list[str]]:
    """Return the statements of the guide, for those who read and for those who release."""
    blocks = re.findall(r"```sql\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return [[each for each in block.splitlines() if each.startswith("GRANT")] for block in blocks]


def test_the_rights_of_the_guide_are_enough_and_no_more(database: Database, asking: Asking) -> None:
    import psycopg

    with Ledger(database.address()) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        ledger.charge(asking("1/2"))
    user = database.role()
    (granted,) = _rights()
    with Ledger(database.address(user)) as ledger:
        with pytest.raises(OutputError, match="has too few rights to the ledger"):
            ledger.balance("passwords")
        for each in granted[:2]:
            database.sql.execute(each.replace("analyst", user))
        assert ledger.balance("passwords").left.epsilon == 3 / 2
        assert verify(ledger).problems == ()
        with pytest.raises(OutputError, match="has too few rights to the ledger"):
            ledger.charge(asking("1/2"))
        for each in granted[2:]:
            database.sql.execute(each.replace("analyst", user))
        ledger.complete(ledger.charge(asking("1/2")), "ab" * 32)
        ledger.void(ledger.charge(asking("1/2")).entry, "a test")
        with pytest.raises(BudgetError):
            ledger.charge(asking("5"))
        assert verify(ledger).problems == ()
    with psycopg.connect(database.address(user), autocommit=True) as own:
        for statement in (
            "UPDATE anonhist.anonhist_entries SET digest = ''",
            "DELETE FROM anonhist.anonhist_entries",
            "TRUNCATE anonhist.anonhist_entries",
            "DROP TRIGGER anonhist_append_only ON anonhist.anonhist_entries",
            "CREATE TABLE anonhist.other (name text)",
            "UPDATE anonhist.anonhist_ledger SET value = ''",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                own.execute(statement)


def test_whoever_may_not_make_the_schema_is_told_who_may(database: Database) -> None:
    user = database.role()
    with Ledger(database.address(user)) as ledger:
        with pytest.raises(OutputError, match="run CREATE SCHEMA anonhist AUTHORIZATION with the name"):
            ledger.create("passwords", "user", epsilon=2)
        database.sql.execute(f"CREATE SCHEMA anonhist AUTHORIZATION {user}")
        ledger.create("passwords", "user", epsilon=2)


REFUSED = "refuses this login: check user, password and database"
UNREACHABLE = "cannot be reached: check host, port and sslmode, and that the server runs"


@pytest.mark.full
@each_of(
    ("change", "told"),
    [
        (lambda address: address.replace("tester@", "nobody_here:topsecret@"), REFUSED),
        (lambda address: re.sub("/test[0-9a-f]+", "/no_such_database", address), REFUSED),
        (lambda address: address.replace("tester@", f"{PASSWORDED}:topsecret@"), REFUSED),
        (lambda address: address.replace("tester@", f"{PASSWORDED}@") + "&passfile=/topsecret", REFUSED),
        (lambda _: "postgresql://eve:topsecret@127.0.0.1:1/x", UNREACHABLE),
        (lambda _: "postgresql://eve:topsecret@nowhere.invalid/x", UNREACHABLE),
        (lambda _: "postgresql://eve:topsecret@/x?host=/nowhere", UNREACHABLE),
        (lambda _: "postgresql://eve:topsecret@/x?host=/topsecret@&schema=budgets", UNREACHABLE),
        (lambda address: f"{address}&topsecret=1", "has an address that PostgreSQL does not accept"),
        (lambda address: f"{address}&sslmode=topsecret", "has an address that PostgreSQL does not accept"),
    ],
)
def test_unreachable_and_refused_are_two_sentences(
    change: Callable[[str], str], told: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.delenv("PGPASSWORD", raising=False)
    address = request.getfixturevalue("postgresql").database()
    with psycopg.connect(address, autocommit=True) as own, suppress(psycopg.errors.DuplicateObject):
        own.execute(f"CREATE ROLE {PASSWORDED} LOGIN PASSWORD 'another'")
    with pytest.raises(DataError) as refused:
        Ledger(change(address)).datasets()
    assert told in str(refused.value)
    assert "topsecret" not in str(refused.value)


def test_a_password_lets_in(database: Database, asking: Asking) -> None:
    with suppress(Exception):
        database.sql.execute(f"CREATE ROLE {PASSWORDED} LOGIN")
    database.sql.execute(f"ALTER ROLE {PASSWORDED} SUPERUSER PASSWORD 'to?schema=p'")
    address = database.address(f"{PASSWORDED}:to%3Fschema=p", schema="budgets")
    with Ledger(address) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        ledger.charge(asking("1"))
        assert "to" not in ledger.shown.removeprefix("postgresql")
    assert database.schemas() == ["budgets"]
    database.sql.execute(f"ALTER ROLE {PASSWORDED} NOSUPERUSER PASSWORD 'another'")
