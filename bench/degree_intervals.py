"""How often intervals of degree statistics hold: ``python bench/degree_intervals.py [--runs 80] [--node-runs 20]``.

Releases are made by the default mechanism with edge privacy (number of nodes unknown, and public), and with node
privacy (`cumulative`, θ = 16). The intervals are for the curve of P(D ≥ r) and the number of nodes of at least a
degree, at up to twelve degrees where they change, and for the single numbers. With node privacy, the truth is that of
the degrees after edges were left out, because the intervals are for these degrees.

The first four graphs have few different degrees, or were the first for which intervals did not hold; the others were
listed before any of them was measured. Shares have two standard errors beside them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.graphs import Graph, project
from anonhist.graphs.degree_data import DegreeData
from anonhist.releases import ReleaseError
from graph_accuracy import barabasi_albert, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Edges = Iterable[tuple[int, int]]
    # By graph, privacy and ε, what was found of each statistic.
    Found = dict[tuple[str, str, str], dict[str, "Held"]]

EPSILONS = ("0.1", "0.5", "1", "2")
PRIVACIES = ("edge", "edge, nodes public", "node")
MAX_DEGREE = 16
LEVELS = 12
NUMBERS: dict[str, Callable[[DegreeData], ah.Estimate]] = {
    "edges": ah.graphs.num_edges,
    "mean degree": ah.graphs.mean_degree,
    "Gini": ah.graphs.gini,
    "nodes": ah.graphs.num_nodes,
    "2-stars": ah.graphs.k_stars,
    "3-stars": lambda data: ah.graphs.k_stars(data, k=3),
}


@dataclass
class Held:
    """Of one statistic: of each release, in which share it held, and in which it was above or below the truth."""

    held: list[float] = field(default_factory=list)
    above: list[float] = field(default_factory=list)
    below: list[float] = field(default_factory=list)

    def add(self, low: np.ndarray, true: np.ndarray, high: np.ndarray) -> None:
        """Add a release."""
        slack = 1e-9 * np.abs(true)
        is_above, is_below = low > true + slack, high < true - slack
        self.above.append(float(is_above.mean()))
        self.below.append(float(is_below.mean()))
        self.held.append(1 - self.above[-1] - self.below[-1])


def named_graphs() -> dict[str, Callable[[], Graph]]:
    """Return the four that were named, then those that were listed before any was measured."""
    return {
        "30 stars of 20": lambda: graph_of((21 * hub, 21 * hub + leaf) for hub in range(30) for leaf in range(1, 21)),
        "40 cliques of 16": lambda: graph_of(cliques(40, 16)),
        "6-regular": lambda: graph_of((node, (node + step) % 1000) for node in range(1000) for step in (1, 2, 3)),
        "ca-GrQc": lambda: read("ca_grqc"),
        "grid": lambda: graph_of(grid(30)),
        "complete bipartite": lambda: graph_of((one, 20 + other) for one, other in product(range(20), range(50))),
        "Erdős–Rényi": lambda: graph_of(erdos_renyi(1000, 0.006)),
        "caveman": lambda: graph_of(caveman(50, 8)),
        "Barabási–Albert": lambda: barabasi_albert(1000, 3, seed=1),
        "path": lambda: graph_of((node, node + 1) for node in range(999)),
        "matching": lambda: graph_of((2 * pair, 2 * pair + 1) for pair in range(500)),
        "polblogs": lambda: read("polblogs"),
        "Facebook": lambda: read("facebook_combined"),
    }


def graph_of(edges: Edges) -> Graph:
    """Return a graph whose nodes are listed: all that have an edge."""
    pairs = list(edges)
    return ah.graphs.as_graph(pairs, nodes=sorted({node for pair in pairs for node in pair}))


def cliques(many: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(0, many * size, size):
        yield from combinations(range(first, first + size), 2)


def grid(side: int) -> Iterator[tuple[int, int]]:
    for row, column in product(range(side), range(side)):
        node = side * row + column
        if column + 1 < side:
            yield node, node + 1
        if row + 1 < side:
            yield node, node + side


def erdos_renyi(nodes: int, chance: float) -> Iterator[tuple[int, int]]:
    rng = np.random.default_rng(1)
    yield from (pair for pair in combinations(range(nodes), 2) if rng.random() < chance)


def caveman(many: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the edges of cliques in a ring: one edge of each leads to the next clique instead."""
    for first in range(0, many * size, size):
        for pair in combinations(range(first, first + size), 2):
            yield (first, (first + size + 1) % (many * size)) if pair == (first, first + 1) else pair


