"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args

import click

from anonhist.catalogue import MECHANISM_OPTIONS, takers
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation
from anonhist.terminal.decorators import Number, OneOf, WholeNumber, as_one, catalogue_option, given_alone, listed
from anonhist.terminal.destinations import AskedPage, Outputs
from anonhist.terminal.protection import Most, Protection, bound_options
from anonhist.terminal.reading import Format, reading_of

# The help shows them, and must not load their owners: tests/cli/test_choices.py compares them.
_UNITS = ("item", "user", "label")
_ENGINES = ("duckdb", "spark")


def mechanism_options(names: Iterable[str]) -> Callable[[Any], Any]:
    """Return options of some mechanisms, which the help names; a command gets them as ``own``."""
    helps = {name: f"For {listed(takers(name))}: {MECHANISM_OPTIONS[name].help}" for name in names}
    options = [catalogue_option(name, MECHANISM_OPTIONS[name], text) for name, text in helps.items()]
    return as_one("own", *options, made=_own_options)


def _own_options(**values: Any) -> dict[str, Any]:
    """Return the given options, parsed."""
    options = given_alone(**values)
    if "shares" in options:
        from anonhist.mechanisms import BudgetShares

        options["shares"] = BudgetShares.parse(options["shares"])
    return options


label_option = click.option(
    "--label",
    metavar="COLUMN",
    help="Column (or key of JSON lines) of labels; optional if there is only one column.",
)
count_option = click.option(
    "--count",
    metavar="COLUMN|none",
    help="Column with the number of items that a row stands for, or none if each row is one item. A column called "
    "count, counts, freq, frequency, n, num, abundance or reads is never ignored silently: give its name, or none.",
)
table_option = click.option("--table", metavar="NAME", help="Table to read from a database or Spark.")
delimiter_option = click.option(
    "--delimiter",
    metavar="CHAR",
    help="Column separator, such as ';' or '\\t'; by default, the ending of the file decides.",
)
no_header_option = click.option(
    "--no-header", is_flag=True, help="The file has no header line; its columns are called column0, column1, …."
)


def memory_limit_option(beyond: str) -> Callable[[Any], Any]:
    """Return the --memory-limit option; ``beyond`` says what happens to data that do not fit."""
    told = f"Memory for counting, such as 2GB; {beyond}.  [default: four fifths of the machine's]"
    return click.option("--memory-limit", metavar="SIZE", help=told)


threads_option = click.option(
    "--threads", type=WholeNumber(), metavar="N", help="Number of threads for counting.  [default: one for each core]"
)
# In the order of LIMITS.
engine_option = click.option(
    "--engine",
    type=OneOf(_ENGINES),
    help="Engine that reads files: DuckDB in this process, or Spark, on all cores or on your cluster.  [default: "
    "duckdb]",
)
engine_options = (
    memory_limit_option("data that do not fit go to temporary files"),
    threads_option,
    click.option(
        "--temp-directory",
        metavar="FOLDER",
        help="Folder for temporary files, which only you can read.  [default: the system's]",
    ),
)
_user_option = click.option("--user", metavar="COLUMN", help="Column of users; use with --max-per-user.")
_order_options = (
    click.option(
        "--order-by",
        metavar="COLUMN",
        help="With --user: count the first items of each user in the order of this column; by default, random ones. "
        "Categories are compared as text.",
    ),
    click.option(
        "--order-key",
        metavar="HEX",
        help="With --user or a bound on groups: key of the random choice of what counts. To choose the same as another "
        "release, copy the key from its file, and give the same --order-by and groups.  [default: a new random key]",
    ),
)
_row_options = (
    table_option,
    click.option(
        "--format",
        "format_",
        type=OneOf(get_args(Format)),
        help="What each row holds: an event, only a label, a label with its count, a count with the number of labels "
        "that have it, or a line of uniq -c. By default, the header decides (label,count and count,prevalence are "
        "recognized, everything else is events), and JSON lines are events. For standard input and .txt files, give "
        "this (labels: one per line) or --label. With --no-header, two columns are in the order of these names.",
    ),
    delimiter_option,
    no_header_option,
    click.option(
        "--where",
        metavar="CONDITION",
        help="Count only rows that meet this condition, before any bound applies, such as \"country = 'DE' and day >= "
        "'2026-11-01'\": columns compared with literals by =, <>, <, <=, >, >=, in, between and is null, joined by "
        "and, or and not. The condition is published with the release: choose it without looking at the data. In CSV "
        "and JSON lines, all values are text.",
    ),
    click.option(
        "--keep-null",
        is_flag=True,
        help="Count all rows without a label as one more label; by default, they are left out.",
    ),
    engine_option,
    *engine_options,
)
reading_options = as_one(
    "reading", label_option, count_option, _user_option, *_order_options, *_row_options, made=reading_of
)
# For counting into parts: which items of a user come first depends on all parts.
counting_options = as_one("reading", label_option, count_option, _user_option, *_row_options, made=reading_of)

relation_option = click.option(
    "--relation",
    type=OneOf(tuple(relation.value for relation in NeighboringRelation)),
    default=NeighboringRelation.ADD_OR_REMOVE.value,
    show_default=True,
    help="Difference between data sets that the result hides: one unit added or removed, or one unit replaced (needs "
    "twice the noise).",
)


def epsilon_option(
    told: str = "Total privacy budget, such as 1 or 0.5: smaller is more private and less accurate.",
    **settings: Any,
) -> Callable[[Any], Any]:
    """Return the --epsilon option, with this help text."""
    return click.option("--epsilon", **{"metavar": "E", **settings}, help=told)


