"""Hashes of labels: a keyed hash of 128 bits, and multiply-shift hashing into a few buckets.

The keyed hash is SipHash-2-4-128 over a label's UTF-8 bytes, for whole arrays at once. docs/hashing.md has the exact
definition of both, and test vectors, for clients in other languages.

For multiply-shift hashing (Dietzfelbinger), a label is w words of 16 bits ``x_1 … x_w``, a seed is w + 1 coefficients
of 32 bits ``b, a_1 … a_w``, and

    t = (b + Σ_i a_i·x_i) mod 2³²,    bucket = ⌊⌊t / 2¹⁶⌋·g / 2¹⁶⌋ .

For two different labels and uniformly drawn coefficients, the pair of ``⌊t / 2^16⌋`` is exactly uniform on
[0, 2¹⁶)², so both labels are in bucket y with probability exactly ``(w_y / 2^16)²``, where w_y is its width. Trailing
words that are zero do not change the bucket of a label.

A report (seed, y) supports a label if the label is in bucket y under the seed:
``(t − lo_y·2^16) mod 2^32 < w_y·2^16``. This takes one product per word, one sum, one comparison, and no shift.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import frozen
from anonhist.numeric.arrays import Bools, Floats, Ints

# This is hashed before the key. The hash of this version never changes; another definition gets another number.
KEY_DOMAIN = b"anonhist keyed hash 1\0"

# The state of this many labels fits in the level-2 cache, and the cost of a call is negligible beside it.
_CHUNK = 16384
_WORD = np.dtype("<u8")
_HALF_TURN = np.uint64(32)
# Rotations of v1 and v3, in the first half of a round and in the second. The shape is (2, 1), one row per variable.
_FIRST = np.array([[13], [16]], dtype=np.uint64)
_SECOND = np.array([[17], [21]], dtype=np.uint64)
_FULL_TURN = np.uint64(64)


def keyed_hash(labels: Sequence[str] | NDArray[np.str_], *, key: bytes) -> NDArray[np.uint64]:
    """Hash each of m labels with SipHash-2-4-128: bytes 0–7 and 8–15 as little-endian numbers, shape (m, 2).

    The 16-byte hash of a label is SipHash-2-4 with 128 bits of output over the UTF-8 bytes of the label, with the
    secret ``SHA-256("anonhist keyed hash 1" ‖ 0x00 ‖ key)[:16]``. Labels are hashed as they are: no Unicode
    normalization, no change of case, no trimming. ``hash_buffer`` is faster for data in an Arrow array.

    Source: Aumasson and Bernstein 2012.
    """
    strings = labels.tolist() if isinstance(labels, np.ndarray) else labels
    try:
        text = "".join(strings)
        data = np.frombuffer(text.encode(), dtype=np.uint8)
    except TypeError:
        raise DataError("All labels must be strings: convert them first, and drop missing ones.") from None
    except UnicodeEncodeError:
        raise DataError(
            "A label contains a lone surrogate, which is not a character: decode the labels properly before hashing."
        ) from None
    offsets = np.zeros(len(strings) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, strings), dtype=np.int64, count=len(strings)), out=offsets[1:])
    if data.size != len(text):
        # Bytes 10xxxxxx continue a character: characters, and therefore labels, begin at the others.
        offsets = np.append(np.flatnonzero((data & 0xC0) != 0x80), data.size)[offsets]
    return hash_buffer(data, offsets, key=key)


def hash_buffer(data: NDArray[np.uint8], offsets: ArrayLike, *, key: bytes) -> NDArray[np.uint64]:
    """Hash every label of a byte buffer, as an Arrow array of strings holds them; see ``keyed_hash``.

    Label i is ``data[offsets[i]:offsets[i + 1]]``; that it is UTF-8 is not checked. Offsets need not begin at zero or
    end with the buffer (those of a slice of an Arrow array do not); without offsets there are no labels. Time is
    O(bytes + m), memory O(m) besides the buffers: labels are sorted by length and hashed in chunks, so long ones do not
    slow down short ones.
    """
    secret = _secret(key)
    bounds = np.asarray(offsets)
    if data.ndim != 1 or data.dtype != np.uint8:
        raise DataError("The data of labels must be a one-dimensional array of bytes (uint8).")
    if bounds.size == 0:
        return np.empty((0, 2), dtype=np.uint64)
    if bounds.ndim != 1 or bounds.dtype.kind not in "iu":
        raise DataError("Offsets of labels must be a one-dimensional array of integers.")
    if int(bounds[0]) < 0 or int(bounds[-1]) > data.size or bool((bounds[1:] < bounds[:-1]).any()):
        raise DataError("Offsets of labels must not decrease or exceed the size of the data.")
    return _siphash(data, bounds.astype(np.int64), secret)


def hash_words(words: NDArray[np.uint64], *, key: bytes) -> NDArray[np.uint64]:
    """Hash numbers below 2⁶⁴ with ``keyed_hash``, each as the label that consists of its eight little-endian bytes."""
    secret = _secret(key)
    hashes = np.empty((words.size, 2), dtype=np.uint64)
    for start in range(0, words.size, _CHUNK):
        chunk = words[start : start + _CHUNK]
        state = _State(secret, chunk.size)
        state.absorb(chunk)
        state.absorb(np.full(chunk.size, 8 << 56, dtype=np.uint64))
        hashes[start : start + _CHUNK, 0], hashes[start : start + _CHUNK, 1] = state.finish()
    return hashes


def _secret(key: bytes) -> bytes:
    """Return the 16-byte secret of SipHash: keys of any length follow the same rule, so none is weaker."""
    if not isinstance(key, bytes) or not key:
        raise UsageError("The key of a hash must be at least one byte, such as b'survey 1'.")
    return hashlib.sha256(KEY_DOMAIN + key).digest()[:16]


def _siphash(data: NDArray[np.uint8], offsets: Ints, secret: bytes) -> NDArray[np.uint64]:
    """Hash labels chunk by chunk, those with the fewest full words of eight bytes first."""
    # Eight bytes can be read anywhere except at the end, where the last eight are read and shifted.
    buffer = np.ascontiguousarray(data) if data.size >= 8 else np.append(data, np.zeros(8, dtype=np.uint8))
    words = np.ndarray((buffer.size - 7,), dtype=_WORD, buffer=buffer.data, strides=(1,))
    full = (offsets[1:] - offsets[:-1]) >> 3
    # Numbers of up to 16 bits are sorted by radix.
    order = np.argsort(full.astype(np.min_scalar_type(full.max(initial=0))), kind="stable")
    hashes = np.empty((full.size, 2), dtype=np.uint64)
    for start in range(0, full.size, _CHUNK):
        chosen = order[start : start + _CHUNK]
        begins, ends = offsets.take(chosen), offsets.take(chosen + 1)
        # Column by column is faster than row by row.
        hashes[chosen, 0], hashes[chosen, 1] = _hash_chunk(words, begins, ends, full.take(chosen), secret)
    return hashes


def _hash_chunk(
    words: NDArray[np.uint64],
    begins: Ints,
    ends: Ints,
    full: Ints,
    secret: bytes,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Hash labels sorted by their number of full words: those with more words come last."""
    state = _State(secret, full.size)
    first, step = 0, 0
    while first < full.size:
        ending = int(np.searchsorted(full, step, side="right"))
        word = np.empty(full.size - first, dtype=np.uint64)
        word[: ending - first] = _last_words(words, begins[first:ending], ends[first:ending])
        word[ending - first :] = words[begins[ending:] + 8 * step]
        state.absorb(word, first)
        first, step = ending, step + 1
    return state.finish()


