"""Single numbers about degrees: nodes, edges, the mean degree, the Gini coefficient, k-stars.

Intervals follow from those that a release states for φ_{r+}, for its nodes and for its degree sum: for a ratio, from
both intervals; for a number that depends on all degrees, from the band of all φ_{r+}
(:mod:`~anonhist.graphs.degree_data`). If no interval is stated, no other number has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from anonhist.errors import UsageError
from anonhist.graphs.degree_data import DegreeData, DegreeSource
from anonhist.graphs.power_law_tail import PowerLawTail, power_law_tail
from anonhist.kinds import Shown, Tabular
from anonhist.numeric.arrays import Ints
from anonhist.privacy import parse_whole_number
from anonhist.profiles.counts import MAX_ITEMS, whole_levels
from anonhist.properties.curve import Curve
from anonhist.properties.estimate import Estimate, Estimates
from anonhist.releases.evidence import NORMAL_95

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.releases.error import ReleaseError

    Ends = tuple[float, float]

# Floats hold all results that profiles may lead to: C(2^63, 16) < 10^291.
LARGEST_K = 16


def nodes_with_edges(data: DegreeSource) -> Estimate:
    """Return the number of nodes with an edge, ``φ_{1+}``; in directed graphs, with an edge of the counted direction.

    ``data`` is a release of degrees; or a graph, its degrees or their profile, which are private.
    """
    found = DegreeData.of(data)
    number = float(found.profile.num_labels)
    return _counted(found, number, lambda error: error.k_plus(found.profile, 1), "nodes with an edge")


def isolated_nodes(data: DegreeSource) -> Estimate:
    """Return the number of nodes without an edge, ``φ_0``, if known: released, or from a graph that lists its nodes."""
    found = DegreeData.of(data)
    zeros = found.zeros
    if zeros is None:
        raise UsageError(
            "The number of nodes without an edge is unknown: list the nodes, or give their number if it is public."
        )
    return _counted(found, float(zeros), lambda error: error.of_zeros(zeros), "nodes without an edge")


def num_nodes(data: DegreeSource) -> Estimate:
    """Return the number of nodes, including those without an edge if these are known.

    If the number is public (``public_nodes``), it is exact. If it was released with separate noise, its interval is
    that of this noise; otherwise it is the sum of those of nodes with and without an edge.

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
    """Return the number of edges: ``Σ_r r·φ_r / 2``, or without the half if in- or out-degrees are counted.

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

    Nodes without an edge are among the N if they are known: ``DegreeData.of(data).with_edges`` leaves them out.

    Parameters
    ----------
    data
        As for :func:`nodes_with_edges`.

    Returns
    -------
    Estimate
        The interval goes from the lower end for the degree sum over the upper one for the nodes, to the upper one over
        the lower one. Without nodes the value is 0, with an interval of all possible values.

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


def _counted(data: DegreeData, number: float, released: Callable[[ReleaseError], Estimate], method: str) -> Estimate:
    """State a number of nodes: for private degrees unchanged, for a release with the error that it reports."""
    if data.error is None:
        return data.estimate(number, None, method=method, unit="nodes")
    estimate = released(data.error)
    return replace(
        estimate,
        method=f"{method}, {estimate.method}",
        assumes=data.assumes,
        warnings=data.warnings,
        unit="nodes",
        guarantee=data.guarantee,
    )


def gini(data: DegreeSource) -> Estimate:
    """Return the Gini coefficient of the degrees: 0 if all are equal, near 1 if few nodes have all edges.

    ``G = Σ_{u,v} |d_u − d_v| / (2 N Σ_v d_v)``, N the number of nodes: half the mean difference of two of them, divided
    by the mean degree. With ``A_r`` the number of nodes of larger degree than r it is ``1 − Σ_r r·φ_r·(2 A_r + φ_r) /
    (N Σ_r r·φ_r)``, a sum of terms ≥ 0.

    Nodes without an edge are among the N if they are known: ``DegreeData.of(data).with_edges`` leaves them out.

    Parameters
    ----------
    data
        A release of degrees; or a graph, its degrees or their profile, which are private.

    Returns
    -------
    Estimate
        In [0, 1]; 0 if there is no edge, with an interval that covers [0, 1]. The interval contains all Gini
        coefficients that are possible given the intervals for φ_{r+}, widened by half, for the degree sum and for the
        nodes.

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

    The number itself is summed in whole numbers, however large, and rounded once. 2-stars are also called wedges. In
    directed graphs the k edges all lead to the node, or all lead away, as the policy says. If self-loops or equal edges
    count, any k edges that end at a node are a star.

    Parameters
    ----------
    data
        A release of degrees; or a graph, its degrees or their profile, which are private.
    k
        From 2 to 16.

    Returns
    -------
    Estimate
        ≥ 0; most of it comes from the few largest degrees. The interval goes from the number for the lowest φ_{r+} that
        their intervals allow to that for the highest.

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
    pairs = zip(found.profile.counts.tolist(), found.profile.prevalences.tolist(), strict=True)
    exact = float(sum(prevalence * math.comb(count, size) for count, prevalence in pairs))
    return found.estimate(exact, lambda: found.band.stars(size), method=f"{size}-stars", unit="stars")


