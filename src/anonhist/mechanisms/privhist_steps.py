"""PrivHist, steps 2a to 2c: the profile cut in two, so that one extra item changes one number on one side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.noise import add_noise
from anonhist.mechanisms.skeletons import profile_of_fit
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.mechanisms.noise import Noise

MOST_LABELS = 2**61


def top_labels(profile: Profile, most: int) -> Profile:
    """Keep only the ``most`` largest counts: two profiles that differ in one cell differ in at most one afterwards.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> top_labels(Profile.from_prevalences({1: 4, 3: 2}), 3)
    Profile(n=7, num_labels=3, {1: 1, 3: 2})
    """
    if profile.num_labels <= most:
        return profile
    labels = np.minimum(profile.cumulative_prevalence(profile.counts), most)
    kept = labels - np.append(labels[1:], 0)
    return type(profile)(profile.counts[kept > 0], kept[kept > 0], unit=profile.unit)


def cut(profile: Profile, threshold: int, border: int, *, shift: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ``C^s_r``, r = 1..T, and the large counts ``N^bl_(1) ≥ … ≥ N^bl_(m)``, before any more noise.

    For one extra item, and with ``shift`` one less if a count moves from T to T + 1, exactly one of all these numbers
    changes, by one; the number of values on each side does not.

    Parameters
    ----------
    profile
        The private data, at most 2⁶¹ labels.
    threshold
        T ≥ 1, a function of the noisy number of items.
    border
        M, the number of labels made up at T and as many at T + 1.
    shift
        Z^b, the noise of step 2b.
    """
    # 2a., 2b.: H^b differs from H only at T and T + 1, by M − Z^b and M + Z^b.
    reaching = profile.cumulative_prevalence(np.arange(1, threshold + 1))
    beyond = profile.k_plus(threshold + 1)
    # 2c., small: C^s_r = max(0, Σ_{s=r}^T φ^b_s).
    small = np.maximum(reaching - beyond + border - shift, 0)
    # 2c., large: C^l_r = max(0, Σ_{s=T+1}^r φ^b_s), and φ^bl_r its steps.
    at = np.searchsorted(profile.counts, threshold, side="right")
    counts = np.append(threshold + 1, profile.counts[at:])
    up_to = np.cumsum(np.append(border + shift, profile.prevalences[at:]))
    steps = np.diff(np.maximum(up_to, 0), prepend=0)
    return small, np.repeat(counts[::-1], steps[::-1])


# If nearly the whole budget is spent here, ln(1/ε₃) vanishes and blocks would have no length.
_LEAST_LOGARITHM = 0.1
# More boundaries between T and T' would not fit in memory; this many occur from about n = 2⁴¹ on.
_MOST_BOUNDARIES = 2**22


