"""The guessing curve: which share of all items the most frequent labels cover."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.properties import covered_share, evenly_spread
from anonhist.properties.levels import widening
from anonhist.releases.error import NORMAL_95, whole_interval
from anonhist.report.figures import BAND, BLUE, add_legend, canvas, say_empty, scale_of_counts

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from anonhist.releases import Release

_POINTS = 400


@dataclass(frozen=True, eq=False)
class Guessing:
    """The guessing curve of a release, with its uncertainty.

    Attributes
    ----------
    labels : ndarray of int64, shape (v,)
        Numbers β of most frequent labels, ascending, ≥ 1, evenly spread on the log scale; each power
        of ten up to the number of labels among them.
    share, reach : ndarray of float64, shape (v,)
        ``λ_β``, the share of the released items that they cover, in [0, 1], and half the width of a 95 % interval for
        it; None where nothing was simulated.
    items_interval
        A 95 % interval for the number of items, at least what noise alone makes of no data; 0 and infinity where
        nothing was simulated.
    runs
        How many runs of the mechanism on the released profile the errors come from: those of the release.
    """

    labels: NDArray[np.int64]
    share: NDArray[np.float64]
    reach: NDArray[np.float64] | None
    items_interval: tuple[float, float]
    runs: int

    @property
    def band(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends of 95 % intervals for the share; 0 and infinity where nothing was simulated."""
        if self.reach is None:
            return np.zeros(self.share.shape), np.full(self.share.shape, np.inf)
        return np.maximum(self.share - self.reach, 0.0), np.minimum(self.share + self.reach, 1.0)

    @classmethod
    def of(cls, release: Release) -> Guessing:
        """Read the curve off the released profile, and its errors off the runs of the release: post-processing, free.

        The standard error of a number f(R) of the released profile R is ``sqrt(mean_b (f(R*_b) − f(R))²)`` over
        the runs R*_b of the mechanism on R that all errors of the release rest on. Runs on a smoothed profile err too
        little in it, so the reach is no shorter than what the largest expected error of the whole profile can do to a
        share: see :func:`farthest`.
        """
        profile = release.profile
        total = max(1, profile.num_labels)
        marks = {*evenly_spread(total, points=_POINTS), *(10**power for power in range(len(str(total))))}
        labels = np.array(sorted(marks), dtype=np.int64)
        share = covered_share(profile, labels)
        drawn = release.resimulate()
        runs = len(drawn)
        if not runs:
            return cls(labels, share, None, (0.0, math.inf), 0)
        squares, items_square = np.zeros(labels.size), 0.0
        for simulated in drawn:
            squares += (covered_share(simulated, labels) - share) ** 2
            items_square += float(simulated.n - profile.n) ** 2
        # What was released does not show how much of it is noise alone: see anonhist.releases.error.
        of_nothing = release.resimulate_nothing()
        nothing_square = math.fsum(float(one.n) ** 2 for one in of_nothing) / len(of_nothing)
        items_error = widening(runs) * max(items_square / runs, nothing_square) ** 0.5
        low, high = whole_interval(profile.n, items_error)
        # Runs that all agree do not make a share exact: one more of them may be off by an item.
        least = 1 / (runs**0.5 * max(1, profile.n))
        errors = np.maximum(np.sqrt(squares / runs), least)
        expected = release.error.expected_range
        most = farthest(share, items=profile.n, distance=math.inf if expected is None else expected[1])
        reach = np.maximum(NORMAL_95 * widening(runs) * errors, most)
        return cls(labels, share, reach, (float(low), float(high)), runs)


def farthest(share: NDArray[np.float64], *, items: int, distance: float) -> NDArray[np.float64]:
    """Return how far off the shares of a profile can be at most: ``D·max(λ, 1 − λ)/(n − D)``.

    Let C of the n items be of the β most frequent labels, so λ = C/n, and C + a and n + a + b be the same numbers of
    another profile at sorted ℓ1 distance D, so |a| + |b| ≤ D. Then its share is off by
    ``(a·(1 − λ) − b·λ)/(n + a + b)``.

    Parameters
    ----------
    share : ndarray of float64, shape (v,)
        λ at each β, in [0, 1].
    items
        n ≥ 0.
    distance
        D ≥ 0, the sorted ℓ1 distance in items; infinite where it is not known.

    Returns
    -------
    ndarray of float64, shape (v,)
        From 0 to 1.

    Examples
    --------
    >>> farthest(np.array([0.0, 0.5, 0.9]), items=100, distance=20).tolist()
    [0.25, 0.125, 0.225]
    """
    if not distance < items:
        return np.ones(share.shape)
    return np.asarray(np.minimum(1.0, distance * np.maximum(share, 1 - share) / (items - distance)))


def guessing_figure(release: Release, *, guessing: Guessing | None = None) -> Figure:
    """Draw which share of all items the β most frequent labels cover, β on a log scale, with a 95 % band.

    The 95 % are meant at each β for itself, not for the whole curve at once.

    Parameters
    ----------
    guessing
        The curve of this release, if it has been computed already.
    """
    curve = guessing or Guessing.of(release)
    figure, axes = canvas("share of items covered", "most frequent labels (β)")
    if not len(release.profile):
        say_empty(axes)
        return figure
    if curve.runs:
        axes.fill_between(curve.labels, *curve.band, color=BAND, linewidth=0, label="95 % interval")
    mark = "-" if curve.labels.size > 1 else "o"
    axes.plot(curve.labels, curve.share, mark, color=BLUE, linewidth=1.6, label="released guessing curve")
    axes.set_ylim(0, 1.02)
    axes.set_yticks(np.linspace(0, 1, 6), [f"{mark} %" for mark in range(0, 101, 20)])
    axes.set_xscale("log")
    right = max(2.5, float(curve.labels[-1]) * 1.25)
    scale_of_counts(axes.xaxis, right)
    axes.set_xlim(0.8, right)
    add_legend(axes)
    return figure
