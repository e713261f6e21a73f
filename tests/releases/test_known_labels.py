"""Labels that never occur, where the number of labels is known."""

import math

import pytest

from anonhist.errors import UsageError
from anonhist.mechanisms import PrivHistMechanism
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate, Holds, Statement
from anonhist.releases.evidence import never_occurring
from anonhist_testing.sources import SeededSource

PROFILE = Profile.from_prevalences({1: 40, 2: 20, 7: 10, 100: 2})


def test_zero_counts_follow_from_the_labels_that_occur() -> None:
    release = PrivHistMechanism(2).release(PROFILE, source=SeededSource(1))
    seen, unseen = release.k_plus(1), release.prevalence(0, alphabet_size=200)
    assert unseen.value == 200 - seen.value
    assert unseen.interval == (200 - seen.interval[1], 200 - seen.interval[0])
    assert unseen.level == seen.level


def test_the_interval_holds_in_most_releases() -> None:
    mechanism = PrivHistMechanism(1)
    ends = [
        mechanism.release(PROFILE, source=SeededSource(seed)).prevalence(0, alphabet_size=100).interval
        for seed in range(60)
    ]
    # 95% intervals: fewer than 47 of 60 hold with probability 1e-6.
    assert sum(low <= 100 - PROFILE.num_labels <= high for low, high in ends) >= 47
    assert all(0 <= low <= high <= 100 for low, high in ends)


def test_there_are_never_fewer_than_none() -> None:
    assert never_occurring(Estimate(12.0, 2.0, (8.0, 16.0), "a test"), 10).value == 0
    assert never_occurring(Estimate(12.0, 2.0, (8.0, 16.0), "a test"), 10).interval == (0, 2)


def test_a_lower_end_becomes_an_upper_end() -> None:
    least = Estimate(3.0, 0.0, (2.0, math.inf), "a test", statement=Statement(Holds.AT_LEAST, "edges were left out"))
    found = never_occurring(least, 10)
    assert (found.interval, found.statement.holds) == ((0, 8), Holds.AT_MOST)


def test_an_alphabet_is_for_zero_counts_alone() -> None:
    release = PrivHistMechanism(2).release(PROFILE, source=SeededSource(1))
    with pytest.raises(UsageError, match="only for count 0"):
        release.prevalence(1, alphabet_size=100)
    with pytest.raises(UsageError, match="depends on how many there are"):
        release.prevalence(0)
    with pytest.raises(UsageError, match="alphabet_size"):
        release.prevalence(0, alphabet_size=0)
    with pytest.raises(UsageError, match="count must be 0 or more, not -1"):
        release.prevalence(-1)
