"""``anonhist estimate``: in pipes, files and on terminals, private and not, and everything that is refused."""

import csv
import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import anonhist as ah
from anonhist.cli.estimate import NOT_PRIVATE, _say
from anonhist.mechanisms.estimators import PRIVATE_PROPERTIES
from anonhist.properties.by_name import PROPERTIES, estimate_all
from anonhist.properties.estimate import Holds, Statement
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
Refusals = Callable[..., list[CompletedProcess[str]]]

WARNING = f"Warning: {NOT_PRIVATE}\n"
# What each property must be told.
TOLD: dict[str, tuple[str, ...]] = {
    "support-coverage": ("--draws", "30"),
    "hill-number": ("--order", "2"),
    "renyi-entropy": ("--order", "2"),
    "tsallis-entropy": ("--order", "2"),
    "power-sum": ("--order", "2"),
    "distance-to-uniformity": ("--alphabet-size", "100"),
    "guessing-success": ("--guesses", "1"),
    "work-factor": ("--share", "0.5"),
    "guesswork": ("--share", "0.5"),
}


@pytest.fixture
def data(folder: Path) -> str:
    """Write a few hundred items of 60 labels."""
    counts = [200, 90, 40, 20, 10, *[5] * 5, *[2] * 15, *[1] * 35]
    rows = "".join(f"label{i},{count}\n" for i, count in enumerate(counts))
    (folder / "data.csv").write_text("label,count\n" + rows)
    return "data.csv"


@pytest.fixture
def release(data: str, cli: Cli) -> str:
    """Release them."""
    done = cli("release", data, "--epsilon", "2", "--simulations", "5", "-o", "release.json")
    assert done.returncode == 0
    return "release.json"


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def screen(text: str) -> str:
    return "\n".join(line for line in text.replace("\r", "\n").split("\n") if "━" not in line)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROPERTIES)
