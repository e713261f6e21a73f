"""The commands and their options."""

from __future__ import annotations

from typing import Any

import click

from anonhist import __version__
from anonhist.cli.sections import SectionedCommand

_UNITS = ("item", "user", "label")
_RELATIONS = ("add-or-remove", "substitute")
_FORMATS = ("events", "labels", "counts", "prevalences")
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_RELEASE_SECTIONS = {
    "What to read": (
        "label", "user", "order_by", "keep_null", "table", "format_", "delimiter", "no_header",
    ),
    "What to promise": ("epsilon", "unit", "max_per_user", "max_count", "relation"),
    "How to release": (
        "mechanism", "public_items", "public_labels", "public_cap", "shares", "expected_items", "simulations",
    ),
    "What to write": ("output", "report", "force", "quiet"),
}  # fmt: skip

_RELEASE_EXAMPLES = """
anonhist release events.parquet --label query --epsilon 1
anonhist release log.csv.gz --label password --user account --max-per-user 1 --epsilon 0.5
anonhist release 'duckdb:///shop.db' --table orders --label sku --epsilon 1
cut -f3 access.log | anonhist release - --epsilon 1 -o -
"""

_PLAN_SECTIONS = {
    "What to plan for": ("items", "epsilon", "shape", "like"),
    "What to promise": ("unit", "max_per_user", "max_count", "relation"),
    "What to write": ("output", "force"),
}

_PLAN_EXAMPLES = """
anonhist plan --items 1e9 --epsilon 0.1,1,2
anonhist plan --like release.json --items 1e6 --epsilon 1
"""

_RELATION = click.option(
    "--relation",
    type=click.Choice(_RELATIONS),
    default="add-or-remove",
    show_default=True,
    help="What may not show in the result: that one unit was added or removed, or that one was exchanged for another "
    "(twice the noise).",
)


@click.group(context_settings=_HELP)
@click.version_option(__version__, prog_name="anonhist", message="%(prog)s %(version)s")
def anonhist() -> None:
    """How often things occur, released with differential privacy, without saying which things.

    'anonhist COMMAND --help' explains a command and its options.

    Exit codes: 0 done, 2 wrong usage, 3 bad data or output, 130 interrupted.
    """


