from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local import HeavyHitters, Tally
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource


def population() -> list[str]:
    rng = np.random.default_rng(1)
    rare = [f"{number:05d}" for number in rng.integers(0, 100_000, 4000)]
    return ["apple"] * 8000 + ["apply"] * 5000 + ["é"] * 3000 + [""] * 2000 + rare


@pytest.mark.slow
def test_frequent_values_are_found_without_a_list() -> None:
    survey = HeavyHitters(epsilon=4, max_bytes=6)
    tally = survey.tally(survey.randomize(population(), source=SeededSource(7)))
    seen: list[float] = []
    estimate = survey.estimate(tally, progress=seen.append)
    assert estimate.labels == ("apple", "apply", "é", "")
    truth = np.array([8, 5, 3, 2]) / 22
    assert np.abs(estimate.raw - truth).max() < 5 * estimate.standard_errors.max()
    # What the values found leave over errs as much as they do together, however many were tested.
    assert estimate.other_standard_error == pytest.approx(np.sqrt((estimate.standard_errors**2).sum()))
    assert abs(1 - estimate.raw.sum() - 4 / 22) < 5 * estimate.other_standard_error
    assert estimate.significant.all()
    assert estimate.users == 22_000
    # Those who answered about whole values are a draw from all.
    halved = survey.estimate(tally, candidates=["apple"])
    noise = survey._hashing.variance(8 / 22) / 11_000
    assert halved.standard_errors[0] == pytest.approx(np.sqrt(noise + 8 * 14 / 22**2 / 22_000), rel=0.02)
    assert seen == [pytest.approx(step / 6) for step in range(1, 7)]


@pytest.mark.slow
def test_what_was_tested_in_vain_takes_nothing_from_what_was_found() -> None:
    # Decoded with the thousands that were tested, half of the others were given to values that nobody has.
    rng = np.random.default_rng(3)
    rare = [f"{number:05d}" for number in rng.integers(0, 100_000, 2000)]
    people = [f"word {i}" for i in range(12) for _ in range(2000 - 150 * i)] + rare
    survey = HeavyHitters(epsilon=4, max_bytes=8)
    apart, others = [], []
    for seed in range(6):
        estimate = survey.estimate(survey.tally(survey.randomize(people, source=SeededSource(seed))))
        assert estimate.significant.all()
        assert (np.diff(estimate.raw) <= 0).all()
        truth = sum(people.count(label) for label in estimate.labels) / len(people)
        apart.append((estimate.other - (1 - truth)) / estimate.other_standard_error)
        others.append(estimate.other - (1 - estimate.raw.sum()))
    assert abs(np.mean(apart)) < 4 / np.sqrt(6)
    assert np.abs(others).max() < 1e-9


def test_half_of_the_people_answer_about_the_whole_value_and_the_rest_about_each_length() -> None:
    survey = HeavyHitters(epsilon=1, max_bytes=5)
    lengths = survey.randomize(["abcde"] * 40_000, source=SeededSource(7)).columns["length"]
    shares = np.bincount(lengths) / 40_000
    expected = np.array([1, 1, 1, 1, 4]) / 8
    assert (np.abs(shares - expected) < 5 * np.sqrt(expected * (1 - expected) / 40_000)).all()
    assert set(HeavyHitters(epsilon=1, max_bytes=1).randomize(["a"] * 9).columns["length"].tolist()) == {0}


def test_what_is_reported_depends_on_the_prefix_alone() -> None:
    survey = HeavyHitters(epsilon=1, max_bytes=4)
    one, other = (survey.randomize([value] * 5000, source=SeededSource(7)) for value in ("abcd", "abzz"))
    short = one.columns["length"] < 2
    assert (one.columns["report"][short] == other.columns["report"][short]).all()
    assert (one.columns["report"][~short] != other.columns["report"][~short]).any()


@pytest.mark.slow
def test_nothing_is_found_where_nothing_is_frequent() -> None:
    rng = np.random.default_rng(2)
    values = [f"{number:04x}" for number in rng.integers(0, 65_536, 20_000)]
    survey = HeavyHitters(epsilon=2, max_bytes=4, characters="0123456789abcdef")
    finds = []
    for seed in range(10):
        tally = survey.tally(survey.randomize(values, source=SeededSource(seed)))
        finds.append(len(survey.estimate(tally).labels))
    # A false find in 5% of the runs at most.
    assert sum(finds) <= 3


