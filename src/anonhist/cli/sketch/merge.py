"""``anonhist sketch merge``: several sketches into one."""

from __future__ import annotations

import click

from anonhist.cli.options import force_option, quiet_option
from anonhist.cli.sections import SectionedCommand
from anonhist.errors import UsageError

_EXAMPLES = """
anonhist sketch merge day1.sketch day2.sketch -o week.sketch
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.argument("sources", nargs=-1, required=True, metavar="SKETCH…")
@click.option("-o", "--output", required=True, metavar="FILE.sketch", help="File to write the sketch to.")
@force_option
@quiet_option
def merge(*, sources: tuple[str, ...], output: str, force: bool, quiet: bool) -> None:
    """Merge sketches of different data.

    Counts and noise are added. The sketches must have the same labels, or the same key and buckets, and protect the
    same unit; 'anonhist sketch new --like' makes such sketches. Copies of one sketch are refused. If users are
    protected, budgets add up, unless every sketch was made with --users-in one-sketch.
    """
    if len(sources) < 2:
        raise UsageError("Name at least two sketches to merge.")
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
