"""Rows of reports as engines return them: which are valid, and the reports and tallies they give."""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anonhist.errors import DataError
from anonhist.ingest.query import record_batches
from anonhist.ingest.spark import numbers_batch, numbers_of_partitions
from anonhist.local.reports import BytesColumn, Reports, Tally, WholeColumn
from anonhist.numeric.arrays import sum_equal

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from numpy.typing import NDArray

    from anonhist.local.survey import Survey

# Whether a row answers another survey.
FOREIGN = "is_foreign"
# The number of equal rows.
TIMES = "times"


class TallySum:
    """A running sum that adds tallies of about the same length, so that no cell is moved often."""

    def __init__(self, empty: Tally) -> None:
        self._parts = [empty]

    def add(self, tally: Tally) -> None:
        """Add a tally."""
        self._parts.append(tally)
        while len(self._parts) > 1 and 2 * self._parts[-1].cells.size >= self._parts[-2].cells.size:
            self._parts.append(self._parts.pop() + self._parts.pop())

    def sum(self) -> Tally:
        """Return the sum of all tallies."""
        while len(self._parts) > 1:
            self._parts.append(self._parts.pop() + self._parts.pop())
        return self._parts[0]


def names_of(survey: Survey) -> list[str]:
    """Return the columns of a survey's reports, or their keys in JSON lines."""
    return ["survey", *(column.name for column in survey.columns)]


def check_columns(survey: Survey, columns: Iterable[str], what: str) -> None:
    """Refuse a table without a column that the survey's reports have."""
    names = names_of(survey)
    if not set(names) <= set(columns):
        raise DataError(f"{what} does not hold reports of this survey, which have the columns {', '.join(names)}.")


def is_groupable(survey: Survey, *, most: int) -> bool:
    """Return whether at most ``most`` different reports are possible, so that an engine should group them."""
    sizes = [column.size for column in survey.columns if isinstance(column, WholeColumn)]
    return len(sizes) == len(survey.columns) and prod(sizes) <= most


def sound_rows(survey: Survey, batch: Any) -> NDArray[np.bool_]:
    """Return whether each row is a possible report of this survey, shape (n,)."""
    sound = ~foreign_rows(batch)
    for column in survey.columns:
        sound &= batch.column(column.name).is_valid().to_numpy(zero_copy_only=False)
    sound[sound] = survey.possible(reports_of(survey, batch, sound))
    return sound


def foreign_rows(batch: Any) -> NDArray[np.bool_]:
    """Return whether each row answers another survey or names none, shape (n,)."""
    return np.array(batch.column(FOREIGN).to_numpy(zero_copy_only=False))


def reports_of(survey: Survey, batch: Any, rows: NDArray[np.bool_]) -> Reports:
    """Return some rows of a record batch as reports; their bytes have the right length."""
    chosen = batch if rows.all() else batch.filter(rows)
    return Reports(survey.digest, {each.name: _array(each, chosen.column(each.name)) for each in survey.columns})


def _array(column: WholeColumn | BytesColumn, values: Any) -> NDArray[Any]:
    if isinstance(column, WholeColumn):
        return np.asarray(values.to_numpy())
    rows = len(values)
    if not rows:
        return column.empty(0)
    _, offsets, data = values.buffers()
    start = np.frombuffer(offsets, dtype=np.int32)[values.offset]
    return np.frombuffer(data, dtype=np.uint8)[start : start + rows * column.width].reshape(rows, column.width)


class Counted(NamedTuple):
    """The counted reports, and the number of rows left out: from another survey, or impossible for any device."""

    tally: Tally
    foreign: int
    impossible: int


def count_rows(survey: Survey, batches: Iterable[Any]) -> Generator[Counted, None, None]:
    """Count the reports in each batch of rows, each as often as the column of multiplicities says, if there is one."""
    for batch in batches:
        sound, foreign = sound_rows(survey, batch), foreign_rows(batch)
        reports = reports_of(survey, batch, sound)
        if TIMES in batch.schema.names:
            times = batch.column(TIMES).to_numpy().astype(np.int64)
            tally = survey.tally_groups(reports, times[sound])
        else:
            times, tally = np.ones(batch.num_rows, dtype=np.int64), survey.tally(reports)
        yield Counted(tally, int(times[foreign].sum()), int(times[~sound & ~foreign].sum()))


_ROWS = 1 << 20
_WHOLE_TYPES = ("tinyint", "smallint", "int", "bigint")


class _Told(IntEnum):
    """Codes that a partition sends beside its tally, in place of a cell."""

    USERS = -1
    FOREIGN = -2
    IMPOSSIBLE = -3


def count_on_cluster(survey: Survey, table: Any, what: str, *, most_groups: int) -> Iterator[Counted]:
    """Count the reports in a Narwhals table of Spark; yield tallies, and the number of rows left out of each."""
    native = table.to_native()
    types = dict(native.dtypes)
    check_columns(survey, types, what)
    columns = {column.name: _expression(column, types[column.name], what) for column in survey.columns}
    columns[FOREIGN] = f"NOT (CAST(survey AS string) <=> '{survey.digest}')"
    query = native.selectExpr(*(f"{expression} AS `{name}`" for name, expression in columns.items()))
    yield from (_grouped if is_groupable(survey, most=most_groups) else _by_partition)(survey, query)


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
