"""The share of nodes with at least a given degree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from anonhist.errors import UsageError
from anonhist.graphs.statistics.degree_data import DegreeData, DegreeSource
from anonhist.profiles.counts import MAX_ITEMS, whole_levels
from anonhist.properties.curve import Curve
from anonhist.releases.evidence import NORMAL_95

if TYPE_CHECKING:
    from numpy.typing import NDArray


def degree_ccdf(data: DegreeSource, *, at: ArrayLike | None = None) -> Curve:
    """Return ``P(D ≥ r) = φ_{r+} / N`` with 95 % intervals, N the number of nodes.

    Nodes without an edge are among the N where they are known: ``DegreeData.of(data).with_edges`` leaves them out.

    Parameters
    ----------
    data
        A release of degrees; or a graph, its degrees or their profile, which are private.
    at
        Ascending degrees r, whole numbers from 0 to 2^63 − 1. By default those where the curve falls: 1, and d and
        d + 1 for each degree d that occurs, up to the bound on degrees where there is one.

    Returns
    -------
    Curve
        Values and band in [0, 1]. Each interval is meant to hold the truth at its r, not the whole curve at once. Its
        ends are those of ``release.error.k_plus_interval``, divided by the number of nodes: by a public number itself,
        else by the other end of its interval, so that an interval is wrong only if one of the two is. The standard
        error is that of a normal interval of the same width. If there are no nodes, values are 0 and the band covers
        [0, 1].

    Raises
    ------
    UsageError
        If ``at`` is not as said, or ``data`` has no degrees.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> curve = degree_ccdf(Profile.from_counts([3, 1, 1, 1]))
    >>> curve.x.tolist(), curve.value.tolist()
    ([1.0, 2.0, 3.0, 4.0], [1.0, 0.25, 0.25, 0.0])
    """
    found = DegreeData.of(data)
    levels = falls(found) if at is None else _levels(at)
    nodes = max(1, found.num_nodes)
    at_least = np.maximum(levels, 1)
    value = found.profile.cumulative_prevalence(at_least) / nodes
    low, high = value, value
    if not found.num_nodes or found.why_no_band:
        low, high = np.zeros(value.shape), np.ones(value.shape)
    elif found.error is not None:
        low, high = found.error.k_plus_interval(found.profile, at_least)
        fewest, most = found.nodes_ends
        low, high = low / most, high / fewest if fewest else np.ones(value.shape)
    low, high = np.minimum(low, value), np.maximum(np.minimum(high, 1.0), value)
    # All nodes have at least the degree 0, and those with an edge 1.
    is_sure = levels <= (0 if found.zeros is not None else 1)
    if found.num_nodes:
        value, low, high = (np.where(is_sure, 1.0, side) for side in (value, low, high))
    return Curve(
        "degree",
        "share of nodes",
        levels.astype(np.float64),
        value,
        (high - low) / (2 * NORMAL_95),
        low,
        high,
        ("observed",) * levels.size,
        "share of nodes with at least each degree" + ("" if found.error is None else ", from a release"),
        assumes=found.assumes,
        warnings=found.warnings,
        guarantee=found.guarantee,
        why_unknown=found.why_no_band,
    )


def falls(data: DegreeData) -> NDArray[np.int64]:
    """Return the degrees at which the curve falls, and those just before: 1, d and d + 1 for each degree d.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> falls(DegreeData.of(Profile.from_counts([5, 3]))).tolist()
    [1, 3, 4, 5, 6]
    """
    counts = data.profile.counts
    # The largest degree there can be has no next one.
    levels = np.concatenate((np.ones(1, dtype=np.int64), counts, counts[counts < MAX_ITEMS] + 1))
    levels.sort()
    levels = levels[np.diff(levels, prepend=0) > 0]
    # Beyond the bound nothing was released, whatever there is.
    return levels if data.max_degree is None else levels[levels <= data.max_degree]


def _levels(at: ArrayLike) -> NDArray[np.int64]:
    levels = whole_levels(at)
    if levels.ndim != 1 or bool(np.any(levels < 0)) or bool(np.any(levels[1:] <= levels[:-1])):
        raise UsageError("at must be ascending degrees, whole numbers from 0 on, such as [1, 10, 100].")
    return levels
