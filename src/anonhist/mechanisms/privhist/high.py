"""PrivHist for ε ≤ 1, HighPrivacy: sums over blocks of counts, with noise, made decreasing again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noise import add_noise
from anonhist.mechanisms.basis.published import profile_of_fit
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise
    from anonhist.profiles import Profile

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
