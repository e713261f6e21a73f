"""``anonhist sketch …``: the commands of private sketches and their options."""

from __future__ import annotations

from typing import Any

import click

from anonhist.cli.options import (
    delimiter_option,
    force_option,
    label_option,
    max_per_user_option,
    no_header_option,
    relation_option,
    simulations_option,
    table_option,
)
from anonhist.cli.sections import SectionedCommand

# Written out, so that help needs no more than this; tests hold them to what there is.
DECODER_NAMES = (
    "empirical-bayes",
    "decompounding",
    "maximum-likelihood",
    "isotonic",
    "three-tap",
    "wu-pagh",
    "fourier",
)

_NEW_SECTIONS = {
    "What to count": ("buckets", "alphabet", "sampling_rate", "key", "like"),
    "What to promise": (
        *("epsilon", "unit", "max_per_user", "users_in", "relation"),
        *("honest_parties", "session", "adversary"),
    ),
    "What to write": ("output", "force", "quiet"),
}
_NEW_EXAMPLES = """
anonhist sketch new --buckets 1e6 --epsilon 1 -o day1.sketch
anonhist sketch new --like day1.sketch -o day2.sketch
anonhist sketch new --alphabet words.txt --epsilon 0.5 --max-per-user 5 -o users.sketch
"""
_UPDATE_SECTIONS = {
    "What to read": ("label", "count", "user", "ignore_unknown", "table", "format_", "delimiter", "no_header"),
    "What to say": ("quiet",),
}
_UPDATE_EXAMPLES = """
anonhist sketch update day1.sketch events.parquet --label query
anonhist sketch update day1.sketch 'logs/*.csv.gz' counted.csv --label query
cut -f3 access.log | anonhist sketch update day1.sketch - --format labels
anonhist sketch update users.sketch log.parquet --label query --user account
"""
_MERGE_EXAMPLES = """
anonhist sketch merge day1.sketch day2.sketch -o week.sketch
"""
_PROFILE_SECTIONS = {
    "How to read it": ("decoder", "simulations"),
    "What to write": ("output", "report", "force", "quiet"),
}
_PROFILE_EXAMPLES = """
anonhist sketch profile week.sketch -o release.json --report week.html
anonhist sketch profile week.sketch --decoder wu-pagh -o - | head
"""

_RECOMMEND_EXAMPLES = """
anonhist sketch recommend --labels 1e6 --epsilon 1
anonhist sketch recommend --labels 1e7 --epsilon 0.5 --max-bytes 1e7
"""

_unit_option = click.option(
    "--unit",
    type=click.Choice(("item", "user")),
    help="Whom to protect: one item (a row), or one user. By default users where --max-per-user limits them, else "
    "items.",
)
_quiet_option = click.option("--quiet", is_flag=True, help="Say nothing but errors.")


@click.group()
def sketch() -> None:
    """Keep counters that are private from their first moment.

    A sketch has its noise from the start. It takes updates from streams, merges across machines, fits in memory whose
    size is known beforehand, and still yields the profile: how many labels occur once, twice, and so on.
    """


@sketch.command(cls=SectionedCommand, sections=_NEW_SECTIONS, epilog=_NEW_EXAMPLES)
@click.option("--buckets", metavar="B", help="Labels are not known: how many counters to throw them into, such as 1e6.")
@click.option("--alphabet", metavar="FILE", help="Labels are known: file of all there can be, one a line.")
@click.option(
    "--like",
    metavar="SKETCH",
    help="Take all this from another sketch, so that both can be merged; the noise is drawn anew.",
)
@click.option(
    "--sampling-rate",
    metavar="S",
    help="Count only a share of all labels, chosen by their hash, such as 1/10; that alone makes nothing private.",
)
@click.option(
    "--key",
    metavar="TEXT",
    help="Public text from which the hashes are made, chosen before the data.  [default with --buckets: random]",
)
@click.option("--epsilon", metavar="E", help="What the sketch may cost in all, such as 1; no default.")
@_unit_option
@max_per_user_option
@click.option(
    "--users-in",
    type=click.Choice(("every-sketch", "one-sketch")),
    help="With --max-per-user: a user may have as many items in every sketch that is merged, so that budgets add up, "
    "or, as everybody knows, is in one of them only.  [default: every-sketch]",
)
@click.option(
    "--relation",
    type=click.Choice(("add-or-remove", "substitute")),
    help="What may not show: that one unit was added or removed, or that one was replaced by another (twice the "
    "noise).  [default: add-or-remove]",
)
@click.option(
    "--honest-parties",
    metavar="H",
    help="Draw only a share of the noise, one of H: the sum of the sketches is private if H parties besides the "
    "adversary do so, no single one is. Nobody may see one before they are added under encryption.",
)
@click.option("--session", metavar="NAME", help="With --honest-parties: what is added up; the same for all parties.")
@click.option(
    "--adversary",
    type=click.Choice(("party", "outsider")),
    help="With --honest-parties: from whom to protect, also from the parties, each of which knows its own share, or "
    "from outsiders only.  [default: party]",
)
@click.option("-o", "--output", required=True, metavar="FILE.sketch", help="Where to write the sketch.")
@force_option
@_quiet_option
def new(**options: Any) -> None:
    """Make a sketch of no data yet, with all its noise.

    Give one of --buckets, --alphabet and --like.
    """
    from anonhist.cli.sketch.new import run_new

    run_new(**options)


