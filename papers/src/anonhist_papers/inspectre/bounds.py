"""How the samples that were needed compare with the bounds of Theorems 1 to 3 of INSPECTRE."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from anonhist_papers.experiment import Point, Verdict, select
from anonhist_papers.inspectre.criteria import INDISTINGUISHABLE, Ratio, all_of
from anonhist_papers.inspectre.needed import FOR_GOOD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ALPHA = 0.1
EPSILONS = (10, 3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)
NO_PRIVACY = "no privacy"
EXACT, PUBLISHED, OTHER = "private, exact noise", "private, published noise", "Chebyshev, exact noise"
POLYNOMIAL, PLUG_IN = "private polynomial, exact noise", "private plug-in, exact noise"


@dataclass(frozen=True)
class Bound:
    """A bound of a theorem, and the line that it is judged by.

    Attributes
    ----------
    name
        Of the line in the figure.
    of
        Its value from size, α and ε, up to a constant.
    series
        The estimator whose samples it bounds from above; empty for lower bounds.
    steepest
        By what factor its fastest term grows from ε = 0.001 to 0.0001.
    """

    name: str
    of: Callable[[float, float, float], float]
    series: str = ""
    steepest: float = 10.0


def size_of(panel: str) -> int:
    """Return the size that a panel is of.

    Examples
    --------
    >>> size_of("k = 10,000")
    10000
    """
    return int(panel.partition(" = ")[2].replace(",", ""))


def constants(points: Sequence[Point], bounds: Sequence[Bound]) -> list[float]:
    """Return the least constant with which each upper bound holds at all points, and the largest of lower bounds."""
    found = []
    for bound in bounds:
        shares = [
            point.mean / bound.of(size_of(point.panel), ALPHA, point.x)
            for point in points
            if _is_private(point) and bound.series in ("", point.series)
        ]
        found.append(max(shares) if bound.series else min(shares))
    return found


def _is_private(point: Point) -> bool:
    return point.series in (EXACT, PUBLISHED, OTHER, POLYNOMIAL, PLUG_IN)


def view(bounds: Sequence[Bound], points: Sequence[Point]) -> Sequence[Point]:
    """Add the bounds, with the constants that make them touch the points."""
    panels = list(dict.fromkeys(point.panel for point in points))
    lines = [
        Point(panel, f"{bound.name}, times {constant:.2g}", x, constant * bound.of(size_of(panel), ALPHA, x))
        for bound, constant in zip(bounds, constants(points, bounds), strict=True)
        for panel in panels
        for x in EPSILONS
    ]
    return [*points, *lines]


def judge(bounds: Sequence[Bound], points: Sequence[Point]) -> Verdict:
    """Compare growth with the fastest term of each bound as ε falls, and privacy with what the bounds allow for it."""
    told, verdicts = [], []
    for bound, constant in zip(bounds, constants(points, bounds), strict=True):
        name = bound.name.partition(", ")[2]
        if not bound.series:
            told.append(f"the {name} lies below all points with a constant of up to {constant:.2g}")
            continue
        grown = _last_decade(bound.series, points)
        verdicts += [_no_more(ratio, bound.steepest) for ratio in grown]
        told.append(
            f"the {name} holds at all points with a constant of {constant:.2g}; from ε = 0.001 to 0.0001 its fastest "
            f"term grows {bound.steepest:.3g} times, the samples {_listed(grown)}"
        )
    for claim in (_privacy_for_free, _cost_of_privacy):
        found = claim(points)
        verdicts += [agrees for agrees, _ in found]
        told += [sentence for _, sentence in found]
    told += _errs_again(points)
    sentence = "; ".join(told)
    return Verdict(all_of(verdicts), f"{sentence[0].upper()}{sentence[1:]}.")


def _errs_again(points: Sequence[Point]) -> list[str]:
    """Say where an estimate that was within α with so few samples is beyond it again with more, at ε = 1."""
    found = [point for point in points if point.series.endswith(FOR_GOOD) and point.x == 1]
    if not found:
        return []
    each = ", ".join(f"{point.mean:,.0f} ± {point.standard_error:,.0f} ({point.panel})" for point in found)
    name = found[0].series.partition(",")[0]
    return [f"with more samples than these the {name} errs by more than α again, at ε = 1 up to {each}"]


def without_noise(series: str) -> str:
    """Return the name of the line without noise.

    Examples
    --------
    >>> without_noise(PLUG_IN), without_noise(EXACT)
    ('plug-in, no privacy', 'no privacy')
    """
    name = series.partition(",")[0].removeprefix("private").strip()
    return f"{name}, {NO_PRIVACY}" if name else NO_PRIVACY


def _listed(found: Sequence[Ratio]) -> str:
    """Return ratios in the order of the panels."""
    each = ", ".join(f"{ratio.value:.2f} ± {ratio.standard_error:.1g}" for ratio in found)
    return f"{each} ({', '.join(ratio.panel for ratio in found)})"


def _last_decade(series: str, points: Sequence[Point]) -> list[Ratio]:
    """Return in each panel the samples at the least ε over those at ten times that."""
    found = []
    for panel in dict.fromkeys(point.panel for point in points):
        line = select(points, series, panel)
        if 0.0001 in line and 0.001 in line:
            found.append(_over(line[0.0001], line[0.001]))
    return found


def _over(upper: Point, lower: Point) -> Ratio:
    value = upper.mean / lower.mean
    shares = [each.standard_error / each.mean for each in (upper, lower)]
    return Ratio(value, value * math.hypot(*shares), upper.panel, upper.x)


def _no_more(ratio: Ratio, most: float) -> bool | None:
    """Return whether a growth is no more than that of a bound, which it may equal; open if it is uncertain by 10 %.

    Numbers between those tried are interpolated, which is good to a share of 1 %.
    """
    if ratio.value - 2 * ratio.standard_error > 1.01 * most:
        return False
    return None if 2 * ratio.standard_error > 0.1 * ratio.value else True


def _privacy_for_free(points: Sequence[Point]) -> list[tuple[bool | None, str]]:
    """Compare the samples with privacy with those without, at ε = size^(−1/2), from the smallest size to the largest.

    "If ε = Ω(m^γ/m) for any constant γ > 0", here ½, the upper bound "is within a constant factor of the optimal sample
    complexity without privacy": that factor must not grow.
    """
    series = PUBLISHED if any(point.series == PUBLISHED for point in points) else EXACT
    found = []
    for panel in dict.fromkeys(point.panel for point in points):
        line, plain = select(points, series, panel), select(points, NO_PRIVACY, panel)
        meeting = size_of(panel) ** -0.5
        if plain and meeting in line:
            found.append(_over(line[meeting], plain[min(plain)]))
    if len(found) < 2:
        return []
    first, last = found[0], found[-1]
    fall, error = first.value - last.value, math.hypot(first.standard_error, last.standard_error)
    sentence = f"at ε = 1/√size privacy takes so many times the samples, a factor that must not grow: {_listed(found)}"
    return [(None if abs(fall) <= 2 * error else fall > 0, sentence)]


def _cost_of_privacy(points: Sequence[Point]) -> list[tuple[bool | None, str]]:
    """Compare over the sizes how many more samples privacy costs a plug-in: it is "independent of k".

    For the polynomial it cannot be, by the lower bound, which has a factor of log k in that term.
    """
    found: list[tuple[bool | None, str]] = []
    for series in (PLUG_IN, POLYNOMIAL):
        costs = []
        for panel in dict.fromkeys(point.panel for point in points):
            line, plain = select(points, series, panel), select(points, without_noise(series), panel)
            if 0.0001 in line and plain:
                most, least = line[0.0001], plain[min(plain)]
                error = math.hypot(most.standard_error, least.standard_error)
                costs.append(replace(most, mean=most.mean - least.mean, standard_error=error))
        if len(costs) > 1:
            each = ", ".join(f"{cost.mean:,.0f} ± {cost.standard_error:,.0f}" for cost in costs)
            ratio = _over(max(costs, key=lambda cost: cost.mean), min(costs, key=lambda cost: cost.mean))
            sizes = sorted(size_of(cost.panel) for cost in costs)
            logarithms = math.log(sizes[-1]) / math.log(sizes[0])
            told = (
                f"at ε = 0.0001 privacy costs the {series.partition(',')[0]} {each} samples more, apart by a factor of "
                f"{ratio.value:.2f} ± {ratio.standard_error:.2g} (log k: {logarithms:.2f})"
            )
            if series == PLUG_IN:
                found.append((ratio.at_most(INDISTINGUISHABLE), told))
            elif found:
                verdict, sentence = found[-1]
                found[-1] = (verdict, f"{sentence}; {told}, which is shown but not judged")
    return found
