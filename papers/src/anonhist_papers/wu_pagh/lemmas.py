"""The example and the lemmas that Theorem 1.1 rests on: noise read as counts, unfolding, A⁻¹, deviations of g."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.randomness import SystemSource
from anonhist.sketches.changes import fold, unfold
from anonhist.sketches.decoder import Counters
from anonhist.sketches.inverses import WuPagh
from anonhist.sketches.release import noisy
from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.wu_pagh.bounds import deviation_bound, matrix_of, window
from anonhist_papers.wu_pagh.curves import MARGIN, last_decades
from anonhist_papers.wu_pagh.settings import (
    BETA,
    LARGEST,
    NORMS,
    SHAPES,
    all_of,
    counts_of,
    error_of,
    mean_of,
    setting_of,
    signed,
    slope,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anonhist_papers.experiment import Cell

_SHARE, _STAY = "share of counters at 1", "tanh(ε/2)"
NEVER, UNFOLDED, CLIPPED = "never clipped", "clipped and unfolded", "clipped, read as they are"
_BOUND = "bound in probability, β = 0.01"
_SUMS, _LARGEST_SUMS, _WAVES = "‖A⁻¹‖ in ℓ1", "‖A⁻¹‖ in ℓ∞", "‖A⁻¹‖ in ℓ2"
_COTH = "coth²(ε/2)"


def _run_example(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    epsilon, size = float(cell["epsilon"]), int(cell["size"])
    truth = Counters(np.array([1]), np.array([size]))
    noise = setting_of(epsilon).noise
    shares = [float(noisy(truth, noise, rng=rng).dense(1, 1)[0]) / size for _ in range(int(cell["trials"]))]
    panel = f"d = {size:,}"
    yield Point.of(shares, panel=panel, series=_SHARE, x=epsilon)
    yield Point(panel, _STAY, epsilon, math.tanh(epsilon / 2))


def _judge_example(points: Sequence[Point]) -> Verdict:
    apart = [
        (point.mean / math.tanh(point.x / 2) - 1, point.standard_error / math.tanh(point.x / 2))
        for point in points
        if point.runs
    ]
    least, most = min(each for each, _ in apart), max(each for each, _ in apart)
    at_one = next(point for point in points if point.runs and point.x == 1)
    return Verdict(
        all_of(*(within(*each, MARGIN) for each in apart)),
        f"The share of counters at 1, where all counts are 1, is {1 + least:.3f} to {1 + most:.3f} times tanh(ε/2), "
        f"whatever d is: at ε = 1 it is {at_one.mean:.3f} instead of 1.",
    )


def _run_unfolding(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    size, norm, setting, source = int(cell["size"]), str(cell["norm"]), setting_of(1), SystemSource()
    gamma = setting.noise.parts[0][0]
    errors: dict[str, list[float]] = {NEVER: [], UNFOLDED: [], CLIPPED: []}
    for _ in range(int(cell["trials"])):
        for series, own in errors.items():
            truth = counts_of(SHAPES[-1], size, rng=rng)
            counts = np.repeat(truth.values, truth.numbers)
            counters = counts + setting.noise.simulate(size, rng=rng)
            if series != NEVER:
                counters = fold(counters, LARGEST)
            if series == UNFOLDED:
                counters = unfold(counters, LARGEST, gamma, source=source)
            own.append(error_of(WuPagh(norm).decode(Counters.of(counters), setting), truth, norm))
    for series, own in errors.items():
        yield Point.of(own, panel=NORMS[norm], series=series, x=size)


def _judge_unfolding(points: Sequence[Point]) -> Verdict:
    relative, clipped = [], {}
    for panel in dict.fromkeys(point.panel for point in points):
        never, unfolded, folded = (select(points, series, panel) for series in (NEVER, UNFOLDED, CLIPPED))
        for x, point in never.items():
            error = math.hypot(*(each.standard_error / each.mean for each in (unfolded[x], point)))
            relative.append((math.log(unfolded[x].mean / point.mean), error))
            clipped[x, panel] = folded[x].mean / point.mean
    found, error = mean_of(relative)
    (last, panel), times = max(clipped.items())
    return Verdict(
        within(found, error, 2 * MARGIN),
        f"After unfolding, the error is {math.exp(found):.3f} ± {error:.3f} times that of counters never clipped, on "
        f"average over d and norms; read as they are, clipped counters err {times:.0f} times as much at "
        f"d = {last:,.0f} in {panel}.",
    )


def _run_norms(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    del rng
    epsilon, largest = float(cell["epsilon"]), int(cell["largest"])
    _, noise = window(10**6, epsilon, largest=largest, beta=BETA)
    inverse = np.linalg.inv(matrix_of(noise))
    panel = f"n = {largest}"
    for series, order in ((_SUMS, 1), (_LARGEST_SUMS, np.inf), (_WAVES, 2)):
        yield Point(panel, series, epsilon, float(np.linalg.norm(inverse, order)), 0.0, 1)
    yield Point(panel, _COTH, epsilon, math.tanh(epsilon / 2) ** -2)
    yield Point(panel, "4/ε²", epsilon, 4 / epsilon**2)


def _judge_norms(points: Sequence[Point]) -> Verdict:
    found: dict[str, dict[tuple[str, float], float]] = {}
    for point in points:
        found.setdefault(point.series, {})[point.panel, point.x] = point.mean
    sums, formula = found[_SUMS], found[_COTH]
    equal = max(abs(norm / found[_LARGEST_SUMS][at] - 1) for at, norm in sums.items())
    norms = [(norm, at) for series in (_SUMS, _WAVES) for at, norm in found[series].items()]
    low, high = (pick(norm / formula[at] for norm, at in norms) for pick in (min, max))
    scaled = [norm * epsilon**2 for norm, (_, epsilon) in norms if epsilon <= 1]
    return Verdict(
        equal < 1e-6 and max(scaled) <= 1.1 * math.tanh(0.5) ** -2,
        f"The norms in ℓ1 and ℓ∞ differ by {equal:.0e}. All three are {low:.3f} to {high:.3f} times coth²(ε/2), and up "
        f"to ε = 1 they are {min(scaled):.2f}/ε² to {max(scaled):.2f}/ε².",
    )


def _run_deviation(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    size, shape, norm = int(cell["size"]), str(cell["shape"]), str(cell["norm"])
    reach, noise = window(size, 1.0, largest=LARGEST, beta=BETA)
    inside = slice(reach, reach + LARGEST + 1)
    found = []
    for _ in range(int(cell["trials"])):
        truth = counts_of(shape, size, rng=rng)
        profile = np.zeros(noise.length)
        profile[inside] = truth.dense(0, LARGEST) / size
        observed = noisy(truth, setting_of(1).noise, rng=rng)
        apart = observed.dense(-reach, LARGEST + reach) / size - noise.multiply(profile)
        found.append(float(np.linalg.norm(apart, float(norm))))
    yield Point.of(found, panel=NORMS[norm], series=shape, x=size)
    if shape == SHAPES[-1]:
        yield Point(NORMS[norm], _BOUND, size, deviation_bound(size, noise.length, norm, beta=BETA))


def _judge_deviation(points: Sequence[Point]) -> Verdict:
    holds, slopes, shares = True, [], []
    for panel in NORMS.values():
        bounds = select(points, _BOUND, panel)
        for series in SHAPES:
            line = select(points, series, panel)
            slopes.append(slope(last_decades(line)))
            for x, point in line.items():
                holds &= point.mean + 3 * point.standard_error * point.runs**0.5 <= bounds[x].mean
                shares.append(point.mean / bounds[x].mean)
    found, error = mean_of(slopes)
    return Verdict(
        all_of(holds, within(found + 0.5, error, MARGIN)),
        f"The noisy profile is {min(shares):.2f} to {max(shares):.2f} of the bound away from A·f on average, "
        f"{'always' if holds else 'not always'} below it by three standard deviations of a run; its slope against d is "
        f"{signed(found)} ± {error:.3f}.",
    )


def _sizes(size: Size) -> Sequence[int]:
    return [10**power for power in ((3, 4, 5, 6) if size is Size.QUICK else (3, 4, 5, 6, 7, 8, 9))]


EXAMPLE = Experiment(
    name="example",
    place="Section 4.2, example",
    title="counters read as counts",
    setting="All labels have the count 1; the share of counters at 1. 100 runs, 20 if quick.",
    says="Of items “that each appear once in the dataset”, the fraction with a noisy count of 1 is “far from the true "
    "fraction” (Section 1.1); by the example of Section 4.2 the error of reading counters as counts does not fall "
    "with d. Judged is whether the fraction is tanh(ε/2), up to 5 %, at each d.",
    axes=Axes("ε", "share of all counters", log_y=False),
    cells=lambda size: [
        {"size": labels, "epsilon": epsilon, "trials": 20 if size is Size.QUICK else 100}
        for labels in (10**4, 10**6, 10**8)
        for epsilon in (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
    ],
    run=_run_example,
    judge=_judge_example,
)
LEMMA_4_1 = Experiment(
    name="lemma-4-1",
    place="Lemma 4.1",
    title="unfolding of clipped counters",
    setting="Counts Zipf(2) − 1, at most 50; ε = 1; counters clipped to 0..50; Algorithms 2 and 3. 200 runs (40 of a "
    "million labels), 40 if quick. Tests compare the distributions exactly; here it is what is read.",
    says="Entries that were clipped can be given back “the same distribution” as unclipped ones: to those at 0 or n a "
    "geometric number is added outward. Judged is whether what is read then errs as much, up to 10 %.",
    axes=Axes("labels d", "error of the profile"),
    cells=lambda size: [
        {"norm": norm, "size": labels, "trials": 40 if size is Size.QUICK else min(200, 4 * 10**7 // labels)}
        for norm in NORMS
        for labels in _sizes(size)[: 3 if size is Size.QUICK else 4]
    ],
    run=_run_unfolding,
    judge=_judge_unfolding,
)
LEMMA_4_10 = Experiment(
    name="lemma-4-10",
    place="Lemma 4.10",
    title="norms of the inverse of A",
    setting="A written out and inverted, for d = 10⁶ and β = 0.01. Nothing is random.",
    says="The norms of A⁻¹ in ℓ1, ℓ2 and ℓ∞ are bounded through the eigenvalues of A; those in ℓ1 and ℓ∞ are equal "
    "(Appendix F). Judged is whether they are, and whether none exceeds 10 % more than "
    "coth²(½)/ε² = 4.68/ε² for ε up to 1.",
    axes=Axes("ε", "norm"),
    cells=lambda size: [
        {"epsilon": epsilon, "largest": largest, "trials": 1}
        for largest in ((10, 50) if size is Size.QUICK else (10, 50, 250))
        for epsilon in (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
    ],
    run=_run_norms,
    judge=_judge_norms,
)
LEMMA_4_11 = Experiment(
    name="lemma-4-11",
    place="Algorithm 1, Lemmas 4.2 and 4.11",
    title="how far the noisy profile is from its mean",
    setting="Algorithm 1 draws the noisy profile g of three profiles; ε = 1; distance from A·f in three norms. 400 "
    "runs, 30 if quick.",
    says="Algorithm 1 generates g from f; its mean, given that no noise leaves the window, is A·f (Lemma 4.2), and "
    "with high probability g is O(1/√d) from it in each norm (Lemma 4.11).",
    axes=Axes("labels d", "distance of g from A·f"),
    cells=lambda size: [
        {"shape": shape, "norm": norm, "size": labels, "trials": 30 if size is Size.QUICK else 400}
        for shape in SHAPES
        for norm in NORMS
        for labels in _sizes(size)
    ],
    run=_run_deviation,
    judge=_judge_deviation,
)
