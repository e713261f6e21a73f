"""Reports in a table of Spark: equal ones are counted on the cluster, or each partition has a tally of its own."""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anonhist.errors import DataError
from anonhist.ingest.partitions import numbers_batch, numbers_of_partitions
from anonhist.ingest.query import record_batches
from anonhist.ingest.report_rows import (
    FOREIGN,
    TallySum,
    check_columns,
    foreign_rows,
    is_groupable,
    reports_of,
    sound_rows,
)
from anonhist.local.surveys.reports import BytesColumn, Tally, WholeColumn, sum_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anonhist.local.surveys.survey import Survey

_ROWS = 1 << 20
_WHOLE_TYPES = ("tinyint", "smallint", "int", "bigint")


class _Told(IntEnum):
    """What a partition tells beside its tally, in place of a cell."""

    USERS = -1
    FOREIGN = -2
    IMPOSSIBLE = -3


class Counted(NamedTuple):
    """What was counted in a table: of what is left out no position is known, for rows of Spark have no order."""

    tally: Tally
    foreign: int
    impossible: int


def count_on_cluster(survey: Survey, table: Any, what: str, *, most_groups: int) -> Iterator[Counted]:
    """Count the reports in a Narwhals table of Spark; yield tallies, and how many rows were left out of each.

    Raises
    ------
    DataError
        If a column is missing or of another type.
    """
    native = table.to_native()
    types = dict(native.dtypes)
    check_columns(survey, types, what)
    columns = {column.name: _expression(column, types[column.name], what) for column in survey.columns}
    columns[FOREIGN] = f"NOT (CAST(survey AS string) <=> '{survey.digest}')"
    query = native.selectExpr(*(f"{expression} AS `{name}`" for name, expression in columns.items()))
    yield from (_grouped if is_groupable(survey, most=most_groups) else _by_partition)(survey, query)


def _grouped(survey: Survey, query: Any) -> Iterator[Counted]:
    """Let the cluster count equal reports: no more different ones come from it than can be told apart."""
    import narwhals as nw

    names = query.columns
    grouped = query.groupBy(*names).count().withColumnRenamed("count", "times")
    for batch in record_batches(nw.from_native(grouped), _ROWS):
        sound = sound_rows(survey, batch)
        times = batch.column("times").to_numpy().astype(np.int64)
        tally = survey.tally_groups(reports_of(survey, batch, sound), times[sound])
        foreign = foreign_rows(batch)
        yield Counted(tally, int(times[foreign].sum()), int(times[~sound & ~foreign].sum()))


def _by_partition(survey: Survey, query: Any) -> Iterator[Counted]:
    """Let each partition count its reports, and add the tallies up here."""
    cells, counts = numbers_of_partitions(query, partial(_partial_tally, survey))
    told = {each: int(counts[cells == each].sum()) for each in _Told}
    tally = Tally(survey.digest, told[_Told.USERS], *sum_cells(cells[cells >= 0], counts[cells >= 0]))
    yield Counted(tally, told[_Told.FOREIGN], told[_Told.IMPOSSIBLE])


def _partial_tally(survey: Survey, batches: Iterator[Any]) -> Iterator[Any]:
    """Count one partition, in the process that works on it."""
    total, foreign, impossible = TallySum(survey.empty_tally()), 0, 0
    for batch in batches:
        sound, other = sound_rows(survey, batch), foreign_rows(batch)
        foreign += int(np.count_nonzero(other))
        impossible += int(np.count_nonzero(~sound & ~other))
        total.add(survey.tally(reports_of(survey, batch, sound)))
    tally = total.sum()
    told = np.array(list(_Told), dtype=np.int64)
    yield numbers_batch(told, np.array([tally.users, foreign, impossible], dtype=np.int64))
    for start in range(0, tally.cells.size, _ROWS):
        yield numbers_batch(tally.cells[start : start + _ROWS], tally.counts[start : start + _ROWS])


def _expression(column: WholeColumn | BytesColumn, kind: str, what: str) -> str:
    """Return what Spark is to compute of a column: its value or, for one that no report has, −1 or null."""
    name = f"`{column.name}`"
    if isinstance(column, WholeColumn):
        if kind == "string":
            # A cast alone would take signs, blanks and fractions.
            is_whole = f"translate({name}, '0123456789', '') = '' AND ({name} = '0' OR left({name}, 1) <> '0')"
            value = f"CASE WHEN {is_whole} THEN try_cast({name} AS bigint) END"
        elif kind in _WHOLE_TYPES or kind.endswith(",0)"):
            value = f"try_cast({name} AS bigint)"
        else:
            raise DataError(f"{what} must hold whole numbers in its column {column.name!r}.")
        # Numbers out of range are one group, however many there are.
        return f"CASE WHEN {value} BETWEEN 0 AND {column.size - 1} THEN {value} ELSE -1 END"
    if kind == "string":
        is_hex = f"length({name}) = {2 * column.width} AND translate({name}, '0123456789abcdef', '') = ''"
        return f"CASE WHEN {is_hex} THEN unhex({name}) END"
    if kind == "binary":
        return f"CASE WHEN octet_length({name}) = {column.width} THEN {name} END"
    raise DataError(f"{what} must hold bytes, or hexadecimal text, in its column {column.name!r}.")
