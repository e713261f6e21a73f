"""All that a file holds; of a pipe, what it delivers, if somebody writes to it and it ends."""

from __future__ import annotations

import os
import stat
from time import monotonic
from typing import TYPE_CHECKING

from anonhist.errors import AnonhistError, DataError, unreadable

if TYPE_CHECKING:
    from pathlib import Path

# A pipe may be read before who writes to it has started.
_SECONDS = 5.0
# More than any file of ours; a device may deliver without end.
_MOST_PIPED = 1 << 30
_BLOCK = 1 << 20


def content_of(source: str | Path) -> bytes:
    """Return all that a file holds.

    Raises
    ------
    DataError
        If it cannot be read, is neither a plain file nor a pipe, or is a pipe that nobody writes to or that does not
        end.
    """
    try:
        # To open a pipe would wait for somebody to write to it, for ever.
        descriptor = os.open(source, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123
            kind = os.fstat(descriptor).st_mode
            if stat.S_ISREG(kind):
                return file.read()
            if stat.S_ISFIFO(kind) or file.isatty():
                return _piped(descriptor, str(source))
    except AnonhistError:
        raise
    except (OSError, ValueError) as error:
        raise unreadable(source, error) from None
    raise DataError(f"{str(source)!r} is not a plain file; name one that is.")


def _piped(descriptor: int, named: str) -> bytes:
    import select

    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    latest = monotonic() + _SECONDS
    content = bytearray()
    while len(content) <= _MOST_PIPED:
        try:
            piece = os.read(descriptor, _BLOCK)
        except BlockingIOError:
            # Somebody is there to write, and may take as long as it takes.
            os.set_blocking(descriptor, True)
            continue
        if piece:
            content += piece
        elif content or [(descriptor, select.POLLHUP)] == waiting.poll(50):
            # Who wrote has gone, and nothing is left to read.
            return bytes(content)
        elif monotonic() > latest:
            raise DataError(f"{named!r} is a pipe that nobody writes to: name a plain file.")
    raise DataError(f"{named!r} is a pipe that delivers more than 2^30 bytes: name a plain file.")
