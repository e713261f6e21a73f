"""What an epsilon is worth is said in the same words everywhere, and no words praise a large one."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, certainty, protection, strength, warning
from anonhist_testing.cases import each_of


@each_of(
    ("epsilon", "word", "is_warned"),
    [
        ("1e-60", "strong", False),
        ("0.999", "strong", False),
        ("1", "moderate", False),
        ("3", "moderate", False),
        ("3.001", "weak", False),
        ("9.999", "weak", False),
        ("10", "weak", True),
        ("10.001", "practically none", True),
        ("1e60", "practically none", True),
    ],
)
def test_words_follow_epsilon(epsilon: str, word: str, is_warned: bool) -> None:  # noqa: FBT001
    exact = Fraction(epsilon)
    assert strength(exact) == word
    assert protection(exact) == {"practically none": "practically no protection"}.get(word, f"{word} protection")
    assert bool(warning(exact)) == is_warned
    made = Guarantee(PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, exact)
    assert str(made).startswith(made.sentence)
    assert str(made).removeprefix(made.sentence).endswith(f"is {protection(exact)}.") is (exact > 3)


@given(st.fractions(Fraction(1, 10**6), 30))
def test_certainty_is_rounded_up_and_by_little(epsilon: Fraction) -> None:
    with localcontext(prec=60):
        power = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        true = 100 * power / (1 + power)
        shown = Decimal(certainty(epsilon).removesuffix("%"))
        # Floats are good to some 1e-13 of a per cent.
        assert -Decimal("1e-12") <= shown - true <= max(Decimal("0.1") * min(100 - true, true - 50), Decimal("1e-6"))


def test_certainty_of_epsilons_beyond_floats() -> None:
    assert certainty(Fraction(10) ** 60) == "100.000000%"
    assert certainty(Fraction(1, 10**60)) in {"50.000000%", "50.000001%"}
    assert math.isclose(float(certainty(Fraction(1)).removesuffix("%")), 73.1, abs_tol=0.11)


def test_a_party_is_told_what_holds_toward_it() -> None:
    relation, conditions = NeighboringRelation.ADD_OR_REMOVE, ("two parties are honest",)
    made = Guarantee(PrivacyUnit.item(), relation, Fraction(1), conditions=conditions, party_epsilon=Fraction(12))
    assert str(made).endswith(". Toward a party an epsilon of 12 is practically no protection.")
