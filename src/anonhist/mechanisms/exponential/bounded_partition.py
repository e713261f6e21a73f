"""The bounded partition mechanism: the exponential mechanism over the partitions below a public hyperbola."""

from __future__ import annotations

from dataclasses import KW_ONLY
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.mechanisms.basis.published import with_at_most
from anonhist.mechanisms.basis.setting import whole_items
from anonhist.mechanisms.basis.skeletons import DrawnMechanism
from anonhist.mechanisms.exponential.calibration import LARGEST_EPSILON, FamilyParameters, band_delta, calibrate
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.profiles import FrobeniusCoordinates, Profile

if TYPE_CHECKING:
    from anonhist.mechanisms.basis.choices import Choices

LARGEST_NUMBER = 2**40
# Below, the band would need several blocks, for which the proof of the range of floats does not cover a cap.
_SMALLEST_EPSILON = Fraction(1, 100)
# A cap adds at most as many runs as the longest data have.
_CHAINS = 2


@frozen
class BoundedPartitionMechanism(DrawnMechanism):
    """Release a profile drawn with probability ``∝ e^{−c‖λ−μ‖₁}`` over the partitions μ below a public hyperbola.

    λ is the private partition, and μ may be any partition with ``i·μ_i ≤ N`` for all i: these include all of at most N
    items. c is the largest that ε/Δ allows (:func:`calibrate`, z = 0). A draw with more than N items is cut to N, from
    the largest counts.

    The published mechanism draws from all partitions of at most N items. These are not closed under unions, and
    only c = ε/2 is known to be safe for them. The partitions below the hyperbola are closed under unions, so the sharp
    c of the unbounded mechanism applies. Both distributions decay in the same way around λ. Intervals are given for
    ε/Δ ≥ 1.5.

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.basis.setting.Setting`. ε/Δ must be at least 1/100, ε at most 20.
    public_items
        N, a public bound on n, from 1 to 2⁴⁰.

    Guarantees
    ----------
    ``(epsilon, δ)``-differential privacy, δ and rounding as for the partition mechanism, for data of at most N items.
    Data with more are visibly refused. Proof: docs/proofs/bounded-partition.md.

    References
    ----------
    .. [1] J. Blocki, "Differentially private integer partitions and their applications", 2016.

    Examples
    --------
    >>> release = BoundedPartitionMechanism(epsilon=2, public_items=12).release(Profile.from_counts([5, 3, 3, 1]))
    >>> release.profile.n <= 12
    True
    """

    name: ClassVar[str] = "bounded-partition"
    rounding: ClassVar[str] = (
        "floating-point rounding is bounded and paid for inside epsilon, and δ bounds the chance that an exact draw"
        " would leave the band that is kept"
    )
    runs_hold_from: ClassVar[Fraction] = Fraction(3, 2)

    _: KW_ONLY
    public_items: Converted[SupportsIndex | float, int] = converted(
        partial(whole_items, name="public_items", most=LARGEST_NUMBER)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon > LARGEST_EPSILON or self.epsilon_per_cell < _SMALLEST_EPSILON:
            raise UsageError(
                f"The bounded partition mechanism takes an ε of at most {LARGEST_EPSILON}, and at least 0.01 per item."
            )

    @property
    def family(self) -> FamilyParameters:
        """(c, z = 0), c the largest that ε/Δ allows."""
        return calibrate(self.epsilon_per_cell, 0.0, chains=_CHAINS)

    @property
    def delta(self) -> Fraction:
        """The probability that an exact draw would leave the band, as bounded by :func:`band_delta`."""
        return band_delta(self.epsilon)

    def _run(self, profile: Profile, size: int, choices: Choices) -> list[Profile]:
        chain = DiagonalChain(FrobeniusCoordinates.of(profile), self.family, hyperbola(self.public_items))
        return [with_at_most(drawn.profile(), self.public_items) for drawn in chain.draw(size, choices)]


def hyperbola(number: int) -> FrobeniusCoordinates:
    """Return the partition of all cells (i, r) with i·r ≤ ``number``, which contains all of ``number`` items.

    Examples
    --------
    >>> hyperbola(5).profile().partition().tolist()
    [5, 2, 1, 1, 1]
    """
    steps = np.arange(1, isqrt(number) + 1, dtype=np.int64)
    arms = number // steps - steps
    return FrobeniusCoordinates(arms, arms)
