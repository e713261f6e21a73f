import math

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.local.randomizers.blocks import HadamardResponse
from anonhist_testing.cases import each_of
from anonhist_testing.local import largest_ratio

SURVEYS = [
    HadamardResponse(alphabet=2, epsilon=1),
    HadamardResponse(alphabet=7, epsilon=2),
    HadamardResponse(alphabet=8, epsilon=2, blocks=1),
    HadamardResponse(alphabet=10, epsilon="0.5", blocks=3),
    HadamardResponse(alphabet=4, epsilon=5, blocks=4),
]


@each_of("survey", SURVEYS)
def test_the_largest_ratio_is_exactly_the_odds(survey: HadamardResponse) -> None:
    assert largest_ratio(survey.matrix()) == survey.odds


@each_of("survey", SURVEYS)
def test_a_report_is_likelier_where_the_column_of_the_value_is_positive(survey: HadamardResponse) -> None:
    rows = survey.block_design.design.points
    low = 1 / (rows // 2 * (survey.odds - 1 + 2 * survey.block_design.blocks))
    for value, row in enumerate(survey.matrix()):
        block, column = divmod(value, rows - 1)
        for cell, entry in enumerate(row):
            own = cell // rows == block and (cell % rows & (column + 1)).bit_count() % 2 == 0
            assert entry == (low * survey.odds if own else low)


def test_one_block_has_the_variance_of_a_sign() -> None:
    odds = math.exp(1)
    survey = HadamardResponse(alphabet=1000, epsilon=1)
    assert survey.blocks == 1
    assert survey.variance() == pytest.approx(((odds + 1) / (odds - 1)) ** 2, rel=1e-12)


@each_of(("size", "epsilon"), [(22_000, 5), (22_000, 2), (1000, 3), (50, 4), (1000, 9), (2, 1)])
def test_no_number_of_blocks_errs_noticeably_less_than_the_default(size: int, epsilon: int) -> None:
    chosen = HadamardResponse(alphabet=size, epsilon=epsilon)
    powers = [blocks for blocks in (1 << np.arange(20)).tolist() if blocks <= size]
    others = [HadamardResponse(alphabet=size, epsilon=epsilon, blocks=blocks) for blocks in [*powers, size]]
    assert chosen.estimator.mean_variance <= 1.0001 * min(other.estimator.mean_variance for other in others)


# The blocks are those of the publication, the largest power of two below e^ε. Of n·f, mean over 22,000 values.
@pytest.mark.parametrize(
    ("epsilon", "blocks", "users", "error"),
    [(5, 128, 10_000, 689.6), (5, 128, 50_000, 3439), ("1.386", 2, 10_000, 32_929)],
)
def test_the_variance_of_a_spike_is_what_was_published(
    epsilon: str | int, blocks: int, users: int, error: float
) -> None:
    survey = HadamardResponse(alphabet=22_000, epsilon=epsilon, blocks=blocks)
    assert users * _mean_variance(survey, _spike(survey.size)) == pytest.approx(error, rel=0.005)


def test_the_variance_of_a_zipf_distribution_is_what_was_published() -> None:
    survey = HadamardResponse(alphabet=22_000, epsilon=5, blocks=128)
    shares = 1 / np.arange(1, survey.size + 1)
    assert 1000 * _mean_variance(survey, shares / shares.sum()) == pytest.approx(68.9, rel=0.005)


def test_more_blocks_than_a_power_of_two_err_less_than_was_published() -> None:
    survey = HadamardResponse(alphabet=22_000, epsilon=5)
    assert 10_000 * _mean_variance(survey, _spike(survey.size)) < 0.8 * 689.6


def _spike(size: int) -> np.ndarray:
    shares = np.zeros(size)
    shares[0] = 1
    return shares


def _mean_variance(survey: HadamardResponse, shares: np.ndarray) -> float:
    home = np.arange(survey.size) // survey.block_design.design.items
    together = np.bincount(home, shares)[home]
    return float(np.mean(survey.estimator.variance(shares, together - shares)))


def test_the_number_of_blocks_is_kept_with_the_survey() -> None:
    survey = HadamardResponse(alphabet=100, epsilon=3)
    assert survey.parameters == {"alphabet": {"size": 100}, "blocks": 7}
    assert HadamardResponse(alphabet=100, epsilon=3, blocks=7).digest == survey.digest
    assert HadamardResponse(alphabet=100, epsilon=3, blocks=8).digest != survey.digest


@each_of("blocks", [0, 11, 1.0, True])
def test_other_numbers_of_blocks_are_refused(blocks: object) -> None:
    with pytest.raises(UsageError, match="blocks"):
        HadamardResponse(alphabet=10, epsilon=1, blocks=blocks)  # type: ignore[arg-type]  # refusing it is tested
