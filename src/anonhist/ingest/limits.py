"""How much of the machine the engine inside this process may use: public settings that change no result."""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, SupportsIndex

from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, converted, frozen
from anonhist.privacy import parse_whole_number

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]i?B)", re.IGNORECASE)
_SIZES = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_LEAST, _MOST = 16 * 10**6, 10**15
_MOST_THREADS = 1024
_UNITS = {"kb": "KB", "mb": "MB", "gb": "GB", "tb": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB", "tib": "TiB"}


def _parse_memory(given: str | None) -> str | None:
    if given is None:
        return None
    found = _SIZE.fullmatch(given.strip()) if isinstance(given, str) else None
    if found is None:
        raise UsageError(f"`memory_limit` must be a size such as 2GB or 512MiB, not {given!r:.40}.")
    if not _LEAST <= float(found[1]) * _SIZES[found[2][0].lower()] <= _MOST:
        raise UsageError(f"`memory_limit` must be between 16MB and 1000TB, not {given!r:.40}.")
    return f"{found[1]}{_UNITS[found[2].lower()]}"


def _parse_threads(given: SupportsIndex | None) -> int | None:
    threads = None if given is None else parse_whole_number(given, name="threads")
    if threads is not None and threads > _MOST_THREADS:
        raise UsageError(f"`threads` must be at most {_MOST_THREADS:,}, not {threads}.")
    return threads


def _parse_folder(given: str | os.PathLike[str] | None) -> str | None:
    if given is None:
        return None
    folder = os.fspath(given)
    if not Path(folder).is_dir():
        raise UsageError(f"`temp_directory` must be a folder that exists, not {folder!r:.200}.")
    try:
        # Only trying tells whether the system lets us, and before data are read.
        with TemporaryDirectory(prefix="anonhist-", dir=folder):
            return folder
    except OSError as error:
        raise UsageError(
            f"`temp_directory` must be a folder that you can write to, not {folder!r:.200} ({error.strerror})."
        ) from None


@frozen
class EngineLimits:
    """How much of the machine DuckDB may use while it counts files and its own databases.

    They change how long a reading takes, and whether it goes through, but never its result. Other engines, such as a
    database server, Spark or a table of Polars, have settings of their own.

    Attributes
    ----------
    memory_limit
        The most memory for what the engine keeps, such as ``"2GB"`` or ``"512MiB"``: beyond it, it writes to temporary
        files. By default four fifths of the machine's. The process itself takes some 150 MB more.
    threads
        How many threads count at once; by default one for each core.
    temp_directory
        The folder for temporary files; by default the system's. They are in a folder in it that only this user can
        read, removed at the end, or by the next process if this one is killed.

    Raises
    ------
    UsageError
        If a value is impossible.

    Examples
    --------
    >>> EngineLimits(memory_limit="2 gb", threads=2)
    EngineLimits(memory_limit='2GB', threads=2, temp_directory=None)
    """

    memory_limit: Checked[str | None] = converted(_parse_memory, default=None)
    threads: Converted[SupportsIndex | None, int | None] = converted(_parse_threads, default=None)
    temp_directory: Converted[str | os.PathLike[str] | None, str | None] = converted(_parse_folder, default=None)

    @property
    def config(self) -> dict[str, Any]:
        """What DuckDB calls these settings, but for the folder."""
        named = {"memory_limit": self.memory_limit, "threads": self.threads}
        return {name: value for name, value in named.items() if value is not None}


NO_LIMITS = EngineLimits()
