"""Sketches on the command line: from nothing to a release."""

import csv
import fcntl
import io
import json
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.mechanisms.setting import NOISE_IS_EXACT
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.sketches import DomainSketch, HashedSketch, kinds
from anonhist.sketches import data_commands as sketch_update
from anonhist.sketches.addresses import LISTED_KEY, DomainAddresses
from anonhist.sketches.files import read_sketch
from anonhist.sketches.release import DECODERS
from anonhist_testing.starting import after

Cli = Callable[..., CompletedProcess[str]]

WORDS = ("cat", "dog", "emu", "newt")


@pytest.fixture
def files(folder: Path) -> Path:
    """Make a list of words, a table and a sketch."""
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    (folder / "pets.csv").write_text("pet,times,who\ncat,5,u\ncat,7,u\ndog,1,v\n")
    write(DomainSketch(alphabet=WORDS, epsilon=1), folder / "day.sketch")
    return folder


def _counters(path: Path) -> np.ndarray:
    return read_sketch(path).counters.copy()


@pytest.mark.slow
def test_the_week_of_the_handbook(folder: Path, cli: Cli, process: Cli) -> None:
    (folder / "events.csv").write_text("query,x\n" + "".join(f"label {n % 300},1\n" for n in range(3000)))
    assert cli("sketch", "new", "--buckets", "1e3", "--epsilon", "20", "-o", "day1.sketch").returncode == 0
    assert cli("sketch", "new", "--like", "day1.sketch", "-o", "day2.sketch").returncode == 0
    done = cli("sketch", "update", "day1.sketch", "events.csv", "--label", "query")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Wrote day1.sketch.\n", "")
    done = process("sketch", "update", "day2.sketch", "-", "--format", "labels", stdin=b"another label\n" * 4000)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Wrote day2.sketch.\n", "")
    assert cli("sketch", "merge", "day1.sketch", "day2.sketch", "-o", "week.sketch").returncode == 0
    given = ("sketch", "profile", "week.sketch", "--simulations", "2", "--decoder", "three-tap")
    done = cli(*given, "-o", "release.json", "--report", "week.html")
    assert (done.returncode, done.stderr) == (0, "")
    interval = r"\(95% interval [\d,]+ to [\d,]+\)"
    first = rf"Released: [\d,]+ items {interval} of [\d,]+ labels? {interval}\.\n"
    assert re.match(first + "Protection: .*\nPromise: 20-differentially private", done.stdout)
    assert done.stdout.endswith("Wrote release.json.\nWrote week.html.\n")
    # At epsilon 20 two noises of rate 20 are zero but for 1 of 10^5 runs, so counters are read as they are.
    assert (_counters(folder / "week.sketch").sum(), read_release(folder / "release.json").profile.n) == (7000, 7000)
    assert "anonhist sketch profile week.sketch" in (folder / "week.html").read_text(encoding="utf-8")
    shown = cli("show", "release.json")
    assert (shown.returncode, "Mechanism: hashed-sketch. " in shown.stdout) == (0, True)


def test_a_hashed_sketch_is_made_as_asked(folder: Path, cli: Cli) -> None:
    given = ("--buckets", "1_000", "--epsilon", "0.3", "--key", "Woche 47 ü", "--sampling-rate", "1/10")
    unit = ("--unit", "user", "--max-per-user", "5", "--relation", "substitute")
    done = cli("sketch", "new", *given, *unit, "-o", "a.sketch")
    assert (done.returncode, done.stderr) == (0, "")
    sketch = read_sketch(folder / "a.sketch")
    assert isinstance(sketch, HashedSketch)
    assert (sketch.addresses.size, sketch.addresses.key) == (1000, "Woche 47 ü".encode())
    assert sketch.addresses.sampling_rate == Fraction(1, 10)
    assert (sketch.unit, sketch.relation) == (PrivacyUnit.user(max_items=5), NeighboringRelation.SUBSTITUTE)
    assert [part.gamma for part in sketch.noise] == [Fraction(3, 100)]
    assert done.stdout.splitlines() == [
        (
            "Sketch: 1,000 counters; each label is assigned to one of them by its hash; a share of 1/10 of all labels "
            "is counted."
        ),
        (
            "Protection: someone who is 50:50 about which of two versions of a given user is in the data can become at "
            "most 57.5% sure: strong protection."
        ),
        f"Promise: {sketch.guarantee.sentence.replace(f'; {NOISE_IS_EXACT}', '')}",
        f"Key: {'Woche 47 ü'.encode().hex()} ('Woche 47 ü'), which is public.",
        "Wrote a.sketch.",
    ]