def _last_words(words: NDArray[np.uint64], begins: Ints, ends: Ints) -> NDArray[np.uint64]:
    """Return the rest of each label after its full words, with its length modulo 256 in the highest byte."""
    lengths = ends - begins
    left = lengths & 7
    places = ends - left
    read = np.minimum(places, words.size - 1)
    word: NDArray[np.uint64] = words[read].astype(np.uint64)
    word >>= ((places - read) << 3).astype(np.uint64)
    word &= (np.uint64(1) << (left << 3).astype(np.uint64)) - np.uint64(1)
    word |= lengths.astype(np.uint64) << np.uint64(56)
    return word


class _State:
    """State of SipHash for many labels: ``even`` holds v0 and v2, ``odd`` v1 and v3, shape (2, labels)."""

    def __init__(self, secret: bytes, labels: int) -> None:
        low, high = (int(word) for word in np.frombuffer(secret, dtype=_WORD))
        # "somepseudorandomlygeneratedbytes"; 0xee in v1 asks for 128 bits.
        even = [[0x736F6D6570736575 ^ low], [0x6C7967656E657261 ^ low]]
        odd = [[0x646F72616E646F6D ^ high ^ 0xEE], [0x7465646279746573 ^ high]]
        self.even = np.repeat(np.array(even, dtype=np.uint64), labels, axis=1)
        self.odd = np.repeat(np.array(odd, dtype=np.uint64), labels, axis=1)
        self.spare = np.empty_like(self.odd)

    def absorb(self, word: NDArray[np.uint64], first: int = 0) -> None:
        """Absorb one word of every label from ``first`` on."""
        self.odd[1, first:] ^= word
        self.mix(2, first)
        self.even[0, first:] ^= word

    def finish(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return both halves of the hashes."""
        self.even[1] ^= np.uint64(0xEE)
        self.mix(4)
        low = self.even[0] ^ self.even[1] ^ self.odd[0] ^ self.odd[1]
        self.odd[0] ^= np.uint64(0xDD)
        self.mix(4)
        return low, self.even[0] ^ self.even[1] ^ self.odd[0] ^ self.odd[1]

    def mix(self, rounds: int, first: int = 0) -> None:
        """Apply SipRound: the first half acts on (v0, v1) and (v2, v3), the second half on (v2, v1) and (v0, v3)."""
        even, odd, spare = self.even[:, first:], self.odd[:, first:], self.spare[:, first:]
        for _ in range(rounds):
            for pair, shift, turned in ((even, _FIRST, even[0]), (even[::-1], _SECOND, even[1])):
                np.add(pair, odd, out=pair)
                np.right_shift(odd, _FULL_TURN - shift, out=spare)
                np.left_shift(odd, shift, out=odd)
                np.bitwise_or(odd, spare, out=odd)
                np.bitwise_xor(odd, pair, out=odd)
                np.right_shift(turned, _HALF_TURN, out=spare[0])
                np.left_shift(turned, _HALF_TURN, out=turned)
                np.bitwise_or(turned, spare[0], out=turned)


# Number of words, and of coefficients, in a keyed hash.
_WORDS = 8
_COEFFICIENTS = 4


def seed_coefficients(seeds: NDArray[np.integer], *, key: bytes, words: int) -> NDArray[np.uint32]:
    """Return the coefficients ``b, a_1 … a_w`` of each seed in [0, 2³²), shape (n, w + 1), cut from its keyed hashes.

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

    Among m labels, about ``m²/2^(16·w + 1)`` pairs have the same words and can no longer be distinguished.
    """
    _check_words(words, _WORDS)
    return np.ascontiguousarray(hashes, dtype="<u8").view("<u2")[:, :words].astype(np.uint16)


def index_words(indices: NDArray[np.integer], words: int) -> NDArray[np.uint16]:
    """Return w ≤ 4 words of indices in a closed alphabet: word i (from 1) of s is ``⌊s / 2^(16·(i − 1))⌋ mod 2^16``."""
    _check_words(words, 4)
    _check_range(indices, 1 << 16 * words, "Indices of labels must be integers that fit into the requested words.")
    return indices.astype("<u8")[:, None].view("<u2")[:, :words].astype(np.uint16)


def bucket_widths(g: int) -> Ints:
    """Return ``w_y = ⌈(y + 1)·2^16/g⌉ − ⌈y·2^16/g⌉``, how many of the 2¹⁶ values of ``⌊t / 2^16⌋`` are in bucket y.

    They sum to 2¹⁶ and differ by at most one.
    """
    return np.diff(bucket_starts(g))


def bucket_starts(g: int) -> Ints:
    """Return the smallest value in each bucket, then 2¹⁶: ``⌈y·2^16/g⌉``, shape (g + 1,); see ``bucket_widths``."""
    if not 1 <= g <= 1 << 16:
        raise UsageError("The number of buckets must be from 1 to 65536.")
    return -((-np.arange(g + 1, dtype=np.int64) << 16) // g)


def buckets(words: NDArray[np.uint16], coefficients: NDArray[np.uint32], g: int) -> Ints:
    """Return the bucket of each of m labels under each of n seeds, shape (n, m)."""
    check_shapes(words, coefficients)
    return _buckets(words[None, :, :], coefficients[:, None, :], g)


def paired_buckets(words: NDArray[np.uint16], coefficients: NDArray[np.uint32], g: int) -> Ints:
    """Return the bucket of label i under seed i, for every i: the reports of n people with separate seeds."""
    check_shapes(words, coefficients)
    if len(words) != len(coefficients):
        raise UsageError("If each label has its own seed, there must be as many labels as seeds.")
    return _buckets(words, coefficients, g)


def check_shapes(words: NDArray[np.uint16], coefficients: NDArray[np.uint32]) -> None:
    """Refuse words and coefficients of the wrong types or shapes."""
    if words.dtype != np.uint16 or coefficients.dtype != np.uint32:
        raise UsageError("Words of labels must be uint16 and coefficients of seeds uint32.")
    if words.ndim != 2 or coefficients.ndim != 2 or not 1 <= words.shape[1] == coefficients.shape[1] - 1:
        raise UsageError("Labels of w words (w at least 1) need seeds with w + 1 coefficients.")


def _buckets(words: NDArray[np.uint16], coefficients: NDArray[np.uint32], g: int) -> Ints:
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
    """Which of n hashed reports support which of m labels; zero words cost nothing."""

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

    def counts(self, multiplicity: Ints) -> Ints:
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

    def weights(self, weights: Floats) -> Floats:
        """Sum the weights of the reports that support each label: ``Σ_i weight_i·1{bucket_i(x) = y_i}``."""
        self._check_reports(weights)
        sums = np.zeros(len(self.words))
        for labels, reports, mask in self._blocks():
            sums[labels] += _numbers(mask) @ weights[reports]
        return sums

    def frequencies(self, frequencies: Floats) -> Floats:
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

    def _blocks(self, chosen: slice | Bools = slice(None)) -> Iterator[tuple[slice, slice, Bools]]:
        """Yield which of the chosen reports support which labels, in blocks of (labels, reports)."""
        starts, numbers = bucket_starts(self.g), self.words.astype(np.uint32)
        coefficients, reported = self.coefficients[chosen], self.reported[chosen].astype(np.int64)
        for begin in range(0, len(coefficients), _REPORTS):
            reports = slice(begin, min(begin + _REPORTS, len(coefficients)))
            low, high = starts[reported[reports]], starts[reported[reports] + 1]
            # The last number inside the bucket, because 2³², the end of a single bucket, does not fit.
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
    """``t − lo_y·2^16`` modulo 2³² for a block of reports, computed for successive blocks of labels."""

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


def _numbers(mask: Bools) -> Floats:
    """Return ones and zeros; converting bytes is faster than converting booleans."""
    return mask.view(np.uint8).astype(np.float64)
