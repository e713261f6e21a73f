"""``anonhist sketch merge``: several sketches into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonhist.cli.options import sketch_output_options
from anonhist.cli.sections import SectionedCommand
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.cli.destinations import Outputs

_EXAMPLES = """
anonhist sketch merge day1.sketch day2.sketch -o week.sketch
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.argument("sources", nargs=-1, required=True, metavar="SKETCH…")
@sketch_output_options
def merge(*, sources: tuple[str, ...], outputs: Outputs) -> None:
    """Merge sketches of different data.

    Counts and noise are added. The sketches must have the same labels, or the same key and buckets, and protect the
    same unit; 'anonhist sketch new --like' makes such sketches. Copies of one sketch are refused. If users are
    protected, budgets add up, unless every sketch was made with --users-in one-sketch.
    """
    if len(sources) < 2:
        raise UsageError("Name at least two sketches to merge.")
    from anonhist.cli.sketch.display import check_sketch, write_sketch
    from anonhist.formats.sketches import read_sketch

    check_sketch(outputs, *sources)
    merged = read_sketch(sources[0])
    for source in sources[1:]:
        other = read_sketch(source)
        if other.addresses != merged.addresses:
            raise UsageError(
                "Only sketches with the same domain, or with the same key and number of buckets, can be merged: make "
                "one like the other with 'anonhist sketch new --like SKETCH'."
            )
        merged.merge(other)
    write_sketch(merged, outputs)
