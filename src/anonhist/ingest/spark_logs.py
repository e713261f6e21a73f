"""What pyspark logs of queries that fail: it quotes rows, and goes to standard error."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OF_QUERIES = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


@contextmanager
def without_logs_of_rows() -> Iterator[None]:
    """Keep pyspark from logging the errors of queries while the block runs; the errors are raised all the same."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        # Before Spark 4 there are no such logs.
        yield
        return
    loggers = [PySparkLogger.getLogger(name) for name in _OF_QUERIES]
    before = [each.disabled for each in loggers]
    for each in loggers:
        each.disabled = True
    try:
        yield
    finally:
        for each, was_disabled in zip(loggers, before, strict=True):
            each.disabled = was_disabled
