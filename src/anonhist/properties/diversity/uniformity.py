"""How far a distribution is from the uniform one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.privacy import parse_whole_number
from anonhist.properties.estimator import Point, estimated
from anonhist.properties.intervals import NormalInterval
from anonhist.properties.linear import LinearStatistic
from anonhist.properties.options import check_alphabet, check_method
from anonhist.properties.pml import PmlDistanceToUniformity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Resimulated

# Items per label below which chance alone adds about a tenth or more: sqrt(2k/(πn)) of uniform data.
_FEW = 64


def uniformity_statistic(n: int, alphabet_size: int) -> LinearStatistic:
    """Return ``Σ_{j≥0} |j/n − 1/k|·φ_j`` with ``φ_0 = k − S_obs``.

    Parameters
    ----------
    n
        Public number of items, ≥ 1.
    alphabet_size
        k ≥ 1, how many labels there can be.

    Raises
    ------
    UsageError
        If a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> uniformity_statistic(4, 4).of(Profile.from_counts([2, 2]))
    1.0
    """
    items = float(parse_whole_number(n, name="n", most=2**63 - 1))
    size = parse_whole_number(alphabet_size, name="alphabet_size")

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(np.abs(counts / items - 1 / size))

    turn = n // size
    return LinearStatistic(weights, head=0, alphabet_size=size, kinks=(turn, turn + 1))


@dataclass(frozen=True)
class DistanceToUniformity:
    """``Σ_x |n_x/n − 1/k|`` over all k labels, those not seen included.

    Too high, by about ``sqrt(2k/(πn))`` where the labels are alike. Of one label it is ``2·(1 − 1/k)``, of n singletons
    ``2·(1 − n/k)``.

    Attributes
    ----------
    alphabet_size
        k.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> DistanceToUniformity(4).point(Profile.from_counts([2, 2])).value
    1.0
    """

    alphabet_size: int
    name: ClassVar[str] = "plug-in"
    assumes: ClassVar[str] = "every label could have been seen many times; with fewer items the value is too high"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        k = self.alphabet_size
        statistic = uniformity_statistic(profile.n, k)
        warnings: tuple[str, ...] = ()
        if profile.n < _FEW * k:
            warnings = (f"With fewer than {_FEW} items per label, chance alone makes the data uneven: it is too high.",)
        # A release may hold more labels than there are.
        value = min(max(statistic.of(profile), 0.0), 2 * (1 - 1 / k))
        return Point(value, statistic.weights, warnings=warnings)


UNIFORMITY_METHODS = (DistanceToUniformity.name, PmlDistanceToUniformity.name)


def distance_to_uniformity(
    data: Profile | Resimulated, *, alphabet_size: int, method: str | None = None, level: float = 0.95
) -> Estimate:
    """Estimate ``Σ_x |p_x − 1/k|`` over all k labels: 0 if all are alike, below 2; twice the total variation distance.

    Parameters
    ----------
    data
        A profile, or a release: then the interval holds the privacy noise as well.
    alphabet_size
        k, how many labels there can be, known without looking.
    method
        ``"plug-in"`` (default), or ``"pml"``, which counts what chance alone does to few items per label out.
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is impossible.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> distance_to_uniformity(Profile.from_counts([500, 300]), alphabet_size=2).value
    0.25
    """
    size = check_alphabet(data, parse_whole_number(alphabet_size, name="alphabet_size")) or 1
    most = 2 * (1 - 1 / size)
    name = method or DistanceToUniformity.name
    check_method(name, UNIFORMITY_METHODS, of="distance to uniformity")
    chosen = DistanceToUniformity(size) if name == DistanceToUniformity.name else PmlDistanceToUniformity(size)
    return estimated(data, chosen, NormalInterval(0.0, most), level=level)
