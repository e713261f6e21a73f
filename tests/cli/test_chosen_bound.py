"""``release --max-per-user auto``: what it charges, says and writes, and what it refuses."""

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import anonhist as ah
from anonhist.accounting import Ledger
from anonhist.accounting.verification import verify
from anonhist.privacy import PrivacyUnit
from anonhist.releases.content import released
from anonhist_testing.cases import each_of

USERS = [user for user in range(40) for _ in range(1 + user % 7)]
READ = ("--label", "label", "--user", "user", "--simulations", "0")
AUTO = (*READ, "--max-per-user", "auto", "--bound-candidates", "1,2,4", "--expected-items", "200", "--epsilon", "2")
AUTO += ("--bound-share", "0.1")


@pytest.fixture
def log(folder: Path) -> Path:
    path = folder / "log.csv"
    lines = ["user,label", *(f"u{user},v{at % 11}" for at, user in enumerate(USERS))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_bound_is_chosen_charged_and_stated(cli: Any, log: Path) -> None:
    with Ledger("budget.db") as ledger:
        ledger.create("log", "user", epsilon=5)
    account = ("--ledger", "budget.db", "--dataset", "log")
    done: CompletedProcess[str] = cli("release", "log.csv", *AUTO, *account, "-o", "a.json", "--report", "a.html")
    assert done.returncode == 0, done.stderr
    told = "chosen privately among 1, 2, 4, with ε = 0.2"
    page = (log.parent / "a.html").read_text(encoding="utf-8")
    for text in (done.stdout, page):
        assert told in text
        assert "0.2 for choosing how many items of each user count" in text
        assert "Errors and intervals do not cover what this leaves out" in text
        assert "excess share" not in text
    found = ah.read(log.parent / "a.json")
    assert isinstance(found, ah.Release)
    assert found.guarantee.epsilon == 2
    assert found.guarantee.unit.max_items in (1, 2, 4)
    with Ledger("budget.db") as ledger:
        charge: Any = ledger.entries("log")[1].event
        assert not verify(ledger, [released(found, "a.json")]).problems
    # What is charged does not depend on what is chosen.
    assert charge.charge.guarantee.unit == PrivacyUnit.user(max_items=4)
    assert charge.charge.guarantee.epsilon == 2
    assert charge.charge.parameters["choice_candidates"] == "1,2,4"


def test_standard_input_is_read_twice(process: Any, log: Path) -> None:
    done = process("release", "-", *AUTO, "-o", "b.json", stdin=log.read_bytes())
    assert done.returncode == 0, done.stderr
    assert json.loads((log.parent / "b.json").read_text(encoding="utf-8"))["guarantee"]["epsilon"] == "2"


def test_a_later_release_takes_the_bound_of_an_earlier_one(cli: Any, log: Path) -> None:
    assert cli("release", "log.csv", *AUTO, "-o", "first.json").returncode == 0
    later = cli("release", "log.csv", *READ, "--max-per-user", "from:first.json", "--epsilon", "1", "-o", "later.json")
    assert later.returncode == 0, later.stderr
    first, second = (ah.read(log.parent / name) for name in ("first.json", "later.json"))
    assert isinstance(first, ah.Release)
    assert isinstance(second, ah.Release)
    assert second.guarantee.unit == first.guarantee.unit
    assert second.guarantee.spending == ()


def test_a_check_says_what_will_be_chosen(cli: Any, log: Path) -> None:
    del log
    done = cli("check", "log.csv", *(each for each in AUTO if each not in ("--simulations", "0")))
    assert done.returncode == 0, done.stderr
    assert "will be chosen privately among 1, 2, 4, with ε = 0.2" in done.stdout
    assert "at most 4 of them count" in done.stdout


def test_a_check_of_groups_shows_both_parts(cli: Any, log: Path) -> None:
    log.write_text("user,label,g\nu,v,x\n", encoding="utf-8")
    asked = (each for each in AUTO if each not in ("--simulations", "0"))
    done = cli("check", "log.csv", *asked, "--by", "g", "--groups", "x")
    assert done.returncode == 0, done.stderr
    assert "0.2 for choosing how many items of each user count" in done.stdout


@each_of(
    ("options", "told"),
    [
        (("--max-per-user", "auto"), "--expected-items"),
        (("--max-per-user", "auto", "--expected-items", "9", "--bound-share", "1"), "--bound-share must be below 1"),
        (("--max-per-user", "auto", "--expected-items", "9", "--bound-candidates", "4,2"), "ascending"),
        (("--max-per-user", "auto", "--expected-items", "9", "--bound-candidates", "a,b"), "commas between them"),
        (("--max-per-user", "auto", "--expected-items", "9", "--excess-share", "0.1"), "--excess-share does not apply"),
        (("--max-per-user", "auto", "--expected-items", "9", "--mechanism", "isotonic"), "not for 'isotonic'"),
        (("--max-per-user", "auto", "--expected-items", "9", "--unit", "item"), "protects only items"),
        (("--max-per-user", "3", "--bound-share", "0.1"), "--bound-share requires --max-per-user auto"),
        (("--max-per-user", "from:log.csv"), "log.csv"),
        (("--max-per-user", "many"), "--max-per-user"),
    ],
)
def test_contradictory_options_are_refused(cli: Any, log: Path, options: tuple[str, ...], told: str) -> None:
    del log
    done = cli("release", "log.csv", *READ, "--epsilon", "1", *options, "-o", "no.json")
    assert done.returncode == 2, done.stderr
    assert told in done.stderr


LABELS = ("--label", "label", "--unit", "label", "--simulations", "0", "--epsilon", "2", "--expected-items", "200")
BY = (*LABELS, "--by", "user", "--groups", "u0,u1,u2,u3,u4", "--bound-share", "0.1", "--max-groups-per-label", "auto")


def test_a_cap_of_labels_is_chosen_and_taken_again(cli: Any, log: Path) -> None:
    with Ledger("budget.db") as ledger:
        ledger.create("log", "label", epsilon=5)
    account = ("--ledger", "budget.db", "--dataset", "log")
    auto = ("--max-count", "auto", "--bound-candidates", "2, 8", "--bound-share", "0.2", *account)
    done = cli("release", "log.csv", *LABELS, *auto, "-o", "a.json")
    assert done.returncode == 0, done.stderr
    assert "chosen privately among 2, 8, with ε = 0.4" in done.stdout
    found = ah.read(log.parent / "a.json")
    assert isinstance(found, ah.Release)
    assert found.guarantee.unit.max_count in (2, 8)
    with Ledger("budget.db") as ledger:
        charges = [entry.event for entry in ledger.entries("log")][1:]
        assert not verify(ledger, [released(found, "a.json")]).problems
    # Once for both parts, for the largest candidate.
    charge: Any = charges[0]
    assert (len(charges), charge.charge.guarantee.unit, charge.charge.guarantee.epsilon) == (
        2,
        PrivacyUnit.label(max_count=8),
        2,
    )
    later = cli("release", "log.csv", *LABELS[:-2], "--max-count", "from:a.json", "-o", "b.json")
    assert later.returncode == 0, later.stderr
    assert ah.read(log.parent / "b.json").guarantee.unit == found.guarantee.unit  # type: ignore[union-attr]


def test_a_number_of_groups_is_chosen_alone_or_with_the_cap(cli: Any, log: Path) -> None:
    both = cli("release", "log.csv", *BY, "--max-count", "auto", "--bound-candidates", "1,4", "-o", "a.json")
    assert both.returncode == 0, both.stderr
    # A candidate beyond the five groups means all of them.
    assert "among 1, 4 items in each of 1, 2, 4, 5 groups, with ε = 0.2" in " ".join(both.stdout.split())
    alone = cli("release", "log.csv", *BY, "--max-count", "3", "--group-candidates", "1,3", "-o", "b.json")
    assert alone.returncode == 0, alone.stderr
    assert "0.2 for choosing in how many groups each label counts" in " ".join(alone.stdout.split())
    first, second = (ah.read(log.parent / name) for name in ("a.json", "b.json"))
    assert second.guarantee.unit in (PrivacyUnit.label(max_count=3, groups=groups) for groups in (1, 3))  # type: ignore[union-attr]
    again = ("--max-count", "from:a.json", "--max-groups-per-label", "from:a.json", "-o", "c.json")
    given = [each for each in BY[:-2] if each not in ("--expected-items", "200", "--bound-share", "0.1")]
    later = cli("release", "log.csv", *given, *again)
    assert later.returncode == 0, later.stderr
    assert ah.read(log.parent / "c.json").guarantee.unit == first.guarantee.unit  # type: ignore[union-attr]


def test_a_check_of_groups_lists_the_candidates(cli: Any, log: Path) -> None:
    del log
    asked = [each for each in BY if each not in ("--simulations", "0")]
    done = cli("check", "log.csv", *asked, "--max-count", "auto")
    assert done.returncode == 0, done.stderr
    told = "will be chosen privately among 1, 2, 4, 8, 16, 32, 64, 128 items in each of 1, 2, 4, 5 groups, with ε = 0.2"
    assert told in done.stdout


@each_of(
    ("options", "told"),
    [
        (("--max-count", "auto"), "--max-count requires --unit label"),
        (("--unit", "label", "--max-count", "auto"), "--expected-items"),
        (("--unit", "label", "--max-count", "5", "--bound-candidates", "1,2"), "requires --max-per-user auto or"),
        (("--unit", "label", "--max-count", "auto", "--max-per-user", "auto"), "use one of the two"),
        (("--max-groups-per-label", "auto"), "requires --by"),
        (("--by", "user", "--groups", "u1", "--max-groups-per-label", "auto"), "only to a label unit"),
        (("--by", "user", "--groups", "u1", "--group-candidates", "1,2"), "requires --max-groups-per-label auto"),
        (("--unit", "label", "--max-count", "from:log.csv"), "log.csv"),
    ],
)
def test_contradictory_options_about_labels_are_refused(
    cli: Any, log: Path, options: tuple[str, ...], told: str
) -> None:
    del log
    done = cli("release", "log.csv", "--label", "label", "--epsilon", "1", *options, "-o", "no.json")
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
