"""From the options that say what to read to a profile."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from anonhist.cli.arguments import one_character
from anonhist.cli.output import say_line
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

# As help lists them, which must not load what reads: tests/cli/test_choices.py compares the two.
Format = Literal["events", "labels", "counts", "prevalences"]


class Reading(NamedTuple):
    """How a source is read: the options under "Input", as they were typed."""

    label: str | None
    user: str | None
    order_by: str | None
    order_key: str | None
    keep_null: bool
    table: str | None
    format_: Format | None
    delimiter: str | None
    no_header: bool


# Of the parameters, in the order in which help has them.
READING = Reading._fields


def profile_of_source(
    source: str,
    reading: Reading,
    *,
    max_per_user: int | None,
    unit: PrivacyUnit | None,
    count_users: bool = False,
    notify: Callable[[str], None] | None,
    progress: Callable[[float], None] | None,
) -> Profile:
    """Read the source as the options say."""
    from anonhist.ingest import read_profile

    return read_profile(
        source,
        label=reading.label,
        user=reading.user,
        max_per_user=max_per_user,
        order_by=reading.order_by,
        order_key=reading.order_key,
        count_users=count_users,
        table=reading.table,
        format=reading.format_,
        delimiter=one_character(reading.delimiter),
        header=not reading.no_header,
        keep_null=reading.keep_null,
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


def tell_operator(remarks: list[str], *, quiet: bool) -> None:
    """Show remarks about the data on the operator's terminal, and nowhere else.

    They are private: a stderr that is no terminal is a log that others may read, and even that there are some would
    tell of the data. So there the same sentence is said whether there are any or not.
    """
    if quiet:
        return
    if not sys.stderr.isatty():
        say_line(WHERE_REMARKS_ARE, sys.stderr)
        return
    for remark in remarks:
        say_line(f"Shown only on your terminal: {as_typed(remark)}", sys.stderr)
