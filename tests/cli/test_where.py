"""Conditions on rows (--where): in every command that reads rows, in what it writes, and in ledgers."""

import html
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import polars as pl
import pytest

from anonhist.accounting import Ledger
from anonhist.ingest import read_profile
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
EXACT = ("--epsilon", "1e9", "--simulations", "0")
SENTENCE = "Only rows where country = 'DE' were counted."


@pytest.fixture
def log(folder: Path) -> str:
    many = 40
    table = pl.DataFrame(
        {
            "query": [f"q{number % 7}" for number in range(many)],
            "who": [f"u{number % 9}" for number in range(many)],
            "country": ["DE" if number % 4 == 0 else "FR" for number in range(many)],
            "age": range(many),
            "day": [f"2026-11-{1 + number % 3:02}" for number in range(many)],
        }
    )
    table.write_parquet(folder / "log.parquet")
    table.write_csv(folder / "log.csv")
    return "log.parquet"


def test_a_release_is_of_the_rows_that_pass_and_says_so(cli: Cli, log: str, folder: Path) -> None:
    where = ("--where", "country='DE'")
    done = cli("release", log, "--label", "query", *where, *EXACT, "-o", "r.json", "--report", "r.html")
    assert done.returncode == 0, done.stderr
    assert f"Rows: {SENTENCE}" in done.stdout
    document = json.loads((folder / "r.json").read_text())
    assert document["where"] == "country = 'DE'"
    assert sum(document["profile"]["counts"][at] * n for at, n in enumerate(document["profile"]["prevalences"])) == 10
    assert SENTENCE.replace("'", "&#39;") in (folder / "r.html").read_text()
    assert f"Rows: {SENTENCE}" in cli("show", "r.json").stdout
    again = cli("release", log, "--label", "query", *where, *EXACT, "-o", "r.parquet")
    assert again.returncode == 0
    assert f"Rows: {SENTENCE}" in cli("show", "r.parquet").stdout


def test_groups_and_windows_are_of_the_rows_that_pass(cli: Cli, log: str, folder: Path) -> None:
    asked = ("release", log, "--label", "query", "--where", "country = 'DE'")
    groups = ("--by", "day", "--groups", "2026-11-01,2026-11-02")
    done = cli(*asked, *groups, *EXACT, "-o", "g.json", "--report", "g.html")
    assert done.returncode == 0, done.stderr
    windows = ("--cumulative-by", "day(day)", "--days", "2026-11-01..2026-11-03", "--thresholds", "1,2")
    shown = cli(*asked, *windows, "--epsilon", "50", "-o", "w.json", "--report", "w.html")
    assert shown.returncode == 0, shown.stderr
    for name, told in (("g", done.stdout), ("w", shown.stdout)):
        assert f"Rows: {SENTENCE}" in told
        assert f"Rows: {SENTENCE}" in cli("show", f"{name}.json").stdout
        assert SENTENCE.replace("'", "&#39;") in (folder / f"{name}.html").read_text()
        assert '"country = ' in (folder / f"{name}.json").read_text()


def test_parts_are_of_the_rows_that_pass(cli: Cli, log: str) -> None:
    where = ("--where", "country = 'DE' and age < 20")
    assert cli("count", log, "--label", "query", *where, "-o", "a.counts").returncode == 0
    assert cli("count", log, "--label", "query", "--onto", "a.counts", "--part", "b").returncode == 0
    read = read_profile("a.counts")
    assert (read.n, read.where) == (10, "country = 'DE' and age < 20")
    assert cli("count", log, "--label", "query", "-o", "all.counts").returncode == 0
    refused = cli("release", "a.counts", "all.counts", "--epsilon", "1", "-o", "r.json")
    assert (refused.returncode, "were counted with different conditions (--where)" in refused.stderr) == (2, True)
    for words in (("count", log, "--label", "query", "--onto", "a.counts"), ("release", "a.counts", "--epsilon", "1")):
        refused = cli(*words, *where, "-o", "c.counts" if words[0] == "count" else "r.json")
        assert refused.returncode == 2
        assert "--where" in refused.stderr


