"""From a sketch to a release: one state, which is charged to a ledger before anybody sees what it says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from anonhist.accounting.charge import NoisePart, Reading
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.errors import UsageError
from anonhist.privacy import parse_simulations
from anonhist.releases import Release
from anonhist.releases.content import content_digest, rest_digest
from anonhist.sketches.addresses import HashedAddresses
from anonhist.sketches.changes import check_unclipped
from anonhist.sketches.decoding.decoder import Counters, CounterSetting, Decoder, DecoderName
from anonhist.sketches.decoding.names import DECODERS, OF_SHARED_COUNTERS, default_decoder
from anonhist.sketches.fingerprint import fingerprint
from anonhist.sketches.promise import shared_noise
from anonhist.sketches.sketch_mechanism import SketchMechanism

if TYPE_CHECKING:
    from anonhist.accounting import Ledger
    from anonhist.sketches.sketch import Sketch

_SHARED = "Labels that share counters were separated by the distribution of their sums"
_OWN = "Each counter is one label's"
_AS_LABELS = "Each counter was read as one label: labels that share one were not separated"


@dataclass(frozen=True)
class PreparedReading:
    """A state of a sketch and how it will be read, all checked; see :func:`prepare_reading`.

    Attributes
    ----------
    mechanism
        The sketch, as a mechanism.
    counters
        How many counters have each value.
    reading
        Which state it is.
    reason
        How it is read, in words.
    simulations
        As of :meth:`Sketch.reconstruct`.
    """

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
    """Take the state of a sketch, and check how it is to be read, before anything is charged.

    Parameters
    ----------
    sketch, decoder, simulations
        As of :meth:`Sketch.reconstruct`.

    Raises
    ------
    UsageError
        As :meth:`Sketch.reconstruct`, for all but the ledger.

    Examples
    --------
    >>> from anonhist.sketches import HashedSketch
    >>> prepare_reading(HashedSketch(buckets=8, epsilon=1, key=b"week 47")).price().mechanism
    'hashed-sketch'
    """
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
    sketch: Sketch,
    decoder: DecoderName | Decoder | None,
    simulations: int | None,
    *,
    ledger: Ledger | str | None,
    dataset: str | None,
    purpose: str | None,
    run_id: str | None,
) -> Release:
    """Charge a read-out, and make it; see :meth:`Sketch.reconstruct`."""
    prepared = prepare_reading(sketch, decoder, simulations=simulations)
    with recording(account_of(ledger, dataset, purpose, run_id), prepared.price) as recorded:
        # The ledger knows a fingerprint of the state from here on.
        recorded.keep()
        released = replace(prepared.release(), receipt=recorded.receipt)
        recorded.complete(lambda: content_digest(released), lambda: rest_digest(released))
    return released


def _decoder(decoder: DecoderName | Decoder | None, setting: CounterSetting) -> Decoder:
    if decoder is None:
        return default_decoder(setting)
    if isinstance(decoder, str) and decoder in DECODERS:
        return DECODERS[decoder]()
    # A class has all attributes of its objects.
    if isinstance(decoder, str | type) or not isinstance(decoder, Decoder):
        raise UsageError(f"`decoder` must be one of {', '.join(DECODERS)}, or a Decoder, not {decoder!r:.80}.")
    return decoder
