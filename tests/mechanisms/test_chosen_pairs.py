"""Bounds on items and groups that are chosen together: what neighbors can change, over all small tables."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.mechanisms.bound_choosing import PreparedChoice, possible_releases, prepare_choice
from anonhist.mechanisms.choosing import pmf_by_scores
from anonhist.mechanisms.releasing import AskedRelease
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles.chosen_bound import Bounds, ChosenBound
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_equal

ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
# How many items a label has in the first of its groups, in the second, …
Label = tuple[int, ...]
LABELS: list[Label] = [label for groups in range(5) for label in product((1, 2, 3, 9), repeat=groups)]
FEW: list[Label] = [label for groups in range(3) for label in product((1, 2, 9), repeat=groups)]


def asked_for(relation: NeighboringRelation, items: Iterable[int], groups: Iterable[int]) -> ChosenBound:
    """Return a request with ε₁ = 1."""
    return ChosenBound(10, 1_000, "0.1", candidates=items, group_candidates=groups, relation=relation)


def choice_of(asked: ChosenBound, noise: Sequence[int], expected: int = 0) -> PreparedChoice:
    unit = asked.units(PrivacyUnit.label(max_count=1))[-1]
    own = dict(zip(asked.units(unit), noise, strict=True))
    release = AskedRelease(10, None, asked.relation).prepared(unit, choice=asked)
    return PreparedChoice(asked, unit, dict.fromkeys(own, release), own, expected)


def places_of(labels: Iterable[Label], groups: int) -> list[Counter[int]]:
    table = list(labels)
    return [Counter(label[place] for label in table if len(label) > place) for place in range(groups)]


def scores_of(choice: PreparedChoice, labels: Iterable[Label]) -> list[Fraction]:
    return choice.scores(*places_of(labels, choice.unit.groups))


def neighbors(relation: NeighboringRelation, labels: Sequence[Label], most: int) -> Iterator[tuple[Any, Any]]:
    """Yield all neighboring tables of at most ``most`` other labels."""
    for many in range(most + 1):
        for others in combinations_with_replacement(labels, many):
            if relation is ADD:
                yield from ((others, (*others, one)) for one in labels)
            else:
                yield from (((*others, one), (*others, two)) for one, two in combinations(labels, 2))


def kept(bounds: Bounds, label: Label) -> int:
    return sum(min(items, bounds.items) for items in label[: bounds.groups])


@pytest.mark.parametrize("relation", [ADD, SUBSTITUTE])
def test_the_divisor_is_the_largest_change_of_what_two_bounds_keep(relation: NeighboringRelation) -> None:
    bounds = [Bounds(items, groups) for items, groups in product((1, 2, 3), (1, 2, 4))]
    for one, other in product(bounds, bounds):
        found = [kept(one, label) - kept(other, label) for label in LABELS]
        largest = max(found) - min(found) if relation is SUBSTITUTE else max(map(abs, found))
        assert one.apart(other, relation) == largest


def test_a_larger_product_does_not_cover_a_label_in_the_place_of_another() -> None:
    # One label is in four groups once, the other four times in one: both differences move, in the same direction.
    one, other = Bounds(4, 1), Bounds(1, 4)
    moved = (kept(one, (4,)) - kept(other, (4,))) - (kept(one, (1,) * 4) - kept(other, (1,) * 4))
    assert moved == one.apart(other, SUBSTITUTE) == 6
    assert one.apart(other, ADD) == 3
    assert moved > max(one.items * one.groups, other.items * other.groups)


@pytest.mark.parametrize("relation", [ADD, SUBSTITUTE])
@pytest.mark.parametrize("noise", [(0,) * 9, (1, 2, 3, 2, 4, 6, 3, 6, 9), (9, 0, 4, 0, 7, 1, 30, 2, 0)])
@pytest.mark.parametrize("expected", [0, 100])
def test_scores_change_by_at_most_one(relation: NeighboringRelation, noise: Sequence[int], expected: int) -> None:
    choice = choice_of(asked_for(relation, (1, 2, 4), (1, 2, 4)), noise, expected)
    pairs = list(neighbors(relation, FEW, 1))
    found = {table: scores_of(choice, table) for table in {table for pair in pairs for table in pair}}
    for one, other in pairs:
        assert max(abs(a - b) for a, b in zip(found[one], found[other], strict=True)) <= 1


@pytest.mark.parametrize("relation", [ADD, SUBSTITUTE])
@pytest.mark.parametrize("noise", [(0, 0, 0, 0), (0, 3, 3, 9), (5, 0, 0, 5)])
@pytest.mark.parametrize("expected", [0, 100])
def test_neighbors_lose_at_most_the_budget(relation: NeighboringRelation, noise: Sequence[int], expected: int) -> None:
    assert lost(choice_of(asked_for(relation, (1, 4), (1, 2)), noise, expected), relation) <= 1 + 1e-12


def lost(choice: PreparedChoice, relation: NeighboringRelation) -> float:
    """Return the largest privacy loss of the draw."""
    pairs = list(neighbors(relation, FEW, 1))
    tables = {table for pair in pairs for table in pair}
    known = {table: np.log(pmf_by_scores(scores_of(choice, table), choice.rate)) for table in tables}
    return max(float(np.abs(known[one] - known[other]).max()) for one, other in pairs)


def test_the_enumeration_finds_the_larger_product_as_a_divisor(monkeypatch: pytest.MonkeyPatch) -> None:
    choice = choice_of(asked_for(SUBSTITUTE, (1, 4), (1, 4)), (40, 0, 0, 40))
    labels = [(4,), (1, 1, 1, 1)]

    def largest_change() -> Fraction:
        one, other = (scores_of(choice, [label, (9,)]) for label in labels)
        return max(abs(a - b) for a, b in zip(one, other, strict=True))

    assert largest_change() <= 1
    monkeypatch.setattr(Bounds, "apart", lambda one, other, _: max(one.items * one.groups, other.items * other.groups))
    assert largest_change() > 1


@pytest.mark.parametrize("divisor", [1, 2])
def test_the_enumeration_finds_a_divisor_that_is_too_small(divisor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = choice_of(asked_for(ADD, (1, 4), (1, 2)), (0, 3, 3, 9))
    monkeypatch.setattr(Bounds, "apart", lambda *_: divisor)
    assert lost(choice, ADD) > 1.2


def test_pairs_are_drawn_with_the_probabilities_that_are_enumerated() -> None:
    choice, source = choice_of(asked_for(ADD, (1, 4), (1, 2)), (0, 3, 3, 9)), SeededSource(7)
    places = places_of([(9, 1), (2,), (1, 1)], 2)
    pmf = pmf_by_scores(choice.scores(*places), choice.rate)
    drawn = [choice.units.index(choice.draw(*places, source=source)) for _ in range(4_000)]
    assert_pmf_equal(drawn, dict(enumerate(pmf.tolist())))


def test_kept_items_are_those_of_the_first_groups() -> None:
    choice = choice_of(asked_for(ADD, (1, 4), (1, 2)), (100,) * 4)
    # Equal noise has no margin.
    assert choice.losses({9: 2}, {3: 1}, {9: 1}) == [100 - 2, 100 - 8, 100 - 3, 100 - 11]


@pytest.mark.parametrize("relation", [ADD, SUBSTITUTE])
@pytest.mark.parametrize("noise", [(0, 0, 0), (1, 2, 4), (9, 0, 3)])
def test_of_groups_alone_each_counts_as_one(relation: NeighboringRelation, noise: Sequence[int]) -> None:
    choice = choice_of(asked_for(relation, (9,), (1, 2, 4)), noise)
    least = max(1, min(noise))
    # ε₁ = 1: the margin is 0.6·g·ln(noise/least), in 64ths.
    public = [
        own + groups * Fraction(6 * round(64 * math.log(max(own, 1) / least)), 640)
        for own, groups in zip(noise, (1, 2, 4), strict=True)
    ]
    assert choice.losses({9: 2}, {3: 1}) == [public[0] - 2, public[1] - 3, public[2] - 3]
    assert lost(choice, relation) <= 1 + 1e-12


def test_noise_of_groups_alone_is_in_groups_of_labels() -> None:
    unit = PrivacyUnit.label(max_count=16, groups=8)
    alone, both = (ChosenBound(1, 10**5, candidates=items, group_candidates=(1, 8)) for items in ((16,), (1, 16)))
    pairs, items = (prepare_choice(asked, unit) for asked in (alone, both))
    assert 2 < items.noise[unit] / pairs.noise[unit] < 8
    assert items.expected == 10**5
    assert items.noise[unit] // pairs.noise[unit] == items.expected // pairs.expected


def test_large_data_get_the_pair_with_the_least_loss() -> None:
    asked = ChosenBound(1, 10**6, candidates=(1, 4, 16), group_candidates=(1, 2, 8))
    choice = prepare_choice(asked, PrivacyUnit.label(max_count=16, groups=8), profiles=8)
    assert choice.dearest.mechanism.name == "prevalence"
    drawn = choice.draw({4: 500_000}, {4: 400_000}, {})
    assert (drawn.bound, drawn.groups) == (4, 2)
    losses = choice.losses({1: 10**6}, {}, {})
    assert choice.units[losses.index(min(losses))] == PrivacyUnit.label(max_count=1)


def test_candidates_beyond_all_groups_mean_all_of_them() -> None:
    asked = ChosenBound(1, 100, group_candidates=(1, 2, 4, 8))
    assert asked.in_groups(3).group_candidates == (1, 2, 3)
    assert asked.in_groups(20) == asked
    assert asked.units(PrivacyUnit.label(max_count=1))[0].in_one_group


@pytest.mark.parametrize(("candidates", "number"), [((1, 2, 4), 1), ((4, 8), 3)])
def test_groups_that_leave_no_choice_are_named(candidates: Sequence[int], number: int) -> None:
    asked = ChosenBound(1, 100, candidates=(9,), group_candidates=candidates)
    with pytest.raises(UsageError, match=rf"every candidate means {number}\."):
        asked.in_groups(number)
    # How many items count is still a choice.
    assert replace(asked, candidates=(1, 9)).in_groups(number).group_candidates == (number,)


@pytest.mark.parametrize(
    ("epsilon", "items", "groups", "left"),
    [
        (3, (1, 2_000), (1, 2), [(1, 1), (1, 2)]),
        (1, (1, 2, 300), (1, 2, 4), [(1, 1), (2, 1), (1, 2), (2, 2), (1, 4), (2, 4)]),
        (1, (1, 300, 400), (1, 2, 4), [(1, 1), (300, 1), (400, 1), (1, 2), (300, 2), (400, 2)]),
    ],
)
def test_near_the_least_budget_one_pair_covers_all_others(
    epsilon: int, items: Sequence[int], groups: Sequence[int], left: list[tuple[int, int]]
) -> None:
    asked = ChosenBound(epsilon, 1_000, "0.1", candidates=items, mechanism="partition", group_candidates=groups)
    possible = possible_releases(asked, PrivacyUnit.label(max_count=1))
    assert [(unit.bound, unit.groups) for unit in possible] == left
    *_, dearest = (each.price().guarantee for each in possible.values())
    assert (dearest.unit.bound, dearest.unit.groups) == tuple(map(max, zip(*left, strict=True)))
    assert dearest.delta == max(each.price().guarantee.delta for each in possible.values())


@pytest.mark.parametrize(
    ("items", "groups"), [((3,), (2,)), (range(1, 10), range(1, 10)), ((1, 2), (4, 2)), ((1, 2), ())]
)
def test_grids_of_the_wrong_size_are_refused(items: Iterable[int], groups: Iterable[int]) -> None:
    with pytest.raises(UsageError, match="ascending whole numbers"):
        ChosenBound(1, 100, candidates=items, group_candidates=groups)
