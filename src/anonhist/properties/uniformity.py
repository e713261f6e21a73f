"""The distance of a distribution from the uniform one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement
from anonhist.properties.estimator import (
    LinearEstimator,
    LinearStatistic,
    Point,
    Resimulated,
    Sample,
    apply,
    check_alphabet,
    check_method,
)
from anonhist.properties.pml import PmlDistanceToUniformity

# With fewer items per label, chance alone adds a tenth or more: sqrt(2k/(πn)) for uniform data.
_FEW = 64
_UNEVEN = "the lower end allows for what chance alone may add"


@dataclass(frozen=True)
class DistanceToUniformity:
    """``Σ_x |n_x/n − 1/k|`` over all k labels, unseen ones included (Acharya and others 2018).

    It is too high, by about ``sqrt(2k/(πn))`` if labels are equally frequent. For one label it is ``2·(1 − 1/k)``, for
    n singletons ``2·(1 − n/k)``.
    """

    alphabet_size: int
    name: ClassVar[str] = "plug-in"
    assumes: ClassVar[str] = "there are many items per label; with fewer items the value is too high"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        k = self.alphabet_size
        statistic = self.statistic(profile.n)
        warnings: tuple[str, ...] = ()
        if profile.n < _FEW * k:
            warnings = (
                f"With fewer than {_FEW} items per label, chance alone makes the data uneven: the value is too high.",
            )
        # A release may have more labels than there are.
        return Point(min(max(statistic.of(profile), 0.0), 2 * (1 - 1 / k)), statistic.weights, warnings=warnings)

    def statistic(self, n: int) -> LinearStatistic:
        """Return ``Σ_{j≥0} |j/n − 1/k|·φ_j`` with ``φ_0 = k − S_obs``, for n ≥ 1 items."""
        items = float(parse_whole_number(n, name="n", most=2**63 - 1))
        size = parse_whole_number(self.alphabet_size, name="alphabet_size")
        turn = n // size
        return LinearStatistic(
            lambda counts: np.abs(counts / items - 1 / size), head=0, alphabet_size=size, kinks=(turn, turn + 1)
        )


@dataclass(frozen=True)
class DistanceInterval:
    """From ``d − b − z·error`` to ``d + z·error``, d the plug-in distance: the same for all methods.

    The mean of d is at least the true distance (Jensen), and at most ``Σ_x E|n_x/n − p_x|`` above it. For a Poisson
    count N, the mean deviation is at most ``E[c(N)]``, with ``c(1) = 2`` and ``c(r) = √r`` otherwise: so
    ``b = Σ_r φ_r·c(r)/n``, and the error of the lower end is that of ``d − b``.
    """

    alphabet_size: int

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        distance, spread = sample.of(DistanceToUniformity(self.alphabet_size))
        without, spread_without = sample.of(_LeastDistance(self.alphabet_size))
        least, most = self.of_nothing()
        low, high = without - sample.z * spread_without, distance + sample.z * spread
        return Bounds(max(low, least), min(high, most), Statement(Holds.BOTH, _UNEVEN)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and the distance of a single label."""
        return 0.0, 2 * (1 - 1 / self.alphabet_size)


@dataclass(frozen=True)
class _LeastDistance(LinearEstimator):
    """``d − b``: the plug-in distance minus the most that chance alone adds."""

    alphabet_size: int
    name = "least distance"
    assumes = "items drawn independently"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items."""
        plug_in = DistanceToUniformity(self.alphabet_size).statistic(n)
        return replace(
            plug_in, weights=lambda counts: plug_in.weights(counts) - np.where(counts == 1, 2.0, np.sqrt(counts)) / n
        )


def distance_bias(n: int, alphabet_size: int) -> float:
    """Return ``sqrt(k/n)``, a public bound on how much the plug-in distance of n ≥ 1 items is too high."""
    return math.sqrt(alphabet_size / n)


UniformityMethod = Literal["plug-in", "pml"]
UNIFORMITY_METHODS: tuple[str, ...] = get_args(UniformityMethod)


def distance_to_uniformity(
    data: Profile | Resimulated, *, alphabet_size: int, method: UniformityMethod | None = None, level: float = 0.95
) -> Estimate:
    """Estimate ``Σ_x |p_x − 1/k|`` over all k labels: twice the total variation distance to uniform, from 0 to below 2.

    Source: Acharya and others 2018; Pavlichin and others 2017.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    alphabet_size
        k, the number of possible labels, known without looking at the data.
    method
        ``"plug-in"`` (default), or ``"pml"``, which corrects for chance if there are few items per label.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> distance_to_uniformity(Profile.from_counts([500, 300]), alphabet_size=2).value
    0.25
    """
    size = check_alphabet(data, parse_whole_number(alphabet_size, name="alphabet_size")) or 1
    name = method or DistanceToUniformity.name
    check_method(name, UNIFORMITY_METHODS, of="distance to uniformity")
    chosen = DistanceToUniformity(size) if name == DistanceToUniformity.name else PmlDistanceToUniformity(size)
    return apply(data, chosen, DistanceInterval(size), level=level)
