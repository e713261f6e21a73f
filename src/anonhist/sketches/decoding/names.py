"""Decoders by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.sketches.decoding.three_tap import ThreeTap

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.sketches.decoding.decoder import Decoder, Setting

DECODERS: dict[str, Callable[[], Decoder]] = {"three-tap": ThreeTap}


def default_decoder(_: Setting) -> Decoder:
    """Return the decoder that errs least."""
    return ThreeTap()
