"""The prevalence mechanism: noise on how many labels have each count, where the label itself is the person."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.mechanisms.setting import Setting, make_release
from anonhist.numeric import decreasing_fit
from anonhist.profiles import Profile
from anonhist.randomness import SystemSource, discrete_laplace
from anonhist.randomness.arguments import SMALLEST_GAMMA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource
    from anonhist.releases import Release

LARGEST_COUNT = 2**24


@dataclass(frozen=True)
class PrevalenceMechanism(Setting):
    """Release the prevalences φ_1..φ_c of a profile whose labels are the people, the last meaning "c or more".

    One label more or less changes one prevalence by one, so ``φ̃_r = φ_r + G`` with independent G,
    ``P(G = j) ∝ exp(−ε|j|/s)``, s = 1 for added or removed labels, 2 for exchanged ones. Published is the profile whose
    cumulative prevalences are the isotonic fit of ``Σ_{j≥r} φ̃_j``, rounded: sums of noise cancel there, where
    setting negative prevalences to zero one by one would add up to a bias.

    Parameters
    ----------
    epsilon, relation
        See :class:`~anonhist.mechanisms.setting.Setting`.
    unit
        ``PrivacyUnit.label(max_count=c)``; it has no default here. c is at most 2^24.

    Raises
    ------
    UsageError
        If the unit is not a label, c is above 2^24, or epsilon is below s·2^−40.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy for the label unit: the vector (φ_1, …, φ_c) changes by at most s in ℓ1
    between neighbours. Noise is exact and added to whole numbers, so floating point costs nothing. Proof:
    docs/proofs/prevalence.md.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> mechanism = PrevalenceMechanism(epsilon=1, unit=PrivacyUnit.label(max_count=5))
    >>> mechanism.release(Profile.from_counts([5, 3, 9, 1])).guarantee.delta
    Fraction(0, 1)
    """

    # The noise on a prevalence does not grow with c: what counts is epsilon / s, checked below.
    smallest_epsilon_per_cell: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit.kind != "label":
            raise UsageError(
                "The prevalence mechanism protects labels: give it unit=PrivacyUnit.label(max_count=c)"
                " (--unit label --max-count c), or choose another mechanism."
            )
        if self.unit.bound > LARGEST_COUNT:
            message = f"The prevalence mechanism takes a max_count of at most 2^24, not {self.unit.bound}."
            raise UsageError(message)
        if self.epsilon / self.relation.steps < SMALLEST_GAMMA:
            message = f"The prevalence mechanism needs an epsilon of at least {self.relation.steps}·2^-40, about 1e-12."
            raise UsageError(message)

    @property
    def name(self) -> str:
        """The name to ask for this mechanism by."""
        return "prevalence"

    def release(self, profile: Profile, *, source: RandomSource | None = None, reason: str | None = None) -> Release:
        """Spend the budget once on a private profile; parameters as in :meth:`FrobeniusMechanism.release`."""
        gamma = self.epsilon / self.relation.steps
        noise = discrete_laplace(gamma, self.unit.bound, source=source or SystemSource())
        released = _published(_noisy(self._prevalences(profile), noise))
        return make_release(released, self, reason=reason)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""
        chance = -math.expm1(-float(self.epsilon) / self.relation.steps)
        prevalences = self._prevalences(profile)
        shape = (2, self.unit.bound)
        runs = (rng.geometric(chance, shape) for _ in range(size))
        return [_published(_noisy(prevalences, run[0] - run[1])) for run in runs]

    def _prevalences(self, profile: Profile) -> NDArray[np.int64]:
        limited = self.admit(profile)
        prevalences = np.zeros(self.unit.bound, dtype=np.int64)
        prevalences[limited.counts - 1] = limited.prevalences
        return prevalences


def _noisy(prevalences: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add noise in whole numbers, saturating at the end of int64: a float could hide or double a step of one label."""
    return np.asarray(prevalences + np.minimum(noise, np.iinfo(np.int64).max - prevalences))


def _published(noisy: NDArray[np.int64]) -> Profile:
    # From here on all is post-processing, and rounding to floats loses accuracy at most.
    sums = np.cumsum(noisy[::-1].astype(np.float64))[::-1]
    fit = np.clip(np.rint(decreasing_fit(sums)), 0, 2.0**62)
    # n = Σ_r φ_{r+} must stay inside int64.
    fitted = (fit if float(fit.sum()) <= 2.0**62 else np.minimum(fit, 2**62 // fit.size)).astype(np.int64)
    kept = fitted - np.append(fitted[1:], 0)
    counts = np.flatnonzero(kept > 0)
    return Profile(counts + 1, kept[counts])
