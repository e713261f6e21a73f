"""Draw the README's picture: a release beside the truth, and errors at each ε. Run with ``--plots docs/images``.

On the left are RockYou's cumulative prevalences, exact and from one simulated release with a fixed seed, so that the
picture changes only with the mechanism. On the right are the mean errors that ``bench/rivals.py`` printed, as in
docs/benchmarks/accuracy.md. Both are printed, too.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.mechanisms import choose
from bundled import read_bundled
from pages import FOLDER, measured

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

ROW = re.compile(r"^\| ([^|]+) \| ([\d.]+) \| ([\d.,]+) \|", re.MULTILINE)
BEST = "best of all others"
# What the table calls it, and how it is drawn: ours last, above the others.
LINES = {
    "cumulative": ("Laplace noise, isotonic fit", "#5b4a91", "^"),
    "PrivHist": ("PrivHist (Suresh 2019)", "#b5460f", "s"),
    BEST: ("best of nine others at each ε", "#4d7c0f", "D"),
    "default": ("anonhist", "#0b6e99", "o"),
}
EPSILON = 0.1
SHOWN = (1, 2, 3, 5, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)


def errors() -> dict[str, dict[float, float]]:
    """Read mean sorted ℓ1 errors from the table of ``bench/rivals.py``: of each line, by ε."""
    _, table = measured((FOLDER / "accuracy.md").read_text(encoding="utf-8"))["`python bench/rivals.py`"]
    found: dict[str, dict[float, float]] = {}
    for name, epsilon, mean in ROW.findall(table):
        found.setdefault(name, {})[float(epsilon)] = float(mean.replace(",", ""))
    others = [means for name, means in found.items() if name != "default"]
    # A rival that is too slow was measured at some ε only.
    found[BEST] = {epsilon: min(means[epsilon] for means in others if epsilon in means) for epsilon in found["default"]}
    return {name: found[name] for name in LINES}


def draw_release(axes: Axes, truth: ah.Profile, released: ah.Profile) -> None:
    levels = np.unique(np.geomspace(1, truth.counts[-1], 200).astype(np.int64))
    axes.plot(levels, truth.cumulative_prevalence(levels), color="0.72", linewidth=5, label="truth")
    axes.plot(levels, released.cumulative_prevalence(levels), color="#0b6e99", linewidth=1.6, label="release")
    axes.set(xscale="log", yscale="log", xlabel="k", ylabel="passwords used by k accounts or more")
    axes.set_title(f"RockYou, 32.6 million accounts, ε = {EPSILON:g}", loc="left")


def draw_errors(axes: Axes, means: dict[str, dict[float, float]]) -> None:
    for name, (label, color, marker) in LINES.items():
        wide = 2.4 if name == "default" else 1.2
        axes.plot(*zip(*means[name].items(), strict=True), color=color, marker=marker, linewidth=wide, label=label)
    axes.set(xscale="log", yscale="log", xlabel="ε (smaller: more private)", ylabel="sorted ℓ1 error, passwords")
    ticks = sorted(means["default"])
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_title("Error of the whole release", loc="left")


def save(path: Path, draw: Callable[[Axes], None]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4.2, 3.3), layout="constrained", facecolor="white")
    draw(axes)
    axes.grid(which="major", color="0.92")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=180, bbox_inches="tight", pad_inches=0.12)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plots", type=Path, help="folder for front-release.png and front-errors.png")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    truth = read_bundled("pw_myspace" if options.quick else "pw_rockyou")
    mechanism = choose(epsilon=EPSILON, unit=ah.PrivacyUnit.item())[0]
    (released,) = mechanism.simulate(truth, size=1, rng=np.random.default_rng(2009))
    print("| k | labels with k or more | released |\n|---|---|---|")
    for k in SHOWN:
        print(f"| {k:,} | {truth.k_plus(k):,} | {released.k_plus(k):,} |")
    means = errors()
    print(f"\n| ε | {' | '.join(label for label, *_ in LINES.values())} |\n{'|---' * (len(LINES) + 1)}|")
    for epsilon in sorted(means["default"]):
        print(f"| {epsilon:g} | {' | '.join(f'{means[name][epsilon]:,.0f}' for name in LINES)} |")
    if options.plots:
        save(options.plots / "front-release.png", lambda axes: draw_release(axes, truth, released))
        save(options.plots / "front-errors.png", lambda axes: draw_errors(axes, means))


if __name__ == "__main__":
    main()
