"""The commands and their options."""

from __future__ import annotations

from typing import Any

import click

from anonhist.catalogue.mechanisms import MECHANISMS, PUBLIC_NUMBERS
from anonhist.catalogue.mechanisms import OPTIONS as MECHANISM_OPTIONS
from anonhist.catalogue.properties import OPTIONS as PROPERTY_OPTIONS
from anonhist.catalogue.properties import PROPERTIES
from anonhist.cli.central.excess import EXCESS, excess_share_options
from anonhist.cli.degrees.command import degrees
from anonhist.cli.local.commands import local
from anonhist.cli.options import (
    READING,
    all_options,
    catalogue_option,
    force_option,
    level_option,
    max_per_user_option,
    mechanism_options,
    option_word,
    planned_unit_options,
    promise_options,
    reading_options,
    simulations_option,
)
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.sketch.commands import sketch
from anonhist.errors import UsageError, spell_out
from anonhist.version import __version__

_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_RELEASE_SECTIONS = {
    "What to read": READING,
    "What to promise": ("epsilon", "unit", "max_per_user", *EXCESS, "max_count", "relation"),
    "How to release": ("mechanism", *MECHANISM_OPTIONS, "expected_items", "simulations"),
    "What to write": ("output", "report", "force", "quiet"),
}

_RELEASE_EXAMPLES = """
anonhist release events.parquet --label query --epsilon 1
anonhist release log.csv.gz --label password --user account --max-per-user 1 --epsilon 0.5
anonhist release 'duckdb:///shop.db' --table orders --label sku --epsilon 1
cut -f3 access.log | anonhist release - --format labels --epsilon 1 -o -
"""

# Of the rest mechanisms take part with their defaults.
_COMPARED = (*PUBLIC_NUMBERS, "shares")
_COMPARE_SECTIONS = {
    "What to read": READING,
    "What to promise": ("epsilon", "unit", "max_per_user", "max_count", "relation"),
    "What to compare": ("mechanism", "repeats", *_COMPARED),
    "What to write": ("output", "report", "force", "quiet"),
}

_COMPARE_EXAMPLES = """
anonhist compare data/pw_phpbb.csv --epsilon 0.1,0.5,1,2,4
anonhist compare data/pw_phpbb.csv --epsilon 1 --mechanism auto,privhist --repeats 100
anonhist compare data/pw_phpbb.csv --epsilon 0.1,1 -o table.csv --report compare.html
"""

_ESTIMATE_SECTIONS = {
    "What to estimate": (*PROPERTY_OPTIONS, "level"),
    "What to read": READING,
    "What to promise, for a private estimate": (
        "epsilon",
        "unit",
        "max_per_user",
        "max_count",
        "relation",
        "public_items",
    ),
    "What to write": ("output", "force", "quiet"),
}

_ESTIMATE_EXAMPLES = """
anonhist estimate entropy data.parquet --label query
anonhist estimate support-size data.csv --label species --method chao1 --level 0.99
anonhist estimate support-coverage data.csv --label word --draws 200000
anonhist estimate entropy data.csv --label query --epsilon 1 --alphabet-size 100000
anonhist estimate all release.json
"""

_CURVE_SECTIONS = {
    "What to draw": ("draws", "points", "order", "bootstraps", "level"),
    "What to read": (*READING, "max_per_user"),
    "What to write": ("output", "report", "force", "quiet"),
}

_CURVE_EXAMPLES = """
anonhist curve rarefaction data/bci_trees.csv --report trees.html
anonhist curve guessing data.csv --label password --report curves.html
anonhist curve hill data/bci_trees.csv --order 0:2:0.5 -o hill.csv
anonhist curve rarefaction release.json --draws 1e6
"""

_PLAN_SECTIONS = {
    "What to plan for": ("items", "epsilon", "shape", "like"),
    "What to promise": ("unit", "max_per_user", "max_count", "relation"),
    "What to write": ("output", "force"),
}

_PLAN_EXAMPLES = """
anonhist plan --items 1e9 --epsilon 0.1,1,2
anonhist plan --like release.json --items 1e6 --epsilon 1
"""


@click.group(context_settings=_HELP)
@click.version_option(__version__, prog_name="anonhist", message="%(prog)s %(version)s")
def anonhist() -> None:
    """How often things occur, released with differential privacy, without saying which things.

    'anonhist COMMAND --help' explains a command and its options.

    Exit codes: 0 done, 2 wrong usage, 3 bad data or output, 130 interrupted.
    """


anonhist.add_command(degrees)
anonhist.add_command(local)
anonhist.add_command(sketch)