def degree_ccdf(data: DegreeSource, *, at: ArrayLike | None = None) -> Curve:
    """Return ``P(D ≥ r) = φ_{r+} / N`` with 95% intervals, N the number of nodes.

    Nodes without an edge are among the N if they are known: ``DegreeData.of(data).with_edges`` leaves them out.

    Parameters
    ----------
    data
        A release of degrees; or a graph, its degrees or their profile, which are private.
    at
        Ascending degrees r, whole numbers from 0 to 2^63 − 1. By default, the degrees at which the curve falls: 1, and
        d and d + 1 for each degree d that occurs, up to the bound on degrees if there is one.

    Returns
    -------
    Curve
        Values and band in [0, 1]. Each interval is meant to contain the truth at its r; the band does not cover the
        whole curve at once. Its ends are those of ``release.error.k_plus_interval``, divided by the number of nodes: by
        a public number itself, otherwise by the other end of its interval, so that an interval is wrong only if one of
        the two is. The standard error is that of a normal interval of the same width. If there are no nodes, values are
        0 and the band covers [0, 1].

    Raises
    ------
    UsageError
        If ``at`` is not such a list, or ``data`` has no degrees.

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
    # All nodes have at least degree 0, and those with an edge at least 1.
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


def falls(data: DegreeData) -> Ints:
    """Return the degrees at which the curve falls, and those just before: 1, d and d + 1 for each degree d."""
    counts = data.profile.counts
    # The largest possible degree has no successor.
    levels = np.concatenate((np.ones(1, dtype=np.int64), counts, counts[counts < MAX_ITEMS] + 1))
    levels.sort()
    levels = levels[np.diff(levels, prepend=0) > 0]
    # Nothing was released beyond the bound, even if there are such degrees.
    return levels if data.max_degree is None else levels[levels <= data.max_degree]


def _levels(at: ArrayLike) -> Ints:
    levels = whole_levels(at)
    if levels.ndim != 1 or bool(np.any(levels < 0)) or bool(np.any(levels[1:] <= levels[:-1])):
        raise UsageError("at must be ascending whole numbers of at least 0, such as [1, 10, 100].")
    return levels


@dataclass(frozen=True, repr=False)
class DegreeStatistics(Shown, Tabular):
    """Statistics of the degrees of a graph, each with its interval.

    Attributes
    ----------
    nodes_with_edges, edges
        The number of nodes with an edge, and of edges.
    nodes, isolated
        The number of all nodes, and of those without an edge; None if it is not known.
    mean_degree, gini
        For the nodes with an edge.
    mean_degree_of_all, gini_of_all
        For all nodes; None if their number is not known.
    stars
        (k, number of k-stars) for each requested k.
    tail
        A power law in the tail.
    """

    known_as = "degree statistics"
    nodes_with_edges: Estimate
    edges: Estimate
    mean_degree: Estimate
    gini: Estimate
    stars: tuple[tuple[int, Estimate], ...]
    tail: PowerLawTail
    nodes: Estimate | None = None
    isolated: Estimate | None = None
    mean_degree_of_all: Estimate | None = None
    gini_of_all: Estimate | None = None

    def by_name(self) -> tuple[tuple[str, Estimate], ...]:
        """Return (name, number) for all known numbers, in order of interest."""
        listed = (
            ("nodes", self.nodes),
            ("nodes with an edge", self.nodes_with_edges),
            ("nodes without an edge", self.isolated),
            ("edges", self.edges),
            ("mean degree", self.mean_degree_of_all),
            ("mean degree of nodes with an edge", self.mean_degree),
            ("Gini coefficient", self.gini_of_all),
            ("Gini coefficient of nodes with an edge", self.gini),
            *((f"{k}-stars{' (wedges)' if k == 2 else ''}", number) for k, number in self.stars),
            (f"power-law exponent of degrees from {self.tail.min_degree:,} on", self.tail.exponent),
        )
        return tuple((name, number) for name, number in listed if number is not None)

    @property
    def left_out(self) -> str:
        """What intervals leave out, because degrees were bounded before noise was added; empty if they were not."""
        return Estimates(self.by_name()).left_out

    def __repr__(self) -> str:
        return f"DegreeStatistics({len(self.by_name())} numbers)"

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.by_name())
        lines = [f"{name:<{width}}  {number}" for name, number in self.by_name()]
        # The part of a graph with bounded degrees that no interval covers.
        return "\n".join((*lines, *([f"Assumed: {self.edges.assumes}."] if self.edges.assumes else [])))


def degree_statistics(
    data: DegreeSource, *, k: Sequence[int] = (2, 3), min_degree: int | None = None
) -> DegreeStatistics:
    """Return all statistics of degrees at once: post-processing, at no privacy cost.

    Parameters
    ----------
    data
        A release of degrees; or a graph, its degrees or their profile, which are private, and so are their statistics.
    k
        Which stars to count, each from 2 to 16.
    min_degree
        The smallest degree to which a power law is fitted; chosen by default, see :func:`power_law_tail`.

    Raises
    ------
    UsageError
        If a number is out of range, or ``data`` has no degrees.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> told = degree_statistics(Profile.from_counts([3, 1, 1, 1]), k=[2])
    >>> print(str(told).splitlines()[1])
    edges                                   3 ± 0 edges (95% interval 3 to 3)
    """
    found = DegreeData.of(data)
    connected = found.with_edges
    counts_all = found.zeros is not None
    return DegreeStatistics(
        nodes_with_edges=nodes_with_edges(found),
        edges=num_edges(found),
        mean_degree=mean_degree(connected),
        gini=gini(connected),
        stars=tuple((size, k_stars(found, k=size)) for size in k),
        tail=power_law_tail(found, min_degree=min_degree),
        nodes=num_nodes(found) if counts_all else None,
        isolated=isolated_nodes(found) if counts_all else None,
        mean_degree_of_all=mean_degree(found) if counts_all else None,
        gini_of_all=gini(found) if counts_all else None,
    )
