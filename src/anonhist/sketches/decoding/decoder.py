"""What all decoders have in common: the counters that they read, and the prevalences that they return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, Self, runtime_checkable

import numpy as np

from anonhist.errors import DataError
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.privacy import PrivacyUnit
    from anonhist.sketches.noise import NoiseDistribution

# A window of this many values is counted in place; values beyond are sorted.
_WINDOW = 1 << 20
DecoderName = Literal[
    "empirical-bayes", "decompounding", "maximum-likelihood", "isotonic", "three-tap", "wu-pagh", "fourier"
]


@dataclass(frozen=True, eq=False)
class Counters:
    """The empirical profile of noisy counters: ascending values, also below zero, and how many counters have each."""

    values: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.values.shape != self.numbers.shape or not (self.values[1:] > self.values[:-1]).all():
            raise DataError("The values of counters must be ascending, each once.")
        if self.numbers.size and not self.numbers.min() > 0:
            raise DataError("Each value must occur in at least one counter.")

    @classmethod
    def of(cls, counters: NDArray[np.int64]) -> Self:
        """Count how many counters have each value, −2^62 to 2^62: in place if close together, by sorting beyond."""
        if not counters.size:
            return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        low, high = int(counters.min()), int(counters.max())
        if high - low < _WINDOW:
            return cls._of_window(counters, low)
        beyond = counters >= low + _WINDOW
        near = cls._of_window(counters[~beyond], low)
        values, numbers = np.unique(counters[beyond], return_counts=True)
        return cls(np.concatenate((near.values, values)), np.concatenate((near.numbers, numbers)))

    @classmethod
    def sum_of(cls, values: NDArray[np.int64], numbers: NDArray[np.int64]) -> Self:
        """Combine values in any order, adding up equal ones, with numbers ≥ 0."""
        met = numbers > 0
        order = np.argsort(values[met], kind="stable")
        ordered = values[met][order]
        if not ordered.size:
            return cls(ordered, numbers[met])
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        return cls(ordered[first], np.add.reduceat(numbers[met][order], first))

    @classmethod
    def _of_window(cls, counters: NDArray[np.int64], low: int) -> Self:
        numbers = np.bincount(counters - low)
        places = np.flatnonzero(numbers)
        return cls(places + low, numbers[places])

    @property
    def size(self) -> int:
        """How many counters there are."""
        return int(self.numbers.sum())

    def dense(self, low: int, high: int) -> NDArray[np.int64]:
        """Return how many counters have each value from ``low`` to ``high``, shape (high − low + 1,)."""
        found = np.zeros(high - low + 1, dtype=np.int64)
        inside = (self.values >= low) & (self.values <= high)
        found[self.values[inside] - low] = self.numbers[inside]
        return found


@dataclass(frozen=True, eq=False)
class Prevalences:
    """Estimated numbers of labels, ≥ 0, which need not be whole, for distinct ascending counts ≥ 0.

    Count 0 is that of labels of a known domain that never occur.
    """

    counts: NDArray[np.int64]
    numbers: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.counts.shape != self.numbers.shape or not (self.counts[1:] > self.counts[:-1]).all():
            raise DataError("Estimated prevalences need distinct counts in ascending order.")
        if self.counts.size and (self.counts[0] < 0 or not 0 <= self.numbers.min() <= self.numbers.max() < np.inf):
            raise DataError("Estimated prevalences and their counts must be finite and at least 0.")

    @classmethod
    def none(cls) -> Prevalences:
        """Return the empty result."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0))

    def scale(self, factor: float) -> Prevalences:
        """Return the same shares of ``factor`` times as many labels."""
        return Prevalences(self.counts, self.numbers * factor)

    def to_profile(self, *, unit: PrivacyUnit | None = None) -> Profile:
        """Return whole numbers: each φ_{r+}, not each φ_r, is rounded, so that errors of many counts do not add up.

        Every φ_{r+} of the profile is within one half of what is estimated; count 0 is left out.
        """
        positive = self.counts > 0
        counts, numbers = self.counts[positive], self.numbers[positive]
        reaching = np.floor(np.cumsum(numbers[::-1]) + 0.5)
        if reaching.size and reaching[-1] >= 2.0**63:
            raise DataError("More than 2^63 − 1 labels are estimated, which is the largest number supported.")
        whole = np.diff(reaching.astype(np.int64), prepend=0)[::-1]
        kept = whole > 0
        return Profile(counts[kept], whole[kept], unit=unit)


@dataclass(frozen=True)
class CounterSetting:
    """The public setting: the noise on a counter, and whether labels share counters, each in a random one, or not."""

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
