"""The commands that make a release instead of a private estimate, and ask it the same."""

from __future__ import annotations

import click
from click.core import ParameterSource

from anonhist.catalogue.properties import OPTIONS
from anonhist.cli.arguments import command_to_publish
from anonhist.cli.reading import READING

# What is read, and whom and what a release protects; what is asked. The public number of items is for estimates alone,
# and so are the methods.
_RELEASED = (*READING, "epsilon", "unit", "max_per_user", "max_count", "relation")
_ASKED = (*(name for name in OPTIONS if name != "method"), "level")
_FILE = "release.json"


def commands_by_release(context: click.Context) -> tuple[str, str]:
    """Return the two commands that are to be typed instead of that of a private estimate, but for secrets.

    All that was said of the data and of whom to protect is kept: a release for items would promise users less.

    Examples
    --------
    >>> from anonhist.cli.central.estimate import estimate
    >>> typed = ["support-coverage", "log.csv", "--label", "word", "--epsilon", "1", "--draws", "9"]
    >>> for command in commands_by_release(estimate.make_context("estimate", typed)):
    ...     print(command)
    anonhist release log.csv --epsilon 1 --label word -o release.json
    anonhist estimate support-coverage release.json --draws 9
    """
    values = context.params
    released = ("release", values["source"], *_given_options(context, _RELEASED), "-o", _FILE)
    asked = ("estimate", values["property_"], _FILE, *_given_options(context, _ASKED))
    return command_to_publish(released), command_to_publish(asked)


def _given_options(context: click.Context, names: tuple[str, ...]) -> list[str]:
    """Return those options that were given, as they are typed."""
    words: list[str] = []
    for param in context.command.params:
        given = context.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
        if not isinstance(param, click.Option) or param.name not in names or not given:
            continue
        words.append(max(param.opts, key=len))
        if not param.is_flag:
            words.append(str(context.params[param.name]))
    return words
