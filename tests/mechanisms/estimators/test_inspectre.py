"""The experiments of INSPECTRE: errors as published, and noise that adds in squares as predicted."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from anonhist.mechanisms.estimators.inspectre import (
    ENTROPY_ITEMS,
    SHARES,
    ErrorRow,
    coverage_errors,
    distributions,
    entropy_errors,
    published_coverage_scale,
    sample,
    steps,
    text_errors,
)
from anonhist.testing.inspectre import PUBLISHED_COVERAGE, PUBLISHED_ENTROPY


@pytest.fixture(scope="module")
def entropy_rows() -> list[ErrorRow]:
    return list(entropy_errors(trials=60, rng=np.random.default_rng(1)))


@pytest.fixture(scope="module")
def coverage_rows() -> list[ErrorRow]:
    return list(coverage_errors(trials=30, rng=np.random.default_rng(2)))


@pytest.fixture(scope="module")
def text_rows() -> list[ErrorRow]:
    return list(text_errors(trials=30, rng=np.random.default_rng(3)))


def only(rows: Sequence[ErrorRow], data: str, x: float, estimator: str, epsilon: float) -> ErrorRow:
    (row,) = [row for row in rows if (row.data, row.x, row.estimator, row.epsilon) == (data, x, estimator, epsilon)]
    return row


@pytest.mark.slow
def test_private_entropy_errs_no_more_than_it_should(entropy_rows: list[ErrorRow]) -> None:
    for items, most in PUBLISHED_ENTROPY.items():
        row = only(entropy_rows, "uniform", items, "private polynomial", 1)
        assert row.rmse - 2 * row.standard_error <= most, row
        assert row.rmse > 0.1 * most


def test_private_coverage_errs_no_more_than_it_should(coverage_rows: list[ErrorRow]) -> None:
    for reach, most in PUBLISHED_COVERAGE.items():
        row = only(coverage_rows, "uniform", reach, "private", 1)
        assert row.rmse - 2 * row.standard_error <= most, row
        assert row.rmse > 0.5 * most


@pytest.mark.slow
def test_noise_adds_in_squares(
    entropy_rows: list[ErrorRow], coverage_rows: list[ErrorRow], text_rows: list[ErrorRow]
) -> None:
    compared = 0
    for rows, title in ((entropy_rows, "private polynomial"), (coverage_rows, "private"), (text_rows, "private")):
        for row in rows:
            if row.estimator != f"{title}, not cut":
                continue
            twin = only(rows, row.data, row.x, f"{title}, twin", row.epsilon)
            predicted = twin.rmse**2 + row.noise**2
            # The mean of so many products of error and noise, and of so many squares of Laplace noise.
            spread = math.hypot(2 * twin.rmse * row.noise, math.sqrt(5) * row.noise**2) / math.sqrt(row.trials)
            assert abs(row.rmse**2 - predicted) <= 4.5 * spread, row
            compared += 1
    assert compared == 24 + 90 + 14


@pytest.mark.slow
def test_private_estimates_of_texts_err_less_than_with_the_published_noise(text_rows: list[ErrorRow]) -> None:
    # The same noise, drawn out: where it is drawn out by little, it may by chance make good for an error.
    for text in ("hamlet", "surnames"):
        for share in SHARES:
            ours = only(text_rows, text, share, "private", 0.5)
            published = only(text_rows, text, share, "private, published noise", 0.5)
            assert ours.noise <= 1.0001 * published.noise
            assert ours.rmse <= published.rmse * 1.03


def test_every_estimator_is_in_every_setting(entropy_rows: list[ErrorRow]) -> None:
    names = {row.estimator for row in entropy_rows}
    assert len(entropy_rows) == len(names) * len(ENTROPY_ITEMS) * len(distributions(2, np.random.default_rng(0)))
    assert {row.trials for row in entropy_rows} == {60}
    for row in entropy_rows:
        assert (row.noise > 0) == (row.epsilon > 0 and "twin" not in row.estimator and "without" not in row.estimator)


def test_distributions_are_distributions() -> None:
    for name, p in distributions(1000, np.random.default_rng(4)).items():
        assert p.sum() == pytest.approx(1), name
        assert p.min() >= 0


@pytest.mark.slow
def test_advance_is_called_as_often_as_said() -> None:
    calls = []
    rng = np.random.default_rng(5)
    for run in (entropy_errors, coverage_errors, text_errors):
        for _ in run(trials=2, rng=rng, advance=lambda: calls.append(1)):
            pass
    assert len(calls) == steps(2)


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