@sketch.command(cls=SectionedCommand, sections=_UPDATE_SECTIONS, epilog=_UPDATE_EXAMPLES)
@click.argument("path", metavar="SKETCH")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")
@label_option
@click.option("--count", metavar="COLUMN", help="Column that says how many items a row stands for; else each is one.")
@click.option(
    "--user",
    metavar="COLUMN",
    help="Column of users, for a sketch that protects users: of each, no more rows are counted than it says.",
)
@click.option("--ignore-unknown", is_flag=True, help="Leave out labels that the sketch does not list; else it refuses.")
@table_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(("events", "labels", "counts")),
    help="What a row is: an event, a label and nothing else, or a label with its count. By default the header decides "
    "(label,count is known), and JSON lines are events. Of standard input say this (labels: one a line), or --label "
    "for CSV.",
)
@delimiter_option
@no_header_option
@_quiet_option
def update(**options: Any) -> None:
    """Count labels in a sketch: its file changes, all at once or not at all.

    SOURCE is a file (.csv, .tsv, .jsonl or .parquet; .gz and .zst too), a pattern, a database, or - for standard input:
    with --format labels a stream of any length, or CSV of which the --label is named.

    Updates of one file wait for each other. With --user, a user's rows must all come in one call. Whoever sees the
    sketch, or a profile made of it, before an update and again after it, can learn what was counted in between.
    """
    from anonhist.cli.sketch.update import run_update

    run_update(**options)


@sketch.command(cls=SectionedCommand, sections={}, epilog=_MERGE_EXAMPLES)
@click.argument("sources", nargs=-1, required=True, metavar="SKETCH…")
@click.option("-o", "--output", required=True, metavar="FILE.sketch", help="Where to write the sketch.")
@force_option
@_quiet_option
def merge(**options: Any) -> None:
    """Add sketches of different data: their counts, and their noise.

    They must have the same labels or the same key and buckets, and protect the same; 'anonhist sketch new --like' makes
    such. Copies of one sketch are refused. Where users are protected, budgets add up, unless each user is said to be in
    one of the sketches only (--users-in one-sketch).
    """
    from anonhist.cli.sketch.update import run_merge

    run_merge(**options)


@sketch.command(cls=SectionedCommand, sections=_PROFILE_SECTIONS, epilog=_PROFILE_EXAMPLES)
@click.argument("path", metavar="SKETCH")
@click.option(
    "--decoder",
    type=click.Choice(DECODER_NAMES),
    metavar="NAME",
    help="How to read the profile from the counters; by default what errs least. A wrong name lists them.",
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
@_quiet_option
def profile(**options: Any) -> None:
    """Read the profile from a sketch: a release like any other.

    It costs no more privacy, as often as it is done with one state of the sketch. Read a sketch when it is complete:
    from profiles before and after an update one can learn what was counted in between.

    Without -o, a terminal gets release.json in the working directory, and a pipe gets CSV on standard output.
    """
    from anonhist.cli.sketch.read import run_profile

    run_profile(**options)


@sketch.command(cls=SectionedCommand, sections={}, epilog=_RECOMMEND_EXAMPLES)
@click.option(
    "--labels",
    required=True,
    metavar="M",
    help="About how many different labels there will be, such as 1e6: a guess that says nothing of the data.",
)
@click.option("--epsilon", required=True, metavar="E", help="What the sketch may cost in all, such as 1; no default.")
@_unit_option
@max_per_user_option
@relation_option
@click.option("--max-bytes", metavar="B", help="How large the counters may be, such as 8e6.")
@click.option("-o", "--output", metavar="FILE.csv", help="Where to write; - or a pipe gets CSV on standard output.")
@force_option
@_quiet_option
def recommend(**options: Any) -> None:
    """Say how many buckets to take for labels that cannot be listed, from expected errors.

    Errors are simulated for labels with prevalences that fall as one over the square of the count.
    """
    from anonhist.cli.sketch.recommend import run_recommend

    run_recommend(**options)


@sketch.command()
@click.argument("path", metavar="SKETCH")
def info(path: str) -> None:
    """Say what a sketch is and what it promises, but nothing of what was counted."""
    from anonhist.cli.sketch.read import run_info

    run_info(path)
