"""The isotonic mechanism: noise on the counts in descending order, made decreasing again."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

import numpy as np

from anonhist.frozen import Converted, converted, frozen
from anonhist.mechanisms.basis.noise import add_noise
from anonhist.mechanisms.basis.noisy_band import of_counts
from anonhist.mechanisms.basis.published import round_sorted
from anonhist.mechanisms.basis.setting import whole_items
from anonhist.mechanisms.basis.skeletons import AdditiveMechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise
    from anonhist.profiles import Profile
    from anonhist.releases import Evidence

MOST_LABELS = 2**24


@frozen
class IsotonicMechanism(AdditiveMechanism):
    """Release the counts in descending order under noise, made decreasing by isotonic regression.

    With λ_1 ≥ λ_2 ≥ … ≥ λ_L the counts, zeros for labels that do not occur, ``λ̃_i = λ_i + G``, independent G with
    ``P(G = j) ∝ exp(−ε|j|/Δ)``, Δ = ``l1_sensitivity`` the largest sorted ℓ1 distance of neighbors. It publishes
    the non-increasing fit nearest in ℓ2, rounded; labels with a fit of one half or less are left out. Intervals are
    computed from the noisy counts themselves (:mod:`~anonhist.mechanisms.basis.noisy_band`).

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.basis.setting.Setting`.
    public_labels
        L, a public bound on the number of labels, from 1 to 2²⁴.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy for data of at most L labels: one extra item changes one λ_i, by one. Data
    with more labels are visibly refused. Noise is exact and added to whole numbers, so floating point costs nothing.
    Proof: docs/proofs/simple.md.

    Notes
    -----
    O(L) time and memory, unlike the other mechanisms: it is for comparison.

    References
    ----------
    .. [1] M. Hay, V. Rastogi, G. Miklau, D. Suciu, "Boosting the accuracy of differentially private histograms through
       consistency", VLDB 2010, §3.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> mechanism = IsotonicMechanism(epsilon=40, public_labels=100)
    >>> mechanism.release(Profile.from_counts([5, 3, 3, 1])).profile
    Profile(n=12, num_labels=4, {1: 1, 3: 2, 5: 1})
    """

    name: ClassVar[str] = "isotonic"
    keeps_noisy_values: ClassVar[bool] = True

    _: KW_ONLY
    public_labels: Converted[SupportsIndex | float, int] = converted(
        partial(whole_items, name="public_labels", most=MOST_LABELS)
    )

    def _counts(self, profile: Profile) -> NDArray[np.int64]:
        counts = np.zeros(self.public_labels, dtype=np.int64)
        counts[: profile.num_labels] = profile.partition()
        return counts

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, NDArray[np.int64]]:
        # For so many numbers, SciPy's compiled fit is worth loading.
        from scipy.optimize import isotonic_regression

        noisy = add_noise(self._counts(profile), noise(self.epsilon_per_cell, self.public_labels))
        return round_sorted(isotonic_regression(noisy, increasing=False).x), noisy

    def _evidence(self, released: Profile, noisy: NDArray[np.int64]) -> Evidence:
        return of_counts(noisy, self._counts(released), float(self.epsilon_per_cell))
