"""The promise: what it may hold, and the sentence that states it."""

import pickle
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonhist.errors import UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist_testing.cases import each_of
from anonhist_testing.strategies import repeatable, units

ADD, SUBSTITUTE = NeighboringRelation
HALF = Fraction(1, 2)
STEPS = (("a noisy Durfee size", Fraction(1, 100)), ("the release", Fraction(49, 100)))


@each_of(
    ("guarantee", "sentence"),
    [
        (
            Guarantee(PrivacyUnit.item(), ADD, HALF, arithmetic="noise is exact"),
            "0.5-differentially private (δ = 0) when one item is added or removed; noise is exact.",
        ),
        (
            Guarantee(PrivacyUnit.item(), SUBSTITUTE, Fraction(1, 3), arithmetic="noise is exact"),
            "1/3-differentially private (δ = 0) when one item is replaced by another; noise is exact.",
        ),
        (
            Guarantee(PrivacyUnit.user(max_items=1000), ADD, HALF, Fraction(3, 2**69), "noise is exact"),
            (
                "0.5-differentially private (δ ≤ 5.1 × 10⁻²¹) when one user with all their items (at most 1,000 "
                "of them count) is added or removed; "
                "noise is exact."
            ),
        ),
        (
            Guarantee(PrivacyUnit.user(max_items=1), SUBSTITUTE, HALF, arithmetic="noise is exact"),
            (
                "0.5-differentially private (δ = 0) when one user with all their items (at most 1 of "
                "them counts) is replaced by another; "
                "noise is exact."
            ),
        ),
        (
            Guarantee(PrivacyUnit.label(max_count=7), ADD, Fraction(2), Fraction(0), "noise is exact"),
            (
                "2-differentially private (δ = 0) when one label with all its items (counts of 7 or more are taken "
                "together) is added or removed; noise is exact."
            ),
        ),
        (
            Guarantee(PrivacyUnit.item(), ADD, HALF, Fraction(0), "noise is exact", STEPS),
            (
                "0.5-differentially private (δ = 0) when one item is added or removed, spent in steps (0.01 for a "
                "noisy Durfee size, 0.49 for the release); noise is exact."
            ),
        ),
        (
            Guarantee(PrivacyUnit.item(), ADD, HALF),
            (
                "0.5-differentially private (δ = 0) when one item is added or removed; what floating-point rounding "
                "costs is not accounted for."
            ),
        ),
    ],
)
def test_the_sentence(guarantee: Guarantee, sentence: str) -> None:
    assert str(guarantee) == sentence


LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def stated_delta(sentence: str) -> Fraction:
    """Read the δ of a sentence, such as 0, 1.1e-7 or 1.1 × 10⁻⁷."""
    digits, ten, power = re.split("δ [=≤] |[)]", sentence)[1].partition("10⁻")
    if not ten:
        return Fraction(digits)
    return Fraction(Decimal(f"{digits.removesuffix(' × ') or 1}e-{power.translate(LOWERED)}"))


@pytest.mark.slow
@settings(repeatable, max_examples=100)
@given(
    units(),
    st.sampled_from(NeighboringRelation),
    st.fractions(Fraction(1, 10**6), 10**3),
    st.fractions(0, Fraction(999, 1000)),
)
def test_the_sentence_never_promises_more(
    unit: PrivacyUnit, relation: NeighboringRelation, epsilon: Fraction, delta: Fraction
) -> None:
    guarantee = Guarantee(unit, relation, epsilon, delta, "noise is exact")
    for sentence in (guarantee.sentence, guarantee.for_people):
        assert Fraction(sentence.split("-differentially", maxsplit=1)[0]) == epsilon
        assert delta <= stated_delta(sentence) <= delta * Fraction(11, 10)
        assert str(unit) in sentence
        assert ("replaced" in sentence) == (relation is SUBSTITUTE)
        assert sentence.count("\n") == 0
        assert sentence.endswith(".")


@each_of("delta", [Fraction(1, 10**400), Fraction(1, 2**70), Fraction(99, 100), Fraction(101, 10**5)])
def test_delta_is_rounded_up(delta: Fraction) -> None:
    guarantee = Guarantee(PrivacyUnit.item(), ADD, HALF, delta)
    for sentence in (guarantee.sentence, guarantee.for_people):
        assert delta <= stated_delta(sentence) <= delta * Fraction(11, 10)


