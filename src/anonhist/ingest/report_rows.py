"""Rows of reports as engines return them: which are sound, and reports and tallies of those."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError
from anonhist.local.surveys.reports import BytesColumn, Reports, WholeColumn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from anonhist.local.surveys.reports import Tally
    from anonhist.local.surveys.survey import Survey

# Whether a row answers another survey.
FOREIGN = "is_foreign"


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
        """Return what all add up to."""
        while len(self._parts) > 1:
            self._parts.append(self._parts.pop() + self._parts.pop())
        return self._parts[0]


def names_of(survey: Survey) -> list[str]:
    """Return the columns, or keys of JSON lines, that reports of a survey have."""
    return ["survey", *(column.name for column in survey.columns)]


def check_columns(survey: Survey, columns: Iterable[str], what: str) -> None:
    """Refuse what lacks a column that reports of a survey have."""
    names = names_of(survey)
    if not set(names) <= set(columns):
        raise DataError(f"{what} does not hold reports of this survey, which have the columns {', '.join(names)}.")


def is_groupable(survey: Survey, *, most: int) -> bool:
    """Return whether no more different reports than these are possible, so that an engine had better group them."""
    sizes = [column.size for column in survey.columns if isinstance(column, WholeColumn)]
    return len(sizes) == len(survey.columns) and prod(sizes) <= most


def sound_rows(survey: Survey, batch: Any) -> NDArray[np.bool_]:
    """Say of each row whether it is a report of this survey that a device can have sent, shape (n,)."""
    sound = ~foreign_rows(batch)
    for column in survey.columns:
        sound &= batch.column(column.name).is_valid().to_numpy(zero_copy_only=False)
    sound[sound] = survey.possible(reports_of(survey, batch, sound))
    return sound


def foreign_rows(batch: Any) -> NDArray[np.bool_]:
    """Say of each row whether it answers another survey, or none that it names, shape (n,)."""
    return np.array(batch.column(FOREIGN).to_numpy(zero_copy_only=False))


def reports_of(survey: Survey, batch: Any, rows: NDArray[np.bool_]) -> Reports:
    """Return some rows of a record batch as reports; bytes of theirs are of the right length."""
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
