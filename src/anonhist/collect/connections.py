"""Which connections a server has: how many, how much of each is read at once, and which are closed by force.

Everything that one client can make the server hold is bounded here, except bodies (see ``bodies``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

MOST = 2_000
# A tenth more wait to be told to come back; others are closed at once.
_WAITING = 10
# Of the system's limit, the rest is for the database and the pages.
_MOST_FILES = 2 * MOST
# Reads of all connections are held before the first of them is processed.
_MOST_READ_AT_ONCE = 1 << 14
MOST_HEAD_BYTES = 1 << 15
_MOST_HEADERS, _MOST_PIPELINED = 100, 16
_SWEEP_SECONDS, _MOST_ROUNDS = 5.0, 6


def most_connections() -> int:
    """Return how many connections there may be: :data:`MOST`, or fewer where the system allows few open files."""
    try:
        import resource
    except ImportError:
        return MOST
    few, many = resource.getrlimit(resource.RLIMIT_NOFILE)
    if few == resource.RLIM_INFINITY:
        return MOST
    if few < _MOST_FILES:
        wanted = _MOST_FILES if many == resource.RLIM_INFINITY else min(_MOST_FILES, many)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, many))
            few = wanted
    return min(MOST, few // 2)


def bounded_protocol() -> type[asyncio.Protocol]:
    """Return the parser of requests, with bounds: httptools, or the slower h11 where that is missing."""

    class Few:
        """A connection, closed at once if there are too many."""

        connections: set[Any]
        headers: list[Any] | None
        limit_concurrency: int
        transport: Any
        # How often the client had read nearly all that there was for it.
        emptied = 0

        def resume_writing(self) -> None:
            self.emptied += 1
            super().resume_writing()  # type: ignore[misc]

        def connection_made(self, transport: Any) -> None:
            transport.max_size = _MOST_READ_AT_ONCE
            super().connection_made(transport)  # type: ignore[misc]  # it is mixed into protocols
            if len(self.connections) > self.limit_concurrency * (1 + 1 / _WAITING):
                transport.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)  # type: ignore[misc]
            if self.headers is not None and len(self.headers) > _MOST_HEADERS:
                self.transport.abort()

    if find_spec("httptools") is None:
        from uvicorn.protocols.http.h11_impl import H11Protocol

        class BoundedH11(Few, H11Protocol):  # type: ignore[misc]  # the same method
            """h11, which bounds heads itself, and reads no further request before one is answered."""

        return BoundedH11
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Bounded(Few, HttpToolsProtocol):  # type: ignore[misc]  # the same method
        """httptools, where heads, trailers and what is between chunks end, and few requests wait for their turn."""

        beside = 0

        def data_received(self, data: bytes) -> None:
            before = self.cycle
            held = 0 if before is None else len(before.body)
            super().data_received(data)
            cycle = self.cycle
            is_beside = cycle is before and (cycle is None or len(cycle.body) == held)
            self.beside = self.beside + len(data) if is_beside else 0
            if cycle is not None and len(cycle.body) > _MOST_READ_AT_ONCE:
                # Until the application takes it.
                self.flow.pause_reading()
            if self.beside > MOST_HEAD_BYTES or len(self.pipeline) > _MOST_PIPELINED:
                self.transport.abort()

    return Bounded


async def sweep_for_ever(connections: set[Any]) -> None:
    """Close connections that do not move, again and again."""
    sweep = Sweep()
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        for each in sweep.stuck(list(connections)):
            each.transport.abort()


class Sweep:
    """Rounds in which connections are looked at.

    A head must come to an end between two rounds. A client must read of its answers within six: what the system still
    holds for it moves in large steps.
    """

    def __init__(self) -> None:
        self._heads: dict[Any, Any] = {}
        self._unread: dict[Any, tuple[int, int, int]] = {}

    def stuck(self, connections: Iterable[Any]) -> list[Any]:
        """Return the connections that have not moved for too long."""
        heads: dict[Any, Any] = {}
        unread: dict[Any, tuple[int, int, int]] = {}
        found = []
        for each in connections:
            cycle, size = each.cycle, each.transport.get_write_buffer_size()
            last, emptied, rounds = self._unread.get(each, (0, 0, 0))
            if size:
                # Large answers come in pieces: there may be as much as before though the client reads.
                is_still = size >= last and each.emptied == emptied
                unread[each] = size, each.emptied, rounds + 1 if is_still else 1
            is_head = (cycle is None or cycle.response_complete) and each.timeout_keep_alive_task is None
            if is_head:
                heads[each] = cycle
            if (is_head and self._heads.get(each, ...) is cycle) or unread.get(each, (0, 0, 0))[2] > _MOST_ROUNDS:
                found.append(each)
        self._heads, self._unread = heads, unread
        return found
