"""The experiments of INSPECTRE: errors as published, and noise that adds in squares as predicted."""

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest

from anonhist.mechanisms.estimators.entropy import EntropyMechanism
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.mechanisms.estimators.support import SupportCoverageMechanism
from anonhist.properties.estimator import LinearStatistic
from anonhist_papers.experiment import Point
from anonhist_papers.inspectre import figures, hardness, lemmas, supplement, theorems
from anonhist_papers.inspectre.bounds import EXACT, NO_PRIVACY, PLUG_IN, POLYNOMIAL, PUBLISHED
from anonhist_papers.inspectre.coverage import (
    SHARES,
    TEXT_EPSILONS,
    TEXTS,
    coverage_errors,
    coverage_of,
    published_coverage_scale,
    sample,
    text_errors,
)
from anonhist_papers.inspectre.criteria import ratio_of
from anonhist_papers.inspectre.entropy import ENTROPY_ITEMS, degree_errors, degree_mechanism, entropy_errors, exact_bias
from anonhist_papers.inspectre.errors import DISTRIBUTIONS, ErrorRow, distributions
from anonhist_papers.inspectre.hardness import coupled, hard_pair
from anonhist_papers.inspectre.lemmas import batch_coverage
from anonhist_papers.inspectre.needed import Estimator, Task, samples_needed, samples_tried
from anonhist_testing.inspectre import EARLIER_COVERAGE, EARLIER_ENTROPY


@pytest.fixture(autouse=True)
def _weights_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # They follow from public numbers alone, which are the same in all trials.
    monkeypatch.setattr(StatisticMechanism, "weights", cache(StatisticMechanism.weights))
    for kind in (EntropyMechanism, SupportCoverageMechanism):
        monkeypatch.setattr(kind, "statistic", cache(kind.statistic))


def only(rows: Sequence[ErrorRow], data: str, x: float, estimator: str, epsilon: float) -> ErrorRow:
    (row,) = [row for row in rows if (row.data, row.x, row.estimator, row.epsilon) == (data, x, estimator, epsilon)]
    return row


def compare_noise(rows: Sequence[ErrorRow], title: str) -> int:
    """Check that the squared noise adds to the squared error, and return in how many settings."""
    compared = 0
    for row in rows:
        if row.estimator != f"{title}, not cut":
            continue
        twin = only(rows, row.data, row.x, f"{title}, twin", row.epsilon)
        predicted = twin.rmse**2 + row.noise**2
        # The mean of so many products of error and noise, and of so many squares of Laplace noise.
        spread = math.hypot(2 * twin.rmse * row.noise, math.sqrt(5) * row.noise**2) / math.sqrt(row.trials)
        assert abs(row.rmse**2 - predicted) <= 4.5 * spread, row
        compared += 1
    return compared


@pytest.mark.slow
def test_private_entropy_errs_no_more_than_it_should_and_noise_adds_in_squares() -> None:
    rng = np.random.default_rng(1)
    rows = list(entropy_errors(trials=60, rng=rng))
    for items, most in EARLIER_ENTROPY.items():
        row = only(rows, "uniform", items, "private polynomial", 1)
        assert row.rmse - 2 * row.standard_error <= most, row
        assert row.rmse > 0.1 * most
    assert compare_noise(rows, "private polynomial") == 24
    # Every estimator is in every setting.
    names = {row.estimator for row in rows}
    assert len(rows) == len(names) * len(ENTROPY_ITEMS) * len(distributions(2, rng))
    assert {row.trials for row in rows} == {60}
    for row in rows:
        assert (row.noise > 0) == (row.epsilon > 0 and "twin" not in row.estimator and "without" not in row.estimator)


@pytest.mark.slow
def test_private_coverage_errs_no_more_than_it_should_and_noise_adds_in_squares() -> None:
    rows = list(coverage_errors(trials=30, rng=np.random.default_rng(2)))
    for reach, most in EARLIER_COVERAGE.items():
        row = only(rows, "uniform", reach, "private", 1)
        assert row.rmse - 2 * row.standard_error <= most, row
        assert row.rmse > 0.5 * most
    assert compare_noise(rows, "private") == 90


@pytest.mark.slow
def test_private_estimates_of_texts_err_less_than_with_the_published_noise() -> None:
    rows = list(text_errors(trials=30, rng=np.random.default_rng(3)))
    # The same noise, drawn out: where it is drawn out by little, it may by chance make good for an error.
    for text in TEXTS:
        for share in SHARES:
            ours = only(rows, text, share, "private", 0.5)
            published = only(rows, text, share, "private, published noise", 0.5)
            assert ours.noise <= 1.0001 * published.noise
            assert ours.rmse <= published.rmse * 1.03
    assert compare_noise(rows, "private") == len(TEXTS) * len(SHARES) * len(TEXT_EPSILONS)


