"""The number of edges with node privacy."""

from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.graphs import Direction, EdgePolicy, as_graph, private_edge_count
from anonhist.privacy import NeighboringRelation
from anonhist.randomness import discrete_laplace_variance
from anonhist_testing.sources import SeededSource

ARCS = [(node, (node * node + 1) % 50) for node in range(50) if (node * node + 1) % 50 != node]


def noise_spread(direction: Direction, relation: NeighboringRelation) -> float:
    # D halves of 2F without directions; with directions a node moves 2D arcs.
    rate = Fraction(30, 2 * 60 * relation.distance)
    return float(discrete_laplace_variance(rate)) ** 0.5 / (2 if direction is Direction.UNDIRECTED else 1)


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("relation", NeighboringRelation)
def test_the_error_is_that_of_the_noise(direction: Direction, relation: NeighboringRelation) -> None:
    graph = as_graph(ARCS, policy=EdgePolicy(direction))
    made = private_edge_count(graph, epsilon=30, max_degree=60, relation=relation, source=SeededSource(7))
    assert made.standard_error == pytest.approx(noise_spread(direction, relation))
    assert made.guarantee is not None
    assert made.guarantee.epsilon == 30
    assert made.guarantee.relation is relation


# Each direction and each relation once: the rate is one product of what they ask for, which the test above looks at.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("direction", "relation"),
    [
        (Direction.UNDIRECTED, NeighboringRelation.SUBSTITUTE),
        (Direction.OUT, NeighboringRelation.ADD_OR_REMOVE),
    ],
)
def test_noise_is_as_wide_as_one_node_moves_the_number(direction: Direction, relation: NeighboringRelation) -> None:
    graph = as_graph(ARCS, policy=EdgePolicy(direction))
    source, spread = SeededSource(7), noise_spread(direction, relation)
    found = [private_edge_count(graph, epsilon=30, max_degree=60, relation=relation, source=source) for _ in range(300)]
    errors = np.array([each.value - graph.num_edges for each in found])
    assert all(each.standard_error == pytest.approx(spread) for each in found)
    # Five standard errors of a mean and of a variance (of a Laplace distribution, with kurtosis 6).
    assert abs(errors.mean()) < 5 * spread / 300**0.5
    assert abs(errors.var() / spread**2 - 1) < 5 * (5 / 300) ** 0.5
    inside = np.mean([low <= graph.num_edges <= high for low, high in (each.interval for each in found)])
    assert inside > 0.95 - 5 * (0.95 * 0.05 / 300) ** 0.5


def test_edges_beyond_the_largest_degree_are_not_counted() -> None:
    star = as_graph([("hub", leaf) for leaf in range(100)])
    estimate = private_edge_count(star, epsilon=2000, max_degree=10, source=SeededSource(7))
    assert estimate.value == pytest.approx(10, abs=0.5)
    assert "max_degree" in estimate.assumes
    assert str(estimate).endswith("edges (95% interval 9.5 to 10.5)")


def test_no_edges_are_never_fewer_than_none() -> None:
    empty = as_graph([], nodes=["a", "b"])
    values = [private_edge_count(empty, epsilon=1, max_degree=4, source=SeededSource(seed)).value for seed in range(30)]
    assert min(values) == 0 < max(values)


def test_what_cannot_be_is_refused() -> None:
    graph = as_graph(ARCS)
    with pytest.raises(UsageError, match="needs the edges"):
        private_edge_count(graph.degree_profile(), epsilon=1, max_degree=4)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="epsilon"):
        private_edge_count(graph, epsilon=0, max_degree=4)
    with pytest.raises(UsageError, match="max_degree"):
        private_edge_count(graph, epsilon=1, max_degree=0)
    with pytest.raises(UsageError, match="epsilon is too small for max_degree"):
        private_edge_count(graph, epsilon=1, max_degree=2**40)
    with pytest.raises(UsageError, match="relation"):
        private_edge_count(graph, epsilon=1, max_degree=4, relation="add")  # type: ignore[arg-type]
    loops = as_graph([("a", "a")], policy=EdgePolicy(self_loops="count"))
    with pytest.raises(UsageError, match="self-loops"):
        private_edge_count(loops, epsilon=1, max_degree=4)
