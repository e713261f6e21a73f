"""Support coverage of fewer draws than there are items: rarefaction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.numeric import arrays
from anonhist.properties.estimator import LinearStatistic, Point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

# Up to this many factors are multiplied one by one; beyond, Stirling's series is exact to all digits.
_ONE_BY_ONE = 64


@dataclass(frozen=True)
class Rarefaction:
    """``S_m = Σ_r φ_r·(1 − C(n−r, m)/C(n, m))``: the mean number of labels in m items drawn without replacement.

    Unbiased, and the mean over all subsamples of m items, so its error is at most that of one subsample
    ([1]_; [2]_, eq. 4). At m = 1 it is 1, and at m = n the number of labels seen. For one label it is 1, for
    singletons m.

    Attributes
    ----------
    draws
        m ≥ 1. If a re-simulated release has fewer items, all of them are taken.

    References
    ----------
    .. [1] S. H. Hurlbert, "The nonconcept of species diversity: a critique and alternative parameters", Ecology 52
           (1971), 577–586.
    .. [2] R. K. Colwell, A. Chao, N. J. Gotelli and others, "Models and estimators linking individual-based and
           sample-based rarefaction, extrapolation and comparison of assemblages", Journal of Plant Ecology 5 (2012),
           3–21, eq. 4.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Rarefaction(2).point(Profile.from_counts([2, 1, 1])).value, 6)
    1.833333
    """

    draws: int

    name: ClassVar[str] = "rarefaction"
    assumes: ClassVar[str] = "items drawn independently"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        linear = self.statistic(profile.n)
        return Point(linear.of(profile), linear.weights)

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items: ``w(r) = 1 − C(n−r, m)/C(n, m)``, with falling steps and m at most n.

        Examples
        --------
        >>> Rarefaction(2).statistic(4).weights(np.array([0, 1, 2, 3, 4])).round(6).tolist()
        [0.0, 0.5, 0.833333, 1.0, 1.0]
        """
        draws = min(self.draws, n)

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            result = np.ones(counts.shape)
            within = counts <= n - draws
            result[within] = _inclusion_probability(counts[within], n, draws)
            return result

        return LinearStatistic(weights, head=0)


def _inclusion_probability(counts: NDArray[np.int64], n: int, draws: int) -> NDArray[np.float64]:
    """Return ``1 − C(n−r, m)/C(n, m)`` for r ≤ n − m: the probability that m draws find a label of count r.

    The result for a count does not depend on the other counts in the array: there is no sum over an axis.
    """
    # Draw by draw, a label was found before or is found now: all terms are positive, so no digit is lost.
    if draws <= _ONE_BY_ONE:
        found = np.zeros(counts.shape)
        for step in range(draws):
            found += (1.0 - found) * (counts / float(n - step))
        return found
    # The same with the items of the label and the draws exchanged.
    rare = counts <= _ONE_BY_ONE
    table = [0.0]
    for step in range(min(_ONE_BY_ONE, n - draws)):
        table.append(table[-1] + (1.0 - table[-1]) * (draws / (n - step)))
    result = np.empty(counts.shape)
    result[rare] = np.array(table)[counts[rare]]
    if not bool(rare.all()):
        result[~rare] = np.abs(arrays.expm1(_log_exclusion_probability(counts[~rare], n, draws)))
    return result


def _log_exclusion_probability(counts: NDArray[np.int64], n: int, draws: int) -> NDArray[np.float64]:
    """Return ``ln(C(n−r, m)/C(n, m))`` for r ≤ n − m by Stirling's formula."""
    # The second difference of (x + ½)·ln x, written in logarithms of 1 + x: nothing cancels at n = 10^15.
    left = np.maximum((n - draws) - counts, 1)
    shared = arrays.log1p(counts / n * (draws / left))
    alone = counts * math.log1p(draws / (n - draws)) + draws * arrays.log1p(counts / (n - counts))
    rest = _series(np.float64(n)) - _series(n - counts) - _series(np.float64(n - draws)) + _series(left)
    return np.asarray((left + 0.5) * shared - alone - rest)


def _series(x: NDArray[np.int64] | np.float64) -> NDArray[np.float64]:
    """Return the rest ``ln x! − (x + ½)·ln x + x − ½·ln 2π`` of Stirling's formula; further terms are negligible."""
    return np.asarray(1.0 / (12.0 * x))
