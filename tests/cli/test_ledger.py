"""Releases from the command line that are charged to a ledger: files, summaries, and one sentence for every mistake."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import anonhist as ah
from anonhist.accounting import Ledger
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
CHARGED = ("--ledger", "budget.db", "--dataset", "animals")


@pytest.fixture
def events(cli: Cli, folder: Path) -> tuple[str, ...]:
    """Return the start of a release; the data set has a budget of ε = 20 for items."""
    assert (
        cli("budget", "create", "animals", "--epsilon", "20", "--unit", "item", "--ledger", "budget.db").returncode == 0
    )
    (folder / "bad.csv").write_text("label,count\na,-3\n")
    (folder / "edges.txt").write_text("a b\nb c\n")
    return ("release", "events.csv", "--simulations", "2")


def states(dataset: str = "animals") -> list[str]:
    with Ledger("budget.db") as ledger:
        return [each.state for each in ledger.balance(dataset).items]


@each_of("name", ["out.json", "out.parquet", "out.csv"])
def test_a_release_is_charged_and_its_file_matches(name: str, events: tuple[str, ...], cli: Cli) -> None:
    before = len(states())
    done = cli(*events, "--epsilon", "0.5", *CHARGED, "--purpose", "press 2026", "-o", name)
    assert (done.returncode, done.stderr) == (0, "")
    entry = 2 * before + 2
    assert f"Ledger: entry {entry} of budget.db, charged to 'animals'.\nWrote {name}.\n" in done.stdout
    assert states()[before:] == ["released"]
    if name != "out.csv":  # which holds the table alone
        verified = cli("budget", "verify", "animals", name, "--ledger", "budget.db")
        assert verified.stdout == f"animals: the chain of {entry + 1} entries is whole. 1 file matches.\n"


@each_of(
    ("options", "cost"),
    [
        (("--by", "group", "--groups", "x,y"), "1/2"),
        (("--by", "group", "--groups", "x,y", "--levels", "nested"), "1/2"),
        (("--by", "group", "--groups", "x,y", "--levels", "crossing"), "1/2"),
        (("--by", "group", "--groups", "x,y", "--mechanism", "partition", "--epsilon", "1"), "1"),
        (("--by", "group", "--find-groups", "--delta", "1e-10"), "1/2"),
        (("--cumulative-by", "day(day)", "--days", "2026-11-01..2026-11-03", "--thresholds", "1,2"), "1/2"),
        (
            (
                "--cumulative-by",
                "day(day)",
                "--days",
                "2026-11-01..2026-11-03",
                "--thresholds",
                "1",
                "--by",
                "group",
                "--groups",
                "x,y",
            ),
            "1/2",
        ),
    ],
)
def test_groups_and_windows_are_charged_as_a_whole(
    options: tuple[str, ...], cost: str, events: tuple[str, ...], cli: Cli, folder: Path
) -> None:
    rows = "".join(f"l{n % 7},{'xy'[n % 2]},2026-11-0{1 + n % 3}\n" for n in range(6000))
    (folder / "grouped.csv").write_text(f"label,group,day\n{rows}")
    before = len(states())
    simulations = () if "--cumulative-by" in options else events[2:]
    asked = ("release", "grouped.csv", "--label", "label", "--epsilon", "0.5", *simulations, *options, *CHARGED)
    for name in ("groups.json", "groups.parquet"):
        done = cli(*asked, "-o", name, "--force")
        assert (done.returncode, done.stderr) == (0, "")
        assert ", charged to 'animals'.\n" in done.stdout
        assert cli("budget", "verify", "animals", name, "--ledger", "budget.db").returncode == 0
    with Ledger("budget.db") as ledger:
        item = ledger.balance("animals").items[before]
        released = ah.read(folder / "groups.json").guarantee
    assert str(item.cost.epsilon) == cost == str(released.epsilon)
    assert item.cost.delta >= released.delta


def test_private_estimates_are_charged_and_others_are_not(
    events: tuple[str, ...], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    del events
    done = cli("estimate", "entropy", "events.csv", "--epsilon", "0.5", "--alphabet-size", "9", *CHARGED)
    assert (done.returncode, states()) == (0, ["released"])
    with Ledger("budget.db") as ledger:
        (item,) = ledger.balance("animals").items
    assert (str(item.cost.epsilon), item.charged.charge.mechanism) == ("1/2", "private estimate of entropy")
    assert item.charged.charge.parameters == {"alphabet_size": "9"}
    refused = cli("estimate", "entropy", "events.csv", *CHARGED)
    assert "applies only to private estimates" in refused.stderr
    monkeypatch.setenv("ANONHIST_LEDGER", "budget.db")
    assert cli("estimate", "entropy", "events.csv").returncode == 0
    unnamed = cli("estimate", "entropy", "events.csv", "--epsilon", "0.5")
    assert "--dataset is missing" in unnamed.stderr
    assert cli("estimate", "entropy", "events.csv", "--epsilon", "0.5", "--dataset", "animals").returncode == 0
    assert states() == ["released"] * 2


def test_several_files_are_verified_and_edits_found(events: tuple[str, ...], cli: Cli, folder: Path) -> None:
    for name in ("one.json", "two.json"):
        cli(*events, "--epsilon", "0.5", *CHARGED, "-o", name)
    verify = ("budget", "verify", "animals", "one.json", "two.json", "--ledger", "budget.db")
    assert cli(*verify).stdout.endswith("2 files match.\n")
    release = ah.read(folder / "one.json")
    assert isinstance(release, ah.Release)
    other = ah.release(ah.Profile.from_counts([50] * 9), epsilon="0.5", simulations=2)
    from dataclasses import replace

    ah.write(replace(other, receipt=release.receipt), folder / "one.json", overwrite=True)
    edited = cli(*verify)
    assert edited.returncode == 3
    assert "'one.json' is not what was released" in edited.stderr


def test_a_pipe_is_charged_too(events: tuple[str, ...], cli: Cli) -> None:
    done = cli(*events, "--epsilon", "0.5", *CHARGED, "-o", "-")
    assert done.stdout.startswith("count,prevalence,")
    assert states() == ["released"]


def test_an_old_backup_is_found_out(events: tuple[str, ...], cli: Cli, folder: Path) -> None:
    backup = (folder / "budget.db").read_bytes()
    cli(*events, "--epsilon", "0.5", *CHARGED, "-o", "out.json")
    for path in folder.glob("budget.db*"):
        path.unlink()
    (folder / "budget.db").write_bytes(backup)
    found = cli("budget", "verify", "animals", "out.json", "--ledger", "budget.db")
    assert found.returncode == 3
    assert "an old backup was restored" in found.stderr


@each_of(
    ("arguments", "code", "told", "left"),
    [
        (("release", "events.csv", "--epsilon", "1", "--ledger", "budget.db"), 2, "--dataset is missing", []),
        (("release", "events.csv", "--epsilon", "1", "--dataset", "animals"), 2, "there is none: give --ledger", []),
        (("release", "events.csv", "--epsilon", "1", "--purpose", "x"), 2, "there is none: give --ledger", []),
        (
            ("release", "events.csv", "--epsilon", "1", "--ledger", "budget.db", "--dataset", "plants"),
            2,
            "has no data set 'plants': create a budget for it first. It has 'animals'.",
            [],
        ),
        (
            ("release", "events.csv", "--epsilon", "1", "--relation", "substitute", *CHARGED),
            2,
            "The budget of 'animals' is for items added or removed",
            [],
        ),
        (
            ("release", "events.csv", "--epsilon", "20.5", *CHARGED),
            2,
            "The release would cost ε = 20.5, and of the budget of 'animals', 20, 20 is left",
            [],
        ),
        (
            ("release", "events.csv", "--epsilon", "1", *CHARGED, "--purpose", "a\nb"),
            2,
            "--purpose must be one line",
            [],
        ),
        (("release", "events.csv", "--epsilon", "1", *CHARGED[2:], "--ledger", "no.db"), 3, "There is no ledger", []),
        (
            ("release", "events.csv", "--epsilon", "1", *CHARGED[2:], "--ledger", "mysql://me:s3cret@db/x"),
            2,
            "A ledger is a file",
            [],
        ),
        (
            ("release", "events.csv", "--epsilon", "1", *CHARGED[2:], "--ledger", "events.csv"),
            3,
            "damaged, or no ledger",
            [],
        ),
        (("release", "nowhere.csv", "--epsilon", "1", *CHARGED), 3, "There is no file", ["void"]),
        (("release", "events.csv", "--label", "lable", "--epsilon", "1", *CHARGED), 3, "no column 'lable'", ["void"]),
        (("release", "events.csv", "--user", "u", "--epsilon", "1", *CHARGED), 2, "must be given together", ["void"]),
        (("release", "bad.csv", "--epsilon", "1", *CHARGED), 3, "count", ["charged, file unknown"]),
        (
            ("release", "events.csv", "--mechanism", "isotonic", "--public-labels", "1", "--epsilon", "1", *CHARGED),
            2,
            "The data exceed",
            ["charged, file unknown"],
        ),
        (
            ("degrees", "edges.txt", "--unit", "edge", "--epsilon", "1", *CHARGED),
            2,
            "The budget of 'animals' is for items added or removed",
            [],
        ),
    ],
)
@pytest.mark.usefixtures("events")
def test_mistakes_get_one_sentence_and_nothing_is_released(
    arguments: tuple[str, ...], code: int, told: str, left: list[str], cli: Cli, folder: Path
) -> None:
    for path in folder.glob("budget.db*"):
        path.unlink()
    cli("budget", "create", "animals", "--epsilon", "20", "--unit", "item", "--ledger", "budget.db")
    refused = cli(*arguments, "-o", "out.json")
    assert refused.returncode == code
    said = refused.stderr.splitlines()[-1]
    assert told in said
    assert "s3cret" not in refused.stderr
    assert states() == left
    assert not (folder / "out.json").exists()
