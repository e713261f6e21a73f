"""From a sketch to a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.releases import Release
from anonhist.sketches.addresses import HashedAddresses
from anonhist.sketches.counters import Counters
from anonhist.sketches.decoding.decoder import CounterSetting, Decoder
from anonhist.sketches.decoding.names import DECODERS, OF_SHARED_COUNTERS, default_decoder
from anonhist.sketches.sketch_mechanism import SketchMechanism

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anonhist.privacy import Guarantee
    from anonhist.sketches.addresses import DomainAddresses
    from anonhist.sketches.decoding.decoder import DecoderName
    from anonhist.sketches.noise import NoiseDistribution
    from anonhist.sketches.promise import SharedNoise

_SHARED = "Labels that share counters were separated by the distribution of their sums"
_OWN = "Each counter is one label's"
_AS_LABELS = "Each counter was read as one label: labels that share one were not separated"


def reconstruct(
    counters: NDArray[np.int64],
    addresses: HashedAddresses | DomainAddresses,
    distribution: NoiseDistribution,
    *,
    guarantee: Guarantee,
    shared: tuple[SharedNoise, ...],
    decoder: DecoderName | Decoder | None,
    simulations: int | None,
) -> Release:
    """Read the profile back from the counters of a sketch; see :meth:`Sketch.reconstruct`."""
    from anonhist.version import __version__

    setting = CounterSetting(distribution, is_hashed=isinstance(addresses, HashedAddresses))
    used = _decoder(decoder, setting)
    mechanism = SketchMechanism(
        counters=addresses.size,
        domain_size=None if isinstance(addresses, HashedAddresses) else addresses.domain_size,
        sampling_rate=addresses.sampling_rate,
        setting=setting,
        decoder=used,
        guarantee=guarantee,
        shared=shared,
    )
    told = _SHARED if used.name in OF_SHARED_COUNTERS else _AS_LABELS if setting.is_hashed else _OWN
    profile, evidence = mechanism.read_with_evidence(Counters.of(counters))
    return Release(
        profile=profile,
        guarantee=guarantee,
        mechanism=mechanism,
        reason=f"{told} (decoder {used.name}{', the default' if decoder is None else ''}).",
        library_version=__version__,
        simulations=simulations,
        evidence=evidence,
    )


def _decoder(decoder: DecoderName | Decoder | None, setting: CounterSetting) -> Decoder:
    if decoder is None:
        return default_decoder(setting)
    if isinstance(decoder, str) and decoder in DECODERS:
        return DECODERS[decoder]()
    # A class has all attributes of its objects.
    if isinstance(decoder, str | type) or not isinstance(decoder, Decoder):
        message = f"`decoder` must be one of {', '.join(DECODERS)}, or a Decoder, not {decoder!r:.80}."
        raise UsageError(message)
    return decoder
