"""``anonhist sketch …``: the commands of private sketches."""

from __future__ import annotations

import click

from anonhist.cli.lazy_group import LazyGroup


@click.group(
    cls=LazyGroup,
    homes={name: f".cli.sketch.{name}:{name}" for name in ("info", "merge", "new", "profile", "recommend", "update")},
)
def sketch() -> None:
    """Keep counters that are private from the start.

    A sketch has its noise from the start. It takes updates from streams, merges across machines, fits in memory whose
    size is known beforehand, and still yields the profile: how many labels occur once, twice, and so on.
    """
