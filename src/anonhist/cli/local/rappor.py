"""``anonhist local rappor``: from files of google/rappor to shares with their uncertainty."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.arguments import whole_number
from anonhist.cli.local.estimates import check_outputs, decoding_options, output_options, write_estimate
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.targets import STDOUT

if TYPE_CHECKING:
    from anonhist.cli.targets import AskedPage

_SECTIONS = {
    "Estimate": ("decoder", "correction", "level"),
    "Output": ("top", "output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist local rappor params.csv counts.csv map.csv
anonhist local rappor params.csv counts.csv map.csv --report out.html -o table.csv
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("params")
@click.argument("counts")
@click.argument("candidates", metavar="MAP")
@decoding_options
@output_options
def rappor(
    *,
    params: str,
    counts: str,
    candidates: str,
    decoding: dict[str, Any],
    top: str,
    output: str | None,
    report: AskedPage | None,
    force: bool,
    quiet: bool,
) -> None:
    """Estimate frequencies from files of google/rappor.

    PARAMS, COUNTS and MAP are its CSV files. PARAMS has the parameters k, h, m, p, q and f. COUNTS has the number of
    reports in each cohort with each bit set. MAP has the candidates and the bits they set.
    """
    shown = whole_number(top, name="--top") or 0
    target = output if output is not None else (None if sys.stdout.isatty() else STDOUT)
    from anonhist.formats.rappor_files import read_rappor

    sheet = check_outputs((params, counts, candidates), target, report, force=force)
    collected, listed = read_rappor(params, counts, candidates)
    found = collected.estimate(listed, **decoding)
    write_estimate(found, None, target, sheet, shown=shown, force=force, quiet=quiet)
