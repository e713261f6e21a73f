"""How many hashed reports support each label: the kernel of local hashing, and its transposes.

A report (seed, y) supports a label if the label is in bucket y under the seed. With ``t = b + Σ_i a_i·x_i`` that is
``(t − lo_y·2^16) mod 2^32 < w_y·2^16``: one product for each word, one sum, one comparison, no shift. Blocks of a few
labels by many reports stay in the caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.numeric.multiply_shift import bucket_starts, check_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# So many reports are more than NumPy's buffer holds, which would copy what is broadcast; and a block of so many pairs
# does not leave the caches.
_REPORTS = 1 << 15
_PAIRS = 1 << 18


def support_counts(
    words: NDArray[np.uint16],
    coefficients: NDArray[np.uint32],
    reported: NDArray[np.integer],
    multiplicity: NDArray[np.int64],
    g: int,
) -> NDArray[np.int64]:
    """Count the reports that support each label: ``c_x = Σ_i m_i·1{bucket_i(x) = y_i}``, exactly.

    Parameters
    ----------
    words
        Words of the labels, shape (m, w). A word that is zero costs nothing.
    coefficients
        Of the seed of each report, shape (n, w + 1).
    reported
        y, integers in [0, g), shape (n,).
    multiplicity
        How often each report was made, at least 0, shape (n,); below 2^63 in sum. Where it is one, counting is
        quickest.
    g
        Number of buckets, from 1 to 2^16.

    Returns
    -------
    ndarray of int64, shape (m,)

    Raises
    ------
    UsageError
        If g is not from 1 to 2^16, or the shapes do not go together.
    DataError
        If a report is outside [0, g), or a multiplicity is negative or their sum too large.

    Examples
    --------
    >>> words = np.array([[0], [1]], dtype=np.uint16)
    >>> coefficients = np.array([[0, 1 << 31], [1 << 31, 0]], dtype=np.uint32)
    >>> support_counts(words, coefficients, np.array([0, 1]), np.array([1, 5]), 2).tolist()
    [6, 5]
    """
    reported = _check(words, coefficients, reported, multiplicity, g)
    if multiplicity.dtype.kind not in "iu" or int(multiplicity.min(initial=0)) < 0:
        raise DataError("Multiplicities of reports must be integers of at least 0.")
    counts = np.zeros(len(words), dtype=np.int64)
    once, often = multiplicity == 1, multiplicity > 1
    chosen = slice(None) if once.all() else once
    for labels, _, mask in _blocks(words, coefficients[chosen], reported[chosen], g):
        counts[labels] += [np.count_nonzero(row) for row in mask]
    if not often.any():
        return counts
    # Sums of halves below 2^32 over a block are exact in float64.
    many = multiplicity[often].astype(np.uint64)
    halves = np.stack([many >> 32, many & 0xFFFFFFFF])
    if (int(halves[0].sum()) << 32) + int(halves[1].sum()) + int(once.sum()) >= 1 << 63:
        raise DataError("There are 2^63 or more reports: count them in parts.")
    for labels, reports, mask in _blocks(words, coefficients[often], reported[often], g):
        sums = (halves[:, reports].astype(np.float64) @ _numbers(mask).T).astype(np.int64)
        counts[labels] += (sums[0] << 32) + sums[1]
    return counts


def weighted_support(
    words: NDArray[np.uint16],
    coefficients: NDArray[np.uint32],
    reported: NDArray[np.integer],
    weights: NDArray[np.float64],
    g: int,
) -> NDArray[np.float64]:
    """Sum the weights of the reports that support each label: ``Σ_i weight_i·1{bucket_i(x) = y_i}``.

    Parameters
    ----------
    words, coefficients, reported, g
        As in ``support_counts``.
    weights
        Finite numbers, shape (n,).

    Returns
    -------
    ndarray of float64, shape (m,)

    Raises
    ------
    UsageError
        If g is not from 1 to 2^16, or the shapes do not go together.
    DataError
        If a report is outside [0, g).

    Examples
    --------
    >>> words = np.array([[0], [1]], dtype=np.uint16)
    >>> coefficients = np.array([[0, 1 << 31], [1 << 31, 0]], dtype=np.uint32)
    >>> weighted_support(words, coefficients, np.array([0, 1]), np.array([0.5, 0.25]), 2).tolist()
    [0.75, 0.25]
    """
    reported = _check(words, coefficients, reported, weights, g)
    sums = np.zeros(len(words))
    for labels, reports, mask in _blocks(words, coefficients, reported, g):
        sums[labels] += _numbers(mask) @ weights[reports]
    return sums


def support_of(
    words: NDArray[np.uint16],
    coefficients: NDArray[np.uint32],
    reported: NDArray[np.integer],
    frequencies: NDArray[np.float64],
    g: int,
) -> NDArray[np.float64]:
    """Sum the frequencies of the labels that each report supports: ``Σ_x f_x·1{bucket_i(x) = y_i}``.

    Parameters
    ----------
    words, coefficients, reported, g
        As in ``support_counts``.
    frequencies
        Finite numbers, shape (m,).

    Returns
    -------
    ndarray of float64, shape (n,)

    Raises
    ------
    UsageError
        If g is not from 1 to 2^16, or the shapes do not go together.
    DataError
        If a report is outside [0, g).

    Examples
    --------
    >>> words = np.array([[0], [1]], dtype=np.uint16)
    >>> coefficients = np.array([[0, 1 << 31], [1 << 31, 0]], dtype=np.uint32)
    >>> support_of(words, coefficients, np.array([0, 1]), np.array([0.5, 0.25]), 2).tolist()
    [0.5, 0.75]
    """
    reported = _check(words, coefficients, reported, reported, g)
    if frequencies.shape != (len(words),):
        raise UsageError("There must be one frequency for each label.")
    sums = np.zeros(len(coefficients))
    for labels, reports, mask in _blocks(words, coefficients, reported, g):
        sums[reports] += frequencies[labels] @ _numbers(mask)
    return sums


def _check(
    words: NDArray[np.uint16],
    coefficients: NDArray[np.uint32],
    reported: NDArray[np.integer],
    weights: NDArray[np.generic],
    g: int,
) -> NDArray[np.int64]:
    """Return what was reported, as int64."""
    check_shapes(words, coefficients)
    bucket_starts(g)
    if not reported.shape == weights.shape == (len(coefficients),):
        raise UsageError("There must be one bucket and one weight for each report.")
    if reported.dtype.kind not in "iu" or bool(((reported < 0) | (reported >= g)).any()):
        raise DataError("A report names a bucket that does not exist: reports must be integers from 0 to g - 1.")
    return reported.astype(np.int64)


def _blocks(
    words: NDArray[np.uint16], coefficients: NDArray[np.uint32], reported: NDArray[np.int64], g: int
) -> Iterator[tuple[slice, slice, NDArray[np.bool_]]]:
    """Yield for a few labels and many reports at a time who supports whom, shape (labels, reports)."""
    starts = bucket_starts(g)
    numbers = words.astype(np.uint32)
    for begin in range(0, len(coefficients), _REPORTS):
        reports = slice(begin, min(begin + _REPORTS, len(coefficients)))
        low, high = starts[reported[reports]], starts[reported[reports] + 1]
        # The last number inside, since 2^32, the end of one bucket alone, is none.
        last = ((high - low << 16) - 1).astype(np.uint32)
        table = coefficients[reports].T.copy()
        table[0] -= (low << 16).astype(np.uint32)
        height = max(1, min(_PAIRS // last.size, len(words)))
        totals = _Totals(table, height)
        mask = np.empty((height, last.size), dtype=np.bool_)
        for first in range(0, len(words), height):
            labels = slice(first, min(first + height, len(words)))
            total = totals.of(numbers[labels])
            yield labels, reports, np.less_equal(total, last, out=mask[: len(total)])


class _Totals:
    """``t − lo_y·2^16`` modulo 2^32 of a block of labels under a block of reports, blocks of labels in turn."""

    def __init__(self, table: NDArray[np.uint32], height: int) -> None:
        self.offset, self.factors = table[0], table[1:]
        self.total, self.product = np.empty((2, height, table.shape[1]), dtype=np.uint32)
        self.words = np.empty((0, len(self.factors)), dtype=np.uint32)
        self.step, self.shift = self.words[:0], self.offset

    def of(self, words: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the totals of the next labels, shape (labels, reports), in a buffer that the next call fills again."""
        total: NDArray[np.uint32] = self.total[: len(words)]
        product = self.product[: len(words)]
        if len(self.words) >= len(words):
            steps = words - self.words[: len(words)]
            if (steps == steps[0]).all():
                # Labels of a closed alphabet go on evenly: a sum then does for the products.
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
    """Return ones and zeros; from bytes that is quicker than from booleans."""
    return mask.view(np.uint8).astype(np.float64)
