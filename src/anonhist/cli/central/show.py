"""``anonhist show``: a released file, in words."""

from __future__ import annotations

import click


@click.command()
@click.argument("path", metavar="RELEASE")
def show(path: str) -> None:
    """Show a released file: its guarantee and its results.

    RELEASE is a .json or .parquet file from 'anonhist release', 'degrees' or 'sketch profile'.
    """
    import sys

    from anonhist.cli.central.display import show_summary
    from anonhist.cli.central.groups import show_groups
    from anonhist.formats.file_kind import read
    from anonhist.formats.reading import read_release
    from anonhist.releases.grouped import GroupedRelease

    if True:
        found = read(path)
        if isinstance(found, GroupedRelease):
            show_groups(found, sys.stdout)
            return
    show_summary(read_release(path), sys.stdout)
