"""Fast hashing of labels into a few buckets, one function per seed: Dietzfelbinger's multiply-shift.

A label is w words of 16 bits ``x_1 … x_w``, a seed is w + 1 coefficients of 32 bits ``b, a_1 … a_w``, and

    t = (b + Σ_i a_i·x_i) mod 2³²,    bucket = ⌊⌊t / 2¹⁶⌋·g / 2¹⁶⌋ .

For two different labels and uniformly drawn coefficients, the pair of ``⌊t / 2^16⌋`` is exactly uniform on
[0, 2¹⁶)², so both labels are in bucket y with probability exactly ``(w_y / 2^16)²``, where w_y is its width. Trailing
words that are zero do not change the bucket of a label. docs/hashing.md has test vectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.numeric.keyed_hash import hash_words

# Number of words, and of coefficients, in a keyed hash.
_WORDS = 8
_COEFFICIENTS = 4


def seed_coefficients(seeds: NDArray[np.integer], *, key: bytes, words: int) -> NDArray[np.uint32]:
    """Return the coefficients of each seed: ``b, a_1 … a_w``, cut from keyed hashes of the seed.

    Coefficient j (b is number 0) is the little-endian number in bytes 4·(j mod 4) to 4·(j mod 4) + 3 of the keyed hash
    of eight bytes: the seed in four, little-endian, then ⌊j/4⌋ in four, little-endian.

    Parameters
    ----------
    seeds
        Integers in [0, 2³²), shape (n,).
    key
        Any bytes but none.
    words
        w ≥ 1.

    Returns
    -------
    ndarray of uint32, shape (n, w + 1)
        Columns b, a_1 … a_w. More words leave the first columns unchanged.

    Raises
    ------
    UsageError
        If the key is empty, or w < 1.
    DataError
        If a seed is not an integer or outside [0, 2³²).

    Examples
    --------
    >>> seed_coefficients(np.array([0, 7]), key=b"survey 1", words=1).tolist()
    [[1087052860, 958244349], [2235130446, 1994491914]]
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
    """Return the first words of keyed hashes: word i (of 1 … w) is bytes 2·i − 2 and 2·i − 1, little-endian.

    Parameters
    ----------
    hashes
        From ``keyed_hash``, shape (m, 2).
    words
        w from 1 to 8. Of m labels, about ``m²/2^(16·w + 1)`` pairs have the same words and can no longer be
        distinguished.

    Returns
    -------
    ndarray of uint16, shape (m, w)

    Raises
    ------
    UsageError
        If w is not from 1 to 8.

    Examples
    --------
    >>> label_words(np.array([[0x4444333322221111, 0]], dtype=np.uint64), 2).tolist() == [[0x1111, 0x2222]]
    True
    """
    _check_words(words, _WORDS)
    return np.ascontiguousarray(hashes, dtype="<u8").view("<u2")[:, :words].astype(np.uint16)


def index_words(indices: NDArray[np.integer], words: int) -> NDArray[np.uint16]:
    """Return the words of indices in a closed alphabet: word i (of 1 … w) of s is ``⌊s / 2^(16·(i − 1))⌋ mod 2^16``.

    Parameters
    ----------
    indices
        Integers in [0, 2^(16·w)), shape (m,).
    words
        w from 1 to 4. One is enough for 65,536 labels.

    Returns
    -------
    ndarray of uint16, shape (m, w)

    Raises
    ------
    UsageError
        If w is not from 1 to 4.
    DataError
        If an index is not an integer or outside [0, 2^(16·w)).

    Examples
    --------
    >>> index_words(np.array([5, 65537]), 2).tolist()
    [[5, 0], [1, 1]]
    """
    _check_words(words, 4)
    _check_range(indices, 1 << 16 * words, "Indices of labels must be integers that fit into the words asked for.")
    return indices.astype("<u8")[:, None].view("<u2")[:, :words].astype(np.uint16)


def bucket_widths(g: int) -> NDArray[np.int64]:
    """Return ``w_y``, the number of values of ``⌊t / 2^16⌋``, of 2¹⁶, in bucket y: ``⌈(y + 1)·2^16/g⌉ − ⌈y·2^16/g⌉``.

    Parameters
    ----------
    g
        Number of buckets, from 1 to 2¹⁶.

    Returns
    -------
    ndarray of int64, shape (g,)
        They sum to 2¹⁶ and differ by at most one.

    Raises
    ------
    UsageError
        If g is not from 1 to 2¹⁶.

    Examples
    --------
    >>> bucket_widths(3).tolist()
    [21846, 21845, 21845]
    """
    return np.diff(bucket_starts(g))


def bucket_starts(g: int) -> NDArray[np.int64]:
    """Return the smallest value in each bucket, then 2¹⁶: ``⌈y·2^16/g⌉``, shape (g + 1,); see ``bucket_widths``."""
    if not 1 <= g <= 1 << 16:
        raise UsageError("The number of buckets must be from 1 to 65536.")
    return -((-np.arange(g + 1, dtype=np.int64) << 16) // g)


def buckets(words: NDArray[np.uint16], coefficients: NDArray[np.uint32], g: int) -> NDArray[np.int64]:
    """Return the bucket of every label under every seed.

    Parameters
    ----------
    words
        Shape (m, w).
    coefficients
        Shape (n, w + 1).
    g
        Number of buckets, from 1 to 2¹⁶.

    Returns
    -------
    ndarray of int64, shape (n, m)

    Raises
    ------
    UsageError
        If g is not from 1 to 2¹⁶, or the shapes of words and coefficients do not match.

    Examples
    --------
    >>> coefficients = seed_coefficients(np.arange(2), key=b"survey 1", words=1)
    >>> buckets(index_words(np.arange(8), 1), coefficients, 3).tolist()
    [[0, 1, 2, 2, 0, 1, 1, 2], [2, 0, 1, 2, 2, 0, 1, 2]]
    """
    check_shapes(words, coefficients)
    return _buckets(words[None, :, :], coefficients[:, None, :], g)


def paired_buckets(words: NDArray[np.uint16], coefficients: NDArray[np.uint32], g: int) -> NDArray[np.int64]:
    """Return the bucket of label i under seed i, for every i: the reports of n people with separate seeds.

    Parameters
    ----------
    words
        Shape (n, w).
    coefficients
        Shape (n, w + 1).
    g
        Number of buckets, from 1 to 2¹⁶.

    Returns
    -------
    ndarray of int64, shape (n,)

    Raises
    ------
    UsageError
        If g is not from 1 to 2¹⁶, or the shapes of words and coefficients do not match.

    Examples
    --------
    >>> coefficients = seed_coefficients(np.arange(2), key=b"survey 1", words=1)
    >>> paired_buckets(index_words(np.array([6, 7]), 1), coefficients, 3).tolist()
    [1, 2]
    """
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
