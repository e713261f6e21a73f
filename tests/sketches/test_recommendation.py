"""Recommended numbers of buckets: what is said of them is what simulations gave."""

from fractions import Fraction

import pytest

from anonhist.errors import UsageError
from anonhist.privacy import PrivacyUnit
from anonhist.sketches import kinds
from anonhist.sketches.inverses import FourierDecompounding
from anonhist.sketches.kinds import BYTES, LOADS, TOLERANCE, BucketRow, recommend_buckets
from anonhist.sketches.noise import NoiseDistribution
from anonhist_testing.progress import assert_moves


@pytest.fixture
def read_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the simulated sketches by one transform, a hundred times as fast: for what is true whatever reads them."""
    monkeypatch.setattr(kinds, "Decompounding", FourierDecompounding)


@pytest.mark.slow
def test_the_fewest_buckets_that_err_little_more_than_the_best_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "_RUNS", 3)
    found = recommend_buckets(labels=200, epsilon=2, max_bytes=BYTES * 400)
    assert [row.buckets for row in found.rows] == [round(200 / load) for load in LOADS[:4]]
    assert all(row.size == BYTES * row.buckets and row.uncertainty > 0 for row in found.rows)
    eligible = [row for row in found.rows if row.load <= 1]
    good = [
        row for row in eligible if row.prevalences_error <= TOLERANCE * min(each.prevalences_error for each in eligible)
    ]
    assert found.best == good[0].buckets
    assert str(found).startswith(f"Use {found.best:,} buckets.\n")


def test_more_labels_than_buckets_are_not_recommended_and_nor_is_what_errs_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    errors = dict(zip(LOADS, (0.10, 0.10, 0.21, 0.19, 0.17, 0.16, 0.16), strict=True))

    def make_row(labels: int, load: Fraction, _: NoiseDistribution) -> BucketRow:
        return BucketRow(round(labels / load), float(load), 8, 0.1, errors[load], 0.01)

    monkeypatch.setattr(kinds, "_row", make_row)
    # A label or more a bucket err least, and 0.21 is more than a quarter above 0.16.
    assert recommend_buckets(labels=100, epsilon=1).best == 200
    # Where there is no room for more buckets, the fewest of those that err little are taken.
    assert recommend_buckets(labels=100, epsilon=1, max_bytes=BYTES * 50).best == 25


@pytest.mark.usefixtures("read_quickly")
def test_the_same_question_has_the_same_answer_whatever_else_was_simulated() -> None:
    found = recommend_buckets(labels=200, epsilon=2, max_bytes=BYTES * 400)
    assert recommend_buckets(labels=200, epsilon=2, max_bytes=BYTES * 100).rows == found.rows[:2]


@pytest.mark.usefixtures("read_quickly")
def test_users_and_small_budgets_err_more() -> None:
    item = recommend_buckets(labels=5000, epsilon=2, max_bytes=BYTES * 5000)
    user = recommend_buckets(labels=5000, epsilon=2, unit=PrivacyUnit.user(max_items=8), max_bytes=BYTES * 5000)
    assert min(row.prevalences_error for row in user.rows) > 2 * min(row.prevalences_error for row in item.rows)
    assert item.rows[0].prevalences_error > 2 * item.rows[-1].prevalences_error


@pytest.mark.slow
@pytest.mark.usefixtures("read_quickly")
def test_more_labels_than_are_simulated_err_by_the_root_less() -> None:
    few, many = (recommend_buckets(labels=labels, epsilon=3, max_bytes=4 * labels) for labels in (20_000, 2_000_000))
    assert [row.load for row in few.rows] == [row.load for row in many.rows] == [4, 2]
    for one, other in zip(few.rows, many.rows, strict=True):
        assert other.prevalences_error == pytest.approx(one.prevalences_error / 10)
        assert other.buckets == 100 * one.buckets


@pytest.mark.usefixtures("read_quickly")
def test_no_more_bytes_are_taken_than_allowed() -> None:
    found = recommend_buckets(labels=100, epsilon=1, max_bytes=450)
    assert [row.size for row in found.rows] == [200, 400]
    assert BYTES * found.best <= 450
    with pytest.raises(UsageError, match="sampling_rate"):
        recommend_buckets(labels=100, epsilon=1, max_bytes=100)


@pytest.mark.slow
def test_progress_ends_at_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "_RUNS", 2)
    told: list[float] = []
    recommend_buckets(labels=20, epsilon=3, max_bytes=80, progress=told.append)
    # Of two numbers of buckets, and of each fit on the way.
    assert len(told) > 100
    assert_moves(told, most=0.5)


@pytest.mark.parametrize("given", [{"labels": 0}, {"labels": 2.5}, {"labels": 10, "max_bytes": 0}, {"epsilon": 0}])
def test_numbers_out_of_range_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        recommend_buckets(**({"labels": 10, "epsilon": 1} | given))  # type: ignore[arg-type]  # wrong on purpose
