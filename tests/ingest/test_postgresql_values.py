"""PostgreSQL: its address, what it lists, and values that it alone has, or writes as its session says."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import ibis
import polars as pl
import psycopg
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.graphs.reading import read_edges
from anonhist.ingest import read_profile
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.holders import holder_of
from anonhist.ingest.naming import as_text
from anonhist.ingest.query import fetch
from anonhist.ingest.warehouses import connect_to_postgresql
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

_OPENED: dict[str, Any] = {"format": None, "delimiter": None, "header": True}


@pytest.fixture(scope="module")
def server(postgresql: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect as the owner of a schema of its own."""
    with closing(psycopg.connect(postgresql, autocommit=True)) as connection:
        connection.execute("CREATE SCHEMA of_values")
        connection.execute("SET search_path TO of_values")
        yield connection
        connection.execute("DROP SCHEMA of_values CASCADE")


@pytest.fixture
def url(postgresql: str) -> str:
    return postgresql.replace("/postgres?", "/postgres/of_values?")


def names(url: str, table: str, column: str) -> list[str | None]:
    with holder_of(url, table=table, **_OPENED).open() as opened:
        found = fetch(opened.table.select(a=as_text(opened.table, column)))
    return sorted(text if isinstance(text, str) else None for (text,) in found)


def make(server: psycopg.Connection[Any], name: str, columns: str, *values: str) -> None:
    server.execute(f"DROP TABLE IF EXISTS {name} CASCADE")
    server.execute(f"CREATE TABLE {name} ({columns})")
    server.execute(f"INSERT INTO {name} VALUES {', '.join(values)}")  # noqa: S608  # ours


def test_numerics_are_named_by_their_value(server: psycopg.Connection[Any], url: str) -> None:
    values = "(1.5), (1.50), (1.500), (2), (2.0), (-0.0), (100), ('NaN'), ('NaN'), ('Infinity'), ('-Infinity'), (1e30)"
    make(server, "numbers", "a numeric", values)
    told = ["-Infinity", "0", "1.5", "1.5", "1.5", "100", f"1{'0' * 30}", "2", "2", "Infinity"]
    with holder_of(url, table="numbers", **_OPENED).open() as opened:
        found = [text for (text,) in fetch(opened.table.select(a=as_text(opened.table, "a")))]
    assert sorted(text for text in found if isinstance(text, str)) == sorted(told)
    assert read_profile(url, table="numbers", label="a") == Profile.from_counts([3, 2, 1, 1, 1, 1, 1])
    assert read_profile(url, table="numbers", label="a", keep_null=True).n == 12


def test_numerics_tell_users_apart_and_nan_is_none_of_them(server: psycopg.Connection[Any], url: str) -> None:
    make(server, "numbers", "label text, u numeric", "('a', 1.5), ('b', 1.50), ('c', 'NaN'), ('d', 'Infinity')")
    read = read_profile(url, table="numbers", label="label", user="u", max_per_user=1, count_users=True)
    assert (read.n, read.users and read.users.numbers.n) == (2, 3)
    ordered = read_profile(url, table="numbers", label="label", user="u", max_per_user=9, order_by="u")
    assert ordered.n == 3


def test_numerics_that_are_not_whole_are_no_nodes(server: psycopg.Connection[Any], url: str) -> None:
    make(server, "edges", "source numeric, target numeric", "(1.0, 2), (2.00, 3)")
    assert read_edges(url, table="edges").num_nodes == 3
    for more in ("1.5", "'Infinity'"):
        server.execute(f"UPDATE edges SET source = {more} WHERE target = 3")  # noqa: S608  # the values above
        with pytest.raises(DataError, match="whole numbers or text first"):
            read_edges(url, table="edges")
    server.execute("UPDATE edges SET source = 'NaN' WHERE target = 3")
    assert read_edges(url, table="edges").num_nodes == 2


def test_money_is_a_number(server: psycopg.Connection[Any], url: str) -> None:
    make(server, "prices", "a money", "(1.5)", "(2000)")
    assert names(url, "prices", "a") == ["1.5", "2000"]


