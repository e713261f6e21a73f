"""What every survey does alike: configuration, reports, tallies, estimates."""

import threading
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local import (
    KRAPPOR,
    KRR,
    ORAPPOR,
    ORR,
    RAPPOR,
    Alphabet,
    HadamardResponse,
    HeavyHitters,
    HybridProjectiveGeometry,
    LocalHashing,
    OptimizedUnary,
    ProjectiveGeometry,
    Reports,
    SubsetSelection,
    Survey,
    Tally,
    WarnerRR,
)
from anonhist.local.estimate import DECODERS, SupportLimits
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon"]
CLOSED: list[Any] = [KRR, KRAPPOR, OptimizedUnary, SubsetSelection]


@pytest.fixture(params=CLOSED, ids=lambda each: each.name)
def survey(request: Any) -> Any:
    return request.param(alphabet=WORDS, epsilon="1.5")


def test_surveys_are_frozen_values(survey: Any) -> None:
    again = type(survey)(alphabet=Alphabet(WORDS), epsilon=Fraction(3, 2))
    assert again == survey
    assert hash(again) == hash(survey)
    assert again.digest == survey.digest
    with pytest.raises(FrozenInstanceError):
        survey.epsilon = 2


def test_everything_in_the_configuration_is_in_the_digest(survey: Any) -> None:
    others = [
        replace(survey, epsilon=2),
        replace(survey, title="another"),
        replace(survey, alphabet=WORDS[::-1]),
        replace(survey, alphabet=Alphabet(WORDS, other="delta")),
        *(each(alphabet=WORDS, epsilon="1.5") for each in CLOSED if not isinstance(survey, each)),
    ]
    assert len({survey.digest, *(other.digest for other in others)}) == len(others) + 1
    assert len(survey.digest) == 32


@each_of("epsilon", [0, -1, float("nan"), "1e-10", 65, "x", None, True])
def test_impossible_epsilons_are_refused(epsilon: Any) -> None:
    with pytest.raises(UsageError, match="epsilon"):
        KRR(alphabet=WORDS, epsilon=epsilon)


@pytest.mark.parametrize("epsilon", ["1e-9", 64])
def test_extreme_epsilons_work(epsilon: Any) -> None:
    for each in CLOSED:
        survey = each(alphabet=WORDS, epsilon=epsilon)
        estimate = survey.estimate(survey.tally(survey.randomize(WORDS * 3, source=SeededSource(7))))
        assert np.isfinite(estimate.standard_errors).all()
        assert estimate.frequencies.sum() == pytest.approx(1)


def test_titles_are_one_line_of_text() -> None:
    with pytest.raises(UsageError, match="title"):
        KRR(alphabet=2, epsilon=1, title="two\nlines")


def test_tallies_of_parts_add_up_to_that_of_the_whole(survey: Any) -> None:
    reports = survey.randomize(WORDS * 400, source=SeededSource(7))
    parts = [Reports(reports.survey, {n: c[start::3] for n, c in reports.columns.items()}) for start in range(3)]
    tally = survey.empty_tally()
    for part in parts:
        tally += survey.tally(part)
    assert tally == survey.tally(reports)
    assert tally.users == len(reports) == 2000


@each_of(
    "survey",
    [
        KRR(alphabet=5, epsilon=1),
        HadamardResponse(alphabet=200, epsilon=1),
        LocalHashing(alphabet=5, epsilon=1),
        HeavyHitters(epsilon=1, max_bytes=3),
        ORR(buckets=200, cohorts=5, epsilon=1),
        ORAPPOR(buckets=20, cohorts=200, epsilon=1),
    ],
)
def test_whole_numbers_of_any_type_count_alike(survey: Survey) -> None:
    values = np.arange(5) if survey.name in ("k-rr", "hadamard-response", "local-hashing") else ["a", "b", "c"] * 20
    reports = survey.randomize(values, source=SeededSource(7))
    tally = survey.tally(reports)
    for wide in (np.uint32, np.uint64):
        narrow = {
            name: column if column.ndim == 2 else column.astype(wide if column.max() > 255 else np.uint8)
            for name, column in reports.columns.items()
        }
        assert survey.tally(Reports(reports.survey, narrow)) == tally


