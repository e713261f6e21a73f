"""``anonhist compare``: mechanisms side by side, on data that may be looked at."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.catalogue.mechanisms import MECHANISMS, PUBLIC_NUMBERS
from anonhist.errors import UsageError
from anonhist.privacy import short_decimal
from anonhist.terminal.decorators import SectionedCommand
from anonhist.terminal.destinations import console_on
from anonhist.terminal.hints import as_typed
from anonhist.terminal.options import (
    epsilon_option,
    mechanism_options,
    output_options,
    protection_options,
    reading_options,
)
from anonhist.terminal.output import say_line
from anonhist.terminal.reading import (
    READING,
    profile_of_source,
    protection_of,
    reading_bars,
    released_source,
    source_argument,
)

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.mechanisms import Comparison, Metric
    from anonhist.terminal.decorators import Protection
    from anonhist.terminal.destinations import Outputs

# Of the rest mechanisms take part with their defaults.
COMPARED = (*PUBLIC_NUMBERS, "shares")
_SECTIONS = {
    "Input": READING,
    "Privacy": ("epsilon", "unit", "max_per_user", "max_count", "relation"),
    "Comparison": ("mechanism", "repeats", *COMPARED),
    "Output": ("output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist compare data/pw_phpbb.csv --epsilon 0.1,0.5,1,2,4
anonhist compare data/pw_phpbb.csv --epsilon 1 --mechanism auto,privhist --repeats 100
anonhist compare data/pw_phpbb.csv --epsilon 0.1,1 -o table.csv --report compare.html
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@source_argument
@epsilon_option(
    "Privacy budget of a release, or a list of budgets such as 0.1,0.5,1,2,4.", required=True, metavar="E,E,…"
)
@reading_options
@protection_options()
@click.option(
    "--mechanism",
    metavar="A,B,…",
    help=f"Mechanisms to compare: auto, {', '.join(MECHANISMS)}. By default, all that apply.",
)
@mechanism_options(COMPARED)
@click.option(
    "--repeats",
    type=int,
    default=20,
    show_default=True,
    metavar="R",
    help="Number of releases per mechanism and epsilon, at least 2.",
)
@output_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE.csv",
        help="File for one row per mechanism, epsilon and metric, or - for CSV on standard output (the default in a "
        "pipe).",
    ),
    page="Also write an HTML page that plots errors against epsilon.",
    also_printed=" and the warning that comparing is not private",
)
def compare(
    *,
    sources: tuple[str, ...],
    reading: dict[str, Any],
    epsilon: str,
    protection: Protection,
    mechanism: str | None,
    own: dict[str, Any],
    repeats: int,
    outputs: Outputs,
) -> None:
    """Compare the errors of mechanisms on public data.

    Comparing on private data is not private: every number reveals something about the data, and so does a choice based
    on it. Compare on public data or on an earlier release, a .json or .parquet file.

    Each mechanism makes several releases of SOURCE, and each release is compared with the true profile. SOURCE is read
    as in 'anonhist release'. Public numbers that you do not give are taken from the data.
    """
    if repeats < 2:
        raise UsageError(f"--repeats must be at least 2, not {repeats}.")
    protection = protection_of(sources, protection)
    destination = outputs.for_table(*sources, what="A comparison is")

    from anonhist.mechanisms import compare
    from anonhist.mechanisms.comparison import NOT_PRIVATE, check_comparison, check_public_numbers

    budgets, names, _ = check_comparison(
        epsilons=_parts(epsilon), mechanisms=None if mechanism is None else _parts(mechanism), repeats=repeats
    )
    check_public_numbers({name: number for name, number in own.items() if name in PUBLIC_NUMBERS}, names)
    released = released_source(sources)
    if released is None:
        say_line(f"Warning: {NOT_PRIVATE}", sys.stderr, bold=True, fg="red")
    with reading_bars("Comparing", quiet=outputs.quiet, is_private=released is None) as bars:
        data = profile_of_source(sources, reading, protection, bars) if released is None else released
        comparison = compare(
            data,
            epsilons=budgets,
            mechanisms=names,
            repeats=repeats,
            unit=protection.unit,
            relation=protection.relation,
            progress=bars.working,
            **own,
        )
    say = partial(_say, comparison)
    destination.write(comparison, say, log=say)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _say(comparison: Comparison, stream: TextIO) -> None:
    """Say what was compared, in tables too where standard output is not for the CSV."""
    from anonhist.mechanisms import METRICS
    from anonhist.report.comparison import HOW_TO_READ, advice, basis, notes

    console, has_tables = console_on(stream, widest=100), stream is sys.stdout
    for sentence in filter(None, (advice(comparison), basis(comparison), *map(as_typed, notes(comparison)))):
        # Beside CSV a sentence is a line, as with other commands.
        console.print(sentence, markup=False, soft_wrap=not has_tables and not stream.isatty())
    if has_tables:
        for metric in METRICS:
            _table(comparison, metric, console)
        console.print()
        console.print(HOW_TO_READ, style="dim")


def _table(comparison: Comparison, metric: Metric, console: Console) -> None:
    """Print one metric, a row per mechanism; as many budgets side by side as there is room for."""
    from rich.table import Table
    from rich.text import Text

    from anonhist.report.comparison import MARK, cell, units

    names, epsilons = comparison.mechanisms, comparison.epsilons
    texts = {(name, epsilon): cell(comparison, name, epsilon, metric.name) for name in names for epsilon in epsilons}
    # Marks stand beside the numbers, which stay in line.
    texts = {place: text if text.endswith(MARK) else text + " " * len(MARK) for place, text in texts.items()}
    heads = {epsilon: f"ε = {short_decimal(epsilon)}" + " " * len(MARK) for epsilon in epsilons}
    width = max(map(len, [*texts.values(), *heads.values()]))
    most = max(1, (console.width - max(map(len, names))) // (width + 2))
    side_by_side = -(-len(epsilons) // -(-len(epsilons) // most))
    console.print()
    console.print(Text(f"{metric.title}, in {units()[metric.name]}", style="bold"))
    for start in range(0, len(epsilons), side_by_side):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("mechanism", no_wrap=True, min_width=max(map(len, names)))
        shown = epsilons[start : start + side_by_side]
        for epsilon in shown:
            table.add_column(heads[epsilon], justify="right", no_wrap=True, min_width=width)
        for name in names:
            cells = [texts[name, epsilon] for epsilon in shown]
            table.add_row(name, *(Text(text, style="bold green" if text.endswith(MARK) else "") for text in cells))
        if start:
            console.print()
        console.print(table)
