"""Groups of rows: each row in one group, groups read off released values alone, and their posterior."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.mechanisms.frobenius import row_weights
from anonhist.mechanisms.frobenius.posterior import RowPosterior
from anonhist.mechanisms.frobenius.row_weights import NoisyRows, noisy_rows
from anonhist_testing.cases import each_of

Ints = NDArray[np.int64]
EPSILON, LENGTH = 0.1, 90


def sides() -> list[Ints]:
    """Return arms of a Zipf shape, of a staircase, and equal ones."""
    k = np.arange(1, 61)
    return [np.maximum(3600 // k - k, 0), 60 - k, np.full(60, 200) - k]


def noises(seed: int, runs: int = 1) -> Ints:
    rng = np.random.default_rng(seed)
    chance = -np.expm1(-EPSILON)
    return np.asarray(rng.geometric(chance, (runs, LENGTH)) - rng.geometric(chance, (runs, LENGTH)), dtype=np.int64)


def release_rows(lengths: Ints, noise: Ints, *, epsilon: float = EPSILON, size: int = 55) -> NoisyRows:
    return noisy_rows(np.atleast_2d(lengths), noise, np.full(noise.shape[0], size), epsilon=epsilon)


def groups(rows: NoisyRows) -> list[slice]:
    starts = np.flatnonzero(rows.begins[0])
    return [slice(start, end) for start, end in zip(starts, np.append(starts[1:], LENGTH), strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("lengths", sides(), ids=["Zipf", "staircase", "equal"])
def test_sums_are_those_of_the_rows_with_one_noise_each(lengths: Ints) -> None:
    padded = np.pad(lengths, (0, LENGTH - lengths.size))
    off = []
    for seed in range(200):
        noise = noises(seed)
        rows = release_rows(lengths, noise)
        found = [int(rows.sums[0, here][0] - padded[here].sum()) for here in groups(rows)]
        for here in groups(rows):
            assert np.ptp(rows.sums[0, here]) == 0
        # Each of the noises that are used is used once: groups take them in order, stage by stage.
        used = iter(noise[0].tolist())
        assert all(one in used for one in found)
        off.extend(found)
    assert max(here.stop - here.start for here in groups(rows)) > 3


@pytest.mark.slow
def test_one_cell_more_is_made_up_for_by_one_less_noise_and_nothing_else() -> None:
    # The proof of privacy, run: to every noise there is one, off by one in one place, that hides the change.
    checked = 0
    for lengths in sides():
        for at in range(lengths.size):
            larger = lengths.copy()
            larger[at] += 1
            if at and larger[at] == lengths[at - 1]:
                continue
            noise = noises(at)
            seen = release_rows(lengths, noise)
            candidates = np.repeat(noise, LENGTH, axis=0) - np.eye(LENGTH, dtype=np.int64)
            hidden = release_rows(larger, candidates)
            same = (hidden.sums == seen.sums).all(axis=1) & (hidden.begins == seen.begins).all(axis=1)
            assert same.sum() == 1
            checked += 1
    assert checked > 60


def test_runs_of_a_batch_are_those_of_single_runs() -> None:
    noise = noises(7, runs=5)
    batch = release_rows(sides()[0], noise)
    for run in range(5):
        single = release_rows(sides()[0], noise[run : run + 1])
        np.testing.assert_array_equal(batch.sums[run], single.sums[0])
        np.testing.assert_array_equal(batch.begins[run], single.begins[0])
    assert len({tuple(begins) for begins in batch.begins.tolist()}) > 1


def test_groups_grow_where_rows_are_near_each_other_and_never_at_large_epsilon() -> None:
    noise = noises(3)
    longest = [max(here.stop - here.start for here in groups(release_rows(side, noise))) for side in sides()]
    apart = release_rows(1000 * np.arange(60, 0, -1), noise)
    assert max(here.stop - here.start for here in groups(apart)[:40]) == 1
    assert min(longest) > 5
    for epsilon, alone in ((row_weights.ALONE_FROM, True), (row_weights.ALONE_FROM - 0.01, False)):
        assert release_rows(sides()[2], np.zeros_like(noise), epsilon=epsilon, size=1000).begins.all() == alone


def test_no_group_reaches_over_where_long_rows_must_end() -> None:
    # Fifty equal rows and then none: a sum over the end would leave open how many there are.
    lengths = np.full(50, 430) - np.arange(1, 51)
    for seed in range(20):
        over = [
            max(one.stop - one.start for one in groups(rows) if one.start <= 50 and one.stop > 42)
            for rows in (release_rows(lengths, noises(seed), size=size) for size in (52, 1000))
        ]
        assert over[0] <= 2
        assert over[1] > 4


def never(_: NDArray[np.float64]) -> bool:
    """Leave no Durfee size out."""
    return False


def exact(noisy: NoisyRows, epsilon: float, scale: float, top: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return A(m) and, for each m and k, Σ of the weights with y_k ≥ y: all sequences."""
    sums, begins = noisy.sums[0], noisy.begins[0]
    length, starts = sums.size, np.flatnonzero(begins)
    total, tail = np.zeros(length + 1), np.zeros((length + 1, length, top + 1))
    mean = (scale / np.maximum(np.arange(top + 1), 1)) ** 2
    for m in range(length + 1):
        ascending = list(combinations_with_replacement(range(m, top + 1), m))
        rows = np.array(ascending, dtype=np.int64).reshape(len(ascending), m)[:, ::-1]
        arms = np.pad(rows - np.arange(1, m + 1), ((0, 0), (0, length - m)))
        away = np.abs(np.add.reduceat(arms, starts, axis=1) - sums[starts]).sum(axis=1)
        weights = (
            np.exp(-epsilon * away) * np.prod(mean[rows] / (1 + mean[rows]), axis=1) * np.prod(1 + mean[1 : m + 1])
        )
        total[m] = weights.sum()
        for k in range(m):
            tail[m, k] = np.bincount(rows[:, k], weights=weights, minlength=top + 1)[::-1].cumsum()[::-1]
    return total, tail


@pytest.mark.parametrize("noise", [[2, -1, 1, 0], [-3, 14, 1, 0], [5, -6, -4, 0]])
@each_of("begins", [[1, 1, 0, 1], [1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]])
def test_the_posterior_of_groups_is_near_its_sum(begins: list[int], noise: list[int]) -> None:
    # Sums are taken to be normal, which for so few rows is far off; a factor of e in weights moves rows by one.
    epsilon, scale, top = 0.5, 3.0, 30
    starts = np.array([begins], dtype=np.bool_)
    rows = np.array([9, 7, 4, 4])
    arms = np.maximum(rows - np.arange(1, 5), 0)
    held = np.add.reduceat(arms, np.flatnonzero(starts[0])) + np.array(noise)[: starts.sum()]
    noisy = NoisyRows(np.repeat(held, np.diff(np.flatnonzero(starts[0]), append=4))[None], starts)
    posterior = RowPosterior(noisy, epsilon=epsilon, grid=0.05, settled=never, scales=np.array([scale]))
    total, tail = exact(noisy, epsilon, scale, top)
    np.testing.assert_allclose(posterior.log_evidence[0], np.log(total), atol=1.0)
    reaches = np.cumsum(total[::-1])[::-1] / total.sum()
    medians = posterior.median_rows(np.zeros((1, 5)), reaches[None])[0][0]
    share = tail.sum(axis=0) / total.sum()
    expected = (share >= 0.5).sum(axis=1) - 1
    wanted = np.where(reaches[1:] >= 0.5, expected, 0)
    assert np.abs(medians - wanted).max() <= 1
