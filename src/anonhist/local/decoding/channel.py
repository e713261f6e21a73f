"""Linear maps, with two products, from the distribution of items to the distribution of the counted cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class Channel(Protocol):
    """Q, of shape (cells, items): column x is the distribution of the cell given item x, and adds up to 1.

    A report of B bits is B observations of 2B cells: bit j is 0 or is 1, each divided by B.
    If the frequencies of a list need not add up to 1, the last item is "other".
    """

    @property
    def items(self) -> int:
        """How many items there are."""

    @property
    def cells(self) -> int:
        """How many cells are counted."""

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Q f``, shape (cells,): the share of observations expected in each cell."""

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Qᵀ w``, shape (items,)."""


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
        Probability of a cell that does not support the value, and how much more likely one is that does; numbers or
        shape (cells,).
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
    base: float | NDArray[np.float64]
    gain: float | NDArray[np.float64]
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
        """Return the expected weight of the cell reported by a person with each value, shape (items,)."""
        floor, gains = float((self.base * weights).sum()), self.gain * weights
        own = floor + self.gather(gains)
        return own if self.others is None else np.append(own, floor + float((self.others * gains).sum()))


@dataclass(frozen=True, eq=False)
class BitChannel:
    """Reports of several bits, each a separate observation: the ones of all cells, then their zeros.

    Attributes
    ----------
    ones
        Share of the reports that have each bit.
    bits
        How many bits a report has.
    weights
        Share of the reports that have the bit of each cell at all, a number or shape (cells of ``ones``,).
    """

    ones: SupportChannel
    bits: int
    weights: float | NDArray[np.float64] = 1.0

    @property
    def items(self) -> int:
        """How many shares there are to decode."""
        return self.ones.items

    @property
    def cells(self) -> int:
        """Two cells for each bit."""
        return 2 * self.ones.cells

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of every cell, shape (cells,)."""
        ones = self.ones.forward(frequencies)
        return np.concatenate((ones, self.weights * float(frequencies.sum()) - ones)) / self.bits

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected weight of the cells filled by a person with each value, shape (items,)."""
        ones, zeros = weights.reshape(2, -1)
        return (float((self.weights * zeros).sum()) + self.ones.adjoint(ones - zeros)) / self.bits
