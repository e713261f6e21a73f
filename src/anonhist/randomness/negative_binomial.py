"""Negative binomial numbers of shape 1/h, drawn exactly: the sum of h of them is geometric."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.numeric.exponential import float_rate
from anonhist.randomness.arguments import checked_bound, checked_rate, checked_size
from anonhist.randomness.bernoulli import bernoulli
from anonhist.randomness.geometric import geometric
from anonhist.randomness.source import RandomSource

# Number of proposals at a time.
_CHUNK = 1 << 18
# From here on, an asymptotic series of the ratio of gamma functions is more accurate than a product.
_MANY = 10_000


def negative_binomial(gamma: Fraction, parts: int, size: int, *, source: RandomSource) -> NDArray[np.int64]:
    """Draw negative binomial numbers: ``P(j) = Γ(r + j)/(j!·Γ(r))·(1 − p)^r·p^j``, ``r = 1/parts``, ``p = e^(−γ)``.

    The sum of ``parts`` independent ones is geometric of rate γ.

    Parameters
    ----------
    gamma
        The rate γ, an exact rational (Fraction or int) of at least 2⁻⁴⁰; for small γ the time grows like 1/γ.
    parts
        h, a whole number from 1 to 2⁶³; the shape is 1/h. For 1 the distribution is the geometric one.
    size
        Number of draws, ≥ 0.
    source
        Where the random words come from.

    Returns
    -------
    ndarray of int64, shape (size,)
        Independent draws, ≥ 0.

    Raises
    ------
    UsageError
        If γ is not exact or is too small, parts is out of range, or the size is not a whole number ≥ 0.

    Guarantees
    ----------
    The distribution is exact: floats never decide a draw, and no tail is cut off. The time depends on γ, h, the size
    and the random words.

    Notes
    -----
    A geometric number j is kept with probability ``Π_{i<j} (r + i)/(1 + i)``, so it tosses coins with the
    rational probabilities ``(1 + h·i)/(h·(1 + i))`` until one fails. All open proposals toss their i-th coin together.
    A share ``(1 − p)^(1 − r)`` of them is kept, and a draw takes p/(1 − p) coins, about 1/γ. docs/proofs/sketches.md
    has the proof.

    Examples
    --------
    >>> from anonhist.randomness import SystemSource
    >>> draws = negative_binomial(Fraction(1), 3, 1000, source=SystemSource())
    >>> draws.size, bool((draws >= 0).all())
    (1000, True)
    """
    rate, count, total = checked_rate(gamma), checked_bound(parts, name="parts"), checked_size(size)
    out = np.empty(total, dtype=np.int64)
    # The number of proposals does not affect the draws: they are the first kept ones of a sequence.
    chance = (-math.expm1(-float_rate(rate))) ** (1 - 1 / count)
    filled = 0
    while filled < total:
        proposals = min(_CHUNK, 64 + math.ceil(1.05 * (total - filled) / chance))
        kept = _accept(geometric(rate, proposals, source=source), count, source=source)[: total - filled]
        out[filled : filled + kept.size] = kept
        filled += kept.size
    return out


def negative_binomial_pmf(gamma: Fraction, parts: int, k: ArrayLike) -> NDArray[np.float64]:
    """Return ``Γ(r + k)/(k!·Γ(r))·(1 − p)^r·p^k``, r = 1/parts, for whole numbers k, and 0 for k < 0.

    Examples
    --------
    >>> negative_binomial_pmf(Fraction(1), 2, [-1, 0, 1]).round(4).tolist()
    [0.0, 0.7951, 0.1462]
    """
    from scipy.special import gamma as gamma_function
    from scipy.special import poch

    rate, shape = float_rate(checked_rate(gamma)), 1 / checked_bound(parts, name="parts")
    at = np.asarray(k)
    reached = np.maximum(at, 0)
    steps = np.arange(min(int(reached.max(initial=0)), _MANY))
    products = np.concatenate(([1.0], np.cumprod((shape + steps) / (1.0 + steps))))
    series = poch(np.maximum(reached, _MANY) + 1.0, shape - 1) / gamma_function(shape)
    weights = np.where(reached < _MANY, products[np.minimum(reached, products.size - 1)], series)
    return np.where(at >= 0, (-math.expm1(-rate)) ** shape * np.exp(-rate * reached) * weights, 0.0)


def _accept(proposed: NDArray[np.int64], parts: int, *, source: RandomSource) -> NDArray[np.int64]:
    """Return the proposals that win all their coins, in their order."""
    if parts == 1:
        return proposed
    wins = np.ones(proposed.size, dtype=np.bool_)
    open_ones = np.flatnonzero(proposed)
    step = 0
    while open_ones.size:
        coin = bernoulli(Fraction(1 + parts * step, parts * (1 + step)), open_ones.size, source=source)
        wins[open_ones[~coin]] = False
        step += 1
        open_ones = open_ones[coin]
        open_ones = open_ones[proposed[open_ones] > step]
    return proposed[wins]
