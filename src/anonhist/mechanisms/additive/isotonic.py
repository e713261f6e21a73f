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
from anonhist.mechanisms.basis.setting import holds_where, whole_items
from anonhist.mechanisms.basis.skeletons import AdditiveMechanism

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise
    from anonhist.profiles import Profile
    from anonhist.releases import Evidence

MOST_LABELS = 2**24


@frozen
class IsotonicMechanism(AdditiveMechanism):
    """Release the counts in descending order under noise, made decreasing by isotonic regression.

    With λ_1 ≥ λ_2 ≥ … ≥ λ_L the counts, zeros for labels that do not occur, ``λ̃_i = λ_i + G``, independent G with
    ``P(G = j) ∝ exp(−ε|j|/Δ)``, Δ = ``l1_sensitivity`` the largest sorted ℓ1 distance of neighbors. Published is the
    non-increasing fit nearest in ℓ2, rounded; labels with a fit of one half or less are left out. Intervals are from
    the noisy counts themselves (:mod:`~anonhist.mechanisms.basis.noisy_band`).

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.basis.setting.Setting`.
    public_labels
        L, a public bound on the number of labels, from 1 to 2^24.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy for data of at most L labels: one item more changes one λ_i, by one. Data with
    more are visibly refused. Noise is exact and added to whole numbers, so floating point costs nothing. Proof:
    docs/proofs/simple.md.

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

    keeps_noisy_values: ClassVar[bool] = True

    _: KW_ONLY
    public_labels: Converted[SupportsIndex | float, int] = converted(
        partial(whole_items, name="public_labels", most=MOST_LABELS)
    )

    @property
    def name(self) -> str:
        """The mechanism's name, as in ``mechanism="frobenius"``."""
        return "isotonic"

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters, enough to make the mechanism again."""
        return {**super().parameters, "public_labels": self.public_labels}

    @property
    def arithmetic(self) -> str:
        """The effect of floating point, and the data for which the guarantee holds."""
        return f"{super().arithmetic}; {holds_where(f'there are at most {self.public_labels:,} labels')}"

    def exceeded_number(self, profile: Profile) -> str | None:
        """Return ``"public_labels"`` if there are more labels."""
        return "public_labels" if profile.num_labels > self.public_labels else None

    def _run(self, profile: Profile, noise: Noise) -> Profile:
        return self._publish(self._noisy(profile, noise))

    def _run_once(self, profile: Profile, noise: Noise) -> tuple[Profile, Evidence]:
        noisy = self._noisy(profile, noise)
        released = self.publishable(self._publish(noisy))
        guess = np.zeros(self.public_labels, dtype=np.int64)
        guess[: released.num_labels] = released.partition()
        return released, of_counts(noisy, guess, float(self.epsilon_per_cell))

    def _noisy(self, profile: Profile, noise: Noise) -> NDArray[np.int64]:
        counts = np.zeros(self.public_labels, dtype=np.int64)
        counts[: profile.num_labels] = profile.partition()
        return add_noise(counts, noise(self.epsilon_per_cell, counts.size))

    def _publish(self, noisy: NDArray[np.int64]) -> Profile:
        # Of so many numbers SciPy's compiled fit is worth loading.
        from scipy.optimize import isotonic_regression

        return round_sorted(isotonic_regression(noisy, increasing=False).x)
