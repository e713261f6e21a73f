"""Mechanisms by name on the command line: their options, what is refused, and in which words."""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from subprocess import CompletedProcess

import click
import pytest

import anonhist as ah
from anonhist.catalogue import MECHANISMS, takers
from anonhist.cli.entry import anonhist as command_line
from anonhist.mechanisms import MECHANISM_NAMES
from anonhist.mechanisms.picking import mechanism_class
from anonhist.report.wording import free_arithmetic

Cli = Callable[..., CompletedProcess[str]]
Refusals = Callable[..., list[CompletedProcess[str]]]

# events.csv holds 12 items of 3 labels, with counts 5, 5 and 2: at such a budget the noise is hardly ever 3.
_GOOD = ("release", "events.csv", "--epsilon", "20", "--simulations", "2")
_WORKING: dict[str, tuple[tuple[str, ...], dict[str, object]]] = {
    "partition": ((), {}),
    "frobenius": ((), {}),
    "privhist": ((), {}),
    "privhist, thirds": (("--shares", "thirds"), {"shares": "1/3, 1/3, 1/3"}),
    "privhist, shares": (("--shares", "0.1, 0.45,0.45"), {"shares": "1/10, 9/20, 9/20"}),
    "privhist, nothing for blocks": (("--shares", "0.1,0.9,0"), {"shares": "1/10, 9/10, 0"}),
    "isotonic": (("--public-labels", "3"), {"public_labels": 3}),
    "isotonic, a power": (("--public-labels", "1e3"), {"public_labels": 1000}),
    "cumulative": (("--public-cap", "5"), {"public_cap": 5}),
    "prevalence": (("--public-cap", "1_000"), {"public_cap": 1000}),
    "prevalence, labels": (("--unit", "label", "--max-count", "5"), {"bound": 5}),
    "bounded-partition": (("--public-items", "12"), {"public_items": 12}),
    "relaxed-partition": (("--public-items", "1e2"), {"public_items": 100}),
}


def options_of_row(row: str) -> tuple[str, ...]:
    return ("--mechanism", row.split(",", maxsplit=1)[0])


