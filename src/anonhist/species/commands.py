"""``anonhist species``: diversity of sites from species tables, at equal coverage or size."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.errors import DataError, UsageError
from anonhist.terminal.decorators import Brief, OneOf, SectionedCommand, WholeNumber, one_character
from anonhist.terminal.destinations import Outputs, console_on, table_of
from anonhist.terminal.options import delimiter_option, level_option, output_options
from anonhist.terminal.output import progress_bar, say_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.species.comparison import SiteComparison
    from anonhist.species.sample import SiteData

# As reading.py has them; tests compare the two.
DATA = ("abundance", "incidence-freq", "incidence-raw", "incidence-counts")
LAYOUTS = ("species-in-rows", "species-in-columns", "long")
_MOST_POINTS, _MOST_BOOTSTRAPS = 1_000, 10_000
_TURNED = {
    "species-in-rows": " If the table has a column for each species, say --layout species-in-columns.",
    "species-in-columns": " If the table has a row for each species, say --layout species-in-rows.",
}
_SECTIONS = {
    "Comparison": ("order", "coverage", "size", "points", "bootstraps", "level"),
    "Input": ("data", "layout", "site", "species", "sampling_unit", "count", "delimiter"),
    "Output": ("output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist species spiders.csv --data abundance --layout species-in-rows --coverage 0.9
anonhist species ants.csv --data incidence-freq --layout species-in-rows --report ants.html
anonhist species north.csv south.csv --data incidence-raw --layout species-in-rows --order 0,1 -o sites.csv
anonhist species trees.csv --data incidence-counts --layout long --site none --sampling-unit plot --species species \
--count count
"""
_BRIEF = Brief(
    ("data", "layout", "order", "coverage", "size", "site", "species", "sampling_unit", "count", "output", "report"),
    "SOURCE is a species table: CSV, TSV or Parquet. What its numbers mean, and how it lies, is never guessed.",
)


