"""The choice of how many items of each user count: its exact privacy loss, what it decides, and what it refuses."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonhist as ah
from anonhist.accounting import Ledger
from anonhist.accounting.entry import Charged
from anonhist.errors import UsageError
from anonhist.mechanisms import FrobeniusMechanism, bound_choosing
from anonhist.mechanisms.bound_choosing import PreparedChoice, prepare_choice
from anonhist.mechanisms.choosing import pmf_by_scores, scores_apart
from anonhist.mechanisms.releasing import AskedRelease
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.chosen_bound import Bounds, ChosenBound
from anonhist.profiles.grouped import GroupedProfile
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_equal

ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
# ε₁ = 1.
ASKED = ChosenBound(10, 1_000, "0.1", candidates=(1, 2, 5))
SIZES = range(9)
NOISES = (0, 0, 0), (1, 2, 5), (3, 3, 4), (0, 7, 9), (9, 2, 0), (1, 1, 2)
# A tenth is more than some bounds keep.
MANY = 100
Sizes = tuple[int, ...]


def choice_with(noise: Sequence[int], *, groups: int = 1, expected: int = 0) -> PreparedChoice:
    unit = PrivacyUnit.user(max_items=5, groups=groups)
    own = dict(zip(ASKED.units(unit), noise, strict=True))
    release = AskedRelease(10).prepared(PrivacyUnit.user(max_items=5), choice=ASKED)
    return PreparedChoice(ASKED, unit, dict.fromkeys(own, release), own, expected)


def chances(choice: PreparedChoice, sizes: Iterable[int]) -> np.ndarray[Any, Any]:
    return np.log(pmf_by_scores(choice.scores(Counter(sizes)), choice.rate))


def worst_loss(choice: PreparedChoice) -> float:
    """Return the largest loss over all data of three users or fewer: one more, or one in the place of another."""
    worst = 0.0
    for many in range(3):
        for others in combinations_with_replacement(SIZES, many):
            found = [chances(choice, others), *(chances(choice, (*others, own)) for own in SIZES)]
            # Rows 1, 2, … are replaced by each other.
            worst = max(worst, *(float(np.abs(one - other).max()) for one in found for other in found))
    return worst


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("expected", [0, MANY])
def test_neighbors_lose_at_most_the_budget_of_the_choice(noise: Sequence[int], expected: int) -> None:
    assert worst_loss(choice_with(noise, expected=expected)) <= 1 + 1e-12


@pytest.mark.parametrize("noise", NOISES[1:3])
def test_in_groups_a_user_counts_in_each(noise: Sequence[int]) -> None:
    choice = choice_with(noise, groups=3)
    lost = [np.abs(chances(choice, others) - chances(choice, (*others, 9, 9, 9))).max() for others in ((), (1, 5, 5))]
    assert max(lost) <= 1


def _without_half(choice: PreparedChoice) -> PreparedChoice:
    return replace(choice, asked=replace(choice.asked, epsilon=20))


def test_the_enumeration_finds_a_rate_that_is_twice_too_high() -> None:
    assert max(worst_loss(_without_half(choice_with(noise))) for noise in NOISES) > 1.2


@pytest.mark.parametrize("divisor", [lambda *_: 1, min], ids=["none", "smaller"])
def test_the_enumeration_finds_a_wrong_divisor(divisor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bounds, "apart", lambda one, other, _: divisor(one.items, other.items))
    assert max(worst_loss(choice_with(noise)) for noise in NOISES) > 1.2


def test_the_enumeration_finds_a_wrong_divisor_of_what_should_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bounds, "most", property(lambda bounds: bounds.items**0.5))
    assert max(worst_loss(choice_with(noise, expected=MANY)) for noise in NOISES) > 1.2


def test_scores_are_what_the_definition_says() -> None:
    losses, bounds = [7, 3, 3, 20], [1, 2, 4, 9]
    by_hand = [Fraction(4), Fraction(0), Fraction(0), Fraction(17, 5)]
    assert scores_apart(losses, lambda one, other: abs(bounds[one] - bounds[other])) == by_hand


def test_draws_have_the_probabilities_that_are_enumerated() -> None:
    choice, sizes = choice_with((3, 3, 4)), Counter((1, 2, 7))
    source = SeededSource(3)
    drawn = np.array([choice.draw(sizes, source=source) for _ in range(4_000)])
    pmf = pmf_by_scores(choice.scores(sizes), choice.rate)
    places = np.searchsorted(ASKED.candidates, [unit.bound for unit in drawn])
    assert_pmf_equal(places.tolist(), dict(enumerate(pmf.tolist())))


def test_kept_rows_are_weighed_and_rows_beyond_the_largest_candidate_are_not() -> None:
    choice = choice_with((10, 20, 30))
    # ε₁ = 1: the margin is 0.6·m·ln(noise/10), in 64ths, with ln 2 = 44/64 and ln 3 = 70/64.
    margins = [Fraction(0), Fraction(6 * 2 * 44, 640), Fraction(6 * 5 * 70, 640)]
    losses = [10 - 7 + margins[0], 20 - 10 + margins[1], 30 - 15 + margins[2]]
    assert choice.losses({1: 4, 3: 2, 5: 1}) == losses
    assert choice.losses({9: 1}) == choice.losses({5: 1})


def test_noisy_bounds_are_rarer_by_a_public_number() -> None:
    # Of no units, nothing is kept: the slopes of noise and margin, and the logarithms.
    first, second = 10 + Fraction(6 * 2 * 44, 640), 20 + Fraction(6 * 5 * 70, 640)
    by_hand = [Fraction(0), first + Fraction(44, 64), max(second / 4, (second - first) / 3) + Fraction(70, 64)]
    assert choice_with((10, 20, 30)).scores({}) == by_hand


def test_a_bound_that_keeps_less_than_a_tenth_of_the_expected_items_is_too_small() -> None:
    choice = choice_with((10, 10, 10), expected=MANY)
    # One unit with three items: 9, 8 and 7 are missing, and one unit keeps at most 1, 2 and 5.
    assert choice.scores({3: 1}) == [9, 4, Fraction(7, 5)]
    assert choice.scores({3: 4}) == [6, 4, 0]


@pytest.mark.slow
def test_a_few_units_with_most_items_are_seen() -> None:
    choice = prepare_choice(ChosenBound("0.2", 20_000), PrivacyUnit.user(max_items=128))
    pmf = pmf_by_scores(choice.scores({300: 67}), choice.rate)
    # Differences alone give them bounds of 8 and less in more than half of all cases.
    assert pmf[:4].sum() < 0.05


def test_units_just_beyond_a_bound_count_one_by_one() -> None:
    choice = choice_with((10, 10, 10))
    # Ten users have more than one item, and more than two: ten in a step, 20/4 and 10/3 up to the bound 5.
    assert choice.scores({3: 10}) == [10, 10, 0]
    # Noise and margin grow by more than ten from one item to the next: what users have beyond two is not worth it.
    assert choice_with((10, 10, 110)).scores({3: 10})[1] == 0


def test_the_enumeration_finds_a_step_that_counts_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    own = PreparedChoice._kept

    def doubled(choice: PreparedChoice, bounds: Bounds, places: Any) -> int:
        found = own(choice, bounds, places)
        # Three items are a step from two, and no candidate.
        return found if bounds.items in ASKED.candidates else 2 * found - own(choice, Bounds(2, 1), places)

    monkeypatch.setattr(PreparedChoice, "_kept", doubled)
    assert max(worst_loss(choice_with(noise)) for noise in NOISES) > 1.2


@pytest.mark.slow
def test_large_data_get_the_bound_with_the_least_loss() -> None:
    choice = prepare_choice(ChosenBound(4, 200_000), PrivacyUnit.user(max_items=128))
    pmfs = [pmf_by_scores(choice.scores(sizes), choice.rate) for sizes in ({5: 200_000}, {300: 3_000}, {1: 10**6})]
    assert [choice.units[pmf.argmax()].bound for pmf in pmfs] == [8, 128, 1]
    assert min(pmf.max() for pmf in pmfs) > 0.98


def test_bounds_that_are_far_too_noisy_are_rarely_drawn() -> None:
    choice = prepare_choice(ChosenBound(1, 100_000), PrivacyUnit.label(max_count=128))
    pmf = pmf_by_scores(choice.scores({5: 20_000}), choice.rate)
    drawn = dict(zip((unit.bound for unit in choice.units), pmf.tolist(), strict=True))
    # A margin in proportion to the bound made bounds above 8 as likely as 1 in 4.
    assert drawn[8] > 0.9
    assert drawn[128] < 0.01


def test_noise_is_public_and_the_same_in_every_call() -> None:
    asked = ChosenBound("0.5", 5_000, candidates=(1, 4))
    unit = PrivacyUnit.user(max_items=4)
    first = prepare_choice(asked, unit).noise
    bound_choosing._runs_on.cache_clear()
    assert prepare_choice(asked, unit).noise == first
    assert 0 < first[PrivacyUnit.user(max_items=1)] < first[unit]


def test_candidates_that_need_more_than_the_budget_go_whatever_the_data() -> None:
    unit = PrivacyUnit.user(max_items=2**20)
    asked = ChosenBound("0.001", 100, candidates=(1, 2**20))
    choice = prepare_choice(asked, unit)
    assert choice.units == [PrivacyUnit.user(max_items=1)]
    # A release does not say that it was chosen among those, either.
    assert "was chosen privately among 1, with ε = 0.00025." in str(choice.dearest.reason)
    with pytest.raises(UsageError, match="too small"):
        prepare_choice(replace(asked, epsilon="0.000001"), unit)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"bound_share": 1}, "below 1"),
        ({"expected_items": 0}, "expected_items"),
        ({"candidates": (3,)}, "from 2 to 64"),
        ({"candidates": (4, 2)}, "ascending"),
        ({"candidates": "auto"}, "must be a list"),
        ({"mechanism": "isotonic"}, "not for 'isotonic'"),
        ({"relation": "substitute"}, "NeighboringRelation"),
    ],
)
def test_impossible_requests_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        ChosenBound(**{"epsilon": 1, "expected_items": 100, **given})


def bounded(asked: ChosenBound) -> Profile:
    return Profile([1, 3], [5, 2], unit=PrivacyUnit.user(max_items=2), choice=asked)


SMALL = ChosenBound(1, 100, "0.1", candidates=(1, 2, 5))


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("mechanism", ["auto", "frobenius", "privhist"])
def test_a_release_states_what_the_choice_spent(relation: NeighboringRelation, mechanism: Any) -> None:
    asked = replace(SMALL, relation=relation, mechanism=mechanism)
    released = ah.release(bounded(asked), epsilon=1, relation=relation, mechanism=mechanism, simulations=0)
    told = released.guarantee
    assert told.epsilon == 1
    assert told.spending[0] == ("choosing how many items of each user count", Fraction(1, 10))
    assert sum(spent for _, spent in told.spending[1:]) == Fraction(9, 10)
    assert "chosen privately among 1, 2, 5, with ε = 0.1" in released.reason
    made: Any = released.mechanism
    assert made.bound_choice == asked
    assert type(made).from_parameters(made.parameters) == made


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"epsilon": 2}, "another release"),
        ({"mechanism": "frobenius"}, "another release"),
        ({"relation": SUBSTITUTE}, "another release"),
        ({"public_cap": 9}, "public_cap"),
        ({"excess_share": "0.1"}, "excess_share"),
        ({"unit": PrivacyUnit.user(max_items=5)}, "unit"),
        # Whether it is the one that was chosen is private.
        ({"unit": PrivacyUnit.user(max_items=2)}, "unit"),
        ({"epsilon": None, "mechanism": FrobeniusMechanism(1, PrivacyUnit.user(max_items=2))}, "epsilon"),
    ],
)
def test_a_profile_with_a_chosen_bound_is_released_as_it_was_chosen(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        ah.release(bounded(SMALL), **{"epsilon": 1, **given})


def test_a_budget_that_is_too_small_is_named_whole() -> None:
    unit = PrivacyUnit.user(max_items=2)
    asked = ChosenBound("0.000009", 100, "0.1", candidates=(1, 2))
    # The release would need 0.00001 itself, and has nine tenths.
    with pytest.raises(UsageError, match=r"epsilon = 9e-06 is too small for .* at least 1/90000"):
        prepare_choice(asked, unit)


def test_the_number_of_items_has_the_noise_of_its_own_step() -> None:
    asked = replace(SMALL, mechanism="privhist")
    of_choice = ah.release(bounded(asked), epsilon=1, mechanism="privhist", simulations=0)
    given = Profile([1, 3], [5, 2], unit=PrivacyUnit.user(max_items=2))
    plain = ah.release(given, epsilon="0.9", mechanism="privhist", simulations=0)
    own, others = of_choice.num_items(), plain.num_items()
    assert own.standard_error == others.standard_error > 100


def test_nothing_releases_such_a_profile_without_stating_the_choice() -> None:
    for profile in (bounded(SMALL), bounded(SMALL).with_unit(PrivacyUnit.user(max_items=2))):
        with pytest.raises(UsageError, match="chose how many items"):
            FrobeniusMechanism(1, PrivacyUnit.user(max_items=2)).release(profile)
        with pytest.raises(UsageError, match="chose how many items"):
            ah.private.entropy(profile, epsilon=1, unit=profile.unit)


def test_a_ledger_is_charged_for_the_largest_candidate_whatever_was_chosen(tmp_path: Path) -> None:
    with Ledger(str(tmp_path / "budget.db")) as ledger:
        ledger.create("log", "user", epsilon=5)
        for bound in (1, 2):
            profile = bounded(SMALL).with_unit(PrivacyUnit.user(max_items=bound))
            ah.release(profile, epsilon=1, simulations=0, ledger=ledger, dataset="log")
            both = GroupedProfile(("g",), {("a",): profile}, unit=profile.unit)
            ah.release_groups(both, epsilon=1, simulations=0, ledger=ledger, dataset="log")
        charges = [entry.event.charge for entry in ledger.entries("log") if isinstance(entry.event, Charged)]
    assert [(each.guarantee.unit.bound, each.guarantee.epsilon) for each in charges] == [(5, 1)] * 4
    assert len({str(each.parameters) for each in charges}) == 1


def test_groups_that_are_put_together_anew_still_state_the_choice() -> None:
    profile = bounded(SMALL)
    grouped = GroupedProfile(("g",), {("a",): profile}, unit=PrivacyUnit.user(max_items=2))
    assert ah.release_groups(grouped, epsilon=1, simulations=0).guarantee.spending[0][1] == Fraction(1, 10)
    others = replace(SMALL, bound_share="0.2")
    with pytest.raises(UsageError, match="different ways"):
        GroupedProfile(("g",), {("a",): profile, ("b",): bounded(others)}, unit=PrivacyUnit.user(max_items=2))


@pytest.mark.parametrize("name", ["choice_share", "choice_candidates", "choice_items"])
def test_damaged_parameters_are_refused(name: str) -> None:
    made = AskedRelease(1).prepared(PrivacyUnit.user(max_items=2), choice=SMALL).mechanism
    for value in ("x", 0, None, "1,,2", "5,2"):
        with pytest.raises(UsageError):
            type(made).from_parameters({**made.parameters, name: value})
    with pytest.raises(UsageError, match="together"):
        type(made).from_parameters({key: value for key, value in made.parameters.items() if key != name})
    with pytest.raises(UsageError, match="a candidate of it"):
        type(made).from_parameters({**made.parameters, "bound": 3})


def test_the_loss_of_the_choice_is_attained() -> None:
    # Losses near the budget show that the enumeration covers the worst neighbors.
    assert max(worst_loss(choice_with(noise)) for noise in NOISES) > 0.5
    assert math.isclose(float(ASKED.spent), 1)
