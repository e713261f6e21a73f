"""No output replaces a ledger, nor a private file unless by its like, whatever name leads there and with --force."""

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import anonhist as ah
from anonhist.cli.entry import anonhist
from anonhist.ingest.parts import write_part
from anonhist.local import KRR
from anonhist.sketches import HashedSketch
from anonhist.terminal.decorators import commands_of, options_of

Cli = Callable[..., CompletedProcess[str]]
Refusals = Callable[..., list[CompletedProcess[str]]]
Call = tuple[str, ...]

CHARGED = ("--ledger", "budget.db", "--dataset", "animals")
RELEASE = ("release", "events.csv", "--epsilon", "1", *CHARGED)
DEGREES = ("degrees", "edges.txt", "--unit", "edge", "--epsilon", "1", *CHARGED)
NEW = ("local", "new", "--mechanism", "k-rr", "--epsilon", "1")
SPECIES = ("species", "sites.csv", "--data", "abundance", "--layout", "species-in-rows")
INCIDENCE = ("incidence", "units.csv", "--data", "incidence-raw", "--layout", "species-in-rows")
# Each option that writes, in a call that gets as far as that, the file being left out; --force goes with all.
OUTPUTS: dict[tuple[str, str], tuple[Call, str]] = {
    ("budget show", "--report"): (("budget", "show", "animals", "--ledger", "budget.db"), ".html"),
    ("compare", "--output"): (("compare", "events.csv", "--epsilon", "1"), ".csv"),
    ("compare", "--report"): (("compare", "events.csv", "--epsilon", "1", "-o", "new.csv"), ".html"),
    ("count", "--output"): (("count", "events.csv"), ".counts"),
    ("count", "--onto"): (("count", "events.csv"), ".counts"),
    ("curve", "--output"): (("curve", "rarefaction", "events.csv"), ".csv"),
    ("curve", "--report"): (("curve", "rarefaction", "events.csv"), ".html"),
    ("collect new", "--output"): (
        ("collect", "new", "survey.json", "--answers", "once", "--last-day", "2099-12-31"),
        ".json",
    ),
    ("degrees", "--output"): (DEGREES, ".parquet"),
    ("degrees", "--report"): (DEGREES, ".html"),
    ("diff", "--output"): (("diff", "r.json", "s.json"), ".csv"),
    ("diff", "--report"): (("diff", "r.json", "s.json"), ".html"),
    ("estimate", "--output"): (("estimate", "entropy", "events.csv"), ".csv"),
    ("incidence", "--output"): ((*INCIDENCE, "--epsilon", "1", "--max-per-unit", "2", *CHARGED), ".json"),
    ("local estimate", "--output"): (("local", "estimate", "survey.json", "counted.json"), ".json"),
    ("local estimate", "--report"): (("local", "estimate", "survey.json", "counted.json"), ".html"),
    ("local new", "--output"): ((*NEW, "--alphabet-size", "3", *CHARGED), ".json"),
    ("local randomize", "--output"): (("local", "randomize", "survey.json", "events.csv"), ".ndjson"),
    ("local rappor", "--output"): (("local", "rappor", "params.csv", "bits.csv", "map.csv"), ".csv"),
    ("local rappor", "--report"): (("local", "rappor", "params.csv", "bits.csv", "map.csv"), ".html"),
    ("local recommend", "--output"): (
        ("local", "recommend", "--alphabet-size", "3", "--epsilon", "1", "--users", "10"),
        ".csv",
    ),
    ("local tally", "--output"): (("local", "tally", "survey.json", "reports.csv"), ".json"),
    ("plan", "--output"): (("plan", "--items", "100", "--epsilon", "1"), ".csv"),
    ("release", "--output"): (RELEASE, ".json"),
    ("release", "--report"): (RELEASE, ".html"),
    ("show", "--registry"): (
        ("show", "r.json", "--curator", "us", "--curator-type", "industry", "--published", "2026-01-01"),
        ".yaml",
    ),
    ("sketch merge", "--output"): (("sketch", "merge", "one.sketch", "two.sketch"), ".sketch"),
    ("sketch new", "--output"): (("sketch", "new", "--buckets", "10", "--epsilon", "1"), ".sketch"),
    ("sketch profile", "--output"): (("sketch", "profile", "one.sketch", *CHARGED), ".json"),
    ("sketch profile", "--report"): (("sketch", "profile", "one.sketch", *CHARGED), ".html"),
    ("sketch recommend", "--output"): (("sketch", "recommend", "--epsilon", "1", "--labels", "9"), ".csv"),
    ("species", "--output"): (SPECIES, ".csv"),
    ("species", "--report"): (SPECIES, ".html"),
}
DAYS = ("--days", "2026-01-01..2026-01-02", "--thresholds", "1")
# Other calls of the same options, which take ways of their own.
MORE: list[tuple[str, Call, str]] = [
    ("--output", (*RELEASE, "--by", "label", "--groups", "newt"), ".json"),
    ("--report", (*RELEASE, "--by", "label", "--groups", "newt"), ".html"),
    ("--output", (*RELEASE, "--cumulative-by", "day(label)", *DAYS), ".parquet"),
    ("--output", ("plan", "--by-sizes", "sizes.csv", "--epsilon", "1"), ".csv"),
    ("--output", ("sketch", "new", "--like", "one.sketch"), ".sketch"),
    ("--output", ("count", "events.csv", "--onto", "total.counts"), ".counts"),
    ("--output", ("estimate", "entropy", "events.csv", "--epsilon", "1", *CHARGED), ".csv"),
    ("--output", RELEASE, ".csv"),
    ("--output", RELEASE, ".parquet"),
]
# Options that name what is read, or a folder of its own.
READ = {
    "--alphabet",
    "--by-sizes",
    "--candidates",
    "--ledger",
    "--like",
    "--max-count",
    "--max-groups-per-label",
    "--max-per-user",
    "--nodes",
    "--temp-directory",
    "--token-file",
    "--users",
}
# Those of the experiments and of the client are folders.
FOLDERS = {("reproduce", "--output"), ("collect client", "--output")}
# It has no --force, and replaces nothing at all: tests/collect/test_invitations.py.
NEW_ONLY = {("collect invite", "--output")}
# What the outputs that are private themselves replace.
OWN = {
    ("count", ".counts"): "a part",
    ("sketch merge", ".sketch"): "a sketch",
    ("sketch new", ".sketch"): "a sketch",
    ("local tally", ".json"): "a tally",
}


