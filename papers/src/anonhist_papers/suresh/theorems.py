"""Theorems 1 and 2 as experiments: error against n and ε, N, run time, and lower bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist_papers.experiment import Axes, Experiment, Size
from anonhist_papers.suresh.errors import (
    LARGEST,
    errors_by_epsilon,
    errors_by_items,
    errors_of_items,
    errors_on_hard_data,
    seconds_by_items,
)
from anonhist_papers.suresh.verdicts import (
    judge_epsilon,
    judge_items,
    judge_lower_bound,
    judge_released_items,
    judge_seconds,
    scaled_rate,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist_papers.experiment import Cell


def _trials(size: Size, full: int, quick: int = 5) -> int:
    return quick if size is Size.QUICK else full


def _cells_items(size: Size) -> Sequence[Cell]:
    powers = range(3, 9) if size is Size.QUICK else range(3, 14)
    return [
        {"epsilon": epsilon, "power": power, "trials": _trials(size, 40 if power < 10 else 5)}
        for epsilon in ("4", "1.5", "0.5", "0.05")
        for power in powers
    ]


_DATA = ("Zipf, 10^6 items", "all counts different, 10^6 items", "words of Hamlet")
_EPSILONS = ("6", "5", "4", "3", "2", "1.5", "1.1", "1", "0.7", "0.5", "0.3", "0.2", "0.1", "0.05", "0.02", "0.01")
_QUICK_EPSILONS = ("3", "1.5", "1", "0.3", "0.1")


def _epsilons(size: Size) -> tuple[str, ...]:
    return _QUICK_EPSILONS if size is Size.QUICK else _EPSILONS


ITEMS = Experiment(
    name="theorem-1-items",
    place="Theorem 1, in n",
    title="error against n in both regimes",
    setting="PrivHist with its budget in equal thirds, as published, and with 1/50 of it for n. All counts different "
    "(1, 2, 3, …), up to 10¹³ items; 40 simulated runs, 5 from 10¹⁰ items on and if quick. Scaled by √n: a line that "
    "does not rise is an error of O(√n). The constant of the lower bound is ours: see Theorem 2.",
    says="“If ε > 1, then E[ℓ1(h, H)] = O(√n·e^(−cε)) … for some constant c > 0 … If 1 ≥ ε = Ω(1/n) then "
    "E[ℓ1(h, H)] = O(√((n/ε)·log(2/ε))).”",
    axes=Axes("items n", "mean sorted ℓ1 error / √n"),
    cells=_cells_items,
    run=errors_by_items,
    judge=judge_items,
)
EPSILON = Experiment(
    name="theorem-1-epsilon",
    place="Theorem 1, in ε",
    title="error against ε in both regimes",
    setting="Three profiles; 100 simulated runs, 5 if quick. Hay's mechanism is told the number of labels. The rate of "
    "the theorem is drawn through the error at ε = 1, as its constant is not in the paper.",
    says="“For the high-privacy regime, when ε ≤ 1, all known previous algorithms achieve an error of 1/ε. To reduce "
    "the error from 1/ε to 1/√ε, we use smoothing techniques.” Above ε = 1 the error is O(√n·e^(−cε)). Of the budget: "
    "“We can set ε2 = ε3 = ε(1 − o(1))/2 and ε1 = o(ε) to get better practical results.”",
    axes=Axes("ε", "mean sorted ℓ1 error"),
    cells=lambda size: [
        {"data": name, "epsilon": epsilon, "trials": _trials(size, 100)}
        for name in _DATA
        for epsilon in _epsilons(size)
    ],
    run=errors_by_epsilon,
    judge=judge_epsilon,
    view=scaled_rate,
)
RELEASED_ITEMS = Experiment(
    name="theorem-1-n",
    place="Theorem 1, of N",
    title="the released N, and the sum of the released profile",
    setting="Zipf profiles; 200 real releases, 20 if quick.",
    says="E[|N − n|] ≤ e^(−cε) for ε > 1 and O(1/ε) below. “We can infer the number of items in the dataset by "
    "Σ r·φ_r(H). However, this estimate is very noisy. Hence, we also return the sum of counts N …”",
    axes=Axes("ε", "mean absolute error, in items"),
    cells=lambda size: [
        {"data": f"Zipf, 10^{power} items", "epsilon": epsilon, "trials": _trials(size, 200, 20)}
        for power in ((6,) if size is Size.QUICK else (4, 6, 8))
        for epsilon in (_QUICK_EPSILONS if size is Size.QUICK else _EPSILONS)
    ],
    run=errors_of_items,
    judge=judge_released_items,
)
SECONDS = Experiment(
    name="theorem-1-time",
    place="Theorem 1, run time",
    title="run time against n",
    setting="Zipf profiles given as pairs (r, φ_r); real releases with exact noise, 5 each, 2 if quick, in processor "
    "seconds. Hay's mechanism up to 10⁷ items. The exponential mechanism up to 10⁹: not the program of Blocki et al. "
    "of which the paper speaks, but our exact one, which works on pairs, too.",
    says="“An expected run time of Õ(√n)”, for ε ≤ 1 “Õ(√(n/ε) + 1/ε)”; “as opposed to the O(n) running time of” Hay "
    "et al. “and O(n^(3/2)) running time of” Blocki et al.",
    axes=Axes("items n", "processor seconds of a release"),
    cells=lambda size: [
        {"epsilon": epsilon, "power": power, "trials": _trials(size, 5, 2)}
        for epsilon in ("4", "0.5")
        for power in (range(4, 11, 2) if size is Size.QUICK else range(4, LARGEST["PrivHist"] + 1))
    ],
    run=seconds_by_items,
    judge=judge_seconds,
)
LOWER_BOUND = Experiment(
    name="theorem-2",
    place="Theorem 2, and Aldà and Simon",
    title="lower bounds for every mechanism",
    setting="Data drawn anew for each run from the family behind the bound √(2gn)/(1 + e^(2gε)), where no ε-private "
    "mechanism errs less on average; the constant and its proof (bounds.py) are ours. g = 1 gives Theorem 2, g near "
    "0.37/ε Aldà and Simon. 40 simulated runs, 5 if quick.",
    says="“For any ε-DP mechanism M, there exists a histogram h ∈ H, such that E[ℓ1(h, M(h))] ≥ Ω(√n·e^(−2ε)).” Of "
    "Aldà and Simon: “any ε-DP mechanism has expected ℓ1 error of Ω(√n/√ε) for some dataset.”",
    axes=Axes("ε", "mean sorted ℓ1 error / √n"),
    cells=lambda size: [
        {"items": items, "epsilon": epsilon, "trials": _trials(size, 40)}
        for items in ((10**4,) if size is Size.QUICK else (10**4, 10**6))
        for epsilon in _epsilons(size)
    ],
    run=errors_on_hard_data,
    judge=judge_lower_bound,
)
