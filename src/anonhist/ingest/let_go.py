"""Engines let go at the end of a program: DuckDB's binding says at length on standard error what is still held then."""

from __future__ import annotations

import atexit
import sys
from functools import cache


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
