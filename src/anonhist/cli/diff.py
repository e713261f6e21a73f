"""``anonhist diff``: two releases beside each other."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, TextIO

import click

from anonhist.errors import UsageError
from anonhist.terminal.decorators import SectionedCommand
from anonhist.terminal.destinations import Outputs, console_on, data_name, print_table
from anonhist.terminal.options import output_options
from anonhist.terminal.output import say_line
from anonhist.terminal.reading import group_option, released_source

if TYPE_CHECKING:
    from anonhist.properties.share_band import GuessedOf
    from anonhist.releases import Release
    from anonhist.releases.difference import ReleaseDifference

# In columns; a narrower terminal leaves out the intervals that hold together.
_WIDE = 120
_SECTIONS = {
    "Input": ("group", "thresholds", "independent_samples"),
    "Output": ("output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist diff week1.json week2.json
anonhist diff week1.json week2.json --report diff.html
anonhist diff week1.json week2.json --thresholds 1,3,7 -o diff.csv
anonhist diff june.json july.json --group spring
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("first", metavar="FIRST")
@click.argument("second", metavar="SECOND")
@group_option
@click.option(
    "--thresholds",
    metavar="K,K,…",
    help="Compare how many labels have exactly K items, and K or more, at these counts; not with "
    "--independent-samples.  [default: 1 to 10, 20, 50, 100, …]",
)
@click.option(
    "--independent-samples",
    is_flag=True,
    help="Compare what the data were drawn from, not the data: only if both are independent samples of independent "
    "items. Items of one person that are alike, a panel, windows that overlap and the same data twice are none.",
)
@output_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="File to write: FILE.csv, FILE.json (with the guarantee of both), or - for CSV on standard output.",
    ),
    page="Also write an HTML page with both curves and the differences.",
)
def diff(
    *, first: str, second: str, group: str | None, thresholds: str | None, independent_samples: bool, outputs: Outputs
) -> None:
    """Show how two releases differ, beyond their noise.

    FIRST and SECOND are .json or .parquet files from 'anonhist release' of one kind, unit and bound. Comparing them
    costs no budget; for people in both, their budgets add up.

    By default, the statement is about these data, and holds even if the same people are in both.
    """
    if independent_samples and thresholds is not None:
        raise UsageError("--thresholds are of the data: leave them out, or leave --independent-samples out.")
    counts = None if thresholds is None else _counts(thresholds)
    destination = outputs.for_estimate(first, second, what="A difference is")._replace(target=outputs.output)

    from anonhist.releases.difference import compare_releases

    names = _names(first, second)
    of: GuessedOf = "distribution" if independent_samples else "data"
    found = compare_releases(_release(first, group), _release(second, group), counts=counts, of=of, names=names)
    destination.write(found, partial(_say, found))


def _counts(text: str) -> list[int]:
    """Read a list of counts."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 0 < len(part) < 19 and int(part) for part in parts):
        raise UsageError(f"--thresholds must be whole numbers of at least 1, such as 1,3,7, not {text!r:.80}.")
    return [int(part) for part in parts]


def _names(first: str, second: str) -> tuple[str, str]:
    """Name the releases by their files, or by their folders, too, if the files have one name."""
    names = [data_name(path) or path for path in (first, second)]
    return (names[0], names[1]) if names[0] != names[1] else ("first", "second")


def _release(path: str, group: str | None) -> Release:
    """Read the release, or that of the requested group, from a file."""
    from anonhist.formats.releases import read_release

    found = released_source((path,), group)
    if found is None:
        # It says what kind of file this is.
        read_release(path)
        raise UsageError(f"{path!r:.80} holds no release of a profile.")
    return found


def _say(found: ReleaseDifference, stream: TextIO) -> None:
    """Print the statement, the numbers unless the stream does not hold them, and what they rest on."""
    from anonhist.report.difference import facts, heads, notes, rows_of, summary

    say_line(summary(found), stream, **({"bold": True} if stream.isatty() else {}))
    if stream is sys.stdout:
        click.echo("", file=stream)
        is_narrow = stream.isatty() and console_on(stream, widest=_WIDE).width < _WIDE
        rows = [row.short_cells if is_narrow else row.cells for row in rows_of(found)]
        print_table(heads(found)[: len(rows[0])], rows, stream, texts=[0], widest=_WIDE)
        click.echo("", file=stream)
    for name, sentence in (*(("Note", note) for note in notes(found)), *facts(found)):
        say_line(f"{name}: {sentence}", stream)
