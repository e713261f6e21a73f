"""From the options that say what to read to a profile."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import sys
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from anonhist.errors import DataError, UsageError, mask
from anonhist.kinds import kind_of_value
from anonhist.privacy import PrivacyUnit
from anonhist.terminal.decorators import as_typed, one_character, options_of, perhaps, refuse_given
from anonhist.terminal.output import Bars, say_line
from anonhist.terminal.protection import Protection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anonhist.ingest.engine import EngineLimits
    from anonhist.ingest.files import SparkFiles
    from anonhist.ingest.source import Source
    from anonhist.profiles import Profile
    from anonhist.profiles.chosen_bound import ChosenBound
    from anonhist.releases import Release
    from anonhist.releases.grouped import GroupedRelease
    from anonhist.releases.made import One, ReleaseByGroup

# Among more names, nobody waits for a similar one.
_MOST_COMPARED = 5_000

group_option = click.option(
    "--group",
    metavar="NAME,…",
    help="From a file of a release of groups ('release --by'): the group to take, by a name for each grouping "
    "column; with levels, the first names or '(all)' name a total.",
)


def pick_group(release: ReleaseByGroup[One], given: str | None) -> One:
    """Return the release of the requested group, under the guarantee of all groups together.

    Naming a group that was found in the data also costs the budget of finding it. With levels, the first names, or
    "(all)" in place of the others, name a total.
    """
    from anonhist.releases import Release
    from anonhist.report.groups import ALL, MISSING, names_of
    from anonhist.report.wording import many

    held = f"the file holds {many(len(release), 'group')} by {', '.join(release.by)}"
    if given is None:
        if "--group" not in options_of(click.get_current_context().command):
            raise UsageError(f"One profile is needed, and {held}: give the file of a release without --by.")
        example = shlex.quote(_typed(names_of(release.groups[0])))
        raise UsageError(f"T{held[1:]}: choose one with --group, such as --group {example}.")
    names = [given] if len(release.by) == 1 else next(csv.reader([given]), [])
    # A group may itself have this name.
    while release.levels is not None and names[-1:] == [ALL] and tuple(names) not in release:
        names = names[:-1]
    if len(names) != len(release.by) and release.levels is None:
        columns = ", ".join(release.by)
        raise UsageError(f"--group needs a name for each of {columns}, with commas between them, not {given!r:.80}.")
    stripped = [name.strip() for name in names]
    for group in (names, stripped, [None if name == MISSING else name for name in stripped]):
        if tuple(group) in release:
            found = release[tuple(group)]
            # The guarantee of one profile is for its group alone.
            return replace(found, guarantee=release.guarantee) if isinstance(found, Release) else found
    known = [_typed(names_of(each) or [ALL]) for each in islice(release.everything, _MOST_COMPARED)]
    raise UsageError(f"There is no group {given!r:.80}{perhaps(given, known)}: {held}.")


def _typed(names: Sequence[str]) -> str:
    """Return the names of a group as --group accepts them."""
    if len(names) == 1:
        return names[0]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


# Otherwise a user with a damaged release would be asked for the key of its labels.
_RELEASE = re.compile(rb'\s*\{\s*"format"\s*:\s*"anonhist[./](?:grouped-)?(?:cumulative-)?release"')

WHERE_REMARKS_ARE = (
    "Remarks on the data, such as how many rows were left out, must stay secret: they appear only where standard error "
    "is a terminal (add 2>/dev/tty to see them)."
)

# As the help lists them, which must not load the reading code: tests/cli/test_choices.py compares the two.
Format = Literal["events", "labels", "counts", "prevalences", "uniq"]


PROTECTED = ("unit", "max_per_user", "max_count", "relation")
# The options under "Input" and "Engine", in the order of the help.
INPUT = (
    *("label", "count", "user", "order_by", "order_key", "where", "keep_null", "table", "format_", "delimiter"),
    "no_header",
)
LIMITS = "memory_limit", "threads", "temp_directory"
ENGINE = "engine", *LIMITS
READING = *INPUT, *ENGINE


def reading_of(*, format_: Format | None, delimiter: str | None, no_header: bool, **others: Any) -> dict[str, Any]:
    """Return how a source is read: the arguments of :func:`held_source`."""
    if others.get("where") is not None:
        from anonhist.profiles.where import where_text

        # This comes before anything is charged.
        others["where"] = where_text(others["where"])
    limits = limits_of(**{name: others.pop(name) for name in LIMITS if name in others})
    read = {"format": format_, "delimiter": one_character(delimiter), "header": not no_header, "limits": limits}
    return others | read


def bounding_of(reading: dict[str, Any]) -> dict[str, Any]:
    """Return the reading options about users and about which of their rows count."""
    return {name: reading[name] for name in ("user", "order_by", "order_key", "keep_null", "where")}


def held_source(source: str, reading: dict[str, Any]) -> tuple[str | SparkFiles, dict[str, Any]]:
    """Return a source for its engine, and how it is read, in the arguments of :func:`anonhist.ingest.read_profile`."""
    from anonhist.ingest.files import read_by

    return read_by(reading["engine"], source), {name: value for name, value in reading.items() if name != "engine"}


def named_source(source: str, reading: dict[str, Any]) -> Source:
    """Return a source and the options about its rows as one value."""
    from anonhist.ingest.source import SaidOfRows, Source

    held, said = held_source(source, reading)
    rows = SaidOfRows(*(said[name] for name in ("format", "label", "count", "header")))
    return Source.named(held, rows, **{name: said[name] for name in ("user", "table", "delimiter", "limits")})


def limits_of(**asked: Any) -> EngineLimits | None:
    """Return the limits of the engine, or None if none were given."""
    if all(each is None for each in asked.values()):
        return None
    from anonhist.ingest.engine import EngineLimits

    return EngineLimits(**asked)


def profile_of_source(
    sources: tuple[str, ...],
    reading: dict[str, Any],
    protection: Protection,
    bars: Bars,
    *,
    choice: ChosenBound | None = None,
    count_users: bool = False,
) -> Profile:
    """Read the source according to the options, or several parts; with a ``choice``, a bound is chosen, not given."""
    from anonhist.ingest import read_profile

    held, said = held_source(sources[0], reading)
    if choice is not None:
        # The command has charged it.
        said |= {"ledger": "", "max_count": choice if protection.max_per_user is None else None}
    return read_profile(
        held if len(sources) == 1 else [Path(source) for source in sources],
        max_per_user=protection.max_per_user if choice is None or protection.max_per_user is None else choice,
        count_users=count_users,
        unit=protection.unit,
        notify=bars.notify,
        progress=bars.reading,
        **said,
    )


def released_source(sources: tuple[str, ...], group: str | None = None) -> Release | None:
    """Return the release in a file, or that of the requested group; None for other sources; refuse a damaged one.

    Options about how data are read, or whom they are about, are refused, too, because a release states these.
    """
    released = _read_release(sources[0]) if len(sources) == 1 else None
    if released is not None:
        refuse_given((*READING, *PROTECTED), "{0} applies only to data, and the source is a release: leave {0} out.")
    found: Release | None = group_of(released, group)
    return found


def group_of(released: Any, group: str | None) -> Any:
    """Return the requested group if there are groups, and refuse one if there are none."""
    from anonhist.releases.made import ReleaseByGroup

    if isinstance(released, ReleaseByGroup):
        return pick_group(released, group)
    if group is not None:
        raise UsageError("--group picks a group of a release of groups, and the source is none: leave --group out.")
    return released


def refuse_release(
    *sources: str, reading: dict[str, Any], instead: str = "use 'anonhist show' or 'anonhist estimate'"
) -> None:
    """Refuse the file of a release if data should be released, by its schema alone, before anything is charged.

    The beginning of JSON may be a row: all that is known is that its labels are not named.
    """
    from anonhist.formats.releases import is_table_of_release
    from anonhist.ingest.files import LINES, check_there

    has_keys = reading["format"] not in LINES
    for source in sources:
        if has_keys and reading["label"] is None and source.lower().endswith(".json"):
            check_there(held_source(source, reading)[0])
            raise UsageError(
                f"JSON lines have no header: name the key that holds the labels (--label); if {mask(source)!r} is a "
                f"release, {instead}."
            )
        if is_table_of_release(source):
            raise UsageError(f"{mask(source)!r} is already a release: {instead}.")


def _read_release(source: str) -> Release | GroupedRelease | None:
    if not source.lower().endswith((".json", ".parquet")):
        return None
    from anonhist.formats.files import read
    from anonhist.formats.releases import read_release
    from anonhist.releases import Release
    from anonhist.releases.grouped import GroupedRelease

    try:
        found = read(source)
    except DataError:
        if _begins_as_release(source):
            read_release(source)  # It declares a release, however damaged the rest is.
            raise
        return None
    if isinstance(found, Release | GroupedRelease):
        return found
    kind = kind_of_value(found)
    if kind.terminal:
        held = kind.called.removesuffix(" is").replace("A ", "a ", 1)
        raise UsageError(f"{source!r:.80} holds {held}, no profile: use 'anonhist show'.")
    return None


def _begins_as_release(source: str) -> bool:
    # The first line of other files may be a row, which must not decide anything before a charge.
    if not source.lower().endswith(".json") or not os.path.isfile(source):  # noqa: PTH113  # pathlib may raise
        return False
    try:
        with Path(source).open("rb") as file:
            return _RELEASE.match(file.read(100)) is not None
    except (OSError, ValueError):
        return False


@contextmanager
def reading_bars(work: str, *, quiet: bool, is_private: bool = True, releases: bool = False) -> Iterator[Bars]:
    """Show bars while the block reads data and works on them; then show the operator remarks about private data.

    ``is_private`` says whether there may be remarks; a release has none. ``releases`` says that the work is on released
    data.
    """
    from anonhist.terminal.output import progress_bars

    remarks: list[str] = []
    with progress_bars(work, shown=not quiet, is_public=releases or not is_private) as bars:
        yield replace(bars, notify=None if quiet else remarks.append)
    # Shown after the bars, which would overwrite them.
    tell_operator(remarks, quiet=quiet or not is_private)


def tell_operator(remarks: list[str], *, quiet: bool) -> None:
    """Show remarks about the data on the operator's terminal, and nowhere else.

    They are private: a stderr that is not a terminal is a log that others may read, and even their existence would
    reveal something about the data. So a log gets the same sentence whether there are any or not.
    """
    if quiet:
        return
    if not sys.stderr.isatty():
        say_line(WHERE_REMARKS_ARE, sys.stderr)
        return
    for remark in remarks:
        say_line(f"Shown only on your terminal: {as_typed(remark)}", sys.stderr)


ENDING = ".counts"


def are_parts(sources: Iterable[str]) -> bool:
    """Return whether all sources are parts, judged by their endings."""
    return all(source.lower().endswith(ENDING) for source in sources)


def _check(_: click.Context, __: click.Parameter, sources: tuple[str, ...]) -> tuple[str, ...]:
    if len(sources) > 1 and not are_parts(sources):
        raise UsageError(
            "Several sources are read together only if all are parts (.counts): put a pattern of other files in "
            "quotes, such as 'logs/*.csv'."
        )
    if are_parts(sources) and any("://" in source for source in sources):
        raise UsageError("Parts are private and are read only from local files: copy them to this machine first.")
    return sources


source_argument = click.argument("sources", nargs=-1, required=True, metavar="SOURCE…", callback=_check)


def one_source(sources: tuple[str, ...], made: str) -> str:
    """Return the source of a result that cannot be made from parts: groups or windows."""
    if are_parts(sources):
        raise UsageError(f"Parts hold counts of labels and no other columns, so no {made} can be made of them.")
    return sources[0]


def refuse_for_parts(sources: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Refuse options that need the events."""
    if are_parts(sources):
        refuse_given(names, "{0} applies to events, which parts do not hold: leave {0} out.")


