"""A command that a scheduler starts again: the same file, one charge, and noise that is drawn once."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import anonhist as ah
from anonhist.accounting import Ledger, verify
from anonhist.accounting.balance import Item
from anonhist.formats.files import claim_of
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
LEDGER = ("--ledger", "budget.db")
RUN = (*LEDGER, "--dataset", "animals", "--run-id", "daily")
RELEASE = ("release", "events.csv", "--epsilon", "0.5", "--simulations", "2", *RUN)


@pytest.fixture
def kept(cli: Cli, folder: Path) -> Path:
    """Make a ledger with budgets, and something to read; return the folder."""
    for name, unit, *more in (
        ("animals", "item"),
        ("friends", "edge"),
        ("members", "user", "--relation", "substitute"),
    ):
        assert cli("budget", "create", name, "--epsilon", "20", "--unit", unit, *more, *LEDGER).returncode == 0
    (folder / "grouped.csv").write_text("label,group,day\n" + "a,x,2026-11-01\nb,y,2026-11-02\n" * 3000)
    (folder / "edges.txt").write_text("a b\nb c\n")
    (folder / "words.txt").write_text("newt\nzebra\n")
    ah.write(ah.sketches.HashedSketch(buckets=64, epsilon=2, key=b"k"), folder / "day.sketch")
    return folder


def items(dataset: str = "animals") -> tuple[Item, ...]:
    with Ledger("budget.db") as ledger:
        assert verify(ledger).problems == ()
        return ledger.balance(dataset).items


def states(dataset: str = "animals") -> list[str]:
    return [str(each.state) for each in items(dataset)]


@contextmanager
def no_noise(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail where noise is drawn in this process."""
    from anonhist.randomness.source import SystemSource

    with monkeypatch.context() as patched:
        patched.setattr(SystemSource, "words", lambda *_: pytest.fail("noise was drawn"))
        yield


GROUPED = ("release", "grouped.csv", "--label", "label", "--epsilon", "0.5")
DAYS = ("--cumulative-by", "day(day)", "--days", "2026-11-01..2026-11-03", "--thresholds", "1")
GROUPS = ("--by", "group", "--groups", "x,y")
COMMANDS: list[tuple[str, tuple[str, ...], str]] = [
    ("release", RELEASE[:-6], "animals"),
    ("groups", (*GROUPED, *GROUPS, "--simulations", "2"), "animals"),
    ("found", (*GROUPED, "--by", "group", "--find-groups", "--delta", "1e-10", "--simulations", "2"), "animals"),
    ("windows", (*GROUPED, *DAYS), "animals"),
    ("window groups", (*GROUPED, *DAYS, *GROUPS), "animals"),
    ("degrees", ("degrees", "edges.txt", "--unit", "edge", "--epsilon", "1", "--simulations", "2"), "friends"),
    ("sketch", ("sketch", "profile", "day.sketch", "--decoder", "three-tap", "--simulations", "2"), "animals"),
    ("survey", ("local", "new", "--mechanism", "k-rr", "--alphabet", "words.txt", "--epsilon", "0.5"), "members"),
    ("estimate", ("estimate", "entropy", "events.csv", "--epsilon", "0.5", "--alphabet-size", "9"), "animals"),
]


