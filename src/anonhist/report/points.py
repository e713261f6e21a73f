"""The numbers that figures of a release draw, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.releases.runs import levels_of
from anonhist.report.hover import Hover
from anonhist.report.wording import interval, with_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.releases import Release

_POINTS = 400


@dataclass(frozen=True, eq=False)
class Points:
    """Some numbers of labels with their intervals.

    Attributes
    ----------
    at : ndarray of int64, shape (v,)
        Counts, ascending.
    value, low, high : ndarray, shape (v,)
        Numbers of labels and the ends of their intervals; the numbers themselves where nothing is known.
    is_known
        Whether anything is known of how far off the numbers are.
    told
        Which labels each number counts; ``{}`` stands for the count.
    """

    at: NDArray[np.int64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    is_known: bool
    told: str

    @classmethod
    def exactly(cls, release: Release) -> Points:
        """Return prevalences φ_r: of large profiles some 400, evenly spread on the log scale of counts."""
        profile, error = release.profile, release.error
        chosen = thin(profile.counts)
        at, value = profile.counts[chosen], profile.prevalences[chosen].astype(float)
        ends = error.prevalence_interval(profile, at) if error.has_prevalence_intervals else (value, value)
        return cls(at, value, ends[0], ends[1], error.has_prevalence_intervals, release.words.exactly)

    @classmethod
    def at_least(cls, release: Release) -> Points:
        """Return k+ counts φ_{k+}, as many."""
        profile, error = release.profile, release.error
        levels = levels_of(profile)
        levels = levels[thin(levels)] if len(profile) else np.zeros(0, dtype=np.int64)
        if (largest := release.guarantee.unit.max_count) is not None:
            # Counts above it were taken together with it: there is nothing to err about.
            levels = levels[levels <= largest]
        value = profile.cumulative_prevalence(levels).astype(float)
        ends = error.k_plus_interval(profile, levels) if error.has_k_plus_intervals else (value, value)
        return cls(levels, value, ends[0], ends[1], error.has_k_plus_intervals, release.words.at_least)

    @property
    def hover(self) -> Hover:
        """What each number says."""
        columns = (each.tolist() for each in (self.at, self.value, self.low, self.high))
        texts = []
        for at, value, low, high in zip(*columns, strict=True):
            ends = f"; {with_interval(interval(low, high))}" if self.is_known else ""
            told = self.told.format(f"{at:,}").replace(" 1 items", " 1 item")
            texts.append(f"{told}: {value:,.0f}{ends}")
        return Hover(self.at.tolist(), texts)


def thin(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return indices of at most some 400 of ascending positions ≥ 1, evenly spread on the log scale, ends included."""
    size = len(positions)
    if size <= _POINTS:
        return np.arange(size)
    marks = np.geomspace(float(positions[0]), float(positions[-1]), _POINTS)
    # The last position up to each mark: what holds there holds up to the mark, however far the next position is.
    return np.unique(np.clip(np.searchsorted(positions, marks, side="right") - 1, 0, size - 1))
