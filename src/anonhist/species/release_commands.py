"""``anonhist incidence``: species found in sampling units, protecting each unit."""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, TextIO

import click

from anonhist.catalogue import MECHANISMS, PUBLIC_NUMBERS
from anonhist.privacy import NeighboringRelation, parse_epsilon
from anonhist.terminal.charging import AskedAccount, charging_options, csv_digest, say_account
from anonhist.terminal.decorators import Brief, OneOf, SectionedCommand, one_character
from anonhist.terminal.destinations import Outputs, print_table
from anonhist.terminal.options import (
    CSV_IS_FOR_PROGRAMS,
    delimiter_option,
    epsilon_option,
    output_options,
    relation_option,
    simulations_option,
)
from anonhist.terminal.output import say_line, tell_of_epsilon
from anonhist.terminal.reading import reading_bars

if TYPE_CHECKING:
    from anonhist.species.releasing import IncidenceRelease

# As reading.py has them; tests compare the two.
DATA = ("incidence-raw", "incidence-counts")
LAYOUTS = ("species-in-rows", "species-in-columns", "long")
_NAMES = [name for name, entry in MECHANISMS.items() if not {*entry.options}.intersection(PUBLIC_NUMBERS)]
_SECTIONS = {
    "Privacy": ("epsilon", "max_per_unit", "relation", "units_share"),
    "Mechanism": ("mechanism", "simulations"),
    "Input": ("data", "layout", "species", "sampling_unit", "count", "delimiter"),
    "Ledger": charging_options.names,
    "Output": ("output", "force", "quiet"),
}
_EXAMPLES = """
anonhist incidence visits.csv --data incidence-raw --layout long --sampling-unit visit --species species --epsilon 1 \
--max-per-unit 8 -o visits.json
anonhist incidence traps.csv --data incidence-counts --layout species-in-columns --epsilon 2 --max-per-unit 4
"""
_BRIEF = Brief(
    (
        *("data", "layout", "species", "sampling_unit", "count", "epsilon", "max_per_unit", "relation"),
        *("ledger", "dataset", "output", "force"),
    ),
    "SOURCE is a species table: CSV, TSV or Parquet. 'anonhist show' shows the released file again.",
)


def _exact(_: click.Context, __: click.Parameter, epsilon: str) -> Fraction:
    return parse_epsilon(epsilon)


@click.command(cls=SectionedCommand, sections=_SECTIONS, brief=_BRIEF, epilog=_EXAMPLES)
@click.argument("path", metavar="SOURCE")
@click.option(
    "--data",
    type=OneOf(DATA),
    required=True,
    help="What the numbers mean: 1 or 0 for each sampling unit and species (incidence-raw), or individuals, of which "
    "any are one detection (incidence-counts).",
)
@click.option(
    "--layout",
    type=OneOf(LAYOUTS),
    required=True,
    help="How the table lies: species-in-rows has a column for each sampling unit, species-in-columns a row; long has "
    "a row for each species in a sampling unit. Wide tables have names in their first column.",
)
@click.option("--species", metavar="COLUMN", help="For long tables: column of species; empty if a unit has none.")
@click.option("--sampling-unit", metavar="COLUMN", help="For long tables: column of sampling units.")
@click.option(
    "--count",
    metavar="COLUMN|none",
    help="For long tables: column with 1 or 0, or the number of individuals; none if each row is one individual.",
)
@delimiter_option
@epsilon_option(required=True, callback=_exact)
@click.option(
    "--max-per-unit",
    required=True,
    metavar="M",
    type=int,
    help="Keep at most M species of each sampling unit, chosen at random. Choose M without looking at the data: a "
    "smaller one needs less noise, and biases the number of species more.",
)
@relation_option
@click.option(
    "--units-share",
    default="0.1",
    show_default=True,
    metavar="S",
    help="Share of epsilon for the number of sampling units. With --relation substitute, their number is public, so "
    "every unit must be listed, also those without a species.",
)
@click.option(
    "--mechanism",
    default="auto",
    show_default=True,
    metavar="NAME",
    help=f"Mechanism that adds the noise: {', '.join(_NAMES)}, or auto.",
)
@charging_options
@output_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="File to write: FILE.json (everything), FILE.csv, FILE.parquet, or - for CSV on standard output. "
        f"{CSV_IS_FOR_PROGRAMS}",
    )
)
@simulations_option
def incidence(
    *,
    path: str,
    data: str,
    layout: str,
    species: str | None,
    sampling_unit: str | None,
    count: str | None,
    delimiter: str | None,
    epsilon: Fraction,
    max_per_unit: int,
    relation: str,
    units_share: str,
    mechanism: str,
    simulations: int | None,
    account: AskedAccount,
    outputs: Outputs,
) -> None:
    """Release how often species occur in sampling units.

    A sampling unit, such as a plot, a trap or the visit of a person, is protected with all of its species. Results are
    how many species were found in one unit, in two, and so on, the number of units, and an estimate of all species.

    Without -o, the release is written to release.json in the working directory, or as CSV to standard output in a pipe.
    """
    account.check()
    from anonhist.releases.content import rest_digest
    from anonhist.species.reading import check_private_table, read_sampling_units
    from anonhist.species.releasing import incidence_digest, prepare_incidence

    prepared = prepare_incidence(
        epsilon=epsilon,
        max_per_unit=max_per_unit,
        relation=NeighboringRelation(relation),
        units_share=units_share,
        mechanism=mechanism,
        simulations=simulations,
    )
    columns = {"species": species, "sampling_unit": sampling_unit, "count": count}
    check_private_table(data, layout, **columns)
    destination = account.destined(partial(outputs.for_release, path), lambda: prepared.price)
    with account.charged(lambda: prepared.price) as recorded:
        with reading_bars("Estimating errors", quiet=outputs.quiet, is_private=False) as bars:
            with recorded.reading():
                how = {"data": data, "layout": layout, "delimiter": one_character(delimiter), **columns}
                units = read_sampling_units(path, **how)  # type: ignore[arg-type]
            made = prepared.release(units, receipt=recorded.receipt)
            del units
            made = made.with_error(progress=bars.working)
        target = destination.target
        complete = partial(
            recorded.complete,
            partial(incidence_digest, made),
            partial(rest_digest, made.release),
            csv_digest(target, made),
        )

        def say(stream: TextIO) -> None:
            show_incidence(made, stream)
            say_account(recorded, stream)

        destination.write(made, say, log=lambda _: tell_of_epsilon(made.guarantee), complete=complete)


def show_incidence(made: IncidenceRelease, stream: TextIO) -> None:
    """Print the numbers, the guarantee and how they were made; the numbers are a table if the stream holds no other."""
    from anonhist.species.release_page import HEADS, incidence_facts, incidence_rows

    if stream is not sys.stderr:
        print_table(HEADS, incidence_rows(made), stream, texts=[0])
        click.echo(file=stream)
    for name, sentence in incidence_facts(made):
        say_line(f"{name}: {sentence}", stream)
