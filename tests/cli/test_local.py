"""Local privacy on the command line: from a survey to an estimate."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from anonhist.catalogue import RANDOMIZERS
from anonhist.local import page as local_wording
from anonhist.local.commands import new
from anonhist.local.estimate import CORRECTIONS, DECODERS
from anonhist.local.files import read_survey, read_tally
from anonhist.local.mechanisms import parameter_names, recommend
from anonhist.local.reading import tally_reports
from anonhist.local.wire import wire_line

Cli = Callable[..., CompletedProcess[str]]

WORDS = ("cat", "dog", "emu", "newt")


@pytest.fixture
def files(folder: Path) -> Path:
    """Make a list of words, values of 4,000 people and a survey."""
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    people = 2400 * ["cat"] + 1200 * ["dog"] + 400 * ["emu"]
    (folder / "values.csv").write_text("word,x\n" + "".join(f"{word},1\n" for word in people))
    return folder


@pytest.fixture
def survey(files: Path, cli: Cli) -> Path:
    given = ("--mechanism", "k-rr", "--alphabet", "words.txt", "--epsilon", "2", "-o", "survey.json", "--quiet")
    assert cli("local", "new", *given).returncode == 0
    return files


@pytest.fixture
def tally_file(survey: Path, cli: Cli) -> Path:
    """Make a tally, too."""
    for step in (
        ("randomize", "survey.json", "values.csv", "--label", "word", "-o", "reports.parquet"),
        ("tally", "survey.json", "reports.parquet", "-o", "tally.json"),
    ):
        assert cli("local", *step).returncode == 0
    return survey


def test_names_are_those_there_are() -> None:
    assert set(DECODERS) == set(local_wording.DECODERS)
    assert set(CORRECTIONS) == set(local_wording.CORRECTIONS)


def test_a_survey_is_made_and_says_what_it_promises(files: Path, cli: Cli) -> None:
    given = ("--mechanism", "subset-selection", "--alphabet", "words.txt", "--other", "else", "--subset-size", "2")
    done = cli("local", "new", *given, "--epsilon", "1/2", "--title", "Pets", "-o", "survey.json")
    assert (done.returncode, done.stderr) == (0, "")
    survey = read_survey(files / "survey.json")
    assert (survey.name, str(survey.epsilon), survey.title) == ("subset-selection", "1/2", "Pets")
    assert survey.parameters == {"alphabet": {"labels": [*WORDS, "else"], "other": "else"}, "chosen": 2}
    assert done.stdout.splitlines() == [
        (
            "Protection: someone who is 50:50 about which of two answers a person gave can become at most 62.3% sure: "
            "strong protection."
        ),
        f"Promise: {survey.guarantee.sentence}",
        f"Caution: {survey.forged_weight}.",
        "Report: 1 byte per person.",
        "Not recorded in a ledger (--ledger).",
        "Wrote survey.json.",
    ]


def test_invalid_rows_are_left_out_and_counted(survey: Path, cli: Cli) -> None:
    digest = read_survey(survey / "survey.json").digest
    (survey / "a.csv").write_text("survey,report\n" + "".join(f"{digest},{row}\n" for row in ("0", "secret", "2", "4")))
    done = cli("local", "tally", "survey.json", "a.csv", "--skip-bad", "2", "-o", "tally.json")
    assert (done.returncode, done.stderr) == (0, "Note: 2 rows were left out: invalid for this survey.\n")
    assert done.stdout.splitlines()[0] == "Counted the reports of 2 people."
    assert read_tally(survey / "tally.json").users == 2
    quiet = cli("local", "tally", "survey.json", "a.csv", "--skip-bad", "1e3", "-o", "b.json", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_lines_of_devices_count_once(survey: Path, cli: Cli, process: Cli) -> None:
    made_by = read_survey(survey / "survey.json")
    reports = made_by.randomize(["cat", "dog"] * 20)
    lines = [wire_line(made_by, reports.rows(np.array([row])), f"{row:032x}") for row in range(40)]
    (survey / "reports-1.ndjson").write_text("".join(lines[:30]))
    (survey / "reports-2.ndjson").write_text("".join([*lines[25:], "anybody can send this\n"]))
    given = ("local", "tally", "survey.json", "reports-*.ndjson", "--unique", "id")
    refused = cli(*given, "-o", "tally.json")
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "row 16" in refused.stderr
    done = cli(*given, "--skip-bad", "1", "-o", "tally.json")
    assert (done.returncode, done.stderr) == (0, "Note: 1 row was left out: invalid for this survey.\n")
    assert read_tally(survey / "tally.json") == made_by.tally(reports)
    piped = "".join([*lines, *lines, lines[0].replace('"id":"0', '"id":"f')])
    counted = process("local", "tally", "survey.json", "-", "--unique", "id", stdin=piped.encode())
    assert json.loads(counted.stdout)["users"] == 41
    counted = process("local", "tally", "survey.json", "-", "--unique", "id", stdin=(piped + "more\n").encode())
    assert (counted.returncode, counted.stdout) == (3, "")
    assert "Standard input holds a row that is not a report of this survey: row 82" in counted.stderr


def test_whoever_chooses_memory_is_told_what_it_does_not_promise(files: Path, cli: Cli) -> None:
    given = ("--mechanism", "rappor", "--buckets", "16", "--cohorts", "4", "--f", "1/2", "--p", "1/2")
    done = cli("local", "new", *given, "--q", "3/4", "-o", "survey.json")
    assert (done.returncode, done.stderr) == (0, "")
    cautions = [line for line in done.stdout.splitlines() if line.startswith("Caution: ")]
    assert len(cautions) == 3
    assert "never changes" in cautions[0]
    # 16 ln 2, rounded to three digits.
    assert "at most 11.1 for each changed answer" in cautions[0]
    assert "linked across periods" in cautions[1]
    assert cautions[2].startswith("Caution: one forged report changes the raw estimate of a value by up to ")
    assert read_survey(files / "survey.json").cautions == tuple(line.removeprefix("Caution: ") for line in cautions[:2])


def test_a_survey_goes_down_a_pipe(files: Path, cli: Cli) -> None:
    given = ("local", "new", "--mechanism", "k-rr", "--alphabet-size", "1e3", "--epsilon", "1")
    piped = cli(*given)
    assert cli(*given, "-o", "a.json", "--quiet").stdout == ""
    assert piped.stdout == (files / "a.json").read_text(encoding="utf-8")
    assert json.loads(piped.stdout)["parameters"] == {"alphabet": {"size": 1000}}


def test_every_parameter_of_every_mechanism_has_an_option() -> None:
    has = {param.name for param in new.params}
    for name in RANDOMIZERS:
        assert set(parameter_names(name)) <= has, name


@pytest.mark.parametrize("ending", ["parquet", "csv", "ndjson"])
def test_values_become_reports_of_the_survey(survey: Path, cli: Cli, ending: str) -> None:
    done = cli("local", "randomize", "survey.json", "values.csv", "--label", "word", "-o", f"reports.{ending}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Reports: 4,000, 1 byte each.\nWrote reports.{ending}.\n"
    made_by = read_survey(survey / "survey.json")
    tally = tally_reports(made_by, survey / f"reports.{ending}")
    assert tally.users == 4000
    # At epsilon 2, 71 of 100 keep their word: the chance that fewer than half do is below 1e-190.
    assert tally.dense(4).argmax() == 0
    assert 1000 < tally.dense(4)[0] < 2400


def test_reports_are_random(survey: Path, cli: Cli) -> None:
    given = ("local", "randomize", "survey.json", "values.csv", "--label", "word", "-o", "-")
    assert cli(*given).stdout != cli(*given).stdout
    assert survey.exists()


@pytest.mark.slow
def test_everything_works_in_a_pipe(survey: Path, process: Cli, cli: Cli) -> None:
    values = b"cat\n" * 100 + b"dog\n" * 50
    piped = process("local", "randomize", "survey.json", "-", "--format", "labels", stdin=values)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout.count("\n") == 150
    table = process("local", "randomize", "survey.json", "-", "--label", "b", stdin=b"a,b\n1,cat\n2,dog\n")
    assert table.stdout.count("\n") == 2
    (survey / "more.ndjson.gz").write_bytes(gzip.compress(table.stdout.encode()))
    counted = process("local", "tally", "survey.json", "-", "more.ndjson.gz", stdin=piped.stdout.encode())
    assert (counted.returncode, counted.stderr) == (0, "")
    (survey / "tally.json").write_text(counted.stdout)
    assert read_tally(survey / "tally.json").users == 152
    shown = cli("local", "estimate", "survey.json", "tally.json")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [row["label"] for row in csv.DictReader(io.StringIO(shown.stdout))] == list(WORDS)


@pytest.mark.slow
def test_tallies_and_reports_are_added(tally_file: Path, cli: Cli) -> None:
    made_by = read_survey(tally_file / "survey.json")
    assert cli("local", "tally", "survey.json", "tally.json", "-o", "copy.parquet").returncode == 0
    (tally_file / "reports.csv").write_text(f"survey,report\n{made_by.digest},3\n")
    done = cli(
        "local", "tally", "survey.json", "tally.json", "*.csv*", "copy.parquet", "reports.parquet", "-o", "all.json"
    )
    assert done.returncode == 3  # values.csv and events.csv are no reports
    done = cli("local", "tally", "survey.json", "tally.json", "rep*", "copy.parquet", "-o", "all.json")
    assert (done.returncode, done.stdout) == (0, "Counted the reports of 12,001 people.\nWrote all.json.\n")
    first = read_tally(tally_file / "tally.json").dense(4)
    assert (read_tally(tally_file / "all.json").dense(4) == 3 * first + [0, 0, 0, 1]).all()


@pytest.mark.slow
def test_an_estimate_is_written_and_told(tally_file: Path, cli: Cli) -> None:
    done = cli(
        "local", "estimate", "survey.json", "tally.json", "-o", "a.csv", "--report", "out.html", "--delta", "1e-6"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "How frequent 4 values are among 4,000 people" in done.stdout
    assert "Promise to everybody who sent one report: 2-differentially private" in done.stdout
    assert "Promise if reports are shuffled: " in done.stdout
    assert done.stdout.endswith("Wrote a.csv.\nWrote out.html.\n")
    with (tally_file / "a.csv").open(newline="") as file:
        rows = {row["label"]: row for row in csv.DictReader(file)}
    # Standard errors are near 0.012; six of them happen in less than 1 of 10^8 runs.
    assert abs(float(rows["cat"]["raw"]) - 0.6) < 0.08
    assert rows["cat"]["significant"] == "true"
    page = (tally_file / "out.html").read_text(encoding="utf-8")
    assert "anonhist local estimate survey.json tally.json" in page
    assert "If reports are shuffled" in page


def test_candidates_are_estimated_alone(tally_file: Path, cli: Cli) -> None:
    (tally_file / "some.txt").write_text("newt\ncat\n")
    done = cli("local", "estimate", "survey.json", "tally.json", "--candidates", "some.txt", "-o", "a.json")
    assert done.returncode == 0
    document = json.loads((tally_file / "a.json").read_text())
    assert document["labels"] == ["newt", "cat"]
    assert document["other"] > 0.3
    assert "Other values together: " in done.stdout


def test_the_best_is_recommended(folder: Path, cli: Cli) -> None:
    given = ("local", "recommend", "--alphabet-size", "22000", "--epsilon", "5", "--users", "1e4")
    done = cli(*given, "-o", "a.csv", "--max-bytes", "4")
    assert done.stdout.startswith("Use projective-geometry. ")
    with (folder / "a.csv").open(newline="") as file:
        rows = {row["mechanism"]: row for row in csv.DictReader(file)}
    # Published: 272.73 and 51,311 people squared, the latter at n = 50,000.
    assert float(rows["projective-geometry"]["mean_squared_error"]) == pytest.approx(272.73, rel=0.05)
    assert 5 * float(rows["k-rr"]["mean_squared_error"]) == pytest.approx(51_311, rel=0.05)
    assert "its report is larger than 4 bytes" in rows["subset-selection"]["note"]


def test_choices_reach_the_estimate(tally_file: Path, cli: Cli) -> None:
    done = cli("local", "estimate", "survey.json", "tally.json", "--level", "0.5", "-o", "a.json", "--top", "1")
    assert done.returncode == 0
    assert json.loads((tally_file / "a.json").read_text())["level"] == 0.5
    assert "newt" not in done.stdout
    assert "cat" in done.stdout
    bad = cli("local", "estimate", "survey.json", "tally.json", "--level", "1.5")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "--level must be a number between 0 and 1" in bad.stderr


def test_a_terminal_shows_the_most_frequent_values(tally_file: Path, terminal: Cli) -> None:
    done = terminal("local", "estimate", "survey.json", "tally.json", "--top", "3", width=90)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "How frequent 4 values are among 4,000 people"
    assert lines[2].split() == ["value", "share", "interval", "decoded", "above", "zero"]
    assert [line.split()[0] for line in lines[3:5]] == ["cat", "dog"]
    assert lines[3].rstrip().endswith("yes")
    assert max(map(len, lines)) <= 90
    assert tally_file.exists()


def test_labels_cannot_take_over_a_terminal(folder: Path, cli: Cli, terminal: Cli) -> None:
    (folder / "words.txt").write_text("a\x1b[2Jb\n[bold]x[/bold]\n")
    (folder / "values.txt").write_text("word\n" + "[bold]x[/bold]\n" * 50)
    for step in (
        ("new", "--mechanism", "k-rr", "--alphabet", "words.txt", "--epsilon", "5", "-o", "survey.json"),
        ("randomize", "survey.json", "values.txt", "--label", "word", "-o", "reports.csv"),
        ("tally", "survey.json", "reports.csv", "-o", "tally.json"),
    ):
        assert cli("local", *step).returncode == 0
    shown = terminal("local", "estimate", "survey.json", "tally.json").stdout
    assert "a\\x1b[2Jb" in shown
    assert "[bold]x[/bold]" in shown


def test_defaults_on_a_terminal_are_files(files: Path, terminal: Cli) -> None:
    for step, told in (
        (("new", "--mechanism", "k-rr", "--alphabet", "words.txt", "--epsilon", "1"), "survey.json"),
        (("randomize", "survey.json", "values.csv", "--label", "word"), "reports.parquet"),
        (("tally", "survey.json", "reports.parquet"), "tally.json"),
    ):
        done = terminal("local", *step)
        assert done.returncode == 0, done.stdout
        assert f"Wrote {told}." in done.stdout
        assert (files / told).exists()


def test_recommendations_are_shown(folder: Path, cli: Cli) -> None:
    given = ("local", "recommend", "--alphabet-size", "1000", "--epsilon", "1", "--users", "1e6")
    found = recommend(alphabet_size=1000, epsilon=1, users=10**6, max_bytes=200)
    done = cli(*given, "-o", "a.csv", "--max-bytes", "200")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Use {found.best}. ")
    assert "its report is larger than 200 bytes" in done.stdout
    assert " 0.192% " in done.stdout
    piped = cli(*given, "--max-bytes", "200", "-o", "-")
    assert piped.stdout == (folder / "a.csv").read_text()
    printed = cli(*given, "--max-bytes", "200").stdout
    assert f"{printed}Wrote a.csv.\n" == done.stdout
    shown = list(csv.DictReader(io.StringIO(piped.stdout)))
    assert [(row["mechanism"], int(row["report_bytes"]), row["note"]) for row in shown] == [
        (row.mechanism, row.report_bytes, row.note) for row in found.rows
    ]
    assert [float(row["mean_squared_error"]) for row in shown] == pytest.approx(
        [row.mean_squared_error for row in found.rows]
    )
