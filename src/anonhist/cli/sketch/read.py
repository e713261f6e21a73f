"""``anonhist sketch profile`` and ``info``: what a sketch says, and what it is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from anonhist.cli.targets import STDOUT
from anonhist.privacy import parse_simulations

if TYPE_CHECKING:
    from anonhist.sketches.decoding.decoder import DecoderName


def run_profile(
    *,
    path: str,
    decoder: DecoderName | None,
    simulations: int | None,
    output: str | None,
    report: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Check everything that can be checked, then read the profile, estimate errors, and write."""
    if simulations is not None:
        parse_simulations(simulations, name="--simulations")
    from anonhist.cli.central.release import DEFAULT_OUTPUT, check_outputs, write_outputs

    target = output if output is not None else (DEFAULT_OUTPUT if sys.stdout.isatty() else STDOUT)
    check_outputs(path, target, report, force=force)
    from anonhist.cli.progress import progress_bars
    from anonhist.formats.sketches import read_sketch
    from anonhist.numeric.pulse import tell_share

    sketch = read_sketch(path)
    with progress_bars("Estimating errors", shown=not quiet, first="Reading the sketch") as bars:
        with tell_share(bars.reading, 0.0, 1.0):
            released = sketch.reconstruct(decoder, simulations=simulations)
        released = released.with_error(progress=bars.working)
    write_outputs(released, target, report, force=force, quiet=quiet)


def run_info(path: str) -> None:
    """Print what a sketch is."""
    from anonhist.cli.sketch.display import say, say_noise
    from anonhist.formats.sketches import read_sketch

    sketch = read_sketch(path)
    say(sketch)
    say_noise(sketch)
