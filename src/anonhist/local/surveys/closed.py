"""Surveys whose possible values are known to everybody beforehand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.local.decoding.decoder import Channel
from anonhist.local.surveys.alphabet import Alphabet, AlphabetLike, candidate_codes, distinct_candidates
from anonhist.local.surveys.estimate import Raw, RawEstimate
from anonhist.local.surveys.reports import Tally
from anonhist.local.surveys.survey import Survey
from anonhist.numeric import ExponentialQuotient

if TYPE_CHECKING:
    from collections.abc import Iterable

# Estimates of every label of a larger alphabet do not fit in memory.
_MOST_LABELS = 2**24


@frozen(kw_only=True)
class ClosedSurvey(Survey):
    """A survey whose possible values are known to everybody: an :class:`Alphabet`, or the whole numbers 0 to k − 1."""

    # The server's cost of all estimates, with n reports of k labels; empty if it should not be recommended.
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
        """How many labels there are, k."""
        return self.labels.size

    def _codes(self, values: Any) -> NDArray[np.int64]:
        return self.labels.codes(values)

    @abstractmethod
    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value): rows in alphabet order, columns all possible reports, entries exact."""

    def _choose(self, candidates: Iterable[str] | None) -> tuple[NDArray[Any] | None, tuple[str, ...]]:
        """Return the codes of the candidates, None for all labels, and their names."""
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
    """Probabilities of supports; if there are cohorts, of the places of a value instead of the value."""

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
        """P − q, exact."""
        return self.true_support_probability - self.false_support_probability

    @cached_property
    def _probabilities(self) -> tuple[float, float, float]:
        """p, q and p − q; computed exactly, as for small ε the difference would vanish in floats."""
        p, q = float(self.true_support_probability), float(self.false_support_probability)
        return p, q, float(self._kept_probability)
