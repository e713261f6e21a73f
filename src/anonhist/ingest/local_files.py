"""Local files: which a path or pattern names, each once, and whether they can be read."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from anonhist.errors import DataError, mask, public_error
from anonhist.ingest.zstandard import is_whole

if TYPE_CHECKING:
    from collections.abc import Hashable

_FILE_URLS = ("file://localhost", "file://")


def is_remote(source: str) -> bool:
    """Return whether a source is a URL that only the engine can reach.

    Examples
    --------
    >>> is_remote("https://example.org/a.csv"), is_remote("file:///data/a.csv"), is_remote("a.csv")
    (True, False, False)
    """
    return "://" in local_path(source)


def local_path(source: str) -> str:
    """Return the path or pattern of a ``file://`` URL, and anything else as it is."""
    return next((source.removeprefix(url) for url in _FILE_URLS if source.startswith(url)), source)


def match_files(source: str) -> list[str]:
    """Return the files that a path or pattern names, in the order of their paths, or nothing if there are none.

    A file is there once, however many of its paths match: by links, or by ``**`` that stand for the same folders in
    several ways. A copy is another file.
    """
    local = local_path(source)
    if os.path.exists(local):  # noqa: PTH110  # patterns need not be paths
        return [local]
    found: dict[Hashable, str] = {}
    for path in sorted(glob.glob(local, recursive=True)):  # noqa: PTH207  # absolute patterns too
        found.setdefault(identity(path), path)
    return list(found.values())


def identity(path: str) -> Hashable:
    """Return what all paths of a file have in common, through symbolic links and hard ones."""
    try:
        info = os.stat(path)  # noqa: PTH116  # the path may be anything
    except OSError:
        return os.path.realpath(path)
    # Not all file systems have numbers of their own for files, so they are asked for hard links alone.
    return (info.st_dev, info.st_ino) if info.st_nlink > 1 else os.path.realpath(path)


def readable(source: str) -> list[str]:
    """Return the readable, whole, non-empty files that a path or pattern names, each once, or refuse it."""
    found = match_files(source)
    if not found:
        sentence = f"There is no file {mask(source)!r}."
        # Which files a pattern matches may say who is in the data.
        raise (
            public_error(sentence) if local_path(source) == escape_pattern(local_path(source)) else DataError(sentence)
        )
    for name in found:
        _check_readable(name)
    return found


def escape_pattern(path: str) -> str:
    """Return a pattern that matches this path and no other, for engines that take every path for one."""
    return re.sub(r"([*?[])", r"[\1]", path)


def _check_readable(name: str) -> None:
    path = Path(name)
    if path.is_dir():
        raise public_error(f"{name!r} is a folder; name its files, such as '{name}/*.parquet'.")
    if not path.is_file():
        # A pipe can be read once, and finding the columns would be that once.
        raise DataError(f"{name!r} is not a plain file; pipe what it holds into standard input and read '-'.")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
            whole = empty or path.suffix.lower() != ".zst" or is_whole(file)
    except OSError as error:
        raise DataError(f"The file {name!r} cannot be read: {error.strerror}.") from None
    if empty:
        raise DataError(f"The file {name!r} is empty.")
    if not whole:
        raise DataError(f"The file {name!r} cannot be decompressed: it is cut off or not what its ending says.")