def test_reports_of_another_survey_are_refused(survey: Any) -> None:
    other = replace(survey, title="next year")
    reports = other.randomize(WORDS, source=SeededSource(7))
    with pytest.raises(UsageError, match="another survey"):
        survey.tally(reports)
    with pytest.raises(UsageError, match="another survey"):
        survey.estimate(other.tally(reports))
    with pytest.raises(UsageError, match="Only reports"):
        survey.tally(WORDS)


def test_forged_reports_are_refused(survey: Any) -> None:
    if survey.name == "subset-selection":
        survey = replace(survey, subset_size=2)
    reports = survey.randomize(WORDS, source=SeededSource(7))
    column = reports.columns["report"]
    worse: list[Any] = [column[:, :-1] if column.ndim == 2 else column + 5, column.astype(float)]
    if survey.name == "subset-selection":
        twice = column.copy().view("<u2")
        twice[0] = twice[0, 0]
        worse += [twice.view(np.uint8), np.full_like(column, 255)]
    for forged in worse:
        with pytest.raises(DataError, match=r"Report [16] is invalid|not have the types"):
            survey.tally(Reports(survey.digest, {"report": forged}))
    with pytest.raises(DataError, match="columns"):
        survey.tally(Reports(survey.digest, {"answer": column}))
    with pytest.raises(DataError, match="same number of rows"):
        Reports(survey.digest, {"report": column, "seed": column[1:]})


def test_a_tally_of_nobody_has_nothing_to_estimate_from(survey: Any) -> None:
    with pytest.raises(DataError, match="no reports yet"):
        survey.estimate(survey.tally(survey.randomize([])))


def test_tallies_that_cannot_be_are_refused() -> None:
    survey = KRR(alphabet=WORDS, epsilon=1)
    for users, cells, counts in ((3, [0], [2]), (3, [5], [3])):
        with pytest.raises(DataError):
            survey.estimate(Tally(survey.digest, users, np.array(cells), np.array(counts)))
    subsets = SubsetSelection(alphabet=WORDS, epsilon=1, subset_size=2)
    with pytest.raises(DataError, match="add up"):
        subsets.estimate(Tally(subsets.digest, 3, np.array([0, 1]), np.array([3, 2])))


@pytest.mark.slow
def test_errors_are_those_of_the_closed_form(survey: Any) -> None:
    shares = np.array([0.5, 0.3, 0.2, 0.0, 0.0])
    values = np.repeat(WORDS, (shares * 1000).astype(int))
    source = SeededSource(7)
    runs = 300
    raws, errors = [], []
    for _ in range(runs):
        estimate = survey.estimate(survey.tally(survey.randomize(values, source=source)), decoder="unbiased")
        raws.append(estimate.raw)
        errors.append(estimate.standard_errors)
    predicted = np.sqrt([survey.variance(share) / 1000 for share in shares])
    # Unbiased within 5 standard errors; the spread of 300 runs is known within 4%, five times that is allowed.
    assert np.abs(np.mean(raws, axis=0) - shares).max() < 5 * predicted.max() / runs**0.5
    assert np.std(raws, axis=0) == pytest.approx(predicted, rel=0.2)
    assert np.mean(errors, axis=0) == pytest.approx(predicted, rel=0.05)


