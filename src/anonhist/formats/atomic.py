"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from anonhist.errors import OutputError, UsageError


def check_free(path: str | Path, *, overwrite: bool) -> Path:
    """Refuse a path that cannot be written to, before any budget is spent on what would go there.

    Raises
    ------
    UsageError
        If something is there already and ``overwrite`` is false.
    OutputError
        If its folder does not exist, or it is a folder itself.
    """
    target = Path(path)
    if target.is_dir():
        message = f"{str(target)!r} is a folder; name a file."
        raise UsageError(message)
    if not overwrite and target.exists():
        message = f"{str(target)!r} exists already; choose another name or overwrite it (--force, overwrite=True)."
        raise UsageError(message)
    if not target.absolute().parent.is_dir():
        message = f"The folder of {str(target)!r} does not exist; make it first."
        raise OutputError(message)
    return target


def write_whole(path: str | Path, data: bytes, *, overwrite: bool) -> None:
    """Write ``data`` beside ``path`` and move it there in one step; on any failure, leave nothing behind.

    Without ``overwrite`` the last step is a hard link, which fails if another process took the name meanwhile.

    Raises
    ------
    UsageError, OutputError
        As for :func:`check_free`, and if the disk is full or the folder cannot be written to.
    """
    target = check_free(path, overwrite=overwrite)
    beside: str | None = None
    try:
        handle, beside = tempfile.mkstemp(dir=target.absolute().parent, prefix=f".{target.name}.", suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(beside).chmod(0o666 & ~mask)
        if overwrite:
            Path(beside).replace(target)
            beside = None
        else:
            _link(beside, target)
    except OSError as error:
        message = (
            f"{str(target)!r} could not be written: {error.strerror or 'the system gave no reason'}; nothing is left."
        )
        raise OutputError(message) from None
    finally:
        if beside is not None:
            with contextlib.suppress(OSError):
                Path(beside).unlink()


def _link(beside: str, target: Path) -> None:
    try:
        os.link(beside, target)
    except FileExistsError:
        message = f"{str(target)!r} exists already; choose another name or overwrite it (--force, overwrite=True)."
        raise UsageError(message) from None
    except OSError:
        # File systems without hard links: the check above is all there is.
        Path(beside).replace(target)