def test_where_no_prefix_is_frequent_nothing_is_found() -> None:
    survey = HeavyHitters(epsilon=1, max_bytes=3, characters="0")
    for seed in range(3):
        tally = survey.tally(survey.randomize(["xyz"] * 1000, source=SeededSource(seed)))
        # A false find in one of ten thousand runs.
        estimate = survey.estimate(tally, level=0.9999)
        assert estimate.labels == ()
        assert estimate.other == pytest.approx(1)


@pytest.mark.slow
def test_too_few_people_are_said_to_be_too_few() -> None:
    survey = HeavyHitters(epsilon=4, max_bytes=64)
    reports = survey.randomize(["ab"] * 40, source=SeededSource(7))
    assert np.unique(reports.columns["length"]).size < 32
    with pytest.raises(DataError, match="Too few people"):
        survey.estimate(survey.tally(reports))
    assert survey.estimate(survey.tally(reports), candidates=["ab"]).labels == ("ab",)


def test_a_beam_of_one_follows_the_most_frequent_prefix_alone() -> None:
    survey = HeavyHitters(epsilon=4, max_bytes=3)
    tally = survey.tally(survey.randomize(["ant"] * 6000 + ["bee"] * 4000, source=SeededSource(7)))
    assert survey.estimate(tally, beam=1).labels == ("ant",)
    assert survey.estimate(tally, beam=2).labels == ("ant", "bee")


def test_parts_of_a_tally_are_told_apart_to_the_last_cell() -> None:
    survey = HeavyHitters(epsilon=1, max_bytes=3, buckets=4)
    size = 2**34
    tally = Tally(survey.digest, 10, np.array([0, size - 1, size, 2 * size - 1, 2 * size]), np.array([1, 2, 3, 3, 1]))
    parts = [survey._of_length(tally, length) for length in range(3)]
    assert [(part.users, part.cells.tolist()) for part in parts] == [
        (3, [0, size - 1]),
        (6, [0, size - 1]),
        (1, [0]),
    ]


def test_characters_narrow_the_search() -> None:
    survey = HeavyHitters(epsilon=4, max_bytes=3, characters="0123456789")
    tally = survey.tally(survey.randomize(["17"] * 3000 + ["xyz"] * 3000, source=SeededSource(7)))
    assert survey.estimate(tally).labels == ("17",)
    assert survey.estimate(tally, candidates=["xyz", "17"]).significant.all()


@pytest.mark.slow
def test_long_values_are_cut_between_characters() -> None:
    survey = HeavyHitters(epsilon=5, max_bytes=4)
    tally = survey.tally(survey.randomize(["aéé€"] * 3000, source=SeededSource(7)))
    assert survey.estimate(tally).labels == ("aé",)


@each_of("values", [["a\0b"], [3], [None], ["\ud800"]])
def test_values_that_cannot_be_written_are_refused_without_being_named(values: Any) -> None:
    with pytest.raises(DataError, match=r"text|UTF-8"):
        HeavyHitters(epsilon=1, max_bytes=4).randomize(values)


def test_a_tally_without_whole_values_is_not_estimated_from() -> None:
    survey = HeavyHitters(epsilon=1, max_bytes=4)
    with pytest.raises(DataError, match="whole values"):
        survey.estimate(survey.empty_tally())


@each_of(
    "arguments",
    [{"max_bytes": 0}, {"max_bytes": 65}, {"characters": "\0"}, {"characters": "a\ud800"}, {"key": "\ud800"}],
)
def test_impossible_parameters_are_refused(arguments: Any) -> None:
    with pytest.raises(UsageError):
        HeavyHitters(**{"epsilon": 1, "max_bytes": 4} | arguments)


def test_least_squares_is_refused_before_the_search() -> None:
    survey = HeavyHitters(epsilon=4, max_bytes=3)
    tally = survey.tally(survey.randomize(["ant"] * 100, source=SeededSource(7)))
    with pytest.raises(UsageError, match="least squares"):
        survey.estimate(tally, decoder="least-squares")
