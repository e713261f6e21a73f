"""Building blocks of commands and options: groups, sections, types, combined options, and their names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from functools import reduce, wraps
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource, augment_usage_errors

from anonhist.catalogue import Option, is_there, load
from anonhist.errors import UsageError, as_keyword, mask, spell_out

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


# An option with its value in one word: --table=orders, or -oout.json.
_OPTION = re.compile(r"--[a-z-]+=|-[a-z](?=.)", re.DOTALL)


def whole_number(text: str | None, *, name: str) -> int | None:
    """Read a whole number that may be written like 1e9."""
    if text is None:
        return None
    try:
        number = Decimal(text.replace("_", "").replace(",", ""))
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_finite() and number >= 2**63:
        raise UsageError(f"{name} must be below 2^63, about 9.2e18, not {text!r}.")
    if not number.is_finite() or number < 1 or number != number.to_integral_value():
        raise UsageError(f"{name} must be a whole number of at least 1, such as 1000000 or 1e6, not {text!r}.")
    return int(number)


def one_character(delimiter: str | None) -> str | None:
    """Read a delimiter; a tab may be written with a backslash, as in most programs."""
    return "\t" if delimiter == "\\t" else delimiter


# The values of these options are published anyway.
_PUBLISHED = ("--title", "--purpose", "--where")


def command_to_publish(arguments: tuple[str, ...]) -> str:
    """Write the command as typed, without possible secrets: reports are shown to others."""
    words, before = ["anonhist"], ""
    for argument in arguments:
        option, value = _split_option(argument)
        is_published = before in _PUBLISHED or option.removesuffix("=") in _PUBLISHED
        words.append(argument if is_published else option + mask(value))
        before = argument
    return shlex.join(words)


def sentence_to_publish(sentence: str, arguments: Iterable[str]) -> str:
    """Return a message without possible secrets in the command's arguments: logs keep standard error."""
    for _, value in sorted(map(_split_option, arguments), key=lambda parts: -len(parts[1])):
        shown = mask(value)
        if shown != value:
            for told, instead in ((value, shown), (repr(value)[1:-1], repr(shown)[1:-1])):
                sentence = sentence.replace(told, instead)
    return sentence


def _split_option(argument: str) -> tuple[str, str]:
    """Return the option at the beginning of an argument, if any, and its value."""
    option = _OPTION.match(argument)
    return (option[0], argument[option.end() :]) if option else ("", argument)


def all_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make one decorator of several options."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


@dataclass(frozen=True)
class AsOne:
    """A decorator that adds several options, in the order of ``names``; a command gets them as one parameter."""

    names: tuple[str, ...]
    decorate: Callable[[Any], Any]

    def __call__(self, command: Any) -> Any:
        """Add these options to a command."""
        return self.decorate(command)


def as_one(parameter: str, *options: Callable[[Any], Any], made: Callable[..., Any] = dict) -> AsOne:
    """Make one decorator of several options; a command gets what ``made`` returns for their values as ``parameter``."""
    names = tuple(str(param.name) for param in click.command("_")(all_options(*options)(lambda: None)).params)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**values: Any) -> None:
            one = made(**{name: values.pop(name) for name in names})
            command(**values, **{parameter: one})

        return all_options(*options)(call)  # type: ignore[no-any-return]  # they return what they get

    return AsOne(names, decorate)


def perhaps(word: str, known: Iterable[str]) -> str:
    """Return the known words that are similar to a wrong one, in parentheses; empty if there are none."""
    # All options have dashes, which make none more similar.
    bare = {name.lstrip("-"): name for name in known}
    *first, last = [bare[near] for near in get_close_matches(word.lstrip("-"), bare)] or [""]
    return f" (perhaps {', '.join(first)} or {last})" if first else f" (perhaps {last})" if last else ""


def listed(names: Sequence[str]) -> str:
    """Join names as in a sentence."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


class OneOf(click.Choice):  # type: ignore[type-arg]  # which not all versions of Click let it have
    """One of a few words, like :class:`click.Choice`; its error suggests similar words."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the error for an unknown word."""
        del ctx
        return f"there is no {value!r:.80}{perhaps(str(value), self.choices)}; choose one of {', '.join(self.choices)}"


