"""DuckDB for many small readings: to start it takes as long as to read a few rows."""

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
    """Lend what is read in memory one engine, of which each reading has a connection of its own.

    Engines of callers, and any set in another way than the product sets its own, are engines of their own.
    """
    engine, connect = _lent_engine(), duckdb.connect

    def lend(path: Any = ":memory:", **options: Any) -> duckdb.DuckDBPyConnection:
        if path != ":memory:" or not _is_ours(options.get("config", {})):
            return connect(path, **options)
        # The copy of standard input would end with its engine.
        engine.execute("DROP TABLE IF EXISTS input")
        return engine.cursor()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", lend)
        yield


@cache
def _lent_engine() -> duckdb.DuckDBPyConnection:
    """Open DuckDB once in this process, set as the product sets it."""
    return duckdb.connect(config=CONFIG | {"temp_directory": ""})


def _is_ours(config: dict[str, Any]) -> bool:
    """Say whether the product sets an engine so, wherever it may spill."""
    return config == CONFIG | {"temp_directory": config.get("temp_directory")}
