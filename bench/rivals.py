"""Other central mechanisms beside the default, on RockYou. Run as ``python bench/rivals.py [--releases 100]``.

Each figure is the mean sorted ℓ1 error of real releases ± its standard error; seconds are the median of one release
after a warm-up. All programs are this project's own, including new implementations of published mechanisms. "wanted" is
this project's goal: PrivHist is as good as its prototype here, and the default is better than PrivHist and cumulative
noise by the given factors, with two standard errors of both allowed. The last line says which of the others has the
lowest error at each ε.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.mechanisms import choose, zipf_profile
from anonhist_papers.blocki.exponential import ExponentialMechanism
from bundled import read_bundled
from split import SplitMechanism

if TYPE_CHECKING:
    from collections.abc import Callable

EPSILONS = ("4", "2", "1", "0.5", "0.1", "0.01")
PRIVHIST_TARGETS = {"4": 120, "2": 877, "1": 6101, "0.5": 10174, "0.1": 30282, "0.01": 118894}
# By how much the default must be better.
FACTORS = {
    "PrivHist": {"4": 1.4, "2": 1.4, "1": 2.0, "0.5": 2.0},
    "cumulative": {"4": 1.35, "2": 1.35, "1": 1.5, "0.5": 1.7, "0.1": 2.0},
}
# Mechanisms that the default may be.
OURS = ("partition", "frobenius")
CAP = 500_000
# Slow mechanisms have fewer releases than asked for, but at least so many.
FEWEST = 8
# These take ten seconds a release, so they are run at one ε only.
SLOW = {"isotonic": "1"}
SMALL = 10_000


def rivals(profile: ah.Profile, cap: int = CAP) -> dict[str, Callable[[str], object]]:
    """List the mechanisms, the default first; what some take for public they are given exactly."""
    labels, n = profile.num_labels, profile.n
    return {
        "default": lambda epsilon: choose(epsilon=epsilon, unit=ah.PrivacyUnit.item())[0],
        "exponential": ExponentialMechanism.at,
        "cumulative": lambda epsilon: ah.mechanisms.CumulativeMechanism(epsilon, public_cap=cap),
        "PrivHist": ah.mechanisms.PrivHistMechanism,
        "PrivHist, thirds": lambda epsilon: ah.mechanisms.PrivHistMechanism(epsilon, shares="thirds"),
        "PrivHist, 2% 10% 88%": tune_privhist,
        "isotonic": lambda epsilon: ah.mechanisms.IsotonicMechanism(epsilon, public_labels=labels),
        "prevalence": lambda epsilon: ah.mechanisms.PrevalenceMechanism(epsilon, public_cap=cap),
        "split": SplitMechanism,
        "split, n public": lambda epsilon: SplitMechanism(epsilon, public_items=n),
    }


def small_rivals(profile: ah.Profile) -> dict[str, Callable[[str], object]]:
    """List the same with tighter public numbers, and what is made for small data only."""
    return rivals(profile, cap=2000) | {
        "partition": ah.mechanisms.PartitionMechanism,
        "frobenius": ah.mechanisms.FrobeniusMechanism,
        "relaxed exponential": lambda epsilon: ah.mechanisms.RelaxedPartitionMechanism(epsilon, public_items=SMALL),
    }


def tune_privhist(epsilon: str) -> ah.mechanisms.PrivHistMechanism:
    """Divide PrivHist's budget as was found best here, which is not how its paper recommends it."""
    shares = "1/50,1/10,22/25" if float(epsilon) <= 1 else "1/400,399/400,0"
    return ah.mechanisms.PrivHistMechanism(epsilon, shares=shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=100)
    parser.add_argument(
        "--small", action="store_true", help="on Zipf's distribution of 10^4 items, with all mechanisms"
    )
    parser.add_argument("--epsilon", nargs="*", default=None)
    parser.add_argument("--only", nargs="*", default=[], help="these beside the default, by name")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    parser.add_argument("--seconds", type=float, default=20, help="for the releases of a mechanism at one ε")
    options = parser.parse_args()
    profile = zipf_profile(SMALL) if options.small else read_bundled("pw_myspace" if options.quick else "pw_rockyou")
    if options.quick:
        options.releases, options.epsilon = 2, ["1"]
    heads = ["mechanism", "ε", "mean sorted ℓ1", "standard error", "times the default", "seconds a release"]
    heads += [] if options.small else ["wanted", "met"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    best: list[str] = []
    for epsilon in options.epsilon or (("4", "1", "0.5", "0.1") if options.small else EPSILONS):
        ours, means = (0.0, 0.0), dict[str, float]()
        listed = small_rivals(profile) if options.small else rivals(profile)
        for name, make in listed.items():
            if (options.only and name not in {"default", *options.only}) or (
                not options.small and SLOW.get(name, epsilon) != epsilon
            ):
                continue
            mechanism = make(epsilon)
            mechanism.release(profile)
            errors, seconds = [], []
            for number in range(options.releases):
                if number >= FEWEST and sum(seconds) > options.seconds:
                    break
                start = time.perf_counter()
                released = mechanism.release(profile).profile
                seconds.append(time.perf_counter() - start)
                errors.append(ah.properties.sorted_l1(profile, released))
            mean, spread = float(np.mean(errors)), float(np.std(errors, ddof=1)) / len(errors) ** 0.5
            if name == "default":
                ours = (mean, spread)
            elif name not in OURS:
                means[name] = mean
            row = [name, epsilon, f"{mean:,.1f}", f"{spread:,.1f}", f"{mean / ours[0]:.2f}", f"{median(seconds):.3f}"]
            row += [] if options.small else judge(name, epsilon, (mean, spread), ours)
            print(f"| {' | '.join(row)} |", flush=True)
        least = min(means, key=means.__getitem__)
        best.append(f"ε = {epsilon}: {least}, {means[least] / ours[0]:.2f} times the default")
    print("\nOf the others errs least: " + "; ".join(best) + ".")


def judge(name: str, epsilon: str, rival: tuple[float, float], ours: tuple[float, float]) -> tuple[str, str]:
    """Say what was wanted of a figure, and whether it was met within two standard errors."""
    wanted, met = [], []
    factor = FACTORS.get(name, {}).get(epsilon, 1.0 if name != "default" else None)
    if factor is not None:
        slack = 2 * np.hypot(rival[1], factor * ours[1])
        wanted.append(f"default {factor} times better")
        met.append(factor * ours[0] - slack <= rival[0])
    if name == "PrivHist" and epsilon in PRIVHIST_TARGETS:
        wanted.append(f"≤ {PRIVHIST_TARGETS[epsilon]:,}")
        met.append(rival[0] - 2 * rival[1] <= PRIVHIST_TARGETS[epsilon])
    return ", ".join(wanted), "yes" if all(met) and met else "" if not met else "NO"


if __name__ == "__main__":
    main()
