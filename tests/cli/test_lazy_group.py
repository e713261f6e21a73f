"""Commands are imported when they are asked for, and all of them are found."""

import pkgutil
import subprocess
import sys
from importlib import import_module

import click
from click.shell_completion import BashComplete

import anonhist
from anonhist.cli.entry import anonhist as command_line
from anonhist.terminal.decorators import commands_of

_ASKED = """
import sys
from anonhist.cli.entry import run
assert run(["local", "tally", "--help"]) == 0
print(*sorted(name for name in sys.modules if name.startswith("anonhist.")))
"""


def test_a_command_is_imported_without_the_others() -> None:
    done = subprocess.run([sys.executable, "-c", _ASKED], capture_output=True, check=True, text=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    commands = {name for name in loaded if name.endswith("commands") or name.startswith("anonhist.cli.")}
    assert commands == {
        *("anonhist.cli.entry", "anonhist.cli.signals"),
        *("anonhist.local.commands", "anonhist.local.estimate_commands"),
    }


def test_every_command_that_is_written_is_in_a_group_under_its_name() -> None:
    names = [each.name for each in pkgutil.walk_packages(anonhist.__path__, "anonhist.")]
    modules = [import_module(name) for name in names if ".cli." in name or name.endswith("commands")]
    written = {each for module in modules for each in vars(module).values() if isinstance(each, click.Command)}
    listed = dict(commands_of(command_line))
    groups = {command_line, *(command_line.commands[name] for name in ("budget", "collect", "local", "sketch"))}
    assert written == {*listed.values(), *groups}
    assert all(command.name == path.split()[-1] for path, command in listed.items())


def test_a_group_knows_names_without_importing() -> None:
    assert "release" in command_line.commands
    assert "relase" not in command_line.commands
    assert len(command_line.commands) == len(command_line.list_commands(click.Context(command_line)))


def test_shells_complete_commands_and_their_options() -> None:
    complete = BashComplete(command_line, {}, "anonhist", "_ANONHIST_COMPLETE").get_completions
    assert [item.value for item in complete([], "re")] == ["release", "reproduce"]
    assert [item.value for item in complete(["local"], "r")] == ["randomize", "rappor", "recommend"]
    assert [item.value for item in complete(["sketch", "profile"], "--dec")] == ["--decoder"]
    assert [item.value for item in complete(["sketch", "profile", "--decoder"], "w")] == ["wu-pagh"]
