"""Surveys with values that are known beforehand: k-ary randomized response, Warner's, and subset selection."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, ClassVar, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.frozen import Converted, completed, converted, frozen
from anonhist.local.alphabet import Alphabet, AlphabetLike, candidate_codes, distinct_candidates
from anonhist.local.decoder import BitChannel, Channel, SupportChannel
from anonhist.local.estimate import ForgedWeight, Raw, RawEstimate, SupportLimits, forged_weight, p_values
from anonhist.local.reports import BytesColumn, Column, Tally
from anonhist.local.survey import Survey, check_entries
from anonhist.numeric import ExponentialQuotient, TwoBinomials
from anonhist.privacy import parse_whole_number
from anonhist.randomness import RandomSource, bernoulli, random_subsets, uniform_integers

# Estimates of every label of a larger alphabet do not fit in memory.
_MOST_LABELS = 2**24


@frozen(kw_only=True)
class ClosedSurvey(Survey):
    """A survey with possible values that everybody knows: an :class:`Alphabet`, or the whole numbers 0 to k − 1."""

    # The server's cost of all estimates, with n reports of k labels; empty if the mechanism should not be recommended.
    decode_cost: ClassVar[str] = ""
    # None only if any text is accepted: in local hashing without an alphabet.
    alphabet: Converted[AlphabetLike, Alphabet | None] = converted(Alphabet.of)

    @property
    def labels(self) -> Alphabet:
        """The alphabet, if there is one."""
        assert self.alphabet is not None  # noqa: S101  # callers check it if any text is accepted
        return self.alphabet

    @property
    def size(self) -> int:
        """The number k of labels."""
        return self.labels.size

    def _codes(self, values: Any) -> NDArray[np.int64]:
        return self.labels.codes(values)

    @abstractmethod
    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value): rows in alphabet order, columns all possible reports, entries exact."""

    def _choose(self, candidates: Iterable[str] | None) -> tuple[NDArray[Any] | None, tuple[str, ...]]:
        """Return the codes of the candidates (None for all labels), and their names."""
        if candidates is None:
            if self.size > _MOST_LABELS:
                raise UsageError(f"The alphabet has {self.size:,} labels; name the candidates of interest.")
            return None, self.labels.names()
        names = distinct_candidates(candidates)
        return candidate_codes(names, self.labels), names

    @abstractmethod
    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance of the raw estimate of a value with this frequency."""

    @abstractmethod
    def raw_of(self, tally: Tally, codes: NDArray[Any] | None) -> Raw:
        """Return the unbiased estimates, before decoding, of all values or of those with these codes."""

    @abstractmethod
    def channel_of(self, tally: Tally, codes: NDArray[Any] | None) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the cells and their counts, for all values, or for these and all others."""

    def _raw_estimate(self, tally: Tally, candidates: Iterable[str] | None) -> RawEstimate:
        codes, names = self._choose(candidates)
        return RawEstimate(
            raw=self.raw_of(tally, codes),
            labels=names,
            users=tally.users,
            complete=not self._leaves_others(codes),
            channel=lambda: self.channel_of(tally, codes),
            guarantee=self.guarantee,
        )

    def _leaves_others(self, codes: NDArray[Any] | None) -> bool:
        """Return whether people may have values that are not among these; None stands for all values."""
        return codes is not None and len(codes) < self.size


class SupportProbabilities(ABC):
    """Probabilities of support for values or, with cohorts, for the places of a value."""

    @property
    @abstractmethod
    def true_support_probability(self) -> ExponentialQuotient:
        """p, the probability that a report supports the value it was made from, exact."""

    @property
    @abstractmethod
    def false_support_probability(self) -> ExponentialQuotient:
        """q, the probability that a report supports another value, exact."""

    @property
    @abstractmethod
    def _support_sizes(self) -> tuple[int, int]:
        """The least and the largest number of values, or places, that a possible report supports."""

    @cached_property
    def _kept_probability(self) -> ExponentialQuotient:
        """The exact difference p − q."""
        return self.true_support_probability - self.false_support_probability

    @cached_property
    def _probabilities(self) -> tuple[float, float, float]:
        """p, q and p − q; computed exactly, because in floats the difference would vanish for small ε."""
        p, q = float(self.true_support_probability), float(self.false_support_probability)
        return p, q, float(self._kept_probability)


