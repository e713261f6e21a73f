"""The posterior of the Frobenius mechanism, against its sums written out without windows, grids or blocks."""

from bisect import bisect_left
from collections.abc import Callable
from functools import partialmethod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.mechanisms import FrobeniusMechanism, zipf_profile
from anonhist.mechanisms.frobenius import posterior
from anonhist.mechanisms.frobenius import posterior as frobenius_posterior
from anonhist.mechanisms.frobenius.posterior import Medians, RowPosterior, posterior_medians
from anonhist.mechanisms.frobenius.row_weights import NoisyRows, noisy_rows
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import FrobeniusCoordinates, Profile, sorted_l1
from anonhist_testing.cases import each_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Prior = Callable[[Ints], Floats]


def zipf(scale: float) -> Prior:
    """Return the mean number of rows of each length ≥ 1 in a diagram of Zipf's shape."""
    return lambda y: (scale / np.maximum(y, 1)) ** 2


def evidence(noisy: Ints, epsilon: float, mean: Prior | None, *, row: int = 0, least: int = 0) -> Floats:
    """Return A(m), m = 0..K, over the sides whose row of that number has ``least`` cells or more."""
    y = np.arange(int(np.abs(noisy).max()) + int(60 / epsilon))
    prior = np.ones(y.size) if mean is None else mean(y) / (1 + mean(y))
    normalizer = np.ones(noisy.size + 1)
    if mean is not None:
        normalizer[1:] = np.cumprod(1 + mean(np.arange(1, noisy.size + 1)))
    beyond = np.append(np.cumsum(np.abs(noisy[::-1]))[::-1], 0)
    total = np.zeros(noisy.size + 1)
    total[0] = 1
    sums = np.ones(y.size)
    for k in range(1, noisy.size + 1):
        forward = prior * np.exp(-epsilon * np.abs(y - k - noisy[k - 1])) * sums
        forward[: max(k, least if k == row else 0)] = 0
        total[k] = forward.sum()
        sums = np.cumsum(forward[::-1])[::-1]
    return total * np.exp(-epsilon * beyond) * normalizer


def medians(size: int, arms: Ints, legs: Ints, epsilon: float, mean: Prior | None) -> tuple[int, Ints, Ints]:
    """Return the median Durfee size, and arms and legs of the cells that are more likely in than out."""
    m = np.arange(arms.size + 1)
    seen = np.exp(-epsilon * np.abs(m - size))
    whole = [evidence(side, epsilon, mean) for side in (arms, legs)]
    total = float((seen * whole[0] * whole[1]).sum())
    found = sum(float((seen * whole[0] * whole[1])[k:].sum()) / total >= 0.5 for k in m[1:])

    def length(side: Ints, other: Floats, k: int) -> int:
        def is_rare(y: int) -> bool:
            held = evidence(side, epsilon, mean, row=k, least=y)
            return float((seen * held * other)[k:].sum()) / total < 0.5

        return bisect_left(range(1, int(np.abs(side).max()) + int(50 / epsilon)), x=True, key=is_rare) - k

    def lengths(side: Ints, other: Floats) -> Ints:
        return np.array([length(side, other, k) for k in m[1 : found + 1]], dtype=np.int64)

    return found, lengths(arms, whole[1]), lengths(legs, whole[0])


def noisy_values(epsilon: float, length: int, seed: int) -> tuple[int, Ints, Ints]:
    rng, truth = np.random.default_rng(seed), FrobeniusCoordinates.of(Profile.from_counts([17, 9, 8, 3, 1, 1, 1]))
    chance = -np.expm1(-epsilon)
    noise = rng.geometric(chance, (3, length)) - rng.geometric(chance, (3, length))
    for row, side in ((1, truth.arms), (2, truth.legs)):
        noise[row, : truth.durfee_size] += side
    return truth.durfee_size + int(noise[0, 0]), noise[1], noise[2]


def published_medians(size: int, arms: Ints, legs: Ints, epsilon: float) -> list[Medians]:
    sides = (NoisyRows.alone(side[None]) for side in (arms, legs))
    return posterior_medians(np.array([size]), *sides, epsilon=epsilon)


def never(_: NDArray[np.float64]) -> bool:
    """Leave no Durfee size out."""
    return False


@pytest.mark.parametrize("scale", [None, 1.0, 4.0], ids=["uniform", "Zipf 1", "Zipf 4"])
@pytest.mark.parametrize("epsilon", [1.1, 0.4])
@pytest.mark.parametrize("block", [posterior._BLOCK_CELLS, 1], ids=["whole", "blocks of one"])
def test_the_evidence_is_its_sum(
    scale: float | None, epsilon: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posterior, "_BLOCK_CELLS", block)
    sides = np.concatenate([noisy_values(epsilon, 7, seed)[1:] for seed in range(6)])
    scales = None if scale is None else np.full(len(sides), scale)
    found = RowPosterior(NoisyRows.alone(sides), epsilon=epsilon, grid=0.05, settled=never, scales=scales).log_evidence
    exact = [np.log(evidence(side, epsilon, None if scale is None else zipf(scale))) for side in sides]
    np.testing.assert_allclose(found, exact, atol=1e-4)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("epsilon", "enough"), [(1.1, 0.0), (1.1, 8.0), (0.5, 0.0), (0.3, 8.0)])
