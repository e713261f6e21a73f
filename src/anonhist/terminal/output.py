"""Machine-readable output, complete or with an error, and lines for people, broken only between words."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress

    from anonhist.privacy import Guarantee


def print_whole(text: str) -> None:
    """Write and flush text to standard output, or raise if the system or a reader who has gone refuses it."""
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
    """Print what was done; if printing fails, it is still done, and the command succeeds.

    Only a reader who has gone is an error.
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

    It goes to the current stream: while a bar runs, that is the bar's own, and the sentence appears above it.
    """
    if stream is None:
        return  # such as a standard error that was closed
    width = _columns(stream)
    text = sentence if width is None else between_words(sentence, width)
    click.echo(click.style(text, **style) if style else text, file=stream)


def between_words(sentence: str, width: int) -> str:
    """Break a sentence between words; longer words, such as paths, and lines that begin with a space stay whole."""
    import textwrap

    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(line if line.startswith(" ") else wrapper.fill(line) for line in sentence.split("\n"))


def _columns(stream: TextIO) -> int | None:
    """Return the width of the terminal, or None without one."""
    if not stream.isatty():
        return None
    told = os.environ.get("COLUMNS", "")
    try:
        return int(told) if told.isdecimal() and int(told) else os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def tell_of_epsilon(guarantee: Guarantee) -> None:
    """Warn on standard error about an epsilon that protects nobody, if nothing else is printed; it is public."""
    from anonhist.privacy import warning

    said = warning(guarantee.epsilon)
    if said:
        say_line(f"Warning: {said}", sys.stderr)


def _forget_the_rest() -> None:
    """Leave nothing in the buffer on which a later flush would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass(frozen=True)
class Bars:
    """Receivers of progress and of remarks, or None without a terminal."""

    reading: Callable[[float], None] | None
    working: Callable[[float], None] | None
    notify: Callable[[str], None] | None = None


@contextmanager
def progress_bars(work: str, *, shown: bool, is_public: bool = False, first: str = "Reading") -> Iterator[Bars]:
    """Show two bars on stderr while the block runs: one for reading, then one for the work that follows.

    If stderr is not a terminal, it gets one line if the work is long and ``is_public``, that is, on released data. The
    duration of anything before that depends on the rows, and others read logs.
    """
    if not shown or not sys.stderr.isatty():
        yield Bars(None, line_if_long(work) if shown and is_public else None)
        return
    with _progress() as progress:
        reading: Any = progress.add_task(first, total=1.0)
        working: Any = progress.add_task(work, total=1.0, visible=False)

        def read(share: float) -> None:
            progress.update(reading, completed=share)

        def work_on(share: float) -> None:
            progress.update(reading, completed=1.0)
            progress.update(working, completed=share, visible=True)

        yield Bars(read, work_on)


# After this many seconds of work, a line in the log reports it.
_LONG = 2.0


def line_if_long(work: str, *, clock: Callable[[], float] = time.monotonic) -> Callable[[float], None]:
    """Return a receiver of the share done that writes one line to stderr, two seconds after its first call."""
    began: float | None = None
    is_told = False

    def receive(_share: float) -> None:
        nonlocal began, is_told
        now = clock()
        began = now if began is None else began
        if not is_told and now - began >= _LONG:
            is_told = True
            say_line(f"{work} …", sys.stderr)

    return receive


@contextmanager
def progress_bar(work: str, *, shown: bool = True) -> Iterator[Callable[[float], None] | None]:
    """Show one bar on stderr while the block runs, and yield its progress function; None without a terminal."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    with _progress() as progress:
        task = progress.add_task(work, total=1.0)
        yield lambda share: progress.update(task, completed=share)


@contextmanager
def stream_bar(work: str, *, shown: bool = True) -> Iterator[Callable[[int], None] | None]:
    """Show on stderr how many rows were counted while the block runs, for a stream of unknown length."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    with _progress() as progress:
        task = progress.add_task(work, total=None)
        yield lambda rows: progress.update(task, description=f"{work}: {rows:,} rows")


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
