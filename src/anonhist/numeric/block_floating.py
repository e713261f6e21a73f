"""Block floating point: non-negative numbers far beyond the range of a float, one power of two to a block of them.

Sums and products of non-negative numbers lose no accuracy this way; only what lies more than about 1,500 binary orders
below the largest of its own block is lost to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The largest value of a block lies in [2^479, 2^480): sums of products of two stay below 2^1000, and there is as much
# room below one as above it.
_TOP = 480
# Exponent of a block of zeros: below that of any other block, and no sum of a few leaves int64.
_NOTHING = -(2**60)
# Beyond this many binary orders a product is zero or was zero before.
_FAR = 4000


@dataclass(frozen=True)
class BlockVector:
    """Number i of block j is ``values[j, i] · 2^exponents[j]``.

    Attributes
    ----------
    values : ndarray of float64, shape (k, b)
    exponents : ndarray of int64, shape (k,)
    """

    values: NDArray[np.float64]
    exponents: NDArray[np.int64]

    @classmethod
    def of(cls, values: NDArray[np.float64], exponents: NDArray[np.int64], *, blocks: int) -> BlockVector:
        """Gather numbers ``values[i] · 2^exponents[i]`` into blocks of equal length."""
        return cls(*aligned(values.reshape(blocks, -1), exponents.reshape(blocks, -1))).normalised()

    def normalised(self) -> BlockVector:
        """Return the same numbers, the largest of each block in [2^479, 2^480)."""
        peaks = self.values.max(axis=1)
        shifts = np.frexp(peaks)[1] - _TOP
        exponents = self.exponents + shifts
        if peaks.size > 1:
            exponents[peaks == 0] = _NOTHING
        return BlockVector(np.ldexp(self.values, -shifts[:, None]), exponents)

    def take(self, index: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return values and exponents of the numbers at ``index``, counted through all blocks."""
        return self.values.ravel()[index], self.exponents[index // self.values.shape[1]]

    def weighted(self, factors: NDArray[np.float64], index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return ``factors · self[index]``, each row of it times a power of two."""
        values, exponents = self.take(index)
        return factors * values if self.exponents.size == 1 else aligned(factors * values, exponents)[0]

    def with_shifted(self, by: int) -> tuple[BlockVector, NDArray[np.float64]]:
        """Return these numbers, and beside each the one ``by`` places on (zero beyond the ends), at one exponent."""
        flat = self.values.ravel()
        shifted = np.zeros_like(flat)
        if by > 0:
            shifted[:-by] = flat[by:]
        else:
            shifted[-by:] = flat[:by]
        shifted = shifted.reshape(self.values.shape)
        if self.exponents.size == 1:
            return self, shifted
        beside = np.full_like(self.exponents, _NOTHING)
        border = slice(-by, None) if by > 0 else slice(None, -by)
        if by > 0:
            beside[:-1] = self.exponents[1:]
        else:
            beside[1:] = self.exponents[:-1]
        common = np.maximum(self.exponents, beside)
        own = _powers_of_two(self.exponents - common)[:, None]
        shifted[:, border] *= _powers_of_two(beside - common)[:, None]
        inner = slice(None, -by) if by > 0 else slice(-by, None)
        shifted[:, inner] *= own
        return BlockVector(self.values * own, common), shifted


@dataclass(frozen=True)
class BlockMatrix:
    """A square matrix that is lower triangular in blocks: block (i, j) times ``2^exponents[i, j]``.

    Attributes
    ----------
    values : ndarray of float64, shape (k·b, k·b)
        Zero in blocks above the diagonal ones.
    exponents : ndarray of int64, shape (k, k)
    """

    values: NDArray[np.float64]
    exponents: NDArray[np.int64]

    @classmethod
    def of(cls, values: NDArray[np.float64], *, blocks: int) -> BlockMatrix:
        """Take a matrix of floats."""
        return cls(values, np.zeros((blocks, blocks), dtype=np.int64)).normalised()

    @property
    def block(self) -> int:
        """Length b of a block."""
        return self.values.shape[0] // self.exponents.shape[0]

    def __matmul__(self, vector: BlockVector) -> BlockVector:
        """Multiply a column; each number of the product is off by at most (b + k + 2) roundings."""
        count, block = self.exponents.shape[0], self.block
        if count == 1:
            product = (self.values @ vector.values[0])[None]
            return BlockVector(product, self.exponents[0] + vector.exponents).normalised()
        parts = np.zeros((count, count, block))
        for j in range(count):
            columns = self.values[j * block :, j * block : (j + 1) * block]
            parts[j, j:] = (columns @ vector.values[j]).reshape(-1, block)
        return _sum(parts, (self.exponents + vector.exponents).T)

    def __rmatmul__(self, vector: BlockVector) -> BlockVector:
        """Multiply a row."""
        count, block = self.exponents.shape[0], self.block
        parts = np.zeros((count, count, block))
        for i in range(count):
            rows = self.values[i * block : (i + 1) * block, : (i + 1) * block]
            parts[i, : i + 1] = (vector.values[i] @ rows).reshape(-1, block)
        return _sum(parts, self.exponents + vector.exponents[:, None])

    def squared(self) -> BlockMatrix:
        """Multiply by itself; each number of the product is off by at most (b + k + 2) roundings."""
        count, block = self.exponents.shape[0], self.block
        if count == 1:
            return BlockMatrix(self.values @ self.values, 2 * self.exponents).normalised()
        middle = self.exponents[:, :, None] + self.exponents[None, :, :]
        exponents = middle.max(axis=1)
        values = np.zeros_like(self.values)
        for k in range(count):
            first, last = k * block, (k + 1) * block
            part = self.values[first:, first:last] @ self.values[first:last, :last]
            scale = _powers_of_two(middle[k:, k, : k + 1] - exponents[k:, : k + 1])
            scaled = part.reshape(count - k, block, k + 1, block) * scale[:, None, :, None]
            values[first:, :last] += scaled.reshape(part.shape)
        return BlockMatrix(values, exponents).normalised()

    def normalised(self) -> BlockMatrix:
        """Return the same numbers, the largest of each block in [2^479, 2^480)."""
        count, block = self.exponents.shape[0], self.block
        blocks = self.values.reshape(count, block, count, block)
        peaks = blocks.max(axis=(1, 3))
        shifts = np.frexp(peaks)[1] - _TOP
        values = np.ldexp(blocks, -shifts[:, None, :, None]).reshape(self.values.shape)
        return BlockMatrix(values, np.where(peaks > 0, self.exponents + shifts, _NOTHING))

    def row_weights(self, rows: NDArray[np.int64], low: int, high: int, vector: BlockVector) -> NDArray[np.float64]:
        """Return ``self[r, i] · vector[i]`` for low ≤ i < high, each row of it times a power of two."""
        values = self.values[rows, low:high] * vector.values.ravel()[low:high]
        if self.exponents.size == 1:
            return np.asarray(values)
        at = np.arange(low, high) // self.block
        return aligned(values, self.exponents[(rows // self.block)[:, None], at] + vector.exponents[at])[0]

    def path_weights(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], low: int, high: int
    ) -> NDArray[np.float64]:
        """Return ``self[r, i] · self[i, c]`` for pairs (r, c) and low ≤ i < high, each row times a power of two."""
        values = self.values[rows, low:high] * self.values[low:high, columns].T
        if self.exponents.size == 1:
            return np.asarray(values)
        at = np.arange(low, high) // self.block
        first = self.exponents[(rows // self.block)[:, None], at]
        return aligned(values, first + self.exponents[at, (columns // self.block)[:, None]])[0]


def aligned(values: NDArray[np.float64], exponents: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Bring numbers ``values · 2^exponents`` to one power of two along the last axis, the largest in [1/2, 1).

    Returns
    -------
    tuple of ndarray
        Scaled values, and the exponents taken out, without the last axis.

    Examples
    --------
    >>> scaled, taken = aligned(np.array([3.0, 1.0]), np.array([5000, 5002]))
    >>> scaled.tolist(), int(taken)
    ([0.375, 0.5], 5003)
    """
    sizes = np.where(values > 0, np.frexp(values)[1] + exponents, _NOTHING)
    top = sizes.max(axis=-1)
    shifts = np.clip(exponents - top[..., None], -_FAR, _FAR).astype(np.int32)
    return np.ldexp(values, shifts), top


def _sum(parts: NDArray[np.float64], exponents: NDArray[np.int64]) -> BlockVector:
    """Add ``parts[j, i, :] · 2^exponents[j, i]`` over j; shapes (k, k, b) and (k, k)."""
    top = exponents.max(axis=0)
    return BlockVector((parts * _powers_of_two(exponents - top)[:, :, None]).sum(axis=0), top).normalised()


def _powers_of_two(exponents: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(np.ldexp(1.0, np.maximum(exponents, -_FAR).astype(np.int32)))
