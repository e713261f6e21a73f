"""How the distribution of items becomes the distribution of what is counted: linear maps with two products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How far from 1 the entries of a column may add up.
_ROUNDING = 1e-9


class Channel(Protocol):
    """Q, of shape (cells, items): column x is the law of the cell of one observation of item x, and adds up to 1.

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
class MatrixChannel:
    """A channel written out, for small alphabets and for tests.

    Parameters
    ----------
    matrix
        Q, shape (cells, items): a NumPy array or a SciPy sparse array, entries at least 0, columns that add up to 1.

    Raises
    ------
    UsageError
        If the matrix is empty, has an entry below 0, or a column that does not add up to 1.

    Examples
    --------
    >>> channel = MatrixChannel(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> channel.forward(np.array([1.0, 0.0])).tolist()
    [0.75, 0.25]
    """

    matrix: Any

    def __post_init__(self) -> None:
        if len(self.matrix.shape) != 2 or 0 in self.matrix.shape:
            raise UsageError("The matrix of a channel needs a row for each cell and a column for each item.")
        sums = np.asarray(self.matrix.sum(axis=0)).ravel()
        # Written so that NaN is refused too.
        if not (self.matrix.min() >= 0 and np.abs(sums - 1.0).max() <= _ROUNDING):
            raise UsageError("The matrix of a channel needs entries of at least 0 and columns that add up to 1.")

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.matrix.shape[1])

    @property
    def cells(self) -> int:
        """How many cells are counted."""
        return int(self.matrix.shape[0])

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Q f``."""
        return np.asarray(self.matrix @ frequencies)

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Qᵀ w``."""
        return np.asarray(self.matrix.T @ weights)


@dataclass(frozen=True, eq=False)
class AffineChannel:
    """``Q f = base·Σf + gain·(support f)``: every cell has its noise, and more of the items it supports.

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
            raise UsageError("The support of a channel needs a row for each entry of base and gain, and a column.")
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


@dataclass(frozen=True, eq=False)
class ChannelWithOther:
    """A channel with one more item, the last: everything that is not on the list.

    Parameters
    ----------
    listed
        The channel of the items on the list.
    other
        Shape (cells,), entries of at least 0 that add up to 1: the law of the cell for an item that nobody listed, on
        average over the hashes it may have.

    Raises
    ------
    UsageError
        If ``other`` is not a distribution over the cells.

    Examples
    --------
    >>> listed = MatrixChannel(np.array([[0.75], [0.25]]))
    >>> ChannelWithOther(listed, np.array([0.5, 0.5])).forward(np.array([0.0, 1.0])).tolist()
    [0.5, 0.5]
    """

    listed: Channel
    other: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.other.shape != (self.listed.cells,) or not (
            self.other.min() >= 0 and abs(float(self.other.sum()) - 1.0) <= _ROUNDING
        ):
            raise UsageError("The law of other items needs a probability for each cell, and they must add up to 1.")

    @property
    def items(self) -> int:
        """How many items there are, with "other"."""
        return self.listed.items + 1

    @property
    def cells(self) -> int:
        """How many cells are counted."""
        return self.listed.cells

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Q f``."""
        return np.asarray(self.listed.forward(frequencies[:-1]) + frequencies[-1] * self.other)

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Qᵀ w``."""
        return np.append(self.listed.adjoint(weights), self.other @ weights)
