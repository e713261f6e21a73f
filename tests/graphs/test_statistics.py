"""Statistics of degrees: against counting one by one, at the ends of what numbers can be, and what intervals hold."""

import math
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.graphs import (
    BoundedDegrees,
    Degrees,
    Direction,
    EdgeMechanism,
    EdgePolicy,
    EdgePrivacy,
    Graph,
    NodePrivacy,
    as_graph,
    release_degrees,
)
from anonhist.graphs.statistics import (
    DegreeData,
    DegreeStatistics,
    degree_ccdf,
    degree_statistics,
    gini,
    isolated_nodes,
    k_stars,
    mean_degree,
    nodes_with_edges,
    num_edges,
    num_nodes,
    power_law_tail,
    released_policy,
)
from anonhist.graphs.statistics.power_law_tail import PowerLaw, log_zeta
from anonhist.mechanisms import PartitionMechanism, release
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate
from anonhist.properties.levels import widening_factor
from anonhist.properties.statement import Holds
from anonhist.releases import Release
from anonhist_testing.sources import SeededSource

MAX = 2**63 - 1
EDGE = PrivacyUnit.edge()
NODES = 9


def small_graph(direction: Direction, seed: int) -> tuple[Graph, list[tuple[int, int]]]:
    rng = np.random.default_rng(seed)
    pairs = [(u, v) for u in range(NODES) for v in range(NODES) if u != v and (direction.is_directed or u < v)]
    edges = [pair for pair in pairs if rng.random() < 0.3]
    return as_graph(edges, policy=EdgePolicy(direction), nodes=range(NODES)), edges


@pytest.mark.slow
@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("seed", range(3))
def test_numbers_agree_with_counting_one_by_one(direction: Direction, seed: int) -> None:
    graph, edges = small_graph(direction, seed)
    of_node = {v: [edge for edge in edges if v in _count_ends(edge, direction)] for v in range(NODES)}
    degrees = [len(mine) for mine in of_node.values()]
    connected = [degree for degree in degrees if degree]
    told = degree_statistics(graph, k=[2, 3])
    assert told.edges.value == len(edges)
    assert told.nodes is not None
    assert told.isolated is not None
    assert (told.nodes.value, told.isolated.value) == (NODES, degrees.count(0))
    assert told.nodes_with_edges.value == len(connected)
    for k, stars in told.stars:
        assert stars.value == sum(1 for mine in of_node.values() for _ in combinations(mine, k))
    assert told.mean_degree_of_all is not None
    assert told.gini_of_all is not None
    for listed, mean, spread in (
        (degrees, told.mean_degree_of_all, told.gini_of_all),
        (connected, told.mean_degree, told.gini),
    ):
        assert mean.value == pytest.approx(sum(listed) / len(listed), rel=1e-12)
        differences = sum(abs(a - b) for a in listed for b in listed)
        assert spread.value == pytest.approx(differences / (2 * len(listed) * sum(listed)), abs=1e-12)
    curve = degree_ccdf(graph, at=range(NODES))
    assert curve.value.tolist() == [sum(degree >= r for degree in degrees) / NODES for r in range(NODES)]
    assert [each.standard_error for _, each in told.by_name()[:-1]] == [0.0] * (len(told.by_name()) - 1)


def _count_ends(edge: tuple[int, int], direction: Direction) -> tuple[int, ...]:
    return {Direction.IN: edge[1:], Direction.OUT: edge[:1], Direction.UNDIRECTED: edge}[direction]


