"""The nearest table that running sums can be: nonnegative, nondecreasing in time, nonincreasing in the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric import decreasing_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Two projections in turn come close to the projection on both; a last step makes the table exactly monotone.
_ROUNDS = 20
_LARGEST = float(2**62)


def monotone_whole(estimates: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return whole numbers near estimates of shape (thresholds, days) that running sums can be.

    Dykstra's projections in ℓ2, on tables that do not decrease in time and on those that do not increase in the
    threshold, then rounding. It sees nothing but the noisy estimates.

    References
    ----------
    .. [1] R. L. Dykstra, "An algorithm for restricted least squares regression", *JASA* 78, 1983.

    Examples
    --------
    >>> monotone_whole(np.array([[3.2, 1.0, 5.0], [-2.0, 4.0, 3.6]])).tolist()
    [[3, 3, 5], [0, 3, 4]]
    """
    fitted = np.clip(estimates, -_LARGEST, _LARGEST)
    in_time, in_threshold = np.zeros_like(fitted), np.zeros_like(fitted)
    for _ in range(_ROUNDS):
        before = fitted
        moved = fitted + in_time
        fitted = -decreasing_fit(-moved)
        in_time = moved - fitted
        moved = fitted + in_threshold
        fitted = decreasing_fit(moved.T).T
        in_threshold = moved - fitted
        if float(np.abs(fitted - before).max()) < 0.01:
            break
    in_order = np.minimum.accumulate(np.maximum.accumulate(fitted, axis=1), axis=0)
    return np.maximum(np.rint(in_order), 0).astype(np.int64)
