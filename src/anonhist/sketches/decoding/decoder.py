"""The interface of all decoders: from the values of counters to prevalences."""

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
    """The public setting of the counters.

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
        """Its name."""

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Its public parameters, enough to make it again; exact numbers as text."""

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the estimated number of labels with each count; with count 0 where each counter is one label's."""


@runtime_checkable
class SmoothDecoder(Decoder, Protocol):
    """A decoder that assumes smooth prevalences, as far as the data permit."""

    def redecode(self, observed: Counters, setting: CounterSetting, *, rng: np.random.Generator) -> Prevalences:
        """Read a simulated sketch, to estimate the error of readings.

        The result is randomly perturbed as far as the smoothness assumption determined it. Otherwise simulations of a
        smoothed profile would reproduce it, and understate the error.
        """


class WithoutParameters:
    """Base of decoders without parameters."""

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """There are none."""
        return {}