@pytest.mark.slow
def test_stars_are_exact_and_everything_is_finite_where_numbers_are_largest() -> None:
    huge = Profile([1, 5, 2**40, MAX - 2**41 - 6], [1, 1, 2, 1])
    for k in (2, 3, 16):
        exact = sum(
            phi * math.comb(r, k) for r, phi in zip(huge.counts.tolist(), huge.prevalences.tolist(), strict=True)
        )
        assert k_stars(huge, k=k).value == float(exact)
    assert num_edges(huge).value == huge.n / 2
    assert gini(huge).value == pytest.approx(0.8, abs=1e-5)
    assert degree_ccdf(huge, at=[2**62, MAX]).value.tolist() == [0.2, 0.0]
    many = Profile([1, 3], [2**61, 1])
    for told in (degree_statistics(huge), degree_statistics(many), degree_statistics(Profile([MAX], [1]))):
        for _, estimate in told.by_name():
            assert all(math.isfinite(number) for number in (estimate.value, estimate.interval[0]))
            assert estimate.interval[0] <= estimate.value <= estimate.interval[1]


def test_runs_of_huge_degrees_have_finite_errors() -> None:
    near = DegreeData(Profile([MAX], [1]), runs=((Profile([MAX - 2**60], [1]), None), (Profile([5], [1]), None)))
    stars = k_stars(near, k=16)
    assert math.isfinite(stars.standard_error)
    assert stars.standard_error > stars.value / 2
    assert all(map(math.isfinite, stars.interval))


def test_runs_that_all_agree_make_no_number_exact() -> None:
    profile = Profile([1, 2], [6, 2])
    agreed = DegreeData(profile, runs=((profile, None),) * 32)
    assert (num_edges(agreed).standard_error, num_edges(agreed).interval) == (0.0, (4.0, 6.0))
    assert mean_degree(agreed).interval == (1.25 - 1 / 8, 1.25 + 1 / 8)
    # Where floats skip whole numbers, at least the next ones are in it.
    huge = Profile([2**62], [1])
    low, high = num_edges(DegreeData(huge, runs=((huge, None),) * 32)).interval
    assert low < 2.0**61 < high


def test_an_empty_release_says_nothing_and_says_so() -> None:
    told = degree_statistics(DegreeData(Profile([], []), runs=((Profile([1], [2]), None), (Profile([], []), None))))
    assert told.nodes_with_edges.interval == (0.0, pytest.approx(1.96 * widening_factor(2) * 2**0.5, abs=0.01))
    assert told.edges.interval[1] > 1
    assert (told.mean_degree.value, told.mean_degree.interval) == (0.0, (0.0, math.inf))
    assert (told.gini.value, told.gini.interval) == (0.0, (0.0, 1.0))
    assert (told.tail.exponent.interval, told.tail.nodes) == ((1.0, math.inf), 0)
    for estimate in (told.mean_degree, told.gini, told.tail.exponent):
        assert any("nothing can be estimated" in warning for warning in estimate.warnings)
    curve = degree_ccdf(Profile([], []))
    assert (curve.x.tolist(), curve.low.tolist(), curve.high.tolist()) == ([1.0], [0.0], [1.0])


def test_nodes_without_an_edge_are_counted_only_where_they_are_known() -> None:
    ring = Profile([2], [6], unit=EDGE)
    listed = Degrees(ring, EdgePolicy(), num_nodes=8)
    assert (mean_degree(listed).value, mean_degree(DegreeData.of(listed).with_edges).value) == (1.5, 2.0)
    assert (gini(listed).value, gini(DegreeData.of(listed).with_edges).value) == (0.25, 0.0)
    assert degree_ccdf(listed, at=[0, 1, 3]).value.tolist() == [1.0, 0.75, 0.0]
    assert degree_ccdf(ring, at=[0, 1, 3]).value.tolist() == [1.0, 1.0, 0.0]
    assert num_nodes(ring).value == 6
    with pytest.raises(UsageError, match="list the nodes"):
        isolated_nodes(ring)


@cache
def graph_of(nodes: int) -> Graph:
    rng = np.random.default_rng(5)
    ends = np.minimum(rng.zipf(1.9, size=(3 * nodes, 2)), nodes)
    return as_graph([(int(u), int(v)) for u, v in ends], nodes=range(1, nodes + 1))


