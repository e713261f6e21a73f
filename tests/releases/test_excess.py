"""What an excess says: intervals that hold, ends that are right, and numbers that none can have."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from anonhist.errors import UsageError
from anonhist.mechanisms import ExcessMechanism, FrobeniusMechanism, PrevalenceMechanism, release
from anonhist.mechanisms.noise import simulated_noise
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Bounded, BoundedUnits, Profile
from anonhist.randomness import discrete_laplace_pmf
from anonhist.releases import Excess
from anonhist.releases.excess import _reach
from anonhist_testing.cases import each_of

ADDED, REPLACED = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
BUDGET = (Fraction(1, 80), Fraction(3, 80))


def excess(*noisy: int, bound: int = 3, cap: int = 30, relation: NeighboringRelation = ADDED) -> Excess:
    return Excess(bound, cap, relation, *BUDGET, *noisy)


@each_of("rate", ["1/1000", "1/80", "0.3", "1", "4", "900"])
@each_of("tail", [0.0125, 0.025, 0.4])
def test_the_noise_is_beyond_the_reach_as_rarely_as_said(rate: str, tail: float) -> None:
    gamma = Fraction(rate)
    reach = _reach(gamma, tail)
    numbers = np.arange(reach, reach + 60_000)
    beyond = [float(discrete_laplace_pmf(gamma, numbers[from_:]).sum()) for from_ in (1, 0)]
    assert beyond[0] <= tail
    # One less would not do.
    assert beyond[1] > tail or not reach


LEAST = int(binom.ppf(1e-6, 200, 0.95))

# How many items users have: the bound reaches none, few, most; a user has them nearly all.
USERS = {
    "none above": {1: 400, 3: 50},
    "zipf": {items: 20_000 // items**2 for items in range(1, 100)},
    "beyond the cap": {2: 100, 500: 70},
    "one heavy": {1: 2_000, 10**6: 1},
    "nobody": {},
}


@pytest.mark.slow
@each_of("users", USERS)
@each_of(("relation", "epsilon"), [(ADDED, "1"), (REPLACED, "0.05")])
def test_intervals_hold_whatever_the_users_have(users: str, relation: NeighboringRelation, epsilon: str) -> None:
    items, runs, rng = Profile.from_prevalences(USERS[users]), 200, np.random.default_rng(len(users))
    truth = BoundedUnits(3, items)
    mechanism = ExcessMechanism(epsilon, bound=3, cap=20, relation=relation)
    found = [mechanism.release_with(truth, simulated_noise(rng)) for _ in range(runs)]
    left_out, everyone = truth.excess(2**62), truth.above + truth.within
    held = {
        "users": [each.units.interval[0] <= truth.above <= each.units.interval[1] for each in found],
        "capped": [
            each.capped_amount.interval[0] <= truth.excess(20) <= each.capped_amount.interval[1] for each in found
        ],
        "at least": [each.at_least <= left_out for each in found],
        "share": [
            each.share_of_units.interval[0] <= truth.above / max(everyone, 1) <= each.share_of_units.interval[1]
            for each in found
        ],
    }
    # Of 200 runs fewer than LEAST hold with a chance of 1e-6 if each does with 95%: 4e-5 for all 40 together.
    assert min(map(sum, held.values())) >= LEAST, {name: sum(each) for name, each in held.items()}
    if users == "zipf" and epsilon == "1":
        halves = [
            abs(each.noisy_above - truth.above) <= (each.units.interval[1] - each.noisy_above) / 2 for each in found
        ]
        assert sum(halves) < LEAST
        assert np.mean([each.at_least for each in found]) > 0.8 * truth.excess(20)


def test_a_user_above_the_bound_lost_one_item_at_least() -> None:
    few_items = excess(8_000, 2_000, 100)
    assert few_items.at_least == few_items.units.interval[0] == 1_760
    assert few_items.amount.value == 1_760
    assert few_items.amount.interval == (1_760, math.inf)
    many = excess(8_000, 2_000, 20_000)
    assert many.at_least == many.capped_amount.interval[0] == 17_603
    assert (many.amount.value, str(many.amount)[:21]) == (20_000, "at least 17,603 items")


def of_groups(*noisy: int, cap: int = 2, groups: int | None = 5) -> Excess:
    return Excess(3, cap, ADDED, *BUDGET, *noisy, Bounded.GROUPS_OF_LABELS, groups)


def test_where_no_group_is_cut_what_was_left_out_has_two_ends() -> None:
    found = of_groups(8_000, 2_000, 3_000)
    assert found.counts_all
    assert found.amount.interval[1] == found.capped_amount.interval[1] == 3_160
    assert found.amount.interval[0] == 3_000 - _reach(found._rates[2], 0.0125)
    assert found.amount.value == 3_000
    assert str(found.amount) == "3,000 groups (95% interval 2,803 to 3,160)"
    # Each unit above lost one at least, and the ends stay in order whatever the noise was.
    least = 2_000 - _reach(found._rates[1], 0.0125)
    assert of_groups(8_000, 2_000, 100).amount.interval == (least, least)
    assert of_groups(8_000, -2_000, -300).amount.interval == (0, 0)
    assert of_groups(8_000, 2_000, 3_000, groups=6).amount.interval[1] == math.inf
    assert of_groups(8_000, 2_000, 3_000, groups=None).amount.interval[1] == math.inf
    # Of a file that counts more than there can be.
    assert of_groups(8_000, 2_000, 3_000, cap=20).amount.interval[1] < math.inf
    with pytest.raises(UsageError, match="Only an excess of groups"):
        replace(excess(1, 1, 1), groups=4)


@pytest.mark.slow
@each_of("numbers", [{1: 400, 3: 50}, {3: 10, 5: 46}, {2: 60, 4: 900}, {}])
@each_of(("relation", "epsilon"), [(ADDED, "1"), (REPLACED, "0.2")])
def test_both_ends_hold_where_no_group_is_cut(
    numbers: dict[int, int], relation: NeighboringRelation, epsilon: str
) -> None:
    rng = np.random.default_rng(sum(numbers.values()))
    truth = BoundedUnits(3, Profile.from_prevalences(numbers), Bounded.GROUPS_OF_USERS)
    mechanism = ExcessMechanism(epsilon, bound=3, relation=relation, of=truth.of).in_groups(5)
    assert mechanism is not None
    assert mechanism.cap == 2
    ends = [mechanism.release_with(truth, simulated_noise(rng)).amount.interval for _ in range(200)]
    held = sum(low <= truth.excess(2**62) <= high for low, high in ends)
    # Fewer than LEAST have a chance of 1e-6 each.
    assert held >= LEAST


@each_of("of", list(Bounded))
def test_an_excess_alone_says_what_it_spent(of: Bounded) -> None:
    units = BoundedUnits(3, Profile.from_counts([1, 4, 5]), of)
    found = ExcessMechanism("0.5", bound=3, relation=REPLACED, of=of).release(units)
    told = found.guarantee
    assert told is not None
    assert (told.unit.kind, told.epsilon, told.delta, told.relation) == (of.unit, Fraction(1, 2), 0, REPLACED)
    for each in (found.units, found.share_of_units, found.capped_amount, found.amount):
        assert each.guarantee == told
        assert "not private" not in each._repr_html_().lower()


def test_a_cap_of_more_groups_than_there_are_is_lowered() -> None:
    asked = ExcessMechanism(1, bound=2, of=Bounded.GROUPS_OF_USERS)
    found = {groups: asked.in_groups(groups) for groups in (1, 2, 3, 5, 22, 90)}
    assert [each and each.cap for each in found.values()] == [None, None, 1, 3, 20, 20]
    assert all(each is None or each.epsilon == asked.epsilon for each in found.values())
    items = ExcessMechanism(1, bound=2)
    assert items.in_groups(1) is items
    for wrong in ({"groups": 5}, {"groups": 2}, {"groups": 50, "of": Bounded.ITEMS_OF_USERS}):
        with pytest.raises(UsageError, match="exceeds the number of groups"):
            replace(asked, **wrong)


def test_an_excess_of_groups_is_of_a_release_of_groups() -> None:
    unit = PrivacyUnit.label(max_count=3, groups=3)
    plain = PrevalenceMechanism(1, unit).release(Profile.from_counts([2, 1]))
    found = Excess(3, 30, ADDED, *BUDGET, 9, 2, 4, Bounded.GROUPS_OF_LABELS)
    with pytest.raises(UsageError, match="Only a release of groups can have an excess of groups"):
        replace(plain, excess=found, guarantee=found.add_to(plain.guarantee))


def test_numbers_below_nothing_are_taken_as_nothing() -> None:
    nothing = excess(-900, -900, -9_000)
    assert nothing.at_least == 0
    assert nothing.units.interval == nothing.capped_amount.interval == (0, 0)
    assert (nothing.units.value, nothing.share_of_units.interval) == (0, (0, 1))
    assert excess(5_000, -900, 0).share_of_units.interval == (0, 0)
    # The interval of a share holds the share of what was released.
    for each in (excess(-3, 1, 1), excess(1, 2_000, 1), excess(10**6, 10, 10)):
        low, high = each.share_of_units.interval
        assert 0 <= low <= each.share_of_units.value <= high <= 1


@each_of(
    ("name", "wrong", "says"),
    [
        ("bound", 0, "bound must be a whole number from 1"),
        ("cap", 2**62 + 1, "cap must be"),
        ("noisy_items", 2**63, "noisy_items must be"),
        ("noisy_above", 1.0, "noisy_above must be"),
        ("users_epsilon", 0, "users_epsilon must be"),
        ("items_epsilon", Fraction(1, 10**12), "too large to draw"),
        ("cap", 2**60, "too large to draw"),
    ],
)
def test_impossible_numbers_are_refused(name: str, wrong: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        replace(excess(1, 1, 1), **{name: wrong})


def test_a_release_says_what_its_excess_spent() -> None:
    unit = PrivacyUnit.user(max_items=3)
    plain = FrobeniusMechanism(1, unit).release(Profile.from_counts([9, 4], unit=unit))
    found = excess(1, 2, 3)
    promised = found.add_to(plain.guarantee)
    assert promised.epsilon == Fraction(21, 20)
    assert [spent for _, spent in promised.spending] == [1, *BUDGET]
    assert replace(plain, excess=found, guarantee=promised).excess == found
    narrower = replace(promised, unit=PrivacyUnit.user(max_items=2))
    for guarantee in (plain.guarantee, narrower, replace(promised, relation=REPLACED)):
        with pytest.raises(UsageError, match="must say what the excess spent"):
            replace(plain, excess=found, guarantee=guarantee)


def test_no_release_holds_its_users() -> None:
    users = BoundedUnits(1, Profile([1], [2]))
    private = Profile([1], [2], unit=PrivacyUnit.user(max_items=1), users=users)
    for name in ("frobenius", "partition", "privhist", "auto"):
        assert release(private, epsilon=1, mechanism=name).profile.users is None
    made = release(private, epsilon=1)
    with pytest.raises(UsageError, match="that is private"):
        replace(made, profile=private)
