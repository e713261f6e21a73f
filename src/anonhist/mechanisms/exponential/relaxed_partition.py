"""The relaxed partition mechanism: the exponential mechanism inside a window around the data, row by row."""

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
from anonhist.mechanisms.basis.published import with_at_most
from anonhist.mechanisms.basis.setting import whole_items
from anonhist.mechanisms.basis.skeletons import DrawnMechanism
from anonhist.numeric.pulse import pulsing
from anonhist.privacy import parse_epsilon, short_decimal
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.choices import Choices
    from anonhist.privacy import EpsilonLike

LARGEST_NUMBER = 10_000
_SMALLEST_EPSILON = Fraction(1, 10)
# Share of ε charged for rounding: docs/proofs/relaxed-partition.md bounds it for these N and ε.
_ROUNDING = 1 / 4096


@frozen
class RelaxedPartitionMechanism(DrawnMechanism):
    """Release a profile drawn with probability ``∝ e^{−(ε/2)‖λ−μ‖₁}`` over the partitions μ in a window around λ.

    The window contains every μ with ``‖λ−μ‖₁ ≤ D``: row i lies between the lowest and the highest value it has in any
    of them. It depends on the data, so the guarantee has a δ. This is the first published sampler for the exponential
    mechanism over partitions; it is for comparison.

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.basis.setting.Setting`. ε/Δ must be at least 0.1, ε at most 20.
    public_items
        N, a public bound on n, from 1 to 10,000: D follows from it, ε and δ.
    delta
        δ, from 10⁻³⁰ to 10⁻³.

    Guarantees
    ----------
    ``(epsilon, delta)``-differential privacy for data of at most N items. Data with more are visibly refused. Rounding
    is bounded and charged to ``epsilon``. Proof: docs/proofs/relaxed-partition.md.

    Notes
    -----
    O(N·√N/ε) time and memory in the worst case. Intervals are given for ε/Δ ≥ 2.

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
    most_items: ClassVar[int | None] = LARGEST_NUMBER

    _: KW_ONLY
    public_items: Converted[SupportsIndex | float, int] = converted(
        partial(whole_items, name="public_items", most=LARGEST_NUMBER)
    )
    delta: Converted[EpsilonLike, Fraction] = converted(
        partial(parse_epsilon, name="delta"), default=Fraction(1, 10**9)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not Fraction(1, 10**30) <= self.delta <= Fraction(1, 1000):
            raise UsageError(f"`delta` must lie between 1e-30 and 0.001, not {short_decimal(self.delta)}.")
        if self.epsilon > 20 or self.epsilon_per_cell < _SMALLEST_EPSILON:
            raise UsageError("The relaxed partition mechanism takes an ε of at most 20, and at least 0.1 per item.")

    @property
    def radius(self) -> int:
        """D: an exact draw is farther from the data with probability at most ``β = δ / (2⌈e^ε⌉)``.

        At most ``(2m + 1)·e^{π√(2(N+m)/3)}`` partitions are at distance m, and the normalizer is at least 1.
        """
        c = self._c
        target = math.log(self.delta / (2 * math.ceil(math.exp(float(self.epsilon))))) + math.log(-math.expm1(-c / 4))

        def is_beyond(m: int) -> bool:
            return math.log(2 * m + 1) + math.pi * math.sqrt(2 * (self.public_items + m) / 3) - c * m <= target

        # Where the term is below one and m ≥ 4/c, terms fall by a factor of at least e^(−c/4), which bounds their sum.
        return bisect_left(range(2**40), True, lo=math.ceil(4 / c), key=is_beyond)

    @property
    def _c(self) -> float:
        return float(self.epsilon_per_cell) / 2 * (1 - _ROUNDING)

    def _run(self, profile: Profile, size: int, choices: Choices) -> list[Profile]:
        window = _Window(profile.partition(), self.radius)
        futures = window.log_futures(self._c)
        drawn = (Profile.from_counts(window.draw(futures, choices)) for _ in range(size))
        return list(pulsing(with_at_most(partition, self.public_items) for partition in drawn))


class _Window:
    """Rows of λ and, for each, the lowest and the highest value at a distance of at most ``radius``."""

    def __init__(self, rows: NDArray[np.int64], radius: int) -> None:
        # No partition within the radius has more than radius rows beyond the last label.
        self.rows = np.append(rows, np.zeros(radius + 1, dtype=np.int64))
        self.highest = _fill(self.rows, radius)
        # Missing cells are those filled in after rotating the diagram by 180°.
        top = int(rows[0]) if rows.size else 0
        self.lowest = np.maximum(top - _fill((top - self.rows)[::-1], radius)[::-1], 0)

    def log_futures(self, c: float) -> list[NDArray[np.float64]]:
        """Return for each row, the last first, ``ln F_i(v)``, v = lowest..highest, up to a constant for each row.

        ``F_i(v) = e^{−c|v − λ_i|} Σ_{v' ≤ v} F_{i+1}(v')``: the weight of all continuations from row i.
        """
        futures = []
        below, first = np.zeros(1), 0  # ln Σ_{v' ≤ v} F_{i+1}(v') for v = first, first + 1, …
        for row, low, high in zip(self.rows[::-1], self.lowest[::-1], self.highest[::-1], strict=True):
            values = np.arange(low, high + 1)
            weights = below[np.minimum(values - first, below.size - 1)] - c * np.abs(values - row)
            weights -= weights.max()
            futures.append(weights)
            below, first = np.logaddexp.accumulate(weights), int(low)
        return futures

    def draw(self, futures: list[NDArray[np.float64]], choices: Choices) -> NDArray[np.int64]:
        """Draw the rows from the first on, none longer than the one before."""
        drawn = np.zeros(self.rows.size, dtype=np.int64)
        longest = int(self.highest[0])
        for index, (low, weights) in enumerate(zip(self.lowest.tolist(), reversed(futures), strict=True)):
            allowed = weights[: longest - low + 1]
            longest = low + int(choices.rows(np.exp(allowed - allowed.max())[None])[0])
            drawn[index] = longest
            if not longest:
                break
        return drawn


def _fill(rows: NDArray[np.int64], cells: int) -> NDArray[np.int64]:
    """Return for each i the largest h with ``Σ_{j ≤ i} (h − λ_j)_+ ≤ cells``; rows in descending order."""
    sums = np.append(0, np.cumsum(rows))
    number = np.arange(1, rows.size + 1)
    low, high = rows.copy(), rows + cells
    while (low < high).any():
        middle = (low + high + 1) // 2
        # Rows longer than h, the first ones, cost nothing.
        longer = np.minimum(np.searchsorted(-rows, -middle, side="right"), number)
        cost = middle * (number - longer) - (sums[number] - sums[longer])
        low, high = np.where(cost <= cells, middle, low), np.where(cost <= cells, high, middle - 1)
    return low
