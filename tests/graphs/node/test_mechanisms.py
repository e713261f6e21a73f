"""Node privacy: how much noise, on numbers that are how far apart, over all pairs of small graphs; what comes out."""

import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, product
from math import exp, log
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.graphs import (
    CumulativeDegrees,
    DegreeChoice,
    Direction,
    EdgePolicy,
    Flow,
    Graph,
    HistogramDegrees,
    NodeMechanism,
    PartitionDegrees,
    Projection,
    SurvivalDegrees,
    degree_flow,
    project,
)
from anonhist.graphs import node_degrees as cumulative_module
from anonhist.graphs import node_degrees as survival_module
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist.randomness import discrete_laplace_pmf
from anonhist_testing.sources import SeededSource

ADDED, REPLACED = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
UNDIRECTED, IN = Direction.UNDIRECTED, Direction.IN
IDENTITIES = np.array([11, 3, 8, 5, 2, 9], dtype=np.uint64)
NOISY = (CumulativeDegrees, SurvivalDegrees, HistogramDegrees)


def graph_of(
    edges: list[tuple[int, int]], nodes: int, direction: Direction = UNDIRECTED, *, listed: bool = True
) -> Graph:
    ends = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return Graph(ends[:, 0].copy(), ends[:, 1].copy(), IDENTITIES[:nodes].copy(), EdgePolicy(direction), listed)


@lru_cache
def pairs(direction: Direction, nodes: int) -> list[tuple[Graph, Graph]]:
    """Return neighbours: all graphs on the first nodes, and each with the last node and any of its edges."""
    last = nodes - 1
    arcs = (
        combinations(range(nodes), 2)
        if direction is UNDIRECTED
        else ((u, v) for u, v in product(range(nodes), repeat=2) if u != v)
    )
    listed = list(arcs)
    own = [edge for edge in listed if last in edge]
    others = [edge for edge in listed if last not in edge]
    found = []
    for kept in subsets(others):
        smaller = graph_of(kept, last, direction)
        found.extend((smaller, graph_of([*kept, *new], nodes, direction)) for new in subsets(own) if new)
    return found


