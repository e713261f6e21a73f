"""The distribution of the counted cells, given the frequencies; likelihood and least squares decode with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SupportChannel:
    """``Q(cell | x) = base + gain·[cell supports x]``.

    Attributes
    ----------
    values
        How many values there are, m.
    cells
        How many cells.
    base, gain
        Probability of a cell that does not support the value, and how much more likely one is that does.
    spread
        From shares of the values, shape (m,), to the share of values that each cell supports, shape (cells,).
    gather
        From weights of the cells, shape (cells,), to their sum over the cells that support each value, shape (m,).
    others
        The share of all other values that a cell supports on average, a number or shape (cells,); None if there are no
        others. They form one more item, the last.
    """

    values: int
    cells: int
    base: float
    gain: float
    spread: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    gather: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    others: float | NDArray[np.float64] | None = None

    @property
    def items(self) -> int:
        """How many shares there are to decode: the values, and the others if there are any."""
        return self.values + (self.others is not None)

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of every cell, shape (cells,)."""
        supported = self.spread(frequencies[: self.values])
        if self.others is not None:
            supported = supported + self.others * frequencies[-1]
        return self.base * float(frequencies.sum()) + self.gain * supported

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected weight of the cell that somebody with each value reports, shape (items,)."""
        own = self.base * float(weights.sum()) + self.gain * self.gather(weights)
        if self.others is None:
            return own
        rest = np.broadcast_to(np.asarray(self.others, dtype=np.float64), weights.shape)
        return np.append(own, self.base * float(weights.sum()) + self.gain * float(rest @ weights))


@dataclass(frozen=True, eq=False)
class BitChannel:
    """Reports of one bit per value, each a separate observation: 2m cells, the ones before the zeros.

    Attributes
    ----------
    values
        How many values, m.
    other_probability, gap
        The probability q of a bit that is not the value's own, and its difference p − q from that of the own bit.
    has_others
        Whether there may be values without a bit among these.
    """

    values: int
    other_probability: float
    gap: float
    has_others: bool = False

    @property
    def items(self) -> int:
        """How many shares there are to decode."""
        return self.values + self.has_others

    @property
    def cells(self) -> int:
        """Two cells a bit."""
        return 2 * self.values

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of every cell, shape (2m,)."""
        total = float(frequencies.sum())
        ones = self.other_probability * total + self.gap * frequencies[: self.values]
        return np.concatenate((ones, total - ones)) / self.values

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected weight of the cells that somebody with each value fills, shape (items,)."""
        ones, zeros = weights[: self.values], weights[self.values :]
        rest = float(self.other_probability * ones.sum() + (1 - self.other_probability) * zeros.sum())
        own = rest + self.gap * (ones - zeros)
        return (np.append(own, rest) if self.has_others else own) / self.values


def bit_counts_of_cells(supports: NDArray[np.int64], users: int) -> NDArray[np.int64]:
    """Return the count of each cell of a :class:`BitChannel`."""
    return np.concatenate((supports, users - supports))
