"""What a release remembers of the sketch it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.sketches.observed import Observed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile
    from anonhist.sketches.decoding.decoder import Decoder, Setting


@dataclass(frozen=True)
class SketchMechanism:
    """A sketch as a mechanism: public, frozen, printable, able to run again on public data.

    Attributes
    ----------
    counters
        How many counters there are.
    domain_size
        How many labels there are in all, of a known domain; None where labels are hashed into counters.
    sample_share
        Which share of the labels is counted.
    setting, decoder
        What the counters were read with.
    guarantee
        What the sketch promises.
    """

    counters: int
    domain_size: int | None
    sample_share: Fraction
    setting: Setting
    decoder: Decoder
    guarantee: Guarantee

    @property
    def name(self) -> str:
        """``hashed-sketch`` or ``domain-sketch``."""
        return "hashed-sketch" if self.setting.is_hashed else "domain-sketch"

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public numbers: counters, the domain, the share sampled, the parts of the noise, the decoder."""
        noise = ",".join(f"{gamma}" if shape == 1 else f"{gamma}^{shape}" for gamma, shape in self.setting.law.parts)
        return {
            "counters": self.counters,
            **({} if self.domain_size is None else {"domain_size": self.domain_size}),
            "sample_share": str(self.sample_share),
            "noise": noise,
            "method": self.decoder.name,
            **self.decoder.parameters,
        }

    def read(self, observed: Observed) -> Profile:
        """Return the profile of all labels, those not sampled included."""
        found = self.decoder.decode(observed, self.setting)
        return found.scaled(float(1 / self.sample_share)).rounded(unit=self.guarantee.unit)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""
        return [self.read(self._simulated(profile, rng)) for _ in range(size)]

    def _simulated(self, profile: Profile, rng: np.random.Generator) -> Observed:
        numbers = profile.prevalences
        if self.sample_share < 1:
            numbers = rng.binomial(numbers, float(self.sample_share))
        counts = np.repeat(profile.counts, numbers)
        counters = self.setting.law.simulate(self.counters, rng=rng)
        if self.setting.is_hashed:
            np.add.at(counters, rng.integers(self.counters, size=counts.size), counts)
        else:
            counters[: counts.size] += counts[: self.counters]
        return Observed.of(counters)
