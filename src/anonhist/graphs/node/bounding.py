"""Ways to bound degrees, so that one node with any number of edges changes them by at most a public number."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.graphs.flow.capped import degree_flow, degree_flow_distance
from anonhist.graphs.flow.randomized_rounding import randomized_rounding, rounded_epsilon
from anonhist.graphs.graph import Graph
from anonhist.graphs.node import sensitivity
from anonhist.graphs.node.projection import project
from anonhist.graphs.policy import Direction
from anonhist.randomness import RandomSource


class Bounding(Protocol):
    """A way to bound degrees: frozen and public."""

    name: ClassVar[str]

    def degrees(self, graph: Graph, max_degree: int, source: RandomSource) -> NDArray[np.int64]:
        """Return the degree of every node, from 0 to ``max_degree``, shape (num_nodes,)."""

    def list_distance(self, max_degree: int, direction: Direction) -> int:
        """Return how far one node moves the sorted list of degrees in ℓ1, and so the numbers φ_{r+}, r = 1..θ."""

    def sums_distance(self, max_degree: int, direction: Direction) -> int:
        """Return how far one node moves the numbers of nodes of degree ≤ i, i = 0..θ, if nodes are listed."""

    def rate(self, epsilon: Fraction, distance: int) -> Fraction:
        """Return the rate γ per unit of either distance at which noise makes a release ``epsilon``-private."""


@dataclass(frozen=True)
class Projection:
    """Leave out edges one by one, in graphs of any size: :func:`~anonhist.graphs.node.projection.project`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> Projection().rate(Fraction(1), 16)
    Fraction(1, 16)
    """

    name: ClassVar[str] = "projection"

    def degrees(self, graph: Graph, max_degree: int, source: RandomSource) -> NDArray[np.int64]:
        """Return the degrees of the projection, which is deterministic."""
        del source
        return project(graph, max_degree)

    def list_distance(self, max_degree: int, direction: Direction) -> int:
        """Return 2θ, or with directions max(2θ, 3θ − 2): see :mod:`anonhist.graphs.node.sensitivity`."""
        return sensitivity.sorted_list(max_degree, direction)

    def sums_distance(self, max_degree: int, direction: Direction) -> int:
        """Return θ + 1, or with directions 2θ + 1 (2 for θ = 1): see :mod:`anonhist.graphs.node.sensitivity`."""
        return sensitivity.cumulative_histogram(max_degree, direction)

    def rate(self, epsilon: Fraction, distance: int) -> Fraction:
        """Return ``epsilon / distance``."""
        return epsilon / distance


@dataclass(frozen=True)
class Flow:
    """Keep as much of every edge as the bound allows: see :func:`~anonhist.graphs.flow.capped.degree_flow`.

    No choice of edges within the bound keeps more. It solves a flow problem exactly, which takes seconds for a graph of
    about 10⁵ edges. The degrees are fractions, which are rounded at random, and noise has the rate
    ``γ = ln(1 + ε/Δ) ≈ ε/Δ − (ε/Δ)²/2`` (docs/proofs/graphs.md).

    Examples
    --------
    >>> from fractions import Fraction
    >>> 0 < Fraction(1, 16) - Flow().rate(Fraction(1), 16) < Fraction(1, 16) ** 2 / 2
    True
    """

    name: ClassVar[str] = "flow"

    def degrees(self, graph: Graph, max_degree: int, source: RandomSource) -> NDArray[np.int64]:
        """Return the degrees of the flow, rounded at random."""
        return randomized_rounding(degree_flow(graph, max_degree), source=source)

    def list_distance(self, max_degree: int, direction: Direction) -> int:
        """Return 2θ, or 3θ with directions: see :func:`~anonhist.graphs.flow.capped.degree_flow_distance`."""
        return degree_flow_distance(direction, max_degree)

    def sums_distance(self, max_degree: int, direction: Direction) -> int:
        """Return θ + 1, or 2θ + 1 with directions."""
        return (2 if direction.is_directed else 1) * max_degree + 1

    def rate(self, epsilon: Fraction, distance: int) -> Fraction:
        """Return ``ln(1 + epsilon/distance)``, rounded down."""
        return rounded_epsilon(epsilon, distance)


BOUNDINGS: dict[str, Bounding] = {each.name: each for each in (Projection(), Flow())}


def named_bounding(name: object) -> Bounding:
    """Return a way to bound degrees by its name.

    Raises
    ------
    UsageError
        If the name is unknown.

    Examples
    --------
    >>> named_bounding("flow")
    Flow()
    """
    if not isinstance(name, str) or name not in BOUNDINGS:
        raise UsageError(f"Degrees are bounded by {' or '.join(BOUNDINGS)}, not {name!r:.80}.")
    return BOUNDINGS[name]
