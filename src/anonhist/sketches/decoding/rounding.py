"""Algorithm 3 of Wu and Pagh (2024): the nearest valid profile, and what is kept of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric.projections import project_to_simplex
from anonhist.sketches.decoding.decoder import CounterSetting, Prevalences

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from anonhist.numeric.arrays import Floats, Ints


def round_to_profile(shares: ArrayLike) -> Floats:
    """Return a valid profile near to shares that sum to one but may be negative or above one.

    Shares below 0 become 0, those above 1 become 1; then all give up the same, ``f_t ← max(f_t − θ, 0)``, as much as
    makes the sum 1, which it is at least after the first step. The last step is the Euclidean projection onto the
    simplex. Zeros play no part: a sparse list gives the same as one with all zeros in between. O(k log k).

    Toward every valid profile the error does not grow in ℓ1 (what the first step takes from it is the most that the
    last one can add) nor in ℓ2 (both steps are projections onto convex sets that hold all valid profiles), and at most
    doubles in ℓ∞ (θ is at most the error).

    Parameters
    ----------
    shares
        f, finite numbers with sum 1 up to rounding, shape (k,), k ≥ 1.

    Returns
    -------
    ndarray of float64, shape (k,)
        In [0, 1], with sum 1 up to rounding.

    Raises
    ------
    UsageError
        If the shares are not a one-dimensional list of finite numbers, or none of them is above 0.

    References
    ----------
    .. [1] H. Wu, R. Pagh, *Profile Reconstruction from Private Sketches*, ICML 2024, algorithm 3, lemmas 4.4 and 4.9.

    Examples
    --------
    >>> round_to_profile([0.75, 0.5, -0.25]).tolist()
    [0.625, 0.375, 0.0]
    """
    values = np.asarray(shares, dtype=np.float64)
    if values.ndim != 1 or not bool(np.isfinite(values).all()) or not (values > 0).any():
        raise UsageError("Rounding to a profile needs a one-dimensional list of finite numbers that sum to one.")
    found = np.clip(values, 0.0, 1.0)
    # Zeros stay zero, even if rounding has made the sum slightly too small.
    positive = found > 0
    found[positive] = project_to_simplex(found[positive])
    return found


def found_labels(counts: Ints, numbers: Floats, setting: CounterSetting) -> Prevalences:
    """Return the counts that some labels have, including 0 only if each counter is one label's."""
    kept = numbers > 0
    if setting.is_hashed:
        kept &= counts > 0
    return Prevalences(counts[kept], numbers[kept])
