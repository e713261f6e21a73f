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
        given = self.estimates
        normal = -NormalDist().inv_cdf(tail) * given.errors
        # The upper tail of the sum determines the lower end of the share.
        below, above = (np.maximum(normal, sums.score(tail) * given.unit) for sums in self._sums)
        return np.clip(np.stack((given.raw - below, given.raw + above), axis=1), 0, 1)

    @cached_property
    def _sums(self) -> tuple[RandomSums, RandomSums]:
        """The distribution of sums over random places, and its mirror image, for both tails."""
        table = self.estimates.unexplained
        return random_sums(table, self.counts), random_sums(-table, self.counts)


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
