"""``anonhist release --cumulative-by``: reach so far, day after day, and what is said where that cannot be."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.formats.files import read
from anonhist.releases.cumulative import CumulativeRelease

Cli = Callable[..., CompletedProcess[str]]
ROWS = "viewer,seen\n" + "".join(f"{'zebra' if at % 7 else at},2026-11-0{1 + at % 4} 10:00:00\n" for at in range(60))
READ = ("release", "views.csv", "--label", "viewer", "--epsilon", "1", "--cumulative-by", "day(seen)")
DAYS = ("--days", "2026-11-01..2026-11-04")
GOOD = (*READ, *DAYS, "--thresholds", "1,3")
LABELS = ("--unit", "label", "--max-count", "3")


@pytest.fixture(autouse=True)
def views(folder: Path) -> None:
    (folder / "views.csv").write_text(ROWS)


def test_windows_are_released_shown_and_told(cli: Cli, folder: Path) -> None:
    done = cli(*GOOD, *LABELS, "-o", "out.json", "--report", "out.html", "--title", "Reach <2026>")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "Released: labels with 1 or 3 items or more since 2026-11-01, at the end of each of 4 days.\n"
        "Protection: someone who is 50:50 about whether a given label is in the data can become at most 73.2% sure: "
    )
    assert "The largest standard error of a number is " in done.stdout
    assert done.stdout.endswith("Wrote out.json.\nWrote out.html.\n")
    release = read(folder / "out.json")
    assert isinstance(release, CumulativeRelease)
    assert (release.thresholds, len(release.days)) == ((1, 3), 4)
    shown = cli("show", "out.json")
    assert (shown.returncode, shown.stdout) == (0, done.stdout.partition("Not recorded")[0])
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert "<h1>Reach &lt;2026&gt;</h1>" in page
    for day in release.days:
        assert page.count(day) >= 2
    assert "zebra" not in page + done.stdout + done.stderr


def test_users_are_bounded_over_all_days(cli: Cli, folder: Path) -> None:
    asked = (*GOOD, "--user", "viewer", "--max-per-user", "2", "--mechanism", "tree", "-o", "out.parquet")
    done = cli(*asked)
    assert done.returncode == 0, done.stderr
    release = read(folder / "out.parquet")
    assert isinstance(release, CumulativeRelease)
    assert (release.mechanism.name, release.guarantee.unit.max_items) == ("tree", 2)
    assert release.order_key is not None


def test_a_table_goes_to_standard_output(cli: Cli) -> None:
    done = cli(*GOOD, "-o", "-")
    assert done.returncode == 0, done.stderr
    header, *lines = done.stdout.splitlines()
    assert (header, len(lines)) == ("k,day,value,low,high", 8)


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        (READ, 2, "--cumulative-by requires --days"),
        ((*READ, *DAYS), 2, "and --thresholds, such as 1,2,5"),
        ((*READ[:-2], *DAYS), 2, "--days requires --cumulative-by"),
        ((*READ[:-2], "--thresholds", "1"), 2, "--thresholds requires --cumulative-by"),
        ((*READ[:-1], "seen", *DAYS, "--thresholds", "1"), 2, "day(seen), week(seen) or month(seen)"),
        ((*READ[:-1], "day(when)", *DAYS, "--thresholds", "1"), 3, "no column 'when'"),
        ((*READ, *DAYS, "--thresholds", "1,x"), 2, "--thresholds must be whole numbers"),
        ((*READ, *DAYS, "--thresholds", "3,1"), 2, "--thresholds must be whole numbers"),
        ((*READ, *DAYS, "--thresholds", ""), 2, "--thresholds must be whole numbers"),
        ((*READ, "--days", "2026-11-04..2026-11-01", "--thresholds", "1"), 2, "the first day first"),
        ((*READ, "--days", "", "--thresholds", "1"), 2, "--days lists no day"),
        ((*READ, "--days", "2026-11-02,2026-11-01", "--thresholds", "1"), 2, "--days must be in ascending order"),
        ((*READ, *DAYS, "--thresholds", "1,9", *LABELS), 2, "--thresholds must not exceed --max-count"),
        ((*GOOD, "--by", "viewer", "--groups", "a"), 2, "is the label column, too"),
        ((*GOOD, "--simulations", "9"), 2, "--simulations does not apply"),
        ((*GOOD, "--delta", "1e-9"), 2, "--delta does not apply"),
        ((*GOOD, "--mechanism", "frobenius"), 2, "auto, anchors, tree, increments, daily"),
        ((*GOOD, "--format", "counts"), 2, "a date in each row"),
        ((*GOOD, "-o", "x.txt"), 2, ".csv, .json, .parquet"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(
    given: tuple[str, ...], code: int, told: str, cli: Cli, folder: Path
) -> None:
    before = sorted(folder.iterdir())
    done = cli(*given)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1 + ("Remarks on" in done.stderr)
    assert "zebra" not in done.stderr
    assert sorted(folder.iterdir()) == before


def test_no_profile_is_taken_from_windows(cli: Cli) -> None:
    assert cli(*GOOD, "-o", "out.json").returncode == 0
    for words in (("estimate", "entropy", "out.json"), ("curve", "hill", "out.json")):
        done = cli(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "holds a release of cumulative windows, no profile" in done.stderr
    done = cli("show", "out.json", "--group", "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert "leave --group out" in done.stderr
    done = cli("release", "out.json", "--epsilon", "1")
    assert done.returncode == 2
    assert "if 'out.json' is a release, use 'anonhist show'" in done.stderr
