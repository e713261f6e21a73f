"""A ledger in PostgreSQL: one address leads to one ledger, whoever asks, whatever their settings and rights are."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Barrier
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from anonhist.accounting import Charge, Ledger, postgresql, verify
from anonhist.accounting.postgresql import PostgresqlStorage
from anonhist.accounting.schema import placed
from anonhist.errors import AnonhistError, BudgetError, DataError, OutputError, UsageError
from anonhist_testing.cases import each_of
from anonhist_testing.postgresql import PASSWORDED, Server

Asking = Callable[..., Charge]
GUIDE = Path(__file__).parents[2] / "docs" / "budget.md"


class Database:
    """A new database, and whoever uses it."""

    def __init__(self, server: Server) -> None:
        import psycopg

        self._server, self._name = server, server.database().partition("@/")[2].partition("?")[0]
        self.sql = psycopg.connect(server.address(self._name), autocommit=True)

    def address(self, user: str = "tester", **parameters: str) -> str:
        """Return its address for somebody."""
        more = "".join(f"&{name}={quote(value)}" for name, value in parameters.items())
        return self._server.address(self._name, user) + more

    def role(self, rights: str = "") -> str:
        """Make a role with a schema of its own, and return its name."""
        name = f"r{uuid4().hex}"
        self.sql.execute(f"CREATE ROLE {name} LOGIN {rights}")
        self.sql.execute(f"CREATE SCHEMA {name} AUTHORIZATION {name}")
        return name

    def tables(self) -> list[tuple[str, str]]:
        """Return where there are tables of ledgers, of whatever kind."""
        query = (
            "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            r"WHERE c.relname LIKE 'anonhist\_%' ORDER BY 1, 2"
        )
        found: list[tuple[str, str]] = self.sql.execute(query).fetchall()
        return found

    def schemas(self) -> list[str]:
        """Return the schemas that have a table of ledgers."""
        return sorted({schema for schema, _ in self.tables()})


@pytest.fixture
def new_database(request: pytest.FixtureRequest) -> Iterator[Callable[[], Database]]:
    """Return what makes databases without a ledger."""
    with ExitStack() as kept:

        def make() -> Database:
            made = Database(request.getfixturevalue("postgresql"))
            kept.callback(made.sql.close)
            return made

        yield make


@pytest.fixture
def database(new_database: Callable[[], Database]) -> Database:
    """Return a new database without a ledger."""
    return new_database()


@pytest.fixture
def old(database: Database, asking: Asking) -> list[Any]:
    """Make a ledger in the schema public, as old versions did, and return its rows."""
    with Ledger(database.address(schema="public")) as ledger:
        ledger.create("passwords", "user", epsilon=2)
        ledger.complete(ledger.charge(asking("1/2")), "ab" * 32)
        ledger.charge(asking("1/2"))
        return list(ledger.rows())


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
        own.execute(
            "CREATE TEMPORARY TABLE anonhist_accounts AS SELECT 'passwords' AS dataset, 1 AS created, '0'::text"
        )
        own.execute("CREATE TEMPORARY TABLE anonhist_entries (number bigint, dataset text, about bigint)")
        ledger.charge(asking("1"))
        assert verify(ledger).problems == ()
        with Ledger(database.address()) as other:
            with pytest.raises(DataError, match=r"temporary tables \('pg_temp_\d+'\) .* have that session ended"):
                other.charge(asking("1"))
            ledger.close()
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
        database.sql.execute(f"GRANT CREATE ON DATABASE {database._name} TO {user}")
    said = _race([database.address(users[number % 2]) for number in range(10)])
    assert sum(each is None for each in said) == 5
    assert {str(each)[:45] for each in said if each is not None} == {"This login has too few rights to the ledger '"}
    assert database.schemas() == ["anonhist"]


def test_of_ledgers_that_are_made_in_two_schemas_at_once_one_is(database: Database) -> None:
    said = _race([database.address(schema=f"s{number % 2}") for number in range(12)])
    assert sum(each is None for each in said) == 6
    assert len(database.schemas()) == 1
    assert all("The ledger of this database is in the schema 's" in str(each) for each in said if each)


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
    from anonhist.cli.entry import run

    before = [name for _, name in database.tables()]
    address = database.address()
    assert run(["budget", "move", "--ledger", address]) == 0
    assert capsys.readouterr().out == (
        "Moved the ledger of 'tester' from the schema 'public' to anonhist; its chain of 4 entries is whole. Whoever "
        "releases needs GRANT USAGE ON SCHEMA anonhist.\n"
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
    assert capsys.readouterr().out == "The ledger is in the schema anonhist already; its chain of 5 entries is whole.\n"


def test_a_ledger_in_a_schema_that_no_address_names_is_moved(
    old: list[Any], database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    from anonhist.cli.entry import run

    # As that of a user with such a name was.
    database.sql.execute('ALTER SCHEMA public RENAME TO "Odd ""name;"')
    assert run(["budget", "move", "--ledger", database.address(schema="budgets"), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    with Ledger(database.address(schema="budgets")) as ledger:
        assert ledger.rows() == old


@each_of(
    ("statement", "told"),
    [
        ("CREATE SCHEMA anonhist CREATE TABLE anonhist_ledger (name text)", "has a ledger in 'public', too"),
        ("CREATE SCHEMA other CREATE TABLE anonhist_ledger (name text)", "has a ledger in 'other' and 'public', and"),
        ("CREATE SCHEMA anonhist CREATE TABLE anonhist_accounts (name text)", "refused with the SQL state 42P07"),
        ("DROP TABLE anonhist_entries", "has parts of a ledger, and no whole one"),
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
    from anonhist.cli.entry import run

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
    from anonhist.cli.entry import run

    user = database.role()
    before = database.tables()
    for rights, told in (
        ("ALL ON ALL TABLES IN SCHEMA public", "may not make the schema"),
        (f"CREATE ON DATABASE {database._name}", "has too few rights to the ledger"),
    ):
        database.sql.execute(f"GRANT {rights} TO {user}")
        assert run(["budget", "move", "--ledger", database.address(user)]) == 3
        assert told in capsys.readouterr().err
        assert database.tables() == before


def test_a_file_and_nothing_are_not_moved(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from anonhist.cli.entry import run

    assert run(["budget", "move", "--ledger", f"{tmp_path}/budget.db"]) == 2
    assert "A ledger in a file is moved as files are" in capsys.readouterr().err
    assert run(["budget", "move", "--ledger", database.address()]) == 3
    assert "There is no ledger in the database of" in capsys.readouterr().err
    assert database.tables() == []
    assert list(tmp_path.iterdir()) == []


def test_what_is_charged_while_a_ledger_moves_is_in_it(database: Database, asking: Asking) -> None:
    from anonhist.accounting.moving import move

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
        assert move(database.address()).source == "public"
        charged = sum(charging)
    with Ledger(database.address()) as ledger:
        assert len(ledger.entries()) == 1 + charged
        assert verify(ledger).problems == ()


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


def test_a_database_without_an_encoding_holds_a_ledger(
    database: Database, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "latin1")
    name = f"{database._name}_ascii"
    database.sql.execute(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    with Ledger(database.address().replace(database._name, name)) as ledger:
        ledger.create("Wörter €", "user", epsilon=2)
        ledger.charge(asking("1/2", dataset="Wörter €"))
        assert ledger.datasets() == ("Wörter €",)
        assert verify(ledger).problems == ()


REFUSED = "refuses this login: check user, password and database"
UNREACHABLE = "cannot be reached: check host, port and sslmode, and that it runs"


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
        (lambda address: f"{address}&topsecret=1", "has an address that PostgreSQL does not take"),
        (lambda address: f"{address}&sslmode=topsecret", "has an address that PostgreSQL does not take"),
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


@each_of(
    ("address", "plain", "schema"),
    [
        ("postgresql://h/x", "postgresql://h/x", "anonhist"),
        ("postgresql://", "postgresql://", "anonhist"),
        ("postgresql://?schema=a", "postgresql://", "a"),
        ("postgres:///x?schema=a_1", "postgres:///x", "a_1"),
        ("postgresql://h/x?schema=a&port=5", "postgresql://h/x?port=5", "a"),
        ("postgresql://h/x?port=5&schema=%61", "postgresql://h/x?port=5", "a"),
        ("postgresql://h/x?%73chema=a", "postgresql://h/x", "a"),
        ("postgresql://h/x?myschema=a", "postgresql://h/x?myschema=a", "anonhist"),
        ("postgresql://e:?schema=p@h/x", "postgresql://e:?schema=p@h/x", "anonhist"),
        ("postgresql://e:?schema=p@h/x?schema=a", "postgresql://e:?schema=p@h/x", "a"),
        ("postgresql://h/x?user=e@f&schema=a", "postgresql://h/x?user=e@f", "a"),
        ("postgresql://h?schema=a", "postgresql://h", "a"),
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
        with pytest.raises(UsageError, match="names one schema, or none, in lower-case letters"):
            PostgresqlStorage(f"postgresql://h/x?schema={more}")


def test_the_longest_name_of_a_schema_is_not_cut_off(database: Database) -> None:
    with pytest.raises(UsageError, match="names one schema"):
        Ledger(database.address(schema="s" * 64))
    with Ledger(database.address(schema="s" * 63)) as ledger:
        ledger.create("passwords", "user", epsilon=2)
    assert database.schemas() == ["s" * 63]
