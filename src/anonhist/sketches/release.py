"""From a sketch to a release: how a state is read, the ledger is charged, and files are read back."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from anonhist.accounting.charge import NoisePart, Reading
from anonhist.accounting.recording import Account, Price
from anonhist.errors import DataError, UsageError
from anonhist.formats.document import Recorded, Remade, check_no_excess, check_no_zeros, unknown_mechanism
from anonhist.formats.tables import table_of_rows
from anonhist.mechanisms.setting import NO_ITEMS
from anonhist.numeric.pulse import pulsing
from anonhist.privacy import Guarantee, PrivacyUnit, parse_epsilon, parse_simulations, parse_whole_number
from anonhist.releases import Evidence, Release
from anonhist.releases.content import charged
from anonhist.releases.made import OF_GRAPHS, OF_LABELS, ReleaseKind, check_numbers
from anonhist.sketches.addresses import MOST_COUNTERS, MOST_LISTED, fingerprint
from anonhist.sketches.changes import check_unclipped
from anonhist.sketches.counter_bands import counter_bands
from anonhist.sketches.decoder import Counters, CounterSetting, Decoder, DecoderName, Prevalences, SmoothDecoder
from anonhist.sketches.inverses import FourierDecompounding, Isotonic, ThreeTap, WuPagh
from anonhist.sketches.likelihood import Decompounding, EmpiricalBayes, MaximumLikelihood
from anonhist.sketches.noise import NoiseDistribution
from anonhist.sketches.promise import SharedNoise, UsersIn, promise_of, shared_noise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anonhist.profiles import Profile
    from anonhist.sketches.sketch import Sketch

DECODERS: dict[str, Callable[..., Decoder]] = {
    each.name: each
    for each in (EmpiricalBayes, Decompounding, MaximumLikelihood, Isotonic, ThreeTap, WuPagh, FourierDecompounding)
}
# Decoders that separate labels which share counters; they are useless if no labels do.
OF_SHARED_COUNTERS = ("decompounding", "fourier")


def default_decoder(setting: CounterSetting) -> Decoder:
    """Return the decoder with the lowest error; docs/benchmarks/sketches.md has the measurements."""
    return Decompounding() if setting.is_hashed else EmpiricalBayes()


def decoder_from(name: str, parameters: Mapping[str, str | int]) -> Decoder:
    """Rebuild a decoder from its name and exactly its :attr:`Decoder.parameters`: all of them, and no others."""
    if name not in DECODERS:
        raise UsageError(f"There is no decoder {name!r:.80}; take one of {', '.join(DECODERS)}.")
    try:
        decoder = DECODERS[name](**parameters)
    except (TypeError, ValueError, OverflowError):
        decoder = None
    if decoder is None or dict(decoder.parameters) != dict(parameters):
        raise UsageError(f"These are not the parameters of the decoder {name}; give exactly those that it has.")
    return decoder


# The probability of noise that simulations leave out.
_NEGLIGIBLE = 1e-12
# A fit takes some hundred steps, each with a matrix of up to 400 rows and columns. In the time of one number of a fit,
# this many counters are filled with labels and noise.
_WORK_OF_FIT, _COUNTERS = 2**20, 16
SKETCH = ReleaseKind("sketch", {"item": OF_LABELS, "user": OF_LABELS, "edge": OF_GRAPHS})


@dataclass(frozen=True)
class SketchMechanism:
    """A sketch as a mechanism: public, frozen, printable, able to run again on public data.

    ``domain_size`` is None if labels are hashed into counters, ``shared`` is empty if no noise is shared. A decoder
    that separates labels which share counters is refused if each counter belongs to one label.
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
        """Public numbers: counters, the domain, the sampling rate, the parts of the noise, its shares, the decoder."""
        noise = ",".join(f"{gamma}" if shape == 1 else f"{gamma}^{shape}" for gamma, shape in self.setting.noise.parts)
        # For each session: γ^(1/h), the number of shares, and the number of parties that must take part.
        shares = ",".join(f"{each.gamma}^1/{each.honest}*{each.merged}@{each.participants}" for each in self.shared)
        return {
            "counters": self.counters,
            **({} if self.domain_size is None else {"domain_size": self.domain_size}),
            "sample_share": str(self.sampling_rate),
            "noise": noise,
            **({"shares": shares} if shares else {}),
            **({"unit_name": self.guarantee.unit.name} if self.guarantee.unit.name else {}),
            "method": self.decoder.name,
            **self.decoder.parameters,
        }

    def read(self, observed: Counters) -> tuple[Profile, Evidence]:
        """Return the profile of all labels, including those not sampled, and intervals.

        The intervals depend on the counters and on no assumption of a decoder.
        """
        found = self.decoder.decode(observed, self.setting)
        # Bands start from decoded prevalences; a decoder that ignores labels sharing a counter would mislead them.
        pilot = found
        if self.setting.is_hashed and self.decoder.name not in OF_SHARED_COUNTERS:
            pilot = default_decoder(self.setting).decode(observed, self.setting)
        bands = counter_bands(observed, self.setting, pilot, labels=self._labels)
        return self._scale(found), Evidence(bands[0], prevalences=bands[1])

    @property
    def _labels(self) -> float:
        """The number of labels that a counted one represents: known for a listed domain, otherwise an expectation."""
        return float(1 / self.sampling_rate) if self.domain_size is None else self.domain_size / self.counters

    def _scale(self, found: Prevalences) -> Profile:
        return found.scale(self._labels).to_profile(unit=self.guarantee.unit.total_unit)

    def simulation_work(self, profile: Profile) -> int:
        """Return about how many numbers a run computes: most of it is the fit of a decoder that assumes smoothness."""
        fit = _WORK_OF_FIT if isinstance(self.decoder, SmoothDecoder) else 0
        return fit + (self.counters + min(profile.num_labels, self.counters)) // _COUNTERS

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness: sampled, hashed, noised and decoded."""
        runs = (self._simulate(profile, rng) for _ in range(size))
        return [self._scale(self.decoder.redecode(run, self.setting, rng=rng)) for run in pulsing(runs)]

    def _simulate(self, profile: Profile, rng: np.random.Generator) -> Counters:
        size = self.domain_size
        public = self._throw_labels(profile, rng) if size is None else self._list_labels(profile, size, rng)
        return noisy(public, self.setting.noise, rng=rng)

    def _throw_labels(self, profile: Profile, rng: np.random.Generator) -> Counters:
        """Throw all labels, or the sampled ones, into counters."""
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
        """Draw as many labels of the domain as there are counters; labels that do not occur have count 0."""
        numbers = np.append(max(domain_size - profile.num_labels, 0), profile.prevalences)
        if numbers.sum() > self.counters:
            numbers = rng.multivariate_hypergeometric(numbers, self.counters, method="marginals")
        return Counters.sum_of(np.append(0, profile.counts), numbers)


def noisy(observed: Counters, distribution: NoiseDistribution, *, rng: np.random.Generator) -> Counters:
    """Return the empirical profile of public counters with simulated noise (Wu and Pagh 2024, algorithm 1).

    For many equal counters, it draws how many get each noise value.
    """
    reach = distribution.reach(_NEGLIGIBLE)
    many = observed.numbers > 2 * reach + 1
    check_numbers(int(observed.numbers[~many].sum()) + int(many.sum()) * (2 * reach + 1))
    few = np.repeat(observed.values[~many], observed.numbers[~many])
    alone = Counters.of(few + distribution.simulate(few.size, rng=rng))
    values, numbers = [alone.values], [alone.numbers]
    if many.any():
        # With wide noise, only a few values have as many counters as the noise has values; only then is its pmf
        # computed.
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
        """Return the cost of the release."""
        return Price.of(self.mechanism)._replace(reading=self.reading)

    def release(self) -> Release:
        """Read the profile."""
        from anonhist.version import __version__

        profile, evidence = self.mechanism.read(self.counters)
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
    """Take the state of a sketch, and check how it should be read, before anything is charged."""
    runs = None if simulations is None else parse_simulations(simulations)
    with sketch.turn:
        check_unclipped(sketch, "read")
        # Incomplete shares of noise give no guarantee: asking for the guarantee refuses them.
        noise, distribution, guarantee = sketch.noise, sketch.noise_distribution, sketch.guarantee
        counters, state = Counters.of(sketch.counters), fingerprint(sketch.counters)
    addresses = sketch.addresses
    setting = CounterSetting(distribution, is_hashed=addresses.domain_size is None)
    used = _decoder(decoder, setting)
    mechanism = SketchMechanism(
        counters=addresses.size,
        domain_size=addresses.domain_size,
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
    # From the charge on, the ledger has a fingerprint of the state.
    return charged(account, prepared.price, lambda receipt: replace(prepared.release(), receipt=receipt))


def _decoder(decoder: DecoderName | Decoder | None, setting: CounterSetting) -> Decoder:
    if decoder is None:
        return default_decoder(setting)
    if isinstance(decoder, str) and decoder in DECODERS:
        return DECODERS[decoder]()
    if not isinstance(decoder, Decoder):
        raise UsageError(f"`decoder` must be one of {', '.join(DECODERS)}, or a Decoder, not {decoder!r:.80}.")
    return decoder


# γ, or γ^s for a part of another shape than one.
_PART = re.compile(r"(?P<gamma>[0-9]+(?:/[0-9]+)?)(?:\^(?P<shape>[0-9]+(?:/[0-9]+)?))?")

# γ^(1/h) of a session, the number of such shares, and the number of parties that must take part.
_SHARES = re.compile(
    r"(?P<gamma>[0-9]+(?:/[0-9]+)?)\^1/(?P<honest>[0-9]{1,10})\*(?P<merged>[0-9]{1,18})@(?P<participants>[0-9]{1,10})"
)


def remake(recorded: Recorded) -> Remade:
    """Rebuild the mechanism of a release from a sketch, with the recorded guarantee."""
    check_no_excess(recorded.excess)
    name, parameters, guarantee = recorded.name, recorded.parameters, recorded.guarantee
    if name not in ("hashed-sketch", "domain-sketch"):
        raise DataError(unknown_mechanism(name))
    is_hashed = name == "hashed-sketch"
    own = {"counters", "sample_share", "noise", "method"} | (set() if is_hashed else {"domain_size"})
    if not own <= parameters.keys() or any(type(each) not in (str, int) for each in parameters.values()):
        raise DataError(f"the parameters of a {name} must be {', '.join(sorted(own))} and those of its method")
    given: dict[str, Any] = dict(parameters)
    counters, share, noise, method = (given.pop(each) for each in ("counters", "sample_share", "noise", "method"))
    shares, called = given.pop("shares", ""), given.pop("unit_name", "")
    labels = None if is_hashed else given.pop("domain_size")
    if type(counters) is not int or not isinstance(share, str) or not isinstance(method, str):
        raise DataError("the parameters of a sketch must be whole numbers and text")
    if not is_hashed and type(labels) is not int:
        raise DataError("the size of the domain must be a whole number")
    try:
        guarantee = replace(guarantee, unit=replace(guarantee.unit, name=called))
        mechanism = SketchMechanism(
            counters=parse_whole_number(counters, name="counters", most=MOST_COUNTERS),
            domain_size=None
            if is_hashed
            else parse_whole_number(labels, name="domain_size", least=counters, most=MOST_LISTED),
            sampling_rate=parse_epsilon(share, name="sample_share"),
            setting=CounterSetting(_distribution(noise), is_hashed=is_hashed),
            decoder=decoder_from(method, given),
            guarantee=guarantee,
            shared=_read_shares(shares),
        )
    except UsageError as error:
        raise DataError(f"the parameters of the {name} in the file are invalid: {error}") from None
    if mechanism.sampling_rate > 1 or (mechanism.sampling_rate == 1 and labels not in (None, counters)):
        raise DataError("the share that is sampled does not belong to such a domain")
    if dict(mechanism.parameters) != dict(parameters):
        raise DataError("the parameters of a sketch must be written as this program writes them")
    _check_promise(mechanism)
    return Remade(mechanism, mechanism.guarantee, _check)


def _check(profile: Profile, items: int | None, zeros: int | None) -> None:
    del profile
    if items is not None:
        raise DataError(NO_ITEMS)
    check_no_zeros(zeros)


def _distribution(noise: object) -> NoiseDistribution:
    """Read the parts of a noise distribution."""
    found = [_PART.fullmatch(part) for part in noise.split(",")] if isinstance(noise, str) else [None]
    parts = [
        (parse_epsilon(part["gamma"], name="gamma"), parse_epsilon(part["shape"] or "1", name="shape"))
        for part in found
        if part is not None
    ]
    if len(parts) < len(found):
        raise DataError("the noise must be rates of its parts, such as 1/2 or 1/2^3/2, with commas between them")
    distribution = NoiseDistribution.of(parts)
    if distribution.parts != tuple(parts):
        raise DataError("the parts of the noise must be in ascending order")
    return distribution


def _read_shares(shares: object) -> tuple[SharedNoise, ...]:
    """Read the shares of noise, session by session."""
    if shares == "":
        return ()
    sessions = []
    for text in shares.split(",") if isinstance(shares, str) else [""]:
        part = _SHARES.fullmatch(text)
        if part is None:
            raise DataError("the shares must be as 1/2^1/3*4@4, with commas between sessions")
        gamma = parse_epsilon(part["gamma"], name="gamma")
        honest, participants, merged = (int(part[name]) for name in ("honest", "participants", "merged"))
        if honest < 2 or participants not in (honest, honest + 1):
            raise DataError("shares need two parties at least, and one more where a party may be the adversary")
        sessions.append(SharedNoise(gamma, honest, participants, merged))
    return tuple(sessions)


def _check_promise(mechanism: SketchMechanism) -> None:
    """Refuse a guarantee that a sketch with this noise does not give."""
    guarantee, distribution, shared = mechanism.guarantee, mechanism.setting.noise, mechanism.shared
    if not SKETCH.protects(guarantee.unit):
        raise DataError("a sketch protects items or users, or single edges")
    unit = PrivacyUnit(guarantee.unit.kind, guarantee.unit.bound)
    rates = _own_rates(distribution, shared)
    if guarantee not in [promise_of(unit, guarantee.relation, rates, shared, users_in) for users_in in UsersIn]:
        raise DataError("the guarantee is not the one that a sketch with such noise gives")


def _own_rates(distribution: NoiseDistribution, shared: Sequence[SharedNoise]) -> list[Fraction]:
    """Return the rates of the noises that are not shared."""
    rest = list(distribution.parts)
    for gamma in {each.gamma for each in shared}:
        part = (gamma, sum(Fraction(each.merged, each.honest) for each in shared if each.gamma == gamma))
        if part not in rest:
            raise DataError("the shares are not those of the noise")
        rest.remove(part)
    if any(shape != 1 for _, shape in rest):
        raise DataError("the shares are not those of the noise")
    return [gamma for gamma, _ in rest]


BUCKETS_TABLE = table_of_rows(
    buckets="buckets",
    load="load",
    bytes="size",
    labels_error="labels_error",
    prevalences_error="prevalences_error",
    prevalences_error_uncertainty="uncertainty",
)
