"""The Miller–Madow entropy: the plug-in value with the first term of its bias taken off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.properties.entropy.plug_in import plug_in
from anonhist.properties.estimator import Point
from anonhist.properties.unseen import undersampled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class MillerMadow:
    """``H = H_plug-in + (S_obs − 1)/(2n)``, in nats (Miller 1955).

    Of one label it is 0, of n singletons ``ln n + (n − 1)/(2n)``.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(MillerMadow().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.289721
    """

    name: ClassVar[str] = "miller-madow"
    assumes: ClassVar[str] = "nearly all labels that there are have been seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        sample, of_sample = plug_in(profile)
        correction = 0.5 / profile.n

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return of_sample(counts) + correction * (counts > 0)

        return Point(sample + correction * (profile.num_labels - 1), weights, warnings=undersampled(profile))
