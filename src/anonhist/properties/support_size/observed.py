"""The number of labels seen: a lower bound of the support size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class Observed:
    """``S_obs = Σ_{r≥1} φ_r``.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> Observed().point(Profile.from_counts([2, 1, 1])).value
    3.0
    """

    name: ClassVar[str] = "observed"
    assumes: ClassVar[str] = "all labels have been seen"

    def point(self, profile: Profile) -> Point:
        """Count the labels."""
        return Point(float(profile.num_labels), is_seen, warnings=undersampling_warning(profile))


def is_seen(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 for counts above 0, else 0."""
    return (counts > 0).astype(np.float64)
