"""How far the engine has come, asked of DuckDB from a second thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

_INTERVAL_SECONDS = 0.1


class followed:  # noqa: N801  # reads as a verb where it is used
    """Report progress of a connection while the block runs; without a receiver it does nothing at all."""

    def __init__(self, progress: Callable[[float], None] | None) -> None:
        self._progress = progress
        self._connection: Any = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def attach(self, connection: Any) -> None:
        """Remember which connection to ask, and let it keep count."""
        if self._progress is not None:
            connection.execute("SET enable_progress_bar = true")
            connection.execute("SET enable_progress_bar_print = false")
            self._connection = connection

    def __enter__(self) -> Self:
        """Start asking."""
        if self._connection is not None:
            self._thread = threading.Thread(target=self._ask, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop asking before the connection closes."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _ask(self) -> None:
        while not self._stop.wait(_INTERVAL_SECONDS):
            share = float(self._connection.query_progress())
            if self._progress is not None and share > 0:
                self._progress(min(1.0, share / 100))
