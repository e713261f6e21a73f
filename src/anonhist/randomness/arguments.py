"""What the samplers accept: checked once, at the door."""

from __future__ import annotations

import operator
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Rational

from anonhist.errors import UsageError
from anonhist.numeric.exponential_quotient import ExponentialQuotient

# Below this rate a draw would come near the largest int64; no noise anybody would publish is that wide.
SMALLEST_GAMMA = Fraction(1, 2**40)
# Whole numbers below this are those of int64.
LARGEST_BOUND = 1 << 63


def checked_size(size: object, *, name: str = "size") -> int:
    """Return a number of draws as an int, or refuse what is not a whole number of at least 0."""
    try:
        whole = operator.index(size)  # type: ignore[arg-type]  # refusing what has no __index__ is the purpose
    except TypeError:
        whole = -1
    if whole < 0 or isinstance(size, bool):
        message = f"`{name}` must be a whole number of at least 0, not {size!r}."
        raise UsageError(message)
    return whole


def checked_rate(gamma: object) -> Fraction:
    """Return the rate of a geometric distribution: an exact rational of at least 2^−40."""
    exact = _exact(gamma, name="gamma")
    if exact < SMALLEST_GAMMA:
        message = f"`gamma` must be at least 2^-40 (about 9.1e-13), not {gamma}."
        raise UsageError(message)
    return exact


def checked_exponent(gamma: object) -> Fraction:
    """Return γ of exp(−γ): an exact rational of at least 0."""
    exact = _exact(gamma, name="gamma")
    if exact < 0:
        message = f"`gamma` must be at least 0, not {gamma}."
        raise UsageError(message)
    return exact


def checked_bound(bound: object) -> int:
    """Return a whole number from 1 to 2^63."""
    whole = int(bound) if isinstance(bound, Integral) and not isinstance(bound, bool) else 0
    if not 1 <= whole <= LARGEST_BOUND:
        message = f"`bound` must be a whole number from 1 to 2^63, not {bound!r}."
        raise UsageError(message)
    return whole


def checked_probability(probability: object) -> Fraction | ExponentialQuotient:
    """Return an exact number between 0 and 1, both included: irrational only as an ExponentialQuotient."""
    if isinstance(probability, ExponentialQuotient) and probability.rational is None:
        if not _is_inside(probability):
            message = f"`probability` must be between 0 and 1, not {probability}."
            raise UsageError(message)
        return probability
    rational = probability.rational if isinstance(probability, ExponentialQuotient) else probability
    exact = _exact(rational, name="probability")
    if not 0 <= exact <= 1:
        message = f"`probability` must be between 0 and 1, not {probability}."
        raise UsageError(message)
    return exact


@lru_cache(maxsize=256)
def _is_inside(probability: ExponentialQuotient) -> bool:
    """Say whether a number lies between 0 and 1; cached, as samplers draw from one distribution in many parts."""
    return 0 < probability < 1


def _exact(value: object, *, name: str) -> Fraction:
    # A float is refused: which rational was meant is for the caller to say.
    if isinstance(value, bool) or not isinstance(value, Rational):
        message = f"`{name}` must be exact, a Fraction or an int, not {value!r}; write Fraction('0.1') for one tenth."
        raise UsageError(message)
    return Fraction(int(value.numerator), int(value.denominator))
