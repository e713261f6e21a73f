"""The size of a graph: nodes, edges, and edges per node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.graphs.statistics.degree_data import DegreeData, DegreeSource

if TYPE_CHECKING:
    from anonhist.properties.estimate import Estimate


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
        return found.estimate(lambda profile, _: float(profile.num_labels), method="nodes with an edge", unit="nodes")
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
        return found.estimate(lambda _, zeros: float(zeros), method="nodes without an edge", unit="nodes")
    return _with_method(found, found.error.of_zeros(zeros), "nodes without an edge")


def num_nodes(data: DegreeSource) -> Estimate:
    """Return the number of nodes, including those without an edge if these are known.

    If the number is public (``public_nodes``), it is exact.

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
    return found.estimate(
        lambda profile, zeros: float(profile.num_labels + zeros),
        method="nodes",
        unit="nodes",
        step=1.0,
        exact=found.knows_nodes,
    )


def num_edges(data: DegreeSource) -> Estimate:
    """Return how many edges there are: ``Σ_r r·φ_r / 2``, or without the half where in- or out-degrees are counted.

    The noisy degree sum may be odd, so the result may end in .5.

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
    return found.estimate(lambda profile, _: profile.n / ends, method="sum of the degrees", unit="edges", step=1.0)


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
        0 if there are no nodes, with an interval of all possible values.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> mean_degree(Profile.from_counts([3, 1, 1, 1])).value
    1.5
    """
    found = DegreeData.of(data)
    return found.estimate(
        lambda profile, zeros: profile.n / max(1, profile.num_labels + zeros),
        method="mean degree",
        ends=(0.0 if found.zeros is not None or not found.num_nodes else 1.0, float("inf")),
        step=1 / max(1, found.num_nodes),
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
