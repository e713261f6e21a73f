"""DuckDB inside this process: how it is started, where it spills, and how it ends."""

from __future__ import annotations

import atexit
import sys
from contextlib import ExitStack, contextmanager
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.ingest.limits import NO_LIMITS, EngineLimits
from anonhist.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

# The network is asked for nothing: extensions that are not there are an error, not a download.
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "preserve_insertion_order": "false",
}
_NO_MEMORY = (
    "Not enough memory, and private data are never written to temporary files: split the input so that all rows "
    "of a user are in one part, and read the parts one by one."
)


class Spilling(Enum):
    """Where an engine puts what does not fit in memory."""

    #: Into a folder that only this user can read. It is removed at the end, or by the next process.
    TO_FOLDER = "to-folder"
    #: Nowhere: the query fails instead. For data that must never be stored without noise.
    FORBIDDEN = "forbidden"


@contextmanager
def connect(
    path: str = ":memory:",
    *,
    read_only: bool = False,
    spilling: Spilling = Spilling.TO_FOLDER,
    limits: EngineLimits = NO_LIMITS,
) -> Iterator[Any]:
    """Open DuckDB, which may spill what does not fit in memory, or must not."""
    import duckdb

    let_go_at_exit()
    with ExitStack() as opening:
        folder = ""
        if spilling is Spilling.TO_FOLDER:
            folder = opening.enter_context(temporary_folder(limits.temp_directory))
        # DuckDB spills nothing where no folder is named.
        config = CONFIG | limits.config | {"temp_directory": folder}
        connection = opening.enter_context(duckdb.connect(path, read_only=read_only, config=config))
        try:
            yield connection
        except Exception as error:
            # Arrow passes the engine's error on as one of its own.
            if spilling is Spilling.TO_FOLDER or "out of memory" not in str(error).lower():
                raise
            raise DataError(_NO_MEMORY) from None


@cache
def let_go_at_exit() -> None:
    """Have caches of Narwhals emptied when the interpreter ends; once is enough.

    Narwhals keeps what it made of each engine in caches of functions. In a program that uses NumPy, too, they are still
    held when DuckDB's binding looks for what was not released, and with them all types of columns.
    """
    atexit.register(_empty_caches)


def _empty_caches() -> None:
    """Empty the caches of functions in modules of Narwhals, whatever they are called there."""
    kind = type(let_go_at_exit)
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "narwhals":
            for value in list(vars(module).values()):
                if isinstance(value, kind):
                    value.cache_clear()
