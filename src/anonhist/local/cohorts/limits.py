"""Intervals of labels with cohorts: the wider of those for noise and for collisions with unlisted labels."""

from __future__ import annotations

from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from anonhist.frozen import frozen
from anonhist.local.cohorts.chance import random_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.cohorts.chance import LabelEstimates, RandomSums
    from anonhist.local.cohorts.counts import CohortCounts


@frozen
class CohortLimits:
    """The wider of two intervals around the raw estimates: the normal one, and that of places drawn at random.

    With few cohorts there are few collisions, and each may be a large share, so sums are not normal. Reports of other
    people on the places of a label have the distribution of sums over random places, as in the tests.

    Attributes
    ----------
    estimates
        Of the labels.
    counts
        The counts from which they were computed.
    """

    estimates: LabelEstimates
    counts: CohortCounts

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        least, most = self._centres
        normal = -NormalDist().inv_cdf(tail) * self.estimates.errors
        # The upper tail of the sum determines the lower end of the share.
        below, above = (np.maximum(normal, sums.score(tail) * self.estimates.unit) for sums in self._sums)
        return np.clip(np.stack((least - below, most + above), axis=1), 0, 1)

    @property
    def _centres(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """From where the lower ends are measured, and the upper ones."""
        return self.estimates.raw, self.estimates.raw

    @cached_property
    def _sums(self) -> tuple[RandomSums, RandomSums]:
        """The distribution of sums over random places, and its mirror image, for both tails."""
        table = self.estimates.unexplained
        return random_sums(table, self.counts), random_sums(-table, self.counts)


@frozen
class PlainLimits(CohortLimits):
    """As :class:`CohortLimits`, for labels that were estimated one by one.

    Their estimates subtract the expected share of collisions. Sums over random places have another mean if labels are
    few and have several bits, so ends are measured from the farther one.

    With few cohorts of few places, another label may well have all places of this one. Then nothing tells the two
    apart: this label may have nobody, or all people on its places.

    Attributes
    ----------
    supported
        The mean share of people who support the label's places: no less than the share of the label.
    noise
        Its standard error due to randomization.
    """

    supported: NDArray[np.float64]
    noise: NDArray[np.float64]

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        counts = self.counts
        most = self.supported - NormalDist().inv_cdf(tail) * self.noise
        cohorts = 1 / float((counts.weights**2).sum())  # fewer than there are if some have most reports
        if float(counts.shares.max()) ** (cohorts * counts.supports.hashes) >= tail:
            return np.clip(np.stack((np.zeros(most.size), most), axis=1), 0, 1)
        return super().at(tail)

    @property
    def _centres(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        raw, distance = self.estimates.raw, self.estimates.scores * self.estimates.unit
        return np.minimum(raw, distance), np.maximum(raw, distance)


@frozen
class FoundLimits:
    """Some labels were fitted together, and the others estimated one by one from the residual.

    Attributes
    ----------
    found
        Which were fitted, bool, shape (k,).
    fitted
        Limits of these.
    rest
        Limits of all labels; those of the others count.
    """

    found: NDArray[np.bool_]
    fitted: CohortLimits
    rest: CohortLimits

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        ends = self.rest.at(tail)
        ends[self.found] = self.fitted.at(tail)
        return ends
