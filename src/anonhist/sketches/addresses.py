"""The counter of each label, if it is in the sample, and the fingerprint of all counters."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property, partial
from itertools import compress
from typing import ClassVar, Self, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Checked, Converted, completed, converted, frozen
from anonhist.numeric.arrays import read_only
from anonhist.numeric.hashing import keyed_hash
from anonhist.privacy import EpsilonLike, parse_epsilon, parse_whole_number

MOST_COUNTERS = 2**31
# Larger samples cannot be simulated, and a longer list does not fit in memory.
MOST_LISTED = 10**9 - 1
# Results are scaled by the inverse of the rate. With a smaller rate they would exceed 63 bits.
LEAST_SHARE = Fraction(1, 2**32)
NOT_SAMPLED, UNKNOWN = -1, -2
# Labels of a listed domain are found by their hash under this key.
LISTED_KEY = b"anonhist listed domain"
UNKNOWN_LABEL = (
    "A label is not in the sketch's domain; make a sketch that lists it, or skip unknown labels "
    "(`ignore_unknown=True`)."
)
_REPEATED = "The labels of a domain must all be different."


def _checked_key(key: bytes) -> bytes:
    if not isinstance(key, bytes) or not key:
        raise UsageError("The key of a sketch must have at least one byte, chosen before the data, such as b'week 47'.")
    return key


def _checked_rate(share: EpsilonLike) -> Fraction:
    exact = parse_epsilon(share, name="sampling_rate")
    if exact > 1:
        raise UsageError(f"`sampling_rate` must be at most 1, not {exact!s:.80}.")
    if exact < LEAST_SHARE:
        raise UsageError("`sampling_rate` must be at least 2^-32 (about 2.4e-10); take a larger one.")
    return exact


@frozen
class HashedAddresses:
    """Labels that cannot be listed, assigned to buckets by their hash.

    The counter is the first half of the hash modulo the number of buckets, from 1 to 2^31. A label is kept if the
    second half is below ``⌊share·2^64⌋``, the share from 2^−32 to 1; docs/hashing.md has the exact specification.
    """

    domain_size: ClassVar[None] = None
    size: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="buckets", most=MOST_COUNTERS))
    key: Checked[bytes] = converted(_checked_key)
    sampling_rate: Converted[EpsilonLike, Fraction] = converted(_checked_rate, default=Fraction(1))

    def of_hashes(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the counters of labels with these hashes, shape (m, 2); −1: not sampled."""
        places = (hashes[:, 0] % np.uint64(self.size)).astype(np.int64)
        if self.sampling_rate < 1:
            places[~_sample(hashes, self.sampling_rate)] = NOT_SAMPLED
        return places


def _whole_size(addresses: DomainAddresses, given: SupportsIndex) -> int:
    least = len(addresses.labels)
    if not least:
        raise UsageError(
            "A sketch needs at least one label in its sample: list more labels, or increase `sampling_rate`."
        )
    return parse_whole_number(given, name="the number of labels", least=least, most=MOST_LISTED)


