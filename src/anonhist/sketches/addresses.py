"""Where a label is counted: its counter, or none where only a sample of the labels is kept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.numeric.keyed_hash import keyed_hash
from anonhist.privacy import parse_epsilon, parse_whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

MOST_COUNTERS = 2**31
NOT_SAMPLED, UNKNOWN = -1, -2
# Labels of a listed domain are found by their hash under this key.
LISTED_KEY = b"anonhist listed domain"


class Addresses(Protocol):
    """From labels to counters: public, chosen before the data."""

    @property
    def size(self) -> int:
        """How many counters there are."""

    @property
    def key(self) -> bytes:
        """The public key under which labels are hashed."""

    @property
    def sample_share(self) -> Fraction:
        """Which share of all labels is kept, chosen by their hash, in (0, 1]."""

    def of_hashes(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the counters of labels with these hashes, shape (m, 2); −1: not sampled, −2: not in the domain."""


@dataclass(frozen=True)
class HashedAddresses:
    """Labels nobody can list, thrown into buckets by their hash.

    The counter is the first half of the hash modulo the number of buckets. A label is kept where the second half is
    below ``⌊share·2^64⌋``.
    """

    size: int
    key: bytes
    sample_share: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", parse_whole_number(self.size, name="buckets", most=MOST_COUNTERS))
        object.__setattr__(self, "key", _checked_key(self.key))
        object.__setattr__(self, "sample_share", _checked_share(self.sample_share))

    def of_hashes(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the counters of labels with these hashes, shape (m, 2); −1: not sampled."""
        places = (hashes[:, 0] % np.uint64(self.size)).astype(np.int64)
        if self.sample_share < 1:
            places[~_sampled(hashes, self.sample_share)] = NOT_SAMPLED
        return places


@dataclass(frozen=True)
class DomainAddresses:
    """Labels of a known domain, a counter for each that is kept; make one with :meth:`of`.

    Attributes
    ----------
    labels
        The labels kept, in the order of their counters.
    domain_size
        How many labels the domain has, those not kept included.
    """

    labels: tuple[str, ...]
    domain_size: int
    key: bytes = LISTED_KEY
    sample_share: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", _checked_key(self.key))
        object.__setattr__(self, "sample_share", _checked_share(self.sample_share))
        parse_whole_number(self.domain_size, name="the number of labels", least=len(self.labels), most=MOST_COUNTERS)
        hashes = self._sorted[0]
        if bool((hashes[1:] == hashes[:-1]).all(axis=1).any()):
            raise DataError("The labels of a domain must all be different.")
        if not _sampled(hashes, self.sample_share).all():
            raise DataError("A label of this domain is not in its sample.")

    @classmethod
    def of(cls, labels: Iterable[str], *, key: bytes = LISTED_KEY, sample_share: object = Fraction(1)) -> Self:
        """Keep a share of these labels, all by default, chosen by their hash under the key."""
        listed = tuple(labels)
        if not listed:
            raise UsageError("A domain needs one label at least.")
        share = _checked_share(sample_share)
        kept = _sampled(keyed_hash(listed, key=_checked_key(key)), share)
        if not kept.all():
            if len(set(listed)) < len(listed):
                raise DataError("The labels of a domain must all be different.")
            kept_labels = tuple(label for label, is_kept in zip(listed, kept.tolist(), strict=True) if is_kept)
            return cls(kept_labels, len(listed), key, share)
        return cls(listed, len(listed), key, share)

    @property
    def size(self) -> int:
        """How many counters there are."""
        return len(self.labels)

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Hashes of the labels kept, ascending by their first half, and the counter of each."""
        hashes = keyed_hash(self.labels, key=self.key)
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))
        return hashes[order], order.astype(np.int64)

    def of_hashes(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the counters of labels with these hashes, shape (m, 2); −1: not sampled, −2: not in the domain.

        Two labels of a domain never share a hash, and 128 bits do not meet by chance.
        """
        known, counters = self._sorted
        places = np.full(hashes.shape[0], NOT_SAMPLED, dtype=np.int64)
        kept = np.flatnonzero(_sampled(hashes, self.sample_share))
        if not known.shape[0]:
            places[kept] = UNKNOWN
            return places
        asked = hashes[kept]
        at = np.minimum(np.searchsorted(known[:, 0], asked[:, 0]), known.shape[0] - 1)
        is_known = (known[at] == asked).all(axis=1)
        places[kept] = np.where(is_known, counters[at], UNKNOWN)
        return places


def _sampled(hashes: NDArray[np.uint64], share: Fraction) -> NDArray[np.bool_]:
    if share == 1:
        return np.ones(hashes.shape[0], dtype=np.bool_)
    return np.asarray(hashes[:, 1] < np.uint64((share.numerator << 64) // share.denominator))


def _checked_key(key: object) -> bytes:
    if not isinstance(key, bytes) or not key:
        raise UsageError("The key of a sketch is one byte or more, chosen before the data, such as b'week 47'.")
    return key


def _checked_share(share: object) -> Fraction:
    exact = parse_epsilon(share, name="sample_share")
    if exact > 1:
        message = f"sample_share must be at most 1, not {share!r:.80}."
        raise UsageError(message)
    return exact
