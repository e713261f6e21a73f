"""Clipping of noisy counters to a range, and unfolding: the noise that was cut off is drawn again, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.randomness import geometric

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource


def fold(counters: NDArray[np.int64], largest: int) -> NDArray[np.int64]:
    """Return the counters moved into [0, largest].

    Examples
    --------
    >>> fold(np.array([-3, 2, 9]), 5).tolist()
    [0, 2, 5]
    """
    return np.clip(counters, 0, largest)


def unfold(counters: NDArray[np.int64], largest: int, gamma: Fraction, *, source: RandomSource) -> NDArray[np.int64]:
    """Return counters with the distribution that they had before they were clipped to [0, largest].

    From a counter at 0 a geometric number of rate γ is subtracted, to one at the largest value it is added: beyond the
    range, discrete Laplace noise has no memory, as long as true counts are in the range.

    Parameters
    ----------
    counters
        Counters in [0, largest], shape (d,), of one part of discrete Laplace noise.
    largest
        n ≥ 1, no true count is larger.
    gamma
        The rate γ of the noise.
    source
        The source of random words.

    References
    ----------
    .. [1] H. Wu, R. Pagh, "Profile reconstruction from private sketches", 2024, Lemma 4.1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.randomness import SystemSource
    >>> wide = unfold(np.array([0, 2, 5]), 5, Fraction(1), source=SystemSource())
    >>> bool(wide[0] <= 0), int(wide[1]), bool(wide[2] >= 5)
    (True, 2, True)
    """
    wide = counters.copy()
    for end, sign in ((0, -1), (largest, 1)):
        places = np.flatnonzero(counters == end)
        wide[places] += sign * geometric(gamma, places.size, source=source)
    return wide
