from typing import Any

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.local import LocalHashing
from anonhist.numeric import bucket_widths
from anonhist_testing.cases import each_of
from anonhist_testing.local import largest_ratio, worst_deviation
from anonhist_testing.sources import SeededSource


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.1", 1, 4])
@pytest.mark.parametrize("buckets", [None, 2, 3, 7])
def test_no_report_is_more_than_e_to_the_epsilon_times_likelier(epsilon: Any, buckets: Any) -> None:
    survey = LocalHashing(alphabet=20, epsilon=epsilon, buckets=buckets)
    # Whatever the seed, and the seed is drawn independently of the value.
    for seed in range(20):
        assert largest_ratio(survey.matrix([seed])) in (survey.odds, 1)
    assert largest_ratio(survey.matrix(range(20))) == survey.odds


@pytest.mark.slow
def test_the_sampler_follows_the_matrix_of_its_seed() -> None:
    survey = LocalHashing(alphabet=6, epsilon="1.5", buckets=4)
    reports = survey.randomize(np.repeat(np.arange(6), 50_000), source=SeededSource(7))
    seeds, drawn = (reports.columns[name] for name in ("seed", "report"))
    # Seeds in sixteen classes by their lowest bits: uniform, and no report may depend on them beyond the hash.
    assert worst_deviation(np.bincount(seeds & 15), np.full(16, 1 / 16)) < 5
    hits = 0
    for row in range(0, 300_000, 997):
        column = survey.matrix([int(seeds[row])])[row // 50_000]
        hits += column[drawn[row]] == max(column)
    kept = float(survey.true_support_probability)
    assert abs(hits / 301 - kept) < 5 * (kept * (1 - kept) / 301) ** 0.5


@pytest.mark.slow
def test_supports_of_other_values_come_as_often_as_said() -> None:
    for buckets in (3, 4, 5):
        survey = LocalHashing(alphabet=50, epsilon=1, buckets=buckets)
        users = 200_000
        tally = survey.tally(survey.randomize(np.zeros(users, dtype=int), source=SeededSource(7)))
        supports = survey.estimate(tally, decoder="unbiased").raw
        assert abs(supports[0] - 1) < 5 * (survey.variance(1.0) / users) ** 0.5
        rest = np.abs(supports[1:]) / (survey.variance() / users) ** 0.5
        assert rest.max() < 5
        assert rest.mean() == pytest.approx((2 / np.pi) ** 0.5, abs=0.4)


def test_widths_of_buckets_are_accounted_for_exactly() -> None:
    survey = LocalHashing(alphabet=5, epsilon=1, buckets=3)
    widths = [int(width) for width in bucket_widths(3)]
    assert sum(widths) == 65536
    assert len(set(widths)) == 2
    squares = sum(width**2 for width in widths)
    assert survey.false_support_probability == (1 + (survey.odds - 1) * squares / 2**32) / (survey.odds + 2)
    assert LocalHashing(alphabet=5, epsilon=1, buckets=4).false_support_probability == 1 / (
        4 * survey.odds / survey.odds
    )


def test_open_surveys_take_any_text_and_need_candidates() -> None:
    survey = LocalHashing(epsilon=3)
    values = ["alpha"] * 6000 + ["ωmega"] * 3000 + [""] * 1000
    tally = survey.tally(survey.randomize(values, source=SeededSource(7)))
    estimate = survey.estimate(tally, candidates=["alpha", "ωmega", "nobody"])
    assert estimate.significant.tolist() == [True, True, False]
    assert np.abs(estimate.raw - [0.6, 0.3, 0]).max() < 5 * estimate.standard_errors.max()
    assert estimate.other == pytest.approx(0.1, abs=5 * estimate.other_standard_error)
    for candidates, said in ((None, "candidates of interest"), ([], "empty"), (["a", "a"], "twice")):
        with pytest.raises(UsageError, match=said):
            survey.estimate(tally, candidates=candidates)


@pytest.mark.slow
@pytest.mark.parametrize("decoder", ["mle", "em"])
def test_likelihood_decodes_what_was_met(decoder: str) -> None:
    survey = LocalHashing(alphabet=30, epsilon=2)
    shares = np.arange(30, 0, -1.0) / 465
    values = np.repeat(np.arange(30), np.rint(30_000 * shares).astype(int))
    tally = survey.tally(survey.randomize(values, source=SeededSource(7)))
    estimate = survey.estimate(tally, decoder=decoder)
    assert estimate.frequencies.sum() == pytest.approx(1)
    assert np.abs(estimate.frequencies - shares).sum() < np.abs(estimate.raw - shares).sum()
    part = survey.estimate(tally, decoder=decoder, candidates=["0", "1"])
    assert part.other == pytest.approx(1 - 59 / 465, abs=0.05)
    with pytest.raises(UsageError, match="least squares"):
        survey.estimate(tally, decoder="least-squares")


def test_others_fall_into_buckets_by_their_width() -> None:
    survey = LocalHashing(epsilon=2, buckets=3)
    tally = survey.tally(survey.randomize(["a", "b", "c", "d"] * 10, source=SeededSource(7)))
    channel, counts = survey.channel_of(tally, survey._codes(["a"]))
    kept, noise = (np.exp(2) - 1) / (np.exp(2) + 2), 1 / (np.exp(2) + 2)
    widths = bucket_widths(3)[tally.cells % 3] / 65_536
    np.testing.assert_allclose(channel.forward(np.array([0.0, 1.0])), noise + kept * widths, rtol=1e-12)
    assert counts.sum() == 40


def test_open_values_are_hashed_as_written_down() -> None:
    # The bucket is that of the first three words of the keyed hash under the coefficients of the seed.
    survey = LocalHashing(epsilon=1, buckets=16, key="golden")
    words = survey._codes(["apple", "Äpfel"])
    # Both were computed by another program, number by number.
    assert words.tolist() == [[57100, 27509, 27321], [14951, 56768, 12937]]
    coefficients = survey._coefficients(np.array([1, 2**32 - 1]), words)
    assert coefficients.tolist() == [
        [625656637, 2248240268, 299439806, 929649985],
        [473344344, 2679466242, 2372746081, 1227156153],
    ]


def test_alphabets_of_more_than_a_word_are_hashed_whole() -> None:
    survey = LocalHashing(alphabet=2**20, epsilon=6)
    values = np.array([5] * 2000 + [5 + 2**16] * 1000)
    tally = survey.tally(survey.randomize(values, source=SeededSource(7)))
    estimate = survey.estimate(tally, candidates=["5", str(5 + 2**16), str(5 + 2**17)])
    assert np.abs(estimate.raw - [2 / 3, 1 / 3, 0]).max() < 0.1


@pytest.mark.parametrize("epsilon", ["1e-9", 64])
def test_extreme_epsilons_have_a_best_number_of_buckets(epsilon: Any) -> None:
    survey = LocalHashing(epsilon=epsilon)
    assert survey.buckets == (2 if epsilon == "1e-9" else 65536)


@each_of(
    "arguments", [{"buckets": 1}, {"buckets": 65537}, {"key": ""}, {"key": None}, {"key": "\ud800"}, {"buckets": 2.5}]
)
def test_impossible_parameters_are_refused(arguments: Any) -> None:
    with pytest.raises(UsageError):
        LocalHashing(epsilon=1, **arguments)


def test_there_is_no_matrix_without_an_alphabet() -> None:
    with pytest.raises(UsageError, match="values of an open survey are unlimited"):
        LocalHashing(epsilon=1).matrix()


def test_keys_choose_other_hashes() -> None:
    one, other = (LocalHashing(alphabet=64, epsilon=1, key=key) for key in ("a", "b"))
    assert one.matrix() != other.matrix()
    assert one.digest != other.digest
