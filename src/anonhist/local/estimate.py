"""The frequency of each value: raw estimates and their uncertainty, multiple tests, decoded frequencies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import ClassVar, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.local.decoder import Channel, Decoder, Normalized, Projected, Unbiased
from anonhist.local.fits import ConstrainedLeastSquares, ExpectationMaximization, MaximumLikelihood
from anonhist.numeric import SignedSums, TwoBinomials, read_only
from anonhist.privacy import Guarantee, short_decimal
from anonhist.properties.estimate import format_number


def p_values(supports: ArrayLike, users: int | NDArray[np.int64], probability: float) -> NDArray[np.float64]:
    """Return the probability of at least this support for an item of frequency zero: ``P(Bin(n, q) ≥ c)``.

    ``= I_q(c, n − c + 1)``, the regularized incomplete beta function; 1 at c = 0. The support c of an item without
    users is binomial for any values of the others, because each of them supports it with probability q, 0 < q < 1.
    P-values below about 1e-308 are 0.
    """
    from scipy.special import betainc

    counts = np.asarray(supports, dtype=np.int64)
    if counts.ndim != 1 or bool(((counts < 0) | (counts > users)).any()):
        raise UsageError("Supports must be a one-dimensional list of whole numbers between 0 and the number of users.")
    if not 0.0 < probability < 1.0:
        raise UsageError(f"The probability of support must be between 0 and 1, both excluded, not {probability}.")
    tails = betainc(np.maximum(counts, 1).astype(np.float64), users - counts + 1.0, probability)
    return np.asarray(np.where(counts == 0, 1.0, tails), dtype=np.float64)


class Correction(ABC):
    """A method to control the errors of multiple tests; a frozen value with a name in files and on the command line."""

    name: ClassVar[str]

    def adjust(self, p_values: ArrayLike) -> NDArray[np.float64]:
        """Return for each test the least level that rejects it, at most 1, shape (k,); equal p-values get equal levels.

        Raises
        ------
        UsageError
            If the p-values are not a list of numbers from 0 to 1.
        """
        values = np.asarray(p_values, dtype=np.float64)
        if values.ndim != 1 or not bool(((values >= 0) & (values <= 1)).all()):
            raise UsageError("A correction needs a one-dimensional list of p-values from 0 to 1.")
        order = np.argsort(values, kind="stable")
        result = np.empty(values.size)
        result[order] = np.minimum(self._adjust(values[order]), 1.0)
        return result

    @abstractmethod
    def _adjust(self, ascending: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the levels of p-values in ascending order; values above 1 stand for 1."""

    def reject(self, p_values: ArrayLike, level: float) -> NDArray[np.bool_]:
        """Return which tests are rejected at the level, bool, shape (k,).

        Raises
        ------
        UsageError
            If the level is not between 0 and 1, or the p-values are not a list of numbers from 0 to 1.
        """
        if not 0.0 < level < 1.0:
            raise UsageError(f"The level of a test must be between 0 and 1, both excluded, not {level}.")
        return np.asarray(self.adjust(p_values) <= level)


@dataclass(frozen=True)
class Bonferroni(Correction):
    """``k p``: the probability of any false finding is at most the level, under any dependence of the tests.

    Examples
    --------
    >>> Bonferroni().reject([0.01, 0.02, 0.5], 0.05).tolist()
    [True, False, False]
    """

    name: ClassVar[str] = "bonferroni"

    def _adjust(self, ascending: NDArray[np.float64]) -> NDArray[np.float64]:
        return ascending * ascending.size


