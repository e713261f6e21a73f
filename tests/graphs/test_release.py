"""From a graph to a release: what is asked for, what is spent, what is refused."""

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.graphs import (
    BoundedDegrees,
    CumulativeDegrees,
    DegreeChoice,
    Direction,
    EdgePolicy,
    EdgePrivacy,
    Flow,
    Graph,
    HistogramDegrees,
    NodeMechanism,
    NodePrivacy,
    PartitionDegrees,
    Projection,
    SurvivalDegrees,
    as_graph,
    private_edge_count,
    release_degrees,
)
from anonhist.graphs.bounding import named_bounding
from anonhist.privacy import NeighboringRelation
from anonhist.profiles import sorted_l1
from anonhist_testing.sources import SeededSource, TapeSource


def power_law(*, listed: bool, nodes: int = 600) -> Graph:
    rng = np.random.default_rng(7)
    ends = np.minimum(rng.zipf(1.6, size=(2000, 2)), nodes) - 1
    return as_graph(ends.astype(str), nodes=map(str, range(nodes)) if listed else None)


def mechanism_of(how: BoundedDegrees, *, listed: bool = True, epsilon: str = "2") -> NodeMechanism:
    released = release_degrees(
        power_law(listed=listed), privacy=NodePrivacy(), mechanism=how, epsilon=epsilon, source=SeededSource(7)
    )
    assert isinstance(released.mechanism, NodeMechanism)
    assert released.guarantee == released.mechanism.guarantee
    assert released.guarantee.epsilon == Fraction(epsilon)
    return released.mechanism


def test_a_given_bound_is_not_paid_for() -> None:
    mechanism = mechanism_of(BoundedDegrees(16))
    assert (mechanism.max_degree, mechanism.epsilon, mechanism.choice) == (16, 2, None)


def test_a_chosen_bound_is_paid_for_from_the_same_budget() -> None:
    mechanism = mechanism_of(BoundedDegrees(candidates=(2, 8, 32)))
    assert mechanism.choice is not None
    assert (mechanism.choice.epsilon, mechanism.epsilon) == (Fraction(1, 2), Fraction(3, 2))
    assert mechanism.max_degree in (2, 8, 32)
    own = mechanism_of(BoundedDegrees(choice_share=Fraction(1, 10)))
    assert own.choice is not None
    assert own.choice.epsilon == Fraction(1, 5)


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("cumulative", CumulativeDegrees),
        ("survival", SurvivalDegrees),
        ("histogram", HistogramDegrees),
        ("partition", PartitionDegrees),
    ],
)
def test_methods_by_name(method: str, kind: type[NodeMechanism]) -> None:
    assert type(mechanism_of(BoundedDegrees(8, method))) is kind


@pytest.mark.slow
def test_auto_takes_what_is_predicted_to_err_least() -> None:
    assert type(mechanism_of(BoundedDegrees(16))) is CumulativeDegrees
    assert type(mechanism_of(BoundedDegrees(16), listed=False)) is SurvivalDegrees
    for bound in (1, 64):
        for epsilon in ("0.1", "4"):
            mechanism = mechanism_of(BoundedDegrees(bound), epsilon=epsilon)
            settings: dict[str, Any] = {"epsilon": mechanism.epsilon, "max_degree": bound}
            others = [SurvivalDegrees(**settings), HistogramDegrees(**settings, nodes_listed=True)]
            assert mechanism.predicted_error <= min(other.predicted_error for other in others)


@pytest.mark.slow
@pytest.mark.parametrize("listed", [True, False])
def test_auto_is_what_the_guide_says_for_small_and_large_bounds(listed: bool) -> None:  # noqa: FBT001  # a case
    relation = NeighboringRelation.ADD_OR_REMOVE
    for epsilon in ("0.5", "1", "2", "4"):
        middle = CumulativeDegrees if listed else SurvivalDegrees
        for bound, kind in ((1, HistogramDegrees), (16, middle), (1024, PartitionDegrees)):
            # Chosen without a release, which takes seconds for large bounds.
            prepared = BoundedDegrees(bound).prepare(EdgePolicy(), epsilon, relation, nodes_listed=listed)
            assert [type(mechanism) for mechanism in prepared.mechanisms.values()] == [kind]