@click.command(cls=SectionedCommand, sections=_SECTIONS, brief=_BRIEF, epilog=_EXAMPLES)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")
@click.option(
    "--data",
    type=OneOf(DATA),
    required=True,
    help="What the numbers mean: individuals (abundance); sampling units with the species, after the number of all "
    "sampling units (incidence-freq, as in iNEXT); 1 or 0 for each sampling unit (incidence-raw); or individuals in "
    "each sampling unit, of which any are one detection (incidence-counts).",
)
@click.option(
    "--layout",
    type=OneOf(LAYOUTS),
    required=True,
    help="How the table lies: species-in-rows has a column for each site or sampling unit, species-in-columns a row; "
    "long has a row for each species at a site or in a sampling unit. Wide tables have names in their first column.",
)
@click.option(
    "--site",
    metavar="COLUMN|none",
    help="Column of sites, or none if all rows are of one: for long tables, and for sampling units in rows.",
)
@click.option("--species", metavar="COLUMN", help="For long tables: column of species; empty if a unit has none.")
@click.option("--sampling-unit", metavar="COLUMN", help="For long tables of incidences: column of sampling units.")
@click.option(
    "--count",
    metavar="COLUMN|none",
    help="For long tables: column with the number of individuals, or none if each row is one individual.",
)
@delimiter_option
@click.option("--order", default="0,1,2", show_default=True, metavar="Q,Q,…", help="Orders among 0, 1 and 2.")
@click.option(
    "--coverage",
    metavar="C,C,…",
    help="Compare at these coverages, between 0 and 1. Without this and --size, at the smallest coverage that a sample "
    "of twice its size has at any site.",
)
@click.option("--size", metavar="M,M,…", help="Compare at these numbers of individuals or sampling units.")
@click.option(
    "--points",
    type=WholeNumber(_MOST_POINTS),
    metavar="P",
    default=40,
    show_default=True,
    help="Number of points on each curve.",
)
@click.option(
    "--bootstraps",
    type=WholeNumber(_MOST_BOOTSTRAPS),
    metavar="B",
    default=50,
    show_default=True,
    help="Number of bootstrap samples for errors, at least 3.",
)
@level_option("Confidence level of each interval.")
@output_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="File to write: FILE.csv (curves and tables), FILE.json (sites, too), or - for CSV on standard output "
        "(the default in a pipe).",
    ),
    page="Also write an HTML page with the curves of all sites, by size and by coverage.",
    also_printed=" and the warning that nothing here is private",
)
def species(
    *,
    sources: tuple[str, ...],
    data: str,
    layout: str,
    site: str | None,
    species: str | None,
    sampling_unit: str | None,
    count: str | None,
    delimiter: str | None,
    order: str,
    coverage: str | None,
    size: str | None,
    points: int,
    bootstraps: int,
    level: float,
    outputs: Outputs,
) -> None:
    """Compare how many species sites have, and how diverse they are.

    Observed numbers depend on how much was sampled. So sites are compared at equal coverage (equally complete samples)
    or at equal size, by rarefaction and extrapolation of Hill numbers, as iNEXT does; asymptotes estimate the whole
    communities (Chao1 and Chao2 at order 0).

    Several SOURCES, each with one site, are sites named after their files. Nothing here is private: for a private
    number of species, use 'anonhist release' and 'anonhist estimate'.
    """
    asked: dict[str, Any] = {
        "orders": _numbers(order, "--order"),
        "coverage": None if coverage is None else _numbers(coverage, "--coverage"),
        "size": None if size is None else _whole(_numbers(size, "--size")),
        "points": points,
        "bootstraps": bootstraps,
        "level": level,
    }
    if len(set(sources)) < len(sources):
        raise UsageError("A source is named twice: name each once.")
    destination = outputs.for_estimate(*sources)

    from anonhist.species.comparison import compare_sites
    from anonhist.species.page import NOT_PRIVATE
    from anonhist.species.reading import read_species

    columns = {"site": site, "species": species, "sampling_unit": sampling_unit, "count": count}
    delimiter = one_character(delimiter)
    tables = {
        source: read_species(source, data=data, layout=layout, delimiter=delimiter, **columns)  # type: ignore[arg-type]
        for source in sources
    }
    say_line(f"Warning: {NOT_PRIVATE}", sys.stderr, bold=True, fg="red")
    with progress_bar("Drawing samples", shown=not outputs.quiet) as progress:
        try:
            found = compare_sites(_sites(tables), progress=progress, **asked)
        except DataError as error:
            # Species taken for sites have few individuals, or few species.
            raise DataError(f"{error}{_TURNED.get(layout, '')}") from None
    destination.write(found, lambda stream: _say(found, stream))


def _sites(tables: Mapping[str, Mapping[str, SiteData]]) -> dict[str, SiteData]:
    """Return the sites of all sources; if a source has one site without a name, it is named after its file."""
    from anonhist.species.reading import ONE_SITE

    found: dict[str, SiteData] = {}
    for source, sites in tables.items():
        for name, site in sites.items():
            called = PurePath(source).name.partition(".")[0] if name == ONE_SITE and len(tables) > 1 else name
            if called in found:
                raise UsageError("Two of the sources have a site with the same name: rename one of them.")
            found[called] = site
    return found


def _numbers(text: str, option: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{option} must be a list of numbers with commas between them, not {text!r:.80}.") from None


def _whole(numbers: tuple[float, ...]) -> tuple[int, ...]:
    if not all(number.is_integer() for number in numbers):
        raise UsageError("--size must be whole numbers, such as 100,200.")
    return tuple(map(int, numbers))


def _say(found: SiteComparison, stream: TextIO) -> None:
    """Print the tables: what was found, and Hill numbers at equal coverage or size and of whole communities."""
    from rich.text import Text

    from anonhist.species.page import TITLES, bases, diversity_rows, facts, site_rows

    console = console_on(stream, widest=110)
    heads, rows = site_rows(found)
    console.print(table_of(heads, rows, console, texts=[0]))
    for base in bases(found):
        heads, rows = diversity_rows(found.of(base), found.level)  # type: ignore[arg-type]  # it is one of them
        console.print()
        console.print(Text(TITLES[base], style="bold"))
        console.print(table_of(heads, rows, console, texts=[0, len(heads) - 1] if "kind" in heads else [0]))
    console.print()
    for warning in found.warnings:
        console.print(Text(f"Warning: {warning}"), style="red")
    for name, sentence in facts(found):
        console.print(Text(f"{name}: {sentence}"), style="dim")
