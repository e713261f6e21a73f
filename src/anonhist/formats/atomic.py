"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import BinaryIO
from uuid import uuid4

from anonhist.errors import AnonhistError, DataError, OutputError, unreadable
from anonhist.replacing import PrivateKind, check_replaceable, check_target, name_unless_taken, refuse_to_replace

# Files that do not have their final names yet.
_parts: set[Path] = set()


def check_free(path: str | Path, *, overwrite: bool, kind: PrivateKind | None = None) -> Path:
    """Return a path, or refuse one that cannot be written to, before any budget is spent on its content.

    Some files are never replaced: see :func:`~anonhist.replacing.check_replaceable`.
    """
    target = check_target(path, overwrite=overwrite, kind=kind)
    folder = os.path.dirname(os.path.abspath(target))  # noqa: PTH100, PTH120
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"The folder of {str(target)!r} cannot be written to; choose another.")
    return target


def write_whole(
    path: str | Path, data: bytes, *, overwrite: bool, before_naming: Callable[[], None] | None = None
) -> None:
    """Write ``data`` to a file, whole or not at all, as :func:`open_whole` does."""
    with open_whole(path, overwrite=overwrite, before_naming=before_naming) as file:
        file.write(data)


@contextlib.contextmanager
def open_whole(
    path: str | Path,
    *,
    overwrite: bool,
    before_naming: Callable[[], None] | None = None,
    kind: PrivateKind | None = None,
    permissions: int = 0o666,
) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` for writing, and move it there in one step; on any failure, leave nothing behind.

    The file gets those of ``permissions`` that the umask allows. Without ``overwrite`` the last step fails if another
    process took the name meanwhile; with it, readers of the path see the old file or the new one, never a part. When
    the whole file is on the disk, before it gets its name, ``before_naming`` is called, and the path is checked again.
    """
    target = check_free(path, overwrite=overwrite, kind=kind)
    beside = target.absolute().with_name(f".anonhist-{uuid4().hex}.part")
    _parts.add(beside)
    try:
        try:
            with open(beside, "xb", opener=lambda path, flags: os.open(path, flags, permissions)) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if before_naming is not None:
                # A file that may not be replaced may have appeared meanwhile: then no release is complete.
                check_replaceable(target, kind)
                before_naming()
            _name(beside, target, overwrite=overwrite, kind=kind)
        finally:
            _remove(beside)
    except AnonhistError:
        raise
    except OSError as error:
        reason = error.strerror or "the system does not accept this name"
        raise OutputError(f"{str(target)!r} could not be written: {reason}; nothing was left behind.") from None


def remove_unfinished() -> None:
    """Remove unfinished files, for a process that is ending without leaving its ``with`` blocks."""
    for beside in list(_parts):
        _remove(beside)


def _remove(beside: Path) -> None:
    with contextlib.suppress(OSError):
        beside.unlink()
    _parts.discard(beside)


def _name(beside: Path, target: Path, *, overwrite: bool, kind: PrivateKind | None) -> None:
    """Give the file its name."""
    try:
        if overwrite:
            check_replaceable(target, kind)
            beside.replace(target)
        else:
            name_unless_taken(beside, target)
    except AnonhistError:
        raise
    except FileExistsError:
        refuse_to_replace(target)
    except ValueError:  # such as a name with a zero byte
        raise OSError from None


# A pipe may be read before its writer has started.
_SECONDS = 5.0
# This is more than any of our files; a device may deliver data without end.
_MOST_PIPED = 1 << 30
_BLOCK = 1 << 20


def content_of(source: str | Path) -> bytes:
    """Return the content of a regular file, or of a pipe with a writer and an end."""
    try:
        # Opening a pipe would wait for a writer, possibly forever.
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
    raise DataError(f"{str(source)!r} is not a regular file; name one.")


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
            # A writer is connected, and may take as long as it needs.
            os.set_blocking(descriptor, True)
            continue
        if piece:
            content += piece
        elif content or [(descriptor, select.POLLHUP)] == waiting.poll(50):
            # The writer has gone, and nothing is left to read.
            return bytes(content)
        elif monotonic() > latest:
            raise DataError(f"{named!r} is a pipe without a writer: name a regular file.")
    raise DataError(f"{named!r} is a pipe with more than 2^30 bytes: name a regular file.")
