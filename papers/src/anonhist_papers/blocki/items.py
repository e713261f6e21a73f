"""How errors grow with N: ℓ1 between the lower bound and the proved upper bound, and mean squared errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import anonhist as ah
from anonhist_papers.blocki.data import drawn
from anonhist_papers.blocki.draws import HAY, PUBLISHED, l1_errors, runs
from anonhist_papers.blocki.growth import steps
from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from anonhist_papers.experiment import Cell

_DATA = ("steps of one", "squares", "Zipf")
_UPPER, _LOWER = "√N/ε", "√N/ln N"
_LESS, _MORE = "√N·ln²N/ε²", "√N·ln³N/ε²"


def _cells(size: Size, *, largest: int) -> Sequence[Cell]:
    epsilons, powers, trials = ((1,), (3, 5), 10) if size is Size.QUICK else ((1, 0.1), range(3, largest + 1), 100)
    return [
        {"data": name, "epsilon": epsilon, "items": 10**power, "trials": trials}
        for epsilon in epsilons
        for name in _DATA
        for power in powers
    ]


def _run_l1(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    epsilon, items, name = float(cell["epsilon"]), int(cell["items"]), str(cell["data"])
    errors = l1_errors(PUBLISHED, epsilon, drawn(name, items, epsilon), int(cell["trials"]), rng)
    yield Point.of(errors, panel=f"ε = {epsilon:g}", series=name, x=items)


def _view_l1(points: Sequence[Point]) -> Sequence[Point]:
    return [*points, *_lines(points, {_UPPER: _upper, _LOWER: lambda items, _: math.sqrt(items) / math.log(items)})]


def _upper(items: float, epsilon: float) -> float:
    return math.sqrt(items) / epsilon


def _lines(points: Sequence[Point], formulas: dict[str, object]) -> Iterator[Point]:
    for panel in dict.fromkeys(point.panel for point in points):
        epsilon = float(panel.rpartition("ε = ")[2])
        for name, formula in formulas.items():
            for x in sorted({point.x for point in points if point.panel == panel}):
                yield Point(panel, name, x, formula(x, epsilon))  # type: ignore[operator]


def _judge_l1(points: Sequence[Point]) -> Verdict:
    """Compare the exponent of N, over the last step, with those of the two bounds there."""
    told, between = [], []
    for panel in dict.fromkeys(point.panel for point in points):
        for name in _DATA:
            line = select(points, name, panel)
            slope, spread = steps(line)[-1]
            between.append(slope - 2 * spread <= 0.5)
            last = max(line)
            told.append(
                f"{name}, {panel}: N^({slope:.3f} ± {spread:.3f}), at N = {last:,.0f} "
                f"{line[last].mean / math.sqrt(last):.3g}·√N"
            )
    return Verdict(
        all(between),
        f"Over the last step of N the error grows no faster than √N on {sum(between)} of {len(between)} data: "
        f"{'; '.join(told)}. The lower bound √N/ln N, of the worst data and any private algorithm, lies below by a "
        "logarithm: up to constants, errors here are between the two.",
    )


def _run_squares(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    epsilon, items, name = float(cell["epsilon"]), int(cell["items"]), str(cell["data"])
    profile = drawn(name, items, epsilon)
    for rival in (PUBLISHED, HAY):
        found = runs(rival, epsilon, profile, int(cell["trials"]), rng)
        errors = [float(ah.properties.sorted_l2(profile, each)) ** 2 for each in found]
        yield Point.of(errors, panel=f"{name}, ε = {epsilon:g}", series=rival, x=items)


def _view_squares(points: Sequence[Point]) -> Sequence[Point]:
    formulas = {
        name: lambda items, epsilon, power=power: math.sqrt(items) * math.log(items) ** power / epsilon**2
        for name, power in ((_LESS, 2), (_MORE, 3))
    }
    return [*points, *_lines(points, dict(formulas))]


def _judge_squares(points: Sequence[Point]) -> Verdict:
    """Compare growth over the last step with the bound's, and each error with that of the rival."""
    told, held, better, total = [], [], 0, 0
    for panel in dict.fromkeys(point.panel for point in points):
        ours, theirs = (select(points, rival, panel) for rival in (PUBLISHED, HAY))
        slope, spread = steps(ours)[-1]
        last = max(ours)
        # d ln(√N ln²N) / d ln N, at the smaller end, where it is larger.
        held.append(slope - 2 * spread <= 0.5 + 2 / math.log(sorted(ours)[-2]))
        for x, point in ours.items():
            total += 1
            gap = theirs[x].mean - point.mean
            better += gap > 2 * math.hypot(point.standard_error, theirs[x].standard_error)
        told.append(f"{panel}: {theirs[last].mean / ours[last].mean:.2g}")
    bound, gain = "holds" if all(held) else "fails", "holds, too" if better == total else "does not"
    return Verdict(
        all(held) and better == total,
        f"The bound {bound}: the squared error grows no faster than √N·ln²N on {sum(held)} of {len(held)} data. That "
        f"it improves on the error of Hay et al. {gain}: it is below that of the isotonic mechanism, by more than two "
        f"standard errors, in {better} of {total} settings. Error of the isotonic mechanism over that of the "
        f"exponential one, at the largest N: {'; '.join(told)}.",
    )


ERROR_AND_ITEMS = Experiment(
    name="error-items",
    place="Sections 1 and 2, L1 error",
    title="ℓ1 error against N, between the bounds",
    setting="Exponential mechanism, c = ε/2; means of 100 draws, 10 if quick; N from 10³ to 10⁸. Counts 1, 2, 3, …; "
    "a staircase of squares of side 8/ε; counts in Zipf's proportions. The constants of both bounds are drawn as 1.",
    says="“They also showed that the expected L1 error of their mechanism was upper bounded by O(√N/ε)”; “any "
    "differentially private algorithm for releasing integer partitions must incur L1 error at least Ω(√N/log N) in the "
    "worst case. Thus, the exponential mechanism is nearly optimal.”",
    axes=Axes("N", "mean ℓ1 error"),
    cells=lambda size: _cells(size, largest=8),
    run=_run_l1,
    judge=_judge_l1,
    view=_view_l1,
)
SQUARED_ERROR = Experiment(
    name="squared-error",
    place="Section 2, Mean Squared Error",
    title="squared ℓ2 error beside that of Hay et al.",
    setting="Means of 100 draws, 10 if quick; N from 10³ to 10⁷. Exponential mechanism, c = ε/2, beside the isotonic "
    "mechanism, told the exact number of labels: noise on each count, then the nearest non-increasing sequence, "
    "rounded. The constants of both bounds are drawn as 1.",
    says="“We can now upper bound the mean squared error of the exponential mechanism — O(√N log²N/ε²). Thus, the "
    "exponential mechanism also improves on L2 error”: Hay et al. (2009) have O(√N log³N/ε²).",
    axes=Axes("N", "mean squared ℓ2 error"),
    cells=lambda size: _cells(size, largest=7),
    run=_run_squares,
    judge=_judge_squares,
    view=_view_squares,
)
