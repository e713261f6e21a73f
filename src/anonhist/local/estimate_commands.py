"""``anonhist local tally``, ``estimate`` and ``rappor``: from reports to counts and frequencies."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.catalogue import is_there, load
from anonhist.errors import UsageError
from anonhist.terminal.decorators import NameIn, SectionedCommand, WholeNumber, as_one, given_alone, whole_number
from anonhist.terminal.destinations import STDOUT, Outputs, check_target, console_on, table_of
from anonhist.terminal.options import CSV_IS_FOR_PROGRAMS, force_option, level_option, output_options, quiet_option
from anonhist.terminal.output import print_whole, say_line
from anonhist.terminal.reading import labels_in

if TYPE_CHECKING:
    from anonhist.local.estimate import FrequencyEstimate
    from anonhist.privacy import Guarantee

DEFAULT_OUTPUT = "tally.json"
_DATABASES, _COLLECTED = ("sqlite:///", "postgresql://", "postgres://"), ".collect.reading:read_collected"
_TALLY_EXAMPLES = """
anonhist local tally survey.json reports-1.parquet reports-2.csv.gz -o tally.json
anonhist local tally survey.json monday.json tuesday.json 'wednesday/*.ndjson' -o week.json
anonhist local tally survey.json sqlite:///collected.db -o tally.json
anonhist local tally survey.json 'reports-*.ndjson' --unique id --skip-bad 1000 -o tally.json
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_TALLY_EXAMPLES)
@click.argument("survey")
@click.argument("sources", nargs=-1, required=True, metavar="REPORTS…")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File to write: FILE.json, or FILE.parquet for large tallies.  [default: tally.json, or JSON on standard "
    "output in a pipe]",
)
@click.option(
    "--unique",
    metavar="COLUMN",
    help="Count what was sent again once: rows with the same value in this column, such as id. Different reports with "
    "one value are bad rows. Tallies are not compared.",
)
@click.option(
    "--skip-bad",
    default="0",
    metavar="N",
    help="Skip up to N rows that are not valid reports of SURVEY, and print how many. By default, any such row is an "
    "error.",
)
@click.option(
    "--collection",
    metavar="DIGEST",
    help="Which collection of a database to count, by the digest that 'anonhist collect new' printed, or how it "
    "begins; needed where several asked SURVEY.",
)
@force_option
@quiet_option
def tally(
    *,
    survey: str,
    sources: tuple[str, ...],
    output: str | None,
    unique: str | None,
    skip_bad: str,
    collection: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Count reports into a tally, which is all that estimates need.

    Once counted, the reports can be deleted. REPORTS are any number of files (.parquet, .csv, .ndjson, .jsonl; .gz and
    .zst too), patterns, - for JSON lines or CSV on standard input, tallies (.json) of the same survey, which are added
    up, or the database of 'anonhist serve'.
    """
    allowed = 0 if skip_bad.strip() == "0" else whole_number(skip_bad, name="--skip-bad") or 0
    target = output if output is not None else (DEFAULT_OUTPUT if sys.stdout.isatty() else STDOUT)
    from anonhist.formats.files import check_ending, write
    from anonhist.local.files import is_tally_file, read_survey, read_tally, tally_text
    from anonhist.local.reading import report_files, tally_reports
    from anonhist.replacing import PrivateKind
    from anonhist.terminal.output import progress_bar

    addresses = _databases(sources, is_chosen=collection is not None)
    files = report_files(found) if (found := [each for each in sources if each not in addresses]) else []
    if target != STDOUT:
        check_ending(target, endings=(".json", ".parquet"), what="A tally is")
        check_target(target, survey, *files, force=force, kind=PrivateKind.TALLY)
    made_by = read_survey(survey)
    total = made_by.empty_tally()
    for address in addresses:
        total += load(_COLLECTED)(made_by, address, collection)
    reports: list[str] = []
    told: list[str] = []
    for source in files:
        if source != STDOUT and is_tally_file(source) and Path(source).exists():
            counted = read_tally(source)
            made_by.check_tally(counted)
            total += counted
        else:
            reports.append(source)
    with progress_bar("Counting", shown=not quiet) as bar:
        if reports:
            total += tally_reports(
                made_by,
                reports,
                unique=unique,
                skip_bad=allowed,
                progress=bar,
                notify=None if quiet else told.append,
            )
    for sentence in told:
        # Reports are private by themselves, so this may be logged.
        say_line(f"Note: {sentence}", sys.stderr)
    if target == STDOUT:
        print_whole(tally_text(total))
        return
    write(total, target, overwrite=force)
    if not quiet:
        click.echo(f"Counted the reports of {total.users:,} {'person' if total.users == 1 else 'people'}.")
        click.echo(f"Wrote {target}.")


def _databases(sources: tuple[str, ...], *, is_chosen: bool) -> list[str]:
    """Return the sources that are databases of collection servers."""
    found = [source for source in sources if source.startswith(_DATABASES) and is_there(_COLLECTED)]
    if len(set(found)) < len(found):
        raise UsageError("A database is named twice, so its reports would count twice; name each once.")
    if is_chosen and not found:
        raise UsageError("--collection chooses in the database of 'anonhist serve': name one among REPORTS.")
    return found


_WIDEST = 110


decoding_options = as_one(
    "decoding",
    click.option(
        "--decoder",
        type=NameIn(".local.estimate:DECODERS"),
        metavar="NAME",
        help="How raw estimates become shares: projected, normalized, unbiased, least-squares, mle or em.  [default: "
        "projected, or least-squares if values can collide]",
    ),
    click.option(
        "--correction",
        type=NameIn(".local.estimate:CORRECTIONS"),
        metavar="NAME",
        help="Correction for multiple tests: holm, bonferroni or benjamini-hochberg.  [default: holm]",
    ),
    level_option("Confidence level of intervals and tests."),
    made=given_alone,
)
_top_option = click.option(
    "--top",
    type=WholeNumber(),
    default=20,
    show_default=True,
    metavar="N",
    help="Number of values to show on a terminal.",
)
_output_options = output_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="File to write: FILE.csv, FILE.json, or - for CSV on standard output (the default in a pipe). "
        f"{CSV_IS_FOR_PROGRAMS}",
    ),
    page="Also write an HTML page with a plot and how to read it.",
)


def _say(estimate: FrequencyEstimate, central: Guarantee | None, stream: TextIO, *, shown: int) -> None:
    """Print the most frequent values, and facts about the estimate."""
    from rich.text import Text

    from anonhist.local.page import HEADS, facts, headline, most_frequent, row_texts

    console = console_on(stream, widest=_WIDEST)
    console.print(Text(headline(estimate), style="bold"))
    if shown:
        console.print()
        # As Text, because labels may contain markup.
        rows = [[*map(Text, row_texts(estimate, place))] for place in most_frequent(estimate, shown)]
        console.print(table_of(HEADS, rows, console, texts=[0]))
        console.print()
    for name, sentence in facts(estimate, central):
        console.print(Text(f"{name}: {sentence}"), style="dim")


_ESTIMATE_SECTIONS = {
    "Estimate": ("candidates", "decoder", "correction", "level"),
    "Privacy after shuffling": ("shuffled_users", "delta"),
    "Output": ("top", "output", "report", "title", "force", "quiet"),
}
_ESTIMATE_EXAMPLES = """
anonhist local estimate survey.json tally.json --report out.html
anonhist local estimate survey.json tally.json --candidates urls.txt -o urls.csv
anonhist local estimate survey.json tally.json --decoder mle --delta 1e-9
"""


@click.command(cls=SectionedCommand, sections=_ESTIMATE_SECTIONS, epilog=_ESTIMATE_EXAMPLES)
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
    type=WholeNumber(),
    metavar="N",
    help="With --delta: number of people whose reports a trusted shuffler mixes.  [default: all of TALLY]",
)
@click.option(
    "--delta",
    metavar="D",
    help="Also state the guarantee against those who see only shuffled reports, with this δ, such as 1e-9.",
)
@_top_option
@_output_options
def estimate(
    *,
    survey: str,
    tally: str,
    candidates: str | None,
    decoding: dict[str, Any],
    shuffled_users: int | None,
    delta: str | None,
    top: int,
    outputs: Outputs,
) -> None:
    """Estimate the frequency of each value from a tally.

    SURVEY is a file from 'anonhist local new' and TALLY a file from 'anonhist local tally'. Estimates cost no budget.
    """
    if shuffled_users is not None and delta is None:
        raise UsageError("--shuffled-users requires --delta D, the δ of the guarantee, such as 1e-9.")
    # The page is about the tally.
    destination = outputs.for_estimate(tally, survey, *([candidates] if candidates else []))
    from anonhist.local.files import read_survey, read_tally
    from anonhist.local.page import write_frequencies

    made_by, counted = read_survey(survey), read_tally(tally)
    central = None if delta is None else made_by.shuffled_guarantee(shuffled_users or counted.users, delta)
    listed = None if candidates is None else labels_in(candidates, what="the values to estimate")
    found = made_by.estimate(counted, candidates=listed, **decoding)
    destination.write(
        found,
        lambda stream: _say(found, central, stream, shown=0 if destination.is_piped else top),
        page=partial(write_frequencies, shuffled=central),
    )


_RAPPOR_SECTIONS = {
    "Estimate": ("decoder", "correction", "level"),
    "Output": ("top", "output", "report", "title", "force", "quiet"),
}
_RAPPOR_EXAMPLES = """
anonhist local rappor params.csv counts.csv map.csv
anonhist local rappor params.csv counts.csv map.csv --report out.html -o table.csv
"""


@click.command(cls=SectionedCommand, sections=_RAPPOR_SECTIONS, epilog=_RAPPOR_EXAMPLES)
@click.argument("params")
@click.argument("counts")
@click.argument("candidates", metavar="MAP")
@decoding_options
@_top_option
@_output_options
def rappor(
    *,
    params: str,
    counts: str,
    candidates: str,
    decoding: dict[str, Any],
    top: int,
    outputs: Outputs,
) -> None:
    """Estimate frequencies from files in the format of google/rappor.

    PARAMS, COUNTS and MAP are its CSV files. PARAMS has the parameters k, h, m, p, q and f. COUNTS has the number of
    reports in each cohort with each bit set. MAP has the candidates and the bits they set.
    """
    destination = outputs.for_estimate(counts, params, candidates)
    from anonhist.local.rappor_counts import read_rappor

    collected, listed = read_rappor(params, counts, candidates)
    found = collected.estimate(listed, **decoding)
    destination.write(found, lambda stream: _say(found, None, stream, shown=0 if destination.is_piped else top))
