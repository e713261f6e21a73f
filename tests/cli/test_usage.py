"""Calls that are wrong whatever the data: exit code 2, one sentence, nothing read and nothing written."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Cli = Callable[..., CompletedProcess[str]]
Refusals = Callable[..., list[CompletedProcess[str]]]

_GOOD = ("release", "events.csv", "--epsilon", "1")
_COMPARE = ("compare", "events.csv", "--epsilon", "1")

_USERS = ("--user", "label", "--max-per-user", "2")

_WRONG: list[tuple[tuple[str, ...], str]] = [
    (("release", "events.csv"), "--epsilon 1; there is no default"),
    (("plan", "--items", "9"), "--epsilon 1; there is no default"),
    (("release", "--epsilon", "1"), "SOURCE"),
    (("frobnicate",), "There is no command 'frobnicate'; see anonhist --help."),
    (("relase",), "There is no command 'relase' (perhaps release); see anonhist --help."),
    (("local", "nw"), "There is no command 'nw' (perhaps new); see anonhist local --help."),
    (("release", "--title"), "Option '--title' requires an argument; see anonhist release --help."),
    (("estimate", "entropi", "events.csv"), "there is no 'entropi' (perhaps entropy, "),
    (("estimate", "events.csv"), "Name the property first: anonhist estimate all events.csv."),
    (("estimate", "gone.json", "entropy"), "Name the property first: anonhist estimate all gone.json."),
    (("estimate", "chao1", "events.csv"), "chao1 is a method of support-size: give a property, and the method as"),
    (("local", "new", "--mechanism", "k-rr", "--epsilon", "1"), "requires --alphabet FILE or --alphabet-size K."),
    ((*_GOOD, "--seed", "1"), "There is no --seed here; see"),
    ((*_GOOD, "--epsilom", "x"), "(perhaps --epsilon)"),
    ((*_GOOD, "--unit", "person"), "'person'"),
    ((*_GOOD, "--max-per-user", "many"), "--max-per-user"),
    ((*_GOOD, "--user", "label"), "--user and --max-per-user must be given together"),
    ((*_GOOD, "--max-per-user", "2"), "--user and --max-per-user must be given together"),
    ((*_GOOD, "--user", "label", "--max-per-user", "0"), "--max-per-user must be a whole number from 1"),
    ((*_GOOD, "--unit", "user"), "--max-per-user M"),
    ((*_GOOD, "--unit", "label"), "--max-count C"),
    ((*_GOOD, "--unit", "label", "--max-count", "0"), "--max-count must be"),
    ((*_GOOD, "--max-count", "3"), "--unit label"),
    ((*_GOOD, "--unit", "item", "--max-count", "3"), "--unit label"),
    ((*_GOOD, "--unit", "label", "--max-count", "3", "--user", "label", "--max-per-user", "1"), "one of the two"),
    ((*_GOOD, "--unit", "item", "--user", "label", "--max-per-user", "2"), "protects only items"),
    ((*_GOOD, "--order-by", "label"), "requires --user"),
    ((*_GOOD, "--excess-share", "0.05"), "--excess-share estimates what a bound leaves out"),
    ((*_GOOD, *_USERS, "--excess-share", "1"), "--excess-share must be a share of ε below 1"),
    ((*_GOOD, *_USERS, "--excess-share", "5%"), "--excess-share must be a finite number"),
    ((*_GOOD, *_USERS, "--excess-share", "1e-15"), "give a larger share, or a smaller cap"),
    ((*_GOOD, *_USERS, "--excess-share", "0.05", "--quiet", "-o", "-"), "CSV cannot hold the excess"),
    ((*_GOOD, *_USERS, "--excess-cap", "9"), "--excess-cap requires --excess-share"),
    ((*_GOOD, *_USERS, "--excess-share", "0.05", "--excess-cap", "0"), "--excess-cap must be a whole number"),
    ((*_GOOD, *_USERS, "--excess-share", "0.05", "--max-per-user", "0"), "--max-per-user must be"),
    ((*_GOOD, "--relation", "swap"), "'swap'"),
    ((*_GOOD, "--mechanism", "magic"), "auto, partition, frobenius, privhist"),
    ((*_GOOD, "--mechanism", "prevalence"), "label"),
    ((*_GOOD, "--expected-items", "some"), "--expected-items"),
    ((*_GOOD, "--expected-items", "0.5"), "--expected-items"),
    ((*_GOOD, "--simulations", "1"), "--simulations must be 0 or a whole number from 2 to 1,000"),
    ((*_GOOD, "--table", "t"), "table of a database"),
    ((*_GOOD, "--format", "csv"), "CSV files are recognized by their ending; for CSV in a pipe, give --label"),
    ((*_GOOD, "--delimiter", "::"), "one character"),
    ((*_GOOD, "-o", ""), "''"),
    ((*_GOOD, "-o", "release"), ".csv, .json, .parquet"),
    ((*_GOOD, "-o", "release.txt"), ".csv, .json, .parquet"),
    ((*_GOOD, "-o", "release.html"), "--report"),
    ((*_GOOD, "-o", "-", "--report", "release.pdf"), ".html"),
    ((*_GOOD, "-o", "events.csv"), "is the input"),
    ((*_GOOD, "-o", "events.csv", "--force"), "is the input"),
    ((*_GOOD, "-o", "./events.csv", "--force"), "is the input"),
    (("plan", "--epsilon", "1"), "--items 1e9"),
    (("plan", "--epsilon", "1", "--items", "1e16"), "items"),
    (("plan", "--epsilon", "1", "--items", "-5"), "--items"),
    (("plan", "--epsilon", "1,,2", "--items", "9"), "epsilon"),
    (("plan", "--epsilon", "1", "--items", "9", "--shape", "flat"), "'flat'"),
    (("plan", "--epsilon", "1", "--like", "r.json", "--shape", "worst"), "one of the two"),
    (("plan", "--epsilon", "1", "--items", "9", "-o", "plan.json"), ".csv"),
    (("plan", "--epsilon", "1", "--items", "9", "-o", "events.csv"), "--force"),
    (("plan", "--epsilon", "1", "--items", "9", "--unit", "item", "--max-per-user", "2"), "--unit user"),
    (("plan", "--epsilon", "1", "--items", "9", "--unit", "user"), "--max-per-user M"),
    (("plan", "--epsilon", "1", "--items", "9", "--like", "r.csv"), ".json or .parquet"),
    (("show", "r.csv"), ".json or .parquet"),
    (("compare", "events.csv"), "--epsilon 1; there is no default"),
    (("compare", "--epsilon", "1"), "SOURCE"),
    ((*_COMPARE, "--epsilon", "1,,2"), "epsilon"),
    ((*_COMPARE, "--epsilon", "1,1.0"), "1 is listed twice"),
    ((*_COMPARE, "--repeats", "1"), "--repeats must be at least 2"),
    ((*_COMPARE, "--mechanism", "magic"), "auto, partition, frobenius, privhist"),
    ((*_COMPARE, "--mechanism", ""), "There is no mechanism called ''"),
    ((*_COMPARE, "--mechanism", "auto,auto"), "auto is listed twice"),
    ((*_COMPARE, "--public-cap", "x"), "--public-cap must be a whole number"),
    ((*_COMPARE, "--mechanism", "auto", "--public-cap", "9"), "--public-cap does not apply to any"),
    ((*_COMPARE, "--unit", "label"), "--max-count C"),
    ((*_COMPARE, "--unit", "user"), "--max-per-user M"),
    ((*_COMPARE, "-o", "table.json"), "end the path in .csv, not 'table.json'.\n"),
    ((*_COMPARE, "-o", "table.html"), "For an HTML page, use --report"),
    ((*_COMPARE, "-o", ""), "''"),
    ((*_COMPARE, "-o", "events.csv"), "is the input"),
    ((*_COMPARE, "-o", "events.csv", "--force"), "is the input"),
    ((*_COMPARE, "--report", "page.pdf"), ".html"),
    ((*_COMPARE, "--seed", "1"), "There is no --seed here; see"),
]  # fmt: skip
_IMPOSSIBLE = ("0", "-1", "-0.0", "nan", "inf", "-inf", "one", "", "1e-99", "1e99", "1/0", "true")


def test_a_choice_that_is_missing_is_asked_for_in_one_line(cli: Cli) -> None:
    mechanism = "such as --mechanism subset-selection; 'anonhist local recommend' finds the most accurate one"
    told = {
        "local new": f"Choose how values are randomized, {mechanism}",
        "curve": "Missing argument 'KIND'. Choose from: rarefaction, guessing, hill",
    }
    for words, sentence in told.items():
        done = cli(*words.split())
        assert (done.returncode, done.stderr) == (2, f"anonhist: {sentence}; see anonhist {words} --help.\n")


def test_wrong_calls_are_refused(refusals: Refusals) -> None:
    calls = ((arguments, 2, told) for arguments, told in _WRONG)
    assert refusals(calls, secrets=("zebra", "heron", "newt")) == []


def test_impossible_epsilons_are_refused(refusals: Refusals) -> None:
    commands = (("release", "events.csv"), ("compare", "events.csv"), ("plan", "--items", "100"))
    calls = [
        ((*command, "--epsilon", epsilon, "-o", "out.csv"), 2, "anonhist: --epsilon ")
        for command in commands
        for epsilon in _IMPOSSIBLE
    ]
    assert refusals(calls) == []


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1", "0.5", "1/3", "1e-1", "2.50"])
def test_epsilon_is_exact(epsilon: str, cli: Cli, folder: Path) -> None:
    assert cli("release", "events.csv", "--epsilon", epsilon, "--simulations", "2", "-o", "out.json").returncode == 0
    exact = {"1": "1", "0.5": "1/2", "1/3": "1/3", "1e-1": "1/10", "2.50": "5/2"}[epsilon]
    assert f'"epsilon": "{exact}"' in (folder / "out.json").read_text()


def test_nothing_is_read_before_the_call_is_right(cli: Cli) -> None:
    # The file is missing too: the call is judged first.
    assert cli("release", "nowhere.csv", "--epsilon", "0").returncode == 2
    assert cli("release", "nowhere.csv", "--epsilon", "1", "-o", "x.html").returncode == 2
    assert cli("release", "nowhere.csv", "--epsilon", "1", "--user", "u").returncode == 2
    assert cli("release", "nowhere.csv", "--epsilon", "1").returncode == 3


@pytest.mark.slow
def test_a_process_of_its_own_exits_with_2(process: Cli) -> None:
    done = process("release", "events.csv", "--epsilon", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "anonhist: --epsilon must be a finite number greater than zero, such as 0.5, not '0'.\n"
    assert process().returncode == 2
