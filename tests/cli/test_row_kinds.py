"""Counted data, tables with other separators, and what is said of both on the command line."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from anonhist.accounting import Ledger
from anonhist.formats.releases import read_release
from anonhist.ingest import read_profile
from anonhist.profiles import Profile
from anonhist.sketches.files import read_sketch
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
# Noise of this rate is zero, but for one time in e^(5·10^8).
EXACT = ("--epsilon", "1e9", "--simulations", "0", "--quiet", "-o", "r.json", "--force")
FILES = {
    "german.csv": "label;count\nA;1234\nB;12\nC;12\n",
    "excel.csv": "sep=;\nlabel;count\nA;1234\nB;12\n",
    "long.csv": "site,label,count\nX,a,3\nX,b,1\nY,a,2\n",
    "caps.csv": "Label,Count\nA,3\nB,12\n",
    "dated.csv": "day,word,n\n2026-11-01,a,3\n2026-11-02,a,2\n2026-11-02,b,1\n",
    "pre.hist": "1\t20\n2\t6\n3\t0\n",
    "hashes.txt": "5F4DCC3B:3\nE10ADC39:10\n",
    "uniq.txt": "      3 apple\n     12 kiwi fruit\n      2 \n",
    "edges.csv": "source;target\na;b\n",
}


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)


@pytest.mark.full
@each_of(
    ("typed", "counts"),
    [
        ("german.csv --delimiter ;", [1234, 12, 12]),
        ("long.csv --label label --count count", [5, 1]),
        ("long.csv --label label --count none", [2, 1]),
        ("long.csv --label label --format events", [2, 1]),
        ("caps.csv --label Label --count Count", [3, 12]),
        ("caps.csv --count Count", [3, 12]),
        ("pre.hist --no-header --format prevalences", [1] * 20 + [2] * 6),
        ("hashes.txt --no-header --delimiter : --format counts", [3, 10]),
        ("hashes.txt --no-header --delimiter : --format counts --label column0 --count column1", [3, 10]),
        ("uniq.txt --format uniq", [3, 12]),
        ("uniq.txt --format uniq --keep-null", [2, 3, 12]),
    ],
)
def test_counted_data_are_released_and_kept(cli: Cli, folder: Path, typed: str, counts: list[int]) -> None:
    wanted = Profile.from_counts(counts)
    assert cli("release", *typed.split(), *EXACT).returncode == 0
    released = read_release(folder / "r.json").profile
    assert (released.counts.tolist(), released.prevalences.tolist()) == (
        wanted.counts.tolist(),
        wanted.prevalences.tolist(),
    )
    if "prevalences" in typed:
        return
    assert cli("count", *typed.split(), "-o", "p.counts", "--force").returncode == 0
    assert read_profile(folder / "p.counts") == wanted


@each_of(
    ("typed", "told"),
    [
        ("german.csv", "has one column, by its header line, and ';' in its name: if that separates columns, give"),
        ("excel.csv --delimiter ;", "begins with a line for Excel where the names of its columns should be: remove"),
        ("long.csv --label label", "Column 'count' may hold the number of items of each row: give --count count if so"),
        ("long.csv --label label --count none --format counts", "leave one of the two out"),
        (
            "long.csv --label label --user site --max-per-user 1",
            "cannot be bounded: give --count none if each row is one item.",
        ),
        ("long.csv --label label --count count --user site --max-per-user 1", "do not say which user an item came"),
    ],
)
def test_what_is_lost_in_silence_is_refused(cli: Cli, folder: Path, typed: str, told: str) -> None:
    # A header line is public, so the charge is taken back.
    unit = "user" if "--user" in typed else "item"
    for path in folder.glob("budget.db*"):
        path.unlink()
    cli("budget", "create", "data", "--epsilon", "9", "--unit", unit, "--ledger", "budget.db")
    done = cli("release", *typed.split(), "--epsilon", "1", "--ledger", "budget.db", "--dataset", "data")
    assert done.returncode in (2, 3)
    assert told in done.stderr
    with Ledger("budget.db") as ledger:
        assert [item.state for item in ledger.balance("data").items] in ([], ["void"])
    assert told in cli("count", *typed.split(), "-o", "p.counts").stderr
    assert not (folder / "p.counts").exists()


def test_every_command_says_what_separates_columns(cli: Cli) -> None:
    told = "give --delimiter ';', or write the file with ',' instead; if it is one column, give --delimiter ,."
    assert cli("sketch", "new", "--buckets", "10", "--epsilon", "1", "-o", "s.sketch").returncode == 0
    assert (
        cli(
            "local", "new", "--mechanism", "k-rr", "--alphabet-size", "3", "--epsilon", "1", "-o", "survey.json"
        ).returncode
        == 0
    )
    for command in (
        ("release", "german.csv", "--epsilon", "1"),
        ("estimate", "entropy", "german.csv"),
        ("sketch", "update", "s.sketch", "german.csv"),
        ("local", "randomize", "survey.json", "german.csv", "-o", "r.parquet"),
        ("local", "tally", "survey.json", "german.csv", "-o", "t.json"),
        ("degrees", "edges.csv", "--unit", "edge", "--epsilon", "1"),
    ):
        done = cli(*command)
        assert done.returncode == 3
        assert done.stderr.endswith(f"{told}\n"), command


@pytest.mark.full
def test_counts_of_days(cli: Cli, folder: Path) -> None:
    windows = ("--cumulative-by", "day(day)", "--days", "2026-11-01..2026-11-02", "--thresholds", "1,4")
    asked = ("release", "dated.csv", "--label", "word", *windows, "--epsilon", "100", "--quiet", "--force")
    for said, counts in (
        (("--count", "n"), [[1, 2], [0, 1]]),
        (("--count", "none"), [[1, 2], [0, 0]]),
        (("--format", "events"), [[1, 2], [0, 0]]),
    ):
        assert cli(*asked, *said, "-o", "w.csv").returncode == 0
        table = np.genfromtxt(folder / "w.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
        assert [[row["value"] for row in table if row["k"] == k] for k in (1, 4)] == counts
    assert "Column 'n' may hold" in cli(*asked, "-o", "w.csv").stderr
    assert "leave one of the two out" in cli(*asked, "--format", "events", "--count", "n", "-o", "w.csv").stderr
    assert "leave --format out, and name a column (--count)" in cli(*asked, "--format", "counts", "-o", "w.csv").stderr


@pytest.mark.slow
def test_lines_of_uniq_come_through_a_pipe(process: Cli, folder: Path) -> None:
    text = FILES["uniq.txt"].encode()
    done = process("release", "-", "--format", "uniq", "--epsilon", "1e9", "--simulations", "0", "-o", "-", stdin=text)
    assert [line.split(",")[:2] for line in done.stdout.splitlines()[1:]] == [["3", "1"], ["12", "1"]]
    (folder / "words.txt").write_text("apple\nkiwi fruit\n")
    process("sketch", "new", "--alphabet", "words.txt", "--epsilon", "1", "-o", "s.sketch")
    before = np.array(read_sketch(folder / "s.sketch").counters)
    assert process("sketch", "update", "s.sketch", "-", "--format", "uniq", stdin=text).returncode == 0
    assert (np.array(read_sketch(folder / "s.sketch").counters) - before).tolist() == [3, 12]
