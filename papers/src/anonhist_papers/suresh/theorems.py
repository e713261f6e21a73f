"""Theorems 1 and 2 as experiments: error against n and ε, N, run time, and lower bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.suresh.bounds import slope
from anonhist_papers.suresh.errors import (
    BOUND,
    EXPONENTIAL,
    FIFTIETH,
    ISOTONIC,
    LARGEST,
    RATE,
    THIRDS,
    errors_by_epsilon,
    errors_by_items,
    errors_of_items,
    errors_on_hard_data,
    seconds_by_items,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anonhist_papers.experiment import Cell

# A slope of 1/2 in n is confirmed up to this much: lines over few powers of ten still bend.
_TOLERANCE = 0.01


def _panels(points: Sequence[Point]) -> list[str]:
    return list(dict.fromkeys(point.panel for point in points))


def log_slope(line: Mapping[float, Point], *, log_x: bool = True) -> tuple[float, float]:
    """Return the slope of ``ln y`` against ln x, or x, with its standard error; points at 0 are left out.

    Examples
    --------
    >>> line = {x: Point("", "a", x, x**0.5, 0.01 * x**0.5, 9) for x in (1.0, 10.0, 100.0)}
    >>> [round(each, 4) for each in log_slope(line)]
    [0.5, 0.0031]
    """
    kept = [point for point in line.values() if point.mean > 0]
    x = [math.log(point.x) if log_x else point.x for point in kept]
    return slope(x, [math.log(point.mean) for point in kept], [point.standard_error / point.mean for point in kept])


def _told(value: float, error: float) -> str:
    return f"{value:.3f} ± {error:.3f}"


def _judge_items(points: Sequence[Point]) -> Verdict:
    """Compare the slopes in n, over the largest n."""
    slopes = []
    for panel in _panels(points):
        for series in (THIRDS, FIFTIETH):
            line = select(points, series, panel)
            last = {x: point for x, point in line.items() if x >= max(line) / 10**4.5}
            found, error = log_slope(last)
            slopes.append((0.5 + found, error, f"{panel}, {series.partition(', ')[2]}"))
    worst, error, where = max(slopes)
    above = any(found - 2 * spread > 0.5 + _TOLERANCE for found, spread, _ in slopes)
    within = all(found + 2 * spread <= 0.5 + _TOLERANCE for found, spread, _ in slopes)
    factors = [
        point.mean / select(points, BOUND, point.panel)[point.x].mean for point in points if point.series == FIFTIETH
    ]
    return Verdict(
        False if above else True if within else None,
        f"Over the last four powers of ten the error grows like n to the power {min(slopes)[0]:.3f} to at most "
        f"{_told(worst, error)} ({where}); Theorem 1 says 1/2. With 1/50 for n it is {min(factors):.1f} to "
        f"{max(factors):,.0f} times the lower bound.",
    )


def _scaled(points: Sequence[Point]) -> Sequence[Point]:
    """Scale the rate of Theorem 1 to the error as published at ε = 1: its constant is not in the paper."""
    found = []
    for point in points:
        if point.series != RATE:
            found.append(point)
            continue
        own, rate = (select(points, series, point.panel) for series in (THIRDS, RATE))
        factor = own[1.0].mean / rate[1.0].mean if 1.0 in own else 1.0
        found.append(replace(point, series=f"{RATE}, through ε = 1", mean=factor * point.mean))
    return found


def _judge_epsilon(points: Sequence[Point]) -> Verdict:
    """Compare the error with the rate up to ε = 1, and fit c beyond."""
    ratios, rates, inverse, crossings, gains = [], [], [], [], []
    for panel in _panels(points):
        own, rate, isotonic, fiftieth = (select(points, name, panel) for name in (THIRDS, RATE, ISOTONIC, FIFTIETH))
        scaled = [
            replace(own[x], mean=own[x].mean / each.mean, standard_error=own[x].standard_error / each.mean)
            for x, each in rate.items()
        ]
        # O(√(n ln(2/ε)/ε)): the ratio to the rate does not rise as ε falls.
        least, most = min(scaled, key=lambda point: point.x), max(scaled, key=lambda point: point.x)
        ratios.append(
            (
                least.mean / most.mean,
                math.hypot(least.standard_error / least.mean, most.standard_error / most.mean) * least.mean / most.mean,
            )
        )
        for line in (own, fiftieth):
            found, error = log_slope({x: point for x, point in line.items() if x >= 1.5}, log_x=False)
            rates.append((-found, error))
        inverse.append(-log_slope({x: point for x, point in isotonic.items() if x <= 1})[0])
        better = [x for x in own if own[x].mean < isotonic[x].mean]
        crossings.append(f"{panel}: " + (f"from ε = {max(better):g} down" if better else "nowhere"))
        gains += [own[x].mean / fiftieth[x].mean for x in own if fiftieth[x].mean]
    rises = any(ratio - 2 * error > 1 for ratio, error in ratios)
    stays = all(ratio + 2 * error <= 1 for ratio, error in ratios)
    falls = all(found - 2 * error > 0 for found, error in rates)
    least_c, most_c = (min(rates[::2]), max(rates[::2])), (min(rates[1::2]), max(rates[1::2]))
    return Verdict(
        False if rises or not falls else True if stays else None,
        f"From ε = 1 down to {min(point.x for point in points):g}, the error over the rate changes by the factor "
        f"{' and '.join(_told(*each) for each in ratios)}. Above, it falls like e^(−cε) with c = "
        f"{_told(*least_c[0])} to {_told(*least_c[1])} with equal thirds, {_told(*most_c[0])} to {_told(*most_c[1])} "
        f"with 1/50 for n, whose error is smaller by a factor of {min(gains):.2f} to {max(gains):.0f}. Hay's error grows "
        f"like 1/ε to the power {min(inverse):.2f} to {max(inverse):.2f}; PrivHist as published errs less than it on "
        f"{'; '.join(crossings)}. The Frobenius mechanism errs least below ε = 2 on all.",
    )


def _judge_released_items(points: Sequence[Point]) -> Verdict:
    """Compare N with its bound, and with the sum of the profile."""
    bounded, compared, clear, fiftieth = True, 0, 0, 0
    above_one = []
    for panel in _panels(points):
        for series in (THIRDS, FIFTIETH):
            number, total = (select(points, f"{title}; {series}", panel) for title in ("N", "sum of the profile"))
            for epsilon, point in number.items():
                if series == THIRDS:
                    expected = _noise(epsilon / 3)
                    bounded &= abs(point.mean - expected) <= 4 * point.standard_error + 1e-9
                    above_one += [epsilon] if epsilon > 1 and point.mean - 2 * point.standard_error > 1 else []
                    compared += 1
                far = total[epsilon].mean - point.mean
                is_clear = far > 2 * math.hypot(total[epsilon].standard_error, point.standard_error)
                clear += is_clear and series == THIRDS
                fiftieth += is_clear and series == FIFTIETH
    literal = (
        f"Without a constant before it, E|N − n| ≤ e^(−cε) does not hold at ε = "
        f"{', '.join(f'{each:g}' for each in sorted(set(above_one)))}, where the error is above 1. "
        if above_one
        else ""
    )
    return Verdict(
        bounded and clear == compared,
        f"With equal thirds N errs by 2e^(−ε/3)/(1 − e^(−2ε/3)) {'everywhere' if bounded else 'NOT everywhere'}, whatever "
        f"n is. {literal}The sum of the profile errs more than N (by two standard errors) in {clear} of {compared} "
        f"settings with equal thirds, and in {fiftieth} of {compared} with 1/50 for n.",
    )


def _noise(rate: float) -> float:
    return 2 * math.exp(-rate) / (1 - math.exp(-2 * rate))


def _judge_seconds(points: Sequence[Point]) -> Verdict:
    """Compare the growth of the time, over the largest n, with √n times a logarithm."""
    told, agrees = [], []
    for panel in _panels(points):
        line = select(points, "PrivHist", panel)
        last = {x: point for x, point in line.items() if x >= max(line) / 10**4.5}
        found, error = log_slope(last)
        # The slope of √n·ln n.
        middle = math.sqrt(min(last) * max(last))
        agrees.append((found - 2 * error, found + 2 * error, 0.5 + 1 / math.log(middle)))
        others = []
        for series in (ISOTONIC, EXPONENTIAL):
            rival = select(points, series, panel)
            if len(rival) > 1:
                steepest, spread = log_slope({x: point for x, point in rival.items() if x >= max(rival) / 150})
                others.append(f"{series} {_told(steepest, spread)}")
        told.append(f"{panel}: {_told(found, error)} ({', '.join(others)})")
    slower = any(least > most for least, _, most in agrees)
    within = all(high <= most for _, high, most in agrees)
    return Verdict(
        False if slower else True if within else None,
        f"Processor time grows like n to the power, over the largest n: {'; '.join(told)}. √n ln n would be "
        f"{max(each for *_, each in agrees):.3f}.",
    )


def _judge_lower_bound(points: Sequence[Point]) -> Verdict:
    """Look for a mechanism that errs less than the bound."""
    below, factors = [], []
    for point in points:
        if point.series == BOUND:
            continue
        bound = select(points, BOUND, point.panel)[point.x].mean
        if point.mean + 2 * point.standard_error < bound:
            below.append(f"{point.series} at ε = {point.x:g}")
        factors.append((point.mean / bound, point.series, point.x))
    least, series, epsilon = min(factors)
    low = [(each, x) for each, name, x in factors if name == FIFTIETH and x > 1]
    high = [(each, x) for each, name, x in factors if name == FIFTIETH and x <= 1]
    return Verdict(
        not below,
        (f"Below the bound: {', '.join(below)}. " if below else "No mechanism is below the bound. ")
        + f"The nearest is {series} at ε = {epsilon:g}, {least:.2f} times it. PrivHist with 1/50 for n errs "
        f"{min(high)[0]:.1f} to {max(high)[0]:.1f} times as much as it up to ε = 1, and {min(low)[0]:.1f} (ε = "
        f"{min(low)[1]:g}) to {max(low)[0]:,.0f} times (ε = {max(low)[1]:g}) above: e^(−ε) and e^(−2ε) part.",
    )


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
_QUICK_EPSILONS = ("5", "3", "1.5", "1", "0.3", "0.1")


def _epsilons(size: Size) -> tuple[str, ...]:
    return _QUICK_EPSILONS if size is Size.QUICK else _EPSILONS


ITEMS = Experiment(
    name="theorem-1-items",
    place="Theorem 1, in n",
    title="error against n in both regimes",
    setting="All counts different (1, 2, 3, …), up to 10¹³ items; 40 simulated runs, 5 from 10¹⁰ items on and if quick. "
    "Scaled by √n: a line that does not rise is an error of O(√n). The lower bound is of our constant: see Theorem 2.",
    says="“If ε > 1, then E[ℓ1(h, H)] = O(√n·e^(−cε)) … for some constant c > 0 … If 1 ≥ ε = Ω(1/n) then E[ℓ1(h, H)] = "
    "O(√((n/ε)·log(2/ε))).”",
    axes=Axes("items n", "mean sorted ℓ1 error / √n"),
    cells=_cells_items,
    run=errors_by_items,
    judge=_judge_items,
)
EPSILON = Experiment(
    name="theorem-1-epsilon",
    place="Theorem 1, in ε",
    title="error against ε in both regimes",
    setting="Three profiles; 100 simulated runs, 5 if quick. Hay's mechanism is told the number of labels. The rate of "
    "the theorem is drawn through the error at ε = 1, as its constant is not in the paper.",
    says="“For the high-privacy regime, when ε ≤ 1, all known previous algorithms achieve an error of 1/ε. To reduce the "
    "error from 1/ε to 1/√ε, we use smoothing techniques.” Above ε = 1 the error is O(√n·e^(−cε)). Of the budget: “We "
    "can set ε2 = ε3 = ε(1 − o(1))/2 and ε1 = o(ε) to get better practical results.”",
    axes=Axes("ε", "mean sorted ℓ1 error"),
    cells=lambda size: [
        {"data": name, "epsilon": epsilon, "trials": _trials(size, 100)}
        for name in _DATA
        for epsilon in _epsilons(size)
    ],
    run=errors_by_epsilon,
    judge=_judge_epsilon,
    view=_scaled,
)
RELEASED_ITEMS = Experiment(
    name="theorem-1-n",
    place="Theorem 1, of N",
    title="the released N, and the sum of the released profile",
    setting="Zipf profiles; 200 real releases, 20 if quick.",
    says="E[|N − n|] ≤ e^(−cε) for ε > 1 and O(1/ε) below. “We can infer the number of items in the dataset by "
    "Σ r·φ_r(H). However, this estimate is very noisy. Hence, we also return the sum of counts N.”",
    axes=Axes("ε", "mean absolute error, in items"),
    cells=lambda size: [
        {"data": f"Zipf, 10^{power} items", "epsilon": epsilon, "trials": _trials(size, 200, 20)}
        for power in ((6,) if size is Size.QUICK else (4, 6, 8))
        for epsilon in (_QUICK_EPSILONS if size is Size.QUICK else _EPSILONS)
    ],
    run=errors_of_items,
    judge=_judge_released_items,
)
SECONDS = Experiment(
    name="theorem-1-time",
    place="Theorem 1, run time",
    title="run time against n",
    setting="Zipf profiles given as pairs (r, φ_r); real releases with exact noise, 5 each, 2 if quick, in processor "
    "seconds. Hay's mechanism up to 10⁷ items; the exponential mechanism, exact and in pairs, up to 10⁹.",
    says="“An expected run time of Õ(√n)”, for ε ≤ 1 “Õ(√(n/ε) + 1/ε)”, “as opposed to the O(n) running time of [Hay et "
    "al.] and O(n^(3/2)) running time of [Blocki et al.]”.",
    axes=Axes("items n", "processor seconds of a release"),
    cells=lambda size: [
        {"epsilon": epsilon, "power": power, "trials": _trials(size, 5, 2)}
        for epsilon in ("4", "0.5")
        for power in (range(4, 11, 2) if size is Size.QUICK else range(4, LARGEST["PrivHist"] + 1))
    ],
    run=seconds_by_items,
    judge=_judge_seconds,
)
LOWER_BOUND = Experiment(
    name="theorem-2",
    place="Theorem 2, and Aldà and Simon",
    title="lower bounds for every mechanism",
    setting="Data drawn anew for each run from the family behind the bound √(2gn)/(1 + e^(2gε)), where no ε-private "
    "mechanism errs less on average; the constant and its proof (bounds.py) are ours. g = 1 gives Theorem 2, g near "
    "0.37/ε Aldà and Simon. 40 simulated runs, 5 if quick.",
    says="“For any ε-DP mechanism M, there exists a histogram h ∈ H, such that E[ℓ1(h, M(h))] ≥ Ω(√n·e^(−2ε)).” Of Aldà "
    "and Simon: “any ε-DP mechanism has expected ℓ1 error of Ω(√n/√ε) for some dataset.”",
    axes=Axes("ε", "mean sorted ℓ1 error / √n"),
    cells=lambda size: [
        {"items": items, "epsilon": epsilon, "trials": _trials(size, 40)}
        for items in ((10**4,) if size is Size.QUICK else (10**4, 10**6))
        for epsilon in _epsilons(size)
    ],
    run=errors_on_hard_data,
    judge=_judge_lower_bound,
)
