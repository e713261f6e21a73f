"""O-RR: its exact distribution, the sampler against it in both directions, and k-RR as its form with one cohort."""

from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local.randomizers.closed import KRR
from anonhist.local.randomizers.open import ORR
from anonhist.numeric import ExponentialQuotient
from anonhist_testing.cases import each_of
from anonhist_testing.local import drawn_matrix, largest_ratio, worst_deviation
from anonhist_testing.sources import SeededSource

# Five standard errors: of a thousand cells, a right sampler fails with probability below 10^−3, and the seed is fixed.
SIGMAS = 5


def test_the_distribution_costs_exactly_epsilon() -> None:
    survey = ORR(buckets=5, cohorts=3, key="k", epsilon="0.7")
    matrix = survey.matrix(["apple", "pear", "plum"])
    assert (len(matrix), len(matrix[0])) == (3, 15)
    assert largest_ratio(matrix) == ExponentialQuotient.exponential(Fraction(7, 10))


def test_labels_that_always_meet_have_the_same_distribution() -> None:
    survey = ORR(buckets=2, cohorts=1, key="k", epsilon=1)
    words = [f"word {i}" for i in range(9)]
    assert len(set(survey.matrix(words))) == 2


@each_of("buckets", [2, 3, 4, 5, 8])
def test_the_distribution_costs_exactly_epsilon_with_any_number_of_buckets(buckets: int) -> None:
    survey = ORR(alphabet=5, buckets=buckets, cohorts=3, key="k", epsilon="0.7")
    matrix = survey.matrix()
    assert (len(matrix), len(matrix[0])) == (5, 3 * buckets)
    assert largest_ratio(matrix) == ExponentialQuotient.exponential(Fraction(7, 10))
    assert survey.guarantee.epsilon == Fraction(7, 10)


def test_as_many_buckets_as_labels_are_the_default() -> None:
    one, other = (ORR(alphabet=5, cohorts=2, epsilon=1, buckets=buckets) for buckets in (None, 5))
    assert one.matrix() == other.matrix()
    assert one.digest != other.digest


def test_entries_are_those_of_the_formula() -> None:
    survey = ORR(buckets=4, cohorts=2, key="k", epsilon=1)
    place = survey.functions.all_places(survey.functions.codes(["apple"]))[:, 0].tolist()
    odds = ExponentialQuotient.exponential(1)
    expected = tuple((1 + (odds - 1) * int(place[c] == y)) / (2 * (odds + 3)) for c in range(2) for y in range(4))
    assert survey.matrix(["apple"]) == (expected,)


@pytest.mark.slow
@pytest.mark.parametrize(
    "domain", [{"buckets": 4}, {"alphabet": ["a", "b", "c", "d"]}, {"alphabet": ["a", "b", "c", "d"], "buckets": 3}]
)
def test_the_sampler_follows_the_distribution(domain: dict[str, object]) -> None:
    survey = ORR(cohorts=3, key="k", epsilon=2, **domain)  # type: ignore[arg-type]
    labels = np.array(["a", "b", "c", "d"])
    distribution = np.array([[float(entry) for entry in row] for row in survey.matrix(labels)])

    def draw(codes: np.ndarray) -> np.ndarray:
        columns = survey.randomize(labels[codes], source=SeededSource(7)).columns
        return columns["cohort"] * survey.places + columns["report"]

    drawn = drawn_matrix(draw, values=4, reports=survey.cells, repeats=400_000)
    assert max(worst_deviation(row, expected) for row, expected in zip(drawn, distribution, strict=True)) < SIGMAS
    # Told apart from the distribution of a hundredth more truth.
    bolder = ORR(cohorts=3, key="k", epsilon="2.05", **domain)  # type: ignore[arg-type]
    wrong = np.array([[float(entry) for entry in row] for row in bolder.matrix(labels)])
    assert max(worst_deviation(row, expected) for row, expected in zip(drawn, wrong, strict=True)) > SIGMAS


def test_one_cohort_of_a_known_alphabet_is_k_rr_renamed() -> None:
    words = ["a", "b", "c", "d", "e"]
    closed, plain = ORR(alphabet=words, cohorts=1, key="k", epsilon=1), KRR(alphabet=words, epsilon=1)
    names = closed.functions.all_places(np.arange(5))[0]
    assert tuple(tuple(row[place] for place in names) for row in closed.matrix()) == plain.matrix()
    tally = closed.tally(closed.randomize(words * 500, source=SeededSource(7)))
    renamed = plain.tally(
        type(closed.randomize(["a"]))(plain.digest, {"report": np.argsort(names).repeat(tally.dense(5))})
    )
    one, other = closed.estimate(tally), plain.estimate(renamed)
    for field in ("raw", "standard_errors", "p_values", "frequencies"):
        assert np.allclose(getattr(one, field), getattr(other, field), rtol=1e-12, atol=1e-14), field
    some, others = (s.estimate(t, candidates=["d", "b"]) for s, t in ((closed, tally), (plain, renamed)))
    assert np.allclose(some.raw, others.raw)
    assert np.isclose(some.other, others.other)


def test_tallies_count_reports_by_cohort_and_add_up() -> None:
    survey = ORR(buckets=8, cohorts=4, key="k", epsilon=1)
    reports = survey.randomize(["x"] * 1000, source=SeededSource(7))
    tally = survey.tally(reports)
    expected = np.zeros((4, 8), dtype=np.int64)
    np.add.at(expected, (reports.columns["cohort"], reports.columns["report"]), 1)
    assert (tally.dense(32) == expected.ravel()).all()
    assert (tally + tally).users == 2000


def test_cohorts_have_nothing_to_do_with_values() -> None:
    survey = ORR(buckets=8, cohorts=4, key="k", epsilon=1)
    one, other = (survey.randomize([word] * 500, source=SeededSource(7)) for word in ("x", "another"))
    assert (one.columns["cohort"] == other.columns["cohort"]).all()


def test_surveys_say_what_they_are_and_take_no_other_reports() -> None:
    survey = ORR(buckets=8, cohorts=4, key="k", epsilon=1)
    assert survey.parameters == {"buckets": 8, "cohorts": 4, "key": "k"}
    closed = ORR(alphabet=["a", "b"], cohorts=4, key="k", epsilon=1)
    assert closed.parameters == {"alphabet": {"labels": ["a", "b"]}, "cohorts": 4, "key": "k"}
    assert survey.report_bytes == 1
    with pytest.raises(UsageError, match="another survey"):
        survey.tally(ORR(buckets=8, cohorts=4, key="other", epsilon=1).randomize(["a"]))


@each_of("wrong", [{}, {"buckets": 1, "alphabet": ["a", "b"]}, {"buckets": 1}, {"buckets": "8"}])
def test_wrong_domains_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        ORR(cohorts=2, key="k", epsilon=1, **wrong)  # type: ignore[arg-type]


def test_values_outside_are_refused_without_being_told() -> None:
    with pytest.raises(DataError) as told:
        ORR(alphabet=["a", "b"], cohorts=2, key="k", epsilon=1).randomize(["a", "secret"])
    assert "secret" not in str(told.value)
    with pytest.raises(DataError, match="strings"):
        ORR(buckets=8, cohorts=2, key="k", epsilon=1).randomize([1, 2])


def test_a_matrix_needs_labels_and_few_entries() -> None:
    survey = ORR(buckets=4096, cohorts=512, key="k", epsilon=1)
    with pytest.raises(UsageError, match="Name the labels"):
        survey.matrix()
    with pytest.raises(UsageError, match="2\\^20"):
        survey.matrix(["a"])
