"""Base classes of mechanisms for profiles: all of them, those that add noise, and those that draw by choices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from anonhist.frozen import frozen
from anonhist.mechanisms.basis.choices import ExactChoices, SimulatedChoices
from anonhist.mechanisms.basis.noise import exact_noise, simulated_noise
from anonhist.mechanisms.basis.setting import Setting, make_release, without_sizes
from anonhist.numeric.pulse import pulsing
from anonhist.privacy import short_decimal
from anonhist.randomness import SystemSource
from anonhist.releases.protocols import check_diagram

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np

    from anonhist.mechanisms.basis.choices import Choices
    from anonhist.mechanisms.basis.noise import Noise
    from anonhist.profiles import Profile
    from anonhist.randomness import RandomSource
    from anonhist.releases import Evidence, Release


@frozen
class CentralMechanism(Setting, ABC):
    """A mechanism for profiles with a name: a public, frozen, printable value."""

    # Comparisons on data with more items leave it out.
    most_items: ClassVar[int | None] = None
    # Its releases keep evidence from noisy values, so files may hold intervals made from it.
    keeps_noisy_values: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The mechanism's name, as in ``mechanism="frobenius"``."""

    @abstractmethod
    def release(self, profile: Profile, *, source: RandomSource | None = None, reason: str | None = None) -> Release:
        """Spend the budget once on a private profile."""

    @abstractmethod
    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""


@frozen
class AdditiveMechanism(CentralMechanism):
    """A mechanism that adds noise to numbers read off the profile, and publishes a function of the sums."""

    def release(self, profile: Profile, *, source: RandomSource | None = None, reason: str | None = None) -> Release:
        """Spend the budget once on a private profile.

        Parameters
        ----------
        profile
            The private data.
        source
            Privacy randomness; the operating system's by default.
        reason
            Why this mechanism was picked; recorded in the release.

        Raises
        ------
        UsageError
            If the profile was read to protect more, or exceeds a public number.
        DataError
            If there is not enough memory.
        """
        with without_sizes():
            released, evidence = self._run_once(self.admit(profile), exact_noise(source))
        return make_release(released, self, reason=reason, evidence=evidence)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""
        public, noise = self.admit(profile), simulated_noise(rng)
        return list(pulsing(self.publishable(self._run(public, noise)) for _ in range(size)))

    def _run_once(self, profile: Profile, noise: Noise) -> tuple[Profile, Evidence | None]:
        """Run once for a release; also return evidence from the noisy values, if they are not all published."""
        return self.publishable(self._run(profile, noise)), None

    @abstractmethod
    def _run(self, profile: Profile, noise: Noise) -> Profile:
        """Run once on a profile that was admitted."""


@frozen
class DrawnMechanism(CentralMechanism):
    """A mechanism that draws a partition, decision by decision.

    A draw has no noisy values, so its intervals come from runs on it. Below a budget per cell of :attr:`runs_hold_from`
    these have less than their stated coverage on some data, and none are given.
    """

    # Measured on the drawn shapes 0 to 4: docs/benchmarks.md, "Intervals of releases".
    runs_hold_from: ClassVar[Fraction]

    @property
    def runs_fall_short(self) -> str:
        """Why intervals from runs on a release are too short; empty if they hold."""
        if self.epsilon_per_cell >= self.runs_hold_from:
            return ""
        return (
            f"below ε/Δ = {short_decimal(self.runs_hold_from)}, simulated runs of the mechanism {self.name} on its "
            "release have smaller errors than the release"
        )

    def release(self, profile: Profile, *, source: RandomSource | None = None, reason: str | None = None) -> Release:
        """Spend the budget once on a private profile; parameters and errors as in :class:`AdditiveMechanism`."""
        with without_sizes():
            (released,) = self._run(self.admit(profile), 1, ExactChoices(source or SystemSource()))
        return make_release(self.publishable(released), self, reason=reason)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""
        check_diagram(profile)
        return [self.publishable(run) for run in self._run(self.admit(profile), size, SimulatedChoices(rng))]

    @abstractmethod
    def _run(self, profile: Profile, size: int, choices: Choices) -> list[Profile]:
        """Draw ``size`` profiles around one that was admitted."""