def test_keys_and_noise_are_drawn_anew(folder: Path, cli: Cli) -> None:
    for name in ("a", "b"):
        given = ("--buckets", "100", "--epsilon", "1", "-o", f"{name}.sketch", "--quiet")
        assert cli("sketch", "new", *given).stdout == ""
    one, two = (read_sketch(folder / f"{name}.sketch") for name in ("a", "b"))
    assert len(one.addresses.key) == 16
    assert one.addresses.key != two.addresses.key
    assert one.noise != two.noise
    assert (one.counters != two.counters).any()


def test_a_sketch_of_known_labels_is_made_as_asked(files: Path, cli: Cli) -> None:
    assert cli("sketch", "new", "--alphabet", "words.txt", "--epsilon", "2", "-o", "a.sketch").returncode == 0
    sketch = read_sketch(files / "a.sketch")
    assert isinstance(sketch, DomainSketch)
    # Sketches of the same labels can be merged, whoever made them.
    assert sketch.addresses == DomainAddresses.of(WORDS)
    assert sketch.addresses.key == LISTED_KEY
    given = ("--alphabet", "words.txt", "--epsilon", "2", "--key", "a", "--sampling-rate", "0.5")
    done = cli("sketch", "new", *given, "-o", "b.sketch")
    assert read_sketch(files / "b.sketch").addresses == DomainAddresses.of(WORDS, key=b"a", sampling_rate="1/2")
    assert " for a sample of 4 known labels; a share of 1/2 of all labels is counted.\n" in done.stdout


def test_a_sketch_like_another_can_be_merged_with_it(files: Path, cli: Cli) -> None:
    unit = ("--unit", "user", "--max-per-user", "3", "--relation", "substitute")
    for what in (("--buckets", "100", "--sampling-rate", "1/3"), ("--alphabet", "words.txt", "--key", "k")):
        assert cli("sketch", "new", *what, *unit, "--epsilon", "1/7", "-o", "a.sketch", "--force").returncode == 0
        assert cli("sketch", "new", "--like", "a.sketch", "-o", "b.sketch", "--force").returncode == 0
        one, two = (read_sketch(files / f"{name}.sketch") for name in ("a", "b"))
        assert type(one) is type(two)
        assert (one.addresses, one.unit, one.relation) == (two.addresses, two.unit, two.relation)
        assert one.noise[0].gamma == two.noise[0].gamma == Fraction(1, 42)
        assert one.noise[0].identity != two.noise[0].identity
        assert (one + two).guarantee.epsilon == Fraction(2, 7)


def test_what_is_like_a_merged_sketch_has_the_epsilon_of_its_parts(files: Path, cli: Cli) -> None:
    assert cli("sketch", "new", "--like", "day.sketch", "--epsilon", "1/2", "-o", "b.sketch").returncode == 0
    assert cli("sketch", "merge", "day.sketch", "b.sketch", "-o", "c.sketch").returncode == 0
    done = cli("sketch", "new", "--like", "c.sketch", "-o", "d.sketch")
    assert (done.returncode, "The parts of 'c.sketch' differ in epsilon" in done.stderr) == (2, True)
    assert cli("sketch", "new", "--like", "c.sketch", "--epsilon", "3", "-o", "d.sketch").returncode == 0
    assert read_sketch(files / "d.sketch").guarantee.epsilon == 3
    assert cli("sketch", "new", "--like", "day.sketch", "-o", "e.sketch").returncode == 0
    assert cli("sketch", "merge", "day.sketch", "e.sketch", "-o", "f.sketch").returncode == 0
    assert cli("sketch", "new", "--like", "f.sketch", "-o", "g.sketch").returncode == 0
    assert read_sketch(files / "g.sketch").guarantee.epsilon == 1


def test_shares_of_noise_promise_something_together(files: Path, cli: Cli) -> None:
    share = ("--honest-parties", "2", "--session", "week 47")
    done = cli("sketch", "new", "--alphabet", "words.txt", "--epsilon", "1", *share, "-o", "a.sketch")
    assert "Promise: none. This sketch is not private: it holds 1 of at least 3 shares" in done.stdout
    for name in ("b", "d"):
        assert cli("sketch", "new", "--like", "a.sketch", "-o", f"{name}.sketch").returncode == 0
    refused = cli("sketch", "profile", "a.sketch", "-o", "r.json")
    assert (refused.returncode, "not private" in refused.stderr) == (2, True)
    assert not (files / "r.json").exists()
    shown = cli("sketch", "info", "a.sketch").stdout
    assert re.search(
        r"Noise: [0-9a-f]{32}, exact, with rate 1, a share of 1/2 in the session 'week 47', of which 3 are needed\.\n",
        shown,
    )
    done = cli("sketch", "merge", "a.sketch", "b.sketch", "d.sketch", "-o", "c.sketch")
    assert "when one item is added or removed, provided that at least 2 parties besides the adversary" in done.stdout
    assert read_sketch(files / "c.sketch").guarantee.epsilon == 1


