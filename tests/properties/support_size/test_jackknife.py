"""Jackknife estimates of the support size: against leaving items out one by one, and two by two."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonhist.profiles import Profile
from anonhist.properties.support_size import support_size
from anonhist.properties.support_size_estimators import Jackknife1, Jackknife2

COUNTS = st.lists(st.integers(1, 4), min_size=1, max_size=8)


def labels_without(counts: list[int], left_out: int) -> float:
    items = [label for label, count in enumerate(counts) for _ in range(count)]
    kept = [len(set(sample)) for sample in combinations(items, len(items) - left_out)]
    return sum(kept) / len(kept)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(COUNTS)
def test_first_order_is_what_leaving_one_item_out_says(counts: list[int]) -> None:
    n = sum(counts)
    expected = n * len(counts) - (n - 1) * labels_without(counts, 1)
    assert Jackknife1().point(Profile.from_counts(counts)).value == pytest.approx(expected)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(COUNTS.filter(lambda counts: sum(counts) > 1))
def test_second_order_is_what_leaving_two_items_out_says(counts: list[int]) -> None:
    n, s = sum(counts), len(counts)
    expected = (n**2 * s - 2 * (n - 1) ** 2 * labels_without(counts, 1) + (n - 2) ** 2 * labels_without(counts, 2)) / 2
    profile = Profile.from_counts(counts)
    assert Jackknife2().statistic(n).of(profile) == pytest.approx(expected)
    assert Jackknife2().point(profile).value == pytest.approx(max(expected, s))


def test_second_order_says_when_it_falls_below_the_labels_seen() -> None:
    below = support_size(Profile.from_prevalences({2: 100}), method="jackknife-2")
    assert (below.value, below.interval[0]) == (100, 100)
    assert any("is below" in warning for warning in below.warnings)
    assert not any("is below" in warning for warning in Jackknife2().point(Profile.from_counts([9, 1])).warnings)


@pytest.mark.parametrize("statistic", [Jackknife1().statistic(1000), Jackknife2().statistic(1000)])
def test_steps_are_monotone_from_the_head_on(statistic: object) -> None:
    head, weights = statistic.head, statistic.weights  # type: ignore[attr-defined]
    steps = np.diff(weights(np.arange(head, head + 50)))
    assert bool(np.all(np.diff(steps) >= 0) or np.all(np.diff(steps) <= 0))
    assert not bool(np.all(np.diff(np.diff(weights(np.arange(head + 2)))) <= 0))


def test_huge_n_is_exact() -> None:
    profile = Profile.from_prevalences({1: 10**15, 2: 3 * 10**14, 10**15: 2})
    n = profile.n
    second = profile.num_labels + ((2 * n - 3) * 10**15 * (n - 1) - (n - 2) ** 2 * 3 * 10**14) / (n * (n - 1))
    assert Jackknife1().point(profile).value == pytest.approx(profile.num_labels + (n - 1) * 10**15 / n, rel=1e-15)
    assert Jackknife2().point(profile).value == pytest.approx(second, rel=1e-15)
