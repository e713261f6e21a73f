"""A group whose commands are imported one by one, when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from anonhist.catalogue import load
from anonhist.cli.hints import perhaps

if TYPE_CHECKING:
    from collections.abc import Iterator


class LazyGroup(click.Group):
    """A group that knows of its commands no more than names, until one is run or its own help is shown.

    Parameters
    ----------
    homes
        Name of a command to ``module:name``, as :func:`anonhist.catalogue.load` reads it.

    Examples
    --------
    >>> group = LazyGroup("anonhist", homes={"show": ".cli.central.show:show"})
    >>> list(group.commands)
    ['show']
    >>> group.commands["show"].name
    'show'
    """

    def __init__(self, *args: Any, homes: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands = _Commands(homes)  # type: ignore[assignment]  # none are added, so it is only read

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called, or refuse a word that is none."""
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            raise click.UsageError(f"There is no command {name!r:.80}{perhaps(name, self.commands)}", ctx)
        return super().resolve_command(ctx, args)


class _Commands(Mapping[str, click.Command]):
    """Commands by name; modules are imported once, by Python."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = homes

    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = load(self._homes[name])
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def __contains__(self, name: object) -> bool:
        # That of a mapping would import it.
        return name in self._homes