def test_distributions_are_distributions() -> None:
    for name, p in distributions(1000, np.random.default_rng(4)).items():
        assert p.sum() == pytest.approx(1), name
        assert p.min() >= 0


def test_texts_come_with_the_package() -> None:
    assert (sample("hamlet").n, sample("hamlet").num_labels, sample("hamlet").prevalence(1)) == (31999, 4804, 2896)
    assert (sample("surnames").n, sample("surnames").num_labels, sample("surnames").prevalence(1)) == (
        86080,
        20412,
        12042,
    )


def test_published_scale_of_coverage() -> None:
    # r = ln(n·(t+1)²/(t−1))/(2t), scale 2·(1 + e^(r·(t−1))).
    n, t = 1000, 3
    r = math.log(n * (t + 1) ** 2 / (t - 1)) / (2 * t)
    assert published_coverage_scale(n, n * (1 + t)) == pytest.approx(2 * (1 + math.exp(r * (t - 1))))
    assert published_coverage_scale(n, 1500) == 4.0


@pytest.mark.full
def test_ratios_take_into_account_that_samples_are_the_same() -> None:
    rows = list(coverage_errors(trials=40, rng=np.random.default_rng(5), labels=1000, reaches=[2.0], epsilons=[1.0]))
    private = only(rows, "uniform", 2.0, "private", 1)
    plain = only(rows, "uniform", 2.0, "smoothed Good–Toulmin", 0)
    ratio, error = private.over["smoothed Good–Toulmin", 0]
    assert ratio == pytest.approx(private.rmse / plain.rmse)
    assert 0 < error < ratio * math.hypot(private.standard_error / private.rmse, plain.standard_error / plain.rmse)


@pytest.mark.slow
def test_computed_bias_is_that_of_many_samples() -> None:
    rows = [row for _, row in degree_errors(trials=300, rng=np.random.default_rng(6), items=500, degrees=[4])]
    for name in DISTRIBUTIONS:
        twin = only(rows, name, 500, "private polynomial, twin", 1)
        bias = exact_bias(name, degree_mechanism(4).statistic(500), 500, 2000) / math.log(2)
        assert abs(twin.bias - bias) <= 4.5 * twin.bias_error, name


def _task(errors: Callable[[int], float]) -> Task:
    """Return a task in which the error without noise is known, and that of noise is 1/n at ε = 1."""
    known = Estimator("known", lambda n: LinearStatistic(lambda c: (c == n) * errors(n), head=1), lambda n: 1 / n)
    return Task([known], {"one label": np.ones(1)}, lambda _: 0.0, 0.5, samples_tried(10, 2000, 2000))


def test_the_samples_needed_are_those_of_the_formula_for_noise_alone() -> None:
    points = list(samples_needed(_task(lambda _: 0.0), [1.0, 0.1], trials=10, rng=np.random.default_rng(7)))
    # P(|X| > a) = e^(−anε) is a third.
    assert [(point.x, point.standard_error) for point in points] == [(1.0, 0.0), (0.1, 0.0)]
    assert [point.mean for point in points] == pytest.approx([10.0, math.log(3) / 0.05], rel=0.01)


def test_errors_that_come_back_are_told() -> None:
    errors = _task(lambda n: 1.0 if n < 50 or 200 < n < 500 else 0.0)
    points = list(samples_needed(errors, [math.inf], trials=10, rng=np.random.default_rng(8)))
    assert [point.series for point in points] == ["known", "known, for good"]
    assert points[0].mean < 60
    assert 400 < points[1].mean < 600
    never = _task(lambda _: 1.0)
    assert not list(samples_needed(never, [math.inf], trials=10, rng=np.random.default_rng(8)))


def test_coupled_samples_have_their_distributions_and_differ_as_little_as_they_can() -> None:
    first, second = hard_pair(20, 0.5)
    one, other = coupled(first, second, 100_000, np.random.default_rng(9))
    for drawn, p in ((one, first), (other, second)):
        found = np.bincount(drawn, minlength=p.size) / drawn.size
        assert np.abs(found - p).max() < 5 * math.sqrt(0.25 / drawn.size)
    assert float((one != other).mean()) == pytest.approx(1 / 3, abs=0.01)


def test_batches_are_unbiased() -> None:
    rng, p = np.random.default_rng(10), distributions(50, np.random.default_rng(10))["Zipf 1"]
    found = [batch_coverage(rng.choice(50, size=90, p=p), 30) for _ in range(2000)]
    assert np.mean(found) == pytest.approx(coverage_of(p, 30), abs=5 * float(np.std(found)) / math.sqrt(2000))


