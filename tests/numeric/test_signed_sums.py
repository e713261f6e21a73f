"""Sums of people who add, take away or do neither: limits against all sums, weighted exactly."""

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.numeric import SignedSums
from anonhist_testing.cases import each_of


def distribution(sums_of: SignedSums, kinds: list[int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return all sums and their probabilities, with so many people of each kind."""
    chances, people = np.ones(1), sum(kinds)
    for number, (plus, minus) in zip(kinds, (sums_of.own, sums_of.near, sums_of.far), strict=True):
        one = np.zeros(sums_of.up + sums_of.down + 1)
        one[[0, sums_of.down, -1]] = minus, 1 - plus - minus, plus
        for _ in range(number):
            chances = np.convolve(chances, one)
    return np.arange(chances.size) - sums_of.down * people, chances


# Of a Hadamard matrix of two rows, of one of eight, and of a small space over five elements, some with few reports.
DISTRIBUTIONS = [
    SignedSums(60, 1, 1, own=(0.9, 0.01), near=(0.45, 0.45), far=(0.01, 0.01)),
    SignedSums(60, 1, 1, own=(0.5, 0.2), near=(0.35, 0.35), far=(0.15, 0.15)),
    SignedSums(60, 5, 1, own=(0.5, 0.25), near=(0.15, 0.6), far=(0.02, 0.08)),
    SignedSums(60, 3, 2, own=(0.3, 0.1), near=(0.1, 0.3), far=(0.05, 0.05)),
]


@pytest.mark.slow
@each_of("sums_of", DISTRIBUTIONS)
@each_of("block", [0, 20, 60])
def test_no_sum_that_is_likely_is_rejected(sums_of: SignedSums, block: int) -> None:
    tail = 0.025
    for own in {0, 1, 5, 20, block} - set(range(block + 1, 61)):
        sums, chances = distribution(sums_of, [own, block - own, 60 - block])
        likely = chances > 1e-12
        limits = sums_of.compatible_shares(sums[likely], np.full(likely.sum(), block / 60), tail)
        for missed in (limits[:, 0] > own / 60 + 1e-9, limits[:, 1] < own / 60 - 1e-9):
            # Whole numbers that are not next to each other are no lattice: a third more than the level at most.
            assert chances[likely][missed].sum() <= 4 / 3 * tail, (own, missed.sum())


@each_of("sums_of", DISTRIBUTIONS)
def test_limits_are_about_as_near_as_normal_ones_where_people_are_many(sums_of: SignedSums) -> None:
    many = SignedSums(10**8, sums_of.up, sums_of.down, sums_of.own, sums_of.near, sums_of.far)
    share, block = 0.1, 0.3
    means = [sums_of.up * plus - sums_of.down * minus for plus, minus in (sums_of.own, sums_of.near, sums_of.far)]
    squares = [
        sums_of.up**2 * plus + sums_of.down**2 * minus for plus, minus in (sums_of.own, sums_of.near, sums_of.far)
    ]
    weights = np.array([share, block - share, 1 - block])
    variance = weights @ (np.array(squares) - np.square(means))
    low, high = many.compatible_shares(np.array([round(1e8 * weights @ np.array(means))]), np.array([block]), 0.025)[0]
    half = 1.96 * np.sqrt(variance / 1e8) / (means[0] - means[1])
    np.testing.assert_allclose([share - low, high - share], half, rtol=0.01)


def test_the_ends_of_all_numbers_are_finite() -> None:
    sums_of = SignedSums(2**62, 1, 1, own=(0.25 + 1e-9, 0.25), near=(0.25, 0.25), far=(0.25, 0.25 - 1e-9))
    limits = sums_of.compatible_shares(np.array([0, 2**31, -(2**62), 2**62]), np.array([0, 1, 0.5, 0.5]), 1e-12)
    assert np.isfinite(limits).all()
    assert (limits[:, 0] <= limits[:, 1]).all()


@each_of("sums_of", DISTRIBUTIONS)
def test_shares_that_may_be_none_or_all_are_not_cut_by_the_accuracy_of_the_search(sums_of: SignedSums) -> None:
    people = SignedSums(900, sums_of.up, sums_of.down, sums_of.own, sums_of.near, sums_of.far)
    sums = np.arange(-sums_of.down * 300, sums_of.up * 900)
    limits = people.compatible_shares(sums, np.full(sums.size, 0.5), 0.025)
    for distance in (limits[:, 0], 1 - limits[:, 1]):
        assert np.count_nonzero(distance == 0) > 10
        assert not np.any((distance > 0) & (distance < 1e-7))
