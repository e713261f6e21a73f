"""The relaxed partition mechanism: the exponential mechanism inside a window around the data."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import KW_ONLY
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.mechanisms.basis.published import bounded_profile, with_at_most
from anonhist.mechanisms.basis.setting import whole_items
from anonhist.mechanisms.basis.skeletons import DrawnMechanism
from anonhist.mechanisms.exponential.calibration import (
    LARGEST_EPSILON,
    SMALLEST_EPSILON,
    FamilyParameters,
    affordable,
    calibrate,
)
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.privacy import EpsilonLike, parse_epsilon, short_decimal
from anonhist.profiles import FrobeniusCoordinates, Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.choices import Choices

LARGEST_NUMBER = 2**40
# A smaller δ would not cover what the chain leaves out at the largest ε.
_SMALLEST_DELTA, _LARGEST_DELTA = Fraction(1, 10**11), Fraction(1, 1000)
# A margin for the errors of the formula of the loss, as in calibrate.
_SAFETY = 1e-12


@frozen
class RelaxedPartitionMechanism(DrawnMechanism):
    """Release a profile drawn with probability ``∝ e^{−c‖λ−μ‖₁}`` over the partitions μ in a window around λ.

    c = ε/2, less what rounding costs. The window contains every μ with ``‖λ−μ‖₁ ≤ D``: row i lies between the lowest
    and the highest value it has in any of them. It depends on the data, so the guarantee has a δ. This is the first
    published form of the exponential mechanism over partitions; it is for comparison.

    The published program keeps a table with a number for every row and value in the window. This one draws from all
    partitions, in O(√N) steps, until a draw lies in the window: the same distribution.

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.basis.setting.Setting`. ε/Δ must be at least 1/1000, ε at most 20.
    public_items
        N, a public bound on n, from 1 to 2⁴⁰: D follows from it, ε and δ.
    delta
        δ, from 10⁻¹¹ to 10⁻³.

    Guarantees
    ----------
    ``(epsilon, delta)``-differential privacy for data of at most N items. Data with more are visibly refused. Rounding
    is bounded and charged to ``epsilon``. Proof: docs/proofs/relaxed-partition.md.

    Notes
    -----
    Intervals are given for ε/Δ ≥ 2.

    References
    ----------
    .. [1] J. Blocki, A. Datta, J. Bonneau, "Differentially private password frequency lists", NDSS 2016.

    Examples
    --------
    >>> mechanism = RelaxedPartitionMechanism(epsilon=4, public_items=100)
    >>> mechanism.release(Profile.from_counts([5, 3, 3, 1])).guarantee.delta
    Fraction(1, 1000000000)
    """

    name: ClassVar[str] = "relaxed-partition"
    rounding: ClassVar[str] = (
        "floating-point rounding is bounded and paid for inside epsilon, and δ bounds the chance that an exact draw"
        " would leave the window"
    )
    runs_hold_from: ClassVar[Fraction] = Fraction(2)

    _: KW_ONLY
    public_items: Converted[SupportsIndex | float, int] = converted(
        partial(whole_items, name="public_items", most=LARGEST_NUMBER)
    )
    delta: Converted[EpsilonLike, Fraction] = converted(
        partial(parse_epsilon, name="delta"), default=Fraction(1, 10**9)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _SMALLEST_DELTA <= self.delta <= _LARGEST_DELTA:
            raise UsageError(f"`delta` must lie between 1e-11 and 0.001, not {short_decimal(self.delta)}.")
        if self.epsilon > LARGEST_EPSILON or self.epsilon_per_cell < SMALLEST_EPSILON:
            raise UsageError("The relaxed partition mechanism takes an ε of at most 20, and at least 0.001 per item.")

    @property
    def radius(self) -> int:
        """D: an exact draw is farther from the data with probability at most ``β = δ / (2⌈e^ε⌉)``.

        At most ``(2m + 1)·e^{π√(2(N+m)/3)}`` partitions are at distance m, and the normalizer is at least 1.
        """
        c = self.family.c
        target = math.log(self.delta / (2 * math.ceil(math.exp(float(self.epsilon))))) + math.log(-math.expm1(-c / 4))

        def is_beyond(m: int) -> bool:
            return math.log(2 * m + 1) + math.pi * math.sqrt(2 * (self.public_items + m) / 3) - c * m <= target

        # Where the term is below one and m ≥ 4/c, terms fall by a factor of at least e^(−c/4), which bounds their sum.
        return bisect_left(range(2**40), True, lo=math.ceil(4 / c), key=is_beyond)

    @property
    def family(self) -> FamilyParameters:
        """The member of the family used for draws: c = ε/(2Δ) where the exact loss leaves room for rounding."""
        budget = self.epsilon_per_cell
        published = float(budget) / 2
        if affordable(published, 0.0, float(budget) * (1 - _SAFETY)):
            return FamilyParameters(published, 0.0)
        return calibrate(budget, z=0.0)

    def _run(self, profile: Profile, size: int, choices: Choices) -> list[Profile]:
        window = Window(profile, self.radius)
        chain = DiagonalChain(FrobeniusCoordinates.of(profile), self.family)
        return [with_at_most(drawn, self.public_items) for drawn in draw_inside(chain, window, size, choices)]


class Window:
    """The partitions of which every row has a value that it has in some partition at most ``radius`` from λ."""

    def __init__(self, profile: Profile, radius: int) -> None:
        self._profile, self._radius = profile, radius
        # Labels and items of the largest counts, from the largest on.
        self._counts = profile.counts[::-1]
        self._labels = np.append(0, np.cumsum(profile.prevalences[::-1]))
        self._items = np.append(0, np.cumsum(self._counts * profile.prevalences[::-1]))

    def holds(self, drawn: Profile) -> bool:
        """Return whether a partition lies in the window.

        Row i may have the value h if rows 1..i can be filled up to h with at most ``radius`` cells, or need not be; and
        if rows i, i+1, … can be cut down to h by as many. It is enough to look at the corners of the drawn diagram.

        Examples
        --------
        >>> window = Window(Profile.from_counts([3, 1]), radius=1)
        >>> [window.holds(Profile.from_counts(counts)) for counts in ([4, 1, 1], [3, 3], [1])]
        [True, False, False]
        """
        heights = drawn.counts
        rows = drawn.cumulative_prevalence(heights)
        reaching = self._profile.cumulative_prevalence(heights)
        added = heights * (rows - reaching) - (self.first_items(rows) - self.first_items(reaching))
        # Between two counts of the drawn diagram, and below the least, lies a corner that it lacks.
        floors = np.append(0, heights)
        above = drawn.cumulative_prevalence(floors + 1)
        higher = self._profile.cumulative_prevalence(floors + 1)
        removed = self.first_items(higher) - self.first_items(above) - floors * (higher - above)
        return not ((added[rows > reaching] > self._radius).any() or (removed[higher > above] > self._radius).any())

    def first_items(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many items the first rows of λ hold, for each number of rows."""
        rows = np.minimum(rows, self._labels[-1])
        group = np.searchsorted(self._labels, rows, side="right") - 1
        counts = np.append(self._counts, 0)
        return np.asarray(self._items[group] + (rows - self._labels[group]) * counts[group])


def draw_inside(chain: DiagonalChain, window: Window, size: int, choices: Choices) -> list[Profile]:
    """Draw partitions from a chain until ``size`` of them lie in a window."""
    kept: list[Profile] = []
    while len(kept) < size:
        drawn = chain.draw(size - len(kept), choices)
        made = (bounded_profile(each.arms, each.legs) for each in drawn)
        kept.extend(each for each in made if window.holds(each))
    return kept
