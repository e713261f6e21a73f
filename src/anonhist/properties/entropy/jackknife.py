"""The jackknife entropy: its bias is estimated by leaving out each item in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric import arrays
from anonhist.properties.linear import LinearEstimator, LinearStatistic

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Jackknife(LinearEstimator):
    """``n·H − ((n−1)/n)·Σ_x n_x·H(sample without one x)``, H the plug-in entropy, in nats (Zahl 1977).

    With ``g(r) = r·ln r − (r−1)·ln(r−1)`` this is ``Σ_r φ_r·(r/n)·(g(n) − g(r))``: linear. For one label or one item it
    is 0, for n singletons ``g(n)``, about ``ln n + 1``.

    References
    ----------
    .. [1] S. Zahl, "Jackknifing an index of diversity", Ecology 58 (1977), 907–913.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Jackknife().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.556193
    """

    name = "jackknife"
    assumes = "nearly all labels have been seen"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items."""
        size = float(n)
        of_all = float(_gain(np.array([size]))[0])

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return counts / size * (of_all - _gain(np.maximum(counts, 1).astype(np.float64)))

        return LinearStatistic(weights, head=0)


def _gain(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``g(r) = ln r + (r−1)·ln(r/(r−1))``: without the difference of large numbers, which loses digits."""
    before = counts - 1
    return arrays.log(counts) + before * arrays.log1p(1 / np.maximum(before, 1.0))
