"""O-RAPPOR for one report, and RAPPOR for reports repeated at a bounded cost while the answer stays the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, log
from typing import Any, ClassVar, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, derived, frozen, named
from anonhist.local.cohort_counts import BitCounts, CohortCounts
from anonhist.local.randomizers.open import CohortSurvey
from anonhist.local.randomizers.unary import bit_counts, have_ones, honest_ones, overwrite_bits
from anonhist.local.reports import BytesColumn, Column, Reports, Tally, WholeColumn, nonzero_cells
from anonhist.local.shuffling import check_local_epsilon, report_guarantee
from anonhist.local.survey import SYSTEM, check_entries
from anonhist.numeric import ExponentialQuotient
from anonhist.privacy import EpsilonLike, Guarantee, parse_epsilon, parse_whole_number
from anonhist.properties.estimate import format_number
from anonhist.randomness import RandomSource, bernoulli, bernoulli_bits


@frozen(kw_only=True)
class BloomSurvey(CohortSurvey):
    """A survey whose report has k bits: the bits of the value under the cohort's functions are 1 with probability p.

    All other bits are 1 with probability q. Two values differ in at most 2h bits, h from 1 to 64; a value for which
    several functions collide has fewer bits. Reports with more or fewer ones than :attr:`honest_ones` are invalid.
    """

    _counts_type: ClassVar[type[CohortCounts]] = BitCounts
    hashes: Converted[SupportsIndex, int] = named(parse_whole_number, most=64, default=1)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Two columns: the ``cohort``, and ``report``, whose bit j is bit j mod 8, from the lowest, of byte ⌊j/8⌋."""
        return (WholeColumn("cohort", self.cohorts), BytesColumn("report", -(-self.places // 8)))

    @property
    def cells(self) -> int:
        """C(k + 1): cell c(k + 1) counts the reports of cohort c, and cell c(k + 1) + 1 + j those with bit j."""
        return self.cohorts * (self.places + 1)

    def _matrix(self, places: NDArray[np.int32]) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        size = self.places
        check_entries(places.shape[2] * self.cohorts << min(size, 64))
        p, q = self.true_support_probability, self.false_support_probability
        # Only two things matter: the number of the value's bits, and how many of them and of the others are 1.
        distributions = {
            (bits, own, rest): p**own
            * (1 - p) ** (bits - own)
            * q**rest
            * (1 - q) ** (size - bits - rest)
            / self.cohorts
            for bits in range(1, min(self.hashes, size) + 1)
            for own in range(bits + 1)
            for rest in range(size - bits + 1)
        }
        masks = np.bitwise_or.reduce(1 << places.astype(np.int64), axis=1).T.tolist()
        return tuple(
            tuple(
                distributions[mask.bit_count(), (report & mask).bit_count(), (report & ~mask).bit_count()]
                for mask in row
                for report in range(1 << size)
            )
            for row in masks
        )

    @property
    def _working_bytes(self) -> int:
        return self.places + 16 * self.hashes

    def _draw(self, codes: NDArray[Any], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        cohorts = self._cohorts(len(codes), source=source)
        p, q = self.true_support_probability, self.false_support_probability
        return {"cohort": cohorts, "report": self._filters(codes, cohorts, p, q, source=source)}

    def _filters(
        self,
        codes: NDArray[Any],
        cohorts: NDArray[np.int64],
        true_probability: ExponentialQuotient,
        false_probability: ExponentialQuotient,
        *,
        source: RandomSource,
    ) -> NDArray[np.uint8]:
        """Return one packed row per value: its own bits are 1 with the first probability, others with the second."""
        bits: NDArray[np.uint8] = bernoulli_bits(false_probability, len(codes), self.places, source=source)
        # A bit that two functions share is drawn twice, and the last draw counts.
        for places in self.functions.own_places(codes, cohorts).T:
            overwrite_bits(bits, places, bernoulli(true_probability, len(codes), source=source))
        return bits

    def _count_cells(self, columns: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(columns["cohort"], kind="stable")
        # Only cohorts with reports, because there may be many more.
        cohorts, starts = np.unique(columns["cohort"][order], return_index=True)
        table = np.empty((cohorts.size, self.places + 1), dtype=np.int64)
        for row, rows in zip(table, np.split(order, starts[1:]), strict=False):
            row[0] = rows.size
            row[1:] = bit_counts(columns["report"][rows], self.places)
        cells, counts = nonzero_cells(table.ravel())
        numbers, places = np.divmod(cells, self.places + 1)
        return cohorts[numbers] * (self.places + 1) + places, counts

    @cached_property
    def honest_ones(self) -> tuple[int, int]:
        """Bounds on the number of ones in an honest report, which fail with probability at most 2⁻⁴⁰; public."""
        own = min(self.hashes, self.places)
        return honest_ones(self.places, own, self.true_support_probability, self.false_support_probability)

    def _honest(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        return have_ones(columns["report"], self.places, *self.honest_ones)

    @property
    def _support_sizes(self) -> tuple[int, int]:
        return self.honest_ones

    def _is_possible(self, tally: Tally) -> bool:
        # By the cells that were counted, because there may be many more cohorts than reports.
        cohorts, places = np.divmod(tally.cells, self.places + 1)
        users = tally.at(cohorts * (self.places + 1))
        is_total = places == 0
        if sum(tally.counts[is_total].tolist()) != tally.users or bool((tally.counts > users).any()):
            return False
        least, most = self.honest_ones
        total: int = sum(tally.counts[~is_total].tolist())
        return least * tally.users <= total <= most * tally.users


# Logarithms are irrational; a guarantee rounds them up to multiples of this.
_STEP = Fraction(1, 10**9)
# Zero is not a valid epsilon, but is a valid probability.
_ZERO = re.compile(r"0+\.?0*|\.0+")

ARITHMETIC = (
    "for all reports together that a person makes of one remembered answer; every bit is randomized on the device with "
    "exact probabilities, and the logarithm is rounded up"
)


@dataclass(frozen=True, eq=False)
class Memory:
    """The permanent secret state of devices: their cohorts and permanent bits for one value each.

    Attributes
    ----------
    survey
        The digest of the survey.
    cohorts
        int64, shape (n,).
    bits
        The permanent response, packed as in a report, uint8, shape (n, width).
    """

    survey: str
    cohorts: NDArray[np.int64] = field(repr=False)
    bits: NDArray[np.uint8] = field(repr=False)

    def __len__(self) -> int:
        return len(self.cohorts)


def parse_probability(value: EpsilonLike, *, name: str) -> Fraction:
    """Read a probability exactly: text, a Fraction or a number from 0 to 1."""
    is_zero = _ZERO.fullmatch(value.strip()) if isinstance(value, str) else value == 0 and not isinstance(value, bool)
    exact = Fraction(0) if is_zero else parse_epsilon(value, name=name)
    if exact > 1:
        raise UsageError(f"`{name}` must be a probability, from 0 to 1.")
    return exact


@frozen(kw_only=True)
class RAPPOR(BloomSurvey):
    """RAPPOR: Bloom bits are randomized once and remembered, and the remembered bits are randomized in each report.

    Permanent: a bit is replaced by a fair coin with probability f. Instantaneous: a remembered 1 is reported as 1 with
    probability q, a remembered 0 with probability p. All reports of a person whose value never changes reveal
    at most the remembered bits, so any number of them together cost

        ε_∞ = 2h·ln((1 − f/2)/(f/2)),

    which is the ``epsilon`` of the survey, and one of them costs

        ε_1 = h·ln(q*(1 − p*)/(p*(1 − q*))),   q* = q(1 − f/2) + p·f/2,   p* = p(1 − f/2) + q·f/2.

    **A value that changes costs more than ε_∞, without bound.** Reports show whether two answers were the same. If m of
    a person's answers change, their reports cost at most m times ``change_epsilon``, and with long histories nearly
    as much. **People who report repeatedly can be recognized.** The remembered bits and the cohort are the same in each
    report, for any answer, so reports of one person can be linked across periods.

    Parameters
    ----------
    buckets, alphabet, cohorts, hashes, key, title
        As in :class:`ORAPPOR`.
    f
        Probability that a bit is remembered as a fair coin, between 0 and 1, both excluded: as text, a Fraction or a
        number, taken exactly.
    p, q
        Probabilities that a remembered 0, and a remembered 1, is reported as 1; from 0 to 1, and not equal.

    Raises
    ------
    UsageError
        If a number is out of range, or ε_∞ is above 64.

    Notes
    -----
    A device must keep its :class:`Memory` of each value that it reports, and its cohort for all of them. If it is
    public which of a person's answers are the same, d different values cost at most d·ε_∞ together. Otherwise the
    reports reveal it: every bit distinguishes a value that alternates from one that stays, and each report adds to the
    loss. The proof is in docs/proofs/local-cohorts.md. Two reports of a person are not independent, so count only one
    report of each person in a tally: standard errors assume that.

    Source: Erlingsson and others 2014, §3.

    Examples
    --------
    >>> survey = RAPPOR(buckets=32, cohorts=8, hashes=2, key="example", f="1/2", p="1/2", q="3/4")
    >>> memory = survey.remember(["cat", "dog"])
    >>> today, tomorrow = survey.randomize_again(memory), survey.randomize_again(memory)
    >>> [round(float(epsilon), 3) for epsilon in (survey.epsilon, survey.single_guarantee.epsilon)]
    [4.394, 1.074]
    """

    name: ClassVar[str] = "rappor"
    in_files: ClassVar[Mapping[str, str]] = {"f": "permanent", "p": "zero", "q": "one"}
    epsilon: Converted[Any, Fraction] = derived(
        lambda self: logarithm(((1 - self._half) / self._half) ** 2, self.hashes)
    )
    f: Converted[EpsilonLike, Fraction] = named(parse_probability)
    p: Converted[EpsilonLike, Fraction] = named(parse_probability)
    q: Converted[EpsilonLike, Fraction] = named(parse_probability)

    def __post_init__(self) -> None:
        if self.f in (0, 1):
            raise UsageError("`f` must lie between 0 and 1, both excluded.")
        if self.p == self.q:
            raise UsageError("`p` and `q` must differ; otherwise reports carry no information.")
        check_local_epsilon(self.epsilon)
        super().__post_init__()

    @property
    def _half(self) -> Fraction:
        return self.f / 2

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """q*, for a bit of the value in one report."""
        return _quotient(chance_of_one(self.q, self.p, self.f))

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """p*, for any other bit in one report."""
        return _quotient(chance_of_one(self.p, self.q, self.f))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of all reports of one remembered answer together: ε_∞."""
        return report_guarantee(self.epsilon, ARITHMETIC)

    def repeated_guarantee(self, times: int) -> Guarantee:
        """Return the guarantee of several reports together, ε_∞, if the answer never changes; of one report, ε_1."""
        if parse_whole_number(times, name="times") == 1:
            return self.single_guarantee
        return replace(self.guarantee, conditions=("the answer never changes",))

    @property
    def single_guarantee(self) -> Guarantee:
        """The guarantee against those who see only one report of each person: ε_1."""
        p, q = chance_of_one(self.p, self.q, self.f), chance_of_one(self.q, self.p, self.f)
        arithmetic = ARITHMETIC.replace("all reports together", "a single report")
        return report_guarantee(report_epsilon(p, q, self.hashes), arithmetic)

    @property
    def change_epsilon(self) -> Fraction | None:
        """The largest cost of one changed answer, among any number of reports; None if it is unbounded.

        ``k·ln(max(q/p, (1 − p)/(1 − q)))`` if q > p, with p and q exchanged if p > q. If p or q is 0 or 1, a report may
        reveal a remembered bit with certainty, and one changed answer costs more, the longer the history.
        """
        low, high = sorted((self.p, self.q))
        if low == 0 or high == 1:
            return None
        return self.places * logarithm(max(high / low, (1 - low) / (1 - high)), 1)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings that answers must not change, and that people can be recognized."""
        bound = self.change_epsilon
        cost = (
            "has no bound"
            if bound is None
            else f"is at most {format_number(float(bound), digits=3)} for each changed answer"
        )
        return (
            f"The guarantee is for an answer that never changes; the cost of changes {cost}.",
            "Reports of one person can be linked across periods by the remembered bits.",
        )

    def remember(self, values: Any, *, like: Memory | None = None, source: RandomSource = SYSTEM) -> Memory:
        """Return the state of devices with these values, drawn once for all future reports.

        Parameters
        ----------
        values
            One value per person.
        like
            The state of the same devices for another value; their cohorts stay.
        source
            The source of random words.

        Raises
        ------
        DataError
            If a value is not a possible answer, or ``like`` belongs to other devices.
        UsageError
            If ``like`` belongs to another survey.
        """
        codes = self._answers(values)
        if like is not None:
            self._check(like)
            if len(like) != len(codes):
                raise DataError("The number of new values must equal the number of devices in the memory.")
        cohorts = self._cohorts(len(codes), source=source) if like is None else like.cohorts
        half = _quotient(self._half)
        return Memory(self.digest, cohorts, self._filters(codes, cohorts, 1 - half, half, source=source))

    def randomize_again(self, memory: Memory, *, source: RandomSource = SYSTEM) -> Reports:
        """Return one more report of each device.

        Raises
        ------
        UsageError
            If the memory belongs to another survey.
        """
        self._check(memory)
        return Reports(self.digest, {"cohort": memory.cohorts, "report": self._again(memory.bits, source=source)})

    def _check(self, memory: Memory) -> None:
        if memory.survey != self.digest:
            raise UsageError("This memory belongs to another survey; devices remember separately for each survey.")

    def _draw(self, codes: NDArray[Any], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        cohorts = self._cohorts(len(codes), source=source)
        half = _quotient(self._half)
        remembered = self._filters(codes, cohorts, 1 - half, half, source=source)
        return {"cohort": cohorts, "report": self._again(remembered, source=source)}

    def _again(self, remembered: NDArray[np.uint8], *, source: RandomSource) -> NDArray[np.uint8]:
        """Report a remembered 1 as 1 with probability q, a remembered 0 with probability p."""
        zeros, ones = (
            bernoulli_bits(_quotient(each), len(remembered), self.places, source=source) for each in (self.p, self.q)
        )
        chosen: NDArray[np.uint8] = zeros ^ (remembered & (zeros ^ ones))
        return chosen


def _quotient(value: Fraction) -> ExponentialQuotient:
    return ExponentialQuotient((value.numerator,), (value.denominator,))


def chance_of_one(kept: Fraction, other: Fraction, f: Fraction) -> Fraction:
    """Return the chance that a bit is reported as 1: ``kept`` if it is remembered unchanged, ``other`` if flipped."""
    return kept * (1 - f / 2) + other * f / 2


def logarithm(odds: Fraction, times: int) -> Fraction:
    """Return ``times · ln(odds)`` for odds > 1, rounded up to a billionth, with a proof."""
    steps = ceil(times * (log(odds.numerator) - log(odds.denominator)) / float(_STEP)) - 2
    power = odds**times
    while steps < 1 or ExponentialQuotient.exponential(steps * _STEP) < power:
        steps += 1
    return steps * _STEP


def report_epsilon(p: Fraction, q: Fraction, hashes: int) -> Fraction:
    """Return ``h·|ln(q(1 − p)/(p(1 − q)))|``, the ε of a report with bits that are 1 with probability q or p."""
    odds = q * (1 - p) / (p * (1 - q))
    return logarithm(max(odds, 1 / odds), hashes)


@frozen(kw_only=True)
class ORAPPOR(BloomSurvey):
    """O-RAPPOR: h hashes of the value set bits of k, each kept with probability ``z/(1 + z)``, ``z = e^(ε/(2h))``.

    Two values differ in at most 2h bits, so a bit may cost ε/(2h). More hashes do not help: one hash and many bits have
    the lowest error. With an alphabet, each hash is a permutation of it, modulo k if buckets are given, too; one
    cohort, one hash and a bit for each label give k-RAPPOR with its labels renamed.

    Parameters
    ----------
    buckets
        k, bits for any text; more bits mean fewer collisions. With an alphabet, the default is one per label.
    alphabet
        Labels, their number, or an :class:`Alphabet`, if all of them are known.
    cohorts
        C; 2 or more for any text, 1 with a bit for each label of an alphabet.
    hashes
        h, from 1 to 64.
    key
        Public text that determines the hash functions.
    epsilon
        ε of each report.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If neither alphabet nor buckets are given, or a number is out of range.

    Source: Kairouz and others 2016, §5; Erlingsson and others 2014 (the one-time RAPPOR).

    Examples
    --------
    >>> survey = ORAPPOR(buckets=64, cohorts=4, key="pets 2024", epsilon=4)
    >>> tally = survey.tally(survey.randomize(["cat", "dog", "axolotl"] * 10_000))
    >>> estimate = survey.estimate(tally, candidates=["axolotl", "cat", "emu"])
    >>> estimate.significant.tolist()
    [True, True, False]
    """

    name: ClassVar[str] = "o-rappor"

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``z/(1 + z)``."""
        root = ExponentialQuotient.exponential(self.epsilon / (2 * self.hashes))
        return root / (1 + root)

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``1/(1 + z)``."""
        return 1 - self.true_support_probability