@frozen(kw_only=True)
class PureSurvey(ClosedSurvey, SupportProbabilities):
    """A survey whose report y supports the values x with y ∈ S_x.

    With ``p = P(y ∈ S_x | x)``, ``q = P(y ∈ S_x | x')`` for x' ≠ x, and c_x supports among n reports, the estimate
    ``(c_x/n − q)/(p − q)`` is unbiased, and n times its variance is ``q(1 − q)/(p − q)² + f·(1 − p − q)/(p − q)`` for
    a value of frequency f (Wang and others 2017, Theorem 2).
    """

    @abstractmethod
    def _supports(self, tally: Tally, codes: NDArray[Any] | None) -> NDArray[np.int64]:
        """Return the number of reports that support each of the values, or each of all values, shape (m,)."""

    @property
    def forged_weight(self) -> ForgedWeight:
        """The effect of one forged report: ``(1 − q)/(p − q)`` on values it supports, ``−q/(p − q)`` on the rest."""
        _, q, gap = self._probabilities
        return forged_weight(self.size, self._support_sizes, inside=(1 - q) / gap, outside=-q / gap)

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance of the raw estimate of a value with this frequency."""
        p, q, gap = self._probabilities
        return q * (1 - q) / gap**2 + frequency * (1 - p - q) / gap

    def raw_of(self, tally: Tally, codes: NDArray[Any] | None) -> Raw:
        """Return the unbiased estimates, before any decoder, of all values or of these, in the survey's codes."""
        p, q, gap = self._probabilities
        supports = self._supports(tally, codes)
        raw = (supports / tally.users - q) / gap
        share = np.clip(raw, 0, 1)
        errors = np.sqrt((self.variance() + share * (self.variance(1.0) - self.variance())) / tally.users)
        tests = p_values(supports, users=tally.users, probability=q)
        rests = float(1 - self.true_support_probability), float(1 - self.false_support_probability)
        return Raw(raw, errors, tests, SupportLimits(supports, TwoBinomials(tally.users, p, q, *rests)))


