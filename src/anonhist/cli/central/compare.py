"""``anonhist compare``: mechanisms side by side, on data that may be looked at."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from anonhist.catalogue.mechanisms import MECHANISMS, PUBLIC_NUMBERS
from anonhist.cli.arguments import privacy_unit
from anonhist.cli.central.mechanisms import own_options
from anonhist.cli.options import force_option, mechanism_options, promise_options, reading_options, report_options
from anonhist.cli.output import say_line
from anonhist.cli.reading import READING, Reading, profile_of_source, released_source, tell_operator
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.targets import STDOUT, check_report, check_target
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation

if TYPE_CHECKING:
    from anonhist.cli.targets import AskedPage
    from anonhist.privacy import PrivacyUnit
    from anonhist.profiles import Profile
    from anonhist.report.frame import Sheet

# Of the rest mechanisms take part with their defaults.
COMPARED = (*PUBLIC_NUMBERS, "shares")
_SECTIONS = {
    "What to read": READING,
    "What to promise": ("epsilon", "unit", "max_per_user", "max_count", "relation"),
    "What to compare": ("mechanism", "repeats", *COMPARED),
    "What to write": ("output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist compare data/pw_phpbb.csv --epsilon 0.1,0.5,1,2,4
anonhist compare data/pw_phpbb.csv --epsilon 1 --mechanism auto,privhist --repeats 100
anonhist compare data/pw_phpbb.csv --epsilon 0.1,1 -o table.csv --report compare.html
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("source")
@click.option(
    "--epsilon",
    required=True,
    metavar="E,E,…",
    help="How much privacy a release would spend, or several amounts: 0.1,0.5,1,2,4.",
)
@reading_options
@promise_options
@click.option(
    "--mechanism",
    metavar="A,B,…",
    help=f"Which to compare, of auto, {', '.join(MECHANISMS)}; by default all that apply.",
)
@mechanism_options(COMPARED)
@click.option(
    "--repeats",
    type=int,
    default=20,
    show_default=True,
    metavar="R",
    help="How many releases each mechanism makes at each epsilon, at least 2.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE.csv",
    help="Where to write one row per mechanism, epsilon and metric; - or a pipe gets CSV on standard output.",
)
@report_options("Also write a page with plots of the errors against epsilon.")
@force_option
@click.option("--quiet", is_flag=True, help="Say nothing but errors, and that comparing is not private.")
def compare(
    *,
    source: str,
    reading: Reading,
    epsilon: str,
    unit: str | None,
    max_per_user: int | None,
    max_count: int | None,
    relation: str,
    mechanism: str | None,
    own: dict[str, str | None],
    repeats: int,
    output: str | None,
    report: AskedPage | None,
    force: bool,
    quiet: bool,
) -> None:
    """Compare mechanisms side by side, on public data.

    Comparing on private data is itself not private: every number shown tells of the data. Use public data, or a
    released .json or .parquet file.

    Each mechanism makes real releases of SOURCE, which is read as by 'anonhist release', and each is compared with the
    truth. Public numbers that are not given are taken from the data.
    """
    if repeats < 2:
        message = f"--repeats must be at least 2, not {repeats}."
        raise UsageError(message)
    options = own_options(own)
    protected = privacy_unit(unit, max_per_user=max_per_user, max_count=max_count)
    target = output if output is not None else (None if sys.stdout.isatty() else STDOUT)
    sheet = _check_outputs(source, target, report, force=force)

    from anonhist.cli.central.compare_display import show_comparison
    from anonhist.cli.progress import progress_bars
    from anonhist.mechanisms import compare
    from anonhist.mechanisms.comparison.compare import check_comparison
    from anonhist.mechanisms.comparison.entrants import check_public_numbers
    from anonhist.mechanisms.comparison.rows import NOT_PRIVATE

    budgets, names, _ = check_comparison(
        epsilons=_parts(epsilon), mechanisms=None if mechanism is None else _parts(mechanism), repeats=repeats
    )
    check_public_numbers({name: number for name, number in options.items() if name in PUBLIC_NUMBERS}, names)
    say_line(f"Warning: {NOT_PRIVATE}", sys.stderr, bold=True, fg="red")
    remarks: list[str] = []
    with progress_bars("Comparing", shown=not quiet) as bars:
        released = _profile_of_release(source, protected)
        profile = released
        if profile is None:
            notify = None if quiet else remarks.append
            profile = profile_of_source(
                source, reading, max_per_user=max_per_user, unit=protected, notify=notify, progress=bars.reading
            )
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
    show_comparison(comparison, target, sheet, force=force, quiet=quiet)


def _profile_of_release(source: str, unit: PrivacyUnit | None) -> Profile | None:
    """Return the profile of a released file, for any unit, or None where the source is none."""
    release = released_source(source)
    if release is None:
        return None
    return release.profile if unit is None else release.profile.with_unit(unit)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _check_outputs(source: str, target: str | None, report: AskedPage | None, *, force: bool) -> Sheet | None:
    """Refuse outputs that could not be written before any data are read."""
    if target not in (None, STDOUT):
        if not target.lower().endswith(".csv"):
            message = f"A comparison is written as CSV: end its path in .csv, not {target!r}; --report makes a page."
            raise UsageError(message)
        check_target(source, target, force=force)
    return check_report(source, report, force=force)
