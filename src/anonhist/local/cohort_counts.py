"""Counts of each cohort: which bucket and cells a label has in it, and the distribution of the counts.

A bucket comes from hashing any text, or from permuting a known alphabet, modulo k. All parties compute the same
buckets: the key and the numbers below are public, and this file specifies them, together with docs/hashing.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Checked, Converted, completed, converted, frozen, named
from anonhist.local.decoder import BitChannel, Channel, SupportChannel
from anonhist.numeric.arrays import read_only
from anonhist.numeric.hashing import (
    bucket_widths,
    buckets,
    hash_words,
    keyed_hash,
    label_words,
    paired_buckets,
    seed_coefficients,
)
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.alphabet import Alphabet


@frozen
class Supports:
    """Which cells of a table of C cohorts by k places each of m labels supports, from its places, shape (C·h, m)."""

    places: NDArray[np.int32]
    cohorts: int
    buckets: int

    @property
    def hashes(self) -> int:
        """The number h of functions of a cohort."""
        return len(self.places) // self.cohorts

    @property
    def values(self) -> int:
        """The number m of labels."""
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
        """Return the sums of :meth:`gather` for each cohort separately, shape (m, C)."""
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
    """The number of each cohort's reports that support each place, with probability p if the value supports it, else q.

    ``counts`` has shape (C, k); ``users``, the reports of each cohort, are not all 0; ``other_probability`` is q, and
    ``gap`` p − q, not 0. ``shares`` is the probability of each place for a label; ``others`` the probability that an
    unlisted label supports each cell, None if there are none; ``collision`` the probability, over the keys, that one
    label's place is among those of another.
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
        """The number n of reports."""
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
        """All cells."""
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


MOST_COHORTS = MOST_BUCKETS = 1 << 16
MOST_HASHES = 64
# 16-bit words of a label's hash: for a million labels, two agree in all words in one of 10⁸ surveys.
_WORDS = 4
# Permutations and tables of counts with more numbers than this do not fit in memory.
MOST_PLACES = 1 << 27
# This many numbers are hashed or sorted at a time.
_CHUNK = 1 << 20
# The key selects the functions, and is always public.
DEFAULT_KEY = "anonhist"


def check_key(key: str) -> str:
    """Return a key of hash functions, or refuse one that is not plain text on one line."""
    if not isinstance(key, str) or not key or not key.isprintable():
        raise UsageError(
            "The key of the hash functions must be plain text on one line, such as the name of the survey."
        )
    return key


def _whole_hashes(functions: Cohorts, given: SupportsIndex) -> int:
    return parse_whole_number(given, name="hashes", most=min(MOST_HASHES, functions.buckets))


