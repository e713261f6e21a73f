"""The cumulative mechanism: noise on the number of labels with each count or more, up to a public largest count."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

import numpy as np

from anonhist.frozen import Converted, converted, frozen
from anonhist.mechanisms.basis.noise import add_noise
from anonhist.mechanisms.basis.noisy_band import of_cumulative
from anonhist.mechanisms.basis.published import profile_of_fit
from anonhist.mechanisms.basis.setting import whole_items
from anonhist.mechanisms.basis.skeletons import AdditiveMechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise
    from anonhist.profiles import Profile
    from anonhist.releases import Evidence

LARGEST_CAP = 2**24


@frozen
class CumulativeMechanism(AdditiveMechanism):
    """Release the cumulative prevalences φ_{1+}..φ_{C+} under noise, made decreasing by isotonic regression.

    ``φ̃_{r+} = φ_{r+} + G``, r = 1..C, independent G with ``P(G = j) ∝ exp(−ε|j|/Δ)``, Δ = ``l1_sensitivity`` the
    largest sorted ℓ1 distance of neighbors. It publishes the non-increasing fit nearest in ℓ2, rounded, at least 0.
    For large ε it is one of the best simple mechanisms; below ε = 2, others have lower errors (docs/benchmarks.md).
    Intervals are computed from the noisy numbers themselves
    (:mod:`~anonhist.mechanisms.basis.noisy_band`).

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.basis.setting.Setting`.
    public_cap
        C, a public number that no count exceeds, from 1 to 2²⁴. The error grows with it.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy for data whose counts do not exceed C: one extra item changes one φ_{r+}, by
    one. Data with a larger count are visibly refused. Noise is exact and added to whole numbers, so floating point
    costs nothing. Proof: docs/proofs/simple.md.

    Notes
    -----
    O(C) time and memory, whatever the data.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> mechanism = CumulativeMechanism(epsilon=1, public_cap=100)
    >>> print(mechanism.release(Profile.from_counts([5, 3, 3, 1])).guarantee)
    1-differentially private (δ = 0) when one item is added or removed; noise is exact and added to whole numbers, so
    floating point costs nothing; it holds for data where no count is above 100, which must be public knowledge.
    """

    name: ClassVar[str] = "cumulative"
    keeps_noisy_values: ClassVar[bool] = True

    _: KW_ONLY
    public_cap: Converted[SupportsIndex | float, int] = converted(
        partial(whole_items, name="public_cap", most=LARGEST_CAP)
    )

    @property
    def _levels(self) -> NDArray[np.int64]:
        return np.arange(1, self.public_cap + 1)

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, NDArray[np.int64]]:
        from scipy.optimize import isotonic_regression

        noisy = add_noise(profile.cumulative_prevalence(self._levels), noise(self.epsilon_per_cell, self.public_cap))
        return profile_of_fit(self._levels, isotonic_regression(noisy, increasing=False).x), noisy

    def _evidence(self, released: Profile, noisy: NDArray[np.int64]) -> Evidence:
        return of_cumulative(noisy, released.cumulative_prevalence(self._levels), float(self.epsilon_per_cell))
