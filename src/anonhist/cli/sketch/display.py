"""What a person is told of a sketch: what it is and what it promises, nothing of its counters."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from anonhist.cli.output import say_line
from anonhist.cli.spelling import as_typed
from anonhist.cli.targets import check_target
from anonhist.errors import UsageError
from anonhist.privacy import short_decimal
from anonhist.replacing import PrivateKind
from anonhist.report.sketch_wording import labels_text
from anonhist.report.wording import promise_lines
from anonhist.sketches.addresses import LISTED_KEY

if TYPE_CHECKING:
    from anonhist.cli.destinations import Outputs
    from anonhist.sketches.noise import NoiseComponent
    from anonhist.sketches.sketch import Sketch

_PARTS_SHOWN = 20


def say(sketch: Sketch) -> None:
    """Print what it is and what it promises: one line each, all of it public."""
    for name, sentence in (("Sketch", labels_text(sketch)), *_promise(sketch), ("Key", _key(sketch))):
        say_line(f"{name}: {sentence}", sys.stdout)


def check_sketch(outputs: Outputs, *sources: str) -> None:
    """Refuse a file that a sketch could not be written to, before anything is read."""
    from anonhist.formats.writing import check_ending

    path = str(outputs.output)
    check_ending(path, endings=(".sketch",), what="A sketch is")
    check_target(path, *sources, force=outputs.force, kind=PrivateKind.SKETCH)


def write_sketch(sketch: Sketch, outputs: Outputs) -> None:
    """Write a sketch to a file, and say what it is."""
    from anonhist.formats.writing import write

    path = str(outputs.output)
    write(sketch, path, overwrite=outputs.force)
    if not outputs.quiet:
        say(sketch)
        click.echo(f"Wrote {path}.")


def say_noise(sketch: Sketch) -> None:
    """Print of which parts the noise consists: sketches that have one in common cannot be merged."""
    for part in sketch.noise[:_PARTS_SHOWN]:
        say_line(f"Noise: {_part(part)}", sys.stdout)
    if len(sketch.noise) > _PARTS_SHOWN:
        say_line(f"Noise: {len(sketch.noise):,} parts in all.", sys.stdout)


def _promise(sketch: Sketch) -> list[tuple[str, str]]:
    try:
        return promise_lines(sketch.guarantee)
    except UsageError as error:
        return [("Promise", f"none. {as_typed(error.sentence)}")]


def _key(sketch: Sketch) -> str:
    key = sketch.addresses.key
    if key == LISTED_KEY:
        return "the default of all sketches of known labels."
    try:
        told = key.decode()
    except UnicodeDecodeError:
        told = ""
    written = f" ({told!r})" if told.isprintable() and told else ""
    return f"{key.hex()}{written}, which is public."


def _part(part: NoiseComponent) -> str:
    session = f" in the session {part.session!r}, of which {part.participants:,} are needed"
    share = "" if part.shape == 1 else f", a share of {part.shape}{session}"
    return f"{part.identity}, exact, with rate {short_decimal(part.gamma)}{share}."
