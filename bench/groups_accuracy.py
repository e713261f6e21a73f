"""Errors of groups and of their sums at each level, by ways to spend ε. Run as ``python bench/groups_accuracy.py``.

Figures are mean sorted ℓ1 errors ± their standard errors over simulated runs on public profiles, averaged over the
groups of a level, or over the leaves of a size. All levels of a run come from the same leaves, so errors of sums are
errors of these sums.

- released together: each leaf gets the whole ε, fits lose the bias that they share, and higher levels are sums, as in
  ``release --by --levels nested``;
- leaves summed: the same, but each leaf is fitted on its own;
- even split: each level is a release of its own with an equal share of ε; levels do not add up;
- Kuo et al.: their method Hc with an equal share of ε for each level, then matching and merging (``kuo.py``).
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.mechanisms import choose
from hierarchies import NAMES, level_names, read_leaves, with_sums
from kuo import simulate_kuo

if TYPE_CHECKING:
    from collections.abc import Callable

    from hierarchies import Nodes

EPSILONS = ("3", "1", "0.3", "0.1")
SIZES = (100, 1000, 10_000)


def released_together(nodes: Nodes, epsilon: str, runs: int, rng: np.random.Generator) -> list[Nodes]:
    """Return runs of: each leaf with the whole budget, fitted together."""
    depth = max(map(len, nodes))
    mechanism = choose(epsilon=epsilon, unit=ah.PrivacyUnit.item())[0]
    leaves = {node: leaf for node, leaf in nodes.items() if len(node) == depth}
    found = mechanism.simulate_each([*leaves.values()], size=runs, rng=rng)
    return [with_sums(dict(zip(leaves, run, strict=True))) for run in found]


def leaves_summed(nodes: Nodes, epsilon: str, runs: int, rng: np.random.Generator) -> list[Nodes]:
    """Return runs of: each leaf with the whole budget."""
    depth = max(map(len, nodes))
    mechanism = choose(epsilon=epsilon, unit=ah.PrivacyUnit.item())[0]
    leaves = {node: mechanism.simulate(leaf, size=runs, rng=rng) for node, leaf in nodes.items() if len(node) == depth}
    return [with_sums({node: found[run] for node, found in leaves.items()}) for run in range(runs)]


def even_split(nodes: Nodes, epsilon: str, runs: int, rng: np.random.Generator) -> list[Nodes]:
    """Return runs of: a release of each level, with an equal share of the budget."""
    share = Fraction(epsilon) / (max(map(len, nodes)) + 1)
    mechanism = choose(epsilon=share, unit=ah.PrivacyUnit.item())[0]
    found = {node: mechanism.simulate(profile, size=runs, rng=rng) for node, profile in nodes.items()}
    return [{node: each[run] for node, each in found.items()} for run in range(runs)]


def kuo(nodes: Nodes, epsilon: str, runs: int, rng: np.random.Generator) -> list[Nodes]:
    """Return runs of the method of Kuo et al."""
    return [with_sums(simulate_kuo(nodes, epsilon, rng)) for _ in range(runs)]


WAYS: dict[str, Callable[[Nodes, str, int, np.random.Generator], list[Nodes]]] = {
    "released together": released_together,
    "leaves summed": leaves_summed,
    "even split": even_split,
    "Kuo et al.": kuo,
}


def classes(name: str, nodes: Nodes) -> dict[str, list[tuple[str, ...]]]:
    """List the nodes of each column of the table: levels, then leaves by their number of items."""
    names = level_names(name)
    found = {names[length]: [node for node in nodes if len(node) == length] for length in range(len(names))}
    leaves = found[names[-1]]
    ends = (0, *SIZES)
    for least, most in zip(ends, SIZES, strict=False):
        found[f"n ≤ {most:,}"] = [node for node in leaves if least < nodes[node].n <= most]
    found["larger"] = [node for node in leaves if nodes[node].n > SIZES[-1]]
    return {title: some for title, some in found.items() if some}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=NAMES, choices=NAMES, help="these hierarchies")
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--epsilon", nargs="*", default=EPSILONS)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.only, options.epsilon = 2, NAMES[:1], ("3",)
    rng = np.random.default_rng()
    for name in options.only:
        nodes = with_sums(read_leaves(name))
        columns = classes(name, nodes)
        print(f"\n#### {name}: {nodes[()].n:,} items, {nodes[()].num_labels:,} labels\n")
        heads = [f"{title} ({len(some):,})" for title, some in columns.items()]
        print(f"| ε | way | {' | '.join(heads)} |\n|---|---{'|---' * len(heads)}|")
        for epsilon in options.epsilon:
            for way in options.ways:
                errors = [
                    [
                        np.mean([ah.properties.sorted_l1(nodes[node], run[node]) for node in some])
                        for some in columns.values()
                    ]
                    for run in WAYS[way](nodes, epsilon, options.runs, rng)
                ]
                means, spreads = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1) / options.runs**0.5
                cells = [show(mean, spread) for mean, spread in zip(means, spreads, strict=True)]
                print(f"| {epsilon} | {way} | {' | '.join(cells)} |", flush=True)


def show(mean: float, spread: float) -> str:
    """Write a mean and its standard error."""
    digits = 0 if mean >= 1000 else 1 if mean >= 10 else 2
    return f"{mean:,.{digits}f} ± {spread:,.{digits}f}"


if __name__ == "__main__":
    main()