def _max_per_user_option(told: str) -> Callable[[Any], Any]:
    return click.option("--max-per-user", type=int, metavar="M", help=told)


_max_or_auto_option = click.option(
    "--max-per-user",
    type=Most("items of users"),
    metavar="M|auto|from:FILE",
    help="Count at most M items of each user; protects users instead of single items. auto: choose M privately, with a "
    "share of epsilon, by weighing rows left out against noise; requires --expected-items. The stated errors do not "
    "include rows left out. from:FILE: the M of an earlier release, at no cost.",
)


_max_count_option = click.option(
    "--max-count", type=int, metavar="C", help="With --unit label: counts of C or more are merged."
)
_count_or_auto_option = click.option(
    "--max-count",
    type=Most("items of labels"),
    metavar="C|auto|from:FILE",
    help="With --unit label: counts of C or more are merged. auto and from:FILE: as for --max-per-user.",
)
# For commands that add no noise, which protect nobody.
users_option = as_one("protection", _max_per_user_option("Count at most M items of each user."), made=Protection.of)


_unit_name_option = click.option(
    "--unit-name",
    metavar="NAME",
    help="Noun for one unit in sentences, such as viewer; published with the results.",
)


def protection_options(
    told: str = (
        "What to protect: one item (a row), one user with all their counted items, or one label with all its items. By "
        "default, users if --max-per-user is given, otherwise items."
    ),
    units: tuple[str, ...] = _UNITS,
    *,
    has_name: bool = False,
    may_choose: bool = False,
) -> Callable[[Any], Any]:
    """Return the options of the protected unit, with this help text; a command gets them as ``protection``.

    ``has_name`` adds --unit-name, ``may_choose`` the choice of a bound.
    """
    given = _max_per_user_option("Count at most M items of each user; protects users instead of single items.")
    cap = _count_or_auto_option if may_choose else _max_count_option
    return as_one(
        "protection",
        click.option("--unit", type=OneOf(units), help=told),
        *((_max_or_auto_option, *bound_options) if may_choose else (given,)),
        *([cap] if "label" in units else []),
        *([_unit_name_option] if has_name else []),
        relation_option,
        made=Protection.of,
    )


_OF_A_SKETCH = (
    "What to protect: one item (a row), or one user. By default, users if --max-per-user is given, otherwise items.",
    _UNITS[:2],
)
sketch_protection_options = protection_options(*_OF_A_SKETCH)
new_sketch_protection_options = protection_options(*_OF_A_SKETCH, has_name=True)

simulations_option = click.option(
    "--simulations",
    type=int,
    metavar="R",
    help="Number of simulations for error estimates, from 2 to 1000, or 0 for no error estimates. They take time but "
    "spend no budget.  [default: 32, or as few as 8 if they take long]",
)


def _level(_: click.Context, __: click.Parameter, level: float) -> float:
    if not 0 < level < 1:
        raise UsageError(f"--level must be a number between 0 and 1, such as 0.95, not {level}.")
    return level


def level_option(told: str) -> Callable[[Any], Any]:
    """Return the --level option, with this help text."""
    return click.option(
        "--level",
        type=Number("a number between 0 and 1, such as 0.95"),
        default=0.95,
        show_default=True,
        metavar="P",
        callback=_level,
        help=told,
    )


def report_options(told: str) -> Callable[[Any], Any]:
    """Return the options of an HTML page, with this help text; a command gets the page as ``report``."""
    return as_one("report", *_page_options(told), made=AskedPage.of)


def _page_options(told: str) -> tuple[Callable[[Any], Any], ...]:
    return (
        click.option("--report", metavar="FILE.html", help=told),
        click.option("--title", metavar="TEXT", help="Title of that page, instead of its usual one."),
    )


# A quote before such a cell would be a different name to every program that joins tables by it.
CSV_IS_FOR_PROGRAMS = "CSV is for programs: spreadsheets treat names that begin with =, +, - or @ as formulas."
csv_output_option = click.option(
    "-o", "--output", metavar="FILE.csv", help="File to write, or - for CSV on standard output (the default in a pipe)."
)
# For small tables, which a pipe gets in the form for people.
printed_output_option = click.option(
    "-o", "--output", metavar="FILE.csv", help="File to write, or - for CSV on standard output."
)
quiet_option = click.option("--quiet", is_flag=True, help="Print only errors.")
force_option = click.option(
    "--force",
    is_flag=True,
    help="Overwrite existing outputs, but never a ledger, and a private file only with a file of its kind.",
)


def output_options(
    output_option: Callable[[Any], Any] = csv_output_option, *, page: str = "", also_printed: str = ""
) -> Callable[[Any], Any]:
    """Return the options under "Output"; a command gets them as ``outputs``.

    ``page`` is the help text of --report (without it, there is no such option), ``also_printed`` says what --quiet
    prints besides errors.
    """
    return as_one(
        "outputs",
        output_option,
        *(_page_options(page) if page else ()),
        force_option,
        click.option("--quiet", is_flag=True, help=f"Print only errors{also_printed}."),
        made=Outputs.of,
    )


sketch_output_options = output_options(
    click.option("-o", "--output", required=True, metavar="FILE.sketch", help="File to write the sketch to.")
)


def release_output_options(*, also_printed: str = "") -> Callable[[Any], Any]:
    """Return the output options of a release; a command gets them as ``outputs``."""
    return output_options(
        click.option(
            "-o",
            "--output",
            metavar="FILE",
            help="File to write: FILE.json (everything), FILE.csv, FILE.parquet, or - for CSV on standard output. "
            f"{CSV_IS_FOR_PROGRAMS}",
        ),
        page="Also write an HTML page with plots and the privacy guarantee in plain words.",
        also_printed=also_printed,
    )
