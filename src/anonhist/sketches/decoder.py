"""The common base of decoders: the counters they read, the window that is fitted, and the resulting prevalences."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.numeric.arrays import Floats, Ints, sum_equal
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.numeric.fits import SmoothFit
    from anonhist.privacy import PrivacyUnit
    from anonhist.sketches.noise import NoiseDistribution

# A window of this many values is counted in place; values beyond are sorted.
_WINDOW = 1 << 20
DecoderName = Literal[
    "empirical-bayes", "decompounding", "maximum-likelihood", "isotonic", "three-tap", "wu-pagh", "fourier"
]


@dataclass(frozen=True, eq=False)
class Counters:
    """The empirical profile of noisy counters: ascending values, possibly negative, and how many counters have each."""

    values: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.values.shape != self.numbers.shape or not (self.values[1:] > self.values[:-1]).all():
            raise DataError("The values of counters must be ascending, each once.")
        if self.numbers.size and not self.numbers.min() > 0:
            raise DataError("Each value must occur in at least one counter.")

    @classmethod
    def of(cls, counters: NDArray[np.int64]) -> Self:
        """Count the counters with each value, −2^62 to 2^62: in place for close values, by sorting beyond."""
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
        return cls(*sum_equal(values[met], numbers[met]))

    @classmethod
    def _of_window(cls, counters: NDArray[np.int64], low: int) -> Self:
        numbers = np.bincount(counters - low)
        places = np.flatnonzero(numbers)
        return cls(places + low, numbers[places])

    @property
    def size(self) -> int:
        """The number of counters."""
        return int(self.numbers.sum())

    def dense(self, low: int, high: int) -> NDArray[np.int64]:
        """Return the number of counters with each value from ``low`` to ``high``, shape (high − low + 1,)."""
        found = np.zeros(high - low + 1, dtype=np.int64)
        inside = (self.values >= low) & (self.values <= high)
        found[self.values[inside] - low] = self.numbers[inside]
        return found


@dataclass(frozen=True, eq=False)
class Prevalences:
    """Estimated numbers of labels, ≥ 0, which need not be whole, for distinct ascending counts ≥ 0.

    Count 0 is for labels of a known domain that never occur.
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

        Every φ_{r+} of the profile is within one half of its estimate; count 0 is left out.
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
    """The public setting: the noise on a counter, and whether labels share counters, each in a random one."""

    noise: NoiseDistribution
    is_hashed: bool


