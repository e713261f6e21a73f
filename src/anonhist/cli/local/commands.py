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
    """Estimate frequencies from randomized reports.

    Each device randomizes its own value before sending it, so every report is deniable to a degree set by ε. Many
    reports together still show how frequent each value is.
    """