@pytest.mark.slow
@pytest.mark.parametrize("listed", [True, False])
def test_no_method_counts_nodes_that_are_not_listed(listed: bool) -> None:  # noqa: FBT001  # a case
    for method in ("auto", "survival", "histogram", "partition"):
        released = release_degrees(
            power_law(listed=listed), privacy=NodePrivacy(), mechanism=BoundedDegrees(4, method), epsilon=1
        )
        assert released.zeros is None or listed
    with pytest.raises(UsageError, match="only if a list of nodes was read"):
        release_degrees(
            power_law(listed=False), privacy=NodePrivacy(), mechanism=BoundedDegrees(4, "cumulative"), epsilon=1
        )


@pytest.mark.slow
def test_flows_keep_more_edges() -> None:
    graph = power_law(listed=True)
    truth = graph.degree_profile().profile
    distances = []
    for bounding in ("projection", "flow"):
        mechanism = PartitionDegrees(Fraction(4000), max_degree=6, bounding=named_bounding(bounding))
        distances.append(sorted_l1(truth, mechanism.release(graph, source=SeededSource(7)).profile))
    assert distances[1] < distances[0]
    assert mechanism_of(BoundedDegrees(6, bounding="flow")).bounding == Flow()
    assert mechanism_of(BoundedDegrees(6)).bounding == Projection()


def test_the_choice_looks_at_kept_edges_once_and_privately(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def draw(_: object, kept: dict[int, int], noise: dict[int, float], *__: object, **___: object) -> int:
        seen.append((kept, noise))
        return 8

    monkeypatch.setattr(DegreeChoice, "draw", draw)
    mechanism = mechanism_of(BoundedDegrees(candidates=(2, 8, 4096)))
    assert mechanism.max_degree == 8
    ((kept, noise),) = seen
    # With a bound above all degrees every edge keeps both ends.
    assert kept[4096] == 2 * power_law(listed=True).num_edges > kept[8] > kept[2]
    assert noise[8] == mechanism.predicted_error < noise[4096]


@pytest.mark.slow
def test_candidates_for_which_too_little_is_spent_are_left_out() -> None:
    # Noise for profiles is not made for rates below 10^−5.
    mechanism = mechanism_of(BoundedDegrees(method="partition"), epsilon="0.1")
    assert mechanism.choice is not None
    assert max(mechanism.choice.candidates) < 4096
    assert mechanism.choice.candidates[:3] == (1, 2, 4)
    with pytest.raises(UsageError, match="too small"):
        release_degrees(power_law(listed=True), privacy=NodePrivacy(), mechanism="partition", epsilon="1e-6")
    with pytest.raises(UsageError, match="too small"):
        release_degrees(
            power_law(listed=True), privacy=NodePrivacy(), mechanism=BoundedDegrees(4096, "partition"), epsilon="0.01"
        )


def test_simulations_are_as_many_as_asked_for() -> None:
    released = release_degrees(
        power_law(listed=True), privacy=NodePrivacy(), mechanism=BoundedDegrees(4), epsilon=1, simulations=3
    )
    assert released.simulations == released.error.simulations == 3
    assert released.error.zeros_error is not None
    low, high = released.prevalence(0).interval
    assert released.zeros is not None
    assert low <= released.zeros <= high


@pytest.mark.parametrize(
    "bad",
    [
        {"max_degree": 0},
        {"max_degree": "all"},
        {"max_degree": 2**20 + 1},
        {"method": "mean"},
        {"bounding": "cut"},
        {"choice_share": 1},
        {"choice_share": 0},
        {"candidates": ()},
        {"candidates": (4, 2)},
    ],
)
def test_impossible_wishes_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        BoundedDegrees(**bad)  # type: ignore[arg-type]


def test_what_is_no_graph_for_this_is_refused() -> None:
    graph = power_law(listed=True)
    with pytest.raises(UsageError, match="needs the edges"):
        release_degrees(graph.degree_profile(), privacy=NodePrivacy(), mechanism=BoundedDegrees(4), epsilon=1)
    loops = as_graph([("a", "a")], policy=EdgePolicy(self_loops="count"))
    with pytest.raises(UsageError, match="without self-loops"):
        release_degrees(loops, privacy=NodePrivacy(), mechanism=BoundedDegrees(4), epsilon=1)
    with pytest.raises(UsageError, match=r"privacy must be .* not a Graph"):
        release_degrees(graph, privacy=graph, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="privacy must be"):
        release_degrees(graph, privacy="edge", epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="relation must be"):
        EdgePrivacy(relation="substitute")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="relation must be"):
        NodePrivacy("substitute")  # type: ignore[arg-type]
    for epsilon in (0, -1, "much"):
        with pytest.raises(UsageError, match="epsilon"):
            release_degrees(graph, privacy=NodePrivacy(), mechanism=BoundedDegrees(4), epsilon=epsilon)


