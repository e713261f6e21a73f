"""Linear maps, with two products, from the distribution of items to the distribution of the counted cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Largest deviation from 1 of the sum of a column.
_ROUNDING = 1e-9


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
class AffineChannel:
    """``Q f = base·Σf + gain·(support f)``: every cell has a base rate, and a higher one for the items it supports.

    With hashes into g symbols in each of C cohorts, ``support`` has a one where an item's hash in a cohort is the
    cell's symbol, ``base = q/C`` and ``gain = (p − q)/C``: a row of C ones for each item is all that is stored.

    Parameters
    ----------
    support
        Shape (cells, items), entries between 0 and 1: a SciPy sparse array, or anything with ``shape``, ``@`` and
        ``.T @``.
    base, gain
        Shape (cells,); base and base + gain at least 0. For the cell "bit j is 0" the gain is below 0.

    Raises
    ------
    UsageError
        If shapes do not agree, a probability is below 0, or a column does not add up to 1.

    Examples
    --------
    >>> from scipy.sparse import eye_array
    >>> channel = AffineChannel(eye_array(2), np.array([0.25, 0.25]), np.array([0.5, 0.5]))
    >>> channel.forward(np.array([1.0, 0.0])).tolist()
    [0.75, 0.25]
    """

    support: Any
    base: NDArray[np.float64]
    gain: NDArray[np.float64]

    def __post_init__(self) -> None:
        shape = self.support.shape
        if len(shape) != 2 or 0 in shape or self.base.shape != shape[:1] or self.gain.shape != shape[:1]:
            raise UsageError(
                "The support of a channel needs one row for each entry of base and gain, and at least one column."
            )
        least = np.minimum(self.base, self.base + self.gain).min()
        if not (least >= -_ROUNDING and np.abs(self.adjoint(np.ones(shape[0])) - 1.0).max() <= _ROUNDING):
            raise UsageError("A channel needs probabilities of at least 0 that add up to 1 for each item.")

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.support.shape[1])

    @property
    def cells(self) -> int:
        """How many cells are counted."""
        return int(self.support.shape[0])

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Q f``."""
        return np.asarray(self.base * float(frequencies.sum()) + self.gain * (self.support @ frequencies))

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Qᵀ w``."""
        return np.asarray(float(self.base @ weights) + self.support.T @ (self.gain * weights))
