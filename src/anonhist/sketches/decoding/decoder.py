"""What all decoders are: from the values of counters to prevalences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from anonhist.sketches.counters import Counters
    from anonhist.sketches.noise import NoiseDistribution
    from anonhist.sketches.prevalences import Prevalences

DecoderName = Literal[
    "empirical-bayes", "decompounding", "maximum-likelihood", "isotonic", "three-tap", "wu-pagh", "fourier"
]


@dataclass(frozen=True)
class CounterSetting:
    """What is public about the counters.

    Attributes
    ----------
    distribution
        The noise on each counter.
    is_hashed
        Whether labels share counters: each label is in a random one of them. Else each counter is one label's.
    """

    noise: NoiseDistribution
    is_hashed: bool


@runtime_checkable
class Decoder(Protocol):
    """A way to read prevalences back: a frozen, printable value. All of them are post-processing."""

    @property
    def name(self) -> str:
        """The name to ask for it by."""

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Its public parameters, enough to make it again; exact numbers as text."""

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the estimated number of labels with each count; with count 0 where each counter is one label's."""


@runtime_checkable
class SmoothDecoder(Decoder, Protocol):
    """A decoder that takes it for granted that prevalences are smooth, as far as what is seen leaves that open."""

    def redecode(self, observed: Counters, setting: CounterSetting, *, rng: np.random.Generator) -> Prevalences:
        """Read a simulated sketch, to see how far off readings are.

        The result is moved by chance, as far as smoothness decided what it is: else simulations of a profile that was
        made smooth would find it again, and call certain what was assumed twice.
        """


class WithoutParameters:
    """What decoders have in common that are made one way only."""

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """There are none."""
        return {}
