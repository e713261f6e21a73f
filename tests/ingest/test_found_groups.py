"""Groups that are found in the data: every try is charged to the ledger, and a release then charges itself alone."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import anonhist.ingest.groups.reading as reading_module
from anonhist.accounting import Ledger
from anonhist.accounting.verification import Released, verify
from anonhist.errors import BudgetError, DataError, UsageError
from anonhist.ingest.groups.read import read_groups
from anonhist.mechanisms.grouping import FindGroups, release_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.grouped import GroupedProfile
from anonhist.releases.content import content_digest, rest_digests
from anonhist_testing.cases import each_of

ROWS = pl.DataFrame({"label": ["a"] * 40, "group": ["x"] * 12 + ["y"] * 14 + ["z"] * 14})
# Finds all three; finds none.
LARGE, SMALL = FindGroups("1/2", "1e-1"), FindGroups("1/2", "1e-30")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(str(tmp_path / "budget.db"))
    made.create("views", "item", epsilon=3, delta="1/2")
    made.create("other", "item", epsilon=3, delta="1/2")
    return made


def find(finding: Any = LARGE, **given: Any) -> GroupedProfile:
    return read_groups(ROWS, **({"label": "label", "by": "group", "groups": finding} | given))


def charges(ledger: Ledger, dataset: str = "views") -> list[tuple[str, str, str]]:
    return [
        (str(each.cost.epsilon), each.charged.charge.mechanism, each.state) for each in ledger.balance(dataset).items
    ]


def test_each_try_is_charged_until_nothing_is_left(ledger: Ledger) -> None:
    for _ in range(6):
        with pytest.raises(DataError, match="No group was found"):
            find(SMALL, ledger=ledger, dataset="views")
    with pytest.raises(BudgetError):
        find(SMALL, ledger=ledger, dataset="views")
    assert charges(ledger) == [("1/2", "finding groups", "charged, file unknown")] * 6


def test_the_charge_is_there_before_units_are_counted(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[tuple[str, str, str]]] = []
    count = reading_module.group_units

    def counted(*given: Any) -> Any:
        seen.append(charges(ledger))
        return count(*given)

    monkeypatch.setattr(reading_module, "group_units", counted)
    find(ledger=ledger, dataset="views", purpose="which groups")
    assert seen == [[("1/2", "finding groups", "charged, file unknown")]]
    (item,) = ledger.balance("views").items
    assert (item.state, item.charged.charge.purpose) == ("released", "which groups")
    assert item.cost.delta == LARGE.delta


def test_a_release_of_groups_whose_finding_was_charged_charges_itself_alone(ledger: Ledger) -> None:
    found = find(ledger=ledger, dataset="views")
    for _ in range(2):
        release = release_groups(found, epsilon="1/4", ledger=ledger, dataset="views", simulations=0)
        assert (str(release.guarantee.epsilon), release.found_with) == ("3/4", (LARGE.epsilon, LARGE.delta))
        file = Released("groups.json", release.receipt, content_digest(release), rest_digests(release))
        assert verify(ledger, [file], dataset="views").problems == ()
    assert charges(ledger) == [
        ("1/2", "finding groups", "released"),
        *[("1/4", "frobenius", "released")] * 2,
    ]
    with pytest.raises(UsageError, match="has a release"):
        ledger.void(3, "to try again", dataset="views")


def test_what_was_charged_nowhere_is_charged_with_the_release(ledger: Ledger) -> None:
    release_groups(find(), epsilon="1/4", ledger=ledger, dataset="views", simulations=0)
    assert charges(ledger) == [("3/4", "frobenius", "released")]


def test_both_are_charged_to_one_data_set_of_one_ledger(ledger: Ledger, tmp_path: Path) -> None:
    found = find(ledger=ledger, dataset="views")
    with pytest.raises(UsageError, match="was charged to 'views'"):
        release_groups(found, epsilon=1, ledger=ledger, dataset="other", simulations=0)
    second = Ledger(str(tmp_path / "second.db"))
    second.create("views", "item", epsilon=3)
    with pytest.raises(UsageError, match="another ledger"):
        release_groups(found, epsilon=1, ledger=second, dataset="views", simulations=0)
    assert charges(ledger, "other") == charges(second) == []


def test_a_ledger_of_the_environment_is_honored(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONHIST_LEDGER", str(tmp_path / "budget.db"))
    with pytest.raises(UsageError, match="dataset is missing"):
        find()
    assert len(find(["x", "y"])) == 2  # listed groups cost nothing
    assert find(ledger="").receipt is None
    found = find(dataset="views")
    release_groups(found, epsilon="1/4", dataset="views", simulations=0)
    assert [each[0] for each in charges(ledger)] == ["1/2", "1/4"]


@each_of("given", [{"ledger": "budget.db"}, {"dataset": "views"}, {"purpose": "press"}])
def test_reading_listed_groups_is_not_charged(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="give them to release_groups"):
        find(["x", "y"], **given)


def test_only_errors_before_groups_are_drawn_are_for_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for given in ({"label": "lable"}, {"max_per_user": 3}):
        with pytest.raises((DataError, UsageError)):
            find(ledger=ledger, dataset="views", **given)
    assert {state for _, _, state in charges(ledger)} == {"void"}

    def fails(*_: Any) -> Any:
        raise UsageError("no such thing")

    monkeypatch.setattr(reading_module, "group_profiles", fails)
    with pytest.raises(UsageError):
        find(ledger=ledger, dataset="views")
    assert charges(ledger)[-1] == ("1/2", "finding groups", "charged, file unknown")


def test_a_receipt_is_of_groups_that_were_found(ledger: Ledger) -> None:
    found = find(ledger=ledger, dataset="views")
    with pytest.raises(UsageError, match="listed ones cost nothing"):
        GroupedProfile(found.by, found, unit=PrivacyUnit.item(), receipt=found.receipt)


@each_of("levels", ["nested", "crossing"])
def test_a_found_group_with_the_first_name_of_all_others_is_among_them_where_groups_have_totals(levels: Any) -> None:
    # Of the groups of "rest", "x" is found, and "y" has too few units, as "c" has.
    places = [*[("a", "x")] * 60, *[("rest", "x")] * 50, *[("rest", "y")], *[("c", "x")] * 2]
    rows = pl.DataFrame([("l", *place) for place in places], schema=["label", "g", "h"], orient="row")
    given: dict[str, Any] = {"label": "label", "by": ["g", "h"], "groups": FindGroups(2, "1e-3"), "other": "rest"}

    apart = read_groups(rows, **given)
    assert {group: profile.n for group, profile in apart.items()} == {
        ("a", "x"): 60,
        ("rest", "x"): 50,
        ("rest", "rest"): 3,
    }
    found = read_groups(rows, **given, levels=levels)
    assert {group: profile.n for group, profile in found.items()} == {("a", "x"): 60, ("rest", "rest"): 53}
    assert [{group: profile.n for group, profile in level.items()} for level in found.above] == (
        [] if levels == "nested" else [{(): 113}, {("a",): 60, ("rest",): 53}]
    )


def test_the_budget_is_spent_and_nothing_refused_if_only_the_first_name_of_all_others_is_found(ledger: Ledger) -> None:
    rows = pl.DataFrame([("l", "rest", "x")] * 50, schema=["label", "g", "h"], orient="row")
    finding = FindGroups(2, "1e-3")
    given: dict[str, Any] = {"by": ["g", "h"], "groups": finding, "other": "rest", "levels": "nested"}
    found = read_groups(rows, label="label", **given, ledger=ledger, dataset="views")
    assert {group: profile.n for group, profile in found.items()} == {("rest", "rest"): 50}
    assert charges(ledger) == [("2", "finding groups", "released")]


def test_grouping_columns_may_come_one_by_one(ledger: Ledger) -> None:
    found = find(by=iter(["group"]), ledger=ledger, dataset="views")
    assert found.by == ("group",)
    assert len(charges(ledger)) == 1


@each_of(
    "wrong",
    [{"max_per_user": 3}, {"order_key": "0" * 32}, {"max_groups_per_user": 2}, {"format": "counts", "count": "none"}],
)
def test_a_call_that_contradicts_itself_is_refused_before_it_is_charged(wrong: dict[str, Any], tmp_path: Path) -> None:
    kept = Ledger(str(tmp_path / "budget.db"))
    kept.create("views", "item", epsilon=3, delta="1/2")
    with pytest.raises(UsageError):
        find(ledger=kept, dataset="views", **wrong)
    assert len(kept.entries("views")) == 1  # its budget


def test_found_groups_stand_in_the_order_of_their_names_whatever_that_of_the_data() -> None:
    names = ["camp10", "9", "b", "camp1", "-3", "camp2", "10", "camp2b", "9.5"]
    for order in (names, names[::-1]):
        rows = pl.DataFrame({"label": ["a"] * 20 * len(names), "group": [name for name in order for _ in range(20)]})
        found = read_groups(rows, label="label", by="group", groups=FindGroups("1000", "1e-1"))
        assert found.groups == tuple(
            (name,) for name in ("-3", "9", "9.5", "10", "b", "camp1", "camp2", "camp2b", "camp10")
        )


def test_listed_groups_stand_in_the_order_of_the_list(tmp_path: Path) -> None:
    rows = pl.DataFrame({"label": ["a", "b", "c"], "group": ["camp2", "camp10", "x"], "day": ["2", "1", "1"]})
    (tmp_path / "groups.csv").write_text("group\ncamp2\ncamp10\ncamp1\n")
    for listed in (["camp2", "camp10", "camp1"], "camp2,camp10,camp1", tmp_path / "groups.csv"):
        read = read_groups(rows, label="label", by="group", groups=listed, other="a")
        assert read.groups == (("camp2",), ("camp10",), ("camp1",), ("a",))
    pairs = [("camp2", "1"), ("camp10", "2"), ("camp2", "2")]
    read = read_groups(rows, label="label", by=["group", "day"], groups=pairs, levels="crossing")
    assert read.groups == tuple(pairs)
    assert [each.groups for each in read.above] == [((),), (("camp2",), ("camp10",))]
    assert [*release_groups(read, epsilon=1, simulations=0).everything][:3] == [(), ("camp2",), ("camp10",)]
