"""What mechanisms of one kind have in common: noise added to what is read off a profile, or draws by choices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.mechanisms.choices import ExactChoices, SimulatedChoices
from anonhist.mechanisms.noise import exact_noise, simulated_noise
from anonhist.mechanisms.setting import Setting, make_release, without_sizes
from anonhist.numeric.pulse import pulsing
from anonhist.randomness import SystemSource
from anonhist.releases.mechanism import check_diagram

if TYPE_CHECKING:
    import numpy as np

    from anonhist.mechanisms.choices import Choices
    from anonhist.mechanisms.noise import Noise
    from anonhist.profiles import Profile
    from anonhist.randomness import RandomSource
    from anonhist.releases import Evidence, Release


@dataclass(frozen=True)
class AdditiveMechanism(Setting, ABC):
    """A mechanism that adds noise to numbers read off the profile, and publishes a function of the sums."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name to ask for this mechanism by."""

    def release(self, profile: Profile, *, source: RandomSource | None = None, reason: str | None = None) -> Release:
        """Spend the budget once on a private profile.

        Parameters
        ----------
        profile
            The private data.
        source
            Privacy randomness; the operating system's by default.
        reason
            Why this mechanism was picked, for the record.

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
        """Run once for a release: also say what else the noisy values tell, if they are not all published."""
        return self.publishable(self._run(profile, noise)), None

    @abstractmethod
    def _run(self, profile: Profile, noise: Noise) -> Profile:
        """Run once on a profile that was admitted."""


@dataclass(frozen=True)
class DrawnMechanism(Setting, ABC):
    """A mechanism that draws a partition, decision by decision."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name to ask for this mechanism by."""

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
