"""From a sketch to a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.releases import Release
from anonhist.sketches.addresses import DomainAddresses
from anonhist.sketches.decoding.decoder import Setting
from anonhist.sketches.decoding.names import DECODERS, default_decoder
from anonhist.sketches.mechanism import SketchMechanism
from anonhist.sketches.observed import Observed

if TYPE_CHECKING:
    from anonhist.sketches.decoding.decoder import Decoder
    from anonhist.sketches.sketch import Sketch


def reconstruct(sketch: Sketch, method: str | Decoder | None, *, simulations: int) -> Release:
    """Read the profile back from a sketch; see :meth:`Sketch.reconstruct`."""
    from anonhist import __version__

    addresses = sketch.addresses
    setting = Setting(sketch.law, is_hashed=not isinstance(addresses, DomainAddresses))
    if isinstance(method, str):
        if method not in DECODERS:
            message = f"method must be one of {', '.join(DECODERS)}, not {method!r:.80}."
            raise UsageError(message)
        decoder: Decoder = DECODERS[method]()
    else:
        decoder = method or default_decoder(setting)
    mechanism = SketchMechanism(
        counters=addresses.size,
        domain_size=addresses.domain_size if isinstance(addresses, DomainAddresses) else None,
        sample_share=addresses.sample_share,
        setting=setting,
        decoder=decoder,
        guarantee=sketch.guarantee,
    )
    return Release(
        profile=mechanism.read(Observed.of(sketch.counters)),
        guarantee=sketch.guarantee,
        mechanism=mechanism,
        reason=f"Read from the noisy counters of a sketch by {decoder.name}.",
        library_version=__version__,
        simulations=simulations,
    )
