"""From fits to profiles: rounded, never negative, never more items than can be counted."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anonhist.mechanisms.skeletons import profile_of_fit, round_sorted, with_at_most
from anonhist.profiles import Profile, sorted_l1
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import partitions_up_to
from anonhist_testing.strategies import profiles, repeatable

# Fits are floats: they are cut at 2^62 items, plus rounding.
ABOUT_2_62 = 2**62 + 2**20

falling = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12).map(lambda values: sorted(values, reverse=True))
huge = st.lists(st.floats(-1e30, 1e30), min_size=1, max_size=12).map(lambda values: sorted(values, reverse=True))
rising = st.lists(st.integers(1, 2**63 - 1), min_size=12, max_size=12, unique=True).map(sorted)
gaps = st.lists(st.integers(1, 30), min_size=12, max_size=12).map(np.cumsum)


@pytest.mark.slow
@repeatable
@given(levels=gaps, reaching=falling)
def test_a_fit_is_rounded_block_by_block(levels: np.ndarray, reaching: list[float]) -> None:
    used = levels[: len(reaching)]
    profile = profile_of_fit(used, np.array(reaching))
    at = np.searchsorted(used, np.arange(1, int(used[-1]) + 1))
    expected = [max(round(reaching[block]), 0) for block in at]
    assert profile.cumulative_prevalence(np.arange(1, int(used[-1]) + 1)).tolist() == expected
    assert not profile.k_plus(int(used[-1]) + 1)


@pytest.mark.slow
@repeatable
@given(counts=falling)
def test_sorted_counts_are_rounded_one_by_one(counts: list[float]) -> None:
    profile = round_sorted(np.array(counts))
    assert profile.partition().tolist() == [round(count) for count in counts if round(count) > 0]


@pytest.mark.slow
@repeatable
@given(levels=rising, reaching=huge)
# A little above 2^62, and 2^62 in all once the first is cut: what numbers are tried depends on those in other tests.
@example(levels=list(range(1, 13)), reaching=[2.0**62 + 2**21, 1.0])
def test_however_large_a_fit_is_its_profile_can_be_counted(levels: list[int], reaching: list[float]) -> None:
    used = np.array(levels[: len(reaching)], dtype=np.int64)
    profile = profile_of_fit(used, np.array(reaching))
    assert 0 <= profile.n <= 2**63 - 1
    assert set(profile.counts.tolist()) <= set(levels)
    # No prevalence is above 2^62, whatever was fitted.
    whole = [min(max(round(value), 0), 2**62) for value in reaching]
    wanted = sum(int(width) * value for width, value in zip(np.diff(used, prepend=0), whole, strict=True))
    if wanted > ABOUT_2_62:
        last = max(level for level, value in zip(levels, whole, strict=False) if value > 0)
        height = min(whole[0], max(1, 2**62 // last))
        assert profile.num_labels == pytest.approx(height, rel=1e-12)
        assert profile.counts[-1] == last
        assert profile.n <= max(ABOUT_2_62, int(used[-1]))
    assert (profile.n > 0) == (wanted > 0)


@pytest.mark.slow
@repeatable
@given(counts=huge)
def test_however_large_sorted_counts_are_their_profile_can_be_counted(counts: list[float]) -> None:
    profile = round_sorted(np.array(counts))
    assert 0 <= profile.n <= ABOUT_2_62
    assert profile.num_labels == sum(round(count) > 0 for count in counts)
    if sum(round(count) for count in counts if count > 0) > ABOUT_2_62:
        largest = min(2**62 // profile.num_labels, round(counts[0]))
        assert profile.counts[-1] == pytest.approx(largest, rel=1e-12)


@each_of(
    ("levels", "reaching", "published"),
    [
        ([1, 2], [0.5, 0.5], {}),  # ties go to the even number
        ([1, 2], [1.5, 0.51], {1: 1, 2: 1}),
        ([1, 2], [-0.2, -7.0], {}),
        ([5], [3.0], {5: 3}),
        ([2, 2**63 - 1], [4.0, 1.0], {2**63 - 1: 1}),
        ([1], [2.0**70], {1: 2**62}),
        ([1, 4], [2.0**62, 2.0**61], {4: 2**60}),
    ],
)
def test_fits_at_the_ends(levels: list[int], reaching: list[float], published: dict[int, int]) -> None:
    assert profile_of_fit(np.array(levels), np.array(reaching)) == Profile.from_prevalences(published)


@each_of(
    ("counts", "published"),
    [
        ([], {}),
        ([0.5], {}),
        ([0.51, 0.5, 0.0], {1: 1}),
        ([-3.0, -9.0], {}),
        ([2.0**63], {2**62: 1}),
        ([2.0**63, 2.0**63, 2.0**63, 3.0], {2**60: 3, 3: 1}),
    ],
)
def test_sorted_counts_at_the_ends(counts: list[float], published: dict[int, int]) -> None:
    assert round_sorted(np.array(counts)) == Profile.from_prevalences(published)


@pytest.mark.slow
def test_small_profiles_are_cut_to_every_number_of_items() -> None:
    for partition in partitions_up_to(8):
        profile = Profile.from_partition(partition)
        for items in range(10):
            kept = with_at_most(profile, items)
            assert (kept.n, sorted_l1(profile, kept)) == (min(profile.n, items), max(profile.n - items, 0))


@pytest.mark.slow
@repeatable
@given(profile=profiles(), items=st.integers(0, 2**63 - 1))
def test_what_is_kept_has_so_many_items_and_lies_below(profile: Profile, items: int) -> None:
    kept = with_at_most(profile, items)
    assert kept.n == min(profile.n, items)
    # No row is longer than it was, so the distance is what was cut.
    assert sorted_l1(profile, kept) == profile.n - kept.n
    if kept.n < profile.n and kept.n:
        # One height for all rows that were cut, but for a step.
        height = int(kept.counts[-1])
        below = profile.counts < height - 1
        assert kept.counts[kept.counts < height - 1].tolist() == profile.counts[below].tolist()
        assert kept.prevalences[kept.counts < height - 1].tolist() == profile.prevalences[below].tolist()
