"""What options are made of: several as one, and such as a catalogue describes."""

from __future__ import annotations

from functools import reduce, wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from anonhist.catalogue import load
from anonhist.cli.arguments import whole_number
from anonhist.cli.hints import perhaps
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from click.shell_completion import CompletionItem

    from anonhist.catalogue import Option


def all_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make one decorator of several options."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


def as_one(parameter: str, *options: Callable[[Any], Any], made: Callable[..., Any] = dict) -> Callable[[Any], Any]:
    """Make one decorator of several options, whose values a command gets as one parameter.

    Parameters
    ----------
    parameter
        The parameter of the command.
    options
        The options.
    made
        What the one value is made with.

    Examples
    --------
    >>> @as_one("columns", click.option("--label"), click.option("--user"))
    ... def show(columns: dict[str, str]) -> None:
    ...     print(columns)
    >>> show(label="word", user="account")
    {'label': 'word', 'user': 'account'}
    """
    names = [str(param.name) for param in click.command("_")(all_options(*options)(lambda: None)).params]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**values: Any) -> None:
            one = made(**{name: values.pop(name) for name in names})
            command(**values, **{parameter: one})

        return all_options(*options)(call)  # type: ignore[no-any-return]  # they return what they get

    return decorate


class OneOf(click.Choice):  # type: ignore[type-arg]  # which not all versions of Click let it have
    """One of a few words, as :class:`click.Choice`; a wrong one is told which are near.

    Examples
    --------
    >>> OneOf(("entropy", "support-size")).get_invalid_choice_message("entropi", None)
    "there is no 'entropi' (perhaps entropy); choose one of entropy, support-size"
    """

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return what is said of a word that is none of them."""
        del ctx
        return f"there is no {value!r:.80}{perhaps(str(value), self.choices)}; choose one of {', '.join(self.choices)}"


class NameIn(click.ParamType):  # type: ignore[type-arg]  # which not all versions of Click let it have
    """A name of a catalogue that is loaded once one is given: help lists none, and needs no more than this.

    Parameters
    ----------
    home
        Where the catalogue is, ``module:name``.
    """

    name = "choice"

    def __init__(self, home: str) -> None:
        self._home = home

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name, or refuse what is none."""
        return self._choice().convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return what the name may be."""
        return self._choice().shell_complete(ctx, param, incomplete)

    def _choice(self) -> OneOf:
        return OneOf(tuple(load(self._home)))


class WholeNumber(click.ParamType):  # type: ignore[type-arg]  # which not all versions of Click let it have
    """A whole number of at least 1, which may be written like 1e9.

    Parameters
    ----------
    most
        The largest that is accepted.
    """

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
    """A number with a decimal point or without.

    Parameters
    ----------
    meaning
        What it must be, for the sentence of an error: "a number between 0 and 1, such as 0.5".
    """

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
            message = f"{max(param.opts, key=len)} must be {self._meaning}, not {value!r:.80}."
            raise UsageError(message) from None


def option_word(name: str) -> str:
    """Return the option of a parameter.

    Examples
    --------
    >>> option_word("alphabet_size")
    '--alphabet-size'
    """
    return f"--{name.replace('_', '-')}"


def given_options(context: click.Context, names: Iterable[str]) -> dict[str, click.Option]:
    """Return those options among some that were typed, by their words."""
    return {
        max(param.opts, key=len): param
        for param in context.command.params
        if isinstance(param, click.Option)
        and param.name in names
        and context.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
    }


def catalogue_option(name: str, option: Option, help_: str | None = None) -> Callable[[Any], Any]:
    """Return an option of a catalogue as the command line asks for it; whole numbers are read later, as text."""
    kind = Number(option.meaning) if option.kind == "number" else str
    return click.option(option_word(name), type=kind, metavar=option.metavar, help=help_ or option.help)


def catalogue_options(options: Mapping[str, Option]) -> Callable[[Any], Any]:
    """Return all options of a catalogue, which a command gets as ``own``."""
    return as_one("own", *(catalogue_option(name, option) for name, option in options.items()))
