"""Releases from the command line that are charged to a ledger: files, summaries, and one sentence for every mistake."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonhist as ah
from anonhist.accounting import Ledger, verify
from anonhist.cli.entry import anonhist
from anonhist.errors import DataError
from anonhist.formats.files import claim_of
from anonhist.mechanisms.releasing import PreparedRelease
from anonhist.terminal.decorators import commands_of, options_of
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
CHARGED = ("--ledger", "budget.db", "--dataset", "animals")
SURVEY = ("local", "new", "--mechanism", "k-rr", "--alphabet", "words.txt", "--epsilon", "0.5")
pytestmark = pytest.mark.full
PROFILE = ("sketch", "profile", "day.sketch", "--decoder", "three-tap", "--simulations", "2")


@pytest.fixture
def events(cli: Cli, folder: Path) -> tuple[str, ...]:
    """Return the start of a release; the data set has a budget of ε = 20 for items."""
    made = cli("budget", "create", "animals", "--epsilon", "20", "--unit", "item", "--ledger", "budget.db")
    assert made.returncode == 0
    (folder / "bad.csv").write_text("label,count\na,-3\n")
    (folder / "edges.txt").write_text("a b\nb c\n")
    pq.write_table(pa.table({"label": ["a", "b"]}), folder / "e.parquet")
    ah.write(ah.sketches.HashedSketch(buckets=64, epsilon=2, key=b"k"), folder / "day.sketch")
    ah.write(ah.sketches.HashedSketch(buckets=8, epsilon=30, key=b"k"), folder / "dear.sketch")
    shared = {"noise_share": ah.sketches.NoiseShare(honest=2, session="week")}
    ah.write(ah.sketches.HashedSketch(buckets=8, epsilon=1, key=b"k", **shared), folder / "share.sketch")
    (folder / "words.txt").write_text("newt\nzebra\n")
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
    no_receipt = " A CSV file holds no receipt; only .json and .parquet can be verified." if name == "out.csv" else ""
    assert f"Ledger: entry {entry} of budget.db, charged to 'animals'.{no_receipt}\nWrote {name}.\n" in done.stdout
    assert states()[before:] == ["released"]
    if name != "out.csv":  # which holds the table alone
        verified = cli("budget", "verify", "animals", name, "--ledger", "budget.db")
        assert verified.stdout == f"animals: the chain of {entry + 1} entries is whole. 1 file matches.\n"
    else:
        refused = cli("budget", "verify", "animals", name, "--ledger", "budget.db")
        assert refused.returncode == 2
        assert refused.stderr == (
            "anonhist: 'out.csv' holds no receipt: "
            "budget verify takes releases (.json, .parquet) and surveys (.json).\n"
        )


@pytest.mark.slow
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


def test_a_sketch_is_charged_when_a_state_is_first_read(events: tuple[str, ...], cli: Cli) -> None:
    del events
    assert cli("sketch", "new", "--like", "day.sketch", "-o", "day2.sketch").returncode == 0
    assert cli("sketch", "update", "day2.sketch", "events.csv").returncode == 0
    for name in ("one.json", "two.parquet"):
        done = cli(*PROFILE, *CHARGED, "--purpose", "press 2026", "-o", name)
        assert (done.returncode, done.stderr) == (0, "")
        told = "charged to 'animals'" if name == "one.json" else "read before: it cost 'animals' nothing more"
        assert f"of budget.db, {told}.\nWrote " in done.stdout
    assert cli("sketch", "merge", "day.sketch", "day2.sketch", "-o", "both.sketch").returncode == 0
    assert cli("sketch", "profile", "both.sketch", *PROFILE[3:], *CHARGED, "-o", "three.json").returncode == 0
    with Ledger("budget.db") as ledger:
        items = ledger.balance("animals").items
    # An item is in one of the two sketches, and what that costs is paid.
    assert [(str(each.cost.epsilon), each.state) for each in items] == [(cost, "released") for cost in "200"]
    assert items[0].charged.charge.purpose == "press 2026"
    assert "hashed-sketch" in cli("budget", "show", "animals", "--ledger", "budget.db").stdout
    verified = cli("budget", "verify", "animals", "one.json", "two.parquet", "three.json", "--ledger", "budget.db")
    assert verified.stdout.endswith("3 files match.\n")
    cli("sketch", "update", "day.sketch", "events.csv")
    refused = cli(*PROFILE, *CHARGED, "-o", "four.json")
    assert refused.returncode == 2
    assert "already read in another state (entry 6 of the ledger)" in refused.stderr
    assert not Path("four.json").exists()
    # Without a ledger, nobody knows of it.
    assert "Not recorded in a ledger (--ledger)." in cli(*PROFILE, "-o", "four.json").stdout


def test_a_sketch_itself_is_not_verified(events: tuple[str, ...], cli: Cli) -> None:
    del events
    refused = cli("budget", "verify", "animals", "day.sketch", "--ledger", "budget.db")
    assert (refused.returncode, "'day.sketch' holds no receipt" in refused.stderr) == (2, True)


def test_a_survey_is_charged_when_it_is_declared(events: tuple[str, ...], cli: Cli, folder: Path) -> None:
    del events
    create = ("budget", "create", "members", "--epsilon", "1", "--unit", "user", "--ledger", "budget.db")
    assert cli(*create, "--relation", "substitute").returncode == 0
    to_members = (*CHARGED[:2], "--dataset", "members")
    done = cli(*SURVEY, *to_members, "--purpose", "pets", "-o", "one.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Ledger: entry 3 of budget.db, charged to 'members'.\nWrote one.json.\n")
    piped = cli(*SURVEY, "--title", "Cars", *to_members, "-o", "-")
    (folder / "two.json").write_text(piped.stdout)
    # What devices and servers do costs no more, and works with such files.
    (folder / "pets.csv").write_text("pet\nnewt\nzebra\n")
    assert cli("local", "randomize", "one.json", "pets.csv", "-o", "reports.parquet").returncode == 0
    assert cli("local", "tally", "one.json", "reports.parquet", "-o", "tally.json").returncode == 0
    assert cli("local", "estimate", "one.json", "tally.json").returncode == 0
    verified = cli("budget", "verify", "members", "one.json", "two.json", "--ledger", "budget.db")
    assert verified.stdout == "members: the chain of 6 entries is whole. 2 files match.\n"
    exceeded = cli(*SURVEY, *to_members, "-o", "three.json")
    assert (exceeded.returncode, "nothing is left" in exceeded.stderr) == (2, True)
    assert not (folder / "three.json").exists()
    assert states("members") == ["released"] * 2


@each_of("arguments", [PROFILE, SURVEY])
def test_a_ledger_for_all_releases_asks_for_the_data_set(
    arguments: tuple[str, ...], events: tuple[str, ...], cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del events
    monkeypatch.setenv("ANONHIST_LEDGER", "budget.db")
    refused = cli(*arguments, "-o", "out.json")
    assert (refused.returncode, "--dataset is missing" in refused.stderr) == (2, True)
    assert not (folder / "out.json").exists()


# Commands that take an epsilon, or the data, and are charged nowhere.
UNCHARGED = {
    "check": "it reads no row",
    "budget create": "it says what may be spent",
    "compare": "it simulates",
    "count": "it adds up, and a release of the sum is charged",
    "plan": "it simulates",
    "local recommend": "it predicts",
    "sketch recommend": "it simulates",
    **dict.fromkeys(("sketch new", "sketch update"), "a sketch is charged when it is read"),
    "local randomize": "a survey is charged when it is declared",
    "curve": "it is not private, or of a release",
}


def test_every_private_command_takes_a_ledger() -> None:
    found = {path: options_of(command) for path, command in commands_of(anonhist)}
    charged = {path for path, options in found.items() if {"--ledger", "--dataset", "--purpose"} <= options.keys()}
    asked = {path for path, options in found.items() if "--epsilon" in options or "--label" in options}
    assert asked - charged == UNCHARGED.keys()
    assert charged - asked == {"sketch profile"}


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
    assert "'one.json' was changed after its release" in edited.stderr


KINDS = {
    "plain": ("release", "events.csv", "--epsilon", "0.5"),
    "unsimulated": ("release", "events.csv", "--epsilon", "0.5", "--simulations", "0"),
    "groups": (
        *("release", "grouped.csv", "--label", "label", "--by", "group", "--groups", "x,y", "--levels", "nested"),
        *("--epsilon", "0.5", "--simulations", "2"),
    ),
    "windows": (
        *("release", "grouped.csv", "--label", "label", "--epsilon", "0.5", "--thresholds", "1,2"),
        *("--cumulative-by", "day(day)", "--days", "2026-11-01..2026-11-03"),
    ),
    "degrees": ("degrees", "edges.txt", "--unit", "edge", "--epsilon", "0.5", "--simulations", "2"),
    "sketch": PROFILE,
}


def changed_leaves(document: Any, *, below: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield a document once for each number and text of errors, intervals and words, with that one changed."""
    named = document.items() if isinstance(document, dict) else enumerate(document)
    for name, value in named:
        where = (*below, str(name))
        if isinstance(value, dict | list):
            for path, inside in changed_leaves(value, below=where):
                copied = document.copy()
                copied[name] = inside
                yield path, copied
        elif {"error", "lows", "highs", "reason", "library_version"} & set(where) and value is not None:
            copied = document.copy()
            copied[name] = f"{value}x" if isinstance(value, str) else value + 1
            yield where, copied


