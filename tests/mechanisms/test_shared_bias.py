"""The bias that the fits of many groups share: found where there is one, and only there."""

import numpy as np
import pytest

from anonhist.mechanisms import FrobeniusMechanism
from anonhist.mechanisms.frobenius.row_weights import NoisyCoordinates, NoisyRows
from anonhist.mechanisms.frobenius.sum_band import Fits, without_shared_bias
from anonhist.mechanisms.noise import deviation
from anonhist.profiles import Profile, sorted_l1
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.profiles.grouped import total_of
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource


def fits_of(noisy: list[list[int]], fitted: list[list[int]]) -> Fits:
    """Fits of one side, for both sides."""
    rows = NoisyRows.alone(np.array(noisy))
    sides = [np.array(each, dtype=np.int64) for each in fitted]
    sizes = np.array([side.size for side in sides])
    return Fits(np.arange(sizes.size), NoisyCoordinates(sizes, rows, rows), sides, sides, sides, [None] * sizes.size)


def test_a_shared_bias_is_removed_down_to_whole_numbers() -> None:
    # Ten groups whose noisy rows are all 3 above their fits, as no noise makes them.
    fits = fits_of([[13, 5, 0]] * 10, [[10, 2]] * 10)
    (found,) = without_shared_bias([fits], epsilon=4.0)
    share = 1 - 4 * 10 * deviation(4.0) ** 2 / 30**2
    for side in (found.arms, found.legs):
        for at, before in ((0, 10), (1, 2)):
            assert sum(int(each[at]) - before for each in side) == round(share * 30)
            assert {int(each[at]) - before for each in side} <= {2, 3}


def test_those_that_are_farthest_off_move_first() -> None:
    # The sum of the residuals is 45 and shrinks to 38: three each, and eight of them one more.
    residuals = [9, 0, 4, 5, 5, 4, 5, 4, 4, 5]
    fits = fits_of([[100 + each, 0] for each in residuals], [[100]] * 10)
    rate = 0.8
    share = 1 - 4 * 10 * deviation(rate) ** 2 / sum(residuals) ** 2
    moved = round(share * sum(residuals))
    (found,) = without_shared_bias([fits], epsilon=rate)
    steps = [int(side[0]) - 100 for side in found.arms]
    assert sum(steps) == moved
    assert sorted(set(steps)) == [moved // 10, moved // 10 + 1]
    assert min(residuals[at] for at, step in enumerate(steps) if step > moved // 10) >= max(
        residuals[at] for at, step in enumerate(steps) if step == moved // 10
    )


@each_of("number", [7, 8])
def test_few_groups_are_left_alone(number: int) -> None:
    fits = fits_of([[13, 0]] * number, [[10]] * number)
    (found,) = without_shared_bias([fits], epsilon=4.0)
    assert bool(found.arms[0][0] > 10) is (number == 8)
    assert found.arms[0].dtype == np.int64


def test_noise_alone_moves_nothing() -> None:
    rng = np.random.default_rng(2)
    moved = 0
    for _ in range(200):
        noise = rng.geometric(0.5, (30, 1)) - rng.geometric(0.5, (30, 1))
        fits = fits_of(np.hstack((40 + noise, 0 * noise)).tolist(), [[40]] * 30)
        (found,) = without_shared_bias([fits], epsilon=float(np.log(2)))
        moved += any(side[0] != 40 for side in found.arms)
    # Beyond two standard deviations by chance: one time in twenty, and then by little.
    assert moved < 25


def test_sums_of_rows_share_what_they_are_off_by() -> None:
    sums, begins = np.array([[30, 30, 0]] * 9), np.array([[True, False, True]] * 9)
    sides = [np.array([12, 8], dtype=np.int64)] * 9
    rows = NoisyRows(sums, begins)
    fits = Fits(np.arange(9), NoisyCoordinates(np.full(9, 2), rows, rows), sides, sides, sides, [None] * 9)
    (found,) = without_shared_bias([fits], epsilon=6.0)
    assert {tuple(side.tolist()) for side in found.arms} == {(17, 13)}


def test_a_noisy_sum_that_was_cut_moves_nothing() -> None:
    fits = fits_of([[MAX_ITEMS, 0]] * 9, [[10]] * 9)
    (found,) = without_shared_bias([fits], epsilon=4.0)
    assert [int(side[0]) for side in found.arms] == [10] * 9


def test_fits_stay_diagrams() -> None:
    # The second row rises above the first.
    fits = fits_of([[10, 30, 0]] * 9, [[10, 8]] * 9)
    (found,) = without_shared_bias([fits], epsilon=6.0)
    for side in found.arms:
        assert side[0] > side[1] >= 0


@pytest.mark.slow
def test_groups_of_another_shape_than_the_prior_are_far_better_together() -> None:
    # All labels of all groups have the same count.
    profile, mechanism = Profile.from_prevalences({7: 20}), FrobeniusMechanism("0.3")
    truth = total_of([profile] * 60)
    # Both have first fits: a smooth fit would make out the shape of a group alone.
    alone = [run for run, _ in mechanism.simulate_with_misfit(profile, size=60, rng=np.random.default_rng(4))]
    together = [each.release.profile for each in mechanism.release_each([profile] * 60, source=SeededSource(4))]
    assert sorted_l1(truth, total_of(together)) < 0.5 * sorted_l1(truth, total_of(alone))
    errors = [np.mean([sorted_l1(profile, each) for each in some]) for some in (together, alone)]
    assert errors[0] < 0.7 * errors[1]
