"""Sums of binomial variables: their tails, and the shares that are compatible with a sum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anonhist.frozen import frozen
from anonhist.numeric.arrays import Floats, Ints

# Saddlepoints are searched for within about 40 standard deviations, to 1e-10 of one.
_HALVINGS = 40
# Saddlepoints extend only to where one outcome is e^15 times as likely as all others: no sum is that large, and beyond
# it the kinds of people no longer differ.
_FARTHEST = 15.0
# If sums are nearly normal, a saddlepoint is the deviation divided by the variance.
_MOST_DEVIATIONS = 40.0
# Tails this close to the mean are about one half; the formula would divide zero by zero.
_NEAR = 0.01
_ROOT_OF_TWO_PI = float(np.sqrt(2 * np.pi))

Pair = tuple[float, float]


@dataclass(frozen=True)
class SignedSums:
    """``T``, the sum over n people of +up, −down or 0; shares f, g − f and 1 − g of them belong to three kinds.

    ``own``, ``near`` and ``far`` are the probabilities of +up and of −down for the three kinds; those of the first kind
    have the largest probability of +up. ``up`` and ``down`` are whole, at least 1, without a common divisor.

    Tails come from the saddlepoint formula of Lugannani and Rice for whole numbers, as for :class:`TwoBinomials`.
    The cumulant function is linear in f, so each saddlepoint belongs to one share, and bisection over saddlepoints
    finds the share at which a tail has its level.
    """

    users: int
    up: int
    down: int
    own: Pair
    near: Pair
    far: Pair

    def compatible_shares(self, sums: Ints, together: Floats, tail: float) -> Floats:
        """Return the least and the largest share f that a sum T does not reject, each end at a level of ``tail`` < 1/2.

        ``together`` is g for each sum, treated as known.
        """
        means = sums / self.users
        return np.clip(np.stack([self._end(means, together, tail, sign) for sign in (1.0, -1.0)], axis=1), 0, 1)

    def _end(self, means: Floats, together: Floats, tail: float, sign: float) -> Floats:
        """Return the end below the estimate, or above it if the sign is −1."""
        rarest = min(*self.own, *self.near, *self.far)
        low = np.zeros(means.size)
        share = np.clip(self._at(low, means, together)[0], 0, 1)
        beside = np.maximum(together - share, 0)
        own, near, far = (self._cumulants(pair, low)[2] for pair in (self.own, self.near, self.far))
        spread = np.sqrt(self.users * (share * own + beside * near + np.maximum(1 - share - beside, 0) * far))
        farthest = (_FARTHEST - math.log(rarest)) / max(self.up, self.down)
        high = np.minimum(farthest, _MOST_DEVIATIONS / spread)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            shares, tails = self._at(sign * middle, means, together)
            is_inside = (tails >= tail) & ((shares >= 0) if sign > 0 else (shares <= 1))
            low, high = np.where(is_inside, middle, low), np.where(is_inside, high, middle)
        # If no tail limits them, shares end at exactly 0 or 1, which the search only approaches.
        inside, outside = self._at(sign * low, means, together)[0], self._at(sign * high, means, together)[0]
        return np.where((outside < 0) | (outside > 1), outside, inside)

    def _at(self, points: Floats, means: Floats, together: Floats) -> tuple[Floats, Floats]:
        """Return the shares with these saddlepoints, and the tails of the sums with such shares."""
        from scipy.special import ndtr

        own, near, far = (self._cumulants(pair, points) for pair in (self.own, self.near, self.far))
        with np.errstate(all="ignore"):
            share = (means - together * near[1] - (1 - together) * far[1]) / (own[1] - near[1])
            # Beyond g, nobody is of the second kind.
            alone = np.where(own[1] > far[1], (means - far[1]) / (own[1] - far[1]), np.inf)
            share = np.where(share <= together, share, np.maximum(alone, together))
            beside = np.maximum(together - share, 0)
            cumulant, _, variance = (
                self.users * (share * one + beside * two + (1 - share - beside) * three)
                for one, two, three in zip(own, near, far, strict=True)
            )
            signed = np.sqrt(2 * np.maximum(points * means * self.users - cumulant, 0))
            step = -np.expm1(-np.abs(points)) * np.sqrt(variance)
            tails = ndtr(-signed) + np.exp(-(signed**2) / 2) / _ROOT_OF_TWO_PI * (1 / step - 1 / signed)
        # NaN: the sum is out of range.
        return share, np.where(signed <= _NEAR, 1.0, np.nan_to_num(tails))

    def _cumulants(self, pair: Pair, points: Floats) -> tuple[Floats, ...]:
        """Return the cumulant function of one person at these points, and its first two derivatives."""
        plus, minus = pair[0] * np.exp(self.up * points), pair[1] * np.exp(-self.down * points)
        total = np.log1p(pair[0] * np.expm1(self.up * points) + pair[1] * np.expm1(-self.down * points))
        scale = np.exp(-total)
        first = (self.up * plus - self.down * minus) * scale
        return total, first, (self.up**2 * plus + self.down**2 * minus) * scale - first**2


# [0, 1] is bisected until shares are known to 2⁻⁴⁰, far below the accuracy of the tails; the outer end is returned.
_DIGITS = 40
# For few counts, NumPy's call overhead dominates the time: this many tails are computed at once, in fewer calls.
_TAILS_AT_ONCE = 512


@frozen
class TwoBinomials:
    """``C = Bin(f·n, p) + Bin((1 − f)·n, q)`` with q < p: n people, a share f of whom count with probability p.

    1 − p and 1 − q are given separately because rounding would lose them if p or q is close to 1.

    Tails come from the saddlepoint formula for whole numbers (Lugannani and Rice 1980; Daniels 1987, §6). With s = e^t
    at the saddlepoint, ``K'(t) = c`` is a quadratic equation, so no iteration is needed. Errors are between −11% and
    +12% of exact tails between 1e-11 and 0.06 (the tests compute these), except that the tail of a c close to the
    number of all people who can count may be twice too large, which makes intervals wider. The share need not be a
    whole number of people.
    """

    users: int
    true: float
    false: float
    true_missed: float
    false_missed: float

    def upper_tail(self, counts: Floats, shares: Floats) -> Floats:
        """Return ``P(C ≥ c)`` for each count c and share f; 1 if c is not above the mean."""
        from scipy.special import ndtr

        n, p, q = float(self.users), self.true, self.false
        own = n * shares
        rest = n - own
        above = counts - (own * p + rest * q)
        # With s = 1 + d: p·q·(n − c)·d² + b·d − (c − mean) = 0; d is the positive root.
        square = p * q * (n - counts)
        linear = own * p + rest * q + n * p * q - counts * (p + q)
        with np.errstate(all="ignore"):
            root = np.sqrt(linear**2 + 4 * square * above)
            shift = np.where(linear >= 0, 2 * above / (linear + root), (root - linear) / (2 * square))
            exponent = counts * np.log1p(shift) - own * np.log1p(p * shift) - rest * np.log1p(q * shift)
            signed = np.sqrt(2 * np.maximum(exponent, 0))
            variance = own * p * self.true_missed / (1 + p * shift) ** 2
            variance += rest * q * self.false_missed / (1 + q * shift) ** 2
            step = shift * np.sqrt(variance / (1 + shift))
            tails = ndtr(-signed) + np.exp(-(signed**2) / 2) / _ROOT_OF_TWO_PI * (1 / step - 1 / signed)
            # c = n: there is no saddlepoint, and none is needed.
            tails = np.where(counts >= n, np.exp(own * np.log(p) + np.where(rest > 0, rest * np.log(q), 0)), tails)
        # NaN: there are too few people who could count.
        tails = np.where(np.isnan(tails), 0.0, np.minimum(np.maximum(tails, 0), 1))
        return np.where((above > 0) & ~(signed < _NEAR), tails, 1.0)

    def compatible_shares(self, counts: Ints, tail: float) -> Floats:
        """Return the least f with ``P(C ≥ c) ≥ tail`` and the largest with ``P(C ≤ c) ≥ tail``, for each count c.

        Both are 0 if c is improbably small even for f = 0, and 1 if it is improbably large even for f = 1.
        """
        met, places = np.unique(counts, return_inverse=True)
        mirrored = TwoBinomials(self.users, self.false_missed, self.true_missed, self.false, self.true)
        low = self._least(met.astype(np.float64), tail)
        high = 1 - mirrored._least((self.users - met).astype(np.float64), tail)
        return np.stack((low, high), axis=1)[places]

    def _least(self, counts: Floats, tail: float) -> Floats:
        """Return the least share with ``P(C ≥ c) ≥ tail``: tails grow with the share."""
        low, high = np.zeros(counts.size), np.ones(counts.size)
        low = np.where(self.upper_tail(counts, high) < tail, 1.0, low)
        high = np.where(self.upper_tail(counts, np.zeros(counts.size)) >= tail, 0.0, high)
        pieces = max(2, _TAILS_AT_ONCE // max(1, counts.size))
        inside = np.arange(1, pieces) / pieces
        for _ in range(math.ceil(_DIGITS / math.log2(pieces))):
            width = high - low
            is_rejected = self.upper_tail(counts[:, None], low[:, None] + width[:, None] * inside) < tail
            rejected = is_rejected.sum(axis=1)
            low, high = low + width * (rejected / pieces), low + width * ((rejected + 1) / pieces)
        return np.asarray(low)