def line(
    series: str, values: Sequence[float], xs: Sequence[float], panel: str = "", error: float = 0.001
) -> list[Point]:
    return [Point(panel, series, x, value, error, 100) for x, value in zip(xs, values, strict=True)]


def test_the_degree_is_confirmed_where_it_is_near_the_best() -> None:
    def judged(best: float, error: float = 0.001) -> bool | None:
        points = [
            point
            for factor in figures.FACTORS
            for point in line(f"L = {factor:g} ln k", [math.exp(abs(factor - best))], [500], "Uniform", error)
        ]
        return figures.FIGURE_1.judge(points).agrees

    assert [judged(1.2), judged(0.3), judged(0.9, 0.3)] == [True, False, None]


def test_the_tradeoff_is_confirmed_where_bias_falls_and_noise_rises() -> None:
    def judged(slope: float, noise: float) -> bool | None:
        degrees = [1, 2, 4, 8, 12, 16]
        points = line("bias", [degree**slope for degree in degrees], degrees, "Uniform")
        points += line("noise (standard deviation)", [degree**noise for degree in degrees], degrees, "Uniform")
        return figures.FIGURE_1_TRADEOFF.judge(points).agrees

    assert [judged(-1, 1), judged(1, 1), judged(-1, -1)] == [True, False, False]


@pytest.mark.parametrize(
    ("ratio", "error", "rival", "agrees"),
    [(1.1, 0.01, 0.5, True), (1.5, 0.01, 0.5, False), (1.5, 0.2, 0.5, None), (1.1, 0.01, 0.05, False)],
)
def test_entropy_is_confirmed_where_curves_are_near_and_rivals_err_more(
    ratio: float, error: float, rival: float, *, agrees: bool | None
) -> None:
    xs = [100, 1000]
    points = [
        *line("polynomial", [0.1, 0.1], xs, "Zipf 1"),
        *line("polynomial of the private degree", [0.1, 0.1], xs, "Zipf 1"),
        *line("private polynomial, exact noise", [0.1 * ratio] * 2, xs, "Zipf 1"),
        *line(ratio_of("private polynomial, exact noise", "polynomial"), [ratio] * 2, xs, "Zipf 1", error),
        *(point for name in figures.RIVALS for point in line(name, [rival] * 2, xs, "Zipf 1")),
    ]
    assert figures.FIGURE_2.judge(points).agrees is agrees
    assert not any("over" in point.series for point in figures.FIGURE_2.view(points))


@pytest.mark.parametrize(("ratio", "error", "agrees"), [(1.2, 0.01, True), (1.8, 0.01, False), (1.4, 0.1, None)])
def test_coverage_is_confirmed_where_privacy_adds_less_than_there_is(
    ratio: float, error: float, *, agrees: bool | None
) -> None:
    points = line("smoothed Good–Toulmin", [0.1, 0.1], [1, 10], "Uniform", 0.0)
    for noise in ("published", "exact"):
        for epsilon in (1, 2, 10):
            points += line(
                f"private, {noise} noise, ε = {epsilon}", [0.1, 0.1 * ratio], [1, 10], "Uniform", 0.1 * error
            )
    assert figures.FIGURE_3.judge(points).agrees is agrees
    # What contradicts the figure is what the text says of smaller supports.
    assert supplement.SUPPLEMENT_COVERAGE.judge(points).agrees is (None if agrees is None else not agrees)


@pytest.mark.parametrize(("ratio", "error", "agrees"), [(1.1, 0.01, True), (1.4, 0.01, False), (1.25, 0.1, None)])
def test_texts_are_confirmed_where_100_iterations_cannot_tell(
    ratio: float, error: float, *, agrees: bool | None
) -> None:
    points = line("smoothed Good–Toulmin", [100, 10], [0.1, 0.9], error=0.0)
    for epsilon in (0.5, 0.1):
        points += line(f"private, published noise, ε = {epsilon}", [100 * ratio], [0.1], error=100 * error)
        points += line(f"private, exact noise, ε = {epsilon}", [100, 10 * ratio], [0.1, 0.9], error=10 * error)
    for figure in (figures.FIGURE_4, figures.FIGURE_5):
        assert figure.judge(points).agrees is agrees


def test_other_settings_are_confirmed_where_privacy_costs_little_in_several() -> None:
    def judged(*ratios: float) -> bool | None:
        points = []
        for number, ratio in enumerate(ratios):
            points += line("polynomial", [0.1], [100], f"k = {number}", 0.0)
            points += line("private polynomial, exact noise", [0.1 * ratio], [100], f"k = {number}", 0.001)
        return supplement.SUPPLEMENT_ENTROPY.judge(points).agrees

    assert [
        judged(1.1, 1.1, 1.1, 2.0, 2.0, 2.0, 2.0),
        judged(1.1, 1.1, 2.0, 2.0, 2.0, 2.0, 2.0),
        judged(1.1, 1.1, 1.2, 2.0, 2.0, 2.0, 2.0),
        judged(1.1, 1.1, 2.0),
    ] == [True, False, None, None]


