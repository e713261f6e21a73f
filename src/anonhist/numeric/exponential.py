"""Certified bounds of e^(−γ), as whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# (lower, upper) around a number x·2^bits: lower ≤ x·2^bits ≤ upper.
Bounds = tuple[int, int]

# From this rate on, every e^(−γk), k ≥ 1, underflows to zero, so pmfs use it for all larger ones.
LARGEST_FLOAT_RATE = Fraction(1000)


def exp_bounds(gamma: Fraction, *, bits: int) -> Bounds:
    """Return whole numbers with ``lower ≤ e^(−γ)·2^bits ≤ upper``, γ ≥ 0, a few units apart: integer arithmetic only.

    ``x = γ/2^h ≤ 2^−8``; the Taylor series of e^x is summed with every term rounded down. With x ≤ 1 a term is less
    than 2 too small, and when the first term rounds to 0 all that follow add up to less than 4; so ``n`` terms are less
    than ``2n + 4`` short. Then the reciprocal and ``h`` squarings, each rounded outwards.
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
        lower, upper = multiply((lower, upper), (lower, upper), bits=precision)
    return lower >> guard, _up(upper, 1 << guard)


def powers(gamma: Fraction, *, count: int, bits: int) -> list[Bounds]:
    """Return bounds of ``e^(−γk)``, k = 0..count, scaled by 2^bits."""
    ratio = exp_bounds(gamma, bits=bits)
    reached = [(1 << bits, 1 << bits)]
    for _ in range(count):
        reached.append(multiply(reached[-1], ratio, bits=bits))
    return reached


def multiply(left: Bounds, right: Bounds, *, bits: int) -> Bounds:
    """Return bounds of x·y from bounds of x ≥ 0 and y ≥ 0, all scaled by 2^bits."""
    return left[0] * right[0] >> bits, -(-left[1] * right[1] >> bits)


def divide(left: Bounds, right: Bounds, *, bits: int) -> Bounds:
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
