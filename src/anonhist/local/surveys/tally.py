"""Counts of reported cells: all that an estimate needs, mergeable in any order."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.numeric.arrays import read_only
from anonhist.outward import Saved, Shown, Tabular

# Sums of two stay below 2⁶³.
MOST_USERS = 2**62
# Up to this many cells, counting into an array is faster than sorting.
_DENSE = 1 << 22


def _read_only_copy(numbers: ArrayLike) -> NDArray[np.int64]:
    return read_only(np.array(numbers, dtype=np.int64))


@frozen
class Tally(Shown, Tabular, Saved):
    """Counts of cells; a cell is a report, a bit or a (cohort, bucket), as the survey numbers them.

    Parameters
    ----------
    survey
        The digest of the survey whose reports were counted.
    users
        How many people reported, from 0 to 2⁶².
    cells : ndarray of int64, shape (m,)
        The cells that occur, ascending, each once.
    counts : ndarray of int64, shape (m,)
        The count of each, from 1 to ``users``.

    Raises
    ------
    DataError
        If a number is out of range, or the cells are not ascending.

    Notes
    -----
    Adding tallies is associative and commutative; like all processing of reports, it costs no privacy.

    Examples
    --------
    >>> one = Tally("d", 2, np.array([0, 4]), np.array([1, 1]))
    >>> (one + one).counts.tolist()
    [2, 2]
    """

    known_as = "tally"
    survey: str
    users: int
    cells: Converted[ArrayLike, NDArray[np.int64]] = converted(_read_only_copy)
    counts: Converted[ArrayLike, NDArray[np.int64]] = converted(_read_only_copy)

    def __post_init__(self) -> None:
        if type(self.users) is not int or not 0 <= self.users <= MOST_USERS:
            raise DataError("A tally counts from 0 to 2^62 users.")
        cells, counts = self.cells, self.counts
        if cells.ndim != 1 or cells.shape != counts.shape:
            raise DataError("A tally must have one count for each cell.")
        if cells.size and (cells[0] < 0 or not (cells[1:] > cells[:-1]).all()):
            raise DataError("The cells of a tally must be ascending whole numbers, each once.")
        if cells.size and (counts.min() < 1 or counts.max() > self.users):
            raise DataError("The counts of a tally must lie between 1 and the number of its users.")

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.survey != other.survey:
            raise UsageError("These tallies belong to different surveys; only tallies of one survey can be added.")
        if self.users + other.users > MOST_USERS:
            raise UsageError("A tally counts at most 2^62 users; these two together have more.")
        cells, counts = sum_cells(
            np.concatenate((self.cells, other.cells)), np.concatenate((self.counts, other.counts))
        )
        return Tally(self.survey, self.users + other.users, cells, counts)

    def __repr__(self) -> str:
        return f"Tally(survey={self.survey!r}, users={self.users:,}, cells={self.cells.size:,})"

    def dense(self, size: int) -> NDArray[np.int64]:
        """Return the counts of cells 0 to ``size`` − 1, zeros included, shape (size,)."""
        out = np.zeros(size, dtype=np.int64)
        out[self.cells] = self.counts
        return out

    def at(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the counts of these cells, zeros included, same shape."""
        if not self.cells.size:
            return np.zeros(cells.shape, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.cells, cells), self.cells.size - 1)
        return np.where(self.cells[places] == cells, self.counts[places], 0)


def count_cells(cells: NDArray[np.int64], *, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct cells among numbers from 0 to ``size`` − 1, ascending, and how often each occurs."""
    if size <= max(_DENSE, cells.size):
        return nonzero_cells(np.bincount(cells, minlength=1))
    return cast("tuple[NDArray[np.int64], NDArray[np.int64]]", np.unique(cells, return_counts=True))


def nonzero_cells(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cells whose count is not zero, and their counts."""
    cells = np.flatnonzero(counts)
    return cells, counts[cells]


def sum_cells(cells: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add up the counts of cells that occur more than once; the cells come out ascending."""
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    if not starts.size:
        return ordered, counts[order]
    return ordered[starts], np.add.reduceat(counts[order], starts)
