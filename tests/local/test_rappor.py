"""RAPPOR: both of its guarantees by enumeration, memories that stay, and reports that follow the distribution."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local.mechanisms import survey_from
from anonhist.local.randomizers.rappor import RAPPOR, logarithm
from anonhist.numeric import ExponentialQuotient
from anonhist_testing.cases import each_of
from anonhist_testing.local import drawn_matrix, largest_ratio, worst_deviation
from anonhist_testing.sources import SeededSource

# Five standard errors: of a thousand cells, a right sampler fails with probability below 10^−3, and the seed is fixed.
SIGMAS = 5
BILLIONTH = Fraction(1, 10**9)


def survey_of(**changes: object) -> RAPPOR:
    given = {"buckets": 4, "cohorts": 1, "hashes": 1, "key": "k", "f": "0.4", "p": "0.25", "q": "0.75"}
    return RAPPOR(**given | changes)  # type: ignore[arg-type]


def remembered_distribution(bits: set[int], size: int, half: Fraction) -> list[Fraction]:
    """Probability of every permanent response, bit by bit."""
    return [
        prod(1 - half if bool(bit) == (place in bits) else half for place, bit in enumerate(memory))
        for memory in product((0, 1), repeat=size)
    ]


def reports_distribution(memory: tuple[int, ...], reports: int, zero: Fraction, one: Fraction) -> list[Fraction]:
    """Probability of every sequence of so many reports, given what is remembered."""
    single = [
        prod(
            (one if kept else zero) if sent else 1 - (one if kept else zero)
            for kept, sent in zip(memory, report, strict=True)
        )
        for report in product((0, 1), repeat=len(memory))
    ]
    return [prod(chosen) for chosen in product(single, repeat=reports)]


@pytest.mark.parametrize("hashes", [1, 2])
def test_any_number_of_reports_costs_epsilon_at_most_and_one_costs_less(hashes: int) -> None:
    survey = survey_of(hashes=hashes)
    half, zero, one = Fraction(1, 5), Fraction(1, 4), Fraction(3, 4)
    together = ((1 - half) / half) ** (2 * hashes)
    q, p = one * (1 - half) + zero * half, zero * (1 - half) + one * half
    single = (q * (1 - p) / (p * (1 - q))) ** hashes
    # Values that share no bit are the worst that there are.
    values = [set(range(hashes)), set(range(hashes, 2 * hashes))]
    ratios = []
    for reports in range(1, 4 if hashes == 1 else 2):
        size = 2 * hashes
        matrix = [
            [
                sum(weights)
                for weights in zip(
                    *(
                        [weight * chance for chance in reports_distribution(memory, reports, zero, one)]
                        for weight, memory in zip(
                            remembered_distribution(bits, size, half), product((0, 1), repeat=size), strict=True
                        )
                    ),
                    strict=True,
                )
            ]
            for bits in values
        ]
        ratios.append(largest_ratio(matrix))
    assert ratios[0] == single
    assert all(ratio < together for ratio in ratios)
    assert ratios == sorted(ratios)
    memories = [remembered_distribution(bits, 2 * hashes, half) for bits in values]
    assert largest_ratio(memories) == together
    # Rounded up, by less than a billionth.
    for epsilon, odds in ((survey.epsilon, together), (survey.single_guarantee.epsilon, single)):
        assert ExponentialQuotient.exponential(Fraction(epsilon)) >= odds
        assert ExponentialQuotient.exponential(Fraction(epsilon) - BILLIONTH) < odds
    assert survey.guarantee.epsilon == survey.epsilon


def test_a_report_costs_the_same_with_ones_and_zeros_swapped() -> None:
    straight, turned = survey_of(p="0.25", q="0.75"), survey_of(p="0.75", q="0.25")
    assert straight.single_guarantee.epsilon == turned.single_guarantee.epsilon
    assert largest_ratio(turned.matrix([f"w{i}" for i in range(9)])) <= ExponentialQuotient.exponential(
        Fraction(turned.single_guarantee.epsilon)
    )


def test_the_matrix_is_that_of_one_report() -> None:
    survey = survey_of()
    q, p = Fraction(13, 20), Fraction(7, 20)
    words = [f"word {i}" for i in range(20)]
    assert largest_ratio(survey.matrix(words)) == q * (1 - p) / (p * (1 - q))
    assert survey.matrix(["x"])[0][0] == (1 - q) * (1 - p) ** 3


@pytest.mark.slow
def test_reports_follow_the_distribution_and_memories_theirs() -> None:
    survey = survey_of(cohorts=2, hashes=2)
    labels = np.array(["a", "b"])
    distribution = np.array([[float(entry) for entry in row] for row in survey.matrix(labels)])
    half = Fraction(1, 5)

    def draw(codes: np.ndarray) -> np.ndarray:
        columns = survey.randomize(labels[codes], source=SeededSource(7)).columns
        return columns["cohort"] * 16 + columns["report"][:, 0]

    def draw_again(codes: np.ndarray) -> np.ndarray:
        memory = survey.remember(labels[codes], source=SeededSource(8))
        columns = survey.randomize_again(memory, source=SeededSource(9)).columns
        return columns["cohort"] * 16 + columns["report"][:, 0]

    def remember(codes: np.ndarray) -> np.ndarray:
        memory = survey.remember(labels[codes], source=SeededSource(7))
        return memory.cohorts * 16 + memory.bits[:, 0]

    places = survey.functions.all_places(survey.functions.codes(labels)).reshape(2, 2, 2)
    memories = np.zeros((2, 32))
    for value, cohort in product(range(2), range(2)):
        chances = remembered_distribution(set(places[cohort, :, value].tolist()), 4, half)
        for chance, bits in zip(chances, product((0, 1), repeat=4), strict=True):
            memories[value, cohort * 16 + sum(bit << j for j, bit in enumerate(bits))] = chance / 2
    for drawing, expected in ((draw, distribution), (draw_again, distribution), (remember, memories)):
        drawn = drawn_matrix(drawing, values=2, reports=32, repeats=200_000)
        assert max(map(worst_deviation, drawn, expected)) < SIGMAS
    bolder = survey_of(cohorts=2, hashes=2, f="0.38")
    wrong = np.array([[float(entry) for entry in row] for row in bolder.matrix(labels)])
    assert max(map(worst_deviation, drawn_matrix(draw, values=2, reports=32, repeats=200_000), wrong)) > SIGMAS


def test_all_reports_of_a_device_come_of_what_it_remembers() -> None:
    survey = survey_of(buckets=16, p=0, q=1)
    memory = survey.remember(["a"] * 500, source=SeededSource(7))
    for seed in (8, 9):
        reports = survey.randomize_again(memory, source=SeededSource(seed))
        assert (reports.columns["report"] == memory.bits).all()
    noisy = survey_of(buckets=16)
    kept = noisy.remember(["a"] * 500, source=SeededSource(7))
    one, other = (noisy.randomize_again(kept, source=SeededSource(seed)) for seed in (8, 9))
    assert (one.columns["report"] != other.columns["report"]).any(axis=1).mean() > 0.9
    assert (one.columns["cohort"] == other.columns["cohort"]).all()
    assert "bits" not in repr(kept)


def test_devices_keep_their_cohort_for_another_value() -> None:
    survey = survey_of(cohorts=50)
    memory = survey.remember(["a", "b", "c"], source=SeededSource(7))
    other = survey.remember(["x", "y", "z"], like=memory, source=SeededSource(8))
    assert (other.cohorts == memory.cohorts).all()
    with pytest.raises(DataError, match="must equal the number of devices"):
        survey.remember(["x"], like=memory)
    with pytest.raises(UsageError, match="another survey"):
        survey_of(cohorts=51).remember(["x", "y", "z"], like=memory)
    with pytest.raises(UsageError, match="another survey"):
        survey_of(cohorts=51).randomize_again(memory)


def test_frequencies_are_found_again() -> None:
    survey = survey_of(buckets=64, cohorts=8, hashes=2)
    people = np.array(["a", "b", "c"]).repeat([15_000, 10_000, 5_000])
    tally = survey.tally(survey.randomize(people, source=SeededSource(7)))
    estimate = survey.estimate(tally, candidates=["a", "b", "c", "d"])
    assert (np.abs(estimate.raw - [1 / 2, 1 / 3, 1 / 6, 0]) < 5 * estimate.standard_errors).all()
    assert estimate.standard_errors.max() < 0.02
    assert estimate.significant.tolist() == [True, True, True, False]


def test_parameters_are_exact_and_part_of_the_survey() -> None:
    survey = survey_of(f=0.1, p=Fraction(1, 3))
    assert {name: survey.parameters[name] for name in ("permanent", "zero", "one")} == {
        "permanent": "1/10",
        "zero": "1/3",
        "one": "3/4",
    }
    assert survey.digest != survey_of(f=0.1, p=Fraction(1, 4)).digest


@each_of(
    "wrong",
    [
        {"f": 0},
        {"f": 1},
        {"f": "0.0"},
        {"p": "00x"},
        {"f": "1e-20"},
        {"p": "1.5"},
        {"q": -1},
        {"q": "0.25"},
        {"hashes": 0},
        {"p": True},
    ],
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        survey_of(**wrong)


@each_of("zero", [0, 0.0, "0", " 0.00", ".0", Fraction(0)])
def test_zero_is_a_probability_however_it_is_written(zero: object) -> None:
    survey = survey_of(p=zero, q="1")
    assert (survey.p, survey.q) == (0, 1)
    written = survey_from("rappor", epsilon=str(survey.epsilon), title="", parameters=survey.parameters)
    assert written == survey


def test_logarithms_are_rounded_up() -> None:
    assert logarithm(Fraction(3), 2) == Fraction(2197224578, 10**9)  # 2 ln 3 = 2.19722457733…
    assert logarithm(1 + Fraction(1, 10**30), 1) == BILLIONTH