@cache
def release_named(name: str) -> Release:
    asked: dict[str, dict[str, Any]] = {
        "edges": {"privacy": EdgePrivacy(), "mechanism": "partition", "epsilon": 3},
        "public": {"privacy": EdgePrivacy(public_nodes=90), "mechanism": "partition", "epsilon": 3},
        "nodes": {"privacy": NodePrivacy(), "mechanism": BoundedDegrees(4, "cumulative"), "epsilon": 4},
    }
    return release_degrees(graph_of(80), **asked[name], simulations=8, source=SeededSource(7))


def test_numbers_of_a_release_are_those_it_states_itself() -> None:
    edges, public = release_named("edges"), release_named("public")
    assert nodes_with_edges(edges).interval == edges.k_plus(1).interval
    assert isolated_nodes(public).interval == public.prevalence(0).interval
    # A public number has no noise in it, and one of which there are only runs is never exact.
    assert num_nodes(public).interval == (90.0, 90.0)
    assert num_edges(edges).interval[1] >= num_edges(edges).value + 1
    values = [run.n / 2 for run in edges.resimulate()]
    error = float(np.sqrt(np.mean((np.array(values) - edges.profile.n / 2) ** 2)))
    assert num_edges(edges).standard_error == pytest.approx(error)
    assert num_edges(edges).guarantee == edges.guarantee
    curve = degree_ccdf(edges)
    assert bool(np.all((curve.low <= curve.value) & (curve.value <= curve.high)))
    assert (curve.low[0], curve.high[0]) == (1.0, 1.0)
    assert float((curve.high - curve.value)[1:-1].min()) > 0


@pytest.mark.slow
def test_what_bounding_left_out_is_said_not_to_be_in_the_intervals() -> None:
    bounded = release_named("nodes")
    assert all("left out to bound degrees at 4" in each.assumes for _, each in degree_statistics(bounded).by_name())
    assert degree_ccdf(bounded).x.max() <= 4
    assert not any("left out" in each.assumes for _, each in degree_statistics(release_named("edges")).by_name())


@pytest.mark.slow
def test_a_release_that_is_mostly_noise_says_so_in_every_number() -> None:
    drowned = release_degrees(
        graph_of(80),
        privacy=EdgePrivacy(),
        mechanism="partition",
        epsilon="0.05",
        simulations=4,
        source=SeededSource(7),
    )
    assert drowned.mostly_noise
    assert all(any("mostly noise" in one for one in each.warnings) for _, each in degree_statistics(drowned).by_name())


@pytest.mark.parametrize("direction", Direction)
def test_a_release_remembers_what_counted_as_an_edge(direction: Direction) -> None:
    policy = EdgePolicy(direction, self_loops="count")
    graph = as_graph([(1, 2), (2, 2), (3, 1)] * 20, policy=policy)
    made = release_degrees(graph, privacy=EdgePrivacy(), mechanism="partition", epsilon=4, source=SeededSource(7))
    assert released_policy(made) == policy
    assert num_edges(made).value == made.profile.n / (1 if direction.is_directed else 2)


@pytest.mark.parametrize("wrong", [[3, 1], "degrees", None])
def test_what_has_no_degrees_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="Degrees are needed"):
        gini(wrong)


def test_a_release_of_something_else_is_refused() -> None:
    with pytest.raises(UsageError, match="release_degrees"):
        gini(release(Profile([1], [9]), epsilon=1))


@pytest.mark.parametrize("k", [1, 17, 2.0, True])
def test_stars_of_impossible_sizes_are_refused(k: Any) -> None:
    with pytest.raises(UsageError, match="k must be"):
        k_stars(Profile([1], [9]), k=k)


@pytest.mark.parametrize("at", [[2, 1], [-1, 2], [1.5], [[1, 2]]])
def test_degrees_to_look_at_must_ascend(at: Any) -> None:
    with pytest.raises(UsageError, match=r"at must be|whole numbers"):
        degree_ccdf(Profile([1], [9]), at=at)


