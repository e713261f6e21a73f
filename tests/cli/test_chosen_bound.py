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
