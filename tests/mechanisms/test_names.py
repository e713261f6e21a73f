"""Mechanisms by name: each with the options it takes, without those it does not, and again from its parameters."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

import anonhist
from anonhist.catalogue import MECHANISM_OPTIONS as TYPED
from anonhist.catalogue import MECHANISMS
from anonhist.errors import DataError, UsageError
from anonhist.mechanisms import (
    MECHANISM_NAMES,
    BoundedPartitionMechanism,
    BudgetShares,
    CentralMechanism,
    CumulativeMechanism,
    FrobeniusMechanism,
    IsotonicMechanism,
    PartitionMechanism,
    PrevalenceMechanism,
    PrivHistMechanism,
    RelaxedPartitionMechanism,
    release,
)
from anonhist.mechanisms.picking import check_name, check_options, from_parameters, mechanism_class, named_mechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

ITEM, FIVE, LABEL = PrivacyUnit.item(), PrivacyUnit.user(max_items=5), PrivacyUnit.label(max_count=7)
PROFILE = Profile.from_prevalences({1: 20, 2: 5, 9: 1})

# What each is made with besides epsilon, unit and relation.
OPTIONS: dict[str, dict[str, Any]] = {
    "partition": {},
    "frobenius": {},
    "privhist": {"shares": BudgetShares.thirds()},
    "isotonic": {"public_labels": 100},
    "cumulative": {"public_cap": 50},
    "prevalence": {"public_cap": 50},
    "bounded-partition": {"public_items": 1000},
    "relaxed-partition": {"public_items": 200},
}
# What each has of its own, and whether it must be given.
OWN: dict[str, dict[str, bool]] = {
    "partition": {"member": False},
    "frobenius": {},
    "privhist": {"shares": False},
    "isotonic": {"public_labels": True},
    "cumulative": {"public_cap": True},
    "prevalence": {"public_cap": False},
    "bounded-partition": {"public_items": True},
    "relaxed-partition": {"public_items": True, "delta": False},
}
NEEDED = {name: option for name, own in OWN.items() for option, must in own.items() if must}
# The public number, a value that PROFILE exceeds by one, and the largest.
WITH_NUMBER = {
    "isotonic": ("public_labels", 25, 2**24),
    "cumulative": ("public_cap", 8, 2**24),
    "prevalence": ("public_cap", 8, 2**24),
    "bounded-partition": ("public_items", 38, 2**40),
    "relaxed-partition": ("public_items", 38, 2**40),
}


def test_every_mechanism_has_a_name_and_every_name_a_mechanism() -> None:
    assert ("auto", *OPTIONS) == MECHANISM_NAMES
    for name in MECHANISMS:
        kind = mechanism_class(name)
        assert issubclass(kind, CentralMechanism)
        assert getattr(anonhist.mechanisms, kind.__name__) is kind


def test_the_command_line_has_what_mechanisms_take() -> None:
    taken = {name: {*mechanism_class(name).own_options()} for name in MECHANISMS}
    # A member of a family is two numbers that nobody types.
    assert {name: {*entry.options} for name, entry in MECHANISMS.items()} == taken | {"partition": set()}
    assert {option for entry in MECHANISMS.values() for option in entry.options} == set(TYPED)


def test_options_are_what_a_mechanism_has_of_its_own_and_whether_it_must() -> None:
    assert {name: mechanism_class(name).own_options() for name in MECHANISMS} == OWN


@each_of("name", OPTIONS)
def test_every_name_makes_its_mechanism(name: str) -> None:
    made = named_mechanism(name, Fraction(2), FIVE, NeighboringRelation.SUBSTITUTE, OPTIONS[name])
    assert made.name == name
    assert type(made) is mechanism_class(name)
    assert (made.epsilon, made.unit, made.relation) == (2, FIVE, NeighboringRelation.SUBSTITUTE)
    for option, value in OPTIONS[name].items():
        assert getattr(made, option) == value


@each_of("name", OPTIONS)
def test_every_name_releases(name: str) -> None:
    made = release(PROFILE, epsilon=2, mechanism=name, source=SeededSource(1), **OPTIONS[name])
    assert made.mechanism == named_mechanism(name, Fraction(2), ITEM, NeighboringRelation.ADD_OR_REMOVE, OPTIONS[name])
    assert made.reason == "The mechanism was chosen by name."
    assert made.guarantee == made.mechanism.guarantee
    again = release(PROFILE, mechanism=made.mechanism, source=SeededSource(1))
    assert (again.profile, again.items) == (made.profile, made.items)


@each_of("name", MECHANISM_NAMES)
@each_of("option", ["public_items", "public_labels", "public_cap", "shares"])
def test_foreign_options_are_refused(name: str, option: str) -> None:
    own = OPTIONS.get(name, {})
    given = {option: BudgetShares.thirds() if option == "shares" else 500}
    if option in own:
        check_options(name, given)
        return
    sentence = f"^{option} does not apply to mechanism='{name}'; leave it out, or choose another mechanism.$"
    with pytest.raises(UsageError, match=sentence):
        check_options(name, own | given)
    with pytest.raises(UsageError, match=sentence):
        release(PROFILE, epsilon=2, mechanism=name, **own, **given)


@each_of("name", OPTIONS)
def test_missing_public_numbers_are_asked_for(name: str) -> None:
    if name not in NEEDED:
        check_options(name, {})
        return
    sentence = f"^mechanism='{name}' needs {NEEDED[name]}: a public number that the data do not"
    with pytest.raises(UsageError, match=sentence):
        check_options(name, {})
    with pytest.raises(UsageError, match=sentence):
        release(PROFILE, epsilon=2, mechanism=name)


def test_prevalences_need_a_cap_where_labels_are_not_protected() -> None:
    with pytest.raises(UsageError, match="needs public_cap"):
        release(PROFILE, epsilon=2, mechanism="prevalence")
    assert release(PROFILE, epsilon=2, mechanism="prevalence", unit=LABEL).mechanism.parameters["bound"] == 7


@each_of("name", ["magic", "", "Frobenius", "bounded_partition", "AUTO"])
def test_unknown_names_are_refused(name: str) -> None:
    for ask in (
        lambda: check_name(name),
        lambda: release(PROFILE, epsilon=1, mechanism=name),
        lambda: named_mechanism(name, Fraction(1), ITEM, NeighboringRelation.ADD_OR_REMOVE, {}),
    ):
        with pytest.raises(UsageError, match=f"^There is no mechanism called '{name}'; choose one of auto, partition,"):
            ask()
    with pytest.raises(DataError, match="unknown to this version"):
        from_parameters(name, FrobeniusMechanism(1).parameters)


def test_a_mechanism_brings_its_own_options() -> None:
    for options in ({"public_cap": 50}, {"public_items": 1}, {"public_labels": 1}, {"shares": BudgetShares.thirds()}):
        with pytest.raises(UsageError, match="has its own ε, unit, relation and options"):
            release(PROFILE, mechanism=CumulativeMechanism(1, public_cap=50), **options)


@each_of("name", WITH_NUMBER)
def test_public_numbers_below_the_data_are_refused_and_equal_ones_are_not(name: str) -> None:
    number, below, _ = WITH_NUMBER[name]
    with pytest.raises(UsageError, match=f"^The data exceed {number}, .* do not try other values") as caught:
        release(PROFILE, epsilon=2, mechanism=name, **{number: below})
    # How far it is below would tell of the data.
    assert not any(character.isdigit() for character in str(caught.value))
    assert release(PROFILE, epsilon=2, mechanism=name, source=SeededSource(1), **{number: below + 1})


MADE = [
    FrobeniusMechanism("1/3", FIVE, NeighboringRelation.SUBSTITUTE),
    PartitionMechanism(2),
    PartitionMechanism(2, member=PartitionMechanism("1.9").family),
    PrevalenceMechanism(1, LABEL),
    PrevalenceMechanism("1/7", FIVE, NeighboringRelation.SUBSTITUTE, public_cap=2**24),
    IsotonicMechanism("0.1", FIVE, public_labels=2**24),
    CumulativeMechanism("1e-3", ITEM, NeighboringRelation.SUBSTITUTE, public_cap=2**24),
    PrivHistMechanism("0.7", FIVE),
    PrivHistMechanism(3, shares=BudgetShares("0.1", "0.9", 0)),
    PrivHistMechanism("0.3", shares=BudgetShares.thirds()),
    BoundedPartitionMechanism("0.5", FIVE, public_items=2**40),
    RelaxedPartitionMechanism("0.5", public_items=2**40),
    RelaxedPartitionMechanism("1/2", public_items=1, delta="1e-11"),
]


@each_of("mechanism", MADE)
def test_parameters_make_the_mechanism_again(mechanism: CentralMechanism) -> None:
    assert {type(parameter) for parameter in mechanism.parameters.values()} <= {str, int}
    again = from_parameters(mechanism.name, dict(mechanism.parameters))
    assert again == mechanism
    assert again.parameters == mechanism.parameters
    assert again.guarantee == mechanism.guarantee


def test_every_mechanism_goes_there_and_back() -> None:
    assert {one.name for one in MADE} == set(OPTIONS)


def refusal(name: str, change: Mapping[str, object], *, without: tuple[str, ...] = ()) -> str:
    good = named_mechanism(name, Fraction(2), ITEM, NeighboringRelation.ADD_OR_REMOVE, OPTIONS[name])
    parameters = {key: value for key, value in (dict(good.parameters) | change).items() if key not in without}
    with pytest.raises(DataError) as caught:
        from_parameters(name, parameters)
    message = str(caught.value)
    assert message.startswith(f"The parameters of the {name} mechanism in the file are invalid: ")
    assert message.endswith(".")
    return message


@each_of("name", WITH_NUMBER)
def test_bad_public_numbers_in_a_file_are_bad_data(name: str) -> None:
    number, _, most = WITH_NUMBER[name]
    for wrong in (0, -1, most + 1, 10**40):
        assert f"{number} must be a whole number" in refusal(name, {number: wrong})
    # A file says numbers as they were written: 100.0 is no way to write 100, and nothing is no number.
    for wrong in (100.0, True, None, [100], {"N": 100}):
        assert "text and whole numbers" in refusal(name, {number: wrong})
    assert f"{number} must be a whole number" in refusal(name, {number: "100"})
    refusal(name, {}, without=(number,))


@each_of("name", OPTIONS)
def test_foreign_and_missing_parameters_are_bad_data(name: str) -> None:
    refusal(name, {"seed": 1})
    for foreign in ("public_items", "public_labels", "public_cap", "shares", "delta", "c", "member"):
        if foreign not in mechanism_class(name).own_options() or name == "partition":
            refusal(name, {foreign: "1/2"})
    for needed in ("epsilon", "unit", "bound", "relation"):
        assert "must include epsilon, unit, bound and relation" in refusal(name, {}, without=(needed,))
    for change in ({"epsilon": 2}, {"epsilon": "0"}, {"unit": None}, {"bound": 0}, {"bound": 1.0}, {"relation": 1}):
        refusal(name, change)


@each_of("shares", ["1/3, 1/3", "1/2, 1/2, 1/2", "0, 1/2, 1/2", "", "many", 1, None, ["1", "0", "0"]])
def test_bad_shares_in_a_file_are_bad_data(shares: object) -> None:
    refusal("privhist", {"shares": shares})


@each_of("delta", ["0", "1", "2e-3", "1e-12", "-1", "", 0, 1e-9, None])
def test_a_bad_delta_in_a_file_is_bad_data(delta: object) -> None:
    refusal("relaxed-partition", {"delta": delta})


def test_a_file_without_a_delta_is_bad_data() -> None:
    # A default may change some day; files say what they were made with.
    assert "must be exactly the parameters" in refusal("relaxed-partition", {}, without=("delta",))


def test_a_cap_where_labels_are_protected_is_bad_data() -> None:
    parameters = dict(PrevalenceMechanism(1, LABEL).parameters) | {"public_cap": 7}
    with pytest.raises(DataError, match="leave public_cap out"):
        from_parameters("prevalence", parameters)
