"""The Miller–Madow entropy: the plug-in value, corrected for the first term of its bias."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.properties.entropy.plug_in import PlugIn
from anonhist.properties.linear import LinearEstimator, LinearStatistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MillerMadow(LinearEstimator):
    """``H = H_plug-in + (S_obs − 1)/(2n)``, in nats (Miller 1955).

    For one label it is 0, for n singletons ``ln n + (n − 1)/(2n)``.

    References
    ----------
    .. [1] G. A. Miller, "Note on the bias of information estimates", in H. Quastler (ed.), *Information Theory in
           Psychology*, 1955, 95–100.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(MillerMadow().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.289721
    """

    name = "miller-madow"
    assumes = "nearly all labels have been seen"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items: ``−1/(2n)`` is ``−Σ_j φ_j·j/(2n²)``."""
        of_sample, correction = PlugIn().statistic(n).weights, 0.5 / n

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return of_sample(counts) + correction * ((counts > 0) - counts / float(n))

        return LinearStatistic(weights, head=0)