def subsets(edges: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    for bits in range(1 << len(edges)):
        yield [edge for place, edge in enumerate(edges) if bits >> place & 1]


class Asked(NamedTuple):
    """Noise that a release asked for: its rate, and what it was added to."""

    rate: Fraction
    truth: NDArray[np.int64]


@pytest.fixture
def plain_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits are post-processing, and take their time."""
    for module in (cumulative_module, survival_module):
        monkeypatch.setattr(module, "smooth_sums", lambda noisy, *_, **__: noisy)


@cache
def projected_bins(direction: Direction, nodes: int, max_degree: int) -> list[tuple[NDArray[np.int64], ...]]:
    """Return how many nodes have each degree after the projection, for all pairs."""
    known: dict[int, NDArray[np.int64]] = {}
    for pair in pairs(direction, nodes):
        for graph in pair:
            if id(graph) not in known:
                known[id(graph)] = np.bincount(project(graph, max_degree), minlength=max_degree + 1)
    return [tuple(known[id(graph)] for graph in pair) for pair in pairs(direction, nodes)]


def noise_rate_of_bins(
    mechanism: NodeMechanism, bins: NDArray[np.int64], monkeypatch: pytest.MonkeyPatch
) -> list[Asked]:
    module = sys.modules[type(mechanism).__module__]
    rates: list[Fraction] = []
    truths: list[NDArray[np.int64]] = []

    def noise(gamma: Fraction, size: int) -> NDArray[np.int64]:
        rates.append(gamma)
        return np.zeros(size, dtype=np.int64)

    def record_truth(values: NDArray[np.int64], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
        truths.append(values.copy())
        return values + drawn

    with monkeypatch.context() as patched:
        patched.setattr(module, "add_noise", record_truth)
        mechanism._run(bins, noise)  # type: ignore[attr-defined]
    return [Asked(rate, truth) for rate, truth in zip(rates, truths, strict=True)]


def losses(
    mechanism: NodeMechanism, direction: Direction, nodes: int, monkeypatch: pytest.MonkeyPatch, *, first_bin: int = 0
) -> list[Fraction]:
    """Return the privacy loss between all neighbours: Σ γ·|difference|, attained far out.

    Where bins of degree 0 are not published, ``first_bin`` leaves them out.
    """
    known: dict[bytes, list[Asked]] = {}
    found = []
    for pair in projected_bins(direction, nodes, mechanism.max_degree):
        for bins in pair:
            if bins.tobytes() not in known:
                known[bins.tobytes()] = noise_rate_of_bins(mechanism, bins, monkeypatch)
        both = zip(known[pair[0].tobytes()], known[pair[1].tobytes()], strict=True)
        found.append(
            sum((one.rate * int(np.abs(one.truth - other.truth)[first_bin:].sum()) for one, other in both), Fraction(0))
        )
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("plain_fit")
@pytest.mark.parametrize("max_degree", [1, 2])
def test_no_neighbours_lose_more_than_the_budget_and_some_lose_it_all(
    max_degree: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All projections of all graphs are made once for all mechanisms.
    listed, unlisted = (
        HistogramDegrees(Fraction(3), max_degree=max_degree, nodes_listed=listed) for listed in (True, False)
    )
    for mechanism in (
        CumulativeDegrees(Fraction(3), max_degree=max_degree),
        SurvivalDegrees(Fraction(3), max_degree=max_degree),
        listed,
    ):
        assert max(losses(mechanism, UNDIRECTED, 5, monkeypatch)) == 3, mechanism
    assert max(losses(unlisted, UNDIRECTED, 5, monkeypatch, first_bin=1)) == 3


@pytest.mark.usefixtures("plain_fit")
@pytest.mark.parametrize("made", [CumulativeDegrees, SurvivalDegrees])
def test_arcs_lose_no_more_than_the_budget(made: type[NodeMechanism], monkeypatch: pytest.MonkeyPatch) -> None:
    for max_degree in (1, 2):
        mechanism = made(Fraction(3), max_degree=max_degree, direction=IN)
        assert 1 <= max(losses(mechanism, IN, 3, monkeypatch)) <= 3


@pytest.mark.usefixtures("plain_fit")
def test_half_the_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Projection, "rate", lambda _, epsilon, distance: 2 * epsilon / distance)
    mechanism = SurvivalDegrees(Fraction(3), max_degree=2)
    assert max(losses(mechanism, UNDIRECTED, 4, monkeypatch)) > 3


@pytest.mark.usefixtures("plain_fit")
@pytest.mark.parametrize("made", NOISY)
def test_replacing_takes_twice_the_noise(made: type[NodeMechanism], monkeypatch: pytest.MonkeyPatch) -> None:
    bins = np.array([3, 1, 0, 2, 0])
    once, twice = (
        noise_rate_of_bins(made(Fraction(3), relation=each, max_degree=4), bins, monkeypatch)
        for each in (ADDED, REPLACED)
    )
    assert [one.rate for one in once] == [2 * two.rate for two in twice]


def rounded_distribution(graph: Graph, max_degree: int) -> dict[tuple[int, ...], float]:
    """Return the distribution of the bins after the flow and its rounding."""
    distribution = {(0,) * (max_degree + 1): 1.0}
    for value in degree_flow(graph, max_degree).fractions():
        floor, rest = value.numerator // value.denominator, float(value - value.numerator // value.denominator)
        spread: dict[tuple[int, ...], float] = {}
        for bins, chance in distribution.items():
            for degree, share in ((floor, 1 - rest), (floor + 1, rest)):
                if share:
                    moved = (*bins[:degree], bins[degree] + 1, *bins[degree + 1 :])
                    spread[moved] = spread.get(moved, 0.0) + chance * share
        distribution = spread
    return distribution


@pytest.mark.slow
@pytest.mark.usefixtures("plain_fit")
@pytest.mark.parametrize("direction", [UNDIRECTED, IN])
def test_rounded_flows_lose_no_more_than_the_budget(direction: Direction, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = np.arange(-3, 9)
    neighbours = pairs(direction, 4 if direction is UNDIRECTED else 3)
    graphs = {id(graph): graph for pair in neighbours for graph in pair}
    # Each flow is rounded once for both mechanisms.
    rounded = {place: rounded_distribution(graph, 1) for place, graph in graphs.items()}

    def output_distribution(mechanism: NodeMechanism, place: int) -> NDArray[np.float64]:
        """Return the probabilities of all noisy numbers near the truth, one axis for each number."""
        total: NDArray[np.float64] | None = None
        for bins, chance in rounded[place].items():
            distribution = np.ones(())
            for rate, truth in noise_rate_of_bins(mechanism, np.array(bins), monkeypatch):
                for value in truth.tolist():
                    distribution = np.multiply.outer(distribution, discrete_laplace_pmf(rate, outputs - value))
            total = chance * distribution if total is None else total + chance * distribution
        assert total is not None
        return total

    for made in (CumulativeDegrees, SurvivalDegrees):
        mechanism = made(Fraction(2), max_degree=1, direction=direction, bounding=Flow())
        distributions = {place: output_distribution(mechanism, place) for place in graphs}
        largest = max(
            float(np.abs(np.log(distributions[id(one)] / distributions[id(other)])).max()) for one, other in neighbours
        )
        assert 0.8 < largest <= 2 + 1e-9, made


def far_apart(leaves: int, direction: Direction) -> tuple[Graph, Graph]:
    """Return neighbours for θ = 1 (2 with directions) whose degrees move by small fractions, as far as they can."""
    if direction is UNDIRECTED:
        others, own, new = [], [(leaf, leaves) for leaf in range(leaves)], leaves
    else:
        # Pairs of hubs give arcs to pairs of leaves. The new node takes from all hubs, and gives to two nodes more.
        new = 2 * leaves + 2
        others = [(leaves + hub, hub // 2 * 2 + leaf) for hub in range(leaves) for leaf in (0, 1)]
        own = [*((leaves + hub, new) for hub in range(leaves)), (new, new - 2), (new, new - 1)]
    names = np.arange(new + 1, dtype=np.uint64)
    made = []
    for edges, size in ((others, new), ([*others, *own], new + 1)):
        ends = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
        made.append(Graph(ends[:, 0].copy(), ends[:, 1].copy(), names[:size], EdgePolicy(direction), nodes_listed=True))
    return made[0], made[1]


@pytest.mark.parametrize(("direction", "max_degree"), [(UNDIRECTED, 1), (IN, 2)])
def test_sums_of_rounded_flows_come_near_the_budget(direction: Direction, max_degree: int) -> None:
    mechanism = CumulativeDegrees(Fraction(1), max_degree=max_degree, direction=direction, bounding=Flow())
    smaller, larger = far_apart(100, direction)
    rate, budget = float(mechanism.rates[1]), float(mechanism.steps[1][1])
    ((truth, _),) = rounded_sums(smaller, max_degree).items()
    # Far out, to the side to which each sum moves in the mean, noise weighs all by e^(±γ·sum).
    distribution = rounded_sums(larger, max_degree)
    distribution = {
        tuple(np.subtract(each, truth)): chance for each, chance in rounded_sums(larger, max_degree).items()
    }
    sides = np.sign(sum(chance * np.array(moves) for moves, chance in distribution.items()))
    loss = log(sum(chance * exp(rate * float(sides @ moves)) for moves, chance in distribution.items()))
    assert 0.93 * budget < loss <= budget


def rounded_sums(graph: Graph, max_degree: int) -> dict[tuple[int, ...], float]:
    """Return the distribution of the numbers of nodes of degree ≤ i, i < θ, after the flow and its rounding."""
    distribution: dict[tuple[int, ...], float] = {}
    for bins, chance in rounded_distribution(graph, max_degree).items():
        sums = tuple(np.cumsum(bins)[:-1].tolist())
        distribution[sums] = distribution.get(sums, 0.0) + chance
    return distribution


def test_plain_noise_would_not_be_enough_for_rounded_lists() -> None:
    # One place, from 0 to a little more: its mean slope is e^γ − 1, and not γ.
    rate, step = 1.0, 1e-6
    before, after = exp(-rate), (1 - step) * exp(-rate) + step * 1.0
    assert log(after / before) / step > rate * 1.5
    assert Flow().rate(Fraction(2), 2) < Fraction(1)


def test_what_is_not_listed_is_not_counted() -> None:
    star = graph_of([(0, 1), (0, 2), (0, 3)], 4, listed=False)
    with pytest.raises(UsageError, match="only if a list of nodes was read"):
        CumulativeDegrees(Fraction(1), max_degree=2).release(star)
    with pytest.raises(UsageError, match="only if a list of nodes was read"):
        HistogramDegrees(Fraction(1), max_degree=2, nodes_listed=True).release(star)
    for mechanism in (
        SurvivalDegrees(Fraction(1), max_degree=2),
        HistogramDegrees(Fraction(1), max_degree=2),
        PartitionDegrees(Fraction(1), max_degree=2),
    ):
        assert mechanism.release(star, source=SeededSource(7)).zeros is None


@pytest.mark.parametrize("made", [*NOISY, PartitionDegrees])
@pytest.mark.parametrize("bounding", [Projection(), Flow()])
def test_with_a_large_budget_bounded_degrees_come_back(made: type[NodeMechanism], bounding: Projection | Flow) -> None:
    if made is HistogramDegrees and bounding == Flow():
        with pytest.raises(UsageError, match="after a projection"):
            made(Fraction(1), max_degree=4, bounding=bounding)
        return
    rng = np.random.default_rng(1)
    names = np.arange(300, dtype=np.uint64)
    ends = np.unique(np.sort(rng.integers(0, 200, size=(600, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    graph = Graph(ends[:, 0].copy(), ends[:, 1].copy(), names, EdgePolicy(), nodes_listed=True)
    most = int(graph.degrees().max())
    released = made(Fraction(40_000), max_degree=most, bounding=bounding).release(graph, source=SeededSource(7))
    truth = graph.degree_profile().profile
    # The fit smooths a little where noise is nothing.
    assert sorted_l1(released.profile, truth) <= 0.02 * truth.n
    if released.zeros is not None:
        assert abs(released.zeros - (300 - truth.num_labels)) <= 3
    assert released.profile.k_plus(most + 1) == 0


def test_promises() -> None:
    choice = DegreeChoice(Fraction(1, 4), (1, 2))
    mechanism = CumulativeDegrees(Fraction(3, 4), max_degree=2, choice=choice)
    promise = mechanism.guarantee
    assert promise.epsilon == 1
    assert promise.unit == PrivacyUnit.node(max_distance=4)
    assert [purpose for purpose, _ in promise.spending] == ["choosing the largest degree", "number of nodes", "degrees"]
    assert SurvivalDegrees(Fraction(1), max_degree=2, direction=IN).guarantee.unit.max_distance == 4
    assert SurvivalDegrees(Fraction(1), max_degree=2, direction=IN, bounding=Flow()).guarantee.unit.max_distance == 6
    assert SurvivalDegrees(Fraction(1), max_degree=2).guarantee.spending == ()


def test_partitions_are_told_how_far_neighbours_are_apart() -> None:
    assert PartitionDegrees(Fraction(1), max_degree=8).central.epsilon_per_cell == Fraction(1, 16)
    assert PartitionDegrees(Fraction(1), max_degree=8, relation=REPLACED).central.epsilon_per_cell == Fraction(1, 32)
    flow = PartitionDegrees(Fraction(1), max_degree=8, bounding=Flow()).central.epsilon_per_cell
    assert Fraction(1, 16) - Fraction(1, 256) < flow < Fraction(1, 16)
    assert PartitionDegrees(Fraction(1), max_degree=8).central.unit == PrivacyUnit.node(max_distance=16)


def test_partitions_have_no_delta_whichever_mechanism_is_picked() -> None:
    promises = {PartitionDegrees(Fraction(epsilon), max_degree=1) for epsilon in (1, 10, 20)}
    assert {each.central.name for each in promises} == {"frobenius", "partition"}
    rounded = PartitionDegrees(Fraction(20), max_degree=2, bounding=Flow())
    assert [each.guarantee.delta for each in (*promises, rounded)] == [0, 0, 0, 0]


@pytest.mark.parametrize("bad", [{"epsilon": 0}, {"max_degree": 0}, {"max_degree": 2**20 + 1}, {"direction": "in"}])
def test_impossible_settings_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        SurvivalDegrees(**({"epsilon": Fraction(1), "max_degree": 4} | bad))  # type: ignore[arg-type]


def test_so_little_budget_is_refused() -> None:
    with pytest.raises(UsageError, match="too small for degrees up to 1,024"):
        SurvivalDegrees(Fraction(1, 10**9), max_degree=1024)


def test_another_direction_is_refused() -> None:
    with pytest.raises(UsageError, match="the same direction"):
        SurvivalDegrees(Fraction(1), max_degree=2, direction=IN).release(graph_of([(0, 1)], 2))


@pytest.mark.slow
def test_no_graph_at_all_is_released() -> None:
    empty = graph_of([], 0)
    for mechanism in (
        CumulativeDegrees(Fraction(1), max_degree=4),
        HistogramDegrees(Fraction(1), max_degree=4, nodes_listed=True),
    ):
        released = mechanism.release(empty, source=SeededSource(7))
        assert released.zeros is not None
        assert released.error.sorted_l1.value >= 0


def test_nodes_that_noise_makes_up_are_no_more_than_can_be_counted() -> None:
    mechanism = HistogramDegrees(Fraction(1), max_degree=64)
    profile, _ = mechanism._run(np.zeros(65, dtype=np.int64), lambda _, size: np.full(size, 2**60))
    assert len(profile) == 64
    assert profile.n <= 2**62


@pytest.mark.slow
def test_simulations_release_what_releases_do() -> None:
    mechanism = CumulativeDegrees(Fraction(4), max_degree=8)
    public = Profile.from_counts([1] * 300 + [4] * 50 + [20])
    runs = mechanism.simulate_with_zeros(public, 100, size=20, rng=np.random.default_rng(7))
    zeros = np.array([zeros for _, zeros in runs])
    labels = np.array([run.num_labels for run, _ in runs])
    assert all(run.k_plus(9) == 0 for run, _ in runs)
    assert abs(zeros.mean() - 100) < 5 * zeros.std() / 20**0.5 + 3
    assert abs(labels.mean() - 351) < 5 * labels.std() / 20**0.5 + 3


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_the_guarantee_says_what_the_list_of_nodes_must_be(relation: NeighboringRelation) -> None:
    setting: dict[str, Any] = {"epsilon": Fraction(1), "max_degree": 4, "relation": relation}
    listed = [CumulativeDegrees(**setting), HistogramDegrees(**setting, nodes_listed=True)]
    others = [SurvivalDegrees(**setting), HistogramDegrees(**setting), PartitionDegrees(**setting)]
    told = {"add-or-remove": "must not be public", "substitute": "which is public"}[relation.value]
    for mechanism in listed:
        assert told in mechanism.guarantee.conditions[-1]
        assert f"and that {mechanism.guarantee.conditions[-1]}; noise" in str(mechanism.guarantee)
    assert not any("list of nodes" in str(mechanism.guarantee) for mechanism in others)
