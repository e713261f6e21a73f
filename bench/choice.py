"""The automatic choice beside both central mechanisms: run as ``python bench/choice.py [--data DIR]``.

It simulates on public profiles, one per file: every ``.csv`` file of the directory whose header is
``count,prevalence`` or ``label,count``. A cell is marked if the choice errs more than the better mechanism by over two
standard errors. A second table sums this up for each epsilon: it has geometric means of ratios, and the number of
profiles on which one mechanism is better than the other by over two standard errors of the difference.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import geometric_mean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import anonhist as ah
from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism, choose
from bundled import runs_of

if TYPE_CHECKING:
    from anonhist.mechanisms import CentralMechanism

DATA = Path(__file__).parent.parent / "data"
EPSILONS = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.8", "1", "1.1", "1.5", "2", "3", "4")


def measure_error(
    mechanism: CentralMechanism, profile: ah.Profile, *, runs: int, seconds: float
) -> tuple[float, float]:
    """Return the mean error and its standard error, of fewer runs than asked for where those would take longer."""
    rng, errors, start = np.random.default_rng(), list[int](), time.perf_counter()
    while len(errors) < runs and (len(errors) < 4 or time.perf_counter() - start < seconds):
        size = max(2, min(runs - len(errors), 4 * len(errors)))
        errors.extend(ah.properties.sorted_l1(profile, run) for run in runs_of(mechanism, profile, size=size, rng=rng))
    return float(np.mean(errors)), float(np.std(errors, ddof=1)) / len(errors) ** 0.5


def exceeds(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Tell whether one mean is above another by over two standard errors."""
    return one[0] - other[0] > 2 * (one[1] ** 2 + other[1] ** 2) ** 0.5


class Comparison(NamedTuple):
    """Mean errors on one profile, each with its standard error."""

    frobenius: tuple[float, float]
    partition: tuple[float, float]
    chosen: tuple[float, float]

    @property
    def excess(self) -> float:
        """The error of the choice, over that of the better mechanism."""
        best = min(self.frobenius[0], self.partition[0])
        return self.chosen[0] / best if best else 1.0


def print_summary(comparisons: dict[str, list[Comparison]]) -> None:
    """Print one column for each epsilon."""
    each = list(comparisons.values())
    ratios = [
        [one.partition[0] / one.frobenius[0] for one in some if one.frobenius[0] and one.partition[0]] for some in each
    ]
    rows = {
        "partition / Frobenius": [f"{geometric_mean(some):.2f}" for some in ratios],
        "Frobenius better": [sum(exceeds(one.partition, one.frobenius) for one in some) for some in each],
        "partition better": [sum(exceeds(one.frobenius, one.partition) for one in some) for some in each],
        "auto / better": [f"{geometric_mean(one.excess for one in some):.3f}" for some in each],
    }
    print(f"\n| ε | {' | '.join(comparisons)} |\n|---|{'---|' * len(comparisons)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(map(str, cells))} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--epsilon", nargs="*", default=EPSILONS)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5, help="for the runs of a mechanism at one epsilon")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.only, options.epsilon, options.runs = "trees", ("0.5", "2"), 4
    print("| profile | items | Durfee size | ε | Frobenius | partition | auto / better | worse |")
    print("|---|---|---|---|---|---|---|---|")
    comparisons: dict[str, list[Comparison]] = {epsilon: [] for epsilon in options.epsilon}
    for path in sorted(options.data.glob("*.csv")):
        if options.only not in path.name:
            continue
        try:
            profile = ah.read_profile(path)
        except ah.errors.UsageError:
            print(f"{path.name} is no table of labels and counts, so it is left out.", file=sys.stderr)
            continue
        for epsilon in options.epsilon:
            found = {
                kind(epsilon).name: measure_error(kind(epsilon), profile, runs=options.runs, seconds=options.seconds)
                for kind in (FrobeniusMechanism, PartitionMechanism)
            }
            chosen = choose(epsilon=epsilon, unit=profile.unit)[0].name
            comparison = Comparison(found["frobenius"], found["partition"], found[chosen])
            comparisons[epsilon].append(comparison)
            mark = "WORSE" if exceeds(comparison.chosen, min(found.values())) else ""
            cells = " | ".join(f"{mean:,.1f} ± {error:,.1f}" for mean, error in found.values())
            shown = f"{path.stem} | {profile.n:,} | {profile.durfee_size:,} | {epsilon} | {cells}"
            print(f"| {shown} | {comparison.excess:.2f} | {mark} |", flush=True)
    print_summary(comparisons)


if __name__ == "__main__":
    main()
