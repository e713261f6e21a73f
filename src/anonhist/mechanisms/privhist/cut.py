"""PrivHist, steps 2a to 2c: the profile cut in two, so that one extra item changes one number on one side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

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
