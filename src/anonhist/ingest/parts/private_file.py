"""Files that nobody else may read, from their first byte on; whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO

from anonhist.errors import AnonhistError, OutputError, UsageError
from anonhist.replacing import PrivateKind, check_replaceable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENDING = ".counts"
# Folders of files that have no name of their own yet.
_folders: set[str] = set()


def check_part_path(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Refuse a path to which no part can be written, before any data are read.

    Nothing replaces a ledger, or a private file that is no part.
    """
    name = os.fspath(path)
    if not name.lower().endswith(ENDING):
        raise UsageError(f"Parts end in {ENDING}: {name!r:.200} does not.")
    target = Path(name)
    # os.path answers False where pathlib may raise, as for names that are too long.
    if os.path.isdir(target):  # noqa: PTH112
        raise UsageError(f"{name!r} is a folder; name a file.")
    check_replaceable(target, PrivateKind.PART)
    if not overwrite and os.path.lexists(target):
        raise UsageError(f"{name!r} exists already; choose another name or overwrite it (`overwrite=True`).")
    if not os.path.isdir(os.path.dirname(os.path.abspath(target))):  # noqa: PTH100, PTH112, PTH120
        raise OutputError(f"The folder of {name!r} does not exist; make it first.")
    return target


@contextmanager
def private_file(
    path: str | os.PathLike[str], *, overwrite: bool, before_naming: Callable[[], None] | None = None
) -> Iterator[BinaryIO]:
    """Give a file to write to that only its owner may read, and move it to ``path`` in one step.

    It is made in a folder beside ``path`` that nobody else may enter. On any failure nothing is left behind, and what
    was there stays. A process that is killed may leave the folder, named ``.anonhist-…``. ``before_naming`` is called
    when all of it is on the disk, before it gets its name.
    """
    target = check_part_path(path, overwrite=overwrite)
    beside = target.absolute().parent
    try:
        with TemporaryDirectory(prefix=".anonhist-", dir=beside) as folder, _listed(folder):
            made = Path(folder) / "part"
            with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                # Whatever the mask of the process takes away.
                os.fchmod(file.fileno(), 0o600)
                yield file
                file.flush()
                os.fsync(file.fileno())
            if before_naming is not None:
                before_naming()
            if overwrite:
                check_replaceable(target, PrivateKind.PART)
                made.replace(target)
            else:
                _name(made, target)
        _sync(beside)
    except AnonhistError:
        raise
    except FileExistsError:
        raise UsageError(f"{str(target)!r} exists already; choose another name or overwrite it.") from None
    except OSError as error:
        reason = error.strerror or "the system does not take such a name"
        raise OutputError(f"{str(target)!r} could not be written: {reason}; nothing was left behind.") from None


def _name(made: Path, target: Path) -> None:
    """Give the file its name unless that was taken meanwhile, which a renaming would not notice."""
    try:
        os.link(made, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: take the name with an empty file first, then replace that.
        target.open("xb").close()
        try:
            made.replace(target)
        except BaseException:
            target.unlink()
            raise


def remove_unfinished() -> None:
    """Remove what is being written, for a process that ends without leaving its blocks."""
    for folder in list(_folders):
        rmtree(folder, ignore_errors=True)


@contextmanager
def _listed(folder: str) -> Iterator[None]:
    _folders.add(folder)
    try:
        yield
    finally:
        _folders.discard(folder)


def _sync(folder: Path) -> None:
    """Have the new name survive a loss of power, where the system offers that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
