"""Standard output for machines: all of it, or an error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from anonhist.errors import OutputError

if TYPE_CHECKING:
    from anonhist.privacy import Guarantee


def print_whole(text: str) -> None:
    """Write text to standard output and see it off.

    Raises
    ------
    OutputError
        If the system refuses it, such as a full disk.
    BrokenPipeError
        If the reader has gone.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _forget_the_rest()
        message = f"Standard output could not be written ({error.strerror}): redirect it, or name a file (-o)."
        raise OutputError(message) from None


def tell_of_epsilon(guarantee: Guarantee) -> None:
    """Warn on standard error of an epsilon that protects nobody, where nothing else is told; it is public."""
    from anonhist.privacy import warning

    said = warning(guarantee.epsilon)
    if said:
        click.echo(f"Warning: {said}", err=True)


def _forget_the_rest() -> None:
    """Leave nothing in the buffer that a later flush would fail on again."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
