"""Noisy sums of bins, read as a smooth distribution."""

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.graphs.noisy_sums import Cells, _NoisySums, cells_from_above, cells_from_below, smooth_sums
from anonhist.numeric.fits import decreasing_fit


@pytest.mark.parametrize("bins", [1, 2, 3, 15, 16, 17, 64, 1000, 4096])
@pytest.mark.parametrize("cells_of", [cells_from_below, cells_from_above])
def test_cells_cover_all_bins_once(bins: int, cells_of: object) -> None:
    cells: Cells = cells_of(bins)  # type: ignore[operator]
    assert cells.widths.sum() == bins == cells.sums.max(axis=0).sum()
    assert cells.sums.shape[0] == bins
    # Every place is in one group, and sums of even bins are sums of even bins.
    assert cells.starts[0] == 0
    assert np.all(np.diff(cells.starts) > 0)
    whole = cells.sums.sum(axis=1)
    expected = np.arange(1, bins + 1)
    assert np.array_equal(whole, expected if cells_of is cells_from_below else expected[::-1])


def distribution(name: str, bins: int) -> NDArray[np.float64]:
    r = np.arange(bins, dtype=float)
    return {
        "power": 1e4 * (r + 1) ** -1.5,
        "wave": 1000 * np.exp(-(((r - 15) / 6) ** 2)),
        "peak": np.where(r == 5, 5000.0, 0.0),
        "even": np.full(bins, 100.0),
    }[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["power", "wave", "peak", "even"])
@pytest.mark.parametrize("from_above", [False, True])
def test_smooth_sums_err_less_than_isotonic_ones(name: str, from_above: bool) -> None:  # noqa: FBT001  # a case
    bins = distribution(name, 64)
    sums = bins[::-1].cumsum()[::-1] if from_above else bins.cumsum()
    cells = cells_from_above(64) if from_above else cells_from_below(64)
    rng = np.random.default_rng(7)
    smooth, isotonic = [], []
    for _ in range(6):
        noisy = sums + rng.laplace(scale=150, size=64)
        monotone = decreasing_fit(noisy) if from_above else -decreasing_fit(-noisy)
        isotonic.append(np.abs(monotone - sums).sum())
        smooth.append(np.abs(smooth_sums(noisy, 1 / 150, cells, labels=bins.sum()) - sums).sum())
    ratio = np.mean(smooth) / np.mean(isotonic)
    assert ratio < (0.75 if name != "peak" else 1.0)


@pytest.mark.slow
def test_without_noise_to_speak_of_sums_come_back() -> None:
    sums = distribution("power", 40).round().cumsum()
    fitted = smooth_sums(sums, 50.0, cells_from_below(40), labels=sums[-1])
    assert np.abs(fitted - sums).max() < 0.02 * sums[-1]


def test_nothing_is_fitted_by_nothing() -> None:
    for bins in (1, 5, 30):
        for cells in (cells_from_below(bins), cells_from_above(bins)):
            fitted = smooth_sums(np.zeros(bins), 0.5, cells, labels=0)
            assert np.all(np.isfinite(fitted))
            assert np.abs(fitted).max() < 3


def test_huge_sums_are_fitted() -> None:
    sums = np.linspace(1e9, 2e9, 20)
    fitted = smooth_sums(sums, 1e-3, cells_from_below(20), labels=2e9)
    assert np.abs(fitted / sums - 1).max() < 0.01


def test_derivatives_are_those_of_the_value() -> None:
    rng = np.random.default_rng(7)
    cells = cells_from_below(40)
    data = _NoisySums.of(rng.normal(500, 300, size=40), 0.01, cells)
    logs = rng.normal(2, 1, size=cells.widths.size)
    found = data.curvature(logs)
    assert found.value == data.value(logs)
    for place in range(logs.size):
        step = np.zeros(logs.size)
        step[place] = 1e-6
        slope = (data.value(logs + step) - data.value(logs - step)) / 2e-6
        assert abs(slope - found.gradient[place]) < 1e-5 * max(1.0, abs(slope))


def test_means_over_wide_cells_weigh_as_much_as_their_places() -> None:
    cells = cells_from_below(400)
    sizes = np.diff(cells.starts, append=400)
    data = _NoisySums.of(np.arange(400.0), 0.5, cells)
    assert np.allclose(data._rates, 0.5 * np.sqrt(sizes))
    assert np.allclose(data._seen, [chunk.mean() for chunk in np.split(np.arange(400.0), cells.starts[1:])])
