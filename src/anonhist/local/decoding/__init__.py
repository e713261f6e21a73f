"""From counts to frequencies: decoders, the channels they invert, and tests for frequencies above zero."""

from anonhist.local.decoding.channel import AffineChannel, Channel
from anonhist.local.decoding.decoder import Decoded, Decoder
from anonhist.local.decoding.expectation_maximization import ExpectationMaximization
from anonhist.local.decoding.least_squares import ConstrainedLeastSquares
from anonhist.local.decoding.likelihood import MaximumLikelihood
from anonhist.local.decoding.names import CORRECTIONS, DECODERS, CorrectionName, DecoderName, as_correction, as_decoder
from anonhist.local.decoding.normalized import Normalized
from anonhist.local.decoding.projected import Projected
from anonhist.local.decoding.significance import (
    BenjaminiHochberg,
    Bonferroni,
    Correction,
    Holm,
    p_values,
)
from anonhist.local.decoding.unbiased import Unbiased

__all__ = [
    "CORRECTIONS",
    "DECODERS",
    "AffineChannel",
    "BenjaminiHochberg",
    "Bonferroni",
    "Channel",
    "ConstrainedLeastSquares",
    "Correction",
    "CorrectionName",
    "Decoded",
    "Decoder",
    "DecoderName",
    "ExpectationMaximization",
    "Holm",
    "MaximumLikelihood",
    "Normalized",
    "Projected",
    "Unbiased",
    "as_correction",
    "as_decoder",
    "p_values",
]
