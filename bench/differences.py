"""Intervals of the difference of two releases: how often they hold, and how often a claimed difference is false.

Each cell releases pairs of data sets many times and compares them with ``ah.compare_releases``. Pairs are equal data
and data of two shapes, and the truth is the difference of the data. With ``--of distribution``, pairs are drawn from
one shape or two, and the truth is the difference of the distributions.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

import anonhist as ah
from anonhist.properties.entropy import PlugIn
from anonhist.properties.estimator import value_of
from anonhist.properties.most_frequent import covered_share
from anonhist.properties.power_sum import OrderSum, PlugInSum
from anonhist.properties.share_cost import work_factor
from anonhist.releases.difference import ReleaseDifference
from anonhist.releases.numbers import Key
from ten_shapes import named_shapes, random_shapes

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAIRS = (
    ("Zipf, 1", "Zipf, 1.5"),
    ("uniform", "passwords"),
    ("drawn 2", "trees"),
    ("staircase", "two-step"),
    ("drawn 1", "drawn 3"),
)
EPSILONS = (0.1, 0.5, 1.0, 2.0)
SIZES = (1_000, 10_000)
UNITS = {
    "item": ah.PrivacyUnit.item(),
    "user": ah.PrivacyUnit.user(max_items=5),
    "label": ah.PrivacyUnit.label(max_count=20),
}


def sample(shares: NDArray[np.float64], items: int, rng: np.random.Generator) -> ah.Profile:
    """Draw so many items."""
    return ah.Profile.from_counts(rng.multinomial(items, shares))


def capped(profile: ah.Profile, most: int) -> ah.Profile:
    """Merge counts of so many and more."""
    return ah.Profile.from_counts(np.minimum(profile.partition(), most))


def number_in(profile: ah.Profile, key: Key) -> float:
    """Return the exact number of data."""
    at = int(key.at or 0)
    if key.what == "guessing":
        return float(covered_share(profile, np.array([at]))[0])
    if key.what == "work-factor":
        return work_factor(profile, share=key.at or 0.5, of="data").value
    if key.what == "entropy":
        return value_of(PlugIn(), profile)
    if key.what == "simpson":
        return value_of(PlugInSum(2.0, OrderSum.as_power_sum), profile)
    plain = {"items": profile.n, "labels": profile.num_labels}
    found = plain.get(key.what)
    if found is not None:
        return found
    return profile.k_plus(at) if key.what == "k-plus" else profile.prevalence(at)


def number_of(shares: NDArray[np.float64], key: Key) -> float:
    """Return the exact property of a distribution."""
    p, at = np.sort(shares[shares > 0])[::-1], key.at
    covered = np.append(0.0, np.cumsum(p))
    if key.what == "guessing":
        return float(covered[min(int(at or 0), p.size)])
    if key.what in ("work-factor", "guesswork"):
        work = int(np.searchsorted(covered, (at or 0.5) - 1e-12))
        return work if key.what == "work-factor" else float((1 - covered[:work]).sum())
    if key.what == "support-coverage":
        return float(-np.expm1((at or 1) * np.log1p(-np.minimum(p, 1 - 1e-15))).sum())
    simple: dict[str, Any] = {
        "entropy": -(p * np.log(p)).sum(),
        "simpson": (p**2).sum(),
        "min-entropy": -np.log(p[0]),
        "renyi-entropy": -np.log((p**2).sum()),
        "support-size": p.size,
    }
    if key.what in simple:
        return float(simple[key.what])
    if key.what == "hill-number":
        order = {0: float(p.size), 1: float(np.exp(-(p * np.log(p)).sum())), 2: 1 / float((p**2).sum())}
        return order[int(at or 0)]
    return float("nan")  # the sample coverage is a property of a sample and its source


def check(found: ReleaseDifference, truth: dict[Key, float], cell: Cell) -> None:
    """Count what held."""
    whole, wrong, claims = True, False, 0
    for row in found.rows:
        if not row.has_interval or not np.isfinite(truth[row.key]):
            continue
        slack = 1e-9 * (1 + abs(truth[row.key]))
        low, high = row.difference.interval
        cell.single[row.key.what].append(low - slack <= truth[row.key] <= high + slack)
        low, high = row.together
        holds = low - slack <= truth[row.key] <= high + slack
        whole &= holds
        if not holds:
            cell.missed[row.key.what] += 1
        claims += row.differs
        wrong |= row.differs and abs(truth[row.key]) <= slack
    cell.together.append(whole)
    cell.claimed.append(claims / max(1, found.comparisons))
    cell.wrong.append(wrong)


class Cell:
    """What held in the runs of one cell."""

    def __init__(self) -> None:
        self.single: dict[str, list[bool]] = defaultdict(list)
        self.missed: dict[str, int] = defaultdict(int)
        self.together: list[bool] = []
        self.claimed: list[float] = []
        self.wrong: list[bool] = []

    @property
    def pooled(self) -> NDArray[np.float64]:
        """Whether each interval held, of all numbers together."""
        return np.array([each for held in self.single.values() for each in held], float)


def percent(held: list[bool] | list[float] | NDArray[np.float64], runs: int) -> str:
    """Write a share in percent with its standard error over runs."""
    share = float(np.mean(held))
    return f"{100 * share:.1f} ± {100 * np.sqrt(share * (1 - share) / runs):.1f}"


def main() -> None:
    """Print a row for each cell, then the coverage by number."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--simulations", type=int, default=8)
    parser.add_argument("--epsilon", type=float, nargs="+", default=EPSILONS)
    parser.add_argument("--items", type=int, nargs="+", default=SIZES)
    parser.add_argument("--pairs", type=int, nargs="+", default=range(len(PAIRS)))
    parser.add_argument("--unit", choices=list(UNITS), default="item")
    parser.add_argument("--of", choices=["data", "distribution"], default="data")
    parser.add_argument("--quick", action="store_true", help="few runs of one pair: only to see that it runs")
    asked = parser.parse_args()
    if asked.quick:
        asked.runs, asked.pairs, asked.items, asked.epsilon = 2, [0], [300], [2.0]
    everything, by_number, missed = Cell(), defaultdict(list), defaultdict(int)
    columns = (
        "data",
        "items",
        "ε",
        "each by itself, %",
        "lowest number, %",
        "all at once, %",
        "runs with a false claim, %",
    )
    print(f"| {' | '.join((*columns, 'numbers claimed, %'))} |")
    print("|---|---|---|---|---|---|---|---|")
    # Every pair at one size, then at the next.
    for turn, _ in enumerate(asked.items):
        for place in asked.pairs:
            items = asked.items[(turn + place) % len(asked.items)]
            shapes = {**named_shapes(items // 10), **random_shapes(items // 10)}
            shares = [shapes[name] for name in PAIRS[place]]
            for epsilon in asked.epsilon:
                for kind, cell in _cells(shares, items, epsilon, asked, seed=[place, items]).items():
                    lowest = min(cell.single, key=lambda name: float(np.mean(cell.single[name])))
                    told = f"{PAIRS[place][0]}{f' and {PAIRS[place][1]}' if kind == 'two shapes' else ''}, {kind}"
                    print(
                        f"| {told} | {items:,} | {epsilon:g} | {percent(cell.pooled, asked.runs)} | "
                        f"{lowest} {100 * np.mean(cell.single[lowest]):.1f} | {percent(cell.together, asked.runs)} | "
                        f"{percent(cell.wrong, asked.runs)} | {100 * np.mean(cell.claimed):.0f} |",
                        flush=True,
                    )
                    everything.together += cell.together
                    everything.wrong += cell.wrong
                    for name, held in cell.single.items():
                        by_number[name] += held
                    for name, times in cell.missed.items():
                        missed[name] += times
    print()
    print("| number | by itself, % | misses of the joint interval |")
    print("|---|---|---|")
    for name, held in sorted(by_number.items(), key=lambda pair: float(np.mean(pair[1]))):
        print(f"| {name} | {100 * np.mean(held):.1f} | {missed[name]:,} of {len(held):,} |")
    runs = len(everything.together)
    wrong = percent(everything.wrong, runs)
    print(f"\nAll at once: {percent(everything.together, runs)}; runs with a false claim: {wrong}")


def _cells(shares: list[Any], items: int, epsilon: float, asked: Any, *, seed: list[int]) -> dict[str, Cell]:
    """Return a cell for equal data, or for data drawn anew from one shape, and one for data of two shapes."""
    of_one = "equal data" if asked.of == "data" else "one shape"
    cells = {of_one: Cell(), "two shapes": Cell()}
    unit, rng = UNITS[asked.unit], np.random.default_rng(seed)
    before: ah.Release | None = None
    for _ in range(asked.runs):
        first, other = (sample(each, items, rng) for each in shares)
        again = first if asked.of == "data" else sample(shares[0], items, rng)
        data = [each if unit.max_count is None else capped(each, unit.max_count) for each in (first, again, other)]
        releases = [ah.release(each, epsilon=epsilon, unit=unit, simulations=asked.simulations) for each in data]
        for each in releases:
            # Runs on no data are the same for all: this only saves time.
            if before is not None:
                each.share_runs(before)
        before = releases[0]
        for place, cell in enumerate(cells.values(), start=1):
            found = ah.compare_releases(releases[0], releases[place], of=asked.of)
            keys = [row.key for row in found.rows]
            if asked.of == "data":
                truth = {key: number_in(data[place], key) - number_in(data[0], key) for key in keys}
            else:
                sources = shares[0], shares[place - 1]
                truth = {key: number_of(sources[1], key) - number_of(sources[0], key) for key in keys}
            check(found, truth, cell)
    return cells


if __name__ == "__main__":
    main()
