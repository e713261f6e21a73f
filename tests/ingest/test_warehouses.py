"""The SQL that other engines get from Ibis, and what two of them answer where they are installed.

No warehouse is reached here. What each gets is compared with a file, and its windows and groups are looked at whatever
version of Ibis wrote them. Spark runs what Databricks gets, and an embedded ClickHouse what ClickHouse gets.
"""

import csv
import io
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pytest
import sqlglot
from sqlglot import expressions as sge

from anonhist.errors import UsageError
from anonhist.ingest.plain_types import with_plain_types
from anonhist.ingest.random_order import md5_of_ibis
from anonhist_testing.cases import each_of
from anonhist_testing.warehouses import DIALECTS, EXACT, QUERIES, compiled, heading, table_of, text_of, without_numbers

GOLDEN = Path(__file__).parent / "golden"
# Of each query, the columns of its groups, the last step first, and those of the windows of its running sums.
_COUNTED = [{"count", "is_null"}, {"label"}]
_IN_GROUPS = [{"count", "is_null", "group"}, {"label", "group"}]
_FIRST = [{"user"}, {"user", "label"}]
# A number in the order of labels, and beside it the total.
_SAMPLED = [{"user"}, {"user"}]
SHAPES: dict[str, tuple[list[set[str]], list[set[str]]]] = {
    "events": (_COUNTED, []),
    "events of some rows, by text": (_COUNTED, []),
    "events of some rows, by numbers": (_COUNTED, []),
    "events, five of each user": (_COUNTED, _SAMPLED),
    "events, the first five of each user": (_COUNTED, _FIRST),
    "events, fractions and NaN": ([{"count", "is_null", "named"}, {"label", "named"}], _FIRST),
    "events, decimals": (_COUNTED, _FIRST),
    "events, times": (_COUNTED, []),
    "events, times with a zone": (_COUNTED, []),
    "users": ([{"items"}, {"user"}], []),
    "rows left out": ([], []),
    "groups": (_IN_GROUPS, []),
    "groups, five items of each user": (_IN_GROUPS, _SAMPLED),
    "groups, one of each user": (_IN_GROUPS, [{"user", "group"}, {"user", "group"}]),
    "groups, one of each label": (_IN_GROUPS, [{"user_name", "occurrence"}]),
    "windows of days, five items of each user": (
        [{"at_day"}, {"label", "at_day"}],
        [{"known"}, *_SAMPLED],
    ),
    "windows of weeks": ([{"at_day"}, {"label", "at_day"}], [{"known"}]),
    "counts": (_COUNTED, []),
    "counts as text": (_COUNTED, []),
    "prevalences": ([{"count"}], []),
}
# PostgreSQL counts equal rows of users first.
_PAIRS = {
    "events, five of each user": {"user", "label"},
    "groups, five items of each user": {"user", "group", "label"},
    "groups, one of each user": {"user", "group", "label"},
    "windows of days, five items of each user": {"user", "at_day", "label"},
}
HASHES = {
    "athena": "LOWER(TO_HEX(MD5(TO_UTF8({}))))",
    "bigquery": "TO_HEX(MD5({}))",
    "clickhouse": "LOWER(HEX(MD5({})))",
    "databricks": "MD5({})",
    "duckdb": "MD5({})",
    "postgres": "MD5({})",
    "snowflake": "MD5({})",
    "trino": "LOWER(TO_HEX(MD5(TO_UTF8({}))))",
}
# Names of users and labels that differ in case or in spaces alone, a missing time, a fraction, NaN, a row at midnight.
COLUMNS = "query, user, ts, price, country, seen, zoned, count, share, written, amount"
ROWS = [
    ("a", "u", 1, 1.5, "de", "2026-11-01 23:30:00", "2026-11-01 23:30:00", 3, 1.0, "3", Decimal("1.50")),
    ("A", "u", None, float("nan"), "fr", "2026-11-02 00:00:00", "2026-11-02 00:00:00", 3, 2.0, " 3 ", Decimal("-0.50")),
    (None, "v", 1, 7.0, None, "2026-11-02 01:00:00", None, None, None, None, Decimal("0.00")),
    ("a ", "v", 2, 7.0, "de", None, None, 1, 1.5, "x", None),
    ("a", "u", 1, 1.5, "f\x1fr", "2026-11-02 14:59:00", "2026-11-02 14:59:00", 1, 1.0, "1", Decimal("100.00")),
    *(
        [("", "U", 2, 2.0**53, "fr", "2026-11-02 15:00:00", "2026-11-02 15:00:00", 2**60, 1.0, "0", Decimal("2.00"))]
        * 7
    ),
    ("é", None, 1, 0.0, "fr", None, None, 1, 1.0, "9223372036854775807", Decimal("9999999999.99")),
]


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_sql_is_that_of_the_file(dialect: str) -> None:
    written = (GOLDEN / f"{dialect}.sql").read_bytes().decode()
    if not written.startswith(heading() + "\n"):
        pytest.skip("the files are of other versions of Ibis and sqlglot: tools/write_golden_sql.py writes them")
    assert text_of(dialect) == written


