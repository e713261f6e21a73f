"""``anonhist sketch …``: the commands of private sketches."""

from __future__ import annotations

import click

from anonhist.cli.lazy_group import LazyGroup


@click.group(
    cls=LazyGroup,
    homes={name: f".cli.sketch.{name}:{name}" for name in ("info", "merge", "new", "profile", "recommend", "update")},
)
def sketch() -> None:
    """Count labels in private sketches, noisy from the start.

    A sketch takes updates from streams, merges across machines, uses a fixed amount of memory, and still yields the
    profile: how many labels occur once, twice, and so on.
    """
