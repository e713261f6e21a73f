import math

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.local.randomizers.blocks import HybridProjectiveGeometry, ProjectiveGeometry
from anonhist_testing.cases import each_of
from anonhist_testing.local import largest_ratio

SURVEYS = [
    HybridProjectiveGeometry(alphabet=2, epsilon=1),
    HybridProjectiveGeometry(alphabet=9, epsilon=2),
    HybridProjectiveGeometry(alphabet=13, epsilon="0.5", field=2, blocks=2),
    HybridProjectiveGeometry(alphabet=10, epsilon=4, field=3, blocks=4),
]


@each_of("survey", SURVEYS)
def test_the_largest_ratio_is_exactly_the_odds(survey: HybridProjectiveGeometry) -> None:
    assert largest_ratio(survey.matrix()) == survey.odds


def test_one_block_is_projective_geometry() -> None:
    hybrid = HybridProjectiveGeometry(alphabet=50, epsilon=1, field=3, blocks=1)
    whole = ProjectiveGeometry(alphabet=50, epsilon=1, field=3)
    assert hybrid.matrix() == whole.matrix()
    assert hybrid.variance() == pytest.approx(whole.variance(), rel=1e-9)
    assert hybrid.variance(0.3) == pytest.approx(whole.variance(0.3), rel=1e-9)
    assert hybrid.estimator.null_probability == pytest.approx(float(whole.false_support_probability), rel=1e-12)


# A field of five elements and 30 blocks, as published. Of n·f, mean over 22,000 values.
@pytest.mark.parametrize(
    ("users", "spike", "error"), [(1000, False, 34.9), (10_000, True, 348.9), (50_000, True, 1744)]
)
def test_the_variance_is_what_was_published(users: int, spike: bool, error: float) -> None:  # noqa: FBT001
    survey = HybridProjectiveGeometry(alphabet=22_000, epsilon=5, blocks=30)
    shares = (np.arange(survey.size) == 0).astype(float) if spike else 1 / np.arange(1, survey.size + 1)
    home = np.arange(survey.size) // survey.block_design.design.items
    shares /= shares.sum()
    together = np.bincount(home, shares)[home]
    assert users * np.mean(survey.estimator.variance(shares, together - shares)) == pytest.approx(error, rel=0.01)


@each_of(("size", "epsilon"), [(22_000, 5), (2015, 5), (1000, 1), (1000, 3), (100, 4)])
def test_no_number_of_blocks_errs_noticeably_less_than_the_default(size: int, epsilon: int) -> None:
    chosen = HybridProjectiveGeometry(alphabet=size, epsilon=epsilon)
    others = [
        HybridProjectiveGeometry(alphabet=size, epsilon=epsilon, blocks=blocks) for blocks in range(1, min(size, 99))
    ]
    assert chosen.estimator.mean_variance <= 1.0001 * min(other.estimator.mean_variance for other in others)


def test_the_field_is_small_where_epsilon_is() -> None:
    assert [HybridProjectiveGeometry(alphabet=100, epsilon=e).field for e in ("0.1", "0.5", "1.1", 2, 9)] == [
        2, 2, 3, 5, 5,
    ]  # fmt: skip


def test_the_variance_is_that_of_projective_geometry_and_a_quarter() -> None:
    odds = math.exp(5)
    survey = HybridProjectiveGeometry(alphabet=22_000, epsilon=5)
    assert survey.estimator.mean_variance == pytest.approx(1.25 * 4 * odds / (odds - 1) ** 2, rel=0.02)


def test_what_was_chosen_is_kept_with_the_survey() -> None:
    survey = HybridProjectiveGeometry(alphabet=100, epsilon=3)
    assert survey.parameters == {"alphabet": {"size": 100}, "field": 5, "blocks": 4}
    assert HybridProjectiveGeometry(alphabet=100, epsilon=3, field=5, blocks=4).digest == survey.digest
    assert HybridProjectiveGeometry(alphabet=100, epsilon=3, field=3, blocks=4).digest != survey.digest


@each_of(("field", "blocks"), [(4, None), (1, None), (3, 0), (3, 11), (2.0, None), ("3", 1)])
def test_other_choices_are_refused(field: object, blocks: object) -> None:
    with pytest.raises(UsageError, match=r"field|blocks"):
        HybridProjectiveGeometry(alphabet=10, epsilon=1, field=field, blocks=blocks)  # type: ignore[arg-type]  # refused
