"""The experiments of INSPECTRE: errors as published, and noise that adds in squares as predicted."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from anonhist.mechanisms.estimators import EntropyMechanism, StatisticMechanism, SupportCoverageMechanism
from anonhist_papers.inspectre.errors import (
    ENTROPY_ITEMS,
    SHARES,
    TEXTS,
    ErrorRow,
    coverage_errors,
    distributions,
    entropy_errors,
    published_coverage_scale,
    sample,
    text_errors,
)
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
    assert compare_noise(rows, "private") == 14


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
