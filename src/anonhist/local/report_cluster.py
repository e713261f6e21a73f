"""Reports in a table of Spark: counted on the cluster, by grouping or partition by partition."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError
from anonhist.ingest.query import record_batches
from anonhist.ingest.spark import numbers_batch, numbers_of_partitions
from anonhist.local.report_rows import (
    FOREIGN,
    LENGTH,
    PLACE,
    REPORTS,
    TIMES,
    UNIQUE,
    Counted,
    LeftOut,
    TallySum,
    count_rows,
    has_lines,
    is_groupable,
)
from anonhist.local.reports import BytesColumn, Tally, WholeColumn
from anonhist.local.wire import digits
from anonhist.numeric.arrays import sum_equal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anonhist.local.survey import Survey

_ROWS = 1 << 20
_WHOLE_TYPES = ("tinyint", "smallint", "int", "bigint")


class _Told(IntEnum):
    """Codes that a partition sends beside its tally, in place of a cell."""

    USERS = -1
    FOREIGN = -2
    IMPOSSIBLE = -3


def count_on_cluster(
    survey: Survey, table: Any, what: str, *, unique: str | None, most_groups: int
) -> Iterator[Counted | LeftOut]:
    """Count the reports in a Narwhals table of Spark; yield tallies, and the number of rows left out of each.

    With a unique column, the first is what is left out because of it.
    """
    native = table.to_native()
    query = _query(survey, native, what, unique)
    if unique is not None:
        query, left_out = _once(query)
        yield left_out
    yield from (_grouped if is_groupable(survey, most=most_groups) else _by_partition)(survey, query)


def _query(survey: Survey, native: Any, what: str, unique: str | None) -> Any:
    """Return the columns of the reports, whether a row is foreign and, with a unique column, what identifies it."""
    types = dict(native.dtypes)
    in_lines = has_lines(survey, types, what)
    columns: dict[str, str] = {}
    if unique is not None:
        if unique not in types:
            raise DataError(f"{what} has no column {unique!r}.")
        columns = {UNIQUE: _identifying(unique, types[unique], what), PLACE: "0", LENGTH: "1"}
    if in_lines:
        return _of_lines(survey, native, types[REPORTS], columns, what)
    columns |= {column.name: _expression(column, types[column.name], what) for column in survey.columns}
    columns[FOREIGN] = f"NOT (CAST(survey AS string) <=> '{survey.digest}')"
    return _select(native, columns)


def _select(table: Any, columns: Mapping[str, str]) -> Any:
    return table.selectExpr(*(f"{expression} AS `{name}`" for name, expression in columns.items()))


def _of_lines(survey: Survey, native: Any, kind: str, unique: Mapping[str, str], what: str) -> Any:
    """Return a row for each report in lines of devices; lists that do not belong together become a bad one."""
    names = [column.name for column in survey.columns]
    if kind == "string":
        lists = ", ".join(f"`{name}`: array<string>" for name in names)
        body = f"from_json(`{REPORTS}`, 'struct<{lists}>')"
    elif kind.startswith(("struct<", "map<")):
        body = f"`{REPORTS}`"
    else:
        raise DataError(f"{what} must hold lists of texts for each column of a report in its column {REPORTS!r}.")
    known = [name for name in names if not kind.startswith("struct<") or re.search(f"[<,]{name}:", kind)]
    lists_at = {name: f"{body}.`{name}`" if name in known else "CAST(NULL AS array<string>)" for name in names}
    rows = _select(native, {**unique, **lists_at})
    first, *others = names
    together = " AND ".join((f"size({first}) > 0", *(f"size({each}) = size({first})" for each in others)))
    zipped = ", ".join(f"CASE WHEN {together} THEN `{each}` ELSE array(CAST(NULL AS string)) END" for each in names)
    kept = {name: f"`{name}`" for name in unique}
    if unique:
        kept[LENGTH] = f"CASE WHEN {together} THEN size({first}) ELSE 1 END"
    pairs = ", ".join(f"'{each}', each.`{at}`" for at, each in enumerate(names))
    rows = rows.selectExpr(
        *(f"{expression} AS `{name}`" for name, expression in kept.items() if name != PLACE),
        f"posexplode(arrays_zip({zipped})) AS ({PLACE}, each)",
    )
    rows = (
        rows.selectExpr(*kept, f"named_struct({pairs}) AS value")
        if unique
        else rows.selectExpr(f"named_struct({pairs}) AS value")
    )
    values = {column.name: _in_line(column, f"value.`{column.name}`") for column in survey.columns}
    return _select(rows, {name: f"`{name}`" for name in kept} | values | {FOREIGN: "false"})


def _once(rows: Any) -> tuple[Any, LeftOut]:
    """Return each report once, as :class:`~anonhist.local.reports_once.OnceInEngine` does, and what is left out."""
    names = [f"`{name}`" for name in rows.columns if name not in (UNIQUE, PLACE)]
    value = f"struct({', '.join(names)})"
    known = rows.where(f"{UNIQUE} IS NOT NULL").selectExpr(UNIQUE, PLACE, f"{value} AS least", f"{value} AS most")
    # A session by a connection takes no functions of this process, but their names.
    extremes = known.groupBy(UNIQUE, PLACE).agg({"least": "min", "most": "max"})
    is_several = "NOT (`min(least)` <=> `max(most)`) AS is_several"
    once = extremes.selectExpr(UNIQUE, "`min(least)` AS value", is_several)
    several = once.where("is_several").select(UNIQUE).distinct()
    forged = rows.join(several, UNIQUE, "left_semi").distinct().count()
    missing = rows.where(f"{UNIQUE} IS NULL").count()
    left = once.join(several, UNIQUE, "left_anti") if forged else once
    return left.selectExpr(*(f"value.{name}" for name in names if name != f"`{LENGTH}`")), LeftOut(missing, forged)


def _grouped(survey: Survey, query: Any) -> Iterator[Counted]:
    """Let the cluster count equal reports: it returns no more rows than there are possible reports."""
    import narwhals as nw

    grouped = query.groupBy(*query.columns).count().withColumnRenamed("count", TIMES)
    yield from count_rows(survey, record_batches(nw.from_native(grouped), _ROWS))


def _by_partition(survey: Survey, query: Any) -> Iterator[Counted]:
    """Let each partition count its reports, and add up the tallies here."""
    cells, counts = numbers_of_partitions(query, partial(_partial_tally, survey))
    told = {each: int(counts[cells == each].sum()) for each in _Told}
    tally = Tally(survey.digest, told[_Told.USERS], *sum_equal(cells[cells >= 0], counts[cells >= 0]))
    yield Counted(tally, told[_Told.FOREIGN], told[_Told.IMPOSSIBLE])


def _partial_tally(survey: Survey, batches: Iterator[Any]) -> Iterator[Any]:
    """Count one partition, in the process that works on it."""
    total, foreign, impossible = TallySum(survey.empty_tally()), 0, 0
    for counted in count_rows(survey, batches):
        foreign += counted.foreign
        impossible += counted.impossible
        total.add(counted.tally)
    tally = total.sum()
    told = np.array(list(_Told), dtype=np.int64)
    yield numbers_batch(told, np.array([tally.users, foreign, impossible], dtype=np.int64))
    for start in range(0, tally.cells.size, _ROWS):
        yield numbers_batch(tally.cells[start : start + _ROWS], tally.counts[start : start + _ROWS])


def _in_line(column: WholeColumn | BytesColumn, name: str) -> str:
    """Return Spark's expression for a value in a line: −1 or null for an invalid one."""
    many = digits(column)
    text = f"CASE WHEN length({name}) = {many} AND translate({name}, '0123456789abcdef', '') = '' THEN "
    if isinstance(column, WholeColumn):
        value = f"{text}CAST(conv({name}, 16, 10) AS bigint) END"
        return f"CASE WHEN {value} BETWEEN 0 AND {column.size - 1} THEN {value} ELSE -1 END"
    return f"{text}unhex({name}) END"


