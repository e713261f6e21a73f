"""Mechanisms on a closed alphabet: two symbols (Theorem 2), 256 of them, and what decoders make of the estimates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.local.randomizers.closed import WarnerRR
from anonhist.local.randomizers.local_hashing import LocalHashing
from anonhist.local.randomizers.unary import KRAPPOR, OptimizedUnary
from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.kairouz.reports import DECODERS, LOSSES, drawn_losses
from anonhist_papers.kairouz.settings import LOW_PRIVACY, MECHANISMS, geometric, uniform, zipf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anonhist.local.survey import Survey
    from anonhist_papers.experiment import Cell

_BINARY: Mapping[str, Callable[[float], Survey]] = {
    "W-RR": lambda epsilon: WarnerRR(alphabet=2, epsilon=epsilon),
    "k-RAPPOR": lambda epsilon: KRAPPOR(alphabet=2, epsilon=epsilon),
    "OUE": lambda epsilon: OptimizedUnary(alphabet=2, epsilon=epsilon),
    "local hashing": lambda epsilon: LocalHashing(alphabet=2, epsilon=epsilon),
}
_SHAPES: Mapping[str, Callable[[], NDArray[np.float64]]] = {"uniform": uniform, "geometric": geometric, "Zipf": zipf}
_SKEWED = ("geometric", "Zipf")
_PLAIN = ("k-RR", "k-RAPPOR")


def _binary_cells(size: Size) -> Sequence[Cell]:
    full = size is Size.FULL
    return [
        {"mechanism": mechanism, "epsilon": epsilon, "share": share, "users": 10_000, "trials": 200 if full else 20}
        for epsilon in ((0.25, 0.5, 1.0, 2.0, 4.0) if full else (0.5, 2.0))
        for share in ((0.5, 0.1, 0.01) if full else (0.5, 0.1))
        for mechanism in _BINARY
    ]


def _run_binary(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    mechanism, epsilon, share = str(cell["mechanism"]), float(cell["epsilon"]), float(cell["share"])
    survey, truth, users = _BINARY[mechanism](epsilon), np.array([1 - share, share]), int(cell["users"])
    for (_, decoder, loss), values in drawn_losses(survey, truth, [users], trials=int(cell["trials"]), rng=rng).items():
        if decoder == "projected":
            yield Point.of(values, panel=f"{loss}, {share:g} say yes", series=mechanism, x=epsilon)


def _judge_binary(points: Sequence[Point]) -> Verdict:
    least, worse, better = math.inf, 0, []
    for panel in dict.fromkeys(point.panel for point in points):
        own = select(points, "W-RR", panel)
        for rival in (name for name in _BINARY if name != "W-RR"):
            for epsilon, point in select(points, rival, panel).items():
                margin = 2 * math.hypot(point.standard_error, own[epsilon].standard_error)
                least = min(least, point.mean / own[epsilon].mean)
                worse += point.mean > own[epsilon].mean
                if point.mean + margin < own[epsilon].mean:
                    better.append(f"{rival} at ε = {epsilon:g}, {panel}")
    total = sum(point.series != "W-RR" for point in points)
    return Verdict(
        not better,
        f"In {worse} of {total} comparisons the other mechanism errs more; the least of their errors is {least:.3g} "
        f"times that of W-RR. One is better beyond two standard errors: {'; '.join(better) or 'never'}.",
    )


def _closed_cells(size: Size) -> Sequence[Cell]:
    full = size is Size.FULL
    epsilons = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, LOW_PRIVACY, 6.0, 7.0, 8.0) if full else (1.0, 4.0, LOW_PRIVACY, 7.0)
    names = tuple(MECHANISMS) if full else ("k-RR", "k-RAPPOR", "OUE", "projective geometry")
    users, trials = ("30000 1000000", 3) if full else ("3000 30000", 2)
    settings = [("no privacy", LOW_PRIVACY), *((mechanism, epsilon) for epsilon in epsilons for mechanism in names)]
    return [
        {"mechanism": mechanism, "epsilon": epsilon, "users": users, "trials": trials}
        for mechanism, epsilon in settings
    ]


def _run_closed(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    mechanism, epsilon = str(cell["mechanism"]), float(cell["epsilon"])
    survey = MECHANISMS[mechanism](alphabet=geometric().size, epsilon=epsilon) if mechanism in MECHANISMS else None
    users = [int(each) for each in str(cell["users"]).split()]
    found = drawn_losses(survey, geometric(), users, trials=int(cell["trials"]), rng=rng)
    for (number, decoder, loss), values in found.items():
        if (decoder, loss) == ("projected", "ℓ1"):
            # Without privacy the error is the same at every ε.
            for x in (epsilon,) if survey is not None else (0.5, 8.0):
                yield Point.of(values, panel=f"{number:,} people", series=mechanism, x=x)


def _judge_closed(points: Sequence[Point]) -> Verdict:
    told, agreed = [], []
    for panel in dict.fromkeys(point.panel for point in points):
        rr, rappor = (select(points, name, panel) for name in _PLAIN)
        differences = {
            epsilon: (
                rr[epsilon].mean - rappor[epsilon].mean,
                2 * math.hypot(rr[epsilon].standard_error, rappor[epsilon].standard_error),
            )
            for epsilon in rr
        }
        first, last = min(rr), max(rr)
        agreed.append(differences[first][0] > differences[first][1] and -differences[last][0] > differences[last][1])
        better = [epsilon for epsilon, (difference, _) in differences.items() if difference < 0]
        rivals = {point.series for point in points} - {*_PLAIN, "no privacy"}
        beaten = sum(
            any(
                point.x == epsilon and point.mean < min(rr[epsilon].mean, rappor[epsilon].mean)
                for point in points
                if point.panel == panel and point.series in rivals
            )
            for epsilon in rr
        )
        told.append(
            f"{panel}: at ε = {first:g} k-RR errs {rr[first].mean:.3g} and k-RAPPOR {rappor[first].mean:.3g}, at "
            f"{last:g} {rr[last].mean:.3g} and {rappor[last].mean:.3g}; k-RR is better from "
            f"ε = {min(better, default=math.inf):.3g} on; a later mechanism is better than both at {beaten} of "
            f"{len(rr)} values of ε"
        )
    return Verdict(all(agreed), f"{'. '.join(told)}.")


def _simplex_cells(size: Size) -> Sequence[Cell]:
    full = size is Size.FULL
    return [
        {
            "mechanism": mechanism,
            "shape": shape,
            "epsilon": epsilon,
            "users": 30_000,
            "trials": 20 if full else 3,
        }
        for epsilon in ((0.5, 1.0, 2.0, 3.0, 4.0, LOW_PRIVACY, 7.0, 8.0) if full else (1.0, 4.0, 7.0))
        for shape in _SHAPES
        for mechanism in _PLAIN
    ]


def _run_simplex(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    mechanism, shape, epsilon = str(cell["mechanism"]), str(cell["shape"]), float(cell["epsilon"])
    truth = _SHAPES[shape]()
    survey = MECHANISMS[mechanism](alphabet=truth.size, epsilon=epsilon)
    found = drawn_losses(survey, truth, [int(cell["users"])], trials=int(cell["trials"]), rng=rng)
    for (_, decoder, loss), values in found.items():
        yield Point.of(values, panel=f"{loss}, {mechanism}, {shape}", series=decoder, x=epsilon)


def _judge_simplex(points: Sequence[Point]) -> Verdict:
    """Count where projecting is best: no decoder errs less, beyond two standard errors."""
    told, agrees = [], True
    for loss, shape in ((loss, shape) for shape in _SKEWED for loss in LOSSES):
        total = 0
        lost: list[tuple[float, str, float]] = []
        for mechanism in _PLAIN:
            panel = f"{loss}, {mechanism}, {shape}"
            for epsilon, point in select(points, "projected", panel).items():
                others = [select(points, decoder, panel)[epsilon] for decoder in DECODERS if decoder != "projected"]
                best = min(others, key=lambda other: other.mean)
                margin = 2 * math.hypot(point.standard_error, best.standard_error)
                total += 1
                if point.mean > best.mean + margin:
                    lost.append((point.mean / best.mean, f"{mechanism} and ε = {epsilon:.3g}", epsilon))
        agrees = agrees and not lost
        sentence = f"{shape}, {loss}: in {total - len(lost)} of {total} settings"
        if lost:
            ratio, setting, _ = max(lost)
            sentence += (
                f" (up to ε = {max(each for *_, each in lost):.3g} another decoder may be better; with {setting} "
                f"projecting errs {ratio:.3g} times as much)"
            )
        told.append(sentence)
    return Verdict(agrees, f"Projecting is best, up to two standard errors: {'; '.join(told)}.")


def _view_simplex(points: Sequence[Point]) -> Sequence[Point]:
    """Put the panels of one loss and one mechanism side by side."""
    order = [f"{loss}, {name}, {shape}" for loss in ("ℓ1", "ℓ2²") for name in _PLAIN for shape in _SHAPES]
    return sorted(points, key=lambda point: order.index(point.panel))


BINARY = Experiment(
    name="theorem-2",
    place="Theorem 2",
    title="two symbols: Warner's randomized response beside other mechanisms",
    setting="10,000 people, 200 runs (quick: 20); all reports are drawn, and estimates are projected.",
    says="“For all binary distributions p, all loss functions ℓ, and all privacy levels ε, Q_WRR is the optimal "
    "solution to the private minimax distribution estimation problem.” Here it can only be refuted: two losses, three "
    "distributions, three rivals.",
    axes=Axes("ε", "loss"),
    cells=_binary_cells,
    run=_run_binary,
    judge=_judge_binary,
)
CLOSED_ALPHABETS = Experiment(
    name="closed",
    place="k-ary alphabets",
    title="k-RR, k-RAPPOR and later mechanisms on 256 symbols",
    setting="256 symbols, geometric with mean 51.2, projected; 30,000 and a million people, 3 runs (quick: 3,000 and "
    "30,000, 2 runs); all reports are drawn. OUE, projective geometry and subset selection are later than the paper.",
    says="“k-RR is order-optimal for low privacy (and k-RAPPOR is sub-optimal) … k-RAPPOR is order-optimal for high "
    "privacy (and k-RR is sub-optimal)”. So the two lines must cross.",
    axes=Axes("ε", "ℓ1 error", log_x=False),
    cells=_closed_cells,
    run=_run_closed,
    judge=_judge_closed,
)
SIMPLEX = Experiment(
    name="simplex",
    place="Constraining to the simplex",
    title="estimates as they are, cut at 0 and renormalized, or projected",
    setting="256 symbols, uniform, geometric with mean 51.2, and Zipf with exponent 1.5; 30,000 people, 20 runs "
    "(quick: 3); all reports are drawn.",
    says="“For skewed distributions, the projected estimator offers the best utility.” Two figures, k-RR and k-RAPPOR, "
    "which cannot be read; the slides do not name the loss.",
    axes=Axes("ε", "loss", log_x=False),
    cells=_simplex_cells,
    run=_run_simplex,
    judge=_judge_simplex,
    view=_view_simplex,
)