@pytest.mark.slow
def test_shares_against_outsiders_say_what_parties_see(files: Path, cli: Cli) -> None:
    share = ("--honest-parties", "2", "--session", "week 47", "--adversary", "outsider")
    assert cli("sketch", "new", "--alphabet", "words.txt", "--epsilon", "0.1", *share, "-o", "a.sketch").returncode == 0
    assert cli("sketch", "new", "--like", "a.sketch", "-o", "b.sketch").returncode == 0
    done = cli("sketch", "merge", "a.sketch", "b.sketch", "-o", "c.sketch")
    assert "Promise: 0.1-differentially private (δ = 0) toward outsiders when one item is added" in done.stdout
    assert "and 0.606-differentially private toward each party, which knows its own share" in done.stdout
    page = files / "r.html"
    assert cli("sketch", "profile", "c.sketch", "-o", "r.json", "--report", page, "--simulations", "2").returncode == 0
    assert read_release(files / "r.json").guarantee.party_epsilon == Fraction("0.606")
    shown = " ".join(page.read_text(encoding="utf-8").split())
    assert "0.606-differentially private toward each party" in shown
    assert "changes the probability of any result, as outsiders see it, by at most a factor of" in shown
    assert "This holds provided that at least 2 parties draw their shares of the noise" in shown
    assert "Toward a party, which knows its own share of the noise, the factor is at most 1.834." in shown
    assert "This is strong protection." in shown.partition("Toward a party")[2]


@pytest.mark.parametrize(
    ("given", "promise"),
    [
        (
            (),
            (
                "2-differentially private (δ = 0) when one user with all their items (at most 3 of them "
                "count in each of 2 sketches) is added or"
            ),
        ),
        (
            ("--users-in", "one-sketch"),
            (
                "1-differentially private (δ = 0) when one user with all their items (at most 3 of them "
                "count) is added or removed, provided that no"
            ),
        ),
    ],
)
def test_users_may_be_in_every_sketch_unless_it_is_said(
    files: Path, cli: Cli, given: tuple[str, ...], promise: str
) -> None:
    users = ("--alphabet", "words.txt", "--epsilon", "1", "--max-per-user", "3", *given)
    assert cli("sketch", "new", *users, "-o", "a.sketch").returncode == 0
    assert cli("sketch", "new", "--like", "a.sketch", "-o", "b.sketch").returncode == 0
    done = cli("sketch", "merge", "a.sketch", "b.sketch", "-o", "c.sketch")
    assert f"Promise: {promise}" in done.stdout
    assert ("user has items in more than one of the 2 sketches." in done.stdout) == bool(given)
    assert f"Promise: {promise}" in cli("sketch", "info", "c.sketch").stdout
    assert cli("sketch", "profile", "c.sketch", "-o", "r.json", "--simulations", "2").returncode == 0
    assert promise in str(read_release(files / "r.json").guarantee)


def test_labels_are_counted_where_they_belong(files: Path, cli: Cli) -> None:
    before = _counters(files / "day.sketch")
    assert cli("sketch", "update", "day.sketch", "pets.csv", "--label", "pet", "--quiet").stdout == ""
    assert (_counters(files / "day.sketch") - before).tolist() == [2, 1, 0, 0]
    assert cli("sketch", "update", "day.sketch", "pets.csv", "--label", "pet", "--count", "times").returncode == 0
    assert (_counters(files / "day.sketch") - before).tolist() == [14, 2, 0, 0]
    (files / "more.tsv").write_text("emu;7\ncat;zebra\n")
    more = ("--label", "column0", "--no-header", "--delimiter", ";")
    assert cli("sketch", "update", "day.sketch", "more.tsv", *more).returncode == 0
    assert (_counters(files / "day.sketch") - before).tolist() == [15, 2, 1, 0]
    assert cli("sketch", "update", "day.sketch", "pets.csv", "--label", "times", "--ignore-unknown").returncode == 0
    assert (_counters(files / "day.sketch") - before).tolist() == [15, 2, 1, 0]


