"""The page of a budget: every number is the balance's, all texts are escaped, and large ledgers stay readable."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape

from anonhist.accounting import Balance, Budget, Charge, Cost, Entry, Verification
from anonhist.accounting.balance import Item, State
from anonhist.accounting.entry import Charged, Completed, Voided
from anonhist.errors import DataError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.report import plot, write_report
from anonhist.report.budget import MOST_LISTED, PLACES, Spending, purposes_of, write_budget
from anonhist.report.budget_wording import composed_epsilon
from anonhist.report.shown import Sheet
from anonhist_testing.cases import each_of

EVIL = "<script>alert('1')</script>\"&"
STATES = (State.RELEASED, State.RELEASED, State.VOID, State.RELEASED, State.UNKNOWN)


def balance_of(
    charges: int,
    budget: Budget,
    *,
    epsilon: str = "1/7",
    states: tuple[State, ...] = STATES,
    every: timedelta = timedelta(days=3),
    text: str = "purpose",
) -> Balance:
    unit = PrivacyUnit(budget.kind, 1)
    guarantee = Guarantee(unit, budget.relation, Fraction(epsilon), arithmetic="exact", conditions=(f"no {text}",))
    items = []
    for at in range(charges):
        state, number = states[at % len(states)], at + 2
        charged = Charged(
            Charge(budget.dataset, guarantee, f"frobenius {text}", purpose=f"{text} {at % 3}" if at % 4 else ""),
            Cost(Fraction(epsilon), Fraction(1, 10**14)),
        )
        outcome = {
            State.RELEASED: Completed(budget.dataset, number, "0" * 64),
            State.UNKNOWN: None,
            State.VOID: Voided(budget.dataset, number, f"why {text}"),
        }[state]
        time = (datetime(2026, 1, 12, 9, 30, tzinfo=UTC) + at * every).isoformat().replace("+00:00", "Z")
        items.append(Item(Entry("0" * 32, number, charged, time, f"eve {text}", "0.1.0"), charged, outcome))
    return Balance(budget, tuple(items))


def written(balance: Balance, folder: Path, **options: Any) -> str:
    write_report(balance, folder / "budget.html", overwrite=True, **options)
    return (folder / "budget.html").read_text(encoding="utf-8")


def rows_below(page: str, heading: str) -> list[list[str]]:
    """Return the texts of the cells of the table below a heading."""
    body = re.search(rf"<h2>{heading}</h2>.*?<tbody>(.*?)</tbody>", page, flags=re.DOTALL)
    assert body is not None
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body[1].split("<tr")[1:]]


USERS = Budget("passwords", "user", epsilon=2)


def test_every_number_is_that_of_the_balance(tmp_path: Path, whole: Callable[[str], None]) -> None:
    balance = balance_of(12, USERS, epsilon="0.125")
    page = written(balance, tmp_path, command="anonhist budget show passwords", title="Budget & more")
    whole(page)
    assert "<h1>Budget &amp; more</h1>" in page
    assert balance.spent.epsilon == Fraction(10, 8)
    assert "<b>ε = 0.75</b><span>is left of ε = 2</span>" in page
    assert "<b>ε = 1.25</b><span>is spent by 10 releases: 62% of the budget, added up plainly</span>" in page
    assert (
        "<b>12 charges</b><span>in all: 2 without a known file, counted; 2 void: taken back, not counted</span>" in page
    )
    spent = rows_below(page, "What it was spent on")
    found = {row[0]: row[1:4] for row in spent}
    assert found.pop("left") == ["", "0.75", "38%"]
    expected = {each.name or "(no purpose given)": each for each in purposes_of(balance)}
    assert found.keys() == expected.keys()
    for name, (releases, epsilon, _) in found.items():
        assert (int(releases), Fraction(epsilon)) == (expected[name].releases, expected[name].cost.epsilon)
    assert sum(Fraction(row[2]) for row in spent) == 2
    # Of twelve charges, two are void.
    assert sum(int(row[1] or 0) for row in spent) == 10
    charges = rows_below(page, "Releases")
    assert [int(row[0]) for row in charges] == [each.entry.number for each in reversed(balance.items)]
    assert charges[0][1:] == [
        "2026-02-14 09:30",
        "0.125",
        "10⁻¹⁴",
        "eve purpose",
        "frobenius purpose",
        "released",
        "purpose 2",
    ]
    assert charges[2][6] == "charged, file unknown"
    assert charges[4][6] == "void: why purpose"


def test_all_bars_together_are_the_budget(tmp_path: Path) -> None:
    page = written(balance_of(12, USERS), tmp_path)
    assert sum(map(float, re.findall(r'style="width:([\d.]+)%"', page))) == pytest.approx(100, abs=0.05)


@pytest.mark.full
@each_of(
    ("kind", "relation", "change", "doubt"),
    [
        ("user", "add-or-remove", "Adding or removing any one user", "whether a given user is in the data"),
        ("item", "add-or-remove", "Adding or removing any one item", "whether a given item is in the data"),
        ("label", "substitute", "Replacing any one label by another", "which of two versions of a given label is"),
        ("edge", "add-or-remove", "Adding or removing any one edge", "whether a given edge is in the data"),
        ("node", "substitute", "Replacing any one node by another", "which of two versions of a given node is"),
    ],
)
def test_what_one_unit_has_at_stake(kind: str, relation: str, change: str, doubt: str, tmp_path: Path) -> None:
    budget = Budget("words", kind, 3, "1e-6", NeighboringRelation(relation))
    page = written(balance_of(5, budget, epsilon="0.25"), tmp_path)
    assert f"<h2>What one {kind} has at stake</h2>" in page
    so_far, whole = re.findall(rf"{change} changes the probability of any result of (.*?)</p>", page)
    assert so_far == "all releases so far together by at most a factor of 2.72 (plus δ ≤ 4.0 × 10⁻¹⁴)."
    assert whole == "all releases together by at most a factor of 20.1 (plus δ ≤ 10⁻⁶)."
    assert page.count(doubt) >= 2
    assert "can become at most 73.2% sure. " in page
    assert "can become at most 95.3% sure, apart from δ ≤ 10⁻⁶." in page
    assert "This holds provided that no purpose." in page
    if kind not in {"item", "edge", "label", "node"}:
        assert "person" not in page


@pytest.mark.full
def test_a_smaller_epsilon_is_called_a_weaker_promise(tmp_path: Path) -> None:
    pytest.importorskip("dp_accounting", reason="the extra accounting is not installed")
    balance = balance_of(365, Budget("words", "user", epsilon=20), epsilon="0.05", states=(State.RELEASED,))
    smaller = composed_epsilon(balance)
    assert smaller is not None
    assert 5.8 < smaller < 5.9
    page = written(balance, tmp_path)
    assert "If δ = 10⁻⁹ is accepted, the same releases have ε = 5.8" in page
    assert "instead of 18.25, their losses composed as distributions." in page
    assert "It holds if their number and each ε were fixed beforehand, whatever they showed." in page
    assert "It is a weaker promise, because it leaves out what has a probability of δ." in page
    assert "<b>Warning.</b> The releases have spent ε = 18.25 together." in page
    # Two releases come to hardly less than their sum, and a budget without δ has none.
    assert composed_epsilon(balance_of(2, USERS, states=(State.RELEASED,))) is None
    assert composed_epsilon(balance_of(365, Budget("words", "user", 20, 0), epsilon="0.05")) is None


def test_without_the_extra_nothing_is_said_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "dp_accounting.pld.privacy_loss_distribution", None)
    assert composed_epsilon(balance_of(365, Budget("words", "user", epsilon=20), epsilon="0.05")) is None


def test_texts_of_people_are_escaped(tmp_path: Path, whole: Callable[[str], None]) -> None:
    balance = balance_of(6, Budget(EVIL, "user", epsilon=2), text=EVIL)
    problems = Verification(9, 0, (f"Entry of {EVIL!r} is missing.",))
    write_budget(balance, Sheet(tmp_path / "evil.html"), verification=problems)
    page = (tmp_path / "evil.html").read_text(encoding="utf-8")
    whole(page)
    assert "<script" not in page
    for text in (
        f"The privacy budget of {EVIL}",
        f"eve {EVIL}",
        f"frobenius {EVIL}",
        f"void: why {EVIL}",
        f"no {EVIL}",
    ):
        assert escape(text) in page
    assert page.count(escape(f"{EVIL} 1")) >= 2
    assert "&lt;script&gt;" in balance._repr_html_()
    assert "<script" not in balance._repr_html_()


@pytest.mark.slow
def test_ten_thousand_charges_are_a_short_page(tmp_path: Path, whole: Callable[[str], None]) -> None:
    balance = balance_of(10_000, Budget("words", "item", epsilon=2000), every=timedelta(hours=1))
    page = written(balance, tmp_path)
    whole(page)
    assert len(page) < 500_000
    assert len(rows_below(page, "Releases")) == MOST_LISTED
    assert "There are 9,800 earlier charges; the ledger has all of them: 'anonhist budget show'." in page
    spending = Spending.of(balance)
    drawn = spending.thinned()
    assert f"The 10,000 charges make {len(drawn)} steps here: those that fall on one of the 400 places" in page
    assert 0.9 * PLACES < len(drawn) <= PLACES
    # Nothing is lost: what was spent by the last charge at each place, and by the last of all.
    assert spending.spent[drawn[-1]] == float(balance.spent.epsilon)
    assert np.all(np.diff(drawn) <= 30)
    line = plot(balance).axes[0].lines[0].get_xydata()
    assert line[-1, 1] == float(balance.spent.epsilon)
    assert line[1:-1, 1].tolist() == spending.spent[drawn].tolist()


def test_many_purposes_are_added_up(tmp_path: Path) -> None:
    balance = balance_of(90, Budget("words", "item", epsilon=20), epsilon="0.125", states=(State.RELEASED,))
    items = tuple(
        Item(
            each.entry,
            Charged(Charge("words", each.charged.charge.guarantee, purpose=f"use {at}"), each.cost),
            each.outcome,
        )
        for at, each in enumerate(balance.items)
    )
    rows = rows_below(written(Balance(balance.budget, items), tmp_path), "What it was spent on")
    assert len(rows) == 22
    assert rows[20][:3] == ["70 more purposes", "70", "8.75"]


def test_a_budget_of_which_nothing_is_spent(tmp_path: Path, whole: Callable[[str], None]) -> None:
    for number in (0, 4):
        balance = balance_of(number, USERS, states=(State.VOID,))
        page = written(balance, tmp_path)
        whole(page.replace("</main>", '<a href="#a" id="a">a</a></main>') if not number else page)
        assert "<b>ε = 2</b><span>is left of ε = 2</span>" in page
        assert "Nothing is spent: no release that is charged here can have told anything about any one user." in page
        assert "<p>Nothing is spent.</p>" in page
        assert ("Nothing was charged yet." in page) == (number == 0)
        assert plot(balance).axes[0].get_ylabel() == "ε spent, added up plainly"


def test_the_figure_tells_charges_apart() -> None:
    axes = plot(balance_of(10, USERS)).axes[0]
    lines = {str(line.get_label()): len(np.atleast_1d(line.get_xdata())) for line in axes.lines}
    assert lines == {"spent": 12, "budget": 2, "released": 6, "charged, file unknown": 2, "void": 2}
    assert len(axes.get_xticklabels()) <= 5
    [single] = [line for line in plot(balance_of(1, USERS)).axes[0].lines if line.get_label() == "released"]
    assert np.atleast_1d(single.get_ydata()).tolist() == [1 / 7]


def test_a_clock_that_was_set_back_does_not_bend_the_line() -> None:
    balance = balance_of(9, USERS, every=timedelta(days=-2))
    spending = Spending.of(balance)
    assert np.all(np.diff(spending.days) > 0)
    assert spending.spent[-1] == float(balance.spent.epsilon)


@pytest.mark.full
@each_of(
    ("verification", "told", "warnings"),
    [
        (None, "The chain of entries was not checked for this page", 0),
        (Verification(26, 0, ()), "The chain of all 26 entries of the ledger is whole", 0),
        (Verification(26, 0, ("Entry 3 is missing.",)), "so no number on this page can be relied on:", 1),
    ],
)
def test_whether_the_ledger_is_whole(
    verification: Verification | None, told: str, warnings: int, tmp_path: Path
) -> None:
    write_budget(balance_of(3, USERS), Sheet(tmp_path / "budget.html", overwrite=True), verification=verification)
    page = (tmp_path / "budget.html").read_text(encoding="utf-8")
    assert told in page
    assert page.count('role="alert"') == warnings
    assert page.count("Entry 3 is missing.") == 2 * warnings


def test_an_entry_without_a_time_is_damage(tmp_path: Path) -> None:
    balance = balance_of(1, USERS)
    [item] = balance.items
    broken = Item(Entry("0" * 32, 2, item.charged, "yesterday", "eve", "0.1.0"), item.charged, None)
    with pytest.raises(DataError, match="entry 2 has no time"):
        written(Balance(USERS, (broken,)), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_clocks_of_all_years_there_are_can_be_drawn(tmp_path: Path, whole: Callable[[str], None]) -> None:
    def at(*times: str) -> Balance:
        items = balance_of(len(times), USERS).items
        return Balance(
            USERS,
            tuple(replace(item, entry=replace(item.entry, time=time)) for item, time in zip(items, times, strict=True)),
        )

    first, last = "0001-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"
    for times in ((first,), (last,), (first, last), (first, "2026-01-12T09:30:00Z", last)):
        whole(written(at(*times), tmp_path))
    for beyond in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"):
        with pytest.raises(DataError, match="entry 2 has no time"):
            written(at(beyond), tmp_path)
