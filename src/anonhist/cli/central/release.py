"""``anonhist release``: events in, a private profile out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from anonhist.catalogue.mechanisms import MECHANISMS, OPTIONS
from anonhist.cli.arguments import privacy_unit, whole_number
from anonhist.cli.central.excess import EXCESS, excess_options, excess_share_options
from anonhist.cli.central.mechanisms import own_options
from anonhist.cli.options import (
    force_option,
    mechanism_options,
    promise_options,
    quiet_option,
    reading_options,
    release_output_options,
    simulations_option,
)
from anonhist.cli.output import say_line
from anonhist.cli.reading import READING, Reading, profile_of_source, tell_operator
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.targets import STDOUT
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit

if TYPE_CHECKING:
    from anonhist.cli.targets import AskedPage
    from anonhist.mechanisms.releasing import MechanismName

_SECTIONS = {
    "Input": READING,
    "Privacy": ("epsilon", "unit", "max_per_user", *EXCESS, "max_count", "relation"),
    "Mechanism": ("mechanism", *OPTIONS, "expected_items", "simulations"),
    "Output": ("output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist release events.parquet --label query --epsilon 1
anonhist release log.csv.gz --label password --user account --max-per-user 1 --epsilon 0.5
anonhist release 'duckdb:///shop.db' --table orders --label sku --epsilon 1
cut -f3 access.log | anonhist release - --format labels --epsilon 1 -o -
"""
# A user is a label then, and to take one away changes one count: noise for several items is more than that needs.
_LABELS_ARE_USERS = (
    "Note: here the labels are the users. Replace --user and --max-per-user with --unit label --max-count "
    "{bound}: it protects them equally well with less noise."
)


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("source")
@click.option(
    "--epsilon",
    required=True,
    metavar="E",
    help="Total privacy budget, such as 1 or 0.5: smaller is more private and less accurate. No default.",
)
@reading_options
@promise_options
@excess_share_options
@click.option(
    "--mechanism",
    default="auto",
    show_default=True,
    metavar="NAME",
    help=f"Mechanism that adds the noise: {', '.join(MECHANISMS)}, or auto, which picks the one with the smallest "
    "expected error and says why.",
)
@mechanism_options(OPTIONS)
@click.option(
    "--expected-items",
    metavar="N",
    help="Approximate number of items, such as 1e9, if it is public; helps auto choose for huge data.",
)
@simulations_option
@release_output_options
@force_option
@quiet_option
def release(
    *,
    source: str,
    reading: Reading,
    epsilon: str,
    unit: str | None,
    max_per_user: int | None,
    max_count: int | None,
    relation: str,
    excess_share: str | None,
    excess_cap: str | None,
    mechanism: MechanismName,
    own: dict[str, str | None],
    expected_items: str | None,
    simulations: int | None,
    output: str | None,
    report: AskedPage | None,
    force: bool,
    quiet: bool,
) -> None:
    """Release a private profile of events or counts.

    A profile says how many labels occur once, how many twice, and so on, but not which labels.

    SOURCE is a file (.csv, .tsv, .jsonl or .parquet; .gz and .zst too), a pattern such as 'logs/*.csv', a database
    (duckdb:///FILE; sqlite:///FILE and postgresql://… with the extra [ibis]), or - for standard input. For standard
    input, also give its format: --format labels for one label per line, --label COLUMN for CSV, or another --format.

    Without -o, the release is written to release.json in the working directory, or as CSV to standard output in a pipe.
    """
    expected = whole_number(expected_items, name="--expected-items")
    options = own_options(own)
    protected = privacy_unit(unit, max_per_user=max_per_user, max_count=max_count)

    from anonhist.cli.central.outputs import DEFAULT_OUTPUT, check_outputs, write_outputs
    from anonhist.cli.progress import progress_bars
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
        **excess_options(excess_share, excess_cap, max_per_user),
    )
    target = output if output is not None else (DEFAULT_OUTPUT if sys.stdout.isatty() else STDOUT)
    sheet = check_outputs(source, target, report, force=force)
    if prepared.excess and quiet and report is None and (target == STDOUT or target.lower().endswith(".csv")):
        raise UsageError("CSV cannot hold the excess and --quiet hides it: write .json, .parquet or a report.")

    if reading.user is not None and reading.user == reading.label and not quiet:
        say_line(_LABELS_ARE_USERS.format(bound=max_per_user), sys.stderr)

    remarks: list[str] = []
    with progress_bars("Estimating errors", shown=not quiet) as bars:
        profile = profile_of_source(
            source,
            reading,
            max_per_user=max_per_user,
            unit=protected,
            count_users=prepared.excess is not None,
            notify=None if quiet else remarks.append,
            progress=bars.reading,
        )
        released = prepared.release(profile)
        del profile
        released = released.with_error(progress=bars.working)
    tell_operator(remarks, quiet=quiet)  # after the bars, which would be written over
    write_outputs(released, target, sheet, force=force, quiet=quiet)