class Decoder(ABC):
    """A way to recover prevalences: a frozen, printable value. All of them are post-processing."""

    name: ClassVar[str]

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Its public parameters, enough to rebuild it, with exact numbers as text; by default there are none."""
        return {}

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the estimated number of labels with each count; with count 0 if each counter belongs to one label.

        Raises
        ------
        UsageError
            If the noise or the values spread too far for this decoder.
        """
        return self._decode(observed, setting) if observed.size else Prevalences.none()

    def redecode(self, observed: Counters, setting: CounterSetting, *, rng: np.random.Generator) -> Prevalences:
        """Decode a simulated sketch of at least one counter, to estimate decoding errors; by default as usual."""
        del rng
        return self._decode(observed, setting)

    @abstractmethod
    def _decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the same for at least one counter."""


class SmoothDecoder(Decoder):
    """A decoder that assumes smooth prevalences, as far as the data permit."""

    def redecode(self, observed: Counters, setting: CounterSetting, *, rng: np.random.Generator) -> Prevalences:
        """Decode a simulated sketch, with rates that could be the true ones instead of the fitted ones.

        Otherwise simulations of a smoothed profile would reproduce it, and understate the error.
        """
        return self._fit(observed, setting, lambda fit: fit.draw(rng))

    def _decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        return self._fit(observed, setting, lambda fit: fit.rates)

    @abstractmethod
    def _fit(self, observed: Counters, setting: CounterSetting, rates_of: Callable[[SmoothFit], Floats]) -> Prevalences:
        """Return the prevalences that follow from the counters and from these rates of a fit to them."""


# Counts up to this always have their own cell.
HEAD = 48
# Cells farther out are at most this share of their count wide, unless that many counters have a value there.
_GROWTH, _CROWD = 1 / 16, 40
MOST_CELLS = 400
# Noise beyond its reach is omitted from the kernel.
_BEYOND = 1e-12
# Wider noise dominates any data.
_WIDEST = 1 << 15
# Probability added to every value, above rounding errors and below what data can show, so that no value is impossible.
STRAY = 1e-15
# Empty cells start with this fraction of an even share.
_LEAST_SEEN = 1e-3
# This many counters may lie beyond the window if it is long enough; if it grows to this length, any number may.
_FEW, _FEW_SHARE, _SHORT, _LONGEST = 16, 1 / 5000, 256, 1 << 14


def count_edges(seen: Ints, last: int) -> Ints:
    """Return the first counts of the cells of 0 to ``last`` − 1, and ``last`` itself, ascending.

    A cell ends when it is too wide or holds many counters, so dense values are resolved.
    """
    crowd = max(_CROWD, int(seen[HEAD:].sum()) // (MOST_CELLS // 2))
    reaching = np.cumsum(seen)
    edges = list(range(min(HEAD, last)))
    at = len(edges)
    while at < last:
        edges.append(at)
        before = int(reaching[at - 1]) if at else 0
        full = int(np.searchsorted(reaching, before + crowd)) + 1
        at = max(at + 1, min(full, at + max(1, int(at * _GROWTH)), last))
    return np.array([*edges, last], dtype=np.int64)


def value_edges(low: int, counts: Ints, *, spread: float) -> Ints:
    """Return the first values of the cells that counters are sorted into, from ``low`` to the last count.

    Values from zero on are resolved twice as finely as counts, except differences far smaller than ``spread``, the
    standard deviation of the noise.
    """
    step = max(1, int(spread / 8))
    fine = np.unique(np.concatenate((counts, (counts[:-1] + counts[1:]) // 2)))
    # Among edges within one step, only the first is kept.
    coarse = fine[np.unique(fine // step, return_index=True)[1]]
    below = [0]
    while below[-1] > low:
        below.append(below[-1] - max(step if below[-1] < -HEAD else 1, int(-below[-1] * _GROWTH)))
    below[-1] = low
    return np.unique(np.concatenate((np.array(below), fine[fine < HEAD], coarse, counts[-1:])))


def between_cells(kernel: Floats, low: int, values: Ints, counts: Ints) -> Floats:
    """Return ``A[i, j] = Σ_{k in value cell i} Σ_{r in count cell j} kernel(k − r)``, shape (value cells, count cells).

    ``kernel`` has the probabilities of the differences from ``low`` on; all others are zero. A is accurate to about
    10^−15 times the largest difference.
    """
    twice = np.concatenate((np.zeros(2), np.cumsum(np.cumsum(kernel))))
    total, size = float(kernel.sum()), kernel.size

    # S(x) = Σ_{t ≤ x} Σ_{s ≤ t} kernel(s), linear beyond the last difference.
    at = (values + (1 - low))[:, np.newaxis] - counts[np.newaxis, :]
    grid = twice.take(at, mode="clip")
    if int(at[-1, 0]) > size + 1:
        grid += np.maximum(at - (size + 1), 0) * total
    # Σ_{a ≤ k < b} Σ_{c ≤ r < e} kernel(k − r) = S(b−1−c) − S(a−1−c) − S(b−1−e) + S(a−1−e)
    rows = grid[1:] - grid[:-1]
    found = rows[:, :-1] - rows[:, 1:]
    return np.asarray(np.maximum(found, 0.0, out=found))


@dataclass(frozen=True, eq=False)
class Window:
    """Values of counters from ``low`` to ``last`` − 1, counts from 0 to ``last`` − 1, and both sorted into cells.

    Lower values, which noise hardly reaches, are set to ``low``; noise beyond ``reach`` is ignored. ``counts`` and
    ``values`` are edges of cells; values from ``last`` on are kept separately.
    """

    low: int
    last: int
    reach: int
    seen: Ints
    counts: Ints
    values: Ints
    beyond_values: Ints
    beyond_numbers: Ints

    @classmethod
    def of(cls, observed: Counters, distribution: NoiseDistribution) -> Self:
        """Choose the window for at least one counter; refuse uninformative noise, spread over more than 2^15 counts."""
        reach = distribution.reach(_BEYOND)
        if reach > _WIDEST:
            raise UsageError("The noise of this sketch is too wide to read a profile from it; use a larger epsilon.")
        last = _last(observed, 8 * reach)
        low = -reach
        seen = observed.dense(low, last - 1)
        seen[0] += observed.numbers[observed.values < low].sum()
        counts = count_edges(seen[-low:], last)
        beyond = observed.values >= last
        return cls(
            low,
            last,
            reach,
            seen,
            counts,
            value_edges(low, counts, spread=distribution.variance**0.5),
            observed.values[beyond],
            observed.numbers[beyond],
        )

    @property
    def num_counters(self) -> int:
        """The number of counters with a value in the window."""
        return int(self.seen.sum())

    @property
    def cell_numbers(self) -> Floats:
        """The number of counters with a value in each cell, shape (value cells,)."""
        return self.gather(self.seen.astype(np.float64))

    def gather(self, numbers: Floats) -> Floats:
        """Add up numbers of single values over the cells of values."""
        return np.asarray(np.add.reduceat(numbers, self.values[:-1] - self.low))


def _last(observed: Counters, shortest: int) -> int:
    """Return the end of the window: short if few counters lie beyond."""
    few = max(_FEW, int(observed.size * _FEW_SHARE))
    above = np.cumsum(observed.numbers[::-1])[::-1]
    end = int(observed.values[np.count_nonzero(above > few) - 1]) if int(above[0]) > few else 0
    least = min(max(shortest, _SHORT, 2 * end), max(_LONGEST, shortest))
    return max(1, min(int(observed.values[-1]) + 1, least))


def even_logs(window: Window, counts: Ints) -> Floats:
    """Return initial logarithms of rates for a fit: the same number of labels in each cell."""
    widths = np.diff(counts)
    return np.asarray(np.log(window.num_counters / (widths * float(widths.size))))


def rough_logs(window: Window, counts: Ints) -> Floats:
    """Return initial logarithms of rates for a fit: the observed values, read as counts."""
    naive = np.add.reduceat(window.seen.astype(np.float64), counts[:-1] - window.low) / np.diff(counts)
    return np.log(np.maximum(naive, _LEAST_SEEN * window.num_counters / (np.diff(counts) * float(counts.size))))


def of_all_buckets(window: Window, numbers: Floats) -> Prevalences:
    """Return the labels of all buckets, from those in the buckets of the window, with counts from 1 to its end.

    Labels fall into buckets independently: those with counts within the window are in buckets beyond it as often as in
    others, but invisible there. If T of B buckets are beyond the window, they hold ``−B·ln(1 − T/B)`` labels of such
    counts on average. Labels that share a bucket are mostly the smaller ones, so the missing labels are assigned the
    least value seen there, which nearly preserves the number of items, too.
    """
    held, beyond = window.num_counters, int(window.beyond_numbers.sum())
    buckets = held + beyond
    far = window.beyond_numbers.astype(np.float64)
    if beyond:
        # If all are beyond, treat half a bucket as if it were not; but each bucket has at least one label.
        share = min(beyond / buckets, 1 - 0.5 / buckets)
        far[0] += max(0.0, beyond * (-math.log1p(-share) / share - 1))
    return Prevalences(
        np.concatenate((np.arange(1, window.last), window.beyond_values)),
        np.concatenate((numbers * (buckets / max(held, 1)), far)),
    )
