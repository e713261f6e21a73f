"""Rows of reports as engines return them: which are valid, and the reports and tallies they give."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anonhist.errors import DataError
from anonhist.local.reports import BytesColumn, Reports, Tally, WholeColumn

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from numpy.typing import NDArray

    from anonhist.local.survey import Survey

# Whether a row answers another survey.
FOREIGN = "is_foreign"
# The number of equal rows.
TIMES = "times"
# What the lines of devices hold besides an identifier: lists of values for each column.
REPORTS = "reports"
# The value that identifies a line; the place of a report in its line, from 0; and how many reports the line has.
UNIQUE, PLACE, LENGTH = "unique_value", "place_in_line", "length_of_line"


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


def has_lines(survey: Survey, columns: Iterable[str], what: str) -> bool:
    """Return whether a table holds lines of devices; refuse one that holds neither these nor columns of reports."""
    names, found = names_of(survey), set(columns)
    if not set(names) <= found:
        if REPORTS in found and "survey" not in found:
            return True
        raise DataError(f"{what} does not hold reports of this survey, which have the columns {', '.join(names)}.")
    return False


def is_groupable(survey: Survey, *, most: int) -> bool:
    """Return whether at most ``most`` different reports are possible, so that an engine should group them."""
    sizes = [column.size for column in survey.columns if isinstance(column, WholeColumn)]
    return len(sizes) == len(survey.columns) and prod(sizes) <= most


def sound_rows(survey: Survey, batch: Any) -> NDArray[np.bool_]:
    """Return whether each row is a possible report of this survey, shape (n,)."""
    sound = ~foreign_rows(batch)
    for name in (*(column.name for column in survey.columns), *({UNIQUE} & set(batch.schema.names))):
        sound &= batch.column(name).is_valid().to_numpy(zero_copy_only=False)
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


class LeftOut(NamedTuple):
    """How many rows have no identifier, and how many different ones share one with other reports."""

    nameless: int
    forged: int


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
