"""Exact numbers made of exponentials: certified bounds of e^(−γ), and quotients of polynomials in e^γ.

A polynomial is a tuple (c_0, c_1, …, c_d) with c_d ≠ 0, and () for zero. One with coefficients below X/2 is determined
by its value at X: its coefficients are the digits of that whole number, from −X/2 to X/2. So a product takes one
product of two long integers, and a common divisor little more.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, total_ordering
from itertools import zip_longest
from numbers import Rational
from typing import SupportsIndex

from anonhist.errors import UsageError

# (lower, upper) around a number x·2^bits: lower ≤ x·2^bits ≤ upper.
Bounds = tuple[int, int]

# From this rate on, every e^(−γk), k ≥ 1, underflows to zero, so pmfs use this rate for all larger ones.
LARGEST_FLOAT_RATE = Fraction(1000)


def exp_bounds(gamma: Fraction, *, bits: int) -> Bounds:
    """Return whole numbers with ``lower ≤ e^(−γ)·2^bits ≤ upper``, γ ≥ 0, a few units apart: integer arithmetic only.

    ``x = γ/2^h ≤ 2^−8``; the Taylor series of e^x is summed with every term rounded down. With x ≤ 1 a term is less
    than 2 too small, and when the first term rounds to 0 all that follow add up to less than 4; so ``n`` terms are less
    than ``2n + 4`` short. Then follow the reciprocal and ``h`` squarings, each rounded outwards.
    """
    if gamma == 0:
        return 1 << bits, 1 << bits
    if gamma >= bits:  # e^(−γ) < 2^(−γ) ≤ 2^(−bits)
        return 0, 1
    halvings = int(gamma).bit_length() + 8
    guard = halvings + 8
    precision = bits + guard
    numerator, denominator = gamma.numerator, gamma.denominator << halvings
    term, total, count = 1 << precision, 0, 0
    while term:
        total += term
        count += 1
        term = term * numerator // (denominator * count)
    lower = (1 << 2 * precision) // (total + 2 * count + 4)
    upper = _up(1 << 2 * precision, total)
    for _ in range(halvings):
        lower, upper = multiply_bounds((lower, upper), (lower, upper), bits=precision)
    return lower >> guard, _up(upper, 1 << guard)


def powers(gamma: Fraction, *, count: int, bits: int) -> list[Bounds]:
    """Return bounds of ``e^(−γk)``, k = 0..count, scaled by 2^bits."""
    ratio = exp_bounds(gamma, bits=bits)
    reached = [(1 << bits, 1 << bits)]
    for _ in range(count):
        reached.append(multiply_bounds(reached[-1], ratio, bits=bits))
    return reached


def multiply_bounds(left: Bounds, right: Bounds, *, bits: int) -> Bounds:
    """Return bounds of x·y from bounds of x ≥ 0 and y ≥ 0, all scaled by 2^bits."""
    return left[0] * right[0] >> bits, -(-left[1] * right[1] >> bits)


def divide_bounds(left: Bounds, right: Bounds, *, bits: int) -> Bounds:
    """Return bounds of x/y from bounds of x ≥ 0 and y > 0, all scaled by 2^bits; the lower bound of y is > 0."""
    return (left[0] << bits) // right[1], _up(left[1] << bits, right[0])


def complement(value: Bounds, *, bits: int) -> Bounds:
    """Return bounds of 1 − x from bounds of 0 ≤ x ≤ 1, all scaled by 2^bits."""
    one = 1 << bits
    return max(one - value[1], 0), one - value[0]


def certified_floors(bounds: Callable[[int], list[Bounds]], *, bits: int) -> list[int]:
    """Return ``⌊x·2^bits⌋`` for every x of a list of irrational numbers in (0, 1), from bounds that converge.

    Two bounds with the same floor determine it. Otherwise the precision grows: an irrational number is not a multiple
    of 2^−bits, so close enough bounds agree. Numbers below 1 have a floor of at most 2^bits − 1. The code uses this,
    because distinguishing 1 − e^(−γ) from 1 for a huge γ would take γ digits.
    """
    guard, largest = 64, (1 << bits) - 1
    while True:
        pairs = [(max(lower >> guard, 0), min(upper >> guard, largest)) for lower, upper in bounds(bits + guard)]
        if all(lower == upper for lower, upper in pairs):
            return [lower for lower, _ in pairs]
        guard *= 2


def float_rate(gamma: Fraction) -> float:
    """Return γ as a float for pmfs, capped where they no longer change."""
    return float(min(gamma, LARGEST_FLOAT_RATE))


def _up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


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
    return _digits(_polynomial_value(f, point) * _polynomial_value(g, point), point)


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
    """Return h with f = g·h, or None if there is none with whole coefficients; g ≠ 0."""
    rest, lead = list(f), g[-1]
    found = [0] * max(len(f) - len(g) + 1, 0)
    for i in reversed(range(len(found))):
        found[i] = rest[i + len(g) - 1] // lead
        for j, b in enumerate(g):
            rest[i + j] -= found[i] * b
    return None if any(rest) else tuple(found)


def lowest_terms(f: Polynomial, g: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return f and g, neither 0, divided by their greatest common divisor; the last coefficient of g becomes positive.

    With f and g divided by their contents, let c·h be the polynomial whose value at a point X is gcd(f(X), g(X)), c its
    content. If h divides f and g, it is their greatest common divisor once X ≥ 2·min(‖f‖, ‖g‖) + 2, ‖·‖ the largest
    coefficient: else a further common divisor e of degree ≥ 1 would have e(X) dividing c ≤ X/2; but the roots of e are
    roots of both f and g, so less than X/2, and |e(X)| > X/2. If h does not divide them, X grows. This terminates: the
    value is r times that of the greatest common divisor, where r divides the resultant of the cofactors, which is
    fixed.

    Source: Char and others 1989.
    """
    content_f, content_g = math.gcd(*f), math.gcd(*g)
    content = math.gcd(content_f, content_g) * (1 if g[-1] > 0 else -1)
    if len(f) == 1 or len(g) == 1:
        return _over(f, content), _over(g, content)
    primitive_f, primitive_g = _over(f, content_f), _over(g, content_g)
    point = 2 * min(_norm(primitive_f), _norm(primitive_g)) + 29
    while True:
        shared = _digits(math.gcd(_polynomial_value(primitive_f, point), _polynomial_value(primitive_g, point)), point)
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