def test_several_sources_are_counted_together_or_not_at_all(files: Path, cli: Cli) -> None:
    before = _counters(files / "day.sketch")
    (files / "more.csv").write_text("pet\nemu\n")
    given = ("sketch", "update", "day.sketch", "pets.csv", "more.csv", "--label", "pet")
    assert cli(*given).returncode == 0
    assert (_counters(files / "day.sketch") - before).tolist() == [2, 1, 1, 0]
    (files / "bad.csv").write_text("pet\nzebra\n")
    whole = (files / "day.sketch").read_bytes()
    done = cli(*given, "bad.csv")
    assert (done.returncode, done.stdout) == (3, "")
    assert (files / "day.sketch").read_bytes() == whole


@pytest.mark.slow
def test_tables_come_through_standard_input_if_a_column_is_named(files: Path, process: Cli) -> None:
    before = _counters(files / "day.sketch")
    content = (files / "pets.csv").read_bytes()
    done = process("sketch", "update", "day.sketch", "-", "--label", "pet", "--count", "times", stdin=content)
    assert (done.returncode, done.stderr) == (0, "")
    assert (_counters(files / "day.sketch") - before).tolist() == [12, 1, 0, 0]


def test_users_are_bounded(files: Path, cli: Cli) -> None:
    given = ("--alphabet", "words.txt", "--epsilon", "1", "--unit", "user", "--max-per-user", "1")
    assert cli("sketch", "new", *given, "-o", "users.sketch").returncode == 0
    before = _counters(files / "users.sketch")
    assert cli("sketch", "update", "users.sketch", "pets.csv", "--label", "pet", "--user", "who").returncode == 0
    assert (_counters(files / "users.sketch") - before).tolist() == [1, 1, 0, 0]


def test_the_file_keeps_its_permissions_and_its_link(files: Path, cli: Cli) -> None:
    (files / "day.sketch").chmod(0o640)
    (files / "link.sketch").symlink_to("day.sketch")
    before = _counters(files / "day.sketch")
    assert cli("sketch", "update", "link.sketch", "pets.csv", "--label", "pet").returncode == 0
    assert (files / "link.sketch").is_symlink()
    assert stat.S_IMODE((files / "day.sketch").stat().st_mode) == 0o640
    assert (_counters(files / "day.sketch") - before).tolist() == [2, 1, 0, 0]


