"""How often 95% intervals of smoothed releases hold: ``python bench/smoothed_intervals.py [--quick]``.

Releases are of degrees with node privacy, with the largest degree as θ, so that no edge is left out, and of private
sketches. Each is released again and again; the intervals are for φ_{k+} and single φ_r at ten levels. "width" is the
mean half width of an interval over the smallest half width around the released number that would have held the truth in
95% of the runs (at least 1). A second table has all shapes together: the mean of the means, the lowest of all shares,
and the range of the widths.
``--only node|sketch`` runs one part. The shapes are those of ten_shapes.py, on which nothing was tuned.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import anonhist as ah
from anonhist.graphs import EdgePolicy, Graph
from graph_accuracy import read
from ten_shapes import random_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

LEVELS = 10
REAL = ("ca_grqc", "polblogs", "p2p_gnutella31")
METHODS = ("survival", "cumulative", "histogram")
NODE_EPSILONS = ("0.5", "1", "8")
SKETCH_EPSILONS = ("0.3", "1", "4")
LABELS, ITEMS, NODES, EDGES = 20_000, 100_000, 4_000, 12_000


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=("node", "sketch"))
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--shapes", nargs="+", help="only these")
    parser.add_argument("--epsilon", nargs="+", help="only these")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.runs, chosen.shapes, chosen.epsilon = 2, ["geometric", "drawn 0"], ["1"]
    print("| what | shape | ε | k+: mean, least | φ: mean, least | width k+ | width φ | s |")
    print("|---|---|---|---|---|---|---|---|")
    rows: list[Row] = []
    if chosen.only != "sketch":
        rows += node_rows(chosen)
    if chosen.only != "node":
        rows += sketch_rows(chosen)
    print("\n| what | ε | shapes | k+: mean, least | φ: mean, least | width k+ | width φ |")
    print("|---|---|---|---|---|---|---|")
    for what, epsilon in dict.fromkeys((row.what, row.epsilon) for row in rows):
        same = [row for row in rows if (row.what, row.epsilon) == (what, epsilon)]
        means, least, widths = (np.array([getattr(row, name) for row in same]) for name in ("means", "least", "widths"))
        held = [f"{mean:.3f}, {low:.2f}" for mean, low in zip(means.mean(axis=0), least.min(axis=0), strict=True)]
        wide = [f"{low:.1f}–{high:.1f}" for low, high in zip(widths.min(axis=0), widths.max(axis=0), strict=True)]
        print(f"| {what} | {epsilon} | {len(same)} | {' | '.join(held + wide)} |")


class Row(NamedTuple):
    """Of one shape at one ε, of φ_{k+} and of φ_r: mean and least share of runs that hold, median width."""

    what: str
    epsilon: str
    means: list[float]
    least: list[float]
    widths: list[float]


def node_rows(chosen: argparse.Namespace) -> Iterator[Row]:
    """Real graphs, and random ones whose expected degrees are as the drawn shapes."""
    graphs: dict[str, Callable[[], Graph]] = {name: lambda name=name: read(name) for name in REAL}
    graphs |= {name: lambda shares=shares: chung_lu(shares) for name, shares in random_shapes(NODES).items()}
    for name, make in graphs.items():
        if chosen.shapes and name not in chosen.shapes:
            continue
        graph = make()
        truth = graph.degree_profile().profile
        for method in METHODS:
            how = ah.graphs.BoundedDegrees(max_degree=int(truth.counts[-1]), method=method)
            asked = {"privacy": ah.graphs.NodePrivacy(), "mechanism": how}
            for epsilon in chosen.epsilon or NODE_EPSILONS:
                release = partial(ah.graphs.release_degrees, graph, **asked, epsilon=epsilon)
                yield row(f"node {method}", name, epsilon, partial(_beside, truth, release), chosen.runs)


def sketch_rows(chosen: argparse.Namespace) -> Iterator[Row]:
    """Counters of labels that share them, and of a domain."""
    rng = np.random.default_rng(7)
    shapes: dict[str, Callable[[], NDArray[np.int64]]] = {
        "geometric": lambda: rng.geometric(0.1, LABELS),
        "Zipf(2)": lambda: np.minimum(rng.zipf(2, LABELS), 10**6),
        "all ones": lambda: np.ones(LABELS, dtype=np.int64),
        "1 and 20": lambda: np.where(rng.random(LABELS) < 0.5, 1, 20),
        "1 to 50": lambda: rng.integers(1, 51, LABELS),
    }
    shapes |= {
        name: lambda shares=shares: rng.multinomial(ITEMS, shares) for name, shares in random_shapes(LABELS).items()
    }
    for name, draw in shapes.items():
        if chosen.shapes and name not in chosen.shapes:
            continue
        for is_hashed in (True, False):
            for epsilon in chosen.epsilon or SKETCH_EPSILONS:
                run = partial(release_of_sketch, draw, epsilon, rng, is_hashed=is_hashed)
                yield row("hashed sketch" if is_hashed else "domain sketch", name, epsilon, run, chosen.runs)


def _beside(truth: ah.Profile, release: Callable[[], ah.Release]) -> tuple[ah.Profile, ah.Release]:
    return truth, release()


def release_of_sketch(
    draw: Callable[[], NDArray[np.int64]], epsilon: str, rng: np.random.Generator, *, is_hashed: bool
) -> tuple[ah.Profile, ah.Release]:
    """Return the profile of counts, and what is read from a sketch of them."""
    counts = draw()
    size = counts.size
    if is_hashed:
        sketch: ah.sketches.Sketch = ah.sketches.HashedSketch(buckets=2 * size, epsilon=epsilon, key=b"any")
        np.add.at(sketch.counters, rng.integers(2 * size, size=size), counts)
    else:
        sketch = ah.sketches.DomainSketch(alphabet=map(str, range(size)), epsilon=epsilon)
        sketch.counters[:] += counts
    return ah.Profile.from_counts(counts[counts > 0]), sketch.reconstruct()


def row(what: str, shape: str, epsilon: str, run: Callable[[], tuple[ah.Profile, ah.Release]], runs: int) -> Row:
    """Print how often intervals held, and how wide they were."""
    held, widths, off = [], [], []
    levels = None
    begun = time.perf_counter()
    for _ in range(runs):
        truth, release = run()
        if levels is None:
            # Up to where few labels are left: beyond, all say the same.
            most = int(truth.counts[np.searchsorted(-truth.cumulative_prevalence(truth.counts), -3, side="right") - 1])
            levels = np.unique(np.rint(np.geomspace(1, max(most, 2), LEVELS)).astype(np.int64)).tolist()
        of_run = []
        expected = [*map(truth.k_plus, levels), *map(truth.prevalence, levels)]
        for (value, low, high), true in zip(intervals_of(release, levels), expected, strict=True):
            of_run.append((low <= true <= high, (high - low) / 2, abs(value - true)))
        for kept, column in zip((held, widths, off), zip(*of_run, strict=True), strict=True):
            kept.append(column)
    took = (time.perf_counter() - begun) / runs
    share = np.mean(held, axis=0).reshape(2, -1)
    needed = np.maximum(1, np.quantile(np.array(off), 0.95, axis=0, method="higher"))
    wide = np.median((np.mean(widths, axis=0) / needed).reshape(2, -1), axis=1)
    found = Row(what, epsilon, share.mean(axis=1).tolist(), share.min(axis=1).tolist(), wide.tolist())
    cells = [f"{mean:.3f}, {low:.2f}" for mean, low in zip(found.means, found.least, strict=True)]
    cells += [f"{each:.1f}" for each in found.widths]
    print(f"| {what} | {shape} | {epsilon} | {' | '.join(cells)} | {took:.2f} |", flush=True)
    return found


def intervals_of(release: ah.Release, levels: list[int]) -> list[tuple[float, float, float]]:
    """Return φ_{k+}, then φ_r, at all levels, each with both ends of its interval."""
    if release.evidence is None or release.evidence.prevalences is None:
        found = [*map(release.k_plus, levels), *map(release.prevalence, levels)]
        return [(each.value, *each.interval) for each in found]
    # What these estimates show, without the simulations that other numbers of a release rest on.
    values = [*map(release.profile.k_plus, levels), *map(release.profile.prevalence, levels)]
    ends = [band.at(levels) for band in (release.evidence.band, release.evidence.prevalences)]
    low, high = (np.concatenate([each[side] for each in ends]) for side in (0, 1))
    return [
        (value, min(value, least), max(value, most))
        for value, least, most in zip(values, low.tolist(), high.tolist(), strict=True)
    ]


def chung_lu(shares: NDArray[np.float64]) -> Graph:
    """Return a random graph whose nodes have edges about in proportion to these shares."""
    rng = np.random.default_rng(7)
    ends = rng.choice(shares.size, size=(2, EDGES), p=shares)
    pairs = np.unique(np.sort(ends[:, ends[0] != ends[1]], axis=0), axis=1)
    return Graph(pairs[0], pairs[1], np.arange(shares.size, dtype=np.uint64), EdgePolicy(), nodes_listed=True)


if __name__ == "__main__":
    main()
