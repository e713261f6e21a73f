"""The chain over rows: weights against their definition, many blocks against one, a short chain against the whole."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.mechanisms.frobenius import posterior as frobenius_posterior
from anonhist.mechanisms.frobenius import posterior as row_posterior
from anonhist.mechanisms.frobenius.row_weights import NoisyRows, RowWeights
from anonhist_testing.cases import each_of

SIZES = np.array([11, 3])
EPSILONS = [0.05, 0.3, 1.0]


def noisy_sides(epsilon: float, length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return noisy arms and legs of a diagram of about 12 rows that fall like 1/k."""
    rng = np.random.default_rng(5)
    lengths = np.maximum(600 // np.arange(1, length + 1) - 4 * np.arange(length), 0)
    noise = rng.geometric(-np.expm1(-epsilon), (4, 2, length))
    arms, legs = lengths + noise[0] - noise[1], lengths + noise[2] - noise[3]
    return arms, legs


@each_of("epsilon", EPSILONS)
@each_of("scales", [None, np.array([4.0, 40.0])])
def test_weights_are_those_of_the_definition(epsilon: float, scales: NDArray[np.float64] | None) -> None:
    noisy = noisy_sides(epsilon, 30)[0]
    weights = RowWeights(NoisyRows.alone(noisy), epsilon, 0.05 if epsilon > 0.05 else 0.25, scales)
    cut = 0
    for k in range(30):
        rows = (weights.low[k][:, None] + weights.places) * weights.step
        expected = np.exp(-epsilon * np.abs(rows - (k + 1) - noisy[:, k, None]))
        expected[rows < k + 1] = 0
        cut += int((rows < k + 1).sum())
        if scales is not None:
            mean = weights.step * (scales[:, None] / np.maximum(rows, 1)) ** 2
            expected *= mean / (1 + mean)
        np.testing.assert_allclose(weights.at(k), expected, rtol=1e-12)
    assert cut > 0
    assert weights.step == (5 if epsilon == 0.05 else 1)


def medians(epsilon: float) -> list[list[int]]:
    arms, legs = map(NoisyRows.alone, noisy_sides(epsilon, int(100 / epsilon)))
    found = frobenius_posterior.posterior_medians(SIZES, arms, legs, epsilon=epsilon)
    return [side.tolist() for each in found for side in each[:2]]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_blocks_and_an_early_end_change_nothing(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    class Recorded(row_posterior.RowPosterior):
        def median_rows(self, *given: Any, **options: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            lengths.append(self.log_evidence.shape[1] - 1)
            return super().median_rows(*given, **options)

    monkeypatch.setattr(frobenius_posterior, "RowPosterior", Recorded)
    monkeypatch.setattr(row_posterior, "_BLOCK_CELLS", 2**12)
    short = medians(epsilon)
    most = max(lengths)
    lengths.clear()
    monkeypatch.setattr(frobenius_posterior, "_NEGLIGIBLE", np.inf)
    assert medians(epsilon) == short
    assert most < min(lengths) == int(100 / epsilon)
    monkeypatch.setattr(row_posterior, "_BLOCK_CELLS", 2**24)
    assert medians(epsilon) == short
    assert len(short[0]) > 5


def test_medians_may_be_asked_for_twice() -> None:
    noisy = NoisyRows.alone(noisy_sides(1.0, 20)[0])
    posterior = row_posterior.RowPosterior(noisy, epsilon=1.0, grid=0.05, settled=lambda _: False)
    given = np.zeros((2, 21)), np.ones((2, 21))
    first, errors = posterior.median_rows(*given)
    assert first.any()
    for found, before in zip(posterior.median_rows(*given), (first, errors), strict=True):
        np.testing.assert_array_equal(found, before)
