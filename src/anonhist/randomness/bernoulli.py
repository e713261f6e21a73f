"""Bernoulli bits, drawn exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.numeric.exponential import certified_floors, exp_bounds, float_rate
from anonhist.numeric.exponential_quotient import ExponentialQuotient
from anonhist.randomness.arguments import checked_exponent, checked_probability, checked_size
from anonhist.randomness.inversion import CHUNK, SLOT_BITS, extend_slots, fresh_slots, resolve
from anonhist.randomness.source import RandomSource

if TYPE_CHECKING:
    from anonhist.randomness.inversion import Thresholds


def bernoulli(probability: Fraction | ExponentialQuotient, size: int, *, source: RandomSource) -> NDArray[np.bool_]:
    """Draw bits that are True with an exact probability.

    Parameters
    ----------
    probability
        From 0 to 1, exact: a rational (Fraction or int) or an ExponentialQuotient such as e/(e + 3).
    size
        Number of draws, ≥ 0.
    source
        Where the random words come from.

    Returns
    -------
    ndarray of bool, shape (size,)

    Raises
    ------
    UsageError
        If the probability is not exact or not from 0 to 1, or the size is not a whole number ≥ 0.

    Guarantees
    ----------
    ``P(True) = probability``, exactly. Sixteen random bits decide a draw, except with probability 2⁻¹⁶; the time
    depends on the random words. Probabilities 0 and 1 use no words.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.randomness import SystemSource
    >>> bernoulli(Fraction(1), 3, source=SystemSource()).tolist()
    [True, True, True]
    """
    exact = checked_probability(probability)
    if exact in (0, 1):
        return np.full(checked_size(size), bool(exact))
    return _below(lambda bits: [floor_of(exact, bits=bits)], size, source=source)


def bernoulli_exp(gamma: Fraction, size: int, *, source: RandomSource) -> NDArray[np.bool_]:
    """Draw bits that are True with probability ``e^(−γ)``.

    Parameters
    ----------
    gamma
        An exact rational (Fraction or int) of at least 0.
    size
        Number of draws, ≥ 0.
    source
        Where the random words come from.

    Returns
    -------
    ndarray of bool, shape (size,)

    Raises
    ------
    UsageError
        If γ is not exact or is negative, or the size is not a whole number ≥ 0.

    Guarantees
    ----------
    ``P(True) = e^(−γ)``, exactly: random bits are compared with the binary expansion of e^(−γ), certified to as many
    digits as the comparison needs. The time depends on the random words.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.randomness import SystemSource
    >>> bool(bernoulli_exp(Fraction(100), 1000, source=SystemSource()).any())
    False
    """
    exact = checked_exponent(gamma)
    if exact == 0:
        return np.full(checked_size(size), fill_value=True)
    return _below(
        lambda bits: certified_floors(lambda precision: [exp_bounds(exact, bits=precision)], bits=bits),
        size,
        source=source,
    )


def bernoulli_pmf(probability: Fraction | ExponentialQuotient, k: ArrayLike) -> NDArray[np.float64]:
    """Return the probability of each k: 1 or True, 0 or False; 0 for anything else.

    Examples
    --------
    >>> from fractions import Fraction
    >>> bernoulli_pmf(Fraction(1, 4), [0, 1, 2]).tolist()
    [0.75, 0.25, 0.0]
    """
    exact = checked_probability(probability)
    return _two_point_pmf(float(1 - exact), float(exact), k)


def bernoulli_exp_pmf(gamma: Fraction, k: ArrayLike) -> NDArray[np.float64]:
    """Return the probability of each k: ``e^(−γ)`` for 1 or True, ``1 − e^(−γ)`` for 0 or False, else 0.

    Examples
    --------
    >>> from fractions import Fraction
    >>> bernoulli_exp_pmf(Fraction(1), [0, 1]).round(4).tolist()
    [0.6321, 0.3679]
    """
    rate = float_rate(checked_exponent(gamma))
    return _two_point_pmf(-math.expm1(-rate), math.exp(-rate), k)


def floor_of(probability: Fraction | ExponentialQuotient, *, bits: int) -> int:
    """Return ⌊p·2^bits⌋ for 0 < p < 1."""
    if isinstance(probability, Fraction):
        return (probability.numerator << bits) // probability.denominator
    return certified_floors(lambda precision: [probability.bounds(precision)], bits=bits)[0]


def _two_point_pmf(failure: float, success: float, k: ArrayLike) -> NDArray[np.float64]:
    at = np.asarray(k).astype(np.int64)
    return np.where(at == 1, success, np.where(at == 0, failure, 0.0))


def _below(thresholds: Thresholds, size: int, *, source: RandomSource) -> NDArray[np.bool_]:
    """Return which of ``size`` fresh uniform numbers are below the single threshold."""
    count = checked_size(size)
    out = np.empty(count, dtype=np.bool_)
    threshold = thresholds(64)[0]
    slot = threshold >> (64 - SLOT_BITS)
    for start in range(0, count, CHUNK):
        part = out[start : start + CHUNK]
        slots = fresh_slots(part.size, source=source)
        np.less(slots, slot, out=part)
        undecided = np.flatnonzero(slots == slot)
        if undecided.size:
            prefix = extend_slots(slots[undecided], source=source)
            below = prefix < threshold
            for i in np.flatnonzero(prefix == threshold).tolist():
                below[i] = not resolve(int(prefix[i]), bits=64, thresholds=thresholds, source=source)
            part[undecided] = below
    return out