@pytest.mark.slow
def test_intervals_hold_what_they_say(survey: Any) -> None:
    shares = np.array([0.5, 0.3, 0.2, 0.0, 0.0])
    values = np.repeat(WORDS, (shares * 1000).astype(int))
    source = SeededSource(7)
    estimates = [
        # Intervals and tests are of the raw estimates, whatever the decoder.
        survey.estimate(survey.tally(survey.randomize(values, source=source)), level=0.9, decoder="unbiased")
        for _ in range(400)
    ]
    # Those of all estimates are found together: to call for each takes longer than to make it.
    (distribution,) = {estimate.limits.distribution for estimate in estimates}
    limits = SupportLimits(np.concatenate([estimate.limits.supports for estimate in estimates]), distribution)
    single, all_at_once = (limits.at(tail).reshape(400, 5, 2) for tail in (0.05, 0.05 / 5))
    for number in range(20):
        np.testing.assert_allclose(estimates[number].intervals, single[number], atol=1e-9)
        np.testing.assert_allclose(estimates[number].simultaneous_intervals, all_at_once[number], atol=1e-9)
    held, held_at_once = ((ends[..., 0] <= shares) & (shares <= ends[..., 1]) for ends in (single, all_at_once))
    false_finds = [estimate.significant[3:].any() for estimate in estimates]
    # 2,000 and 400 trials: standard errors of 0.007 and 0.015.
    assert np.mean(held) > 0.9 - 4 * 0.007
    assert np.mean(held) < 0.96
    assert np.mean(np.all(held_at_once, axis=1)) > 0.9 - 4 * 0.015
    assert np.mean(false_finds) < 0.1 + 4 * 0.015


def test_candidates_leave_the_rest_to_others(survey: Any) -> None:
    values = ["alpha"] * 5000 + ["beta"] * 3000 + ["gamma"] * 2000
    tally = survey.tally(survey.randomize(values, source=SeededSource(7)))
    whole, part = survey.estimate(tally), survey.estimate(tally, candidates=["beta", "epsilon"])
    assert part.labels == ("beta", "epsilon")
    assert part.raw.tolist() == [whole.raw[1], whole.raw[4]]
    assert part.frequencies.sum() + part.other == pytest.approx(1)
    assert abs(part.other - 0.7) < 5 * part.other_standard_error
    assert whole.other == 0


@each_of("decoder", DECODERS)
@each_of("each", [*CLOSED, HadamardResponse, ProjectiveGeometry, HybridProjectiveGeometry])
def test_all_labels_named_leave_nothing_to_others(each: Any, decoder: str) -> None:
    survey = each(alphabet=WORDS, epsilon="1.5")
    tally = survey.tally(survey.randomize(WORDS * 300 + ["beta"] * 500, source=SeededSource(7)))
    whole = survey.estimate(tally, decoder=decoder)
    named = survey.estimate(tally, decoder=decoder, candidates=WORDS[::-1])
    np.testing.assert_allclose(named.frequencies[::-1], whole.frequencies, atol=1e-3)
    assert (named.other, named.other_standard_error) == (0, 0)


@pytest.mark.parametrize("decoder", ["mle", "least-squares"])
def test_few_of_a_huge_alphabet_are_decoded_from_the_counts(decoder: str) -> None:
    survey = KRR(alphabet=2**32, epsilon=20)
    values = np.array([2**32 - 1, 5, 7]).repeat([500, 300, 200])
    estimate = survey.estimate(
        survey.tally(survey.randomize(values, source=SeededSource(7))), candidates=["5", "4294967295"], decoder=decoder
    )
    assert (np.abs(estimate.frequencies - [0.3, 0.5]) < 5 * estimate.standard_errors).all()
    assert abs(estimate.other - 0.2) < 5 * estimate.other_standard_error


def test_the_distribution_of_some_labels_is_that_of_the_matrix(survey: Any) -> None:
    tally = survey.tally(survey.randomize(WORDS * 9, source=SeededSource(7)))
    matrix = np.array([[float(entry) for entry in row] for row in survey.matrix()])
    codes = np.array([3, 1])
    channel, counts = survey.channel_of(tally, codes)
    distribution = np.array([channel.forward(unit) for unit in np.eye(3)])
    np.testing.assert_allclose(distribution.sum(axis=1), 1)
    np.testing.assert_allclose([channel.adjoint(unit) for unit in np.eye(channel.cells)], distribution.T, atol=1e-15)
    if survey.name == "k-rr":
        # The last cell is that of all other labels, as if they were equally frequent.
        rest = np.delete(np.arange(5), codes)
        rows = np.vstack((matrix[codes], matrix[rest].mean(axis=0)))
        np.testing.assert_allclose(distribution, np.column_stack((rows[:, codes], rows[:, rest].sum(axis=1))))
        assert counts.sum() == 45
    else:
        p, q = float(survey.true_support_probability), float(survey.false_support_probability)
        ones = np.array([[p, q], [q, p], [q, q]])
        np.testing.assert_allclose(distribution, np.hstack((ones, 1 - ones)) / 2)
        assert counts.sum() == 2 * 45


