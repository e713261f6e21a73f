"""Blocks of points, each of which supports some values of the block: their distribution, estimator and best field."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.local.decoder import SupportChannel
from anonhist.local.estimate import BlockLimits, Limits, SupportLimits
from anonhist.local.survey import check_entries
from anonhist.numeric import ExponentialQuotient, SignedSums, TwoBinomials
from anonhist.numeric.projective_space import HadamardMatrix, ProjectiveSpace, prime_at_least, prime_at_most
from anonhist.privacy import parse_whole_number
from anonhist.randomness import RandomSource, bernoulli, uniform_integers

if TYPE_CHECKING:
    from anonhist.local.reports import Tally
    from anonhist.numeric.arrays import Bools, Floats, Ints

    Design = HadamardMatrix | ProjectiveSpace

# Above this, the transform of all cells does not fit in memory, and neither does a list of pairs that takes minutes.
MOST_CELLS, MOST_PAIRS = 1 << 27, 1 << 36
# A transform of all cells costs about as much as comparing each cell with this many values.
_PAIRS_PER_CELL = 16
_PIECE = 1 << 16
_MOST_COUNTED_POINTS = 1 << 20


@dataclass(frozen=True)
class BlockDesign:
    """B blocks with the same design: value x is item ``x mod items`` of block ``⌊x/items⌋``.

    A report is a cell, ``block·b + point``. A cell that supports the value is E = e^ε times as likely as one that does
    not, which has the probability ``u = 1/((E − 1)·s + B·b)``. So the report is a uniform supporting cell with
    probability ``(E − 1)·s·u``, and otherwise a uniform cell: reports are drawn this way.
    """

    design: Design
    blocks: int

    @property
    def cells(self) -> int:
        """The number of possible reports, ``B·b``."""
        return self.blocks * self.design.points

    @property
    def items(self) -> int:
        """The largest number of values."""
        return self.blocks * self.design.items

    def base(self, odds: ExponentialQuotient) -> ExponentialQuotient:
        """Return u."""
        return 1 / ((odds - 1) * self.design.support + self.cells)

    def matrix(self, size: int, odds: ExponentialQuotient) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value) for the first values, shape (size, cells)."""
        check_entries(size * self.cells)
        low = self.base(odds)
        high = low * odds
        supports = self.supports(np.arange(self.cells), np.arange(size)[:, np.newaxis])
        return tuple(tuple(high if entry else low for entry in row) for row in supports.tolist())

    def supports(self, cells: Ints, values: Ints) -> Bools:
        """Return whether the cells support the values; the arrays are broadcast."""
        block, point = np.divmod(cells, self.design.points)
        home, item = np.divmod(values, self.design.items)
        return np.asarray((block == home) & self.design.supports(point, item))

    def draw(self, codes: Ints, odds: ExponentialQuotient, *, source: RandomSource) -> Ints:
        """Return one report for each value."""
        chosen = self.design.support * (odds - 1) * self.base(odds)
        reports = uniform_integers(self.cells, codes.size, source=source)
        rows = np.flatnonzero(bernoulli(chosen, codes.size, source=source))
        block, item = np.divmod(codes[rows], self.design.items)
        choices = uniform_integers(self.design.support, rows.size, source=source)
        reports[rows] = block * self.design.points + self.design.supporter(item, choices)
        return reports

    def support_bounds(self, items: int) -> tuple[int, int]:
        """Return the least and the largest number of the first items of a block that one of its points supports.

        With more than 2²⁰ points, these are the trivial bounds 0 and ``items``.
        """
        if self.design.points > _MOST_COUNTED_POINTS:
            return 0, items
        shares = np.zeros(self.design.items)
        shares[:items] = 1
        counts = np.rint(self.design.spread(shares)).astype(np.int64)
        return int(counts.min()), int(counts.max())

    def counts(self, tally: Tally, values: Ints) -> Ints:
        """Return the exact number of reports that support each value; refuse too many values with too many cells."""
        if self.cells <= MOST_CELLS and not self.is_listed(tally, values):
            cells = tally.dense(self.cells).reshape(self.blocks, self.design.points)
            every: Ints = self.design.sums(cells).ravel()[values]
            return every
        if values.size * tally.cells.size > MOST_PAIRS:
            raise UsageError(
                "With an alphabet of this size, estimating so many values takes too long; name fewer candidates."
            )
        out = np.zeros(values.size, dtype=np.int64)
        step = max(1, _PIECE // max(1, tally.cells.size))
        for start in range(0, values.size, step):
            piece = values[start : start + step, np.newaxis]
            out[start : start + step] = np.where(self.supports(tally.cells, piece), tally.counts, 0).sum(axis=1)
        return out

    def is_listed(self, tally: Tally, values: Ints) -> bool:
        """Return whether it is faster to compare each of the values with each report than to transform all cells."""
        return values.size * tally.cells.size <= _PAIRS_PER_CELL * self.cells

    def block_counts(self, tally: Tally, values: Ints) -> Ints:
        """Return the number of reports in the block of each of the values."""
        # Cells ascend, so the cells of a block are adjacent; there may be more blocks than fit in memory.
        reached = np.concatenate(([0], np.cumsum(tally.counts)))
        first = values // self.design.items * self.design.points
        ends = np.searchsorted(tally.cells, first + self.design.points)
        return np.asarray(reached[ends] - reached[np.searchsorted(tally.cells, first)])

    def channel(
        self, tally: Tally, codes: Ints | None, *, size: int, odds: ExponentialQuotient
    ) -> tuple[SupportChannel, Ints]:
        """Return the distribution of the cells for all values, or for these and the others, and the count of each."""
        if self.cells > MOST_CELLS:
            raise UsageError(
                "This survey has too many possible reports for this decoder; choose projected or normalized."
            )
        chosen = np.arange(size) if codes is None else codes

        def spread(shares: Floats, at: Ints = chosen) -> Floats:
            every = np.zeros(self.items)
            every[at] = shares
            return self.design.spread(every.reshape(self.blocks, -1)).ravel()

        def gather(weights: Floats) -> Floats:
            sums: Floats = self.design.sums(weights.reshape(self.blocks, -1)).ravel()[chosen]
            return sums

        others: Floats | None = None
        if chosen.size < size:
            # Others report as if they were all equally frequent.
            rest = np.setdiff1d(np.arange(size), chosen)
            others = spread(np.full(rest.size, 1 / rest.size), rest)
        base = self.base(odds)
        channel = SupportChannel(chosen.size, self.cells, float(base), float(base * (odds - 1)), spread, gather, others)
        return channel, tally.dense(self.cells)


@frozen
class BlockEstimator:
    """The estimator ``n·f_x = α·(c_x − ρ·c_B) + γ·n``: c_x reports support x, and c_B are in its block.

    With s points that support a value, m that support two, and u as in :class:`BlockDesign`, ``ρ = m/s``, ``α = 1/(u·(E
    − 1)·(s − m))`` and ``γ = −α·u·(s − ρ·b)``. One report contributes α·(1 − ρ) if it supports x, −α·ρ if it is
    elsewhere in the block, and 0 in another block; on average this is −γ, or 1 − γ if the report was made from x.
    """

    blocks: BlockDesign
    size: int
    epsilon: Fraction

    @cached_property
    def ratio(self) -> float:
        """ρ."""
        return float(Fraction(self.blocks.design.num_shared) / self.blocks.design.support)

    @cached_property
    def factor(self) -> float:
        """α."""
        design = self.blocks.design
        return (self._gain * design.support + self.blocks.cells) / (
            self._gain * float(design.support - design.num_shared)
        )

    @cached_property
    def offset(self) -> float:
        """γ."""
        design = self.blocks.design
        left = design.support - Fraction(design.num_shared) / design.support * design.points
        return -float(left / (design.support - design.num_shared)) / self._gain

    @cached_property
    def variances(self) -> tuple[float, float, float]:
        """Variance added by a person with the value, with another value of its block, or with one of another block."""
        own, near, far = (
            self.factor**2 * (supporting * (1 - self.ratio) ** 2 + beside * self.ratio**2)
            for supporting, beside in self._chances
        )
        return own - (1 - self.offset) ** 2, near - self.offset**2, far - self.offset**2

    @cached_property
    def average_neighbours(self) -> float:
        """The share of the other values that are in the block of a value, averaged over all values."""
        room = self.blocks.design.items
        full, left = divmod(self.size, room)
        return (full * room * (room - 1) + left * (left - 1)) / (self.size * (self.size - 1))

    @cached_property
    def null_probability(self) -> float:
        """An upper bound on the probability that a report in the block of a value that nobody has supports it.

        It is s/b for people with values of other blocks, and slightly less for those with other values of this block.
        """
        if self.blocks.blocks == 1:
            _, (shared, _), _ = self._chances
            return shared
        return self.blocks.design.support / self.blocks.design.points

    def variance(self, frequency: float | Floats = 0.0, neighbours: float | Floats | None = None) -> Floats:
        """Return n times the variance of the raw estimate of values with these shares and shares of their neighbors."""
        own, near, far = self.variances
        share = np.asarray(frequency, dtype=np.float64)
        beside = self.average_neighbours * (1 - share) if neighbours is None else neighbours
        return share * own + beside * near + (1 - share - beside) * far

    @property
    def mean_variance(self) -> float:
        """The variance of the estimates times n, averaged over the values."""
        return float(self.variance(1 / self.size))

    def raw(self, supports: Ints, beside: Ints, users: int) -> Floats:
        """Return the unbiased estimates, given c_x and c_B."""
        return self.factor * (supports - self.ratio * beside) / users + self.offset

    def limits(self, supports: Ints, beside: Ints, users: int) -> Limits:
        """Return the limits from which intervals are computed, given c_x and c_B.

        Supports are sums of two binomial numbers if all people without a value support it with the same probability,
        because there is one block or no point supports two values; otherwise the limits use a weighted sum of reports
        that support it and of others in its block.
        """
        design, (own, near, far) = self.blocks.design, self._chances
        if self.blocks.blocks == 1 or not design.num_shared:
            return SupportLimits(supports, TwoBinomials(users, own[0], near[0], 1 - own[0], 1 - near[0]))
        weights = Fraction(design.num_shared) / (design.support - Fraction(design.num_shared))
        up, down = weights.denominator, weights.numerator
        distribution = SignedSums(users, up, down, own=own, near=near, far=far)
        together = np.clip(self.block_share(beside, users), 0, 1)
        return BlockLimits(up * supports - down * (beside - supports), together, distribution)

    def block_share(self, beside: Ints, users: int) -> Floats:
        """Return the unbiased estimate of the share of people with values of a block, given c_B."""
        design = self.blocks.design
        return (beside / users - design.points * self._base) / (self._gain * design.support * self._base)

    @cached_property
    def _chances(self) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
        """Probabilities that a report supports a value, and that it is elsewhere in its block.

        They are for people with the value, with another value of its block, and with one of another block.
        """
        design, gain, base = self.blocks.design, self._gain, self._base
        elsewhere = (design.points - design.support) * base
        shared, apart = float(design.num_shared), float(design.support - design.num_shared)
        return (
            ((gain + 1) * design.support * base, elsewhere),
            ((gain * shared + design.support) * base, gain * apart * base + elsewhere),
            (design.support * base, elsewhere),
        )

    @cached_property
    def _gain(self) -> float:
        """E − 1, accurate for small ε."""
        return math.expm1(self.epsilon)

    @cached_property
    def _base(self) -> float:
        return 1 / (self._gain * self.blocks.design.support + self.blocks.cells)


LARGEST_FIELD = (1 << 31) - 1
# A space with more points than this, and more than twice the values, is used only on request.
MANY_POINTS = 1 << 27


def space_for(field: SupportsIndex, size: int) -> ProjectiveSpace:
    """Return the smallest space over a prime field, from 2 to 2³¹ − 1, with this many points; F^t must be below 2⁶²."""
    prime = parse_whole_number(field, name="field", least=2, most=LARGEST_FIELD)
    return ProjectiveSpace(prime, _length(prime, size))


def best_field(size: int, epsilon: Fraction) -> int:
    """Return the field with the lowest error of projective geometry: one near e^ε + 1, or one with few spare points."""
    aim = int(min(math.exp(epsilon) + 1, LARGEST_FIELD))
    below, above = prime_at_most(aim), prime_at_least(aim + 1)
    near = {2, below, prime_at_most(max(2, below - 1)), above, prime_at_least(above + 1)}
    # For each vector length, the first field that is large enough for all values.
    near |= {prime_at_least(_least_field(size, length)) for length in range(2, size.bit_length() + 2)}
    possible = [field for field in near if field <= LARGEST_FIELD and field ** _length(field, size) < 1 << 62]
    spaces = [space_for(field, size) for field in sorted(possible)]
    few = [space for space in spaces if space.points <= max(MANY_POINTS, 2 * size)]
    return min(few, key=lambda space: _variance(space, math.expm1(epsilon))).field


def _length(field: int, size: int) -> int:
    """Return the smallest t ≥ 2 with (F^t − 1)/(F − 1) ≥ size."""
    length, points = 2, field + 1
    while points < size:
        length, points = length + 1, field * points + 1
    return length


def _least_field(size: int, length: int) -> int:
    """Return the smallest F ≥ 2, prime or not, with (F^t − 1)/(F − 1) ≥ size."""
    field = max(2, int(size ** (1 / (length - 1))) - 2)
    while (field**length - 1) // (field - 1) < size:
        field += 1
    return field


def _variance(space: ProjectiveSpace, gain: float) -> float:
    """Return n times the variance of a value that nobody has, given e^ε − 1."""
    base = 1 / (gain * space.support + space.points)
    q = (gain * space.num_shared + space.support) * base
    return q * (1 - q) / (gain * (space.support - space.num_shared) * base) ** 2
