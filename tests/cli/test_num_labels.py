"""``anonhist estimate num-labels``: what it prints, charges and refuses."""

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
CERTAIN = "1000000000"


@pytest.fixture
def visits(folder: Path) -> str:
    """Write 40 users with three pages each, of 42."""
    rows = "".join(f"user{user},page{user + more}\n" for user in range(40) for more in range(3))
    (folder / "visits.csv").write_text("person,page\n" + rows)
    return "visits.csv"


COLUMNS = ("--user", "person", "--label", "page")


def test_a_pipe_gets_the_number_and_its_promise(cli: Cli, visits: str) -> None:
    done = cli(
        "estimate", "num-labels", visits, *COLUMNS, "--epsilon", CERTAIN, "--max-per-user", "4", "--level", "0.9"
    )
    assert done.returncode == 0
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert (row["property"], row["value"], row["low"], row["says"]) == ("num-labels", "42", "42", "at least")
    assert float(row["high"]) == math.inf
    assert (row["unit"], row["level"]) == ("labels", "0.9")
    assert "when one user with all their items is added or removed, spent in steps" in row["guarantee"]


def test_a_person_gets_sentences_and_a_ledger_its_charge(cli: Cli, visits: str) -> None:
    made = cli("budget", "create", "shop", "--epsilon", "2", "--unit", "user", "--ledger", "budget.db")
    assert made.returncode == 0
    account = ("--ledger", "budget.db", "--dataset", "shop")
    done = cli("estimate", "num-labels", visits, *COLUMNS, "--epsilon", "1", *account, "-o", "found.csv")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("num-labels: at least ")
    assert " labels (95% confidence); users with more than " in lines[0]
    assert "Ledger: entry 2 of budget.db, charged to 'shop'." in lines
    again = cli("estimate", "num-labels", visits, *COLUMNS, "--epsilon", "1.5", *account)
    assert again.returncode != 0
    assert "1.5" in again.stderr


@each_of(
    "given",
    [
        (("--epsilon", "1"), "num-labels needs --user"),
        (("--user", "person"), "only a private estimate of num-labels: give its budget (--epsilon)"),
        (("--user", "person", "--epsilon", "1", "--unit", "item"), "--unit does not apply to num-labels"),
        (("--user", "person", "--epsilon", "1", "--order-by", "page"), "--order-by does not apply"),
        (("--user", "person", "--epsilon", "1", "--known-items", "9"), "--known-items does not apply"),
        (("--user", "person", "--epsilon", "1", "--draws", "9"), "--draws does not apply to num-labels"),
        (("--user", "person", "--epsilon", "1", "--max-per-user", "0"), "--max-per-user must be"),
        (("--user", "person", "--epsilon", "1e-8"), "too small for 1,024 labels per user"),
    ],
)
def test_what_does_not_fit_is_refused(given: tuple[tuple[str, ...], str], cli: Cli, visits: str) -> None:
    options, message = given
    done = cli("estimate", "num-labels", visits, "--label", "page", *options)
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_a_release_has_no_users(cli: Cli, visits: str) -> None:
    assert cli("release", visits, "--label", "page", "--epsilon", "1", "-o", "pages.json").returncode == 0
    done = cli("estimate", "num-labels", "pages.json", "--user", "person", "--epsilon", "1")
    assert done.returncode != 0
    assert "give the rows of users instead" in " ".join(done.stderr.split())