@pytest.mark.slow
@each_of("kind", [*KINDS])
def test_changed_errors_intervals_and_words_are_found(
    kind: str, events: tuple[str, ...], cli: Cli, folder: Path
) -> None:
    del events
    rows = "".join(f"l{n % 7},{'xy'[n % 2]},2026-11-0{1 + n % 3}\n" for n in range(60))
    (folder / "grouped.csv").write_text(f"label,group,day\n{rows}")
    dataset, name = "animals", f"{kind}.json"
    if kind == "degrees":
        dataset = "friends"
        create = ("budget", "create", "friends", "--epsilon", "20", "--unit", "edge", "--ledger", "budget.db")
        assert cli(*create).returncode == 0
    done = cli(*KINDS[kind], *CHARGED[:2], "--dataset", dataset, "-o", name)
    assert (done.returncode, done.stderr) == (0, "")
    verified = cli("budget", "verify", dataset, name, "--ledger", "budget.db")
    assert verified.stdout.endswith("1 file matches.\n"), verified
    tried: set[str] = set()
    with Ledger("budget.db") as ledger:
        for where, document in changed_leaves(json.loads((folder / name).read_text())):
            (folder / "changed.json").write_text(json.dumps(document))
            try:
                problems = verify(ledger, [claim_of(folder / "changed.json")]).problems
            except DataError:  # no such release can be
                continue
            assert problems, where
            tried |= {*where}
    errors = {"windows": {"lows", "highs"}, "groups": {"nested", "error", "levels", "mean"}}
    assert tried >= {"reason", "library_version", *errors.get(kind, {"error"})}


