"""``anonhist release``: events in, a private profile out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.cli.arguments import privacy_unit, whole_number
from anonhist.cli.central.excess import excess_options, tell_of_excess
from anonhist.cli.central.mechanisms import own_options
from anonhist.cli.output import tell_of_epsilon
from anonhist.cli.reading import profile_of_source, tell_operator
from anonhist.cli.targets import STDOUT, check_report, check_target, keep_plots_quiet, published_command
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit

if TYPE_CHECKING:
    from anonhist.mechanisms.releasing import MechanismName
    from anonhist.profiles import Profile
    from anonhist.releases import Release

DEFAULT_OUTPUT = "release.json"
# A user is a label then, and to take one away changes one count: noise for several items is more than that needs.
_LABELS_ARE_USERS = (
    "Note: the labels are the users here. --unit label --max-count {bound}, in place of --user and --max-per-user, "
    "protects them as well with less noise."
)


def run_release(
    *,
    source: str,
    epsilon: str,
    output: str | None,
    report: str | None,
    force: bool,
    quiet: bool,
    simulations: int | None,
    mechanism: MechanismName,
    expected_items: str | None,
    relation: str,
    unit: str | None,
    max_count: int | None,
    excess_share: str | None,
    excess_cap: str | None,
    **others: Any,
) -> None:
    """Check everything that can be checked, then read, release, estimate errors, and write."""
    expected = whole_number(expected_items, name="--expected-items")
    options, reading = own_options(others), others
    protected = privacy_unit(unit, max_per_user=reading["max_per_user"], max_count=max_count)

    from anonhist.mechanisms.releasing import prepare

    prepared = prepare(
        epsilon=epsilon,
        unit=protected,
        relation=NeighboringRelation(relation),
        mechanism=mechanism,
        expected_items=expected,
        options=options,
        simulations=simulations,
        read_for=PrivacyUnit.item(),
        **excess_options(excess_share, excess_cap, reading["max_per_user"]),
    )
    reading["count_users"] = prepared.excess is not None
    target = output if output is not None else (DEFAULT_OUTPUT if sys.stdout.isatty() else STDOUT)
    check_outputs(source, target, report, force=force)
    if prepared.excess and quiet and report is None and (target == STDOUT or target.lower().endswith(".csv")):
        raise UsageError("CSV has no place for the excess, and --quiet shows none: write .json, .parquet or a report.")

    if reading["user"] is not None and reading["user"] == reading["label"] and not quiet:
        click.echo(_LABELS_ARE_USERS.format(bound=reading["max_per_user"]), err=True)

    from anonhist.cli.progress import progress_bars

    remarks: list[str] = []
    with progress_bars("Estimating errors", shown=not quiet) as bars:
        profile = profile_of_source(
            source, reading, unit=protected, notify=None if quiet else remarks.append, progress=bars.reading
        )
        released = prepared.release(profile)
        del profile
        released = released.with_error(progress=bars.working)
    tell_operator(remarks, quiet=quiet)  # after the bars, which would be written over
    write_outputs(released, target, report, force=force, quiet=quiet)


def write_outputs(
    released: Release,
    target: str,
    report: str | None,
    *,
    force: bool,
    quiet: bool,
    not_private_truth: Profile | None = None,
) -> None:
    """Write the outputs, the one that cannot be made twice first: a reader of a pipe may go at any time."""
    if target == STDOUT:
        from anonhist.cli.output import print_whole
        from anonhist.formats.tables import csv_text

        is_watched = sys.stderr.isatty() and not quiet
        _write_report(released, report, not_private_truth, force=force, told=sys.stderr if is_watched else None)
        if is_watched:
            from anonhist.cli.central.display import say

            say(released, sys.stderr)
        elif not quiet:
            tell_of_epsilon(released.guarantee)
            tell_of_excess(released)
        print_whole(csv_text(released))
        return
    from anonhist.formats.writing import write

    write(released, target, overwrite=force)
    if not quiet:
        from anonhist.cli.central.display import show_summary

        show_summary(released, sys.stdout)
        click.echo(f"Wrote {target}.")
    _write_report(released, report, not_private_truth, force=force, told=None if quiet else sys.stdout)


def _write_report(
    released: Release, report: str | None, not_private_truth: Profile | None, *, force: bool, told: TextIO | None
) -> None:
    if report is None:
        return
    from anonhist.report import write_report

    keep_plots_quiet()
    write_report(released, report, command=published_command(), overwrite=force, not_private_truth=not_private_truth)
    if told is not None:
        click.echo(f"Wrote {report}.", file=told)


def check_outputs(source: str, target: str, report: str | None, *, force: bool) -> None:
    """Refuse outputs that could not be written before any data are read or budget spent."""
    from pathlib import Path

    if target != STDOUT:
        if Path(target).suffix.lower() == ".html":
            raise UsageError("An HTML page is asked for with --report; -o takes .json, .csv, .parquet or -.")
        from anonhist.formats.writing import check_ending

        check_ending(target)
        check_target(source, target, force=force)
    if report is not None:
        check_report(source, report, force=force)