def test_who_waits_is_told_on_a_terminal(files: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _counters(files / "day.sketch")
    says = sketch_update._say_waiting
    for is_terminal in (False, True):
        with (files / "day.sketch").open("rb") as other, monkeypatch.context() as patched:
            fcntl.flock(other, fcntl.LOCK_EX)
            patched.setattr(sys.stderr, "isatty", lambda answer=is_terminal: answer)
            patched.setattr(sketch_update, "_say_waiting", lambda file=other: (says(), file.close()))
            done = cli("sketch", "update", "day.sketch", "pets.csv", "--label", "pet")
        assert done.returncode == 0
        assert ("Another process is changing this sketch; waiting for it.\n" in done.stderr) == is_terminal
    assert (_counters(files / "day.sketch") - before).tolist() == [4, 2, 0, 0]


def test_the_operator_alone_hears_how_many_rows_there_were(files: Path, terminal: Cli) -> None:
    (files / "gap.csv").write_text("pet,times\ncat,1\n,2\ndog,3\n")
    done = terminal("sketch", "update", "day.sketch", "gap.csv", "--label", "pet")
    assert done.returncode == 0
    assert "Shown only on your terminal: 2 rows counted; 1 without a label were left out.\n" in done.stdout
    assert done.stdout.endswith("Wrote day.sketch.\n")


def test_info_says_nothing_of_what_was_counted(files: Path, cli: Cli) -> None:
    one = cli("sketch", "info", "day.sketch").stdout
    assert cli("sketch", "update", "day.sketch", "pets.csv", "--label", "pet").returncode == 0
    assert cli("sketch", "info", "day.sketch").stdout == one
    sketch = read_sketch(files / "day.sketch")
    assert one.splitlines() == [
        "Sketch: 4 counters, one for each of 4 known labels.",
        (
            "Protection: someone who is 50:50 about whether a given item is in the data can become at most 73.2% sure: "
            "moderate protection."
        ),
        f"Promise: {sketch.guarantee.sentence.replace(f'; {NOISE_IS_EXACT}', '')}",
        "Key: the default of all sketches of known labels.",
        f"Noise: {sketch.noise[0].identity}, exact, with rate 1.",
    ]
    sketch.clip(9)
    write(sketch, files / "clipped.sketch")
    clipped = cli("sketch", "info", "clipped.sketch").stdout
    assert clipped.startswith("Sketch: 4 counters, one for each of 4 known labels; clipped to 0 to 9.\n")


def test_keys_cannot_take_over_a_terminal(folder: Path, cli: Cli) -> None:
    write(HashedSketch(buckets=1, epsilon=1, key=b"\x1b[2J"), folder / "a.sketch")
    shown = cli("sketch", "info", "a.sketch").stdout
    assert "Sketch: 1 counter; each label" in shown
    assert "Key: 1b5b324a, which is public.\n" in shown
    write(HashedSketch(buckets=1, epsilon=1, key=b"\xff"), folder / "b.sketch")
    assert "Key: ff, which is public.\n" in cli("sketch", "info", "b.sketch").stdout


def test_many_parts_of_noise_are_counted(folder: Path, cli: Cli) -> None:
    merged = HashedSketch(buckets=1, epsilon=1, key=b"k")
    for _ in range(24):
        merged.merge(HashedSketch(buckets=1, epsilon=1, key=b"k"))
    write(merged, folder / "a.sketch")
    shown = cli("sketch", "info", "a.sketch").stdout.splitlines()
    assert shown[-1] == "Noise: 25 parts in all."
    assert sum(line.startswith("Noise: ") for line in shown) == 21


def test_a_profile_goes_down_a_pipe(files: Path, cli: Cli) -> None:
    done = cli("sketch", "profile", "day.sketch", "--simulations", "2", "--decoder", "three-tap")
    assert (done.returncode, done.stderr) == (0, "")
    assert next(csv.reader(io.StringIO(done.stdout)))[:2] == ["count", "prevalence"]
    assert not list(files.glob("release*"))


def test_on_a_terminal_a_profile_is_a_file(files: Path, terminal: Cli) -> None:
    done = terminal("sketch", "profile", "day.sketch", "--simulations", "2", "--decoder", "three-tap", width=90)
    assert done.returncode == 0, done.stdout
    assert "Wrote release.json." in done.stdout
    assert json.loads((files / "release.json").read_text())["mechanism"]["name"] == "domain-sketch"


def test_the_decoder_is_a_choice(files: Path, cli: Cli) -> None:
    done = cli(
        "sketch", "profile", "day.sketch", "--decoder", "wu-pagh", "-o", "a.parquet", "--simulations", "2", "--quiet"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert read_release(files / "a.parquet").mechanism.parameters["method"] == "wu-pagh"
    wrong = cli("sketch", "profile", "day.sketch", "--decoder", "magic", "-o", "b.json")
    assert wrong.returncode == 2
    assert all(name in wrong.stderr for name in DECODERS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "where",
    [
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGINT)",
        "import fcntl\nfcntl.flock = lambda *_: os.kill(os.getpid(), signal.SIGINT)",
    ],
    ids=["writing", "waiting"],
)
def test_an_interrupt_leaves_the_sketch_as_it_was(where: str, files: Path, interrupt: Cli) -> None:
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    done = interrupt("sketch", "update", "day.sketch", "pets.csv", "--label", "pet", where=where)
    assert (done.returncode, done.stderr) == (130, "anonhist: interrupted; no incomplete file was left behind.\n")
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


@pytest.mark.slow
def test_an_interrupt_ends_a_stream(files: Path) -> None:
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    with subprocess.Popen(
        after(
            "signal.signal(signal.SIGINT, signal.SIG_DFL)",
            *(sys.executable, "-m", "anonhist", "sketch", "update", "day.sketch", "-", "--format", "labels"),
        ),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as stream:
        assert stream.stdin is not None
        # Far more than a pipe holds: when all of it is through, the stream is being read.
        stream.stdin.write(b"emu\n" * 100_000)
        stream.stdin.flush()
        stream.send_signal(signal.SIGINT)
        stream.stdin.close()
        assert stream.wait(60) == 130
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


@pytest.mark.slow
def test_buckets_are_recommended(folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two simulations instead of eight: what they find has tests of its own.
    monkeypatch.setattr(kinds, "_RUNS", 2)
    given = ("sketch", "recommend", "--labels", "40", "--epsilon", "3", "--max-bytes", "320")
    ran = cli(*given, "-o", "-")
    assert ran.returncode == 0
    rows = [line.split(",") for line in ran.stdout.splitlines()]
    assert rows[0][:3] == ["buckets", "load", "bytes"]
    assert [row[:3] for row in rows[1:]] == [["10", "4", "80"], ["20", "2", "160"], ["40", "1", "320"]]
    assert cli(*given, "-o", "rows.csv", "--quiet").returncode == 0
    assert (folder / "rows.csv").read_text() == ran.stdout
    refused = cli("sketch", "recommend", "--labels", "40", "--epsilon", "1", "--max-bytes", "9")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--sampling-rate" in refused.stderr
