"""How many labels are surely there, for users with any number of them: ``python bench/num_labels.py [--quick]``.

For each table and ε: the number of labels; the mean lower end of the estimate, over its choice of ℓ; the lower end with
the ℓ that is best for the table and the whole ε, which nobody knows; and how many labels the former misses, over what
the latter misses. The probability of each choice is exact, and lower ends are those with no noise drawn.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.choosing import pmf_by_scores
from anonhist.mechanisms.estimators.num_labels import NumLabelsMechanism, noise_bound
from anonhist.profiles.user_labels import UserLabels
from bundled import DATA

if TYPE_CHECKING:
    from collections.abc import Callable

EPSILONS = ("0.1", "0.3", "1", "3", "10")


def drawn(users: int, labels: int, exponent: float, tail: float) -> list[tuple[int, int]]:
    """Return users with numbers of labels of Pareto's law, at most 400, and labels of Zipf's."""
    rng = np.random.default_rng([20261128, users, labels])
    sizes = np.minimum(2 * (rng.pareto(tail, users) + 1).astype(int), 400)
    weights = np.arange(1, labels + 1.0) ** -exponent
    chosen = rng.choice(labels, size=int(sizes.sum()), p=weights / weights.sum())
    return [*zip(np.repeat(np.arange(users), sizes).tolist(), chosen.tolist(), strict=True)]


def friends() -> list[tuple[int, int]]:
    """Return the edges of a graph, each from the node that is listed first."""
    edges = np.loadtxt(DATA / "graph_facebook_combined.txt.gz", dtype=np.int64)
    return [*map(tuple, edges.tolist())]


TABLES: dict[str, Callable[[], list[tuple[int, int]]]] = {
    "3,000 users, 200,000 labels": lambda: drawn(3_000, 200_000, 0.8, 1.2),
    "3,000 users, 5,000 labels": lambda: drawn(3_000, 5_000, 1.0, 1.2),
    "20,000 users, 200,000 labels": lambda: drawn(20_000, 200_000, 1.0, 1.5),
    "300 users, 2,000 labels": lambda: drawn(300, 2_000, 1.0, 1.2),
    "100,000 users, 3,000 labels": lambda: drawn(100_000, 3_000, 1.0, 3.0),
    "40 of 2,040 have 100 of their own": lambda: [
        *((user, 100 * user + label) for user in range(40) for label in range(100)),
        *((100 + user, user % 50) for user in range(2_000)),
    ],
    "5,000, each with one": lambda: [(user, user) for user in range(5_000)],
    "20, each with 500": lambda: [(user, 500 * user + label) for user in range(20) for label in range(500)],
    "10,000 with 3 of 30": lambda: [
        (user, (7 * user + 11 * label) % 30) for user in range(10_000) for label in range(3)
    ],
    "friends on Facebook": friends,
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two tables and one ε, to see that the program runs")
    options = parser.parse_args()
    names, epsilons = ([*TABLES][-3:-1], ["1"]) if options.quick else ([*TABLES], EPSILONS)
    print("| users and labels | ε | labels | lower end | with the best ℓ | missed / missed |")
    print("|---|---|---|---|---|---|")
    found: list[float] = []
    for name in names:
        pairs = TABLES[name]()
        matched, true = NumLabelsMechanism(1).matched(UserLabels.from_pairs(pairs)), len({label for _, label in pairs})
        for epsilon in epsilons:
            mechanism = NumLabelsMechanism(epsilon)
            chances = pmf_by_scores(mechanism.scores(matched), mechanism.choice_rate)
            low = np.maximum(np.subtract(matched, mechanism.taken_off), 0)
            tail = 1 - Fraction(str(mechanism.level))
            whole = [noise_bound(mechanism.epsilon / most, tail) for most in mechanism.candidates]
            best = max(0, *np.subtract(matched, whole).tolist())
            own = float(chances @ low)
            found.append((true - own) / max(true - best, 1))
            print(f"| {name} | {epsilon} | {true:,} | {own:,.0f} | {best:,} | {found[-1]:.1f} |", flush=True)
    print(f"| all | | | | | mean {np.mean(found):.1f}, median {np.median(found):.1f}, most {max(found):.1f} |")


if __name__ == "__main__":
    main()
