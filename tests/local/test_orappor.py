"""O-RAPPOR: its exact distribution with several hashes, the sampler against it, and k-RAPPOR as its closed form."""

from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local.randomizers.rappor import ORAPPOR
from anonhist.local.randomizers.unary import KRAPPOR
from anonhist.local.reports import Reports, Tally
from anonhist.numeric import ExponentialQuotient
from anonhist_testing.local import drawn_matrix, largest_ratio, worst_deviation
from anonhist_testing.sources import SeededSource

WORDS = [f"word {i}" for i in range(30)]
# Five standard errors: of a thousand cells, a right sampler fails with probability below 10^−3, and the seed is fixed.
SIGMAS = 5


@pytest.mark.slow
@pytest.mark.parametrize(("buckets", "hashes"), [(6, 1), (6, 2), (7, 3)])
def test_the_distribution_costs_epsilon_and_no_more(buckets: int, hashes: int) -> None:
    survey = ORAPPOR(buckets=buckets, cohorts=1, hashes=hashes, key="k", epsilon=1)
    odds = ExponentialQuotient.exponential(1)
    ratio = largest_ratio(survey.matrix(WORDS))
    # Among thirty words there are two that share no bit.
    assert ratio == odds


@pytest.mark.slow
@pytest.mark.parametrize("buckets", [2, 3, 5, 7])
@pytest.mark.parametrize("hashes", [1, 2])
def test_the_distribution_costs_at_most_epsilon_with_any_number_of_bits_for_known_labels(
    buckets: int, hashes: int
) -> None:
    survey = ORAPPOR(alphabet=5, buckets=buckets, cohorts=2, hashes=hashes, key="k", epsilon=1)
    ratio = largest_ratio(survey.matrix())
    places = survey.functions.all_places(np.arange(5)).reshape(2, hashes, 5)
    bits = [[set(column) for column in cohort.T.tolist()] for cohort in places]
    differing = max(len(one ^ other) for cohort in bits for one in cohort for other in cohort)
    # Each bit that differs costs ε/(2h), and with one hash two do.
    assert ratio == ExponentialQuotient.exponential(Fraction(differing, 2 * hashes))
    assert differing <= 2 * hashes
    assert hashes == 2 or differing == 2


def test_words_that_share_bits_cost_less() -> None:
    survey = ORAPPOR(buckets=6, cohorts=1, hashes=2, key="k", epsilon=1)
    places = survey.functions.all_places(survey.functions.codes(WORDS)).T.tolist()
    bits = [set(row) for row in places]
    one, other = next((i, j) for i in range(30) for j in range(i) if len(bits[i] & bits[j]) == 1 == len(bits[i]) - 1)
    differing = len(bits[one] ^ bits[other])
    ratio = largest_ratio(survey.matrix([WORDS[one], WORDS[other]]))
    assert ratio == ExponentialQuotient.exponential(Fraction(differing, 4))


def test_bits_at_full_epsilon_would_be_caught() -> None:
    class Careless(ORAPPOR):
        @property
        def true_support_probability(self) -> ExponentialQuotient:
            return self.odds / (self.odds + 1)

    assert largest_ratio(
        Careless(buckets=6, cohorts=1, key="k", epsilon=1).matrix(WORDS)
    ) > ExponentialQuotient.exponential(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "domain", [{"buckets": 4}, {"alphabet": ["a", "b", "c", "d"]}, {"alphabet": ["a", "b", "c", "d"], "buckets": 3}]
)
def test_the_sampler_follows_the_distribution(domain: dict[str, object]) -> None:
    survey = ORAPPOR(cohorts=2, hashes=2, key="k", epsilon=3, **domain)  # type: ignore[arg-type]
    labels = np.array(["a", "b", "c", "d"])
    distribution = np.array([[float(entry) for entry in row] for row in survey.matrix(labels)])

    def draw(codes: np.ndarray) -> np.ndarray:
        columns = survey.randomize(labels[codes], source=SeededSource(7)).columns
        return (columns["cohort"] << survey.places) + columns["report"][:, 0]

    drawn = drawn_matrix(draw, values=4, reports=2 << survey.places, repeats=400_000)
    assert max(worst_deviation(row, expected) for row, expected in zip(drawn, distribution, strict=True)) < SIGMAS
    bolder = ORAPPOR(cohorts=2, hashes=2, key="k", epsilon="3.1", **domain)  # type: ignore[arg-type]
    wrong = np.array([[float(entry) for entry in row] for row in bolder.matrix(labels)])
    assert max(worst_deviation(row, expected) for row, expected in zip(drawn, wrong, strict=True)) > SIGMAS


