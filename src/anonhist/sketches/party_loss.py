"""The exact privacy loss toward a party that knows its own share of the noise, under the remaining shares."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

import numpy as np

from anonhist.numeric.exponential import float_rate

# Beyond this rate the simple bound is exact to seven digits.
_SIMPLE_FROM = 8
# The trapezoidal rule: its errors, and those of cutting it off, are below 10^-15 (docs/proofs/sketches.md, section 5).
_STEP, _REACH = 0.125, 40.0
_MARGIN = 1e-9
_DIGITS = 4


def party_loss(gamma: Fraction, *, remaining: int, of: int) -> Fraction:
    """Return the cost of a step of one counter if some shares of its noise are missing, rounded up.

    Shares have the shape 1/``of``, and ``remaining`` of them are left. With s = ``remaining``/``of``, p = e^(−γ) and
    Z the difference of two negative binomial numbers of shape s::

        max over k of |ln P(Z = k)/P(Z = k + 1)| = ln P(Z = 0)/P(Z = 1)  for s < 1,  γ for s ≥ 1,

    by docs/proofs/sketches.md, section 5. For s < 1 it is more than γ, and less than γ + ln(1/s).

    Parameters
    ----------
    gamma
        The rate γ of the whole noise, > 0.
    remaining, of
        How many shares are left, at least 1, and how many make the whole.

    Returns
    -------
    Fraction
        γ where nothing is missing; else four digits that are not below the exact value.

    Examples
    --------
    >>> [float(party_loss(Fraction(rate), remaining=1, of=2)) for rate in ("0.01", "0.1", "1")]
    [0.3555, 0.606, 1.676]
    """
    if remaining >= of:
        return gamma
    shape = remaining / of
    if gamma > _SIMPLE_FROM:
        return gamma + _round_up(math.log1p((of - remaining) / remaining))
    w = np.arange(math.log(math.tanh(float_rate(gamma) / 2)) - _REACH, _REACH, _STEP)
    # P(Z = k) is the mean of (1 − p)^2s·|1 − p·e^(it)|^(−2s)·cos(kt); tan(t/2) = e^w, and δ = tanh(γ/2).
    x, delta = np.exp(2 * w), math.tanh(float_rate(gamma) / 2)
    weights = (delta**2 + x) ** -shape * (1 + x) ** (shape - 1) * np.exp(w)
    # 1 − P(Z = 1)/P(Z = 0), in which nothing cancels: the mean of 1 − cos t = 2x/(1 + x).
    return _round_up(-math.log1p(-float(np.sum(weights * (2 * x / (1 + x))) / np.sum(weights))))


def _round_up(loss: float) -> Fraction:
    return Fraction(Context(prec=_DIGITS, rounding=ROUND_CEILING).create_decimal(Decimal(loss * (1 + _MARGIN))))
