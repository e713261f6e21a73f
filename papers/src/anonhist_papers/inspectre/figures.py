"""Figures 1 to 5 of INSPECTRE, as experiments."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.inspectre.coverage import COVERAGE_EPSILONS, SHARES, TEXT_EPSILONS, coverage_errors, text_errors
from anonhist_papers.inspectre.criteria import (
    DOMINATED,
    INDISTINGUISHABLE,
    Ratio,
    all_of,
    counted,
    each_at_most,
    largest,
    ratio_of,
    ratios,
    without_ratios,
)
from anonhist_papers.inspectre.entropy import (
    BITS,
    DEGREE_LABELS,
    degree_errors,
    degree_mechanism,
    entropy_errors,
    exact_bias,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from anonhist_papers.experiment import Cell
    from anonhist_papers.inspectre.errors import ErrorRow

FACTORS = (0.3, 0.6, 0.9, 1.2, 1.6, 2.0)
POLYNOMIAL, PRIVATE_POLYNOMIAL = "polynomial", "private polynomial, exact noise"
RIVALS = "plug-in", "Miller–Madow", "private plug-in"
PLAIN, PUBLISHED, EXACT = "smoothed Good–Toulmin", "private, published noise", "private, exact noise"
_DEGREES = tuple(range(1, 17))
_DOUBLED = (1, 2, 4, 8, 12)
_TRIALS, _MOST, _FEW = 400, 1000, 25
_HALF = 0.5


def trials(size: Size) -> int:
    """Return how many trials a setting gets."""
    return _FEW if size is Size.QUICK else _TRIALS


def entropy_series(epsilon: float) -> Mapping[tuple[str, float], str]:
    """Return the lines of a figure of entropy estimates, by estimator and ε."""
    return {
        ("plug-in", 0): "plug-in",
        ("Miller–Madow", 0): "Miller–Madow",
        ("polynomial", 0): POLYNOMIAL,
        ("private polynomial, twin", epsilon): "polynomial of the private degree",
        ("private plug-in", epsilon): "private plug-in",
        ("private polynomial, not cut", epsilon): PRIVATE_POLYNOMIAL,
        ("private polynomial, published noise", epsilon): "private polynomial, noise of the authors' program, cut",
        ("private polynomial, recommended", epsilon): "private polynomial, our parameters",
    }


def coverage_series(epsilons: Iterable[float]) -> Mapping[tuple[str, float], str]:
    """Return the lines of a figure of support coverage, by estimator and ε."""
    return {("smoothed Good–Toulmin", 0): PLAIN} | {
        (estimator, epsilon): f"{title}, ε = {epsilon:g}"
        for epsilon in epsilons
        for estimator, title in (
            ("private, published noise", PUBLISHED),
            ("private", EXACT),
            ("private, recommended", "private, our smoothing"),
        )
    }


def named(rows: Iterable[ErrorRow], names: Mapping[tuple[str, float], str]) -> Iterator[Point]:
    """Yield the rows that have a name in the figure, and their ratios to others."""
    for row in rows:
        name = names.get((row.estimator, row.epsilon))
        if name is not None:
            panel = row.data[0].upper() + row.data[1:]
            yield Point(panel, name, row.x, row.rmse, row.standard_error, row.trials)
            for other, (ratio, error) in row.over.items():
                if other in names and math.isfinite(ratio):
                    yield Point(panel, ratio_of(name, names[other]), row.x, ratio, error, row.trials)


def degree_of(factor: float) -> int:
    """Return ``L = ⌈factor·ln k⌉`` for the k of Figure 1.

    Examples
    --------
    >>> degree_of(1.2)
    10
    """
    return math.ceil(factor * math.log(DEGREE_LABELS))


def _run_degrees(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    factors = {degree_of(factor): factor for factor in FACTORS}
    rows = degree_errors(trials=int(cell["trials"]), rng=rng, items=int(cell["items"]), degrees=tuple(factors))
    for degree, row in rows:
        yield from named([row], {("private polynomial, not cut", 1.0): f"L = {factors[degree]:g} ln k"})


def _judge_degrees(points: Sequence[Point]) -> Verdict:
    """Compare the degrees by the geometric means of their errors over all distributions and numbers of samples."""
    means: dict[str, tuple[float, float]] = {}
    for series in dict.fromkeys(point.series for point in points):
        own = [point for point in points if point.series == series]
        spread = math.hypot(*(point.standard_error / point.mean for point in own)) / len(own)
        means[series] = math.exp(fmean(math.log(point.mean) for point in own)), spread
    order = sorted(means, key=lambda series: means[series][0])
    best, chosen = means[order[0]], means["L = 1.2 ln k"]
    value = chosen[0] / best[0]
    ratio = Ratio(value, 0.0 if chosen is best else value * math.hypot(best[1], chosen[1]), "", 0)
    told = ", ".join(f"{means[series][0] / best[0]:.2f} ({series[4:]})" for series in order)
    return Verdict(
        ratio.at_most(INDISTINGUISHABLE),
        f"Error over that of the best degree tried, geometric means over distributions and numbers of samples: {told}. "
        f"L = 1.2 ln k has {ratio.value:.2f} ± {ratio.standard_error:.2f}; it performs well if that is at most "
        f"{INDISTINGUISHABLE}, which 100 iterations cannot tell from the best.",
    )


def _run_tradeoff(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    items = int(cell["items"])
    rows = degree_errors(trials=int(cell["trials"]), rng=rng, items=items, degrees=_DEGREES)
    for degree, row in rows:
        if row.estimator == "private polynomial, not cut":
            bias = BITS * abs(exact_bias(row.data, degree_mechanism(degree).statistic(items), items, DEGREE_LABELS))
            panel = row.data[0].upper() + row.data[1:]
            yield Point(panel, "error of the private estimate", degree, row.rmse, row.standard_error, row.trials)
            yield Point(panel, "noise (standard deviation)", degree, row.noise, runs=1)
            yield Point(panel, "bias", degree, bias, runs=1)


def _judge_tradeoff(points: Sequence[Point]) -> Verdict:
    """Compare the largest bias over the distributions, and the noise, as the degree doubles up to ⌊1.6·ln k⌋ = 12."""
    bias: dict[float, float] = {}
    for point in points:
        if point.series == "bias":
            bias[point.x] = max(point.mean, bias.get(point.x, 0.0))
    noise = {x: point.mean for x, point in select(points, "noise (standard deviation)").items()}
    agrees = all(bias[low] > bias[high] and noise[low] < noise[high] for low, high in pairwise(_DOUBLED))
    told = ", ".join(f"L = {degree:g}: {bias[degree]:.2g} and {noise[degree]:.2g}" for degree in _DOUBLED)
    last = max(bias)
    return Verdict(
        agrees,
        f"Largest bias over the distributions, and standard deviation of the noise, in bits, up to L = 1.6·ln k: "
        f"{told}. Beyond {_DOUBLED[-1]}, the largest count that the polynomial is used for, the bias grows again, too: "
        f"at {last:g} they are {bias[last]:.2g} and {noise[last]:.2g}.",
    )


def _run_entropy(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    return named(entropy_errors(trials=int(cell["trials"]), rng=rng, sizes=[int(cell["items"])]), entropy_series(1))


def _judge_entropy(points: Sequence[Point]) -> Verdict:
    near = ratios(points, PRIVATE_POLYNOMIAL, POLYNOMIAL)
    is_near = each_at_most(near, INDISTINGUISHABLE)
    better = [ratio for rival in RIVALS for ratio in ratios(points, PRIVATE_POLYNOMIAL, rival)]
    is_better = each_at_most(better, 1)
    last = max(ratio.x for ratio in near)
    alone = [
        ratio for ratio in ratios(points, PRIVATE_POLYNOMIAL, "polynomial of the private degree") if ratio.x == last
    ]
    at_last = [ratio for ratio in near if ratio.x == last]
    return Verdict(
        all_of([*is_near, *is_better]),
        f"The private polynomial errs at most {INDISTINGUISHABLE} times as much as the polynomial without privacy in "
        f"{counted(is_near)}: {_beyond(near, is_near)}; with {last:,.0f} samples, {largest(at_last)}. It errs less "
        f"than plug-in, Miller–Madow and private plug-in in {counted(is_better)}: least advantage, {largest(better)}. "
        f"Noise alone raises the error of a polynomial of the same degree with {last:,.0f} samples by up to "
        f"a factor of {largest(alone)}.",
    )


def _beyond(found: Sequence[Ratio], verdicts: Sequence[bool | None]) -> str:
    """Name the ratios that are contradicted, or the largest."""
    above = [largest([ratio]) for ratio, verdict in zip(found, verdicts, strict=True) if verdict is False]
    return f"not at {', '.join(above)}" if above else f"at most {largest(found)}"


def _run_coverage(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    rows = coverage_errors(trials=int(cell["trials"]), rng=rng, reaches=[float(cell["reach"])])
    return named(rows, coverage_series(COVERAGE_EPSILONS))


def _judge_coverage(points: Sequence[Point]) -> Verdict:
    told, judged = [], []
    for epsilon in COVERAGE_EPSILONS:
        found, exact = (ratios(points, f"{title}, ε = {epsilon:g}", PLAIN) for title in (PUBLISHED, EXACT))
        judged += found
        told.append(f"{largest(found)} at ε = {epsilon:g}, and with exact noise {largest(exact)}")
    verdicts = each_at_most(judged, DOMINATED)
    return Verdict(
        all_of(verdicts),
        f"Without privacy the mean squared error is more than what privacy adds to it (so the root grows by less than "
        f"√2) in {counted(verdicts)}. Private error over that without noise, at most: {'; '.join(told)}.",
    )


def _run_texts(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    share = float(cell["share"])
    rows = text_errors(trials=int(cell["trials"]), rng=rng, texts=[str(cell["text"])], shares=[share])
    for point in named(rows, coverage_series(TEXT_EPSILONS)):
        # Half of the text and more, so up to t = 1, there is no published noise.
        if share < _HALF or not point.series.startswith(PUBLISHED):
            yield point


def _judge_texts(points: Sequence[Point]) -> Verdict:
    """Judge at ε = 0.5, the budget of the text; the other is shown beside it."""

    def found(title: str, epsilon: float) -> list[Ratio]:
        return ratios(points, f"{title}, ε = {epsilon:g}", PLAIN)

    judged = found(PUBLISHED, 0.5) + [ratio for ratio in found(EXACT, 0.5) if ratio.x >= _HALF]
    verdicts = each_at_most(judged, INDISTINGUISHABLE)
    told = [
        f"{_at_share(found(PUBLISHED, epsilon))}, with exact noise {_at_share(found(EXACT, epsilon))}"
        for epsilon in TEXT_EPSILONS
    ]
    return Verdict(
        all_of(verdicts),
        f"At ε = 0.5 the private error is at most {INDISTINGUISHABLE} times that without noise, which 100 iterations "
        f"cannot tell apart, in {counted(verdicts)}: at most {told[0]}. At ε = 0.1: {told[1]}.",
    )


def _at_share(found: Sequence[Ratio]) -> str:
    return largest([Ratio(each.value, each.standard_error, "", each.x) for each in found])


def _texts(name: str, place: str, text: str, title: str, says: str) -> Experiment:
    return Experiment(
        name=name,
        place=place,
        title=title,
        setting="The whole text is extrapolated from a part of it, drawn without replacement; ε = 0.5 and 0.1, one "
        f"item replaced; {_TRIALS:,} trials (the paper: 100), {_FEW} if quick. The published scale of the noise is for "
        "m > 2n, less than half of the text.",
        says=says,
        axes=Axes("share of the text that was seen", "root mean squared error in labels", log_x=False),
        cells=lambda size: [
            {"text": text, "share": share, "trials": trials(size)}
            for share in ((0.1, 0.3, 0.5, 0.9) if size is Size.QUICK else SHARES)
        ],
        run=_run_texts,
        judge=_judge_texts,
        view=without_ratios,
    )


FIGURE_1 = Experiment(
    name="figure-1",
    place="Figure 1",
    title="the degree of the polynomial",
    setting="k = 2,000, ε = 1, one item replaced; noise of the exact sensitivity; L = ⌈factor·ln k⌉, 3 to 16; "
    f"{_TRIALS:,} trials, {_FEW} if quick. The paper does not say which L and which n its figure has.",
    says="“Run privatized poly for different L values and distributions for k = 2000, ε = 1 … Choose the value of L "
    "that performs well across different distributions (See Figure 1). We choose L = 1.2·log k from this.”",
    axes=Axes("samples n", "root mean squared error in bits", log_x=False),
    cells=lambda size: [
        {"items": items, "trials": trials(size)}
        for items in ((400, 2000) if size is Size.QUICK else (200, 400, 800, 1200, 1600, 2000))
    ],
    run=_run_degrees,
    judge=_judge_degrees,
    view=without_ratios,
)
FIGURE_1_TRADEOFF = Experiment(
    name="figure-1-tradeoff",
    place="Figure 1, caption",
    title="bias and noise against the degree",
    setting=f"k = 2,000, n = 1,000, ε = 1, one item replaced; bias and noise are computed, errors are of {_TRIALS:,} "
    f"trials, {_FEW} if quick.",
    says="“The degree L represents a bias-variance tradeoff: a larger degree decreases the bias but increases the "
    "sensitivity, necessitating the addition of Laplace noise with a larger variance.”",
    axes=Axes("degree L", "bits", log_x=False),
    cells=lambda size: [{"items": 1000, "trials": trials(size)}],
    run=_run_tradeoff,
    judge=_judge_tradeoff,
)
FIGURE_2 = Experiment(
    name="figure-2",
    place="Figure 2",
    title="entropy",
    setting=f"k = 1,000, ε = 1, one item replaced; n = 100 to 1,000, as in the authors' program; {_TRIALS:,} trials "
    f"(the paper: 100), {_FEW} if quick. Noise has the exact sensitivity, which is what the paper describes; the "
    "authors' program takes another that depends on the data, shown here over all counts; these estimates are cut to "
    "between 0 and ln k.",
    says="“The performance of our private-poly is near-indistinguishable from the non-private poly, particularly as "
    "the number of samples increases. It also performs significantly better than all other alternatives, including the "
    "non-private Miller-Madow and the plug-in estimator.” “The RMSE is averaged over 100 iterations.”",
    axes=Axes("samples n", "root mean squared error in bits", log_x=False),
    cells=lambda size: [
        {"items": items, "trials": trials(size)}
        for items in ((100, 1000) if size is Size.QUICK else range(100, 1001, 100))
    ],
    run=_run_entropy,
    judge=_judge_entropy,
    view=without_ratios,
)
FIGURE_3 = Experiment(
    name="figure-3",
    place="Figure 3",
    title="support coverage",
    setting="n = 10,000 samples over k = 20,000 labels, n·t further draws, ε = 1, 2 and 10, one item replaced; errors "
    f"over n·t; {_MOST:,} trials as in the paper, {_FEW} if quick.",
    says="“In this setting, the cost of privacy is relatively small for reasonable values of ε. This is as predicted "
    "by our theoretical results, where unless ε is extremely small (less than 1/k) the non-private sample complexity "
    "dominates the privacy requirement.”",
    axes=Axes("further draws, in samples (t)", "root mean squared error / (n·t)", log_x=False, log_y=False),
    cells=lambda size: [
        {"reach": reach, "trials": _FEW if size is Size.QUICK else _MOST}
        for reach in ((1, 3, 10) if size is Size.QUICK else range(1, 11))
    ],
    run=_run_coverage,
    judge=_judge_coverage,
    view=without_ratios,
)
FIGURE_4 = _texts(
    "figure-4",
    "Figure 4",
    "surnames",
    "surnames of the US census of 2000",
    "“Figure 4 displays the RMSE over 100 iterations … even with an exceptionally stringent privacy budget of ε = 0.5, "
    "the performance is almost indistinguishable from the non-private SGT estimator.”",
)
FIGURE_5 = _texts(
    "figure-5",
    "Figure 5",
    "hamlet",
    "words of Hamlet",
    "“The experimental setup is identical … we get near-indistinguishable performance between the non-private and "
    "private estimators, even for very small values of ε.”",
)
