"""The Hadamard matrix of Sylvester: its sums over columns, and the rows where a column is +1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def walsh_hadamard(values: NDArray[Any]) -> NDArray[Any]:
    """Return ``Σ_i (−1)^{|i ∧ j|}·values_i`` for every j, where |i ∧ j| counts the binary digits that i and j share.

    Parameters
    ----------
    values : ndarray of int64 or float64, shape (…, 2^m)
        Transformed along the last axis. Whole numbers are transformed exactly if their magnitudes add up to less than
        2⁶³.

    Returns
    -------
    ndarray of the same shape and type

    Examples
    --------
    >>> walsh_hadamard(np.array([1, 0, 2, 0])).tolist()
    [3, 3, -1, -1]
    """
    size = values.shape[-1]
    now, then = values.copy(), np.empty_like(values)
    # Each step transforms the lowest digit and makes it the highest: after all steps, the original order is restored.
    for _ in range(size.bit_length() - 1):
        np.add(now[..., 0::2], now[..., 1::2], out=then[..., : size // 2])
        np.subtract(now[..., 0::2], now[..., 1::2], out=then[..., size // 2 :])
        now, then = then, now
    return now


@dataclass(frozen=True)
class HadamardMatrix:
    """Rows and columns 0 to b − 1, b = 2^m; +1 where the binary numbers share an even number of ones, else −1.

    Column 0, all +1, is not used: item i is column i + 1, and a point is a row. An item is supported by the ``b/2``
    rows where its column is +1. Two different items share ``b/4`` of them.

    Parameters
    ----------
    points
        b, a power of two ≥ 2.

    Raises
    ------
    UsageError
        If b is not a power of two ≥ 2.

    Examples
    --------
    >>> HadamardMatrix(4).supporter(np.array([0, 0, 2, 2]), np.array([0, 1, 0, 1])).tolist()
    [0, 2, 0, 3]
    """

    points: int

    def __post_init__(self) -> None:
        if self.points < 2 or self.points & (self.points - 1):
            raise UsageError(f"A Hadamard matrix needs a power of two rows, not {self.points}.")

    @property
    def items(self) -> int:
        """Number of columns used, b − 1."""
        return self.points - 1

    @property
    def support(self) -> int:
        """Number of points that support an item."""
        return self.points // 2

    @property
    def num_shared(self) -> Fraction:
        """Number of points that support two different items; for b = 2, with one item, as the formulas need it."""
        return Fraction(self.points, 4)

    def supports(self, points: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether the points support the items; the arrays are broadcast."""
        return np.asarray(np.bitwise_count(points & (items + 1)) % 2 == 0)

    def supporter(self, items: NDArray[np.int64], choices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a point that supports each item: a different one for each choice from 0 to ``support`` − 1.

        The binary digits of the choice become those of the row, with one inserted at the position of the column's
        lowest one: the digit that makes the number of shared ones even.
        """
        columns = items + 1
        lowest = columns & -columns
        below = choices & (lowest - 1)
        rows = below | (choices - below) << 1
        odd = np.bitwise_count(rows & columns) & 1
        return np.asarray(rows | lowest * odd)

    def sums(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return, for every item, the sum of the weights of the points that support it.

        Parameters
        ----------
        weights : ndarray of int64 or float64, shape (…, b)
            Whole numbers must be ≥ 0 and add up to at most 2⁶²; their sums are exact.

        Returns
        -------
        ndarray of the same type, shape (…, b − 1)
        """
        transformed = walsh_hadamard(weights)
        total, others = transformed[..., :1], transformed[..., 1:]
        # Both have the same parity; halved first, they cannot overflow.
        whole = total.dtype.kind == "i"
        return np.asarray((total >> 1) + (others >> 1) + (total & 1) if whole else (total + others) / 2)

    def spread(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return, for every point, the sum of the shares of the items that it supports, shape (…, b)."""
        padded = np.concatenate((np.zeros((*shares.shape[:-1], 1)), shares), axis=-1)
        return np.asarray((walsh_hadamard(padded) + shares.sum(axis=-1, keepdims=True)) / 2)
