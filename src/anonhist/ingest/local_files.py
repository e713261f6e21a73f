"""Local files: which a path or pattern names, each once, and whether they can be read."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from anonhist.errors import DataError, mask, public_error
from anonhist.ingest.engine import NOT_LINES, NOT_TEXT, WIDE_TEXT
from anonhist.ingest.remote_files import is_whole

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

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


# How many bytes are looked at.
BEGINNING = 64
_UTF_8_MARK = b"\xef\xbb\xbf"
# The longer ones first.
_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_FEWEST = 4


def other_encoding(beginning: bytes) -> str | None:
    r"""Return the encoding of a text whose characters have several bytes each, None for any other text.

    Without a byte order mark, every second byte is zero: such is UTF-16 of a Latin script, which is UTF-8 as well.

    Examples
    --------
    >>> [other_encoding("cat, dog".encode(name)) for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-8")]
    ['UTF-16', 'UTF-16LE', 'UTF-16BE', None]
    """
    for mark, name in _MARKS.items():
        if beginning.startswith(mark):
            return name
    even, odd = beginning[:BEGINNING:2], beginning[1:BEGINNING:2]
    if len(beginning) < _FEWEST or any(even) == any(odd):
        return None
    return "UTF-16LE" if any(even) else "UTF-16BE"


def not_utf_8(beginning: bytes) -> str:
    """Return what a text is that is not UTF-8, as the end of a sentence."""
    encoding = other_encoding(beginning)
    return NOT_TEXT if encoding is None else WIDE_TEXT.format(encoding=encoding)


def check_beginning(beginning: bytes, what: str) -> None:
    """Refuse a text of rows that is not UTF-8 by its first bytes.

    Raises
    ------
    DataError
        If it is not; the message holds nothing of it.
    """
    if other_encoding(beginning):
        raise DataError(f"{what} {not_utf_8(beginning)}")


def check_beginnings(beginnings: Sequence[bytes], what: str, *, is_json: bool) -> None:
    """Refuse texts of rows, labels or JSON lines, that are another kind of text by their first bytes.

    Raises
    ------
    DataError
        If one is; the message holds nothing of it.
    """
    for beginning in beginnings:
        check_beginning(beginning, what)
        if is_json and beginning.removeprefix(_UTF_8_MARK).lstrip().startswith(b"["):
            raise DataError(f"{what} {NOT_LINES}")
