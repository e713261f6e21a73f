"""Mechanisms whose reports support some values and not others: one estimator for all of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonhist.frozen import frozen
from anonhist.local.decoding.channel import BitChannel, Channel, SupportChannel
from anonhist.local.decoding.significance import p_values
from anonhist.local.surveys.closed import ClosedSurvey
from anonhist.local.surveys.estimate import Raw
from anonhist.local.surveys.forgery import ForgedWeight, forged_weight
from anonhist.local.surveys.limits import SupportLimits
from anonhist.local.surveys.supports import SupportProbabilities
from anonhist.local.surveys.tally import Tally
from anonhist.numeric import TwoBinomials


@frozen(kw_only=True)
class PureSurvey(ClosedSurvey, SupportProbabilities):
    """A survey whose report y supports the values x with y ∈ S_x.

    With ``p = P(y ∈ S_x | x)``, ``q = P(y ∈ S_x | x')`` for x' ≠ x, and c_x supports among n reports, the estimate
    ``(c_x/n − q)/(p − q)`` is unbiased, and n times its variance is ``q(1 − q)/(p − q)² + f·(1 − p − q)/(p − q)`` for
    a value of frequency f (Wang, Blocki, Li, Jha 2017, Theorem 2).
    """

    @abstractmethod
    def _supports(self, tally: Tally, codes: NDArray[Any] | None) -> NDArray[np.int64]:
        """Return how many reports support each of the values, or of all values, shape (m,)."""

    @property
    def forged_weight(self) -> ForgedWeight:
        """The effect of one forged report: ``(1 − q)/(p − q)`` on values it supports, ``−q/(p − q)`` on the rest."""
        _, q, gap = self._probabilities
        return forged_weight(self.size, self._support_sizes, inside=(1 - q) / gap, outside=-q / gap)

    def support_distribution(self, users: int) -> TwoBinomials:
        """Return the distribution of the number of reports that support a value, given its share."""
        p, q = self.true_support_probability, self.false_support_probability
        return TwoBinomials(users, float(p), float(q), float(1 - p), float(1 - q))

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance of the raw estimate of a value with this frequency."""
        p, q, gap = self._probabilities
        return q * (1 - q) / gap**2 + frequency * (1 - p - q) / gap

    def raw_of(self, tally: Tally, codes: NDArray[Any] | None) -> Raw:
        """Return the unbiased estimates, before any decoder, of all values or of these, as the survey codes them."""
        _, q, gap = self._probabilities
        supports = self._supports(tally, codes)
        raw = (supports / tally.users - q) / gap
        share = np.clip(raw, 0, 1)
        errors = np.sqrt((self.variance() + share * (self.variance(1.0) - self.variance())) / tally.users)
        tests = p_values(supports, users=tally.users, probability=q)
        return Raw(raw, errors, tests, SupportLimits(supports, self.support_distribution(tally.users)))


@frozen(kw_only=True)
class LabelSurvey(PureSurvey):
    """A pure survey whose cells are the labels: a tally says how many reports support each."""

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
