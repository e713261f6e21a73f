"""``--group``: one group of a release of groups."""

from __future__ import annotations

import csv
import io
import shlex
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import click

from anonhist.errors import UsageError
from anonhist.terminal.hints import options_of, perhaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.profiles.grouped import Group
    from anonhist.releases import Release
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
    from anonhist.releases.grouped import GroupedRelease

# Among more names nobody waits for one that is written alike.
_MOST_COMPARED = 5_000

group_option = click.option(
    "--group",
    metavar="NAME,…",
    help="From a file of a release of groups ('release --by'): the group to take, by a name for each grouping "
    "column; with levels, the first names or '(all)' name a total.",
)


def pick_group(release: GroupedRelease, given: str | None) -> Release:
    """Return the release of the group that was asked for, under the guarantee of all groups together.

    Whoever names a group that was found in the data pays for that too. With levels, the first names, or "(all)" in
    place of the others, name a total.

    Raises
    ------
    UsageError
        If none was asked for, or there is no such group.

    Examples
    --------
    >>> import anonhist as ah
    >>> from anonhist.profiles.grouped import GroupedProfile
    >>> profiles = {("a,b", "1"): ah.Profile.from_counts([3, 1]), ("c", None): ah.Profile.from_counts([])}
    >>> grouped = GroupedProfile(("x", "y"), profiles, unit=ah.PrivacyUnit.item())
    >>> release = ah.release_groups(grouped, epsilon=20)
    >>> pick_group(release, '"a,b",1').n, pick_group(release, "c,(missing)").n
    (4, 0)
    """
    from anonhist.report.groups import ALL, MISSING, names_of
    from anonhist.report.wording import many

    held = f"the file holds {many(len(release), 'group')} by {', '.join(release.by)}"
    if given is None:
        if "--group" not in options_of(click.get_current_context().command):
            raise UsageError(f"One profile is needed, and {held}: give the file of a release without --by.")
        example = shlex.quote(_typed(names_of(release.groups[0])))
        raise UsageError(f"T{held[1:]}: choose one with --group, such as --group {example}.")
    names = [given] if len(release.by) == 1 else next(csv.reader([given]), [])
    # A group may have this name itself.
    while release.levels is not None and names[-1:] == [ALL] and tuple(names) not in release:
        names = names[:-1]
    if len(names) != len(release.by) and release.levels is None:
        columns = ", ".join(release.by)
        raise UsageError(f"--group needs a name for each of {columns}, with commas between them, not {given!r:.80}.")
    group: Group = tuple(name.strip() for name in names)
    if group not in release:
        group = tuple(None if name == MISSING else name for name in group)
    if group not in release:
        known = [_typed(names_of(each) or [ALL]) for each in islice(release.everything, _MOST_COMPARED)]
        raise UsageError(f"There is no group {given!r:.80}{perhaps(given, known)}: {held}.")
    return replace(release[group], guarantee=release.guarantee)


def pick_windows(release: GroupedCumulativeRelease, given: str) -> CumulativeRelease:
    """Return the cumulative windows of the group that was asked for.

    Raises
    ------
    UsageError
        If there is no such group.
    """
    from anonhist.report.groups import MISSING, names_of
    from anonhist.report.wording import many

    held = f"the file holds {many(len(release), 'group')} by {', '.join(release.by)}"
    names = [given] if len(release.by) == 1 else [name.strip() for name in next(csv.reader([given]), [])]
    if len(names) != len(release.by):
        columns = ", ".join(release.by)
        raise UsageError(f"--group needs a name for each of {columns}, with commas between them, not {given!r:.80}.")
    for group in (tuple(names), tuple(None if name == MISSING else name for name in names)):
        if group in release:
            return release[group]
    known = [_typed(names_of(each)) for each in islice(release, _MOST_COMPARED)]
    raise UsageError(f"There is no group {given!r:.80}{perhaps(given, known)}: {held}.")


def _typed(names: Sequence[str]) -> str:
    """Return the names of a group as --group takes them."""
    if len(names) == 1:
        return names[0]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()
