"""What the program says of itself: complete, in plain words, and true."""

import re
import shlex
from collections.abc import Callable
from subprocess import CompletedProcess

import click

import anonhist
from anonhist.cli.entry import anonhist as command_line
from anonhist.terminal.decorators import SectionedCommand
from anonhist.terminal.options import CSV_IS_FOR_PROGRAMS

Cli = Callable[..., CompletedProcess[str]]

_BUDGET = ("create", "move", "plan", "show", "verify", "void")
_LOCAL = ("estimate", "new", "randomize", "rappor", "recommend", "tally")
_SKETCH = ("info", "merge", "new", "profile", "recommend", "update")
_COMMANDS = (
    *("compare", "count", "curve", "degrees", "estimate", "plan", "release", "reproduce", "show"),
    *(f"budget {name}" for name in _BUDGET),
    *(f"local {name}" for name in _LOCAL),
    *(f"sketch {name}" for name in _SKETCH),
)
_GROUPS = {"": command_line.commands.keys(), "budget": _BUDGET, "local": _LOCAL, "sketch": _SKETCH}
_JARGON = (
    "neighbour",
    "neighbor",
    "frequency of frequencies",
    "durfee",
    "partition function",
    "sensitivity",
    "posterior",
)


def _command(name: str) -> click.Command:
    command: click.Command = command_line
    for word in name.split():
        assert isinstance(command, click.Group)
        command = command.commands[word]
    return command


def _options() -> list[tuple[str, click.Option]]:
    return [
        (name, param)
        for name in _COMMANDS
        for param in _command(name).params
        if isinstance(param, click.Option) and not param.hidden
    ]


def test_the_commands_are_these() -> None:
    assert sorted(command_line.commands) == sorted({name.split()[0] for name in _COMMANDS})
    for name, own in (("budget", _BUDGET), ("local", _LOCAL), ("sketch", _SKETCH)):
        group = command_line.commands[name]
        assert isinstance(group, click.Group)
        assert tuple(sorted(group.commands)) == own


def test_the_version_is_that_of_the_package(cli: Cli) -> None:
    done = cli("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"anonhist {anonhist.__version__}\n", "")


def test_help_is_plain_and_fits_a_terminal(cli: Cli) -> None:
    for arguments in ("--help", "-h", *(f"{name} --help" for name in (*_COMMANDS, "budget", "local", "sketch"))):
        done = cli(*arguments.split())
        assert (done.returncode, done.stderr) == (0, ""), arguments
        assert done.stdout.startswith("Usage: anonhist "), arguments
        assert not [word for word in _JARGON if word in done.stdout.lower()], arguments
        text = done.stdout.split("\nExamples:\n", maxsplit=1)[0]
        assert max(map(len, text.splitlines())) <= 80, arguments


def test_summaries_of_commands_are_whole(cli: Cli) -> None:
    for group in ("", "budget", "local", "sketch"):
        shown = cli(*group.split(), "--help").stdout.partition("\nCommands:\n")[2]
        summaries = dict(re.findall(r"^  (\w+) +(.+)$", shown, re.MULTILINE))
        assert summaries.keys() == {name.split()[-1] for name in _GROUPS[group]}
        assert [text for text in summaries.values() if not re.fullmatch(r"[A-Z].*[^.]\.", text)] == []


def test_every_option_is_explained_and_shown_once(cli: Cli) -> None:
    shown = {name: cli(*name.split(), "--help").stdout for name in _COMMANDS}
    for name, option in _options():
        assert option.help is not None, (name, option.name)
        assert re.fullmatch(r"(?s)\S.{15,}[.\]]", option.help), (name, option.name)
        lines = re.findall(rf"^  (-o, )?{re.escape(option.opts[-1])}(?![\w-])", shown[name], re.MULTILINE)
        assert len(lines) == 1, (name, option.name)


def test_defaults_are_shown(cli: Cli) -> None:
    flat = " ".join(cli("release", "--help").stdout.split())
    simulations = "32, or as few as 8 if they take long"
    known = {"auto", simulations, "add-or-remove", "1e-9", "drawn anew", "none", "10 times the bound"}
    assert known <= set(re.findall(r"\[default: ([^\]]+)\]", flat))
    assert "[default: zipf]" in " ".join(cli("plan", "--help").stdout.split())
    assert "less accurate. [required]" in flat


def test_help_says_that_csv_is_for_programs(cli: Cli) -> None:
    for command in ("release", "degrees", "local estimate", "sketch profile"):
        assert CSV_IS_FOR_PROGRAMS in " ".join(cli(*command.split(), "--help").stdout.split())


def test_help_of_release_says_where_results_go(cli: Cli) -> None:
    flat = " ".join(cli("release", "--help").stdout.split())
    assert "Without -o, the release is written to release.json in the working directory, or as CSV" in flat
    for ending in (".json", ".csv", ".parquet", ".html", ".gz", ".zst"):
        assert ending in flat


def test_a_bare_call_shows_the_help_and_is_no_success(cli: Cli) -> None:
    done = cli()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == cli("--help").stdout


def test_examples_can_be_typed() -> None:
    for name in sorted(set(_COMMANDS) - {"reproduce", "show", "sketch info"}):
        command, names = _command(name), name.split()
        assert isinstance(command, SectionedCommand), name
        assert command.epilog is not None, name
        for line in command.epilog.strip().splitlines():
            piped = line.split(" | ")
            words = shlex.split(next(each for each in piped if each.lstrip().startswith("anonhist ")))
            assert words[: 1 + len(names)] == ["anonhist", *names], line
            command.make_context(names[-1], words[1 + len(names) :]).close()


def test_sections_list_options_nobody_named() -> None:
    command = SectionedCommand(
        "x", params=[click.Option(["--a"], help="One."), click.Option(["--b"], help="Two.")], sections={"First": ("b",)}
    )
    text = command.get_help(click.Context(command, info_name="x"))
    assert re.search(r"First:\n  --b TEXT +Two\.\n\nOther options:\n  --a TEXT +One\.\n  --help", text)


def test_exit_codes_are_documented(cli: Cli) -> None:
    told = " ".join(cli("--help").stdout.split())
    assert "0 done, 2 wrong usage, 3 bad data or output, 70 internal error, 130, 143 or 129 ended" in told
    assert "ended by Ctrl-C, SIGTERM or SIGHUP" in told


def test_help_promises_nothing_that_is_not_kept(cli: Cli) -> None:
    curve = " ".join(cli("curve", "--help").stdout.split())
    assert "Count at most M items of each user." in curve
    assert "protects users" not in curve
    assert "protects users" in " ".join(cli("release", "--help").stdout.split())
    assert "every report is deniable to a degree set by ε" in " ".join(cli("local", "--help").stdout.split())