@each_of(
    ("candidates", "said"),
    [
        ([], "empty"),
        (["beta", "beta"], "twice"),
        (["zeta"], "not in the alphabet"),
        ("beta", "list of strings"),
        ([3], "list of strings"),
    ],
)
def test_impossible_candidates_are_refused(survey: Any, candidates: Any, said: str) -> None:
    tally = survey.tally(survey.randomize(WORDS, source=SeededSource(7)))
    with pytest.raises(UsageError, match=said):
        survey.estimate(tally, candidates=candidates)


def test_a_candidate_is_not_taken_for_the_label_of_others() -> None:
    survey = KRR(alphabet=Alphabet(WORDS, other="rest"), epsilon=1)
    tally = survey.tally(survey.randomize([*WORDS, "omega"], source=SeededSource(7)))
    with pytest.raises(UsageError, match="not in the alphabet"):
        survey.estimate(tally, candidates=["omega"])
    assert survey.estimate(tally, candidates=["rest"]).labels == ("rest",)


@each_of("level", [0, 1, 1.5, "x", None, True])
def test_impossible_levels_are_refused(level: Any) -> None:
    survey = KRR(alphabet=WORDS, epsilon=1)
    with pytest.raises(UsageError, match="level"):
        survey.estimate(survey.tally(survey.randomize(WORDS)), level=level)


def test_the_guarantee_says_whom_it_protects_and_when_nobody_is_trusted() -> None:
    said = str(KRR(alphabet=WORDS, epsilon="0.5").guarantee)
    assert said.startswith(
        "0.5-differentially private (δ = 0) when one user with all their items (at most 1 of them counts) is replaced"
    )
    assert "nobody has to be trusted with it as long as the device follows the survey" in said


def test_warner_asks_for_two_answers() -> None:
    survey = WarnerRR(epsilon=1)
    assert survey.labels.names() == ("no", "yes")
    with pytest.raises(UsageError, match="has two answers"):
        WarnerRR(alphabet=3, epsilon=1)


def test_larger_matrices_are_refused(survey: Any) -> None:
    with pytest.raises(UsageError, match="2\\^20"):
        replace(survey, alphabet=5000).matrix()


def test_errors_where_all_have_one_value_are_those_of_the_closed_form(survey: Any) -> None:
    users = 100_000
    estimate = survey.estimate(survey.tally(survey.randomize(["beta"] * users, source=SeededSource(7))))
    predicted = np.sqrt([survey.variance(float(word == "beta")) / users for word in WORDS])
    # The slope is taken at the share estimated, which is off by a few thousandths.
    np.testing.assert_allclose(estimate.standard_errors, predicted, rtol=0.02)


