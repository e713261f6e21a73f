"""What a bound on labels' groups leaves out, and how much of it is shown: ``python bench/cut_groups.py [--quick]``.

Twelve campaigns on 30 days are 360 public groups; each of 40,000 viewers is in some of them, drawn at random, and
counts in at most 20. In the first shape, the one in question, one viewer in ten is in more groups than that. The
other five shapes were written down before any was run. The program reads each shape and releases it R times with ε = 1,
of which 5% go to the excess, up to 10·20 groups of a viewer beyond the bound. "miss" is how many of the 360 intervals
for the reach, φ_{1+}, do not hold the true number of viewers before the bound, and after it: means over the R releases,
with two standard errors. "median" is how far the median group falls short of the truth before the bound. The other
columns are over --runs excesses of the same numbers: how often the intervals held the viewers above the bound, the
pairs (viewer, group) beyond it up to the cap, and the share of viewers; how often at least as many pairs were left out
as "at least" says; and the mean ratio of that number to the pairs that were left out, if any were.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import anonhist as ah
from anonhist.mechanisms import ExcessMechanism
from anonhist.mechanisms.noise import simulated_noise
from anonhist.profiles import Bounded, BoundedUnits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.profiles.grouped import GroupedProfile

    Numbers = Callable[[np.random.Generator, int], NDArray[np.int64]]

CAMPAIGNS, DAYS, VIEWERS, BOUND, CAP = 12, 30, 40_000, 20, 200
GROUPS = [(f"c{campaign:02}", f"2026-11-{day:02}") for campaign in range(CAMPAIGNS) for day in range(1, DAYS + 1)]
EPSILON, SHARE = 1, 0.05
UNIT = ah.PrivacyUnit.label(max_count=1)
NAMES = ("viewers", "pairs to the cap", "share", "at least")


def _one_in_ten(rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    few, many = rng.integers(1, BOUND + 1, size), rng.integers(BOUND + 1, 61, size)
    return np.where(rng.random(size) < 0.1, many, few)


SHAPES: dict[str, Numbers] = {
    "one in ten in 21 to 60 groups": _one_in_ten,
    "nobody beyond the bound": lambda rng, size: rng.integers(1, BOUND + 1, size),
    "everybody in 40": lambda _, size: np.full(size, 40),
    "geometric, mean 8": lambda rng, size: np.minimum(rng.geometric(1 / 8, size), len(GROUPS)),
    "Zipf, 1.8": lambda rng, size: np.minimum(rng.zipf(1.8, size), len(GROUPS)),
    "one in 100 in all groups, the others in 3": lambda rng, size: np.where(rng.random(size) < 0.01, len(GROUPS), 3),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--shape", type=int, help="the number of one shape alone, from 0")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    chosen = parser.parse_args()
    viewers, releases, runs = (200, 2, 20) if chosen.quick else (VIEWERS, chosen.releases, chosen.runs)
    print(f"| shape | miss, before | miss, after | median | {' | '.join(f'held: {name}' for name in NAMES)} | told |")
    print("|---|---|---|---|---|---|---|---|---|")
    for at, (name, numbers) in enumerate(SHAPES.items()):
        if at not in ((0, 1) if chosen.quick else range(len(SHAPES)) if chosen.shape is None else (chosen.shape,)):
            continue
        rng = np.random.default_rng((20_261_126, at))
        table, reach = views(numbers(rng, viewers), rng)
        grouped = ah.read_groups(
            table,
            label="viewer",
            by=["campaign", "day"],
            groups=GROUPS,
            unit=UNIT,
            max_groups_per_label=BOUND,
            count_units=True,
        )
        missed, short = misses(grouped, reach, releases)
        held, told = excesses(grouped.units, runs, rng)
        cells = [*(f"{mean:.1f} ± {2 * error:.1f}" for mean, error in missed), f"{100 * short:.1f}%"]
        cells += [*(f"{rate:.3f}" for rate in held), "–" if told is None else f"{told:.2f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def views(numbers: NDArray[np.int64], rng: np.random.Generator) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """Return a view of each viewer in so many groups, and how many viewers each group has."""
    order = rng.random((numbers.size, len(GROUPS))).argsort(axis=1)
    viewer, group = np.nonzero(order < numbers[:, None])
    campaign, day = (pl.Series([each[part] for each in GROUPS])[group] for part in (0, 1))
    table = pl.DataFrame({"viewer": viewer, "campaign": campaign, "day": day})
    return table, np.bincount(group, minlength=len(GROUPS))


def misses(grouped: GroupedProfile, reach: NDArray[np.int64], releases: int) -> tuple[list[tuple[float, float]], float]:
    """Return how many intervals miss the reach before the bound and after it, and how far the median falls short."""
    kept = np.array([grouped[group].num_labels for group in GROUPS])
    found: list[list[int]] = []
    short = []
    for _ in range(releases):
        released = ah.release_groups(
            grouped, epsilon=EPSILON, excess_share=SHARE, excess_cap=CAP, simulations=0, mechanism="prevalence"
        )
        estimates = [released[group].k_plus(1) for group in GROUPS]
        low, high = np.array([each.interval for each in estimates]).T
        found.append([int(((truth < low) | (truth > high)).sum()) for truth in (reach, kept)])
        short.append(float(np.median([each.value for each in estimates] / np.maximum(reach, 1))) - 1)
    errors = np.std(found, axis=0, ddof=1) / np.sqrt(releases)
    return list(zip(np.mean(found, axis=0).tolist(), errors.tolist(), strict=True)), float(np.mean(short))


def excesses(units: BoundedUnits | None, runs: int, rng: np.random.Generator) -> tuple[list[float], float | None]:
    """Return how often each statement held, and the mean of "at least" over what was left out, if anything was."""
    assert units is not None  # noqa: S101  # they were counted
    mechanism = ExcessMechanism(EPSILON * SHARE, BOUND, CAP, of=Bounded.GROUPS_OF_LABELS)
    left_out, everyone = units.excess(2**62), units.above + units.within
    held, told = [], []
    for _ in range(runs):
        found = mechanism.release_with(units, simulated_noise(rng))
        intervals = [
            (units.above, found.units.interval),
            (units.excess(CAP), found.capped_amount.interval),
            (units.above / everyone, found.share_of_units.interval),
            (left_out, found.amount.interval),
        ]
        held.append([low <= truth <= high for truth, (low, high) in intervals])
        told.append(found.at_least)
    return np.mean(held, axis=0).tolist(), float(np.mean(told)) / left_out if left_out else None


if __name__ == "__main__":
    main()