# Which engines would compare as their session says, or through floats.
REFUSED = {
    "decimals": {"clickhouse"},
    "times": {"clickhouse"},
    "times with a zone": {"athena", "clickhouse", "snowflake", "trino"},
}


@each_of("dialect", DIALECTS)
def test_a_condition_is_refused_by_the_schema_where_an_engine_compares_otherwise(dialect: str) -> None:
    for asked, query in EXACT.items():
        table = with_plain_types(table_of(dialect))
        if dialect in REFUSED[asked]:
            with pytest.raises(UsageError, match="compares as its session says: only is null and is not null apply"):
                query(table)
            continue
        sql = str(ibis.to_sql(query(table).to_native(), dialect=dialect))
        assert "0.1" in sql if asked == "decimals" else "2026" in sql
        # By Python, a time would go through the session's zone.
        assert "FROM_ISO8601" not in sql


@pytest.mark.full
@pytest.mark.first(1)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_sums_run_over_rows_and_groups_have_their_columns(dialect: str) -> None:
    for query, (groups, partitions) in SHAPES.items():
        tree = sqlglot.parse_one(compiled(dialect, query), read=dialect)
        found_groups = [_columns_of_group(group) for group in tree.find_all(sge.Group)]
        if dialect == "postgres" and query in _PAIRS:
            found_groups.remove(_PAIRS[query])
        assert found_groups == groups, query
        running = [window for window in tree.find_all(sge.Window) if isinstance(window.this, sge.Sum)]
        found = [sorted(_names(window.args["partition_by"])) for window in running]
        assert sorted(found) == sorted(map(sorted, partitions)), query
        for window in running:
            spec = window.args["spec"]
            if not [each for order in _order(window) for each in order.find_all(sge.Column)]:
                # A total has no order, or, where there must be one, that of nothing.
                assert (spec.args["end"], spec.args["end_side"]) == ("UNBOUNDED", "FOLLOWING"), query
                continue
            # Over a range, rows that tie would all have the sum of all of them.
            assert (spec.args["kind"], spec.args["start"], spec.args["start_side"]) == (
                "ROWS",
                "UNBOUNDED",
                "PRECEDING",
            )
            assert spec.args["end"] == "CURRENT ROW", query
            assert all(order.args["nulls_first"] and not order.args.get("desc") for order in _order(window)), query
        for window in tree.find_all(sge.Window):
            # ClickHouse ranks rows that tie apart in a frame of rows.
            if isinstance(window.this, sge.DenseRank):
                assert dialect != "clickhouse" or window.args["spec"].args["kind"] == "RANGE", query
    assert set(SHAPES) == set(QUERIES)


def _order(window: Any) -> list[Any]:
    order = window.args.get("order")
    return [] if order is None else list(order.expressions)


def _names(columns: list[Any]) -> set[str]:
    return {column.name for column in columns if column.name}


def _columns_of_group(group: Any) -> set[str]:
    """Return the names of the columns of a GROUP BY, which gives their places in the selection, or themselves."""
    chosen = group.parent.expressions
    return {chosen[int(each.name) - 1].alias_or_name if each.is_int else each.name for each in group.expressions}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_hashes_are_text_of_small_letters(dialect: str) -> None:
    import ibis

    native = table_of(dialect, {"name": "string"}).to_native()
    hashed = native.select(hash=md5_of_ibis(dialect)(native.name))
    sql = "".join(without_numbers(str(ibis.to_sql(hashed, dialect=dialect))).upper().replace("`", '"').split())
    assert HASHES[dialect].format('"T0"."NAME"') + 'AS"HASH"' in sql


