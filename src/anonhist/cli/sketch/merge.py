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
@click.option("-o", "--output", required=True, metavar="FILE.sketch", help="Where to write the sketch.")
@force_option
@quiet_option
def merge(*, sources: tuple[str, ...], output: str, force: bool, quiet: bool) -> None:
    """Add sketches of different data: their counts, and their noise.

    They must have the same labels or the same key and buckets, and protect the same; 'anonhist sketch new --like' makes
    such. Copies of one sketch are refused. Where users are protected, budgets add up, unless each user is said to be in
    one of the sketches only (--users-in one-sketch).
    """
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