@dataclass(frozen=True)
class Holm(Correction):
    """``max_{j ≤ i} (k − j + 1) p_(j)``: the same error control as Bonferroni, and never fewer findings (Holm 1979).

    Examples
    --------
    >>> Holm().reject([0.01, 0.02, 0.5], 0.05).tolist()
    [True, True, False]
    """

    name: ClassVar[str] = "holm"

    def _adjust(self, ascending: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum.accumulate(ascending * np.arange(ascending.size, 0, -1))


@dataclass(frozen=True)
class BenjaminiHochberg(Correction):
    """``min_{j ≥ i} k p_(j)/j``: the false discovery rate is at most the level (Benjamini, Hochberg 1995).

    That holds for tests that are independent or positively dependent. The supports of the items of one survey are
    weakly negatively dependent; no proof is known for all such cases.

    Examples
    --------
    >>> BenjaminiHochberg().reject([0.02, 0.03, 0.04], 0.05).tolist()
    [True, True, True]
    """

    name: ClassVar[str] = "benjamini-hochberg"

    def _adjust(self, ascending: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = ascending * (ascending.size / np.arange(1, ascending.size + 1))
        return np.minimum.accumulate(scaled[::-1])[::-1]


Value = TypeVar("Value")
DecoderName = Literal["projected", "normalized", "unbiased", "mle", "em", "least-squares"]
CorrectionName = Literal["holm", "bonferroni", "benjamini-hochberg"]
DecoderLike = DecoderName | Decoder
CorrectionLike = CorrectionName | Correction
DECODERS: dict[str, type[Decoder]] = {
    each.name: each
    for each in (Projected, Normalized, Unbiased, MaximumLikelihood, ExpectationMaximization, ConstrainedLeastSquares)
}
CORRECTIONS: dict[str, type[Correction]] = {each.name: each for each in (Holm, Bonferroni, BenjaminiHochberg)}


def as_decoder(decoder: DecoderLike) -> Decoder:
    """Return a decoder unchanged, or the one with this name and its default settings."""
    return decoder if isinstance(decoder, Decoder) else _made(DECODERS, decoder, "decoder")


def as_correction(correction: CorrectionLike) -> Correction:
    """Return a correction unchanged, or the one with this name."""
    return correction if isinstance(correction, Correction) else _made(CORRECTIONS, correction, "correction")


def _made(named: Mapping[str, type[Value]], name: str, what: str) -> Value:
    if name not in named:
        raise UsageError(f"There is no {what} {name!r:.80}; choose one of {', '.join(named)}.")
    return named[name]()


class Limits(Protocol):
    """The two ends of an interval for each value's share, given the probability of missing it."""

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends; the share lies beyond each with probability at most ``tail``, shape (k, 2)."""


@frozen
class NormalLimits:
    """``f̂ ± z·error``, within [0, 1]: for sums of very many reports."""

    raw: NDArray[np.float64]
    errors: NDArray[np.float64]

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        half = -NormalDist().inv_cdf(tail) * self.errors
        return np.clip(np.stack((self.raw - half, self.raw + half), axis=1), 0, 1)


@frozen
class SupportLimits:
    """The shares for which this number of supporting reports is plausible: inverted binomial tails.

    A share of the people supports a value with probability p, the rest with q.
    """

    supports: NDArray[np.int64]
    distribution: TwoBinomials

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        return self.distribution.compatible_shares(self.supports, tail)


class SampleLimits(SupportLimits):
    """Like :class:`SupportLimits`, if the people who reported are a sample of those to be estimated.

    A report supports a value of share f with probability ``q + f(p − q)``, so the ends are those of Clopper and Pearson
    for the number of supports. Drawing without replacement varies less, so they are slightly too wide.
    """

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        from scipy.special import betaincinv

        distribution, counts = self.distribution, self.supports
        rest = distribution.users - counts
        low = np.where(counts > 0, betaincinv(np.maximum(counts, 1), rest + 1.0, tail), 0.0)
        high = np.where(rest > 0, betaincinv(counts + 1.0, np.maximum(rest, 1), 1 - tail), 1.0)
        return np.clip(
            (np.stack((low, high), axis=1) - distribution.false) / (distribution.true - distribution.false), 0, 1
        )


@frozen
class BlockLimits:
    """The shares for which these numbers of reports for and against a value are plausible.

    ``sums`` are the reports of its block that support each value minus those that do not, with their integer weights;
    ``block_shares`` are estimates of the share of people with any value of the block.
    """

    sums: NDArray[np.int64]
    block_shares: NDArray[np.float64]
    distribution: SignedSums

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        return self.distribution.compatible_shares(self.sums, self.block_shares, tail)


@dataclass(frozen=True, eq=False)
class Raw:
    """Unbiased estimates before any decoder, possibly below 0 or above 1, with their errors, p-values and limits.

    Errors are due to randomization, for the people who reported. A p-value is the probability of an estimate at least
    this large if nobody has the value.
    """

    frequencies: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    p_values: NDArray[np.float64]
    limits: Limits


@frozen
class FrequencyEstimate(Shown, Tabular, Saved):
    """The frequency of each value among the people who reported.

    Attributes
    ----------
    labels
        The values, in the order of the alphabet or of the candidates.
    users
        The number of people who reported.
    frequencies : ndarray of float64, shape (k,)
        Decoded shares of the people.
    raw : ndarray of float64, shape (k,)
        The unbiased estimates before decoding: some are below 0, and they need not add up to 1. Decoded frequencies
        have lower errors but are biased, so intervals and tests are based on these.
    standard_errors : ndarray of float64, shape (k,)
        The errors of the raw estimates, for the people who reported; :attr:`population_standard_errors` is larger.
    p_values : ndarray of float64, shape (k,)
        Probability of a raw estimate at least this large if nobody had the value.
    significant : ndarray of bool, shape (k,)
        Whether the frequency is significantly above zero: after correction for multiple tests, the error rate
        that the correction controls is at most 1 − ``level``. Choose candidates before you see the reports.
    level
        The level of intervals and tests, in (0, 1).
    decoder, correction
        Their names.
    other
        The decoded share of people with none of the values; 0 if the values are the whole alphabet.
    other_standard_error
        The error of :attr:`raw_other`; 0 if the values are the whole alphabet. It assumes that the noise of values that
        share a cell adds up, so it may be too large if values that are fitted together share many cells.
    note
        Any further remark, such as that a decoder stopped early; otherwise empty.
    guarantee
        The guarantee of each report.
    limits
        The limits from which intervals are computed: exact tails of the number of reports that support a value, if
        that is binomial.
    """

    known_as = "frequencies"
    labels: Sequence[str]
    users: int
    frequencies: NDArray[np.float64]
    raw: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    p_values: NDArray[np.float64]
    significant: NDArray[np.bool_]
    level: float
    decoder: str
    correction: str
    other: float
    other_standard_error: float
    note: str
    guarantee: Guarantee
    limits: Limits = field(repr=False)

    @property
    def counts(self) -> NDArray[np.float64]:
        """The number of people with each value: ``users · frequencies``."""
        return self.users * self.frequencies

    @property
    def raw_other(self) -> float:
        """The unbiased estimate of the share of people with none of the values; 0 if the values are exhaustive."""
        return 1 - float(self.raw.sum()) if self.other or self.other_standard_error else 0.0

    @cached_property
    def intervals(self) -> NDArray[np.float64]:
        """Intervals that each contain their share with probability ``level``, within [0, 1], shape (k, 2).

        They are based on the raw estimates and refer to the people who reported. Each end is missed with probability
        ``(1 − level)/2``.
        """
        return read_only(self.limits.at((1 - self.level) / 2))

    @cached_property
    def simultaneous_intervals(self) -> NDArray[np.float64]:
        """Intervals that contain all shares at once with probability ``level`` (Bonferroni), shape (k, 2)."""
        return read_only(self.limits.at((1 - self.level) / 2 / max(1, len(self.labels))))

    @property
    def population_standard_errors(self) -> NDArray[np.float64]:
        """Errors as estimates for the population from which the people were drawn, including sampling error."""
        share = np.clip(self.raw, 0, 1)
        return np.sqrt(self.standard_errors**2 + share * (1 - share) / max(1, self.users))

    def __repr__(self) -> str:
        return (
            f"FrequencyEstimate(users={self.users:,}, labels={len(self.labels):,}, "
            f"significant={int(self.significant.sum()):,}, decoder={self.decoder!r}, "
            f"epsilon={short_decimal(self.guarantee.epsilon)})"
        )


@dataclass(frozen=True, eq=False)
class RawEstimate:
    """Raw estimates of the labels, and what decoding them requires, from at least one person.

    If the values are not ``complete`` (exhaustive), the decoders add one item for all others together.
    ``sharing`` is ``Σm²/Σm`` over the cells, m values supported by each: 1 if every value has its own cells, or if the
    noise of values that share a cell is independent or negatively correlated.
    """

    raw: Raw
    labels: Sequence[str]
    users: int
    complete: bool
    channel: Callable[[], tuple[Channel, NDArray[np.int64]]]
    guarantee: Guarantee
    sharing: float = 1.0
    default: DecoderName = "projected"

    def decode(self, decoder: DecoderLike | None, correction: CorrectionLike, level: float) -> FrequencyEstimate:
        """Decode raw estimates and test which frequencies are significantly above zero."""
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
            raise UsageError(f"`level` must be a number between 0 and 1, such as 0.95, not {level!r:.80}.")
        raw, complete = self.raw, self.complete
        decoding, correcting = as_decoder(self.default if decoder is None else decoder), as_correction(correction)
        distribution, counts = self.channel() if decoding.fits_counts else (None, None)
        observed = None if counts is None else counts.astype(np.float64)
        decoded = decoding.decode(raw.frequencies, distribution, observed, other=not complete)
        # The error of 1 minus all shares, whose noises are those of their cells: a cell that m shares use counts m
        # times.
        rest_error = float(np.sqrt(self.sharing * (raw.standard_errors**2).sum()))
        shares = decoded.frequencies if complete else decoded.frequencies[:-1]
        return FrequencyEstimate(
            labels=self.labels,
            users=self.users,
            frequencies=shares,
            raw=raw.frequencies,
            standard_errors=raw.standard_errors,
            p_values=raw.p_values,
            significant=correcting.reject(raw.p_values, level=1 - level),
            level=float(level),
            decoder=decoding.name,
            correction=correcting.name,
            other=0.0 if complete else float(decoded.frequencies[-1]),
            other_standard_error=0.0 if complete else rest_error,
            note=decoded.note,
            guarantee=self.guarantee,
            limits=raw.limits,
        )


def refuse_least_squares(decoder: DecoderLike | None) -> None:
    """Refuse least squares, which compare shares of reports, because almost every report is unique."""
    if "least-squares" in (decoder, getattr(decoder, "name", None)):
        raise UsageError("Local hashing has too many distinct reports for least squares; choose the decoder mle.")


@dataclass(frozen=True)
class ForgedWeight:
    """The largest change of raw estimates, in people, that one more possible report can cause.

    Attributes
    ----------
    each
        The largest change of the estimate of one value, either way (ℓ∞).
    total
        The largest sum of the absolute changes of all values (ℓ1); infinite if any text can be a candidate.
    condition
        The condition under which the weight holds, in one clause; empty if it always holds.

    Notes
    -----
    An estimate in people is a sum over reports, so the weight of a report does not depend on the others. An honest
    report has a weight, too: it adds 1 to its own value and 0 to all others, but only on average.
    """

    each: float
    total: float
    condition: str = ""

    def __str__(self) -> str:
        has_bound = self.total < float("inf")
        together = (
            f"all estimates together by up to {format_number(self.total, digits=3)}"
            if has_bound
            else "those of any number of values"
        )
        where = f", {self.condition}" if self.condition else ""
        value = f"the raw estimate of a value by up to {format_number(self.each, digits=3)} people"
        return f"one forged report changes {value}, and {together}{where}"


def forged_weight(
    size: int, supported: tuple[int, int], *, inside: float, outside: float, beyond: float = 0.0, elsewhere: int = 0
) -> ForgedWeight:
    """Return the weight of the worst report, which supports ``supported[0]`` to ``supported[1]`` of ``size`` values.

    It adds ``inside`` to a value that it supports, ``outside`` to one that it could support but does not, and
    ``beyond`` to each of ``elsewhere`` values about which it carries no information.
    """
    # The sum is linear in the number supported, so the worst case is at an end.
    totals = [count * abs(inside) + (size - count) * abs(outside) for count in supported]
    changes = [abs(inside)] * (supported[1] > 0) + [abs(outside)] * (supported[0] < size)
    changes += [abs(beyond)] * (elsewhere > 0)
    return ForgedWeight(max(changes), max(totals) + elsewhere * abs(beyond))