def protection_of(sources: tuple[str, ...], asked: Protection) -> Protection:
    """Return what to protect: for parts that bound users, these users; it is known before anything is charged.

    The descriptions of parts are public.
    """
    if not are_parts(sources):
        return asked
    from anonhist.ingest.parts.files import Parts, check_bound

    bound = Parts([Path(source) for source in sources], check_bound(asked.max_per_user)).max_per_user
    if bound is None or asked.max_per_user is not None:
        return asked
    called = "" if asked.unit is None else asked.unit.name
    if asked.unit == PrivacyUnit.item() and not called:
        raise UsageError("These parts bound the items of users, whom a release of them protects: leave --unit out.")
    unit = replace(PrivacyUnit.user(max_items=bound), name=called)
    return asked._replace(unit=unit if asked.unit in (None, PrivacyUnit.item()) else asked.unit, max_per_user=bound)


def labels_in(path: str, *, what: str) -> tuple[str, ...]:
    """Read a list of labels, one per line in UTF-8, in order; refuse empty lines, duplicates and empty files."""
    from anonhist.formats.atomic import content_of
    from anonhist.ingest.engine import OTHER_TEXT
    from anonhist.ingest.locations import check_beginning

    content = content_of(path)
    check_beginning(content, f"The file {path!r}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"The file {path!r} {OTHER_TEXT}") from None
    # Not splitlines, which ends lines at many more characters.
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if lines == [""]:
        raise DataError(f"The file {path!r} is empty: list {what}, one per line.")
    if "" in lines:
        message = f"Line {lines.index('') + 1} of {path!r} is empty: list {what}, one per line, and nothing else."
        raise DataError(message)
    if len(set(lines)) < len(lines):
        first = {line: place for place, line in reversed(list(enumerate(lines, 1)))}
        twice = next(place for place, line in enumerate(lines, 1) if first[line] != place)
        raise DataError(f"Line {twice} of {path!r} repeats an earlier line; list each label once.")
    return tuple(lines)