@pytest.mark.slow
@pytest.mark.parametrize(("exponent", "start"), [(1.5, 1.0), (2.5, 7.0), (3.5, 999.0), (3.5, 1000.0), (19.0, 1200.0)])
def test_the_normalizer_is_the_sum(exponent: float, start: float) -> None:
    terms = start + np.arange(2_000_000)
    # In logs of ratios to the first term: none is too small; beyond the last, the integral.
    beyond = (terms[-1] + 0.5) / (exponent - 1) * (terms[-1] / start) ** -exponent
    total = math.log(float(((terms / start) ** -exponent).sum()) + beyond) - exponent * math.log(start)
    assert log_zeta(np.array([exponent]), np.array([start]))[0] == pytest.approx(total, abs=1e-9)


def power_law(exponent: float, size: int, *, start: int = 1, seed: int) -> NDArray[np.int64]:
    """Draw whole numbers from a power law, exactly, by its own cumulative sums."""
    rng = np.random.default_rng(seed)
    values = np.arange(start, start + 100_000, dtype=np.float64)
    sums = np.cumsum(values**-exponent)
    return start + np.searchsorted(sums, rng.random(size) * sums[-1])


def test_the_exponent_has_the_largest_likelihood() -> None:
    profile = Profile.from_counts(power_law(2.5, 500, seed=1))
    distribution = PowerLaw.of(profile)
    found = float(distribution.exponents(np.array([2.0]))[0])
    tail = profile.counts >= 2

    def likelihood(exponent: float) -> float:
        logs = -exponent * np.log(profile.counts[tail]) - log_zeta(np.array([exponent]), np.array([2.0]))
        return float(logs @ profile.prevalences[tail])

    assert all(likelihood(found) > likelihood(found + step) for step in (-1e-3, -1e-5, 1e-5, 1e-3))
    # The curvature, by the same likelihood.
    curvature = -(likelihood(found + 0.01) - 2 * likelihood(found) + likelihood(found - 0.01)) / 1e-4
    assert distribution.sampling_error(found, 2.0) == pytest.approx(curvature**-0.5, rel=1e-2)


def test_degrees_cut_down_to_a_bound_lead_to_the_same_exponent() -> None:
    degrees = power_law(2.0, 20_000, seed=2)
    cut = Profile.from_counts(np.minimum(degrees, 5))
    bounded = PowerLaw.of(cut, 5)
    error = bounded.sampling_error(2.0, 1.0)
    # Five standard errors: a chance of 6e-7 of being farther off.
    assert abs(float(bounded.exponents(np.ones(1))[0]) - 2.0) < 5 * error < 0.1
    assert abs(float(PowerLaw.of(cut).exponents(np.ones(1))[0]) - 2.0) > 10 * error
    # What was cut says less.
    assert error > PowerLaw.of(Profile.from_counts(degrees)).sampling_error(2.0, 1.0)


@pytest.mark.slow
def test_the_law_is_fitted_from_where_it_begins() -> None:
    mixed = np.concatenate((np.random.default_rng(3).integers(1, 12, 4000), power_law(2.5, 4000, start=12, seed=4)))
    tail = power_law_tail(Profile.from_counts(mixed))
    assert 9 <= tail.min_degree <= 20
    assert tail.exponent.interval[0] <= 2.5 <= tail.exponent.interval[1]
    assert tail.nodes == int((mixed >= tail.min_degree).sum())
    assert tail.distance < 0.03 < power_law_tail(Profile.from_counts(mixed), min_degree=1).distance


