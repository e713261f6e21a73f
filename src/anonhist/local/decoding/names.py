"""Decoders and corrections by their names."""

from __future__ import annotations

from typing import Literal

from anonhist.errors import UsageError
from anonhist.local.decoding.decoder import Decoder
from anonhist.local.decoding.expectation_maximization import ExpectationMaximization
from anonhist.local.decoding.least_squares import ConstrainedLeastSquares
from anonhist.local.decoding.likelihood import MaximumLikelihood
from anonhist.local.decoding.normalized import Normalized
from anonhist.local.decoding.projected import Projected
from anonhist.local.decoding.significance import BenjaminiHochberg, Bonferroni, Correction, Holm
from anonhist.local.decoding.unbiased import Unbiased

DecoderName = Literal["projected", "normalized", "unbiased", "mle", "em", "least-squares"]
CorrectionName = Literal["holm", "bonferroni", "benjamini-hochberg"]
DECODERS: dict[str, type[Decoder]] = {
    each.name: each
    for each in (Projected, Normalized, Unbiased, MaximumLikelihood, ExpectationMaximization, ConstrainedLeastSquares)
}
CORRECTIONS: dict[str, type[Correction]] = {each.name: each for each in (Holm, Bonferroni, BenjaminiHochberg)}


def as_decoder(decoder: DecoderName | Decoder) -> Decoder:
    """Return a decoder as it is, or the one of that name with its default settings.

    Raises
    ------
    UsageError
        If there is none of that name.

    Examples
    --------
    >>> as_decoder("projected")
    Projected()
    """
    if isinstance(decoder, Decoder):
        return decoder
    if decoder not in DECODERS:
        message = f"There is no decoder {decoder!r:.80}; take one of {', '.join(DECODERS)}."
        raise UsageError(message)
    return DECODERS[decoder]()


def as_correction(correction: CorrectionName | Correction) -> Correction:
    """Return a correction as it is, or the one of that name.

    Raises
    ------
    UsageError
        If there is none of that name.

    Examples
    --------
    >>> as_correction("holm")
    Holm()
    """
    if isinstance(correction, Correction):
        return correction
    if correction not in CORRECTIONS:
        message = f"There is no correction {correction!r:.80}; take one of {', '.join(CORRECTIONS)}."
        raise UsageError(message)
    return CORRECTIONS[correction]()