def test_published_cells_are_those_more_likely_in_than_out(
    epsilon: float, enough: float, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frobenius_posterior, "SIZE_IS_ENOUGH", enough)
    size, arms, legs = noisy_values(epsilon, 8, seed)
    fit = epsilon * size < enough
    found = medians(size, arms, legs, epsilon, None)[0] if fit else size
    for _ in range(2 if fit else 1):
        found, *expected = medians(size, arms, legs, epsilon, zipf(max(1, found)))
    (published,) = published_medians(size, arms, legs, epsilon)
    assert [side.tolist() for side in published[:2]] == [side.tolist() for side in expected]
    assert found > 0


def test_runs_with_large_and_small_sizes_do_not_change_each_other() -> None:
    seen = [noisy_values(1.1, 12, seed) for seed in range(8)]
    sizes = np.array([9, 1, 8, 2, 10, 3, 2, 9])
    sides = [NoisyRows.alone(np.stack(side)) for side in list(zip(*seen, strict=True))[1:]]
    together = posterior_medians(sizes, *sides, epsilon=1.1)
    for size, (_, arms, legs), found in zip(sizes.tolist(), seen, together, strict=True):
        (alone,) = published_medians(size, arms, legs, 1.1)
        assert [side.tolist() for side in found[:2]] == [side.tolist() for side in alone[:2]]
        assert found[2:] == pytest.approx(alone[2:])


def test_windows_follow_a_fit_where_noise_breaks_the_order() -> None:
    noisy = np.array([1, 0, 17, 1])
    found = RowPosterior(NoisyRows.alone(noisy[None]), epsilon=1.0, grid=0.05, settled=never).log_evidence[0]
    np.testing.assert_allclose(found, np.log(evidence(noisy, 1.0, None)), atol=1e-3)


@pytest.mark.slow
def test_rows_on_a_grid_are_neither_long_nor_short() -> None:
    # Steps of five cells; a row read off a grid without looking between its points would be off by two on average.
    epsilon, off = 0.01, list[int]()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        arms, legs = (rng.integers(1500, 2500, 1) for _ in "ab")
        size, *sides = medians(1, arms, legs, epsilon, zipf(1.0))
        (published,) = published_medians(1, arms, legs, epsilon)
        assert size == len(published[0]) == 1
        off.extend(int(found[0] - exact[0]) for found, exact in zip(published[:2], sides, strict=True))
    assert max(map(abs, off)) <= 2
    assert abs(np.mean(off)) < 0.5


@pytest.mark.parametrize(("epsilon", "too_large"), [(0.05, 0), (0.4, 0), (0.05, 300)])
def test_sizes_that_are_left_out_do_not_matter(epsilon: float, too_large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, *lengths = (
        np.array(each) for each in zip(*(noisy_values(epsilon, 400, at) for at in range(4)), strict=True)
    )
    sizes += too_large
    sides = [noisy_rows(np.zeros((4, 1), int), side, sizes, epsilon=epsilon) for side in lengths]
    positions: list[int] = []

    def noted(posterior: RowPosterior, whole: Callable[..., None], *given: Any, **options: Any) -> None:
        whole(posterior, *given, **options)
        positions.append(posterior.log_evidence.shape[1] - 1)

    def found() -> list[list[int]]:
        return [side.tolist() for each in posterior_medians(sizes, *sides, epsilon=epsilon) for side in each[:2]]

    monkeypatch.setattr(RowPosterior, "__init__", partialmethod(noted, RowPosterior.__init__))
    early = found()
    assert max(positions) < (min(sizes) if too_large else 400)
    monkeypatch.setattr(frobenius_posterior, "_NEGLIGIBLE", np.inf)
    positions.clear()
    assert found() == early
    assert set(positions) == {400}


@pytest.mark.slow
@each_of("name", ["Zipf", "plateaus", "nothing"])
def test_narrow_windows_leave_mean_errors_of_simulations_as_they_are(name: str) -> None:
    unit = PrivacyUnit.user(max_items=5)
    profile = {
        "Zipf": zipf_profile(2000),
        "plateaus": Profile.from_prevalences({20 * j: 20 for j in range(1, 6)}),
        "nothing": Profile([], []),
    }[name].with_unit(unit)
    mechanism = FrobeniusMechanism("0.5", unit)
    # The same noise.
    narrow = mechanism.simulate(profile, size=20, rng=np.random.default_rng(1))
    wide = [run for run, _ in mechanism.simulate_with_evidence(profile, size=20, rng=np.random.default_rng(1))]
    errors = [np.mean([float(sorted_l1(profile, run)) for run in runs]) for runs in (narrow, wide)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-3)