@pytest.mark.parametrize("kind", ["timestamptz", "timestamp", "date"])
def test_infinite_dates_are_in_no_period_and_come_first_and_last(
    server: psycopg.Connection[Any], url: str, kind: str
) -> None:
    rows = "('a', 1, '2020-01-01'), ('b', 1, 'infinity'), ('c', 1, '-infinity'), ('d', 1, '9999-12-31'), ('e', 1, NULL)"
    make(server, "dated", f"label text, u int, at {kind}", rows)
    for period, first, last in (
        ("day", "2020-01-01", "9999-12-31"),
        ("week", "2019-12-30", "9999-12-27"),
        ("month", "2020-01", "9999-12"),
    ):
        read = read_groups(
            url, table="dated", label="label", by=f"{period}(at)", groups=[first, last, None], keep_null=True
        )
        assert [read[group].n for group in (first, last, None)] == [1, 1, 3], period
    make(
        server,
        "ends",
        f"label text, u int, at {kind}",
        "('z', 1, '2020-01-01'), ('y', 1, 'infinity')",
        "('x', 1, '-infinity'), ('z', 2, '2020-01-01'), ('y', 2, 'infinity')",
    )
    read = read_profile(url, table="ends", label="label", user="u", max_per_user=1, order_by="at")
    # Of the first user the row before all time, of the second the one before the end of it.
    assert read == Profile.from_counts([1, 1], unit=read.unit)
    read = read_profile(url, table="ends", label="label", user="u", max_per_user=2, order_by="at")
    assert sorted(zip(read.counts.tolist(), read.prevalences.tolist(), strict=True)) == [(1, 2), (2, 1)]


def test_intervals_are_named_by_their_seconds(server: psycopg.Connection[Any], url: str) -> None:
    make(
        server, "spans", "a interval, b interval hour", "('1 day', '1 hour'), ('24:00:00', '2 hours'), ('-1.5 s', NULL)"
    )
    assert names(url, "spans", "a") == ["-1.5", "86400", "86400"]
    server.execute("INSERT INTO spans VALUES ('1 year 2 months'), ('420 days'), ('14 months')")
    assert names(url, "spans", "a")[1:4] == ["36288000"] * 3
    assert read_profile(url, table="spans", label="b") == Profile.from_counts([1, 1])


def test_materialized_views_are_read_and_listed(server: psycopg.Connection[Any], url: str) -> None:
    make(server, "shown", "label text", "('a'), ('b'), ('a')")
    server.execute("CREATE MATERIALIZED VIEW seen AS SELECT * FROM shown")
    assert read_profile(url, table="seen", label="label") == Profile.from_counts([2, 1])
    with pytest.raises(UsageError, match="'seen'"):
        read_profile(url)


def test_an_address_may_name_several_hosts_and_a_schema(server: psycopg.Connection[Any], postgresql: str) -> None:
    make(server, "shown", "label text", "('a'), ('b'), ('a')")
    counted = Profile.from_counts([2, 1])
    folder = postgresql.partition("host=")[2]
    for address in (
        f"postgresql://tester@/postgres/of_values?host=/nowhere,{folder}",
        f"postgres://tester@/postgres?schema=of_values&host={folder}",
        f"postgresql://tester@/postgres?host={folder}&schema=of_values",
        f"postgresql://tester@%2Fnowhere,{folder.replace('/', '%2F')}/postgres/of_values",
        f"postgresql://tester:p%40ss+%2F%3F@/postgres/of_values?host={folder}&application_name=a",
    ):
        assert read_profile(address, table="shown") == counted, address


def test_settings_of_a_session_change_no_name(server: psycopg.Connection[Any], url: str) -> None:
    columns = "f float8, d date, z timestamptz"
    make(
        server,
        "settled",
        columns,
        r"(0.3, '2026-11-22', '2026-11-22 23:00:00+00')",
        "(0.1::float8 + 0.2::float8, NULL, NULL)",
    )
    said = "-cextra_float_digits%3D-3 -cDateStyle%3DGerman -cTimeZone%3DAsia/Tokyo".replace(" ", "%20")
    for address in (url, f"{url}&options={said}"):
        assert names(address, "settled", "f") == ["0.3", "0.30000000000000004"]
        with holder_of(address, table="settled", **_OPENED).open() as opened:
            row = [text for name in "dz" for (text,) in fetch(opened.table.select(a=as_text(opened.table, name)))]
        assert [text for text in row if isinstance(text, str)] == ["2026-11-22", "2026-11-22 23:00:00"]
        assert read_groups(address, table="settled", label="f", by="d", groups=["2026-11-22"])["2026-11-22"].n == 1


