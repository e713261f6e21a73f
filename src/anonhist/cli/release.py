"""``anonhist release``: events in, a private profile out."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from anonhist.cli.arguments import privacy_unit, whole_number
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, parse_epsilon

STDOUT = "-"
DEFAULT_OUTPUT = "release.json"


def run_release(
    *,
    source: str,
    epsilon: str,
    output: str | None,
    report: str | None,
    force: bool,
    quiet: bool,
    simulations: int,
    mechanism: str,
    expected_items: str | None,
    relation: str,
    unit: str | None,
    max_count: int | None,
    **reading: Any,
) -> None:
    """Check everything that can be checked, then read, release, estimate errors, and write."""
    parse_epsilon(epsilon)
    expected = whole_number(expected_items, name="--expected-items")
    protected = privacy_unit(unit, max_per_user=reading["max_per_user"], max_count=max_count)
    if simulations < 2:
        message = f"--simulations must be at least 2, not {simulations}."
        raise UsageError(message)
    target = output or (DEFAULT_OUTPUT if sys.stdout.isatty() else STDOUT)
    _check_outputs(target, report, force=force)
    _check_mechanism(mechanism)

    from anonhist.cli.progress import progress_bars
    from anonhist.formats import csv_text, write
    from anonhist.ingest import read_profile
    from anonhist.mechanisms import release

    with progress_bars(shown=not quiet) as bars:
        profile = read_profile(
            source,
            label=reading["label"],
            user=reading["user"],
            max_per_user=reading["max_per_user"],
            order_by=reading["order_by"],
            table=reading["table"],
            format=reading["format_"],
            delimiter=reading["delimiter"],
            header=not reading["no_header"],
            keep_null=reading["keep_null"],
            unit=protected,
            notify=None if quiet else _tell_operator,
            progress=bars.reading,
        )
        released = release(
            profile,
            epsilon=epsilon,
            relation=NeighboringRelation(relation),
            mechanism=mechanism,
            expected_items=expected,
            simulations=simulations,
        )
        del profile
        released = released.with_error(progress=bars.simulating)
    if target == STDOUT:
        click.echo(csv_text(released), nl=False)
    else:
        write(released, target, overwrite=force)
    if report is not None:
        from anonhist.report import write_report

        write_report(released, report, command=_command(), overwrite=force)
    if quiet:
        return
    from anonhist.cli.display import summary

    stream = sys.stderr if target == STDOUT else sys.stdout
    summary(released, stream)
    for path in (target, report):
        if path not in (None, STDOUT):
            click.echo(f"Wrote {path}.", err=target == STDOUT)


def _check_outputs(target: str, report: str | None, *, force: bool) -> None:
    """Refuse outputs that could not be written before any data are read or budget spent."""
    from pathlib import Path

    if target != STDOUT:
        if Path(target).suffix.lower() == ".html":
            raise UsageError("An HTML page is asked for with --report; -o takes .json, .csv, .parquet or -.")
        from anonhist.formats.atomic import check_free
        from anonhist.formats.writing import check_ending

        check_ending(target)
        check_free(target, overwrite=force)
    if report is not None:
        from anonhist.formats.atomic import check_free

        if Path(report).suffix.lower() != ".html":
            message = f"A report is an HTML page: end its path in .html, not {report!r}."
            raise UsageError(message)
        check_free(report, overwrite=force)


def _check_mechanism(name: str) -> None:
    from anonhist.mechanisms import MECHANISM_NAMES

    if name not in MECHANISM_NAMES:
        message = f"There is no mechanism called {name!r}; choose one of {', '.join(MECHANISM_NAMES)}."
        raise UsageError(message)


def _tell_operator(remark: str) -> None:
    """Show a remark about the data on the operator's terminal, and nowhere else: it may hold private numbers."""
    if sys.stderr.isatty():
        click.echo(f"Only for you: {remark}", err=True)
    else:
        click.echo("Some rows were left out or added up; run on a terminal to see how many.", err=True)


def _command() -> str:
    return shlex.join(["anonhist", *sys.argv[1:]])