@anonhist.command(cls=SectionedCommand, sections=_RELEASE_SECTIONS, epilog=_RELEASE_EXAMPLES)
@click.argument("source")
@click.option(
    "--epsilon",
    required=True,
    metavar="E",
    help="How much privacy to spend in all, such as 1 or 0.5: less is more private and less accurate. No default.",
)
@reading_options
@promise_options
@excess_share_options
@click.option(
    "--mechanism",
    default="auto",
    show_default=True,
    metavar="NAME",
    help=f"How noise is added: auto, which picks what errs least and says why, or {', '.join(MECHANISMS)}.",
)
@mechanism_options(MECHANISM_OPTIONS)
@click.option(
    "--expected-items",
    metavar="N",
    help="About how many items there are, such as 1e9, if that is public; helps auto to pick for huge data.",
)
@simulations_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write: FILE.json (everything), FILE.csv, FILE.parquet, or - for CSV on standard output.",
)
@click.option("--report", metavar="FILE.html", help="Also write a page with plots and the promise in plain words.")
@force_option
@click.option("--quiet", is_flag=True, help="Say nothing but errors.")
def release(**options: Any) -> None:
    """Turn events or counts into a private profile.

    A profile says how many labels occur once, how many twice, and so on, but not which.

    SOURCE is a file (.csv, .tsv, .jsonl or .parquet; .gz and .zst too), a pattern such as 'logs/*.csv', a database
    (duckdb:///FILE; sqlite:///FILE and postgresql://… with the extra [ibis]), or - for standard input, of which say
    what it holds: --format labels, --label COLUMN of CSV, or another format.

    Without -o, a terminal gets release.json in the working directory, and a pipe gets CSV on standard output.
    """
    from anonhist.cli.central.release import run_release

    run_release(**options)


@anonhist.command(cls=SectionedCommand, sections=_COMPARE_SECTIONS, epilog=_COMPARE_EXAMPLES)
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
@mechanism_options(_COMPARED)
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
@click.option("--report", metavar="FILE.html", help="Also write a page with plots of the errors against epsilon.")
@force_option
@click.option("--quiet", is_flag=True, help="Say nothing but errors, and that comparing is not private.")
def compare(**options: Any) -> None:
    """Run mechanisms side by side, on data that you may look at.

    Comparing on private data is itself not private: every number shown tells of the data. Use public data, or a
    released .json or .parquet file.

    Each mechanism makes real releases of SOURCE, which is read as by 'anonhist release', and each is compared with the
    truth. Public numbers that are not given are taken from the data.
    """
    from anonhist.cli.central.compare import run_compare

    run_compare(**options)


_MEANINGS = {"all": "everything below, by every method, in one table"}
_MEANINGS |= {name: spell_out(entry.meaning, lambda word, _: option_word(word)) for name, entry in PROPERTIES.items()}
# The sign keeps click from filling the lines below it.
_ESTIMATE_HELP = f"""Estimate a property of the distribution behind the data.

How many labels there really are, how many a larger sample will bring, how much entropy they have, how hard passwords
are to guess: a number, its interval, its method and what that assumes.

\b
PROPERTY is one of
{chr(10).join(f"  {name:<22}  {meaning}" for name, meaning in _MEANINGS.items())}

SOURCE is read as by 'anonhist release'; from a released .json or .parquet file estimates are private and free.
"""


@anonhist.command(cls=SectionedCommand, sections=_ESTIMATE_SECTIONS, epilog=_ESTIMATE_EXAMPLES, help=_ESTIMATE_HELP)
@click.argument("property_", metavar="PROPERTY", type=click.Choice(tuple(_MEANINGS)))
@click.argument("source")
@all_options(*(catalogue_option(name, option) for name, option in PROPERTY_OPTIONS.items()))
@level_option("Probability with which the interval is meant to hold the truth.")
@click.option(
    "--epsilon",
    metavar="E",
    help="Make the estimate private, and spend so much on it. Without it numbers are exact and not private.",
)
@reading_options
@promise_options
@click.option(
    "--public-items",
    metavar="N",
    help="The number of items, if everybody knows it.",
)
@click.option("-o", "--output", metavar="FILE.csv", help="Where to write; - or a pipe gets CSV on standard output.")
@force_option
@click.option("--quiet", is_flag=True, help="Say nothing but errors, and that numbers are not private.")
def estimate(**options: Any) -> None:
    """Estimate a property; the help is above, since it lists them all."""
    from anonhist.cli.central.estimate import run_estimate

    run_estimate(**options)


