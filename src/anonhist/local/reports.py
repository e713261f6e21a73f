"""The reports that devices send: one row per person, with two kinds of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.numeric.arrays import read_only, sum_equal


@dataclass(frozen=True)
class WholeColumn:
    """A column of whole numbers from 0 to ``size`` − 1: int64, shape (n,)."""

    name: str
    size: int

    @property
    def bits(self) -> int:
        """Bits per report."""
        return (self.size - 1).bit_length()

    def empty(self, users: int) -> NDArray[np.int64]:
        """Return an uninitialized column for n reports."""
        return np.empty(users, dtype=np.int64)

    def admits(self, values: NDArray[np.generic], users: int) -> bool:
        """Return whether the shape and type are those of n reports."""
        return values.shape == (users,) and values.dtype.kind in "iu"

    def in_range(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of the values are in range."""
        return np.asarray((values >= 0) & (values < self.size))


@dataclass(frozen=True)
class BytesColumn:
    """A column of texts of exactly ``width`` bytes each: uint8, shape (n, width)."""

    name: str
    width: int

    @property
    def bits(self) -> int:
        """Bits per report."""
        return 8 * self.width

    def empty(self, users: int) -> NDArray[np.uint8]:
        """Return an uninitialized column for n reports."""
        return np.empty((users, self.width), dtype=np.uint8)

    def admits(self, values: NDArray[np.generic], users: int) -> bool:
        """Return whether the shape and type are those of n reports."""
        return values.shape == (users, self.width) and values.dtype == np.uint8

    def in_range(self, values: NDArray[np.generic]) -> NDArray[np.bool_]:
        """Return which of the values are in range: all of them."""
        return np.ones(len(values), dtype=np.bool_)


Column = WholeColumn | BytesColumn


@frozen
class Reports(Tabular, Saved):
    """The reports of devices, one row per person; each row is private by itself, whoever reads it.

    Attributes
    ----------
    survey
        The digest of the survey that they answer.
    columns
        A mapping from name to array; the first axis is the person. Whole numbers are int64, shape (n,); bytes are
        uint8, shape (n, width).
    """

    known_as = "reports"
    survey: str
    columns: Mapping[str, NDArray[np.generic]]

    def __post_init__(self) -> None:
        if len({len(column) for column in self.columns.values()}) != 1:
            raise DataError("The columns of reports must all have the same number of rows, one per person.")

    def rows(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Reports:
        """Return some of the reports, in this order."""
        return Reports(self.survey, {name: column[chosen] for name, column in self.columns.items()})

    def checked(self, survey: str, columns: Iterable[Column]) -> dict[str, NDArray[Any]]:
        """Return the columns, with the types in which cells are numbered, or refuse reports of another survey.

        Raises
        ------
        UsageError
            If the digest of the survey is another one.
        DataError
            If the columns are not those of the survey.
        """
        if self.survey != survey:
            raise UsageError(
                "These reports belong to another survey; tally them with the configuration that made them."
            )
        expected = {column.name: column for column in columns}
        if set(self.columns) != set(expected):
            raise DataError(f"Reports of this survey have the columns {', '.join(sorted(expected))}.")
        if not all(column.admits(self.columns[name], len(self)) for name, column in expected.items()):
            raise DataError("The columns do not have the types of this survey's reports; nothing was counted.")
        # Whole numbers of fewer bits would overflow when cells are numbered.
        return {name: self.columns[name].astype(column.empty(0).dtype, copy=False) for name, column in expected.items()}

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        return f"Reports(survey={self.survey!r}, users={len(self):,}, columns={tuple(self.columns)})"


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
        The number of people who reported, from 0 to 2⁶².
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
            raise DataError("The counts of a tally must be between 1 and its number of users.")

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.survey != other.survey:
            raise UsageError("These tallies belong to different surveys; only tallies of one survey can be added.")
        if self.users + other.users > MOST_USERS:
            raise UsageError("A tally counts at most 2^62 users; together, these two have more.")
        cells, counts = sum_equal(
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
    """Return the cells with nonzero counts, and their counts."""
    cells = np.flatnonzero(counts)
    return cells, counts[cells]
