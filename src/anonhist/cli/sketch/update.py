"""``anonhist sketch update`` and ``merge``: more data into a sketch, several sketches into one."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Literal

import click

from anonhist.cli.arguments import one_character
from anonhist.cli.reading import tell_operator
from anonhist.cli.targets import STDOUT
from anonhist.errors import UsageError


def run_update(
    *,
    path: str,
    sources: tuple[str, ...],
    label: str | None,
    count: str | None,
    user: str | None,
    ignore_unknown: bool,
    table: str | None,
    format_: Literal["events", "labels", "counts"] | None,
    delimiter: str | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Count all sources in the file of a sketch, or leave it as it is."""
    from anonhist.cli.progress import progress_bar, stream_bar
    from anonhist.formats.sketch_in_place import sketch_in_place
    from anonhist.ingest.sketches import check_sources, update_sketch

    remarks: list[str] = []
    with sketch_in_place(path, waiting=None if quiet else _say_waiting) as sketch:
        check_sources(sketch, sources)
        for place, source in enumerate(sources):
            with ExitStack() as shown:
                bar = counted = None
                if source == STDOUT:
                    counted = shown.enter_context(stream_bar("Counting", shown=not quiet))
                else:
                    bar = shown.enter_context(progress_bar(_counting(place, len(sources)), shown=not quiet))
                update_sketch(
                    sketch,
                    source,
                    label=label,
                    count=count,
                    user=user,
                    table=table,
                    format=format_,
                    delimiter=one_character(delimiter),
                    header=not no_header,
                    ignore_unknown=ignore_unknown,
                    notify=None if quiet else remarks.append,
                    progress=bar,
                    counted=counted,
                )
    tell_operator(remarks, quiet=quiet)
    if not quiet:
        click.echo(f"Wrote {path}.")


def run_merge(*, sources: tuple[str, ...], output: str, force: bool, quiet: bool) -> None:
    """Check what can be checked, then add sketch to sketch."""
    if len(sources) < 2:
        raise UsageError("Name two sketches at least, to merge them.")
    from anonhist.cli.targets import check_target
    from anonhist.formats.sketches import read_sketch
    from anonhist.formats.writing import check_ending, write

    check_ending(output, endings=(".sketch",), what="A sketch is")
    for source in sources:
        check_target(source, output, force=force)
    merged = read_sketch(sources[0])
    for source in sources[1:]:
        merged.merge(read_sketch(source))
    write(merged, output, overwrite=force)
    if not quiet:
        from anonhist.cli.sketch.display import say

        say(merged)
        click.echo(f"Wrote {output}.")


def _counting(place: int, sources: int) -> str:
    return "Counting" if sources == 1 else f"Counting {place + 1} of {sources}"


def _say_waiting() -> None:
    if sys.stderr.isatty():
        click.echo("Another process is changing this sketch; waiting for it.", err=True)
