"""One independently randomized bit for each label, packed: k-RAPPOR and optimized unary encoding."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from anonhist.frozen import frozen
from anonhist.local.randomizers.closed import LabelSurvey
from anonhist.local.reports import BytesColumn, Column, nonzero_cells
from anonhist.local.survey import check_entries
from anonhist.numeric import ExponentialQuotient
from anonhist.randomness import RandomSource, bernoulli, bernoulli_bits

# Sums of this many bits fit in a byte.
_ROWS = 255


def overwrite_bits(rows: NDArray[np.uint8], places: NDArray[np.int64], bits: NDArray[np.bool_]) -> None:
    """Set bit ``places[i]`` of row i to ``bits[i]``, in place."""
    users = np.arange(len(rows))
    masks = np.left_shift(np.uint8(1), (places & 7).astype(np.uint8))
    at = places >> 3
    rows[users, at] = np.where(bits, rows[users, at] | masks, rows[users, at] & ~masks)


def bit_counts(rows: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """Return the number of rows in which each of the first ``size`` bits is set, shape (size,)."""
    total = np.zeros(size, dtype=np.int64)
    for start in range(0, len(rows), _ROWS):
        bits = np.unpackbits(rows[start : start + _ROWS], axis=1, count=size, bitorder="little")
        total += np.add.reduce(bits, axis=0, dtype=np.uint8)
    return total


# An honest report has too many ones with at most this probability, and too few with at most the same: 2⁻⁴⁰ in total.
LOG2_CHANCE = -41
# Probabilities are whole multiples of 2⁻¹⁹², weights of 2⁻¹⁹² of the largest.
_BITS = 192
_ONE = 1 << _BITS
# Terms this far below the largest one are negligible.
_NEGLIGIBLE = _ONE >> 96


def honest_ones(
    size: int, own: int, own_probability: ExponentialQuotient, other_probability: ExponentialQuotient
) -> tuple[int, int]:
    """Return bounds on the number of ones in an honest report, which fail with probability at most 2⁻⁴⁰.

    Integers a ≤ b with ``P(ones < a) ≤ 2^−41`` and ``P(ones > b) ≤ 2^−41``, at most one from the tightest bounds;
    certified integer arithmetic makes them the same on all machines. The ones are a sum of two binomial numbers. It
    increases stochastically with the number of bits that are likelier to be 1, so the bounds use the largest, or the
    smallest, possible number of bits of the value: 1 to ``own``. Probabilities are rounded up for the upper bound and
    down for the lower one.
    """
    counted = own if own_probability >= other_probability else 1
    most = _most(size, counted, own_probability.bounds(_BITS)[1], other_probability.bounds(_BITS)[1])
    counted = own if own_probability <= other_probability else 1
    fewest_zeros = _most(
        size, counted, _ONE - own_probability.bounds(_BITS)[0], _ONE - other_probability.bounds(_BITS)[0]
    )
    return size - fewest_zeros, most


def have_ones(rows: NDArray[np.uint8], size: int, least: int, most: int) -> NDArray[np.bool_]:
    """Return which packed rows of ``size`` bits have ``least`` to ``most`` ones, and none after them, shape (n,)."""
    counts = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
    mask: NDArray[np.bool_] = (least <= counts) & (counts <= most)
    # A report is whole bytes; devices set the bits after the last one to 0.
    return mask & (rows[:, -1] >> size % 8 == 0) if size % 8 else mask


def _most(size: int, own: int, own_probability: int, other_probability: int) -> int:
    """Return the least m that is known to have ``P(ones > m) ≤ 2^−41``; probabilities are multiples of 2⁻¹⁹²."""
    first, tails = _tails(size - own, other_probability)
    rest = _ONE - own_probability
    for _ in range(own):
        before = [_ONE, *tails]
        after = [*tails, tails[-1]]
        pairs = zip(before, after, strict=True)
        tails = [-(-(own_probability * left + rest * right) >> _BITS) for left, right in pairs]
    least = _ONE >> -LOG2_CHANCE
    return next((first + place - 1 for place, tail in enumerate(tails) if tail <= least), size)


def _tails(trials: int, probability: int) -> tuple[int, list[int]]:
    """Return j_0 and bounds of ``P(X ≥ j)·2^192`` from above for j = j_0, j_0 + 1, …; the last also holds for larger j.

    X is binomial. Weights relative to that of the mode follow from each other; they are rounded up for the tail and
    down for the total.
    """
    complement = _ONE - probability
    mode = min((trials + 1) * probability >> _BITS, trials)
    total = _ONE
    weight, place = _ONE, mode
    while weight > _NEGLIGIBLE and place > 0:
        weight = weight * place * complement // ((trials - place + 1) * probability)
        place -= 1
        total += weight
    high, low, place = _ONE, _ONE, mode
    weights = []
    while high > _NEGLIGIBLE and place < trials:
        above, below = (trials - place) * probability, (place + 1) * complement
        high, low, place = -(-high * above // below), low * above // below, place + 1
        weights.append(high)
        total += low
    reached = 0
    if place < trials:
        # Ratios of terms decrease, so the remaining terms are at most a geometric series.
        above, below = (trials - place) * probability, (place + 1) * complement
        reached = -(-high * above // (below - above))
    else:
        weights.append(0)
    sums = []
    for weight in reversed(weights):
        reached += weight
        sums.append(min(_ONE, -(-(reached << _BITS) // total)))
    return mode, [_ONE, *reversed(sums)]


@frozen(kw_only=True)
class UnarySurvey(LabelSurvey):
    """A survey whose report has k bits: the value's bit is 1 with probability p, every other one with probability q.

    Two values differ in two bits, so the report costs ``ln(p(1 − q)/(q(1 − p)))``. Reports with more or fewer ones than
    :attr:`honest_ones` are invalid.
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        """One column, ``report``: bit j is bit j mod 8, counted from the lowest, of byte ⌊j/8⌋."""
        return (BytesColumn("report", -(-self.size // 8)),)

    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value), shape (k, 2^k): reports in the order of the numbers with these bits."""
        size = self.size
        check_entries(size << min(size, 64))
        p, q = self.true_support_probability, self.false_support_probability
        # The probability depends only on the value's own bit and the number of other bits set.
        others = [q**ones * (1 - q) ** (size - 1 - ones) for ones in range(size)]
        own = {True: [p * rest for rest in others], False: [(1 - p) * rest for rest in others]}
        return tuple(
            tuple(own[bool(report >> x & 1)][report.bit_count() - (report >> x & 1)] for report in range(1 << size))
            for x in range(size)
        )

    @property
    def _working_bytes(self) -> int:
        return self.size // 8

    def _draw(self, codes: NDArray[np.int64], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        bits = bernoulli_bits(self.false_support_probability, codes.size, self.size, source=source)
        overwrite_bits(bits, codes, bernoulli(self.true_support_probability, codes.size, source=source))
        return {"report": bits}

    def _count_cells(self, columns: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return nonzero_cells(bit_counts(columns["report"], self.size))

    @cached_property
    def honest_ones(self) -> tuple[int, int]:
        """Bounds on the number of ones in an honest report, which fail with probability at most 2⁻⁴⁰; public."""
        return honest_ones(self.size, 1, self.true_support_probability, self.false_support_probability)

    def _honest(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        return have_ones(columns["report"], self.size, *self.honest_ones)

    @property
    def _support_sizes(self) -> tuple[int, int]:
        return self.honest_ones


@frozen(kw_only=True)
class KRAPPOR(UnarySurvey):
    """k-RAPPOR, symmetric unary encoding: k bits, each kept with probability ``z/(1 + z)``, ``z = e^(ε/2)``.

    Two values differ in two bits, so each bit may cost ε/2, not ε. It is order-optimal for small ε;
    :class:`OptimizedUnary` has a lower error at the same report size.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    title
        Any text; see :class:`Survey`.

    Source: Kairouz and others 2016, §3.2; Erlingsson and others 2014 (the basic one-time RAPPOR).

    Examples
    --------
    >>> survey = KRAPPOR(alphabet=2, epsilon=1)
    >>> float(max(row[1] for row in survey.matrix()) / min(row[1] for row in survey.matrix())).__round__(6)
    2.718282
    """

    decode_cost: ClassVar[str] = "n·k"
    name: ClassVar[str] = "k-rappor"

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``z/(1 + z)``."""
        root = ExponentialQuotient.exponential(self.epsilon / 2)
        return root / (1 + root)

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``1/(1 + z)``."""
        return 1 - self.true_support_probability


@frozen(kw_only=True)
class OptimizedUnary(UnarySurvey):
    """Optimized unary encoding: the value's bit is 1 with probability 1/2, every other with ``1/(e^ε + 1)``.

    Of all ways to randomize k bits independently, it has the lowest error for rare values: n times the variance of a
    value that nobody has is ``4e^ε/(e^ε − 1)²``.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    title
        Any text; see :class:`Survey`.

    Source: Wang and others 2017, §4.3.

    Examples
    --------
    >>> survey = OptimizedUnary(alphabet=1000, epsilon=1)
    >>> round(survey.variance(), 4)
    3.6827
    """

    decode_cost: ClassVar[str] = "n·k"
    name: ClassVar[str] = "optimized-unary"

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """1/2."""
        # A fraction like the others, so that results computed from it are exact, too.
        return self.odds / (2 * self.odds)

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``1/(e^ε + 1)``."""
        return 1 / (self.odds + 1)