def test_what_python_released_is_verified_but_for_later_errors(events: tuple[str, ...], cli: Cli, folder: Path) -> None:
    del events
    with Ledger("budget.db") as ledger:
        for name in ("one.json", "two.json"):
            made = ah.release(ah.Profile.from_counts([3]), epsilon=1, ledger=ledger, dataset="animals", simulations=2)
            ah.write(made, folder / name)
    verify_files = ("budget", "verify", "animals", "--ledger", "budget.db")
    verified = cli(*verify_files, "one.json", "two.json")
    assert verified.stdout.endswith(
        "2 files match. Expected errors and intervals were not compared: the ledger has no digest of them.\n"
    )
    assert cli("release", "events.csv", "--epsilon", "0.5", *CHARGED, "-o", "three.json").returncode == 0
    verified = cli(*verify_files, "one.json", "three.json")
    assert "intervals of 1 of them were not compared" in verified.stdout


def test_an_entry_that_is_voided_during_its_release_does_not_stay_charged(
    events: tuple[str, ...], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PreparedRelease.release

    def release(self: PreparedRelease, *given: Any, **options: Any) -> Any:
        with Ledger("budget.db") as ledger:
            ledger.void(2, "nobody saw it")
        return real(self, *given, **options)

    monkeypatch.setattr(PreparedRelease, "release", release)
    refused = cli(*events, "--epsilon", "0.5", *CHARGED, "-o", "out.json")
    assert refused.returncode == 2
    assert refused.stderr == (
        "anonhist: Entry 2 of the ledger was voided while its release was made: nothing was released; make it again, "
        "with a new charge.\n"
    )
    assert states() == ["void"]
    assert not Path("out.json").exists()


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
        (("release", "events.csv", "--epsilon", "1", "--dataset", "animals"), 2, "requires --ledger: give that", []),
        (("release", "events.csv", "--epsilon", "1", "--purpose", "x"), 2, "requires --ledger: give that", []),
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
            "The release would cost ε = 20.5, but only ε = 20 of 20 is left in the budget of 'animals'",
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
            "damaged, or not a ledger",
            [],
        ),
        (("release", "nowhere.csv", "--epsilon", "1", *CHARGED), 3, "There is no file", ["void"]),
        (("release", "e.parquet", "--label", "lable", "--epsilon", "1", *CHARGED), 3, "no column 'lable'", ["void"]),
        (
            ("release", "events.csv", "--label", "lable", "--epsilon", "1", *CHARGED),
            3,
            "no column 'lable'",
            ["void"],
        ),
        (
            ("release", "events.csv", "--no-header", "--label", "lable", "--epsilon", "1", *CHARGED),
            3,
            "stays charged, as entry 2 of budget.db: see 'anonhist budget void --help'.",
            ["charged, file unknown"],
        ),
        (("release", "*.nothing", "--epsilon", "1", *CHARGED), 3, "There is no file", ["charged, file unknown"]),
        (("release", "events.csv", "--user", "u", "--epsilon", "1", *CHARGED), 2, "must be given together", ["void"]),
        (("release", "bad.csv", "--epsilon", "1", *CHARGED), 3, "count", ["charged, file unknown"]),
        (
            ("release", "events.csv", "--mechanism", "isotonic", "--public-labels", "1", "--epsilon", "1", *CHARGED),
            2,
            "The data exceed",
            ["charged, file unknown"],
        ),
        (PROFILE + CHARGED[:2], 2, "--dataset is missing", []),
        (PROFILE + CHARGED[2:], 2, "requires --ledger: give that", []),
        ((*PROFILE, *CHARGED[:2], "--dataset", "plants"), 2, "has no data set 'plants'", []),
        (("sketch", "profile", "users.sketch", *CHARGED), 3, "There is no file", []),
        (("sketch", "profile", "dear.sketch", *CHARGED), 2, "The release would cost ε = 30", []),
        (("sketch", "profile", "share.sketch", *CHARGED), 2, "This sketch is not private", []),
        (SURVEY + CHARGED[:2], 2, "--dataset is missing", []),
        (SURVEY + CHARGED[2:], 2, "requires --ledger: give that", []),
        ((*SURVEY, *CHARGED[:2], "--dataset", "plants"), 2, "has no data set 'plants'", []),
        ((*SURVEY, *CHARGED), 2, "The budget of 'animals' is for items added or removed", []),
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


