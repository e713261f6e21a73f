"""A small disk in memory, which can be full and then grow: only root may mount one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class SmallDisk:
    """A mounted disk.

    Parameters
    ----------
    folder
        Where it is mounted.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def grow(self, megabytes: int) -> None:
        """Give it another size."""
        _run("mount", "-o", f"remount,size={megabytes}m", str(self.folder))


def why_not() -> str | None:
    """Return why no disk can be mounted, or None if one may be."""
    if not hasattr(os, "geteuid") or os.geteuid():
        return "only root may mount a small disk"
    return None if shutil.which("mount") else "there is no program that mounts a small disk"


@contextmanager
def small_disk(megabytes: int) -> Iterator[SmallDisk | None]:
    """Mount a disk of so many megabytes until the block ends; None if the system does not let root do so."""
    folder = Path(tempfile.mkdtemp(prefix="anonhist-disk-", dir="/tmp"))  # other users must reach it
    try:
        try:
            _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", str(folder))
        except subprocess.CalledProcessError:
            yield None
            return
        try:
            yield SmallDisk(folder)
        finally:
            _run("umount", str(folder))
    finally:
        folder.rmdir()


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
