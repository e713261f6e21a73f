"""Block floating point: non-negative numbers far beyond the range of floats, with one power of two per block.

Sums and products of non-negative numbers lose no accuracy this way; only numbers more than about 1,500 binary orders
below the largest block involved become zero. A single block is ordinary floating point: its matrices are used
unchanged, and a vector changes its exponent only when it is normalized.
"""

from __future__ import annotations

import math

import numpy as np

from anonhist.frozen import frozen
from anonhist.numeric.arrays import Floats, Ints

# The largest value of a block lies in [2⁴⁷⁹, 2⁴⁸⁰): sums of products of two stay below 2¹⁰⁰⁰, with as much
# room below one as above it.
_TOP = 480
# Exponent of a block of zeros: below that of any other block, and small sums of such exponents stay within int64.
_NOTHING = -(2**60)
# Beyond this many binary orders, a product becomes zero, or already was.
_FAR = 4000


@frozen
class BlockVector:
    """Number i of block j is ``values[j, i] · 2^exponents[j]``."""

    values: Floats
    exponents: Ints

    @classmethod
    def of(cls, values: Floats, exponents: Ints, *, blocks: int) -> BlockVector:
        """Gather numbers ``values[i] · 2^exponents[i]`` into blocks of equal length."""
        return cls(*align(values.reshape(blocks, -1), exponents.reshape(blocks, -1))).normalize()

    def normalize(self) -> BlockVector:
        """Return the same numbers with the largest of each block in [2⁴⁷⁹, 2⁴⁸⁰); in [1/2, 1) for a single block."""
        if self.exponents.size == 1:
            shift = math.frexp(np.maximum.reduce(self.values, axis=None))[1]
            return BlockVector(np.ldexp(self.values, -shift), self.exponents + shift)
        peaks = self.values.max(axis=1)
        shifts = np.frexp(peaks)[1] - _TOP
        exponents = np.where(peaks > 0, self.exponents + shifts, _NOTHING)
        return BlockVector(np.ldexp(self.values, -shifts[:, None]), exponents)

    def take(self, index: Ints) -> tuple[Floats, Ints]:
        """Return values and exponents of the numbers at ``index``, in the numbering across all blocks."""
        return self.values.ravel()[index], self.exponents[index // self.values.shape[1]]

    def times(self, other: BlockVector) -> Floats:
        """Return the products, flat, times one power of two."""
        values = self.values * other.values
        if self.exponents.size == 1:
            return np.asarray(values[0])
        exponents = self.exponents + other.exponents
        peaks = values.max(axis=1)
        top = np.where(peaks > 0, np.frexp(peaks)[1] + exponents, _NOTHING).max()
        return np.asarray(np.ldexp(values, np.clip(exponents - top, -_FAR, _FAR).astype(np.int32)[:, None]).ravel())

    def weigh(self, factors: Floats, index: Ints) -> Floats:
        """Return ``factors · self[index]``, each row multiplied by a power of two."""
        if self.exponents.size == 1:
            return np.asarray(factors * self.values.ravel()[index])
        values, exponents = self.take(index)
        return align(factors * values, exponents)[0]

    def with_shift(self, by: int) -> tuple[BlockVector, Floats]:
        """Return these numbers, and those ``by`` positions later (zero beyond the ends), with common exponents."""
        flat, shifted = self.values.ravel(), np.empty(self.values.shape)
        if by > 0:
            shifted.ravel()[:-by], shifted.ravel()[-by:] = flat[by:], 0
        else:
            shifted.ravel()[-by:], shifted.ravel()[:-by] = flat[:by], 0
        if self.exponents.size == 1:
            return self, shifted
        beside = np.full_like(self.exponents, _NOTHING)
        border = slice(-by, None) if by > 0 else slice(None, -by)
        if by > 0:
            beside[:-1] = self.exponents[1:]
        else:
            beside[1:] = self.exponents[:-1]
        common = np.maximum(self.exponents, beside)
        own = (self.exponents - common)[:, None]
        shifted[:, border] = _shift(shifted[:, border], (beside - common)[:, None])
        inner = slice(None, -by) if by > 0 else slice(-by, None)
        shifted[:, inner] = _shift(shifted[:, inner], own)
        return BlockVector(_shift(self.values, own), common), shifted


@frozen
class BlockMatrix:
    """A square matrix, lower triangular in blocks, kept as columns of blocks from the diagonal one down.

    Block (i, j) is rows (i − j)·b to (i − j + 1)·b of panel j, times ``2^exponents[i, j]``. A panel of zeros is empty.
    For k = 1, the exponent is zero.
    """

    panels: tuple[Floats, ...]
    exponents: Ints

    @classmethod
    def of(cls, values: Floats, *, blocks: int) -> BlockMatrix:
        """Divide a matrix of floats into blocks."""
        block = values.shape[0] // blocks
        if blocks == 1:
            return cls((values,), np.zeros((1, 1), dtype=np.int64))
        panels = [values[start:, start : start + block].copy() for start in range(0, values.shape[0], block)]
        return _normalize(panels, np.zeros((blocks, blocks), dtype=np.int64))

    @property
    def block(self) -> int:
        """Length b of a block."""
        return int(self.panels[0].shape[1])

    def __matmul__(self, vector: BlockVector) -> BlockVector:
        """Multiply a column; each number of the product is off by at most (b + k + 2) roundings."""
        count = len(self.panels)
        if count == 1:
            return BlockVector((self.panels[0] @ vector.values[0])[None], vector.exponents)
        parts = np.zeros((count, count, self.block))
        for j, panel in enumerate(self.panels):
            if panel.size:
                parts[j, j:] = (panel @ vector.values[j]).reshape(-1, self.block)
        shifts, top = _common((self.exponents + vector.exponents).T, parts.max(axis=2))
        return BlockVector(_shift(parts, shifts[:, :, None]).sum(axis=0), top).normalize()

    def __rmatmul__(self, vector: BlockVector) -> BlockVector:
        """Multiply a row."""
        if len(self.panels) == 1:
            return BlockVector((vector.values[0] @ self.panels[0])[None], vector.exponents)
        exponents = self.exponents + vector.exponents[:, None]
        shifts, top = _common(exponents, np.broadcast_to(vector.values.max(axis=1)[:, None], exponents.shape))
        total = np.zeros_like(vector.values)
        for j, panel in enumerate(self.panels):
            if panel.size:
                total[j] = _shift(vector.values[j:], shifts[j:, j, None]).ravel() @ panel
        return BlockVector(total, top).normalize()

    def square(self, *, floor: int) -> BlockMatrix:
        """Return the square, without blocks in which no number reaches 2^floor.

        Each number of the product is off by at most (b + k + 2) roundings.
        """
        if len(self.panels) == 1:
            return BlockMatrix((self.panels[0] @ self.panels[0],), self.exponents)
        exponents, panels = np.full_like(self.exponents, _NOTHING), []
        for j, panel in enumerate(self.panels):
            product = np.zeros_like(panel)
            for k in range(j, len(self.panels) if panel.size else j):
                if not self.panels[k].size:
                    continue
                first, last = (k - j) * self.block, (k - j + 1) * self.block
                part = (self.panels[k] @ panel[first:last]).reshape(-1, self.block, self.block)
                both = np.stack((exponents[k:, j], self.exponents[k:, k] + self.exponents[k, j]))
                so_far = product[first:].reshape(part.shape)
                peaks = np.stack((so_far.max(axis=(1, 2)), part.max(axis=(1, 2))))
                shifts, exponents[k:, j] = _common(both, peaks)
                so_far[:] = _shift(so_far, shifts[0, :, None, None]) + _shift(part, shifts[1, :, None, None])
            panels.append(product)
        return _normalize(panels, exponents, floor=floor)

    def row_weights(self, rows: Ints, low: int, high: int, vector: BlockVector) -> Floats:
        """Return ``self[r, i] · vector[i]`` for low ≤ i < high, each row times a power of two."""
        values = self._part(rows, low, high) * vector.values.ravel()[low:high]
        if len(self.panels) == 1:
            return values
        at = np.arange(low, high) // self.block
        return align(values, self.exponents[(rows // self.block)[:, None], at] + vector.exponents[at])[0]

    def path_weights(self, rows: Ints, columns: Ints, low: int, high: int) -> Floats:
        """Return ``self[r, i] · self[i, c]`` for pairs (r, c) and low ≤ i < high, each row times a power of two."""
        values = self._part(rows, low, high)
        if len(self.panels) == 1:
            return np.asarray(values * self.panels[0][low:high, columns].T)
        second, inner = np.zeros_like(values), np.arange(low, high)
        for j in np.unique(columns // self.block):
            here, below = columns // self.block == j, inner >= j * self.block
            if self.panels[j].size:
                from_diagonal = inner[below] - j * self.block
                second[np.ix_(here, below)] = self.panels[j][from_diagonal[:, None], columns[here] % self.block].T
        exponents = self.exponents[(rows // self.block)[:, None], inner // self.block]
        exponents = exponents + self.exponents[inner // self.block, (columns // self.block)[:, None]]
        return align(values * second, exponents)[0]

    def _part(self, rows: Ints, low: int, high: int) -> Floats:
        """Return columns low to high of some rows."""
        if len(self.panels) == 1:
            return self.panels[0][rows, low:high]
        part, block = np.zeros((rows.size, high - low)), self.block
        for j in range(low // block, -(-high // block)):
            first, last = max(low, j * block), min(high, (j + 1) * block)
            below = rows >= j * block
            if self.panels[j].size:
                part[below, first - low : last - low] = self.panels[j][
                    rows[below] - j * block, first - j * block : last - j * block
                ]
        return part


def _normalize(panels: list[Floats], exponents: Ints, *, floor: int = _NOTHING) -> BlockMatrix:
    """Scale each block so that its largest number is in [2⁴⁷⁹, 2⁴⁸⁰)."""
    block = panels[0].shape[1]
    found = np.full_like(exponents, _NOTHING)
    kept = []
    for j, panel in enumerate(panels):
        blocks = panel.reshape(-1, block, block)
        shifts = np.frexp(blocks.max(axis=(1, 2)))[1] - _TOP
        sizes = exponents[j:, j][: shifts.size] + shifts
        lives = (blocks.max(axis=(1, 2)) > 0) & (sizes + _TOP >= floor)
        found[j:, j][: shifts.size][lives] = sizes[lives]
        scaled = np.ldexp(blocks, -shifts[:, None, None]) * lives[:, None, None]
        kept.append(scaled.reshape(panel.shape) if lives.any() else np.zeros((0, block)))
    return BlockMatrix(tuple(kept), found)


def align(values: Floats, exponents: Ints) -> tuple[Floats, Ints]:
    """Scale numbers ``values · 2^exponents`` to a common exponent along the last axis, the largest in [1/2, 1)."""
    top = np.where(values > 0, np.frexp(values)[1] + exponents, _NOTHING).max(axis=-1)
    return np.ldexp(values, np.clip(exponents - top[..., None], -_FAR, _FAR).astype(np.int32)), top


def _common(exponents: Ints, peaks: Floats) -> tuple[Ints, Ints]:
    """Return shifts to a common exponent along the first axis, and that exponent, for blocks with these peaks.

    The largest value of all is then close to 2⁴⁸⁰.
    """
    sizes = np.where(peaks > 0, np.frexp(peaks)[1] + exponents, _NOTHING)
    top = sizes.max(axis=0) - _TOP
    return exponents - top, top


def _shift(values: Floats, exponents: Ints) -> Floats:
    """Return ``values · 2^exponents``: two multiplications cover the same range and are far faster than ldexp."""
    first = np.clip(exponents, -1000, 1000)
    shifted = values * np.ldexp(1.0, first.astype(np.int32))
    rest = np.clip(exponents - first, -1000, 1000)
    return shifted * np.ldexp(1.0, rest.astype(np.int32)) if rest.any() else shifted