def test_a_connection_that_rounds_floats_is_refused(server: psycopg.Connection[Any], postgresql: str) -> None:
    make(server, "settled", "f float8", "(0.3)")
    mine = ibis.postgres.from_connection(psycopg.connect(postgresql, autocommit=True))
    mine.con.execute("SET search_path TO of_values")
    assert read_profile(mine.table("settled")).n == 1
    for setting in ("extra_float_digits TO 0", "DateStyle TO German"):
        mine.con.execute(f"SET {setting}")
        with pytest.raises(UsageError, match=r"run SET extra_float_digits TO 1 and SET DateStyle TO ISO, or name the"):
            read_profile(mine.table("settled"))
        mine.con.execute("RESET ALL")
        mine.con.execute("SET search_path TO of_values")
    mine.disconnect()


def test_a_database_without_an_encoding_is_read_where_its_text_is_utf_8(
    server: psycopg.Connection[Any], postgresql: str
) -> None:
    server.execute("DROP DATABASE IF EXISTS bytes")
    server.execute("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'")
    address = postgresql.replace("/postgres?", "/bytes?")
    with closing(psycopg.connect(address, autocommit=True, client_encoding="utf8")) as connection:
        connection.execute("CREATE TABLE shown (source text, target text)")
        connection.execute("INSERT INTO shown VALUES ('é', 'a'), ('é', 'b')")
        assert read_profile(address, table="shown", label="source") == Profile.from_counts([2])
        assert read_edges(address, table="shown").num_nodes == 3
        connection.execute(r"INSERT INTO shown VALUES (E'\xff', 'b')")
        with pytest.raises(
            DataError, match=r"^The database holds text that is not UTF-8, as databases without an encoding"
        ):
            read_edges(address, table="shown")
    server.execute("DROP DATABASE bytes")


@each_of("order_by", [None, "number"])
def test_samples_of_a_database_with_another_encoding_are_those_of_others(
    server: psycopg.Connection[Any], postgresql: str, order_by: str | None
) -> None:
    server.execute("DROP DATABASE IF EXISTS latin")
    server.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    address = postgresql.replace("/postgres?", "/latin?")
    rows = [("äöü"[at % 3], "~ÿßa"[at % 4], at % 5) for at in range(90)]
    with closing(psycopg.connect(address, autocommit=True, client_encoding="utf8")) as connection:
        connection.execute("CREATE TABLE log (who text, what text, number int)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO log VALUES (%s, %s, %s)", rows)
    log = pl.DataFrame(rows, schema=["who", "what", "number"], orient="row")
    for key in (f"{number:032x}" for number in range(4)):
        asked: dict[str, Any] = {"label": "what", "user": "who", "max_per_user": 3, "order_by": order_by}
        here = read_profile(address, table="log", order_key=key, **asked)
        assert here == read_profile(log, order_key=key, **asked), key
    server.execute("DROP DATABASE latin WITH (FORCE)")


@each_of(
    ("kind", "values", "told"),
    [
        ("mood", ["'sad'", "'happy'"], ["happy", "sad"]),
        ("bit(3)", ["B'101'", "B'001'"], ["001", "101"]),
        ("char(5)", ["'a'", "'a  '"], ["a", "a"]),
        ("xml", ["'<a/>'", "'<b/>'"], ["<a/>", "<b/>"]),
        ("float8", ["'-0'", "0", "7"], ["0", "0", "7"]),
        ("uuid", ["'00000000-0000-0000-0000-000000000001'"], ["00000000-0000-0000-0000-000000000001"]),
        ("int[]", ["'{1,2}'"], ["{1,2}"]),
        ("inet", ["'10.0.0.1'"], ["10.0.0.1/32"]),
        ('text COLLATE "C"', ["'de'", "'DE'"], ["DE", "de"]),
    ],
)
def test_values_of_other_types_keep_their_names(
    server: psycopg.Connection[Any], url: str, kind: str, values: list[str], told: list[str]
) -> None:
    if server.execute("SELECT 1 FROM pg_type WHERE typname = 'mood'").fetchone() is None:
        server.execute("CREATE TYPE mood AS ENUM ('sad', 'happy')")
    make(server, "held", f"a {kind}", *(f"({value})" for value in values))
    assert names(url, "held", "a") == told


