"""Theorems 1 to 3 of INSPECTRE: the samples that private estimates need, against ε and the size, beside the bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.estimators.entropy import PolynomialParameters
from anonhist.mechanisms.estimators.support import coverage_draws
from anonhist.properties.entropy import PlugIn
from anonhist.properties.support_size import Chebyshev
from anonhist.properties.unseen_labels import Rarefaction, SmoothedPoisson
from anonhist_papers.experiment import Axes, Experiment, Point, Size
from anonhist_papers.inspectre import formulas
from anonhist_papers.inspectre.bounds import (
    ALPHA,
    EPSILONS,
    EXACT,
    OTHER,
    PLUG_IN,
    POLYNOMIAL,
    PUBLISHED,
    Bound,
    judge,
    size_of,
    view,
    without_noise,
)
from anonhist_papers.inspectre.coverage import coverage_of, published_coverage_scale
from anonhist_papers.inspectre.entropy import entropy_of
from anonhist_papers.inspectre.errors import DISTRIBUTIONS, PRIORS, distributions
from anonhist_papers.inspectre.needed import Estimator, Task, samples_needed, samples_tried

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anonhist.properties.estimator import LinearStatistic
    from anonhist_papers.experiment import Cell

_TRIALS, _FEW = 100, 20


_COVERAGE = (
    Bound("Theorem 1, upper bound", formulas.coverage_upper, PUBLISHED),
    Bound("Theorem 1, lower bound", formulas.coverage_lower),
)
_SIZE = (
    Bound("Theorem 2, upper bound", formulas.size_upper, EXACT),
    Bound("Theorem 2, lower bound", formulas.size_lower),
)
_ENTROPY = (
    Bound("Theorem 3, first upper bound", formulas.entropy_upper_plug_in, PLUG_IN, 12.5),
    Bound("Theorem 3, second upper bound", formulas.entropy_upper_polynomial, POLYNOMIAL, 100.0),
    Bound("Theorem 3, lower bound", formulas.entropy_lower),
)


def coverage_statistic(items: int, *, draws: int, alpha: float = ALPHA) -> LinearStatistic:
    """Return the estimate of Section 4.1.1: Poisson smoothing with ``r = ln(3/α)``, and from m samples on rarefaction.

    Rarefaction has the mean of the paper's batches of m samples, and no larger error.

    Examples
    --------
    >>> coverage_statistic(1000, draws=3000).weights(np.arange(3)).round(3).tolist()
    [0.0, 2.933, -2.413]
    """
    if draws <= items:
        return Rarefaction(draws).statistic(items)
    return SmoothedPoisson(draws, formulas.rate_of(alpha)).statistic(items)


def published_scale(items: int, *, draws: int, alpha: float = ALPHA) -> float:
    """Return the scale of the noise in the proof of Theorem 1, at ε = 1: of Lemma 3, or 2m/n from m samples on.

    Examples
    --------
    >>> published_scale(2000, draws=1000)
    1.0
    """
    if draws <= items:
        return 2 * draws / items
    return published_coverage_scale(items, draws, rate=formulas.rate_of(alpha))


def _coverage_task(size: int) -> Task:
    statistic = partial(coverage_statistic, draws=size)
    return Task(
        (Estimator(EXACT, statistic), Estimator(PUBLISHED, statistic, partial(published_scale, draws=size))),
        _fixed(size),
        partial(coverage_of, draws=size),
        ALPHA * size,
        samples_tried(size / 8, 1.2 * size, max(5 * size, 4 / (ALPHA * min(EPSILONS)))),
    )


def bounded_below(size: int) -> Mapping[str, NDArray[np.float64]]:
    """Return distributions without a probability below 1/k.

    Examples
    --------
    >>> {name: (p.size, round(float(p.min()), 3)) for name, p in bounded_below(100).items()}
    {'uniform': (100, 0.01), 'half the labels': (50, 0.02), 'one common label': (51, 0.01)}
    """
    half = size // 2
    return {
        "uniform": np.full(size, 1 / size),
        "half the labels": np.full(half, 1 / half),
        "one common label": np.append(1 - half / size, np.full(half, 1 / size)),
    }


def _size_task(size: int) -> Task:
    draws = coverage_draws(size, ALPHA)
    return Task(
        (
            Estimator(EXACT, partial(coverage_statistic, draws=draws)),
            Estimator(OTHER, lambda items: Chebyshev(size).statistic(items)),
        ),
        bounded_below(size),
        lambda p: float(p.size),
        ALPHA * size,
        samples_tried(size / 4, 4 * size, max(12 * size, 10 / (ALPHA * min(EPSILONS)))),
    )


def _entropy_task(size: int) -> Task:
    parameters = PolynomialParameters.of_inspectre(size)
    return Task(
        (
            Estimator(POLYNOMIAL, lambda items: parameters.statistic(items, size)),
            Estimator(PLUG_IN, lambda items: PlugIn().statistic(items)),
        ),
        _fixed(size),
        entropy_of,
        ALPHA,
        samples_tried(size / 8, 20 * size, max(40 * size, 40 / (ALPHA * min(EPSILONS)))),
    )


def _fixed(size: int) -> Mapping[str, NDArray[np.float64]]:
    """Return the test distributions that are not drawn."""
    found = distributions(size, np.random.default_rng(0))
    return {name: found[name] for name in DISTRIBUTIONS if name not in PRIORS}


def _run(letter: str, task: Callable[[int], Task], cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    size = int(cell["size"])
    panel = f"{letter} = {size:,}"
    epsilons = (math.inf, *EPSILONS, size**-0.5)
    for point in samples_needed(task(size), epsilons, trials=int(cell["trials"]), rng=rng):
        if math.isfinite(point.x):
            yield replace(point, panel=panel)
        elif point.series in (EXACT, POLYNOMIAL, PLUG_IN, OTHER):
            # Without privacy it is the same at every ε.
            for end in (EPSILONS[0], EPSILONS[-1]):
                yield replace(point, panel=panel, series=without_noise(point.series), x=end)


def _cells(size: Size) -> Sequence[Cell]:
    if size is Size.QUICK:
        return [{"size": each, "trials": _FEW} for each in (300, 1000)]
    return [{"size": each, "trials": _TRIALS} for each in (1000, 5000, 25_000)]


def _coverage_view(points: Sequence[Point]) -> Sequence[Point]:
    """Add the bounds, and the samples that suffice for the published noise, whose constants the paper states."""
    panels = dict.fromkeys(point.panel for point in points)
    enough = [
        Point(panel, "enough for the published noise (Section 4.1.1)", x, samples)
        for panel in panels
        for x in EPSILONS
        if math.isfinite(samples := formulas.coverage_samples_for_noise(size_of(panel), ALPHA, x))
    ]
    return [*view(_COVERAGE, points), *enough]


def _theorem(
    number: int,
    letter: str,
    title: str,
    says: str,
    setting: str,
    task: Callable[[int], Task],
    bounds: tuple[Bound, ...],
) -> Experiment:
    return Experiment(
        name=f"theorem-{number}",
        place=f"Theorem {number}",
        title=title,
        setting=f"{setting} The hardest of these distributions counts. Noise is not drawn, but taken into account by "
        f"its formula; {_TRIALS} trials for each number of samples, {_FEW} if quick; standard errors by the jackknife.",
        says=says,
        axes=Axes("ε", "samples needed"),
        cells=_cells,
        run=partial(_run, letter, task),
        judge=partial(judge, bounds),
        view=_coverage_view if bounds is _COVERAGE else partial(view, bounds),
    )


THEOREM_1 = _theorem(
    1,
    "m",
    "the samples that support coverage needs",
    "“O(m·log(1/α)/log m + m·log(1/α)/log(2 + εm)) when m ≥ 1/(αε), O(1/α² + 1/(αε)) when 1/α ≤ m ≤ 1/(αε)”, and "
    "“Ω(m·log(1/α)/log m + 1/(αε))”. “For most meaningful values of ε, privacy comes for free.” The sample complexity "
    "“is the smallest number of samples to estimate f to accuracy α, and error β. We study the problem for β = 1/3.”",
    "S_m ± αm, α = 0.1, Poisson smoothing with r = ln(3/α), from m samples on rarefaction; uniform, two steps, "
    "Zipf 1/2 and Zipf 1 over m labels.",
    _coverage_task,
    _COVERAGE,
)
THEOREM_2 = _theorem(
    2,
    "k",
    "the samples that the support size needs",
    "“O(k·log²(1/α)/log k + k·log²(1/α)/log(2 + εk)) when k ≥ 1/(αε), O(k·log(1/α) + 1/(αε)) when "
    "1/α ≤ k ≤ 1/(αε)”, and “Ω(k·log²(1/α)/log k + 1/(αε)) when k ≥ 1/α”.",
    "S ± αk, α = 0.1, by the coverage of m = k·ln(3/α) draws, with r = ln(3/α), beside the Chebyshev weights of Wu and "
    "Yang (which have no guarantee here); uniform over k labels, over k/2, and one common label beside k/2 of "
    "probability 1/k. The paper's proof is in the supplement, which is not at hand.",
    _size_task,
    _SIZE,
)
THEOREM_3 = _theorem(
    3,
    "k",
    "the samples that entropy needs",
    "“O(k/α + log²(min{k, n})/α² + (1/(αε))·log(1/(αε)))” (here: plug-in), “O(k/(λ²α·log k) + log²(min{k, n})/α² + "
    "(1/(αε))^(1+λ))” (polynomial; here at the best λ from 0.01 to 1), and “Ω(k/(α·log k) + log²(min{k, n})/α² + "
    "log k/(αε))”. The cost of privacy “is very close to linear in 1/(αε)” and “independent of k”.",
    "H ± α nats, α = 0.1, the polynomial with L = 1.2·ln k, and the plug-in value; uniform, two steps, Zipf 1/2 and "
    "Zipf 1 over k labels.",
    _entropy_task,
    _ENTROPY,
)
