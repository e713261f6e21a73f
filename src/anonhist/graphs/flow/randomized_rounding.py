"""Exact randomized rounding of fractions, and the budget of a mechanism for whole numbers that follows it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric.exponential import exp_bounds
from anonhist.privacy import EpsilonLike, parse_epsilon, parse_whole_number
from anonhist.randomness import RandomSource, SystemSource
from anonhist.randomness.categorical import resolve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.graphs.flow.ratios import Ratios

# Long division by these gives 32 binary digits at a time, in 64 bits.
LARGEST_DENOMINATOR = 2**32
# Decimal digits of a rate, and binary digits to which e^(−γ) is compared.
_DIGITS = 7
_BITS = 1024


def randomized_rounding(values: Ratios, *, source: RandomSource | None = None) -> NDArray[np.int64]:
    """Round each fraction x down or up, independently, so that its mean stays: ``⌊x⌋ + B``, ``P(B = 1) = x − ⌊x⌋``.

    A mechanism for whole lists then applies to the list, at a slightly lower budget (:func:`rounded_epsilon`).

    Parameters
    ----------
    values : Ratios, shape (k,)
        At least 0, with denominators up to 2^32. Private.
    source
        Where the random words come from; the operating system by default.

    Returns
    -------
    ndarray of int64, shape (k,)
        Private. Whole numbers stay the same, and no result exceeds a whole-number bound on the fractions.

    Raises
    ------
    UsageError
        If a fraction is negative, or a denominator is not from 1 to 2^32.

    Guarantees
    ----------
    The distribution is exact. A random word is compared with the first 64 binary digits of each fractional part, and
    further words with further digits as long as they agree. A word is drawn for every fraction, whole or not; another
    is needed with probability 2^−64.

    Examples
    --------
    >>> from anonhist.graphs.flow.ratios import Ratios
    >>> sevens = Ratios(np.full(4000, 7), np.full(4000, 4))
    >>> rounded = randomized_rounding(sevens)
    >>> sorted(set(rounded.tolist())), bool(2900 < np.sum(rounded == 2) < 3100)
    ([1, 2], True)
    """
    if not np.all((values.denominators >= 1) & (values.denominators <= LARGEST_DENOMINATOR)):
        raise UsageError("Fractions can be rounded if their denominators are from 1 to 2^32.")
    if np.any(values.numerators < 0):
        raise UsageError("Fractions can be rounded if they are at least 0.")
    whole, rest = np.divmod(values.numerators, values.denominators)
    thresholds = _binary_digits(rest, values.denominators)
    randomness = source or SystemSource()
    words = randomness.words(rest.size)
    is_up = words < thresholds
    for place in np.flatnonzero((words == thresholds) & (rest > 0)).tolist():
        part = Fraction(int(rest[place]), int(values.denominators[place]))
        is_up[place] = not resolve(int(words[place]), bits=64, thresholds=partial(_floors, part), source=randomness)
    return np.asarray(whole + is_up, dtype=np.int64)


def rounded_epsilon(epsilon: EpsilonLike, distance: int) -> Fraction:
    """Return the budget per unit of ℓ1 that leaves ``epsilon`` after rounding: γ ≤ ln(1 + ε/d).

    Take a mechanism for lists of whole numbers whose probabilities change by a factor of at most e^γ when one number
    changes by 1. Applied to fractions rounded by :func:`randomized_rounding` it is ε-differentially private if
    neighbors' lists of fractions are at most d apart in sorted ℓ1 distance, and ``(e^γ − 1)·d ≤ ε``.

    Parameters
    ----------
    epsilon
        ε > 0, as :func:`~anonhist.privacy.parse_epsilon` reads it.
    distance
        d ≥ 1.

    Returns
    -------
    Fraction
        γ, rounded down to six or seven significant decimal digits. Exact arithmetic ensures the inequality.

    Raises
    ------
    UsageError
        If ε or d is out of range.

    Notes ----- Let f(x) be the probability of some output for the list x. Rounding extends it to a function of
    fractions that agrees with f on whole numbers and is linear in each fraction between whole numbers: (1 − t)·f₀ +
    t·f₁, where f₀ and f₁ are averages of f over lists that differ by 1 at that place, so that f₁/f₀ lies between e^−γ
    and e^γ. Then ``|d/dt log((1 − t)·f₀ + t·f₁)| = |f₁ − f₀|/((1 − t)·f₀ + t·f₁) ≤ max(f₀, f₁)/min(f₀, f₁) − 1 ≤ e^γ −
    1``. Changing one place after the other, log f changes by at most e^γ − 1 per unit of ℓ1 distance; of sorted lists,
    if f does not depend on the order. Little is lost: ln(1 + ε/d) is at least (1 − ε/(2d))·ε/d. Proof note:
    docs/proofs/graphs-flow.md.

    Examples
    --------
    >>> float(rounded_epsilon(1, 16))
    0.06062462
    """
    exact, units = parse_epsilon(epsilon), parse_whole_number(distance, name="distance")
    ratio = exact / units
    estimate = math.log1p(ratio)
    unit = Fraction(10) ** (math.floor(math.log10(estimate)) + 1 - _DIGITS)
    steps = math.floor(Fraction(estimate) / unit) + 1
    while not _is_within(steps * unit, ratio):
        steps -= 1
    return steps * unit


def _is_within(gamma: Fraction, ratio: Fraction) -> bool:
    """Say whether e^γ ≤ 1 + ratio is certain."""
    lower, _ = exp_bounds(gamma, bits=_BITS)
    return lower * (1 + ratio) >= 1 << _BITS


def _floors(part: Fraction, bits: int) -> list[int]:
    return [(part.numerator << bits) // part.denominator]


def _binary_digits(rest: NDArray[np.int64], denominators: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return ⌊2^64·rest/denominator⌋, for rests below their denominators."""
    below, half = denominators.astype(np.uint64), np.uint64(32)
    high, left = np.divmod(rest.astype(np.uint64) << half, below)
    return np.asarray(high << half | (left << half) // below)