@frozen
class DomainAddresses:
    """Labels of a known domain, with one counter for each label kept, in their order; make one with :meth:`of`.

    The hash of a label under the key determines where it is found and whether it is in the sample (a share from 2^−32
    to 1). The domain includes the labels that are not kept.
    """

    labels: tuple[str, ...]
    domain_size: Converted[SupportsIndex, int] = completed(_whole_size)
    key: Checked[bytes] = converted(_checked_key, default=LISTED_KEY)
    sampling_rate: Converted[EpsilonLike, Fraction] = converted(_checked_rate, default=Fraction(1))

    def __post_init__(self) -> None:
        if self.domain_size > self.size and self.sampling_rate == 1:
            raise DataError("Without sampling, a domain must have as many labels as are listed.")
        hashes = self._index.hashes
        if bool((hashes[1:] == hashes[:-1]).all(axis=1).any()):
            raise DataError(_REPEATED)
        if not _sample(hashes, self.sampling_rate).all():
            raise DataError("A label of this domain is outside its sample.")

    @classmethod
    def of(cls, labels: Iterable[str], *, key: bytes = LISTED_KEY, sampling_rate: EpsilonLike = 1) -> Self:
        """Keep a share of these labels, all by default, chosen by their hash under the key."""
        if isinstance(labels, str | bytes):
            raise UsageError("The labels of a domain must be a list of strings; put a single label into a list.")
        listed = tuple(labels)
        share = _checked_rate(sampling_rate)
        if share == 1:
            return cls(listed, len(listed), key, share)
        kept = _sample(keyed_hash(listed, key=_checked_key(key)), share).tolist()
        if len(set(listed)) < len(listed):
            raise DataError(_REPEATED)
        return cls(tuple(compress(listed, kept)), len(listed), key, share)

    @property
    def size(self) -> int:
        """The number of counters."""
        return len(self.labels)

    @cached_property
    def _index(self) -> _HashIndex:
        return _HashIndex.of(keyed_hash(self.labels, key=self.key))

    def of_hashes(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the counters of labels with these hashes, shape (m, 2); −1: not sampled, −2: not in the domain.

        Two labels of a domain never share a hash, and 128-bit hashes do not collide by chance.
        """
        places = self._index.find(hashes)
        if self.sampling_rate < 1:
            places[~_sample(hashes, self.sampling_rate)] = NOT_SAMPLED
        return places


def known_places(
    addresses: HashedAddresses | DomainAddresses, hashes: NDArray[np.uint64], *, ignore_unknown: bool
) -> NDArray[np.int64]:
    """Return the counter of each label by its hash, below zero if it has none; refuse unknown labels unless ignored."""
    places = addresses.of_hashes(hashes)
    if not ignore_unknown and bool((places == UNKNOWN).any()):
        raise DataError(UNKNOWN_LABEL)
    return places


@frozen
class _HashIndex:
    """Hashes in ascending order and, for each prefix, the position of the hashes with that prefix.

    There are at least twice as many prefixes as hashes, so most hashes have a unique prefix.
    """

    hashes: NDArray[np.uint64]
    counters: NDArray[np.int64]
    starts: NDArray[np.int64]
    shift: np.uint64

    def __post_init__(self) -> None:
        for array in (self.hashes, self.counters, self.starts):
            read_only(array)

    @classmethod
    def of(cls, hashes: NDArray[np.uint64]) -> Self:
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))
        ascending = hashes[order]
        bits = (2 * order.size - 1).bit_length()
        shift = np.uint64(64 - bits)
        begun = np.bincount((ascending[:, 0] >> shift).astype(np.int64), minlength=1 << bits)
        return cls(ascending, order.astype(np.int64), np.concatenate(([0], np.cumsum(begun))), shift)

    def find(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the counter of each hash, or −2 for any other hash."""
        places = np.full(hashes.shape[0], UNKNOWN, dtype=np.int64)
        begins = (hashes[:, 0] >> self.shift).astype(np.int64)
        at, end = self.starts[begins], self.starts[begins + 1]
        asked = np.flatnonzero(at < end)
        at, end = at[asked], end[asked]
        while asked.size:
            is_this = (self.hashes[at] == hashes[asked]).all(axis=1)
            places[asked[is_this]] = self.counters[at[is_this]]
            at = at + 1
            goes_on = ~is_this & (at < end)
            asked, at, end = asked[goes_on], at[goes_on], end[goes_on]
        return places


def _sample(hashes: NDArray[np.uint64], share: Fraction) -> NDArray[np.bool_]:
    if share == 1:
        return np.ones(hashes.shape[0], dtype=np.bool_)
    return np.asarray(hashes[:, 1] < np.uint64((share.numerator << 64) // share.denominator))


_LANES, _BLOCK = 4, 1 << 16


def fingerprint(counters: NDArray[np.int64]) -> str:
    """Return a fingerprint of counters, as 64 hexadecimal digits.

    It consists of four sums modulo 2^64 of all counters, each times a number of its position: these numbers are public
    and pseudorandom (SHAKE-256). Different states have the same fingerprint with a probability of about 2^−256, more if
    all differences are multiples of a power of two. It does not withstand somebody who constructs counters for this
    purpose.
    """
    total = np.zeros(_LANES, dtype=np.uint64)
    for start in range(0, counters.size, _BLOCK):
        part = counters[start : start + _BLOCK].astype(np.uint64)
        # The numbers wrap around on purpose.
        total += part @ _numbers(start // _BLOCK)[: part.size]
    return "".join(f"{int(each):016x}" for each in total)


def _numbers(block: int) -> NDArray[np.uint64]:
    """Return the numbers of the positions of a block, shape (block, lanes)."""
    digest = hashlib.shake_256(b"anonhist fingerprint %d" % block).digest(8 * _LANES * _BLOCK)
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64).reshape(_BLOCK, _LANES)