@each_of(
    ("delta", "told"),
    [
        (Fraction(1, 10**9), "10⁻⁹"),
        (Fraction(7, 5 * 10**20), "1.4 × 10⁻²⁰"),
        (Fraction(1, 10**4), "10⁻⁴"),
        (Fraction(1, 1000), "0.001"),
        (Fraction(1, 3), "0.34"),
        (Fraction(0), ""),
    ],
)
def test_people_read_delta_as_a_power_of_ten(delta: Fraction, told: str) -> None:
    expected = f"(δ ≤ {told})" if told else "(δ = 0)"
    assert str(Guarantee(PrivacyUnit.item(), ADD, HALF, delta)).startswith(f"0.5-differentially private {expected} ")


@each_of("epsilon", [Fraction(0), Fraction(-1), 1, 0.5, "1/2", None, Decimal(1), True])
def test_an_epsilon_that_is_not_exact_and_positive_is_refused(epsilon: Any) -> None:
    with pytest.raises(UsageError, match="epsilon of a guarantee"):
        Guarantee(PrivacyUnit.item(), ADD, epsilon)


@each_of("delta", [Fraction(-1, 9), Fraction(1), Fraction(2), 0, 0.0, 1e-9, "0", None])
def test_a_delta_that_is_not_exact_and_below_one_is_refused(delta: Any) -> None:
    with pytest.raises(UsageError, match="delta of a guarantee"):
        Guarantee(PrivacyUnit.item(), ADD, HALF, delta)


@each_of(
    "spending",
    [
        (("a", HALF), ("b", HALF)),
        (("a", Fraction(1, 3)),),
        (("a", 0.5),),
        (("a", Fraction(1)), ("b", Fraction(-1, 2))),
        (("a", HALF), ("b", Fraction(0))),
    ],
)
def test_steps_must_add_up_from_positive_parts(spending: Any) -> None:
    with pytest.raises(UsageError, match="step"):
        Guarantee(PrivacyUnit.item(), ADD, HALF, Fraction(0), "noise is exact", spending)


@each_of(
    ("unit", "relation", "arithmetic"),
    [
        ("item", ADD, "noise is exact"),
        (PrivacyUnit.item(), "substitute", "noise is exact"),
        (PrivacyUnit.item(), None, "noise is exact"),
        (PrivacyUnit.item(), ADD, ""),
        (PrivacyUnit.item(), ADD, None),
    ],
)
def test_fields_of_another_type_are_refused(unit: Any, relation: Any, arithmetic: Any) -> None:
    with pytest.raises(UsageError):
        Guarantee(unit, relation, HALF, Fraction(0), arithmetic)


def test_guarantees_are_values() -> None:
    made = [Guarantee(PrivacyUnit.item(), ADD, HALF, Fraction(0), "noise is exact", STEPS) for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made)) == 1
    assert pickle.loads(pickle.dumps(made[0])) == made[0]  # noqa: S301  # our own pickle
    with pytest.raises(AttributeError):
        made[0].epsilon = Fraction(1)  # type: ignore[misc]  # it is frozen


def test_conditions_and_what_a_party_sees_are_in_the_sentence() -> None:
    made = Guarantee(
        PrivacyUnit.item(), ADD, HALF, arithmetic="noise is exact", conditions=("it rains",), party_epsilon=Fraction(2)
    )
    assert str(made) == (
        "0.5-differentially private (δ = 0) toward outsiders when one item is added or removed, and 2-differentially "
        "private toward each party, which knows its own share of the noise, provided that it rains; noise is exact."
    )
    two = Guarantee(PrivacyUnit.item(), ADD, HALF, arithmetic="noise is exact", conditions=("it rains", "it snows"))
    assert "removed, provided that it rains, and that it snows; noise" in str(two)


@each_of(
    ("fields", "reason"),
    [
        ({"conditions": ("",)}, "clauses of text"),
        ({"conditions": (7,)}, "clauses of text"),
        ({"party_epsilon": Fraction(2)}, "greater than epsilon"),
        ({"conditions": ("it rains",), "party_epsilon": HALF}, "greater than epsilon"),
        ({"conditions": ("it rains",), "party_epsilon": 2.0}, "greater than epsilon"),
    ],
)
def test_conditions_that_say_nothing_are_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        Guarantee(PrivacyUnit.item(), ADD, HALF, **fields)
