"""Verdicts on Theorems 1 and 2."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from anonhist_papers.experiment import Point, Verdict, select
from anonhist_papers.suresh.bounds import slope
from anonhist_papers.suresh.errors import BOUND, EXPONENTIAL, FIFTIETH, FROBENIUS, ISOTONIC, RATE, SHORT, THIRDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    return f"{value:.3f} ± {error:.2g}"


def judge_items(points: Sequence[Point]) -> Verdict:
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


def scaled_rate(points: Sequence[Point]) -> Sequence[Point]:
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


def judge_epsilon(points: Sequence[Point]) -> Verdict:
    """Compare the error with the rate up to ε = 1, and fit c beyond."""
    ratios, told = [], []
    exponents: dict[str, list[tuple[float, float]]] = {THIRDS: [], FIFTIETH: []}
    gains, inverse, frobenius = [], [], []
    for panel in _panels(points):
        lines = {name: select(points, name, panel) for name in (THIRDS, FIFTIETH, ISOTONIC, FROBENIUS, RATE)}
        own, rival, rate = lines[THIRDS], lines[ISOTONIC], lines[RATE]
        # O(√(n ln(2/ε)/ε)): the error over the rate is no larger at the least ε than at ε = 1.
        least = min(rate)
        ratios.append(_ratio(own[least], own[1.0], rate[least].mean / rate[1.0].mean))
        for series, found in exponents.items():
            beyond = {x: point for x, point in lines[series].items() if x > 1.2}
            fall, error = log_slope(beyond, log_x=False)
            found.append((-fall, error))
        inverse.append(-log_slope({x: point for x, point in rival.items() if x <= 1})[0])
        better = [x for x in own if own[x].mean < rival[x].mean]
        told.append(f"{panel}: {len(better)}" + (f", up to ε = {max(better):g}" if better else ""))
        gains += [own[x].mean / point.mean for x, point in lines[FIFTIETH].items() if point.mean]
        frobenius += [lines[FIFTIETH][x].mean / point.mean for x, point in lines[FROBENIUS].items() if point.mean]
    rises = any(ratio - 2 * error > 1 for ratio, error in ratios)
    stays = all(ratio + 2 * error <= 1 for ratio, error in ratios)
    falls = all(found - 2 * error > 0 for each in exponents.values() for found, error in each)
    thirds, fiftieth = (" to ".join(_told(*end(each)) for end in (min, max)) for each in exponents.values())
    return Verdict(
        False if rises or not falls else True if stays else None,
        f"From ε = 1 to ε = {min(point.x for point in points):g} the error over the rate changes by the factors "
        f"{', '.join(_told(*each) for each in ratios)}: at most 1 is an error of that order. Above ε = 1 the error "
        f"falls like e^(−cε), c = {thirds} with equal thirds, {fiftieth} with 1/50 for n. That smaller share, as the "
        f"paper advises, divides the error by {min(gains):.2f} to {max(gains):.0f}. Hay's error grows up to ε = 1 like "
        f"1/ε to the power {min(inverse):.2f} to {max(inverse):.2f}. PrivHist with equal thirds errs less than Hay at "
        f"this many of {len(own)} ε: {'; '.join(told)}. With 1/50 for n its error is {min(frobenius):.2f} to "
        f"{max(frobenius):.2f} times that of the Frobenius mechanism.",
    )


def _ratio(above: Point, below: Point, scale: float) -> tuple[float, float]:
    """Return the quotient of two means over a scale, with its standard error."""
    found = above.mean / below.mean / scale
    return found, found * math.hypot(above.standard_error / above.mean, below.standard_error / below.mean)


def judge_released_items(points: Sequence[Point]) -> Verdict:
    """Compare N with its bound as printed, and with the sum of the profile."""
    above_one: dict[float, Point] = {}
    largest, clear, against, compared = 0.0, {THIRDS: 0, FIFTIETH: 0}, 0, 0
    for panel in _panels(points):
        for series in clear:
            number, total = (
                select(points, f"{title}, {SHORT[series]}", panel) for title in ("N", "sum of the profile")
            )
            for epsilon, point in number.items():
                far = total[epsilon].mean - point.mean
                reach = 2 * math.hypot(total[epsilon].standard_error, point.standard_error)
                clear[series] += far > reach
                if series == THIRDS:
                    compared += 1
                    against += far < -reach
                    largest = max(largest, abs(point.mean - _mean_noise(epsilon / 3)) / point.standard_error)
                    if epsilon > 1 and point.mean - 2 * point.standard_error > 1:
                        above_one[epsilon] = point
    literal = "".join(f", {_told(point.mean, point.standard_error)} at ε = {x:g}" for x, point in above_one.items())
    return Verdict(
        False if above_one or against else True if clear[THIRDS] == compared else None,
        (
            f"E|N − n| ≤ e^(−cε) does not hold as printed, for any c > 0: N errs by more than 1{literal}. "
            if literal
            else ""
        )
        + "With equal thirds the error of N should be 2e^(−ε/3)/(1 − e^(−2ε/3)), whatever n is: that is O(1/ε) up to "
        f"ε = 1, and O(e^(−ε/3)) above; means of runs are within {largest:.1f} standard errors of it. The sum of the "
        f"profile errs more than N in {clear[THIRDS]} of {compared} settings with equal thirds, and in "
        f"{clear[FIFTIETH]} of {compared} with 1/50 for n, by two standard errors.",
    )


def _mean_noise(rate: float) -> float:
    """Return E|Z| of two-sided geometric noise."""
    return 2 * math.exp(-rate) / (1 - math.exp(-2 * rate))


def judge_seconds(points: Sequence[Point]) -> Verdict:
    """Compare the growth of the time, over the largest n, with √n times a logarithm, and with n."""
    told, found = [], []
    for panel in _panels(points):
        line = select(points, "PrivHist", panel)
        last = {x: point for x, point in line.items() if x >= max(line) / 10**4.5}
        power, error = log_slope(last)
        found.append((power, error, 0.5 + 1 / math.log(math.sqrt(min(last) * max(last)))))
        rivals = {series: select(points, series, panel) for series in (ISOTONIC, EXPONENTIAL)}
        steps = ", ".join(
            f"{series} {_told(*log_slope({x: point for x, point in rival.items() if x >= max(rival) / 150}))}"
            for series, rival in rivals.items()
        )
        told.append(f"{_told(power, error)} at {panel} ({steps})")
    # A logarithm to some power cannot be told from a slope; nearer to n than to √n is not √n.
    slower = any(power - 2 * error > 0.75 for power, error, _ in found)
    within = all(power + 2 * error <= most for power, error, most in found)
    return Verdict(
        False if slower else True if within else None,
        f"Over the largest n, processor time grows like n to the power {' and '.join(told)}; √n·ln n grows like n to "
        f"the power {max(each for *_, each in found):.3f} there. A release takes "
        + ", ".join(
            f"{max(select(points, 'PrivHist', panel).values(), key=lambda point: point.x).mean:.2g} s at {panel}"
            for panel in _panels(points)
        )
        + f" and n = {max(point.x for point in points):,.0f}.",
    )


def judge_lower_bound(points: Sequence[Point]) -> Verdict:
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
        (
            f"Below the bound: {', '.join(below)}. "
            if below
            else "No mechanism is below the bound, which no run can prove. "
        )
        + f"The nearest is {series} at ε = {epsilon:g}, {least:.2f} times it. PrivHist with 1/50 for n errs "
        f"{min(high)[0]:.1f} to {max(high)[0]:.1f} times as much as it up to ε = 1, and above, where the bound falls "
        f"like e^(−2ε), {min(low)[0]:.1f} (ε = {min(low)[1]:g}) to {max(low)[0]:,.0f} times (ε = {max(low)[1]:g}).",
    )