@frozen(kw_only=True)
class LabelSurvey(PureSurvey):
    """A pure survey whose cells are the labels: a tally has the number of reports that support each."""

    @property
    def cells(self) -> int:
        """One cell per label."""
        return self.size

    @property
    def _cells_per_report(self) -> tuple[int, int]:
        return self._support_sizes

    def _supports(self, tally: Tally, codes: NDArray[np.int64] | None) -> NDArray[np.int64]:
        return tally.dense(self.size) if codes is None else tally.at(codes)

    def channel_of(self, tally: Tally, codes: NDArray[np.int64] | None) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the cells and the count of each; see :class:`ClosedSurvey`."""
        supports = self._supports(tally, codes)
        _, q, gap = self._probabilities
        others = 0.0 if self._leaves_others(codes) else None
        ones = SupportChannel(supports.size, supports.size, q, gap, np.asarray, np.asarray, others)
        return BitChannel(ones, supports.size), np.concatenate((supports, tally.users - supports))


@frozen(kw_only=True)
class KRR(LabelSurvey):
    """k-ary randomized response: ``Q(y | x) = e^ε/(e^ε + k − 1)`` if y = x, else ``1/(e^ε + k − 1)``.

    It is order-optimal for ε ≥ ln k, with the lowest error of all if k < 3e^ε + 2.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If the alphabet has fewer than two labels or a duplicate label, or epsilon is out of range.

    Source: Kairouz and others 2016, §3.1.

    Examples
    --------
    >>> survey = KRR(alphabet=["no", "yes", "perhaps"], epsilon=1)
    >>> [str(entry) for entry in survey.matrix()[0]]
    ['e/(e + 2)', '1/(e + 2)', '1/(e + 2)']
    """

    decode_cost: ClassVar[str] = "n + k"
    name: ClassVar[str] = "k-rr"

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``e^ε/(e^ε + k − 1)``."""
        return self.odds / (self.odds + (self.size - 1))

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``1/(e^ε + k − 1)``."""
        return 1 / (self.odds + (self.size - 1))

    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value), shape (k, k), both in alphabet order."""
        check_entries(self.size**2)
        same, other = self.true_support_probability, self.false_support_probability
        return tuple(tuple(same if y == x else other for y in range(self.size)) for x in range(self.size))

    def _draw(self, codes: NDArray[np.int64], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        # The value with probability p − q, otherwise any label, including the value: there is one fewer draw to get
        # right.
        kept = bernoulli(self._kept_probability, codes.size, source=source)
        return {"report": np.where(kept, codes, uniform_integers(self.size, codes.size, source=source))}

    @property
    def _support_sizes(self) -> tuple[int, int]:
        return 1, 1

    def channel_of(self, tally: Tally, codes: NDArray[np.int64] | None) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the cells and the count of each; see :class:`ClosedSurvey`."""
        q = self.false_support_probability
        supports = self._supports(tally, codes)
        base = np.full(supports.size, float(q))
        if codes is not None and self._leaves_others(codes):
            # All other labels form one cell: which of them it is carries no information about these.
            supports = np.append(supports, tally.users - supports.sum())
            base = np.append(base, float((self.size - codes.size) * q))
        gain = float(self._kept_probability)
        return SupportChannel(base.size, base.size, base, gain, np.asarray, np.asarray), supports


@frozen(kw_only=True)
class WarnerRR(KRR):
    """Warner's randomized response: the true one of two answers, with probability ``e^ε/(e^ε + 1)``.

    It is optimal for two answers, for every loss and every ε; it is k-RR with k = 2.

    Parameters
    ----------
    alphabet
        The two answers, ``("no", "yes")`` by default.
    epsilon
        ε of each report.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If there are not two answers.

    Source: Warner 1965; Kairouz and others 2016, Theorem 2.

    Examples
    --------
    >>> [str(entry) for entry in WarnerRR(epsilon=1).matrix()[1]]
    ['1/(e + 1)', 'e/(e + 1)']
    """

    decode_cost: ClassVar[str] = ""  # k-RR is recommended instead.
    name: ClassVar[str] = "warner"
    alphabet: Converted[AlphabetLike, Alphabet] = converted(Alphabet.of, default=("no", "yes"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size != 2:
            raise UsageError(f"Warner's randomized response has two answers, not {self.size:,}; take k-rr.")


@frozen(kw_only=True)
class SubsetSelection(LabelSurvey):
    """Subset selection: the report is a set of exactly d labels; sets with the value are e^ε times as likely.

    It contains the value with probability ``p = e^ε·d/(e^ε·d + k − d)`` and is otherwise uniform; another label is in
    it with probability ``q = (p(d − 1) + (1 − p)d)/(k − 1)``. Its error is the lowest known; with d = 1 it is k-RR.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    subset_size
        d, from 1 to k − 1; by default the integer next to ``k/(e^ε + 1)`` with the lower error.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If d is out of range.

    Notes
    -----
    All reports have the same length. Sets with independent members and the same probabilities would cost more than ε.

    Source: Ye and Barg 2018, §III.

    Examples
    --------
    >>> survey = SubsetSelection(alphabet=1000, epsilon=1)
    >>> survey.subset_size, round(survey.variance(), 4)
    (269, 3.6733)
    """

    decode_cost: ClassVar[str] = "n·d"
    name: ClassVar[str] = "subset-selection"
    in_files: ClassVar[Mapping[str, str]] = {"subset_size": "chosen"}
    subset_size: Converted[SupportsIndex | None, int] = completed(
        lambda self, given: self._whole_size(given), default=None
    )

    def _whole_size(self, given: SupportsIndex | None) -> int:
        most = self.size - 1
        if given is not None:
            return parse_whole_number(given, name="subset_size", most=most)
        near = int(self.size / (float(self.odds) + 1))
        return min(
            (min(max(1, d), most) for d in (near, near + 1)), key=lambda d: _variance(self.size, d, self.epsilon)
        )

    @property
    def columns(self) -> tuple[Column, ...]:
        """One column, ``report``: the codes of the labels, ascending, little-endian, of 2 or 4 bytes each."""
        return (BytesColumn("report", self.subset_size * self._code_type.itemsize),)

    @property
    def report_bytes(self) -> int:
        """Bytes that a report needs, packed."""
        return -(-self.subset_size * (self.size - 1).bit_length() // 8)

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``p = e^ε·d/(e^ε·d + k − d)``."""
        holding = self.subset_size * self.odds
        return holding / (holding + (self.size - self.subset_size))

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``q = (p(d − 1) + (1 − p)d)/(k − 1)``."""
        return (self.subset_size - self.true_support_probability) / (self.size - 1)

    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value), shape (k, k over d): the sets in lexicographic order of their ascending codes."""
        size, members = self.size, self.subset_size
        check_entries(size * comb(size, members))
        holding = self.true_support_probability / comb(size - 1, members - 1)
        missing = (1 - self.true_support_probability) / comb(size - 1, members)
        sets = [frozenset(chosen) for chosen in combinations(range(size), members)]
        return tuple(tuple(holding if x in chosen else missing for chosen in sets) for x in range(size))

    @property
    def _code_type(self) -> np.dtype[Any]:
        return np.dtype("<u2") if self.size <= 1 << 16 else np.dtype("<u4")

    @property
    def _working_bytes(self) -> int:
        return 16 * self.subset_size

    def _draw(self, codes: NDArray[np.int64], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        holds = bernoulli(self.true_support_probability, codes.size, source=source)
        # Short codes are sorted several times faster.
        sets = np.empty((codes.size, self.subset_size), dtype=self._code_type)
        for holding in (True, False):
            rows = np.flatnonzero(holds == holding)
            others = random_subsets(self.size - 1, self.subset_size - holding, rows.size, source=source)
            # Numbers of the other labels, without the value.
            others += others >= codes[rows, np.newaxis]
            sets[rows] = np.column_stack((codes[rows], others)) if holding else others
        sets.sort(axis=1)
        return {"report": sets.view(np.uint8)}

    def _cells_of(self, columns: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return self._sets(columns).ravel().astype(np.int64)

    def _honest(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        # A duplicate label would count twice.
        sets = self._sets(columns)
        return np.asarray((sets[:, 1:] > sets[:, :-1]).all(axis=1) & (sets[:, -1] < self.size))

    def _sets(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the codes of the labels of each report, shape (n, d)."""
        return np.ascontiguousarray(columns["report"]).view(self._code_type).reshape(-1, self.subset_size)

    @property
    def _support_sizes(self) -> tuple[int, int]:
        return self.subset_size, self.subset_size


def _variance(size: int, members: int, epsilon: Any) -> float:
    """Return n times the variance of a label that nobody has, with sets of this size."""
    odds = math.exp(epsilon)
    p = odds * members / (odds * members + size - members)
    q = (members - p) / (size - 1)
    return q * (1 - q) / (p - q) ** 2
