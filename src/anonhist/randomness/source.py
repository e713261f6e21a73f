"""The source of random words, and checks of samplers' arguments."""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Rational
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.numeric.exponential import ExponentialQuotient

# Below this rate a draw could come near the largest int64; no published noise is that wide.
SMALLEST_GAMMA = Fraction(1, 2**40)
# Whole numbers below this fit in int64.
LARGEST_BOUND = 1 << 63


def checked_size(size: object, *, name: str = "size") -> int:
    """Return a number of draws as an int; refuse everything except a whole number of at least 0."""
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
    """Return whether a number lies between 0 and 1; cached, because samplers draw one distribution in many parts."""
    return 0 < probability < 1


def _exact(value: object, *, name: str) -> Fraction:
    # Floats are refused: the caller must say which rational is meant.
    if isinstance(value, bool) or not isinstance(value, Rational):
        message = f"`{name}` must be exact, a Fraction or an int, not {value!r}; write Fraction('0.1') for one tenth."
        raise UsageError(message)
    return Fraction(int(value.numerator), int(value.denominator))


class RandomSource(Protocol):
    """A source of independent uniform 64-bit words: all that a sampler needs.

    An implementation used for privacy must be cryptographically secure and must never return the same word twice: not
    to two concurrent threads, and not in two processes after a fork.
    """

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` ≥ 0 fresh words, an array of uint64, shape (count,), uniform on 0..2^64 − 1."""
        ...  # pragma: no cover - a protocol has no body


@dataclass(frozen=True)
class SystemSource:
    """The entropy of the operating system: the source of privacy noise.

    Every word comes from ``os.urandom`` in the call that requests it. Nothing is kept between calls, so threads and
    forked processes share nothing, and a snapshot or memory dump contains no unused words. A call for one word takes
    about a microsecond, so a buffer would gain little.
    """

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` ≥ 0 fresh words, read-only; byte order does not matter to a uniform word."""
        return np.frombuffer(os.urandom(8 * checked_size(count, name="count")), dtype=np.uint64)