def test_what_rows_decide_is_not_told_for_nothing(events: tuple[str, ...], cli: Cli, folder: Path) -> None:
    # Each pair of sources differs by one row, and one of the two is refused for another reason.
    del events
    (folder / "with.csv").write_text("ann,hiv,1\nbob,flu\n")
    (folder / "without.csv").write_text("bob,flu\n")
    for name, rows in (("with", "('ann', 'x'), ('bob', 1)"), ("without", "('bob', 1)")):
        with closing(sqlite3.connect(folder / f"{name}.sqlite")) as made:
            made.execute("CREATE TABLE e (label TEXT, ward)")
            made.execute(f"INSERT INTO e VALUES {rows}")  # noqa: S608  # ours
            made.commit()
        (folder / f"{name}.txt").write_text("label,ward\nbob,1\n" + "ann,x\n" * (name == "with"))
        with duckdb.connect(folder / f"{name}.db") as engine:
            engine.execute(f"CREATE VIEW e AS SELECT * FROM read_csv_auto('{folder / name}.txt')")  # noqa: S608  # ours
            engine.execute("CREATE TABLE t (label VARCHAR, ward INTEGER)")
    by = ("--by", "ward", "--groups", "zz", "--other-group", "zz")
    for source, said in (
        ("{}.csv", ("--no-header", "--label", "column2", "--by", "column1", *by[2:])),
        ("duckdb:///{}.db", ("--table", "e", "--label", "label", *by)),
    ):
        told = [
            cli("release", source.format(name), *said, "--epsilon", "1", *CHARGED).stderr.partition(" The release")[0]
            for name in ("with", "without")
        ]
        assert told[0] != told[1]
    assert states() == ["charged, file unknown"] * 4
    # Columns that somebody declared are the same whatever the rows are, and what SQLite holds decides nothing.
    told = [
        cli("release", source, "--table", table, *by, "--label", "label", "--epsilon", "1", *CHARGED).stderr
        for source, table in (
            ("duckdb:///with.db", "t"),
            ("sqlite:///with.sqlite", "e"),
            ("sqlite:///without.sqlite", "e"),
        )
    ]
    assert told[1] == told[2]
    assert states()[4:] == ["void"] * 3
