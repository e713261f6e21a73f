"""The plug-in entropy: the entropy of the sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric import arrays
from anonhist.properties.linear import LinearEstimator, LinearStatistic

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PlugIn(LinearEstimator):
    """``H = Σ_r φ_r·w(r)`` with ``w(r) = −(r/n)·ln(r/n)``, in nats.

    Too low by about (S − 1)/(2n), where S is the support size. For one label it is 0, for n singletons ln n.

    References
    ----------
    .. [1] C. E. Shannon, "A mathematical theory of communication", Bell System Technical Journal 27 (1948), 379–423.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(PlugIn().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.039721
    """

    name = "plug-in"
    assumes = "nearly all labels have been seen, many times each"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items."""
        size = float(n)

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            share = np.minimum(counts / size, 1.0)
            return share * -arrays.log(np.where(share > 0, share, 1.0))

        return LinearStatistic(weights, head=0)
