"""A ledger in PostgreSQL: one address leads to one ledger, whoever asks and whatever their settings are."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier
from typing import Any
from urllib.parse import quote

import pytest

from anonhist.accounting import Charge, Ledger, postgresql, verify
from anonhist.accounting.postgresql import PostgresqlStorage, placed
from anonhist.errors import AnonhistError, BudgetError, DataError, UsageError
from anonhist_testing.cases import each_of
from anonhist_testing.postgresql import Database

Asking = Callable[..., Charge]


def test_a_schema_per_user_does_not_give_everybody_a_budget(database: Database, asking: Asking) -> None:
    users = [database.role("SUPERUSER") for _ in range(2)]
    with Ledger(database.address(users[0])) as alice, Ledger(database.address(users[1])) as bob:
        assert alice.shown == bob.shown
        for each in (alice, bob):
            with suppress(UsageError):
                each.create("passwords", "user", epsilon=1)
        alice.charge(asking("1"))
        with pytest.raises(BudgetError):
            bob.charge(asking("1"))
    assert database.schemas() == ["anonhist"]


def test_settings_of_an_address_lead_to_the_same_ledger(database: Database, asking: Asking) -> None:
    database.sql.execute("CREATE SCHEMA elsewhere")
    other = database.address(options="-csearch_path=elsewhere -cwork_mem=5MB", application_name="a test")
    with Ledger(other) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        with ledger._storage.writing() as ours:
            connection: Any = ours._connection  # type: ignore[attr-defined]
            assert connection.execute("SHOW work_mem").fetchone() == ("5MB",)
            assert connection.execute("SHOW application_name").fetchone() == ("a test",)
    with Ledger(database.address()) as ledger:
        ledger.charge(asking("1"))
    assert database.schemas() == ["anonhist"]


def test_planted_functions_do_not_stand_in_for_those_of_the_database(
    database: Database, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.sql.execute("CREATE SCHEMA planted")
    database.sql.execute(
        "CREATE FUNCTION planted.pg_advisory_xact_lock(bigint) RETURNS void LANGUAGE sql AS 'SELECT NULL'"
    )
    monkeypatch.setattr(postgresql, "_PATIENCE", "100ms")
    with Ledger(database.address(options="-csearch_path=planted,pg_catalog,anonhist,public")) as ledger:
        database.sql.execute("SET search_path TO anonhist, public")
        with Ledger(database.address()) as made:
            made.create("passwords", "user", epsilon=2)
        database.sql.execute(f"SELECT pg_advisory_lock({postgresql._LOCK})")
        with pytest.raises(DataError, match="locked by another program"):
            ledger.charge(asking("1"))
        database.sql.execute(f"SELECT pg_advisory_unlock({postgresql._LOCK})")
        ledger.charge(asking("1"))


def test_temporary_tables_are_no_ledger(database: Database, asking: Asking) -> None:
    with Ledger(database.address()) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        storage: Any = ledger._storage
        _, own = storage._open
        # As a pool may do that hands a session to several.
        own.execute("CREATE TEMPORARY TABLE anonhist_entries (number bigint, dataset text, about bigint)")
        ledger.charge(asking("1"))
        assert verify(ledger).problems == ()
        with Ledger(database.address()) as other:
            with pytest.raises(DataError, match=r"temporary tables \('pg_temp_\d+'\) .* end that session"):
                other.charge(asking("1"))
            session = own.info.backend_pid
            ledger.close()
            # The server drops what the session had only after that.
            database.sql.execute("SELECT pg_terminate_backend(%s, 5000)", (session,))
            other.charge(asking("1"))
            assert other.balance("passwords").left.epsilon == 0


def test_settings_hold_in_whatever_session_a_pool_hands_over(database: Database) -> None:
    user = database.role("SUPERUSER")
    for setting in ("synchronous_commit TO off", "default_transaction_isolation TO serializable"):
        database.sql.execute(f"ALTER ROLE {user} SET {setting}")
    with Ledger(database.address(user)) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        storage: Any = ledger._storage
        storage._open[1].execute("DISCARD ALL")
        with storage.writing() as ours:
            for name, value in (
                ("synchronous_commit", "on"),
                ("transaction_isolation", "read committed"),
                ("search_path", "pg_catalog, pg_temp"),
                ("lock_timeout", "1min"),
            ):
                assert ours._connection.execute(f"SHOW {name}").fetchone() == (value,)


def test_a_ledger_elsewhere_is_told_of_to_somebody_without_any_right(database: Database) -> None:
    with Ledger(database.address(schema="hidden")) as ledger:
        ledger.create("passwords", "user", epsilon=2)
    guest = database.role()
    told = (
        r"The ledger of this database is in the schema 'hidden', not at '.*schema=anonhist': move it there with "
        r"'anonhist budget move', or name that schema in the address \(\?schema=hidden\)\."
    )
    with Ledger(database.address(guest)) as ledger:
        for ask in (ledger.datasets, lambda: ledger.create("more", "user", epsilon=1)):
            with pytest.raises(DataError, match=told):
                ask()
    assert database.schemas() == ["hidden"]


@pytest.mark.full
@each_of(("other", "made"), [("alice", "anonhist"), ("anonhist", "alice"), ("Odd\n\x1bName", "anonhist")])
def test_two_ledgers_are_refused_by_name(other: str, made: str, new_database: Callable[[], Database]) -> None:
    database = new_database()
    with Ledger(database.address(schema=made)) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        ledger.close()
        database.sql.execute(f'CREATE SCHEMA "{other}"')
        database.sql.execute(f'CREATE TABLE "{other}".anonhist_entries (number bigint)')
        with pytest.raises(DataError) as refused:
            ledger.datasets()
        assert f"has a ledger in {other!r}, too, and a budget could be spent once in each" in str(refused.value)


def _race(addresses: list[str]) -> list[BaseException | None]:
    """Make a budget at each address at once, and return what was said."""
    start = Barrier(len(addresses))

    def make(number: int) -> BaseException | None:
        with Ledger(addresses[number]) as ledger:
            start.wait()
            try:
                ledger.create(f"set{number}", "user", epsilon=1)
            except AnonhistError as error:
                return error
        return None

    with ThreadPoolExecutor(len(addresses)) as pool:
        return list(pool.map(make, range(len(addresses))))


@pytest.mark.full
def test_two_users_who_make_a_ledger_at_once_make_one(database: Database) -> None:
    users = [database.role("SUPERUSER") for _ in range(2)]
    assert _race([database.address(users[number % 2]) for number in range(12)]) == [None] * 12
    assert database.schemas() == ["anonhist"]
    with Ledger(database.address()) as ledger:
        assert len(ledger.datasets()) == 12
        assert verify(ledger).problems == ()


def test_of_users_without_rights_to_the_schema_of_others_one_makes_the_ledger(database: Database) -> None:
    users = [database.role() for _ in range(2)]
    for user in users:
        database.sql.execute(f"GRANT CREATE ON DATABASE {database.name} TO {user}")
    said = _race([database.address(users[number % 2]) for number in range(10)])
    assert sum(each is None for each in said) == 5
    assert {str(each)[:45] for each in said if each is not None} == {"This login has too few rights to the ledger '"}
    assert database.schemas() == ["anonhist"]


def test_of_ledgers_that_are_made_in_two_schemas_at_once_one_is(database: Database) -> None:
    said = _race([database.address(schema=f"s{number % 2}") for number in range(12)])
    assert sum(each is None for each in said) == 6
    assert len(database.schemas()) == 1
    assert all("The ledger of this database is in the schema 's" in str(each) for each in said if each)


def test_a_database_without_an_encoding_holds_a_ledger(
    database: Database, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "latin1")
    name = f"{database.name}_ascii"
    database.sql.execute(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    with Ledger(database.address().replace(database.name, name)) as ledger:
        ledger.create("Wörter €", "user", epsilon=2)
        ledger.charge(asking("1/2", dataset="Wörter €"))
        assert ledger.datasets() == ("Wörter €",)
        assert verify(ledger).problems == ()


@each_of(
    ("address", "plain", "schema"),
    [
        ("postgresql://h/x", "postgresql://h/x", "anonhist"),
        ("postgres:///x?schema=a_1", "postgres:///x", "a_1"),
        ("postgresql://h/x?schema=a&port=5", "postgresql://h/x?port=5", "a"),
        ("postgresql://h/x?port=5&schema=%61", "postgresql://h/x?port=5", "a"),
        ("postgresql://h/x?%73chema=a", "postgresql://h/x", "a"),
        ("postgresql://h/x?myschema=a", "postgresql://h/x?myschema=a", "anonhist"),
        ("postgresql://e:?schema=p@h/x", "postgresql://e:?schema=p@h/x", "anonhist"),
        ("postgresql://e:?schema=p@h/x?schema=a", "postgresql://e:?schema=p@h/x", "a"),
        ("postgresql://h/x?user=e@f&schema=a", "postgresql://h/x?user=e@f", "a"),
        ("postgresql://h/b?schema=a", "postgresql://h/b", "a"),
    ],
)
def test_the_schema_is_taken_out_of_an_address_alone(address: str, plain: str, schema: str) -> None:
    assert placed(address) == (plain, schema)


@each_of(
    "name",
    ["", "A", "a-b", "a b", 'a"b', "a;b", "a.b", "1a", "pg_temp", "pg_catalog", "information_schema", "é", "a%s"],
)
def test_a_schema_that_would_need_quotes_is_refused(name: str) -> None:
    for more in (quote(name), f"good&schema={quote(name)}", "good&schema=good"):
        with pytest.raises(UsageError, match="can name one schema, in lower-case letters"):
            PostgresqlStorage(f"postgresql://h/x?schema={more}")


def test_the_longest_name_of_a_schema_is_not_cut_off(database: Database) -> None:
    with pytest.raises(UsageError, match="can name one schema"):
        Ledger(database.address(schema="s" * 64))
    with Ledger(database.address(schema="s" * 63)) as ledger:
        ledger.create("passwords", "user", epsilon=2)
    assert database.schemas() == ["s" * 63]


@each_of(
    "address",
    [
        "postgresql://db",
        "postgresql://",
        "postgresql://?schema=a",
        "postgresql:///?host=/run",
        "postgresql://eve:secret@db/",
        "postgresql://db/a?dbname=b",
        "postgresql://db/a?host=x&service=b",
        "postgresql://db/a?db%6eame=b",
    ],
)
def test_an_address_names_the_database_itself(address: str) -> None:
    # By these, libpq would take whatever is named like the user, or as a file of services says.
    with pytest.raises(UsageError, match="postgresql://host/database") as refused:
        Ledger(address)
    assert "secret" not in str(refused.value)
