"""Changing the file of a sketch: one process after another, and whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from anonhist.errors import OutputError
from anonhist.formats.atomic import check_free, open_whole
from anonhist.formats.sketches import check_sketch_path, check_sole_name, open_sketch, read_open_sketch, write_sketch
from anonhist.replacing import PrivateKind
from anonhist.sketches.sketch import Sketch

if TYPE_CHECKING:
    from typing import BinaryIO


@contextmanager
def sketch_in_place(path: str | Path, *, waiting: Callable[[], None] | None = None) -> Iterator[Sketch]:
    """Give the sketch in a file to change, and write it back at the end; on any failure the file stays as it was.

    From beginning to end the file is locked: others who change it this way wait, and begin from what was written. Who
    reads it meanwhile has the old sketch, whole. The file keeps its permissions; where the path is a symbolic link,
    what it points to is changed. A file with several names (hard links) is refused: under the others the old state
    would stay, and whoever has two states sees without noise what was counted between them.

    Parameters
    ----------
    path
        A file that :func:`write` made.
    waiting
        Called once if another process has the file, before waiting for it.

    Yields
    ------
    Sketch
        To be changed as it is, not replaced.

    Raises
    ------
    DataError, UsageError
        As for :func:`read_sketch`.
    OutputError
        If the file has several hard links, cannot be locked or written, or was replaced meanwhile by a program that
        does not ask for locks; nothing is left behind.

    Notes
    -----
    The lock is ``flock`` on the file itself, which each change replaces by a new one. So whoever gets the lock looks
    whether the path still names what is locked, and else begins again.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.formats.writing import write
    >>> from anonhist.sketches import HashedSketch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(HashedSketch(buckets=1000, epsilon=1, key=b"week 47"), f"{folder}/a.sketch")
    ...     with sketch_in_place(f"{folder}/a.sketch") as sketch:
    ...         sketch.update(["pets", "cats", "pets"])
    """
    target = _follow_link(check_sketch_path(path))
    with _hold_lock(target, path, waiting) as file:
        check_sole_name(os.fstat(file.fileno()), path)
        sketch = read_open_sketch(file, path)
        check_free(target, overwrite=True, kind=PrivateKind.SKETCH)
        yield sketch
        with open_whole(target, overwrite=True, kind=PrivateKind.SKETCH) as replacement:
            _take_permissions(replacement, os.fstat(file.fileno()))
            write_sketch(sketch, replacement)
            check_sole_name(os.fstat(file.fileno()), path)
            if not _names(target, file):
                message = f"Another program replaced {str(path)!r} during the update; the new file was left unchanged."
                raise OutputError(message)


def _follow_link(path: Path) -> Path:
    """Return what a symbolic link points to; names that the system does not take are refused when they are opened."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        return path


@contextmanager
def _hold_lock(target: Path, path: str | Path, waiting: Callable[[], None] | None) -> Iterator[BinaryIO]:
    """Open a file and lock it, and again until what is locked is what the path names."""
    while True:
        with open_sketch(target, path) as file:
            _lock(file, path, waiting)
            waiting = None
            if _names(target, file):
                try:
                    yield file
                finally:
                    _unlock(file)
                return


def _lock(file: BinaryIO, path: str | Path, waiting: Callable[[], None] | None) -> None:
    """Wait for the lock on a file; the end of the process gives it back, too."""
    # Only where there are sketches to change, for not every system has it.
    import fcntl

    try:
        if waiting is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
            else:
                return
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        message = f"{str(path)!r} could not be locked ({error.strerror}): copy it to a disk of this machine."
        raise OutputError(message) from None


def _unlock(file: BinaryIO) -> None:
    """Give the lock back: to close the file is not enough while the sketch of an error, say, still has it mapped."""
    import fcntl

    fcntl.flock(file, fcntl.LOCK_UN)


def _names(target: Path, file: BinaryIO) -> bool:
    """Return whether the path names the open file."""
    try:
        return os.path.samestat(target.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _take_permissions(replacement: BinaryIO, old: os.stat_result) -> None:
    """Give a file the permissions of the one that it is to replace, and, as far as the system lets us, its owner."""
    with suppress(PermissionError):
        os.fchown(replacement.fileno(), old.st_uid, old.st_gid)
    os.fchmod(replacement.fileno(), stat.S_IMODE(old.st_mode))
