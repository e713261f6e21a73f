import numpy as np
import pytest
from scipy.stats import binom

from anonhist.errors import DataError, UsageError
from anonhist.local.randomizers.blocks import BlockSurvey, HadamardResponse, HybridProjectiveGeometry
from anonhist_testing.sources import SeededSource

LARGE = [
    HadamardResponse(alphabet=2000, epsilon=1),
    HadamardResponse(alphabet=2000, epsilon=4),
    HybridProjectiveGeometry(alphabet=2000, epsilon=4),
]


def simulate(survey: BlockSurvey, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    estimate = survey.estimate(survey.tally(survey.randomize(values, source=SeededSource(7))))
    truth = np.bincount(values, minlength=survey.size) / values.size
    return estimate.raw - truth, estimate.standard_errors, estimate.p_values


@pytest.mark.parametrize("survey", LARGE)
def test_standard_errors_are_right_in_crowded_blocks_and_in_empty_ones(survey: BlockSurvey) -> None:
    # Nearly everybody is in the first block.
    values = np.minimum(np.random.default_rng(7).geometric(0.05, 100_000) - 1, survey.size - 1)
    errors, standard_errors, _ = simulate(survey, values)
    deviations = (errors / standard_errors) ** 2
    assert abs(errors.mean()) < 5 * standard_errors.max() / np.sqrt(survey.size)
    crowded = np.arange(survey.size) < min(survey.block_design.design.items, 1000)
    for chosen in (crowded, ~crowded):
        # Squares with mean 1 and variance 2.
        assert abs(deviations[chosen].mean() - 1) < 5 * np.sqrt(2 / chosen.sum())


@pytest.mark.parametrize("survey", LARGE)
def test_p_values_of_values_that_nobody_has_are_small_as_seldom_as_they_say(survey: BlockSurvey) -> None:
    values = np.repeat([3, 5], 30_000)
    _, _, p_values = simulate(survey, values)
    null = np.delete(p_values, [3, 5])
    for level in (0.5, 0.1, 0.01):
        error = np.sqrt(level * (1 - level) / null.size)
        # Supports of few reports are coarse, so small values may be seldomer than they say, but not by much.
        assert level - 5 * error - 0.06 < np.mean(null <= level) < level + 5 * error
    assert p_values[[3, 5]].max() < 1e-12


@pytest.mark.parametrize("survey", LARGE)
def test_p_values_are_binomial_given_the_reports_of_the_block(survey: BlockSurvey) -> None:
    tally = survey.tally(survey.randomize([3, 5, 3, 1000, 1999], source=SeededSource(7)))
    values = np.arange(survey.size)
    supports = survey.block_design.counts(tally, values)
    beside = survey.block_design.block_counts(tally, values)
    expected = binom.sf(supports - 1, beside, survey.estimator.null_probability)
    assert (supports == 0).any()
    np.testing.assert_allclose(survey.estimate(tally).p_values, expected, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("survey", "users", "published"),
    [
        (HadamardResponse(alphabet=22_000, epsilon=5, blocks=128), 10_000, 689.6),
        (HybridProjectiveGeometry(alphabet=22_000, epsilon=5, blocks=30), 10_000, 348.9),
    ],
)
def test_simulated_errors_of_a_spike_are_those_published(survey: BlockSurvey, users: int, published: float) -> None:
    values, source, errors = np.zeros(users, dtype=np.int64), SeededSource(7), []
    for _ in range(40):
        raw = survey.estimate(survey.tally(survey.randomize(values, source=source))).raw
        errors.append(float(np.mean((users * (raw - (np.arange(survey.size) == 0))) ** 2)))
    # Half of the error is that of the values of one block and much alike: it errs by 6% in a run, 1% in forty.
    assert np.mean(errors) == pytest.approx(published, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("survey", LARGE)
def test_errors_where_all_have_one_value_are_those_of_the_distribution(survey: BlockSurvey) -> None:
    users = 1_000_000
    estimate = survey.estimate(survey.tally(survey.randomize(np.full(users, 5), source=SeededSource(7))))
    # The share is one to a few thousandths, and nobody else is in the block.
    assert estimate.standard_errors[5] == pytest.approx((survey.variance(1.0, 0.0) / users) ** 0.5, rel=0.01)
    if survey.block_design.blocks > 1:
        assert estimate.standard_errors[-1] == pytest.approx((survey.variance(0.0, 0.0) / users) ** 0.5, rel=0.01)
    assert estimate.standard_errors[4] == pytest.approx((survey.variance(0.0, 1.0) / users) ** 0.5, rel=0.01)
    if survey.block_design.blocks > 1:
        # Half of them far away: whoever has the value is not beside it, too.
        values = np.repeat([5, survey.size - 1], users // 2)
        halved = survey.estimate(survey.tally(survey.randomize(values, source=SeededSource(7))))
        assert halved.standard_errors[5] == pytest.approx((survey.variance(0.5, 0.0) / users) ** 0.5, rel=0.01)


def test_few_candidates_are_estimated_like_all() -> None:
    survey = HybridProjectiveGeometry(alphabet=[f"word {i}" for i in range(500)], epsilon=4)
    values = [f"word {i % 7}" for i in range(3000)]
    tally = survey.tally(survey.randomize(values, source=SeededSource(7)))
    every = survey.estimate(tally)
    some = survey.estimate(tally, candidates=["word 499", "word 4"])
    np.testing.assert_allclose(some.raw, every.raw[[499, 4]], rtol=1e-12)
    np.testing.assert_allclose(some.standard_errors, every.standard_errors[[499, 4]], rtol=1e-12)
    np.testing.assert_allclose(some.p_values, every.p_values[[499, 4]], rtol=1e-12)
    assert every.significant[:7].all()


def test_one_report_is_enough_and_none_is_not() -> None:
    survey = HadamardResponse(alphabet=100, epsilon=4)
    estimate = survey.estimate(survey.tally(survey.randomize([5], source=SeededSource(7))))
    assert np.isfinite(estimate.raw).all()
    assert np.isfinite(estimate.p_values).all()
    assert (estimate.standard_errors > 0).all()
    with pytest.raises(DataError, match="There are no reports yet"):
        survey.estimate(survey.empty_tally())


def test_candidates_outside_the_alphabet_are_refused() -> None:
    survey = HadamardResponse(alphabet=["a", "b", "c"], epsilon=1)
    tally = survey.tally(survey.randomize(["a"], source=SeededSource(7)))
    with pytest.raises(UsageError, match="not in the alphabet"):
        survey.estimate(tally, candidates=["d"])


def test_reports_of_no_cell_are_refused() -> None:
    survey = HadamardResponse(alphabet=10, epsilon=3, blocks=3)
    reports = survey.randomize(np.arange(10), source=SeededSource(7))
    assert survey.cells == 24
    reports.columns["report"][0] = 24
    with pytest.raises(DataError, match="Report 1 is invalid"):
        survey.tally(reports)
