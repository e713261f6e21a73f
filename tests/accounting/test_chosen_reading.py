"""A reading that chooses a bound: charged before any row, and completed by one release."""

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import anonhist as ah
from anonhist.accounting import Ledger
from anonhist.accounting.entry import Charged, Completed, Voided
from anonhist.errors import BudgetError, DataError, RunError, UsageError
from anonhist.mechanisms.bound_choosing import PreparedChoice
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.chosen_bound import ChosenBound

ASKED = ChosenBound(1, 100, candidates=(1, 2, 4))
PAIRS = ChosenBound(1, 100, candidates=(1, 2, 4), group_candidates=(1, 2))
ROWS = pl.DataFrame([(f"u{at % 7}", f"v{at % 3}", "DE") for at in range(40)], ["user", "label", "g"], orient="row")
READ: dict[str, Callable[..., Any]] = {
    "users": lambda **own: ah.read_profile(ROWS, label="label", user="user", max_per_user=ASKED, **own),
    "labels": lambda **own: ah.read_profile(ROWS, label="label", max_count=ASKED, **own),
    "list": lambda **own: ah.read_profile(["a", "b", "a"], max_count=ASKED, **own),
    "groups": lambda **own: ah.read_groups(
        ROWS, label="label", user="user", max_per_user=ASKED, by="g", groups=["DE", "FR"], **own
    ),
    "pairs": lambda **own: ah.read_groups(
        ROWS, label="label", max_count=PAIRS, max_groups_per_label=PAIRS, by="g", groups=["DE", "FR"], **own
    ),
}
LARGEST = {
    "users": PrivacyUnit.user(max_items=4),
    "labels": PrivacyUnit.label(max_count=4),
    "list": PrivacyUnit.label(max_count=4),
    "groups": PrivacyUnit.user(max_items=4),
    "pairs": PrivacyUnit.label(max_count=4, groups=2),
}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(str(tmp_path / "budget.db")) as found:
        for name in ("user", "label"):
            found.create(name, name, epsilon=3)
        yield found


def events(ledger: Ledger) -> list[Any]:
    return [entry.event for entry in ledger.entries() if isinstance(entry.event, Charged | Completed | Voided)]


@pytest.mark.parametrize("kind", READ)
def test_both_parts_are_charged_before_rows_and_completed_once(
    kind: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, seen = PreparedChoice.draw, list[int]()

    def drawn(choice: PreparedChoice, *places: Any, **own: Any) -> PrivacyUnit:
        seen.append(len(events(ledger)))
        return draw(choice, *places, **own)

    monkeypatch.setattr(PreparedChoice, "draw", drawn)
    account: dict[str, Any] = {"ledger": ledger, "dataset": LARGEST[kind].kind}
    read = READ[kind](**account, purpose="weekly")
    assert seen == [1]
    (charge,) = events(ledger)
    assert (charge.charge.guarantee.epsilon, charge.charge.guarantee.unit) == (1, LARGEST[kind])
    assert (charge.charge.purpose, read.receipt.entry) == ("weekly", 3)
    assert pickle.loads(pickle.dumps(read)).receipt == read.receipt  # noqa: S301
    release: Any = ah.release_groups if isinstance(read, ah.profiles.grouped.GroupedProfile) else ah.release
    released = release(read, epsilon=1, simulations=0, **account)
    assert released.receipt == read.receipt
    assert [type(each) for each in events(ledger)] == [Charged, Completed]
    # Another draw would spend the budget again.
    with pytest.raises(UsageError, match="read the data again"):
        release(read, epsilon=1, simulations=0, **account)
    assert ledger.balance(LARGEST[kind].kind).left.epsilon == 2


def test_a_charge_is_never_forgotten(ledger: Ledger) -> None:
    read = READ["users"](ledger=ledger, dataset="user")
    for given, told in (
        ({}, "give the same ledger and dataset"),
        ({"ledger": ledger, "dataset": "label"}, "was charged to 'user'"),
        ({"ledger": ledger, "dataset": "user", "run_id": "daily"}, "when the data are read"),
        ({"ledger": ledger, "dataset": "user", "purpose": "weekly"}, "when the data are read"),
    ):
        with pytest.raises(UsageError, match=told):
            ah.release(read, epsilon=1, simulations=0, **given)
    ledger.void(3, "nothing was published")
    with pytest.raises(UsageError, match="was voided"):
        ah.release(read, epsilon=1, simulations=0, ledger=ledger, dataset="user")


def test_a_run_chooses_once(ledger: Ledger) -> None:
    READ["users"](ledger=ledger, dataset="user", run_id="daily")
    with pytest.raises(RunError):
        READ["users"](ledger=ledger, dataset="user", run_id="daily")


def test_nothing_is_read_without_budget(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        READ["labels"](ledger=ledger, dataset="label")
    monkeypatch.setattr(PreparedChoice, "draw", lambda *_, **__: pytest.fail("rows were read"))
    with pytest.raises(BudgetError):
        READ["labels"](ledger=ledger, dataset="label")


def test_an_error_about_the_call_costs_nothing_and_one_about_rows_does(ledger: Ledger) -> None:
    with pytest.raises(DataError, match="no column"):
        ah.read_profile(ROWS, label="nope", max_count=ASKED, ledger=ledger, dataset="label")
    assert [type(each) for each in events(ledger)] == [Charged, Voided]
    wrong = pl.DataFrame({"label": ["a"], "count": [-1]})
    with pytest.raises(DataError, match="whole numbers") as caught:
        ah.read_profile(wrong, label="label", count="count", max_count=ASKED, ledger=ledger, dataset="label")
    assert "entry 5" in str(caught.value.stays_charged)


def test_a_ledger_is_for_choices_alone(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="a bound that is chosen"):
        ah.read_profile(["a"], ledger=ledger, dataset="user")
    with pytest.raises(UsageError, match="bounds that are chosen"):
        ah.read_groups(ROWS, label="label", by="g", groups=["DE"], dataset="user")
    with pytest.raises(UsageError, match="A receipt is for a bound that was chosen"):
        ah.Profile([1], [1], receipt=READ["users"](ledger=ledger, dataset="user").receipt)
    monkeypatch.setenv("ANONHIST_LEDGER", ledger.shown)
    with pytest.raises(UsageError, match="dataset"):
        READ["users"]()