@pytest.mark.parametrize("size", [3, 10, 50, 1000])
@pytest.mark.parametrize("epsilon", ["0.1", 1, "2.5", 4])
def test_defaults_err_least(size: int, epsilon: Any) -> None:
    subsets = SubsetSelection(alphabet=size, epsilon=epsilon)
    # All that are near, and some of all others, which err more the farther they are.
    near = range(max(1, subsets.subset_size - 5), min(size, subsets.subset_size + 6))
    others = (replace(subsets, subset_size=chosen) for chosen in {*range(1, size, 1 + size // 50), *near})
    assert subsets.variance() <= min(other.variance() for other in others) * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.1", 1, "2.5", 4])
def test_the_default_number_of_buckets_errs_least(epsilon: Any) -> None:
    hashing = LocalHashing(alphabet=1000, epsilon=epsilon)
    # It knows nothing of the alphabet, however large.
    assert LocalHashing(alphabet=3, epsilon=epsilon).buckets == hashing.buckets
    # The widths of buckets that do not divide 2^16 cost a little, of which the choice knows nothing.
    assert hashing.variance() <= min(replace(hashing, buckets=g).variance() for g in range(2, 100)) * (1 + 1e-5)


def test_labels_beyond_number_are_not_all_estimated() -> None:
    survey = KRR(alphabet=2**32, epsilon=20)
    tally = survey.tally(survey.randomize([2**32 - 1] * 9, source=SeededSource(7)))
    with pytest.raises(UsageError, match="4,294,967,296 labels; name the candidates"):
        survey.estimate(tally)


def test_sets_with_codes_outside_are_refused() -> None:
    survey = SubsetSelection(alphabet=WORDS, epsilon=1, subset_size=2)
    for codes, fits in (([3, 4], True), ([3, 5], False)):
        reports = Reports(survey.digest, {"report": np.array([codes], dtype="<u2").view(np.uint8)})
        if fits:
            assert survey.tally(reports).cells.tolist() == codes
        else:
            with pytest.raises(DataError, match="Report 1 is invalid"):
                survey.tally(reports)


def test_shares_of_a_population_are_less_certain_than_those_of_the_people_asked(survey: Any) -> None:
    estimate = survey.estimate(survey.tally(survey.randomize(WORDS * 100, source=SeededSource(7))))
    assert (estimate.population_standard_errors > estimate.standard_errors)[estimate.raw > 0].all()
    assert estimate.counts.sum() == pytest.approx(500)
    share = np.clip(estimate.raw, 0, 1)
    extra = estimate.population_standard_errors**2 - estimate.standard_errors**2
    np.testing.assert_allclose(extra, share * (1 - share) / 500, atol=1e-12)


def test_many_reports_are_made_by_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonhist.local.survey.WORKERS", 3)
    threads = set()
    survey = KRR(alphabet=100, epsilon=40)
    draw = KRR._draw

    def note_thread(self: Any, codes: Any, *, source: Any) -> Any:
        threads.add(threading.get_ident())
        return draw(self, codes, source=source)

    monkeypatch.setattr(KRR, "_draw", note_thread)
    values = np.arange(1_000_000) % 100
    # At this epsilon a report is the value but once in 10^15: every part must be where it belongs.
    assert np.array_equal(survey.randomize(values).columns["report"], values)
    assert threading.get_ident() not in threads
    threads.clear()
    seeded = [survey.randomize(values, source=SeededSource(7)).columns["report"] for _ in range(2)]
    assert np.array_equal(*seeded)
    assert threads == {threading.get_ident()}


def test_what_fails_in_a_thread_fails_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonhist.local.survey.WORKERS", 2)

    def refuse(_: Any, __: Any, *, source: Any) -> Any:
        del source
        raise MemoryError

    monkeypatch.setattr(KRR, "_draw", refuse)
    with pytest.raises(MemoryError):
        KRR(alphabet=10, epsilon=1).randomize(np.zeros(1_000_000, dtype=int))


@each_of("values", ["ab", b"ab", {"a": 1}, 3, None, np.array(3)])
def test_one_value_is_no_list_of_values(values: Any) -> None:
    # Taken for a list, a text would be answered about once for each character, and cost as many times epsilon.
    rappor = RAPPOR(buckets=8, cohorts=2, hashes=1, f="1/2", p="1/4", q="3/4")
    surveys = [each(alphabet=["a", "b"], epsilon=1) for each in CLOSED]
    devices = [
        *(survey.randomize for survey in (*surveys, KRR(alphabet=10, epsilon=1), LocalHashing(epsilon=1), rappor)),
        *(survey.randomize for survey in (ORR(buckets=8, cohorts=2, epsilon=1), HeavyHitters(epsilon=1, max_bytes=4))),
        rappor.remember,
    ]
    for device in devices:
        with pytest.raises(DataError, match="must be a list"):
            device(values)
