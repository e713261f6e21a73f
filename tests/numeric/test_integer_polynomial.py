"""Polynomial arithmetic against school methods."""

import math
from fractions import Fraction

import numpy as np

from anonhist.numeric.exponential import add, divide, lowest_terms, multiply, power, scale, spread, trim
from anonhist_testing.cases import each_of

GENERATOR = np.random.default_rng(7)


def some_polynomial(degree: int, largest: int) -> tuple[int, ...]:
    while True:
        drawn = trim(GENERATOR.integers(-largest, largest + 1, degree + 1).tolist())
        if len(drawn) == degree + 1:
            return drawn


def school_product(f: tuple[int, ...], g: tuple[int, ...]) -> tuple[int, ...]:
    product = [0] * (len(f) + len(g) - 1)
    for i, a in enumerate(f):
        for j, b in enumerate(g):
            product[i + j] += a * b
    return tuple(product)


def euclid(f: tuple[int, ...], g: tuple[int, ...]) -> tuple[Fraction, ...]:
    """Return the greatest common divisor over the rationals, its last coefficient 1."""
    left, right = [Fraction(a) for a in f], [Fraction(a) for a in g]
    while right:
        while len(left) >= len(right):
            factor = left[-1] / right[-1]
            for i, b in enumerate(right):
                left[len(left) - len(right) + i] -= factor * b
            left.pop()
            while left and not left[-1]:
                left.pop()
        left, right = right, left
    return tuple(a / left[-1] for a in left)


@each_of("largest", [1, 9, 2**62])
@each_of("degrees", [(0, 3), (1, 1), (2, 7), (12, 12), (40, 3)])
def test_products_are_those_of_school(degrees: tuple[int, int], largest: int) -> None:
    for _ in range(20):
        f, g = (some_polynomial(degree, largest) for degree in degrees)
        assert multiply(f, g) == school_product(f, g)
        assert divide(multiply(f, g), g) == f
    assert multiply((), f) == multiply(f, ()) == scale(f, 0) == ()


def test_products_of_the_largest_coefficients_do_not_run_into_each_other() -> None:
    for sign in (-1, 1):
        f = (sign * 7,) * 9
        assert multiply(f, (7,) * 9) == school_product(f, (7,) * 9)


def test_a_quotient_that_is_not_whole_is_none() -> None:
    assert divide((1, 1), (0, 1)) is None
    assert divide((1, 3, 1), (1, 1)) is None
    assert divide((1, 3), (1, 2)) is None
    assert divide((2, 1), (1, 0, 1)) is None
    assert divide((), (1, 1)) == ()


@each_of("largest", [1, 5, 10**12])
@each_of("degrees", [(0, 1, 1), (0, 6, 4), (1, 2, 2), (3, 5, 2), (8, 8, 8)])
def test_lowest_terms_have_nothing_in_common(degrees: tuple[int, int, int], largest: int) -> None:
    for _ in range(20):
        shared, a, b = (some_polynomial(degree, largest) for degree in degrees)
        f, g = multiply(shared, a), multiply(shared, b)
        left, right = lowest_terms(f, g)
        assert multiply(left, g) == multiply(right, f)
        assert right[-1] > 0
        # Nothing is left in common, neither a polynomial nor a whole number.
        assert len(euclid(left, right)) == 1
        assert math.gcd(*left, *right) == 1


def test_values_with_a_factor_in_common_are_tried_at_another_point() -> None:
    # The first point is 31: the values 32 and 64 have 32 in common, which reads as t + 1; that does not divide t + 33.
    assert lowest_terms((1, 1), (33, 1)) == ((1, 1), (33, 1))
    assert lowest_terms((3, 3), (-99, -3)) == ((-1, -1), (33, 1))


def test_powers_sums_and_spreading() -> None:
    assert power((1, 1), 5) == (1, 5, 10, 10, 5, 1)
    assert power((2, 1), 0) == (1,)
    assert power((), 0) == (1,)
    assert power((), 2) == ()
    assert add((1, 2, 3), (-1, 0, -3)) == (0, 2)
    assert add((1,), (-1,)) == ()
    assert spread((1, 2, 3), 3) == (1, 0, 0, 2, 0, 0, 3)
    assert spread((5,), 3) == (5,)
