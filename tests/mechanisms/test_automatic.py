"""The automatic choice, releases by name, and plans."""

from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.mechanisms import (
    CentralMechanism,
    FrobeniusMechanism,
    PartitionMechanism,
    PrevalenceMechanism,
    choose,
    plan,
    release,
    staircase_profile,
    zipf_profile,
)
from anonhist.mechanisms.picking import from_parameters
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

ITEM, FIVE = PrivacyUnit.item(), PrivacyUnit.user(max_items=5)
PROFILE = Profile.from_prevalences({1: 20, 2: 5, 9: 1})


@each_of(
    ("epsilon", "unit", "relation", "items", "name"),
    [
        ("0.01", ITEM, "add-or-remove", None, "frobenius"),
        ("1", ITEM, "add-or-remove", None, "frobenius"),
        ("1.1", ITEM, "add-or-remove", None, "partition"),
        ("4", ITEM, "add-or-remove", None, "partition"),
        ("4", ITEM, "add-or-remove", 2**40 + 1, "frobenius"),
        ("4", ITEM, "add-or-remove", 2**40, "partition"),
        ("2", ITEM, "substitute", None, "frobenius"),
        ("5", FIVE, "add-or-remove", None, "frobenius"),
        ("5.5", FIVE, "add-or-remove", None, "partition"),
        ("50", ITEM, "add-or-remove", None, "frobenius"),
        ("1", PrivacyUnit.label(max_count=3), "add-or-remove", None, "prevalence"),
    ],
)
def test_choice_follows_from_public_facts(
    epsilon: str, unit: PrivacyUnit, relation: str, items: int | None, name: str
) -> None:
    mechanism, reason = choose(epsilon=epsilon, unit=unit, relation=NeighboringRelation(relation), expected_items=items)
    assert mechanism.name == name
    assert mechanism.unit == unit
    assert reason.endswith(".")


@pytest.mark.slow
def test_release_takes_the_profiles_unit_and_refuses_less() -> None:
    bounded = PROFILE.with_unit(FIVE)
    assert release(bounded, epsilon=1, source=SeededSource(0)).guarantee.unit == FIVE
    assert release(PROFILE, epsilon=1, source=SeededSource(0)).guarantee.unit == ITEM
    assert release(PROFILE, epsilon=1, unit=FIVE, source=SeededSource(0)).guarantee.unit == FIVE
    for less in (ITEM, PrivacyUnit.user(max_items=4), PrivacyUnit.label(max_count=9)):
        with pytest.raises(UsageError, match="protects less"):
            release(bounded, epsilon=1, unit=less)


def test_release_by_name_and_by_mechanism() -> None:
    for name, kind in (("frobenius", FrobeniusMechanism), ("partition", PartitionMechanism)):
        assert isinstance(release(PROFILE, epsilon=2, mechanism=name, source=SeededSource(0)).mechanism, kind)
    chosen = FrobeniusMechanism("0.7")
    made = release(PROFILE, mechanism=chosen, simulations=5, source=SeededSource(0))
    assert made.mechanism == chosen
    assert made.guarantee.epsilon == Fraction(7, 10)
    assert made.simulations == 5
    assert made.error.simulations == 5


@each_of(
    "arguments",
    [
        {},
        {"epsilon": 0},
        {"epsilon": True},
        {"epsilon": 1, "mechanism": "magic"},
        {"epsilon": 1, "mechanism": FrobeniusMechanism(1)},
        {"mechanism": FrobeniusMechanism(1), "unit": ITEM},
        {"epsilon": 1, "mechanism": "prevalence"},
        {"epsilon": 1, "expected_items": 0},
    ],
)
def test_wrong_calls_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        release(PROFILE, **arguments)


@pytest.mark.slow
def test_same_source_gives_the_same_release_and_the_system_does_not() -> None:
    first, second = (release(PROFILE, epsilon="0.3", source=SeededSource(7)).profile for _ in range(2))
    assert first == second
    assert len({release(PROFILE, epsilon="0.3").profile for _ in range(8)}) > 1


@pytest.mark.parametrize(
    "mechanism",
    [
        FrobeniusMechanism("1/3", FIVE, NeighboringRelation.SUBSTITUTE),
        PartitionMechanism(2),
        PrevalenceMechanism(1, PrivacyUnit.label(max_count=7)),
    ],
)
def test_parameters_make_the_mechanism_again(mechanism: CentralMechanism) -> None:
    assert from_parameters(mechanism.name, mechanism.parameters) == mechanism


