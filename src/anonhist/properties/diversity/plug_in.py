"""Power sums of the sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.diversity.falling import at_zero
from anonhist.properties.diversity.order_sum import OrderSum, SumEstimator
from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class PlugInSum(SumEstimator):
    """``M = Σ_r (r/n)^q·φ_r``.

    For one label it is 1, for n singletons ``n^(1−q)``: their Hill numbers are 1 and n.

    References
    ----------
    .. [1] M. O. Hill, "Diversity and evenness: a unifying notation and its consequences", Ecology 54 (1973), 427–432.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> PlugInSum(2.0).sum_of(Profile.from_counts([2, 1, 1])).total
    0.375
    """

    name: ClassVar[str] = "plug-in"
    assumes: ClassVar[str] = "nearly all labels have been seen, many times each"

    def sum_of(self, profile: Profile) -> OrderSum:
        """Estimate the sum from a profile with at least one item."""
        n, order, shift = float(profile.n), self.order, 1.0 - self.order

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            held = np.minimum(counts, n)
            if order >= 2:
                return np.asarray((held / n) ** order / shift)
            surprise = np.log(n / np.maximum(held, 1))
            # A part proportional to the count is fixed with n: without it, nothing cancels near q = 1.
            return held / n * at_zero(np.expm1, shift, surprise)

        total = float((profile.counts / n) ** order @ profile.prevalences)
        of_linear = 1 / shift if order >= 2 else 0.0
        tsallis = max(float(weights(profile.counts) @ profile.prevalences) - of_linear, 0.0)
        return OrderSum(order, total, tsallis, weights, undersampling_warning(profile))
