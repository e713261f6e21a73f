"""One thing has one option name in all commands, and whoever types another is told which."""

import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import click
import pytest

import anonhist as package
from anonhist.cli.entry import MEANT, anonhist, no_such_option
from anonhist.terminal.decorators import commands_of, options_of

Cli = Callable[..., CompletedProcess[str]]

# Every option of every command: what it names, and what it takes. Who adds an option looks here for the thing first.

# What these take depends on the command.
TAKE_SEVERAL = {"--epsilon", "--like", "--max-count", "--max-groups-per-label", "--max-per-user", "--mechanism"}
TAKE_SEVERAL |= {"--order", "--output", "--users"}
COMMANDS = dict(commands_of(anonhist))


def _options_by_name() -> dict[str, list[tuple[str, click.Option]]]:
    """Return the options of all commands by their long names, each with the command that has it."""
    named = defaultdict(list)
    for path, command in COMMANDS.items():
        for option in set(options_of(command).values()):
            named[max(option.opts, key=len)].append((path, option))
    return named


def _takes(option: click.Option) -> str:
    if option.is_flag:
        return "flag"
    return option.metavar or ("choice" if isinstance(option.type, click.Choice) else option.type.name)


def test_a_word_takes_the_same_in_every_command() -> None:
    taken = {word: {_takes(one) for _, one in uses} for word, uses in _options_by_name().items()}
    assert len(taken) > 100
    assert {word for word, kinds in taken.items() if len(kinds) > 1} == TAKE_SEVERAL


@pytest.mark.slow
def test_texts_name_options_that_exist() -> None:
    known = {word for command in COMMANDS.values() for word in options_of(command)}
    known |= {"--help", "--help-all", "--version"}
    # These have variables of style sheets.
    others = {"figures.py", "notebook.py"}
    for path in sorted(Path(package.__file__).parent.rglob("*.py")):
        named = re.findall(r"(?<![\w-])--[a-z][a-z-]*", path.read_text(encoding="utf-8"))
        assert path.name in others or set(named) <= known, (path.name, set(named) - known)


def test_what_is_read_is_called_the_same_everywhere() -> None:
    # The commands that read labels, whether of a file, of each of several, or for a survey.
    for path in ("release", "compare", "count", "estimate", "curve", "sketch update", "local randomize"):
        takes = {word: _takes(option) for word, option in options_of(COMMANDS[path]).items()}
        assert {"--label": "COLUMN", "--format": "choice", "--delimiter": "CHAR"}.items() <= takes.items(), path
        arguments = [
            param.metavar or str(param.name).upper() for param in COMMANDS[path].params if param.name[0] == "s"
        ]
        assert "SOURCE" in "".join(arguments), path


def test_the_right_word_is_said_for_every_other_word() -> None:
    used = set()
    for path, command in COMMANDS.items():
        own = options_of(command)
        for said, names in MEANT.items():
            meant = next((f"--{name}" for name in names if f"--{name}" in own), None)
            if f"--{said}" in own or meant is None:
                continue
            used.add(said)
            assert no_such_option(f"--{said}", command) == f"There is no --{said} here: use {meant}", path
    assert used == set(MEANT)


def test_what_has_no_option_is_written_alone(cli: Cli) -> None:
    refused = cli("budget", "create", "--dataset", "words", "--epsilon", "1", "--unit", "item", "--ledger", "b.db")
    assert (refused.returncode, refused.stderr) == (
        2,
        (
            "anonhist: There is no --dataset here: write DATASET alone, without an option; see anonhist budget create "
            "--help.\n"
        ),
    )


def test_who_types_another_word_is_told_the_right_one(cli: Cli) -> None:
    told = {
        "sketch update a.sketch b.csv --column x": "There is no --column here: use --label",
        "local randomize a.json b.csv --column=x": "There is no --column here: use --label",
        "sketch new --labels words.txt": "There is no --labels here: use --alphabet",
        "degrees a.txt --privacy edge": "There is no --privacy here: use --unit",
        "release a.csv --sep ;": "There is no --sep here: use --delimiter",
        "release a.csv --budget 1": "There is no --budget here: use --epsilon",
        "release a.csv --eps 1": "There is no --eps here: use --epsilon",
        "release a.csv --overwrite": "There is no --overwrite here: use --force",
        "release a.csv --epsilom 1": "There is no --epsilom here (perhaps --epsilon)",
        "curve hill a.csv --users 5": "There is no --users here (perhaps --user)",
        "release a.csv --seed 1": "There is no --seed here",
        "release a.csv -x": "There is no -x here",
    }
    for typed, sentence in told.items():
        words = typed.split()
        path = " ".join(words[:2]) if words[0] in ("sketch", "local") else words[0]
        done = cli(*words)
        wanted = (2, "", f"anonhist: {sentence}; see anonhist {path} --help.\n")
        assert (done.returncode, done.stdout, done.stderr) == wanted


def test_hidden_options_are_not_offered() -> None:
    # It is there to say how a curve is made private.
    curve = anonhist.commands["curve"]
    assert "--epsilon" in {word for param in curve.params for word in param.opts}
    assert "--epsilon" not in options_of(curve)
