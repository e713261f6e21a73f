"""Lemmas 3 and 4 of INSPECTRE, and its batches: what is known of the estimates of support coverage themselves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile
from anonhist.properties.unseen_labels import Rarefaction, SmoothedPoisson, poisson_rate
from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.inspectre.coverage import coverage_of
from anonhist_papers.inspectre.entropy import expected_prevalences
from anonhist_papers.inspectre.errors import DISTRIBUTIONS, PRIORS, distributions
from anonhist_papers.inspectre.formulas import rate_of
from anonhist_papers.inspectre.needed import sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from anonhist_papers.experiment import Cell

_ITEMS, _LABELS = 1000, 2000
_REACHES = (1.25, 1.5, 2, 3, 4, 5, 7, 10)
_RATES = {"r of the experiments": None, "r = ln(3/α), α = 0.1": rate_of(0.1)}
_DRAWS = 100
_TRIALS, _FEW = 1000, 100


def largest_coefficient(items: int, reach: float, rate: float) -> float:
    """Return ``1 + e^(r·(t−1))``, the bound of Lemma 3 on the coefficients of ``φ_i``; half the sensitivity at most.

    Examples
    --------
    >>> largest_coefficient(1000, 1.0, 2.0)
    2.0
    """
    del items
    return 1 + math.exp(rate * (reach - 1))


def largest_bias(reach: float, rate: float, labels: float) -> float:
    """Return the bound of Lemma 4, ``2 + 2e^(r·(t−1)) + min(m, S)·e^(−r)``, for ``labels = min(m, S)``.

    Examples
    --------
    >>> round(largest_bias(1.0, 2.0, 100), 2)
    17.53
    """
    return 2 + 2 * math.exp(rate * (reach - 1)) + labels * math.exp(-rate)


def _run_series(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    del rng
    reach, counts = float(cell["reach"]), np.arange(_ITEMS + 1)
    draws = round(_ITEMS * (1 + reach))
    for title, rate in _RATES.items():
        r = poisson_rate(_ITEMS, reach) if rate is None else rate
        statistic = SmoothedPoisson(draws, r).statistic(_ITEMS)
        weights = statistic.weights(counts)
        bound = largest_coefficient(_ITEMS, reach, r)
        panel = f"Lemma 3, {title}"
        yield Point(panel, "largest coefficient", reach, float(np.abs(weights).max()), runs=1)
        yield Point(panel, "sensitivity", reach, sensitivity(statistic, _ITEMS), runs=1)
        yield Point(panel, "Lemma 3", reach, bound)
        yield Point(panel, "twice Lemma 3, the published sensitivity", reach, 2 * bound)
        biases = []
        for name in DISTRIBUTIONS:
            if name not in PRIORS:
                truth = coverage_of(distributions(_LABELS, np.random.default_rng(0))[name], draws)
                biases.append(abs(float(expected_prevalences(name, _ITEMS, _LABELS) @ weights) - truth))
        panel = f"Lemma 4, {title}"
        yield Point(panel, "largest bias of four distributions", reach, max(biases), runs=1)
        yield Point(panel, "Lemma 4", reach, largest_bias(reach, r, min(draws, _LABELS)))


def _judge_series(points: Sequence[Point]) -> Verdict:
    found = {(point.panel, point.series, point.x): point.mean for point in points}

    def shares(own: str, bound: str) -> list[float]:
        return [mean / found[panel, bound, x] for (panel, series, x), mean in found.items() if series == own]

    coefficients = shares("largest coefficient", "Lemma 3")
    steps = shares("sensitivity", "twice Lemma 3, the published sensitivity")
    biases = shares("largest bias of four distributions", "Lemma 4")
    told = "; ".join(
        f"{name} {min(each):.2f} to {max(each):.2f} of {bound}"
        for name, each, bound in (
            ("coefficients are", coefficients, "Lemma 3"),
            ("sensitivities", steps, "twice Lemma 3"),
            ("biases", biases, "Lemma 4"),
        )
    )
    return Verdict(max(*coefficients, *steps, *biases) <= 1, f"Largest {told}.")


def batch_coverage(samples: NDArray[np.int64], draws: int) -> float:
    """Return the mean number of distinct labels in batches of m samples each (Section 4.1.1), for n ≥ m.

    Examples
    --------
    >>> batch_coverage(np.array([0, 0, 1, 0, 1, 2]), 3)
    2.5
    """
    batches = np.sort(samples[: samples.size // draws * draws].reshape(-1, draws), axis=1)
    return float(1 + (np.diff(batches, axis=1) > 0).sum() / batches.shape[0])


def _run_batches(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    items, trials = int(cell["items"]), int(cell["trials"])
    for name, p in distributions(_DRAWS, np.random.default_rng(0)).items():
        if name in PRIORS:
            continue
        panel, truth = name[0].upper() + name[1:], coverage_of(p, _DRAWS)
        statistic = Rarefaction(_DRAWS).statistic(items)
        squares: dict[str, list[float]] = {"batches": [], "rarefaction": []}
        for _ in range(trials):
            samples = rng.choice(p.size, size=items, p=p)
            squares["batches"].append((batch_coverage(samples, _DRAWS) - truth) ** 2)
            profile = Profile.from_counts(np.bincount(samples))
            squares["rarefaction"].append((statistic.of(profile) - truth) ** 2)
        for series, each in squares.items():
            mean = Point.of(each, series=series, x=items, panel=panel)
            root = math.sqrt(mean.mean)
            yield Point(panel, series, items, root, mean.standard_error / (2 * root), trials)
        yield Point(panel, "m/√n, from Var[Y] ≤ m", items, _DRAWS / math.sqrt(items))
        yield Point(panel, "published noise at ε = 1 (standard deviation)", items, math.sqrt(2) * 2 * _DRAWS / items)
        yield Point(panel, "exact noise at ε = 1", items, math.sqrt(2) * sensitivity(statistic, items))


def _judge_batches(points: Sequence[Point]) -> Verdict:
    shares, gains, noise = [], [], []
    for panel in dict.fromkeys(point.panel for point in points):
        batches, own = select(points, "batches", panel), select(points, "rarefaction", panel)
        bound = select(points, "m/√n, from Var[Y] ≤ m", panel)
        shares += [(point.mean / bound[x].mean, point.standard_error / bound[x].mean) for x, point in batches.items()]
        gains += [own[x].mean / point.mean for x, point in batches.items()]
        loud = select(points, "published noise at ε = 1 (standard deviation)", panel)
        noise += [point.mean / loud[x].mean for x, point in select(points, "exact noise at ε = 1", panel).items()]
    most, error = max(shares)
    return Verdict(
        all(share - 2 * spread <= 1 for share, spread in shares),
        f"Errors of batches are at most {most:.2f} ± {error:.2f} of m/√n. Rarefaction, the mean over all batches of m "
        f"samples, errs {min(gains):.2f} to {max(gains):.2f} times as much, and takes at most {max(noise):.2f} of the "
        "published noise.",
    )


LEMMAS = Experiment(
    name="lemmas-3-4",
    place="Lemmas 3 and 4",
    title="coefficients, sensitivity and bias of the smoothed series",
    setting="n = 1,000, m = n·(1 + t); bias over 2,000 labels, uniform, two steps, Zipf 1/2 and Zipf 1. All exact, "
    "nothing is drawn.",
    says="“The maximum coefficient of φ_i in Ŝ_m(p) is at most 1 + e^(r(t−1)).” “If m > 2n, then |E[Ŝ_m] − S_m| ≤ 2 + "
    "2e^(r(t−1)) + min(m, S)·e^(−r).” “If we change one sample, at most two of the φ_j's change. Hence” the "
    "sensitivity is twice Lemma 3. (Up to four change, but the bound holds.)",
    axes=Axes("further draws, in samples (t)", "labels", log_x=False),
    cells=lambda _: [{"reach": reach} for reach in _REACHES],
    run=_run_series,
    judge=_judge_series,
)
BATCHES = Experiment(
    name="batches",
    place="Section 4.1.1, m ≤ 1/(αε)",
    title="support coverage from batches of m samples",
    setting=f"m = 100 and 100 labels; {_TRIALS:,} trials, {_FEW} if quick.",
    says="“We group the dataset into n/m batches of size m … an unbiased estimator of S_m(p), with variance O(m²/n)”, "
    "as “Var[Y_j] ≤ m”. “The sensitivity of Ŝ_m … is at most 2m/n.”",
    axes=Axes("samples n", "root mean squared error in labels"),
    cells=lambda size: [
        {"items": items, "trials": _FEW if size is Size.QUICK else _TRIALS}
        for items in ((200, 1000) if size is Size.QUICK else (100, 200, 500, 1000, 2000, 5000, 10_000))
    ],
    run=_run_batches,
    judge=_judge_batches,
)
