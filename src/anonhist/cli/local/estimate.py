"""``anonhist local estimate``: from a tally to shares with their uncertainty."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.arguments import whole_number
from anonhist.cli.local.estimates import check_outputs, decoding_options, output_options, write_estimate
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.targets import STDOUT
from anonhist.cli.text_lines import labels_in
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.cli.targets import AskedPage

_SECTIONS = {
    "Estimate": ("candidates", "decoder", "correction", "level"),
    "Privacy after shuffling": ("shuffled_users", "delta"),
    "Output": ("top", "output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist local estimate survey.json tally.json --report out.html
anonhist local estimate survey.json tally.json --candidates urls.txt -o urls.csv
anonhist local estimate survey.json tally.json --decoder mle --delta 1e-9
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("survey")
@click.argument("tally", metavar="TALLY")
@click.option(
    "--candidates",
    metavar="FILE",
    help="File of candidate values to estimate, one per line; required if the survey accepts any text. Choose the "
    "candidates before you see any estimate.",
)
@decoding_options
@click.option(
    "--shuffled-users",
    metavar="N",
    help="With --delta: number of people whose reports a trusted shuffler mixes.  [default: all of TALLY]",
)
@click.option(
    "--delta",
    metavar="D",
    help="Also state the guarantee toward those who see only shuffled reports, with this δ, such as 1e-9.",
)
@output_options
def estimate(
    *,
    survey: str,
    tally: str,
    candidates: str | None,
    decoding: dict[str, Any],
    shuffled_users: str | None,
    delta: str | None,
    top: str,
    output: str | None,
    report: AskedPage | None,
    force: bool,
    quiet: bool,
) -> None:
    """Estimate the frequency of each value from a tally.

    SURVEY is a file from 'anonhist local new' and TALLY a file from 'anonhist local tally'. Estimating costs no
    privacy.
    """
    shown = whole_number(top, name="--top") or 0
    mixed = whole_number(shuffled_users, name="--shuffled-users")
    if mixed is not None and delta is None:
        raise UsageError("--shuffled-users requires --delta D, the δ of the guarantee, such as 1e-9.")
    target = output if output is not None else (None if sys.stdout.isatty() else STDOUT)
    from anonhist.formats.surveys import read_survey
    from anonhist.formats.tallies import read_tally

    sheet = check_outputs((survey, tally, *([candidates] if candidates else [])), target, report, force=force)
    made_by, counted = read_survey(survey), read_tally(tally)
    central = None if delta is None else made_by.shuffled_guarantee(mixed or counted.users, delta)
    listed = None if candidates is None else labels_in(candidates, what="the values to estimate")
    found = made_by.estimate(counted, candidates=listed, **decoding)
    write_estimate(found, central, target, sheet, shown=shown, force=force, quiet=quiet)
