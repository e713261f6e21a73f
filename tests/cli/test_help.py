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
_COLLECT = ("client", "invite", "new")
_LOCAL = ("estimate", "new", "randomize", "rappor", "recommend", "tally")
_SKETCH = ("info", "merge", "new", "profile", "recommend", "update")
_COMMANDS = (
    *("check", "compare", "count", "curve", "degrees", "diff", "estimate", "incidence"),
    *("plan", "release", "reproduce", "serve", "show", "species"),
    *(f"budget {name}" for name in _BUDGET),
    *(f"collect {name}" for name in _COLLECT),
    *(f"local {name}" for name in _LOCAL),
    *(f"sketch {name}" for name in _SKETCH),
)
# The experiments, which are in a package of their own, refuse all options but help.
_FULL = {name: ("--help",) if name == "reproduce" else ("--help-all",) for name in _COMMANDS}
_GROUPS = {"": command_line.commands.keys(), "budget": _BUDGET, "collect": _COLLECT, "local": _LOCAL, "sketch": _SKETCH}
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
    for name, own in (("budget", _BUDGET), ("collect", _COLLECT), ("local", _LOCAL), ("sketch", _SKETCH)):
        group = command_line.commands[name]
        assert isinstance(group, click.Group)
        assert tuple(sorted(group.commands)) == own


def test_the_version_is_that_of_the_package(cli: Cli) -> None:
    done = cli("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"anonhist {anonhist.__version__}\n", "")


def test_help_is_plain_and_fits_a_terminal(cli: Cli) -> None:
    groups = "--help", "-h", "budget --help", "collect --help", "local --help", "sketch --help"
    of_commands = {f"{name} {word}" for name in _COMMANDS for word in ("--help", *_FULL[name])}
    for arguments in (*groups, *sorted(of_commands)):
        done = cli(*arguments.split())
        assert (done.returncode, done.stderr) == (0, ""), arguments
        assert done.stdout.startswith("Usage: anonhist "), arguments
        assert not [word for word in _JARGON if word in done.stdout.lower()], arguments
        lines = done.stdout.splitlines()
        # A command is not broken into lines.
        assert [line for line in lines if len(line) > 80 and " anonhist " not in line] == [], arguments
        assert len(lines) <= 60 or arguments.endswith("--help-all"), arguments


def test_summaries_of_commands_are_whole(cli: Cli) -> None:
    for group in ("", "budget", "collect", "local", "sketch"):
        shown = cli(*group.split(), "--help").stdout.partition("\nCommands:\n")[2]
        summaries = dict(re.findall(r"^  (\w+) +(.+)$", shown, re.MULTILINE))
        assert summaries.keys() == {name.split()[-1] for name in _GROUPS[group]}
        assert [text for text in summaries.values() if not re.fullmatch(r"[A-Z].*[^.]\.", text)] == []


def test_every_option_is_explained_and_shown_once(cli: Cli) -> None:
    shown = {name: cli(*name.split(), *_FULL[name]).stdout for name in _COMMANDS}
    for name, option in _options():
        assert option.help is not None, (name, option.name)
        assert re.fullmatch(r"(?s)\S.{15,}[.\]]", option.help), (name, option.name)
        lines = re.findall(rf"^  (-o, )?{re.escape(option.opts[-1])}(?![\w-])", shown[name], re.MULTILINE)
        assert len(lines) == 1, (name, option.name)


def test_help_of_a_long_command_has_what_most_people_need(cli: Cli) -> None:
    long = {name: len(_own_options(name)) for name in _COMMANDS if len(_own_options(name)) > 15}
    of_data = "check", "compare", "count", "curve", "degrees", "estimate", "incidence", "release", "species"
    assert set(long) == {*of_data, "plan", "local new", "sketch new"}
    for name, many in long.items():
        brief, full = cli(*name.split(), "--help").stdout, cli(*name.split(), "--help-all").stdout
        words = [_word(line) for line in brief.splitlines() if line.startswith("  -")]
        assert 10 <= len(words) <= 13, name
        assert {max(param.opts, key=len) for param in _own_options(name) if param.required} <= set(words), name
        examples = re.findall(r"^  (?:.*\| )?anonhist .*$", brief, re.MULTILINE)
        assert 2 <= len(examples) <= 4, name
        assert set(examples) <= set(full.splitlines()), name
        # With those of help.
        assert f"All {many + 2} options, explained in full: anonhist {name} --help-all\n" in brief, name


def _own_options(name: str) -> list[click.Option]:
    return [option for of, option in _options() if of == name]


def _word(line: str) -> str:
    found = re.search(r"--[a-z-]+", line)
    assert found is not None, line
    return found[0]


def test_what_help_leaves_out_is_named_and_explained_in_full(cli: Cli) -> None:
    brief, full = cli("release", "--help").stdout, cli("release", "--help-all").stdout
    assert {"--epsilon", "--label", "--user", "--max-per-user", "--ledger", "--output"} <= set(
        map(_word, re.findall(r"^  -.*$", brief, re.MULTILINE))
    )
    told = " ".join(brief.split()).partition("Not shown: ")[2]
    assert told.startswith("Groups, Windows, Mechanism, Engine, and more of Input, Privacy, Ledger and Output. All ")
    for heading in ("Input", "Privacy", "Groups", "Windows", "Mechanism", "Engine", "Ledger", "Output"):
        assert f"\n{heading}:\n" in full
    # Of each option that is shown the first sentence, and its default.
    both = [" ".join(text.split()) for text in (brief, full)]
    assert ["or a line of uniq -c." in text for text in both] == [True, True]
    assert ["or a line of uniq -c. By default, the header decides" in text for text in both] == [False, True]
    assert "less accurate. [required]" in both[0]
    assert "[default: the environment variable ANONHIST_LEDGER]" in both[0]


def test_help_of_a_short_command_is_whole(cli: Cli) -> None:
    for name in ("show", "budget create", "sketch info", "sketch update"):
        assert cli(*name.split(), "--help").stdout == cli(*name.split(), "--help-all").stdout
        assert "help-all" not in cli(*name.split(), "--help").stdout


def test_defaults_are_shown(cli: Cli) -> None:
    flat = " ".join(cli("release", "--help-all").stdout.split())
    simulations = "32, or as few as 8 if they take long"
    known = {"auto", simulations, "add-or-remove", "1e-9", "a new random key", "none", "10 times the bound"}
    assert known <= set(re.findall(r"\[default: ([^\]]+)\]", flat))
    assert "[default: zipf]" in " ".join(cli("plan", "--help-all").stdout.split())
    assert "less accurate. [required]" in flat


def test_help_says_that_csv_is_for_programs(cli: Cli) -> None:
    for command in ("release", "degrees", "local estimate", "sketch profile"):
        assert CSV_IS_FOR_PROGRAMS in " ".join(cli(*command.split(), "--help-all").stdout.split())


def test_help_of_release_says_where_results_go(cli: Cli) -> None:
    flat = " ".join(cli("release", "--help-all").stdout.split())
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
    curve = " ".join(cli("curve", "--help-all").stdout.split())
    assert "Count at most M items of each user." in curve
    assert "protects users" not in curve
    assert "protects users" in " ".join(cli("release", "--help").stdout.split())
    assert "every report is deniable to a degree set by ε" in " ".join(cli("local", "--help").stdout.split())
