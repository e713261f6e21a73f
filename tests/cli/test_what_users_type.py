"""The commands that the README and the issue tracker show, typed as they stand there."""

import gzip
import shlex
import sqlite3
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from subprocess import CompletedProcess, run
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonhist as ah
from anonhist.report.wording import describe_excess, promise_lines
from anonhist.terminal.reading import WHERE_REMARKS_ARE

Cli = Callable[..., CompletedProcess[str]]

_DATA = Path(__file__).parents[2] / "data"
# Counts 900, 500 and 100: at such budgets the noise cannot hide which is which.
_LABELS = ["zebra"] * 900 + ["heron"] * 500 + ["newt"] * 100


def _near(counts: list[int]) -> list[int]:
    return [round(count, -2) for count in counts if count > 50]


def _counts_of_release(folder: Path, name: str = "out.json") -> list[int]:
    return ah.read(folder / name).profile.counts.tolist()


@pytest.mark.full
def test_who_counts_how_often_users_were_seen_is_told_of_the_unit_with_less_noise(cli: Cli, folder: Path) -> None:
    (folder / "seen.csv").write_text("user\n" + "".join(f"u{number % 40}\n" for number in range(100)))
    read = ("release", "seen.csv", "--label", "user", "--epsilon", "1", "--simulations", "0")
    done = cli(*read, "--user", "user", "--max-per-user", "5", "-o", "users.json")
    assert (
        "Note: here the labels are the users. Replace --user and --max-per-user with --unit label --max-count 5:"
        in done.stderr
    )
    instead = cli(*read, "--unit", "label", "--max-count", "5", "-o", "labels.json")
    assert (instead.returncode, instead.stderr) == (0, "")

    def width(name: str) -> float:
        low, high = ah.read(folder / name).k_plus(1).interval
        return high - low

    # Of ε = 1, one of five items gets a fifth, and a label all.
    assert 2 * width("labels.json") < width("users.json")