@anonhist.command(cls=SectionedCommand, sections=_RELEASE_SECTIONS, epilog=_RELEASE_EXAMPLES)
@click.argument("source")
@click.option(
    "--epsilon",
    required=True,
    metavar="E",
    help="How much privacy to spend in all, such as 1 or 0.5: less is more private and less accurate. No default.",
)
@click.option("--label", metavar="COLUMN", help="Column of labels; not needed where there is only one column.")
@click.option("--user", metavar="COLUMN", help="Column of users, whose items --max-per-user then limits.")
@click.option(
    "--max-per-user",
    type=int,
    metavar="M",
    help="With --user: how many items of one user count. Users are protected then, not single items.",
)
@click.option(
    "--order-by",
    metavar="COLUMN",
    help="With --user: which items of a user count, the first by this column; by default the first by label.",
)
@click.option(
    "--unit",
    type=click.Choice(_UNITS),
    help="Whom to protect: one item (a row), one user with all items that count, or one label with all its items. "
    "By default users where --max-per-user limits them, else items.",
)
@click.option(
    "--max-count", type=int, metavar="C", help="With --unit label: counts from C on are taken together as 'C or more'."
)
@_RELATION
@click.option("--table", metavar="NAME", help="Which table of a database to read.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    help="What a row is: an event, a label and nothing else, a label with its count, or a count with the number of "
    "labels that have it. By default the header decides (label,count and count,prevalence are known, all else is "
    "events), and standard input is one label per line, without a header.",
)
@click.option(
    "--delimiter", metavar="CHAR", help="What separates columns, such as ';' or '\\t'; by default the ending decides."
)
@click.option(
    "--no-header", is_flag=True, help="The first line is data already; columns are called column0, column1, …."
)
@click.option("--keep-null", is_flag=True, help="Count rows without a label as one more label; else they are left out.")
@click.option(
    "--mechanism",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="How noise is added: auto, which picks what errs least and says why, or frobenius, partition, privhist, "
    "isotonic, cumulative, prevalence, bounded-partition, relaxed-partition.",
)
@click.option(
    "--public-items",
    metavar="N",
    help="For bounded-partition and relaxed-partition: a number, known to everybody, of items that there are at most.",
)
@click.option(
    "--public-labels", metavar="L", help="For isotonic: a number, known to everybody, of labels that there are at most."
)
@click.option(
    "--public-cap",
    metavar="C",
    help="For cumulative and prevalence: a number, known to everybody, that no label's count exceeds.",
)
@click.option(
    "--shares",
    metavar="A,B,C",
    help="For privhist: how the budget is divided, such as 0.02,0.49,0.49, or thirds as it was published.",
)
@click.option(
    "--expected-items",
    metavar="N",
    help="About how many items there are, such as 1e9, if that is public; helps auto to pick for huge data.",
)
@click.option(
    "--simulations",
    type=int,
    default=32,
    show_default=True,
    metavar="R",
    help="How many simulations the error estimates rest on, at least 2; they cost time and no privacy.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write: FILE.json (everything), FILE.csv, FILE.parquet, or - for CSV on standard output.",
)
@click.option("--report", metavar="FILE.html", help="Also write a page with plots and the promise in plain words.")
@click.option("--force", is_flag=True, help="Replace outputs that exist already.")
@click.option("--quiet", is_flag=True, help="Say nothing but errors.")
def release(**options: Any) -> None:
    """Turn events or counts into a private profile.

    A profile says how many labels occur once, how many twice, and so on, but not which.

    SOURCE is a file (.csv, .tsv, .jsonl or .parquet; .gz and .zst too), a pattern such as 'logs/*.csv', a database
    (duckdb:///FILE; sqlite:///FILE and postgresql://… with the extra [ibis]), or - for standard input.

    Without -o, a terminal gets release.json in the working directory, and a pipe gets CSV on standard output.
    """
    from anonhist.cli.release import run_release

    run_release(**options)


@anonhist.command(cls=SectionedCommand, sections=_PLAN_SECTIONS, epilog=_PLAN_EXAMPLES)
@click.option("--items", metavar="N", help="How many items to plan for, such as 1e9; needed without --like.")
@click.option(
    "--epsilon",
    required=True,
    metavar="E,E,…",
    help="How much privacy to spend, or several amounts to compare: 0.1,1,2.",
)
@click.option(
    "--shape",
    type=click.Choice(("zipf", "worst")),
    help="What the data look like: zipf, where the k-th most frequent label has a k-th of the items of the first, or "
    "worst, the hardest data there are.  [default: zipf]",
)
@click.option("--like", metavar="RELEASE", help="Take size and shape of a released .json or .parquet file instead.")
@click.option(
    "--unit", type=click.Choice(_UNITS), help="Whom to protect; by default whom --like protects, else single items."
)
@click.option("--max-per-user", type=int, metavar="M", help="With --unit user: how many items of one user count.")
@click.option(
    "--max-count", type=int, metavar="C", help="With --unit label: counts from C on are taken together as 'C or more'."
)
@_RELATION
@click.option("-o", "--output", metavar="FILE.csv", help="Where to write; - or a pipe gets CSV on standard output.")
@click.option("--force", is_flag=True, help="Replace an output that exists already.")
def plan(**options: Any) -> None:
    """Say how accurate a release would be, before touching any data.

    The expected error is in items: how many would have to be moved from label to label, added or removed to turn one
    profile into the other, not minding names.
    """
    from anonhist.cli.plan import run_plan

    run_plan(**options)


@anonhist.command()
@click.argument("path", metavar="RELEASE")
def show(path: str) -> None:
    """Show a released file: what it promises and what it says.

    RELEASE is a .json or .parquet file that 'anonhist release' wrote.
    """
    import sys

    from anonhist.cli.display import show_summary
    from anonhist.formats import read_release

    show_summary(read_release(path), sys.stdout)