class NameIn(click.ParamType):  # type: ignore[type-arg]  # which not all versions of Click let it have
    """A name in a catalog (``home``, as ``module:name``), which is loaded only when a name is given."""

    name = "choice"

    def __init__(self, home: str) -> None:
        self._home = home

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name, or refuse an unknown one."""
        return self._choice().convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the possible completions of the name."""
        return self._choice().shell_complete(ctx, param, incomplete)

    def _choice(self) -> OneOf:
        return OneOf(tuple(load(self._home)))


class WholeNumber(click.ParamType):  # type: ignore[type-arg]  # which not all versions of Click let it have
    """A whole number from 1 to ``most``, which may be written like 1e9."""

    name = "whole number"

    def __init__(self, most: int | None = None) -> None:
        self._most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """Return the number, or refuse the text."""
        del ctx
        assert param is not None  # noqa: S101  # it is the type of options alone
        name = max(param.opts, key=len)
        number = value if isinstance(value, int) else whole_number(value, name=name)
        if self._most is not None and number is not None and number > self._most:
            raise UsageError(f"{name} must be at most {self._most:,}, not {value}.")
        return number


class Number(click.ParamType):  # type: ignore[type-arg]  # which not all versions of Click let it have
    """A number with or without a decimal point; ``meaning`` describes a valid one in errors."""

    name = "number"

    def __init__(self, meaning: str) -> None:
        self._meaning = meaning

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or refuse the text."""
        del ctx
        assert param is not None  # noqa: S101  # it is the type of options alone
        try:
            return float(value)
        except ValueError:
            raise UsageError(f"{max(param.opts, key=len)} must be {self._meaning}, not {value!r:.80}.") from None


def commands_of(command: click.Command, *above: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below a group, with the words that call it."""
    if not isinstance(command, click.Group):
        yield " ".join(above), command
        return
    for name, one in sorted(command.commands.items()):
        yield from commands_of(one, *above, name)