def test_where_no_hash_is_known_users_are_not_bounded() -> None:
    with pytest.raises(UsageError, match=r"on risingwave, export the table to a Parquet file and read that\.$"):
        md5_of_ibis("risingwave")


@pytest.mark.parametrize("engine", ["mysql", "mssql", "oracle", "exasol", "druid", "singlestoredb"])
def test_engines_that_compare_texts_otherwise_are_refused(engine: str) -> None:
    with pytest.raises(UsageError, match=rf"^Tables of {engine} are not read, since it treats .*: export the table to"):
        with_plain_types(table_of(engine))


def _text(value: Any) -> str:
    """Return a value as every engine writes it."""
    return {"True": "1", "False": "0", "true": "1", "false": "0", "\\N": "None"}.get(str(value), str(value))


@pytest.fixture(scope="module")
def answers() -> Iterator[Callable[[str], list[tuple[str, ...]]]]:
    """Answer a query by DuckDB, on the rows above."""
    types = "TEXT, TEXT, BIGINT, DOUBLE, TEXT, TIMESTAMP, TIMESTAMPTZ, BIGINT, DOUBLE, TEXT, DECIMAL(12; 2)"
    named = ", ".join(" ".join(pair) for pair in zip(COLUMNS.split(", "), types.split(", "), strict=True))
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"CREATE TABLE events ({named.replace(';', ',')})")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ROWS)

        def answer(query: str) -> list[tuple[str, ...]]:
            rows = connection.execute(compiled("duckdb", query)).fetchall()
            return sorted(tuple(map(_text, row)) for row in rows)

        yield answer


@pytest.mark.slow
def test_spark_answers_what_databricks_is_asked(spark: Any, answers: Callable[[str], list[tuple[str, ...]]]) -> None:
    types = "string, string, long, double, string, string, string, long, double, string, decimal(12; 2)"
    named = ", ".join(" ".join(pair) for pair in zip(COLUMNS.split(", "), types.split(", "), strict=True))
    times = ("CAST(seen AS TIMESTAMP_NTZ) AS seen", "to_timestamp(zoned || 'Z') AS zoned")
    chosen = [next((time for time in times if time.endswith(f" {name}")), name) for name in COLUMNS.split(", ")]
    spark.createDataFrame(ROWS, named.replace(";", ",")).selectExpr(*chosen).createOrReplaceTempView("events")
    found = {query: spark.sql(compiled("databricks", query)).collect() for query in QUERIES}
    for query, rows in found.items():
        assert sorted(tuple(map(_text, row)) for row in rows) == answers(query), query


@pytest.mark.slow
def test_clickhouse_answers_what_it_is_asked(answers: Callable[[str], list[tuple[str, ...]]]) -> None:
    chdb = pytest.importorskip("chdb.session", reason="the embedded ClickHouse (chdb) is not installed")
    session = chdb.Session()
    types = "String, String, Int64, Float64, String, DateTime64(6), DateTime64(6; 'Asia/Tokyo'), Int64, Float64, String"
    types += ", Decimal(12; 2)"
    names = COLUMNS.split(", ")
    named = [f"{name} Nullable({kind})" for name, kind in zip(names, types.split(", "), strict=True)]
    session.query(f"CREATE TABLE events ({', '.join(named).replace(';', ',')}) ENGINE = Memory")
    for row in ROWS:
        values = [
            "NULL" if value is None else str(value) if isinstance(value, Decimal) else repr(value) for value in row
        ]
        if row[6] is not None:
            values[6] = f"toDateTime64('{row[6]}', 6, 'UTC')"
        session.query(f"INSERT INTO events VALUES ({', '.join(values)})")  # noqa: S608  # the rows above
    for query in QUERIES:
        told = io.StringIO(str(session.query(compiled("clickhouse", query), "CSV")))
        assert sorted(tuple(map(_text, row)) for row in csv.reader(told)) == answers(query), query