@frozen(kw_only=True)
class HashedCohorts:
    """Functions for any text: two labels collide with probability about 1/k.

    A label becomes the first four 16-bit words of its keyed hash; function j = c·h + i is multiply-shift with the
    coefficients of seed j, both under the UTF-8 of the key. k is from 2 to 65,536, C from 1 to 65,536, h from 1 to 64
    and at most k.
    """

    buckets: Converted[SupportsIndex, int] = named(parse_whole_number, least=2, most=MOST_BUCKETS)
    cohorts: Converted[SupportsIndex, int] = named(parse_whole_number, most=MOST_COHORTS)
    hashes: Converted[SupportsIndex, int] = completed(_whole_hashes, default=1)
    key: Checked[str] = converted(check_key)

    def __post_init__(self) -> None:
        if self.buckets * self.cohorts > MOST_PLACES:
            raise UsageError("This needs more than 2^27 counts; choose fewer buckets or cohorts.")

    @property
    def shares(self) -> NDArray[np.float64]:
        """Probability of each bucket for a label under a random key: its width divided by 2¹⁶, shape (k,)."""
        return bucket_widths(self.buckets) / (1 << 16)

    @property
    def chances(self) -> NDArray[np.float64]:
        """Probability, over the keys, that each bucket is among the h of a label, shape (k,)."""
        return np.asarray(1 - (1 - self.shares) ** self.hashes)

    @property
    def collision(self) -> float:
        """Probability, over the keys, that one label's bucket under a function is among those of another label."""
        return float(self.shares @ self.chances)

    def codes(self, values: Any) -> NDArray[np.uint16]:
        """Return the words of each label, shape (m, 4), or refuse a value that is not a string."""
        if isinstance(values, str):
            raise DataError("Values must be a list of strings, one per person.")
        labels = values if isinstance(values, np.ndarray) and values.dtype.kind == "U" else list(values)
        return label_words(keyed_hash(labels, key=self.key.encode()), _WORDS)

    def all_places(self, codes: NDArray[np.uint16]) -> NDArray[np.int32]:
        """Return the buckets of words, shape (C·h, m)."""
        out = np.empty((len(self._coefficients), len(codes)), dtype=np.int32)
        step = max(1, _CHUNK // max(1, len(codes)))
        for start in range(0, len(out), step):
            out[start : start + step] = buckets(codes, self._coefficients[start : start + step], self.buckets)
        return out

    def own_places(self, codes: NDArray[np.uint16], cohorts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the buckets of words in one cohort each, shape (n, h)."""
        out = np.empty((len(codes), self.hashes), dtype=np.int64)
        for number in range(self.hashes):
            out[:, number] = paired_buckets(codes, self._coefficients[cohorts * self.hashes + number], self.buckets)
        return out

    @cached_property
    def _coefficients(self) -> NDArray[np.uint32]:
        functions = np.arange(self.cohorts * self.hashes)
        return read_only(seed_coefficients(functions, key=self.key.encode(), words=_WORDS))


@frozen(kw_only=True)
class PermutedCohorts:
    """Functions for a known alphabet: each permutes its S labels and takes places modulo k, so few labels collide.

    Function j = c·h + i gives label number s the place ``rank mod k``, with its rank, from 0, among all labels in the
    ascending order of the numbers ``v(j, s)``, ties by s: the first eight bytes, little-endian, of the keyed hash of
    the eight bytes that are j in four, little-endian, and then s in four, little-endian; under the UTF-8 of the key.
    The rank is a minimal perfect hash of the set. If k is at least S, its default, labels never collide, and S places
    are used. Ranges are those of :class:`HashedCohorts`, and permutations have at most 2²⁷ entries in all.
    """

    alphabet: Alphabet
    buckets: Converted[SupportsIndex | None, int] = completed(lambda self, given: self._places(given), default=None)
    cohorts: Converted[SupportsIndex, int] = named(parse_whole_number, most=MOST_COHORTS)
    hashes: Converted[SupportsIndex, int] = completed(_whole_hashes, default=1)
    key: Checked[str] = converted(check_key)

    def __post_init__(self) -> None:
        if self.cohorts * self.hashes * self.alphabet.size > MOST_PLACES:
            raise UsageError(
                "The permutations have more than 2^27 entries; choose fewer cohorts, or buckets without an alphabet."
            )
        if self.buckets * self.cohorts > MOST_PLACES:
            raise UsageError("This needs more than 2^27 counts; choose fewer buckets or cohorts.")

    def _places(self, given: SupportsIndex | None) -> int:
        if given is None:
            return self.alphabet.size
        return parse_whole_number(given, name="buckets", least=2, most=MOST_BUCKETS)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of labels at each place under any of the functions: ⌊S/k⌋ or ⌈S/k⌉, shape (k,)."""
        each, more = divmod(self.alphabet.size, self.buckets)
        return each + (np.arange(self.buckets) < more).astype(np.int64)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Probability of each place for a label under a random key, shape (k,)."""
        return np.asarray(self.sizes / self.alphabet.size)

    @property
    def collision(self) -> float:
        """Probability, over the keys, that one label's place under a function is among those of another label.

        Under the same function, another label has the place with probability ``(n_j − 1)/(S − 1)`` if it has n_j
        labels; under each of the others with probability ``n_j/S``.
        """
        shares, others = self.shares, self.alphabet.size - 1
        apart = 1 - np.maximum(self.sizes - 1, 0) / max(1, others)
        # Written so that it is exactly 0 with one function and one place per label.
        return float(shares @ (1 - apart * (1 - shares) ** (self.hashes - 1)))

    def codes(self, values: Any) -> NDArray[np.int64]:
        """Return the number of each value in the alphabet."""
        return self.alphabet.codes(values)

    def all_places(self, codes: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the places of labels by number, shape (C·h, m)."""
        return np.take(self._permutations, codes, axis=1)

    def own_places(self, codes: NDArray[np.int64], cohorts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of labels by number in one cohort each, shape (n, h)."""
        functions = cohorts[:, np.newaxis] * self.hashes + np.arange(self.hashes)
        places: NDArray[np.int64] = self._permutations[functions, codes[:, np.newaxis]].astype(np.int64)
        return places

    @cached_property
    def _permutations(self) -> NDArray[np.int32]:
        labels = np.arange(self.alphabet.size, dtype=np.uint64) << np.uint64(32)
        out = np.empty((self.cohorts * self.hashes, labels.size), dtype=np.int32)
        for function, ranks in enumerate(out):
            numbers = hash_words(labels | np.uint64(function), key=self.key.encode())[:, 0]
            ranks[np.argsort(numbers, kind="stable")] = np.arange(labels.size, dtype=np.int32) % self.buckets
        return read_only(out)


# C cohorts of h functions each, from labels to places 0 to k − 1; function i of cohort c has number c·h + i.
Cohorts = HashedCohorts | PermutedCohorts