def _identifying(unique: str, kind: str, what: str) -> str:
    """Return Spark's expression for the text of a unique value."""
    if kind == "binary":
        return f"lower(hex(`{unique}`))"
    if kind == "string" or kind in _WHOLE_TYPES or kind.endswith(",0)"):
        return f"CAST(`{unique}` AS string)"
    if kind in ("float", "double"):
        return f"CASE WHEN `{unique}` = floor(`{unique}`) THEN CAST(try_cast(`{unique}` AS bigint) AS string) END"
    raise DataError(f"{what} must hold texts, whole numbers or bytes in its unique column {unique!r}.")


def _expression(column: WholeColumn | BytesColumn, kind: str, what: str) -> str:
    """Return Spark's expression for a column: its value or, if no report has it, −1 or null."""
    name = f"`{column.name}`"
    if isinstance(column, WholeColumn):
        if kind == "string":
            # A cast alone would accept signs, blanks and fractions.
            is_whole = f"translate({name}, '0123456789', '') = '' AND ({name} = '0' OR left({name}, 1) <> '0')"
            value = f"CASE WHEN {is_whole} THEN try_cast({name} AS bigint) END"
        elif kind in _WHOLE_TYPES or kind.endswith(",0)"):
            value = f"try_cast({name} AS bigint)"
        else:
            raise DataError(f"{what} must hold whole numbers in its column {column.name!r}.")
        # Numbers out of range form one group, however many there are.
        return f"CASE WHEN {value} BETWEEN 0 AND {column.size - 1} THEN {value} ELSE -1 END"
    if kind == "string":
        is_hex = f"length({name}) = {2 * column.width} AND translate({name}, '0123456789abcdef', '') = ''"
        return f"CASE WHEN {is_hex} THEN unhex({name}) END"
    if kind == "binary":
        return f"CASE WHEN octet_length({name}) = {column.width} THEN {name} END"
    raise DataError(f"{what} must hold bytes, or hexadecimal text, in its column {column.name!r}.")