def test_lemmas_are_confirmed_below_their_bounds() -> None:
    def judged(coefficient: float, step: float, bias: float) -> bool | None:
        points = line("largest coefficient", [coefficient], [2], "Lemma 3") + line("Lemma 3", [2.0], [2], "Lemma 3")
        points += line("sensitivity", [step], [2], "Lemma 3")
        points += line("twice Lemma 3, the published sensitivity", [4.0], [2], "Lemma 3")
        points += line("largest bias of four distributions", [bias], [2], "Lemma 4")
        return lemmas.LEMMAS.judge(points + line("Lemma 4", [9.0], [2], "Lemma 4")).agrees

    assert [judged(1, 3, 8), judged(3, 3, 8), judged(1, 5, 8), judged(1, 3, 10)] == [True, False, False, False]


def test_batches_are_confirmed_below_the_bound_of_their_variance() -> None:
    def judged(error: float) -> bool | None:
        points = line("batches", [error], [400]) + line("rarefaction", [1.0], [400])
        points += line("m/√n, from Var[Y] ≤ m", [5.0], [400]) + line("exact noise at ε = 1", [0.3], [400])
        points += line("published noise at ε = 1 (standard deviation)", [0.7], [400])
        return lemmas.BATCHES.judge(points).agrees

    assert [judged(2.0), judged(6.0)] == [True, False]


def test_the_hard_pair_is_confirmed_where_coverages_differ_and_samples_as_expected() -> None:
    def judged(difference: float, distance: float) -> bool | None:
        points = line("α = 0.1", [0.0, difference], [10, 1000], "Coverage of u₁ − that of u₂, over αm")
        points += line("α = 0.1", [distance] * 2, [10, 1000], hardness._DISTANCE, 0.01)
        return hardness.LOWER_BOUND.judge(points).agrees

    assert [judged(0.5, 1.01), judged(0.0, 1.01), judged(0.5, 1.3)] == [True, False, False]


def test_two_supports_are_confirmed_where_few_samples_are_replaced() -> None:
    def judged(paired: float, least: float) -> bool | None:
        points = line("paired by the number of labels", [paired], [50])
        return hardness.SUPPORTS.judge(points + line("at least: difference of the labels seen", [least], [50])).agrees

    assert [judged(5.0, 4.8), judged(9.0, 8.0), judged(7.0, 5.0)] == [True, False, None]


@pytest.mark.parametrize(
    ("slope", "factors", "agrees"),
    [(1.0, (3.0, 2.5), True), (1.2, (3.0, 2.5), False), (1.0, (2.0, 2.5), False), (1.0, (2.5, 2.5), None)],
)
def test_coverage_and_size_are_confirmed_where_samples_grow_as_the_bounds(
    slope: float, factors: tuple[float, float], *, agrees: bool | None
) -> None:
    for experiment, series in ((theorems.THEOREM_1, PUBLISHED), (theorems.THEOREM_2, EXACT)):
        points = []
        for size, factor in zip((1000, 10_000), factors, strict=True):
            panel = f"k = {size:,}"
            points += line(NO_PRIVACY, [size / 3] * 2, [10, 0.0001], panel, 1.0)
            points += line(series, [1e4, 1e4 * 10**slope], [0.001, 0.0001], panel, 1.0)
            points += line(series, [factor * size / 3], [size**-0.5], panel, 1.0)
        assert experiment.judge(points).agrees is agrees
        bounds = [point for point in experiment.view(points) if not point.runs]
        # With its constant, an upper bound is nowhere below the points.
        for point in points:
            if point.series == series and point.x == 0.001:
                above = [each for each in bounds if "upper" in each.series and each.panel == point.panel]
                assert next(each.mean for each in above if each.x == 0.001) >= 0.999 * point.mean


def test_entropy_is_confirmed_where_the_cost_of_privacy_does_not_depend_on_k() -> None:
    def judged(cost: float, slope: float) -> bool | None:
        points = []
        for size, factor in ((1000, 1.0), (10_000, cost)):
            for series, without in ((PLUG_IN, "plug-in, no privacy"), (POLYNOMIAL, "polynomial, no privacy")):
                points += line(without, [5000, 5000], [10, 0.0001], f"k = {size:,}", 1.0)
                high = 5000 + factor * 1e6
                points += line(series, [high / 10**slope, high], [0.001, 0.0001], f"k = {size:,}", 1.0)
        return theorems.THEOREM_3.judge(points).agrees

    assert [judged(1.05, 1.08), judged(2.0, 1.08), judged(1.05, 1.3)] == [True, False, False]
