"""Which groups are kept: exact probabilities against what is promised, and against the best there is."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.mechanisms import grouping
from anonhist.mechanisms.grouping import FindGroups, GroupSelection
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.randomness import SystemSource
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

SETTINGS = [("1", "1e-9", 1), ("0.1", "1e-5", 1), ("2", "0.01", 3), ("0.02", "1e-6", 1), ("5", "1e-3", 2)]


@pytest.mark.parametrize(("epsilon", "delta", "groups"), SETTINGS)
def test_one_unit_changes_what_is_kept_by_epsilon_and_delta(epsilon: str, delta: str, groups: int) -> None:
    selection = GroupSelection(epsilon, delta, groups)
    factor, most = math.exp(float(selection.rate)), float(selection.delta) / groups
    kept = [selection.probability(units) for units in range(2 * selection.threshold + 2)]
    assert kept[0] == 0
    assert kept[-1] == 1
    assert 0 < kept[1] <= most
    for fewer, more in pairwise(kept):
        assert fewer <= more <= factor * fewer + most * (1 + 1e-9)
        assert 1 - fewer <= factor * (1 - more) + most * (1 + 1e-9) + 1e-15


def test_a_threshold_of_one_less_would_promise_too_much() -> None:
    selection = GroupSelection(1, "1e-9", 1)
    weights = np.exp(-np.abs(np.arange(-19, 20)))
    assert selection.threshold == 20
    assert weights[-1] / weights.sum() > 1e-9


@pytest.mark.parametrize(("epsilon", "delta", "groups"), SETTINGS)
def test_the_threshold_is_the_published_one(epsilon: str, delta: str, groups: int) -> None:
    # Desfontaines, Voss, Gipson and Mandayam (2022), Theorem 2.
    rate, share = float(epsilon) / groups, float(delta) / groups
    published = math.ceil(math.log((math.exp(rate) + 2 * share - 1) / ((math.exp(rate) + 1) * share)) / rate)
    assert GroupSelection(epsilon, delta, groups).threshold == published


@pytest.mark.parametrize(("epsilon", "delta", "groups"), SETTINGS)
def test_it_is_the_best_there_is(epsilon: str, delta: str, groups: int) -> None:
    """No selection keeps more: the largest probabilities that the two inequalities allow, one after the other."""
    selection = GroupSelection(epsilon, delta, groups)
    # Rounding k up leaves a little: the promise that is kept exactly.
    share = selection.probability(1)
    factor = math.exp(float(selection.rate))
    best = 0.0
    for units in range(1, 2 * selection.threshold + 2):
        best = min(factor * best + share, 1 - (1 - best - share) / factor, 1.0)
        assert selection.probability(units) == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_groups_are_kept_as_often_as_stated() -> None:
    selection = GroupSelection("0.5", "0.05", 1)
    units = np.repeat(np.arange(12), 4000)
    kept = selection.select(units, source=SeededSource(5)).reshape(12, 4000).mean(axis=1)
    stated = np.array([selection.probability(each) for each in range(12)])
    assert kept[0] == 0
    assert np.all(np.abs(kept - stated) <= 5 * np.sqrt(stated * (1 - stated) / 4000) + 1e-12)


@each_of("epsilon", ["1", "1e-10"])
def test_a_group_of_any_size_is_kept_as_often_as_stated(epsilon: str) -> None:
    # With noise for a small ε, far more numbers would wrap.
    selection = GroupSelection(epsilon, "1e-9", 1)
    for units in (2**63 - 1, 2**63 - 1 - selection.threshold, 2**62, 2 * selection.threshold + 1):
        assert selection.probability(units) == 1
        assert selection.select(np.full(400, units), source=SeededSource(7)).all()
    assert not selection.select(np.zeros(400, dtype=np.int64), source=SeededSource(7)).any()


def test_the_noise_of_a_selection_is_never_beyond_its_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    # int64 has no number +2^63: the absolute value of its smallest one is negative.
    drawn = iter([np.array([3, -(2**63)]), np.array([-2])])
    monkeypatch.setattr(grouping, "discrete_laplace", lambda *_, **__: next(drawn))
    selection = GroupSelection(1, "1e-9", 1)
    assert selection.select(np.full(2, selection.threshold + 2), source=SeededSource(7)).tolist() == [True, False]
    assert next(drawn, None) is None


def test_probabilities_are_known_where_the_threshold_is_far_too_large_to_list() -> None:
    selection = GroupSelection("1e-10", "1e-12", 1)
    assert selection.threshold > 10**10
    assert 0 < selection.probability(1) <= 1e-12
    assert selection.probability(selection.threshold) == pytest.approx(0.5, abs=1e-3)
    assert selection.probability(2 * selection.threshold + 1) == 1


def test_probabilities_are_sums_of_those_of_the_noise() -> None:
    selection = GroupSelection("0.7", "0.01", 2)
    noise = np.arange(-selection.threshold, selection.threshold + 1)
    weights = np.exp(-float(selection.rate) * np.abs(noise))
    for units in range(2 * selection.threshold + 3):
        listed = weights[noise > selection.threshold - units].sum() / weights.sum()
        assert selection.probability(units) == pytest.approx(listed, rel=1e-12, abs=1e-15)


def test_a_relation_is_one() -> None:
    with pytest.raises(UsageError, match="must be a NeighboringRelation"):
        FindGroups(1, "1e-9", "substitute")  # type: ignore[arg-type]  # what is tested


def test_no_noise_is_beyond_the_threshold() -> None:
    selection = GroupSelection("0.3", "0.2", 1)
    noise = selection._noise(5000, SystemSource())
    assert np.abs(noise).max() == selection.threshold


@pytest.mark.parametrize(
    ("unit", "relation", "groups"),
    [
        (PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, 1),
        (PrivacyUnit.item(), NeighboringRelation.SUBSTITUTE, 2),
        (PrivacyUnit.user(max_items=4), NeighboringRelation.ADD_OR_REMOVE, 4),
        (PrivacyUnit.user(max_items=4, sketches=3), NeighboringRelation.ADD_OR_REMOVE, 12),
        (PrivacyUnit.user(max_items=4, groups=2), NeighboringRelation.SUBSTITUTE, 4),
        (PrivacyUnit.label(max_count=9, groups=3), NeighboringRelation.ADD_OR_REMOVE, 3),
    ],
)
def test_a_unit_is_in_so_many_groups(unit: PrivacyUnit, relation: NeighboringRelation, groups: int) -> None:
    selection = FindGroups(1, "1e-6", relation).selection(unit)
    assert (selection.groups, selection.rate) == (groups, Fraction(1, groups))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("0", "1e-9", 1), "epsilon"),
        (("1", "0", 1), "delta"),
        (("1", "1", 1), "below 1"),
        (("1", "1e-9", 0), "whole number from 1"),
        (("1e-13", "1e-30", 1), "too small"),
    ],
)
def test_what_cannot_be_is_refused(given: tuple[Any, ...], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        GroupSelection(*given)
