"""``anonhist budget``: what each command prints, and one sentence for every mistake."""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.accounting import Charge, Ledger
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]


@pytest.fixture
def address(tmp_path: Path, cli: Cli) -> str:
    """Return a ledger with a budget of ε = 2 and three charges: released, charged and void."""
    path = f"{tmp_path}/budget.db"
    made = cli("budget", "create", "passwords", "--epsilon", "2", "--unit", "user", "--ledger", path)
    assert (made.returncode, made.stdout) == (0, f"passwords: ε = 2, δ = 10⁻⁹ for users, in {path}\n")
    relation = NeighboringRelation.ADD_OR_REMOVE
    guarantee = Guarantee(PrivacyUnit.user(max_items=1), relation, Fraction(1, 2), arithmetic="noise is exact")
    with Ledger(path) as ledger:
        receipts = [ledger.charge(Charge("passwords", guarantee, "frobenius", purpose=f"use {n}")) for n in range(3)]
        ledger.complete(receipts[0], "ab" * 32)
    voided = cli("budget", "void", "passwords", "--entry", "4", "--reason", "a typo", "--ledger", path)
    assert (voided.returncode, voided.stdout) == (0, "passwords: entry 4 is void; ε = 1 is left\n")
    assert voided.stderr == (
        "Warning: if its process was killed, a file .anonhist-….part in the folder of its output may hold the whole "
        "release: delete it unread.\n"
    )
    return path


def test_show_says_what_is_left_and_lists_every_charge(address: str, cli: Cli) -> None:
    told = cli("budget", "show", "passwords", "--ledger", address).stdout
    assert told.startswith("passwords: ε = 1 of 2 is left\nε = 1 is spent, added up plainly")
    for state in ("released", "charged, file unknown", "void"):
        assert state in told
    values = json.loads(cli("budget", "show", "passwords", "--json", "--ledger", address).stdout)
    assert values["left"] == {"epsilon": "1", "delta": "1/1000000000"}
    assert [(each["entry"], each["state"], each["purpose"]) for each in values["charges"]] == [
        (2, "released", "use 0"),
        (3, "charged, file unknown", "use 1"),
        (4, "void", "use 2"),
    ]