def noisy_blocks(
    profile: Profile, large: NDArray[np.int64], *, items: int, threshold: int, rate: Fraction, noise: Noise
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return boundaries and noisy block sums, steps H1 to H4; only H4 reads the profile, and spends ``rate``.

    The paper divides each label between the two boundaries next to its count (H3) and adds Laplace noise of scale
    ``1/(ε₃ w_i)`` to the cumulative sums (H4). Those are ``B_i/w_i`` with the whole number
    ``B_i = Σ_{s_{i−1} < r ≤ s_i} φ_{r+}``: noise on B_i has the same rate and lies on the grid of
    step 1/w_i, so no rounding has to be charged. Each of the first T covers a single count.

    Parameters
    ----------
    profile
        The private data.
    large : ndarray of int64, shape (m,)
        ``N^cl_i``, noisy large counts.
    items
        N, the noisy number of items, ≥ 1.
    threshold
        T.
    rate
        ε₃.
    noise
        Draws two-sided geometric noise.
    """
    # H1., H2.: counts are clipped at the last boundary, 2N.
    levels = boundaries(large, items=items, threshold=threshold, epsilon=float(rate))
    # H3., H4.
    return levels, add_noise(block_sums(profile, levels), noise(rate, levels.size))


def high_privacy(levels: NDArray[np.int64], sums: NDArray[np.int64]) -> Profile:
    """Return H^y of steps H5 and H6: post-processing of the boundaries and the noisy block sums, one for each."""
    from scipy.optimize import isotonic_regression

    # H5.
    widths = np.diff(levels, prepend=0).astype(np.float64)
    fit = isotonic_regression(sums / widths, weights=widths**2, increasing=False).x
    # H6.
    return profile_of_fit(levels, fit)


def boundaries(large: NDArray[np.int64], *, items: int, threshold: int, epsilon: float) -> NDArray[np.int64]:
    """Return S of step H2, ascending from 1 to 2N: a function of released and public numbers.

    All counts up to T, then counts with evenly spaced logarithms up to ``T' = ⌈10 √(N/ε₃³)⌉``, then the noisy
    large counts.
    """
    last = min(2 * items, MAX_ITEMS)
    farthest = math.ceil(10 * math.sqrt(items / epsilon**3))
    step = math.sqrt(max(math.log(1 / epsilon), _LEAST_LOGARITHM) / (items * epsilon))
    reach = math.log(farthest / threshold)
    rate = max(math.log1p(step), reach / _MOST_BOUNDARIES)
    number = math.floor(reach / rate) + 1 if reach >= 0 else 0
    # In place, as there may be millions.
    spaced = rate * np.arange(number)
    np.multiply(np.exp(spaced, out=spaced), threshold, out=spaced)
    np.minimum(np.floor(spaced, out=spaced), 2.0**62, out=spaced)
    listed = np.concatenate((np.arange(1, threshold + 1), spaced.astype(np.int64), large[large >= farthest], [last]))
    ascending = listed[(listed >= 1) & (listed <= last)]
    ascending.sort(kind="stable")
    is_new = np.ones(ascending.size, dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    return ascending[is_new]


def block_sums(profile: Profile, levels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ``B_i = Σ_{s_{i−1} < r ≤ s_i} φ_{r+} = Σ_x min(n_x, s_i) − Σ_x min(n_x, s_{i−1})``, s_0 = 0, exactly.

    The number of cells of the Young diagram in a block of columns: one extra item is in one block, or beyond the last.

    Parameters
    ----------
    levels : ndarray of int64, shape (k,)
        Boundaries s_1 < s_2 < …, ≥ 1.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> block_sums(Profile.from_counts([1, 3, 7]), np.array([1, 2, 5])).tolist()
    [3, 2, 4]
    """
    # Labels with count at most s contribute their count, the others s each.
    items_up_to = np.append(0, np.cumsum(profile.counts * profile.prevalences))
    labels_up_to = np.append(0, np.cumsum(profile.prevalences))
    at = np.searchsorted(profile.counts, levels, side="right")
    return np.diff(items_up_to[at] + (profile.num_labels - labels_up_to[at]) * levels, prepend=0)


def low_privacy(small: NDArray[np.int64], large: NDArray[np.int64], *, border: int) -> Profile:
    """Return H^e of steps L1 to L4: post-processing of noisy numbers.

    Parameters
    ----------
    small : ndarray of int64, shape (T,)
        ``φ^cs_{r+}``, the noisy cumulative prevalences for r = 1..T.
    large : ndarray of int64, shape (m,)
        ``N^cl_i``, the noisy large counts.
    border
        M, the number of labels made up at T, and as many at T + 1.
    """
    from scipy.optimize import isotonic_regression

    threshold = small.size
    # L1.
    smooth = profile_of_fit(np.arange(1, threshold + 1), isotonic_regression(small, increasing=False).x)
    # L2., L3.
    counts, prevalences = np.unique(np.maximum(large, threshold), return_counts=True)
    both = np.concatenate((smooth.counts, counts))
    order = np.argsort(both, kind="stable")
    values, labels = both[order], np.concatenate((smooth.prevalences, prevalences))[order]
    # L4.
    for middle in (threshold + 1, threshold):
        labels = without_nearest(values, labels, middle, border)
    return _profile(values, labels)


def without_nearest(
    values: NDArray[np.int64], labels: NDArray[np.int64], middle: int, number: int
) -> NDArray[np.int64]:
    """Remove the ``number`` elements of a multiset nearest to ``middle``, the larger of equally near ones first.

    Parameters
    ----------
    values, labels : ndarray of int64, shape (k,)
        Values ≥ 1, ascending, and the number of elements with each.

    Returns
    -------
    ndarray of int64, shape (k,)
        The number left of each: 0 if there are no more than ``number`` in all.

    Examples
    --------
    >>> without_nearest(np.array([3, 4, 6, 9]), np.array([5, 1, 1, 1]), 5, 2).tolist()
    [5, 0, 0, 1]
    >>> without_nearest(np.array([3, 4, 6, 9]), np.array([5, 1, 1, 1]), 5, 3).tolist()
    [4, 0, 0, 1]
    """
    order = np.lexsort((-values, np.abs(values - middle)))
    seen = np.cumsum(labels[order])
    taken = np.empty_like(labels)
    taken[order] = np.diff(np.minimum(seen, number), prepend=0)
    return labels - taken


def _profile(values: NDArray[np.int64], labels: NDArray[np.int64]) -> Profile:
    """Add up equal values, and cut the largest counts if n would exceed 2⁶²."""
    present = labels > 0
    levels, first = np.unique(values[present], return_index=True)
    if not levels.size:
        return Profile([], [])
    kept = np.add.reduceat(labels[present], first)
    reaching = np.cumsum(kept[::-1].astype(np.float64))[::-1]
    if float(levels.astype(np.float64) @ kept) < 2.0**62:
        return Profile(levels, kept)
    return profile_of_fit(levels, reaching)
