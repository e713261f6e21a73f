"""``anonhist local …``: the commands of local privacy."""

from __future__ import annotations

import click

from anonhist.cli.lazy_group import LazyGroup


@click.group(
    cls=LazyGroup,
    homes={
        name: f".cli.local.{name}:{name}" for name in ("estimate", "new", "randomize", "rappor", "recommend", "tally")
    },
)
def local() -> None:
    """Learn how frequent values are from randomized reports.

    Every person's value is randomized on their own device, so nobody need be trusted with it; many reports together
    still show how frequent each value is.
    """
