"""The reports that devices send: one row per person, columns of two kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import frozen
from anonhist.outward import Saved, Tabular


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
        Name to array; the first axis is the person. Whole numbers are int64, shape (n,); bytes are uint8,
        shape (n, width).
    """

    known_as = "reports"
    survey: str
    columns: Mapping[str, NDArray[np.generic]]

    def __post_init__(self) -> None:
        lengths = {len(column) for column in self.columns.values()}
        if len(lengths) != 1:
            raise DataError("The columns of reports must all have the same number of rows, one for each person.")

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
            If the columns are not these.
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
