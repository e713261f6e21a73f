"""Bands of several runs: a row of steps for each, all of one length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from anonhist.releases.evidence import KPlusBand, PrevalenceBand

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import NDArray

    _Numbers = TypeVar("_Numbers", NDArray[np.float64], NDArray[np.int64])

_Band = TypeVar("_Band", KPlusBand, PrevalenceBand)


@dataclass(frozen=True)
class BandRows:
    """Bounds of numbers of labels in steps of counts, a row for each run.

    Attributes
    ----------
    ends : ndarray of int64, shape (r, s)
        Where steps end, ascending, ≥ 1; s ≥ 1. A row with fewer steps repeats some.
    lows, highs : ndarray of int64, shape (r, s)
        The bounds in each step: equal where the ends are equal.

    Examples
    --------
    >>> rows = BandRows(np.array([[2, 9]]), np.array([[3, 0]]), np.array([[5, 2]]))
    >>> [side.tolist() for side in rows.at(np.array([[1, 3, 10]]))]
    [[[3, 0, 0]], [[5, 2, 0]]]
    """

    ends: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]

    def at(self, counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the bounds at counts ≥ 1 of each run, shape (r, m); beyond the last end they are zero."""
        steps = search_rows(self.ends, counts, side="left")
        inside = np.minimum(steps, self.ends.shape[1] - 1)
        is_beyond = steps > inside
        low, high = (np.take_along_axis(side, inside, axis=1) for side in (self.lows, self.highs))
        low[is_beyond] = high[is_beyond] = 0
        return low, high

    def bands(self, kind: type[_Band]) -> list[_Band]:
        """Return the band of each run, adjacent steps with the same bounds as one."""
        kept = np.ones(self.ends.shape, dtype=np.bool_)
        kept[:, :-1] = (np.diff(self.lows, axis=1) != 0) | (np.diff(self.highs, axis=1) != 0)
        stops: list[int] = np.cumsum(np.count_nonzero(kept, axis=1)).tolist()
        ends, lows, highs = self.ends[kept], self.lows[kept], self.highs[kept]
        return [
            kind(ends[start:stop], lows[start:stop], highs[start:stop])
            for start, stop in zip([0, *stops], stops, strict=False)
        ]


def search_rows(ascending: _Numbers, wanted: _Numbers, *, side: Literal["left", "right"]) -> NDArray[np.int64]:
    """Return, row by row, where numbers belong among ascending ones: ``np.searchsorted`` for tables.

    Examples
    --------
    >>> search_rows(np.array([[1, 5], [2, 2]]), np.array([[5], [2]]), side="right").tolist()
    [[2], [2]]
    """
    found = np.empty(wanted.shape, dtype=np.int64)
    for place, row, numbers in zip(found, ascending, wanted, strict=True):
        place[:] = row.searchsorted(numbers, side)
    return found
