"""Folders for private rows that do not fit in memory: removed at the end, at a signal, or by the next process.

A folder ``anonhist-…`` holds a file ``owner``, locked by its process for as long as that lives, and a folder ``rows``
for temporary data. A killed process leaves a folder whose lock nobody holds.

Anybody can create names in a shared folder such as ``/tmp``. So a folder to be removed is opened without following
links, must belong to this user and be closed to all others, and its contents are named relative to the opened folder.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir
from uuid import uuid4

PREFIX = "anonhist-"
_OWNER, _ROWS = "owner", "rows"
# An engine that is still running may create files while others are being removed.
_TRIES = 5
# Folders of this process.
_folders: set[str] = set()


@contextmanager
def temporary_folder(parent: str | None = None) -> Iterator[str]:
    """Make a folder that only this user can read, and remove it afterwards; first remove those of killed processes.

    Parameters
    ----------
    parent
        Where to make it; by default among the system's temporary files.
    """
    if sys.platform == "win32":
        with TemporaryDirectory(prefix=PREFIX, dir=parent, ignore_cleanup_errors=True) as plain:
            yield plain
        return
    beside = os.path.abspath(gettempdir() if parent is None else parent)  # noqa: PTH100
    remove_abandoned(beside)
    folder = os.path.join(beside, PREFIX + uuid4().hex)  # noqa: PTH118
    # Registered before it exists, because a signal may come at any moment.
    _folders.add(folder)
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102
        with _owned(folder):
            rows = os.path.join(folder, _ROWS)  # noqa: PTH118
            os.mkdir(rows, 0o700)  # noqa: PTH102
            try:
                yield rows
            finally:
                _remove(folder)
    finally:
        # If a signal came during the removal, the removal is finished at the end.
        if not os.path.lexists(folder):
            _folders.discard(folder)


def remove_unfinished() -> None:
    """Remove the folders of this process, which is ending without leaving its ``with`` blocks."""
    for folder in list(_folders):
        _remove(folder)


def remove_abandoned(beside: str) -> None:
    """Remove folders whose processes are gone, as after kill −9; leave other users' folders and doubtful cases."""
    with suppress(OSError):
        for name in os.listdir(beside):  # noqa: PTH208
            if name.startswith(PREFIX):
                _remove_if_abandoned(os.path.join(beside, name))  # noqa: PTH118


@contextmanager
def _owned(folder: str) -> Iterator[None]:
    """Hold the lock that shows that the process is alive."""
    import fcntl

    with open(os.path.join(folder, _OWNER), "x", encoding="utf-8") as owner:  # noqa: PTH118, PTH123
        # Where the file system has no locks, no owner file is written, and nobody takes the folder for abandoned.
        with suppress(OSError):
            fcntl.flock(owner, fcntl.LOCK_EX)
            # Another machine that shares the folder may not see its locks.
            owner.write(os.uname().nodename)
            owner.flush()
        yield


def _remove_if_abandoned(folder: str) -> None:
    import fcntl

    # It is gone meanwhile, a link, closed to this user, or locked: all are operating system errors.
    with suppress(OSError, ValueError), _opened_folder(folder) as place:
        found = os.fstat(place)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            return
        with _opened(_OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, place) as owner:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.read(owner, 4096).decode() == os.uname().nodename:
                _empty(place)
                os.rmdir(folder)  # noqa: PTH106


def _remove(folder: str) -> None:
    with suppress(OSError), _opened_folder(folder) as place:
        _empty(place)
        os.rmdir(folder)  # noqa: PTH106


def _empty(place: int) -> None:
    """Empty a folder: first its rows, and only then the file that says who owns them."""
    for _ in range(_TRIES):
        if _ROWS in os.listdir(place):
            rmtree(_ROWS, ignore_errors=True, dir_fd=place)
    if os.listdir(place) == [_OWNER]:
        os.unlink(_OWNER, dir_fd=place)


def _opened_folder(folder: str) -> AbstractContextManager[int]:
    return _opened(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


@contextmanager
def _opened(name: str, flags: int, place: int | None = None) -> Iterator[int]:
    descriptor = os.open(name, flags, dir_fd=place)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
