"""``anonhist sketch update`` and ``profile``: add data to a sketch, and release its profile."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from anonhist.privacy import parse_simulations, parse_whole_number
from anonhist.terminal.charging import AskedAccount, charging_options
from anonhist.terminal.decorators import NameIn, OneOf, SectionedCommand, as_one, whole_number
from anonhist.terminal.destinations import STDOUT, Outputs
from anonhist.terminal.options import (
    count_option,
    delimiter_option,
    engine_option,
    label_option,
    memory_limit_option,
    no_header_option,
    quiet_option,
    release_output_options,
    simulations_option,
    table_option,
    threads_option,
)
from anonhist.terminal.reading import held_source, reading_of, tell_operator

if TYPE_CHECKING:
    from anonhist.sketches.cluster import Partials
    from anonhist.sketches.decoder import DecoderName

Format = Literal["events", "labels", "counts", "uniq"]
_UPDATE_SECTIONS = {
    "Input": (
        *("label", "count", "user", "ignore_unknown", "table", "format_", "delimiter", "no_header"),
        *("engine", "memory_limit", "threads", "partials"),
    ),
    "Messages": ("quiet",),
}
_UPDATE_EXAMPLES = """
anonhist sketch update day1.sketch events.parquet --label query
anonhist sketch update day1.sketch 'logs/*.csv.gz' counted.csv --label query
cut -f3 access.log | anonhist sketch update day1.sketch - --format labels
anonhist sketch update users.sketch log.parquet --label query --user account
"""


def _partials(_: click.Context, __: click.Parameter, given: str | None) -> Partials | None:
    """Parse which partitions of a cluster add noise."""
    if given is None:
        return None
    from anonhist.sketches.cluster import MOST_PARTITIONS, ExactPartials, NoisyPartials

    if given == "exact":
        return ExactPartials()
    return NoisyPartials(
        parse_whole_number(whole_number(given, name="--partials"), name="--partials", most=MOST_PARTITIONS)
    )


@click.command(cls=SectionedCommand, sections=_UPDATE_SECTIONS, epilog=_UPDATE_EXAMPLES)
@click.argument("path", metavar="SKETCH")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")
@as_one(
    "reading",
    label_option,
    count_option,
    click.option(
        "--user",
        metavar="COLUMN",
        help="Column of users, for a sketch that protects users. The sketch bounds how many rows of each user count.",
    ),
    table_option,
    click.option(
        "--format",
        "format_",
        type=OneOf(get_args(Format)),
        help="What each row holds: an event, only a label, a label with its count, or a line of uniq -c. By default, "
        "the header decides (label,count is recognized), and JSON lines are events. For standard input, give this "
        "(labels: one per line), or --label for CSV.",
    ),
    delimiter_option,
    no_header_option,
    engine_option,
    memory_limit_option("data that do not fit are an error, since nothing goes to temporary files"),
    threads_option,
    made=reading_of,
)
@click.option(
    "--ignore-unknown", is_flag=True, help="Skip labels that the sketch does not list; by default, they are an error."
)
@click.option(
    "--partials",
    metavar="exact|K",
    callback=_partials,
    help="Required for a table or files that Spark reads: exact, if partitions may send counts without noise to the "
    "driver, or K, to give each of K partitions noise of its own, all of which stays in the sketch.",
)
@quiet_option
def update(
    *,
    path: str,
    sources: tuple[str, ...],
    reading: dict[str, Any],
    ignore_unknown: bool,
    partials: Partials | None,
    quiet: bool,
) -> None:
    """Add data to a sketch, all at once or not at all.

    SOURCE is a file (.csv, .tsv, .jsonl or .parquet; .gz and .zst too), a pattern, a database, or - for standard input:
    a stream of any length (--format labels), or CSV (--label COLUMN).

    Updates of one sketch wait for each other. With --user, all rows of a user must be in one call. Anyone who sees the
    sketch, or a profile made from it, both before and after an update can learn what was counted in between.
    """
    from anonhist.sketches.files import sketch_in_place
    from anonhist.sketches.reading import check_sources, update_sketch
    from anonhist.terminal.output import progress_bar, stream_bar

    remarks: list[str] = []
    with sketch_in_place(path, waiting=None if quiet else _say_waiting) as sketch:
        check_sources(sketch, sources)
        for place, source in enumerate(sources):
            with ExitStack() as shown:
                bar = counted = None
                if source == STDOUT:
                    counted = shown.enter_context(stream_bar("Counting", shown=not quiet))
                else:
                    told = "Counting" if len(sources) == 1 else f"Counting {place + 1} of {len(sources)}"
                    bar = shown.enter_context(progress_bar(told, shown=not quiet))
                held, said = held_source(source, reading)
                update_sketch(
                    sketch,
                    held,
                    ignore_unknown=ignore_unknown,
                    notify=None if quiet else remarks.append,
                    progress=bar,
                    partials=partials,
                    counted=counted,
                    **said,
                )
    tell_operator(remarks, quiet=quiet)
    if not quiet:
        click.echo(f"Wrote {path}.")


def _say_waiting() -> None:
    if sys.stderr.isatty():
        click.echo("Another process is changing this sketch; waiting for it.", err=True)


_PROFILE_SECTIONS = {
    "Decoding": ("decoder", "simulations"),
    "Ledger": charging_options.names,
    "Output": ("output", "report", "title", "force", "quiet"),
}
_PROFILE_EXAMPLES = """
anonhist sketch profile week.sketch -o release.json --report week.html
anonhist sketch profile week.sketch --decoder wu-pagh -o - | head
"""


@click.command(cls=SectionedCommand, sections=_PROFILE_SECTIONS, epilog=_PROFILE_EXAMPLES)
@click.argument("path", metavar="SKETCH")
@click.option(
    "--decoder",
    type=NameIn(".sketches.release:DECODERS"),
    metavar="NAME",
    help="How to estimate the profile from the counters; by default, the most accurate decoder. An unknown name lists "
    "all.",
)
@simulations_option
@charging_options
@release_output_options()
def profile(
    *, path: str, decoder: DecoderName | None, simulations: int | None, account: AskedAccount, outputs: Outputs
) -> None:
    """Release the profile of a sketch.

    Reading one state of a sketch costs no more budget, however often it is read. Read a sketch only when it is
    complete: profiles from before and after an update reveal what was counted in between.

    With --ledger, the guarantee of the sketch is charged when a state is first read; reading it again costs no more.
    For merged sketches, earlier charges for their parts are subtracted. A sketch that was already read in another state
    is refused.

    Without -o, the release is written to release.json in the working directory, or as CSV to standard output in a pipe.
    """
    if simulations is not None:
        parse_simulations(simulations, name="--simulations")
    account.check()
    from anonhist.numeric.pulse import tell_share
    from anonhist.sketches.files import read_sketch
    from anonhist.sketches.release import prepare_reading
    from anonhist.terminal.display import write_release
    from anonhist.terminal.output import progress_bars

    prepared = prepare_reading(read_sketch(path), decoder, simulations=simulations)
    destination = account.destined(partial(outputs.for_release, path), prepared.price)
    with account.charged(prepared.price) as recorded:
        # From here on, the ledger has a fingerprint of the state.
        recorded.keep()
        with progress_bars(
            "Estimating errors", shown=not outputs.quiet, is_public=True, first="Reading the sketch"
        ) as bars:
            with tell_share(bars.reading, 0.0, 1.0):
                released = replace(prepared.release(), receipt=recorded.receipt)
            released = released.with_error(progress=bars.working)
        write_release(released, destination, recorded)
