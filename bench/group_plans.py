"""Predicted errors of groups beside measured ones: ``python bench/group_plans.py [--quick] [--runs R]``.

Groups are drawn from each shape of ``ten_shapes.py``. Their errors are predicted from the number of items alone, and
from the numbers of items and of labels. A cell has the range, over all shapes, of the mean error of R releases divided
by the predicted error: first with the prediction from items, then with the prediction from both numbers.
"""

from __future__ import annotations

import argparse

import numpy as np

import anonhist as ah
from anonhist.mechanisms import GroupSize, choose, plan_groups
from intervals import data

EPSILONS = ("0.1", "0.3", "1", "3")
SIZES = (10, 100, 1_000, 10_000, 100_000)
UNITS = {
    "items": ah.PrivacyUnit.item(),
    "users with at most 5 items in all groups": ah.PrivacyUnit.user(max_items=5),
    "labels counted up to 20 times in at most 7 groups": ah.PrivacyUnit.label(max_count=20, groups=7),
}


def ratios(
    profile: ah.Profile, unit: ah.PrivacyUnit, epsilon: str, runs: int, simulations: int | None
) -> tuple[float, float]:
    """Return the measured error over each prediction."""
    mechanism, _ = choose(epsilon=epsilon, unit=unit)
    truth = mechanism.admit(profile.with_unit(unit))
    drawn = mechanism.simulate(truth, size=runs, rng=np.random.default_rng())
    measured = np.mean([float(ah.properties.sorted_l1(truth, run)) for run in drawn])
    sizes = {("items",): GroupSize(profile.n), ("both",): GroupSize(profile.n, profile.num_labels)}
    planned = plan_groups(sizes, by=["known"], epsilon=epsilon, unit=unit, simulations=simulations)
    # Errors below an item are not told apart.
    first, second = ((measured + 1) / (row.sorted_l1.value + 1) for row in planned)
    return float(first), float(second)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--epsilons", nargs="*", default=EPSILONS)
    parser.add_argument(
        "--units", nargs="*", choices=("items", "users", "labels"), default=("items", "users", "labels")
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--quick", action="store_true", help="a few small groups, to see that it runs")
    options = parser.parse_args()
    # By default, as many as a plan takes by itself.
    simulations = 2 if options.quick else None
    if options.quick:
        options.runs, options.sizes, options.epsilons = 2, (10,), ("1",)
    for name, unit in UNITS.items():
        if name.split()[0] not in options.units:
            continue
        print(f"\n{name.capitalize()}: measured over predicted error, from items; from items and labels\n")
        print("| items in a group | " + " | ".join(f"ε = {epsilon}" for epsilon in options.epsilons) + " |")
        print("|---|" + "---|" * len(options.epsilons))
        for size in options.sizes:
            cells = []
            for epsilon in options.epsilons:
                shapes = [profile for _, profile in data(size, "all")]
                found = [ratios(profile, unit, epsilon, options.runs, simulations) for profile in shapes]
                sides = [f"{min(side):.2f} to {max(side):.2f}" for side in zip(*found, strict=True)]
                cells.append("; ".join(sides))
            print(f"| {size:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
