"""PrivHist, steps 2a to 2c: the profile cut in two, so that one item more changes one number on one side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

MOST_LABELS = 2**61


@dataclass(frozen=True, eq=False)
class LargeCounts:
    """The counts above T of H^bl.

    Attributes
    ----------
    counts : ndarray of int64, shape (k,)
        Distinct, ascending.
    prevalences : ndarray of int64, shape (k,)
        Number of labels with each, ≥ 0.
    """

    counts: NDArray[np.int64]
    prevalences: NDArray[np.int64]

    @property
    def num_labels(self) -> int:
        """m, the number of large counts."""
        return int(self.prevalences.sum())

    def expand(self) -> NDArray[np.int64]:
        """Return N^bl_(1) ≥ … ≥ N^bl_(m), one count per label."""
        return np.repeat(self.counts[::-1], self.prevalences[::-1])


def top_labels(profile: Profile, most: int) -> Profile:
    """Return the ``most`` largest counts alone: two profiles that differ in one cell differ in at most one after it.

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


def cut(profile: Profile, threshold: int, border: int, *, shift: int) -> tuple[NDArray[np.int64], LargeCounts]:
    """Return the cumulative prevalences ``C^s_r`` for r = 1..T and the large counts, before any more noise.

    For one item more, and with ``shift`` one less where a count passes from T to T + 1, exactly one of all these
    numbers changes, by one; how many there are of either kind does not.

    Parameters
    ----------
    profile
        The private data, at most 2^61 labels.
    threshold
        T ≥ 1, a function of the noisy number of items.
    border
        M, labels made up at T and as many at T + 1.
    shift
        Z^b, the noise of step 2b.
    """
    # 2a., 2b.: H^b differs from H at T and T + 1 alone, by M − Z^b and M + Z^b.
    reaching = profile.cumulative_prevalence(np.arange(1, threshold + 1))
    beyond = profile.k_plus(threshold + 1)
    # 2c., small: C^s_r = max(0, Σ_{s=r}^T φ^b_s).
    small = np.maximum(reaching - beyond + border - shift, 0)
    # 2c., large: C^l_r = max(0, Σ_{s=T+1}^r φ^b_s), and φ^bl_r its steps.
    at = np.searchsorted(profile.counts, threshold, side="right")
    counts, prevalences = profile.counts[at:], profile.prevalences[at:]
    counts = np.append(threshold + 1, counts)
    up_to = np.cumsum(np.append(border + shift, prevalences))
    steps = np.diff(np.maximum(up_to, 0), prepend=0)
    return small, LargeCounts(counts, steps)
