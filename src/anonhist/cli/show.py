"""``anonhist show``: a released file, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonhist.cli.registry import registry_options
from anonhist.errors import UsageError
from anonhist.terminal.decorators import SectionedCommand
from anonhist.terminal.picking import group_option

if TYPE_CHECKING:
    from anonhist.cli.registry import AskedRecord
    from anonhist.formats.registry import AnyRelease

_SECTIONS = {
    "Input": ("group",),
    "Record": (
        "registry",
        "curator",
        "curator_type",
        "published",
        "title",
        "purpose",
        "region",
        "author",
        "force",
    ),
}
_EXAMPLES = """
anonhist show release.json
anonhist show release.json --registry record.yaml --curator Library --curator-type nonprofit --published 2026-01-31
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("path", metavar="RELEASE")
@group_option
@registry_options
def show(path: str, group: str | None, record: AskedRecord | None) -> None:
    """Show a released file: its guarantee and its results.

    RELEASE is a .json or .parquet file from 'anonhist release', 'degrees' or 'sketch profile'.
    """
    from anonhist.formats.fields import read
    from anonhist.formats.reading import read_release
    from anonhist.releases import Release
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
    from anonhist.releases.grouped import GroupedRelease

    if record is not None:
        if group is not None:
            raise UsageError("--registry writes the record of the whole file: leave --group out.")
        record.check(path)
    found = read(path) if path.lower().endswith((".json", ".parquet")) else None
    release: AnyRelease = (
        found
        if isinstance(found, Release | GroupedRelease | CumulativeRelease | GroupedCumulativeRelease)
        else read_release(path)
    )
    if record is not None:
        record.write(release)
    if record is None or not record.is_piped:
        _show(release, group)
    if record is not None:
        record.say()


def _show(release: AnyRelease, group: str | None) -> None:
    import sys

    from anonhist.cli.groups import show_groups
    from anonhist.cli.windows import show_window_groups, show_windows
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
    from anonhist.releases.grouped import GroupedRelease
    from anonhist.report.wording import describe_excess
    from anonhist.terminal.display import show_summary
    from anonhist.terminal.output import say_line
    from anonhist.terminal.picking import pick_windows
    from anonhist.terminal.reading import group_of

    if isinstance(release, GroupedCumulativeRelease):
        if group is None:
            show_window_groups(release, sys.stdout)
        else:
            show_windows(pick_windows(release, group), sys.stdout)
        return
    if isinstance(release, CumulativeRelease):
        if group is not None:
            raise UsageError("--group picks a group of a release of groups, and the file is none: leave --group out.")
        show_windows(release, sys.stdout)
        return
    if isinstance(release, GroupedRelease) and group is None:
        show_groups(release, sys.stdout)
        return
    picked = group_of(release, group)
    if picked is not None:
        show_summary(picked, sys.stdout)
    if isinstance(release, GroupedRelease) and release.excess is not None:
        say_line(f"All groups: {describe_excess(release.excess)}", sys.stdout)
