"""Checks of the samplers' arguments."""

from __future__ import annotations

import operator
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Rational

from anonhist.errors import UsageError
from anonhist.numeric.exponential_quotient import ExponentialQuotient

# Below this rate a draw could come near the largest int64; no published noise is that wide.
SMALLEST_GAMMA = Fraction(1, 2**40)
# Whole numbers below this fit in int64.
LARGEST_BOUND = 1 << 63


def checked_size(size: object, *, name: str = "size") -> int:
    """Return a number of draws as an int; refuse anything but a whole number of at least 0."""
    try:
        whole = operator.index(size)  # type: ignore[arg-type]  # refusing what has no __index__ is the purpose
    except TypeError:
        whole = -1
    if whole < 0 or isinstance(size, bool):
        raise UsageError(f"`{name}` must be a whole number of at least 0, not {size!r}.")
    return whole


def checked_rate(gamma: object) -> Fraction:
    """Return the rate of a geometric distribution: an exact rational of at least 2⁻⁴⁰."""
    exact = _exact(gamma, name="gamma")
    if exact < SMALLEST_GAMMA:
        raise UsageError(f"`gamma` must be at least 2^-40 (about 9.1e-13), not {gamma}.")
    return exact


def checked_exponent(gamma: object) -> Fraction:
    """Return γ of exp(−γ): an exact rational of at least 0."""
    exact = _exact(gamma, name="gamma")
    if exact < 0:
        raise UsageError(f"`gamma` must be at least 0, not {gamma}.")
    return exact


def checked_bound(bound: object, *, name: str = "bound") -> int:
    """Return a whole number from 1 to 2⁶³."""
    whole = int(bound) if isinstance(bound, Integral) and not isinstance(bound, bool) else 0
    if not 1 <= whole <= LARGEST_BOUND:
        raise UsageError(f"`{name}` must be a whole number from 1 to 2^63, not {bound!r:.80}.")
    return whole


def checked_probability(probability: object) -> Fraction | ExponentialQuotient:
    """Return an exact number in [0, 1]: a Fraction, or an ExponentialQuotient if it is irrational."""
    if isinstance(probability, ExponentialQuotient) and probability.rational is None:
        if not _is_inside(probability):
            raise UsageError(f"`probability` must be between 0 and 1, not {probability}.")
        return probability
    rational = probability.rational if isinstance(probability, ExponentialQuotient) else probability
    exact = _exact(rational, name="probability")
    if not 0 <= exact <= 1:
        raise UsageError(f"`probability` must be between 0 and 1, not {probability}.")
    return exact


@lru_cache(maxsize=256)
def _is_inside(probability: ExponentialQuotient) -> bool:
    """Return whether a number lies between 0 and 1; cached, as samplers draw from one distribution in many parts."""
    return 0 < probability < 1


def _exact(value: object, *, name: str) -> Fraction:
    # Floats are refused: the caller must say which rational is meant.
    if isinstance(value, bool) or not isinstance(value, Rational):
        message = f"`{name}` must be exact, a Fraction or an int, not {value!r}; write Fraction('0.1') for one tenth."
        raise UsageError(message)
    return Fraction(int(value.numerator), int(value.denominator))
