"""The guessing curve: which share of all items the most frequent labels cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile
from anonhist.properties import covered_share, evenly_spread
from anonhist.releases.error import NORMAL_95
from anonhist.report.figures import BAND, BLUE, add_legend, canvas, say_empty, scale_of_counts

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from anonhist.releases import Release

_POINTS = 400
_RUNS, _BATCH = 16, 4


@dataclass(frozen=True, eq=False)
class Guessing:
    """The guessing curve of a release, with its uncertainty.

    Attributes
    ----------
    labels : ndarray of int64, shape (v,)
        Numbers β of most frequent labels, ascending, ≥ 1, evenly spread on the log scale; each power
        of ten up to the number of labels among them.
    share, share_errors : ndarray of float64, shape (v,)
        ``λ_β``, the share of the released items that they cover, in [0, 1], and its standard error.
    items_error
        Standard error of the number of released items, at least what noise alone makes of no data.
    runs
        How many new runs of the mechanism on the released profile the errors come from.
    """

    labels: NDArray[np.int64]
    share: NDArray[np.float64]
    share_errors: NDArray[np.float64]
    items_error: float
    runs: int

    @classmethod
    def of(cls, release: Release) -> Guessing:
        """Read the curve off the released profile and simulate its errors: post-processing, free.

        The standard error of a number f(R) of the released profile R is ``sqrt(mean_b (f(R*_b) − f(R))²)`` over new
        runs R*_b of the mechanism on R, as for the other errors of a release. The same release gives the same errors.
        """
        profile = release.profile
        total = max(1, profile.num_labels)
        marks = {*evenly_spread(total, points=_POINTS), *(10**power for power in range(len(str(total))))}
        labels = np.array(sorted(marks), dtype=np.int64)
        share = covered_share(profile, labels)
        squares, items_square = np.zeros(labels.size), 0.0
        # A simulation on what is public already, seeded so that a release always gives the same page.
        rng = np.random.default_rng(0)
        for _ in range(_RUNS // _BATCH):
            for simulated in release.mechanism.simulate(profile, size=_BATCH, rng=rng):
                squares += (covered_share(simulated, labels) - share) ** 2
                items_square += float(simulated.n - profile.n) ** 2
        # What was released does not show how much of it is noise alone: see anonhist.releases.error.
        nothing = Profile([], [], unit=profile.unit)
        of_nothing = [float(one.n) ** 2 for one in release.mechanism.simulate(nothing, size=_BATCH, rng=rng)]
        items_error = max(items_square / _RUNS, sum(of_nothing) / _BATCH) ** 0.5
        # Runs that all agree do not make a share exact: one more of them may be off by an item.
        least = 1 / (_RUNS**0.5 * max(1, profile.n))
        errors = np.maximum(np.sqrt(squares / _RUNS), least)
        return cls(labels, share, errors, items_error, _RUNS)


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
    spread = NORMAL_95 * curve.share_errors
    low, high = np.maximum(curve.share - spread, 0), np.minimum(curve.share + spread, 1)
    axes.fill_between(curve.labels, low, high, color=BAND, linewidth=0, label="95 % interval")
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