def test_every_option_that_names_a_file_is_known() -> None:
    found = {
        (path, word)
        for path, command in commands_of(anonhist)
        for word, option in options_of(command).items()
        if word.startswith("--")
        and re.search(r"FILE|FOLDER|PATH|URL|\.[a-z]|SKETCH|RELEASE|PART$", option.metavar or "")
    }
    assert {(path, word) for path, word in found if word not in READ} == OUTPUTS.keys() | FOLDERS | NEW_ONLY
    assert {word for _, word in found} >= READ


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one file of each private kind, and what the calls read."""
    made = tmp_path_factory.mktemp("private")
    with ah.Ledger(f"{made}/ledger") as ledger:
        ledger.create("animals", "item", epsilon=20)
        for ending in ("wal", "shm"):
            shutil.copy(made / f"ledger-{ending}", made / ending)
    (made / "damaged").write_bytes(bytes(100) + (made / "ledger").read_bytes()[100:])
    shutil.copy(made / "ledger", made / "spilled")
    with closing(sqlite3.connect(made / "spilled", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE more (word TEXT)")
        shutil.copy(made / "spilled-journal", made / "journal")
    write_part(["a"], made / "part.counts", part="monday")
    for name in ("one", "two"):
        ah.write(HashedSketch(buckets=10, epsilon=1, key=b"a key"), made / f"{name}.sketch")
    survey = KRR(alphabet=["zebra", "heron", "newt"], epsilon=1)
    reports = survey.randomize(["newt"])
    ah.write(survey, made / "survey.json")
    ah.write(reports, made / "reports.csv")
    ah.write(survey.tally(reports), made / "tally.json")
    ah.write(survey.tally(reports), made / "tally.parquet")
    for name, count in (("r.json", 3), ("s.json", 30)):
        ah.write(ah.release(ah.Profile.from_counts([count]), epsilon=1, simulations=0), made / name)
    return made


KINDS = {
    "ledger": ("ledger", "a ledger"),
    "damaged": ("damaged", "a ledger"),
    "wal": ("wal", "a ledger"),
    "shm": ("shm", "a ledger"),
    "journal": ("journal", "a ledger"),
    "part": ("part.counts", "a part"),
    "sketch": ("one.sketch", "a sketch"),
    "tally": ("tally.json", "a tally"),
    "table": ("tally.parquet", "a tally"),
}


@pytest.fixture
def read(private: Path, folder: Path) -> Path:
    """Put what the calls read into the folder."""
    for name in ("one.sketch", "two.sketch", "survey.json", "reports.csv", "r.json", "s.json"):
        shutil.copy(private / name, folder / name)
    shutil.copy(private / "tally.json", folder / "counted.json")
    shutil.copy(private / "part.counts", folder / "total.counts")
    shutil.copy(private / "ledger", folder / "budget.db")
    for name in ("edges.txt", "params.csv", "bits.csv", "map.csv"):
        (folder / name).write_text("1 2\n")
    (folder / "sizes.csv").write_text("day,items\na,10\n")
    return folder


def calls_to(ending: str) -> list[tuple[str, Call]]:
    """Return the calls that write files of an ending, each with the option that has yet to name one."""
    known = [(word, call, end) for (_, word), (call, end) in OUTPUTS.items()]
    return [(word, call) for word, call, end in (*known, *MORE) if end == ending]


ENDINGS = sorted({ending for _, ending in OUTPUTS.values()})


@pytest.mark.full
@pytest.mark.parametrize("ending", ENDINGS)
def test_force_replaces_no_private_file(ending: str, private: Path, read: Path, refusals: Refusals) -> None:
    calls = []
    for kind, (source, told) in KINDS.items():
        own, link, second = (f"{way}-{kind}{ending}" for way in ("own", "link", "second"))
        shutil.copy(private / source, read / own)
        (read / link).symlink_to(own)
        (read / second).hardlink_to(read / own)
        for word, call in calls_to(ending):
            if OWN.get((" ".join(call[:2]), ending), OWN.get((call[0], ending))) == told:
                continue
            force = () if word == "--onto" else ("--force",)
            calls += [((*call, word, name, *force), 2, f"' is {told}") for name in (own, link, second)]
            calls.append(((*call, word, own), 2, f"' is {told}"))
    assert len(calls) > 20
    assert refusals(calls, secrets=("CREATE", "monday")) == []
    with ah.Ledger("budget.db") as ledger:
        assert ledger.balance("animals").items == ()


@pytest.mark.first(2)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_ledger_is_known_by_its_address_whatever_it_holds(
    ending: str, read: Path, refusals: Refusals, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing in it says that it is one; and what is beside it is empty, or not there.
    ledger = f"kept{ending}"
    (read / ledger).write_text("lost")
    (read / f"{ledger}-shm").touch()
    (read / f"of-none{ending}").symlink_to(f"{ledger}-journal")
    (read / f"of-shm{ending}").symlink_to(f"{ledger}-shm")
    (read / f"second{ending}").hardlink_to(read / ledger)
    (read / "folder").mkdir()
    names = [f"{name}{ending}" for name in ("kept", "folder/../kept", "of-none", "of-shm", "second")]
    names.append(str(read / ledger))
    for named in (ledger, f"sqlite:///{ledger}"):
        monkeypatch.setenv("ANONHIST_LEDGER", named)
        calls = [
            ((*call, word, name, "--force"), 2, "is a ledger or belongs to one")
            for word, call in calls_to(ending)
            for name in names
            if word != "--onto"
        ]
        assert refusals(calls) == []
        monkeypatch.delenv("ANONHIST_LEDGER")
        given = [
            (tuple(named if each == "budget.db" else each for each in call), code, told)
            for call, code, told in calls
            if "budget.db" in call
        ]
        assert refusals(given) == []


def test_what_is_read_is_not_replaced(read: Path, refusals: Refusals) -> None:
    (read / "words.json").write_text("heron\nnewt\n")
    for name, source in (
        ("link.json", "words.json"),
        ("like.csv", "r.json"),
        ("like.counts", "total.counts"),
        ("like.sketch", "one.sketch"),
    ):
        (read / name).symlink_to(source)
    new = (*NEW, "--alphabet", "words.json", "--force", "-o")
    calls = [
        ((*new, "words.json"), 2, "is the input"),
        ((*new, "link.json"), 2, "is the input"),
        (("plan", "--like", "r.json", "--epsilon", "1", "-o", "like.csv", "--force"), 2, "is the input"),
        (("count", "events.csv", "--like", "total.counts", "-o", "like.counts", "--force"), 2, "is the input"),
        (("sketch", "new", "--like", "one.sketch", "-o", "like.sketch", "--force"), 2, "is the input"),
    ]
    assert refusals(calls) == []


def test_private_files_are_replaced_by_their_like_and_others_as_ever(read: Path, cli: Cli) -> None:
    for name, old in (("counted.json", "tally.json"), ("total.counts", "old.counts"), ("one.sketch", "old.sketch")):
        shutil.copy(read / name, read / old)
    # A page tells of a ledger, and another database is none.
    assert cli("budget", "show", "animals", "--ledger", "budget.db", "--report", "page.html").returncode == 0
    with closing(sqlite3.connect("other.csv")) as connection:
        connection.execute("CREATE TABLE anonhist (word TEXT)")
    for call in (
        ("local", "tally", "survey.json", "counted.json", "reports.csv", "-o", "tally.json"),
        ("count", "events.csv", "-o", "old.counts"),
        ("sketch", "new", "--buckets", "10", "--epsilon", "1", "-o", "old.sketch"),
        ("budget", "show", "animals", "--ledger", "budget.db", "--title", "New", "--report", "page.html"),
        ("estimate", "entropy", "events.csv", "-o", "other.csv"),
        (*NEW, "--alphabet-size", "3", "-o", "survey.json"),
    ):
        before = Path(call[-1]).read_bytes()
        done = cli(*call, "--force")
        assert (done.returncode, Path(call[-1]).read_bytes() != before) == (0, True), done


def test_the_folder_of_experiments_keeps_a_ledger(read: Path, refusals: Refusals) -> None:
    for name in ("index.html", "cells.jsonl"):
        folder = read / name.partition(".")[0]
        folder.mkdir()
        (folder / name).symlink_to(read / "budget.db")
    calls = [
        (("reproduce", "suresh", "--quick", "-o", each, "--force"), 2, "is a ledger") for each in ("index", "cells")
    ]
    assert refusals(calls) == []
    assert (read / "cells" / "cells.jsonl").is_symlink()


def test_a_release_that_meets_a_new_ledger_is_not_complete(
    private: Path, read: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def move_ledger_there(descriptor: int) -> None:
        sync(descriptor)
        shutil.copy(private / "ledger", read / "out.json")

    monkeypatch.setattr(os, "fsync", move_ledger_there)
    done = cli(*RELEASE, "-o", "out.json", "--force")
    assert done.returncode == 2
    assert "'out.json' is a ledger" in done.stderr
    assert (read / "out.json").read_bytes() == (private / "ledger").read_bytes()
    assert not list(read.glob(".anonhist*"))
    with ah.Ledger("budget.db") as ledger:
        (item,) = ledger.balance("animals").items
    assert item.state == "charged, file unknown"
