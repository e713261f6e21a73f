"""Projective spaces over prime fields, and Hadamard matrices: numbered points and their orthogonality.

Sums over hyperplanes are convolutions along a cycle through all points. Let f be a polynomial of degree t over the
field of F elements for which no power z^d with 0 < d < K is a constant modulo f, while z^K is: then
z^0, z^1, …, z^{K−1} modulo f are, up to constants, all K points (Singer 1938). Let s_j be the coefficient of z^{t−1}
in z^j modulo f: a sequence with the recurrence of f. The point y_e with the coefficients ``y_{t−1−i} = s_{e+i}`` and
the item x_a proportional to z^a have ``Σ_i x_i·y_{t−1−i} ∝ s_{a+e}``. So y_e supports x_a if and only if s_{a+e} = 0,
and the sums over supporting points are correlations with one fixed sequence of length K.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.numeric.arrays import Bools, Floats, Ints, read_only


@lru_cache(maxsize=256)
def prime_factors(number: int) -> tuple[int, ...]:
    """Return the distinct prime factors of a whole number ≥ 1, ascending, by trial division; for numbers below 2⁴⁰."""
    found = []
    left, divisor = number, 2
    while divisor * divisor <= left:
        if left % divisor == 0:
            found.append(divisor)
            while left % divisor == 0:
                left //= divisor
        divisor += 1 + divisor % 2
    return (*found, left) if left > 1 else tuple(found)


def is_prime(number: int) -> bool:
    """Return whether a whole number is prime."""
    return number > 1 and prime_factors(number) == (number,)


def prime_at_least(number: int) -> int:
    """Return the smallest prime ≥ ``number``."""
    return next(filter(is_prime, count(max(2, number))))


def prime_at_most(number: int) -> int:
    """Return the largest prime ≤ ``number``, a whole number ≥ 2."""
    return next(filter(is_prime, count(number, -1)))


# Pieces of this many elements stay in a level-2 cache.
_PIECE = 1 << 14
# Whole numbers are transformed this many binary digits at a time, so that the error of the transform is below 0.1.
DIGITS = 16


@dataclass(frozen=True, eq=False)
class CyclicOrder:
    """The points and the items at the positions of a cycle, and the positions at which a point supports an item.

    ``spectrum`` is the Fourier transform, shape (K//2 + 1,), of the positions a + e at which a point supports an item,
    without its first value, which is their number ``support``.
    """

    points: Ints
    items: Ints
    spectrum: NDArray[np.complex128]
    support: int

    def sums(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of the weights of the points that support each item, exact for whole numbers, shape (…, K).

        All values of the spectrum have the magnitude √(F^{t−2}). With digits below 2¹⁶ the error of the transforms, in
        the norm about 2⁻⁵³·6·log2 K of the result, is below 0.1 in every sum for K ≤ 2²⁷; sums of digits are rounded
        to whole numbers and combined.
        """
        if weights.dtype.kind != "i":
            return self._correlate(weights)
        total = np.zeros_like(weights)
        for shift in range(0, int(weights.max(initial=0)).bit_length(), DIGITS):
            total += np.rint(self._correlate((weights >> shift) & ((1 << DIGITS) - 1))).astype(np.int64) << shift
        return total

    def _correlate(self, weights: NDArray[Any]) -> Floats:
        transformed = np.fft.rfft(weights[..., self.points])
        np.conjugate(transformed, out=transformed)
        transformed *= self.spectrum
        out = np.empty(weights.shape)
        out[..., self.items] = np.fft.irfft(transformed, n=self.points.size)
        out += weights.sum(axis=-1, keepdims=True) * (self.support / self.points.size)
        return out


@lru_cache(maxsize=4)
def cyclic_order(field: int, dimension: int) -> CyclicOrder:
    """Return the cycle of the projective space of vectors of this length over a prime field."""
    length = (field**dimension - 1) // (field - 1)
    polynomial = cyclic_polynomial(field, dimension)
    sequence = _sequence(polynomial, field, length + dimension)
    inverses = _inverses(field)
    points, items = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
    for start in range(0, length, _PIECE):
        stop = min(start + _PIECE, length)
        windows = [sequence[start + i : stop + i] for i in range(dimension)]
        points[start:stop] = _numbers(windows, inverses, field)
        # The coefficient of z^{t−1−j} in z^a is s_{a+j} + f_{t−1}·s_{a+j−1} + … + f_{t−j}·s_a.
        coefficients = []
        for j in range(dimension):
            terms = zip(polynomial[::-1], windows[j::-1], strict=False)
            coefficients.append(np.asarray(sum(factor * window for factor, window in terms if factor)) % field)
        items[start:stop] = _numbers(coefficients, inverses, field)
    supported = sequence[:length] == 0
    spectrum = np.fft.rfft(supported)
    spectrum[0] = 0
    return CyclicOrder(read_only(points), read_only(items), read_only(spectrum), int(supported.sum()))


def cyclic_polynomial(field: int, dimension: int) -> tuple[int, ...]:
    """Return f as defined above, coefficients from f_0 to f_t = 1: the one with the smallest Σ_i f_i·F^i, i < t."""
    length = (field**dimension - 1) // (field - 1)
    # If f has no other terms, z^t is a constant.
    for number in count(field + 1):
        polynomial = (*(number // field**i % field for i in range(dimension)), 1)
        if _is_constant(_power(length, polynomial, field)) and not any(
            _is_constant(_power(length // prime, polynomial, field)) for prime in prime_factors(length)
        ):
            return polynomial
    raise AssertionError  # pragma: no cover  # there is one for every field and dimension


def _is_constant(polynomial: Sequence[int]) -> bool:
    return not any(polynomial[1:])


def _power(exponent: int, modulus: Sequence[int], field: int) -> list[int]:
    """Return z^exponent modulo a monic polynomial, coefficients of 1, z, …, z^{t−1}."""
    size = len(modulus) - 1
    terms = [(i, factor) for i, factor in enumerate(modulus[:-1]) if factor]
    power = [1] + [0] * (size - 1)
    for bit in format(exponent, "b"):
        square = [0] * (2 * size)
        for i, a in enumerate(power):
            if a:
                for j, b in enumerate(power):
                    square[i + j] += a * b
        if bit == "1":
            square = [0, *square[:-1]]
        for top in range(2 * size - 1, size - 1, -1):
            lead = square[top] % field
            if lead:
                for i, factor in terms:
                    square[top - size + i] -= lead * factor
        power = [a % field for a in square[:size]]
    return power


def _sequence(polynomial: Sequence[int], field: int, length: int) -> Ints:
    """Return s_0, s_1, …: each stretch follows from earlier values by one multiplication with a power of z."""
    size = len(polynomial) - 1
    sequence = np.zeros(length, dtype=np.int64)
    sequence[size - 1] = 1
    known = size
    while known < length:
        factors = _power(known, polynomial, field)
        more = min(known - size + 1, length - known)
        for start in range(0, more, _PIECE):
            stop = min(start + _PIECE, more)
            piece = sequence[known + start : known + stop]
            for i, factor in enumerate(factors):
                if factor:
                    piece += factor * sequence[start + i : stop + i] % field
            piece %= field
        known += more
    return sequence


def _inverses(field: int) -> Ints:
    """Return the inverse of every element, and 0 for 0: by Fermat, a^{F−2}."""
    inverses = np.ones(field, dtype=np.int64)
    base = np.arange(field)
    inverses[0] = 0
    exponent = field - 2
    while exponent:
        if exponent & 1:
            inverses = inverses * base % field
        base = base * base % field
        exponent >>= 1
    return inverses


def _numbers(coefficients: Iterable[Ints], inverses: Ints, field: int) -> Ints:
    """Return the numbers of the points with these coefficients, highest first, up to a common factor."""
    numbers: Any = 0
    scale: Any = 0
    for coefficient in coefficients:
        started = scale != 0
        scale = np.where(started, scale, inverses[coefficient])
        # The first polynomial of the next degree comes after all polynomials with these leading coefficients.
        numbers = np.where(started, field * numbers + coefficient * scale % field + 1, 0)
    return np.asarray(numbers)


@frozen
class ProjectiveSpace:
    """The ``K = (F^t − 1)/(F − 1)`` points of the projective space of vectors of length t ≥ 2 over F elements, F prime.

    A point is a polynomial ``v = z^m + v_{m−1}·z^{m−1} + … + v_0`` with 0 ≤ m < t and coefficients from 0 to F − 1. Its
    number is ``(F^m − 1)/(F − 1) + v_{m−1}·F^{m−1} + … + v_0``: ordered by degree, then by coefficients, highest power
    first. Items are numbered like points. Point y supports item x if the coefficient of z^{t−1} in
    x·y is zero modulo F, ``x_0·y_{t−1} + x_1·y_{t−2} + … + x_{t−1}·y_0 ≡ 0``: orthogonality with one of the
    vectors reversed, a symmetric relation. ``(F^{t−1} − 1)/(F − 1)`` points support an item, and
    ``(F^{t−2} − 1)/(F − 1)`` support two different ones. F^t must be below 2⁶².
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

    def supports(self, points: Ints, items: Ints) -> Bools:
        """Return whether the points support the items; the arrays are broadcast."""
        return np.asarray(self._middle(self._vectors(points)[0], self._vectors(items)[0]) == 0)

    def supporter(self, items: Ints, choices: Ints) -> Ints:
        """Return a point that supports each item: a different one for each choice from 0 to ``support`` − 1.

        The choice numbers a point z of the space with one coefficient less. If x has degree m, y is z with one more
        coefficient inserted, that of z^p, p = t − 1 − m. The equation determines it, because x_m = 1: ``y_p =
        −(x_0·y_{t−1} + … + x_{m−1}·y_{p+1})``. It is 0 if all higher ones are, so y is monic like z.
        """
        x, highest = self._vectors(items)
        place = self.field ** (self.dimension - 1) // highest
        above, below = np.divmod(self._vectors(choices)[0], place)
        y = above * (place * self.field) + below
        y += place * (-self._middle(x, y) % self.field)
        return self._numbers(y)

    def sums(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return, for every item, the sum of the weights of the points that support it, along the cycle: O(K log K).

        Whole weights must be ≥ 0 and add up to at most 2⁶²; their sums are exact.
        """
        return cyclic_order(self.field, self.dimension).sums(weights)

    def is_folded(self, size: int) -> bool:
        """Return whether :meth:`first_sums` is much faster than :meth:`sums` for so few of the first items."""
        return self.dimension > 2 and 8 * (self._prefixes(size) + 1) <= self.field

    def first_sums(self, points: Ints, weights: Ints, size: int) -> Ints:
        """Return exact :meth:`sums` for the first ``size`` items only, of weights at some points, 0 elsewhere; t ≥ 3.

        Items without z^{t−1} are the items of the space with one coefficient less, where a point is y without y_0. The
        same holds for items that begin with ``z^{t−1} + c·z^{t−2}``, where a point has c·y_1 + y_0 instead of y_1 and
        y_0. This takes O(n + K/F·log K) for each c that occurs, and once more. Weights are ≥ 0, together at most 2⁶².
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

    def _fold(self, vectors: Ints, weights: Ints) -> Ints:
        """Return sums of weights at monic polynomials, or at zero, which supports everything."""
        dense = np.zeros(self.points, dtype=np.int64)
        monic = vectors > 0
        np.add.at(dense, self._numbers(vectors[monic]), weights[monic])
        return np.asarray(self.sums(dense) + weights[~monic].sum())

    def spread(self, shares: Floats) -> Floats:
        """Return, for every point, the sum of the shares of the items it supports; the relation is symmetric."""
        return np.asarray(self.sums(shares))

    @cached_property
    def _powers(self) -> Ints:
        return read_only(np.array([self.field**m for m in range(self.dimension)], dtype=np.int64))

    @cached_property
    def _first(self) -> Ints:
        """The number of the first polynomial of each degree."""
        return read_only(np.array([_points(self.field, m) for m in range(self.dimension)], dtype=np.int64))

    @cached_property
    def _gaps(self) -> Ints:
        """The numbers subtracted from the polynomials of each degree, read as numbers to the base F."""
        return read_only(self._powers - self._first)

    def _vectors(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Return the coefficients of each point as digits of one number to the base F, and F to its degree."""
        degrees = np.searchsorted(self._first, numbers, side="right") - 1
        return numbers + self._gaps[degrees], self._powers[degrees]

    def _numbers(self, vectors: Ints) -> Ints:
        """Return the numbers of the points with these coefficients."""
        return np.asarray(vectors - self._gaps[np.searchsorted(self._powers, vectors, side="right") - 1])

    def _middle(self, x: Ints, y: Ints) -> Ints:
        """Return the coefficient of z^{t−1} in the product, modulo F."""
        total: Ints = np.zeros((), dtype=np.int64)
        for power in self._powers[::-1]:
            digit, y = np.divmod(y, power)
            x, other = np.divmod(x, self.field)
            total = (total + digit * other) % self.field
        return total


def _points(field: int, dimension: int) -> int:
    points: int = (field**dimension - 1) // (field - 1)
    return points


def walsh_hadamard(values: NDArray[Any]) -> NDArray[Any]:
    """Return ``Σ_i (−1)^{|i ∧ j|}·values_i`` for every j, where |i ∧ j| counts the binary digits that i and j share.

    It transforms the last axis, of length 2^m. The result is exact for whole numbers whose magnitudes add up to less
    than 2⁶³.
    """
    size = values.shape[-1]
    now, then = values.copy(), np.empty_like(values)
    # Each step transforms the lowest digit and makes it the highest: after all steps, the original order is restored.
    for _ in range(size.bit_length() - 1):
        np.add(now[..., 0::2], now[..., 1::2], out=then[..., : size // 2])
        np.subtract(now[..., 0::2], now[..., 1::2], out=then[..., size // 2 :])
        now, then = then, now
    return now


@dataclass(frozen=True)
class HadamardMatrix:
    """Rows and columns 0 to b − 1, b = 2^m; +1 where the binary numbers share an even number of ones, else −1.

    Column 0, all +1, is not used: item i is column i + 1, and a point is a row. An item is supported by the ``b/2``
    rows where its column is +1. Two different items share ``b/4`` of them. b must be a power of two ≥ 2.
    """

    points: int

    def __post_init__(self) -> None:
        if self.points < 2 or self.points & (self.points - 1):
            raise UsageError(f"A Hadamard matrix needs a power of two rows, not {self.points}.")

    @property
    def items(self) -> int:
        """Number of columns used, b − 1."""
        return self.points - 1

    @property
    def support(self) -> int:
        """Number of points that support an item."""
        return self.points // 2

    @property
    def num_shared(self) -> Fraction:
        """Number of points that support two different items; for b = 2, with one item, as the formulas need it."""
        return Fraction(self.points, 4)

    def supports(self, points: Ints, items: Ints) -> Bools:
        """Return whether the points support the items; the arrays are broadcast."""
        return np.asarray(np.bitwise_count(points & (items + 1)) % 2 == 0)

    def supporter(self, items: Ints, choices: Ints) -> Ints:
        """Return a point that supports each item: a different one for each choice from 0 to ``support`` − 1.

        The binary digits of the choice become those of the row, with one inserted at the position of the column's
        lowest one: the digit that makes the number of shared ones even.
        """
        columns = items + 1
        lowest = columns & -columns
        below = choices & (lowest - 1)
        rows = below | (choices - below) << 1
        odd = np.bitwise_count(rows & columns) & 1
        return np.asarray(rows | lowest * odd)

    def sums(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return, for every item, the sum of the weights of the points that support it, shape (…, b − 1).

        Whole weights must be ≥ 0 and add up to at most 2⁶²; their sums are exact.
        """
        transformed = walsh_hadamard(weights)
        total, others = transformed[..., :1], transformed[..., 1:]
        # Both have the same parity; halved first, they cannot overflow.
        whole = total.dtype.kind == "i"
        return np.asarray((total >> 1) + (others >> 1) + (total & 1) if whole else (total + others) / 2)

    def spread(self, shares: Floats) -> Floats:
        """Return, for every point, the sum of the shares of the items that it supports, shape (…, b)."""
        padded = np.concatenate((np.zeros((*shares.shape[:-1], 1)), shares), axis=-1)
        return np.asarray((walsh_hadamard(padded) + shares.sum(axis=-1, keepdims=True)) / 2)
