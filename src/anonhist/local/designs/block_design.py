"""Blocks of points: each value belongs to one block, and some points of that block support it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.local.decoding.channel import SupportChannel
from anonhist.local.designs.matrices import check_entries
from anonhist.randomness import bernoulli, uniform_integers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.surveys.tally import Tally
    from anonhist.numeric import ExponentialQuotient
    from anonhist.numeric.hadamard import HadamardMatrix
    from anonhist.numeric.projective_space import ProjectiveSpace
    from anonhist.randomness import RandomSource

    # The same number of points, ``support``, supports every item, and the same number, ``num_shared``, every two items.
    Design = HadamardMatrix | ProjectiveSpace

# Above, the transform of all cells does not fit in memory, nor does a list of pairs that takes minutes.
MOST_CELLS, MOST_PAIRS = 1 << 27, 1 << 36
# A transform of all cells costs about as much as comparing each cell with this many values.
_PAIRS_PER_CELL = 16
_PIECE = 1 << 16
_MOST_COUNTED_POINTS = 1 << 20


@dataclass(frozen=True)
class BlockDesign:
    """B blocks with the same design: value x is item ``x mod items`` of block ``⌊x/items⌋``.

    A report is a cell, ``block·b + point``. One that supports the value is E = e^ε times as likely as one that does
    not, whose probability is ``u = 1/((E − 1)·s + B·b)``. So the report is a uniform supporting cell with probability
    ``(E − 1)·s·u``, and otherwise any cell, uniform: this is how it is drawn.
    """

    design: Design
    blocks: int

    @property
    def cells(self) -> int:
        """How many reports are possible, ``B·b``."""
        return self.blocks * self.design.points

    @property
    def items(self) -> int:
        """The largest number of values."""
        return self.blocks * self.design.items

    def base(self, odds: ExponentialQuotient) -> ExponentialQuotient:
        """Return u."""
        return 1 / ((odds - 1) * self.design.support + self.cells)

    def matrix(self, size: int, odds: ExponentialQuotient) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value) for the first values, shape (size, cells)."""
        check_entries(size * self.cells)
        low = self.base(odds)
        high = low * odds
        supports = self.supports(np.arange(self.cells), np.arange(size)[:, np.newaxis])
        return tuple(tuple(high if entry else low for entry in row) for row in supports.tolist())

    def supports(self, cells: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether the cells support the values; the arrays are broadcast."""
        block, point = np.divmod(cells, self.design.points)
        home, item = np.divmod(values, self.design.items)
        return np.asarray((block == home) & self.design.supports(point, item))

    def draw(self, codes: NDArray[np.int64], odds: ExponentialQuotient, *, source: RandomSource) -> NDArray[np.int64]:
        """Return one report for each value."""
        chosen = self.design.support * (odds - 1) * self.base(odds)
        reports = uniform_integers(self.cells, codes.size, source=source)
        rows = np.flatnonzero(bernoulli(chosen, codes.size, source=source))
        block, item = np.divmod(codes[rows], self.design.items)
        choices = uniform_integers(self.design.support, rows.size, source=source)
        reports[rows] = block * self.design.points + self.design.supporter(item, choices)
        return reports

    def support_bounds(self, items: int) -> tuple[int, int]:
        """Return the least and the largest number of the first items of a block that one of its points supports.

        With more than 2²⁰ points, these are the trivial bounds 0 and ``items``.
        """
        if self.design.points > _MOST_COUNTED_POINTS:
            return 0, items
        shares = np.zeros(self.design.items)
        shares[:items] = 1
        counts = np.rint(self.design.spread(shares)).astype(np.int64)
        return int(counts.min()), int(counts.max())

    def counts(self, tally: Tally, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many reports support each of the values, exact.

        Raises
        ------
        UsageError
            If there are too many to compare with every report, and too many cells to do otherwise.
        """
        if self.cells <= MOST_CELLS and not self.is_listed(tally, values):
            cells = tally.dense(self.cells).reshape(self.blocks, self.design.points)
            every: NDArray[np.int64] = self.design.sums(cells).ravel()[values]
            return every
        if values.size * tally.cells.size > MOST_PAIRS:
            raise UsageError(
                "With an alphabet of this size, so many values take too long to estimate; name fewer candidates."
            )
        out = np.zeros(values.size, dtype=np.int64)
        step = max(1, _PIECE // max(1, tally.cells.size))
        for start in range(0, values.size, step):
            piece = values[start : start + step, np.newaxis]
            out[start : start + step] = np.where(self.supports(tally.cells, piece), tally.counts, 0).sum(axis=1)
        return out

    def is_listed(self, tally: Tally, values: NDArray[np.int64]) -> bool:
        """Return whether it is faster to compare each of the values with each report than to transform all cells."""
        return values.size * tally.cells.size <= _PAIRS_PER_CELL * self.cells

    def block_counts(self, tally: Tally, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many reports fell into the block of each of the values."""
        # Cells ascend, so those of a block are adjacent; there may be more blocks than fit in memory.
        reached = np.concatenate(([0], np.cumsum(tally.counts)))
        first = values // self.design.items * self.design.points
        ends = np.searchsorted(tally.cells, first + self.design.points)
        return np.asarray(reached[ends] - reached[np.searchsorted(tally.cells, first)])

    def channel(
        self, tally: Tally, codes: NDArray[np.int64] | None, *, size: int, odds: ExponentialQuotient
    ) -> tuple[SupportChannel, NDArray[np.int64]]:
        """Return the distribution of the cells for all values, or for these and the others, and the count of each cell.

        Raises
        ------
        UsageError
            If there are too many cells.
        """
        if self.cells > MOST_CELLS:
            raise UsageError(
                "This survey has too many possible reports for this decoder; choose projected or normalized."
            )
        chosen = np.arange(size) if codes is None else codes

        def spread(shares: NDArray[np.float64], at: NDArray[np.int64] = chosen) -> NDArray[np.float64]:
            every = np.zeros(self.items)
            every[at] = shares
            return self.design.spread(every.reshape(self.blocks, -1)).ravel()

        def gather(weights: NDArray[np.float64]) -> NDArray[np.float64]:
            sums: NDArray[np.float64] = self.design.sums(weights.reshape(self.blocks, -1)).ravel()[chosen]
            return sums

        others: NDArray[np.float64] | None = None
        if chosen.size < size:
            # Others report as if all of them were equally frequent.
            rest = np.setdiff1d(np.arange(size), chosen)
            others = spread(np.full(rest.size, 1 / rest.size), rest)
        base = self.base(odds)
        channel = SupportChannel(chosen.size, self.cells, float(base), float(base * (odds - 1)), spread, gather, others)
        return channel, tally.dense(self.cells)
