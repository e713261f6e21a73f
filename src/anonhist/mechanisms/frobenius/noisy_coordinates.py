"""The budgeted step of the Frobenius mechanism: noisy Durfee sizes, arms and legs, of one profile or of many.

Each profile's arms and legs are drawn up to a length K that follows from what is released of it alone, as if it were
the only one. Profiles of the same K are drawn together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.frobenius.posterior import pass_work
from anonhist.mechanisms.frobenius.row_weights import NoisyRows, noisy_rows
from anonhist.mechanisms.noise import add_noise
from anonhist.profiles import FrobeniusCoordinates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.mechanisms.noise import Noise
    from anonhist.profiles import Profile

# Stop rule: this many noise scales beyond the noisy Durfee size, and further while a coordinate exceeds as many.
MARGIN = 8
# Runs are drawn together as long as one pass of their fit computes at most this many values.
_VALUES = 2**19


@dataclass(frozen=True)
class NoisyCoordinates:
    """Noisy Durfee sizes D̃ of several runs, and K noisy arms and legs of each, single ones or sums."""

    sizes: NDArray[np.int64]
    arms: NoisyRows
    legs: NoisyRows

    def numbers(self, run: int) -> NDArray[np.int64]:
        """Return all noisy numbers of a run, each once: n is the sum of the true ones."""
        sides = (side.sums[run, side.begins[run]] for side in (self.arms, self.legs))
        return np.concatenate((self.sizes[run : run + 1], *sides))

    def of(self, runs: NDArray[np.bool_]) -> NoisyCoordinates:
        """Keep these runs only."""
        return NoisyCoordinates(self.sizes[runs], self.arms.of(runs), self.legs.of(runs))


class CoordinateNoise:
    """Noise on coordinates, of rate ε/Δ."""

    def __init__(self, rate: Fraction, draw: Noise) -> None:
        self._rate, self._draw, self._epsilon = rate, draw, float(rate)
        self._margin = math.ceil(MARGIN / self._epsilon)

    def on_one(self, coordinates: FrobeniusCoordinates, count: int) -> NoisyCoordinates:
        """Return ``count`` runs on one public profile, for simulations: K is the same for all of them."""
        sizes = coordinates.durfee_size + self._noise(count, 1)[:, 0]
        sides = coordinates.arms[None], coordinates.legs[None]
        drawn = self._begin(*sides, sizes, max(1, int(sizes.max()) + self._margin))
        while self._stand_out(drawn).any():
            drawn = self._go_on(drawn, *sides)
        return drawn

    def on_each(self, profiles: Sequence[Profile]) -> Iterator[tuple[NDArray[np.int64], NoisyCoordinates]]:
        """Spend the budget on each private profile; yield places of some and their noisy values, until none is left.

        How many are drawn together, and in which order, follows from released values.
        """
        diagonals = np.array([profile.durfee_size for profile in profiles], dtype=np.int64)
        sizes = diagonals + self._noise(len(profiles), 1)[:, 0]
        lengths = np.maximum(1, sizes + self._margin)
        for length in sorted(set(lengths.tolist())):
            alike, most = np.flatnonzero(lengths == length), max(1, _VALUES // pass_work(length, self._epsilon))
            for first in range(0, alike.size, most):
                places = alike[first : first + most]
                coordinates = [FrobeniusCoordinates.of(profiles[place]) for place in places.tolist()]
                arms, legs = _table([each.arms for each in coordinates]), _table([each.legs for each in coordinates])
                drawn = self._begin(arms, legs, sizes[places], length)
                while (go_on := self._stand_out(drawn)).any():
                    if not go_on.all():
                        yield places[~go_on], drawn.of(~go_on)
                    places, arms, legs = places[go_on], arms[go_on], legs[go_on]
                    drawn = self._go_on(drawn.of(go_on), arms, legs)
                yield places, drawn

    def _noise(self, runs: int, length: int) -> NDArray[np.int64]:
        return self._draw(self._rate, runs * length).reshape(runs, length)

    def _begin(
        self, arms: NDArray[np.int64], legs: NDArray[np.int64], sizes: NDArray[np.int64], length: int
    ) -> NoisyCoordinates:
        """Draw the first arms and legs, ``length`` of each; tables have one row for all runs, or one for each."""
        sides = (
            noisy_rows(lengths, self._noise(sizes.size, length), sizes, epsilon=self._epsilon)
            for lengths in (arms, legs)
        )
        return NoisyCoordinates(sizes, *sides)

    def _stand_out(self, drawn: NoisyCoordinates) -> NDArray[np.bool_]:
        """Return which runs have a last arm or leg that is longer than noise is likely to make it."""
        return np.maximum(drawn.arms.sums[:, -1], drawn.legs.sums[:, -1]) > self._margin

    def _go_on(self, drawn: NoisyCoordinates, arms: NDArray[np.int64], legs: NDArray[np.int64]) -> NoisyCoordinates:
        """Draw one more arm and one more leg, alone."""
        position = drawn.arms.sums.shape[1]
        sides = (
            side.append(NoisyRows.alone(add_noise(_column(lengths, position), self._noise(drawn.sizes.size, 1))))
            for side, lengths in ((drawn.arms, arms), (drawn.legs, legs))
        )
        return NoisyCoordinates(drawn.sizes, *sides)


def _table(sides: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Put arms (or legs) of several profiles into rows, padded with zeros."""
    rows = np.zeros((len(sides), max(side.size for side in sides)), dtype=np.int64)
    for row, side in zip(rows, sides, strict=True):
        row[: side.size] = side
    return rows


def _column(lengths: NDArray[np.int64], at: int) -> NDArray[np.int64]:
    """Return the lengths at a position, zero beyond the end."""
    return lengths[:, at : at + 1] if at < lengths.shape[1] else np.zeros((lengths.shape[0], 1), dtype=np.int64)
