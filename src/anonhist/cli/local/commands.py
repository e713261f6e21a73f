"""``anonhist local …``: the commands of local privacy and their options."""

from __future__ import annotations

from typing import Any

import click

from anonhist.catalogue.randomizers import OPTIONS, RANDOMIZERS
from anonhist.cli.options import (
    all_options,
    catalogue_option,
    delimiter_option,
    force_option,
    label_option,
    level_option,
    no_header_option,
)
from anonhist.cli.sections import SectionedCommand

# Written out, so that help needs no more than this; tests hold them to what there is.
DECODER_NAMES = ("projected", "normalized", "unbiased", "least-squares", "mle", "em")
CORRECTION_NAMES = ("holm", "bonferroni", "benjamini-hochberg")

_NEW_SECTIONS = {
    "What to promise": ("epsilon",),
    "What to ask for": ("alphabet", "alphabet_size", "other"),
    "How to randomise": ("mechanism", *OPTIONS),
    "What to write": ("title", "output", "force", "quiet"),
}
_NEW_EXAMPLES = """
anonhist local new --mechanism subset-selection --alphabet words.txt --epsilon 1 -o survey.json
anonhist local new --mechanism k-rr --alphabet-size 10 --epsilon 2 -o survey.json
anonhist local new --mechanism o-rr --buckets 256 --cohorts 8 --key pets --epsilon 4 -o survey.json
"""
_RANDOMIZE_SECTIONS = {
    "What to read": ("label", "format_", "delimiter", "no_header"),
    "What to write": ("output", "force", "quiet"),
}
_RANDOMIZE_EXAMPLES = """
anonhist local randomize survey.json values.csv --label word -o reports.parquet
cat values.txt | anonhist local randomize survey.json - --format labels -o - | gzip > reports.ndjson.gz
"""
_TALLY_EXAMPLES = """
anonhist local tally survey.json reports-1.parquet reports-2.csv.gz -o tally.json
anonhist local tally survey.json monday.json tuesday.json 'wednesday/*.ndjson' -o week.json
"""
_decoding_options = all_options(
    click.option(
        "--decoder",
        type=click.Choice(DECODER_NAMES),
        metavar="NAME",
        help="From raw estimates to shares: projected, normalized, unbiased, least-squares, mle or em.  [default: "
        "projected, or least-squares where values can collide]",
    ),
    click.option(
        "--correction",
        type=click.Choice(CORRECTION_NAMES),
        metavar="NAME",
        help="For testing many values at once: holm, bonferroni or benjamini-hochberg.  [default: holm]",
    ),
    level_option("Probability with which intervals are meant to hold, and tests not to err."),
)
_estimate_outputs = all_options(
    click.option("--top", default="20", show_default=True, metavar="N", help="How many values to show on a terminal."),
    click.option(
        "-o", "--output", metavar="FILE", help="Where to write: FILE.csv, FILE.json, or - for CSV, as in a pipe."
    ),
    click.option("--report", metavar="FILE.html", help="Also write a page with a plot and how to read it."),
)

_ESTIMATE_SECTIONS = {
    "What to estimate": ("candidates", "decoder", "correction", "level"),
    "What to promise besides": ("shuffled_users", "delta"),
    "What to write": ("top", "output", "report", "force", "quiet"),
}
_ESTIMATE_EXAMPLES = """
anonhist local estimate survey.json tally.json --report out.html
anonhist local estimate survey.json tally.json --candidates urls.txt -o urls.csv
anonhist local estimate survey.json tally.json --decoder mle --delta 1e-9
"""
_RAPPOR_SECTIONS = {
    "What to estimate": ("decoder", "correction", "level"),
    "What to write": ("top", "output", "report", "force", "quiet"),
}

_RAPPOR_EXAMPLES = """
anonhist local rappor params.csv counts.csv map.csv
anonhist local rappor params.csv counts.csv map.csv --report out.html -o table.csv
"""

_RECOMMEND_EXAMPLES = """
anonhist local recommend --alphabet-size 1000 --epsilon 1 --users 1e6
anonhist local recommend --alphabet-size 22000 --epsilon 5 --users 1e4 --max-bytes 4
"""

_quiet_option = click.option("--quiet", is_flag=True, help="Say nothing but errors.")


@click.group()
def local() -> None:
    """Learn how frequent values are from randomised reports.

    Every person's value is randomised on their own device, so nobody need be trusted with it; many reports together
    still show how frequent each value is.
    """


@local.command(cls=SectionedCommand, sections=_NEW_SECTIONS, epilog=_NEW_EXAMPLES)
@click.option(
    "--mechanism",
    required=True,
    metavar="NAME",
    type=click.Choice(tuple(RANDOMIZERS)),
    help="How values are randomised; 'anonhist local recommend' says which errs least. A wrong name lists them.",
)
@click.option("--epsilon", metavar="E", help="What one report may cost the person who sends it, such as 1; no default.")
@click.option("--alphabet", metavar="FILE", help="File of all values there can be, one a line.")
@click.option("--alphabet-size", metavar="K", help="Instead: values are the whole numbers from 0 to K - 1.")
@click.option("--other", metavar="LABEL", help="What stands for every value outside of --alphabet; else it is refused.")
@all_options(*(catalogue_option(name, option) for name, option in OPTIONS.items()))
@click.option("--title", default="", metavar="TEXT", help="Name of the survey; surveys with other names do not mix.")
@click.option(
    "-o",
    "--output",
    metavar="FILE.json",
    help="Where to write; by default survey.json, or standard output in a pipe.",
)
@force_option
@_quiet_option
def new(**options: Any) -> None:
    """Make a survey: the public configuration that all devices and servers share.

    It says how values are randomised and what that promises. Everybody may read it.
    """
    from anonhist.cli.local.new import run_new

    run_new(**options)


