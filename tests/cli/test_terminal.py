"""What a person at a terminal sees, and only that person."""

import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import anonhist as ah
from anonhist.report.wording import promise_lines

Cli = Callable[..., CompletedProcess[str]]

_LOG = "label,user\n" + "zebra,1\n" * 641 + ",2\n" * 59 + "heron,\n" * 83


# Of a bound of 3 items, with 5% of an epsilon of 1, one user replaced by another.
_EXCESS = Path(__file__).parent.parent / "formats" / "golden" / "release-excess.json"


def _screen(text: str) -> str:
    """Return what stays on the screen: bars are taken away again."""
    return "\n".join(line for line in text.replace("\r", "\n").split("\n") if "━" not in line)


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
def test_a_terminal_gets_a_file_a_table_and_a_plot(width: int, terminal: Cli, folder: Path) -> None:
    (folder / "x.csv").write_text("count,prevalence\n" + "".join(f"{r},{5000 // r**2 + 1}\n" for r in range(1, 200)))
    done = terminal("release", "x.csv", "--epsilon", "1", width=width)
    assert done.returncode == 0
    release = ah.read(folder / "release.json")
    screen = _screen(done.stdout)
    flat = " ".join(screen.split())
    assert dict(promise_lines(release.guarantee))["Promise"] in flat
    low, high = release.k_plus(1).interval
    labels = f"{release.profile.num_labels:,} labels (95% interval {low:,.0f} to {high:,.0f})."
    least, most = release.num_items().interval
    items = f"{release.profile.n:,} items (95% interval {least:,.0f} to {most:,.0f})"
    assert f"Released {items} of {labels}" in flat
    shown = re.findall(r"^labels(?: with (\d+) items or more)? +([\d,]+) +[\d,]+ to [\d,]+", screen, re.MULTILINE)
    for level, labels in shown:
        assert labels == f"{release.profile.k_plus(int(level or 1)):,}"
    assert {"", "2", "10", "100"} <= {level for level, _ in shown}
    assert "count of a label (both scales logarithmic)" in screen
    assert screen.count("•") > 20
    assert screen.rstrip().endswith("Wrote release.json.")
    assert max(map(len, screen.splitlines())) <= width


def test_a_pipe_gets_the_numbers_of_show_in_columns(cli: Cli, folder: Path) -> None:
    released = ah.release(ah.Profile.from_prevalences({1: 400, 4: 20}), epsilon=2, simulations=2)
    ah.write(released, folder / "r.json")
    _, table, below = cli("show", "r.json").stdout.split("\n\n")
    head, *rows = table.splitlines()
    assert re.split("  +", head) == ["number of", "released", "95% interval"]
    reached = released.k_plus(1)
    assert re.split("  +", rows[0]) == [
        "labels",
        f"{reached.value:,.0f}",
        "{:,.0f} to {:,.0f}".format(*reached.interval),
    ]
    assert len({len(row) for row in (head, *rows)}) == 1
    assert below.startswith(f"Mechanism: {released.mechanism.name}. ")


def test_the_table_shows_what_a_bound_left_out(terminal: Cli, folder: Path) -> None:
    (folder / "r.json").write_text(_EXCESS.read_text(encoding="utf-8"), encoding="utf-8")
    screen = " ".join(_screen(terminal("show", "r.json").stdout).split())
    assert "users with more than 3 items 2,000 1,521 to 2,479" in screen
    assert "items left out of them, up to 30 each 0 0 to 4,789" in screen
    assert "left out at least 1,521 items (95% confidence), of 1,521 to 2,479 users" in screen


def test_the_table_ends_at_the_cap_of_labels(terminal: Cli, folder: Path) -> None:
    profile = ah.Profile.from_prevalences({1: 40, 4: 20}, unit=ah.PrivacyUnit.label(max_count=4))
    ah.write(ah.release(profile, epsilon=1, simulations=2), folder / "r.json")
    screen = _screen(terminal("show", "r.json").stdout)
    assert re.findall(r"^labels with (\d+) items or more", screen, re.MULTILINE)[-1] == "4"


def test_an_existing_release_is_not_replaced_by_default(terminal: Cli, folder: Path) -> None:
    (folder / "release.json").write_text("precious")
    done = terminal("release", "events.csv", "--epsilon", "1")
    assert done.returncode == 2
    assert "'release.json' exists already" in done.stdout
    assert (folder / "release.json").read_text() == "precious"


