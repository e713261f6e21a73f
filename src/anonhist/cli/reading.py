"""From the options that say what to read to a profile."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.arguments import one_character
from anonhist.cli.spelling import as_typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.privacy import PrivacyUnit
    from anonhist.profiles import Profile
    from anonhist.releases import Release

# Else whoever has a damaged release would be told to say which key of it holds the labels.
_RELEASE = re.compile(rb'\s*\{\s*"format"\s*:\s*"anonhist\.release"')

WHERE_REMARKS_ARE = (
    "Remarks on the data, such as how many rows were left out, are private: they are shown only where standard error is"
    " a terminal, as with 2>/dev/tty."
)


def profile_of_source(
    source: str,
    options: dict[str, Any],
    *,
    unit: PrivacyUnit | None,
    notify: Callable[[str], None] | None,
    progress: Callable[[float], None] | None,
) -> Profile:
    """Read the source as the options say."""
    from anonhist.ingest import read_profile

    return read_profile(
        source,
        label=options["label"],
        user=options["user"],
        max_per_user=options["max_per_user"],
        order_by=options["order_by"],
        order_key=options["order_key"],
        count_users=options.get("count_users", False),
        table=options["table"],
        format=options["format_"],
        delimiter=one_character(options["delimiter"]),
        header=not options["no_header"],
        keep_null=options["keep_null"],
        unit=unit,
        notify=notify,
        progress=progress,
    )


def released_source(source: str) -> Release | None:
    """Return the release in a file, or None where the source is none; refuse one that is damaged."""
    if not source.lower().endswith((".json", ".parquet")):
        return None
    from anonhist.errors import DataError
    from anonhist.formats.reading import read_release

    try:
        return read_release(source)
    except DataError:
        if _begins_as_release(source):
            raise
        return None


def _begins_as_release(source: str) -> bool:
    try:
        with Path(source).open("rb") as file:
            return _RELEASE.match(file.read(100)) is not None
    except (OSError, ValueError):
        return False


def profile_or_release(
    source: str,
    options: dict[str, Any],
    *,
    unit: PrivacyUnit | None,
    not_private: str,
    notify: Callable[[str], None] | None,
    progress: Callable[[float], None] | None,
) -> Profile | Release:
    """Return the release in a file, or read the source, and warn then: what follows is not private."""
    release = released_source(source)
    if release is not None:
        return release
    profile = profile_of_source(source, options, unit=unit, notify=notify, progress=progress)
    click.secho(f"Warning: {not_private}", err=True, bold=True, fg="red")
    return profile


def tell_operator(remarks: list[str], *, quiet: bool) -> None:
    """Show remarks about the data on the operator's terminal, and nowhere else.

    They are private: a stderr that is no terminal is a log that others may read, and even that there are some would
    tell of the data. So there the same sentence is said whether there are any or not.
    """
    if quiet:
        return
    if not sys.stderr.isatty():
        click.echo(WHERE_REMARKS_ARE, err=True)
        return
    for remark in remarks:
        click.echo(f"Shown only on your terminal: {as_typed(remark)}", err=True)
