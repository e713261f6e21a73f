"""The inequality of degrees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.graphs.statistics.degree_data import DegreeData, DegreeSource

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate


def gini(data: DegreeSource) -> Estimate:
    """Return the Gini coefficient of the degrees: 0 where all are equal, near 1 where few nodes have all edges.

    ``G = Σ_{u,v} |d_u − d_v| / (2 N Σ_v d_v)``, N the number of nodes: half the mean difference of two of them, beside
    the mean degree. With ``A_r`` the number of nodes of larger degree than r it is
    ``1 − Σ_r r·φ_r·(2 A_r + φ_r) / (N Σ_r r·φ_r)``, a sum of terms ≥ 0.

    Nodes without an edge are among the N where they are known: ``DegreeData.of(data).with_edges`` leaves them out.

    Parameters
    ----------
    data
        A release of degrees; or a graph, its degrees or their profile, which are private.

    Returns
    -------
    Estimate
        In [0, 1]; 0 if there is no edge, with an interval that covers [0, 1].

    Raises
    ------
    UsageError
        If ``data`` has no degrees.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> gini(Profile.from_counts([3, 1, 1, 1])).value, gini(Profile.from_counts([2, 2, 2])).value
    (0.25, 0.0)
    """
    found = DegreeData.of(data)
    return found.estimate(
        _gini,
        method="Gini coefficient",
        ends=(0.0, 1.0),
        step=1 / max(1, found.num_nodes),
        defined=len(found.profile) > 0,
    )


def _gini(profile: Profile, zeros: int) -> float:
    if not len(profile):
        return 0.0
    labels = profile.prevalences.astype(np.float64)
    above = np.append(np.cumsum(labels[::-1])[::-1][1:], 0.0)
    nodes = float(profile.num_labels + zeros)
    ends = profile.counts * labels / float(profile.n)
    return max(0.0, 1 - float(ends @ ((2 * above + labels) / nodes)))
