"""Errors of estimates of labels in more draws, and how often intervals hold: ``python bench/extrapolation.py``.

The first part uses real data whose truth is known: it forecasts all labels from a part of the items, chosen at random.
The second part uses the ten drawn shapes of ``ten_shapes.py`` and ten further shapes: it prints errors for m = 1.5n to
20n, and how often the default's interval holds, from data and from a release. Errors are root mean squares relative to
the truth, with two standard errors over data sets or shapes. "falls" counts samples in which a method's estimate is
lower for more draws.
"""

from __future__ import annotations

import argparse
import gzip
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.profiles import Profile
from anonhist.properties.support_coverage import _extrapolate
from anonhist.properties.unseen_labels import GoodToulmin, Mixture, SmoothedBinomialB
from bundled import DATA, PROFILES, read_bundled
from ten_shapes import random_shapes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PARTS = (2, 4, 10, 20)
TIMES = (1.5, 2, 2.5, 5, 10, 20)


def series(profile: Profile, draws: int) -> float:
    """Return the series of Good and Toulmin up to 2n draws, the best smoothing beyond."""
    return (GoodToulmin if draws <= 2 * profile.n else SmoothedBinomialB)(draws).value(profile)


def inext(profile: Profile, draws: int) -> float:
    """Return Chao's bound as iNEXT extrapolates it."""
    return float(_extrapolate(profile, np.array([float(draws - profile.n)]))[0])


METHODS: dict[str, Callable[[Profile, int], float]] = {
    "mixture": lambda profile, draws: Mixture(draws).value(profile),
    "series": series,
    "iNEXT": inext,
}


def real(*, is_quick: bool) -> dict[str, Profile]:
    """Return the bundled data that are complete samples."""
    if is_quick:
        return {"bci_trees": read_bundled("bci_trees")}
    found = {name: read_bundled(name) for name in PROFILES}
    found["kosarak_clicks"] = ah.read_profile(DATA / "kosarak_clicks.csv")
    for graph in ("ca_grqc", "p2p_gnutella31", "wiki_vote"):
        with gzip.open(DATA / f"graph_{graph}.txt.gz", "rt", encoding="utf-8") as lines:
            ends = np.loadtxt(lines, dtype=np.int64, comments="#")
        # Ends of edges are the items, and nodes are the labels.
        found[f"ends of {graph}"] = Profile.from_counts(np.unique(ends, return_counts=True)[1])
    return found


def print_real(runs: int, rng: np.random.Generator, *, is_quick: bool) -> None:
    print("| data | part | " + " | ".join(METHODS) + " |\n|---|---:|" + "---:|" * len(METHODS))
    by_part: dict[int, list[list[float]]] = {part: [] for part in PARTS}
    for name, profile in real(is_quick=is_quick).items():
        counts = np.repeat(profile.counts, profile.prevalences)
        for part in PARTS:
            off = []
            for _ in range(runs if profile.n < 10**6 else 1):
                drawn = rng.binomial(counts, 1 / part)
                sample = Profile.from_counts(drawn[drawn > 0])
                off.append([method(sample, profile.n) / profile.num_labels - 1 for method in METHODS.values()])
            errors = np.sqrt(np.mean(np.square(off), axis=0))
            by_part[part].append(errors.tolist())
            print(f"| {name} | 1/{part} | " + " | ".join(f"{100 * each:.2f}%" for each in errors) + " |", flush=True)
    for part, rows in by_part.items():
        print(f"| mean | 1/{part} | " + " | ".join(mean_and_error(np.array(rows))) + " |")


def mean_and_error(rows: NDArray[np.float64]) -> list[str]:
    """Return the mean of each column with two standard errors, in percent."""
    errors = 2 * rows.std(axis=0, ddof=1) / len(rows) ** 0.5 if len(rows) > 1 else np.zeros(rows.shape[1])
    return [f"{100 * mean:.1f} ± {100 * error:.1f}%" for mean, error in zip(rows.mean(axis=0), errors, strict=True)]


