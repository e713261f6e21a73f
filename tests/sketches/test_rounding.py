"""Algorithm 3 against itself written out, its output a profile, its error no larger than proved."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.sketches.decoder import CounterSetting
from anonhist.sketches.inverses import found_labels, round_to_profile
from anonhist.sketches.noise import NoiseDistribution
from anonhist_testing.cases import each_of
from anonhist_testing.strategies import repeatable


def round_as_published(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round step by step: negative to 0, above one to 1, then find θ among the sorted shares."""
    rounded = np.minimum(np.maximum(shares, 0), 1)
    excess = rounded.sum() - 1
    ascending = np.sort(rounded)
    before = 0.0
    for place, share in enumerate(ascending):
        left = rounded.size - place
        if before + left * share >= excess:
            return np.asarray(np.maximum(rounded - (excess - before) / left, 0))
        before += share
    raise AssertionError("there is always such a θ")


def summing_to_one(number: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(number)
    size = int(rng.integers(1, 40))
    shares = rng.normal(size=size) * 10.0 ** rng.integers(-6, 3)
    if number % 2:
        shares = np.where(rng.random(size) < 0.5, 0.0, shares)
    return np.asarray(shares + (1 - shares.sum()) * np.eye(size)[rng.integers(size)])


@pytest.mark.slow
def test_is_algorithm_3_in_thousands_of_cases() -> None:
    for number in range(3000):
        shares = summing_to_one(number)
        found = round_to_profile(shares)
        assert found.min() >= 0
        assert found.max() <= 1 + 1e-12
        assert found.sum() == pytest.approx(1, abs=1e-9)
        np.testing.assert_allclose(found, round_as_published(shares), atol=1e-9)


@pytest.mark.slow
@repeatable
@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30), st.integers(0, 29))
def test_any_shares_become_a_profile(millionths: list[int], place: int) -> None:
    millionths[place % len(millionths)] += 10**6 - sum(millionths)
    found = round_to_profile(np.array(millionths) / 10**6)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(round_to_profile(found), found, atol=1e-12)


@pytest.mark.slow
def test_the_error_grows_by_no_more_than_proved() -> None:
    largest = {1.0: 0.0, 2.0: 0.0, np.inf: 0.0}
    for number in range(3000):
        shares = summing_to_one(number)
        rng = np.random.default_rng([number, 1])
        truth = (
            rng.dirichlet(np.full(shares.size, 0.3)) if number % 3 else np.eye(shares.size)[rng.integers(shares.size)]
        )
        found = round_to_profile(shares)
        for order, bound in ((1.0, 1.0), (2.0, 1.0), (np.inf, 2.0)):
            error = float(np.linalg.norm(found - truth, order))
            before = float(np.linalg.norm(shares - truth, order))
            assert error <= bound * before + 1e-9
            largest[order] = max(largest[order], error / max(before, 1e-3))
    # In the largest norm it does grow.
    assert largest[np.inf] > 1.05


def test_twice_the_largest_error_is_all_but_reached() -> None:
    truth = np.append(1.0, np.zeros(999))
    # What the many hold too much is lost below zero, so that the first step takes it all away.
    lost = np.append(np.append(0.999, np.full(999, 0.001)), np.full(998, -0.001))
    found = round_to_profile(lost)
    error = np.abs(found[: truth.size] - truth).max()
    assert lost.sum() == pytest.approx(1)
    assert error > 1.99 * 0.001


def test_zeros_play_no_part() -> None:
    for number in range(200):
        shares = summing_to_one(number)
        wide = np.zeros(3 * shares.size)
        wide[1::3] = shares
        found = round_to_profile(wide)
        np.testing.assert_allclose(found[1::3], round_to_profile(shares), atol=1e-12)
        assert not found[::3].any()
        assert not found[2::3].any()


def test_a_profile_stays_what_it_is() -> None:
    np.testing.assert_allclose(round_to_profile([0.1] * 10 + [0.0] * 5), [0.1] * 10 + [0.0] * 5, rtol=1e-15)
    assert round_to_profile([1e250, -1e250]).tolist() == [1.0, 0.0]


@each_of("shares", [[], [np.nan], [np.inf, 0], [[1.0]], 1.0, [0.0], [-1.0, 0.0]])
def test_refuses_what_is_no_list_of_shares(shares: object) -> None:
    with pytest.raises(UsageError, match="one-dimensional list of finite numbers that sum to one"):
        round_to_profile(shares)  # type: ignore[arg-type]  # refusing other types is tested


def test_count_0_belongs_to_known_domains() -> None:
    counts, numbers = np.array([0, 1, 2]), np.array([5.0, 0.0, 2.0])
    assert found_labels(counts, numbers, CounterSetting(NoiseDistribution(()), is_hashed=False)).counts.tolist() == [
        0,
        2,
    ]
    assert found_labels(counts, numbers, CounterSetting(NoiseDistribution(()), is_hashed=True)).counts.tolist() == [2]
