"""Single numbers of the degrees: nodes, edges, the mean degree, the Gini coefficient, k-stars.

Intervals are those that a release states for φ_{r+}, for its nodes and for its degree sum, and what follows from them:
of a ratio, from both intervals; of what depends on all degrees, from the band of all φ_{r+}
(:mod:`~anonhist.graphs.statistics.degree_band`). Where no interval is stated, there is none of any other number.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.graphs.statistics.degree_data import DegreeData, DegreeSource
from anonhist.privacy import parse_whole_number
from anonhist.properties.estimate import Estimate

if TYPE_CHECKING:
    from anonhist.profiles import Profile

    Ends = tuple[float, float]

# Floats hold all that profiles may lead to: C(2^63, 16) < 10^291.
LARGEST_K = 16


def nodes_with_edges(data: DegreeSource) -> Estimate:
    """Return the number of nodes with an edge: ``φ_{1+}``.

    Of directed graphs, a node has an edge here if it has one of the direction that is counted.

    Parameters
    ----------
    data
        A release of degrees; or a graph, its degrees or their profile, which are private.

    Raises
    ------
    UsageError
        If it is none of these.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(nodes_with_edges(Profile.from_counts([3, 1, 1, 1])))
    4 ± 0 nodes (95 % interval 4 to 4)
    """
    found = DegreeData.of(data)
    if found.error is None:
        return found.estimate(float(found.profile.num_labels), None, method="nodes with an edge", unit="nodes")
    # The release's own estimate: one release must not give two different ones.
    return _with_method(found, found.error.k_plus(found.profile, 1), "nodes with an edge")


def isolated_nodes(data: DegreeSource) -> Estimate:
    """Return the number of nodes without an edge, ``φ_0``, if known.

    Parameters
    ----------
    data
        A release of degrees with ``zeros``, or private degrees of a graph that lists its nodes.

    Raises
    ------
    UsageError
        If it is unknown, or ``data`` has no degrees.

    Examples
    --------
    >>> from anonhist.graphs.graph import Degrees
    >>> from anonhist.graphs.policy import EdgePolicy
    >>> from anonhist.privacy import PrivacyUnit
    >>> from anonhist.profiles import Profile
    >>> ring = Profile.from_counts([2] * 5, unit=PrivacyUnit.edge())
    >>> isolated_nodes(Degrees(ring, EdgePolicy(), num_nodes=8)).value
    3.0
    """
    found = DegreeData.of(data)
    zeros = found.zeros
    if zeros is None:
        raise UsageError(
            "The number of nodes without an edge is unknown: list the nodes, or give their number if it is public."
        )
    if found.error is None:
        return found.estimate(float(zeros), None, method="nodes without an edge", unit="nodes")
    return _with_method(found, found.error.of_zeros(zeros), "nodes without an edge")


def num_nodes(data: DegreeSource) -> Estimate:
    """Return the number of nodes, including those without an edge if these are known.

    If the number is public (``public_nodes``), it is exact. If it was released with noise of its own, its interval is
    that of this noise; else it is what those of nodes with and without an edge add up to.

    Parameters
    ----------
    data
        As for :func:`nodes_with_edges`.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> num_nodes(Profile.from_counts([3, 1, 1, 1])).value
    4.0
    """
    found = DegreeData.of(data)
    if found.zeros is None:
        return nodes_with_edges(found)
    ends = None if found.nodes_reach == 0 else lambda: found.nodes_ends
    return found.estimate(float(found.num_nodes), ends, method="nodes", unit="nodes")


def num_edges(data: DegreeSource) -> Estimate:
    """Return how many edges there are: ``Σ_r r·φ_r / 2``, or without the half where in- or out-degrees are counted.

    The noisy degree sum may be odd, so the result may end in .5. The interval is that of the degree sum.

    Parameters
    ----------
    data
        As for :func:`nodes_with_edges`.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> num_edges(Profile.from_counts([3, 1, 1, 1])).value
    3.0
    """
    found = DegreeData.of(data)
    ends = found.policy.degrees_per_edge

    def interval() -> Ends:
        low, high = found.degree_sum
        return low / ends, high / ends

    return found.estimate(found.profile.n / ends, interval, method="sum of the degrees", unit="edges")


def mean_degree(data: DegreeSource) -> Estimate:
    """Return the mean degree ``Σ_r r·φ_r / N``, N the number of nodes.

    Nodes without an edge are among the N where they are known: ``DegreeData.of(data).with_edges`` leaves them out.

    Parameters
    ----------
    data
        As for :func:`nodes_with_edges`.

    Returns
    -------
    Estimate
        The interval is from the lower end for the degree sum over the upper one for the nodes, to the upper one over
        the lower one. 0 if there are no nodes, with an interval of all possible values.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> mean_degree(Profile.from_counts([3, 1, 1, 1])).value
    1.5
    """
    found = DegreeData.of(data)

    def interval() -> Ends:
        (low, high), (fewest, most) = found.degree_sum, found.nodes_ends
        return (low / most if most else 0.0), (high / fewest if fewest else math.inf)

    least = 0.0 if found.zeros is not None or not found.num_nodes else 1.0
    return found.estimate(
        found.profile.n / max(1, found.num_nodes),
        interval,
        method="mean degree",
        within=(least, math.inf if found.max_degree is None else float(found.max_degree)),
        defined=found.num_nodes > 0,
    )


def _with_method(data: DegreeData, estimate: Estimate, method: str) -> Estimate:
    """Say what a number of the release is."""
    return replace(
        estimate,
        method=f"{method}, {estimate.method}",
        assumes=data.assumes,
        warnings=data.warnings,
        unit="nodes",
        guarantee=data.guarantee,
    )


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
        In [0, 1]; 0 if there is no edge, with an interval that covers [0, 1]. The interval is that of all Gini
        coefficients that the intervals for φ_{r+}, drawn out by half, for the degree sum and for the nodes allow.

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
        _gini(found.profile, found.num_nodes),
        lambda: found.joint_band.gini(found.nodes_ends, found.degree_sum),
        method="Gini coefficient",
        within=(0.0, 1.0),
        defined=len(found.profile) > 0,
    )


def _gini(profile: Profile, num_nodes: int) -> float:
    if not len(profile):
        return 0.0
    labels = profile.prevalences.astype(np.float64)
    above = np.append(np.cumsum(labels[::-1])[::-1][1:], 0.0)
    ends = profile.counts * labels / float(profile.n)
    return max(0.0, 1 - float(ends @ ((2 * above + labels) / num_nodes)))


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
        ≥ 0; most of it comes from the few largest degrees. The interval is from what there are if all φ_{r+} are as low
        as their intervals allow, to what there are if all are as high.

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
    return found.estimate(exact, lambda: found.band.stars(size), method=f"{size}-stars", unit="stars")


def _exactly(profile: Profile, k: int) -> int:
    pairs = zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True)
    return sum(prevalence * math.comb(count, k) for count, prevalence in pairs)
