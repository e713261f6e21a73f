"""``anonhist release --cumulative-by … --by``: reach so far of each group, and what is said where that cannot be."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.formats.files import read
from anonhist.releases.cumulative import GroupedCumulativeRelease

Cli = Callable[..., CompletedProcess[str]]
ROWS = "viewer,campaign,seen\n" + "".join(
    f"{'zebra' if at % 7 else at},{('spring', 'fall', 'gone')[at % 3]},2026-11-0{1 + at % 4} 10:00:00\n"
    for at in range(60)
)
READ = ("release", "views.csv", "--label", "viewer", "--epsilon", "1", "--thresholds", "1,3")
WINDOWS = ("--cumulative-by", "day(seen)", "--days", "2026-11-01..2026-11-04")
GROUPS = ("--by", "campaign", "--groups", "spring,fall")
GOOD = (*READ, *WINDOWS, *GROUPS)
LABELS = ("--unit", "label", "--max-count", "3")
FEW = ("--max-groups-per-label", "2")


@pytest.fixture(autouse=True)
def views(folder: Path) -> None:
    (folder / "views.csv").write_text(ROWS)


def test_windows_of_groups_are_released_shown_and_told(cli: Cli, folder: Path) -> None:
    done = cli(*GOOD, *LABELS, *FEW, "-o", "out.json", "--report", "out.html", "--title", "Reach <2026>")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "Released: labels with 1 or 3 items or more since 2026-11-01, at the end of each of 4 days, in each of 2 "
        "groups by campaign.\n"
        "Protection: someone who is 50:50 about whether a given label is in the data can become at most 73.2% sure: "
    )
    assert done.stdout.endswith("Wrote out.json.\nWrote out.html.\n")
    release = read(folder / "out.json")
    assert isinstance(release, GroupedCumulativeRelease)
    assert release.groups == (("spring",), ("fall",))
    shown = cli("show", "out.json")
    assert (shown.returncode, shown.stdout) == (0, done.stdout.partition("Not recorded")[0])
    one = cli("show", "out.json", "--group", "fall")
    assert one.returncode == 0
    assert one.stdout.startswith("Released: labels with 1 or 3 items or more since 2026-11-01, at the end of each of 4")
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert "<h1>Reach &lt;2026&gt;</h1>" in page
    assert "zebra" not in page + done.stdout + done.stderr


def test_users_are_bounded_over_all_groups(cli: Cli, folder: Path) -> None:
    users = ("--user", "viewer", "--max-per-user", "2")
    for more, groups in (((), 1), (("--max-groups-per-user", "2"), 2)):
        done = cli(*GOOD, *users, *more, "--mechanism", "tree", "-o", f"out{groups}.parquet")
        assert done.returncode == 0, done.stderr
        release = read(folder / f"out{groups}.parquet")
        assert isinstance(release, GroupedCumulativeRelease)
        unit = release.guarantee.unit
        assert (release.mechanism.name, unit.max_items, unit.groups) == ("tree", 2, groups)
        assert release.first.order_key is not None


def test_a_table_goes_to_standard_output(cli: Cli) -> None:
    done = cli(*GOOD, "-o", "-")
    assert done.returncode == 0, done.stderr
    header, *lines = done.stdout.splitlines()
    assert (header, len(lines)) == ("campaign,k,day,value,low,high", 16)


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        ((*READ, *WINDOWS, "--by", "campaign"), 2, "--by requires either --groups"),
        ((*READ, *WINDOWS, "--groups", "a"), 2, "--groups requires --by"),
        ((*READ, *WINDOWS, "--by", "campaign", "--find-groups"), 2, "list the groups with --groups"),
        ((*GOOD, "--other-group", "rest"), 2, "--other-group does not apply to cumulative windows"),
        ((*GOOD, "--levels", "nested"), 2, "--levels does not apply to cumulative windows"),
        ((*GOOD, *LABELS), 2, "(--max-groups-per-label)"),
        ((*GOOD, *FEW), 2, "--max-groups-per-label applies only to a label unit"),
        ((*GOOD, *LABELS[:-1], "2", *FEW), 2, "--thresholds must not exceed --max-count"),
        ((*READ, *WINDOWS, "--by", "where", "--groups", "a"), 3, "no column 'where'"),
        ((*READ, *WINDOWS, "--by", "viewer", "--groups", "a"), 2, "is the label column, too"),
        ((*READ, *WINDOWS, "--by", "campaign", "--groups", "a,a"), 2, "lists a group twice"),
        ((*GOOD, "--format", "counts"), 2, "a date in each row"),
        ((*GOOD, "--simulations", "9"), 2, "--simulations does not apply"),
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
    for words, told in (
        (("estimate", "entropy", "out.json"), "holds a release of cumulative windows of groups, no profile"),
        (("show", "out.json", "--group", "sprin"), "There is no group 'sprin'"),
        (("show", "out.json", "--group", "x,y"), "There is no group 'x,y'"),
        (("release", "out.json", "--epsilon", "1"), "if 'out.json' is a release, use"),
    ):
        done = cli(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr
