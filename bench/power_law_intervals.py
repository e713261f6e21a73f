"""How often the interval of a power law's exponent holds: ``python bench/power_law_intervals.py [--runs 250]``.

Degrees are drawn from an exact power law, or from a power law above a start with another distribution below; the truth
is the exponent of the tail. The start is chosen by the data, or given. "holds" is about the intervals that are shown,
with two standard errors; if no interval is shown, the estimate says why. The last rows are releases with edge privacy.

The first seven shapes are small samples of pure power laws; then follow tails above bodies, on which the method was
compared to other methods; the last six were written down before anything was measured on them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.graphs import EdgeMechanism
from anonhist.graphs.degree_data import DegreeData
from anonhist.graphs.graph import EdgePolicy
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.privacy import PrivacyUnit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DEGREES = np.arange(1, 200_001)


def tail(exponent: float, start: int = 1) -> Floats:
    """Return the probability of each degree under a power law from a start on."""
    weights = np.where(start <= DEGREES, DEGREES**-exponent, 0.0)
    return np.asarray(weights / weights.sum())


def above(exponent: float, start: int, share: float, body: Callable[[Floats], Floats]) -> Floats:
    """Return the same for this share of the nodes, the others having smaller degrees."""
    below = np.where(start > DEGREES, body(DEGREES.astype(float)), 0.0)
    return np.asarray(share * tail(exponent, start) + (1 - share) * below / below.sum())


def flat(degrees: Floats) -> Floats:
    return np.ones(degrees.shape)


# Name, exponent, start, nodes, probabilities.
SHAPES: tuple[tuple[str, float, int, int, Callable[[], Floats]], ...] = (
    *(
        (f"pure {alpha:g}", alpha, 1, n, lambda alpha=alpha: tail(alpha))
        for alpha, n in ((6.0, 100), (3.0, 10), (4.0, 20), (2.5, 10), (2.5, 50), (2.5, 300), (3.0, 5))
    ),
    ("2.5 from 8, 30%, flat below", 2.5, 8, 400, lambda: above(2.5, 8, 0.3, flat)),
    ("2.5 from 12, 50%, flat below", 2.5, 12, 4000, lambda: above(2.5, 12, 0.5, flat)),
    ("3 from 5, 20 %, geometric below", 3.0, 5, 600, lambda: above(3.0, 5, 0.2, lambda d: 0.5**d)),
    ("2.2 from 20, 15 %, d^−½ below", 2.2, 20, 2000, lambda: above(2.2, 20, 0.15, lambda d: d**-0.5)),
    ("2.2 from 4, 40 %, d^−1 below", 2.2, 4, 1000, lambda: above(2.2, 4, 0.4, lambda d: 1 / d)),
    ("2.7 from 6, 40 %, rising below", 2.7, 6, 800, lambda: above(2.7, 6, 0.4, lambda d: d)),
    ("3.5 from 3, 50 %, 2:1 below", 3.5, 3, 500, lambda: above(3.5, 3, 0.5, lambda d: 1 / d)),
    ("2 from 25, 10 %, geometric below", 2.0, 25, 5000, lambda: above(2.0, 25, 0.1, lambda d: 0.9**d)),
    ("2.5 from 10, 60%, flat below", 2.5, 10, 100, lambda: above(2.5, 10, 0.6, flat)),
    ("2.8 from 5, all", 2.8, 5, 200, lambda: tail(2.8, 5)),
    ("pure 2.3", 2.3, 1, 150, lambda: tail(2.3)),
)
RELEASED = ((2.5, 400), (2.2, 2000))


def coverage(
    draw: Callable[[], ah.Profile | DegreeData], exponent: float, *, runs: int, min_degree: int | None
) -> tuple[list[bool], Counter[str], list[float]]:
    """Return of each interval that is shown whether it holds, what was said, and how long the intervals are."""
    held, said, lengths = [], Counter[str](), []
    for _ in range(runs):
        found = ah.graphs.power_law_tail(draw(), min_degree=min_degree).exponent
        holds, (low, high) = found.statement.holds.value, found.interval
        said[holds] += 1
        if holds != "no interval":
            held.append(low <= exponent <= high)
        if holds == "interval":
            lengths.append(high - low)
    return held, said, lengths


def released(exponent: float, nodes: int, rng: np.random.Generator) -> DegreeData:
    """Return degrees with edge privacy at ε = 1, with eight runs."""
    unit = PrivacyUnit.edge()
    mechanism = EdgeMechanism(FrobeniusMechanism(1, unit), EdgePolicy())
    degrees = np.minimum(rng.choice(DEGREES, size=nodes, p=tail(exponent)), nodes - 1)
    (drawn,) = mechanism.simulate(ah.Profile.from_counts(degrees, unit=unit), size=1, rng=rng)
    return DegreeData(drawn, runs=tuple(mechanism.simulate(drawn, size=8, rng=rng)))


def row(name: str, nodes: int, cells: list[tuple[list[bool], Counter[str], list[float]]]) -> str:
    parts = []
    for held, said, lengths in cells:
        mean = float(np.mean(held)) if held else float("nan")
        error = 2 * (mean * (1 - mean) / len(held)) ** 0.5 if held else 0.0
        words = ", ".join(f"{what} {100 * many / sum(said.values()):.0f}%" for what, many in said.most_common())
        shown = f"{100 * mean:.1f} ± {100 * error:.1f}%" if held else ""
        parts += [words, shown, f"{np.median(lengths):.2g}" if lengths else ""]
    return f"| {name} | {nodes:,} | {' | '.join(parts)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.runs = 2
    print("| degrees | nodes | start chosen: says | holds | length | start given: says | holds | length |")
    print("|---|---:|---|---:|---:|---|---:|---:|")
    for place, (name, exponent, start, nodes, shares) in enumerate(SHAPES[:3] if options.quick else SHAPES):
        rng, p = np.random.default_rng([options.seed, place]), shares()

        def draw(rng: np.random.Generator = rng, nodes: int = nodes, p: Floats = p) -> ah.Profile:
            return ah.Profile.from_counts(rng.choice(DEGREES, size=nodes, p=p))

        cells = [coverage(draw, exponent, runs=options.runs, min_degree=least) for least in (None, start)]
        print(row(name, nodes, cells), flush=True)
    for place, (exponent, nodes) in enumerate(RELEASED[:1] if options.quick else RELEASED):
        rng = np.random.default_rng([options.seed, 100 + place])

        def draw_release(rng: np.random.Generator = rng, exponent: float = exponent, nodes: int = nodes) -> DegreeData:
            return released(exponent, nodes, rng)

        runs = min(options.runs, 100)
        cells = [coverage(draw_release, exponent, runs=runs, min_degree=least) for least in (None, 1)]
        print(row(f"pure {exponent:g}, released", nodes, cells), flush=True)


if __name__ == "__main__":
    main()
