"""The smoother fit of legs beside the first one. Run as ``python bench/leg_refit.py``.

Errors are paired: both fits are given the same noise. Above ln 3 the partition mechanism draws a profile, whose legs
stand for the first fit; its stated error is that of runs, eight here. Shapes are bundled data, made-up ones, and ones
that were not looked at while the fit was made (``--held-out``).
"""

from __future__ import annotations

import argparse
from collections import Counter
from fractions import Fraction
from time import process_time

import numpy as np
from numpy.typing import NDArray

import anonhist as ah
from anonhist.mechanisms import PartitionMechanism
from anonhist.mechanisms.frobenius.mechanism import CoordinateNoise
from anonhist.mechanisms.frobenius.posterior import posterior_medians
from anonhist.mechanisms.legs.refit import refitted
from anonhist.mechanisms.noise import simulated_noise
from anonhist.profiles import FrobeniusCoordinates, sorted_l1
from bundled import DATA, read_bundled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def shapes() -> dict[str, ah.Profile]:
    """List the shapes: bundled data, and shapes that are not smooth, or small."""
    rng = np.random.default_rng(1)
    zipf = rng.zipf(1.5, 20_000).clip(1, 20_000)
    listed = {name: read_bundled(name) for name in ("pw_rockyou", "pw_phpbb", "pw_myspace", "bci_trees")}
    listed["kosarak_clicks"] = ah.read_profile(DATA / "kosarak_clicks.csv")
    for name in ("ca_grqc", "facebook_combined", "p2p_gnutella31", "polblogs", "wiki_vote"):
        listed[name] = ah.read_degrees(DATA / f"graph_{name}.txt.gz").profile
    made = {
        "even counts": 2 * zipf.clip(1, 5000),
        "odd counts": 2 * zipf.clip(1, 5000) - 1,
        "nine of ten counts odd": 2 * np.random.default_rng(2).geometric(0.03, 5000) - np.tile([1] * 9 + [0], 500),
        "heaped at tens": np.where(zipf > 20, zipf // 10 * 10, zipf),
        "20 labels each of 20, 40, … 200": np.repeat(np.arange(20, 201, 20), 20),
        "10 labels each of 10, 20, … 1,000": np.repeat(np.arange(10, 1001, 10), 10),
        "500 equal counts": np.repeat([50], 500),
        "uniform": rng.integers(1, 300, 5000),
        "log-normal": np.ceil(rng.lognormal(2, 1.5, 20_000)).astype(np.int64),
        "two hills": np.concatenate((rng.poisson(30, 3000), rng.poisson(300, 500))) + 1,
        "Zipf, exponent 2": rng.zipf(2.0, 20_000).clip(1, 10**6),
        "every count once": np.arange(1, 1500),
        "Poisson, mean 3": rng.poisson(3, 800),
        "Poisson, mean 20": rng.poisson(20, 1500),
        "binomial, 12": rng.binomial(12, 0.5, 2000),
        "20 equal counts of 7": np.repeat([7], 20),
        "400 labels, Zipf": rng.zipf(1.7, 400).clip(1, 3000),
        "600 labels, geometric": rng.geometric(0.2, 600),
    }
    return listed | {name: ah.Profile.from_counts(counts[counts > 0]) for name, counts in made.items()}


def held_out() -> dict[str, ah.Profile]:
    """List shapes that nothing was tuned to, and the saw, for which there is a distribution with heaps."""
    rng = np.random.default_rng(2)
    made = {
        "Pareto, exponent 1.2": np.floor(rng.pareto(1.2, 30_000) + 1).clip(1, 10**6),
        "negative binomial": rng.negative_binomial(0.7, 0.01, 6000),
        "exponential": np.ceil(rng.exponential(40, 3000)),
        "Weibull": np.ceil(30 * rng.weibull(0.6, 9000)),
        "triangle": np.rint(rng.triangular(1, 80, 120, 4000)),
        "mixture of three": np.concatenate(
            (rng.poisson(5, 4000), rng.negative_binomial(3, 0.05, 2000), rng.zipf(1.8, 1000).clip(1, 10**5))
        ),
        "powers of two": np.repeat(2 ** np.arange(12), 2 ** np.arange(12)[::-1]),
        "squares once each": np.arange(1, 400) ** 2,
        "cliques": np.concatenate((rng.zipf(2.2, 5000).clip(1, 500), np.repeat([33, 41, 60], [34, 42, 61]))),
        "capped at 20": np.minimum(rng.zipf(1.4, 8000), 20),
        "300 labels, Poisson mean 60": rng.poisson(60, 300),
        "Zipf with a gap": np.where((zipf := rng.zipf(1.6, 10_000).clip(1, 10**5)) < 10, zipf, zipf + 90),
        "saw: 60 labels of each 7th count": np.repeat(counts := np.arange(1, 200), np.where(counts % 7, 1, 60)),
        "a curve with random heaps": np.repeat(
            counts := np.arange(1, 300),
            1 + rng.poisson(4 * (150 / counts) ** 0.7) + (rng.random(299) < 0.07) * rng.integers(20, 400, 299),
        ),
    }
    return {name: ah.Profile.from_counts(counts[counts > 0].astype(np.int64)) for name, counts in made.items()}


def compare(profile: ah.Profile, epsilon: str, runs: int) -> tuple[Floats, Floats, Floats, Floats, float, Counter[str]]:
    """Return for each run the error, that of the first legs and of the new ones, the stated one; seconds, and steps."""
    truth, rate = FrobeniusCoordinates.of(profile), float(epsilon)
    errors: list[tuple[float, ...]] = []
    steps: Counter[str] = Counter()
    seconds = 0.0
    for seed in range(runs):
        draw = CoordinateNoise(Fraction(epsilon), simulated_noise(np.random.default_rng(seed)))
        noisy = draw.on_one(truth, 1)
        (fit,) = posterior_medians(noisy.sizes, noisy.arms, noisy.legs, epsilon=rate)
        begun = process_time()
        seen = [(noisy.legs.sums[0], noisy.legs.begins[0])]
        (found,) = refitted([fit.legs], seen, epsilon=rate, errors=[fit.apart_legs])
        seconds += process_time() - begun
        first = distance(truth.legs, fit.legs)
        others = abs(truth.durfee_size - fit.arms.size) + distance(truth.arms, fit.arms)
        anew = first if found is None else distance(truth.legs, found.legs)
        expected = fit.apart + fit.beyond + (fit.apart_legs if found is None else found.error)
        errors.append((others + first, first, anew, expected))
        steps["the first fit" if found is None else found.steps.name] += 1
    whole, first_legs, legs, expected_ones = np.array(errors).T
    stated = expected_ones / max((whole - first_legs + legs).mean(), 1e-9)
    return whole, first_legs, legs, stated, seconds / runs, steps


def compare_draws(
    profile: ah.Profile, epsilon: str, runs: int
) -> tuple[Floats, Floats, Floats, Floats, float, Counter[str]]:
    """Return the same for draws of the partition mechanism."""
    mechanism, rng = PartitionMechanism(epsilon), np.random.default_rng(0)
    public = ah.Profile(profile.counts, profile.prevalences)
    truth = FrobeniusCoordinates.of(public)
    errors, stated = [], []
    begun = process_time()
    releases = [mechanism.release(public) for _ in range(runs)]
    seconds = process_time() - begun
    for release in releases:
        drawn = release.profile if release.draw is None else release.draw
        both = [distance(truth.legs, FrobeniusCoordinates.of(each).legs) for each in (drawn, release.profile)]
        errors.append((sorted_l1(public, drawn), *both))
        runs_on_it = mechanism.simulate(release.profile, size=8, rng=rng)
        stated.append(np.mean([sorted_l1(release.profile, run) for run in runs_on_it]))
    whole, first_legs, legs = np.array(errors, dtype=np.float64).T
    real = max((whole - first_legs + legs).mean(), 1e-9)
    steps = Counter("as drawn" if release.draw is None else "smooth" for release in releases)
    return whole, first_legs, legs, np.array(stated) / real, seconds / runs, steps


def distance(one: Ints, other: Ints) -> int:
    """Return the ℓ1 distance of two sides of diagrams, the shorter one with zeros."""
    both = np.zeros((2, max(one.size, other.size)), dtype=np.int64)
    both[0, : one.size], both[1, : other.size] = one, other
    return int(np.abs(both[0] - both[1]).sum())


def main() -> None:
    """Print a row for each shape and ε."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--epsilons", nargs="+", default=["1.5", "1.3", "1.1", "1", "0.5", "0.1", "0.01"])
    parser.add_argument("--only", default="", help="shapes whose name contains this")
    parser.add_argument("--held-out", action="store_true", help="shapes that nothing was tuned to")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.epsilons, options.only = 2, ["1.1", "0.5"], "myspace"
    print("| shape | ε | error | legs, first fit | legs, anew | change of the error, % | stated / real | steps | s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, profile in (held_out() if options.held_out else shapes()).items():
        for epsilon in options.epsilons if options.only in name else ():
            both = compare_draws if Fraction(epsilon) > 1 else compare
            whole, first, anew, stated, seconds, steps = both(profile, epsilon, options.runs)
            change = 100 * (anew - first) / whole.mean()
            shown = f"{change.mean():+.1f} ± {change.std(ddof=1) / len(change) ** 0.5:.1f}"
            told = f"{whole.mean():,.0f} | {first.mean():,.0f} | {anew.mean():,.0f} | {shown} | {stated.mean():.2f}"
            listed = ", ".join(f"{each}: {many}" for each, many in steps.most_common())
            print(f"| {name} | {epsilon} | {told} | {listed} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