@pytest.mark.parametrize("row", _WORKING)
def test_every_mechanism_is_asked_for_by_name(row: str, cli: Cli, folder: Path) -> None:
    given, expected = _WORKING[row]
    done = cli(*_GOOD, *options_of_row(row), *given, "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    release = ah.read(folder / "out.json")
    assert release.mechanism.name == row.split(",", maxsplit=1)[0]
    assert expected.items() <= release.mechanism.parameters.items()
    assert abs(release.profile.num_labels - 3) < 3
    clause = free_arithmetic(release.guarantee)
    promise = f"Promise: {release.guarantee.for_people.replace(f'; {clause}' if clause else '', '')}\n"
    assert f"can become practically certain: practically no protection.\n{promise}" in done.stdout.replace(
        ", apart from δ = 10⁻⁹", ""
    )
    assert "\nWarning: An epsilon of 10 or more gives practically no protection" in done.stdout
    assert release.reason == "The mechanism was chosen by name."
    of_release_alone = "Not recorded in a ledger (--ledger).\nWrote out.json.\n"
    assert cli("show", "out.json").stdout == done.stdout.removesuffix(of_release_alone)


@pytest.mark.parametrize("job", [("release",), ("estimate", "entropy", "--method", "plug-in")], ids=lambda job: job[0])
def test_an_epsilon_that_protects_nobody_is_warned_of_where_only_numbers_are_printed(
    job: tuple[str, ...], cli: Cli, folder: Path
) -> None:
    del folder
    command, *options = job
    for epsilon, quiet, said in (
        ("9", (), ""),
        ("10", (), "Warning: An epsilon of 10 or more"),
        ("10", ("--quiet",), ""),
    ):
        done = cli(command, *options, "events.csv", "--epsilon", epsilon, *quiet, "-o", "-")
        assert done.returncode == 0
        assert done.stderr.startswith(said)
        assert ("Warning" in done.stderr) == bool(said)
        assert "Warning" not in done.stdout


def test_every_mechanism_is_tried() -> None:
    assert {row.split(",")[0] for row in _WORKING} == set(MECHANISM_NAMES) - {"auto"}


@pytest.mark.slow
def test_thirds_above_one_spend_two_of_them_and_say_so(cli: Cli, folder: Path) -> None:
    done = cli(*_GOOD, "--mechanism", "privhist", "--shares", "thirds", "-o", "out.json")
    guarantee = ah.read(folder / "out.json").guarantee
    assert guarantee.epsilon == Fraction(40, 3)
    assert [spent for _, spent in guarantee.spending] == [Fraction(20, 3)] * 2
    assert "Promise: 40/3-differentially private" in done.stdout
    low = cli(
        "release", "events.csv", "--epsilon", "0.9", "--mechanism", "privhist", "--shares", "thirds", "-o", "b.json"
    )
    assert low.returncode == 0
    assert [spent for _, spent in ah.read(folder / "b.json").guarantee.spending] == [Fraction(3, 10)] * 3


def test_the_number_of_items_is_shown_where_it_was_released_on_its_own(cli: Cli, folder: Path) -> None:
    shown = cli(*_GOOD, "--mechanism", "privhist", "-o", "out.json").stdout
    assert f"Released on its own: {ah.read(folder / 'out.json').n:,} items (95% interval " in shown
    assert "on its own" not in cli(*_GOOD, "--mechanism", "frobenius", "-o", "other.json").stdout


def test_users_get_the_noise_of_all_their_items(cli: Cli, folder: Path) -> None:
    (folder / "log.csv").write_text("label,user\n" + "".join(f"zebra,u{number}\n" for number in range(40)))
    given = ("release", "log.csv", "--label", "label", "--user", "user", "--max-per-user", "2", "--epsilon", "8")
    done = cli(*given, "--mechanism", "cumulative", "--public-cap", "80", "--relation", "substitute", "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    mechanism = ah.read(folder / "out.json").mechanism
    assert isinstance(mechanism, mechanism_class("cumulative"))
    assert mechanism.epsilon_per_cell == 2


_NUMBERS = {"--public-items": "500", "--public-labels": "500", "--public-cap": "500", "--shares": "thirds"}
_TAKEN = {option: {*takers(option.removeprefix("--").replace("-", "_"))} for option in _NUMBERS}
_FOREIGN = [
    (("--mechanism", name, option, value), f"{option} does not apply to --mechanism {name}; leave it out, or choose")
    for name in MECHANISM_NAMES
    for option, value in _NUMBERS.items()
    if name not in _TAKEN[option]
]
_MISSING = [
    (("--mechanism", name), f"--mechanism {name} needs {option}: a public number")
    for option, names in _TAKEN.items()
    for name in sorted(names - {"prevalence", "privhist"})
]
_BELOW = [
    (
        ("--mechanism", "isotonic", "--public-labels", "2"),
        "The data exceed --public-labels, and this refusal already reveals that: do not try",
    ),
    (
        ("--mechanism", "cumulative", "--public-cap", "4"),
        "The data exceed --public-cap, and this refusal already reveals that: do not try",
    ),
    (
        ("--mechanism", "prevalence", "--public-cap", "4"),
        "The data exceed --public-cap, and this refusal already reveals that: do not try",
    ),
    (
        ("--mechanism", "bounded-partition", "--public-items", "11"),
        "The data exceed --public-items, and this refusal already reveals that: do not try",
    ),
    (
        ("--mechanism", "relaxed-partition", "--public-items", "11"),
        "The data exceed --public-items, and this refusal already reveals that: do not try",
    ),
]
_WRONG = [
    (("--mechanism", "prevalence"), "needs --public-cap, a public number that no count exceeds"),
    (("--mechanism", "prevalence"), "with label privacy, --max-count is the cap"),
    (
        ("--mechanism", "prevalence", "--public-cap", "5", "--unit", "label", "--max-count", "5"),
        "--max-count is the cap: leave --public-cap out",
    ),
    (("--mechanism", "prevalence", "--unit", "label", "--max-count", "16777217"), "a --max-count of at most 2^24"),
    (("--mechanism", "isotonic", "--public-labels", "0"), "--public-labels must be a whole number of at least 1"),
    (("--mechanism", "isotonic", "--public-labels", "many"), "--public-labels must be a whole number of at least 1"),
    (("--mechanism", "isotonic", "--public-labels", "1e9"), "--public-labels must be a whole number from 1 to 2^24"),
    (("--mechanism", "cumulative", "--public-cap", "2.5"), "--public-cap must be a whole number of at least 1"),
    (("--mechanism", "cumulative", "--public-cap", "1e9"), "--public-cap must be a whole number from 1 to 2^24"),
    (("--mechanism", "prevalence", "--public-cap", "1e9"), "--public-cap must be a whole number from 1 to 2^24"),
    (("--mechanism", "bounded-partition", "--public-items", "1e13"), "--public-items must be a whole number from 1"),
    (("--mechanism", "relaxed-partition", "--public-items", "1e13"), "--public-items must be a whole number from 1"),
    (("--mechanism", "privhist", "--shares", "0.3,0.3,0.3"), "must add up to 1, not 9/10"),
    (("--mechanism", "privhist", "--shares", "0.5,0.5,0.5"), "must add up to 1, not 3/2"),
    (("--mechanism", "privhist", "--shares", "0.5,0.5"), "three numbers such as 0.02,0.49,0.49, or 'thirds'"),
    (("--mechanism", "privhist", "--shares", "halves"), "three numbers such as 0.02,0.49,0.49, or 'thirds'"),
    (("--mechanism", "privhist", "--shares", "0,0.5,0.5"), "The share 'items'"),
    (("--mechanism", "privhist", "--shares", "a,b,c"), "The share 'items'"),
    (("--mechanism", "bounded_partition"), "choose one of auto, partition,"),
]


# In the words of the command line, and none of the data.
_UNSAID = ("public_", "max_count", "mechanism=", "unit=", "PrivacyUnit", "zebra", "heron", "newt")


@pytest.mark.slow
def test_wrong_options_are_refused(refusals: Refusals) -> None:
    calls = [
        ((*_GOOD, *given, "-o", target, "--report", "out.html"), 2, told)
        for given, told in (*_FOREIGN, *_MISSING, *_BELOW, *_WRONG)
        for target in ("out.json", "-")
    ]
    assert refusals(calls, secrets=_UNSAID) == []


def test_wrong_options_are_refused_before_anything_is_read(refusals: Refusals) -> None:
    given_and_told = (*_FOREIGN, *_MISSING, *_WRONG)
    assert (
        refusals((("release", "nowhere.csv", "--epsilon", "20", *given), 2, told) for given, told in given_and_told)
        == []
    )


@pytest.mark.parametrize(("given", "_"), _BELOW)
def test_a_number_below_the_data_says_nothing_more_of_them(
    given: tuple[str, ...], _: str, cli: Cli, folder: Path
) -> None:
    # Of data that exceed the number by one and by much, the same is said.
    (folder / "more.csv").write_text("label\n" + "zebra\n" * 400 + "".join(f"heron{n}\n" for n in range(400)))
    said = [cli("release", name, "--epsilon", "20", *given) for name in ("events.csv", "more.csv")]
    assert [done.returncode for done in said] == [2, 2]
    assert said[0].stderr == said[1].stderr
    assert not re.search(r"\d", said[0].stderr)


@pytest.mark.parametrize("side", [2**20 + 1, 2**31])
def test_a_durfee_size_beyond_the_public_one_says_nothing_more_of_the_data(side: int, cli: Cli, folder: Path) -> None:
    (folder / "wide.csv").write_text(f"count,prevalence\n{side},{side}\n")
    given = ("release", "wide.csv", "--format", "prevalences", "--epsilon", "1", "--mechanism", "partition")
    done = cli(*given, "-o", "out.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "anonhist: The partition mechanism accepts profiles of Durfee size up to 2^20, which includes all with n up to "
        "2^40; choose the Frobenius mechanism for larger ones.\n"
    )
    assert not (folder / "out.json").exists()


def test_high_privacy_needs_a_share_for_blocks(cli: Cli) -> None:
    done = cli("release", "events.csv", "--epsilon", "1", "--mechanism", "privhist", "--shares", "0.1,0.9,0")
    assert done.returncode == 2
    assert "need a share of the budget above zero" in done.stderr


def _help_of(option: str) -> str:
    found = {name: param for param in command_line.commands["release"].params for name in param.opts}[option]
    assert isinstance(found, click.Option)
    assert found.help is not None
    return found.help


def test_help_names_every_mechanism_and_whose_each_option_is() -> None:
    assert all(re.search(rf"[ ,]{name}[,.]", _help_of("--mechanism")) for name in MECHANISM_NAMES)
    for option, names in _TAKEN.items():
        own = option.removeprefix("--").replace("-", "_")
        assert names == {name for name in MECHANISMS if own in mechanism_class(name).own_options()}
        text = _help_of(option)
        assert {name for name in MECHANISM_NAMES if re.search(rf"(?<![\w-]){name}(?![\w-])", text)} == names
    for option in ("--public-items", "--public-labels", "--public-cap"):
        assert "public upper bound" in _help_of(option)


@pytest.mark.parametrize("option", _NUMBERS)
def test_options_of_mechanisms_stand_with_them_in_the_help(option: str, cli: Cli) -> None:
    text = cli("release", "--help-all").stdout
    section = text[text.index("Mechanism:") : text.index("Engine:")]
    assert re.search(rf"^  {option} ", section, re.MULTILINE)
