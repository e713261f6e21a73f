"""The Miller–Madow entropy: the plug-in value with the first term of its bias taken off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.properties.entropy.plug_in import plug_in_statistic
from anonhist.properties.estimator import Point
from anonhist.properties.linear import LinearStatistic
from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class MillerMadow:
    """``H = H_plug-in + (S_obs − 1)/(2n)``, in nats (Miller 1955).

    Of one label it is 0, of n singletons ``ln n + (n − 1)/(2n)``.

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

    name: ClassVar[str] = "miller-madow"
    assumes: ClassVar[str] = "nearly all labels have been seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        statistic = miller_madow_statistic(profile.n)
        return Point(statistic.of(profile), statistic.weights, warnings=undersampling_warning(profile))


def miller_madow_statistic(n: int) -> LinearStatistic:
    """Return the Miller–Madow entropy of n ≥ 1 items as a linear statistic; ``−1/(2n)`` is ``−Σ_j φ_j·j/(2n²)``.

    Examples
    --------
    >>> import numpy as np
    >>> miller_madow_statistic(4).weights(np.array([0, 1, 2, 4])).round(4).tolist()
    [0.0, 0.4403, 0.4091, 0.0]
    """
    of_sample, correction = plug_in_statistic(n).weights, 0.5 / n

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return of_sample(counts) + correction * ((counts > 0) - counts / float(n))

    return LinearStatistic(weights, head=0)
