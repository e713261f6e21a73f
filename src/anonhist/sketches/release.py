"""From a sketch to a release: one state, which is charged to a ledger before anybody sees what it says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.accounting.charge import NoisePart, Reading
from anonhist.accounting.recording import Price
from anonhist.errors import UsageError
from anonhist.numeric.pulse import pulsing
from anonhist.privacy import parse_simulations
from anonhist.releases import Evidence, Release
from anonhist.releases.content import charged
from anonhist.releases.made import OF_GRAPHS, OF_LABELS, ReleaseKind, check_numbers
from anonhist.sketches.addresses import HashedAddresses, fingerprint
from anonhist.sketches.changes import check_unclipped
from anonhist.sketches.counter_bands import counter_bands
from anonhist.sketches.decoding.decoder import (
    Counters,
    CounterSetting,
    Decoder,
    DecoderName,
    Prevalences,
    SmoothDecoder,
)
from anonhist.sketches.decoding.names import DECODERS, OF_SHARED_COUNTERS, default_decoder
from anonhist.sketches.promise import shared_noise

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from anonhist.accounting.recording import Account
    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile
    from anonhist.sketches.noise import NoiseDistribution
    from anonhist.sketches.promise import SharedNoise
    from anonhist.sketches.sketch import Sketch

# How likely noise is that simulations leave out.
_NEGLIGIBLE = 1e-12
# A fit takes some hundred steps, each with a matrix of up to 400 rows and columns. In the time of one number of a fit,
# this many counters are filled with labels and noise.
_WORK_OF_FIT, _COUNTERS = 2**20, 16
SKETCH = ReleaseKind("sketch", {"item": OF_LABELS, "user": OF_LABELS, "edge": OF_GRAPHS})


@dataclass(frozen=True)
class SketchMechanism:
    """A sketch as a mechanism: public, frozen, printable, able to run again on public data.

    ``domain_size`` is None where labels are hashed into counters, ``shared`` empty where no noise is shared. A decoder
    that tells labels apart that share counters is refused where each counter is one label's.
    """

    kind: ClassVar[ReleaseKind] = SKETCH

    counters: int
    domain_size: int | None
    sampling_rate: Fraction
    setting: CounterSetting
    decoder: Decoder
    guarantee: Guarantee
    shared: tuple[SharedNoise, ...] = ()

    def __post_init__(self) -> None:
        if self.decoder.name in OF_SHARED_COUNTERS and not self.setting.is_hashed:
            message = f"The method {self.decoder.name} is for hashed sketches; here, each counter is one label's."
            raise UsageError(message)

    @property
    def name(self) -> str:
        """``hashed-sketch`` or ``domain-sketch``."""
        return "hashed-sketch" if self.setting.is_hashed else "domain-sketch"

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public numbers: counters, the domain, the share sampled, the parts of the noise, its shares, the decoder."""
        noise = ",".join(f"{gamma}" if shape == 1 else f"{gamma}^{shape}" for gamma, shape in self.setting.noise.parts)
        return {
            "counters": self.counters,
            **({} if self.domain_size is None else {"domain_size": self.domain_size}),
            "sample_share": str(self.sampling_rate),
            "noise": noise,
            **({} if self.shared == () else {"shares": _text_of(self.shared)}),
            "method": self.decoder.name,
            **self.decoder.parameters,
        }

    def read(self, observed: Counters) -> Profile:
        """Return the profile of all labels, those not sampled included."""
        return self._scale(self.decoder.decode(observed, self.setting))

    def read_with_evidence(self, observed: Counters) -> tuple[Profile, Evidence]:
        """Return the same, and intervals that rest on the counters and on nothing that a decoder assumes."""
        found = self.decoder.decode(observed, self.setting)
        # Bands start from decoded prevalences; a decoder that ignores labels sharing a counter would mislead them.
        pilot = found
        if self.setting.is_hashed and self.decoder.name not in OF_SHARED_COUNTERS:
            pilot = default_decoder(self.setting).decode(observed, self.setting)
        bands = counter_bands(observed, self.setting, pilot, labels=self._labels)
        return self._scale(found), Evidence(bands[0], prevalences=bands[1])

    @property
    def _labels(self) -> float:
        """How many labels one counted stands for: known of a listed domain; of others, what is expected."""
        return float(1 / self.sampling_rate) if self.domain_size is None else self.domain_size / self.counters

    def _scale(self, found: Prevalences) -> Profile:
        return found.scale(self._labels).to_profile(unit=self.guarantee.unit.total_unit)

    def simulation_work(self, profile: Profile) -> int:
        """Return about how many numbers a run computes: most of it is the fit of a decoder that assumes smoothness."""
        fit = _WORK_OF_FIT if isinstance(self.decoder, SmoothDecoder) else 0
        return fit + (self.counters + min(profile.num_labels, self.counters)) // _COUNTERS

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness: sampled, hashed, noised and read."""
        return list(pulsing(self._read_again(self._simulate(profile, rng), rng) for _ in range(size)))

    def _read_again(self, observed: Counters, rng: np.random.Generator) -> Profile:
        if isinstance(self.decoder, SmoothDecoder):
            return self._scale(self.decoder.redecode(observed, self.setting, rng=rng))
        return self.read(observed)

    def _simulate(self, profile: Profile, rng: np.random.Generator) -> Counters:
        public = (
            self._throw_labels(profile, rng)
            if self.domain_size is None
            else self._list_labels(profile, self.domain_size, rng)
        )
        return noisy(public, self.setting.noise, rng=rng)

    def _throw_labels(self, profile: Profile, rng: np.random.Generator) -> Counters:
        """Throw labels, or those that are sampled, into counters."""
        check_numbers(self.counters)
        numbers = profile.prevalences
        if self.sampling_rate < 1:
            numbers = rng.binomial(numbers, float(self.sampling_rate))
        check_numbers(int(numbers.sum()))
        counts = np.repeat(profile.counts, numbers)
        counters = np.zeros(self.counters, dtype=np.int64)
        np.add.at(counters, rng.integers(self.counters, size=counts.size), counts)
        return Counters.of(counters)

    def _list_labels(self, profile: Profile, domain_size: int, rng: np.random.Generator) -> Counters:
        """Draw as many labels of the domain as there are counters; those that do not occur have the count 0."""
        numbers = np.append(max(domain_size - profile.num_labels, 0), profile.prevalences)
        if numbers.sum() > self.counters:
            numbers = rng.multivariate_hypergeometric(numbers, self.counters, method="marginals")
        return Counters.sum_of(np.append(0, profile.counts), numbers)


def _text_of(shared: tuple[SharedNoise, ...]) -> str:
    """Write shares of noise: of each session γ^(1/h), how many there are and how many parties must take part."""
    return ",".join(f"{each.gamma}^1/{each.honest}*{each.merged}@{each.participants}" for each in shared)


def noisy(observed: Counters, distribution: NoiseDistribution, *, rng: np.random.Generator) -> Counters:
    """Return the empirical profile of public counters with simulated noise (Wu and Pagh 2024, algorithm 1).

    Of many equal counters, it is drawn how many get how much.
    """
    reach = distribution.reach(_NEGLIGIBLE)
    many = observed.numbers > 2 * reach + 1
    check_numbers(int(observed.numbers[~many].sum()) + int(many.sum()) * (2 * reach + 1))
    few = np.repeat(observed.values[~many], observed.numbers[~many])
    alone = Counters.of(few + distribution.simulate(few.size, rng=rng))
    values, numbers = [alone.values], [alone.numbers]
    if many.any():
        # Of wide noise, few values have as many counters as it has values: only then is its pmf worth computing.
        pmf = distribution.pmf(reach)
        for value, number in zip(observed.values[many].tolist(), observed.numbers[many].tolist(), strict=True):
            values.append(np.arange(value - reach, value + reach + 1))
            numbers.append(rng.multinomial(number, pmf / pmf.sum()))
    return Counters.sum_of(np.concatenate(values), np.concatenate(numbers))


_SHARED = "Labels that share counters were separated by the distribution of their sums"
_OWN = "Each counter is one label's"
_AS_LABELS = "Each counter was read as one label: labels that share one were not separated"


@dataclass(frozen=True)
class PreparedReading:
    """A state of a sketch and how it will be read, all checked; see :func:`prepare_reading`."""

    mechanism: SketchMechanism
    counters: Counters
    reading: Reading
    reason: str
    simulations: int | None

    def price(self) -> Price:
        """Return what the release will cost."""
        return Price.of(self.mechanism)._replace(reading=self.reading)

    def release(self) -> Release:
        """Read the profile."""
        from anonhist.version import __version__

        profile, evidence = self.mechanism.read_with_evidence(self.counters)
        return Release(
            profile=profile,
            guarantee=self.mechanism.guarantee,
            mechanism=self.mechanism,
            reason=self.reason,
            library_version=__version__,
            simulations=self.simulations,
            evidence=evidence,
        )


def prepare_reading(
    sketch: Sketch, decoder: DecoderName | Decoder | None = None, *, simulations: int | None = None
) -> PreparedReading:
    """Take the state of a sketch, and check how it is to be read, before anything is charged."""
    runs = None if simulations is None else parse_simulations(simulations)
    with sketch.turn:
        check_unclipped(sketch, "read")
        # Shares of noise that do not yet add up promise nothing: asking for the guarantee refuses them.
        noise, distribution, guarantee = sketch.noise, sketch.noise_distribution, sketch.guarantee
        counters, state = Counters.of(sketch.counters), fingerprint(sketch.counters)
    addresses = sketch.addresses
    setting = CounterSetting(distribution, is_hashed=isinstance(addresses, HashedAddresses))
    used = _decoder(decoder, setting)
    mechanism = SketchMechanism(
        counters=addresses.size,
        domain_size=None if isinstance(addresses, HashedAddresses) else addresses.domain_size,
        sampling_rate=addresses.sampling_rate,
        setting=setting,
        decoder=used,
        guarantee=guarantee,
        shared=shared_noise(noise),
    )
    told = _SHARED if used.name in OF_SHARED_COUNTERS else _AS_LABELS if setting.is_hashed else _OWN
    return PreparedReading(
        mechanism,
        counters,
        Reading(tuple(NoisePart(part.identity, part.gamma, part.shape == 1) for part in noise), state),
        f"{told} (decoder {used.name}{', the default' if decoder is None else ''}).",
        runs,
    )


def reconstruct(
    sketch: Sketch, decoder: DecoderName | Decoder | None, simulations: int | None, account: Account | None
) -> Release:
    """Charge a read-out, and make it; see :meth:`Sketch.reconstruct`."""
    prepared = prepare_reading(sketch, decoder, simulations=simulations)
    # The ledger knows a fingerprint of the state from the charge on.
    return charged(account, prepared.price, lambda receipt: replace(prepared.release(), receipt=receipt))


def _decoder(decoder: DecoderName | Decoder | None, setting: CounterSetting) -> Decoder:
    if decoder is None:
        return default_decoder(setting)
    if isinstance(decoder, str) and decoder in DECODERS:
        return DECODERS[decoder]()
    # A class has all attributes of its objects.
    if isinstance(decoder, str | type) or not isinstance(decoder, Decoder):
        raise UsageError(f"`decoder` must be one of {', '.join(DECODERS)}, or a Decoder, not {decoder!r:.80}.")
    return decoder
