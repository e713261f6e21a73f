"""Texts that a ledger gets from outside: names of the system, and what a hostile file says, drive no terminal."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.accounting import Charge, Ledger
from anonhist.accounting.entry import canonical, chained
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
GOLDEN = Path(__file__).parents[1] / "accounting" / "golden"
HOSTILE = "eve\x1b]0;owned\x07\x1b[2J\x9b31m\u202eecila\rroot"


def charge(path: str, epsilon: str = "0.5", **parameters: str) -> int:
    relation = NeighboringRelation.ADD_OR_REMOVE
    told = Guarantee(PrivacyUnit.item(), relation, parse_epsilon(epsilon), arithmetic="noise is exact")
    with Ledger(path) as ledger:
        return ledger.charge(Charge("words", told, "frobenius", parameters)).entry


@pytest.fixture
def made(folder: Path, cli: Cli) -> str:
    path = str(folder / "budget.db")
    assert cli("budget", "create", "words", "--epsilon", "2", "--unit", "item", "--ledger", path).returncode == 0
    return path


@each_of("name", [HOSTILE, "\udcff", "e\nve", "x" * 1001])
def test_a_name_that_is_no_line_of_text_is_not_recorded(name: str, tmp_path: Path) -> None:
    before = os.environ.get("LOGNAME")
    os.environ["LOGNAME"] = name
    try:
        path = str(tmp_path / "budget.db")
        with Ledger(path) as ledger:
            ledger.create("words", "item", epsilon=2)
            (entry,) = ledger.entries()
        Path(path).unlink()
    finally:
        del os.environ["LOGNAME"]
        if before is not None:
            os.environ["LOGNAME"] = before
    import pwd

    assert entry.by == pwd.getpwuid(os.getuid()).pw_name


@pytest.mark.full
def test_a_release_by_a_name_in_no_encoding_is_charged(made: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "\udcff")
    asked = ("release", "events.csv", "--epsilon", "0.5", "--simulations", "2", "--ledger", made, "--dataset", "words")
    done = cli(*asked, "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")


def test_names_of_parameters_in_no_encoding_are_refused(made: str, cli: Cli) -> None:
    from anonhist.errors import UsageError

    with pytest.raises(UsageError, match="contain invalid characters"):
        charge(made, column="\udcff")
    assert cli("budget", "verify", "words", "--ledger", made).returncode == 0


def forged(path: str, **fields: object) -> None:
    """Write the entry of the last charge anew, chained as it must be."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER anonhist_no_update")
        rows = connection.execute("SELECT number, document, digest FROM anonhist_entries ORDER BY number").fetchall()
        told = json.loads(rows[-1][1]) | fields
        document = canonical(told)
        connection.execute(
            "UPDATE anonhist_entries SET document = ?, digest = ? WHERE number = ?",
            (document, chained(rows[-2][2], document), rows[-1][0]),
        )
        connection.commit()


def test_a_hostile_ledger_does_not_drive_a_terminal(made: str, terminal: Cli, cli: Cli, folder: Path) -> None:
    charge(made)
    forged(made, by=HOSTILE, time="2026\x1b[2J-11-24T02:46:38Z")
    page = str(folder / "page.html")
    for width in (60, 110):
        shown = terminal("budget", "show", "words", "--ledger", made, width=width).stdout
        assert "eve\\x1b]0;owned" in "".join(shown.split())
        assert not any(sign in shown for sign in ("\x1b]", "\x1b[2J", "\x07", "\x9b", "\u202e"))
    plain = cli("budget", "show", "words", "--ledger", made).stdout
    assert all(each.isprintable() for each in plain.splitlines())
    as_json = cli("budget", "show", "words", "--ledger", made, "--json").stdout
    assert all(each.isprintable() for each in as_json.splitlines())
    assert json.loads(as_json)["charges"][0]["by"] == HOSTILE
    forged_page = cli("budget", "show", "words", "--ledger", made, "--report", page, "--quiet")
    assert forged_page.returncode == 3
    assert forged_page.stderr.removesuffix("\n").isprintable()
    verified = cli("budget", "verify", "words", "--ledger", made)
    assert (verified.stdout + verified.stderr).removesuffix("\n").isprintable()


