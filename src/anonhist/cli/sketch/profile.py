"""``anonhist sketch profile``: what a sketch says."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from anonhist.cli.charging import CHARGING, charging_options
from anonhist.cli.decorators import NameIn
from anonhist.cli.options import release_output_options, simulations_option
from anonhist.cli.sections import SectionedCommand
from anonhist.privacy import parse_simulations

if TYPE_CHECKING:
    from anonhist.cli.charging import AskedAccount
    from anonhist.cli.destinations import Outputs
    from anonhist.sketches.decoding.decoder import DecoderName

_SECTIONS = {
    "Decoding": ("decoder", "simulations"),
    "Ledger": CHARGING,
    "Output": ("output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist sketch profile week.sketch -o release.json --report week.html
anonhist sketch profile week.sketch --decoder wu-pagh -o - | head
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("path", metavar="SKETCH")
@click.option(
    "--decoder",
    type=NameIn(".sketches.decoding.names:DECODERS"),
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

    Reading costs no further privacy, however often one state of the sketch is read. Read a sketch only when it is
    complete: profiles from before and after an update show what was counted in between.

    With --ledger, what the sketch promises is charged when a state is first read; reading it again costs no more. For
    merged sketches, what was charged for their parts is taken off. A sketch that was read before in another state is
    refused.

    Without -o, the release is written to release.json in the working directory, or as CSV to standard output in a pipe.
    """
    if simulations is not None:
        parse_simulations(simulations, name="--simulations")
    account.check()
    from anonhist.cli.central.display import write_release
    from anonhist.cli.progress import progress_bars
    from anonhist.formats.sketches import read_sketch
    from anonhist.numeric.pulse import tell_share
    from anonhist.sketches.release import prepare_reading

    prepared = prepare_reading(read_sketch(path), decoder, simulations=simulations)
    destination = account.destined(partial(outputs.for_release, path), prepared.price)
    with account.charged(prepared.price) as recorded:
        # The ledger knows a fingerprint of the state from here on.
        recorded.keep()
        with progress_bars("Estimating errors", shown=not outputs.quiet, first="Reading the sketch") as bars:
            with tell_share(bars.reading, 0.0, 1.0):
                released = replace(prepared.release(), receipt=recorded.receipt)
            released = released.with_error(progress=bars.working)
        write_release(released, destination, recorded)
