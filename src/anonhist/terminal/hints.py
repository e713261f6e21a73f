"""What is said of an option that a command does not have: the word for the thing here, or which command has it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from anonhist.catalogue import is_there, load
from anonhist.errors import as_keyword, spell_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Words of other commands and of other programs, and what they may mean. A command is asked for the first that it has;
# which those are, and what they take, comes from the commands.
MEANT: Mapping[str, tuple[str, ...]] = {
    "--column": ("--label",),
    "--labels": ("--alphabet",),
    "--domain": ("--alphabet",),
    "--interval": ("--level",),
    "--confidence": ("--level",),
    "--privacy": ("--unit",),
    "--method": ("--decoder", "--mechanism"),
    "--decoder": ("--method",),
    "--orders": ("--order",),
    "--trials": ("--repeats", "--simulations", "--bootstraps"),
    "--runs": ("--repeats", "--simulations", "--bootstraps"),
    "--repeats": ("--simulations", "--bootstraps"),
    "--simulations": ("--repeats", "--bootstraps"),
    "--bootstraps": ("--simulations", "--repeats"),
    "--items": ("--expected-items",),
    "--expected-items": ("--items",),
    "--expected-labels": ("--labels",),
    "--users": ("--shuffled-users",),
    "--permanent": ("--f",),
    "--zero": ("--p",),
    "--one": ("--q",),
    "--chosen": ("--subset-size",),
    "--sample-share": ("--sampling-rate",),
    "--separator": ("--delimiter",),
    "--sep": ("--delimiter",),
    "--budget": ("--epsilon",),
    "--eps": ("--epsilon",),
    "--overwrite": ("--force",),
}
_MOST = 3
# So many characters of an option, its dashes among them, are taken for its beginning.
_BEGINNING = 5


def no_such_option(word: str, context: click.Context) -> str:
    """Return what is said of a word that is none of a command's options, without a full stop."""
    told = f"There is no {word} here"
    own = options_of(context.command)
    meant = {said: name for said, names in MEANT.items() for name in reversed(names) if name in own}
    if word in meant:
        return f"{told}: use {_option_text(own[meant[word]], context)}"
    others = {path: options_of(command) for path, command in commands_of(context.find_root().command)}
    owners = [path for path, options in others.items() if word in options]
    # Who types an option of another command means it, unless one of this command is but a letter away.
    begun = [name for name in own if name.startswith(word)] if len(word) >= _BEGINNING else []
    known = begun or _near(word, (*own, *meant), cutoff=0.8 if owners else 0.6)
    near = list(dict.fromkeys(meant.get(name, name) for name in known))
    hint = _perhaps(near)
    if owners:
        return f"{told}{hint}: {_belongs(word, owners)}"
    if near:
        return told + hint
    elsewhere = _near(word, sorted({name for options in others.values() for name in options}))
    if not elsewhere:
        return told
    owners = [path for path, options in others.items() if elsewhere[0] in options]
    return f"{told}: {_belongs(elsewhere[0], owners)}"


def no_value(word: str, context: click.Context) -> str:
    """Return what is said of an option that was given without its value, without a full stop."""
    option = options_of(context.command).get(word)
    return f"{word} requires a value" + (f": {_option_text(option, context)}" if option else "")


def called(root: click.Group, words: Iterable[str]) -> click.Context:
    """Return the context of the command that words call."""
    context = click.Context(root, info_name=root.name)
    for word in words:
        if not isinstance(context.command, click.Group) or word not in context.command.commands:
            break
        context = click.Context(context.command.commands[word], parent=context, info_name=word)
    return context


def perhaps(word: str, known: Iterable[str]) -> str:
    """Return the known words that are written nearly like a wrong one, in brackets; nothing if there are none."""
    return _perhaps(_near(word, known))


def _perhaps(near: list[str]) -> str:
    *first, last = near or [""]
    return f" (perhaps {', '.join(first)} or {last})" if first else f" (perhaps {last})" if last else ""


def commands_of(command: click.Command, *above: str) -> Iterator[tuple[str, click.Command]]:
    """Give every command below a group, with the words that call it."""
    if not isinstance(command, click.Group):
        yield " ".join(above), command
        return
    for name, one in sorted(command.commands.items()):
        yield from commands_of(one, *above, name)


def options_of(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command by the words that call them, but for hidden ones."""
    return {
        word: param
        for param in command.params
        if isinstance(param, click.Option) and not param.hidden
        for word in (*param.opts, *param.secondary_opts)
    }


def _near(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> list[str]:
    """Return the words that are written nearly so; the dashes, which all have, make none nearer."""
    bare = {name.lstrip("-"): name for name in known}
    return [bare[name] for name in get_close_matches(word.lstrip("-"), bare, cutoff=cutoff)]


def _option_text(option: click.Option, context: click.Context) -> str:
    """Return an option as it is typed, with what it takes."""
    word = max(option.opts, key=len)
    if option.is_flag:
        return word
    kind = option.type
    if option.metavar is None and isinstance(kind, click.Choice):
        return " or ".join(f"{word} {choice}" for choice in kind.choices)
    return f"{word} {option.make_metavar(context)}"


def _belongs(word: str, owners: list[str]) -> str:
    named = [f"'anonhist {path}'" for path in owners[:_MOST]]
    more = len(owners) - len(named)
    if more:
        named.append("one more command" if more == 1 else f"{more} more commands")
    *first, last = named
    return f"{word} is an option of " + (f"{', '.join(first)} and {last}" if first else last)


# Parameters of the library whose option has another name.
_OTHER_NAMES = {
    "direction": "directed",
    "header": "no_header",
    "max_items": "max_per_user",
    "orders": "order",
    "overwrite": "force",
}


def as_typed(sentence: str, root: click.Command | None = None) -> str:
    """Return a sentence with its parameters, which errors have between backticks, as options of the commands.

    ``root`` is the command that holds all others; by default that of the command that runs.
    """
    # One thing has one word in all commands.
    options = {
        (param.name or "").rstrip("_"): max(param.opts, key=len)
        for _, command in commands_of(root or click.get_current_context().find_root().command)
        for param in options_of(command).values()
    }

    def spell(name: str, value: str | None) -> str:
        typed = options.get(_OTHER_NAMES.get(name, name))
        if typed is None:
            return as_keyword(name, value)
        return typed if value in {None, "True", "False"} else f"{typed} {shlex.quote(value.strip(chr(39)))}"

    return spell_out(sentence, spell)


class LazyGroup(click.Group):
    """A group that knows of its commands no more than names, until one is run or its own help is shown.

    ``homes`` has the name of each command as ``module:name``, as :func:`anonhist.catalogue.load` reads it.
    """

    def __init__(self, *args: Any, homes: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands = _Commands(homes)  # type: ignore[assignment]  # none are added, so it is only read

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called, or refuse a word that is none."""
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            raise click.UsageError(f"There is no command {name!r:.80}{perhaps(name, self.commands)}", ctx)
        return super().resolve_command(ctx, args)


class _Commands(Mapping[str, click.Command]):
    """Commands by name; modules are imported once, by Python."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = {name: home for name, home in homes.items() if is_there(home)}

    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = load(self._homes[name])
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def __contains__(self, name: object) -> bool:
        # That of a mapping would import it.
        return name in self._homes
