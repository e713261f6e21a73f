"""Errors of released degree distributions, on real graphs. Run as ``python bench/graph_accuracy.py``.

Real releases of public data are compared with the truth, by the sorted ℓ1 distance of the degree lists, and by the
relative error of the number of nodes with at least a degree, averaged over degrees (evenly spread on a log scale up to
the largest). Each mean has its standard error beside it. ``--only edge|node|barabasi`` runs one part.
"""

from __future__ import annotations

import argparse
import gzip
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.graphs import Graph, project
from anonhist.properties.most_frequent import log_grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anonhist import Profile, Release
    from anonhist.graphs import BoundedDegrees, EdgePrivacy, NodePrivacy

DATA = Path(__file__).parent.parent / "data"
GRAPHS = ("facebook_combined", "ca_grqc", "wiki_vote", "p2p_gnutella31", "polblogs")
EPSILONS = ("0.1", "0.25", "0.5", "1", "2", "4")
NODE_EPSILONS = ("0.1", "0.5", "1", "2", "4")
HAY = "isotonic"
EDGE = ("auto", HAY, "frobenius", "partition", "privhist", "cumulative", "prevalence", "bounded-partition")
# Node privacy: (method, largest degree, how edges are left out).
NODE: tuple[tuple[str, int | str, str], ...] = (
    ("cumulative", "auto", "projection"),
    ("cumulative", "auto", "flow"),
    ("survival", "auto", "projection"),
    ("partition", "auto", "projection"),
    ("partition", "auto", "flow"),
    ("histogram", "auto", "projection"),
    ("cumulative", 64, "projection"),
    ("cumulative", 64, "flow"),
)
# Means of a prototype of this project on another graph drawn so: cumulative histograms, the largest degree given as 64.
PROTOTYPE = {"2": 8484, "1": 9069, "0.5": 9958}
PROTOTYPE_BIAS = {8: 48126, 16: 29588, 32: 16486, 64: 7974}
MARKS = 200


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("edge", "node", "barabasi"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=GRAPHS)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    chosen = parser.parse_args()
    if chosen.quick:
        graph = barabasi_albert(50, 2, seed=1)
        edge_table({"Barabási–Albert": graph}, ("1",), 2)
        node_table({"Barabási–Albert": graph}, ("1",), 2)
        barabasi_table(graph, 2)
        return
    graphs = {name: read(name) for name in chosen.graphs}
    if chosen.only in (None, "edge"):
        edge_table(graphs, EPSILONS, chosen.runs)
    if chosen.only in (None, "node"):
        node_table(graphs, NODE_EPSILONS, chosen.runs)
    if chosen.only in (None, "barabasi"):
        barabasi_table(barabasi_albert(10_000, 5, seed=1), max(chosen.runs, 40))


def edge_table(graphs: Mapping[str, Graph], epsilons: Sequence[str], runs: int) -> None:
    """Edge privacy: every mechanism for profiles, beside the isotonic baseline of Hay et al."""
    print("## Edge privacy: sorted l1 ± standard error (relative CCDF error), ratio of Hay's to it\n")
    worst = np.inf
    for name, graph in graphs.items():
        degrees, nodes = graph.degree_profile(), graph.num_nodes
        print(f"### {name}: {nodes:,} nodes, {graph.num_edges:,} edges\n")
        print("| epsilon |", " | ".join([*EDGE, "auto, nodes not public"]), "| Hay/auto |")
        print("|---|" + "---|" * (len(EDGE) + 2))
        for epsilon in epsilons:
            errors: dict[str, np.ndarray] = {}
            for mechanism in EDGE:
                found = measure_errors(degrees, ah.graphs.EdgePrivacy(nodes), mechanism, epsilon, runs)
                if found is not None:
                    errors[mechanism] = found
            unknown = measure_errors(degrees, ah.graphs.EdgePrivacy(), "auto", epsilon, runs)
            ratio, spread = ratio_of(errors[HAY][:, 0], errors["auto"][:, 0])
            worst = min(worst, ratio - 2 * spread)
            cells = [cell_text(errors.get(mechanism)) for mechanism in EDGE]
            print(
                f"| {epsilon} |",
                " | ".join([*cells, cell_text(unknown)]),
                f"| {ratio:.2f} ± {spread:.2f} |",
                flush=True,
            )
        print()
    print(f"Least ratio of Hay's error to that of auto, less two standard errors: {worst:.2f}\n")


