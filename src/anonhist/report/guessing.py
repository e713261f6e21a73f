"""The guessing curve: which share of all items the most frequent labels cover."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anonhist.frozen import frozen
from anonhist.lazy import LaterModule
from anonhist.properties.estimate import widening_factor
from anonhist.properties.guessing_curve import covered_share, round_grid
from anonhist.releases import Release
from anonhist.releases.evidence import NORMAL_95
from anonhist.report.figures import BAND, BLUE, Hover, add_legend, canvas, mark_shares, say_empty, scale_across
from anonhist.report.wording import interval

if TYPE_CHECKING:
    from matplotlib import figure as matplotlib_figure

    from anonhist.profiles import Profile
    from anonhist.releases import ReleaseError
else:
    matplotlib_figure = LaterModule("matplotlib.figure")

_POINTS = 400


@frozen
class Guessing:
    """The guessing curve of a release, with its uncertainty.

    Attributes
    ----------
    labels : ndarray of int64, shape (v,)
        Numbers β of most frequent labels, ascending, ≥ 1, evenly spread on the log scale; each power
        of ten up to the number of labels among them.
    share : ndarray of float64, shape (v,)
        ``λ_β``, the share of the released items that they cover, in [0, 1].
    band : tuple of ndarray of float64, shape (v,)
        The ends of 95 % intervals for the share in the data; 0 and infinity where nothing is known.
    is_known
        Whether anything is known of how far off the curve is.
    """

    labels: NDArray[np.int64]
    share: NDArray[np.float64]
    band: tuple[NDArray[np.float64], NDArray[np.float64]]
    is_known: bool

    @classmethod
    def of(cls, release: Release) -> Guessing:
        """Read the curve off the released profile, and its band off what the release knows: post-processing, free.

        Where there are intervals for φ_{k+} from noisy values, the band is made of these. The β largest counts hold
        ``S_β = Σ_k min(φ_{k+}, β)`` items and the others ``Σ_k max(φ_{k+} − β, 0)``, and both grow with every φ_{k+}.
        So the lower end of λ_β is that of S_β beside the upper end of the rest, and the upper end the other way round.
        If all intervals hold at once it holds; where some do not, the others make up for them (docs/benchmarks.md).

        Elsewhere it is the normal interval of the standard error ``sqrt(mean_b (f(R*_b) − f(R))²)`` over the runs R*_b
        of the mechanism on the released profile R, if these are to be trusted, widened to whole items and to what the
        largest expected error of the whole profile can do to a share (:func:`farthest`): runs on a smoothed profile
        err too little at its steps.
        """
        profile = release.profile
        total = max(1, profile.num_labels)
        labels = np.array(round_grid(total, points=_POINTS), dtype=np.int64)
        share = covered_share(profile, labels)
        error = release.error
        if error.band is not None:
            return cls(labels, share, _from_k_plus(error, profile, labels), is_known=True)
        if error.why_unknown:
            nothing = np.zeros(share.shape), np.full(share.shape, np.inf)
            return cls(labels, share, nothing, is_known=False)
        drawn = release.resimulate()
        squares = np.zeros(labels.size)
        for simulated in drawn:
            squares += (covered_share(simulated, labels) - share) ** 2
        # What they cover is a whole number of items: to less than the next one, an interval holds less than it says.
        items_off = NORMAL_95 * widening_factor(len(drawn)) * np.sqrt(squares / len(drawn)) * profile.n
        half = np.maximum(1.0, np.ceil(items_off)) / max(1, profile.n)
        expected = error.expected_range
        half = np.maximum(
            half, farthest(share, items=profile.n, distance=math.inf if expected is None else expected[1])
        )
        band = np.maximum(share - half, 0.0), np.minimum(share + half, 1.0)
        return cls(labels, share, band, is_known=True)

    @property
    def hover(self) -> Hover:
        """What the curve says at each number of labels."""
        columns, texts = (each.tolist() for each in (self.labels, self.share, *self.band)), []
        for labels, share, low, high in zip(*columns, strict=True):
            ends = f"; 95 % interval {interval(100 * low, 100 * high, places=2)} %" if self.is_known else ""
            texts.append(f"the {labels:,} most frequent: {100 * share:.2f} % of the items{ends}")
        return Hover(self.labels.tolist(), texts)


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


def _from_k_plus(
    error: ReleaseError, profile: Profile, labels: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both ends of λ_β that the intervals for φ_{k+} give."""
    ends = profile.counts if error.band is None else np.union1d(error.band.ends, profile.counts)
    widths = np.diff(ends, prepend=0).astype(np.float64)
    low, high = (_divide(widths, side, labels) for side in error.k_plus_interval(profile, ends))
    least, most = (
        np.divide(covered, covered + rest, out=np.full(labels.size, none), where=covered + rest > 0)
        for (covered, _), (_, rest), none in ((low, high, 0.0), (high, low, 1.0))
    )
    return least, most


def _divide(
    widths: NDArray[np.float64], reaching: NDArray[np.float64], labels: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how many items the β largest counts hold, and how many the others, of a falling φ_{k+} in steps."""
    columns, area = np.append(0.0, np.cumsum(widths)), np.append(0.0, np.cumsum(widths * reaching))
    # In so many steps β labels reach; all that is in later steps is theirs.
    steps = np.searchsorted(-reaching, -labels, side="right")
    covered = labels * columns[steps] + (area[-1] - area[steps])
    return covered, np.maximum(area[-1] - covered, 0.0)


def guessing_figure(release: Release, *, guessing: Guessing | None = None) -> matplotlib_figure.Figure:
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
    if curve.is_known:
        axes.fill_between(curve.labels, *curve.band, color=BAND, linewidth=0, label="95 % interval")
    mark = "-" if curve.labels.size > 1 else "o"
    axes.plot(curve.labels, curve.share, mark, color=BLUE, linewidth=1.6, label="released guessing curve")
    mark_shares(axes)
    scale_across(axes, max(2.5, float(curve.labels[-1]) * 1.25))
    add_legend(axes)
    return figure