def measure(graph: Graph, epsilon: str, runs: dict[str, int], found: Callable[[str], dict[str, Held]]) -> None:
    """Run the default mechanisms again and again, and add how often what is said holds."""
    rng, degrees = np.random.default_rng([1, int(1000 * float(epsilon))]), graph.degree_profile()
    unknown, public = (
        ah.graphs.EdgePrivacy(nodes)
        .prepare(graph.policy, nodes_listed=True, epsilon=epsilon, mechanism="auto")
        .mechanism
        for nodes in (None, graph.num_nodes)
    )
    truth = DegreeData(degrees.profile)
    for run, evidence in unknown.central.simulate_with_evidence(degrees.profile, size=runs["edge"], rng=rng):
        told = DegreeData(run, unknown.policy, error=ReleaseError.without_runs(evidence))
        add(told, truth, found("edge"))
        # The same noise, and what a public number of nodes rules out.
        possible = public._possible(run)  # noqa: SLF001
        told = DegreeData(
            possible,
            public.policy,
            graph.num_nodes - possible.num_labels,
            error=ReleaseError.without_runs(public.evidence(evidence)),
            nodes_reach=0,
        )
        add(told, replace(truth, zeros=0), found("edge, nodes public"))
    bounded = project(graph, MAX_DEGREE)
    truth = DegreeData(ah.Profile.from_counts(bounded[bounded > 0]), zeros=int((bounded == 0).sum()))
    how = ah.graphs.BoundedDegrees(MAX_DEGREE, "cumulative")
    for _ in range(runs["node"]):
        released = ah.release_degrees(graph, privacy=ah.graphs.NodePrivacy(), mechanism=how, epsilon=epsilon)
        # Bands do not hang on runs of the mechanism.
        add(DegreeData.of(replace(released, simulations=0)), truth, found("node"))


def add(told: DegreeData, truth: DegreeData, found: dict[str, Held]) -> None:
    """Add whether what is said of one release holds."""
    counts = truth.profile.counts
    levels = np.unique(np.concatenate((np.maximum(counts - 1, 1), counts, counts + 1)))
    levels = levels[np.unique(np.rint(np.geomspace(1, levels.size, min(levels.size, LEVELS))).astype(int)) - 1]
    low, high = told.error.k_plus_interval(told.profile, levels)
    found["k+"].add(low, truth.profile.cumulative_prevalence(levels), high)
    curve = ah.graphs.degree_ccdf(told, at=levels)
    found["curve"].add(curve.low, ah.graphs.degree_ccdf(truth, at=levels).value, curve.high)
    for name, statistic in NUMBERS.items():
        interval, true = statistic(told).interval, statistic(truth).value
        found[name].add(*(np.array([each]) for each in (interval[0], true, interval[1])))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=80)
    parser.add_argument("--node-runs", type=int, default=20)
    parser.add_argument("--only", nargs="+", help="only these graphs")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    chosen = parser.parse_args()
    epsilons, wanted = EPSILONS, chosen.only or list(named_graphs())
    if chosen.quick:
        epsilons, wanted, chosen.runs, chosen.node_runs = ("1",), ["path"], 2, 2
    runs = {"edge": chosen.runs, "node": chosen.node_runs}
    found: Found = defaultdict(lambda: defaultdict(Held))
    for name in wanted:
        graph = named_graphs()[name]()
        for epsilon in epsilons:
            measure(graph, epsilon, runs, lambda privacy, at=(name, epsilon): found[at[0], privacy, at[1]])
    print_tables(found, wanted, epsilons)


def print_tables(found: Found, wanted: Sequence[str], epsilons: Sequence[str]) -> None:
    """Print how often statistics hold: by graph, by ε, and on which side they miss."""
    names = ["k+", "curve", *NUMBERS]
    print("| graph | privacy |", " | ".join(names), "|")
    print("|---|---|" + "---|" * len(names))
    for name, privacy in product(wanted, PRIVACIES):
        print(f"| {name} | {privacy} |", row([found[name, privacy, epsilon] for epsilon in epsilons], names))
    print("\n| privacy | ε |", " | ".join(names), "|")
    print("|---|---|" + "---|" * len(names))
    for privacy, epsilon in product(PRIVACIES, epsilons):
        print(f"| {privacy} | {epsilon} |", row([found[name, privacy, epsilon] for name in wanted], names))
    print("\n| statistic | holds | above the truth | below it | least of one graph |")
    print("|---|---|---|---|---|")
    for what in names:
        sides = {side: [x for each in found.values() for x in getattr(each[what], side)] for side in Held().__dict__}
        means = {
            f"{name}, {privacy}": np.mean([x for epsilon in epsilons for x in found[name, privacy, epsilon][what].held])
            for name, privacy in product(wanted, PRIVACIES)
        }
        worst = min(means, key=lambda one: means[one])
        shown = " | ".join(cell(sides[side]) for side in ("held", "above", "below"))
        print(f"| {what} | {shown} | {100 * means[worst]:.1f} ({worst}) |")


def row(together: Sequence[dict[str, Held]], names: Sequence[str]) -> str:
    """Return the cells of a row."""
    return " | ".join(cell([share for each in together for share in each[what].held]) for what in names) + " |"


def cell(shares: list[float]) -> str:
    """Return a mean with two standard errors, in percent."""
    every = 100 * np.array(shares)
    return f"{every.mean():.1f} ± {2 * every.std(ddof=1) / every.size**0.5:.1f}"


if __name__ == "__main__":
    main()
