"""The Frobenius mechanism: noise on the diagonal, the arms and the legs of the Young diagram, or on sums of these."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.mechanisms.basis.noise import add_noise, simulated_noise
from anonhist.mechanisms.basis.published import bounded_profile
from anonhist.mechanisms.basis.skeletons import AdditiveMechanism
from anonhist.mechanisms.frobenius.column_band import prevalence_band
from anonhist.mechanisms.frobenius.posterior import fit_work, posterior_medians
from anonhist.mechanisms.frobenius.row_band import k_plus_band, unsmoothed_misfit
from anonhist.mechanisms.frobenius.row_groups import NoisyRows, noisy_rows
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist.releases import Evidence
from anonhist.releases.protocols import check_diagram

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise

# Stop rule: this many noise scales beyond the noisy Durfee size, and further while a coordinate exceeds as many.
_MARGIN = 8
_SIMULATED_CELLS = 2**22


@frozen
class FrobeniusMechanism(AdditiveMechanism):
    """Release a profile by two-sided geometric noise on its Frobenius coordinates.

    With D the Durfee size and ``arm_k = λ_k − k``, ``leg_k = λ'_k − k`` (both 0 for k > D), it draws
    ``D̃ = D + G``, ``ãrm_k = arm_k + G``, ``l̃eg_k = leg_k + G`` for k = 1..K, each G independent with
    ``P(G = j) ∝ exp(−ε|j|/Δ)``, Δ = ``l1_sensitivity`` the largest sorted ℓ1 distance of neighbors. For ε/Δ below 0.9,
    arms (and legs) that differ by less than the noise are released in groups, their sum with one G
    (:func:`~anonhist.mechanisms.frobenius.row_groups.noisy_rows`). K and the groups depend on released values alone.
    It publishes the partition nearest to them in expected sorted ℓ1 distance (:func:`posterior_medians`), and
    intervals for the true φ_{k+} and φ_r (:func:`~anonhist.mechanisms.frobenius.row_band.k_plus_band`,
    :func:`~anonhist.mechanisms.frobenius.column_band.prevalence_band`).

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.basis.setting.Setting`.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy. One extra item adds one cell to the diagram, which changes exactly one of D,
    arm_k, leg_k, by one, and so at most one sum; the published partition is a function of the noisy sums. Noise is
    exact and added to whole numbers, so floating point costs nothing: it appears only after the noise. Proof:
    docs/proofs/frobenius.md.

    Notes
    -----
    O(D + K) time for the noise, O(K) for the fits after it, and O(M·w) for the rest of the post-processing, where w is
    at most about 1,100 and M is the size beyond which the posterior of D is negligible.

    Examples
    --------
    >>> mechanism = FrobeniusMechanism(epsilon="0.5")
    >>> release = mechanism.release(Profile.from_counts([5, 3, 3, 1]))
    >>> print(release.guarantee)
    0.5-differentially private (δ = 0) when one item is added or removed; noise is exact and added to whole numbers,
    so floating point costs nothing.
    """

    name: ClassVar[str] = "frobenius"
    keeps_noisy_values: ClassVar[bool] = True

    def simulation_work(self, profile: Profile) -> int:
        """Return the approximate number of values that the fit of one run computes."""
        return fit_work(profile.durfee_size, float(self.epsilon_per_cell), margin=_MARGIN)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""
        return [run for run, _ in self.simulate_with_misfit(profile, size=size, rng=rng)]

    def simulate_with_misfit(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> list[tuple[Profile, float]]:
        """Return ``size`` runs and the misfit of each."""
        return [
            (self.publishable(run), misfit)
            for seen in self._batches(profile, size, rng)
            for run, misfit in self._fit(*seen)
        ]

    def simulate_with_evidence(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> list[tuple[Profile, Evidence]]:
        """Return ``size`` runs with the evidence that a release would keep, to measure how often intervals hold."""
        return [
            (self.publishable(run), self._evidence(self.publishable(run), (arms.of(only), legs.of(only), misfit)))
            for sizes, arms, legs in self._batches(profile, size, rng)
            for number, (run, misfit) in enumerate(self._fit(sizes, arms, legs))
            for only in [np.arange(sizes.size) == number]
        ]

    def _batches(
        self, profile: Profile, size: int, rng: np.random.Generator
    ) -> Iterator[tuple[NDArray[np.int64], NoisyRows, NoisyRows]]:
        """Yield noisy values of runs on a public profile, ``size`` in all."""
        check_diagram(profile)
        public, noise = FrobeniusCoordinates.of(self.admit(profile)), simulated_noise(rng)
        length = public.durfee_size + math.ceil(_MARGIN / float(self.epsilon_per_cell))
        batch = max(1, _SIMULATED_CELLS // (80 * length))
        for begun in range(0, size, batch):
            yield self._draw_noisy(public, min(batch, size - begun), noise)

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, tuple[NoisyRows, NoisyRows, float]]:
        sizes, arms, legs = self._draw_noisy(FrobeniusCoordinates.of(profile), 1, noise)
        ((run, misfit),) = self._fit(sizes, arms, legs)
        return run, (arms, legs, misfit)

    def _evidence(self, released: Profile, noisy: tuple[NoisyRows, NoisyRows, float]) -> Evidence:
        (arms, legs, misfit), epsilon = noisy, float(self.epsilon_per_cell)
        band = k_plus_band(released, arms, legs, epsilon=epsilon)
        return Evidence(band, misfit, prevalence_band(released, arms, legs, epsilon=epsilon))

    def _draw_noisy(
        self, coordinates: FrobeniusCoordinates, count: int, draw: Noise
    ) -> tuple[NDArray[np.int64], NoisyRows, NoisyRows]:
        """Spend the budget ``count`` times: return noisy Durfee sizes, arms and legs."""

        def noise(count: int, length: int) -> NDArray[np.int64]:
            return draw(self.epsilon_per_cell, count * length).reshape(count, length)

        epsilon = float(self.epsilon_per_cell)
        margin = math.ceil(_MARGIN / epsilon)
        sizes = coordinates.durfee_size + noise(count, 1)[:, 0]
        # All runs of a batch stop together; K may only depend on released values, as those of all runs are.
        length = max(1, int(sizes.max()) + margin)
        sides = [
            noisy_rows(lengths, noise(count, length), sizes, epsilon=epsilon)
            for lengths in (coordinates.arms, coordinates.legs)
        ]
        while max(int(side.sums[:, -1].max()) for side in sides) > margin:
            seen = sides[0].sums.shape[1]
            sides = [
                side.append(NoisyRows.alone(add_noise(_length(lengths, seen), noise(count, 1))))
                for side, lengths in zip(sides, (coordinates.arms, coordinates.legs), strict=True)
            ]
        return sizes, sides[0], sides[1]

    def _fit(self, sizes: NDArray[np.int64], arms: NoisyRows, legs: NoisyRows) -> list[tuple[Profile, float]]:
        """Return the published profile of each run, and its misfit."""
        found = posterior_medians(sizes, arms, legs, epsilon=float(self.epsilon_per_cell))
        misfits = unsmoothed_misfit([arm for arm, _ in found], [leg for _, leg in found], arms.beside(legs))
        return [(bounded_profile(arm, leg), misfit) for (arm, leg), misfit in zip(found, misfits, strict=True)]


def _length(lengths: NDArray[np.int64], at: int) -> NDArray[np.int64]:
    """Return the length at a position, zero beyond the end."""
    return lengths[at : at + 1] if at < lengths.size else np.zeros(1, dtype=np.int64)
