"""Counts of each cohort, the cells that each label supports, and the distribution of the counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.frozen import frozen
from anonhist.local.decoding.decoder import BitChannel, SupportChannel
from anonhist.numeric.arrays import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.decoding.decoder import Channel


@frozen
class Supports:
    """Which cells of a table of C cohorts by k places each of m labels supports.

    Attributes
    ----------
    places
        Place of each label under each function, int32, shape (C·h, m).
    cohorts, buckets
        C and k.
    """

    places: NDArray[np.int32]
    cohorts: int
    buckets: int

    @property
    def hashes(self) -> int:
        """How many functions a cohort has, h."""
        return len(self.places) // self.cohorts

    @property
    def values(self) -> int:
        """How many labels, m."""
        return int(self.places.shape[1])

    @cached_property
    def distinct(self) -> NDArray[np.int32]:
        """The places, each at most once in a cohort: repeats are marked by k, which is not a place."""
        if self.hashes == 1:
            return self.places
        out = self.places.copy()
        for cohort in range(self.cohorts):
            first = cohort * self.hashes
            for function in range(first + 1, first + self.hashes):
                met = (self.places[first:function] == self.places[function]).any(axis=0)
                out[function, met] = self.buckets
        return read_only(out)

    @cached_property
    def sharing(self) -> float:
        """``Σm²/Σm`` over the cells, m labels supporting each, at least 1: how much their noise adds up."""
        together = self.spread(np.ones(self.values))
        return float((together**2).sum() / max(1.0, together.sum())) if self.values else 1.0

    def spread(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of the labels that support each cell, shape (C, k)."""
        out = np.zeros((self.cohorts, self.buckets + 1))
        for function, places in enumerate(self.distinct):
            out[function // self.hashes] += np.bincount(places, shares, minlength=self.buckets + 1)
        return out[:, :-1]

    def gather(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weight of the cells that each label supports, shape (m,), from weights of shape (C, k)."""
        padded = np.pad(weights, ((0, 0), (0, 1)))
        out = np.zeros(self.values)
        for function, places in enumerate(self.distinct):
            out += padded[function // self.hashes].take(places)
        return out

    def gather_each(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of :meth:`gather` for each cohort by itself, shape (m, C)."""
        padded = np.pad(weights, ((0, 0), (0, 1)))
        out = np.zeros((self.values, self.cohorts))
        for function, places in enumerate(self.distinct):
            cohort = function // self.hashes
            out[:, cohort] += padded[cohort].take(places)
        return out

    def total(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over all functions of the entries at each label's places, shape (m,)."""
        out = np.zeros(self.values, dtype=table.dtype)
        for function, places in enumerate(self.places):
            out += table[function // self.hashes].take(places)
        return out

    def matrix(self) -> Any:
        """Return the supports as a sparse matrix of zeros and ones, shape (C·k, m)."""
        from scipy.sparse import csr_array

        rows = self.distinct + self.buckets * (np.arange(len(self.places)) // self.hashes)[:, np.newaxis]
        columns = np.broadcast_to(np.arange(self.values), rows.shape)
        real = self.distinct < self.buckets
        shape = (self.cohorts * self.buckets, self.values)
        return csr_array((np.ones(int(real.sum())), (rows[real], columns[real])), shape=shape)


@frozen
class CohortCounts(ABC):
    """How many of the reports of each cohort support each place: with probability p if the value supports it, else q.

    Attributes
    ----------
    counts
        int64, shape (C, k).
    users
        Reports of each cohort, int64, shape (C,), not all 0.
    supports
        Of the labels to estimate.
    other_probability, gap
        q and p − q, not 0.
    shares
        How likely each place is for a label, shape (k,).
    others
        Probability that an unlisted label supports each cell, shape (C, k); None if there are none.
    collision
        Probability, over the keys, that one label's place is among those of another.
    """

    counts: NDArray[np.int64]
    users: NDArray[np.int64]
    supports: Supports
    other_probability: float
    gap: float
    shares: NDArray[np.float64]
    others: NDArray[np.float64] | None
    collision: float

    @staticmethod
    @abstractmethod
    def split(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return ``counts`` and ``users`` from the cells of a tally, one row for each cohort."""

    @property
    def total(self) -> int:
        """How many reports, n."""
        return sum(self.users.tolist())

    @property
    def true_probability(self) -> float:
        """p, within [0, 1] whatever the rounding."""
        return min(1.0, max(0.0, self.other_probability + self.gap))

    @property
    def weights(self) -> NDArray[np.float64]:
        """The share of each cohort in the reports, shape (C, 1)."""
        return (self.users / self.total)[:, np.newaxis]

    @property
    def table(self) -> NDArray[np.float64]:
        """Unbiased estimates of the share of people who support each cell, shape (C, k); 0 without reports."""
        shares = self.counts / np.maximum(self.users, 1)[:, np.newaxis]
        return np.where(self.users[:, np.newaxis] > 0, (shares - self.other_probability) / self.gap, 0.0)

    @property
    @abstractmethod
    def free(self) -> int:
        """Degrees of freedom of the cells of cohorts with reports."""

    @abstractmethod
    def variances(self, supported: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return D of a report: the covariance of the table is ``(D − BBᵀ)/n_c`` for supported shares B.

        Terms that are equal for all places of a cohort are omitted, because they do not affect estimates.
        """

    @abstractmethod
    def channel(self) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the cells, with others if there may be any, and the count of each."""

    def _cell_channel(self) -> SupportChannel:
        """Return ``w_c·(q + (p − q)·[cell supports x])`` for every cell (c, j), row after row."""
        supports, weights = self.supports, np.repeat(self.weights.ravel(), self.supports.buckets)
        return SupportChannel(
            supports.values,
            weights.size,
            weights * self.other_probability,
            weights * self.gap,
            spread=lambda shares: supports.spread(shares).ravel(),
            gather=lambda cells: supports.gather(cells.reshape(supports.cohorts, -1)),
            others=None if self.others is None else self.others.ravel(),
        )


@frozen
class SymbolCounts(CohortCounts):
    """Counts of reports that are one place each."""

    @staticmethod
    def split(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the table and the sums of its rows."""
        return table, table.sum(axis=1)

    @property
    def free(self) -> int:
        """All but one of each cohort."""
        return int(np.count_nonzero(self.users)) * (self.supports.buckets - 1)

    def variances(self, supported: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``π/(p − q)²``, ``π = q + (p − q)B``: reports of a cohort are multinomial."""
        return (self.other_probability + self.gap * supported) / self.gap**2

    def channel(self) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the pairs (cohort, place)."""
        return self._cell_channel(), self.counts.ravel()


@frozen
class BitCounts(CohortCounts):
    """Counts of reports that have one bit for each place."""

    @staticmethod
    def split(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the table without its first column, which counts the reports, and that column."""
        return table[:, 1:], table[:, 0]

    @property
    def free(self) -> int:
        """All of them."""
        return int(np.count_nonzero(self.users)) * self.supports.buckets

    def variances(self, supported: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``π(1 − π)/(p − q)² + B²``: bits are independent given the label."""
        ones = self.other_probability + self.gap * supported
        return ones * (1 - ones) / self.gap**2 + supported**2

    def channel(self) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the triples (cohort, place, bit), the ones before the zeros."""
        zeros = self.users[:, np.newaxis] - self.counts
        buckets = self.supports.buckets
        channel = BitChannel(self._cell_channel(), buckets, np.repeat(self.weights.ravel(), buckets))
        return channel, np.concatenate((self.counts.ravel(), zeros.ravel()))