def _polynomial_value(f: Polynomial, point: int) -> int:
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


# log2(e), rounded either way: e^γ has between 1.4426·γ and 1.4427·γ binary digits.
LOG2_E = Fraction(14426, 10000), Fraction(14427, 10000)
# No digits are computed for larger numbers.
LARGEST_LOG2 = 1 << 16
# Two rates whose common divisor is smaller would need polynomials that do not fit in memory.
LARGEST_DEGREE = 1 << 16


@total_ordering
@dataclass(frozen=True, init=False, eq=False, repr=False)
class ExponentialQuotient:
    """The number ``x = (a_0 + a_1·t + a_2·t² + …)/(b_0 + b_1·t + b_2·t² + …)`` with ``t = e^γ``, γ > 0 rational, exact.

    e^γ is transcendental for every rational γ ≠ 0 (Lindemann), so two such numbers are equal only if they are equal as
    quotients of polynomials: in lowest terms, ``==`` only compares coefficients. Certified digits of e^γ, as
    many as needed, decide which of two different numbers is larger.

    Quotients are stored in lowest terms, with a positive last coefficient of the denominator and the largest possible
    γ: t² equals e^γ′ with γ′ = 2γ, and is stored that way. Zero is ()/(1,), and a rational number has γ = 1.

    ``+ - * / **`` (whole exponents) and ``== < <= > >=`` take ints, fractions and other quotients, whatever their
    rates: γ and γ′ are whole multiples of a common rational. Floats are refused, because they are inexact. A rational
    quotient equals the fraction and has its hash. ``float(x)`` is the nearest float or one next to it, however small γ
    is; as for fractions, it raises OverflowError for numbers beyond the range of floats.
    """

    numerator: Polynomial
    denominator: Polynomial
    gamma: Fraction

    def __init__(
        self,
        numerator: Iterable[SupportsIndex],
        denominator: Iterable[SupportsIndex] = (1,),
        gamma: Fraction | int = 1,
    ) -> None:
        if not isinstance(gamma, Rational) or gamma <= 0:
            raise UsageError(f"gamma must be exact and greater than 0, a Fraction or an int, not {gamma!r}.")
        above, below = trim(map(operator.index, numerator)), trim(map(operator.index, denominator))
        if not below:
            raise ZeroDivisionError("A quotient of exponentials has the denominator 0.")
        above, below = lowest_terms(above, below) if above else ((), (1,))
        step = math.gcd(*(i for polynomial in (above, below) for i, a in enumerate(polynomial) if a))
        kept = (above[:: step or 1], below[:: step or 1], Fraction(gamma) * step if step else Fraction(1))
        vars(self).update(zip(("numerator", "denominator", "gamma"), kept, strict=True))

    @classmethod
    def exponential(cls, gamma: Fraction | int) -> ExponentialQuotient:
        """Return e^γ, for an exact rational γ > 0."""
        return cls((0, 1), (1,), gamma)

    @property
    def rational(self) -> Fraction | None:
        """The number as a Fraction, or None if it is irrational."""
        if len(self.numerator) > 1 or len(self.denominator) > 1:
            return None
        return Fraction(self.numerator[0] if self.numerator else 0, self.denominator[0])

    def bounds(self, bits: int) -> Bounds:
        """Return certified whole numbers around x·2^bits, at most two apart, by integer arithmetic only.

        Raise OverflowError if |x| may exceed 2⁶⁵⁵³⁶.
        """
        exact = self.rational
        if exact is not None:
            scaled = exact * (1 << bits)
            return math.floor(scaled), math.ceil(scaled)
        reach = self._log2()
        positive = self._sign() > 0
        if reach + bits <= 0:
            return (0, 1) if positive else (-1, 0)
        if reach > LARGEST_LOG2:
            raise OverflowError("The quotient of exponentials is too large to be written out.")
        digits = reach + bits + 3
        above = _magnitude(self.numerator, self.gamma, digits)
        below = _magnitude(self.denominator, self.gamma, digits)
        lag = self._lag()
        bits_lag = digits + math.ceil(abs(lag) * LOG2_E[1]) + 3
        lower_lag, upper_lag = exp_bounds(abs(lag), bits=bits_lag)
        lower, upper, bits_moved = above if lag >= 0 else below
        moved = lower * lower_lag, upper * upper_lag, bits_moved + bits_lag
        above, below = (moved, below) if lag >= 0 else (above, moved)
        shift = below[2] - above[2] + bits
        lower = _shift(above[0], shift) // _shift(below[1], -shift)
        upper = -(-_shift(above[1], shift) // _shift(below[0], -shift))
        return (lower, upper) if positive else (-upper, -lower)

    def __float__(self) -> float:
        exact = self.rational
        if exact is not None:
            return float(exact)
        bits = min(max(64 - self._log2(), 0), 1200)
        return self.bounds(bits)[0] / (1 << bits)

    def __bool__(self) -> bool:
        return bool(self.numerator)

    def __hash__(self) -> int:
        exact = self.rational
        return hash((self.numerator, self.denominator, self.gamma)) if exact is None else hash(exact)

    def __eq__(self, other: object) -> bool:
        if (right := _quotient(other)) is None:
            return NotImplemented
        return (self.numerator, self.denominator, self.gamma) == (right.numerator, right.denominator, right.gamma)

    def __lt__(self, other: object) -> bool:
        return NotImplemented if (right := _quotient(other)) is None else _compare(self, right) < 0

    def __neg__(self) -> ExponentialQuotient:
        return ExponentialQuotient(scale(self.numerator, -1), self.denominator, self.gamma)

    def __abs__(self) -> ExponentialQuotient:
        return -self if self < 0 else self

    def __add__(self, other: object) -> ExponentialQuotient:
        return NotImplemented if (right := _quotient(other)) is None else _sum(self, right)

    __radd__ = __add__

    def __sub__(self, other: object) -> ExponentialQuotient:
        return NotImplemented if (right := _quotient(other)) is None else _sum(self, -right)

    def __rsub__(self, other: object) -> ExponentialQuotient:
        return NotImplemented if (left := _quotient(other)) is None else _sum(left, -self)

    def __mul__(self, other: object) -> ExponentialQuotient:
        return NotImplemented if (right := _quotient(other)) is None else _product(self, right)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> ExponentialQuotient:
        return NotImplemented if (right := _quotient(other)) is None else _product(self, right**-1)

    def __rtruediv__(self, other: object) -> ExponentialQuotient:
        return NotImplemented if (left := _quotient(other)) is None else _product(left, self**-1)

    def __pow__(self, exponent: int) -> ExponentialQuotient:
        if isinstance(exponent, bool) or not isinstance(exponent, int):
            return NotImplemented
        above, below = (self.numerator, self.denominator) if exponent >= 0 else (self.denominator, self.numerator)
        return ExponentialQuotient(power(above, abs(exponent)), power(below, abs(exponent)), self.gamma)

    def __repr__(self) -> str:
        above = _text(self.numerator, self.gamma)
        if self.denominator == (1,):
            return above
        return f"{_in_brackets(above)}/{_in_brackets(_text(self.denominator, self.gamma))}"

    def _lag(self) -> Fraction:
        """Return γ·(deg denominator − deg numerator): x is e^(−lag) times a quotient of polynomials in e^(−γ)."""
        return (len(self.denominator) - len(self.numerator)) * self.gamma

    def _sign(self) -> int:
        return _sign(self.numerator, self.gamma) * _sign(self.denominator, self.gamma)

    def _log2(self) -> int:
        """Return a whole number ≥ log2|x|, at most slightly larger, for irrational x."""
        _, above, bits_above = _magnitude(self.numerator, self.gamma, 8)
        below, _, bits_below = _magnitude(self.denominator, self.gamma, 8)
        lag = self._lag()
        leading = above.bit_length() - bits_above - (below.bit_length() - 1 - bits_below)
        return leading + math.ceil(-lag * LOG2_E[lag < 0])


def _quotient(value: object) -> ExponentialQuotient | None:
    if isinstance(value, ExponentialQuotient):
        return value
    if isinstance(value, Rational) and not isinstance(value, bool):
        return ExponentialQuotient((int(value.numerator),), (int(value.denominator),))
    return None


def _align(
    left: ExponentialQuotient, right: ExponentialQuotient
) -> tuple[Polynomial, Polynomial, Polynomial, Polynomial, Fraction]:
    """Return both numerators and denominators as polynomials in one t = e^γ, and γ."""
    fields = left.numerator, left.denominator, right.numerator, right.denominator
    if left.gamma == right.gamma or right.rational is not None:
        return *fields, left.gamma
    if left.rational is not None:
        return *fields, right.gamma
    ratio = left.gamma / right.gamma
    above, below = ratio.numerator, ratio.denominator
    largest = max(
        above * max(len(left.numerator), len(left.denominator)),
        below * max(len(right.numerator), len(right.denominator)),
    )
    if largest > LARGEST_DEGREE:
        raise UsageError("Exponentials of these rates have no common root of reasonable degree: use rates that do.")
    wide = [spread(f, above) for f in fields[:2]] + [spread(f, below) for f in fields[2:]]
    return wide[0], wide[1], wide[2], wide[3], left.gamma / above


def _sum(left: ExponentialQuotient, right: ExponentialQuotient) -> ExponentialQuotient:
    a, b, c, d, gamma = _align(left, right)
    if b == d:
        return ExponentialQuotient(add(a, c), b, gamma)
    return ExponentialQuotient(add(multiply(a, d), multiply(c, b)), multiply(b, d), gamma)


def _product(left: ExponentialQuotient, right: ExponentialQuotient) -> ExponentialQuotient:
    a, b, c, d, gamma = _align(left, right)
    return ExponentialQuotient(multiply(a, c), multiply(b, d), gamma)


def _compare(left: ExponentialQuotient, right: ExponentialQuotient) -> int:
    """Return a whole number with the sign of left − right."""
    a, b, c, d, gamma = _align(left, right)
    return _sign(add(multiply(a, d), scale(multiply(c, b), -1)), gamma) * _sign(b, gamma) * _sign(d, gamma)


def _sign(f: Polynomial, gamma: Fraction) -> int:
    if all(a >= 0 for a in f):
        return int(bool(f))
    return 1 if _value(f, gamma, 1)[0] > 0 else -1


def _magnitude(f: Polynomial, gamma: Fraction, digits: int) -> tuple[int, int, int]:
    lower, upper, bits = _value(f, gamma, digits)
    return (lower, upper, bits) if lower > 0 else (-upper, -lower, bits)


def _value(f: Polynomial, gamma: Fraction, digits: int) -> tuple[int, int, int]:
    """Return lower, upper and bits: lower ≤ v·2^bits ≤ upper, of one sign, v = f(e^γ)·e^(−γ·deg f), f ≠ 0.

    They differ by at most 2^−digits of either. v is not 0, because e^γ is transcendental, so some precision is
    sufficient. As a polynomial in s = e^(−γ) < 1, v has no large terms for any γ.
    """
    bits = digits + 32
    while True:
        lower = upper = 0
        least, most = _exp_bounds(gamma, bits)
        for a in f:
            lower = (lower * (least if lower >= 0 else most) >> bits) + (a << bits)
            upper = (a << bits) - (-upper * (most if upper >= 0 else least) >> bits)
        if (upper - lower) << digits <= max(lower, -upper):
            return lower, upper, bits
        bits *= 2


@lru_cache(maxsize=256)
def _exp_bounds(gamma: Fraction, bits: int) -> Bounds:
    return exp_bounds(gamma, bits=bits)


def _shift(value: int, shift: int) -> int:
    return value << shift if shift > 0 else value


def _text(f: Polynomial, gamma: Fraction) -> str:
    terms = [(a, gamma * i) for i, a in enumerate(f) if a]
    text = ""
    for a, exponent in reversed(terms):
        sign = " - " if a < 0 else " + "
        text += (sign if text else sign.strip(" +")) + _term(abs(a), exponent)
    return text or "0"


def _term(factor: int, exponent: Fraction) -> str:
    if not exponent:
        return str(factor)
    shown = "e" if exponent == 1 else f"e^{exponent}" if exponent.denominator == 1 else f"e^({exponent})"
    return shown if factor == 1 else f"{factor}*{shown}"


def _in_brackets(text: str) -> str:
    return f"({text})" if " " in text or "*" in text else text
