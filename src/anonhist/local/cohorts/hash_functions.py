"""The bucket of a label in each cohort: by hashing any text, or by permuting a known alphabet, modulo k.

All parties compute the same result: the key and the numbers below are public. This file is the exact specification,
together with that of the keyed hash and of multiply-shift in docs/hashing.md.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Checked, Converted, completed, converted, frozen
from anonhist.numeric.arrays import read_only
from anonhist.numeric.keyed_hash import hash_words, keyed_hash
from anonhist.numeric.multiply_shift import bucket_widths, buckets, label_words, paired_buckets, seed_coefficients
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.surveys.alphabet import Alphabet

MOST_COHORTS = MOST_BUCKETS = 1 << 16
MOST_HASHES = 64
# 16-bit words of a label's hash: among a million labels, two agree in all words in one of 10⁸ surveys.
_WORDS = 4
# Permutations and tables of counts with more numbers than this do not fit in memory.
MOST_PLACES = 1 << 27
# Numbers that are hashed or sorted at a time.
_CHUNK = 1 << 20
# It selects the functions, and is always public.
DEFAULT_KEY = "anonhist"


def check_key(key: str) -> str:
    """Return a key of hash functions, or refuse one that cannot be shared as text.

    Raises
    ------
    UsageError
        If it is empty or not plain text on one line.
    """
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
    coefficients of seed j, both under the UTF-8 of the key.

    Parameters
    ----------
    buckets
        k, from 2 to 65,536.
    cohorts
        C, from 1 to 65,536.
    hashes
        h, from 1 to 64 and at most k.
    key
        Any plain text on one line.

    Raises
    ------
    UsageError
        If a number is out of range or the key is not plain text on one line.

    Examples
    --------
    >>> functions = HashedCohorts(buckets=256, cohorts=2, key="example")
    >>> functions.all_places(functions.codes(["apple", "pear", "apple"])).shape
    (2, 3)
    """

    buckets: Converted[SupportsIndex, int] = converted(
        partial(parse_whole_number, name="buckets", least=2, most=MOST_BUCKETS)
    )
    cohorts: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="cohorts", most=MOST_COHORTS))
    hashes: Converted[SupportsIndex, int] = completed(_whole_hashes, default=1)
    key: Checked[str] = converted(check_key)

    def __post_init__(self) -> None:
        if self.buckets * self.cohorts > MOST_PLACES:
            raise UsageError("This needs more than 2^27 counts; take fewer buckets or cohorts.")

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
        """Return the words of each label, shape (m, 4).

        Raises
        ------
        DataError
            If a value is not a string.
        """
        if isinstance(values, str):
            raise DataError("Values must be a list of texts, one for each person.")
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
            own = self._coefficients[cohorts * self.hashes + number]
            out[:, number] = paired_buckets(codes, own, self.buckets)
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
    The rank is a minimal perfect hash of the set. If k is at least S, labels never collide, and S places are used.

    Parameters
    ----------
    alphabet
        The labels.
    buckets
        k, from 2 to 65,536; by default as many as there are labels.
    cohorts, hashes, key
        As in :class:`HashedCohorts`.

    Raises
    ------
    UsageError
        If a number is out of range, the key is empty, or the permutations would have more than 2²⁷ entries in all.

    Examples
    --------
    >>> from anonhist.local.surveys.alphabet import Alphabet
    >>> functions = PermutedCohorts(alphabet=Alphabet(4), cohorts=1, key="example")
    >>> sorted(functions.all_places(functions.codes([0, 1, 2, 3]))[0].tolist())
    [0, 1, 2, 3]
    >>> halves = PermutedCohorts(alphabet=Alphabet(4), buckets=2, cohorts=1, key="example")
    >>> sorted(halves.all_places(halves.codes([0, 1, 2, 3]))[0].tolist())
    [0, 0, 1, 1]
    """

    alphabet: Alphabet
    buckets: Converted[SupportsIndex | None, int] = completed(lambda self, given: self._places(given), default=None)
    cohorts: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="cohorts", most=MOST_COHORTS))
    hashes: Converted[SupportsIndex, int] = completed(_whole_hashes, default=1)
    key: Checked[str] = converted(check_key)

    def __post_init__(self) -> None:
        if self.cohorts * self.hashes * self.alphabet.size > MOST_PLACES:
            raise UsageError(
                "The permutations have more than 2^27 entries; take fewer cohorts, or buckets without an alphabet."
            )
        if self.buckets * self.cohorts > MOST_PLACES:
            raise UsageError("This needs more than 2^27 counts; take fewer buckets or cohorts.")

    def _places(self, given: SupportsIndex | None) -> int:
        if given is None:
            return self.alphabet.size
        return parse_whole_number(given, name="buckets", least=2, most=MOST_BUCKETS)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many labels each place has under any of the functions: ⌊S/k⌋ or ⌈S/k⌉, shape (k,)."""
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
        # Written so that it is exactly 0 with one function and a place for each label.
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
