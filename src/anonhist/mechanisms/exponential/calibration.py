"""Calibration of the weighted exponential family on Young's lattice to ε."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.numeric.arrays import Floats
from anonhist.numeric.exponential import ExponentialQuotient
from anonhist.privacy import short_decimal

# The mechanism's public domain: profiles whose Durfee size is at most this, which always holds for n ≤ 2⁴⁰.
MAX_DURFEE_SIZE = 2**20
# Probability that an exact draw would leave the band, summed over a whole draw: the δ of a release.
BAND_DELTA = Fraction(1, 2**70)
# Below this, rounding would take more than 2% of the budget, and matrices more memory than most machines have.
SMALLEST_EPSILON = Fraction(1, 1000)
# Levels and transitions with a smaller share may underflow: together, they are below 2⁻⁸⁰.
NEGLIGIBLE = Fraction(1, 2**180)
# The binary orders by which weights may grow from level to level: on either side of a single block for the whole band,
# or within one of several blocks, without and with flags (docs/proofs/partition.md §5).
_BAND_ORDERS, _BLOCK_ORDERS, _FLAGGED_BLOCK_ORDERS = 244, 380, 338
# The binary orders that z > 0 may add at each level, and the smallest c for which z > 0 provably stays in range.
_FLAG_ORDERS = 12
SMALLEST_WEIGHTED_C = 0.02
_SMALLEST_C = 0.00049
_SMALLEST_WEIGHT, _FARTHEST_WEIGHT = 2.0**-20, 0.25 - 2.0**-22
# Beyond this, δ would no longer be negligible: up to here it is below 1e-12.
LARGEST_EPSILON = 20

_WEIGHTED_FROM = Fraction(9, 20)
# Bisection and the formula have errors of a few ulps; the result is reduced by far more than that.
_SAFETY = 1e-12


@frozen
class FamilyParameters:
    """One member of the weighted exponential family: ``P(μ|λ) ∝ exp(−c·‖λ−μ‖₁) · h_z(μ)``.

    Attributes
    ----------
    c
        Decay for a distance of one, > 0: a float, read as an exact dyadic number.
    z
        Weight of a flippable corner, 0 ≤ z ≤ min(1/4, q/(1+q)) with q = e^{−c}.

    Raises
    ------
    UsageError
        If c or z is out of range.

    Examples
    --------
    >>> round(privacy_loss(FamilyParameters(c=0.5, z=0.1)), 3)
    0.874
    """

    c: float
    z: float

    def __post_init__(self) -> None:
        q = math.exp(-self.c) if self.c > 0 else 1.0
        if not (self.c > 0 and math.isfinite(self.c)):
            raise UsageError(f"c must be a finite number greater than zero, not {self.c!r}.")
        if not 0 <= self.z <= min(0.25, q / (1 + q) * (1 + 1e-15)):
            message = f"z must lie between 0 and min(1/4, q/(1+q)) with q = exp(-c), not {self.z!r} at c = {self.c!r}."
            raise UsageError(message)


def privacy_loss(parameters: FamilyParameters) -> float:
    """Return the exact privacy loss of a member of the family, for a distance of one.

    ``ε(c, z) = c + ln(1 + (1/q − 1)·(1 − (1 + qθ)/Z∅))`` with ``θ = 1 − z(1+q)/q`` and
    ``Z∅ = Π_{k≥1} (1 − (1−θ)q^k)/(1 − q^k)``: attained by the empty profile and the profile of one item.

    Examples
    --------
    >>> round(privacy_loss(FamilyParameters(c=1.0, z=0.0)), 4)
    1.427
    """
    c, z = parameters.c, parameters.z
    q = math.exp(-c)
    theta = max(0.0, 1 - z * (1 + q) / q)
    powers = np.exp(-c * np.arange(1, math.ceil(60 / c) + 2))
    log_empty = float(np.sum(np.log1p(-(1 - theta) * powers) - np.log1p(-powers)))
    return c + math.log1p(math.expm1(c) * (1 - (1 + q * theta) * math.exp(-log_empty)))


@lru_cache(maxsize=256)
def calibrate(epsilon: Fraction, z: float | None = None, *, chains: int = 1) -> FamilyParameters:
    """Choose the member of the family from ε/Δ alone.

    z = 0 below 0.45; z = 1/4 from there to ln 3; above, z = q/(1+q), where c may be the whole budget. ``c`` is the
    largest for which the loss, the rounding of floating point included (:func:`rounding_loss`), stays at or below
    ``epsilon``.

    Parameters
    ----------
    epsilon
        ε/Δ, the budget for a distance of one.
    z
        Another z, from 0 to 1/4; if the largest c requires less, q/(1+q) is used.
    chains
        Number of chains for which rounding is charged.

    Raises
    ------
    UsageError
        If ``epsilon`` is below 1/1000, which the mechanism does not support, or z is out of range.

    Examples
    --------
    >>> round(calibrate(Fraction(1)).c, 3), round(calibrate(Fraction(1), z=0.0).c, 3)
    (0.893, 0.569)
    """
    if epsilon < SMALLEST_EPSILON:
        raise UsageError(
            f"The partition mechanism needs an ε of at least 0.001 per item, not {short_decimal(epsilon)}; "
            "raise `epsilon`, protect fewer items per user, or choose the Frobenius mechanism."
        )
    if z is not None and not 0 <= z <= 0.25:
        raise UsageError(f"z must lie between 0 and 1/4, not {z!r}: above 1/4 some weights would be negative.")
    weight = z if z is not None else (0.25 if epsilon >= _WEIGHTED_FROM else 0.0)
    target = float(epsilon) * (1 - _SAFETY)
    geometric = target - chains * rounding_loss(FamilyParameters(1.0, 0.25))
    q = math.exp(-geometric)
    if weight > 0 and q / (1 + q) <= weight * (1 - _SAFETY):
        return FamilyParameters(geometric, q / (1 + q))
    low, high = target * 0.25, target
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if affordable(middle, weight, target, chains=chains):
            low = middle
        else:
            high = middle
    return FamilyParameters(low * (1 - _SAFETY), weight)


def is_drawn_exactly(epsilon: Fraction) -> bool:
    """Whether ε/Δ is above ln 3, so that q < 1/3 and the member z = q/(1+q) is drawn without rounding."""
    return ExponentialQuotient.exponential(epsilon) > 3


def exact_member(epsilon: Fraction) -> FamilyParameters:
    """Return the member z = q/(1+q), whose loss is c = ε/Δ, as floats."""
    c = float(epsilon)
    return FamilyParameters(c, 1 / (math.exp(c) + 1))


def affordable(c: float, z: float, epsilon: float, *, chains: int = 1) -> bool:
    """Return whether a member is admissible and its loss, rounding included, is at most ``epsilon``."""
    q = math.exp(-c)
    if z > q / (1 + q):
        return False
    member = FamilyParameters(c, z)
    loss = privacy_loss(member)
    # The loss without rounding is cheaper to compute, and may already be too large.
    return loss <= epsilon and loss + chains * rounding_loss(member) <= epsilon


def check_member(member: object, epsilon: Fraction) -> None:
    """Refuse a member of the family that ε/Δ does not cover, or that the code does not support.

    Its loss, rounding included, must be at most ``epsilon``. For z > 0 it is refused, too, if c is below 0.02, or so
    small that the band is kept in several blocks and z is within 2⁻²⁰ of 0 or within 2⁻²² of 1/4, but neither.
    """
    if not isinstance(member, FamilyParameters):
        raise UsageError(f"member must be FamilyParameters(c, z), not {member!r}.")
    told = f"c = {member.c!r} with z = {member.z!r}"
    if member.c < _SMALLEST_C:
        raise UsageError(f"{told} is out of range: c must be at least {_SMALLEST_C}, about what ε = 0.001 allows.")
    if member.z > 0 and member.c < SMALLEST_WEIGHTED_C:
        raise UsageError(f"{told} is out of range: below c = {SMALLEST_WEIGHTED_C}, z must be 0.")
    # As in calibrate, a margin for the errors of the formula and of ε as a float is left unspent.
    if not affordable(member.c, member.z, float(epsilon) * (1 - _SAFETY)):
        sharpest = calibrate(epsilon)
        raise UsageError(
            f"{told} costs more than ε/Δ = {short_decimal(epsilon)}; calibrate gives the largest c for a z "
            f"(by default c = {sharpest.c:.6g}, z = {sharpest.z:.6g})."
        )
    is_inside = _SMALLEST_WEIGHT <= member.z <= _FARTHEST_WEIGHT
    if member.z not in (0, 0.25) and not is_inside and band_shape(member)[1] > 1:
        raise UsageError(f"{told} is out of range: for such a small c, set z to exactly 0 or 1/4.")


def band_delta(epsilon: Fraction) -> Fraction:
    """Return the δ of one draw: ``2 ⌈e^ε⌉ β``, β = 2⁻⁷⁰ the probability that it leaves the band.

    With P the exact distribution and P̂ = P given that the draw stays in the band, ``P̂_λ(E) ≤ P_λ(E)/(1−β)`` and
    ``P_λ'(E) ≤ P̂_λ'(E) + β``, whence ``P̂_λ(E) ≤ e^ε/(1−β)·(P̂_λ'(E) + β)``.
    """
    return 2 * math.ceil(math.exp(float(epsilon))) * BAND_DELTA


def band_width(parameters: FamilyParameters) -> int:
    """Return w such that a draw leaves the band |d_c(μ) − d_c(λ)| ≤ w with probability at most :data:`BAND_DELTA`.

    If d_c(μ) exceeds d_c(λ) by u, then μ holds a u × u square of cells outside λ: with probability at most
    ``(q;q)_∞ Σ_{k≥u} q^{k²}/(q;q)_k²``, that a random partition has Durfee size ≥ u, and the same for missing squares.
    The sum is over the 4(D+1) places where a level can be extreme. For z > 0 the weight h adds a factor of at most
    5D/(q;q)_∞. No step depends on the data. Proof: docs/proofs/partition.md §4.
    """
    c = parameters.c
    factors = -np.expm1(-c * np.arange(1, math.ceil(60 / c) + 2))
    log_factorials = np.concatenate((np.zeros(1), np.cumsum(np.log(factors))))
    log_infinite = float(log_factorials[-1])
    target = math.log(BAND_DELTA) - math.log(4 * (MAX_DURFEE_SIZE + 1))
    if parameters.z > 0:
        target -= math.log(5 * MAX_DURFEE_SIZE) - log_infinite

    k = np.arange(log_factorials.size)
    log_terms = log_infinite - c * k * k - 2 * log_factorials
    # Terms at least halve where q^(2k+1) ≤ (1 − q^(k+1))²/2: from there on the sum is below twice its first term.
    halving = np.exp(-c * (2 * k + 1)) <= np.expm1(-c * (k + 1)) ** 2 / 2
    return max(1, int(np.argmax((log_terms + math.log(2) <= target) & halving)))


def band_shape(parameters: FamilyParameters) -> tuple[int, int]:
    """Return the width w of the band, at least :func:`band_width`, and the number of equal blocks of its 2w + 1 levels.

    Within a block, no significant weight may leave the range of floats. Over j levels, weights grow by at most
    ``σ(j) = Π_{k≤j} q^(k−1)/(1 − q^k)``. If the largest σ is small enough for all levels together, for ε/Δ above about
    0.01, there is one block; otherwise a block is as long as σ over its two halves allows.
    """
    width = band_width(parameters)
    largest = np.maximum.accumulate(_orders(parameters, width))
    if largest[-1] <= _BAND_ORDERS:
        return width, 1
    orders = _FLAGGED_BLOCK_ORDERS if parameters.z > 0 else _BLOCK_ORDERS
    half = int(np.count_nonzero(2 * largest <= orders))
    longest = 2 * half + 1
    blocks = 1
    while (length := -(-(2 * width + 1) // blocks) | 1) > longest:
        blocks += 2
    return (blocks * length - 1) // 2, blocks


def negligible_order(parameters: FamilyParameters) -> int:
    """Return the binary order below which an entry of a run's matrix belongs to no significant transition.

    Staying at the level of the reference has weight 1, and neighboring levels add a factor of at most ``Π q^(k−1)/(1 −
    q^k)`` on either side of the run: smaller entries have a share below :data:`NEGLIGIBLE`.
    """
    orders = _orders(parameters, band_width(parameters))
    return NEGLIGIBLE.numerator.bit_length() - NEGLIGIBLE.denominator.bit_length() - math.ceil(2 * float(orders.max()))


def _orders(parameters: FamilyParameters, width: int) -> Floats:
    """Return ``log2 Π_{k≤j} q^(k−1)/(1 − q^k)``, j = 1..width, plus the effect of h: how much j levels can add."""
    c, k = parameters.c, np.arange(1, width + 1)
    added = _FLAG_ORDERS * k if parameters.z > 0 else 0
    return np.asarray(np.cumsum(-c * (k - 1) - np.log(-np.expm1(-c * k))) / math.log(2) + added)


def rounding_loss(parameters: FamilyParameters) -> float:
    """Return an upper bound on what floating-point rounding adds to the privacy loss between two neighbors.

    Every weight is a sum of products of positive numbers, so rounding multiplies it by 1 ± a small relative error.
    A drawn profile's probability telescopes into at most ``nodes`` decisions, each off by at most ``terms + 8``
    roundings of 2⁻⁵³; into its pieces without a drop, whose weight ``q^{|u|·length}`` is off by at most
    ``4c|u|·length`` roundings, ``4c·d`` over all pieces, d the distance drawn, which passes ``reach`` with probability
    below 2⁻⁹⁹; and into the weight of its tails, made by ``8w`` roundings each. All of this is charged for the draw
    and the normalizer, on both sides of the ratio. The bound holds for all profiles of the public domain (Durfee size
    at most 2²⁰), so it does not depend on data.
    """
    width, blocks = band_shape(parameters)
    states = 1 if parameters.z == 0 else 4
    # On each side at most D + w runs and as many drops, each with at most the 63 binary digits of a length.
    nodes = 2 * 2 * (MAX_DURFEE_SIZE + width + 1) * 64
    terms = (2 * width + 1) // blocks * states + blocks + 2
    # E[q^{−d/2}] is at most Σ_μ q^{d/2}, a sum over at most 2(D + w) + 1 free coordinates; then Markov's inequality
    # applies.
    coordinates = 2 * (MAX_DURFEE_SIZE + width) + 1
    c = parameters.c
    reach = 2 / c * (coordinates * -math.log(math.tanh(c / 4)) + 99 * math.log(2))
    return 4 * (nodes * (terms + 8) + 4 * c * reach + 2 * 8 * width) * 2.0**-53