@each_of(
    ("name", "change"),
    [
        ("magic", {}),
        ("frobenius", {"epsilon": "0"}),
        ("frobenius", {"epsilon": 1}),
        ("frobenius", {"unit": "city"}),
        ("frobenius", {"bound": "1"}),
        ("frobenius", {"relation": "sideways"}),
        ("frobenius", {"extra": 1}),
        ("prevalence", {}),
    ],
)
def test_bad_parameters_are_bad_data(name: str, change: dict[str, object]) -> None:
    parameters = {"epsilon": "1", "unit": "item", "bound": 1, "relation": "add-or-remove"} | change
    with pytest.raises(DataError):
        from_parameters(name, parameters)


@pytest.mark.slow
def test_plan_rows() -> None:
    rows = plan(items=10_000, epsilons=["0.5", 2], rng=np.random.default_rng(0))
    assert [row.mechanism for row in rows] == ["frobenius", "partition"]
    assert rows[0].sorted_l1.value > rows[1].sorted_l1.value > 0
    assert rows[0].relative_error == pytest.approx(rows[0].sorted_l1.value / rows[0].items)
    like = plan(epsilons=[2], shape=PROFILE, rng=np.random.default_rng(0))
    assert like[0].items == PROFILE.n
    scaled = plan(epsilons=[2], items=10 * PROFILE.n, shape=PROFILE, rng=np.random.default_rng(0))
    assert scaled[0].items == 10 * PROFILE.n


@pytest.mark.parametrize("arguments", [{"epsilons": [1]}, {"epsilons": [0], "items": 5}, {"epsilons": [1], "items": 0}])
def test_plan_refuses(arguments: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        plan(**arguments)
    with pytest.raises(UsageError):
        plan(epsilons=[1], items=5, shape="round")


@pytest.mark.slow
@each_of("items", [1, 2, 3, 10, 1000, 10**6, 10**12])
def test_planned_shapes_have_the_size_asked_for(items: int) -> None:
    for shape in (zipf_profile, staircase_profile):
        profile = shape(items)
        assert 0.6 * items <= profile.n <= items or items < 4
    assert zipf_profile(items).k_plus(1) >= zipf_profile(items).k_plus(2)


@pytest.mark.slow
def test_errors_of_a_release_match_what_fresh_releases_show() -> None:
    profile = Profile.from_prevalences({1: 4000, 2: 900, 3: 300, 5: 60, 20: 8, 150: 2, 900: 1})
    made = release(profile, epsilon=1, simulations=60, source=SeededSource(0))
    runs = [release(profile, epsilon=1, source=SeededSource(seed)).profile for seed in range(1, 61)]
    measured = [sorted_l1(profile, run) for run in runs]
    spread = np.hypot(np.std(measured) / 60**0.5, made.error.sorted_l1.standard_error)
    # The release is smoother or rougher than the truth by chance: a fifth of slack on top of five standard errors.
    assert abs(np.mean(measured) - made.error.sorted_l1.value) < 5 * spread + 0.2 * np.mean(measured)
    inside = np.mean([made.k_plus(3).standard_error * 3 >= abs(run.k_plus(3) - profile.k_plus(3)) for run in runs])
    assert inside > 0.9


@pytest.mark.parametrize("wrong", [[1, 2], {1: 2}, release(PROFILE, epsilon=1, source=SeededSource(0))])
def test_only_profiles_are_released_and_compared(wrong: object) -> None:
    with pytest.raises(UsageError, match="profile"):
        release(wrong, epsilon=1)
    with pytest.raises(UsageError, match="profile"):
        FrobeniusMechanism(1).release(wrong)
    with pytest.raises(UsageError, match="between profiles"):
        sorted_l1(PROFILE, wrong)


@pytest.mark.parametrize(
    ("unit", "is_substitute", "told"),
    [
        (PrivacyUnit.item(), False, "ε is below 1.1 (here 1)."),
        (PrivacyUnit.item(), True, "ε per item is below 1.1 (here 0.5, as replacing an item changes up to 2 items)."),
        (PrivacyUnit.user(max_items=5), False, "ε per item is below 1.1 (here 0.2, as a user has up to 5 items)."),
        (PrivacyUnit.edge(), False, "ε per degree is below 1.1 (here 0.5, as an edge changes up to 2 degrees)."),
        (PrivacyUnit.edge(degrees=1), False, "ε is below 1.1 (here 1)."),
    ],
)
def test_the_reason_says_by_what_epsilon_is_divided(unit: PrivacyUnit, *, is_substitute: bool, told: str) -> None:
    relation = NeighboringRelation.SUBSTITUTE if is_substitute else NeighboringRelation.ADD_OR_REMOVE
    _, reason = choose(epsilon=1, unit=unit, relation=relation)
    assert reason == f"The Frobenius mechanism has the lowest error on real data where {told}"