def test_one_cohort_and_hash_of_a_known_alphabet_is_k_rappor_renamed() -> None:
    words = WORDS[:10]
    closed, plain = ORAPPOR(alphabet=words, cohorts=1, key="k", epsilon=2), KRAPPOR(alphabet=words, epsilon=2)
    names = closed.functions.all_places(np.arange(10))[0]
    reports = closed.randomize(words * 300, source=SeededSource(7))
    bits = np.unpackbits(reports.columns["report"], axis=1, count=10, bitorder="little")[:, names]
    renamed = Reports(plain.digest, {"report": np.packbits(bits, axis=1, bitorder="little")})
    one, other = closed.estimate(closed.tally(reports)), plain.estimate(plain.tally(renamed))
    for field in ("raw", "standard_errors", "p_values", "frequencies"):
        assert np.allclose(getattr(one, field), getattr(other, field), rtol=1e-12, atol=1e-14), field


def test_tallies_hold_users_and_bits_of_each_cohort() -> None:
    survey = ORAPPOR(buckets=11, cohorts=5, hashes=2, key="k", epsilon=1)
    reports = survey.randomize(WORDS * 20, source=SeededSource(7))
    table = survey.tally(reports).dense(60).reshape(5, 12)
    bits = np.unpackbits(reports.columns["report"], axis=1, count=11, bitorder="little")
    for cohort in range(5):
        own = reports.columns["cohort"] == cohort
        assert table[cohort].tolist() == [own.sum(), *bits[own].sum(axis=0).tolist()]
    assert survey.tally(survey.randomize([])) == survey.empty_tally()


def test_tallies_that_cannot_be_are_refused() -> None:
    survey = ORAPPOR(buckets=4, cohorts=2, key="k", epsilon=1)
    good = Tally(survey.digest, 3, np.array([0, 2, 5]), np.array([2, 2, 1]))
    survey.check_tally(good)
    for cells, counts in (([0, 2, 5], [2, 3, 1]), ([0, 5], [2, 2]), ([0, 7], [3, 1])):
        with pytest.raises(DataError):
            survey.check_tally(Tally(survey.digest, 3, np.array(cells), np.array(counts)))


def test_the_number_of_hashes_is_part_of_the_survey() -> None:
    one, two = (ORAPPOR(buckets=8, cohorts=2, hashes=h, key="k", epsilon=1) for h in (1, 2))
    assert one.digest != two.digest
    assert two.parameters["hashes"] == 2
    for wrong in (0, 9, 65, "2"):
        with pytest.raises(UsageError):
            ORAPPOR(buckets=8, cohorts=2, hashes=wrong, key="k", epsilon=1)  # type: ignore[arg-type]


@pytest.mark.slow
def test_what_is_left_for_others_errs_no_more_than_said_where_many_candidates_share_few_bits() -> None:
    names = [f"label {number}" for number in range(200)]
    values = names[:10] * 300
    others, errors = [], []
    for run in range(25):
        survey = ORAPPOR(buckets=32, cohorts=4, key=f"key {run}", epsilon=3)
        tally = survey.tally(survey.randomize(values, source=SeededSource(run)))
        estimate = survey.estimate(tally, candidates=names, decoder="unbiased")
        others.append(1 - estimate.raw.sum())
        errors.append(estimate.other_standard_error)
    # The spread of 25 runs is known within 14%, three times that is allowed.
    assert np.std(others) < 1.42 * np.mean(errors)


def test_candidates_with_cells_of_their_own_share_nothing() -> None:
    survey = ORAPPOR(alphabet=40, cohorts=3, epsilon=1)
    tally = survey.tally(survey.randomize(range(40), source=SeededSource(7)))
    estimate = survey.estimate(tally, candidates=["0", "1"])
    assert estimate.other_standard_error == pytest.approx(np.sqrt((estimate.standard_errors**2).sum()))
