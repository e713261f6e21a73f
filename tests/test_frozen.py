"""Frozen values convert what they are given once, and are otherwise what dataclasses are."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from anonhist.frozen import completed, converted, derived, frozen

if TYPE_CHECKING:
    from anonhist.frozen import Converted


@frozen
class Base:
    share: Converted[str | Fraction, Fraction] = converted(Fraction)
    twice: Converted[Fraction | None, Fraction] = completed(
        lambda self, given: 2 * self.share if given is None else given, default=None
    )


@frozen(kw_only=True)
class Rest(Base):
    rest: Converted[Any, Fraction] = derived(lambda self: 1 - self.share)


def test_a_value_keeps_what_it_converts_and_fills_in_the_rest() -> None:
    value = Rest("1/4")
    assert (value.share, value.twice, value.rest) == (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    assert repr(value) == "Rest(share=Fraction(1, 4), twice=Fraction(1, 2), rest=Fraction(3, 4))"
    assert [each.name for each in fields(Rest)] == ["share", "twice", "rest"]


def test_values_are_equal_however_they_were_asked_for() -> None:
    assert Rest("1/4") == Rest(Fraction(1, 4)) == Rest("0.25", Fraction(1, 2))
    assert len({Rest("1/4"), Rest("0.25"), Rest("1/2")}) == 2


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301
def test_copies_and_pickles_are_equal(again: Any) -> None:
    assert again(Rest("1/4")) == Rest("1/4")


def test_a_replaced_field_is_converted_and_nothing_else_changes() -> None:
    assert replace(Rest("1/4"), share="1/3") == Rest("1/3", Fraction(1, 2))


def test_a_field_that_is_required_is_missed_and_a_derived_one_refused() -> None:
    with pytest.raises(TypeError, match="share"):
        Rest()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="rest"):
        Rest("1/4", rest=Fraction(1))  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["share", "rest", "other"])
def test_nobody_sets_a_field_afterwards(name: str) -> None:
    value = Rest("1/4")
    with pytest.raises(FrozenInstanceError):
        setattr(value, name, Fraction(1, 3))
    assert value == Rest("1/4")


@pytest.mark.parametrize("decorate", [dataclass(frozen=True), frozen])
@pytest.mark.parametrize("default", [{}, {"share": Fraction(1)}, {"share": field(default=Fraction(1))}])
def test_a_subclass_does_not_lose_a_conversion(decorate: Any, default: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"Sub\.share would not be converted"):
        decorate(type("Sub", (Rest,), {"__annotations__": {"share": Fraction}, **default}))


def test_a_subclass_may_add_fields_and_convert_in_another_way() -> None:
    @dataclass(frozen=True)
    class More(Base):
        more: int = 3

    @frozen
    class Rounded(More):
        share: Converted[str | Fraction, int] = converted(round)

    assert More("1/4").share == Fraction(1, 4)
    assert Rounded(Fraction(9, 4)).share == 2


def test_a_field_is_read_from_the_values_own_dictionary() -> None:
    # A descriptor that answered would call Python at each read.
    assert not hasattr(type(vars(Base)["share"]), "__get__")
    assert vars(Rest("1/4"))["share"] == Fraction(1, 4)


def test_what_a_class_does_with_its_subclasses_it_still_does() -> None:
    seen = []

    @frozen
    class Parent(Base):
        def __init_subclass__(cls) -> None:
            seen.append(cls.__name__)
            super().__init_subclass__()

    @frozen
    class Child(Parent): ...

    with pytest.raises(TypeError, match="would not be converted"):

        @dataclass(frozen=True)
        class Loses(Child):
            share: Fraction

    assert seen == ["Child", "Loses"]
