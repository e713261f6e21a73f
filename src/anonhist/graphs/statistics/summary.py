"""All statistics of a release of degrees, in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonhist.graphs.statistics.degree_data import DegreeData, DegreeSource
from anonhist.graphs.statistics.power_law_tail import PowerLawTail, power_law_tail
from anonhist.graphs.statistics.single_numbers import (
    gini,
    isolated_nodes,
    k_stars,
    mean_degree,
    nodes_with_edges,
    num_edges,
    num_nodes,
)
from anonhist.outward import Tabular
from anonhist.properties.estimate import Estimate, Estimates


@dataclass(frozen=True)
class DegreeStatistics(Tabular):
    """Statistics of the degrees of a graph, each with its interval.

    Attributes
    ----------
    nodes_with_edges, edges
        How many nodes have an edge; how many edges there are.
    nodes, isolated
        How many nodes there are in all, and without an edge; None where that is not known.
    mean_degree, gini
        Of the nodes with an edge.
    mean_degree_of_all, gini_of_all
        Of all nodes; None where their number is not known.
    stars
        (k, how many k-stars) for each k asked for.
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
        """Return (name, number) of all that is known, in order of interest."""
        listed = (
            ("nodes", self.nodes),
            ("nodes with an edge", self.nodes_with_edges),
            ("nodes without an edge", self.isolated),
            ("edges", self.edges),
            ("mean degree", self.mean_degree_of_all),
            ("mean degree of nodes with an edge", self.mean_degree),
            ("Gini coefficient", self.gini_of_all),
            ("Gini coefficient of nodes with an edge", self.gini),
            *((_stars_name(k), number) for k, number in self.stars),
            (f"power-law exponent of degrees from {self.tail.min_degree:,} on", self.tail.exponent),
        )
        return tuple((name, number) for name, number in listed if number is not None)

    @property
    def left_out(self) -> str:
        """What intervals leave out, because degrees were bounded before noise was added; empty if they were not."""
        return Estimates(self.by_name()).left_out

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.by_name())
        lines = [f"{name:<{width}}  {number}" for name, number in self.by_name()]
        # What no interval of a graph with bounded degrees covers.
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
        From where on a power law is fitted; chosen by default, see :func:`power_law_tail`.

    Raises
    ------
    UsageError
        If a number is out of range, or ``data`` has no degrees.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> told = degree_statistics(Profile.from_counts([3, 1, 1, 1]), k=[2])
    >>> print(str(told).splitlines()[1])
    edges                                   3 ± 0 edges (95 % interval 3 to 3)
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


def _stars_name(k: int) -> str:
    return "2-stars (wedges)" if k == 2 else f"{k}-stars"