def test_texts_without_case_are_named_as_written(server: psycopg.Connection[Any], url: str) -> None:
    try:
        server.execute("CREATE EXTENSION citext")
    except psycopg.errors.FeatureNotSupported:
        pytest.skip("this PostgreSQL has no citext")
    make(server, "held", "a citext", "('de')", "('DE')")
    assert names(url, "held", "a") == ["DE", "de"]
    assert read_profile(url, table="held", label="a") == Profile.from_counts([1, 1])
    server.execute("DROP EXTENSION citext CASCADE")


def test_users_of_a_domain_that_ignores_case_are_told_apart(server: psycopg.Connection[Any], url: str) -> None:
    server.execute("CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
    server.execute("CREATE DOMAIN address AS text COLLATE caseless")
    server.execute('CREATE DOMAIN "Its address" AS address')
    rows = (f"({at}, '{who}')" for at in range(5) for who in ("de", "DE"))
    make(server, "held", 'number int, "a ""domain" "Its address"', *rows)
    server.execute("CREATE VIEW addresses AS SELECT * FROM held")
    for table in ("held", "addresses"):
        read = read_profile(url, table=table, label="number", user='a "domain', max_per_user=2, count_users=True)
        assert read.n == 4
        assert read.users is not None
        assert read.users.numbers == Profile.from_counts([5, 5])
        assert read_profile(url, table=table, label='a "domain') == Profile.from_counts([5, 5])
    with closing(connect_to_postgresql(url).con) as connection:
        held = ibis.postgres.from_connection(connection).table("held")
        formula = held.filter(held.number >= 0)
        assert read_profile(formula, label="number", user='a "domain', max_per_user=2).n == 4
        assert read_profile(formula, label='a "domain') == Profile.from_counts([5, 5])
    server.execute("DROP DOMAIN address CASCADE")
    server.execute("DROP COLLATION caseless")


def test_rows_that_a_policy_hides_are_not_counted(server: psycopg.Connection[Any], url: str) -> None:
    make(server, "private", "label text, owner text", "('a', 'reader'), ('b', 'somebody')")
    server.execute("DROP ROLE IF EXISTS reader")
    server.execute("CREATE ROLE reader LOGIN")
    server.execute("GRANT USAGE ON SCHEMA of_values TO reader")
    server.execute("GRANT SELECT ON private TO reader")
    server.execute("ALTER TABLE private ENABLE ROW LEVEL SECURITY")
    server.execute("CREATE POLICY own ON private USING (owner = current_user)")
    assert read_profile(url.replace("tester", "reader"), table="private", label="label").n == 1
    server.execute("DROP TABLE private")
    server.execute("REVOKE USAGE ON SCHEMA of_values FROM reader")
    server.execute("DROP ROLE reader")


def test_a_query_that_takes_too_long_for_the_server_is_an_error_without_values(
    server: psycopg.Connection[Any], url: str
) -> None:
    make(server, "slow", "a text", "('hunter2')")
    server.execute("CREATE VIEW slower AS SELECT a FROM slow, LATERAL (SELECT pg_sleep(9) WHERE a <> '') AS wait")
    with pytest.raises(DataError, match=r"^The database could not be read by the engine") as told:
        read_profile(f"{url}&options=-cstatement_timeout%3D100", table="slower", label="a")
    assert "hunter2" not in str(told.value)


def test_the_server_may_count_in_several_processes(server: psycopg.Connection[Any], url: str) -> None:
    make(server, "shared", "label text", "('a'), ('a'), ('b')")
    server.execute("ALTER TABLE shared SET (parallel_workers = 2)")
    counts = "SELECT leader_pid IS NOT NULL FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    server.execute(f"CREATE OR REPLACE FUNCTION helps() RETURNS bool LANGUAGE sql PARALLEL SAFE AS '{counts}'")
    server.execute(
        "CREATE VIEW counted AS SELECT label, CASE WHEN helps() THEN 'yes' ELSE 'no' END AS helped FROM shared"
    )
    settings = {"parallel_setup_cost": 0, "parallel_tuple_cost": 0, "parallel_leader_participation": "off"}
    address = url + "&options=" + "%20".join(f"-c{name}%3D{value}" for name, value in settings.items())
    assert read_profile(address, table="counted", label="label", where="helped = 'yes'").n == 3
    groups = read_groups(address, table="counted", label="label", by="helped", groups=["no", "yes"])
    assert (groups["no"].n, groups["yes"].n) == (0, 3)