@pytest.mark.full
def test_what_is_estimated_is_of_the_rows_that_pass(cli: Cli, log: str, folder: Path) -> None:
    pl.read_parquet(log).filter(pl.col("country") == "DE").write_parquet(folder / "de.parquet")
    label = ("--label", "query")
    for words in (("estimate", "entropy"), ("curve", "hill", "--bootstraps", "3", "-o", "-")):
        some, same, whole = (
            cli(*words, *given, *label) for given in ((log, "--where", "country = 'DE'"), ("de.parquet",), (log,))
        )
        assert some.returncode == 0, some.stderr
        assert _numbers(some) == _numbers(same) != _numbers(whole)


def _numbers(done: CompletedProcess[str]) -> list[list[str]]:
    """Return what is estimated, without bands, which are drawn."""
    return [line.split(",")[:2] for line in done.stdout.splitlines()]


@each_of(
    ("where", "told"),
    [
        ("country = ", "--where cannot be read at its end"),
        ("lower(country) = 'de'", "there are no functions"),
        ("", "--where must be a condition"),
    ],
)
def test_what_is_no_condition_is_refused_before_anything_is_charged(cli: Cli, log: str, where: str, told: str) -> None:
    ledger = ("--ledger", "budget.db", "--dataset", "log")
    cli("budget", "create", "log", "--epsilon", "20", "--unit", "item", "--ledger", "budget.db")
    refused = cli("release", log, "--label", "query", "--where", where, "--epsilon", "1", "-o", "r.json", *ledger)
    assert refused.returncode == 2
    assert told in refused.stderr
    with Ledger("budget.db") as kept:
        assert not kept.balance("log").items


@each_of(
    ("where", "told"),
    [
        ("rowid = 1", "There is no column 'rowid' for the condition"),
        ("country = 5", "The column 'country' holds text: compare it with a text in single quotes, such as '18'."),
        ("age = '5'", "The column 'age' holds numbers: compare it with a number, without quotes."),
    ],
)
def test_what_the_schema_does_not_take_is_refused(cli: Cli, log: str, where: str, told: str) -> None:
    refused = cli("release", log, "--label", "query", "--where", where, "--epsilon", "1", "-o", "r.json")
    assert refused.returncode in (2, 3)
    assert told in refused.stderr


def test_text_files_hold_text(cli: Cli, log: str) -> None:
    assert log
    words = ("release", "log.csv", "--label", "query", *EXACT, "-o", "r.json")
    refused = cli(*words, "--where", "age >= 18")
    assert "The column 'age' holds text: compare it with a text in single quotes, such as '18'." in refused.stderr
    assert cli(*words, "--where", "age >= '18'").returncode == 0


def test_a_ledger_keeps_what_was_asked_for(cli: Cli, log: str) -> None:
    cli("budget", "create", "log", "--epsilon", "20", "--unit", "item", "--ledger", "budget.db")
    run = ("--ledger", "budget.db", "--dataset", "log", "--run-id", "monday")
    words = ("release", log, "--label", "query", "--epsilon", "1", *run, "-o", "r.json")
    assert cli(*words, "--where", "country = 'DE'").returncode == 0
    with Ledger("budget.db") as kept:
        (item,) = kept.balance("log").items
    assert item.charged.charge.run.settings["where"] == "country = 'DE'"
    refused = cli(*words, "--where", "country = 'FR'")
    assert "was charged as entry" in refused.stderr
    assert "with other settings" in refused.stderr


def test_a_page_repeats_a_condition_whole(cli: Cli, folder: Path) -> None:
    # It stands on the page anyway, and the command must be of use.
    where = "url <> 'https://a.example/?q=1&b=2' and l <> 'user:pw@host'"
    (folder / "urls.csv").write_text("l,url\na,x\nb,y\n")
    done = cli("release", "urls.csv", "--label", "l", "--where", where, "--epsilon", "1", "--report", "p.html")
    assert done.returncode == 0
    text = html.unescape((folder / "p.html").read_text(encoding="utf-8"))
    # Names of options are in elements of their own, which no line divides.
    assert f"--where {shlex.quote(where)}" in re.sub("</?span[^>]*>", "", text)
