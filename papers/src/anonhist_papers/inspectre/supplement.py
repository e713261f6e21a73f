"""What the text says of the figures in the supplement of INSPECTRE: other alphabets, budgets and supports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict
from anonhist_papers.inspectre.coverage import COVERAGE_EPSILONS, coverage_errors
from anonhist_papers.inspectre.criteria import (
    DOMINATED,
    INDISTINGUISHABLE,
    all_of,
    each_at_most,
    largest,
    ratios,
    without_ratios,
)
from anonhist_papers.inspectre.entropy import entropy_errors
from anonhist_papers.inspectre.figures import (
    EXACT,
    PLAIN,
    POLYNOMIAL,
    PRIVATE_POLYNOMIAL,
    PUBLISHED,
    coverage_series,
    entropy_series,
    named,
    trials,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np

    from anonhist_papers.experiment import Cell

# Alphabets and budgets beside k = 1,000 and ε = 1.
_SETTINGS = ((100, 0.5), (100, 1), (100, 2), (1000, 0.5), (1000, 2), (10_000, 0.5), (10_000, 1))
_SUPPORTS = (100, 1000, 5000)
# "Several" settings are more than two.
_SEVERAL = 3
_OVER_ALL = "Errors are root mean squares over the six distributions."


def over_distributions(points: Iterable[Point], panel: str) -> Iterator[Point]:
    """Yield the root mean square of each line at each place over the distributions, which are the panels.

    Examples
    --------
    >>> points = [Point("Uniform", "a", 1, 3.0, 0.3, 9), Point("Zipf 1", "a", 1, 4.0, 0.4, 9)]
    >>> [(round(each.mean, 3), round(each.standard_error, 3)) for each in over_distributions(points, "k = 100")]
    [(3.536, 0.26)]
    """
    lines: dict[tuple[str, float], list[Point]] = {}
    for point in without_ratios(points):
        lines.setdefault((point.series, point.x), []).append(point)
    for (series, x), own in lines.items():
        mean = math.sqrt(sum(point.mean**2 for point in own) / len(own))
        error = math.hypot(*(point.mean * point.standard_error for point in own)) / (len(own) * mean)
        yield Point(panel, series, x, mean, error, own[0].runs)


def _run_entropy(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    labels, epsilon = int(cell["labels"]), float(cell["epsilon"])
    rows = entropy_errors(
        trials=int(cell["trials"]), rng=rng, sizes=[int(cell["items"])], labels=labels, epsilon=epsilon
    )
    return over_distributions(named(rows, entropy_series(epsilon)), f"k = {labels:,}, ε = {epsilon:g}")


def _judge_entropy(points: Sequence[Point]) -> Verdict:
    by_panel: dict[str, list[Point]] = {}
    for point in points:
        by_panel.setdefault(point.panel, []).append(point)
    told, verdicts = [], []
    for panel, own in by_panel.items():
        found = ratios(own, PRIVATE_POLYNOMIAL, POLYNOMIAL)
        verdicts.append(all_of(each_at_most(found, INDISTINGUISHABLE)))
        most = max(found, key=lambda ratio: ratio.value)
        told.append(f"{most.value:.2f} ± {most.standard_error:.2f} ({panel}, n = {most.x:,.0f})")
    yes, maybe = verdicts.count(True), verdicts.count(None)
    # A small version leaves settings out, which may be among the several.
    left_out = max(len(_SETTINGS) - len(verdicts), 0)
    return Verdict(
        True if yes >= _SEVERAL else None if yes + maybe + left_out >= _SEVERAL else False,
        f"In {yes} of {len(verdicts)} other settings, chosen here ({maybe} open), the private polynomial errs at most "
        f"{INDISTINGUISHABLE} times as much as the polynomial without privacy, for every n. Largest ratios: "
        f"{'; '.join(told)}.",
    )


def _run_coverage(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    labels = int(cell["labels"])
    rows = coverage_errors(trials=int(cell["trials"]), rng=rng, labels=labels, reaches=[float(cell["reach"])])
    return over_distributions(named(rows, coverage_series(COVERAGE_EPSILONS)), f"k = {labels:,}")


def _judge_coverage(points: Sequence[Point]) -> Verdict:
    """Look for a support where privacy adds significantly more than there is without it."""
    told, judged = [], []
    for panel in dict.fromkeys(point.panel for point in points):
        own = [point for point in points if point.panel == panel]
        found, exact = (ratios(own, f"{title}, ε = 1", PLAIN) for title in (PUBLISHED, EXACT))
        judged += found
        told.append(f"{largest(found)}, with exact noise {largest(exact)}")
    verdicts = each_at_most(judged, DOMINATED)
    return Verdict(
        True if False in verdicts else None if None in verdicts else False,
        f"Private error over that without noise at ε = 1, at most: {'; '.join(told)}. Above √2, privacy adds more to "
        "the mean squared error than there is without it.",
    )


SUPPLEMENT_ENTROPY = Experiment(
    name="supplement-entropy",
    place="Section 5.1, of the supplement",
    title="entropy for other k and ε",
    setting=f"One item replaced. {_OVER_ALL} The settings are ours: the supplement is not at hand.",
    says="“The cost of privacy is minimal for several other settings of k and ε, additional experiments appear in the "
    "supplementary material.” “We analyze the privatized versions of plug-in, and poly in the supplementary material.”",
    axes=Axes("samples n", "root mean squared error in bits"),
    cells=lambda size: [
        {"labels": labels, "epsilon": epsilon, "items": items, "trials": trials(size)}
        for labels, epsilon in _SETTINGS
        if size is Size.FULL or labels <= 1000
        for items in (
            (labels // 10, labels) if size is Size.QUICK else (labels // 10, labels // 4, labels // 2, labels)
        )
    ],
    run=_run_entropy,
    judge=_judge_entropy,
)
SUPPLEMENT_COVERAGE = Experiment(
    name="supplement-coverage",
    place="Section 5.2.1, of the supplement",
    title="support coverage of smaller supports",
    setting=f"n = k/2 samples, n·t further draws, ε = 1, 2 and 10, one item replaced. {_OVER_ALL} The supports are "
    "ours: the supplement is not at hand.",
    says="“However, we found that for smaller support sizes (as shown in the supplementary material), the cost of "
    "privacy can be significant.”",
    axes=Axes("further draws, in samples (t)", "root mean squared error / (n·t)", log_x=False),
    cells=lambda size: [
        {"labels": labels, "reach": reach, "trials": trials(size)}
        for labels in _SUPPORTS
        for reach in ((1, 3, 10) if size is Size.QUICK else (1, 2, 3, 5, 7, 10))
    ],
    run=_run_coverage,
    judge=_judge_coverage,
)
