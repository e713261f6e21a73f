"""Errors of a release: worked out by hand, looked up between levels, and at the ends of int64."""

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import DataError, UsageError
from anonhist.mechanisms import FrobeniusMechanism, staircase_profile
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist.properties.estimate import Estimate, widening_factor
from anonhist.releases import ReleaseError, simulate_error
from anonhist.releases.runs import METHOD
from anonhist_testing.cases import each_of
from anonhist_testing.progress import assert_moves
from anonhist_testing.sources import SeededSource

LARGEST = 2**63 - 1
EXPECTED = Estimate(3.0, 0.5, (2.0, 4.0), METHOD)
counts_of_labels = st.lists(st.integers(1, 9), max_size=6)


def errors_of(levels: list[int], prevalence: list[float], k_plus: list[float]) -> ReleaseError:
    return ReleaseError(EXPECTED, 32, np.array(levels), np.array(prevalence), np.array(k_plus))


def distance(first: list[int], second: list[int]) -> int:
    """Sorted ℓ1 distance, label by label."""
    size = max(len(first), len(second))
    ours, theirs = (sorted([*each, *[0] * (size - len(each))]) for each in (first, second))
    return sum(abs(a - b) for a, b in zip(ours, theirs, strict=True))


def runs_on(released: Profile, scripted: Any, *runs: Profile) -> Any:
    """Script the runs on a release, which are those on no data where nothing was released."""
    return scripted(*runs) if released.n else scripted(*runs, of_nothing=runs)


@pytest.mark.slow
@given(counts_of_labels, st.lists(counts_of_labels, min_size=1, max_size=4), st.integers(2, 9))
def test_errors_are_the_root_mean_squares_of_what_the_runs_did(
    scripted_mechanism: Any, released: list[int], runs: list[list[int]], simulations: int
) -> None:
    profile = Profile.from_counts(released)
    mechanism = runs_on(profile, scripted_mechanism, *map(Profile.from_counts, runs))
    error = simulate_error(profile, mechanism, simulations=simulations, rng=np.random.default_rng(0))
    done = [runs[index % len(runs)] for index in range(simulations)]
    assert error.levels.tolist() == sorted({1, *released, *(count + 1 for count in released)})
    for level, prevalence, k_plus in zip(
        error.levels.tolist(), error.prevalence_errors, error.k_plus_errors, strict=True
    ):
        squares = [(run.count(level) - released.count(level)) ** 2 for run in done]
        assert prevalence == pytest.approx((sum(squares) / simulations) ** 0.5)
        above = [(sum(c >= level for c in run) - sum(c >= level for c in released)) ** 2 for run in done]
        assert k_plus == pytest.approx((sum(above) / simulations) ** 0.5)
    distances = [distance(released, run) for run in done]
    assert error.sorted_l1.value == pytest.approx(np.mean(distances))
    expected = max(float(np.std(distances, ddof=1)) / simulations**0.5, 1 / simulations)
    assert error.sorted_l1.standard_error == pytest.approx(expected)
    mean = float(np.mean(distances))
    # All digits are needed: where the lower end is near zero, most of them cancel.
    half = NormalDist().inv_cdf(0.975) * widening_factor(simulations - 1) * expected
    normal = (max(0.0, mean - half), mean + half)
    assert error.sorted_l1.interval == pytest.approx(normal)
    # Then come runs on flattened data, four at a time where there are few.
    assert (error.simulations, mechanism.sizes[0], {*mechanism.sizes[1:]} <= {4, 8}) == (simulations, simulations, True)


@pytest.mark.parametrize(
    ("profile", "sizes"),
    [(Profile.from_counts([2, 1]), [32, 8, 8]), (Profile.from_prevalences({5000: 5000}), [8, 8, 8, 8, 8])],
    ids=["small", "large"],
)
def test_runs_come_in_batches_that_show_progress(scripted_mechanism: Any, profile: Profile, sizes: list[int]) -> None:
    # Runs on flattened data come last, where there is anything to flatten.
    mechanism, seen = scripted_mechanism(profile), list[float]()
    simulate_error(profile, mechanism, simulations=40, rng=np.random.default_rng(0), progress=seen.append)
    assert mechanism.sizes == sizes
    # Runs on no data come in the batches of small profiles.
    assert_moves(seen, most=0.6)


