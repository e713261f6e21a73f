"""What an output may replace, and how it gets its name: never a ledger, and a private file only by its own kind."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import Never

from anonhist.accounting.recording import VARIABLE
from anonhist.accounting.sqlite import files_of, is_ledger
from anonhist.errors import OutputError, UsageError


class PrivateKind(StrEnum):
    """A kind of file that holds exact counts or unreleased data."""

    PART = "part"
    SKETCH = "sketch"
    TALLY = "tally"


# How files declare their formats: JSON at the beginning, sketches in the schema that comes first, Parquet at the end.
_FORMAT = re.compile(rb'"format":\s*"anonhist[./](counts|sketch|tally)"')
_KINDS = {b"counts": PrivateKind.PART, b"sketch": PrivateKind.SKETCH, b"tally": PrivateKind.TALLY}
# Endings that no other files have, so that damaged files are recognized, too.
_ENDINGS = {".counts": PrivateKind.PART, ".sketch": PrivateKind.SKETCH}
_BEGINNING, _LONGEST_FOOTER = 1 << 12, 1 << 26
_PARQUET, _ARROW = b"PAR1", b"ARROW1"


def check_replaceable(path: str | os.PathLike[str], kind: PrivateKind | None = None) -> None:
    """Refuse a path whose file must not be lost; the error quotes nothing of its content.

    The ledger in the environment variable ``ANONHIST_LEDGER`` is recognized by its address, other ledgers and private
    files by their content; symbolic and hard links to a file count as the file.

    Parameters
    ----------
    path
        The path to write to.
    kind
        The kind of file to be written, if it is private: it may replace a file of the same kind.

    Raises
    ------
    UsageError
        If the path holds a ledger, a private file of another kind, or an unreadable file, which may be either.
    """
    check_not_ledger_at(path, os.environ.get(VARIABLE))
    shown = repr(os.fspath(path))
    try:
        if not os.path.isfile(path):  # noqa: PTH113  # pathlib may raise
            return
        beginning = _beginning(path)
        if not beginning.startswith((_PARQUET, _ARROW)) and is_ledger(path):
            _refuse_ledger(path)
        there = _kind_at(path, beginning)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(
            f"{shown} is there and cannot be read ({error.strerror}), so it may be a ledger or private; name another "
            "output."
        ) from None
    if there not in (None, kind):
        raise UsageError(
            f"{shown} is a {there}, which is private and is replaced only by another {there}; name another output."
        )


def check_target(path: str | os.PathLike[str], *, overwrite: bool, kind: PrivateKind | None = None) -> Path:
    """Return a path, or refuse one that cannot be written to or replaced."""
    target = Path(path)
    # os.path returns False where pathlib may raise: for names that are too long, or folders that may not be read.
    if os.path.isdir(target):  # noqa: PTH112
        raise UsageError(f"{str(target)!r} is a folder; name a file.")
    check_replaceable(target, kind)
    if not overwrite and os.path.lexists(target):
        refuse_to_replace(target)
    if not os.path.isdir(os.path.dirname(os.path.abspath(target))):  # noqa: PTH100, PTH112, PTH120
        raise OutputError(f"The folder of {str(target)!r} does not exist; make it first.")
    return target


def refuse_to_replace(target: Path) -> Never:
    """Refuse a name that is already taken."""
    message = f"{str(target)!r} exists already; choose another name or overwrite it (`overwrite=True`)."
    raise UsageError(message) from None


def name_unless_taken(made: Path, target: Path) -> None:
    """Give a file its name unless that is taken (:exc:`FileExistsError`), which renaming would not notice."""
    try:
        os.link(made, target)
    except FileExistsError:
        raise
    except OSError:
        # On a file system without hard links, take the name with an empty file first, then replace that.
        target.open("xb").close()
        try:
            made.replace(target)
        except BaseException:
            target.unlink()
            raise


def check_not_ledger_at(path: str | os.PathLike[str], address: str | None) -> None:
    """Refuse a path that is, or would be, a file of the ledger at an address."""
    if any(is_same(path, file) for file in files_of(address or "")):
        _refuse_ledger(path)


def _refuse_ledger(path: str | os.PathLike[str]) -> Never:
    raise UsageError(
        f"{os.fspath(path)!r} is a ledger or belongs to one, damaged or not, and nothing replaces it; name another "
        "output."
    )


def private_kind(name: str) -> PrivateKind | None:
    """Return the kind of private file whose values have a name, or None.

    Examples
    --------
    >>> private_kind("tally"), private_kind("release")
    (<PrivateKind.TALLY: 'tally'>, None)
    """
    return next((kind for kind in PrivateKind if kind == name), None)


def is_same(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Return whether two paths lead to one file, through links and other names, even if it does not exist yet."""
    try:
        return os.path.samefile(path, other)  # noqa: PTH121  # paths may be anything
    except (OSError, ValueError):
        pass
    try:
        return os.path.realpath(path) == os.path.realpath(other)
    except (OSError, ValueError):
        return False


def _beginning(path: str | os.PathLike[str]) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(_BEGINNING)


def _kind_at(path: str | os.PathLike[str], beginning: bytes) -> PrivateKind | None:
    """Return the kind of private file, as its content declares, or else by its ending."""
    found = _FORMAT.search(_footer(path) if beginning.startswith(_PARQUET) else beginning)
    if found:
        return _KINDS[found[1]]
    return _ENDINGS.get(Path(os.path.realpath(path)).suffix.lower())


def _footer(path: str | os.PathLike[str]) -> bytes:
    """Return the end of a Parquet file, which holds its metadata; its length precedes the last four bytes."""
    with Path(path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 8, 0))
        stated = int.from_bytes(file.read(4), "little") + 8
        file.seek(max(size - min(stated, _LONGEST_FOOTER), 0))
        return file.read()
