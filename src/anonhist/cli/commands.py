"""The commands and their options."""

from __future__ import annotations

from typing import Any

import click

from anonhist import __version__

_UNITS = ("item", "user", "label")
_RELATIONS = ("add-or-remove", "substitute")
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=_HELP)
@click.version_option(__version__, prog_name="anonhist", message="%(prog)s %(version)s")
def anonhist() -> None:
    """How often things occur, released with differential privacy, without saying which things."""


@anonhist.command()
@click.argument("source")
@click.option("--epsilon", required=True, metavar="E", help="The whole privacy budget, such as 1 or 0.5. No default.")
@click.option("--label", metavar="COLUMN", help="Column of labels; not needed where there is only one column.")
@click.option("--user", metavar="COLUMN", help="Column of users; needs --max-per-user.")
@click.option("--max-per-user", type=int, metavar="M", help="Items of one user that count; protects users.")
@click.option("--order-by", metavar="COLUMN", help="Which items of a user count: the first by this column.")
@click.option("--unit", type=click.Choice(_UNITS), help="Whom to protect. By default users if bounded, else items.")
@click.option("--max-count", type=int, metavar="C", help="With --unit label: counts from C on are one, 'C or more'.")
@click.option(
    "--relation", type=click.Choice(_RELATIONS), default="add-or-remove", show_default=True, help="Neighbours."
)
@click.option("--table", metavar="NAME", help="Table of a database (duckdb:///, sqlite:///, postgresql://).")
@click.option(
    "--format",
    "format_",
    type=click.Choice(("events", "labels", "counts", "prevalences")),
    help="What rows are; by default the header decides, and standard input is one label per line.",
)
@click.option("--delimiter", metavar="CHAR", help="What separates columns; by default the file's ending decides.")
@click.option("--no-header", is_flag=True, help="The first line is data; columns are column0, column1, ….")
@click.option("--keep-null", is_flag=True, help="Count rows without a label as one more label.")
@click.option(
    "--mechanism", default="auto", show_default=True, metavar="NAME", help="auto, frobenius, partition, prevalence."
)
@click.option("--expected-items", metavar="N", help="A public guess of how many items there are.")
@click.option(
    "--simulations", type=int, default=32, show_default=True, metavar="R", help="Runs for the error estimates."
)
@click.option("-o", "--output", metavar="FILE", help="Where to: .json, .csv, .parquet, or - for CSV on stdout.")
@click.option("--report", metavar="FILE.html", help="Also write a page with plots and the promise in plain words.")
@click.option("--force", is_flag=True, help="Replace existing outputs.")
@click.option("--quiet", is_flag=True, help="Say nothing but errors.")
def release(**options: Any) -> None:
    """Turn events or counts in SOURCE into a private profile.

    SOURCE is a file (CSV, TSV, JSON lines, Parquet; .gz and .zst too), a glob, a database URL, or - for standard input.
    Without -o, a terminal gets release.json in the working directory, and a pipe gets CSV.
    """
    from anonhist.cli.release import run_release

    run_release(**options)


@anonhist.command()
@click.option("--items", metavar="N", help="How many items to plan for, such as 1e9.")
@click.option("--epsilon", required=True, metavar="E,E,…", help="Privacy budgets to compare, such as 0.1,1,2.")
@click.option("--shape", type=click.Choice(("zipf", "worst")), help="Shape of the data.  [default: zipf]")
@click.option("--like", metavar="RELEASE", help="Take the shape of a released file instead.")
@click.option("--unit", type=click.Choice(_UNITS), help="Whom to protect; items by default.")
@click.option("--max-per-user", type=int, metavar="M", help="With --unit user.")
@click.option("--max-count", type=int, metavar="C", help="With --unit label.")
@click.option(
    "--relation", type=click.Choice(_RELATIONS), default="add-or-remove", show_default=True, help="Neighbours."
)
@click.option("-o", "--output", metavar="FILE.csv", help="Where to; - or a pipe gets CSV on stdout.")
@click.option("--force", is_flag=True, help="Replace an existing output.")
def plan(**options: Any) -> None:
    """Say how accurate a release would be, before touching any data."""
    from anonhist.cli.plan import run_plan

    run_plan(**options)


@anonhist.command()
@click.argument("path", metavar="RELEASE")
def show(path: str) -> None:
    """Show a released file: what it promises and what it says."""
    import sys

    from anonhist.cli.display import summary
    from anonhist.formats import read_release

    summary(read_release(path), sys.stdout)
