"""How often statements about the items beyond a bound on users hold, and how many of these items they show.

``python bench/excess.py [--quick]``. A hundred thousand items fall on 20,000 users, whose shares of them are the shapes
of ten_shapes.py: the named ones without the real data, and those that nobody chose. m items of each user are kept, and
5% of ε go to the excess, with each user counted up to 10·m items beyond. "held" is how often, in all runs, the interval
held the users above m, the items beyond, capped per user, and the share of users, and how often at least as many items
were left out as "at least" says. "shown" is the mean ratio of that bound to the items that were left out, and "capped"
is this ratio without noise.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

import numpy as np

from anonhist.mechanisms import ExcessMechanism
from anonhist.mechanisms.noise import simulated_noise
from anonhist.privacy import NeighboringRelation
from anonhist.profiles import BoundedUnits, Profile
from ten_shapes import REAL, named_shapes, random_shapes

USERS, ITEMS = 20_000, 100_000
BOUNDS = (1, 3, 10)
SHARE = Fraction(1, 20)
NAMES = ("users", "capped items", "share", "at least")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    chosen = parser.parse_args()
    runs, budgets = (2, ("1",)) if chosen.quick else (chosen.runs, ("0.1", "1", "4"))
    shapes = {name: shares for name, shares in named_shapes(USERS).items() if name not in REAL} | random_shapes(USERS)
    print(f"| shape | ε | m | {' | '.join(f'held: {name}' for name in NAMES)} | shown | capped |")
    print("|---|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(20_261_122)
    held: list[list[float]] = []
    for name, shares in list(shapes.items())[: 2 if chosen.quick else None]:
        items = Profile.from_counts(rng.multinomial(ITEMS, shares))
        for epsilon in budgets:
            for bound in BOUNDS:
                rates, shown, capped = row(BoundedUnits(bound, items), Fraction(epsilon), runs, rng)
                held.append(rates)
                cells = " | ".join(f"{rate:.3f}" for rate in rates)
                print(f"| {name} | {epsilon} | {bound} | {cells} | {shown:.2f} | {capped:.2f} |", flush=True)
    means, least = np.mean(held, axis=0), np.min(held, axis=0)
    for name, mean, worst in zip(NAMES, means, least, strict=True):
        print(f"{name}: held in {mean:.4f} of all runs, in {worst:.3f} of those of one row at least")


def row(
    users: BoundedUnits, epsilon: Fraction, runs: int, rng: np.random.Generator
) -> tuple[list[float], float, float]:
    """Return how often each statement held, and how much of what was left out is shown, with noise and without."""
    mechanism = ExcessMechanism(epsilon * SHARE, users.bound, relation=NeighboringRelation.ADD_OR_REMOVE)
    left_out, everyone = users.excess(2**62), users.above + users.within
    held, shown = [], []
    for _ in range(runs):
        found = mechanism.release_with(users, simulated_noise(rng))
        intervals = [
            (users.above, found.units.interval),
            (users.excess(found.cap), found.capped_amount.interval),
            (users.above / everyone, found.share_of_units.interval),
            (left_out, found.amount.interval),
        ]
        held.append([low <= truth <= high for truth, (low, high) in intervals])
        shown.append(found.at_least)
    total = max(1, left_out)
    return np.mean(held, axis=0).tolist(), float(np.mean(shown)) / total, users.excess(found.cap) / total


if __name__ == "__main__":
    main()
