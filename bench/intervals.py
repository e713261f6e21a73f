"""How often the 95% intervals of releases hold: ``python bench/intervals.py [--quick] [--items N …] [--runs R]``.

Data are drawn once from each shape of ``ten_shapes.py``, then released again and again with the automatic choice. Each
cell gives, over at most ten k, the lowest share of releases whose interval for φ_{k+} holds the truth; the same for
φ_r, over at most ten r; the largest ratio of the width of intervals for φ_{k+} to the shortest width that would hold;
and the stated expected error over the mean error, with a mark if the mean error is outside of the stated range.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from release_cells import Cell, measure_cells
from ten_shapes import SEED, named_shapes, random_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

EPSILONS = ("0.01", "0.1", "0.5", "1", "2", "4")


def data(items: int, which: str) -> Iterator[tuple[str, ah.Profile]]:
    """Yield a name and a profile of so many items for each shape."""
    labels = max(10, round(4 * items**0.55))
    shapes = {
        **(named_shapes(labels) if which != "drawn" else {}),
        **(random_shapes(labels) if which != "named" else {}),
    }
    for number, (name, shares) in enumerate(shapes.items()):
        counts = np.random.default_rng([SEED, items, number]).multinomial(items, shares)
        yield name, ah.Profile.from_counts(counts[counts > 0])


def cell_text(cell: Cell) -> str:
    """Write a cell of the table."""
    mark = "" if cell.in_range else " !"
    k_plus, single = cell.k_plus, cell.prevalences
    held = f"{100 * k_plus.held.min():.0f}%, {100 * single.held.min():.0f}%"
    return f"{held}, {np.max(k_plus.width / k_plus.shortest):.1f}×, {_ratio(cell):.2f}{mark}"


def _ratio(cell: Cell) -> float:
    return cell.said / max(cell.actual[0], 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--error-runs", type=int, default=20)
    parser.add_argument("--items", type=int, nargs="*", default=(1_000, 100_000))
    parser.add_argument("--epsilons", nargs="*", default=EPSILONS)
    parser.add_argument("--shapes", choices=["named", "drawn", "all"], default="all")
    parser.add_argument("--mechanism", default="auto")
    parser.add_argument("--quick", action="store_true", help="a few releases of small data, to see that it runs")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.error_runs, options.items, options.epsilons = 2, 1, (100,), ("1",)
    for items in options.items:
        print(f"\n{items:,} items, {options.runs} releases\n")
        print("| shape | " + " | ".join(f"ε = {epsilon}" for epsilon in options.epsilons) + " |")
        print("|---|" + "---|" * len(options.epsilons))
        cells: list[Cell] = []
        for name, profile in data(items, options.shapes):
            row = [
                measure_cells(
                    profile,
                    epsilon,
                    runs=options.runs,
                    error_runs=options.error_runs,
                    mechanism=options.mechanism,
                )
                for epsilon in options.epsilons
            ]
            cells += row
            print(f"| {name} | " + " | ".join(map(cell_text, row)) + " |", flush=True)
        print()
        for name in ("k_plus", "prevalences"):
            levels = np.concatenate([getattr(cell, name).held for cell in cells])
            hold = np.mean(levels >= 0.92)
            print(f"{name}: {hold:.1%} of {levels.size} levels hold in 92 % or more, {levels.mean():.1%} on average.")
        within = np.mean([cell.in_range for cell in cells])
        print(f"{within:.1%} of {len(cells)} mean errors are in the range that is said.")


if __name__ == "__main__":
    main()
