"""How near the default is to the best: a bound on every ε-differentially private mechanism, near a data set.

Run as ``python bench/bounds.py --plots docs/images``. Each row has a data set and ε, and

- the bound: what every mechanism errs at least, on average over a family of profiles near the data
  (docs/proofs/lower-bound.md). Its linear programs are checked in whole numbers.
- the mean sorted ℓ1 error of the default, simulated, on profiles drawn from that family, with its standard error;
- its mean error on the data, and the ratio of the former to the bound;
- how many regions of the diagram the family changes, and how far its members are from the data, as a share of items.

The bound is of the family's average, and not of the data set: where a mechanism's assumptions fit the data, its error
on them may be lower. The bound is for δ = 0. From ε = 1.1 on the default has δ = 2⌈e^ε⌉·2⁻⁷⁰, which changes no printed
digit. Solved boxes are kept in bench/boxes, and checked again whenever they are used.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

import anonhist as ah
from anonhist.mechanisms import choose
from boundary import DIAGRAMS, Family
from bundled import read_bundled

DATA = {"pw_rockyou": "RockYou", "pw_phpbb": "phpBB", "bci_trees": "trees"}
EPSILONS = ("4", "2", "1", "0.5", "0.1", "0.01")


@dataclass(frozen=True)
class Row:
    """What is printed of a data set at one ε."""

    epsilon: str
    bound: Fraction
    regions: int
    share: float
    members: tuple[float, float]
    data: tuple[float, float]

    @property
    def ratio(self) -> float:
        """The error on the family over the bound."""
        return self.members[0] / float(self.bound)

    def shown(self, name: str) -> str:
        """Return the row of the table."""
        spread = self.members[1] / float(self.bound)
        errors = " | ".join(f"{mean:,.1f} ± {error:,.1f}" for mean, error in (self.members, self.data))
        bound = math.floor(self.bound * 10) / 10
        return (
            f"| {name} | {self.epsilon} | {bound:,.1f} | {errors} | {self.ratio:.2f} ± {spread:.2f} "
            f"| {self.regions:,} | {self.share:.2%} |"
        )


def _mean(errors: list[float]) -> tuple[float, float]:
    return float(np.mean(errors)), float(np.std(errors, ddof=1) / math.sqrt(len(errors)))


def measure(profile: ah.Profile, epsilon: str, members: int, runs: int, diagrams: int, rng: np.random.Generator) -> Row:
    """Return a row: the bound, and what the default errs by on members of its family and on the data."""
    family = Family.near(profile, Fraction(epsilon), diagrams=diagrams)
    mechanism = choose(epsilon=epsilon, unit=ah.PrivacyUnit.item())[0]

    def error(truth: ah.Profile) -> float:
        (released,) = mechanism.simulate(truth, size=1, rng=rng)
        return float(ah.properties.sorted_l1(truth, released))

    drawn = [family.draw(rng) for _ in range(members)]
    share = float(np.mean([distance for _, distance in drawn])) / profile.n
    on_members = _mean([error(member) for member, _ in drawn])
    on_data = _mean([error(profile) for _ in range(runs)])
    return Row(epsilon, family.bound, len(family.regions), share, on_members, on_data)


def draw(path: Path, title: str, rows: list[Row]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.4, 3.2), layout="constrained", facecolor="white")
    epsilons = [float(row.epsilon) for row in rows]
    bounds = [float(row.bound) for row in rows]
    axes.axhline(1, color="#b5460f", linestyle="--", label="bound for any mechanism, average near the data")
    for label, color, marker, line, means in (
        ("default, same average", "#0b6e99", "o", "-", [row.members for row in rows]),
        ("default, the data themselves", "0.45", "x", "none", [row.data for row in rows]),
    ):
        ratios, errors = (np.array([row[i] for row in means]) / bounds for i in (0, 1))
        axes.errorbar(epsilons, ratios, 2 * errors, color=color, marker=marker, linestyle=line, label=label)
    axes.set(xscale="log", xlabel="ε (smaller: more private)", ylabel="mean error over the bound")
    axes.set_ylim(0, 2.3)
    axes.set_xticks(epsilons, [row.epsilon for row in rows])
    axes.set_xticks([], minor=True)
    axes.set_title(title, loc="left")
    axes.grid(which="major", color="0.92")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9, loc="upper right")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--epsilon", nargs="*", default=list(EPSILONS))
    parser.add_argument("--members", type=int, default=100, help="profiles drawn from each family, one release of each")
    parser.add_argument("--runs", type=int, default=100, help="releases of the data themselves")
    parser.add_argument("--diagrams", type=int, default=DIAGRAMS, help="boxes with more diagrams are not tried")
    parser.add_argument("--plots", type=Path, help="folder for optimality-*.png")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.data, options.epsilon, options.members, options.runs = ["bci_trees"], ["4", "1"], 3, 3
        options.diagrams = 6
    rng = np.random.default_rng()
    print("| data | ε | bound | default, near the data | default, the data | ratio to the bound | regions | distance |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.data:
        profile = read_bundled(name)
        rows = []
        for epsilon in options.epsilon:
            rows.append(measure(profile, epsilon, options.members, options.runs, options.diagrams, rng))
            print(rows[-1].shown(DATA[name]), flush=True)
        if options.plots:
            draw(options.plots / f"optimality-{DATA[name].lower()}.png", DATA[name], rows)


if __name__ == "__main__":
    main()
