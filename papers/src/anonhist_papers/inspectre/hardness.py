"""Why private estimates need samples: the distributions of INSPECTRE that are hard to tell apart under privacy."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile
from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.inspectre.coverage import coverage_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from anonhist_papers.experiment import Cell

_TRIALS, _FEW, _SAMPLES = 2000, 200, 500
_PARTS = 10
_DISTANCE = "Samples that differ, over nα/(1 + α)"
# Ω(αm) is of large αm.
_FAR = 5


def hard_pair(draws: int, alpha: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return u₁ and u₂ of Section 4.1.2 over m(1 + α) labels and Δ, the last one.

    Examples
    --------
    >>> u1, u2 = hard_pair(100, 0.1)
    >>> u1.size, u2.size, round(float(np.abs(u1 - u2).sum() / 2), 4)
    (111, 111, 0.0909)
    """
    labels = round(draws * (1 + alpha))
    first, second = np.full(labels + 1, 1 / labels), np.full(labels + 1, 1 / labels)
    first[-1] = 0
    second[draws:-1] = 0
    second[-1] = (labels - draws) / labels
    return first, second


def coupled(
    first: NDArray[np.float64], second: NDArray[np.float64], items: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw n samples of each of two distributions so that as few as possible differ (Lemma 5).

    A pair agrees with the probability of the common part, ``1 − d_TV``; otherwise each comes from what is left of its
    distribution.

    Examples
    --------
    >>> one, other = coupled(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 2, np.random.default_rng(1))
    >>> one.tolist(), other.tolist()
    ([0, 0], [1, 1])
    """
    common = np.minimum(first, second)
    apart = rng.random(items) >= common.sum()
    agreed = rng.choice(first.size, size=items, p=common / common.sum()) if common.any() else np.zeros(items, np.int64)
    drawn = []
    for p in (first, second):
        rest = np.maximum(p - common, 0.0)
        own = rng.choice(p.size, size=items, p=rest / rest.sum()) if rest.any() else agreed
        drawn.append(np.where(apart, own, agreed))
    return drawn[0], drawn[1]


def _run_pair(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    draws = int(cell["draws"])
    for alpha in (0.5, 0.1, 0.01):
        if alpha * draws < 1:
            continue
        first, second = hard_pair(draws, alpha)
        difference = coverage_of(first, draws) - coverage_of(second, draws)
        panel, share = "Coverage of u₁ − that of u₂, over αm", max(difference, 0.0) / (alpha * draws)
        yield Point(panel, f"α = {alpha:g}", draws, share, runs=1)
        pairs = (coupled(first, second, _SAMPLES, rng) for _ in range(int(cell["trials"])))
        distances = [float((one != other).mean()) * (1 + alpha) / alpha for one, other in pairs]
        yield Point.of(distances, panel=_DISTANCE, series=f"α = {alpha:g}", x=draws)


def _judge_pair(points: Sequence[Point]) -> Verdict:
    ratios = {point: point.x * float(point.series.partition(" = ")[2]) for point in points if point.panel != _DISTANCE}
    far = [point.mean for point, ratio in ratios.items() if ratio >= _FAR]
    near = [point.mean for point, ratio in ratios.items() if ratio <= 1]
    coupled_pairs = [point for point in points if point.panel == _DISTANCE]
    # Of some 20 points, one is off by more than four standard errors by chance once in a thousand runs.
    expected = all(abs(point.mean - 1) <= 4 * point.standard_error for point in coupled_pairs)
    edge = f" At αm = 1 the difference is {max(near):.2g}: there the two cover as much." if near else ""
    shares = [point.mean for point in coupled_pairs]
    return Verdict(
        min(far) > 0 and expected,
        f"The coverage of u₁ is larger by {min(far):.2f} to {max(far):.2f} times αm for αm ≥ {_FAR} (in the text the "
        f"signs are the other way round).{edge} Coupled samples differ in {min(shares):.3f} to {max(shares):.3f} times "
        f"α/(1 + α) of the samples.",
    )


def replaced(first: Profile, second: Profile) -> int:
    """Return how many items of a sample have to be replaced to turn its profile into another of the same size.

    Examples
    --------
    >>> replaced(Profile.from_counts([2, 1, 1]), Profile.from_counts([1, 1, 1, 1]))
    1
    """
    one, other = (np.sort(profile.partition())[::-1] for profile in (first, second))
    size = max(one.size, other.size)
    apart = np.pad(one, (0, size - one.size)) - np.pad(other, (0, size - other.size))
    return int(np.maximum(apart, 0).sum())


def _run_supports(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    items, trials = int(cell["items"]), int(cell["trials"])
    drawn = [
        [Profile.from_counts(rng.multinomial(items, np.full(labels, 1 / labels))) for _ in range(trials)]
        for labels in (100, 200)
    ]
    independent = [float(replaced(one, other)) for one, other in zip(*drawn, strict=True)]
    # Pairs of one part depend on each other; parts do not.
    part = max(trials // _PARTS, 1)
    paired = [_paired(*(each[start : start + part] for each in drawn)) for start in range(0, trials - part + 1, part)]
    yield Point.of(paired, series="paired by the number of labels", x=items)
    yield Point.of(independent, series="independent samples", x=items)
    seen = [coverage_of(np.full(labels, 1 / labels), items) for labels in (100, 200)]
    yield Point("", "at least: difference of the labels seen", items, seen[1] - seen[0])


def _paired(first: Sequence[Profile], second: Sequence[Profile]) -> float:
    """Return how many items have to be replaced on average, if samples are paired in the order of their labels."""
    ranked = [sorted(each, key=lambda profile: (profile.num_labels, profile.prevalence(1))) for each in (first, second)]
    return fmean(replaced(one, other) for one, other in zip(*ranked, strict=True))


def _judge_supports(points: Sequence[Point]) -> Verdict:
    point = select(points, "paired by the number of labels")[50]
    least = select(points, "at least: difference of the labels seen")[50].mean
    few = point.mean + 2 * point.standard_error <= 6
    return Verdict(
        True if few else False if least > 6 else None,
        f"With 50 samples each, paired by their number of labels, {point.mean:.2f} ± {point.standard_error:.2f} "
        f"samples are replaced to turn one profile into the other; {least:.2f} is the least possible.",
    )


LOWER_BOUND = Experiment(
    name="lower-bound",
    place="Section 4.1.2, Lemmas 5 and 6",
    title="two distributions that private estimates must tell apart",
    setting=f"Coverages are computed; {_TRIALS:,} pairs of {_SAMPLES} coupled samples, {_FEW} if quick. By Lemma 2 a "
    "private estimate that tells them apart needs n ≥ (1 + α)/(αε), up to a constant.",
    says="The support coverage “differs by Ω(αm). Moreover, their total variation distance is α/(1 + α).”",
    axes=Axes("draws m", "ratio", log_y=False),
    cells=lambda size: [
        {"draws": draws, "trials": _FEW if size is Size.QUICK else _TRIALS} for draws in (10, 20, 100, 1000, 10_000)
    ],
    run=_run_pair,
    judge=_judge_pair,
)
SUPPORTS = Experiment(
    name="two-supports",
    place="Section 5.2.1",
    title="profiles of uniform samples over 100 and 200 labels",
    setting=f"{_TRIALS:,} samples of each, {_FEW} if quick.",
    says="“We note that, if we draw n = 50 samples, the “profile” of the samples … will be very similar for the two "
    "distributions. In particular, if one modifies only a few samples (say, five or six), one could convert one "
    "profile into the other.”",
    axes=Axes("samples n", "samples to replace"),
    cells=lambda size: [
        {"items": items, "trials": _FEW if size is Size.QUICK else _TRIALS} for items in (25, 50, 100, 200)
    ],
    run=_run_supports,
    judge=_judge_supports,
)
