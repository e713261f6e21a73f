"""``anonhist show``: a released file, in words."""

from __future__ import annotations

import click

from anonhist.cli.picking import group_option


@click.command()
@click.argument("path", metavar="RELEASE")
@group_option
def show(path: str, group: str | None) -> None:
    """Show a released file: its guarantee and its results.

    RELEASE is a .json or .parquet file from 'anonhist release', 'degrees' or 'sketch profile'.
    """
    import sys

    from anonhist.cli.central.display import show_summary
    from anonhist.cli.central.groups import show_groups
    from anonhist.cli.central.window_groups import show_window_groups
    from anonhist.cli.central.windows import show_windows
    from anonhist.cli.picking import pick_windows
    from anonhist.cli.reading import group_of
    from anonhist.errors import UsageError
    from anonhist.formats.file_kind import read
    from anonhist.formats.reading import read_release
    from anonhist.releases.cumulative import CumulativeRelease
    from anonhist.releases.grouped import GroupedRelease
    from anonhist.releases.grouped_cumulative import GroupedCumulativeRelease

    found = read(path) if path.lower().endswith((".json", ".parquet")) else None
    if isinstance(found, GroupedCumulativeRelease):
        if group is None:
            show_window_groups(found, sys.stdout)
        else:
            show_windows(pick_windows(found, group), sys.stdout)
        return
    if isinstance(found, CumulativeRelease):
        if group is not None:
            raise UsageError("--group picks a group of a release of groups, and the file is none: leave --group out.")
        show_windows(found, sys.stdout)
        return
    if isinstance(found, GroupedRelease) and group is None:
        show_groups(found, sys.stdout)
        return
    picked = group_of(found if isinstance(found, GroupedRelease) else read_release(path), group)
    if picked is not None:
        show_summary(picked, sys.stdout)
