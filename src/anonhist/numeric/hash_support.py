"""Which hashed reports support which labels: the kernel of local hashing, and its transpose.

A report (seed, y) supports a label if the label is in bucket y under the seed. With ``t = b + Σ_i a_i·x_i`` that is
``(t − lo_y·2^16) mod 2^32 < w_y·2^16``: one product per word, one sum, one comparison, no shift. Blocks of a few labels
by many reports stay in the caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import frozen
from anonhist.numeric.multiply_shift import bucket_starts, check_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

# More reports than NumPy's buffer holds, so that NumPy does not copy the broadcast operands; a block of this many pairs
# stays in the caches.
_REPORTS = 1 << 15
_PAIRS = 1 << 18


@frozen
class HashSupport:
    """Which of n hashed reports support which of m labels.

    Parameters
    ----------
    words
        Words of the labels, shape (m, w). A word that is zero costs nothing.
    coefficients
        Coefficients of the seed of each report, shape (n, w + 1).
    reported
        y, integers in [0, g), shape (n,).
    g
        Number of buckets, from 1 to 2¹⁶.

    Raises
    ------
    UsageError
        If g is not from 1 to 2¹⁶, or the shapes do not match.
    DataError
        If a report is outside [0, g).

    Examples
    --------
    >>> words = np.array([[0], [1]], dtype=np.uint16)
    >>> coefficients = np.array([[0, 1 << 31], [1 << 31, 0]], dtype=np.uint32)
    >>> support = HashSupport(words, coefficients, np.array([0, 1]), 2)
    >>> support.counts(np.array([1, 5])).tolist(), support.weights(np.array([0.5, 0.25])).tolist()
    ([6, 5], [0.75, 0.25])
    """

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
        """Count the reports that support each label: ``c_x = Σ_i m_i·1{bucket_i(x) = y_i}``, exactly.

        Parameters
        ----------
        multiplicity
            How often each report was made, at least 0, shape (n,); the sum must be below 2⁶³. Reports made once are
            counted fastest.

        Returns
        -------
        ndarray of int64, shape (m,)

        Raises
        ------
        UsageError
            If there is not one number for each report.
        DataError
            If a multiplicity is negative or their sum too large.
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
        """Sum the weights of the reports that support each label: ``Σ_i weight_i·1{bucket_i(x) = y_i}``.

        Parameters
        ----------
        weights
            Finite numbers, shape (n,).

        Returns
        -------
        ndarray of float64, shape (m,)

        Raises
        ------
        UsageError
            If there is not one weight for each report.
        """
        self._check_reports(weights)
        sums = np.zeros(len(self.words))
        for labels, reports, mask in self._blocks():
            sums[labels] += _numbers(mask) @ weights[reports]
        return sums

    def frequencies(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the frequencies of the labels that each report supports: ``Σ_x f_x·1{bucket_i(x) = y_i}``.

        Parameters
        ----------
        frequencies
            Finite numbers, shape (m,).

        Returns
        -------
        ndarray of float64, shape (n,)

        Raises
        ------
        UsageError
            If there is not one frequency for each label.
        """
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