@pytest.mark.slow
@each_of(("name", "command", "dataset"), COMMANDS)
def test_a_run_that_was_released_leaves_its_file(
    name: str, command: tuple[str, ...], dataset: str, kept: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    endings = {"estimate": [".csv"], "survey": [".json"]}.get(name, [".json", ".parquet", ".csv"])
    for ending in endings:
        target = kept / f"{name}{ending}"
        run = ("--ledger", "budget.db", "--dataset", dataset, "--run-id", f"{name} {ending}", "-o", target)
        first = cli(*command, *run)
        assert (first.returncode, target.exists()) == (0, True), first
        written, entry = target.read_bytes(), items(dataset)[-1].entry.number
        for more in ((), ("--force",)):
            # An estimate is made of no data first, to check what was asked for.
            with nullcontext() if name == "estimate" else no_noise(monkeypatch):
                again = cli(*command, *run, *more)
            assert (again.returncode, again.stderr, target.read_bytes()) == (0, "", written)
            assert again.stdout == (
                f"Ledger: entry {entry} of budget.db, charged when this run was first started. {target} is its "
                "release: nothing more was charged.\n"
            )
        assert items(dataset)[-1].entry.number == entry
        assert states(dataset)[-1] == "released"


@pytest.mark.full
def test_a_file_that_is_not_that_release_is_refused(kept: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli(*RELEASE, "-o", "out.json").returncode == 0
    written = (kept / "out.json").read_bytes()
    begun = "anonhist: The run 'daily' was already released, as entry 4 of budget.db, to 'out.json', and "
    ended = ": use what was written then, or make another release, with another --run-id, at further cost.\n"
    shutil.copy("out.json", "copy.json")
    with no_noise(monkeypatch):
        elsewhere = cli(*RELEASE, "-o", "other.json")
        assert (elsewhere.returncode, elsewhere.stderr) == (3, f"{begun}'other.json' is not there{ended}")
        # A copy is that release, too.
        assert cli(*RELEASE, "-o", "copy.json").returncode == 0
        for damaged in (b"{}", written.replace(b'"prevalences":', b'"prevalences" :')[:-3], b""):
            (kept / "out.json").write_bytes(damaged)
            for more in ((), ("--force",)):
                other = cli(*RELEASE, "-o", "out.json", *more)
                assert (other.returncode, other.stderr) == (3, f"{begun}'out.json' is another file{ended}")
                assert (kept / "out.json").read_bytes() == damaged
    (kept / "out.json").unlink()
    gone = cli(*RELEASE, "-o", "out.json")
    assert (gone.returncode, gone.stderr) == (3, f"{begun}'out.json' is not there{ended}")
    assert states() == ["released"]


@pytest.mark.full
def test_csv_is_known_by_its_bytes(kept: Path, cli: Cli) -> None:
    assert cli(*RELEASE, "-o", "out.csv").returncode == 0
    (kept / "out.csv").write_bytes((kept / "out.csv").read_bytes() + b"\n")
    assert cli(*RELEASE, "-o", "out.csv").returncode == 3
    # Without a run, the ledger has no such digest.
    assert cli(*RELEASE[:-2], "-o", "plain.csv").returncode == 0
    with Ledger("budget.db") as ledger:
        assert ['"file":' in row.document for row in ledger.rows("animals")] == [False, False, True, False, False]


@each_of("output", [(), ("-o", "-")])
def test_standard_output_is_refused_before_it_is_charged(output: tuple[str, ...], kept: Path, cli: Cli) -> None:
    refused = cli(*RELEASE, *output)
    assert refused.returncode == 2
    assert "--run-id requires -o FILE" in refused.stderr
    assert states() == []
    assert kept.exists()


@pytest.mark.full
@each_of(
    ("other", "named"),
    [
        (("--epsilon", "1"), "--epsilon"),
        (("--purpose", "audit"), "--purpose"),
        (("--mechanism", "partition"), "--mechanism"),
        (("--label", "label"), "--label"),
        (("--simulations", "3"), "--simulations"),
        (("--dataset", "friends"), "--dataset"),
        (("--relation", "substitute"), "--relation"),
    ],
)
def test_other_settings_are_refused(other: tuple[str, ...], named: str, kept: Path, cli: Cli) -> None:
    assert cli(*RELEASE, "-o", "out.json", "--force").returncode == 0
    for name in ("out.json", "new.json"):
        refused = cli(*RELEASE, *other, "-o", name)
        assert refused.returncode == 2
        assert refused.stderr == (
            f"anonhist: The run 'daily' was charged as entry 4 of budget.db with other settings ({named} differs): "
            "give the same settings, or another --run-id.\n"
        )
    assert states() == ["released"]
    assert not (kept / "new.json").exists()


def test_other_days_and_sources_are_refused(kept: Path, cli: Cli) -> None:
    asked = (*GROUPED, *DAYS, *RUN, "-o", "out.json")
    assert cli(*asked).returncode == 0
    days = cli(*asked, "--days", "2026-11-01..2026-11-04")
    assert (days.returncode, "(--days differs)" in days.stderr) == (2, True)
    shutil.copy("grouped.csv", "other.csv")
    source = cli("release", "other.csv", *asked[2:])
    assert (source.returncode, "(source differs)" in source.stderr) == (2, True)
    # What is written like a default, or only changes how long it takes, is no other setting.
    assert cli(*asked, "--threads", "1", "--relation", "add-or-remove", "--quiet").returncode == 0
    assert (len(states()), kept.exists()) == (1, True)


def test_the_ledger_has_no_secrets_of_addresses(kept: Path, cli: Cli) -> None:
    source = "postgresql://eve:s3cret@localhost:1/shop?password=hunter2"
    cli("release", source, "--table", "log", "--label", "word", "--epsilon", "1", *RUN, "-o", "out.json")
    (item,) = items()
    assert item.charged.charge.run is not None
    assert item.charged.charge.run.settings == {
        "command": "release",
        "source": "['postgresql://***@localhost:1/shop?***']",
        "table": "log",
        "label": "word",
    }
    assert not any(secret in (kept / "budget.db").read_bytes() for secret in (b"s3cret", b"hunter2"))


def test_what_failed_before_data_were_read_can_be_run_again(kept: Path, cli: Cli) -> None:
    (kept / "events.csv").rename(kept / "later.csv")
    assert cli(*RELEASE, "-o", "out.json").returncode == 3
    assert states() == ["void"]
    (kept / "later.csv").rename(kept / "events.csv")
    assert cli(*RELEASE, "-o", "out.json").returncode == 0
    assert states() == ["void", "released"]
    assert items()[-1].cost.epsilon * 2 == 1


def test_what_failed_over_the_data_is_not_run_again(kept: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (kept / "bad.csv").write_text("label,count\na,-3\n")
    asked = ("release", "bad.csv", "--epsilon", "0.5", *RUN, "-o", "out.json")
    assert cli(*asked).returncode == 3
    (kept / "bad.csv").write_text("label,count\na,3\n")
    with no_noise(monkeypatch):
        refused = cli(*asked)
    assert refused.returncode == 3
    assert "was charged as entry 4 of budget.db, and whether anybody saw its release is unknown" in refused.stderr
    assert states() == ["charged, file unknown"]


# Where a process kills itself; before the last its release is recorded.
KILLED = [
    ("anonhist.ingest.read", "profile_pairs"),
    ("anonhist.formats.tables", "document_text"),
    ("anonhist.formats.atomic", "_name"),
]
_DIE = """
import importlib, os, signal, sys
module, name, *words = sys.argv[1:]
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(importlib.import_module(module), name, die)
from anonhist.cli.entry import run
sys.exit(run(words))
"""


@pytest.mark.slow
@each_of(("module", "function"), KILLED)
def test_a_run_that_was_killed_is_not_drawn_again(
    module: str, function: str, kept: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{function}.json"
    asked = (*RELEASE[:-1], function, "-o", name)
    killed = subprocess.run([sys.executable, "-c", _DIE, module, function, *asked], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    number = items()[-1].entry.number
    with no_noise(monkeypatch):
        refused = cli(*asked)
    assert refused.returncode == 3
    if function == "_name":
        told = f"as entry {number} of budget.db, to '{name}', and '{name}' is not there (a file .anonhist-….part beside"
        assert told in refused.stderr
        # It lies beside it, whole.
        (part,) = kept.glob(".anonhist-*.part")
        part.rename(kept / name)
        assert cli(*asked).returncode == 0
        return
    assert f"void entry {number} ('anonhist budget void') only if nobody saw anything, and run it again" in (
        refused.stderr
    )
    for part in kept.glob(".anonhist-*.part"):
        part.unlink()
    assert cli("budget", "void", "animals", "--entry", number, "--reason", "killed", *LEDGER).returncode == 0
    assert cli(*asked).returncode == 0
    assert states()[-2:] == ["void", "released"]
    with Ledger("budget.db") as ledger:
        assert verify(ledger, [claim_of(kept / name)]).problems == ()


def test_a_sketch_whose_file_is_gone_is_read_again(kept: Path, cli: Cli) -> None:
    asked = (*COMMANDS[6][1], *RUN, "-o", "out.json")
    assert cli(*asked).returncode == 0
    (kept / "out.json").unlink()
    assert cli(*asked).returncode == 0
    written = (kept / "out.json").read_bytes()
    assert cli(*asked).returncode == 0
    assert (kept / "out.json").read_bytes() == written
    assert [str(each.cost.epsilon) for each in items()] == ["2", "0"]


@pytest.mark.full
def test_of_processes_at_once_one_is_charged_and_writes(kept: Path) -> None:
    command = [sys.executable, "-m", "anonhist", *RELEASE, "-o", "out.json"]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    ended = [(each.communicate(), each.returncode) for each in started]
    assert all(code in {0, 3} for _, code in ended), ended
    assert [code for (_, errors), code in ended if code and "The run 'daily' was" not in errors] == []
    assert states() == ["released"]
    with Ledger("budget.db") as ledger:
        assert verify(ledger, [claim_of(kept / "out.json")]).problems == ()
    assert not list(kept.glob(".anonhist-*"))


@pytest.mark.full
def test_a_file_that_another_process_wrote_meanwhile_is_left(
    kept: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonhist.terminal.destinations import Outputs

    find = Outputs.for_release

    def late(self: Outputs, *sources: str) -> Any:
        # Another process of this run comes first.
        monkeypatch.setattr(Outputs, "for_release", find)
        subprocess.run([sys.executable, "-m", "anonhist", *RELEASE, "-o", "out.json"], capture_output=True, check=True)
        return find(self, *sources)

    monkeypatch.setattr(Outputs, "for_release", late)
    with no_noise(monkeypatch):
        done = cli(*RELEASE, "-o", "out.json")
    assert (done.returncode, done.stderr, states()) == (0, "", ["released"])
    assert kept.exists()


@pytest.mark.full
def test_a_page_that_was_not_written_is_made_from_the_file(kept: Path, cli: Cli) -> None:
    assert cli(*RELEASE, "-o", "out.json", "--report", "first.html", "--title", "Day").returncode == 0
    assert cli(*RELEASE, "-o", "out.json", "--report", "second.html", "--title", "Day").returncode == 0
    first, second = ((kept / name).read_text() for name in ("first.html", "second.html"))
    assert first.replace("first.html", "second.html") == second
    # One that is there is left, like the file.
    assert cli(*RELEASE, "-o", "out.json", "--report", "first.html").returncode == 0
    assert (kept / "first.html").read_text() == first


@pytest.mark.full
def test_show_and_its_page_say_which_run_it_was(kept: Path, cli: Cli) -> None:
    assert cli(*RELEASE, "--purpose", "press", "-o", "out.json").returncode == 0
    assert "press (run daily)" in cli("budget", "show", "animals", *LEDGER).stdout
    told = json.loads(cli("budget", "show", "animals", "--json", *LEDGER).stdout)["charges"][0]["run"]
    assert told == {
        "id": "daily",
        "settings": {"command": "release", "source": "['events.csv']", "simulations": "2"},
        "output": "out.json",
    }
    assert cli("budget", "show", "animals", "--report", "page.html", *LEDGER).returncode == 0
    assert "press (run daily)" in (kept / "page.html").read_text()


@each_of(
    ("arguments", "told"),
    [
        (("release", "events.csv", "--epsilon", "1", "--run-id", "x", "-o", "o.json"), "requires --ledger: give that"),
        ((*RELEASE[:-1], "", "-o", "o.json"), "--run-id must be one line of 1 to 1,000 characters"),
        ((*RELEASE[:-1], "a\nb", "-o", "o.json"), "--run-id must be one line"),
        (("estimate", "entropy", "events.csv", "--run-id", "x"), "--run-id applies only to private estimates"),
    ],
)
def test_mistakes_get_one_sentence(arguments: tuple[str, ...], told: str, kept: Path, cli: Cli) -> None:
    refused = cli(*arguments)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert told in refused.stderr
    assert states() == []
    assert os.fspath(kept)
