"""Corollary 1 as experiments: properties of a distribution from a released histogram."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.suresh.bounds import further_samples
from anonhist_papers.suresh.errors import SHORT
from anonhist_papers.suresh.properties import (
    LABELS,
    PLAIN,
    WITH_N,
    WITH_SUM,
    lipschitz_exponent,
    lipschitz_exponents,
    properties,
    property_errors,
)
from anonhist_papers.suresh.zero_counts import KNOWN, RELEASED, ZEROS, zero_count_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DISTRIBUTION = re.compile(r" \((.*)\)$")
_PUBLISHED = f"{next(iter(SHORT.values()))}, {WITH_N}"


def _worst(points: Sequence[Point]) -> Sequence[Point]:
    """Return the largest error over the distributions, as E(f̂, n) of the paper is."""
    largest: dict[tuple[str, str, float], Point] = {}
    for point in points:
        key = _DISTRIBUTION.sub("", point.panel), point.series, point.x
        if key not in largest or point.mean > largest[key].mean:
            largest[key] = point
    # A row of panels for each property.
    order = list(dict.fromkeys(panel.partition(", ")[0] for panel, *_ in largest))
    return [
        Point(panel, series, x, point.mean, point.standard_error, point.runs)
        for (panel, series, x), point in sorted(
            largest.items(), key=lambda item: order.index(item[0][0].partition(", ")[0])
        )
    ]


def _judge_properties(points: Sequence[Point]) -> Verdict:
    """Compare the samples needed, and the released N with the sum of the profile."""
    worst = _worst(points)
    held, missed, apart = 0, [], 0
    for panel in dict.fromkeys(point.panel for point in worst):
        title, _, epsilon = panel.partition(", ε = ")
        private, plain = select(worst, _PUBLISHED, panel), select(worst, PLAIN, panel)
        last, first = private[max(private)], private[min(private)]
        apart += last.mean - 2 * last.standard_error > first.mean
        for items, point in plain.items():
            chosen = properties(LABELS, 2 * int(items))[title]
            more = further_samples(
                point.mean,
                float(epsilon),
                largest=chosen.largest,
                exponent=max(lipschitz_exponent(chosen, int(items)), 0.0),
            )
            needed = max(items, more)
            if needed > max(private):
                continue
            found, error = _between(private, needed)
            if found - 2 * error <= 2 * point.mean:
                held += 1
            else:
                missed.append(f"{panel}, α = {point.mean:.2g}")
    ratios = {name: _compare(points, name) for name in SHORT.values()}
    told = "; ".join(
        f"{name}: smaller in {fewer} settings, larger in {more}, within two standard errors in {level}"
        for name, (fewer, more, level) in ratios.items()
    )
    return Verdict(
        False if apart else True if held and not missed else None,
        f"With all constants of the bound 1, 2α is reached with the samples of Corollary 1 in {held} of "
        f"{held + len(missed)} cases whose samples are within reach"
        + (f"; not with {'; '.join(missed[:3])}" if missed else "")
        + f". The error with N, compared with that of the profile's own sum in its place, is with {told}.",
    )


def _between(line: Mapping[float, Point], items: float) -> tuple[float, float]:
    """Return the error for a number of samples between two that were tried, and its standard error."""
    x = np.log(list(line))
    means = np.log([max(point.mean, 1e-300) for point in line.values()])
    errors = [point.standard_error for point in line.values()]
    place = math.log(items)
    return math.exp(float(np.interp(place, x, means))), float(np.interp(place, x, errors))


def _compare(points: Sequence[Point], shares: str) -> tuple[int, int, int]:
    """Count settings in which N errs less than the sum, more, and neither by two standard errors."""
    fewer = more = level = 0
    for panel in dict.fromkeys(point.panel for point in points):
        number, total = (select(points, f"{shares}, {each}", panel) for each in (WITH_N, WITH_SUM))
        for items, point in number.items():
            far = point.mean - total[items].mean
            reach = 2 * math.hypot(point.standard_error, total[items].standard_error)
            fewer, more, level = fewer + (far < -reach), more + (far > reach), level + (abs(far) <= reach)
    return fewer, more, level


def _judge_exponents(points: Sequence[Point]) -> Verdict:
    named = ("entropy", "support size", "support coverage")
    largest = {series: max(select(points, series).values(), key=lambda point: point.mean) for series in named}
    told = ", ".join(f"{series} {point.mean:.2f} (n = {point.x:,.0f})" for series, point in largest.items())
    within = sum(point.mean <= 0.5 for point in points)
    return Verdict(
        True if all(point.mean < 0.1 for point in largest.values()) else None,
        f"Largest β of our estimators, with the degrees that their authors recommend: {told}. Other degrees may have "
        f"smaller ones. The corollary's condition, β ≤ 1/2, holds for {within} of {len(points)} points.",
    )


def _judge_zero_counts(points: Sequence[Point]) -> Verdict:
    """Look for a setting where knowing k costs anything, or φ_0 errs more than the histogram."""
    worse, gains = [], []
    for panel in dict.fromkeys(point.panel for point in points):
        released, known, zeros = (select(points, series, panel) for series in (RELEASED, KNOWN, ZEROS))
        for items, point in released.items():
            gains.append((point.mean / known[items].mean if known[items].mean else 1.0, f"{panel}, n = {items:,.0f}"))
            if known[items].mean > point.mean * (1 + 1e-12) or zeros[items].mean > known[items].mean * (1 + 1e-12):
                worse.append(f"{panel}, n = {items:,.0f}")
    factor, where = max(gains)
    told = f"Zero counts cost something in {'; '.join(worse)}" if worse else "Zero counts cost nothing"
    return Verdict(
        not worse,
        f"{told}. With k known the error of all counts is that of the release or less, at best {factor:.2f} times less "
        f"({where}).",
    )


COROLLARY = Experiment(
    name="corollary-1",
    place="Corollary 1",
    title="properties of a distribution from a released histogram",
    setting=f"Samples from four distributions over {LABELS:,} labels (support size: the two without labels rarer than "
    "1/2,000); shown is the distribution with the largest error. 100 samples each with real releases, 10 if quick. "
    "Each estimate is from the released profile with N, as in the corollary, or with the sum of the profile, as "
    "anonhist.properties does.",
    says="“n(f̂_dp, 2α) ≤ max(n(f̂, α), O((1/(α·e^(cε)))^(2/(1−2β)) + (1/ε)·log(f_max/α)))” for ε > 1, and with "
    "O((log(2/ε)/(α²ε))^(1/(1−2β)) + (1/ε)·log(f_max/(αε))) below. “Our algorithm implies DP algorithms for estimating "
    "distance to uniformity”, it says, for the first time.",
    axes=Axes("samples n", "largest mean absolute error"),
    cells=lambda size: [
        {"epsilon": epsilon, "items": items, "trials": 10 if size is Size.QUICK else 100}
        for epsilon in (("0.5",) if size is Size.QUICK else ("4", "1", "0.2"))
        for items in (
            (10**3, 10**4, 10**5)
            if size is Size.QUICK
            else (300, 10**3, 3000, 10**4, 30_000, 10**5, 300_000, 10**6, 10**7)
        )
    ],
    run=property_errors,
    judge=_judge_properties,
    view=_worst,
)
EXPONENTS = Experiment(
    name="corollary-1-exponents",
    place="Corollary 1, its condition",
    title="how much one item moves the estimators",
    setting="L = n^(β−1) is the largest step of the weights f(r, n), for k = n labels and m = 2n draws; no randomness.",
    says="“For entropy …, normalized support size …, and normalized support coverage, there exists sample-optimal "
    "linear estimators with β < 0.1.”",
    axes=Axes("samples n", "β", log_y=False),
    cells=lambda size: [
        {"items": 10**power, "trials": 1} for power in (range(2, 7, 2) if size is Size.QUICK else range(2, 10))
    ],
    run=lipschitz_exponents,
    judge=_judge_exponents,
)
ZERO_COUNTS = Experiment(
    name="zero-counts",
    place="Introduction, histograms with zero counts",
    title="k labels are known, and some never occur",
    setting="10,000 labels; PrivHist with equal thirds; 100 real releases, 10 if quick. φ_0 is k less the labels of "
    "the release.",
    says="“We only consider histograms with positive counts. The results can be extended to histograms that include "
    "zero counts.”",
    axes=Axes("items n", "mean error / √n"),
    cells=lambda size: [
        {"shape": shape, "epsilon": epsilon, "items": items, "trials": 10 if size is Size.QUICK else 100}
        for shape in ("uniform", "Zipf 1")
        for epsilon in ("4", "0.5")
        for items in ((10**3, 10**5) if size is Size.QUICK else (10**3, 10**4, 10**5, 10**6))
    ],
    run=zero_count_errors,
    judge=_judge_zero_counts,
)
