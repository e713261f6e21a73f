"""How often 95% intervals of totals of nested groups hold: ``python bench/total_intervals.py [--quick] [--runs R]``.

G groups of one of eight shapes, drawn anew for each group, are released R times. A row has, for φ_{k+} and for φ_k of
all groups together, the share of intervals that hold, over twelve k, and the lowest share for a single k; and the mean
width at k = 1, 20 and 100.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.catalogue import Levels
from anonhist.profiles.grouped import GroupedProfile, total_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Draw = Callable[[np.random.Generator], NDArray[np.int64]]

SHAPES: dict[str, Draw] = {
    "geometric": lambda rng: rng.geometric(0.1, 40),
    "Zipf": lambda rng: np.minimum(rng.zipf(1.6, 300), 5_000),
    "equal counts": lambda rng: np.full(60, rng.integers(20, 40)),
    "few large": lambda rng: rng.integers(500, 3_000, 12),
    "labels of one item": lambda rng: np.ones(rng.integers(1, 200), dtype=np.int64),
    "ones and hundreds": lambda rng: np.append(np.ones(100, dtype=np.int64), rng.integers(100, 200, 30)),
    "tiny": lambda rng: rng.integers(1, 4, rng.integers(1, 4)),
    "even": lambda rng: 2 * rng.geometric(0.05, 80),
}
LEVELS = (1, 2, 3, 5, 8, 12, 20, 30, 40, 100, 200, 1000)
_SHOWN = (1, 20, 100)


def data(draw: Draw, groups: int) -> GroupedProfile:
    """Return groups on two levels."""
    rng = np.random.default_rng(5)
    names = sorted((str(at % 3), f"{at:04d}") for at in range(groups))
    profiles = {name: ah.Profile.from_counts(draw(rng).tolist()) for name in names}
    return GroupedProfile(("part", "group"), profiles, unit=ah.PrivacyUnit.item(), levels=Levels.NESTED)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="few small groups, to see that it runs")
    options = parser.parse_args()
    runs, many, shapes = (2, (3,), ["tiny"]) if options.quick else (options.runs, (3, 24), list(SHAPES))
    print("| shape | groups | ε | φ_{k+} holds (least) | widths | φ_k holds (least) | widths |\n|" + "---|" * 7)
    for shape, groups, epsilon in (
        (shape, groups, epsilon) for shape in shapes for groups in many for epsilon in ("0.3", "2")
    ):
        grouped = data(SHAPES[shape], groups)
        truth = total_of(grouped.values())
        found = np.zeros((2, 2, runs, len(LEVELS)))
        for run in range(runs):
            total = ah.release_groups(grouped, epsilon=epsilon, mechanism="frobenius", simulations=0)[()]
            for at, k in enumerate(LEVELS):
                for which, (known, told) in enumerate(
                    ((truth.k_plus(k), total.k_plus(k)), (truth.prevalence(k), total.prevalence(k)))
                ):
                    low, high = told.interval
                    found[which, :, run, at] = low <= known <= high, high - low
        cells = []
        for held, widths in found:
            shares = 100 * held.mean(axis=0)
            cells.append(f"{shares.mean():.1f}% ({shares.min():.0f}%)")
            cells.append(", ".join(f"{widths.mean(axis=0)[LEVELS.index(k)]:,.0f}" for k in _SHOWN))
        print(f"| {shape} | {groups} | {epsilon} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
