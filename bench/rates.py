"""How errors grow with 1/ε and with n, beside the theory. Run as ``python bench/rates.py --plots docs/images``.

PrivHist's theorem gives an expected error of O(√(n ln(2/ε)/ε)) up to ε = 1, and of √n·e^(−Ω(ε)) above. The conjecture
on the exponential mechanism is O(√(n/ε)). The lower bound for every private mechanism, up to constants, is
√(n ln(1/ε)/ε) for small ε. So the figure shows ``error · √(ε/n)``, which would be constant under a conjecture without
the logarithm, and √ln(1/ε) beside it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.mechanisms import staircase_profile
from anonhist_papers.blocki.exponential import ExponentialMechanism
from bundled import read_bundled, runs_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.mechanisms import CentralMechanism

EPSILONS = ("6", "4", "3", "2", "1.5", "1", "0.7", "0.5", "0.3", "0.2", "0.1", "0.05", "0.02", "0.01")
AT = ("0.5", "0.05")
STYLES = {
    "privhist": ("#b5460f", "s"),
    "exponential": ("#5b4a91", "^"),
    "partition": ("#4d7c0f", "D"),
    "frobenius": ("#0b6e99", "o"),
}
# The largest n to wait for: the chains take minutes beyond.
LARGEST = {"privhist": 12, "exponential": 10, "partition": 10, "frobenius": 12}

Curves = dict[tuple[str, str], list[tuple[float, float, float]]]


def mechanism(name: str, epsilon: str) -> CentralMechanism:
    """Make a mechanism by its name here: the exponential one is that of Blocki, without corner weights."""
    made: dict[str, Callable[[str], CentralMechanism]] = {
        "privhist": ah.mechanisms.PrivHistMechanism,
        "exponential": ExponentialMechanism.at,
        "partition": ah.mechanisms.PartitionMechanism,
        "frobenius": ah.mechanisms.FrobeniusMechanism,
    }
    return made[name](epsilon)


def scale_error(
    name: str, epsilon: str, profile: ah.Profile, runs: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the mean of ``error · √(ε/n)`` and its standard error."""
    found = runs_of(mechanism(name, epsilon), profile, size=runs, rng=rng)
    errors = np.array([ah.properties.sorted_l1(profile, run) for run in found]) * (float(epsilon) / profile.n) ** 0.5
    return float(errors.mean()), float(errors.std(ddof=1) / runs**0.5)


def print_table(curves: Curves, places: list[str], header: str) -> None:
    names = list(curves)
    print(f"\n| {header} | {' | '.join(' ε = '.join(part for part in name if part) for name in names)} |")
    print(f"|---|{'---|' * len(names)}")
    for index, place in enumerate(places):
        cells = [
            f"{curve[index][1]:.3f} ± {curve[index][2]:.3f}" if index < len(curve) else "" for curve in curves.values()
        ]
        print(f"| {place} | {' | '.join(cells)} |", flush=True)


def draw(path: Path, curves: Curves, bounds: dict[str, tuple[list[float], list[float]]], x_label: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8.6, 4.5), layout="constrained")
    for (name, epsilon), points in curves.items():
        color, marker = STYLES[name]
        x, y, error = zip(*points, strict=True)
        label = name + (f", ε = {epsilon}" if epsilon else "")
        line = "--" if epsilon == AT[1] else "-"
        axes.errorbar(
            x,
            y,
            2 * np.array(error),
            color=color,
            marker=marker,
            linestyle=line,
            markersize=4,
            label=label,
            linewidth=1.2,
        )
    for line, (x, y) in bounds.items():
        axes.plot(x, y, line, color="0.55", linewidth=4, alpha=0.5, zorder=0)
    axes.plot([], [], color="0.55", linewidth=4, alpha=0.5, label="√ln(1/ε): lower bound, up to a constant")
    axes.set(xscale="log", yscale="log", xlabel=x_label, ylabel="mean sorted ℓ1 error · √(ε/n)")
    axes.grid(which="major", color="0.9")
    if axes.get_ylim()[0] > 0.05:
        marks = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 2, 3, 5, 7, 10]
        low, high = axes.get_ylim()
        axes.set_yticks([mark for mark in marks if low < mark < high])
        axes.set_yticks([], minor=True)
        axes.yaxis.set_major_formatter("{x:g}")
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--largest", type=int, default=12, help="power of ten of the largest n")
    parser.add_argument("--plots", type=Path, help="folder for rates-epsilon.png and rates-n.png")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    epsilons, name = EPSILONS, "pw_rockyou"
    if options.quick:
        options.runs, options.largest, epsilons, name = 2, 4, ("4", "0.5"), "pw_myspace"
    rng = np.random.default_rng()
    passwords = read_bundled(name)
    by_epsilon: Curves = {
        (each, ""): [(float(e), *scale_error(each, e, passwords, options.runs, rng)) for e in epsilons]
        for each in STYLES
    }
    print_table(by_epsilon, list(epsilons), f"ε ({name})")
    powers = range(4, options.largest + 1)
    by_n: Curves = {}
    for epsilon in AT:
        for name in STYLES:
            profiles = [staircase_profile(10**power) for power in powers if power <= LARGEST[name]]
            runs = [options.runs if profile.n < 10**9 else 3 for profile in profiles]
            by_n[name, epsilon] = [
                (profile.n, *scale_error(name, epsilon, profile, size, rng))
                for profile, size in zip(profiles, runs, strict=True)
            ]
    print_table(by_n, [f"10^{power}" for power in powers], "n (all counts different)")
    if options.plots:
        small = [epsilon for epsilon in epsilons if float(epsilon) < 0.8]
        bound = ([float(e) for e in small], [lower_bound(e) for e in small])
        draw(options.plots / "rates-epsilon.png", by_epsilon, {"-": bound}, f"ε ({name}, n = {passwords.n:,})")
        ends = [10.0 ** powers[0], 10.0 ** powers[-1]]
        flat = {line: (ends, [lower_bound(epsilon)] * 2) for line, epsilon in zip(("-", "--"), AT, strict=True)}
        draw(options.plots / "rates-n.png", by_n, flat, "items n (all counts different)")


def lower_bound(epsilon: str) -> float:
    """Return √ln(1/ε)."""
    return float(np.log(1 / float(epsilon))) ** 0.5


if __name__ == "__main__":
    main()