def test_a_pipe_gets_what_the_library_says(name: str, cli: Cli, data: str) -> None:
    done = cli("estimate", name, data, *TOLD.get(name, ()))
    assert (done.returncode, done.stderr) == (0, WARNING)
    (row,) = rows(done.stdout)
    options: dict[str, Any] = {
        option.removeprefix("--").replace("-", "_"): float(text) if option == "--share" else int(text)
        for option, text in zip(TOLD.get(name, ())[::2], TOLD.get(name, ())[1::2], strict=True)
    }
    expected = PROPERTIES[name].estimate(ah.read_profile(data), **options)
    assert (row["property"], row["method"], row["unit"]) == (name, expected.method, expected.unit)
    told = [float(row[column]) for column in ("value", "low", "high", "level")]
    assert told == pytest.approx([expected.value, *expected.interval, 0.95], rel=1e-9)
    assert (row["says"], row["reason"]) == (expected.statement.holds.value, expected.statement.reason)
    # Nobody is to add and take away an error that leaves a bias out.
    assert expected.statement.reason
    assert row["standard_error"] == ""
    assert row["assumes"] == expected.assumes
    assert row["warnings"] == " ".join(expected.warnings)
    assert (row["parts"], row["guarantee"]) == ("", "none: not private")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "call"),
    [
        (("entropy", "--base", "2"), lambda p: ah.entropy(p, base=2)),
        (("entropy", "--base", "e", "--method", "chao-shen"), lambda p: ah.entropy(p, method="chao-shen")),
        (("entropy", "--alphabet-size", "1e3"), lambda p: ah.entropy(p, alphabet_size=1000)),
        (("support-size", "--method", "chao1", "--level", "0.9"), lambda p: ah.support_size(p, level=0.9)),
        (("support-size", "--alphabet-size", "5_000"), lambda p: ah.support_size(p, alphabet_size=5000)),
        (("support-coverage", "--draws", "1e4"), lambda p: ah.properties.support_coverage(p, draws=10_000)),
        (("hill-number", "--order", "0.5"), lambda p: ah.hill_number(p, order=0.5)),
        (("sample-coverage", "--method", "chao-jost"), lambda p: ah.properties.sample_coverage(p, method="chao-jost")),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_options_reach_the_estimator(
    given: tuple[str, ...], call: Callable[[ah.Profile], ah.Estimate], cli: Cli, data: str
) -> None:
    (row,) = rows(cli("estimate", given[0], data, *given[1:]).stdout)
    expected = call(ah.read_profile(data))
    assert (float(row["value"]), row["method"]) == (pytest.approx(expected.value, rel=1e-9), expected.method)
    assert float(row["high"]) == pytest.approx(expected.interval[1], rel=1e-9)


@pytest.mark.slow
def test_a_lower_probability_makes_a_shorter_interval(cli: Cli, data: str) -> None:
    for private in ((), ("--epsilon", "1000000")):
        wide, half = (
            rows(cli("estimate", "sample-coverage", data, "--level", level, *private).stdout)[0]
            for level in ("0.95", "0.5")
        )
        width = [float(row["high"]) - float(row["low"]) for row in (wide, half)]
        assert width[1] < 0.5 * width[0]
        assert (wide["level"], half["level"]) == ("0.95", "0.5")


def test_a_file_gets_the_csv_and_a_person_the_sentences(cli: Cli, data: str, folder: Path) -> None:
    done = cli("estimate", "support-size", data, "-o", "found.csv")
    assert (done.returncode, done.stderr) == (0, WARNING)
    (row,) = rows((folder / "found.csv").read_text())
    assert row["method"] == "chao1"
    lines = done.stdout.splitlines()
    assert re.fullmatch(rf"support-size: at least [\d.]+ labels \(95% confidence\); {row['reason']}", lines[0])
    assert re.fullmatch(r"Estimate: [\d.]+ labels", lines[1])
    assert lines[2:] == ["Method: chao1", f"The estimate assumes: {row['assumes']}.", "Wrote found.csv."]
    assert (row["says"], row["high"]) == ("at least", "inf")


@each_of(
    ("holds", "reason", "expected"),
    [
        (Holds.BOTH, "", ["x: 3 ± 1 nats", "95% interval: 1 to 9 nats"]),
        (Holds.BOTH, "why", ["x: 3 nats", "95% interval: 1 to 9 nats; why"]),
        (Holds.AT_LEAST, "why", ["x: at least 1 nats (95% confidence); why", "Estimate: 3 nats"]),
        (Holds.AT_MOST, "why", ["x: at most 9 nats (95% confidence); why", "Estimate: 3 nats"]),
        (Holds.NONE, "why", ["x: 3 nats, without an interval: why"]),
    ],
)
def test_a_person_is_told_what_holds_beside_the_number(holds: Holds, reason: str, expected: list[str]) -> None:
    estimate = ah.Estimate(3.0, 1.0, (1.0, 9.0), "m", unit="nats", statement=Statement(holds, reason))
    told = io.StringIO()
    _say(ah.properties.Estimates((("x", estimate),)), told)
    assert told.getvalue().splitlines() == [*expected, "Method: m"]
    # And in a table, with the reason below.
    table = io.StringIO()
    _say(ah.properties.Estimates((("x", estimate),) * 2), table)
    assert (f"[a] {reason}" in table.getvalue()) == bool(reason)


@pytest.mark.slow
def test_a_private_estimate_that_is_mostly_sampling_names_the_release_that_says_more(
    cli: Cli, data: str, folder: Path
) -> None:
    done = cli("estimate", "sample-coverage", data, "--epsilon", "1000")
    assert f"  anonhist release {data} --epsilon 1000 -o release.json\n" in done.stderr
    assert "  anonhist estimate sample-coverage release.json" in done.stderr
    # What it names can be typed as it stands.
    (folder / "log.csv").write_text("time;page\n" + "".join(f"{row};{row // 2}\n" for row in range(400)))
    done = cli("estimate", "sample-coverage", "log.csv", "--delimiter", ";", "--label", "page", "--epsilon", "1000")
    (named,) = re.findall(r"^  anonhist (release .*)$", done.stderr, re.MULTILINE)
    assert named == "release log.csv --epsilon 1000 --label page --delimiter ';' -o release.json"
    assert cli(*shlex.split(named)).returncode == 0
    # Not where noise is most of it, and not where silence was asked for.
    assert cli("estimate", "sample-coverage", data, "--epsilon", "0.001").stderr == ""
    assert cli("estimate", "sample-coverage", data, "--epsilon", "1000", "--quiet").stderr == ""


def test_files_that_exist_are_kept_without_force(cli: Cli, data: str, folder: Path) -> None:
    (folder / "found.csv").write_text("precious")
    done = cli("estimate", "entropy", data, "-o", "found.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'found.csv' exists already" in done.stderr
    assert (folder / "found.csv").read_text() == "precious"
    assert cli("estimate", "entropy", data, "-o", "found.csv", "--force").returncode == 0
    assert (folder / "found.csv").read_text().startswith("property,value,")
    assert cli("estimate", "entropy", data, "-o", data, "--force").returncode == 2


@pytest.mark.slow
def test_quiet_silences_all_but_that_numbers_are_not_private(cli: Cli, data: str) -> None:
    done = cli("estimate", "entropy", data, "--quiet", "-o", "found.csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", WARNING)
    assert cli("estimate", "all", data, "--quiet").stderr == WARNING


@pytest.mark.slow
def test_standard_input_is_read(process: Cli) -> None:
    done = process("estimate", "support-size", "-", "--format", "labels", "--method", "observed", stdin=b"a\nb\na\n")
    assert (done.returncode, done.stderr) == (0, WARNING)
    assert rows(done.stdout)[0]["value"] == "2"


@pytest.mark.slow
def test_all_is_one_table(cli: Cli, data: str) -> None:
    done = cli("estimate", "all", data, "-o", "-")
    assert (done.returncode, done.stderr) == (0, WARNING)
    expected = estimate_all(ah.read_profile(data))
    found = rows(done.stdout)
    assert [(row["property"], row["method"]) for row in found] == [(name, each.method) for name, each in expected]
    assert [float(row["value"]) for row in found] == pytest.approx([each.value for _, each in expected], rel=1e-9)
    more = rows(cli("estimate", "all", data, "--alphabet-size", "900", "--draws", "1e3", "--base", "2").stdout)
    assert {"chebyshev", "polynomial"} < {row["method"] for row in more}
    assert "support-coverage, 1,000 draws" in {row["property"] for row in more}
    assert {row["unit"] for row in more if row["property"] == "entropy"} == {"bits"}


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
def test_all_fits_the_terminal(width: int, terminal: Cli, data: str, release: str) -> None:
    for source, is_private in ((data, False), (release, True)):
        done = terminal("estimate", "all", source, width=width)
        assert done.returncode == 0
        shown = screen(done.stdout)
        lines = [line.rstrip() for line in shown.splitlines()]
        assert max(map(len, lines)) <= max(width, len(WARNING))
        assert [line for line in lines if len(line) > width] in ([], [WARNING.rstrip()])
        # Nothing is cut, and every property has its heading, with the unit.
        assert "…" not in shown
        for heading in ("entropy, nats", "support-size, labels", "sample-coverage", "work-factor, guesses"):
            assert heading in lines
        profile = ah.read(release).profile if is_private else ah.read_profile(data)
        assert re.search(rf"^  observed( \[\d\])* +{profile.num_labels} ", shown, re.MULTILINE)
        flat = " ".join(shown.split())
        # What marks stand for is told once.
        assert flat.count("Without an alphabet size, the value assumes") == 1
        assert re.search(r"^  polynomial.* \[\d\]", shown, re.MULTILINE)
        assert ("few labels have not been seen, so the bias is small beside 1/n²" in flat) or width == 120
        assert ("assumes" in lines[0] or any(line.endswith("assumes") for line in lines)) is (width == 120)
        assert ("Assumed:" in lines) is (width == 80)
        assert ("not private" in flat) is not is_private
        assert ("2-differentially private" in flat) is is_private
        assert ("Unless their letter says otherwise, intervals cover sampling error" in flat) is is_private


@pytest.mark.slow
def test_a_bar_is_for_terminals_alone(terminal: Cli, cli: Cli, data: str) -> None:
    assert "━" in terminal("estimate", "all", data).stdout
    quiet = terminal("estimate", "all", data, "--quiet")
    assert "━" not in quiet.stdout
    assert " ".join(quiet.stdout.split()) == WARNING.strip()
    piped = cli("estimate", "all", data)
    assert "━" not in piped.stderr + piped.stdout


def test_a_pipe_on_a_terminal_is_clean_while_the_person_is_told(terminal: Cli, data: str) -> None:
    done = terminal("estimate", "entropy", data, piped=True)
    assert [row["property"] for row in rows(done.stderr)] == ["entropy"]
    shown = screen(done.stdout)
    assert WARNING.strip() in " ".join(shown.split())
    assert "Method: grassberger" in shown


@pytest.mark.slow
@pytest.mark.parametrize("name", ["release.json", "release.parquet"])
def test_releases_are_free_and_private(name: str, cli: Cli, data: str) -> None:
    cli("release", data, "--epsilon", "2", "--simulations", "5", "-o", name)
    guarantee = str(ah.read(name).guarantee)
    done = cli("estimate", "entropy", name)
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = rows(done.stdout)
    assert row["guarantee"] == guarantee
    assert row["method"] == "grassberger, from a release"
    assert re.fullmatch(r"sampling: [\d.e-]+; privacy noise: [\d.e-]+", row["parts"])
    sampling, noise = (float(part.split(": ")[1]) for part in row["parts"].split("; "))
    assert min(sampling, noise) > 0
    assert row["standard_error"] == ""
    told = cli("estimate", "entropy", name, "-o", "found.csv").stdout
    # What costs nothing is left out where people read.
    assert f"Promise: {guarantee.partition(';')[0]}.\n" in told
    assert re.search(r"^Standard errors, without bias: sampling [\d.]+, privacy noise [\d.]+\.$", told, re.MULTILINE)


@pytest.mark.parametrize("name", PRIVATE_PROPERTIES)
@pytest.mark.parametrize("relation", ["add-or-remove", "substitute"])
def test_private_estimates_need_no_warning(name: str, relation: str, cli: Cli, data: str) -> None:
    done = cli("estimate", name, data, *TOLD.get(name, ()), "--epsilon", "0.5", "--relation", relation)
    assert done.returncode == 0
    assert "not private" not in done.stderr
    (row,) = rows(done.stdout)
    promised = row["guarantee"]
    assert promised.startswith("1/2-differentially private" if "1/2" in promised else "0.5-differentially private")
    assert ("replaced" in promised) is (relation == "substitute")
    assert row["method"].startswith("private ")
    assert "privacy noise: " in row["parts"]
    assert float(row["low"]) <= float(row["value"]) <= float(row["high"])


@pytest.mark.slow
def test_the_commands_named_instead_keep_what_was_said_of_the_data_and_of_whom_to_protect(
    cli: Cli, folder: Path
) -> None:
    (folder / "my log.csv").write_text("label;user\n" + "".join(f"zebra{i % 7};u{i}\n" * 3 for i in range(40)))
    read = ("--label", "label", "--user", "user", "--delimiter", ";", "--max-per-user", "2", "--unit", "user")
    asked = ("--draws", "90", "--level", "0.9", "--known-items", "80")
    done = cli("estimate", "support-coverage", "my log.csv", *read, *asked, "--epsilon", "1000")
    first, second = (shlex.split(line)[1:] for line in done.stderr.splitlines() if line.startswith("  anonhist "))
    # Each is run as it stands: the release is for the same users, and the answer to the same question.
    assert set(read) < set(first)
    assert cli(*first).returncode == 0
    released = ah.read("release.json")
    assert str(released.guarantee.unit) == "one user with all their items (at most 2 of them count)"
    assert released.guarantee.epsilon == 1000
    (row,) = rows(cli(*second).stdout)
    assert row["level"] == "0.9"
    assert float(row["value"]) > 0


@pytest.mark.slow
def test_private_estimates_protect_users_too(cli: Cli, folder: Path) -> None:
    (folder / "log.csv").write_text("label,user\n" + "".join(f"zebra{i % 7},u{i}\n" * 3 for i in range(40)))
    given = ("estimate", "entropy", "log.csv", "--label", "label", "--user", "user", "--max-per-user", "2")
    done = cli(*given, "--epsilon", "1", "--known-items", "80")
    (row,) = rows(done.stdout)
    assert "one user with all their items (at most 2 of them count)" in row["guarantee"]
    assert (
        "Note: At most 2 items of each user are counted in the whole release. Errors and intervals do not"
        in done.stderr
    )
    # Without --epsilon the same data are read the same way.
    done = cli(*given, "--method", "plug-in")
    assert (done.returncode, done.stderr) == (0, WARNING)


_ITEM = ("--epsilon", "1")


def test_guessing_metrics_are_one_table(cli: Cli, release: str) -> None:
    found = dict(ah.properties.guessing_metrics(ah.read(release)))
    listed = rows(cli("estimate", "guessing-metrics", release, "-o", "-").stdout)
    assert [row["property"] for row in listed] == list(found)
    assert [float(row["low"]) for row in listed] == pytest.approx([each.interval[0] for each in found.values()])
    assert {row["property"].split(" of the ")[1].split(",")[0] for row in listed} == {"data", "distribution"}
    one = rows(cli("estimate", "guesswork", release, "--share", "0.25", "--bits", "--of", "data").stdout)[0]
    same = found["guesswork of the data, share 0.25"]
    assert (float(one["value"]), one["unit"]) == (pytest.approx(same.value), "bits")
    assert (float(one["low"]), float(one["high"])) == pytest.approx(same.interval)
    alone = rows(cli("estimate", "guessing-metrics", release, "--of", "distribution").stdout)
    assert len(listed) == 2 * len(alone) == 24


_WRONG: list[tuple[tuple[str, ...], str]] = [
    (("frobnicate",), "'frobnicate'"),
    (("entropy", "--method", "magic"), "choose one of plug-in, miller-madow"),
    (("entropy", "--method", ""), "There is no method ''"),
    (("entropy", "--order", "2"), "--order does not apply to entropy"),
    (("min-entropy", "--alphabet-size", "9"), "--alphabet-size does not apply to min-entropy"),
    (("all", "--order", "2"), "--order does not apply to 'all'"),
    (("all", "--method", "pml"), "--method does not apply to 'all'"),
    (("support-coverage",), "needs --draws: the number of draws"),
    (("hill-number",), "needs --order: a number such as 2"),
    (("guessing-success",), "needs --guesses: the number of guesses"),
    (("work-factor",), "needs --share: a number between 0 and 1, such as 0.5"),
    (("distance-to-uniformity",), "needs --alphabet-size: the number of possible labels"),
    (("support-size", "--method", "chebyshev"), "needs --alphabet-size"),
    (("entropy", "--alphabet-size", "0"), "--alphabet-size must be a whole number"),
    (("entropy", "--alphabet-size", "many"), "--alphabet-size must be a whole number"),
    (("entropy", "--alphabet-size", "3"), "--alphabet-size is below the number of labels"),
    (("support-coverage", "--draws", "1.5"), "--draws must be a whole number"),
    (("support-coverage", "--draws", "1e4", "--method", "rarefaction"), "leave the method out"),
    (("guessing-success", "--guesses", "0"), "--guesses must be a whole number"),
    (("guessing-success", "--guesses", "3", "--of", "sample"), "--of must be one of distribution, data"),
    (("entropy", "--of", "data"), "--of does not apply to entropy"),
    (("entropy", "--bits"), "--bits applies to guessing-success, work-factor, guesswork"),
    (("guessing-metrics", "--share", "0.1"), "--share does not apply to 'guessing-metrics'"),
    (("guessing-metrics", "--bits"), "--bits applies to guessing-success"),
    (("guessing-metrics", "--of", "both"), "--of must be one of distribution, data"),
    (("hill-number", "--order", "-1"), "--order must be a number from 0 to 12"),
    (("hill-number", "--order", "nan"), "--order must be a number from 0 to 12"),
    (("hill-number", "--order", "two"), "--order must be a number such as 2, not 'two'."),
    (("hill-number", "--order", "1.5", "--method", "unbiased"), "Only whole orders"),
    (("power-sum", "--order", "1.5"), "--order must be a whole number from 2 to 12"),
    (("work-factor", "--share", "0"), "--share must be a number above 0 and up to 1"),
    (("entropy", "--base", "1"), "--base must be a number above 1"),
    (("entropy", "--base", "bits"), "--base must be a number above 1"),
    (("work-factor", "--share", "50%"), "--share must be a number between 0 and 1, such as 0.5, not '50%'."),
    (("entropy", "--level", "95%"), "--level must be a number between 0 and 1, such as 0.95, not '95%'."),
    (("entropy", "--level", "95"), "--level must be a number between 0 and 1"),
    (("entropy", "--level", "nan"), "--level must be a number between 0 and 1"),
    (("entropy", "--unit", "item"), "--unit applies only to private estimates"),
    (("entropy", "--relation", "substitute"), "--relation applies only to private estimates"),
    (("entropy", "--known-items", "9"), "--known-items applies only to private estimates"),
    (("entropy", "--max-count", "9"), "--max-count requires --unit label"),
    (("entropy", "-o", "found.json"), "end the path in .csv"),
    (("entropy", "-o", ""), "''"),
    (("entropy", "--epsilon", "0"), "epsilon must be"),
    (("entropy", "--epsilon", "1,2"), "epsilon must be"),
    (("entropy", "--epsilon", "1e-9"), "too small"),
    (("all", *_ITEM), "would divide the budget: make a release with 'anonhist release'"),
    (("min-entropy", *_ITEM), "There is no private estimator of min-entropy: make a release"),
    (
        ("support-size", "--method", "chao1", *_ITEM),
        "One item can change chao1 without limit, so noise cannot protect it: make",
    ),
    (("support-size", "--method", "chao1", *_ITEM), "at no further cost"),
    (("entropy", "--method", "pml", *_ITEM), "One item can change pml without limit"),
    (("entropy", "--method", "grassberger", *_ITEM), "choose one of polynomial, jackknife, miller-madow, plug-in"),
    (("support-coverage", "--draws", "1e30"), "--draws must be below 2^63, about 9.2e18, not '1e30'."),
    (("sample-coverage", "--method", "good-turing", *_ITEM), "--method does not apply to a private estimate"),
    (("renyi-entropy", *_ITEM), "needs --order"),
    (("renyi-entropy", "--order", "1.5", *_ITEM), "--order must be a whole number from 2 to 12"),
    (("support-size", "--method", "coverage", *_ITEM), "needs --alphabet-size"),
    (("entropy", "--unit", "label", "--max-count", "9", *_ITEM), "protect items or users"),
    (("entropy", "--known-items", "0", *_ITEM), "--known-items must be a whole number"),
    (("entropy", "--unit", "user", *_ITEM), "--max-per-user M"),
    (("entropy", "--level", "1", *_ITEM), "--level must be a number between 0 and 1"),
]


def test_wrong_calls_are_one_sentence(data: str, refusals: Refusals) -> None:
    calls = ((("estimate", given[0], data, *given[1:]), 2, told) for given, told in _WRONG)
    assert refusals(calls, warning=WARNING) == []


@pytest.mark.parametrize(
    "given",
    [
        ("entropy", "--method", "magic"),
        ("entropy", "--level", "2"),
        ("hill-number", "--order", "-1"),
        ("support-size", "--method", "chebyshev"),
        ("entropy", "--unit", "label", "--max-count", "9", "--epsilon", "1"),
        ("renyi-entropy", "--order", "1.5", "--epsilon", "1"),
    ],
)
def test_what_can_be_refused_is_refused_before_reading(given: tuple[str, ...], cli: Cli) -> None:
    done = cli("estimate", given[0], "nowhere.csv", *given[1:])
    assert done.returncode == 2
    assert "nowhere" not in done.stderr
    assert WARNING not in done.stderr


def test_a_release_is_not_made_private_twice(cli: Cli, release: str) -> None:
    done = cli("estimate", "entropy", release, "--epsilon", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is a release, leave --epsilon out, since estimates from it are already private.\n" in done.stderr


@pytest.mark.slow
def test_bad_data_are_3(cli: Cli, folder: Path) -> None:
    assert cli("estimate", "entropy", "nowhere.csv").returncode == 3
    (folder / "bad.csv").write_text("label,count\nzebra,-5\n")
    for private in ((), ("--epsilon", "1")):
        done = cli("estimate", "entropy", "bad.csv", *private)
        assert (done.returncode, done.stdout) == (3, "")
        assert "zebra" not in done.stderr
        assert done.stderr.removeprefix(WARNING).count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        ("entropy", "--method", "miller-madow", "--alphabet-size", "2"),
        ("support-size", "--method", "observed", "--alphabet-size", "2"),
        ("distance-to-uniformity", "--alphabet-size", "2"),
        ("power-sum", "--order", "12"),
        ("support-coverage", "--draws", "30", "--method", "good-toulmin"),
        ("entropy", "--known-items", "1"),
    ],
    ids=" ".join,
)
def test_whether_private_data_fit_the_options_is_not_told(
    given: tuple[str, ...], cli: Cli, data: str, folder: Path
) -> None:
    """More labels than an alphabet, fewer items than an order: the code and the streams must not say so."""
    (folder / "none.csv").write_text("label,count\nzebra,1\n")
    for source in (data, "none.csv"):
        done = cli("estimate", given[0], source, *given[1:], "--epsilon", "1")
        assert done.returncode == 0
        # A hint follows from what was released.
        assert done.stderr == "" or done.stderr.startswith("Note: most of this interval is not privacy noise")
        (row,) = rows(done.stdout)
        # What may be said follows from the noisy number.
        assert row["warnings"] == "" or row["warnings"].startswith("The released value was far outside")


def test_an_empty_source_says_nothing_and_says_so(cli: Cli, folder: Path) -> None:
    (folder / "empty.csv").write_text("label\n")
    done = cli("estimate", "support-size", "empty.csv")
    assert (done.returncode, done.stderr) == (0, WARNING)
    (row,) = rows(done.stdout)
    assert (row["value"], row["low"], row["high"]) == ("0", "0", "inf")
    assert row["says"] == "no interval"
    told = cli("estimate", "support-size", "empty.csv", "-o", "found.csv").stdout
    assert "support-size: 0 labels, without an interval: nothing can be estimated from an empty profile" in told


@pytest.mark.parametrize("command", [("estimate", "entropy"), ("curve", "rarefaction")])
def test_options_for_data_are_refused_for_a_release(command: tuple[str, str], cli: Cli, folder: Path) -> None:
    assert cli("release", "events.csv", "--epsilon", "1", "--simulations", "2", "-o", "out.json").returncode == 0
    done = cli(*command, "out.json", "--label", "label")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("anonhist: --label applies only to data, and the source is a release: leave --label out.\n")
    assert (folder / "out.json").exists()