@pytest.mark.parametrize(
    "profile",
    # The second is farthest from the distribution right after a degree that occurs: none of the many above it does.
    [Profile.from_counts(power_law(2.2, 300, seed=6)), Profile([3, 4, 900], [100, 40, 1])],
    ids=["distribution", "gap"],
)
def test_the_distance_is_the_largest_difference_at_any_degree(profile: Profile) -> None:
    distribution, at, exponent = PowerLaw.of(profile), np.array([3.0]), np.array([2.4])
    every = np.arange(3, int(profile.counts[-1]) + 2)
    survival = np.exp(log_zeta(exponent, every.astype(float)) - log_zeta(exponent, at))
    difference = np.abs(survival - profile.cumulative_prevalence(every) / profile.k_plus(3)).max()
    assert distribution.distances(exponent, at, most=10_000)[0] == pytest.approx(difference, abs=1e-12)


def test_equal_degrees_have_no_exponent_and_say_so() -> None:
    tail = power_law_tail(Profile([3], [1000]))
    assert tail.exponent.interval[1] == math.inf
    assert any("arbitrarily large" in warning for warning in tail.exponent.warnings)


@pytest.mark.parametrize(("degree", "nodes"), [(1, 100), (1, 5), (5, 100)])
def test_of_equal_degrees_the_interval_begins_where_they_are_likely_enough(degree: int, nodes: int) -> None:
    exponent = power_law_tail(Profile([degree], [nodes]), min_degree=degree).exponent
    low, high = exponent.interval
    assert (exponent.statement.holds, high) == (Holds.AT_LEAST, math.inf)
    assert low < exponent.value
    likely = -low * math.log(degree) - float(log_zeta(np.array([low]), np.array([float(degree)]))[0])
    assert math.exp(nodes * likely) == pytest.approx(0.025, rel=1e-3)


def test_of_few_nodes_no_start_is_chosen() -> None:
    profile = Profile([1, 2, 9], [30, 15, 4])
    exponent = power_law_tail(profile).exponent
    assert (exponent.statement.holds, exponent.interval) == (Holds.NONE, (1.0, math.inf))
    assert "give `min_degree`" in str(exponent)
    assert power_law_tail(profile, min_degree=1).exponent.statement.holds is Holds.BOTH
    # One node more, and it is.
    assert power_law_tail(Profile([1, 2, 9], [31, 15, 4])).exponent.statement.holds is Holds.BOTH


def test_far_from_a_power_law_there_is_no_interval() -> None:
    humps = Profile([1, 2, 50, 51, 52], [10, 900, 300, 400, 300])
    exponent = power_law_tail(humps).exponent
    assert exponent.statement.holds is Holds.NONE
    assert "far from" in exponent.statement.reason
    # What is given is taken on trust: `distance` tells.
    given = power_law_tail(humps, min_degree=1)
    assert given.exponent.statement.holds is Holds.BOTH
    assert given.distance > 0.1


@pytest.mark.slow
def test_every_start_that_may_have_been_chosen_is_a_part_of_the_interval() -> None:
    mixed = np.concatenate((np.random.default_rng(3).integers(1, 8, 280), power_law(2.5, 120, start=8, seed=4)))
    profile = Profile.from_counts(mixed)
    tail = power_law_tail(profile)
    low, high = tail.exponent.interval
    given_low, given_high = power_law_tail(profile, min_degree=tail.min_degree).exponent.interval
    assert low <= given_low < given_high <= high
    assert high - low > 1.2 * (given_high - given_low)
    assert tail.exponent.parts[0][1] > 0


@pytest.mark.parametrize("start", [1.0, 2.0])
def test_ends_of_the_interval_lose_as_much_likelihood_as_stated(start: float) -> None:
    profile = Profile.from_counts(power_law(2.5, 60, seed=8))
    exponent = power_law_tail(profile, min_degree=int(start)).exponent
    reached = profile.counts >= start

    def likelihood(at: float) -> float:
        logs = -at * np.log(profile.counts[reached]) - log_zeta(np.array([at]), np.array([start]))
        return float(logs @ profile.prevalences[reached])

    for end in exponent.interval:
        assert 2 * (likelihood(exponent.value) - likelihood(end)) == pytest.approx(1.959964**2, rel=1e-4)


RUNS = 60


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "bench"))
    return import_module("power_law_intervals")


