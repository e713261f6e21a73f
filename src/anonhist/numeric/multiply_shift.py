"""Multiply-shift hashing of labels into a few buckets (Dietzfelbinger), and which hashed reports support which labels.

A label is w words of 16 bits ``x_1 … x_w``, a seed is w + 1 coefficients of 32 bits ``b, a_1 … a_w``, and

    t = (b + Σ_i a_i·x_i) mod 2³²,    bucket = ⌊⌊t / 2¹⁶⌋·g / 2¹⁶⌋ .

For two different labels and uniformly drawn coefficients, the pair of ``⌊t / 2^16⌋`` is exactly uniform on
[0, 2¹⁶)², so both labels are in bucket y with probability exactly ``(w_y / 2^16)²``, where w_y is its width. Trailing
words that are zero do not change the bucket of a label. docs/hashing.md has test vectors.

A report (seed, y) supports a label if the label is in bucket y under the seed:
``(t − lo_y·2^16) mod 2^32 < w_y·2^16``. That is one product per word, one sum, one comparison, no shift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import frozen
from anonhist.numeric.keyed_hash import hash_words

if TYPE_CHECKING:
    from collections.abc import Iterator

# Number of words, and of coefficients, in a keyed hash.
_WORDS = 8
_COEFFICIENTS = 4


def seed_coefficients(seeds: NDArray[np.integer], *, key: bytes, words: int) -> NDArray[np.uint32]:
    """Return the coefficients ``b, a_1 … a_w`` of each seed in [0, 2³²), shape (n, w + 1), cut from keyed hashes of it.

    Coefficient j (b is number 0) is the little-endian number in bytes 4·(j mod 4) to 4·(j mod 4) + 3 of the keyed hash
    of eight bytes: the seed in four, little-endian, then ⌊j/4⌋ in four, little-endian. More words leave the first
    coefficients unchanged.
    """
    _check_words(words, None)
    _check_range(seeds, 1 << 32, "Seeds must be integers from 0 to 2^32 - 1.")
    numbers = seeds.astype(np.uint64)
    blocks = [
        hash_words(numbers | np.uint64(block << 32), key=key).astype("<u8").view("<u4")
        for block in range(words // _COEFFICIENTS + 1)
    ]
    return np.concatenate(blocks, axis=1)[:, : words + 1].astype(np.uint32)


def label_words(hashes: NDArray[np.uint64], words: int) -> NDArray[np.uint16]:
    """Return the first w ≤ 8 words of keyed hashes: word i (of 1 … w) is bytes 2·i − 2 and 2·i − 1, little-endian.

    Of m labels, about ``m²/2^(16·w + 1)`` pairs have the same words and can no longer be distinguished.
    """
    _check_words(words, _WORDS)
    return np.ascontiguousarray(hashes, dtype="<u8").view("<u2")[:, :words].astype(np.uint16)


def index_words(indices: NDArray[np.integer], words: int) -> NDArray[np.uint16]:
    """Return w ≤ 4 words of indices in a closed alphabet: word i (from 1) of s is ``⌊s / 2^(16·(i − 1))⌋ mod 2^16``."""
    _check_words(words, 4)
    _check_range(indices, 1 << 16 * words, "Indices of labels must be integers that fit into the words asked for.")
    return indices.astype("<u8")[:, None].view("<u2")[:, :words].astype(np.uint16)


def bucket_widths(g: int) -> NDArray[np.int64]:
    """Return ``w_y = ⌈(y + 1)·2^16/g⌉ − ⌈y·2^16/g⌉``, how many of the 2¹⁶ values of ``⌊t / 2^16⌋`` are in bucket y.

    They sum to 2¹⁶ and differ by at most one.
    """
    return np.diff(bucket_starts(g))


def bucket_starts(g: int) -> NDArray[np.int64]:
    """Return the smallest value in each bucket, then 2¹⁶: ``⌈y·2^16/g⌉``, shape (g + 1,); see ``bucket_widths``."""
    if not 1 <= g <= 1 << 16:
        raise UsageError("The number of buckets must be from 1 to 65536.")
    return -((-np.arange(g + 1, dtype=np.int64) << 16) // g)


def buckets(words: NDArray[np.uint16], coefficients: NDArray[np.uint32], g: int) -> NDArray[np.int64]:
    """Return the bucket of each of m labels under each of n seeds, shape (n, m)."""
    check_shapes(words, coefficients)
    return _buckets(words[None, :, :], coefficients[:, None, :], g)


def paired_buckets(words: NDArray[np.uint16], coefficients: NDArray[np.uint32], g: int) -> NDArray[np.int64]:
    """Return the bucket of label i under seed i, for every i: the reports of n people with separate seeds."""
    check_shapes(words, coefficients)
    if len(words) != len(coefficients):
        raise UsageError("There must be as many labels as seeds where each label has a seed of its own.")
    return _buckets(words, coefficients, g)


def check_shapes(words: NDArray[np.uint16], coefficients: NDArray[np.uint32]) -> None:
    """Refuse words and coefficients of the wrong types or shapes."""
    if words.dtype != np.uint16 or coefficients.dtype != np.uint32:
        raise UsageError("Words of labels must be uint16 and coefficients of seeds uint32.")
    if words.ndim != 2 or coefficients.ndim != 2 or not 1 <= words.shape[1] == coefficients.shape[1] - 1:
        raise UsageError("Labels of w words (w at least 1) need seeds with w + 1 coefficients.")


def _buckets(words: NDArray[np.uint16], coefficients: NDArray[np.uint32], g: int) -> NDArray[np.int64]:
    """Return buckets for words (…, w) and coefficients (…, w + 1) that broadcast."""
    bucket_starts(g)
    total = coefficients[..., 0]
    for word in range(words.shape[-1]):
        total = total + coefficients[..., word + 1] * words[..., word]
    return ((total >> np.uint32(16)) * np.uint32(g) >> np.uint32(16)).astype(np.int64)


def _check_words(words: int, most: int | None) -> None:
    if words < 1 or (most is not None and words > most):
        raise UsageError(f"The number of words must be {'at least 1' if most is None else f'from 1 to {most}'}.")


def _check_range(numbers: NDArray[np.integer], bound: int, sentence: str) -> None:
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise DataError(sentence)
    if numbers.size and not (int(numbers.min()) >= 0 and int(numbers.max()) < bound):
        raise DataError(sentence)


# More reports than NumPy's buffer holds, so that NumPy does not copy the broadcast operands; a block of this many pairs
# stays in the caches.
_REPORTS = 1 << 15
_PAIRS = 1 << 18


@frozen
class HashSupport:
    """Which of n hashed reports support which of m labels; a word that is zero costs nothing."""

    words: NDArray[np.uint16]
    coefficients: NDArray[np.uint32]
    reported: NDArray[np.integer]
    g: int

    def __post_init__(self) -> None:
        check_shapes(self.words, self.coefficients)
        bucket_starts(self.g)
        self._check_reports(self.reported)
        if self.reported.dtype.kind not in "iu" or bool(((self.reported < 0) | (self.reported >= self.g)).any()):
            raise DataError("A report names a bucket that does not exist: reports must be integers from 0 to g - 1.")

    def counts(self, multiplicity: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the reports that support each label: ``c_x = Σ_i m_i·1{bucket_i(x) = y_i}``, exactly, for Σ m_i < 2⁶³.

        Reports made once are counted fastest.
        """
        self._check_reports(multiplicity)
        if multiplicity.dtype.kind not in "iu" or int(multiplicity.min(initial=0)) < 0:
            raise DataError("Multiplicities of reports must be integers of at least 0.")
        counts = np.zeros(len(self.words), dtype=np.int64)
        once, often = multiplicity == 1, multiplicity > 1
        for labels, _, mask in self._blocks(slice(None) if once.all() else once):
            counts[labels] += [np.count_nonzero(row) for row in mask]
        if not often.any():
            return counts
        # Sums of halves below 2³² over a block are exact in float64.
        many = multiplicity[often].astype(np.uint64)
        halves = np.stack([many >> 32, many & 0xFFFFFFFF])
        if (int(halves[0].sum()) << 32) + int(halves[1].sum()) + int(once.sum()) >= 1 << 63:
            raise DataError("There are 2^63 or more reports: count them in parts.")
        for labels, reports, mask in self._blocks(often):
            sums = (halves[:, reports].astype(np.float64) @ _numbers(mask).T).astype(np.int64)
            counts[labels] += (sums[0] << 32) + sums[1]
        return counts

    def weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the weights of the reports that support each label: ``Σ_i weight_i·1{bucket_i(x) = y_i}``."""
        self._check_reports(weights)
        sums = np.zeros(len(self.words))
        for labels, reports, mask in self._blocks():
            sums[labels] += _numbers(mask) @ weights[reports]
        return sums

    def frequencies(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the frequencies of the labels that each report supports: ``Σ_x f_x·1{bucket_i(x) = y_i}``."""
        if frequencies.shape != (len(self.words),):
            raise UsageError("There must be one frequency for each label.")
        sums = np.zeros(len(self.coefficients))
        for labels, reports, mask in self._blocks():
            sums[reports] += frequencies[labels] @ _numbers(mask)
        return sums

    def _check_reports(self, numbers: NDArray[np.generic]) -> None:
        if numbers.shape != (len(self.coefficients),):
            raise UsageError("There must be one bucket and one weight for each report.")

    def _blocks(
        self, chosen: slice | NDArray[np.bool_] = slice(None)
    ) -> Iterator[tuple[slice, slice, NDArray[np.bool_]]]:
        """Yield which of the chosen reports support which labels, a block of (labels, reports) at a time."""
        starts, numbers = bucket_starts(self.g), self.words.astype(np.uint32)
        coefficients, reported = self.coefficients[chosen], self.reported[chosen].astype(np.int64)
        for begin in range(0, len(coefficients), _REPORTS):
            reports = slice(begin, min(begin + _REPORTS, len(coefficients)))
            low, high = starts[reported[reports]], starts[reported[reports] + 1]
            # The last number inside, because 2³², the end of a single bucket, does not fit.
            last = ((high - low << 16) - 1).astype(np.uint32)
            table = coefficients[reports].T.copy()
            table[0] -= (low << 16).astype(np.uint32)
            height = max(1, min(_PAIRS // last.size, len(numbers)))
            totals = _Totals(table, height)
            mask = np.empty((height, last.size), dtype=np.bool_)
            for first in range(0, len(numbers), height):
                labels = slice(first, min(first + height, len(numbers)))
                total = totals.of(numbers[labels])
                yield labels, reports, np.less_equal(total, last, out=mask[: len(total)])


class _Totals:
    """``t − lo_y·2^16`` modulo 2³² of a block of reports, for one block of labels after another."""

    def __init__(self, table: NDArray[np.uint32], height: int) -> None:
        self.offset, self.factors = table[0], table[1:]
        self.total, self.product = np.empty((2, height, table.shape[1]), dtype=np.uint32)
        self.words = np.empty((0, len(self.factors)), dtype=np.uint32)
        self.step, self.shift = self.words[:0], self.offset

    def of(self, words: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the totals of the next labels, shape (labels, reports), in a buffer that the next call overwrites."""
        total: NDArray[np.uint32] = self.total[: len(words)]
        product = self.product[: len(words)]
        if len(self.words) >= len(words):
            steps = words - self.words[: len(words)]
            if (steps == steps[0]).all():
                # Labels of a closed alphabet are evenly spaced: one sum then replaces the products.
                if not np.array_equal(steps[0], self.step):
                    self.step = steps[0]
                    self.shift = (self.factors * self.step[:, None]).sum(axis=0, dtype=np.uint32)
                self.words = words
                total += self.shift
                return total
        self.words = words
        np.multiply(self.factors[0], words[:, :1], out=total)
        np.add(total, self.offset, out=total)
        for factor, word in zip(self.factors[1:], words.T[1:], strict=True):
            if word.any():
                np.multiply(factor, word[:, None], out=product)
                np.add(total, product, out=total)
        return total


def _numbers(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return ones and zeros; converting bytes is faster than converting booleans."""
    return mask.view(np.uint8).astype(np.float64)
