"""The slides' table "Utility": expected losses and effective samples, formulas beside what is measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.kairouz.formulas import effective_share, expected_l1, expected_l2, printed_share_of_rappor
from anonhist_papers.kairouz.reports import drawn_losses
from anonhist_papers.kairouz.settings import LOW_PRIVACY, MECHANISMS, SYMBOLS, uniform

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anonhist_papers.experiment import Cell

_BOTH = ("k-RR", "k-RAPPOR")
_SMALL = 0.05
_LOW, _HIGH = "ε = ln k", f"ε = {_SMALL:g}"
# By panel, what the slides say that the shares of n are: the factor, and the power of k.
_LIMITS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    _LOW: {"k-RR": (1 / 4, 0), "k-RAPPOR": (1, -1 / 2)},
    _HIGH: {"k-RR": (_SMALL**2, -2), "k-RAPPOR": (_SMALL**2 / 4, -1)},
}
# Powers of k are found from this number of symbols on; and how far they may be off.
_LARGE, _NEAR = 256, 0.1
# Runs of each comparison with a formula, and the chance that any of all comparisons fails though the formulas hold.
_RUNS, _CHANCE = 20, 0.05


def _losses(
    mechanism: str, symbols: int, epsilon: float, *, users: int, trials: int, rng: np.random.Generator
) -> Mapping[str, list[float]]:
    """Return the losses of the raw estimates of equally frequent symbols, by loss."""
    survey = None if mechanism == "no privacy" else MECHANISMS[mechanism](alphabet=symbols, epsilon=epsilon)
    found = drawn_losses(survey, uniform(symbols), [users], trials=trials, rng=rng)
    return {loss: values for (_, decoder, loss), values in found.items() if decoder == "as it is"}


def _table_cells(size: Size) -> Sequence[Cell]:
    full = size is Size.FULL
    epsilons = (0.5, 1.0, 2.0, 3.0, 4.0, LOW_PRIVACY, 7.0) if full else (1.0, LOW_PRIVACY)
    users, trials = (100_000, _RUNS) if full else (10_000, _RUNS)
    return [
        {"symbols": symbols, "epsilon": epsilon, "users": users, "trials": trials}
        for symbols in (16, SYMBOLS)
        for epsilon in epsilons
    ]


def _run_table(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    symbols, epsilon, users = int(cell["symbols"]), float(cell["epsilon"]), int(cell["users"])
    formulas = {"ℓ1": expected_l1, "ℓ2²": expected_l2}
    for mechanism in ("no privacy", *_BOTH):
        found = _losses(mechanism, symbols, epsilon, users=users, trials=int(cell["trials"]), rng=rng)
        for loss, values in found.items():
            panel = f"{loss}, k = {symbols}"
            yield Point.of(values, panel=panel, series=mechanism, x=epsilon)
            said = formulas[loss](mechanism, symbols=symbols, epsilon=epsilon, users=users)
            yield Point(panel, f"{mechanism}, formula", epsilon, said)


def _deviations(points: Sequence[Point], formula: str, measured: str) -> dict[tuple[str, float], float]:
    """Return by how many standard errors measured points are off a formula, by panel and x."""
    said = {(point.panel, point.x): point.mean for point in points if point.series == formula}
    return {
        (point.panel, point.x): (point.mean - said[point.panel, point.x]) / point.standard_error
        for point in points
        if point.series == measured and (point.panel, point.x) in said
    }


def _fits(deviations: Sequence[float]) -> bool:
    """Return whether no deviation is beyond what chance explains: Student's distribution, by Bonferroni's bound.

    It holds though comparisons of the same runs hang together.
    """
    from scipy.stats import t

    most = t.isf(_CHANCE / (2 * len(deviations)), _RUNS - 1)
    return bool(max(map(abs, deviations)) <= most)


def _judge_table(points: Sequence[Point]) -> Verdict:
    off = [
        deviation
        for name in ("no privacy", *_BOTH)
        for deviation in _deviations(points, f"{name}, formula", name).values()
    ]
    ratios = [
        point.mean / formula.mean
        for point in points
        for formula in points
        if (formula.series, formula.panel, formula.x) == (f"{point.series}, formula", point.panel, point.x)
    ]
    return Verdict(
        _fits(off),
        f"Measured losses are {min(ratios):.3g} to {max(ratios):.3g} times those of the formulas; "
        f"{sum(abs(each) <= 2 for each in off)} of {len(off)} are within two standard errors, and the farthest is off "
        f"by {max(map(abs, off)):.2g}; judged is whether chance explains the farthest of so many (5 %, Bonferroni).",
    )


def _share(values: Sequence[float], symbols: int, users: int, *, panel: str, series: str, x: float) -> Point:
    """Return the effective samples as a share of n: from the ℓ2 loss without privacy, and the one measured."""
    point = Point.of(values, panel=panel, series=series, x=x)
    share = (1 - 1 / symbols) / users / point.mean
    return Point(panel, series, x, share, share * point.standard_error / point.mean, point.runs)


def _effective_cells(size: Size) -> Sequence[Cell]:
    full = size is Size.FULL
    users, trials = (20_000, _RUNS) if full else (5_000, _RUNS)
    epsilons = (0.5, 1.0, 2.0, 3.0, 4.0, LOW_PRIVACY, 7.0, 9.0) if full else (1.0, 3.0, LOW_PRIVACY)
    return [{"epsilon": epsilon, "users": users, "trials": trials} for epsilon in epsilons]


def _run_effective(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    epsilon, users = float(cell["epsilon"]), int(cell["users"])
    panel = f"k = {SYMBOLS}"
    for mechanism in _BOTH:
        found = _losses(mechanism, SYMBOLS, epsilon, users=users, trials=int(cell["trials"]), rng=rng)
        yield _share(found["ℓ2²"], SYMBOLS, users, panel=panel, series=mechanism, x=epsilon)
        share = effective_share(mechanism, symbols=SYMBOLS, epsilon=epsilon)
        yield Point(panel, f"{mechanism}, from its ℓ2 loss", epsilon, share)
    printed = printed_share_of_rappor(symbols=SYMBOLS, epsilon=epsilon)
    yield Point(panel, "k-RAPPOR, as printed", epsilon, printed)


def _judge_effective(points: Sequence[Point]) -> Verdict:
    rr = list(_deviations(points, "k-RR, from its ℓ2 loss", "k-RR").values())
    rappor = list(_deviations(points, "k-RAPPOR, from its ℓ2 loss", "k-RAPPOR").values())
    printed = list(_deviations(points, "k-RAPPOR, as printed", "k-RAPPOR").values())
    measured, said = select(points, "k-RAPPOR"), select(points, "k-RAPPOR, as printed")
    factors = ", ".join(f"{measured[x].mean / said[x].mean:.3g} times at ε = {x:.3g}" for x in measured)
    return Verdict(
        _fits(rr) and _fits(printed),
        f"k-RR {'is' if _fits(rr) else 'is not'} as printed. k-RAPPOR "
        f"{'is' if _fits(printed) else 'is not'}: what is measured is {factors} the printed share. It "
        f"{'is' if _fits(rappor) else 'is not'} what the slides' own ℓ2 loss gives, k²e^(ε/2) in place of k²e^ε "
        f"(largest deviation {max(map(abs, rappor)):.2g} standard errors).",
    )


def _limit_cells(size: Size) -> Sequence[Cell]:
    full = size is Size.FULL
    users, trials = (20_000, 10) if full else (2_000, 4)
    return [
        {"panel": panel, "symbols": symbols, "users": users, "trials": trials}
        for panel in _LIMITS
        for symbols in (16, 64, 256, 1024, 4096)
    ]


def _run_limits(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    panel, symbols, users = str(cell["panel"]), int(cell["symbols"]), int(cell["users"])
    epsilon = math.log(symbols) if panel == _LOW else _SMALL
    for mechanism in _BOTH:
        found = _losses(mechanism, symbols, epsilon, users=users, trials=int(cell["trials"]), rng=rng)
        yield _share(found["ℓ2²"], symbols, users, panel=panel, series=mechanism, x=symbols)
        factor, power = _LIMITS[panel][mechanism]
        yield Point(panel, f"{mechanism}, slides", symbols, factor * symbols**power)


def _judge_limits(points: Sequence[Point]) -> Verdict:
    agreed, told = [], []
    for panel, by_mechanism in _LIMITS.items():
        for mechanism, (_, power) in by_mechanism.items():
            line = {x: point for x, point in select(points, mechanism, panel).items() if x >= _LARGE}
            slope = float(np.polyfit(np.log(list(line)), [math.log(point.mean) for point in line.values()], 1)[0])
            agreed.append(abs(slope - power) <= _NEAR)
            last = max(line)
            ratio = line[last].mean / select(points, f"{mechanism}, slides", panel)[last].mean
            told.append(
                f"{panel}: {mechanism} falls as k^{slope:.2f} (slides: {power:g}), at k = {last:,g} {ratio:.3g} times "
                "what they say"
            )
    return Verdict(all(agreed), f"{'; '.join(told)}.")


UTILITY = Experiment(
    name="utility",
    place="Utility (bounds on expected loss)",
    title="expected ℓ1 and ℓ2 losses of k-RR and k-RAPPOR, formulas and measured",
    setting="16 and 256 equally frequent symbols, 100,000 people (quick: 10,000), 20 runs; all reports are "
    "drawn, and estimates are neither projected nor renormalized.",
    says="A table of six formulas, dashed here; those of the ℓ1 loss hold as n grows.",
    axes=Axes("ε", "loss", log_x=False),
    cells=_table_cells,
    run=_run_table,
    judge=_judge_table,
)
EFFECTIVE_SAMPLES = Experiment(
    name="effective-samples",
    place="Utility (effective samples), general",
    title="how many people without privacy one is worth, by ε",
    setting="256 equally frequent symbols, 20,000 people (quick: 5,000), 20 runs; effective samples are the "
    "ℓ2 loss without privacy divided by the one measured.",
    says="“k-RAPPOR: n ((k−1)(e^(ε/2)−1)² / ((k−1)(e^(ε/2)−1)² + k² e^ε))”, beside an ℓ2 loss with e^(ε/2) in the same "
    "place; k-RR: n((e^ε − 1)/(e^ε + k − 1))².",
    axes=Axes("ε", "effective samples / n", log_x=False),
    cells=_effective_cells,
    run=_run_effective,
    judge=_judge_effective,
)
LIMITS = Experiment(
    name="limits",
    place="Utility (effective samples), limits",
    title="effective samples by k, for low and for high privacy",
    setting="k equally frequent symbols, 20,000 people (quick: 2,000), 10 runs (quick: 4); powers of k are fitted from "
    f"k = {_LARGE} on, and agree if they are off by at most {_NEAR:g}.",
    says="“k-RR is order-optimal for low privacy (and k-RAPPOR is sub-optimal)”: n/4 and n/sqrt(k) for ε ≈ ln k. "
    "“k-RAPPOR is order-optimal for high privacy (and k-RR is sub-optimal)”: nε²/4k and nε²/k² for small ε.",
    axes=Axes("k", "effective samples / n"),
    cells=_limit_cells,
    run=_run_limits,
    judge=_judge_limits,
)
