"""A keyed hash of 128 bits for each label: SipHash-2-4-128 over its UTF-8 bytes, for whole arrays at once.

docs/hashing.md has the exact definition and test vectors, for clients in other languages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError

# Hashed before the key. The hash of this version never changes; another definition gets another number.
KEY_DOMAIN = b"anonhist keyed hash 1\0"

# The state of this many labels fits in the level-2 cache, and the cost of a call is negligible beside it.
_CHUNK = 16384
_WORD = np.dtype("<u8")
_HALF_TURN = np.uint64(32)
# Rotations of v1 and v3, in the first half of a round and in the second. Shape (2, 1), a row a variable.
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
            "A label has a lone surrogate, which is no character: decode the labels properly before they are hashed."
        ) from None
    offsets = np.zeros(len(strings) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, strings), dtype=np.int64, count=len(strings)), out=offsets[1:])
    if data.size != len(text):
        # Bytes 10xxxxxx continue a character: characters, and so labels, begin at the others.
        begins = np.flatnonzero((data & 0xC0) != 0x80)
        offsets = np.append(begins, data.size)[offsets]
    return hash_buffer(data, offsets, key=key)


def hash_buffer(data: NDArray[np.uint8], offsets: ArrayLike, *, key: bytes) -> NDArray[np.uint64]:
    """Hash every label of a buffer of bytes, as an Arrow array of strings holds them; see ``keyed_hash``.

    Label i is ``data[offsets[i]:offsets[i + 1]]``; that it is UTF-8 is not checked. Offsets need not begin at zero or
    end with the buffer (those of a slice of an Arrow array do not); none mean no labels. Time is O(bytes + m), memory
    O(m) besides the buffers: labels are sorted by length and hashed in chunks, so long ones do not slow down short
    ones.
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
        raise DataError("Offsets of labels must never fall, and must stay inside the data.")
    return _siphash(data, bounds.astype(np.int64), secret)


def hash_words(words: NDArray[np.uint64], *, key: bytes) -> NDArray[np.uint64]:
    """Hash numbers below 2⁶⁴ as by ``keyed_hash``, each as the label that consists of its eight little-endian bytes."""
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
    """Return the 16-byte secret of SipHash: the same rule for keys of any length, so that none is weaker."""
    if not isinstance(key, bytes) or not key:
        raise UsageError("The key of a hash must be one byte or more: give it as bytes, such as b'survey 1'.")
    return hashlib.sha256(KEY_DOMAIN + key).digest()[:16]


def _siphash(data: NDArray[np.uint8], offsets: NDArray[np.int64], secret: bytes) -> NDArray[np.uint64]:
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
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    full: NDArray[np.int64],
    secret: bytes,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Hash labels that are sorted by their number of full words: those with more words are always the last."""
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


def _last_words(words: NDArray[np.uint64], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
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
        """Apply SipRound: its first half acts on (v0, v1) and (v2, v3), its second half on (v2, v1) and (v0, v3)."""
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
