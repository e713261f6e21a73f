"""What machines get, whole or with an error, and lines for people, in which no word is broken."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

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


def say_done(sentence: str) -> None:
    """Write to standard output what was done: it stays done, and the command ends well, if that cannot be told.

    Raises
    ------
    BrokenPipeError
        If the reader has gone.
    """
    try:
        click.echo(sentence)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _forget_the_rest()
        refused = f"Warning: standard output could not be written ({error.strerror}), but this was done: {sentence}"
        say_line(refused, sys.stderr)


def say_line(sentence: str, stream: TextIO | None, **style: Any) -> None:
    """Write a sentence: on a terminal as lines that end between words, elsewhere as one line.

    It goes to the stream as it is now: while a bar runs that is one of the bar's, and the sentence stands above it.
    """
    if stream is None:
        return  # such as a standard error that was closed
    width = _columns(stream)
    text = sentence if width is None else between_words(sentence, width)
    click.echo(click.style(text, **style) if style else text, file=stream)


def between_words(sentence: str, width: int) -> str:
    """Break a sentence between words; a word that is longer than a line, such as a path, stays whole.

    So does a line that begins with a space: it is a command, to be copied.

    Examples
    --------
    >>> print(between_words("The file 'a-very/long-path.csv' is empty.", 16))
    The file
    'a-very/long-path.csv'
    is empty.
    """
    import textwrap

    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(line if line.startswith(" ") else wrapper.fill(line) for line in sentence.split("\n"))


def _columns(stream: TextIO) -> int | None:
    """Return how wide the terminal is, or None where there is none."""
    if not stream.isatty():
        return None
    told = os.environ.get("COLUMNS", "")
    try:
        return int(told) if told.isdecimal() and int(told) else os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def tell_of_epsilon(guarantee: Guarantee) -> None:
    """Warn on standard error of an epsilon that protects nobody, where nothing else is told; it is public."""
    from anonhist.privacy import warning

    said = warning(guarantee.epsilon)
    if said:
        say_line(f"Warning: {said}", sys.stderr)


def _forget_the_rest() -> None:
    """Leave nothing in the buffer that a later flush would fail on again."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