@pytest.fixture
def sources(folder: Path) -> Path:
    rows = [(label, f"u{number}") for number, label in enumerate(_LABELS)]
    pq.write_table(pa.table({"query": _LABELS, "day": [1] * len(_LABELS)}), folder / "events.parquet")
    text = "account,password\n" + "".join(f"{user},{label}\n" for label, user in rows)
    (folder / "log.csv.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "semicolons.csv").write_text(text.replace(",", ";"))
    (folder / "tabs.txt").write_text(text.replace(",", "\t"))
    (folder / "tabs.data").write_text(text.replace(",", "\t"))
    (folder / "bare.csv").write_text("\n".join(f"{user},{label}" for label, user in rows) + "\n")
    with duckdb.connect(str(folder / "shop.db")) as connection:
        connection.execute("CREATE TABLE orders (sku VARCHAR, amount INTEGER)")
        for label, number in (("zebra", 900), ("heron", 500), ("newt", 100)):
            connection.execute("INSERT INTO orders SELECT ?, i FROM range(?) t(i)", [label, number])
    connection_ = sqlite3.connect(folder / "shop.sqlite")
    with connection_:
        connection_.execute("CREATE TABLE orders (sku TEXT)")
        connection_.executemany("INSERT INTO orders VALUES (?)", [(label,) for label in _LABELS])
    connection_.close()
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    [
        "release events.parquet --label query --epsilon 30",
        "release log.csv.gz --label password --user account --max-per-user 1 --epsilon 30",
        "release log.csv.gz --label password --user account --max-per-user 1 --order-by password --epsilon 30",
        "release 'log*.gz' --label password --epsilon 30",
        "release semicolons.csv --delimiter ';' --label password --epsilon 30",
        "release tabs.txt --label password --epsilon 30",
        "release tabs.data --delimiter '\\t' --label password --epsilon 30",
        "release bare.csv --no-header --label column1 --epsilon 30",
        "release 'duckdb:///shop.db' --table orders --label sku --epsilon 30",
        "release 'sqlite:///shop.sqlite' --table orders --label sku --epsilon 30",
    ],
)
def test_sources_are_read_as_typed(typed: str, cli: Cli, sources: Path) -> None:
    done = cli(*shlex.split(typed), "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert _near(_counts_of_release(sources)) == [100, 500, 900]


@pytest.mark.slow
def test_users_are_protected_where_they_are_bounded(cli: Cli, sources: Path) -> None:
    typed = (
        "release log.csv.gz --label password --user account --max-per-user 1 --epsilon 0.5 --report out.html -o r.json"
    )
    done = cli(*shlex.split(typed))
    assert (done.returncode, done.stderr) == (0, "")
    guarantee = ah.read(sources / "r.json").guarantee
    assert str(guarantee).startswith(
        "0.5-differentially private (δ = 0) when one user with all their items (at most 1 of them counts) is added or "
    )
    assert dict(promise_lines(guarantee))["Promise"] in done.stdout
    key = ah.read(sources / "r.json").order_key
    assert key is not None
    # What the bound left out is in no interval, which is said wherever intervals are.
    told = (
        "At most 1 item of each user is counted in the whole release. Errors and intervals do not cover what this "
        f"leaves out. The order key {key} chose what is counted or, with an order column, decided ties. "
    )
    how_to_ask = "With an excess share of 0.05, a release also estimates that, for 5% of its ε."
    assert (
        f"Bound: {told}{how_to_ask}\n"
        in done.stdout
        == cli("show", "r.json").stdout + "Not recorded in a ledger (--ledger).\nWrote r.json.\nWrote out.html.\n"
    )
    page = (sources / "out.html").read_text(encoding="utf-8")
    assert told + how_to_ask in page
    again = cli(*shlex.split(typed), "--force", "--order-key", key, "--excess-share", "0.2", "--excess-cap", "5")
    found = ah.read(sources / "r.json")
    assert found.excess is not None
    assert (found.excess.bound, found.excess.cap, found.excess.epsilon) == (1, 5, Fraction(1, 10))
    assert found.guarantee.epsilon == Fraction(1, 2)
    assert f"Bound: {told}{describe_excess(found.excess)}\n" in again.stdout
    page = (sources / "out.html").read_text(encoding="utf-8")
    assert told + describe_excess(found.excess) in page


@pytest.mark.slow
def test_what_is_counted_already_is_recognised(cli: Cli, folder: Path) -> None:
    done = cli("release", _DATA / "pw_phpbb.csv", "--epsilon", "1", "--simulations", "2", "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    truth = ah.read_profile(str(_DATA / "pw_phpbb.csv"))
    assert ah.properties.sorted_l1(truth, ah.read(folder / "out.json").profile) < truth.n / 100
    assert "when one item is added or removed" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "sentence", "mechanism"),
    [
        ((), "when one item is added or removed", "partition"),
        (("--unit", "item"), "when one item is added or removed", "partition"),
        (("--relation", "substitute"), "when one item is replaced by another", "partition"),
        (("--unit", "label", "--max-count", "400"), "when one label with all its items", "prevalence"),
        (("--mechanism", "frobenius"), "when one item is added or removed", "frobenius"),
        (("--expected-items", "1e15"), "when one item is added or removed", "frobenius"),
    ],
)
def test_the_promise_is_the_one_asked_for(
    options: tuple[str, ...], sentence: str, mechanism: str, cli: Cli, sources: Path
) -> None:
    given = ("release", "events.parquet", "--label", "query", "--epsilon", "18", "--simulations", "2", *options)
    done = cli(*given, "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    release = ah.read(sources / "out.json")
    assert sentence in str(release.guarantee)
    assert release.mechanism.name == mechanism
    assert release.simulations == 2
    if mechanism == "prevalence":
        assert max(release.profile.counts.tolist()) <= 400


@pytest.mark.slow
def test_rows_without_a_label_count_if_asked(cli: Cli, folder: Path) -> None:
    (folder / "x.csv").write_text("label,x\n" + "zebra,1\n" * 500 + ",1\n" * 900)
    given = ("release", "x.csv", "--label", "label", "--epsilon", "18", "-o", "out.json", "--force")
    cli(*given)
    assert _near(_counts_of_release(folder)) == [500]
    cli(*given, "--keep-null")
    assert _near(_counts_of_release(folder)) == [500, 900]


@pytest.mark.slow
def test_a_column_of_a_log_is_piped_through(sources: Path) -> None:
    typed = f"cut -f2 tabs.txt | {shlex.quote(sys.executable)} -m anonhist release - --format labels --epsilon 9 -o -"
    done = run(["sh", "-c", typed], capture_output=True, check=False, text=True, cwd=sources)
    assert (done.returncode, done.stderr) == (0, f"{WHERE_REMARKS_ARE}\n")
    assert _near([int(line.split(",")[0]) for line in done.stdout.splitlines()[1:]]) == [100, 500, 900]


@pytest.mark.full
def test_users_that_were_bounded_here_are_protected_whatever_they_did(cli: Cli, folder: Path) -> None:
    (folder / "seen.csv").write_text("user,word\n" + "".join(f"u{number % 4},w{number % 7}\n" for number in range(100)))
    read = ("release", "seen.csv", "--label", "word", "--epsilon", "1", "--simulations", "0", "--force")
    told = "Any one user is protected, however many items they have: at most 3 of them count."
    elsewhere = "the data must have been limited to that before anything was counted"
    done = cli(*read, "--user", "user", "--max-per-user", "3", "-o", "made.json", "--report", "made.html")
    assert f"Users: {told}" in done.stdout
    assert told in cli("show", "made.json").stdout
    page, cell = (folder / "made.html").read_text(), ah.read(folder / "made.json")._repr_html_()
    for shown in (page, cell):
        assert told in shown
        assert elsewhere not in shown
    plain = cli(*read, "--report", "plain.html", "-o", "plain.json")
    assert "Users: " not in plain.stdout
    assert "about whether a given item is in the data" in (folder / "plain.html").read_text()


def test_what_one_of_the_unit_is_called_is_said_everywhere_and_kept(cli: Cli, folder: Path) -> None:
    (folder / "views.csv").write_text("viewer,day\n" + "".join(f"v{at},2026-11-0{1 + at % 3}\n" for at in range(200)))
    read = ("release", "views.csv", "--label", "viewer", "--epsilon", "2", "--unit-name", "viewer")
    labels = (*read, "--unit", "label", "--max-count", "3")
    windows = ("--cumulative-by", "day(day)", "--days", "2026-11-01..2026-11-03", "--thresholds", "1,2")
    groups = ("--by", "day", "--groups", "2026-11-01,2026-11-02", "--max-groups-per-label", "2")
    for name, given in {"one": (), "windows": windows, "groups": groups}.items():
        done = cli(*labels, *given, "-o", f"{name}.json", "--report", f"{name}.html")
        assert done.returncode == 0, done.stderr
        release = ah.read(folder / f"{name}.json")
        assert release.guarantee.unit.name == "viewer"
        page = (folder / f"{name}.html").read_text()
        for shown in (done.stdout, cli("show", f"{name}.json").stdout, page, release._repr_html_()):
            assert "whether a given viewer is in the data" in shown, name
            assert "viewers" in shown, name
        assert "Labels are the values of viewer. " in page
    assert "Labels are the values of" not in _page_of(ah.read(folder / "one.json"), folder)
    users = cli(*read, "--user", "viewer", "--max-per-user", "1", "-o", "users.json")
    assert "Any one viewer is protected" in users.stdout
    refused = cli(*read[:-1], "<b>")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--unit-name must be one word or a few, of at most 40 letters, such as viewer, not '<b>'." in refused.stderr


def _page_of(release: Any, folder: Path) -> str:
    ah.write_report(release, folder / "again.html")
    return (folder / "again.html").read_text()
