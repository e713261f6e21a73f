"""Parameters in sentences, as they are typed on the command line: the one place that puts names of options in."""

from __future__ import annotations

import shlex

import click

from anonhist.cli.hints import commands_of, options_of
from anonhist.errors import as_keyword, spell_out

# Parameters of the library whose option has another name.
_OTHER_NAMES = {
    "direction": "directed",
    "header": "no_header",
    "max_items": "max_per_user",
    "orders": "order",
    "overwrite": "force",
}


def as_typed(sentence: str, root: click.Command | None = None) -> str:
    """Return a sentence with its parameters as options.

    Parameters
    ----------
    sentence
        Parameters stand in it between backticks, as errors have them.
    root
        The command that holds all others; by default that of the command that runs.

    Examples
    --------
    >>> from anonhist.cli.commands import anonhist
    >>> as_typed("Leave `public_items` out, or give `relation='substitute'`.", anonhist)
    'Leave --public-items out, or give --relation substitute.'
    >>> as_typed("A file is there (`overwrite=True`), or has no names (`header=False`).", anonhist)
    'A file is there (--force), or has no names (--no-header).'
    >>> as_typed("Give `delimiter=';'`.", anonhist)
    "Give --delimiter ';'."
    >>> as_typed("`gamma` is too small.", anonhist)
    'gamma is too small.'
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