# Of 60 intervals that hold with 95 %, 50 or more do but once in 10,000 times. The old ones held 62 to 81 %: fewer than
# 50 of 60 with probabilities from 0.41 to 1.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["pure 6", "pure 2.5", "2.5 from 8, 30 %, flat below", "2.8 from 5, all"])
def test_the_choice_of_the_start_is_a_part_of_the_interval(name: str, bench: Any) -> None:
    _, exponent, _, nodes, shares = next(shape for shape in bench.SHAPES if shape[0] == name and shape[3] >= 50)
    rng, p = np.random.default_rng(5), shares()

    def draw() -> Profile:
        return Profile.from_counts(rng.choice(bench.DEGREES, size=nodes, p=p))

    held, said, _ = bench.coverage(draw, exponent, runs=RUNS, min_degree=None)
    assert said["no interval"] <= 6
    assert sum(held) >= 50 - said["no interval"]


HELD: tuple[tuple[str, Callable[[DegreeStatistics], Estimate]], ...] = (
    ("edges", lambda told: told.edges),
    ("mean degree", lambda told: told.mean_degree),
    ("gini", lambda told: told.gini),
    ("wedges", lambda told: told.stars[0][1]),
    ("3-stars", lambda told: told.stars[1][1]),
    ("nodes", lambda told: told.nodes_with_edges),
)
LEVELS = [2, 3, 5, 10]


@cache
def hits() -> dict[str, NDArray[np.bool_]]:
    """Whether each interval held the truth, over releases of new power-law graphs with edge privacy at epsilon = 1."""
    mechanism = EdgeMechanism(PartitionMechanism(1, EDGE), EdgePolicy())
    rng = np.random.default_rng(77)
    found: dict[str, list[bool]] = {}
    for run in range(RUNS):
        truth = Profile.from_counts(np.minimum(power_law(2.5, 400, seed=100 + run), 399), unit=EDGE)
        (drawn,) = mechanism.simulate(truth, size=1, rng=rng)
        data = DegreeData(drawn, runs=tuple((each, None) for each in mechanism.simulate(drawn, size=32, rng=rng)))
        told, exact = degree_statistics(data, min_degree=1), degree_statistics(truth, min_degree=1)
        for name, statistic in HELD:
            low, high = statistic(told).interval
            found.setdefault(name, []).append(low <= statistic(exact).value <= high)
        low, high = told.tail.exponent.interval
        found.setdefault("exponent", []).append(low <= 2.5 <= high)
        curve, exact_curve = degree_ccdf(data, at=LEVELS), degree_ccdf(truth, at=LEVELS)
        for place, level in enumerate(LEVELS):
            held = bool(curve.low[place] <= exact_curve.value[place] <= curve.high[place])
            found.setdefault(f"ccdf {level}", []).append(held)
    return {name: np.array(each) for name, each in found.items()}


# With a chance of 0.93, what a normal interval from 32 runs covers, 60 releases hit fewer than 44 times with a
# probability of 5e-7; the generators are seeded.
@pytest.mark.slow
@pytest.mark.parametrize("name", [*(name for name, _ in HELD), "exponent", *(f"ccdf {level}" for level in LEVELS)])
def test_intervals_hold_the_truth_as_often_as_they_say(name: str) -> None:
    held = hits()[name]
    assert held.size == RUNS
    assert held.sum() >= 44


def test_intervals_hold_the_truth_on_average() -> None:
    assert np.mean([held.mean() for held in hits().values()]) >= 0.91


def test_the_exponent_holds_both_noise_and_sampling() -> None:
    exponent = degree_statistics(release_named("edges"), min_degree=1).tail.exponent
    (_, sampling), (_, noise) = exponent.parts
    assert min(sampling, noise) > 0
    assert exponent.standard_error == pytest.approx(math.hypot(sampling, noise))
    exact = power_law_tail(graph_of(80), min_degree=1).exponent
    assert exact.parts == (("sampling", exact.standard_error),)
