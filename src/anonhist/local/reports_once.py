"""Reports that arrived several times, each counted once: a retry has the same identifier and the same reports.

Of different reports with one identifier, someone forged all but one, and nothing says which: none of them counts. So
the result does not depend on the order in which they are read.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from anonhist.ingest.columns import quoted
from anonhist.local.report_rows import FOREIGN, LENGTH, PLACE, UNIQUE, LeftOut
from anonhist.local.reports import BytesColumn

if TYPE_CHECKING:
    from anonhist.local.survey import Survey


class OnceInEngine:
    """Rows of any number of sources in DuckDB, which puts what does not fit in memory into private files."""

    def __init__(self, connection: Any, survey: Survey) -> None:
        self._connection = connection
        types = {each.name: "BLOB" if isinstance(each, BytesColumn) else "BIGINT" for each in survey.columns}
        self._columns = [*types, FOREIGN]
        columns = {UNIQUE: "VARCHAR", PLACE: "INTEGER", LENGTH: "INTEGER", **types, FOREIGN: "BOOLEAN"}
        connection.execute(
            f"CREATE TEMP TABLE arrived ({', '.join(f'{quoted(name)} {kind}' for name, kind in columns.items())})"
        )

    def add(self, batch: Any) -> None:
        """Keep a batch of rows."""
        self._connection.register("batch", batch)
        self._connection.execute("INSERT INTO arrived BY NAME SELECT * FROM batch")
        self._connection.unregister("batch")

    @cached_property
    def left_out(self) -> LeftOut:
        """What is left out of the rows."""
        arrived = self._connection.table("arrived")
        # A report is compared with those at the same place, and with it the length of its line.
        value = f"struct_pack({', '.join(f'{name} := {name}' for name in map(quoted, (LENGTH, *self._columns)))})"
        is_several = f"min({value}) IS DISTINCT FROM max({value}) AS is_several"
        named = arrived.filter(f"{UNIQUE} IS NOT NULL")
        once = named.aggregate(f"{UNIQUE}, min({value}) AS value, {is_several}", f"{UNIQUE}, {PLACE}")
        self._keep(once, "once")
        self._keep(self._connection.table("once").filter("is_several").project(UNIQUE).distinct(), "several")
        forged = named.join(self._connection.table("several"), UNIQUE, how="semi").distinct()
        return LeftOut(_number(arrived.filter(f"{UNIQUE} IS NULL")), _number(forged))

    def _keep(self, rows: Any, name: str) -> None:
        self._connection.execute(f"CREATE TEMP TABLE {name} AS {rows.sql_query()}")

    @property
    def rows(self) -> Any:
        """The rows that are left, each once: the columns of the reports, and whether they are foreign."""
        left = self._connection.table("once").join(self._connection.table("several"), UNIQUE, how="anti")
        return left.project(", ".join(f"value.{quoted(name)} AS {quoted(name)}" for name in self._columns))


def _number(rows: Any) -> int:
    ((number,),) = rows.count("*").fetchall()
    return int(number)