@pytest.mark.slow
def test_csv_on_a_terminal_is_asked_for_by_a_dash(terminal: Cli, folder: Path) -> None:
    done = terminal("release", "events.csv", "--epsilon", "1", "-o", "-")
    assert done.returncode == 0
    assert "count,prevalence,prevalence_standard_error" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["events.csv"]


@pytest.mark.slow
def test_long_work_shows_a_bar(terminal: Cli) -> None:
    shown = terminal("release", "events.csv", "--epsilon", "1").stdout
    assert "Reading" in shown
    assert re.search(r"Estimating errors ━+ +100%", shown)
    assert "Simulating" in terminal("plan", "--items", "1000", "--epsilon", "1").stdout


@pytest.mark.slow
def test_quiet_on_a_terminal_shows_nothing(terminal: Cli, folder: Path) -> None:
    done = terminal("release", "events.csv", "--epsilon", "1", "--quiet")
    assert (done.returncode, done.stdout) == (0, "")
    assert (folder / "release.json").exists()


@pytest.mark.slow
def test_a_pipe_is_clean_while_the_terminal_is_told_the_promise(terminal_process: Cli, folder: Path) -> None:
    done = terminal_process("release", "events.csv", "--epsilon", "1", "--report", "out.html", piped=True)
    assert done.returncode == 0
    assert done.stderr.startswith("count,prevalence,")
    assert all(line.count(",") == 8 for line in done.stderr.splitlines())
    screen = _screen(done.stdout)
    assert "1-differentially private (δ = 0) when one item is added or removed" in screen
    assert "Wrote out.html." in screen
    assert "•" not in screen
    assert (folder / "out.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "number"),
    # 641 − 7 rows beyond the bound, 59 without a label, 83 without a user; else those without a label alone.
    [(("--user", "user", "--max-per-user", "7"), "776"), ((), "59")],
    ids=["users", "items"],
)
def test_numbers_of_dropped_rows_are_for_the_operator_alone(
    options: tuple[str, ...], number: str, terminal: Cli, cli: Cli, folder: Path
) -> None:
    (folder / "log.csv").write_text(_LOG)
    given = ("release", "log.csv", "--label", "label", "--epsilon", "1", "--simulations", "2", *options)
    done = terminal(*given, piped=True)
    assert f"Shown only on your terminal: {number} " in _screen(done.stdout)
    elsewhere = cli(*given, "-o", "out.json", "--report", "out.html")
    assert elsewhere.returncode == 0
    assert elsewhere.stderr == ""
    for text in (done.stderr, elsewhere.stdout, *((folder / name).read_text() for name in ("out.json", "out.html"))):
        assert "left out or added" not in text
        assert "without a label" not in text
        assert "Shown only on your terminal" not in text
    assert cli(*given, "--quiet", "-o", "x.json").stderr == ""
    assert terminal(*given, "--quiet", "-o", "y.json").stdout == ""


@pytest.mark.parametrize(
    ("options", "told"), [(("--label", "x"), "There is no column 'x'"), ((), "Name the column that holds the labels")]
)
def test_the_columns_of_a_text_are_named_for_the_operator_alone(
    options: tuple[str, ...], told: str, terminal: Cli, cli: Cli, folder: Path
) -> None:
    (folder / "log.csv").write_text(_LOG)
    given = ("release", "log.csv", "--epsilon", "1", *options)
    shown = " ".join(_screen(terminal(*given).stdout).split())  # lines end between words
    assert told in shown
    assert "the columns are 'label', 'user'." in shown
    logged = cli(*given)
    assert told in logged.stderr
    assert "'user'" not in logged.stderr


def test_wrong_calls_look_the_same_on_a_terminal(terminal_process: Cli, folder: Path) -> None:
    done = terminal_process("release", "events.csv", "--epsilon", "0")
    assert done.returncode == 2
    assert done.stdout.splitlines() == [
        "anonhist: --epsilon must be a finite number greater than zero, such as 0.5, not",
        "'0'.",
    ]
    assert [path.name for path in folder.iterdir()] == ["events.csv"]


def test_show_draws_a_release_again(terminal: Cli, cli: Cli) -> None:
    cli("release", "events.csv", "--epsilon", "9", "-o", "out.json")
    screen = terminal("show", "out.json").stdout
    assert "9-differentially private" in screen
    assert "•" in screen