def print_shapes(labels: int, items: int, runs: int, seed: int, *, is_quick: bool) -> None:
    shapes = random_shapes(labels) | random_shapes(labels, first=10)
    errors: dict[float, list[list[float]]] = {times: [] for times in TIMES}
    held: dict[float, list[float]] = {times: [] for times in TIMES}
    falls = np.zeros(len(METHODS))
    for place, p in enumerate(list(shapes.values())[: 2 if is_quick else None]):
        rng = np.random.default_rng([seed, place])
        samples = [Profile.from_counts(rng.multinomial(items, p)) for _ in range(runs)]
        draws = [round(times * items) for times in TIMES]
        truth = np.array([-np.expm1(each * np.log1p(-p)).sum() for each in draws])
        values = np.array([[[method(s, m) for m in draws] for s in samples] for method in METHODS.values()])
        falls += (np.diff(values, axis=2) < 0).any(axis=2).mean(axis=1) / len(shapes)
        for at, times in enumerate(TIMES):
            errors[times].append(np.sqrt(np.mean((values[:, :, at] / truth[at] - 1) ** 2, axis=1)).tolist())
            found = [ah.properties.support_coverage(s, draws=draws[at]).interval for s in samples]
            held[times].append(float(np.mean([low <= truth[at] <= high for low, high in found])))
    print(f"\n{labels:,} labels, {items:,} items, {runs} samples of each shape\n")
    print("| m/n | " + " | ".join(METHODS) + " | interval holds, mean, least |\n|---:|" + "---:|" * (len(METHODS) + 1))
    for times in TIMES:
        cells = mean_and_error(np.array(errors[times]))
        cells.append(f"{100 * np.mean(held[times]):.1f}%, {100 * min(held[times]):.0f}%")
        print(f"| {times:g} | " + " | ".join(cells) + " |", flush=True)
    print("| falls | " + " | ".join(f"{100 * each:.0f}%" for each in falls) + " | |")


def print_releases(labels: int, items: int, runs: int, seed: int, *, is_quick: bool) -> None:
    print(f"\nReleased at ε = 1, {labels:,} labels, {items:,} items, {runs} releases of each shape\n")
    print("| m/n | mixture | series | interval holds, mean, least |\n|---:|---:|---:|---:|")
    shapes = random_shapes(labels) | random_shapes(labels, first=10)
    times = TIMES[:2] if is_quick else (1.5, 2, 5)
    errors: dict[float, list[list[float]]] = {each: [] for each in times}
    held: dict[float, list[float]] = {each: [] for each in times}
    for place, p in enumerate(list(shapes.values())[: 2 if is_quick else None]):
        rng = np.random.default_rng([seed, place])
        samples = [Profile.from_counts(rng.multinomial(items, p)) for _ in range(runs)]
        kept = [ah.release(sample, epsilon=1, simulations=8) for sample in samples]
        for each in times:
            # The truth for as many draws as the release, which knows no other n.
            off, holds = [], []
            for release in kept:
                draws = round(each * release.profile.n)
                truth = float(-np.expm1(draws * np.log1p(-p)).sum())
                found = ah.properties.support_coverage(release, draws=draws)
                off.append([found.value / truth - 1, SmoothedBinomialB(draws).value(release.profile) / truth - 1])
                holds.append(found.interval[0] <= truth <= found.interval[1])
            errors[each].append(np.sqrt(np.mean(np.square(off), axis=0)).tolist())
            held[each].append(float(np.mean(holds)))
    for each in times:
        cells = mean_and_error(np.array(errors[each]))
        print(f"| {each:g} | {' | '.join(cells)} | {100 * np.mean(held[each]):.1f}%, {100 * min(held[each]):.0f}% |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    runs = 2 if options.quick else options.runs
    print_real(min(runs, 5), np.random.default_rng(options.seed), is_quick=options.quick)
    for labels, items in ((1000, 1000), (10_000, 3000)):
        print_shapes(labels, items, runs, options.seed, is_quick=options.quick)
    print_releases(1000, 3000, runs, options.seed, is_quick=options.quick)


if __name__ == "__main__":
    main()