def test_the_ledger_may_be_named_by_the_environment(address: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANONHIST_LEDGER", address)
    assert cli("budget", "show", "passwords").returncode == 0


@pytest.mark.slow
def test_plan_divides_what_is_left(address: str, cli: Cli) -> None:
    told = cli("budget", "plan", "passwords", "--every", "week", "--for", "1y", "--ledger", address).stdout
    assert told.startswith("passwords: 52 releases, every week for 1y; ε = 1 of 2 is left\n  each --epsilon 1/52 ")
    values = json.loads(
        cli("budget", "plan", "passwords", "--every", "day", "--for", "1y", "--json", "--ledger", address).stdout
    )
    assert values["each"] == {"epsilon": "1/365", "delta": "1/365000000000"}
    pytest.importorskip("dp_accounting", reason="the extra accounting is not installed")
    # The whole year at once: past releases of 1 in all, and 365 of this ε, fit into 2 at the δ of the budget.
    assert Fraction(1, 365) < Fraction(values["each_at_delta"]["epsilon"]) < Fraction(1, 36)


@pytest.mark.slow
def test_a_smaller_epsilon_is_said_to_need_a_fixed_plan(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("dp_accounting", reason="the extra accounting is not installed")
    path = f"{tmp_path}/budget.db"
    relation = NeighboringRelation.ADD_OR_REMOVE
    guarantee = Guarantee(PrivacyUnit.user(max_items=1), relation, Fraction(1, 20), arithmetic="noise is exact")
    with Ledger(path) as ledger:
        ledger.create("passwords", "user", epsilon=20)
        for _ in range(40):
            ledger.charge(Charge("passwords", guarantee, "frobenius"))
    shown = cli("budget", "show", "passwords", "--ledger", path).stdout
    assert "if their ε were fixed beforehand" in " ".join(shown.split())
    planned = cli("budget", "plan", "passwords", "--every", "day", "--for", "1y", "--ledger", path).stdout
    assert "and no ε depends on earlier results" in planned
    # Of few releases, composed losses are no smaller: there is nothing to choose.
    assert cli("budget", "create", "few", "--epsilon", "2", "--unit", "user", "--ledger", path).returncode == 0
    assert cli("budget", "plan", "few", "--every", "week", "--for", "10w", "--ledger", path).stdout == (
        "few: 10 releases, every week for 10w; ε = 2 of 2 is left\n  each --epsilon 0.2, added up plainly\n"
    )


def test_verify_finds_edits(address: str, cli: Cli) -> None:
    import sqlite3
    from contextlib import closing

    whole = cli("budget", "verify", "passwords", "--ledger", address)
    assert (whole.returncode, whole.stdout) == (0, "passwords: the chain of 6 entries is whole.\n")
    with closing(sqlite3.connect(address)) as connection:
        connection.execute("DROP TRIGGER anonhist_no_update")
        connection.execute("UPDATE anonhist_entries SET document = replace(document, '1/2', '1/4') WHERE number = 3")
        connection.commit()
    edited = cli("budget", "verify", "passwords", "--ledger", address)
    assert (edited.returncode, edited.stdout) == (3, "")
    assert edited.stderr == (
        f"anonhist: The ledger '{address}' does not verify: Entry 3 was changed, or an earlier entry was.\n"
    )


@each_of(
    ("arguments", "code", "told"),
    [
        (("show", "queries"), 2, "has no data set 'queries': create a budget for it first. It has 'passwords'."),
        (("create", "passwords", "--epsilon", "1", "--unit", "user"), 2, "already has a budget"),
        (("create", "x", "--epsilon", "0", "--unit", "user"), 2, "--epsilon must be a finite number greater than zero"),
        (("create", "x", "--epsilon", "1", "--delta", "1", "--unit", "user"), 2, "--delta must be below 1"),
        (("create", "x", "--epsilon", "1", "--unit", "person"), 2, "there is no 'person'"),
        (("create", "x", "--epsilon", "1"), 2, "with --unit item, user, label, edge or node; there is no default"),
        (
            ("create", " x", "--epsilon", "1", "--unit", "user"),
            2,
            "The name of a data set must have 1 to 200 characters",
        ),
        (("show", "passwords", "--title", "Budget"), 2, "--title requires --report FILE.html"),
        (("show", "passwords", "--report", "budget.pdf"), 2, "A report is an HTML page: end its path in .html"),
        (("show", "passwords", "--report", "nowhere/budget.html"), 3, "does not exist; make it first"),
        (("void", "passwords", "--entry", "2", "--reason", "x"), 2, "has a release, which may have been read"),
        (("void", "passwords", "--entry", "4", "--reason", "x"), 2, "was already voided"),
        (("void", "passwords", "--entry", "99", "--reason", "x"), 2, "has no charge with the number 99"),
        (("plan", "passwords", "--every", "fortnight", "--for", "1y"), 2, "--every must be a span of time"),
        (("plan", "passwords", "--every", "year", "--for", "1d"), 2, "change --every or --for"),
    ],
)
def test_mistakes_get_one_sentence(arguments: tuple[str, ...], code: int, told: str, address: str, cli: Cli) -> None:
    refused = cli("budget", *arguments, "--ledger", address)
    assert refused.returncode == code
    assert told in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert refused.stdout == ""


def test_a_ledger_must_be_named_and_be_there(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANONHIST_LEDGER", raising=False)
    unnamed = cli("budget", "show", "passwords")
    assert unnamed.returncode == 2
    assert "--ledger is missing" in unnamed.stderr
    absent = cli("budget", "show", "passwords", "--ledger", f"{tmp_path}/nothing.db")
    assert absent.returncode == 3
    assert "There is no ledger" in absent.stderr
    secret = cli("budget", "show", "passwords", "--ledger", "mysql://eve:s3cret@db/x")
    assert secret.returncode == 2
    assert "s3cret" not in secret.stderr


@pytest.mark.full
def test_a_page_is_written_and_said_where(address: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    asked = ("budget", "show", "passwords", "--ledger", address, "--report", str(path))
    done = cli(*asked, "--title", "Our budget")
    assert done.returncode == 0
    assert done.stdout.startswith("passwords: ε = 1 of 2 is left\n")
    assert done.stdout.endswith(f"Wrote {path}.\n")
    page = path.read_text(encoding="utf-8")
    assert "<h1>Our budget</h1>" in page
    assert "Data: passwords." in page
    assert "<b>ε = 1</b><span>is left of ε = 2</span>" in page
    assert "The chain of all 6 entries of the ledger is whole" in page
    assert f"anonhist budget show passwords <span>--ledger</span> {address}" in page
    again = cli(*asked)
    assert (again.returncode, again.stdout) == (2, "")
    assert "--force" in again.stderr
    assert cli(*asked, "--force", "--quiet").stdout == ""
    as_json = cli(*asked, "--force", "--json")
    assert json.loads(as_json.stdout)["left"]["epsilon"] == "1"
    assert as_json.stderr == f"Wrote {path}.\n"


def test_no_page_replaces_its_ledger(address: str, cli: Cli, tmp_path: Path) -> None:
    ledger = Path(address).rename(tmp_path / "budget.html")
    for named in (str(ledger), f"sqlite:///{ledger}"):
        refused = cli("budget", "show", "passwords", "--ledger", named, "--report", str(ledger), "--force")
        assert refused.returncode == 2
        assert "is a ledger or belongs to one" in refused.stderr
    assert ledger.read_bytes().startswith(b"SQLite format 3")


@pytest.mark.full
def test_a_page_of_a_damaged_ledger_says_so(address: str, cli: Cli, tmp_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(address)) as connection:
        connection.execute("DROP TRIGGER anonhist_no_update")
        connection.execute("UPDATE anonhist_entries SET document = replace(document, '1/2', '1/4') WHERE number = 3")
        connection.commit()
    path = tmp_path / "page.html"
    told = cli("budget", "show", "passwords", "--ledger", address, "--report", str(path), "--quiet")
    assert (told.returncode, told.stdout) == (3, "")
    assert "does not verify: Entry 3 was changed, or an earlier entry was." in told.stderr
    assert told.stderr.count("\n") == 1
    assert "no number on this page can be relied on: Entry 3 was changed" in path.read_text(encoding="utf-8")


def test_a_damaged_entry_is_named(address: str, cli: Cli, tmp_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(address)) as connection:
        connection.execute("DROP TRIGGER anonhist_no_update")
        connection.execute("UPDATE anonhist_entries SET document = '{}' WHERE number = 3")
        connection.commit()
    page = tmp_path / "page.html"
    for asked in (("verify", "passwords"), ("show", "passwords", "--report", str(page))):
        told = cli("budget", *asked, "--ledger", address)
        assert (told.returncode, told.stdout) == (3, "")
        assert told.stderr == (
            f"anonhist: The ledger '{address}' does not verify: Entry 3 was changed: an entry is not in the format of "
            "this version.\n"
        )
    assert not page.exists()
    told = cli("budget", "show", "passwords", "--ledger", address)
    assert told.returncode == 3
    assert f"The ledger '{address}' is damaged: entry 3 is not in the format of this version" in told.stderr


def test_sums_are_rounded_to_the_safe_side(cli: Cli, tmp_path: Path) -> None:
    path = f"{tmp_path}/thirds.db"
    guarantee = Guarantee(PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 3), arithmetic="exact")
    with Ledger(path) as ledger:
        ledger.create("words", "item", epsilon=1)
        ledger.charge(Charge("words", guarantee, "frobenius"))
    told = cli("budget", "show", "words", "--ledger", path).stdout
    assert told.startswith("words: ε ≈ 0.6666 of 1 is left\nε ≈ 0.3334 is spent, added up plainly.\n")


@pytest.mark.full
def test_narrow_terminals_break_no_number_and_no_word(address: str, terminal: Cli) -> None:
    wide = terminal("budget", "show", "passwords", "--ledger", address, width=100).stdout
    assert re.search(r"entry +time \(UTC\) +ε +by +mechanism +state +purpose", wide)
    narrow = terminal("budget", "show", "passwords", "--ledger", address, width=50).stdout
    assert "entry" not in narrow
    assert re.search(r"^3: \d{4}-\d\d-\d\d \d\d:\d\d UTC, ε = 0.5, ", narrow, flags=re.MULTILINE)
    assert "file unknown" in re.sub(r"\s+", " ", narrow)
    plan = terminal("budget", "plan", "passwords", "--every", "week", "--for", "1y", "--ledger", address, width=50)
    for line in [*narrow.splitlines(), *plan.stdout.splitlines()]:
        assert len(line) <= 50 or address in line