@pytest.mark.slow
def test_simulations_draw_from_the_generator_given() -> None:
    profile, mechanism = Profile.from_counts([9, 4, 1]), FrobeniusMechanism(Fraction(1))
    first, again, other = (
        simulate_error(profile, mechanism, simulations=8, rng=np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    assert first.k_plus_errors.tolist() == again.k_plus_errors.tolist()
    assert first.k_plus_errors.tolist() != other.k_plus_errors.tolist()


@each_of("simulations", [1, -3, 2.5, "8", True, float("nan")])
def test_too_few_or_odd_numbers_of_simulations_are_refused(scripted_mechanism: Any, simulations: Any) -> None:
    profile = Profile.from_counts([1])
    with pytest.raises(UsageError, match="simulations"):
        simulate_error(profile, scripted_mechanism(profile), simulations=simulations, rng=np.random.default_rng(0))


@each_of(
    ("level", "prevalence", "k_plus"),
    [
        (1, 2.0, 1.0),  # a level answers for itself
        (2, 4.0, 1.0),  # between two levels the larger of both
        (3, 4.0, 0.5),
        (4, 0.25, 3.0),
        (5, 8.0, 6.0),
        (8, 8.0, 6.0),
        (9, 8.0, 6.0),
        (10, 8.0, 6.0),  # above the last level its row
        (2**70, 8.0, 6.0),
    ],
)
def test_errors_between_levels(level: int, prevalence: float, k_plus: float) -> None:
    error = errors_of([1, 3, 4, 9], [2.0, 4.0, 0.25, 8.0], [1.0, 0.5, 3.0, 6.0])
    assert (error._at(error.prevalence_errors, level), error._at(error.k_plus_errors, level)) == (prevalence, k_plus)


@pytest.mark.slow
@given(counts_of_labels, st.lists(counts_of_labels, min_size=2, max_size=2), st.integers(1, 12))
def test_no_run_errs_more_between_levels_than_is_said(
    scripted_mechanism: Any, released: list[int], runs: list[list[int]], level: int
) -> None:
    profile = Profile.from_counts(released)
    error = simulate_error(
        profile,
        runs_on(profile, scripted_mechanism, *map(Profile.from_counts, runs)),
        simulations=2,
        rng=np.random.default_rng(0),
    )
    if level > error.levels[-1]:
        level = int(error.levels[-1])
    gaps = [(sum(c >= level for c in run) - sum(c >= level for c in released)) ** 2 for run in runs]
    # Each run lies between its values at two levels; of two runs the worse may be another one at each.
    assert max(gaps) ** 0.5 / 2**0.5 <= error.k_plus(profile, level).standard_error + 1e-12


def test_estimates_join_the_released_value_with_its_error() -> None:
    profile = Profile.from_prevalences({1: 40, 3: 10})
    error = errors_of([1, 3, 4], [2.0, 0.3, 0.0], [1.0, 4.0, 0.0])
    assert error.prevalence(profile, 3) == Estimate(10.0, 0.3, (9.0, 11.0), METHOD)
    # Of 32 runs, 1.04 · 1.96 standard errors to either side, and whole numbers.
    assert error.k_plus(profile, 1) == Estimate(50.0, 1.0, (47.0, 53.0), METHOD)
    assert error.k_plus(profile, 3) == Estimate(10.0, 4.0, (1.0, 19.0), METHOD)
    # No run ever put a label there; the next one may.
    assert error.prevalence(profile, 900) == Estimate(0.0, 0.0, (0.0, 1.0), METHOD)


def test_runs_that_never_differ_leave_room_for_one_that_does(scripted_mechanism: Any) -> None:
    profile = Profile.from_prevalences({2: 7, 5: 1})
    error = simulate_error(profile, scripted_mechanism(profile), simulations=32, rng=np.random.default_rng(0))
    assert error.prevalence(profile, 2).interval == (6.0, 8.0)
    assert error.k_plus(profile, 5).interval == (0.0, 2.0)
    assert (error.sorted_l1.value, error.sorted_l1.standard_error) == (0.0, 1 / 32)
    assert error.sorted_l1.interval[1] > 0


def test_empty_profile(scripted_mechanism: Any) -> None:
    empty = Profile([], [])
    error = simulate_error(
        empty,
        runs_on(empty, scripted_mechanism, empty, Profile.from_counts([1, 1])),
        simulations=2,
        rng=np.random.default_rng(0),
    )
    assert error.levels.tolist() == [1]
    assert error.sorted_l1.value == 1.0
    assert error.k_plus(empty, 1) == Estimate(0.0, 2**0.5, (0.0, 7.0), METHOD)
    assert error.prevalence(empty, 10**6).interval == (0.0, 7.0)


@each_of(
    ("released", "run"),
    [
        (Profile([LARGEST], [1]), Profile([LARGEST - 1], [1])),
        (Profile([1], [LARGEST]), Profile([1], [LARGEST - 4096])),
        (Profile([1], [LARGEST]), Profile([], [])),
        (Profile([], []), Profile([LARGEST], [1])),
        (Profile([2**62 - 1, 2**62], [1, 1]), Profile([1], [LARGEST])),
    ],
)
def test_counts_and_prevalences_near_the_end_of_int64(scripted_mechanism: Any, released: Profile, run: Profile) -> None:
    error = simulate_error(
        released, runs_on(released, scripted_mechanism, run), simulations=2, rng=np.random.default_rng(0)
    )
    for level in (1, 2, 2**62, LARGEST):
        for ours, asked, theirs in (
            (error.prevalence(released, level), released.prevalence(level), run.prevalence(level)),
            (error.k_plus(released, level), released.k_plus(level), run.k_plus(level)),
        ):
            assert ours.value == float(asked)
            low, high = ours.interval
            assert 0 <= low <= ours.value < high
            if level in error.levels:
                assert ours.standard_error == pytest.approx(abs(asked - theirs))
    assert np.isfinite(error.sorted_l1.interval).all()
    assert error.levels.min() >= 1


@each_of(
    ("levels", "prevalence", "k_plus", "told"),
    [
        ([1, 3], [1.0], [1.0, 2.0], "row per level"),
        ([1, 3], [1.0, 2.0], [1.0, 2.0, 3.0], "row per level"),
        ([3, 1], [1.0, 2.0], [1.0, 2.0], "ascending"),
        ([2, 2], [1.0, 2.0], [1.0, 2.0], "ascending"),
        ([0, 2], [1.0, 2.0], [1.0, 2.0], "at least 1"),
        ([1.5], [1.0], [1.0], "whole number"),
        ([1], [-0.5], [1.0], "not negative"),
        ([1], [1.0], [float("nan")], "finite"),
        ([1], [float("inf")], [1.0], "finite"),
        ([], [], [], "one level"),
    ],
)
def test_impossible_tables_are_refused(levels: Any, prevalence: list[float], k_plus: list[float], told: str) -> None:
    with pytest.raises(DataError, match=told):
        errors_of(levels, prevalence, k_plus)


@pytest.mark.parametrize("name", ["levels", "prevalence_errors", "k_plus_errors"])
def test_tables_are_copied_and_cannot_be_changed(name: str) -> None:
    tables: dict[str, Any] = {
        "levels": np.array([1, 2]),
        "prevalence_errors": np.array([1.0, 2.0]),
        "k_plus_errors": np.array([1.0, 2.0]),
    }
    error = ReleaseError(EXPECTED, 32, **tables)
    tables[name][1] = 7
    kept = getattr(error, name)
    assert kept.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 5
    with pytest.raises(FrozenInstanceError):
        setattr(error, name, kept)


def test_progress_is_optional_and_the_script_is_asked_for_whole_batches(scripted_mechanism: Any) -> None:
    profile = Profile.from_counts([1])
    mechanism = scripted_mechanism(profile)
    simulate_error(profile, mechanism, simulations=2, rng=np.random.default_rng(0))
    assert mechanism.sizes == [2]


def test_what_noise_alone_makes_of_no_data_counts_where_it_is_more(scripted_mechanism: Any) -> None:
    released, noise = Profile.from_prevalences({1: 50, 9: 2}), Profile.from_prevalences({1: 3, 5: 40})
    mechanism = scripted_mechanism(Profile.from_prevalences({1: 60, 9: 2}), of_nothing=[noise])
    error = simulate_error(released, mechanism, simulations=4, rng=np.random.default_rng(0))
    # Of the whole profile, runs on no data show too much.
    assert error.sorted_l1.value == 0.625 * noise.n
    assert error.levels.tolist() == [1, 2, 9, 10]
    assert error.k_plus_errors.tolist() == [43, 40, 0, 0]
    assert error.prevalence_errors.tolist() == [10, 0, 0, 0]
    quiet = simulate_error(
        released,
        scripted_mechanism(Profile.from_prevalences({1: 60, 9: 2}), of_nothing=[Profile.from_counts([1])]),
        simulations=4,
        rng=np.random.default_rng(0),
    )
    assert quiet.sorted_l1.value == 10
    assert quiet.k_plus_errors.tolist() == [10, 0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "epsilon", "unit"), [(7, "0.1", PrivacyUnit.item()), (10, "0.4", PrivacyUnit.user(max_items=2))]
)
def test_small_data_under_much_noise_are_inside_their_error(n: int, epsilon: str, unit: PrivacyUnit) -> None:
    data = Profile.from_counts([3] * (n // 3) + [1] * (n % 3), unit=unit)
    mechanism = FrobeniusMechanism(epsilon, unit)
    missed, said = 0, []
    for seed in range(6):
        released = replace(mechanism.release(data, source=SeededSource(seed)), simulations=16)
        assert released.mostly_noise
        said.append(released.error.expected_range)
        assert sorted_l1(data, released.profile) < 1.75 * said[-1][1]
        missed += not released.k_plus(1).interval[0] <= data.num_labels <= released.k_plus(1).interval[1]
    assert missed <= 1
    # Runs on the release alone say two thirds of what they err on average: they cannot know how small the data are.
    # Runs on no data know it of these, but not of larger ones: the range holds the mean.
    runs = mechanism.simulate(data, size=64, rng=np.random.default_rng(7))
    low, high = np.mean(said, axis=0)
    assert low < np.mean([sorted_l1(data, run.with_unit(unit)) for run in runs]) < high


@pytest.mark.slow
def test_large_data_are_not_mostly_noise() -> None:
    released = FrobeniusMechanism("0.5").release(staircase_profile(10**4), source=SeededSource(1))
    assert not released.mostly_noise


def test_a_representation_is_one_short_line() -> None:
    made = errors_of([*range(1, 400)], [1.0] * 399, [1.0] * 399)
    assert repr(made) == "ReleaseError(sorted_l1=3 ± 0.5 (95% interval 2 to 4), simulations=32)"
    assert repr(ReleaseError.without_runs()) == "ReleaseError(not simulated, simulations=0)"
