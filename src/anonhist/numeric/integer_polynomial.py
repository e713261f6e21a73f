"""Polynomials with whole coefficients: a tuple (c_0, c_1, …, c_d) with c_d ≠ 0, and () for zero.

A polynomial with coefficients below X/2 is determined by its value at X: its coefficients are the digits of that whole
number, from −X/2 to X/2. So a product takes one product of two long integers, and a common divisor little more.
"""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Polynomial = tuple[int, ...]


def trim(coefficients: Iterable[int]) -> Polynomial:
    """Return the polynomial with these coefficients, without trailing zeros."""
    kept = list(coefficients)
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def add(f: Polynomial, g: Polynomial) -> Polynomial:
    """Return f + g."""
    return trim(a + b for a, b in zip_longest(f, g, fillvalue=0))


def scale(f: Polynomial, factor: int) -> Polynomial:
    """Return factor·f."""
    return tuple(factor * a for a in f) if factor else ()


def multiply(f: Polynomial, g: Polynomial) -> Polynomial:
    """Return f·g."""
    if len(f) <= 1 or len(g) <= 1:
        return () if not f or not g else scale(g, f[0]) if len(f) == 1 else scale(f, g[0])
    largest = min(len(f), len(g)) * _norm(f) * _norm(g)
    point = 1 << largest.bit_length() + 1
    return _digits(_value(f, point) * _value(g, point), point)


def power(f: Polynomial, exponent: int) -> Polynomial:
    """Return f^exponent, exponent ≥ 0."""
    result: Polynomial = (1,)
    for digit in f"{exponent:b}":
        result = multiply(result, result)
        if digit == "1":
            result = multiply(result, f)
    return result


def spread(f: Polynomial, factor: int) -> Polynomial:
    """Return f(t^factor), factor ≥ 1."""
    if factor == 1 or len(f) <= 1:
        return f
    wide = [0] * ((len(f) - 1) * factor + 1)
    wide[::factor] = f
    return tuple(wide)


def divide(f: Polynomial, g: Polynomial) -> Polynomial | None:
    """Return the h with f = g·h, or None if there is none with whole coefficients; g ≠ 0."""
    rest, lead = list(f), g[-1]
    found = [0] * max(len(f) - len(g) + 1, 0)
    for i in reversed(range(len(found))):
        found[i] = rest[i + len(g) - 1] // lead
        for j, b in enumerate(g):
            rest[i + j] -= found[i] * b
    return None if any(rest) else tuple(found)


def lowest_terms(f: Polynomial, g: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return f and g, neither 0, divided by their greatest common divisor; the last coefficient of g becomes positive.

    Notes
    -----
    With f and g divided by their contents, let c·h be the polynomial whose value at a point X is gcd(f(X), g(X)), c its
    content. If h divides f and g, it is their greatest common divisor once X ≥ 2·min(‖f‖, ‖g‖) + 2, ‖·‖ the largest
    coefficient: else a further common divisor e of degree ≥ 1 would have e(X) dividing c ≤ X/2; but the roots of e are
    roots of both f and g, so less than X/2, and |e(X)| > X/2. If h does not divide them, X grows. That ends: the value
    is r times that of the greatest common divisor, r a divisor of the resultant of the cofactors, which is fixed.

    References
    ----------
    .. [1] B. W. Char, K. O. Geddes, G. H. Gonnet, "GCDHEU: heuristic polynomial GCD algorithm based on integer GCD
       computation", J. Symbolic Computation 7, 1989.
    """
    content_f, content_g = math.gcd(*f), math.gcd(*g)
    content = math.gcd(content_f, content_g) * (1 if g[-1] > 0 else -1)
    if len(f) == 1 or len(g) == 1:
        return _over(f, content), _over(g, content)
    primitive_f, primitive_g = _over(f, content_f), _over(g, content_g)
    point = 2 * min(_norm(primitive_f), _norm(primitive_g)) + 29
    while True:
        shared = _digits(math.gcd(_value(primitive_f, point), _value(primitive_g, point)), point)
        if len(shared) == 1:
            return _over(f, content), _over(g, content)
        divisor = _over(shared, math.gcd(*shared))
        rest_f, rest_g = divide(primitive_f, divisor), divide(primitive_g, divisor)
        if rest_f is not None and rest_g is not None:
            return scale(rest_f, content_f // content), scale(rest_g, content_g // content)
        point *= point


def _norm(f: Polynomial) -> int:
    return max(map(abs, f))


def _over(f: Polynomial, factor: int) -> Polynomial:
    return f if factor == 1 else tuple(a // factor for a in f)


def _value(f: Polynomial, point: int) -> int:
    total = 0
    for a in reversed(f):
        total = total * point + a
    return total


def _digits(value: int, point: int) -> Polynomial:
    digits, half = [], point >> 1
    while value:
        value, digit = divmod(value + half, point)
        digits.append(digit - half)
    return tuple(digits)
