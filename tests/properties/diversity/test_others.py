"""Min-entropy and the distance to uniformity: plain definitions, conventions, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skbio.diversity import alpha

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties import distance_to_uniformity, min_entropy
from anonhist.properties.uniformity import DistanceToUniformity
from anonhist_testing.cases import each_of

COUNTS = st.lists(st.integers(1, 30), min_size=1, max_size=12)


@pytest.mark.slow
@given(COUNTS)
def test_min_entropy_is_that_of_scikit_bio(counts: list[int]) -> None:
    expected = float(alpha.renyi(np.array(counts), order=math.inf))
    assert min_entropy(Profile.from_counts(counts)).value == pytest.approx(expected, abs=1e-13)


@pytest.mark.slow
@given(COUNTS, st.integers(0, 20))
def test_distance_is_summed_over_all_labels(counts: list[int], more: int) -> None:
    size, n = len(counts) + more, sum(counts)
    expected = sum(abs(Fraction(count, n) - Fraction(1, size)) for count in [*counts, *[0] * more])
    got = distance_to_uniformity(Profile.from_counts(counts), alphabet_size=size)
    assert got.value == pytest.approx(float(expected), abs=1e-12)


def test_steps_of_the_distance_rise() -> None:
    for n, size in ((100, 7), (100, 1), (50, 200)):
        statistic = DistanceToUniformity(size).statistic(n)
        steps = np.diff(statistic.weights(np.arange(n + 1)))
        assert bool(np.all(np.diff(steps) >= -1e-15))
        assert steps.max() - steps.min() <= 2 / n + 1e-15


CONVENTIONS = {
    # profile: min-entropy in nats, distance to uniformity on an alphabet of 2^62
    "one item": (Profile([1], [1]), 0.0, 2.0),
    "one label": (Profile([9], [1]), 0.0, 2.0),
    "one label, huge": (Profile([2**63 - 1], [1]), 0.0, 2.0),
    "singletons": (Profile([1], [10]), math.log(10), 2.0),
    "singletons, huge": (Profile([1], [2**62]), 62 * math.log(2), 0.0),
    "one and a speck": (Profile([1, 10**15], [1, 1]), 1e-15, 2.0),
}


@each_of(("profile", "surprise", "distance"), CONVENTIONS.values())
def test_conventions(profile: Profile, surprise: float, distance: float) -> None:
    made = min_entropy(profile)
    assert made.value == pytest.approx(surprise, rel=1e-9)
    assert math.copysign(1, made.value) == 1
    assert made.interval[0] <= made.value <= made.interval[1]
    assert distance_to_uniformity(profile, alphabet_size=2**62).value == pytest.approx(distance, abs=1e-9)
    assert distance_to_uniformity(profile, alphabet_size=2**62).interval[1] <= 2


def test_doubts_are_said() -> None:
    assert not min_entropy(Profile([10, 100], [3, 1])).warnings
    assert not min_entropy(Profile([100], [1])).warnings
    assert "too low" in min_entropy(Profile([10, 100], [3, 2])).warnings[0]
    assert "too low" in min_entropy(Profile([90, 100], [1, 1])).warnings[0]
    assert "too high" in distance_to_uniformity(Profile([100], [4]), alphabet_size=8).warnings[0]
    assert not distance_to_uniformity(Profile([1000], [4]), alphabet_size=8).warnings


def test_nothing_and_what_cannot_be() -> None:
    nothing = Profile([], [])
    assert min_entropy(nothing).interval == (0, math.inf)
    assert distance_to_uniformity(nothing, alphabet_size=4).interval == (0, 1.5)
    with pytest.raises(UsageError, match="below the number of labels"):
        distance_to_uniformity(Profile([1], [5]), alphabet_size=4)
    with pytest.raises(UsageError, match="alphabet_size"):
        distance_to_uniformity(Profile([1], [5]), alphabet_size=0)
    with pytest.raises(UsageError, match="base"):
        min_entropy(Profile([1], [5]), base=1)
