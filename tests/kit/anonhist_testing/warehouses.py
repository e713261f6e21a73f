"""This program's queries as SQL for engines that are not here: tables of Ibis that no engine holds.

SQL differs between versions of Ibis and sqlglot, so each file names its versions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from anonhist.ingest.columns import Header, Opened
from anonhist.ingest.group_names import UNGROUPED, Grouping, parts_of, with_periods
from anonhist.ingest.group_values import Part
from anonhist.ingest.plain_types import with_plain_types
from anonhist.ingest.query import Columns, counts_query, dropped_query, events_query, prevalences_query
from anonhist.ingest.unit_sizes import units_query
from anonhist.ingest.where import filtered
from anonhist.ingest.windows import increments_query
from anonhist.profiles import Bounded
from anonhist.profiles.where import parse_where

if TYPE_CHECKING:
    from pathlib import Path

DIALECTS = ("athena", "bigquery", "clickhouse", "databricks", "duckdb", "postgres", "snowflake", "trino")
SCHEMA = {
    "query": "string",
    "user": "string",
    "ts": "int64",
    "price": "float64",
    "country": "string",
    "seen": "timestamp",
    "zoned": "timestamp('UTC')",
    "count": "int64",
    "share": "float64",
    "written": "string",
    "amount": "decimal(12, 2)",
}
KEY = "0123456789abcdef" * 2
_COUNTRIES = Grouping(parts_of("country"), (("de",), ("fr",)))
_OF_DAYS = Grouping(parts_of(["country", "day(zoned)"]), (("de", "2026-11-01"), ("f\x1fr", "2026-11-02")))
_OF_USERS = Grouping(parts_of("country"), (("de",), ("fr",)), groups_per_user=1)
_OF_LABELS = Grouping(parts_of("country"), (("de",), ("fr",)), groups_per_label=1)
_DAYS = (Part.of("day(seen)"), ("2026-11-01", "2026-11-02"))
_WEEKS = (Part.of("week(zoned)"), ("2026-10-26", "2026-11-02"))

Query = Callable[[Any], Any]
_NUMBERED = re.compile(r"(_(?:DIGEST|NUMBER|WEEK_OF_TEXT))_[0-9]+\(", re.IGNORECASE)


@dataclass(frozen=True)
class _Engine:
    """An engine that has only what Ibis asks of the engine of a table: its name."""

    name: str


def _events(
    label: str,
    user: str | None = None,
    most: int | None = None,
    order_by: str | None = None,
    grouping: Grouping = UNGROUPED,
) -> Query:
    chosen = Columns(label, user, most, order_by, KEY, grouping=grouping)
    return lambda table: events_query(with_periods(table, chosen.grouping.parts), chosen)


def _filtered(where: str) -> Query:
    chosen = Columns("query")

    def query(table: Any) -> Any:
        opened = Opened(table, Header(table.collect_schema().names()))
        return events_query(filtered(opened, parse_where(where)).table, chosen)

    return query


def _windows(days: tuple[Part, tuple[str, ...]], user: str | None = None, most: int | None = None) -> Query:
    chosen = Columns("query", user, most, order_key=KEY, days=days)
    return lambda table: increments_query(with_periods(table, (days[0],)), chosen, (1, 2))


QUERIES: Mapping[str, Query] = {
    "events": _events("query"),
    "events, five of each user": _events("query", "user", 5),
    "events, the first five of each user": _events("query", "user", 5, "ts"),
    "events, fractions and NaN": _events("price", "user", 5, "price"),
    "events, decimals": _events("amount", "user", 5, "amount"),
    "events, times": _events("seen"),
    "events, times with a zone": _events("zoned"),
    "users": lambda table: units_query(table, Columns("query", "user", 5), Bounded.ITEMS_OF_USERS),
    "rows left out": lambda table: dropped_query(table, Columns("price", "user", 5)),
    "groups": _events("query", grouping=_OF_DAYS),
    "groups, five items of each user": _events("query", "user", 5, grouping=_COUNTRIES),
    "groups, one of each user": _events("query", "user", 5, grouping=_OF_USERS),
    "groups, one of each label": _events("query", grouping=_OF_LABELS),
    "windows of days, five items of each user": _windows(_DAYS, "user", 5),
    "windows of weeks": _windows(_WEEKS),
    "counts": lambda table: counts_query(table, Columns("query", rows="counts", count="count")),
    "counts as text": lambda table: counts_query(table, Columns("query", rows="counts", count="written")),
    "events of some rows, by text": _filtered("country in ('de', 'it''s') and not (query >= 'ä' or country is null)"),
    "events of some rows, by numbers": _filtered("price <= 2.5 and ts > 7.5 and ts <> 9223372036854775807"),
    "prevalences": lambda table: prevalences_query(
        table, Columns("count", rows="prevalences", count="count", prevalence="share")
    ),
}


#: Conditions that not every engine takes: they are compared where they are.
EXACT = {
    "decimals": _filtered("amount <> 0.10"),
    "times": _filtered("seen >= '2026-11-01 12:30:00.5'"),
    "times with a zone": _filtered("zoned < '2026-11-02'"),
}


def table_of(dialect: str, schema: Mapping[str, str] = SCHEMA) -> Any:
    """Return a Narwhals table ``events`` of Ibis that an engine would hold."""
    import ibis
    import ibis.expr.operations as ops
    import narwhals as nw

    held = ops.DatabaseTable(name="events", schema=ibis.schema(schema), source=_Engine(dialect))
    return nw.from_native(held.to_expr())


@cache
def compiled(dialect: str, query: str) -> str:
    """Return the SQL of one of the queries, as it runs on an engine."""
    import ibis

    table = table_of(dialect)
    return without_numbers(str(ibis.to_sql(QUERIES[query](with_plain_types(table)).to_native(), dialect=dialect)))


def without_numbers(sql: str) -> str:
    """Return SQL without the numbers that Ibis gives to Python's functions, which SQLite accepts."""
    return _NUMBERED.sub(r"\1_N(", sql)


def heading() -> str:
    """Return the first line of a file, which names the programs that wrote its SQL."""
    return f"-- by ibis-framework {version('ibis-framework')} and sqlglot {version('sqlglot')}"


def text_of(dialect: str) -> str:
    """Return the text of a dialect's file."""
    parts = (f"-- {query}\n{compiled(dialect, query)};\n" for query in QUERIES)
    return "\n".join([heading() + "\n", *parts])


def write(folder: Path) -> None:
    """Write the files of all dialects."""
    for dialect in DIALECTS:
        (folder / f"{dialect}.sql").write_bytes(text_of(dialect).encode())
