"""DuckDB for many small readings: starting it takes as long as reading a few rows."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from anonhist.ingest.engine import CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def lent_duckdb() -> Iterator[None]:
    """Lend one engine to all readings in memory; each reading has a connection of its own.

    Callers' engines, and engines whose settings are not the product's, are engines of their own.
    """
    engine, connect = _lent_engine(), duckdb.connect

    def lend(path: Any = ":memory:", **options: Any) -> duckdb.DuckDBPyConnection:
        if path != ":memory:" or not _is_ours(options.get("config", {})):
            return connect(path, **options)
        # Otherwise, the copy of standard input would end with its engine.
        engine.execute("DROP TABLE IF EXISTS input")
        return engine.cursor()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", lend)
        yield


@cache
def _lent_engine() -> duckdb.DuckDBPyConnection:
    """Open DuckDB once in this process, with the product's settings."""
    return duckdb.connect(config=CONFIG | {"temp_directory": ""})


def _is_ours(config: dict[str, Any]) -> bool:
    """Return whether these are the product's settings of an engine, with any folder for spilling."""
    return config == CONFIG | {"temp_directory": config.get("temp_directory")}
