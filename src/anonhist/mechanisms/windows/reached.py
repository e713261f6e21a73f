"""The k+ counts of single days under noise: for labels, sums of how many are between one threshold and the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noise import add_noise

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise
    from anonhist.privacy import PrivacyUnit


def far_of_reached(unit: PrivacyUnit) -> int:
    """Return how far, in ℓ1, a unit that is added or removed moves the numbers of one day that get noise.

    A label is between two thresholds, or above the last, which is one number, in each of its groups. An item changes
    the k+ count of one threshold at most.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> far_of_reached(PrivacyUnit.label(max_count=9)), far_of_reached(PrivacyUnit.user(max_items=3))
    (1, 3)
    """
    return unit.groups if unit.max_count is not None else unit.max_distance


def terms_of_reached(unit: PrivacyUnit, thresholds: int) -> tuple[int, ...]:
    """Return of how many noises the k+ count of each threshold is the sum.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> terms_of_reached(PrivacyUnit.label(max_count=9), 3), terms_of_reached(PrivacyUnit.item(), 3)
    ((3, 2, 1), (1, 1, 1))
    """
    return tuple(range(thresholds, 0, -1)) if unit.max_count is not None else (1,) * thresholds


def noisy_reached(reached: NDArray[np.int64], unit: PrivacyUnit, gamma: Fraction, noise: Noise) -> NDArray[np.float64]:
    """Return k+ counts of shape (thresholds, days) under noise of rate γ on each number.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.privacy import PrivacyUnit
    >>> reached = np.array([[5, 9], [2, 4]])
    >>> given = PrivacyUnit.label(max_count=9), Fraction(1)
    >>> noisy_reached(reached, *given, lambda gamma, size: np.arange(size)).tolist()
    [[7.0, 13.0], [4.0, 7.0]]
    """
    drawn = noise(gamma, reached.size).reshape(reached.shape)
    if unit.max_count is None:
        return add_noise(reached, drawn).astype(np.float64)
    between = reached - np.concatenate([reached[1:], np.zeros_like(reached[:1])])
    return np.asarray(np.cumsum(add_noise(between, drawn).astype(np.float64)[::-1], axis=0)[::-1])
