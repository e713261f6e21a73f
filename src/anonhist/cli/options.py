"""Options that several commands have, each written once."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import click

from anonhist.catalogue.mechanisms import OPTIONS, takers
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anonhist.catalogue import Option

_UNITS = ("item", "user", "label")
_RELATIONS = ("add-or-remove", "substitute")
_FORMATS = ("events", "labels", "counts", "prevalences")

READING = ("label", "user", "order_by", "order_key", "keep_null", "table", "format_", "delimiter", "no_header")


def all_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make one decorator of several options."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


def option_word(name: str) -> str:
    """Return the option of a parameter.

    Examples
    --------
    >>> option_word("alphabet_size")
    '--alphabet-size'
    """
    return f"--{name.replace('_', '-')}"


def catalogue_option(name: str, option: Option, help_: str | None = None) -> Callable[[Any], Any]:
    """Return an option of a catalogue as the command line asks for it; whole numbers are read later, as text."""
    kind = float if option.kind == "number" else str
    return click.option(option_word(name), type=kind, metavar=option.metavar, help=help_ or option.help)


def mechanism_options(names: Iterable[str]) -> Callable[[Any], Any]:
    """Return options that belong to some mechanisms: the help says to which.

    Examples
    --------
    >>> @click.command()
    ... @mechanism_options(["delta"])
    ... def release(delta: str) -> None: ...
    >>> release.params[0].help[:40]
    'For relaxed-partition: how much the prom'
    """
    return all_options(
        *(catalogue_option(name, OPTIONS[name], f"For {_listed(takers(name))}: {OPTIONS[name].help}") for name in names)
    )


def _listed(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


label_option = click.option(
    "--label",
    metavar="COLUMN",
    help="Column (or key of JSON lines) of labels; not needed where there is only one column.",
)
table_option = click.option("--table", metavar="NAME", help="Which table of a database to read.")
delimiter_option = click.option(
    "--delimiter", metavar="CHAR", help="What separates columns, such as ';' or '\\t'; by default the ending decides."
)
no_header_option = click.option(
    "--no-header", is_flag=True, help="The first line is data already; columns are called column0, column1, …."
)

reading_options = all_options(
    label_option,
    click.option("--user", metavar="COLUMN", help="Column of users, whose items --max-per-user then limits."),
    click.option(
        "--order-by",
        metavar="COLUMN",
        help="With --user: which items of a user count, the first by this column; by default some at random. "
        "Categories are compared as text.",
    ),
    click.option(
        "--order-key",
        metavar="HEX",
        help="With --user: key of the random order of a user's items, to keep the same as another release, whose file "
        "has it.  [default: drawn anew]",
    ),
    table_option,
    click.option(
        "--format",
        "format_",
        type=click.Choice(_FORMATS),
        help="What a row is: an event, a label and nothing else, a label with its count, or a count with the number of "
        "labels that have it. By default the header decides (label,count and count,prevalence are known, all else is "
        "events), and JSON lines are events. Of standard input say this (labels: one a line), or --label for CSV.",
    ),
    delimiter_option,
    no_header_option,
    click.option(
        "--keep-null", is_flag=True, help="Count rows without a label as one more label; else they are left out."
    ),
)

max_count_option = click.option(
    "--max-count", type=int, metavar="C", help="With --unit label: counts from C on are taken together as 'C or more'."
)

relation_option = click.option(
    "--relation",
    type=click.Choice(_RELATIONS),
    default="add-or-remove",
    show_default=True,
    help="What may not show in the result: that one unit was added or removed, or that one was replaced by another "
    "(twice the noise).",
)

max_per_user_option = click.option(
    "--max-per-user",
    type=int,
    metavar="M",
    help="How many items of one user count. Users are protected then, not single items.",
)

promise_options = all_options(
    click.option(
        "--unit",
        type=click.Choice(_UNITS),
        help="Whom to protect: one item (a row), one user with all items that count, or one label with all its items. "
        "By default users where --max-per-user limits them, else items.",
    ),
    max_per_user_option,
    max_count_option,
    relation_option,
)

planned_unit_options = all_options(
    click.option(
        "--unit",
        type=click.Choice(_UNITS),
        help="Whom to protect; by default users where --max-per-user limits them, else whom --like protects, else "
        "items.",
    ),
    max_per_user_option,
    max_count_option,
    relation_option,
)

simulations_option = click.option(
    "--simulations",
    type=int,
    metavar="R",
    help="How many simulations the error estimates rest on, from 2 to 1000, or 0 for no error estimates; they cost "
    "time and no privacy.  [default: 32, or down to 8 where they take long]",
)


def _level(_: click.Context, __: click.Parameter, level: float) -> float:
    if not 0 < level < 1:
        message = f"--level must be a number between 0 and 1, such as 0.95, not {level}."
        raise UsageError(message)
    return level


def level_option(told: str) -> Callable[[Any], Any]:
    """Return the option of how likely intervals are to hold, explained so."""
    return click.option("--level", type=float, default=0.95, show_default=True, metavar="P", callback=_level, help=told)


force_option = click.option("--force", is_flag=True, help="Replace outputs that exist already.")
