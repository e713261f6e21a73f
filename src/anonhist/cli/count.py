"""``anonhist count``: events into a part, to be released with the parts of other days."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anonhist.errors import UsageError
from anonhist.terminal.decorators import Brief, SectionedCommand, refuse_given
from anonhist.terminal.destinations import STDOUT, Outputs, check_target
from anonhist.terminal.options import counting_options, output_options, users_option
from anonhist.terminal.protection import Protection
from anonhist.terminal.reading import ENGINE, are_parts, held_source, source_argument, tell_operator

_INPUT = "label", "count", "user", "max_per_user", "where", "keep_null", "table", "format_", "delimiter", "no_header"
_OF_THE_FIRST = ("hash_labels", "order_key", "like", "keep_null", "where")
_SECTIONS = {
    "Part": ("part", "onto", "like", "hash_labels", "order_key"),
    "Input": _INPUT,
    "Engine": ENGINE,
    "Output": ("output", "force", "quiet"),
}
_EXAMPLES = """
anonhist count day-01.parquet --label query -o day-01.counts
anonhist count day-02.parquet --label query --onto total.counts
anonhist count day-03.counts --onto total.counts
anonhist count log.csv --label query --user account --max-per-user 5 -o monday.counts
anonhist count log2.csv --label query --user account --like monday.counts -o tuesday.counts
"""
_BRIEF = Brief(
    ("label", "count", "format_", "table", "user", "max_per_user", "part", "onto", "like", "output", "force"),
    "A part is a private file with exact counts, which 'anonhist release day-*.counts' reads. SOURCE is read as in "
    "'anonhist release', or is one or several parts to add up.",
)


@click.command(cls=SectionedCommand, sections=_SECTIONS, brief=_BRIEF, epilog=_EXAMPLES)
@source_argument
@click.option(
    "--part",
    metavar="NAME",
    help="Public name of these events, such as a date; no name is counted twice.  [default: the name of the output; "
    "with --onto, that of the source]",
)
@click.option(
    "--onto",
    metavar="TOTAL.counts",
    help="Add to this part, a running total, with its settings. The file is replaced in one step; with -o, it stays, "
    "and the new total goes to another file.",
)
@click.option("--like", metavar="PART", help="Take key, bound and other settings from this earlier part.")
@click.option(
    "--hash-labels",
    is_flag=True,
    help="Keep keyed 128-bit hashes instead of labels. They are only pseudonyms, since the part holds the key.",
)
@click.option(
    "--order-key",
    metavar="HEX",
    help="With --user or --hash-labels: key of the hashes, the same for all parts of a release (see --like).  "
    "[default: a new random key, kept in the part]",
)
@counting_options
@users_option
@output_options(
    click.option("-o", "--output", metavar="FILE.counts", help="File to write; only you can read it. See also --onto.")
)
def count(
    *,
    sources: tuple[str, ...],
    part: str | None,
    onto: str | None,
    like: str | None,
    hash_labels: bool,
    order_key: str | None,
    reading: dict[str, Any],
    protection: Protection,
    outputs: Outputs,
) -> None:
    """Count events into a part; a release can combine many parts.

    A part is a private file with exact counts, such as those of one day: 'anonhist release day-*.counts' reads parts
    instead of events. With a bound on users, at most M items of each user count in all parts together. A part is as
    sensitive as the data. Counting spends no privacy budget; releases do.

    SOURCE is read as in 'anonhist release', or is one or several parts to add up.
    """
    _check(sources, onto, like, outputs)
    _check_settings(sources, onto)

    from anonhist.terminal.output import progress_bar

    remarks: list[str] = []
    with progress_bar("Counting", shown=not outputs.quiet) as bar:
        reading |= {"notify": None if outputs.quiet else remarks.append, "progress": bar}
        written = _count(
            sources,
            onto=onto,
            outputs=outputs,
            part=part,
            own={"like": like, "hash_labels": hash_labels, "order_key": order_key},
            reading=reading | {"max_per_user": protection.max_per_user},
        )
    if not are_parts(sources):
        tell_operator(remarks, quiet=outputs.quiet)
    if not outputs.quiet:
        click.echo(f"Wrote {written}, which is as sensitive as the data: do not share it.")


def _check(sources: tuple[str, ...], onto: str | None, like: str | None, outputs: Outputs) -> None:
    """Refuse unwritable outputs, and options that exclude each other, before any data are read."""
    if onto is None and outputs.output is None:
        raise UsageError("Name the output: -o FILE.counts, or --onto TOTAL.counts to add to a total.")
    if STDOUT in (onto, outputs.output):
        raise UsageError("Parts are private files and never go to standard output: name a file (-o).")
    if outputs.output is not None:
        from anonhist.replacing import PrivateKind

        read = (*sources, *filter(None, (onto, like)))
        check_target(outputs.output, *read, force=outputs.force, kind=PrivateKind.PART)
    elif outputs.force:
        raise UsageError("--onto always replaces its total, and --force is only for -o: leave --force out.")


def _check_settings(sources: tuple[str, ...], onto: str | None) -> None:
    """Refuse settings that a total or parts already have."""
    if onto is not None:
        refuse_given(_OF_THE_FIRST, "--onto takes the settings of its total: leave {} out.")
    if are_parts(sources):
        of_events = *_INPUT, "engine", "part", *_OF_THE_FIRST
        refuse_given(of_events, "Parts are already counted, and {0} applies to events: leave {0} out.")
        if onto is None and len(sources) < 2:
            raise UsageError("One part alone has nothing to be added to: give several, or --onto TOTAL.counts.")


def _count(
    sources: tuple[str, ...],
    *,
    onto: str | None,
    outputs: Outputs,
    part: str | None,
    own: dict[str, Any],
    reading: dict[str, Any],
) -> str:
    """Count, and return what was written."""
    from anonhist.ingest.parts import count_into, write_part

    if are_parts(sources):
        base, *others = sources if onto is None else (onto, *sources)
        limits, bar = reading["limits"], reading["progress"]
        parts = [Path(source) for source in others]
        count_into(parts, base, output=outputs.output, overwrite=outputs.force, limits=limits, progress=bar)
        return outputs.output or base
    held, said = held_source(sources[0], reading)
    if onto is None:
        assert outputs.output is not None  # noqa: S101  # one of both was given
        write_part(held, outputs.output, part=part, overwrite=outputs.force, **own, **said)
        return outputs.output
    # The total says which rows count.
    del said["keep_null"], said["where"]
    count_into(held, onto, output=outputs.output, part=part, overwrite=outputs.force, **said)
    return outputs.output or onto
