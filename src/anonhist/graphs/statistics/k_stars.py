"""The number of stars of k edges in a graph."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from anonhist.graphs.statistics.degree_data import DegreeData, DegreeSource
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate

# Floats hold all that profiles may lead to: C(2^63, 16) < 10^291.
LARGEST_K = 16


def k_stars(data: DegreeSource, *, k: int = 2) -> Estimate:
    """Return the number of k-stars, a node and k of its edges: ``Σ_v C(d_v, k) = Σ_r C(r, k)·φ_r``.

    The number itself is summed in whole numbers, however large, and rounded once. 2-stars are also called wedges. Of
    directed graphs the k edges all lead to the node, or all lead away, as the policy says. Where self-loops or equal
    edges count, any k edges that end at a node are a star.

    Parameters
    ----------
    data
        A release of degrees; or a graph, its degrees or their profile, which are private.
    k
        From 2 to 16.

    Returns
    -------
    Estimate
        ≥ 0; most of it, and of its error, comes from the few largest degrees.

    Raises
    ------
    UsageError
        If k is out of range, or ``data`` has no degrees.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> k_stars(Profile.from_counts([4, 2, 1]), k=2).value
    7.0
    """
    size = parse_whole_number(k, name="k", least=2, most=LARGEST_K)
    found = DegreeData.of(data)
    exact = float(_exactly(found.profile, size))
    return found.estimate(
        # Runs need no exact numbers, only their errors.
        lambda profile, _: exact if profile is found.profile else _nearly(profile, size),
        method=f"{size}-stars",
        unit="stars",
        step=1.0,
    )


def _exactly(profile: Profile, k: int) -> int:
    pairs = zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True)
    return sum(prevalence * comb(count, k) for count, prevalence in pairs)


def _nearly(profile: Profile, k: int) -> float:
    counts = profile.counts.astype(np.float64)
    stars = np.ones(counts.size)
    for place in range(k):
        stars *= np.maximum(counts - place, 0.0) / (place + 1)
    return float(stars @ profile.prevalences.astype(np.float64))
