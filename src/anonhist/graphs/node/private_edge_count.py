"""The number of edges, with node privacy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.errors import UsageError
from anonhist.graphs.flow.capped import edge_count_flow, edge_count_flow_distance
from anonhist.graphs.graph import Graph
from anonhist.graphs.node.node_mechanism import NAMES_STAY, SMALLEST_RATE
from anonhist.mechanisms.noise import add_noise, exact_noise
from anonhist.mechanisms.setting import NOISE_IS_EXACT, check_relation, without_sizes
from anonhist.privacy import EpsilonLike, Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.properties.estimate import Estimate
from anonhist.randomness import RandomSource, discrete_laplace_variance
from anonhist.releases.content import estimates_digest

if TYPE_CHECKING:
    from fractions import Fraction

_ASSUMES = "No node has more than max_degree edges; of nodes with more, only max_degree are counted."


def private_edge_count(
    graph: Graph,
    *,
    epsilon: EpsilonLike,
    max_degree: int,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Estimate:
    """Release the number of edges with node privacy, counting only edges within a bound on degrees.

    ``F_D + G/2`` (without directions; with directions ``F_D + G``), F_D the
    :func:`~anonhist.graphs.flow.capped.edge_count_flow` for D = ``max_degree``, and G with ``P(G = j) ∝ e^(−ε|j|/2D)``,
    drawn exactly and added in whole numbers: 2F_D is a whole number, and one node changes it by at most 2D.

    Parameters
    ----------
    graph
        Private; without self-loops and equal edges.
    epsilon
        > 0; a float means its shortest decimal.
    max_degree
        D, from 1 to 2^62, public: the noise grows with it, and edges beyond it are not counted.
    relation
        Neighbors differ by a node, with any edges, that is added or removed, or whose edges are replaced by others.
    source
        Privacy randomness; the operating system's by default.
    ledger, dataset, purpose, run_id
        The ledger to charge before any noise is drawn, as for :func:`~anonhist.mechanisms.release`.

    Returns
    -------
    Estimate
        In edges, ≥ 0. The interval covers the noise: if degrees exceed D, it is an interval for F_D, which is less than
        the number of edges.

    Raises
    ------
    UsageError
        If the budget or D is out of range, or ε is too small, or the graph counts self-loops or duplicates.
    DataError
        If there is not enough memory, or the graph is too large for an exact flow.

    References
    ----------
    .. [1] S. P. Kasiviswanathan, K. Nissim, S. Raskhodnikova, A. Smith, "Analyzing graphs with node differential
       privacy", TCC 2013, section 4.

    Examples
    --------
    >>> from anonhist.graphs.conversion import as_graph
    >>> ring = as_graph([(node, (node + 1) % 1000) for node in range(1000)])
    >>> estimate = private_edge_count(ring, epsilon=1, max_degree=2)
    >>> abs(estimate.value - 1000) < 100
    True
    """
    if not isinstance(graph, Graph):
        raise UsageError("Node privacy needs the edges: read them with read_edges (a Graph).")
    check_relation(relation)
    budget, direction = parse_epsilon(epsilon), graph.policy.direction
    halves = 1 if direction.is_directed else 2
    distance = halves * edge_count_flow_distance(direction, max_degree)
    rate = budget / (distance * relation.distance)
    if rate < SMALLEST_RATE:
        message = f"`epsilon` is too small for `max_degree` = {max_degree:,}; give more, or a smaller `max_degree`."
        raise UsageError(message)
    unit = PrivacyUnit.node(max_distance=distance, max_degree=max_degree)
    guarantee = Guarantee(unit, relation, budget, arithmetic=NOISE_IS_EXACT, conditions=(NAMES_STAY,))
    price = Price(guarantee, "private edge count", {"max_degree": max_degree})
    with recording(account_of(ledger, dataset, purpose, run_id), lambda: price) as recorded:
        # The graph is there already: whatever goes wrong now may depend on it.
        recorded.keep()
        with without_sizes():
            counted = np.array([int(halves * edge_count_flow(graph, max_degree))], dtype=np.int64)
        value = max(0.0, int(add_noise(counted, exact_noise(source)(rate, 1))[0]) / halves)
        estimate = _estimate(value, rate, halves, guarantee)
        recorded.complete(lambda: estimates_digest([("edge count", estimate)]))
    return estimate


def _estimate(value: float, rate: Fraction, halves: int, guarantee: Guarantee) -> Estimate:
    """Return the estimate, with an interval for its noise."""
    # The noise exceeds B with probability 2p^(B + 1)/(1 + p).
    reach = max(1, math.ceil(-math.log(0.025 * (1 + math.exp(-float(rate)))) / float(rate)) - 1) / halves
    return Estimate(
        value,
        math.sqrt(discrete_laplace_variance(rate)) / halves,
        (max(0.0, value - reach), value + reach),
        "private maximum flow",
        assumes=_ASSUMES,
        unit="edges",
        guarantee=guarantee,
    )