def options_of(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command by name, without hidden ones."""
    return {
        word: param
        for param in command.params
        if isinstance(param, click.Option) and not param.hidden
        for word in (*param.opts, *param.secondary_opts)
    }


# Parameters of the library whose options have other names.
_OTHER_NAMES = {
    "direction": "directed",
    "header": "no_header",
    "max_items": "max_per_user",
    "orders": "order",
    "overwrite": "force",
}


def as_typed(sentence: str, root: click.Command | None = None) -> str:
    """Return a sentence in which parameters, marked with backticks, are written as options.

    ``root`` is the root command; by default, that of the running command.
    """
    # One thing has one name in all commands.
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


def option_word(name: str) -> str:
    """Return the option name of a parameter, such as --alphabet-size."""
    return f"--{name.replace('_', '-')}"


def refuse_given(names: Iterable[str], sentence: str) -> None:
    """Refuse the first given option among several: ``{}`` in the sentence is its name."""
    for option in given_options(click.get_current_context(), names):
        raise UsageError(sentence.format(option))


def given_options(context: click.Context, names: Iterable[str]) -> dict[str, click.Option]:
    """Return the given options among several, by name."""
    return {
        max(param.opts, key=len): param
        for param in context.command.params
        if isinstance(param, click.Option)
        and param.name in names
        and context.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
    }


def catalogue_option(name: str, option: Option, help_: str | None = None) -> Callable[[Any], Any]:
    """Return a catalog option as an option of the command line."""
    kind = {"text": str, "whole": WholeNumber(), "number": Number(option.meaning)}[option.kind]
    return click.option(option_word(name), type=kind, metavar=option.metavar, help=help_ or option.help)


def catalogue_options(options: Mapping[str, Option]) -> Callable[[Any], Any]:
    """Return all options of a catalog; a command gets the given ones as ``own``."""
    return as_one("own", *(catalogue_option(name, option) for name, option in options.items()), made=given_alone)


def given_alone(**values: Any) -> dict[str, Any]:
    """Return the values of the options that were given, by name."""
    return {name: value for name, value in values.items() if value is not None}


_COLUMN = 22
# The first sentence of an option, and its default or the remark that it is required.
_BEGINNING = re.compile(r"(.*?[.])(?= |$).*?((?:  \[[^]]*\])?)", re.DOTALL)
_SOME = 4


class Brief(NamedTuple):
    """The short help of a long command: these parameters, one sentence each, and a paragraph about its arguments."""

    options: tuple[str, ...]
    told: str


class SectionedCommand(click.Command):
    """A command that lists its options under headings: ``sections`` maps these to parameter names.

    Options in no section come last, under "Other options" (if there are no sections, under "Options"). With ``brief``,
    only --help-all shows all options, and --help shows those that most people need; without it, both are the same.
    """

    def __init__(
        self, *args: Any, sections: Mapping[str, tuple[str, ...]], brief: Brief | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._sections = sections
        self._brief = brief
        self._help_all = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            hidden=brief is None,
            callback=self._show_all,
            help="Show all options, explained in full, and exit.",
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; every error gets its command, which the parser omits from some."""
        with augment_usage_errors(ctx):
            return super().parse_args(ctx, args)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the --help option, described as short if it is."""
        option = super().get_help_option(ctx)
        if option is not None and self._brief is not None:
            option.help = "Show examples and the options that most people need, and exit."
        return option

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, and --help-all."""
        return [*super().get_params(ctx), self._help_all]

    def _show_all(self, ctx: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001  # as Click calls it
        if asked and not ctx.resilient_parsing:
            click.echo(self.full_help(ctx))
            ctx.exit()

    def full_help(self, ctx: click.Context) -> str:
        """Return the text of --help-all."""
        formatter = ctx.make_formatter()
        super().format_help(ctx, formatter)
        return formatter.getvalue().rstrip("\n")

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the text of --help."""
        if self._brief is None:
            super().format_help(ctx, formatter)
            return
        self.format_usage(ctx, formatter)
        summary = cleandoc(self.help or "").partition("\n\n")[0]
        for paragraph in filter(None, (summary, self._brief.told)):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(paragraph)
        self._write_examples(formatter, most=_SOME)
        records = self._records(ctx)
        rows = []
        for name in self._brief.options:
            words, told = records[name]
            beginning = _BEGINNING.fullmatch(told)
            rows.append((f"{words:<{_COLUMN}}", "".join(beginning.groups()) if beginning else told))
        with formatter.section("Options"):
            formatter.write_dl(rows, col_max=_COLUMN)
        self._write_rest(ctx, formatter, shown=set(self._brief.options))

    def _write_rest(self, ctx: click.Context, formatter: click.HelpFormatter, *, shown: set[str]) -> None:
        """List the sections that only --help-all shows."""
        topics: dict[str, set[str]] = {}
        for heading, names in self._sections.items():
            topics.setdefault(heading.partition(",")[0], set()).update(names)
        hidden = [topic for topic, names in topics.items() if not shown & names]
        partly = [topic for topic, names in topics.items() if topic not in hidden and names - shown]
        told = ", and ".join(filter(None, [", ".join(hidden), f"more of {listed(partly)}" if partly else ""]))
        formatter.write_paragraph()
        formatter.write_text(f"Not shown: {told}.")
        # Not as text, which would be broken at the hyphens.
        formatter.write(f"All {len(self._records(ctx))} options, explained in full: {ctx.command_path} --help-all\n")

    def _records(self, ctx: click.Context) -> dict[str, tuple[str, str]]:
        """Return the help record of each option, by the name of its parameter."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = {str(option.name): option.get_help_record(ctx) for option in options}
        return {name: record for name, record in records.items() if record}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        records = self._records(ctx)
        named = {name for names in self._sections.values() for name in names}
        others = tuple(name for name in records if name not in named)
        last = "Other options" if self._sections else "Options"
        for heading, names in (*self._sections.items(), (last, others)):
            # Padded, so that the texts of all sections begin in one column.
            rows = [(f"{record[0]:<{_COLUMN}}", record[1]) for name in names if (record := records.get(name))]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=_COLUMN)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        del ctx
        self._write_examples(formatter)

    def _write_examples(self, formatter: click.HelpFormatter, *, most: int | None = None) -> None:
        """Write the examples unwrapped, so that commands can be copied."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.strip().splitlines()[:most]:
                    formatter.write(f"{'':>{formatter.current_indent}}{line.strip()}\n")


class LazyGroup(click.Group):
    """A group that knows only the names of its commands until one is run or its help is shown.

    ``homes`` has the location of each command as ``module:name``, as :func:`anonhist.catalogue.load` reads it.
    """

    def __init__(self, *args: Any, homes: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands = _Commands(homes)  # type: ignore[assignment]  # none are added, so it is only read

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called, or refuse an unknown one."""
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
        # The method of a mapping would import it.
        return name in self._homes
