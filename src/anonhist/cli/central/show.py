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
    from anonhist.formats.reading import read_release

    show_summary(read_release(path), sys.stdout)
