"""``anonhist …``: every command by its name; each has a file of its own, with its options and examples."""

from __future__ import annotations

import click

from anonhist.cli.lazy_group import LazyGroup
from anonhist.version import __version__

_CENTRAL = ("compare", "count", "curve", "estimate", "plan", "release", "show")


@click.group(
    cls=LazyGroup,
    homes={
        **{name: f".cli.central.{name}:{name}" for name in _CENTRAL},
        "budget": ".cli.budget.commands:budget",
        "degrees": ".cli.degrees.release:degrees",
        "local": ".cli.local.commands:local",
        "reproduce": ".cli.reproduce:reproduce",
        "sketch": ".cli.sketch.commands:sketch",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="anonhist", message="%(prog)s %(version)s")
def anonhist() -> None:
    """Release how often things occur, with differential privacy.

    Results say how many things occur once, twice, and so on, but not which things. Run 'anonhist COMMAND --help' for a
    command and its options.

    Exit codes: 0 done, 2 wrong usage, 3 bad data or output, 70 internal error, 130, 143 or 129 ended by Ctrl-C, SIGTERM
    or SIGHUP.
    """
