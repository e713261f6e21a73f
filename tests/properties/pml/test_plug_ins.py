"""Plug-in estimates: values, conventions, errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose

from anonhist.profiles import Profile
from anonhist.properties.entropy import PlugIn
from anonhist.properties.estimator import NormalInterval, apply
from anonhist.properties.pml import (
    PmlDistanceToUniformity,
    PmlDistribution,
    PmlEntropy,
    PmlSupportSize,
    approximate_pml,
    bootstrap_error,
    draw_profile,
    plug_in,
    property_of,
)
from anonhist.properties.support_size import SupportSizeInterval

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHECKED = Profile.from_counts([10, 5, 2, 1, 1, 1])


def test_the_checked_values() -> None:
    assert PmlEntropy().point(CHECKED).value / math.log(2) == pytest.approx(2.25, abs=1e-14)
    assert PmlSupportSize().point(CHECKED).value == 10.0
    assert PmlSupportSize(5).point(Profile.from_counts([2, 1, 1, 1])).value == 5.0


def test_distance_to_uniformity() -> None:
    # 9/16 and 5 · 7/80 over ten labels, four of them missing in the estimate for six.
    profile = Profile.from_counts([9, 3, 2, 1, 1])
    found = approximate_pml(profile, alphabet_size=6)
    assert found.labels == (5, 1)
    value = PmlDistanceToUniformity(6).point(profile).value
    assert value == pytest.approx(9 / 16 - 1 / 6 + 5 * (1 / 6 - 7 / 80))
    assert PmlDistanceToUniformity(10).point(Profile.from_counts([7])).value == pytest.approx(2 - 2 / 10)
    assert PmlDistanceToUniformity(10).point(Profile.from_counts([1000, 1000])).value == pytest.approx(1.6)
    assert PmlDistanceToUniformity(9).point(Profile.from_counts([1] * 9)).value == pytest.approx(0, abs=1e-15)
    assert PmlDistanceToUniformity(2).point(Profile.from_counts([1] * 500)).value == 2.0


@pytest.mark.parametrize(
    ("counts", "alphabet_size", "size", "warned"),
    [
        ([1], None, 1, False),
        ([6], None, 1, False),
        ([6], 9, 1, False),
        ([1], 9, 9, False),
        ([3, 3], None, 2, False),
        ([1] * 40, None, 820, True),
        ([1] * 40, 100, 100, False),
        ([1] * 40, 7, 40, False),
        ([10**15] * 3, None, 3, False),
    ],
)
def test_conventions(counts: list[int], alphabet_size: int | None, size: int, *, warned: bool) -> None:
    profile = Profile.from_counts(counts)
    for estimator, expected in [
        (PmlSupportSize(alphabet_size), size),
        (PmlEntropy(alphabet_size), math.log(size)),
    ]:
        point = estimator.point(profile)
        assert point.value == pytest.approx(expected, rel=1e-12)
        assert math.isfinite(point.standard_error)
        assert bool(point.warnings) == warned


def test_a_continuous_part_beside_others_is_said() -> None:
    point = PmlSupportSize().point(Profile.from_counts([9, 9, 9, 1, 1, 1]))
    assert point.value == 3 + 6
    assert point.warnings[0].startswith("10% of the items")


@pytest.mark.slow
@pytest.mark.parametrize(
    "prevalences",
    [
        {2**61: 1, 2**62: 1},
        {1: 2**62},
        {1: 2**63 - 1},
        {1: 10**15, 2: 1},
        {1: 2**60, 2**61: 1},
        {10**6: 10**6, 10**6 + 1: 10**6},
        {1: 1, 2: 10**15},
        {2**63 - 1: 1},
    ],
)
def test_the_largest_profiles_give_finite_numbers(prevalences: dict[int, int]) -> None:
    profile = Profile.from_prevalences(prevalences)
    for estimator in (PmlEntropy(), PmlSupportSize(2**62), PmlDistanceToUniformity(5)):
        point = estimator.point(profile)
        assert math.isfinite(point.value)
        assert math.isfinite(point.standard_error)
        assert point.standard_error >= 0


def test_the_same_data_give_the_same_numbers() -> None:
    np.random.default_rng().random()
    first, second = PmlEntropy().point(CHECKED), PmlEntropy().point(CHECKED)
    assert (first.value, first.standard_error) == (second.value, second.standard_error)
    assert first.standard_error > 0


def test_any_property_can_be_plugged_in() -> None:
    point = plug_in(CHECKED, lambda found: float(found.probabilities.max()))
    assert point.value == 0.5
    assert point.standard_error > 0


@pytest.mark.slow
def test_runs_are_drawn_from_the_distribution() -> None:
    found = PmlDistribution(np.array([1e-4, 0.002, 0.3]), (3000, 200, 1))
    generator = np.random.default_rng(3)
    runs = [draw_profile(found, 5000, generator) for _ in range(300)]
    means = [0.5] * 3000 + [10.0] * 200 + [1500.0]
    for count in range(1, 13):
        expected = math.fsum(math.exp(count * math.log(m) - m - math.lgamma(count + 1)) for m in means)
        drawn_on_average = np.mean([run.prevalence(count) for run in runs])
        assert drawn_on_average == pytest.approx(expected, abs=4 * math.sqrt(expected / 300))
    assert np.mean([run.n for run in runs]) == pytest.approx(5000, abs=4 * math.sqrt(5000 / 300))


def test_labels_beyond_int64_are_drawn_too() -> None:
    vast = PmlDistribution(np.array([1e-25]), (10**25,))
    run = draw_profile(vast, 10**13, np.random.default_rng(4))
    assert run.n == pytest.approx(1e13, abs=5 * math.sqrt(1e13))
    assert run.prevalence(2) == pytest.approx(5, abs=10)


def test_no_run_is_empty() -> None:
    one = PmlDistribution(np.array([1.0]), (1,))
    generator = np.random.default_rng(5)
    assert min(draw_profile(one, 1, generator).n for _ in range(200)) == 1


def test_the_error_is_that_of_samples_of_the_same_size() -> None:
    one = PmlDistribution(np.array([0.001]), (1000,))
    # The number of items varies between runs, but is taken out.
    assert bootstrap_error(one, 800, lambda run: float(run.n)) == pytest.approx(0, abs=1e-9)
    # φ_1 of a sample of fixed size: Var = kq(1 − q) less the square of its covariance with n over n.
    q, k, mean = 0.8 * math.exp(-0.8), 1000, 0.8
    exact = math.sqrt(k * q * (1 - q) - (k * q * (1 - mean)) ** 2 / (k * mean))
    assert bootstrap_error(one, 800, lambda run: float(run.prevalence(1))) == pytest.approx(exact, rel=0.5)


@pytest.mark.slow
def test_errors_are_what_repetition_shows() -> None:
    generator = np.random.default_rng(6)
    points = [PmlEntropy().point(sample(generator, np.full(1000, 1e-3), 2000)) for _ in range(40)]
    seen = np.std([point.value for point in points], ddof=1)
    said = np.sqrt(np.mean([point.standard_error**2 for point in points]))
    assert 0.6 < said / seen < 1.7


def sample(generator: np.random.Generator, probabilities: NDArray[np.float64], n: int) -> Profile:
    return Profile.from_counts(generator.multinomial(n, probabilities))


@pytest.mark.slow
def test_far_better_than_the_plug_in_of_the_sample() -> None:
    generator = np.random.default_rng(7)
    uniform = np.full(1000, 1e-3)
    profiles = [sample(generator, uniform, 500) for _ in range(60)]
    truth = math.log(1000)
    errors = {
        name: np.sqrt(np.mean([(estimate(profile) - truth) ** 2 for profile in profiles]))
        for name, estimate in {
            "plug-in": lambda profile: PlugIn().point(profile).value,
            "pml": lambda profile: property_of(approximate_pml(profile), lambda p: -p * np.log(p)),
        }.items()
    }
    assert errors["pml"] < 0.2
    assert errors["plug-in"] > 0.9
    sizes = np.array([approximate_pml(profile).discrete().num_labels for profile in profiles])
    seen = np.array([profile.num_labels for profile in profiles])
    assert np.sqrt(np.mean((sizes - 1000.0) ** 2)) < 180
    assert np.sqrt(np.mean((seen - 1000.0) ** 2)) > 550
    known = [PmlSupportSize(1000).point(profile).value for profile in profiles[:5]]
    assert_allclose(known, 1000)


def test_the_number_alone_is_that_of_the_point() -> None:
    for estimator in (PmlEntropy(), PmlEntropy(9), PmlSupportSize(), PmlDistanceToUniformity(9)):
        assert estimator.value(CHECKED) == estimator.point(CHECKED).value


@pytest.mark.parametrize("counts", [[1], [1] * 30, [10, 5, 2, 1, 1, 1], [10**15] * 3, [9, 9, 9, 1, 1]])
def test_estimates_have_intervals(counts: list[int]) -> None:
    profile = Profile.from_counts(counts)
    for estimator, interval in [
        (PmlEntropy(), NormalInterval(0.0)),
        (PmlSupportSize(), SupportSizeInterval()),
        (PmlSupportSize(40), SupportSizeInterval(40.0)),
    ]:
        low, high = apply(profile, estimator, interval).interval
        assert low <= estimator.value(profile) <= high < math.inf
