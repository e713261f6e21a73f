"""What noisy coordinates show besides the profile that is fitted to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noisy_total import of_rows
from anonhist.mechanisms.frobenius.column_band import prevalence_rows
from anonhist.mechanisms.frobenius.distance_bound import distance_bounds
from anonhist.mechanisms.frobenius.row_band import Guess, k_plus_rows
from anonhist.releases.evidence import Evidence, KPlusBand, PrevalenceBand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.mechanisms.frobenius.noisy_coordinates import NoisyCoordinates
    from anonhist.profiles import Profile


def evidence_of(
    released: Sequence[Profile], noisy: NoisyCoordinates, misfits: Sequence[float], *, epsilon: float
) -> list[Evidence]:
    """Return the intervals, the misfit and the bound of the distance of each run.

    Parameters
    ----------
    released
        The published profile of each run: a public guess of the truth, which decides which windows are used.
    noisy
        The noisy values of the runs.
    misfits
        How far they are from the fits to them.
    epsilon
        Rate of the noise, ε/Δ.

    Examples
    --------
    >>> from anonhist.mechanisms.frobenius.noisy_coordinates import NoisyCoordinates
    >>> from anonhist.mechanisms.frobenius.row_groups import NoisyRows
    >>> from anonhist.profiles import Profile
    >>> sides = [NoisyRows.alone(np.array([[lengths, 0, 0]])) for lengths in (4, 2)]
    >>> noisy = NoisyCoordinates(np.array([1]), *sides)
    >>> (found,) = evidence_of([Profile.from_counts([5, 1, 1])], noisy, [0.0], epsilon=50.0)
    >>> [ends.tolist() for ends in found.band.at([1, 2, 5, 6])]
    [[3, 1, 1, 0], [3, 2, 1, 0]]
    >>> found.items
    (7, 7)
    """
    arms, legs = noisy.arms, noisy.legs
    guess = Guess.of(released, arms.sums.shape[1])
    bands = k_plus_rows(guess, arms, legs, epsilon=epsilon).bands(KPlusBand)
    prevalences = prevalence_rows(guess, arms, legs, epsilon=epsilon).bands(PrevalenceBand)
    # n is the Durfee size and all arms and legs, each once.
    numbers = np.hstack((noisy.sizes[:, None], arms.sums, legs.sums))
    counted = np.hstack((np.ones((len(numbers), 1), dtype=np.bool_), arms.begins, legs.begins))
    items = of_rows(numbers, counted, epsilon)
    bounds = distance_bounds(guess.sizes.tolist(), noisy, misfits, epsilon=epsilon)
    return [
        Evidence(band, misfit, singles, items=ends, distance_bound=bound)
        for band, misfit, singles, ends, bound in zip(bands, misfits, prevalences, items, bounds, strict=True)
    ]
