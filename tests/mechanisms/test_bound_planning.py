"""Plans of a bound on the items of users, from public sizes: what is left out, what noise adds, and what is best."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest.unit_sizes import sizes_from_file
from anonhist.mechanisms import plan_bounds
from anonhist.mechanisms.bound_choosing import noise_of, prepare_choice
from anonhist.mechanisms.choosing import pmf_by_scores
from anonhist.mechanisms.releasing import AskedRelease
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist_testing.cases import each_of

SIZES = {1: 300, 4: 50, 20: 10}
SETTING: dict[str, Any] = {"epsilons": [2], "candidates": (1, 4, 16), "shares": ["0.1", "0.3"]}


def test_given_bounds_leave_out_what_is_beyond_them_and_add_the_noise_at_all_of_epsilon() -> None:
    rows = [row for row in plan_bounds(SIZES, **SETTING) if not row.bound_share]
    assert [(row.bound, row.left_out) for row in rows] == [(1, 150 + 190), (4, 160), (16, 40)]
    for row in rows:
        made = AskedRelease(2).prepared(PrivacyUnit.user(max_items=row.bound)).mechanism
        noise, spread = noise_of(made, 700)
        assert (row.mechanism, row.probability, row.items) == (made.name, 1, 700)
        assert row.sorted_l1.value == row.left_out + noise
        assert row.sorted_l1.standard_error == spread
        assert row.relative_error == row.sorted_l1.value / 700
    assert [row.is_best for row in rows].count(True) == 1


def test_a_chosen_bound_errs_by_the_mean_over_its_exact_probabilities() -> None:
    row = plan_bounds(SIZES, **SETTING)[3]
    choice = prepare_choice(ChosenBound(2, 700, "0.1", (1, 4, 16)), PrivacyUnit.user(max_items=16))
    chances = pmf_by_scores(choice.scores(Counter(SIZES)), choice.rate)
    noises = [noise_of(each.mechanism, 700)[0] for each in choice.releases.values()]
    assert row.bound_share == Fraction(1, 10)
    assert row.sorted_l1.value == pytest.approx(float(chances @ (np.array([340, 160, 40]) + noises)))
    assert row.probability == pytest.approx(chances.max())
    assert row.bound == (1, 4, 16)[int(np.argmax(chances))]


def test_users_are_scaled_to_the_items_to_expect() -> None:
    few, many = (plan_bounds(SIZES, items=items, **SETTING)[0] for items in (700, 7_000))
    assert (many.items, many.left_out) == (7_000, 10 * few.left_out)


def test_bounds_that_need_a_larger_budget_are_no_rows() -> None:
    setting = SETTING | {"epsilons": ["0.001"], "candidates": (1, 2**20), "shares": ["0.5"]}
    assert [row.bound for row in plan_bounds({1: 9}, **setting)] == [1, 1]
    with pytest.raises(UsageError, match="too small"):
        plan_bounds({1: 9}, **setting | {"epsilons": ["0.000001"]})


@each_of(
    ("sizes", "given", "told"),
    [
        ({}, {}, "from 1 to 10.15 items"),
        ({0: 3}, {}, "a number of items"),
        ({3: -1}, {}, "a number of users"),
        (SIZES, {"epsilons": "1"}, "a list of budgets"),
        (SIZES, {"shares": [1]}, "below 1"),
        (SIZES, {"candidates": (4, 1)}, "ascending"),
        (SIZES, {"mechanism": "isotonic"}, "isotonic"),
    ],
)
def test_impossible_plans_are_refused(sizes: dict[int, int], given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        plan_bounds(sizes, **SETTING | given)


@each_of(
    ("text", "found"),
    [
        ("items,users\n1,300\n4,50\n4,1\n", {1: 300, 4: 51}),
        ("items\n3\n3\n1\n", {3: 2, 1: 1}),
        ("users,items\n2,9\n", {9: 2}),
        ("item\n3\n", UsageError),
        ("items,label\n3,a\n", UsageError),
        ("items\n", UsageError),
        ("items\n0\n", DataError),
        ("items,users\n1,\n", DataError),
        ("items\n1.5\n", DataError),
    ],
)
def test_sizes_are_read_from_a_file(tmp_path_factory: pytest.TempPathFactory, text: str, found: Any) -> None:
    path = tmp_path_factory.mktemp("sizes") / "sizes.csv"
    path.write_text(text, encoding="utf-8")
    if isinstance(found, dict):
        assert sizes_from_file(str(path)) == found
        return
    with pytest.raises(found, match=r"sizes\.csv"):
        sizes_from_file(str(path))
