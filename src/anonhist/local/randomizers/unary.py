"""One independently randomized bit for each label: k-RAPPOR and optimized unary encoding."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from anonhist.frozen import frozen
from anonhist.local.bits import bit_counts, check_entries, have_ones, honest_ones, overwrite_bits
from anonhist.local.randomizers.krr import LabelSurvey
from anonhist.local.surveys.reports import BytesColumn, Column, nonzero_cells
from anonhist.numeric import ExponentialQuotient
from anonhist.randomness import bernoulli, bernoulli_bits

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource


@frozen(kw_only=True)
class UnarySurvey(LabelSurvey):
    """A survey whose report has k bits: that of the value is 1 with probability p, every other one with probability q.

    Two values differ in two bits, so the report costs ``ln(p(1 − q)/(q(1 − p)))``. Reports with more or fewer ones than
    :attr:`honest_ones` are invalid.
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        """One column, ``report``: bit j is bit j mod 8, counted from the lowest, of byte ⌊j/8⌋."""
        return (BytesColumn("report", -(-self.size // 8)),)

    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value), shape (k, 2^k): reports in the order of the numbers whose bits they are."""
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

    Two values differ in two bits, so each bit may cost ε/2, not ε. Order-optimal for small ε;
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
