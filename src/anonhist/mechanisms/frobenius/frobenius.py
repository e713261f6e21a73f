"""The Frobenius mechanism: noise on the diagonal, the arms and the legs of the Young diagram, or on sums of these."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.mechanisms.basis.noise import simulated_noise
from anonhist.mechanisms.basis.published import bounded_profile
from anonhist.mechanisms.basis.skeletons import AdditiveMechanism, Released, RunOfOne
from anonhist.mechanisms.frobenius.evidence import evidence_of
from anonhist.mechanisms.frobenius.noisy_coordinates import MARGIN, CoordinateNoise
from anonhist.mechanisms.frobenius.posterior import fit_work, posterior_medians
from anonhist.mechanisms.frobenius.row_band import unsmoothed_misfit
from anonhist.mechanisms.frobenius.shared_bias import Fits, without_shared_bias
from anonhist.mechanisms.frobenius.sum_band import NoisyGroup, sum_evidence
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist.releases import Evidence
from anonhist.releases.protocols import check_diagram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise
    from anonhist.mechanisms.frobenius.noisy_coordinates import NoisyCoordinates

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
    intervals for the true n, φ_{k+} and φ_r (:mod:`~anonhist.mechanisms.basis.noisy_total`,
    :func:`~anonhist.mechanisms.frobenius.row_band.k_plus_rows`,
    :func:`~anonhist.mechanisms.frobenius.column_band.prevalence_rows`).

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
        return fit_work(profile.durfee_size, float(self.epsilon_per_cell), margin=MARGIN)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""
        return [run for run, _ in self.simulate_with_misfit(profile, size=size, rng=rng)]

    def simulate_with_misfit(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> list[tuple[Profile, float]]:
        """Return ``size`` runs and the misfit of each."""
        return [run for fits in self._batches(profile, size, rng) for run in self._published(fits)]

    def simulate_with_evidence(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> list[tuple[Profile, Evidence]]:
        """Return ``size`` runs with the evidence that a release would keep, to measure how often intervals hold."""
        return [run for fits in self._batches(profile, size, rng) for run in self._publish(fits)]

    def simulate_each(
        self, profiles: Sequence[Profile], *, size: int, rng: np.random.Generator
    ) -> Iterator[Sequence[Profile]]:
        """Yield ``size`` runs on several public profiles together, with simulation randomness."""
        public, noise = [self.admit(profile) for profile in profiles], simulated_noise(rng)
        for profile in public:
            check_diagram(profile)
        for _ in range(size):
            runs = dict(
                pair
                for fits in self._fit_each(public, noise)
                for pair in zip(fits.places.tolist(), self._published(fits), strict=True)
            )
            yield [runs[place][0] for place in range(len(public))]

    def sum_evidence(self, parts: Sequence[Released]) -> Evidence:
        """Return intervals for sums over several profiles that were released together."""
        made = [(each.release, each.noisy) for each in parts]
        epsilon = float(self.epsilon_per_cell)
        return sum_evidence([each.profile for each, _ in made], [noisy for _, noisy in made], epsilon=epsilon)

    def _batches(self, profile: Profile, size: int, rng: np.random.Generator) -> Iterator[Fits]:
        """Yield the fits of runs on a public profile, ``size`` in all."""
        check_diagram(profile)
        public, noise = FrobeniusCoordinates.of(self.admit(profile)), self._noise(simulated_noise(rng))
        length = public.durfee_size + math.ceil(MARGIN / float(self.epsilon_per_cell))
        batch = max(1, _SIMULATED_CELLS // (80 * length))
        for begun in range(0, size, batch):
            many = min(batch, size - begun)
            yield self._fit(np.arange(many), noise.on_one(public, many))

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, Evidence | None]:
        (run,) = self._run_each([profile], noise)
        return run.profile, run.evidence

    def _evidence(self, released: Profile, noisy: Evidence | None) -> Evidence | None:
        return noisy

    def _run_each(self, profiles: Sequence[Profile], noise: Noise) -> Iterator[RunOfOne]:
        for fits in self._fit_each(profiles, noise):
            for at, (place, run) in enumerate(zip(fits.places.tolist(), self._publish(fits), strict=True)):
                yield RunOfOne(place, *run, NoisyGroup(fits.noisy, at))

    def _noise(self, draw: Noise) -> CoordinateNoise:
        return CoordinateNoise(self.epsilon_per_cell, draw)

    def _fit_each(self, profiles: Sequence[Profile], noise: Noise) -> list[Fits]:
        """Spend the budget on each profile, and fit all of them."""
        fits = [self._fit(places, noisy) for places, noisy in self._noise(noise).on_each(profiles)]
        return without_shared_bias(fits, epsilon=float(self.epsilon_per_cell))

    def _fit(self, places: NDArray[np.int64], noisy: NoisyCoordinates) -> Fits:
        found = posterior_medians(noisy.sizes, noisy.arms, noisy.legs, epsilon=float(self.epsilon_per_cell))
        return Fits(places, noisy, [arm for arm, _ in found], [leg for _, leg in found])

    def _published(self, fits: Fits) -> list[tuple[Profile, float]]:
        """Return the published profile of each run, and the misfit of its fit."""
        misfits = unsmoothed_misfit(fits.arms, fits.legs, fits.noisy.arms.beside(fits.noisy.legs))
        sides = zip(fits.arms, fits.legs, misfits, strict=True)
        return [(self.publishable(bounded_profile(arm, leg)), misfit) for arm, leg, misfit in sides]

    def _publish(self, fits: Fits) -> list[tuple[Profile, Evidence]]:
        """Return the published profile of each run, and its evidence."""
        found = self._published(fits)
        released, misfits = [run for run, _ in found], [misfit for _, misfit in found]
        evidence = evidence_of(released, fits.noisy, misfits, epsilon=float(self.epsilon_per_cell))
        return [*zip(released, evidence, strict=True)]
