"""Intervals of the share that the most frequent labels cover in the data behind a release: free post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from anonhist.numeric.arrays import Floats, Ints
from anonhist.profiles import Profile
from anonhist.properties.estimate import widening_factor
from anonhist.properties.most_frequent import covered_share
from anonhist.releases.error import ReleaseError
from anonhist.releases.evidence import NORMAL_95


def covered_interval(
    error: ReleaseError, profile: Profile, runs: Sequence[Profile], labels: Ints
) -> tuple[Floats, Floats]:
    """Return the ends of 95% intervals of ``λ_β`` of the data, at each number β ≥ 1; 0 and 1 if nothing is known.

    If there are intervals for φ_{k+} from noisy values, these decide. The β largest counts hold
    ``S_β = Σ_k min(φ_{k+}, β)`` items and the other counts ``Σ_k max(φ_{k+} − β, 0)``; both grow with every φ_{k+}. So
    the lower end of λ_β combines the lower end of S_β with the upper end of the rest, and the upper end of λ_β the
    upper end of S_β with the lower end of the rest. If all intervals hold at once, so does the result; if some do not,
    the others make up for them (docs/benchmarks/intervals.md).

    Otherwise, if runs can be trusted, it is the normal interval of the standard error ``sqrt(mean_b (f(R*_b) −
    f(R))²)`` over runs R*_b of the mechanism on the released profile R. It is widened to whole items and to the change
    of a share that the largest expected error of the whole profile can cause (:func:`farthest`), because runs on a
    smoothed profile err too little at its steps.

    ``error`` and ``runs`` are those of the release of ``profile``.
    """
    share = covered_share(profile, labels)
    if error.band is not None:
        return _from_k_plus(error, profile, labels)
    if error.why_unknown:
        return np.zeros(share.shape), np.ones(share.shape)
    squares = np.zeros(share.shape)
    for simulated in runs:
        squares += (covered_share(simulated, labels) - share) ** 2
    # Labels cover a whole number of items: an interval that ends before the next one holds less often than it says.
    items_off = NORMAL_95 * widening_factor(len(runs)) * np.sqrt(squares / len(runs)) * profile.n
    half = np.maximum(1.0, np.ceil(items_off)) / max(1, profile.n)
    expected = error.expected_range
    half = np.maximum(half, farthest(share, items=profile.n, distance=math.inf if expected is None else expected[1]))
    return np.maximum(share - half, 0.0), np.minimum(share + half, 1.0)


def least_repeated(error: ReleaseError, profile: Profile) -> Profile | None:
    """Return the profile that repeats labels least, among those that the intervals for φ_{k+} allow; None without them.

    Each φ_{k+}, k ≥ 2, is at the lower end of its interval, and labels that occur once make up the n released items.
    """
    if error.band is None:
        return None
    ends = np.union1d(error.band.ends, profile.counts)
    reaching = error.k_plus_interval(profile, ends)[0].astype(np.int64)
    exactly = reaching - np.append(reaching[1:], 0)
    kept = (ends > 1) & (exactly > 0)
    once = profile.n - int(ends[kept] @ exactly[kept])
    pairs = zip(ends[kept].tolist(), exactly[kept].tolist(), strict=True)
    return Profile.from_prevalences([*([(1, once)] if once > 0 else []), *pairs])


def farthest(share: Floats, *, items: int, distance: float) -> Floats:
    """Return the largest possible error of the shares of a profile: ``D·max(λ, 1 − λ)/(n − D)``, or 1.

    Let C of the n items belong to the β most frequent labels, so λ = C/n, and let C + a and n + a + b be the same
    numbers for another profile at sorted ℓ1 distance D (``distance``, infinite if unknown), so |a| + |b| ≤ D. Then its
    share differs from λ by ``(a·(1 − λ) − b·λ)/(n + a + b)``.
    """
    if not distance < items:
        return np.ones(share.shape)
    return np.asarray(np.minimum(1.0, distance * np.maximum(share, 1 - share) / (items - distance)))


def _from_k_plus(error: ReleaseError, profile: Profile, labels: Ints) -> tuple[Floats, Floats]:
    """Return both ends of λ_β that follow from the intervals for φ_{k+}."""
    ends = profile.counts if error.band is None else np.union1d(error.band.ends, profile.counts)
    widths = np.diff(ends, prepend=0).astype(np.float64)
    low, high = (_divide(widths, side, labels) for side in error.k_plus_interval(profile, ends))
    least, most = (
        np.divide(covered, covered + rest, out=np.full(labels.size, none), where=covered + rest > 0)
        for (covered, _), (_, rest), none in ((low, high, 0.0), (high, low, 1.0))
    )
    return least, most


def _divide(widths: Floats, reaching: Floats, labels: Ints) -> tuple[Floats, Floats]:
    """Return how many items the β largest counts hold, and how many the others, for a falling step function φ_{k+}."""
    columns, area = np.append(0.0, np.cumsum(widths)), np.append(0.0, np.cumsum(widths * reaching))
    # In the first steps φ_{k+} ≥ β; all items of later steps belong to the β labels.
    steps = np.searchsorted(-reaching, -labels, side="right")
    covered = labels * columns[steps] + (area[-1] - area[steps])
    return covered, np.maximum(area[-1] - covered, 0.0)
