import math

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.sketches.decoder import HEAD, MOST_CELLS, between_cells, count_edges, value_edges
from anonhist_testing.cases import each_of


def _edges(rng: np.random.Generator, first: int, last: int) -> NDArray[np.int64]:
    inner = rng.choice(np.arange(first + 1, last), size=int(rng.integers(0, last - first - 1)), replace=False)
    return np.unique(np.concatenate(([first, last], inner)))


def _sum_cells(
    kernel: NDArray[np.float64], low: int, values: NDArray[np.int64], counts: NDArray[np.int64]
) -> list[float]:
    def entry(difference: int) -> float:
        return float(kernel[difference - low]) if 0 <= difference - low < kernel.size else 0.0

    return [
        math.fsum(entry(k - r) for k in range(values[i], values[i + 1]) for r in range(counts[j], counts[j + 1]))
        for i in range(values.size - 1)
        for j in range(counts.size - 1)
    ]


@each_of("seed", range(30))
def test_cells_hold_what_their_members_hold_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kernel = rng.dirichlet(np.full(int(rng.integers(1, 30)), 0.3))
    low = int(rng.integers(-40, 20))  # far to one side of zero too
    values, counts = _edges(rng, int(rng.integers(-30, 1)), 40), _edges(rng, int(rng.integers(0, 3)), 35)
    found = between_cells(kernel, low, values, counts)
    assert found.shape == (values.size - 1, counts.size - 1)
    assert found.min() >= 0
    np.testing.assert_allclose(found.ravel(), _sum_cells(kernel, low, values, counts), atol=1e-13)


def test_wide_cells_lose_no_probability() -> None:
    kernel = np.full(2001, 1 / 2001)
    counts = np.array([0, 1, 48, 1000, 70_000])
    found = between_cells(kernel, -1000, np.array([-1000, -3, 0, 40, 71_000]), counts)
    np.testing.assert_allclose(found.sum(axis=0), np.diff(counts), atol=1e-15 * 71_000)


@each_of("last", [1, 2, 47, 48, 49, 50, 100, 1000, 65_536, 2**21])
@each_of("crowd", [0, 1, 10**3, 10**12])
def test_cells_of_counts_cover_all_counts_and_are_few(last: int, crowd: int) -> None:
    edges = count_edges(np.full(last, crowd), last)
    assert (edges[0], edges[-1]) == (0, last)
    assert np.diff(edges).min() >= 1
    assert edges[: min(HEAD, last)].tolist() == list(range(min(HEAD, last)))
    growing = math.log(max(last, HEAD) / HEAD) / math.log(1 + 1 / 16) * 1.3
    assert edges.size - 1 <= HEAD + MOST_CELLS // 2 + growing
    # No cell is wide beside its count.
    assert (np.diff(edges)[HEAD:] <= np.maximum(1, edges[HEAD:-1] / 16)).all()


def test_counts_are_told_apart_where_counters_are_crowded() -> None:
    seen = np.zeros(2000, dtype=np.int64)
    seen[1000:1100] = 1000
    widths = np.diff(count_edges(seen, 2000))
    firsts = count_edges(seen, 2000)[:-1]
    assert widths[(firsts > 1000) & (firsts < 1099)].max() == 1
    assert widths[(firsts > 1200) & (firsts < 1900)].min() > 50


def test_a_few_counters_fill_no_cell_of_their_own() -> None:
    seen = np.zeros(2000, dtype=np.int64)
    seen[1000:1040] = 1
    firsts = count_edges(seen, 2000)[:-1]
    assert np.count_nonzero((firsts > 1000) & (firsts < 1040)) <= 1


@each_of("low", [0, -1, -27, -48, -49, -94, -95, -1000, -1001, -(2**18)])
@each_of("spread", [0.0, 0.1, 1.3, 20.0, 1000.0])
def test_cells_of_values_begin_at_the_lowest_and_end_with_the_counts(low: int, spread: float) -> None:
    counts = count_edges(np.arange(3000) % 100, 3000)
    edges = value_edges(low, counts, spread=spread)
    assert (edges[0], edges[-1]) == (low, 3000)
    assert np.diff(edges).min() >= 1
    assert np.isin(np.arange(max(low, -16), HEAD), edges).all()
    assert edges.size <= 2 * counts.size + 16 * math.log(1 - low) + 3 * HEAD


@pytest.mark.parametrize("spread", [1.3, 70.0, 1000.0])
def test_cells_of_values_are_narrow_beside_the_noise(spread: float) -> None:
    counts = count_edges(np.full(1000, 10**6), 1000)
    edges = value_edges(0, counts, spread=spread)
    widest = np.diff(edges[edges >= 200]).max()
    local = np.diff(counts[counts >= 200]).max()
    assert widest <= max(1.0, spread / 8) + local
    assert edges[edges >= HEAD].size <= 2 * counts.size
    if spread > 8:
        assert edges[edges >= HEAD].size <= 1000 / int(spread / 8) + 2


def test_values_are_told_apart_twice_as_finely_as_counts() -> None:
    counts = count_edges(np.zeros(3000, dtype=np.int64), 3000)
    wide = np.flatnonzero(np.diff(counts) >= 2)
    assert wide.size > 50
    assert np.isin((counts[wide] + counts[wide + 1]) // 2, value_edges(0, counts, spread=1.3)).all()