@pytest.mark.full
@each_of(
    "fields",
    [
        {"by": 5},
        {"by": None},
        {"time": 5},
        {"version": []},
        {"number": "\x1b[2J"},
        {"by": "\ud800"},
        {"dataset": "\x1b[2J"},
    ],
)
def test_entries_without_texts_are_damaged(fields: dict[str, object], tmp_path: Path) -> None:
    from anonhist.errors import DataError

    path = str(tmp_path / "budget.db")
    with Ledger(path) as ledger:
        ledger.create("words", "item", epsilon=2)
        entry = ledger.entries()[0]
    told = json.loads(entry.document) | fields
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER anonhist_no_update")
        connection.execute("UPDATE anonhist_entries SET document = ?", (json.dumps(told),))
        connection.commit()
    with Ledger(path) as ledger, pytest.raises(DataError) as refused:
        ledger.balance("words")
    assert str(refused.value).isprintable()
    Path(path).unlink()


@pytest.mark.slow
def test_a_ledger_whose_sum_is_too_long_to_write_is_shown_and_charged(folder: Path, cli: Cli) -> None:
    path = str(folder / "budget.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((GOLDEN / "long-sums.sql").read_text(encoding="utf-8"))
    of = ("passwords", "--ledger", path)
    assert cli("budget", "show", *of).stdout.startswith("passwords: ε ≈ 9.971 of 10 is left\nε ≈ 0.02845 is spent")
    told = json.loads(cli("budget", "show", *of, "--json").stdout)
    assert len(told["left"]["epsilon"]) > 8600
    assert cli("budget", "verify", *of).stdout == "passwords: the chain of 18 entries is whole.\n"
    planned = cli("budget", "plan", *of, "--every", "day", "--for", "1y").stdout
    assert "each --epsilon 0.027319330289193302 (about 0.02732), added up plainly" in planned
    assert cli("budget", "show", *of, "--report", str(folder / "page.html"), "--quiet").returncode == 0
    voided = cli("budget", "void", *of, "--entry", "18", "--reason", "a typo")
    assert voided.stdout == "passwords: entry 18 is void; ε ≈ 9.971 is left\n"
    assert cli("budget", "create", "more", "--epsilon", "1", "--unit", "item", "--ledger", path).returncode == 0
    (folder / "users.csv").write_text("user,label\na,x\nb,y\n")
    asked = ("release", "users.csv", "--label", "label", "--user", "user", "--max-per-user", "1", "--simulations", "2")
    charged = ("--epsilon", "0.25", "--ledger", path, "--dataset", "passwords")
    assert cli(*asked, *charged, "-o", str(folder / "out.json")).returncode == 0
    assert cli("budget", "verify", *of, str(folder / "out.json")).stdout.endswith("1 file matches.\n")


def test_a_spent_budget_names_no_smaller_epsilon(made: str, cli: Cli) -> None:
    charge(made, "2")
    asked = ("release", "events.csv", "--simulations", "2", "--ledger", made, "--dataset", "words", "-o", "out.json")
    refused = cli(*asked, "--epsilon", "0.001")
    assert refused.returncode == 2
    assert refused.stderr == (
        "anonhist: The release would cost ε = 0.001, but nothing is left of the budget of 'words' (ε = 2): "
        "nothing was released.\n"
    )


def test_numbers_of_entries_are_explained(made: str, cli: Cli) -> None:
    number = charge(made)
    assert "Entries are numbered through the whole ledger" in cli("budget", "show", "words", "--ledger", made).stdout
    assert cli("budget", "void", "words", "--entry", str(number), "--reason", "x", "--ledger", made).returncode == 0
    wrong = cli("budget", "void", "words", "--entry", str(number + 1), "--reason", "x", "--ledger", made)
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "anonhist: The data set 'words' has no charge with the number 3: that entry voids entry 2.\n",
    )
