"""``anonhist compare``: mechanisms side by side, on data that may be looked at."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.catalogue.mechanisms import PUBLIC_NUMBERS
from anonhist.cli.arguments import privacy_unit
from anonhist.cli.central.mechanisms import own_options
from anonhist.cli.reading import profile_of_source, released_source, tell_operator
from anonhist.cli.spelling import as_typed
from anonhist.cli.tables import console_on
from anonhist.cli.targets import STDOUT, check_report, check_target, keep_plots_quiet, published_command
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, short_decimal

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.mechanisms import Comparison, Metric
    from anonhist.privacy import PrivacyUnit
    from anonhist.profiles import Profile


def run_compare(
    *,
    source: str,
    epsilon: str,
    mechanism: str | None,
    repeats: int,
    output: str | None,
    report: str | None,
    force: bool,
    quiet: bool,
    relation: str,
    unit: str | None,
    max_count: int | None,
    **others: Any,
) -> None:
    """Check everything that can be checked, then warn, read, compare, print and write."""
    if repeats < 2:
        message = f"--repeats must be at least 2, not {repeats}."
        raise UsageError(message)
    options, reading = own_options(others), others
    protected = privacy_unit(unit, max_per_user=reading["max_per_user"], max_count=max_count)
    target = output if output is not None else (None if sys.stdout.isatty() else STDOUT)
    _check_outputs(source, target, report, force=force)

    from anonhist.cli.progress import progress_bars
    from anonhist.mechanisms import compare
    from anonhist.mechanisms.comparison.compare import check_comparison
    from anonhist.mechanisms.comparison.entrants import known_numbers
    from anonhist.mechanisms.comparison.rows import NOT_PRIVATE

    budgets, names, _ = check_comparison(
        epsilons=_parts(epsilon), mechanisms=None if mechanism is None else _parts(mechanism), repeats=repeats
    )
    known_numbers({name: number for name, number in options.items() if name in PUBLIC_NUMBERS}, names)
    click.secho(f"Warning: {NOT_PRIVATE}", err=True, bold=True, fg="red")
    remarks: list[str] = []
    with progress_bars("Comparing", shown=not quiet) as bars:
        released = _profile_of_release(source, protected)
        profile = released
        if profile is None:
            notify = None if quiet else remarks.append
            profile = profile_of_source(source, reading, unit=protected, notify=notify, progress=bars.reading)
        comparison = compare(
            profile,
            epsilons=budgets,
            mechanisms=names,
            repeats=repeats,
            relation=NeighboringRelation(relation),
            progress=bars.working,
            **options,
        )
    tell_operator(remarks, quiet=quiet or released is not None)
    _write(comparison, target, report, force=force, quiet=quiet)


def _profile_of_release(source: str, unit: PrivacyUnit | None) -> Profile | None:
    """Return the profile of a released file, for any unit, or None where the source is none."""
    release = released_source(source)
    if release is None:
        return None
    return release.profile if unit is None else release.profile.with_unit(unit)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _check_outputs(source: str, target: str | None, report: str | None, *, force: bool) -> None:
    """Refuse outputs that could not be written before any data are read."""
    if target not in (None, STDOUT):
        if not target.lower().endswith(".csv"):
            message = f"A comparison is written as CSV: end its path in .csv, not {target!r}; --report makes a page."
            raise UsageError(message)
        check_target(source, target, force=force)
    if report is not None:
        check_report(source, report, force=force)


def _write(comparison: Comparison, target: str | None, report: str | None, *, force: bool, quiet: bool) -> None:
    """Print and write; a pipe, whose reader may go at any time, comes last."""
    told = sys.stderr if target == STDOUT else sys.stdout
    if target not in (None, STDOUT):
        from anonhist.formats.atomic import write_whole
        from anonhist.formats.tables import csv_text

        write_whole(target, csv_text(comparison).encode(), overwrite=force)
    if report is not None:
        from anonhist.report import write_comparison

        keep_plots_quiet()
        write_comparison(comparison, report, command=published_command(), overwrite=force)
    if not quiet:
        _say(comparison, told, tables=target != STDOUT)
        for written in (target, report):
            if written not in (None, STDOUT):
                click.echo(f"Wrote {written}.", file=told)
    if target == STDOUT:
        from anonhist.cli.output import print_whole
        from anonhist.formats.tables import csv_text

        print_whole(csv_text(comparison))


def _say(comparison: Comparison, stream: TextIO, *, tables: bool) -> None:
    """Say what was compared, in tables too where standard output is not for the CSV."""
    from anonhist.mechanisms import METRICS
    from anonhist.report.comparison.wording import HOW_TO_READ, basis, notes

    console = console_on(stream, widest=100)
    for sentence in (basis(comparison), *map(as_typed, notes(comparison))):
        # Beside CSV a sentence is a line, as with other commands.
        console.print(sentence, markup=False, soft_wrap=not tables and not stream.isatty())
    if tables:
        for metric in METRICS:
            _table(comparison, metric, console)
        console.print()
        console.print(HOW_TO_READ, style="dim")


def _table(comparison: Comparison, metric: Metric, console: Console) -> None:
    """Print one metric, a row per mechanism; as many budgets side by side as there is room for."""
    from rich.table import Table
    from rich.text import Text

    from anonhist.report.comparison.wording import MARK, cell, units

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