def node_table(graphs: Mapping[str, Graph], epsilons: Sequence[str], runs: int) -> None:
    """Node privacy: every method, the choice of the largest degree paid for."""
    print("## Node privacy: sorted l1 ± standard error (relative CCDF error)\n")
    for name, graph in graphs.items():
        print(f"### {name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges\n")
        heads = [f"{method} {bound} {bounding}" for method, bound, bounding in NODE]
        print("| epsilon |", " | ".join(heads), "|")
        print("|---|" + "---|" * len(NODE))
        for epsilon in epsilons:
            cells = []
            for method, bound, bounding in NODE:
                how = ah.graphs.BoundedDegrees(bound, method, bounding)
                cells.append(cell_text(measure_errors(graph, ah.graphs.NodePrivacy(), how, epsilon, runs)))
            print(f"| {epsilon} |", " | ".join(cells), "|", flush=True)
        print()


def barabasi_table(graph: Graph, runs: int) -> None:
    """Node privacy on a Barabási–Albert graph, beside the figures of a prototype."""
    degrees = graph.degrees()
    print(f"## Barabási–Albert: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, largest degree {degrees.max()}\n")
    truth = ah.Profile.from_counts(degrees)
    for bound, theirs in PROTOTYPE_BIAS.items():
        bias = ah.properties.sorted_l1(truth, ah.Profile.from_counts(project(graph, bound)))
        print(f"bias of the projection to {bound}: {bias:,} (a prototype, on another such graph: {theirs:,})")
    print("\n| epsilon | prototype, 64 | cumulative, 64 | largest degree chosen and paid | chosen, flow |")
    print("|---|---|---|---|---|")
    for epsilon, theirs in PROTOTYPE.items():
        cells = [
            cell_text(measure_errors(graph, ah.graphs.NodePrivacy(), how, epsilon, runs))
            for how in (
                ah.graphs.BoundedDegrees(64, "cumulative"),
                ah.graphs.BoundedDegrees("auto", "cumulative"),
                ah.graphs.BoundedDegrees("auto", "cumulative", "flow"),
            )
        ]
        print(f"| {epsilon} | {theirs:,} |", " | ".join(cells), "|", flush=True)
    print()


def measure_errors(
    graph: object, privacy: EdgePrivacy | NodePrivacy, mechanism: str | BoundedDegrees, epsilon: str, runs: int
) -> np.ndarray | None:
    """Return (sorted ℓ1, relative CCDF error) of some releases, shape (runs, 2); None where it is not made for that."""
    truth = graph.degree_profile().profile if isinstance(graph, Graph) else graph.profile
    found = []
    for _ in range(runs):
        try:
            released = ah.release_degrees(graph, privacy=privacy, mechanism=mechanism, epsilon=epsilon)
        except ah.UsageError:
            return None
        found.append((ah.properties.sorted_l1(truth, released.profile), ccdf_error(truth, released)))
    return np.array(found, dtype=float)


def ccdf_error(truth: Profile, released: Release) -> float:
    """Return the mean of ``|φ̃_{r+} − φ_{r+}| / φ_{r+}``."""
    marks = np.array(log_grid(int(truth.counts[-1]), points=MARKS), dtype=np.int64)
    exact = truth.cumulative_prevalence(marks)
    return float(np.mean(np.abs(released.profile.cumulative_prevalence(marks) - exact) / exact))


def ratio_of(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Return the ratio of two means and its standard error, to first order."""
    ratio = first.mean() / second.mean()
    shares = [each.std(ddof=1) / each.size**0.5 / each.mean() for each in (first, second)]
    return float(ratio), float(ratio * np.hypot(*shares))


def cell_text(found: np.ndarray | None) -> str:
    """Return mean, standard error and relative error as text."""
    if found is None:
        return "–"
    spread = found[:, 0].std(ddof=1) / found.shape[0] ** 0.5
    return f"{found[:, 0].mean():,.0f} ± {spread:,.0f} ({found[:, 1].mean():.3f})"


def read(name: str) -> Graph:
    """Return a graph without directions whose nodes are listed: all that have an edge."""
    path = DATA / f"graph_{name}.txt.gz"
    with gzip.open(path, "rt") as file:
        names = sorted({name for line in file for name in line.split()[:2]})
    return ah.read_edges(path, nodes=names)


def barabasi_albert(nodes: int, edges: int, *, seed: int) -> Graph:
    """Return a graph to which nodes are added one by one, each with edges to others in proportion to their degrees."""
    rng = np.random.default_rng(seed)
    ends: list[int] = []
    pairs: list[tuple[str, str]] = []
    targets = list(range(edges))
    for node in range(edges, nodes):
        pairs.extend((str(target), str(node)) for target in targets)
        ends.extend([*targets, *[node] * edges])
        picked: set[int] = set()
        while len(picked) < edges:
            picked.add(ends[rng.integers(len(ends))])
        targets = list(picked)
    return ah.graphs.as_graph(pairs, nodes=map(str, range(nodes)))


if __name__ == "__main__":
    begin = time.perf_counter()
    main()
    print(f"{time.perf_counter() - begin:.0f} s")
