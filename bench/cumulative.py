"""Errors of cumulative windows by mechanism: predicted, and measured on shapes to which nothing was tuned.

``python bench/cumulative.py [--quick]``. The first table has the largest standard error of a number at ε = 1, computed
from the noise alone. "subtraction" is a tree over time as published by others: it has levels of one fan-out (the best
of 2 to 60), even shares of ε and no level above the first, and takes the running sum that needs fewer terms, up from
its start or down from the end of its block. The second table has the mean absolute error of released numbers, over
thresholds and days, with its standard error over runs, and how often intervals held.
"""

from __future__ import annotations

import argparse
import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.window_mechanism import moved
from anonhist.mechanisms.window_release import WINDOW_MECHANISMS, prepare_cumulative
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.window_mechanism import WindowMechanism

THRESHOLDS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20)
UNITS = {"label": PrivacyUnit.label(max_count=20), "item": PrivacyUnit.item()}
LABELS, VIEWS = 5_000, 40_000


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    chosen = parser.parse_args()
    names = list(WINDOW_MECHANISMS)
    print(f"| unit | days | thresholds | subtraction | {' | '.join(names)} | auto |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, unit in UNITS.items():
        for days in (7, 30) if chosen.quick else (7, 30, 90, 365):
            for many in (1, 5, 10):
                errors = {each: made(each, unit, many, days, "1").worst for each in names}
                cells = " | ".join(f"{error:,.1f}" for error in errors.values())
                told = f"{subtraction(unit, many, days):,.1f} | {cells} | {min(errors, key=lambda each: errors[each])}"
                print(f"| {name} | {days} | {many} | {told} |", flush=True)
    print(f"\n| shape | days | ε | {' | '.join(names)} | intervals held |")
    print("|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(20_261_124)
    for days in (7,) if chosen.quick else (30, 365):
        for shape, counts in shapes(days, rng).items():
            for epsilon in ("1",) if chosen.quick else ("0.1", "1"):
                found = [
                    measured(made(each, UNITS["label"], len(THRESHOLDS), days, epsilon), counts, chosen)
                    for each in names
                ]
                cells = " | ".join(f"{error:,.2f} ± {spread:.2f}" for error, spread, _ in found)
                held = " / ".join(f"{rate:.3f}" for *_, rate in found)
                print(f"| {shape} | {days} | {epsilon} | {cells} | {held} |", flush=True)


def made(name: str, unit: PrivacyUnit, thresholds: int, days: int, epsilon: str) -> WindowMechanism:
    """Return a mechanism with the best width and share."""
    relation = NeighboringRelation.ADD_OR_REMOVE
    return prepare_cumulative(
        epsilon=epsilon, unit=unit, relation=relation, mechanism=name, thresholds=thresholds, days=days
    )[0]


def subtraction(unit: PrivacyUnit, thresholds: int, days: int) -> float:
    """Return the largest standard error of a tree with subtraction, with the best fan-out."""
    far = moved(unit, thresholds=thresholds, intervals=days)
    found = []
    for fan_out in range(2, min(days, 60) + 1):
        levels = math.ceil(math.log(days) / math.log(fan_out) - 1e-9)
        worst = max(_terms(day, fan_out, levels) for day in range(1, days + 1))
        found.append(math.sqrt(2 * worst) * levels * far)
    return min(found)


@cache
def _terms(length: int, fan_out: int, level: int) -> int:
    """Return how few blocks of this level and below add up to so many days from the start, or back from the end."""
    if not length:
        return 0
    if not level:
        raise ValueError("There are no blocks shorter than a day.")
    width = fan_out ** (level - 1)
    whole, rest = divmod(length, width)
    if not rest:
        return whole
    return whole + min(_terms(rest, fan_out, level - 1), 1 + _terms(width - rest, fan_out, level - 1))


def shapes(days: int, rng: np.random.Generator) -> dict[str, CumulativeCounts]:
    """Return exact counts of made-up campaigns: how views fall on viewers, and on days."""
    uneven = 1 / np.arange(1, LABELS + 1) ** 0.8
    even = np.ones(LABELS)
    time = np.linspace(0, 1, days)
    found = {
        "uneven viewers, steady": (uneven, np.ones(days)),
        "uneven viewers, early burst": (uneven, np.exp(-12 * time)),
        "even viewers, late start": (even, (time > 0.7) + 1e-9),
        "even viewers, single days": (even, (rng.random(days) < 0.1) + 1e-3),
    }
    return {
        name: _counts(
            days, rng.choice(LABELS, VIEWS, p=viewers / viewers.sum()), rng.choice(days, VIEWS, p=p / p.sum())
        )
        for name, (viewers, p) in found.items()
    }


def _counts(days: int, viewers: NDArray[np.int64], on: NDArray[np.int64]) -> CumulativeCounts:
    running = np.zeros((LABELS, days), dtype=np.int64)
    np.add.at(running, (viewers, on), 1)
    reached = np.cumsum(running, axis=1)
    k_plus = np.array([(reached >= k).sum(axis=0) for k in THRESHOLDS])
    names = tuple(f"day {day:03}" for day in range(days))
    return CumulativeCounts(THRESHOLDS, names, np.diff(k_plus, axis=1, prepend=0))


def measured(
    mechanism: WindowMechanism, counts: CumulativeCounts, chosen: argparse.Namespace
) -> tuple[float, float, float]:
    """Return the mean absolute error, its standard error, and how often intervals held."""
    errors, held = [], []
    for _ in range(2 if chosen.quick else chosen.runs):
        release = mechanism.release(counts)
        errors.append(float(np.abs(release.values - counts.k_plus).mean()))
        held.append(float(((release.lows <= counts.k_plus) & (counts.k_plus <= release.highs)).mean()))
    return float(np.mean(errors)), float(np.std(errors) / math.sqrt(len(errors))), float(np.mean(held))


if __name__ == "__main__":
    main()
