"""``anonhist release --by``: a profile for each group, and what is said where that cannot be."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.formats.files import read
from anonhist.releases.grouped import GroupedRelease

Cli = Callable[..., CompletedProcess[str]]
ROWS = "viewer,campaign,seen\n" + "".join(
    f"v{at % 7},{'spring' if at % 3 else 'zebra'},2026-11-0{1 + at % 4} 10:00:00\n" for at in range(60)
)
GOOD = ("release", "views.csv", "--label", "viewer", "--epsilon", "1", "--simulations", "2", "--by", "campaign")
LABELS = ("--unit", "label", "--max-count", "5")


@pytest.fixture(autouse=True)
def views(folder: Path) -> None:
    (folder / "views.csv").write_text(ROWS)
    (folder / "groups.csv").write_text("campaign,day(seen)\nspring,2026-11-01\nspring,2026-11-02\nfall,2026-11-01\n")


def test_each_group_is_released(cli: Cli, folder: Path) -> None:
    given = (*LABELS, "--max-groups-per-label", "2", "--groups", "spring,fall", "-o", "out.json")
    done = cli(*GOOD, *given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "Released: 2 groups by campaign.\nProtection: someone who is 50:50 about whether a given label is in the data "
    )
    assert "in at most 2 groups" in done.stdout
    assert "zebra" not in done.stdout + done.stderr
    release = read(folder / "out.json")
    assert isinstance(release, GroupedRelease)
    assert release.groups == (("spring",), ("fall",))
    shown = cli("show", "out.json")
    assert (shown.returncode, shown.stdout) == (
        0,
        done.stdout.replace("Not recorded in a ledger (--ledger).\nWrote out.json.\n", ""),
    )


def test_the_bounds_of_users_go_with_their_unit(cli: Cli) -> None:
    bounds = ("--user", "viewer", "--max-per-user", "2", "--max-groups-per-user", "2", "--unit", "user")
    done = cli(*GOOD, *bounds, "--groups", "spring,zebra", "-o", "out.json")
    assert done.returncode == 0, done.stderr
    assert "one user with all their items (at most 2 of them count in each of at most 2 groups)" in done.stdout


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ((*LABELS, "--max-groups-per-label", "1"), "pairs of a label and a group"),
        (("--user", "viewer", "--max-per-user", "2", "--max-groups-per-user", "1"), "pairs of a user and a group"),
        (("--user", "viewer", "--max-per-user", "2"), "items"),
    ],
)
def test_what_a_bound_left_out_is_told_of_all_groups(
    bounds: tuple[str, ...], told: str, cli: Cli, folder: Path
) -> None:
    spent = ("--epsilon", "9000", "--excess-share", "0.5", "--excess-cap", "50")
    words = (*GOOD[:4], *GOOD[6:], *bounds, "--groups", "spring,zebra", *spent)
    done = cli(*words, "-o", "out.json", "--report", "out.html")
    assert done.returncode == 0, done.stderr
    # Seven viewers, each in both groups, with 60 rows.
    left_out = "at least 46 items (95% confidence)" if told == "items" else f"7 to 7 {told}"
    sentence = f"left out {left_out}, of 7 to 7 "
    release = read(folder / "out.json")
    assert isinstance(release, GroupedRelease)
    shown = (done.stdout, cli("show", "out.json").stdout, cli("show", "out.json", "--group", "spring").stdout)
    page = (folder / "out.html").read_text()
    for said in (*shown, page, release._repr_html_(), cli(*words, "-o", "-").stderr):
        assert sentence in said
        assert ("so there may be more" in said) is (told == "items")
    assert release.guarantee.epsilon == 9000
    refused = cli(*words, "-o", "-", "--quiet")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "CSV cannot hold the excess" in refused.stderr


def test_a_release_is_not_released_again(cli: Cli) -> None:
    assert cli(*GOOD, "--groups", "spring", "-o", "out.parquet").returncode == 0
    again = cli("release", "out.parquet", *GOOD[2:], "--groups", "spring", "-o", "again.json")
    assert again.returncode == 2
    assert "'out.parquet' is already a release" in again.stderr


def test_groups_of_several_columns_are_listed_in_a_file(cli: Cli, folder: Path) -> None:
    done = cli(*GOOD[:-1], "campaign,day(seen)", "--groups", "groups.csv", "--other-group", "rest", "-o", "out.csv")
    assert done.returncode == 0, done.stderr
    header = (folder / "out.csv").read_text().splitlines()[0]
    assert header.startswith("campaign,day(seen),count,prevalence,")


def test_groups_are_found(cli: Cli, folder: Path) -> None:
    done = cli(*GOOD, "--find-groups", "--find-share", "0.9", "--delta", "1e-3", "-o", "out.json")
    assert done.returncode == 0, done.stderr
    assert "1-differentially private (δ ≤ 0.001)" in done.stdout
    assert "(0.9 for finding the groups, 0.1 for their profiles)" in done.stdout
    release = read(folder / "out.json")
    assert isinstance(release, GroupedRelease)
    # 40 and 20 rows: so many are found nearly always.
    assert release.groups == (("spring",), ("zebra",))


def test_finding_groups_levels_and_the_excess_share_one_epsilon(cli: Cli, folder: Path) -> None:
    finding = ("--find-groups", "--find-share", "0.5", "--delta", "1e-3")
    bounds = (*LABELS, "--max-groups-per-label", "1", "--excess-share", "0.5", "--levels", "crossing")
    words = (*GOOD[:4], "--epsilon", "900", *GOOD[6:])
    done = cli(*words, *finding, *bounds, "-o", "out.json")
    assert done.returncode == 0, done.stderr
    release = read(folder / "out.json")
    assert isinstance(release, GroupedRelease)
    assert [(step, int(10 * spent)) for step, spent in release.guarantee.spending] == [
        ("finding the groups", 4500),
        ("everything together", 1125),
        ("groups by campaign", 1125),
        ("labels above the bound", 562),
        ("groups above the bound", 1687),
    ]
    assert release.guarantee.epsilon == 900
    assert "left out 7 to 7 pairs" in done.stdout


BOUND_OF_ALL = (*LABELS, "--max-groups-per-label", "2", "--excess-share", "0.5")


def test_an_excess_of_all_listed_groups_is_refused_and_costs_nothing(cli: Cli, folder: Path) -> None:
    assert cli("budget", "create", "views", "--epsilon", "5", "--unit", "label", "--ledger", "b.db").returncode == 0
    charged = ("--ledger", "b.db", "--dataset", "views", "-o", "out.json")
    refused = cli(*GOOD, "--groups", "spring,zebra", *BOUND_OF_ALL, *charged)
    assert refused.returncode == 2
    assert "leaves nothing out where there are only 2 groups: leave --excess-share out" in refused.stderr
    assert not (folder / "out.json").exists()
    whole = cli(*GOOD[:4], "--epsilon", "5", *GOOD[6:], "--groups", "spring,zebra", *BOUND_OF_ALL[:-2], *charged)
    assert whole.returncode == 0, whole.stderr


def test_of_all_groups_that_were_found_no_excess_is_paid(cli: Cli, folder: Path) -> None:
    words = (*GOOD[:4], "--epsilon", "900", *GOOD[6:], "--find-groups", "--find-share", "0.5", "--delta", "1e-3")
    done = cli(*words, *BOUND_OF_ALL, "-o", "out.json")
    assert done.returncode == 0, done.stderr
    assert "Excess: none. Each label may count in all groups that were found" in done.stdout
    release = read(folder / "out.json")
    assert isinstance(release, GroupedRelease)
    assert (release.excess, release.guarantee.epsilon) == (None, 675)


@pytest.mark.full
@pytest.mark.parametrize(("levels", "promise"), [("nested", "1"), ("crossing", "0.2 for everything together, 0.3 for")])
def test_totals_are_released(levels: str, promise: str, cli: Cli, folder: Path) -> None:
    shares = ("--level-shares", "0.2,0.3,0.5") if levels == "crossing" else ()
    given = ("--groups", "groups.csv", "--levels", levels, *shares, "-o", "out.json", "--report", "out.html")
    done = cli(*GOOD[:-1], "campaign,day(seen)", *given)
    assert done.returncode == 0, done.stderr
    assert promise in done.stdout
    # A viewer is in several groups, which is for nobody's log.
    assert "are in several groups" not in done.stdout + done.stderr
    release = read(folder / "out.json")
    assert isinstance(release, GroupedRelease)
    assert [*release.everything][:3] == [(), ("spring",), ("fall",)]
    page = (folder / "out.html").read_text(encoding="utf-8")
    for heading in ("<h4>Everything together</h4>", "<h4>By campaign</h4>", "<h4>By campaign, day(seen)</h4>"):
        assert heading in page
    assert cli("show", "out.json").stdout == done.stdout.partition("Not recorded")[0]
    for name, group in (("spring", ("spring",)), ("spring,(all)", ("spring",)), ("(all)", ())):
        shown = cli("show", "out.json", "--group", name)
        assert shown.returncode == 0, shown.stderr
        assert f"Released: {release[group].n:,} item" in shown.stdout
    done = cli("show", "out.json", "--group", "sprint")
    assert (done.returncode, "perhaps spring" in done.stderr) == (2, True), done.stderr


def test_users_count_in_few_groups_with_few_items_in_each(cli: Cli) -> None:
    bounds = ("--user", "viewer", "--max-per-user", "3", "--max-groups-per-user", "2")
    options = ("--label", "seen", *GOOD[4:], "--groups", "spring,fall", "-o", "out.json")
    done = cli("release", "views.csv", *options, *bounds)
    assert done.returncode == 0, done.stderr
    assert "one user with all their items (at most 3 of them count in each of at most 2 groups)" in done.stdout


def test_days_are_listed_as_a_range(cli: Cli, folder: Path) -> None:
    done = cli(*GOOD[:-1], "day(seen)", "--groups", "2026-11-01..2026-11-03", "-o", "out.parquet")
    assert done.returncode == 0, done.stderr
    release = read(folder / "out.parquet")
    assert isinstance(release, GroupedRelease)
    assert release.groups == (("2026-11-01",), ("2026-11-02",), ("2026-11-03",))


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        (GOOD, 2, "--by requires either --groups"),
        ((*GOOD, "--groups", "a", "--find-groups"), 2, "--by requires either --groups"),
        ((*GOOD, "--find-groups"), 2, "--find-groups requires --delta"),
        ((*GOOD, "--groups", "a", "--delta", "1e-9"), 2, "only with --find-groups"),
        ((*GOOD, "--groups", "a", "--find-share", "0.2"), 2, "--find-share requires --find-groups"),
        ((*GOOD, "--find-groups", "--delta", "1e-9", "--find-share", "1"), 2, "share of epsilon below 1"),
        ((*GOOD, "--find-groups", "--delta", "1"), 2, "--delta must be below 1"),
        ((*GOOD, "--find-groups", "--delta", "1e-60"), 3, "No group was found"),
        ((*GOOD[:-2], "--find-groups"), 2, "--find-groups requires --by"),
        ((*GOOD[:-2], "--groups", "a"), 2, "--groups requires --by"),
        ((*GOOD[:-2], "--levels", "nested"), 2, "--levels requires --by"),
        ((*GOOD, "--groups", "a", "--levels", "sideways"), 2, "'nested', 'crossing'"),
        ((*GOOD, "--groups", "a", "--level-shares", "0.5,0.5"), 2, "splits ε among crossing levels"),
        ((*GOOD, "--groups", "a", "--levels", "crossing", "--level-shares", "1"), 2, "2 numbers that add up to 1"),
        ((*GOOD[:-2], "--max-groups-per-label", "2"), 2, "--max-groups-per-label requires --by"),
        ((*GOOD[:-2], "--no-consistent"), 2, "--no-consistent requires --by"),
        ((*GOOD, "--groups", "a", "--levels", "nested", "--no-consistent"), 2, "requires --levels crossing"),
        (
            (*GOOD, *LABELS, "--groups", "a"),
            2,
            "set the number of them in which each label counts (--max-groups-per-label)",
        ),
        ((*GOOD, "--groups", "a", "--max-groups-per-label", "2"), 2, "applies only to a label unit"),
        ((*GOOD, "--groups", "a", "--max-groups-per-user", "2"), 2, "--max-groups-per-user requires --user"),
        ((*GOOD, "--groups", "a,a"), 2, "lists a group twice"),
        (
            (*GOOD[:-1], "month(seen)", "--groups", "2026-11-02"),
            2,
            "not the first day of a month: name the one that holds it 2026-11",
        ),
        ((*GOOD, "--groups", "a", "--other-group", "a"), 2, "give it another name"),
        ((*GOOD, "--groups", "a", "--mechanism", "privhist"), 2, "auto, frobenius, partition, prevalence"),
        ((*GOOD, "--groups", "a", "--excess-share", "0.1"), 2, "--excess-share estimates what a bound leaves out"),
        ((*GOOD, "--groups", "a", "--expected-items", "9"), 2, "--expected-items does not apply"),
        ((*GOOD, "--groups", "a", "--report", "x.txt"), 2, "end its path in .html"),
        ((*GOOD, "--groups", "a", "--title", "Reach"), 2, "--title requires --report"),
        ((*GOOD, "--groups", "a", "--format", "counts"), 3, "no column 'count' to use as count"),
        ((*GOOD, "--groups", "a", "--format", "labels"), 2, "--format must be one of events, counts, prevalences"),
        ((*GOOD[:-1], "region", "--groups", "a"), 3, "no column 'region'"),
        ((*GOOD[:-1], "campaign,seen", "--groups", "a"), 2, "with a line campaign,seen"),
        ((*GOOD[:-1], "viewer,seen", "--groups", "groups.csv"), 2, "must have the columns viewer, seen"),
        ((*GOOD[:-1], "day(seen)", "--groups", "2026-11-03..2026-11-01"), 2, "the first day first"),
        ((*GOOD[:-1], "day(seen)", "--groups", "2026-11-31..2026-12-01"), 2, "not a range of days"),
        ((*GOOD[:-1], "", "--groups", "a"), 2, "must name the grouping columns"),
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


def test_what_is_there_stays_if_the_data_or_the_groups_cannot_be(cli: Cli, folder: Path) -> None:
    (folder / "out.json").write_text("earlier")
    (folder / "out.html").write_text("page")
    for given in (
        (*GOOD[:-1], "region", "--groups", "a"),
        (*GOOD, "--groups", "a,a"),
        (*GOOD, "--groups", "gone.csv"),
        (*GOOD[:-1], "week(seen)", "--groups", "2026-11-24"),
        (*GOOD[:-1], "viewer", "--groups", "v1"),
        (*GOOD, "--groups", "a", "--format", "prevalences"),
        (*GOOD, "--find-groups", "--delta", "1e-60"),
    ):
        done = cli(*given, "-o", "out.json", "--report", "out.html", "--force")
        assert done.returncode in (2, 3), given
        assert done.stderr.count("\n") == 1 + ("Remarks on" in done.stderr)
        assert ((folder / "out.json").read_text(), (folder / "out.html").read_text()) == ("earlier", "page")


def test_weeks_and_months_are_listed_as_a_range_of_days(cli: Cli, folder: Path) -> None:
    for by, groups in (("week(seen)", (("2026-10-26",), ("2026-11-02",))), ("month(seen)", (("2026-11",),))):
        done = cli(*GOOD[:-1], by, "--groups", "2026-11-01..2026-11-03", "-o", "out.json", "--force")
        assert done.returncode == 0, done.stderr
        release = read(folder / "out.json")
        assert isinstance(release, GroupedRelease)
        assert release.groups == groups


def test_counted_data_are_released(cli: Cli, folder: Path) -> None:
    (folder / "counts.csv").write_text("country,label,count\nDE,a,7\nFR,a,2\nDE,a,1\n")
    (folder / "prevalences.csv").write_text("country,count,prevalence\nDE,8,1\nFR,2,1\n")
    by = ("--by", "country", "--groups", "DE,FR", "--epsilon", "20", "--simulations", "0", "-o", "out.json", "--force")
    for name in ("counts", "prevalences"):
        for said in ((), ("--format", name)):
            done = cli("release", f"{name}.csv", *by, *said)
            assert done.returncode == 0, done.stderr
            release = read(folder / "out.json")
            assert isinstance(release, GroupedRelease)
            # So little noise that it is nought nearly always.
            assert [release[group].n for group in ("DE", "FR")] == [8, 2]
    labels = ("--unit", "label", "--max-count", "3", "--max-groups-per-label", "1")
    assert cli("release", "counts.csv", *by, *labels).returncode == 0
    refused = cli("release", "prevalences.csv", *by, *labels)
    assert refused.returncode == 2
    assert "give a row for each group and label (--format counts)" in refused.stderr


@pytest.mark.full
def test_a_page_is_written(cli: Cli, folder: Path) -> None:
    given = ("--groups", "spring,fall", "-o", "out.json", "--report", "out.html", "--title", "Reach <2026>")
    done = cli(*GOOD, *given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("Wrote out.json.\nWrote out.html.\n")
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert "<h1>Reach &lt;2026&gt;</h1>" in page
    assert "Data: views.csv. " in page
    assert "<pre>anonhist release views.csv <span>--label</span> viewer " in page
    assert "zebra" not in page


@pytest.fixture
def released(cli: Cli) -> None:
    for given in (
        (*GOOD, "--groups", "spring,fall", "-o", "one.json"),
        (*GOOD[:-1], "campaign,day(seen)", "--groups", "groups.csv", "-o", "two.parquet"),
        (*GOOD[:-2], "-o", "plain.json"),
        (*GOOD, "--find-groups", "--find-share", "0.9", "--delta", "1e-3", "-o", "found.json"),
    ):
        done = cli(*given)
        assert done.returncode == 0, done.stderr


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.usefixtures("released")
@pytest.mark.parametrize(("file", "group"), [("one.json", "fall"), ("two.parquet", "spring,2026-11-02")])
def test_one_group_of_a_file_is_taken(file: str, group: str, cli: Cli, folder: Path) -> None:
    release = read(folder / file)
    assert isinstance(release, GroupedRelease)
    one = release[tuple(group.split(","))]
    shown = cli("show", file, "--group", group)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(f"Released: {one.words.many_items(one.n)} (95% interval ")
    for command in (("estimate", "entropy"), ("curve", "hill")):
        done = cli(*command, file, "--group", group)
        assert done.returncode == 0, done.stderr
        assert "not private" not in done.stdout + done.stderr
        assert done.stdout.count("\n") >= 2


@pytest.mark.full
@pytest.mark.usefixtures("released")
def test_one_group_that_was_found_has_the_promise_of_all(cli: Cli) -> None:
    for command in (("show",), ("estimate", "entropy")):
        done = cli(*command, "found.json", "--group", "spring")
        assert done.returncode == 0, done.stderr
        assert "1-differentially private (δ ≤ 0.001)" in done.stdout
        assert "(0.9 for finding the groups, 0.1 for their profiles)" in done.stdout


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.usefixtures("released")
@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            ("estimate", "entropy", "one.json"),
            "The file holds 2 groups by campaign: choose one with --group, such as --group spring.",
        ),
        (
            ("curve", "hill", "two.parquet"),
            (
                "The file holds 3 groups by campaign, day(seen): choose one with --group, such as --group "
                "spring,2026-11-01."
            ),
        ),
        (
            ("show", "one.json", "--group", "sprint"),
            "There is no group 'sprint' (perhaps spring): the file holds 2 groups by campaign.",
        ),
        (
            ("curve", "hill", "one.json", "--group", "fall,2026-11-01"),
            "There is no group 'fall,2026-11-01': the file holds 2 groups by campaign.",
        ),
        (
            ("estimate", "entropy", "two.parquet", "--group", "fall"),
            "--group needs a name for each of campaign, day(seen), with commas between them, not 'fall'.",
        ),
        (
            ("show", "two.parquet", "--group", ""),
            "--group needs a name for each of campaign, day(seen), with commas between them, not ''.",
        ),
        (
            ("show", "plain.json", "--group", "fall"),
            "--group picks a group of a release of groups, and the source is none: leave --group out.",
        ),
        (
            ("estimate", "entropy", "views.csv", "--label", "viewer", "--group", "fall"),
            "--group picks a group of a release of groups, and the source is none: leave --group out.",
        ),
        (
            ("estimate", "entropy", "one.json", "--group", "fall", "--label", "viewer"),
            "--label applies only to data, and the source is a release: leave --label out.",
        ),
        (
            ("estimate", "entropy", "one.json", "--group", "fall", "--epsilon", "1"),
            (
                "JSON lines have no header: name the key that holds the labels (--label); if 'one.json' is a release, "
                "leave --epsilon out, since estimates from it are already private."
            ),
        ),
        (
            ("compare", "one.json", "--epsilon", "1"),
            "One profile is needed, and the file holds 2 groups by campaign: give the file of a release without --by.",
        ),
    ],
)
def test_a_group_that_cannot_be_taken_is_told_in_one_sentence(given: tuple[str, ...], told: str, cli: Cli) -> None:
    done = cli(*given)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"anonhist: {told}"
    assert done.stderr.count("\n") == 1


@pytest.mark.full
@pytest.mark.usefixtures("released")
def test_a_damaged_file_of_groups_is_no_data(cli: Cli, folder: Path) -> None:
    (folder / "cut.json").write_text((folder / "one.json").read_text()[:400])
    done = cli("estimate", "entropy", "cut.json", "--group", "fall")
    assert (done.returncode, done.stdout) == (3, "")
    assert "'cut.json' is not a release that can be read: it is not valid JSON." in done.stderr


def test_crossing_levels_agree_unless_that_is_not_wanted(cli: Cli, folder: Path) -> None:
    asked = (*GOOD, "--groups", "spring,fall", "--levels", "crossing", "-o", "out.json")
    done = cli(*asked, "--report", "out.html")
    assert done.returncode == 0, done.stderr
    told = "Then numbers were adjusted, at no cost, so that each total is at least each of its groups"
    assert told in " ".join(done.stdout.split())
    assert told in " ".join((folder / "out.html").read_text(encoding="utf-8").split())
    release = read(folder / "out.json")
    assert isinstance(release, GroupedRelease)
    assert release[()].n == release["spring"].n + release["fall"].n
    done = cli(*asked, "--force", "--no-consistent")
    assert "also by noise." in " ".join(done.stdout.split())
    drawn = read(folder / "out.json")
    assert isinstance(drawn, GroupedRelease)
    assert not drawn.is_consistent


@pytest.mark.full
def test_levels_of_users_agree_without_a_bound_on_groups(cli: Cli, folder: Path) -> None:
    asked = (*GOOD, "--groups", "spring,fall", "--levels", "crossing", "--user", "viewer", "--max-per-user", "1")
    for given, agrees in (((), True), (("--max-groups-per-user", "2"), False), (("--max-groups-per-user", "1"), False)):
        done = cli(*asked, *given, "-o", "out.json", "--force")
        assert done.returncode == 0, done.stderr
        assert ("has as many items as these together" in " ".join(done.stdout.split())) == agrees
        release = read(folder / "out.json")
        assert isinstance(release, GroupedRelease)
        assert release.is_consistent == agrees
        assert not agrees or release[()].n == release["spring"].n + release["fall"].n