def _has_no_epsilon(_: click.Context, __: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise UsageError(
            "A curve is made private by a release: give --epsilon to 'anonhist release', and draw the curve from its "
            "file, which costs nothing more."
        )


@anonhist.command(cls=SectionedCommand, sections=_CURVE_SECTIONS, epilog=_CURVE_EXAMPLES)
@click.argument("kind", metavar="KIND", type=click.Choice(("rarefaction", "guessing", "hill")))
@click.argument("source")
@click.option("--draws", metavar="M", help="For rarefaction: up to how many draws.  [default: twice the items]")
@click.option(
    "--points",
    metavar="P",
    help="For rarefaction and guessing: at how many places to compute.  [default: 100]",
)
@click.option(
    "--order",
    metavar="Q,Q,…",
    help="For hill: which orders, from 0 to 12, as a list or as FIRST:LAST:STEP.  [default: 0:3:0.1]",
)
@click.option(
    "--bootstraps",
    metavar="B",
    default="50",
    show_default=True,
    help="How many samples are drawn for the band, at least 3.",
)
@level_option("Probability with which the band is meant to hold the truth, at each place.")
@reading_options
@max_per_user_option
@click.option("--epsilon", hidden=True, expose_value=False, callback=_has_no_epsilon)
@click.option("-o", "--output", metavar="FILE.csv", help="Where to write; - or a pipe gets CSV on standard output.")
@click.option("--report", metavar="FILE.html", help="Also write a page with the curve and how to read it.")
@force_option
@click.option("--quiet", is_flag=True, help="Say nothing but errors, and that a curve is not private.")
def curve(**options: Any) -> None:
    """Draw a curve of estimates of the distribution behind the data, with a band.

    \b
    KIND is one of
      rarefaction  how many labels so many draws would show, fewer or more than
                   there are
      guessing     which share of accounts so many guesses break
      hill         Hill numbers: how many labels there are, the less the rare
                   ones count

    SOURCE is read as by 'anonhist release'. There is no --epsilon here: a curve is private, and free, where SOURCE is a
    released .json or .parquet file; of anything else it is exact and not private.
    """  # noqa: D301  # click wants the sign itself before lines that it is to leave alone
    from anonhist.cli.central.curve import run_curve

    run_curve(**options)


@anonhist.command(cls=SectionedCommand, sections=_PLAN_SECTIONS, epilog=_PLAN_EXAMPLES)
@click.option("--items", metavar="N", help="How many items to plan for, such as 1e9; needed without --like.")
@click.option(
    "--epsilon",
    required=True,
    metavar="E,E,…",
    help="How much privacy to spend, or several amounts to compare: 0.1,1,2.",
)
@click.option(
    "--shape",
    type=click.Choice(("zipf", "worst")),
    help="What the data look like: zipf, where the k-th most frequent label has a k-th of the items of the first, or "
    "worst, the hardest data there are.  [default: zipf]",
)
@click.option("--like", metavar="RELEASE", help="Take size and shape of a released .json or .parquet file instead.")
@planned_unit_options
@click.option("-o", "--output", metavar="FILE.csv", help="Where to write; - or a pipe gets CSV on standard output.")
@force_option
def plan(**options: Any) -> None:
    """Say how accurate a release would be, before touching any data.

    The expected error is in items: how many would have to be moved from label to label, added or removed to turn one
    profile into the other, not minding names.
    """
    from anonhist.cli.central.plan import run_plan

    run_plan(**options)


@anonhist.command()
@click.argument("experiment", type=click.Choice(("inspectre", "kairouz")))
@click.option("--repeats", type=int, metavar="R", help="How many runs of each kind; by default 100, of kairouz 2.")
@click.option("--full", is_flag=True, help="Try all settings of kairouz, always with 10^6 people: 10 minutes a run.")
@click.option("-o", "--output", metavar="FOLDER", help="Where to write; by default a folder named as the experiment.")
@force_option
@click.option("--quiet", is_flag=True, help="Say nothing but errors.")
def reproduce(**options: Any) -> None:
    """Run the experiments of a paper again, and write their errors as CSV and plots.

    inspectre: private entropy and support coverage (Acharya, Kamath, Sun and Zhang 2018, Figures 2 to 5), on synthetic
    data, the words of Hamlet and surnames, beside the same estimators without noise and with the published noise.

    kairouz: distributions from randomised reports (Kairouz, Bonawitz and Ramage 2016): k-RR beside k-RAPPOR, O-RR
    beside O-RAPPOR, by epsilon, buckets, cohorts and hashes, 256 symbols with geometric frequencies.
    """
    from anonhist.cli.reproduction.reproduce import run_reproduce

    run_reproduce(**options)


@anonhist.command()
@click.argument("path", metavar="RELEASE")
def show(path: str) -> None:
    """Show a released file: what it promises and what it says.

    RELEASE is a .json or .parquet file that 'anonhist release', 'degrees' or 'sketch profile' wrote.
    """
    import sys

    from anonhist.cli.central.display import show_summary
    from anonhist.formats.reading import read_release

    show_summary(read_release(path), sys.stdout)
