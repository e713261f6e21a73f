"""What a guarantee means, in sentences: the factor is never rounded down, and nobody is promised too much."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.local import KRR
from anonhist.local.page import lead as local_lead
from anonhist.local.page import promise as local_promise
from anonhist.mechanisms import FrobeniusMechanism, release
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.profiles import BoundedUnits, Profile
from anonhist.report.shown import promised
from anonhist.report.wording import (
    any_user,
    exclusions,
    factor,
    lead,
    meaning,
    plain_promise,
    promise_lines,
    release_exclusions,
)

ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
UNITS = [
    PrivacyUnit.item(),
    PrivacyUnit.user(max_items=5),
    PrivacyUnit.label(max_count=30),
    PrivacyUnit.edge(),
    PrivacyUnit.node(max_distance=8),
]


def guarantee(
    epsilon: Fraction,
    *,
    unit: PrivacyUnit = UNITS[0],
    relation: NeighboringRelation = ADD,
    delta: Fraction = Fraction(0),
) -> Guarantee:
    return Guarantee(unit, relation, epsilon, delta, "noise is exact")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (guarantee(Fraction(1)), "Adding or removing any one item changes … of 2.72."),
        (
            guarantee(Fraction(1, 2), relation=SUBSTITUTE),
            "Replacing any one item by another changes … of 1.649.",
        ),
        (
            guarantee(Fraction(2), unit=UNITS[1], delta=Fraction(1, 10**9)),
            (
                "Adding or removing any one user with all their items (at most 5 of them count) changes … of 7.39 "
                "(plus δ ≤ 10⁻⁹)."
            ),
        ),
        (
            guarantee(Fraction(10), unit=UNITS[4]),
            "Adding or removing any one node with all its edges changes … of 22,027.",
        ),
    ],
)
def test_the_promise_is_one_sentence_with_one_number(made: Guarantee, told: str) -> None:
    assert plain_promise(made) == told.replace("…", "the probability of any result by at most a factor")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.kind)
def test_nobody_is_called_a_person_whose_items_are_protected(unit: PrivacyUnit) -> None:
    for relation in (ADD, SUBSTITUTE):
        made = guarantee(Fraction(1), unit=unit, relation=relation)
        told = " ".join((lead(made), *meaning(made)))
        assert "person" not in told
        assert f"a given {unit.kind} is in the data" in told
        assert (f"whether a given {unit.kind}" in told) == (relation is ADD)


@given(st.fractions(Fraction(1, 10**12), 12))
def test_the_factor_is_rounded_up_and_by_little(epsilon: Fraction) -> None:
    *ones, written = factor(epsilon).replace(",", "").split(" + ")
    shown = float(written) - (0.0 if ones else 1.0)
    exact = math.expm1(epsilon)
    # Floats that are one apart from another have lost digits.
    assert exact * (1 - 1e-12) - 1e-16 <= shown <= 1.12 * exact + 1e-15


def test_a_factor_of_many_digits_is_a_power() -> None:
    assert factor(Fraction(100)) == "e^100"
    assert factor(Fraction(1, 10**30)) == "1 + 1.1e-30"


def test_no_large_epsilon_is_called_private() -> None:
    for epsilon in (11, 100, 10**9):
        made = guarantee(Fraction(epsilon))
        for said in (lead(made), local_lead(made), dict(promise_lines(made))["Protection"]):
            assert "practically no protection" in said
            assert "practically certain" in said
            assert "% sure" not in said


def test_delta_conditions_and_parties_are_told() -> None:
    made = Guarantee(
        UNITS[0],
        ADD,
        Fraction(1),
        Fraction(1, 10**6),
        "noise is exact",
        conditions=("3 parties add noise", "they keep it"),
        party_epsilon=Fraction(3),
    )
    assert lead(made) == (
        "An outsider who is 50:50 about whether a given item is in the data can become at most 73.2% sure, apart from "
        "δ ≤ 10⁻⁶. This is moderate protection."
    )
    first, second, third = meaning(made)
    assert first == f"{plain_promise(made)} This stays true whatever is done with the results."
    assert second == "This holds provided that 3 parties add noise, and that they keep it."
    assert "Toward a party, which knows its own share of the noise, the factor is at most 20.1." in third
    assert "A party who is 50:50 about whether a given item is in the data can become at most 95.3% sure" in third
    assert len(meaning(guarantee(Fraction(1)))) == 1


def test_what_stays_true_may_be_said_otherwise() -> None:
    assert meaning(guarantee(Fraction(1)))[0].endswith("This stays true whatever is done with the results.")
    (told,) = meaning(guarantee(Fraction(1)), stays="Keep it.")
    assert told.endswith("at most a factor of 2.72. Keep it.")


def test_a_report_is_promised_for_the_person_who_sent_it() -> None:
    made = KRR(alphabet=2, epsilon=10).guarantee
    assert local_promise(made).endswith("the probability of the report they send by at most a factor of 22,027.")
    assert local_lead(made).startswith(
        "Someone who is 50:50 about which of two answers a person gave can become at most 99.9955% sure."
    )


def test_budgets_of_the_same_people_add_up_whatever_the_data() -> None:
    """Whoever releases a week's log of the same users every week has other data each time."""
    units = {"users": PrivacyUnit.user(max_items=2), "labels": PrivacyUnit.label(max_count=3)}
    for people, unit in (units | {"nodes": PrivacyUnit.node(max_distance=4)}).items():
        told = f"Further releases of data of the same {people}, such as those of next week: their budgets add up."
        assert told in exclusions(unit)
    assert "Further releases of the same data: their budgets add up." in exclusions(PrivacyUnit.item())


