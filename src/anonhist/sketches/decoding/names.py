"""Which decoder a name stands for, and which one is the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.sketches.decoding.decompounding import Decompounding, FourierDecompounding
from anonhist.sketches.decoding.empirical_bayes import EmpiricalBayes, MaximumLikelihood
from anonhist.sketches.decoding.inverses import Isotonic, ThreeTap, WuPagh

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anonhist.sketches.decoding.decoder import CounterSetting, Decoder

DECODERS: dict[str, Callable[..., Decoder]] = {
    "empirical-bayes": EmpiricalBayes,
    "decompounding": Decompounding,
    "maximum-likelihood": MaximumLikelihood,
    "isotonic": Isotonic,
    "three-tap": ThreeTap,
    "wu-pagh": WuPagh,
    "fourier": FourierDecompounding,
}
# Decoders that separate labels which share counters; useless if no labels do.
OF_SHARED_COUNTERS = ("decompounding", "fourier")


def default_decoder(setting: CounterSetting) -> Decoder:
    """Return the decoder with the lowest error; docs/benchmarks.md has the measurements."""
    return Decompounding() if setting.is_hashed else EmpiricalBayes()


def decoder_from(name: str, parameters: Mapping[str, str | int]) -> Decoder:
    """Make a decoder again from its name and exactly its :attr:`Decoder.parameters`: all of them, and no others."""
    if name not in DECODERS:
        raise UsageError(f"There is no decoder {name!r:.80}; take one of {', '.join(DECODERS)}.")
    try:
        decoder = DECODERS[name](**parameters)
    except (TypeError, ValueError, OverflowError):
        decoder = None
    if decoder is None or dict(decoder.parameters) != dict(parameters):
        raise UsageError(f"These are not the parameters of the decoder {name}; give exactly those that it has.")
    return decoder