def test_replacing_costs_twice() -> None:
    how = BoundedDegrees(4, "survival")
    privacy = NodePrivacy(NeighboringRelation.SUBSTITUTE)
    released = release_degrees(power_law(listed=True), privacy=privacy, mechanism=how, epsilon=1)
    assert isinstance(released.mechanism, SurvivalDegrees)
    assert released.mechanism.rate == Fraction(1, 16)
    assert released.guarantee.relation is privacy.relation


def test_the_name_of_a_method_stands_for_it_with_all_defaults() -> None:
    graph, source = power_law(listed=True), SeededSource(7)
    named = release_degrees(graph, privacy=NodePrivacy(), mechanism="survival", epsilon=1, source=source)
    whole = BoundedDegrees(method="survival")
    same = release_degrees(graph, privacy=NodePrivacy(), mechanism=whole, epsilon=1, source=SeededSource(7))
    assert (named.mechanism, named.profile) == (same.mechanism, same.profile)


@pytest.mark.parametrize(
    ("privacy", "mechanism", "policy", "epsilon", "told"),
    [
        (EdgePrivacy(), "auto", EdgePolicy(), "1/1000000", "too small"),
        (EdgePrivacy(), "isotonic", EdgePolicy(), "1", "needs the number of nodes"),
        (EdgePrivacy(9), "cumulative", EdgePolicy(duplicates="count"), "1", "needs the number of nodes"),
        (EdgePrivacy(2**31), "relaxed-partition", EdgePolicy(), "1", "public_nodes is too large"),
        (EdgePrivacy(2**31), "bounded-partition", EdgePolicy(), "1", "public_nodes is too large"),
        (EdgePrivacy(), "survival", EdgePolicy(), "1", "no mechanism called 'survival'"),
        (EdgePrivacy(), BoundedDegrees(), EdgePolicy(), "1", "With edge privacy, mechanism must be one of auto, "),
        (NodePrivacy(), "auto", EdgePolicy(duplicates="count"), "1", "equal edges count once"),
        (NodePrivacy(), "auto", EdgePolicy(), "1/1000000000000", "too small"),
        (NodePrivacy(), "cumulative", EdgePolicy(), "1", "only if a list of nodes was read"),
        (NodePrivacy(), BoundedDegrees(method="histogram", bounding="flow"), EdgePolicy(), "1", "after a projection"),
        (NodePrivacy(), "frobenius", EdgePolicy(), "1", "mechanism must be one of auto, cumulative, "),
        (NodePrivacy(), 64, EdgePolicy(), "1", "mechanism must be one of auto, cumulative, "),
    ],
)
def test_what_no_graph_could_be_released_with_is_refused_before_one_is_read(
    privacy: EdgePrivacy | NodePrivacy, mechanism: Any, policy: EdgePolicy, epsilon: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        privacy.prepare(policy, nodes_listed=False, epsilon=epsilon, mechanism=mechanism)
    with pytest.raises(UsageError, match=told):
        release_degrees(as_graph([("a", "b")], policy=policy), privacy=privacy, epsilon=epsilon, mechanism=mechanism)


def test_what_may_be_released_is_not_refused() -> None:
    NodePrivacy().prepare(EdgePolicy(), nodes_listed=True, epsilon=1, mechanism="cumulative")
    EdgePrivacy(9).prepare(EdgePolicy(), nodes_listed=False, epsilon=1, mechanism="relaxed-partition")


@pytest.mark.parametrize(
    ("privacy", "direction", "listed", "told"),
    [
        (EdgePrivacy(), Direction.OUT, False, "different policy"),
        (NodePrivacy(), Direction.OUT, False, "with different settings"),
        (NodePrivacy(), Direction.UNDIRECTED, True, "with different settings"),
    ],
)
def test_a_graph_that_was_not_prepared_for_is_refused_before_noise_is_drawn(
    privacy: EdgePrivacy | NodePrivacy,
    direction: Direction,
    listed: bool,  # noqa: FBT001  # a case
    told: str,
) -> None:
    prepared = privacy.prepare(EdgePolicy(direction), nodes_listed=listed, epsilon=1, mechanism="auto")
    no_randomness = TapeSource([])
    with pytest.raises(UsageError, match=told):
        prepared.release(as_graph([("a", "b")]), source=no_randomness)


@pytest.mark.parametrize(
    ("place", "release"),
    [
        ("node_privacy:project_each", lambda graph: release_degrees(graph, privacy=NodePrivacy(), epsilon=1)),
        (
            "bounding:project",
            lambda graph: release_degrees(graph, privacy=NodePrivacy(), mechanism=BoundedDegrees(4), epsilon=1),
        ),
        ("graph:Profile.from_counts", lambda graph: release_degrees(graph, privacy=EdgePrivacy(), epsilon=1)),
        ("node_privacy:edge_count_flow", lambda graph: private_edge_count(graph, epsilon=1, max_degree=4)),
    ],
)
def test_a_lack_of_memory_says_nothing_of_sizes(
    monkeypatch: pytest.MonkeyPatch, place: str, release: Callable[[Graph], object]
) -> None:
    graph = power_law(listed=True)

    def fails(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 123 MiB")

    module, _, inside = place.partition(":")
    *names, last = inside.split(".")
    # A function of the room may have the name of its file.
    holder = reduce(getattr, names, import_module(f"anonhist.graphs.{module}"))
    monkeypatch.setattr(holder, last, fails)
    with pytest.raises(DataError, match="not enough memory") as refused:
        release(graph)
    assert "123" not in str(refused.value)


@pytest.mark.full
def test_a_graph_of_networkx_is_released_as_its_edges_are() -> None:
    nx = pytest.importorskip("networkx", reason="networkx is not installed")
    pairs = [("ann", "bob"), ("bob", "ann"), ("bob", "cy"), ("cy", "cy")]
    privacy = EdgePrivacy()
    expected = release_degrees(as_graph(pairs), privacy=privacy, epsilon=1, source=SeededSource(7))
    for kind in (nx.Graph, nx.MultiGraph):
        graph = kind(pairs)
        graph.add_node("alone")
        released = release_degrees(graph, privacy=privacy, epsilon=1, source=SeededSource(7))
        assert released.profile == expected.profile
        assert released.guarantee == expected.guarantee
        of_nodes = release_degrees(graph, privacy=NodePrivacy(), epsilon=1, source=SeededSource(7))
        assert of_nodes.guarantee.unit.kind == "node"
    for directed in (nx.DiGraph(pairs), nx.MultiDiGraph(pairs)):
        with pytest.raises(UsageError, match="directed: choose which degrees"):
            release_degrees(directed, privacy=privacy, epsilon=1, source=TapeSource([]))
        graph = as_graph(directed, policy=EdgePolicy(Direction.IN))
        assert release_degrees(graph, privacy=privacy, epsilon=1).guarantee.epsilon == 1