@pytest.mark.parametrize(
    ("unit", "first"),
    [
        (PrivacyUnit.item(), "Anyone with several items"),
        (PrivacyUnit.user(max_items=1), "More than 1 item of one user"),
        (PrivacyUnit.user(max_items=1000), "More than 1,000 items of one user"),
        (PrivacyUnit.label(max_count=30), "Anyone with several labels"),
        (PrivacyUnit.edge(degrees=1), "That somebody has many edges"),
        (PrivacyUnit.node(max_distance=8), "Anyone with several nodes"),
    ],
)
def test_not_covered_begins_with_what_the_unit_leaves_out(unit: PrivacyUnit, first: str) -> None:
    lines = exclusions(unit)
    assert lines[0].startswith(first)
    assert any("budgets add up" in line for line in lines)
    assert any("running time" in line for line in lines)


def test_users_that_this_program_bounded_are_protected_whatever_they_did() -> None:
    unit, key = PrivacyUnit.user(max_items=3), "0" * 32
    elsewhere = FrobeniusMechanism(1, unit).release(Profile([1, 2], [5, 5], unit=unit))
    assert any_user(elsewhere) == ""
    assert release_exclusions(elsewhere)[0].startswith("More than 3 items of one user: the data must have been limited")
    here = release(Profile([1, 2], [5, 5], unit=unit, order_key=key), epsilon=1)
    assert any_user(here).endswith("however many items they have: at most 3 of them count.")
    assert release_exclusions(here) == exclusions(unit)[1:]
    users = BoundedUnits(3, Profile([1, 9], [5, 5]))
    told = release(Profile([1], [10], unit=unit, order_key=key, users=users), epsilon=1, excess_share="0.05")
    assert any_user(told).endswith("them count, and at most 30 more items in the estimate of what was left out.")


@pytest.mark.parametrize("delta", ["0.001", "1e-9", "0"])
def test_a_terminal_and_a_page_except_the_same_delta(delta: str) -> None:
    made = guarantee(Fraction(1), delta=Fraction(delta))
    texts = (dict(promise_lines(made))["Protection"], lead(made))
    assert all(("apart from δ = 0.001" in text) == (delta == "0.001") for text in texts)
    assert all(("apart from" in text) == (delta == "0.001") for text in texts)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.kind)
def test_a_page_leads_with_how_sure_somebody_can_become(unit: PrivacyUnit) -> None:
    assert f"a given {unit.kind} is in the data" in promised(guarantee(Fraction(1), unit=unit))["lead"]