@local.command(cls=SectionedCommand, sections=_RANDOMIZE_SECTIONS, epilog=_RANDOMIZE_EXAMPLES)
@click.argument("survey")
@click.argument("source")
@label_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(("events", "labels")),
    help="What a row is: an event, or a label and nothing else. By default events. Of standard input say this (labels: "
    "one a line), or --label for CSV.",
)
@delimiter_option
@no_header_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write: FILE.parquet, FILE.csv, FILE.ndjson, or - for JSON lines on standard output. By default "
    "reports.parquet, or - in a pipe.",
)
@force_option
@_quiet_option
def randomize(**options: Any) -> None:
    """Make the reports that devices with these values would send.

    For simulations and tests: where values lie together in one file, somebody was trusted with them already.

    SURVEY is a file that 'anonhist local new' wrote. SOURCE has a row a person, of which the label is randomised: a
    file (.csv, .tsv, .jsonl or .parquet; .gz and .zst too), a pattern, or - for standard input, of which say what it
    holds: --format labels, or --label COLUMN of CSV.
    """
    from anonhist.cli.local.collect import run_randomize

    run_randomize(**options)


@local.command(cls=SectionedCommand, sections={}, epilog=_TALLY_EXAMPLES)
@click.argument("survey")
@click.argument("sources", nargs=-1, required=True, metavar="REPORTS…")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write: FILE.json, or FILE.parquet if long. By default tally.json, or JSON in a pipe.",
)
@click.option(
    "--skip-bad",
    default="0",
    metavar="N",
    help="Leave out up to N rows that are no reports of SURVEY, and say how many; by default one such row is an error.",
)
@force_option
@_quiet_option
def tally(**options: Any) -> None:
    """Count reports: all that an estimate needs, and less to keep.

    REPORTS are any number of files (.parquet, .csv, .ndjson, .jsonl; .gz and .zst too), patterns, - for JSON lines or
    CSV on standard input, or tallies (.json) of the same survey, which are added.
    """
    from anonhist.cli.local.collect import run_tally

    run_tally(**options)


@local.command(cls=SectionedCommand, sections=_ESTIMATE_SECTIONS, epilog=_ESTIMATE_EXAMPLES)
@click.argument("survey")
@click.argument("tally", metavar="TALLY")
@click.option(
    "--candidates",
    metavar="FILE",
    help="File of values to estimate, one a line: needed where any text may be answered. Choose them before you look.",
)
@_decoding_options
@click.option(
    "--shuffled-users",
    metavar="N",
    help="Also say what is promised where somebody trusted mixes the reports of N people; by default those of TALLY.",
)
@click.option("--delta", metavar="D", help="For that: how much the promise may miss, such as 1e-9.")
@_estimate_outputs
@force_option
@_quiet_option
def estimate(**options: Any) -> None:
    """Estimate how frequent each value is among those who reported.

    SURVEY and TALLY are files of 'anonhist local new' and 'anonhist local tally'. Estimating costs no privacy.
    """
    from anonhist.cli.local.estimate import run_estimate

    run_estimate(**options)


@local.command(cls=SectionedCommand, sections=_RAPPOR_SECTIONS, epilog=_RAPPOR_EXAMPLES)
@click.argument("params")
@click.argument("counts")
@click.argument("candidates", metavar="MAP")
@_decoding_options
@_estimate_outputs
@force_option
@_quiet_option
def rappor(**options: Any) -> None:
    """Decode what google/rappor collected.

    PARAMS, COUNTS and MAP are its CSV files: the parameters k, h, m, p, q and f; how many reports of each cohort have
    each bit; and the candidates with the bits that they set.
    """
    from anonhist.cli.local.estimate import run_rappor

    run_rappor(**options)


@local.command(cls=SectionedCommand, sections={}, epilog=_RECOMMEND_EXAMPLES)
@click.option("--alphabet-size", required=True, metavar="K", help="How many values there can be.")
@click.option("--epsilon", required=True, metavar="E", help="What one report may cost, such as 1.")
@click.option("--users", required=True, metavar="N", help="How many people will report, such as 1e6.")
@click.option("--max-bytes", metavar="B", help="How large a report may be at most.")
@click.option("-o", "--output", metavar="FILE.csv", help="Where to write; - or a pipe gets CSV on standard output.")
@force_option
@_quiet_option
def recommend(**options: Any) -> None:
    """Say which mechanism to take, from its expected error and the size of reports."""
    from anonhist.cli.local.recommend import run_recommend

    run_recommend(**options)
