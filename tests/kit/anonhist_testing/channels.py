"""Channels of known mechanisms, and counts drawn from them, for tests of decoders."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anonhist.local.decoder import BitChannel, Channel, SupportChannel

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MatrixChannel:
    """A channel as a matrix Q, shape (cells, items), with entries of at least 0 and columns that add up to 1."""

    matrix: Vector

    @property
    def items(self) -> int:
        """The number of items."""
        return int(self.matrix.shape[1])

    @property
    def cells(self) -> int:
        """The number of counted cells."""
        return int(self.matrix.shape[0])

    def forward(self, frequencies: Vector) -> Vector:
        """Return ``Q f``."""
        return np.asarray(self.matrix @ frequencies)

    def adjoint(self, weights: Vector) -> Vector:
        """Return ``Qᵀ w``."""
        return np.asarray(self.matrix.T @ weights)


def zipf(items: int) -> Vector:
    """Return frequencies in proportion to 1, 1/2, 1/3, …."""
    weights = 1.0 / np.arange(1, items + 1)
    return np.asarray(weights / weights.sum())


def k_ary_matrix(items: int, epsilon: float) -> Vector:
    """Return the matrix of k-RR."""
    truth = np.exp(epsilon)
    return np.asarray((np.ones((items, items)) + (truth - 1) * np.eye(items)) / (truth + items - 1))


def hashed_channel(items: int, symbols: int, cohorts: int, epsilon: float) -> SupportChannel:
    """Return the channel of O-RR: k-RR of a hash into ``symbols``, with another hash in each cohort."""
    rng = np.random.default_rng([items, symbols, cohorts])
    rows = (rng.integers(0, symbols, (cohorts, items)) + symbols * np.arange(cohorts)[:, None]).ravel()
    columns = np.tile(np.arange(items), cohorts)
    support = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(cohorts * symbols, items))
    noise = 1.0 / (cohorts * (np.exp(epsilon) + symbols - 1))
    cells = cohorts * symbols
    gain = (np.exp(epsilon) - 1) * noise
    return SupportChannel(items, cells, noise, gain, lambda shares: support @ shares, lambda cells: support.T @ cells)


def bit_channel(items: int, epsilon: float) -> BitChannel:
    """Return the channel of k-RAPPOR: cells "bit j is 1" and then cells "bit j is 0"."""
    kept = np.exp(epsilon / 2) / (1 + np.exp(epsilon / 2))
    return BitChannel(SupportChannel(items, items, 1 - kept, 2 * kept - 1, np.asarray, np.asarray), items)


def as_matrix(channel: Channel) -> MatrixChannel:
    """Return the same channel as a matrix."""
    return MatrixChannel(np.column_stack([channel.forward(row) for row in np.eye(channel.items)]))


def draw_counts(expected: Vector, users: int, *, seed: int = 7) -> Vector:
    """Return counts of cells that a NumPy generator draws for this many users."""
    return np.random.default_rng(seed).multinomial(users, expected / expected.sum()).astype(np.float64)


def log_likelihood(matrix: Vector, counts: Vector, frequencies: Vector) -> float:
    """Return the logarithm of the likelihood, without its constant."""
    expected = (matrix @ frequencies)[counts > 0]
    return float(counts[counts > 0] @ np.log(expected))
