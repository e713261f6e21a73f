"""Guarantees as events of dp-accounting: what its accountant makes of them, and what is refused."""

import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from anonhist.errors import MissingExtraError, UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist_testing.cases import each_of

ADD = NeighboringRelation.ADD_OR_REMOVE


def of(epsilon: str, times: int = 1, delta: str = "0") -> Guarantee:
    one = Guarantee(PrivacyUnit.item(), ADD, Fraction(epsilon), Fraction(delta))
    return Guarantee.of_all([one] * times)


@pytest.fixture(autouse=True)
def _dp_accounting() -> None:
    pytest.importorskip("dp_accounting", reason="the extra accounting is not installed")


def epsilon_of(event: Any, delta: float) -> float:
    """Return ε at a δ, as the accountant of dp-accounting tells it."""
    from dp_accounting import NeighboringRelation as TheirRelation
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(TheirRelation.ADD_OR_REMOVE_ONE)
    return float(accountant.compose(event).get_epsilon(delta))


MANY = {
    "a year": of("0.05", 365),
    "thirds": of("1/3", 40),
    "several": Guarantee.of_all([of("0.1", 30), of("0.25", 20), of("2")]),
    "one": of("0.7"),
}


@pytest.mark.full
@each_of("name", MANY)
@each_of("delta", ["1e-9", "1e-3"])
def test_the_accountant_says_what_at_delta_says(name: str, delta: str) -> None:
    found = epsilon_of(MANY[name].to_dp_event(), float(delta))
    ours = float(MANY[name].at_delta(delta).epsilon)
    # Theirs has a grid of 1e-4, on which losses are rounded upward; the grid of ours divides every ε, and has a margin.
    assert ours - 1e-4 <= found <= ours + 1e-4 * len(MANY[name].losses)


def test_a_continuous_laplace_mechanism_would_promise_too_much() -> None:
    from dp_accounting import LaplaceDpEvent, SelfComposedDpEvent

    # Randomized response keeps this guarantee, too, and loses what at_delta says exactly.
    assert epsilon_of(SelfComposedDpEvent(LaplaceDpEvent(1 / 0.05), 365), 1e-9) < 5.78
    assert epsilon_of(of("0.05", 365).to_dp_event(), 1e-9) > 5.81


def test_equal_parts_are_one_event_and_float_rounding_goes_upward() -> None:
    from dp_accounting.dp_event import ComposedDpEvent, DiscreteLaplaceDpEvent, SelfComposedDpEvent

    # The float nearest to 3/10 is below it, and that nearest to 1/10 above.
    assert of("0.3").to_dp_event() == DiscreteLaplaceDpEvent(0.30000000000000004, 1)
    assert of("0.1", 3).to_dp_event() == SelfComposedDpEvent(DiscreteLaplaceDpEvent(0.1, 1), 3)
    both = Guarantee.of_all([of("0.5"), of("0.25", 2)])
    expected = [DiscreteLaplaceDpEvent(0.5, 1), SelfComposedDpEvent(DiscreteLaplaceDpEvent(0.25, 1), 2)]
    assert both.to_dp_event() == ComposedDpEvent(expected)


def test_a_delta_is_left_out_only_where_that_is_asked_for() -> None:
    many = of("0.1", 50, "1e-12")
    with pytest.raises(UsageError, match="delta_apart=True, and add"):
        many.to_dp_event()
    found = epsilon_of(many.to_dp_event(delta_apart=True), 1e-9 - float(many.delta))
    assert float(many.at_delta("1e-9").epsilon) - 1e-4 <= found < 0.1 * 50


def test_replaced_units_and_shared_noise_are_refused() -> None:
    replaced = replace(of("0.05"), relation=NeighboringRelation.SUBSTITUTE)
    with pytest.raises(UsageError, match="no event for replaced units"):
        replaced.to_dp_event()
    shared = replace(of("1"), conditions=("y",), party_epsilon=Fraction(2))
    with pytest.raises(UsageError, match="plainly"):
        shared.to_dp_event()


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'anonhist\[accounting\]'"):
        of("0.05").to_dp_event()
