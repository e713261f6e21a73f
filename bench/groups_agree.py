"""What it changes that totals and groups of crossing levels agree. Run as ``python bench/groups_agree.py``.

Each run releases all levels with equal shares of ε, for items, as ``release --by --levels crossing`` does, and moves
the numbers until they agree. Rows are paired: the difference is the mean over runs of the error after minus that
before, ± its standard error. ``contradicted`` is the share of relations that did not hold before; after, all hold.
Intervals are for k+ counts at k = 1, 2, 5, 10 and 50 and for the number of items. A second table has the norm in which
profiles are projected: the squared distance Σ_g Σ_k (φ_{g,k+} − truth)² over all levels, and Σ_g (n_g − truth)².

- hierarchies, in which each label lies in one leaf, so totals are sums of groups;
- "items at random": the pages of Kosarak, each item in one of eight groups, so that most labels are in several;
- "two of three": 600 items of 100 labels in two groups, ε = 0.5.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.catalogue import Levels
from anonhist.profiles.grouped import GroupedProfile
from anonhist.releases.agreement import curve_of, distance, projected
from anonhist.releases.relations import Design
from bundled import DATA
from hierarchies import level_names, read_leaves, with_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anonhist.releases.grouped import GroupedRelease
    from hierarchies import Node, Nodes

LAYOUTS = ("trees by quadrat", "pages at random", "items at random", "two of three")
EPSILONS = ("4", "1", "0.3")
_AT = (1, 2, 5, 10, 50)


def shared_out(counts: Sequence[int], groups: int, rng: np.random.Generator) -> Nodes:
    """Put each item of each label into one of some groups at random; return their profiles and that of all."""
    parts = np.array([rng.multinomial(count, np.full(groups, 1 / groups)) for count in counts])
    leaves: Nodes = {(f"{at}",): ah.Profile.from_counts(parts[:, at]) for at in range(groups)}
    return {(): ah.Profile.from_counts(counts), **leaves}


def layout(name: str, rng: np.random.Generator) -> tuple[Nodes, tuple[str, ...]]:
    """Return the true profiles of all levels, and the names of the levels."""
    if name == "items at random":
        pages = ah.read_profile(DATA / "kosarak_clicks.csv").partition()
        return shared_out(pages.tolist(), 8, rng), ("all", "group")
    if name == "two of three":
        return shared_out(rng.multinomial(600, np.full(100, 0.01)).tolist(), 2, rng), ("all", "group")
    return with_sums(read_leaves(name)), level_names(name)


def grouped(nodes: Nodes) -> GroupedProfile:
    """Return the profiles as if they had been read on crossing levels, for items."""
    depth, unit = max(map(len, nodes)), ah.PrivacyUnit.item()
    columns = tuple(f"column {at}" for at in range(depth))

    def level(length: int) -> dict[Node, ah.Profile]:
        return {node: each for node, each in nodes.items() if len(node) == length}

    above = tuple(GroupedProfile(columns[:length], level(length), unit=unit) for length in range(depth))
    return GroupedProfile(columns, level(depth), unit=unit, levels=Levels.CROSSING, above=above)


def errors(release: GroupedRelease, nodes: Nodes, depth: int) -> tuple[float, float, float]:
    """Return mean sorted ℓ1 errors and errors of n over the groups of a level, and the share of intervals that hold."""
    held, off, items = [], [], []
    for node, each in release.level(depth).items():
        truth = nodes[node]
        off.append(float(ah.properties.sorted_l1(truth, each.profile)))
        items.append(abs(truth.n - each.n))
        pairs = [(each.k_plus(k), truth.k_plus(k)) for k in _AT] + [(each.num_items(), truth.n)]
        held += [found.interval[0] <= true <= found.interval[1] for found, true in pairs]
    return float(np.mean(off)), float(np.mean(items)), float(np.mean(held))


def norms(raw: GroupedRelease, agreed: GroupedRelease, nodes: Nodes, design: Design) -> list[float]:
    """Return the squared distance of curves before, after the projections and in whole numbers, and that of n twice."""
    # Levels have equal shares of ε, so equal weights.
    weights = [1.0] * len(design.levels)
    before, after = ({node: curve_of(each.profile) for node, each in one.everything.items()} for one in (raw, agreed))
    truth = {node: curve_of(nodes[node]) for node in before}
    curves = [distance(each, truth, weights) for each in (before, projected(design, before, weights), after)]
    items = [sum((each.n - nodes[node].n) ** 2 for node, each in one.everything.items()) for one in (raw, agreed)]
    return [*curves, *map(float, items)]


def mean_of(measured: NDArray[np.float64]) -> str:
    """Return a mean with its standard error."""
    return f"{measured.mean():+,.1f} ± {measured.std(ddof=1) / measured.size**0.5:,.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=LAYOUTS, choices=LAYOUTS)
    parser.add_argument("--epsilon", nargs="*", default=EPSILONS)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.only, options.epsilon = 2, LAYOUTS[-1:], ("1",)
    rng = np.random.default_rng()
    print(
        "| layout | ε | level | error before | difference | error of n before | difference | contradicted | intervals |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    in_norm = []
    for name in options.only:
        nodes, names = layout(name, rng)
        data = grouped(nodes)
        design = Design(data.groups, data.unit)
        for epsilon in options.epsilon:
            found, broken, distances = [], [], []
            for _ in range(options.runs):
                raw = ah.release_groups(data, epsilon=epsilon, consistent=False)
                agreed = raw.consistent()
                drawn = {node: each.profile for node, each in raw.everything.items()}
                broken.append(np.mean([not relation.holds(drawn) for relation in design.relations]))
                distances.append(norms(raw, agreed, nodes, design))
                found.append([[errors(each, nodes, at) for at in range(len(names))] for each in (raw, agreed)])
            before, after = np.swapaxes(np.array(found), 0, 1)
            change = after - before
            spread = change.std(axis=0, ddof=1) / options.runs**0.5
            for at, level in enumerate(names):
                cells = [
                    f"{before[:, at, what].mean():,.1f} | {change[:, at, what].mean():+,.2f} ± {spread[at, what]:,.2f}"
                    for what in (0, 1)
                ]
                held = f"{before[:, at, 2].mean():.1%} to {after[:, at, 2].mean():.1%}"
                print(
                    f"| {name} | {epsilon} | {level} | {' | '.join(cells)} | {np.mean(broken):.0%} | {held} |",
                    flush=True,
                )
            curves, moved, whole, items, adjusted = np.array(distances).T
            told = f"{curves.mean():,.0f} | {mean_of(moved - curves)} | {mean_of(whole - curves)} | {items.mean():,.0f}"
            farther = f"{int((moved > curves * (1 + 1e-9)).sum())} of {options.runs}"
            in_norm.append(f"| {name} | {epsilon} | {told} | {mean_of(adjusted - items)} | {farther} |")
    columns = "curves before", "projected", "in whole numbers", "n before", "after", "runs projected farther away"
    print(
        f"\n| layout | ε | {' | '.join(columns)} |\n|---|---|---|---|---|---|---|---|", *in_norm, sep="\n", flush=True
    )
    nodes = shared_out(
        rng.multinomial(3_000 if options.quick else 3_000_000, np.full(1000, 0.001)).tolist(), 3_000, rng
    )
    raw = ah.release_groups(grouped(nodes), epsilon=1, consistent=False, simulations=0)
    start = time.process_time()
    raw.consistent()
    seconds = time.process_time() - start
    print(f"\n3,000 groups of about {nodes[()].n // 3000:,} items: {seconds:.1f} seconds of one processor")


if __name__ == "__main__":
    main()
