"""Slides "Empirical comparison" and "Closed alphabets, revisited": how many people O-RR and O-RAPPOR need."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.kairouz.cohorts import CONSTRAINED, PROJECTED, CohortSetting
from anonhist_papers.kairouz.grid import FULL, QUICK, TARGET, Search, people_needed, rough_people
from anonhist_papers.kairouz.settings import CLOSED, OPEN, SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from anonhist_papers.experiment import Cell

_EPSILONS = {Size.FULL: (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0), Size.QUICK: (1.0, 4.0)}
_PLAIN = {"O-RR": "k-RR", "O-RAPPOR": "k-RAPPOR"}
_PEOPLE = f"people for ℓ1 = {TARGET:.2f}"
# A range of ε is wide if it has this share of those tried.
_WIDE = 0.75
_LETTERS = {"buckets": "k", "cohorts": "C", "hashes": "h"}


def _cells(alphabet: str, size: Size) -> Sequence[Cell]:
    return [
        {
            "alphabet": alphabet,
            "mechanism": mechanism,
            "epsilon": epsilon,
            "trials": (FULL if size is Size.FULL else QUICK).trials,
            "size": size.value,
        }
        for epsilon in _EPSILONS[size]
        for mechanism in _PLAIN
    ]


def _run(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    grid = replace(FULL if cell["size"] == Size.FULL.value else QUICK, trials=int(cell["trials"]))
    mechanism, alphabet, epsilon = str(cell["mechanism"]), str(cell["alphabet"]), float(cell["epsilon"])
    settings = grid.settings(mechanism, alphabet, epsilon)
    users = rough_people([each for each in settings if each.hashes == 1 and each.cohorts in (1, 16)], rng)
    search = Search(grid, settings, users, rng)
    for decoder in (PROJECTED, CONSTRAINED):
        best = search.best(settings, decoder)
        name = f"{mechanism}, {decoder}"
        start = search.rough_people(best, decoder)
        needed = people_needed(best, decoder, start, trials=grid.trials, rng=rng)
        yield Point(_PEOPLE, name, epsilon, needed.mean, needed.standard_error, needed.runs)
        for parameter, letter in _LETTERS.items():
            yield Point(f"{letter} of the best", name, epsilon, getattr(best, parameter))
    if alphabet == CLOSED:
        plain = CohortSetting(mechanism, CLOSED, epsilon, SYMBOLS, cohorts=1)
        needed = people_needed(plain, PROJECTED, rough_people([plain], rng), trials=grid.trials, rng=rng)
        yield Point(_PEOPLE, _PLAIN[mechanism], epsilon, needed.mean, needed.standard_error, needed.runs)


def _judge(points: Sequence[Point]) -> Verdict:
    told, agrees = [], True
    for decoder in (PROJECTED, CONSTRAINED):
        rr, rappor = (select(points, f"{name}, {decoder}", _PEOPLE) for name in _PLAIN)
        fewer: list[float] = []
        more: list[float] = []
        for epsilon, point in rr.items():
            other = rappor[epsilon]
            margin = 2 * math.hypot(point.standard_error, other.standard_error)
            (fewer if point.mean <= other.mean + margin else more).append(epsilon)
        agrees = agrees and len(fewer) >= _WIDE * len(rr)
        worst = max(rr, key=lambda epsilon: rr[epsilon].mean / rappor[epsilon].mean)
        best = min(rr, key=lambda epsilon: rr[epsilon].mean / rappor[epsilon].mean)
        told.append(
            f"{decoder}, O-RR needs no more people than O-RAPPOR at ε = {_list(fewer)} (at {best:g}: "
            f"{rr[best].mean:,.0f} and {rappor[best].mean:,.0f}), and more at {_list(more)} (at {worst:g}: "
            f"{rr[worst].mean:,.0f} and {rappor[worst].mean:,.0f})"
        )
    hashes = {point.mean for point in points if point.panel == "h of the best" and "RAPPOR" in point.series}
    return Verdict(
        agrees,
        f"Each at the best of its parameters: {'; '.join(told)}. The best (k, C), projected: of O-RR "
        f"{_chosen(points, 'O-RR')}; of O-RAPPOR {_chosen(points, 'O-RAPPOR')}, with h = {_list(sorted(hashes))}.",
    )


def _chosen(points: Sequence[Point], mechanism: str) -> str:
    k, c = (select(points, f"{mechanism}, {PROJECTED}", f"{letter} of the best") for letter in ("k", "C"))
    return ", ".join(f"({k[epsilon].mean:g}, {c[epsilon].mean:g}) at ε = {epsilon:g}" for epsilon in k)


def _list(numbers: Sequence[float]) -> str:
    return ", ".join(f"{each:g}" for each in numbers) or "none"


def _view(points: Sequence[Point]) -> Sequence[Point]:
    """Leave out the best parameters, which the verdict names."""
    return [point for point in points if point.panel == _PEOPLE]


_HOW = (
    "All k = 2, 4, …, 4096, C in 1, 2, 4, 16, 64, 256, 1024 and h = 1, 2, 4, 8, 16 with C·h ≤ 1024 (quick: fewer) "
    "run once at about the number of people needed; the best run again, and the best of these in 30 new runs (quick: "
    "9), which alone count. Least squares, projected or over distributions alone (constrained); tables of counts are "
    "drawn with the distribution that the reports give them."
)
_SAYS = (
    "“O-RR meets or exceeds utility of O-RAPPOR over wide range of privacy settings{}.” “L1 loss = 0.20; S=256; "
    "Geometric with mean=S/5; 2≤k≤4096; 1≤c≤1024; 1≤h≤16”. The figure cannot be read. "
    "The values of ε are our choice; that the range is wide is taken to mean three of four of them."
)
COMPARISON_OPEN = Experiment(
    name="comparison-open",
    place="Empirical comparison",
    title="people that O-RR and O-RAPPOR need, hashed, each at its best parameters",
    setting=f"256 symbols, geometric with mean 51.2. {_HOW}",
    says=_SAYS.format(""),
    axes=Axes("ε", "people", log_x=False),
    cells=partial(_cells, OPEN),
    run=_run,
    judge=_judge,
    view=_view,
)
COMPARISON_CLOSED = Experiment(
    name="comparison-closed",
    place="Closed alphabets, revisited",
    title="people that O-RR and O-RAPPOR need, permuted modulo k, each at its best parameters",
    setting=f"256 symbols, geometric with mean 51.2. {_HOW}",
    says=_SAYS.format(" (for k-ary alphabets)") + " “With C=1 and h=1, we recover k-RR and k-RAPPOR.”",
    axes=Axes("ε", "people", log_x=False),
    cells=partial(_cells, CLOSED),
    run=_run,
    judge=_judge,
    view=_view,
)
