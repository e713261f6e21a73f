"""The window of counter values that is fitted; sparse values far out are taken as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from anonhist.errors import UsageError
from anonhist.sketches.decoding.cells import count_edges, value_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.sketches.counters import Counters
    from anonhist.sketches.noise import NoiseDistribution

# Noise beyond its reach is omitted from the kernel.
_BEYOND = 1e-12
# Wider noise dominates any data.
_WIDEST = 1 << 15
# Probability added to every value, above rounding errors and below what data can show, so that none is impossible.
STRAY = 1e-15
# Empty cells start with this fraction of an even share.
_LEAST_SEEN = 1e-3
# So few counters may lie beyond the window, if it is long enough; where it grows to this length, any number may.
_FEW, _FEW_SHARE, _SHORT, _LONGEST = 16, 1 / 5000, 256, 1 << 14


@dataclass(frozen=True, eq=False)
class Window:
    """Values of counters from ``low`` to ``last`` − 1, counts from 0 to ``last`` − 1, and both sorted into cells.

    Attributes
    ----------
    low, last
        First value, and one more than the last one. Lower values, which noise hardly reaches, are set to ``low``.
    reach
        How far the noise goes that is taken into account.
    seen : ndarray of int64, shape (last − low,)
        How many counters have each value.
    counts, values : ndarray of int64
        Edges of the cells of counts and of values.
    beyond_values, beyond_numbers : ndarray of int64
        What is seen from ``last`` on.
    """

    low: int
    last: int
    reach: int
    seen: NDArray[np.int64]
    counts: NDArray[np.int64]
    values: NDArray[np.int64]
    beyond_values: NDArray[np.int64]
    beyond_numbers: NDArray[np.int64]

    @classmethod
    def of(cls, observed: Counters, distribution: NoiseDistribution) -> Self:
        """Choose the window by the distribution and by what is seen, of one counter at least.

        Raises
        ------
        UsageError
            If the noise spreads over more than 2^15 counts, which is uninformative.
        """
        reach = distribution.reach(_BEYOND)
        if reach > _WIDEST:
            raise UsageError("The noise of this sketch is too wide to read a profile from it; use a larger epsilon.")
        last = _last(observed, 8 * reach)
        low = -reach
        seen = observed.dense(low, last - 1)
        seen[0] += observed.numbers[observed.values < low].sum()
        counts = count_edges(seen[-low:], last)
        beyond = observed.values >= last
        return cls(
            low,
            last,
            reach,
            seen,
            counts,
            value_edges(low, counts, spread=distribution.variance**0.5),
            observed.values[beyond],
            observed.numbers[beyond],
        )

    @property
    def num_counters(self) -> int:
        """How many counters have a value in the window."""
        return int(self.seen.sum())

    @property
    def cell_numbers(self) -> NDArray[np.float64]:
        """How many counters have a value of each cell, shape (value cells,)."""
        return self.gather(self.seen.astype(np.float64))

    def gather(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up what belongs to single values over the cells of values."""
        return np.asarray(np.add.reduceat(numbers, self.values[:-1] - self.low))


def _last(observed: Counters, shortest: int) -> int:
    """Return the end of the window: short where few counters lie beyond."""
    few = max(_FEW, int(observed.size * _FEW_SHARE))
    above = np.cumsum(observed.numbers[::-1])[::-1]
    end = int(observed.values[np.count_nonzero(above > few) - 1]) if int(above[0]) > few else 0
    least = min(max(shortest, _SHORT, 2 * end), max(_LONGEST, shortest))
    return max(1, min(int(observed.values[-1]) + 1, least))


def even_logs(window: Window, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return logarithms of rates for a fit to begin with: as many labels in each cell."""
    widths = np.diff(counts)
    return np.asarray(np.log(window.num_counters / (widths * float(widths.size))))


def rough_logs(window: Window, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return logarithms of rates for a fit to begin with: the values that are seen, read as counts.

    Parameters
    ----------
    window
        What is seen.
    counts
        Edges of cells of counts, from 0 or more on.
    """
    naive = np.add.reduceat(window.seen.astype(np.float64), counts[:-1] - window.low) / np.diff(counts)
    return np.log(np.maximum(naive, _LEAST_SEEN * window.num_counters / (np.diff(counts) * float(counts.size))))
