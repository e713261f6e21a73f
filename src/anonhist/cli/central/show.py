"""``anonhist show``: a released file, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonhist.cli.central.registry import registry_options
from anonhist.cli.picking import group_option
from anonhist.cli.sections import SectionedCommand
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.cli.central.registry import AskedRecord
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
    from anonhist.formats.file_kind import read
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

    from anonhist.cli.central.display import show_summary
    from anonhist.cli.central.groups import show_groups
    from anonhist.cli.central.window_groups import show_window_groups
    from anonhist.cli.central.windows import show_windows
    from anonhist.cli.output import say_line
    from anonhist.cli.picking import pick_windows
    from anonhist.cli.reading import group_of
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
    from anonhist.releases.grouped import GroupedRelease
    from anonhist.report.remarks import describe_excess

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
