"""The published program of Blocki, Datta and Bonneau: a table of all values of all rows in the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.exponential.partition import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    import anonhist as ah
    from anonhist.mechanisms.noise import Choices


class Table:
    """Weights of all continuations from each value of each row: docs/proofs/relaxed-partition.md, "Sampling".

    For public data: its rounding is not paid for.

    Parameters
    ----------
    profile
        λ.
    radius
        D: row i lies between the lowest and the highest value it has in any partition at a distance of at most D.
    c
        Weights are ``e^{−c‖λ−μ‖₁}``.
    """

    def __init__(self, profile: ah.Profile, *, radius: int, c: float) -> None:
        rows = profile.partition()
        # No partition within the radius has more than radius rows beyond the last label.
        self.rows = np.append(rows, np.zeros(radius + 1, dtype=np.int64))
        self.highest = _fill(self.rows, radius)
        # Missing cells are those filled in after rotating the diagram by 180°.
        top = int(rows[0]) if rows.size else 0
        self.lowest = np.maximum(top - _fill((top - self.rows)[::-1], radius)[::-1], 0)
        self._futures = self._log_futures(c)

    @property
    def size(self) -> int:
        """How many numbers the table holds."""
        return int((self.highest - self.lowest + 1).sum())

    def _log_futures(self, c: float) -> Sequence[NDArray[np.float64]]:
        """Return for each row ``ln F_i(v)``, v = lowest..highest, up to a constant for each row.

        ``F_i(v) = e^{−c|v − λ_i|} Σ_{v' ≤ v} F_{i+1}(v')``.
        """
        futures = []
        below, first = np.zeros(1), 0  # ln Σ_{v' ≤ v} F_{i+1}(v') for v = first, first + 1, …
        for row, low, high in zip(self.rows[::-1], self.lowest[::-1], self.highest[::-1], strict=True):
            values = np.arange(low, high + 1)
            weights = below[np.minimum(values - first, below.size - 1)] - c * np.abs(values - row)
            weights -= weights.max()
            futures.append(weights)
            below, first = np.logaddexp.accumulate(weights), int(low)
        return futures[::-1]

    def draw(self, choices: Choices) -> NDArray[np.int64]:
        """Draw the rows from the first on, none longer than the one before."""
        drawn = np.zeros(self.rows.size, dtype=np.int64)
        longest = int(self.highest[0])
        for index, (low, weights) in enumerate(zip(self.lowest.tolist(), self._futures, strict=True)):
            allowed = weights[: longest - low + 1]
            longest = low + int(choices.rows(np.exp(allowed - allowed.max())[None])[0])
            drawn[index] = longest
            if not longest:
                break
        return drawn


def table_size(profile: ah.Profile, radius: int) -> int:
    """Return how many numbers the table would hold, without making it, in O(λ_1 + D) time.

    Examples
    --------
    >>> import anonhist as ah
    >>> profile = ah.Profile.from_counts([9, 4, 4, 1, 1, 1])
    >>> table_size(profile, 5) == Table(profile, radius=5, c=1.0).size
    True
    """
    rows = profile.num_labels + radius + 1
    top = (int(profile.counts[-1]) if len(profile) else 0) + radius
    sums = Window(profile, radius).first_items
    # Up to which row the value h is possible, and up to which it is the least.
    heights = np.arange(1, top + 1)
    reaching = profile.cumulative_prevalence(heights)
    low, high = reaching.copy(), np.full_like(reaching, rows)
    while (low < high).any():
        middle = (low + high + 1) // 2
        fits = heights * (middle - reaching) - (sums(middle) - sums(reaching)) <= radius
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    possible = int(low.sum())
    # Row i has at least h if more than radius cells at h and above would have to go from rows i, i + 1, ….
    low, high = np.zeros_like(reaching), reaching.copy()
    while (low < high).any():
        middle = (low + high + 1) // 2
        kept = sums(reaching) - sums(middle - 1) - (heights - 1) * (reaching - middle + 1) > radius
        low, high = np.where(kept, middle, low), np.where(kept, high, middle - 1)
    return possible - int(low.sum()) + rows


def _fill(rows: NDArray[np.int64], cells: int) -> NDArray[np.int64]:
    """Return for each i the largest h with ``Σ_{j ≤ i} (h − λ_j)_+ ≤ cells``; rows in descending order."""
    sums = np.append(0, np.cumsum(rows))
    number = np.arange(1, rows.size + 1)
    low, high = rows.copy(), rows + cells
    while (low < high).any():
        middle = (low + high + 1) // 2
        # Rows longer than h, the first ones, cost nothing.
        longer = np.minimum(np.searchsorted(-rows, -middle, side="right"), number)
        cost = middle * (number - longer) - (sums[number] - sums[longer])
        low, high = np.where(cost <= cells, middle, low), np.where(cost <= cells, high, middle - 1)
    return low
