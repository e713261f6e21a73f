"""Conjecture 1: the error against ε and N, on RockYou and on staircases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist_papers.blocki.data import drawn
from anonhist_papers.blocki.draws import PUBLISHED, l1_errors
from anonhist_papers.blocki.growth import exponent
from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from anonhist_papers.experiment import Cell

_FULL = {
    "RockYou": (1, 0.5, 0.2, 0.1),
    "steps of one": (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01),
    "Zipf": (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01),
    "squares": (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01),
}
_QUICK = {"RockYou": (1, 0.1), "steps of one": (1, 0.1), "squares": (1, 0.2, 0.05)}


def least_items(epsilon: float) -> int:
    """Return the least N for which ε > 48π²/√N, the condition of the conjecture, by a margin of one percent.

    Examples
    --------
    >>> least_items(0.1)
    22891916
    """
    return math.ceil(1.02 * (48 * math.pi**2 / epsilon) ** 2)


def _cells(size: Size) -> Sequence[Cell]:
    listed, trials = (_QUICK, 10) if size is Size.QUICK else (_FULL, 50)
    return [{"data": name, "epsilon": each, "trials": trials} for name, own in listed.items() for each in own]


def _run(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    epsilon, trials, name = float(cell["epsilon"]), int(cell["trials"]), str(cell["data"])
    # Room for the items that whole steps leave out.
    profile = drawn(name, math.ceil(1.05 * least_items(epsilon)), epsilon)
    errors = l1_errors(PUBLISHED, epsilon, profile, trials, rng)
    scale = math.sqrt(epsilon / profile.n)
    yield Point.of([error * scale for error in errors], series=name, x=epsilon)


def _judge(points: Sequence[Point]) -> Verdict:
    """Ask whether, on some data, error / √(N/ε) grows as ε falls: then no constant bounds it."""
    told, exponents = {}, {}
    for name in dict.fromkeys(point.series for point in points):
        line = select(points, name)
        # Over the smaller half of the ε, where there is least of the beginning.
        slope, spread = exponent(dict(list(line.items())[: len(line) // 2 + 1]))
        exponents[name] = -slope - 2 * spread
        first, last = line[max(line)], line[min(line)]
        told[name] = (
            f"{name} {first.mean:.3g} at ε = {max(line):g} and {last.mean:.3g} ± {last.standard_error:.1g} at "
            f"{min(line):g}, there like (1/ε)^{-slope:.2f} (± {spread:.1g})"
        )
    worst = max(exponents, key=lambda name: exponents[name])
    others = "; ".join(each for name, each in told.items() if name != worst)
    proved = (
        " On staircases of squares the error is of order √N/ε, the bound that was proved: docs/proofs/conjecture.md "
        "proves that no constant c₁ will do."
        if worst == "squares" and exponents[worst] > 0
        else ""
    )
    return Verdict(
        all(each <= 0 for each in exponents.values()),
        f"Error over √(N/ε), which a constant bounds if it does not grow as ε falls: {told[worst]}.{proved} "
        f"Others: {others}.",
    )


CONJECTURE_1 = Experiment(
    name="conjecture-1",
    place="Conjecture 1",
    title="whether the error is at most c₁·√N/√ε + c₂·ln(1/δ)/ε",
    setting="Exponential mechanism, c = ε/2; means of 50 draws, 10 if quick. N is the least that the condition "
    "ε > 48π²/√N admits (RockYou: its own, which does from ε = 0.083 on). Data: RockYou; counts 1, 2, 3, …; counts in "
    "Zipf's proportions; and a staircase of squares, counts s, 2s, 3s, … of s labels each with s = 8/ε, chosen "
    "because each of its corners has room for a partition of some 1/ε² items, which costs nothing there.",
    says="“Let f ∈ P(N), ε > 48π²/√N and δ ≥ e^(1−√N/2) be given … except with probability δ we will have "
    "‖f − f̃‖₁ ≤ c₁√N/√ε + c₂ln(1/δ)/ε, where c₁ and c₂ are constants.” “Blocki et al. [BDB16] proved that if "
    "1/ε = o(√N) then (whp) the L1 error … is at most c√N/ε.”",
    axes=Axes("ε", "mean ℓ1 error / √(N/ε)"),
    cells=_cells,
    run=_run,
    judge=_judge,
)
