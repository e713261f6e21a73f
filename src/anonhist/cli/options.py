"""Options that several commands have, each written once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import click

from anonhist.catalogue.mechanisms import OPTIONS, takers
from anonhist.cli.decorators import all_options, as_one, catalogue_option
from anonhist.cli.reading import Format, Reading
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Help shows them, and must not load their owners: tests/cli/test_choices.py compares them.
_UNITS = ("item", "user", "label")
RELATIONS = tuple(relation.value for relation in NeighboringRelation)


def mechanism_options(names: Iterable[str]) -> Callable[[Any], Any]:
    """Return options that belong to some mechanisms: the help says to which; a command gets them as ``own``.

    Examples
    --------
    >>> @click.command()
    ... @mechanism_options(["delta"])
    ... def release(own: dict[str, str | None]) -> None: ...
    >>> release.params[0].help[:40]
    'For relaxed-partition: how much the prom'
    """
    helps = {name: f"For {_listed(takers(name))}: {OPTIONS[name].help}" for name in names}
    return as_one("own", *(catalogue_option(name, OPTIONS[name], text) for name, text in helps.items()))


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

reading_options = as_one(
    "reading",
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
        type=click.Choice(get_args(Format)),
        help="What a row is: an event, a label and nothing else, a label with its count, or a count with the number of "
        "labels that have it. By default the header decides (label,count and count,prevalence are known, all else is "
        "events), and JSON lines are events. Of standard input say this (labels: one a line), or --label for CSV.",
    ),
    delimiter_option,
    no_header_option,
    click.option(
        "--keep-null", is_flag=True, help="Count rows without a label as one more label; else they are left out."
    ),
    made=Reading,
)

max_count_option = click.option(
    "--max-count", type=int, metavar="C", help="With --unit label: counts from C on are taken together as 'C or more'."
)

relation_option = click.option(
    "--relation",
    type=click.Choice(RELATIONS),
    default=NeighboringRelation.ADD_OR_REMOVE.value,
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


release_output_options = all_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Where to write: FILE.json (everything), FILE.csv, FILE.parquet, or - for CSV on standard output.",
    ),
    click.option("--report", metavar="FILE.html", help="Also write a page with plots and the promise in plain words."),
)
csv_output_option = click.option(
    "-o", "--output", metavar="FILE.csv", help="Where to write; - or a pipe gets CSV on standard output."
)
quiet_option = click.option("--quiet", is_flag=True, help="Say nothing but errors.")
force_option = click.option("--force", is_flag=True, help="Replace outputs that exist already.")
