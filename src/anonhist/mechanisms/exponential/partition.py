"""The partition mechanisms: exact draws from the weighted exponential family on Young's lattice."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from fractions import Fraction
from itertools import islice
from math import isqrt
from typing import Any, ClassVar, SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Converted, frozen, named
from anonhist.mechanisms.exponential.boundary_walk import Coins, walk_around
from anonhist.mechanisms.exponential.calibration import (
    LARGEST_EPSILON,
    MAX_DURFEE_SIZE,
    SMALLEST_EPSILON,
    FamilyParameters,
    affordable,
    band_delta,
    calibrate,
    check_member,
    exact_member,
    is_drawn_exactly,
)
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain, denoise
from anonhist.mechanisms.legs.refit import refitted
from anonhist.mechanisms.noise import Choices
from anonhist.mechanisms.setting import whole_items
from anonhist.mechanisms.skeletons import DrawnMechanism, RunOfOne, bounded_profile, with_at_most
from anonhist.numeric.arrays import Ints
from anonhist.privacy import EpsilonLike, parse_epsilon, short_decimal
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist.randomness import RandomSource

_DRAWN_EXACTLY = "draws are exact, so floating point costs nothing"
# Smooth legs err less than drawn ones up to here. The less there is to gain, the surer a leg must be to move: 50% at
# ln 3, 55% here.
_SMOOTH_UP_TO = Fraction(3, 2)
_HELD = 0.1 / (1.5 - math.log(3))
# So many draws are fitted together: few take long, and many would be silent for long.
_FITTED_TOGETHER = 64
# Draws around the empty profile have a Durfee size of about ln 2 / c. If a draw is not three times as large, denoising
# with its uniform prior increases the error (measured).
_WORTH_DENOISING = 3 * math.log(2)


@frozen
class PartitionMechanism(DrawnMechanism):
    """Release a profile drawn with probability ``∝ q^{‖λ−μ‖₁} · h_z(μ)`` over all partitions μ.

    λ is the private partition, q = e^{−c}, and h_z a weight that depends on the corners of μ (1 for z = 0: the
    plain exponential mechanism). c and z depend on ε/Δ alone: z = 0 below 0.45 and z = 1/4 up to ln 3
    (:func:`calibrate`). Above that z = q/(1+q), for which the normalizer is 1 for every λ: c = ε/Δ, and the draw is
    exact (:func:`~anonhist.mechanisms.exponential.boundary_walk.draw_turns`).

    For ε/Δ from ln 3 to 1.5, the legs of the draw are fitted again with smooth steps
    (:mod:`~anonhist.mechanisms.legs.refit`): with this z, the likelihood of λ is ``q^{‖λ−μ‖₁}``, so that legs are
    observed independently, like noisy ones. At 1.5 a leg moves where its posterior is 55% sure, at ln 3 where it is
    50% sure. This costs no privacy. The release keeps the draw; :meth:`simulate`, and so expected errors and
    intervals, are those of draws: 1 to 4% larger on smooth data, and up to 1.7 times as large if most counts do not
    occur (docs/benchmarks/accuracy.md).

    With z = 0, the draw is denoised (:func:`denoise`) unless its Durfee size is below 3 ln 2 / c: a function of
    the draw alone, which costs no privacy. Around the empty profile, a draw has about π²/(6c²) items, 7 million at
    ε/Δ = 0.001; for data of that size or smaller, the Frobenius mechanism is far better.

    A draw has no noisy values, so its intervals come from simulated runs on the release. For ε/Δ below 1.1, these are
    too short on some data, so none are given (docs/benchmarks/intervals.md, "Intervals of releases").

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.setting.Setting`. ε/Δ must be at least 1/1000.
    member
        Another member (c, z) of the family, whose loss ε/Δ must cover: ``calibrate(epsilon, z)`` gives the sharpest for
        a given z. It is drawn with weights in floating point, as below ln 3.

    Raises
    ------
    UsageError
        If the budget is out of range, or does not cover the member.

    Guarantees
    ----------
    ``epsilon``-differential privacy for ε/Δ above ln 3 ≈ 1.0986, for all data; nothing is rounded. Proof:
    docs/proofs/pure-partition.md.

    Below, and for another member: ``(epsilon, δ)``-differential privacy with δ = ⌈e^ε⌉·2⁻⁶⁹, for profiles of Durfee
    size at most 2²⁰ (all with n ≤ 2⁴⁰). In exact arithmetic δ would be 0: it is a bound, independent of the data, on
    the probability that an exact draw would leave the band that the program keeps. The rounding of floating-point
    numbers is bounded (:func:`~anonhist.mechanisms.exponential.calibration.rounding_loss`) and charged to ``epsilon``.
    Draws from the rounded weights are exact. Proof: docs/proofs/partition.md.

    Examples
    --------
    >>> release = PartitionMechanism(epsilon=2).release(Profile.from_counts([5, 3, 3, 1]))
    >>> release.guarantee.delta, 0 < PartitionMechanism(epsilon=1).delta < 1e-19
    (Fraction(0, 1), True)
    """

    name: ClassVar[str] = "partition"
    rounding: ClassVar[str] = (
        "floating-point rounding is bounded and paid for inside epsilon, and δ bounds the chance that an exact draw"
        " would leave the band that is kept, for profiles of Durfee size up to 2^20 (all with n up to 2^40)"
    )
    runs_hold_from: ClassVar[Fraction] = Fraction(11, 10)

    _: KW_ONLY
    member: FamilyParameters | None = None

    @property
    def is_pure(self) -> bool:
        """Whether draws are exact, so that δ = 0: ε/Δ is above ln 3, and no other member was asked for."""
        return self.member is None and is_drawn_exactly(self.epsilon_per_cell)

    @property
    def family(self) -> FamilyParameters:
        """The member of the family used for draws: by default the one that ε/Δ allows, as floats."""
        return exact_member(self.epsilon_per_cell) if self.is_pure else self.member or calibrate(self.epsilon_per_cell)

    @property
    def floating_point(self) -> str:
        """The effect of floating point, as a clause."""
        return _DRAWN_EXACTLY if self.is_pure else super().floating_point

    @property
    def runs_fall_short(self) -> str:
        """Why intervals from runs on a release are too short, or not known to hold; empty if they hold."""
        if self.member in (None, calibrate(self.epsilon_per_cell)):
            return super().runs_fall_short
        return (
            "whether simulated runs on a release have errors as large as the release was not measured for this "
            "member of the family"
        )

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters, enough to rebuild the mechanism; those of the member are ``c`` and ``z``."""
        known = {name: number for name, number in super().parameters.items() if name != "member"}
        return {**known, **({} if self.member is None else {"c": repr(self.member.c), "z": repr(self.member.z)})}

    @classmethod
    def _own(cls, parameters: dict[str, object]) -> dict[str, Any]:
        if not parameters:
            return {}
        try:
            c, z = (float(str(parameters.pop(name, ""))) for name in ("c", "z"))
        except ValueError:
            raise UsageError(
                "besides epsilon, unit, bound and relation they may include only the numbers c and z."
            ) from None
        return {**super()._own(parameters), "member": FamilyParameters(c, z)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon > LARGEST_EPSILON:
            raise UsageError(f"The partition mechanism accepts an ε of at most {LARGEST_EPSILON}, not {self.epsilon}.")
        calibrate(self.epsilon_per_cell)
        if self.member is not None:
            check_member(self.member, self.epsilon_per_cell)

    def _draw_each(self, profiles: Sequence[Profile], source: RandomSource) -> Iterator[RunOfOne]:
        """Refuse a Durfee size beyond the public domain, unless δ is 0; with label privacy, that of capped counts."""
        # Checked first, because the coordinates of a larger profile would not fit in memory. Only data are refused: a
        # draw around data at the limit may exceed it, and is public.
        if not self.is_pure and any(profile.durfee_size > MAX_DURFEE_SIZE for profile in profiles):
            raise UsageError(
                "The partition mechanism accepts profiles of Durfee size up to 2^20, which includes all with n up to "
                "2^40; choose the Frobenius mechanism for larger ones."
            )
        runs = super()._draw_each(profiles, source)
        return self._with_smooth_legs(runs) if self.fits_draws else runs

    def _with_smooth_legs(self, runs: Iterator[RunOfOne]) -> Iterator[RunOfOne]:
        """Fit the legs of draws again: they are an observation of the true ones with P ∝ q^|difference|."""
        while some := [*islice(runs, _FITTED_TOGETHER)]:
            drawn = [FrobeniusCoordinates.of(run.profile) for run in some]
            legs = [each.legs for each in drawn]
            seen = [(each, np.ones(each.size, dtype=np.bool_)) for each in legs]
            rate = float(self.epsilon_per_cell)
            anew = refitted(legs, seen, epsilon=rate, held=_HELD * (rate - math.log(3)))
            for run, each, smooth in zip(some, drawn, anew, strict=True):
                if smooth is None or np.array_equal(smooth.legs, each.legs):
                    yield run
                else:
                    fitted = self.publishable(bounded_profile(each.arms, smooth.legs))
                    yield run._replace(profile=fitted, draw=run.profile)

    @property
    def fits_draws(self) -> bool:
        """Whether ε/Δ is from ln 3 to 1.5."""
        return self.is_pure and self.epsilon_per_cell <= _SMOOTH_UP_TO

    @property
    def delta(self) -> Fraction:
        """Zero, or the probability that an exact draw would leave the band, as bounded by :func:`band_delta`."""
        return Fraction(0) if self.is_pure else band_delta(self.epsilon)

    def _run(self, profile: Profile, size: int, choices: Choices) -> list[Profile]:
        if self.is_pure:
            coins = Coins.of(self.epsilon_per_cell, choices)
            return [walk_around(profile, coins) for _ in range(size)]
        family = self.family
        drawn = DiagonalChain(FrobeniusCoordinates.of(profile), family).draw(size, choices)
        if family.z == 0:
            c = family.c
            drawn = [denoise(each, c=c) if each.durfee_size * c >= _WORTH_DENOISING else each for each in drawn]
        # With few items, the same diagrams recur.
        made: dict[tuple[bytes, bytes], Profile] = {}
        keys = [(partition.arms.tobytes(), partition.legs.tobytes()) for partition in drawn]
        for key, partition in zip(keys, drawn, strict=True):
            if key not in made:
                made[key] = bounded_profile(partition.arms, partition.legs)
        return [made[key] for key in keys]


LARGEST_NUMBER = 2**40
# Below this, the band would need several blocks, and the proof of the range of floats does not cover a cap with them.
_SMALLEST_EPSILON = Fraction(1, 100)
# A cap adds at most as many runs as the longest data have.
_CHAINS = 2


@frozen
class BoundedPartitionMechanism(DrawnMechanism):
    """Release a profile drawn with probability ``∝ q^{‖λ−μ‖₁}·h_z(μ)`` over the partitions μ below a public hyperbola.

    λ is the private partition, q = e^{−c}, and μ may be any partition with ``i·μ_i ≤ N`` for all i: these include all
    partitions of at most N items. h_z is the weight of :class:`PartitionMechanism`, for corners that can be flipped
    below the hyperbola. Above ln 3, z = q/(1+q), c = ε/Δ, and the draw is exact; from there down z = 0, and c is the
    largest that ε/Δ allows (:func:`calibrate`). A draw with more than N items is cut to N, largest counts first.

    The published mechanism draws from all partitions of at most N items. These are not closed under unions, and
    only c = ε/2 is known to be safe for them. The partitions below the hyperbola are closed under unions, so the sharp
    c of the unbounded mechanism applies. Both distributions decay in the same way around λ. Intervals are given for
    ε/Δ ≥ 1.5.

    Source: Blocki 2016.

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.setting.Setting`. ε/Δ must be at least 1/100, ε at most 20.
    public_items
        N, a public bound on n, from 1 to 2⁴⁰.

    Guarantees
    ----------
    ``epsilon``-differential privacy for ε/Δ above ln 3, ``(epsilon, δ)``-differential privacy below, δ and rounding as
    for the partition mechanism, for data of at most N items. Data with more items are visibly refused. Proof:
    docs/proofs/bounded-partition.md.

    Examples
    --------
    >>> release = BoundedPartitionMechanism(epsilon=2, public_items=12).release(Profile.from_counts([5, 3, 3, 1]))
    >>> release.profile.n <= 12, release.guarantee.delta
    (True, Fraction(0, 1))
    """

    name: ClassVar[str] = "bounded-partition"
    rounding: ClassVar[str] = (
        "floating-point rounding is bounded and paid for inside epsilon, and δ bounds the chance that an exact draw"
        " would leave the band that is kept"
    )
    runs_hold_from: ClassVar[Fraction] = Fraction(3, 2)

    _: KW_ONLY
    public_items: Converted[SupportsIndex | float, int] = named(whole_items, most=LARGEST_NUMBER)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon > LARGEST_EPSILON or self.epsilon_per_cell < _SMALLEST_EPSILON:
            raise UsageError(
                f"The bounded partition mechanism accepts an ε of at most {LARGEST_EPSILON}, and at least 0.01 per "
                "item."
            )

    @property
    def is_pure(self) -> bool:
        """Whether draws are exact, so that δ = 0: ε/Δ is above ln 3."""
        return is_drawn_exactly(self.epsilon_per_cell)

    @property
    def family(self) -> FamilyParameters:
        """(c, z) of the draws, as floats: c = ε/Δ, or with z = 0 the largest that ε/Δ allows."""
        if self.is_pure:
            return exact_member(self.epsilon_per_cell)
        return calibrate(self.epsilon_per_cell, 0.0, chains=_CHAINS)

    @property
    def floating_point(self) -> str:
        """The effect of floating point, as a clause."""
        return _DRAWN_EXACTLY if self.is_pure else super().floating_point

    @property
    def delta(self) -> Fraction:
        """Zero, or the probability that an exact draw would leave the band, as bounded by :func:`band_delta`."""
        return Fraction(0) if self.is_pure else band_delta(self.epsilon)

    def _run(self, profile: Profile, size: int, choices: Choices) -> list[Profile]:
        if self.is_pure:
            coins = Coins.of(self.epsilon_per_cell, choices)
            return [walk_around(profile, coins, self.public_items) for _ in range(size)]
        chain = DiagonalChain(FrobeniusCoordinates.of(profile), self.family, hyperbola(self.public_items))
        return [with_at_most(drawn.profile(), self.public_items) for drawn in chain.draw(size, choices)]


def hyperbola(number: int) -> FrobeniusCoordinates:
    """Return the partition of all cells (i, r) with i·r ≤ ``number``, which contains all of ``number`` items."""
    steps = np.arange(1, isqrt(number) + 1, dtype=np.int64)
    arms = number // steps - steps
    return FrobeniusCoordinates(arms, arms)


# A smaller δ would not cover what the chain leaves out at the largest ε.
_SMALLEST_DELTA, _LARGEST_DELTA = Fraction(1, 10**11), Fraction(1, 1000)
# A margin for the errors of the loss formula, as in calibrate.
_SAFETY = 1e-12


@frozen
class RelaxedPartitionMechanism(DrawnMechanism):
    """Release a profile drawn with probability ``∝ e^{−c‖λ−μ‖₁}`` over the partitions μ in a window around λ.

    c = ε/2, minus the cost of rounding. The window contains every μ with ``‖λ−μ‖₁ ≤ D``: row i lies between the lowest
    and the highest value it has in any of them. It depends on the data, so the guarantee has a δ. This is the first
    published form of the exponential mechanism over partitions; it is for comparison.

    The published program keeps a table with a number for every row and value in the window. This program draws from all
    partitions, in O(√N) steps, until a draw lies in the window, which gives the same distribution.

    Source: Blocki and others 2016.

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.setting.Setting`. ε/Δ must be at least 1/1000, ε at most 20.
    public_items
        N, a public bound on n, from 1 to 2⁴⁰: D follows from N, ε and δ.
    delta
        δ, from 10⁻¹¹ to 10⁻³.

    Guarantees
    ----------
    ``(epsilon, delta)``-differential privacy for data of at most N items. Data with more items are visibly refused.
    Rounding is bounded and charged to ``epsilon``. Proof: docs/proofs/relaxed-partition.md.

    Notes
    -----
    Intervals are given for ε/Δ ≥ 2.

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
    public_items: Converted[SupportsIndex | float, int] = named(whole_items, most=LARGEST_NUMBER)
    delta: Converted[EpsilonLike, Fraction] = named(parse_epsilon, default=Fraction(1, 10**9))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _SMALLEST_DELTA <= self.delta <= _LARGEST_DELTA:
            raise UsageError(f"`delta` must lie between 1e-11 and 0.001, not {short_decimal(self.delta)}.")
        if self.epsilon > LARGEST_EPSILON or self.epsilon_per_cell < SMALLEST_EPSILON:
            raise UsageError("The relaxed partition mechanism accepts an ε of at most 20, and at least 0.001 per item.")

    @property
    def radius(self) -> int:
        """D: an exact draw is farther from the data with probability at most ``β = δ / (2⌈e^ε⌉)``.

        At most ``(2m + 1)·e^{π√(2(N+m)/3)}`` partitions are at distance m, and the normalizer is at least 1.
        """
        c = self.family.c
        target = math.log(self.delta / (2 * math.ceil(math.exp(float(self.epsilon))))) + math.log(-math.expm1(-c / 4))

        def is_beyond(m: int) -> bool:
            return math.log(2 * m + 1) + math.pi * math.sqrt(2 * (self.public_items + m) / 3) - c * m <= target

        # If the term is below one and m ≥ 4/c, terms fall by a factor of at least e^(−c/4), which bounds their sum.
        return bisect_left(range(2**40), True, lo=math.ceil(4 / c), key=is_beyond)

    @property
    def family(self) -> FamilyParameters:
        """The member of the family used for draws: c = ε/(2Δ), if the exact loss leaves room for rounding."""
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
    """The partitions in which every row has a value that it has in some partition at most ``radius`` from λ."""

    def __init__(self, profile: Profile, radius: int) -> None:
        self._profile, self._radius = profile, radius
        # Labels and items of the largest counts, from the largest on.
        self._counts = profile.counts[::-1]
        self._labels = np.append(0, np.cumsum(profile.prevalences[::-1]))
        self._items = np.append(0, np.cumsum(self._counts * profile.prevalences[::-1]))

    def holds(self, drawn: Profile) -> bool:
        """Return whether a partition lies in the window.

        Row i may have the value h if at most ``radius`` cells fill rows 1..i up to h, and if removing at most
        ``radius`` cells cuts rows i, i+1, … down to h. It is enough to look at the corners of the drawn diagram.
        """
        heights = drawn.counts
        rows = drawn.cumulative_prevalence(heights)
        reaching = self._profile.cumulative_prevalence(heights)
        added = heights * (rows - reaching) - (self.first_items(rows) - self.first_items(reaching))
        # Between two counts of the drawn diagram, and below the least, lies a corner that the diagram lacks.
        floors = np.append(0, heights)
        above = drawn.cumulative_prevalence(floors + 1)
        higher = self._profile.cumulative_prevalence(floors + 1)
        removed = self.first_items(higher) - self.first_items(above) - floors * (higher - above)
        return not ((added[rows > reaching] > self._radius).any() or (removed[higher > above] > self._radius).any())

    def first_items(self, rows: Ints) -> Ints:
        """Return the number of items in the first rows of λ, for each number of rows."""
        rows = np.minimum(rows, self._labels[-1])
        group = np.searchsorted(self._labels, rows, side="right") - 1
        counts = np.append(self._counts, 0)
        return np.asarray(self._items[group] + (rows - self._labels[group]) * counts[group])


def draw_inside(chain: DiagonalChain, window: Window, size: int, choices: Choices) -> list[Profile]:
    """Draw partitions from a chain until ``size`` of them lie in a window."""
    kept: list[Profile] = []
    while len(kept) < size:
        made = (bounded_profile(each.arms, each.legs) for each in chain.draw(size - len(kept), choices))
        kept.extend(each for each in made if window.holds(each))
    return kept
