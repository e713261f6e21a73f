"""``anonhist sketch info``: what a sketch is."""

from __future__ import annotations

import click


@click.command()
@click.argument("path", metavar="SKETCH")
def info(path: str) -> None:
    """Show what a sketch is and promises, not what was counted."""
    from anonhist.cli.sketch.display import say, say_noise
    from anonhist.formats.sketches import read_sketch

    sketch = read_sketch(path)
    say(sketch)
    say_noise(sketch)
