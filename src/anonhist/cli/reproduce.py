"""``anonhist reproduce``; the experiments are in a separate package, for readers of papers."""

from __future__ import annotations

from importlib.util import find_spec

import click

from anonhist.catalogue import load
from anonhist.errors import UsageError

_PACKAGE = "anonhist_papers"


def _explain(**_: object) -> None:
    """Print how to install the experiments."""
    raise UsageError(
        "The experiments are in the package anonhist-papers: install it from the repository, pip install ./papers."
    )


def command() -> click.Command:
    """Return the command of that package, or one that prints how to install it."""
    if find_spec(_PACKAGE):
        found: click.Command = load(f"{_PACKAGE}.command:reproduce")
        return found
    return click.Command(
        "reproduce",
        callback=_explain,
        params=[click.Argument(["ignored"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        help="Run the experiments of a paper again (in a package that is not installed).",
    )


reproduce = command()
