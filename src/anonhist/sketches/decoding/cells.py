"""Cells: runs of counts, or of counter values, that are not resolved further; few where data are sparse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Counts up to here always have their own cell.
HEAD = 48
# Cells farther out are at most this share of their count wide, unless so many counters have a value in there.
_GROWTH, _CROWD = 1 / 16, 40
MOST_CELLS = 400


def count_edges(seen: NDArray[np.int64], last: int) -> NDArray[np.int64]:
    """Return the first counts of the cells of 0 to ``last`` − 1, and ``last`` itself, ascending.

    Parameters
    ----------
    seen
        How many counters have each value from 0 on, shape (last,).
    last
        One more than the largest count.

    Returns
    -------
    ndarray of int64, shape (cells + 1,)
        A cell ends when it is too wide or holds many counters, so dense values are resolved.
    """
    crowd = max(_CROWD, int(seen[HEAD:].sum()) // (MOST_CELLS // 2))
    reaching = np.cumsum(seen)
    edges = list(range(min(HEAD, last)))
    at = len(edges)
    while at < last:
        edges.append(at)
        before = int(reaching[at - 1]) if at else 0
        full = int(np.searchsorted(reaching, before + crowd)) + 1
        at = max(at + 1, min(full, at + max(1, int(at * _GROWTH)), last))
    return np.array([*edges, last], dtype=np.int64)


def value_edges(low: int, counts: NDArray[np.int64], *, spread: float) -> NDArray[np.int64]:
    """Return the first values of the cells that counters are sorted into, from ``low`` to the last count.

    Parameters
    ----------
    low
        Least value.
    counts
        Edges of the cells of counts, from 0 on: values from zero on are resolved twice as finely.
    spread
        Standard deviation of the noise: far smaller differences need not be resolved.
    """
    step = max(1, int(spread / 8))
    halves = (counts[:-1] + counts[1:]) // 2
    fine = np.unique(np.concatenate((counts, halves)))
    # Of edges within one step, only the first is kept.
    coarse = fine[np.unique(fine // step, return_index=True)[1]]
    below = [0]
    while below[-1] > low:
        below.append(below[-1] - max(step if below[-1] < -HEAD else 1, int(-below[-1] * _GROWTH)))
    below[-1] = low
    return np.unique(np.concatenate((np.array(below), fine[fine < HEAD], coarse, counts[-1:])))


def between_cells(
    kernel: NDArray[np.float64], low: int, values: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return ``A[i, j] = Σ_{k in value cell i} Σ_{r in count cell j} kernel(k − r)``, shape (value cells, count cells).

    It is accurate to about 10^−15 times the largest difference.

    Parameters
    ----------
    kernel
        Probabilities of the differences ``low``, ``low`` + 1 and so on; those not listed are zero.
    low
        First difference.
    values, counts
        Edges of the cells.
    """
    twice = np.concatenate((np.zeros(2), np.cumsum(np.cumsum(kernel))))
    total, size = float(kernel.sum()), kernel.size

    # S(x) = Σ_{t ≤ x} Σ_{s ≤ t} kernel(s), linear beyond the last difference.
    at = (values + (1 - low))[:, np.newaxis] - counts[np.newaxis, :]
    grid = twice.take(at, mode="clip")
    if int(at[-1, 0]) > size + 1:
        grid += np.maximum(at - (size + 1), 0) * total
    # Σ_{a ≤ k < b} Σ_{c ≤ r < e} kernel(k − r) = S(b−1−c) − S(a−1−c) − S(b−1−e) + S(a−1−e)
    rows = grid[1:] - grid[:-1]
    found = rows[:, :-1] - rows[:, 1:]
    return np.asarray(np.maximum(found, 0.0, out=found))
