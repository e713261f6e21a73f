"""Decoders by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.sketches.decoding.decompounding import Decompounding
from anonhist.sketches.decoding.empirical_bayes import EmpiricalBayes
from anonhist.sketches.decoding.fourier import FourierDecompounding
from anonhist.sketches.decoding.maximum_likelihood import MaximumLikelihood
from anonhist.sketches.decoding.three_tap import ThreeTap

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.sketches.decoding.decoder import Decoder, Setting

DECODERS: dict[str, Callable[[], Decoder]] = {
    "empirical-bayes": EmpiricalBayes,
    "decompounding": Decompounding,
    "maximum-likelihood": MaximumLikelihood,
    "fourier": FourierDecompounding,
    "three-tap": ThreeTap,
}


def default_decoder(setting: Setting) -> Decoder:
    """Return the decoder that errs least: docs/benchmarks.md has the measurements."""
    return Decompounding() if setting.is_hashed else EmpiricalBayes()
