"""Numbered points of a projective space over a prime field, and which of them are orthogonal."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.numeric.primes import is_prime
from anonhist.numeric.read_only import read_only
from anonhist.numeric.singer import cyclic_order

if TYPE_CHECKING:
    from numpy.typing import NDArray


@frozen
class ProjectiveSpace:
    """The ``K = (F^t − 1)/(F − 1)`` points of the projective space of vectors of length t over the field of F elements.

    A point is a polynomial ``v = z^m + v_{m−1}·z^{m−1} + … + v_0`` with 0 ≤ m < t and coefficients from 0 to F − 1. Its
    number is ``(F^m − 1)/(F − 1) + v_{m−1}·F^{m−1} + … + v_0``: ordered by degree, then by coefficients, highest power
    first. Items are numbered like points. Point y supports item x if the coefficient of z^{t−1} in
    x·y is zero modulo F, ``x_0·y_{t−1} + x_1·y_{t−2} + … + x_{t−1}·y_0 ≡ 0``: orthogonality with one of the
    vectors reversed, a symmetric relation. ``(F^{t−1} − 1)/(F − 1)`` points support an item, and
    ``(F^{t−2} − 1)/(F − 1)`` support two different ones.

    Parameters
    ----------
    field
        F, a prime.
    dimension
        t ≥ 2, with F^t < 2⁶².

    Raises
    ------
    UsageError
        If F is not prime, t < 2, or F^t is too large.

    Examples
    --------
    >>> fano = ProjectiveSpace(2, 3)
    >>> fano.points, fano.support, fano.num_shared
    (7, 3, 1)
    >>> fano.supporter(np.array([6, 6, 6]), np.array([0, 1, 2])).tolist()
    [2, 4, 5]
    """

    field: int
    dimension: int

    def __post_init__(self) -> None:
        if self.dimension < 2 or self.field < 2 or self.field**self.dimension >= 1 << 62:
            raise UsageError(
                f"A projective space needs F ≥ 2, t ≥ 2 and F^t < 2^62, not F = {self.field}, t = {self.dimension}."
            )
        if not is_prime(self.field):
            raise UsageError(f"The field of a projective space must have a prime number of elements, not {self.field}.")

    @property
    def points(self) -> int:
        """K."""
        return _points(self.field, self.dimension)

    @property
    def items(self) -> int:
        """Number of items, the same as of points."""
        return self.points

    @property
    def support(self) -> int:
        """Number of points that support an item."""
        return _points(self.field, self.dimension - 1)

    @property
    def num_shared(self) -> int:
        """Number of points that support two different items."""
        return _points(self.field, self.dimension - 2)

    def supports(self, points: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether the points support the items; the arrays are broadcast."""
        return np.asarray(self._middle(self._vectors(points)[0], self._vectors(items)[0]) == 0)

    def supporter(self, items: NDArray[np.int64], choices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a point that supports each item: a different one for each choice from 0 to ``support`` − 1.

        The choice numbers a point z of the space with one coefficient less. If x has degree m, y is z with one more
        coefficient inserted, that of z^p, p = t − 1 − m. The equation determines it, since x_m = 1:
        ``y_p = −(x_0·y_{t−1} + … + x_{m−1}·y_{p+1})``. It is 0 where all above it are, so y is monic like z.
        """
        x, highest = self._vectors(items)
        place = self.field ** (self.dimension - 1) // highest
        above, below = np.divmod(self._vectors(choices)[0], place)
        y = above * (place * self.field) + below
        y += place * (-self._middle(x, y) % self.field)
        return self._numbers(y)

    def sums(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return, for every item, the sum of the weights of the points that support it.

        The points are put into the order of a cycle through all of them, in which the sums are a convolution (see
        :mod:`anonhist.numeric.singer`): O(K log K).

        Parameters
        ----------
        weights : ndarray of int64 or float64, shape (…, K)
            Whole numbers must be ≥ 0 and add up to at most 2⁶²; their sums are exact.

        Returns
        -------
        ndarray of the same shape and type
        """
        return cyclic_order(self.field, self.dimension).sums(weights)

    def is_folded(self, size: int) -> bool:
        """Return whether :meth:`first_sums` is much faster than :meth:`sums` for so few of the first items."""
        return self.dimension > 2 and 8 * (self._prefixes(size) + 1) <= self.field

    def first_sums(self, points: NDArray[np.int64], weights: NDArray[np.int64], size: int) -> NDArray[np.int64]:
        """Return exact :meth:`sums` for the first items only, of weights at some points, zero elsewhere.

        Items without z^{t−1} are the items of the space with one coefficient less, where a point is y without y_0. The
        same holds for items that begin with ``z^{t−1} + c·z^{t−2}``, where a point has c·y_1 + y_0 instead of y_1 and
        y_0. This takes O(n + K/F·log K) for each c that occurs, and once more.

        Parameters
        ----------
        points : ndarray of int64, shape (n,)
            Where the weights are.
        weights : ndarray of int64, shape (n,)
            ≥ 0; together at most 2⁶².
        size
            How many items, at most K; t must be 3 or more.

        Returns
        -------
        ndarray of int64, shape (size,)
        """
        smaller = ProjectiveSpace(self.field, self.dimension - 1)
        vectors = self._vectors(points)[0]
        out = [smaller._fold(vectors // self.field, weights)]
        high, low = np.divmod(vectors, self.field**2)
        first, zeroth = np.divmod(low, self.field)
        for prefix in range(self._prefixes(size)):
            folded = high * self.field + (prefix * first + zeroth) % self.field
            # A constant other than zero supports no item with z^{t−1}.
            folded[(high == 0) & (folded > 0)] = 1
            out.append(smaller._fold(folded, weights)[smaller.support :])
        return np.concatenate(out)[:size]

    def _prefixes(self, size: int) -> int:
        """Return the number of c with ``z^{t−1} + c·z^{t−2} + …`` among the first items."""
        return max(0, -(-(size - self.support) // int(self._powers[-2])))

    def _fold(self, vectors: NDArray[np.int64], weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return sums of weights at monic polynomials, or at zero, which supports everything."""
        dense = np.zeros(self.points, dtype=np.int64)
        monic = vectors > 0
        np.add.at(dense, self._numbers(vectors[monic]), weights[monic])
        return np.asarray(self.sums(dense) + weights[~monic].sum())

    def spread(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return, for every point, the sum of the shares of the items it supports, as the relation is symmetric."""
        spread: NDArray[np.float64] = self.sums(shares)
        return spread

    @cached_property
    def _powers(self) -> NDArray[np.int64]:
        return read_only(np.array([self.field**m for m in range(self.dimension)], dtype=np.int64))

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """The number of the first polynomial of each degree."""
        return read_only(np.array([_points(self.field, m) for m in range(self.dimension)], dtype=np.int64))

    @cached_property
    def _gaps(self) -> NDArray[np.int64]:
        """What is subtracted from the polynomials of each degree, read as numbers to the base F."""
        return read_only(self._powers - self._first)

    def _vectors(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the coefficients of each point, as digits of one number to the base F, and F to its degree."""
        degrees = np.searchsorted(self._first, numbers, side="right") - 1
        return numbers + self._gaps[degrees], self._powers[degrees]

    def _numbers(self, vectors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the points with these coefficients."""
        return np.asarray(vectors - self._gaps[np.searchsorted(self._powers, vectors, side="right") - 1])

    def _middle(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the coefficient of z^{t−1} in the product, modulo F."""
        total: NDArray[np.int64] = np.zeros((), dtype=np.int64)
        for power in self._powers[::-1]:
            digit, y = np.divmod(y, power)
            x, other = np.divmod(x, self.field)
            total = (total + digit * other) % self.field
        return total


def _points(field: int, dimension: int) -> int:
    points: int = (field**dimension - 1) // (field - 1)
    return points
