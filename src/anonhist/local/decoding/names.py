"""Decoders and corrections by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from anonhist.errors import UsageError
from anonhist.local.decoding.decoder import Decoder
from anonhist.local.decoding.expectation_maximization import ExpectationMaximization
from anonhist.local.decoding.formulas import Normalized, Projected, Unbiased
from anonhist.local.decoding.least_squares import ConstrainedLeastSquares
from anonhist.local.decoding.likelihood import MaximumLikelihood
from anonhist.local.decoding.significance import BenjaminiHochberg, Bonferroni, Correction, Holm

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = TypeVar("Value")
DecoderName = Literal["projected", "normalized", "unbiased", "mle", "em", "least-squares"]
CorrectionName = Literal["holm", "bonferroni", "benjamini-hochberg"]
DecoderLike = DecoderName | Decoder
CorrectionLike = CorrectionName | Correction
DECODERS: dict[str, type[Decoder]] = {
    each.name: each
    for each in (Projected, Normalized, Unbiased, MaximumLikelihood, ExpectationMaximization, ConstrainedLeastSquares)
}
CORRECTIONS: dict[str, type[Correction]] = {each.name: each for each in (Holm, Bonferroni, BenjaminiHochberg)}


def as_decoder(decoder: DecoderLike) -> Decoder:
    """Return a decoder as it is, or the one with this name and its default settings.

    Raises
    ------
    UsageError
        If no decoder has this name.

    Examples
    --------
    >>> as_decoder("projected")
    Projected()
    """
    return decoder if isinstance(decoder, Decoder) else _made(DECODERS, decoder, "decoder")


def as_correction(correction: CorrectionLike) -> Correction:
    """Return a correction as it is, or the one with this name.

    Raises
    ------
    UsageError
        If no correction has this name.

    Examples
    --------
    >>> as_correction("holm")
    Holm()
    """
    return correction if isinstance(correction, Correction) else _made(CORRECTIONS, correction, "correction")


def _made(named: Mapping[str, type[Value]], name: str, what: str) -> Value:
    if name not in named:
        raise UsageError(f"There is no {what} {name!r:.80}; take one of {', '.join(named)}.")
    return named[name]()
