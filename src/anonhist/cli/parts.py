"""Several sources of a command: parts, which are counted already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonhist.cli.decorators import given_options
from anonhist.errors import UsageError
from anonhist.privacy import PrivacyUnit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.cli.arguments import Protection

ENDING = ".counts"


def are_parts(sources: Iterable[str]) -> bool:
    """Return whether all sources are parts, by their endings.

    Examples
    --------
    >>> are_parts(["day-1.counts", "day-2.counts"]), are_parts(["day-1.csv"])
    (True, False)
    """
    return all(source.lower().endswith(ENDING) for source in sources)


def _check(_: click.Context, __: click.Parameter, sources: tuple[str, ...]) -> tuple[str, ...]:
    if len(sources) > 1 and not are_parts(sources):
        raise UsageError(
            "Several sources are read together only if all are parts (.counts): put a pattern of other files in "
            "quotes, such as 'logs/*.csv'."
        )
    if are_parts(sources) and any("://" in source for source in sources):
        raise UsageError("Parts are private, and are read from files of this machine: copy them here first.")
    return sources


source_argument = click.argument("sources", nargs=-1, required=True, metavar="SOURCE…", callback=_check)


def one_source(sources: tuple[str, ...], made: str) -> str:
    """Return the source of what cannot be made of parts: groups or windows."""
    if are_parts(sources):
        raise UsageError(f"Parts hold counts of labels and no other columns, so no {made} can be made of them.")
    return sources[0]


def refuse_for_parts(sources: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Refuse options that need the events."""
    if are_parts(sources):
        for option in given_options(click.get_current_context(), names):
            raise UsageError(f"{option} applies to events, which parts do not hold: leave {option} out.")


def protection_of(sources: tuple[str, ...], asked: Protection) -> Protection:
    """Return what to protect: of parts that bound users, the users whom they bound.

    What parts say about themselves is public, so this is known before anything is charged.
    """
    if not are_parts(sources):
        return asked
    from anonhist.ingest.parts.profile import Parts, check_bound

    bound = Parts([Path(source) for source in sources], check_bound(asked.max_per_user)).max_per_user
    if bound is None or asked.max_per_user is not None:
        return asked
    if asked.unit == PrivacyUnit.item():
        raise UsageError("These parts bound the items of users, whom a release of them protects: leave --unit out.")
    return asked._replace(unit=asked.unit or PrivacyUnit.user(max_items=bound), max_per_user=bound)
