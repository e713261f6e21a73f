"""Surveys whose reports are points of blocks: Hadamard response and projective geometry, plain or hybrid."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.frozen import Converted, completed, frozen
from anonhist.local.block_design import BlockDesign, BlockEstimator, best_field, space_for
from anonhist.local.decoder import Channel
from anonhist.local.estimate import ForgedWeight, Raw, forged_weight, p_values
from anonhist.local.randomizers.closed import ClosedSurvey, PureSurvey
from anonhist.local.reports import Tally
from anonhist.numeric import ExponentialQuotient
from anonhist.numeric.projective_space import HadamardMatrix, ProjectiveSpace, prime_at_most
from anonhist.privacy import parse_whole_number
from anonhist.randomness import RandomSource


@frozen(kw_only=True)
class BlockSurvey(ClosedSurvey):
    """A survey whose report is a cell, which is more likely in the block of the value than in others.

    A report supports some values of its block. It carries no information about the values of another block, so its
    distribution depends on whether two values are in one block: the survey is not pure.
    """

    @property
    @abstractmethod
    def block_design(self) -> BlockDesign:
        """The blocks."""

    @abstractmethod
    def _with(self, blocks: int) -> BlockDesign:
        """Return this number of blocks, with room for all values."""

    @abstractmethod
    def _block_numbers(self) -> set[int]:
        """Return the numbers of blocks to choose from."""

    def _number(self, given: SupportsIndex | None) -> int:
        """Return the number of blocks; by default, the one with the lowest average error."""
        if given is not None:
            return parse_whole_number(given, name="blocks", most=self.size)
        estimators = {each: BlockEstimator(self._with(each), self.size, self.epsilon) for each in self._block_numbers()}
        return min(sorted(estimators), key=lambda each: estimators[each].mean_variance)

    @cached_property
    def estimator(self) -> BlockEstimator:
        """The estimator and its variance."""
        return BlockEstimator(self.block_design, self.size, self.epsilon)

    @property
    def cells(self) -> int:
        """One cell per report."""
        return self.block_design.cells

    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value), shape (k, cells)."""
        return self.block_design.matrix(self.size, self.odds)

    def variance(self, frequency: float = 0.0, neighbours: float | None = None) -> float:
        """Return n times the variance of the raw estimate of a value with this frequency.

        Parameters
        ----------
        frequency
            The share of people with the value.
        neighbours
            The share of people with other values of its block; by default its average if all values but this one are
            equally frequent.
        """
        return float(self.estimator.variance(frequency, neighbours))

    @property
    def forged_weight(self) -> ForgedWeight:
        """The effect of one forged report: it adds α(1 − ρ) + γ, −αρ + γ or γ; see :class:`BlockEstimator`."""
        room, estimator = self.block_design.design.items, self.estimator
        outside = estimator.offset - estimator.factor * estimator.ratio
        inside = estimator.factor * (1 - estimator.ratio) + estimator.offset
        # Either all blocks are full except possibly the last, or some are empty.
        fills = {min(room, self.size), self.size % room or room}
        if self.size <= room * (self.block_design.blocks - 1):
            fills.add(0)
        worst = [
            forged_weight(
                items,
                self.block_design.support_bounds(items),
                inside=inside,
                outside=outside,
                beyond=estimator.offset,
                elsewhere=self.size - items,
            )
            for items in sorted(fills)
        ]
        return ForgedWeight(max(each.each for each in worst), max(each.total for each in worst))

    def raw_of(self, tally: Tally, codes: NDArray[np.int64] | None) -> Raw:
        """Return the unbiased estimates, before any decoder, of all values or of these."""
        values = np.arange(self.size) if codes is None else codes
        supports = self.block_design.counts(tally, values)
        beside = self.block_design.block_counts(tally, values)
        raw = self.estimator.raw(supports, beside, tally.users)
        share = np.clip(raw, 0, 1)
        neighbours = np.clip(self.estimator.block_share(beside, tally.users) - share, 0, 1 - share)
        errors = np.sqrt(self.estimator.variance(share, neighbours) / tally.users)
        # Given the number of reports in the block, the number that supports a value nobody has is at most binomial.
        tests = p_values(supports, beside, self.estimator.null_probability)
        return Raw(raw, errors, tests, self.estimator.limits(supports, beside, tally.users))

    def channel_of(self, tally: Tally, codes: NDArray[np.int64] | None) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the cells and the count of each; see :class:`ClosedSurvey`."""
        return self.block_design.channel(tally, codes, size=self.size, odds=self.odds)

    def _draw(self, codes: NDArray[np.int64], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        return {"report": self.block_design.draw(codes, self.odds, source=source)}


@frozen(kw_only=True)
class HadamardResponse(BlockSurvey):
    """Hadamard response: B blocks, each the rows of a b × b Hadamard matrix; all columns but the first are values.

    Value x is column ``x mod (b − 1) + 1`` of block ``⌊x/(b − 1)⌋``. The rows of its block with +1 in its column are
    e^ε times as likely as all others. The matrix is Sylvester's: row i has −1 in column j if the binary numbers i and j
    have an odd number of ones in common. With ``E = e^ε``, n times the variance of a value that nobody has is ``2(2B −
    1 + E)/(E − 1)²`` if people have values of other blocks, and ``(E + 1)(2B − 1 + E)/(E − 1)²`` if they have others of
    its own; at best about ``8/(E − 1)`` on average, twice that of the best mechanisms for large ε, and the same for
    small ε. Its decoding is the fastest of all.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    blocks
        B, from 1 to k; by default the number with the lowest average error. b is the smallest power of two with ``B·(b
        − 1) ≥ k``.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If B is out of range.

    Source: Acharya and others 2019, §4 and §5; there B is the largest power of two below min(e^ε, 2k).

    Examples
    --------
    >>> survey = HadamardResponse(alphabet=1000, epsilon=1)
    >>> survey.blocks, survey.cells, round(survey.variance(), 4)
    (1, 1024, 4.6827)
    """

    decode_cost: ClassVar[str] = "n + K·log K"
    name: ClassVar[str] = "hadamard-response"
    blocks: Converted[SupportsIndex | None, int] = completed(lambda self, given: self._number(given), default=None)

    def _block_numbers(self) -> set[int]:
        # With one column fewer than a power of two in every block, no block is empty.
        return {-(-self.size // ((1 << digits) - 1)) for digits in range(1, self.size.bit_length() + 1)}

    @cached_property
    def block_design(self) -> BlockDesign:
        """The B matrices."""
        return self._with(self.blocks)

    def _with(self, blocks: int) -> BlockDesign:
        columns = -(-self.size // blocks)
        return BlockDesign(HadamardMatrix(1 << columns.bit_length()), blocks)


@frozen(kw_only=True)
class ProjectiveGeometry(PureSurvey):
    """Projective geometry response: K points; those that support the value are e^ε times as likely as the others.

    Values are the first k points of the space of vectors of length t over the field of F elements, numbered as
    :class:`ProjectiveSpace` says: number ``(F^m − 1)/(F − 1) + v_{m−1}·F^{m−1} + … + v_0`` is the polynomial
    ``z^m + v_{m−1}·z^{m−1} + … + v_0``. Report y supports value x if the coefficient of z^{t−1} in x·y is zero, modulo
    F. With ``s = (F^{t−1} − 1)/(F − 1)`` points that support a value, ``m = (F^{t−2} − 1)/(F − 1)`` that support two,
    and ``u = 1/((e^ε − 1)·s + K)``: ``p = e^ε·s·u`` and ``q = ((e^ε − 1)·m + s)·u``. For a value that nobody has, n
    times the variance is only slightly above the lowest known, ``4e^ε/(e^ε − 1)²``, and a report takes log2 K bits.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    field
        F, a prime; by default one near e^ε + 1, with the lowest error. t is the smallest with ``(F^t − 1)/(F − 1) ≥
        k``.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If F is not a prime, or so large that F^t ≥ 2⁶².

    Notes
    -----
    Decoding takes O(n + K log K), by a Fourier transform along a cycle of all points; if K is much larger than k, by
    transforms of a few smaller spaces.

    Source: Feldman and others 2022, §3.

    Examples
    --------
    >>> survey = ProjectiveGeometry(alphabet=22_000, epsilon=5)
    >>> survey.field, survey.cells, round(1000 * survey.variance(), 2)
    (149, 22351, 27.23)
    """

    decode_cost: ClassVar[str] = "n + K·log K"
    name: ClassVar[str] = "projective-geometry"
    field: Converted[SupportsIndex | None, int] = completed(
        lambda self, given: best_field(self.size, self.epsilon) if given is None else space_for(given, self.size).field,
        default=None,
    )

    @cached_property
    def space(self) -> ProjectiveSpace:
        """The points and the values they support."""
        return space_for(self.field, self.size)

    @property
    def cells(self) -> int:
        """One cell per point, K."""
        return self.space.points

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``p = e^ε·s·u``."""
        return self._design.base(self.odds) * self.odds * self.space.support

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``q = ((e^ε − 1)·m + s)·u``."""
        return self._design.base(self.odds) * ((self.odds - 1) * self.space.num_shared + self.space.support)

    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value), shape (k, K): reports in the order of the numbers of the points."""
        return self._design.matrix(self.size, self.odds)

    @cached_property
    def _design(self) -> BlockDesign:
        return BlockDesign(self.space, 1)

    @property
    def _support_sizes(self) -> tuple[int, int]:
        return self._design.support_bounds(self.size)

    def _draw(self, codes: NDArray[np.int64], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        return {"report": self._design.draw(codes, self.odds, source=source)}

    def _supports(self, tally: Tally, codes: NDArray[np.int64] | None) -> NDArray[np.int64]:
        chosen = np.arange(self.size) if codes is None else codes
        if self.space.is_folded(self.size) and not self._design.is_listed(tally, chosen):
            return self.space.first_sums(tally.cells, tally.counts, self.size)[chosen]
        return self._design.counts(tally, chosen)

    def channel_of(self, tally: Tally, codes: NDArray[np.int64] | None) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the cells and the count of each; see :class:`ClosedSurvey`."""
        return self._design.channel(tally, codes, size=self.size, odds=self.odds)


# With five elements the variance is about 25% above that of the best field; with two it would be twice as large.
_FIELD = 5


@frozen(kw_only=True)
class HybridProjectiveGeometry(BlockSurvey):
    """Hybrid projective geometry response: B blocks, each a projective space over a small field of F elements.

    Value x is point ``x mod b`` of block ``⌊x/b⌋``, b points a block, numbered as :class:`ProjectiveSpace` says. The
    points of its block that support it are e^ε times as likely as all others. With ``B ≈ (e^ε + 1)/F`` the variance
    is about ``1 + 1/(F − 1)`` times that of projective geometry. Spaces have few spare points and are fast to
    decode.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    field
        F, a prime; by default 5, or the largest prime ≤ e^ε + 1 if that is smaller.
    blocks
        B, from 1 to k; by default the number with the lowest average error. Each has the smallest space with ``B·b ≥
        k``.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If F is not a prime, or so large that F^t ≥ 2⁶², or B is out of range.

    Source: Feldman and others 2022, §4.

    Examples
    --------
    >>> survey = HybridProjectiveGeometry(alphabet=22_000, epsilon=5, blocks=30)
    >>> survey.field, survey.cells, round(1000 * survey.variance(), 2)
    (5, 23430, 34.73)
    """

    decode_cost: ClassVar[str] = "n + K"
    name: ClassVar[str] = "hybrid-projective-geometry"
    field: Converted[SupportsIndex | None, int] = completed(lambda self, given: self._prime(given), default=None)
    blocks: Converted[SupportsIndex | None, int] = completed(lambda self, given: self._number(given), default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.block_design  # This refuses a field that is too large.

    def _prime(self, given: SupportsIndex | None) -> int:
        return (
            prime_at_most(int(min(_FIELD, math.exp(self.epsilon) + 1))) if given is None else space_for(given, 2).field
        )

    @cached_property
    def block_design(self) -> BlockDesign:
        """The B spaces."""
        return self._with(self.blocks)

    def _with(self, blocks: int) -> BlockDesign:
        return BlockDesign(space_for(self.field, -(-self.size // blocks)), blocks)

    def _block_numbers(self) -> set[int]:
        # Numbers of blocks that spaces of each size fill; with more blocks, some would be empty.
        found, points = set(), space_for(self.field, 2).points
        while points < self.field * self.size:
            found.add(-(-self.size // points))
            points = self.field * points + 1
        return found
