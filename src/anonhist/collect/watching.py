"""What the operator watches: numbers that reports move are told at looks only, on a loopback address of their own."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from anonhist.collect.metrics import CONTENT_TYPE, Collected, MetricsState, RequestTimes, metrics_text
from anonhist.collect.served import Served
from anonhist.collect.storage import Storage
from anonhist.collect.writer import Seen
from anonhist.errors import AnonhistError
from anonhist.version import __version__

# Scrapes are times. A device loads the description and the client before it reports, and whatever is sent to a path of
# reports, even of no collection here, is a try to report: so those move at looks only. Pages and estimates are read by
# people at any time, whether they answer or not: those, and what tells about the server itself, move at once.
_OF_DEVICES = frozenset({"/c/{digest}/reports", "/c/{digest}/collection.json", "/client.js"})
_ANY = ""
_DIGEST = re.compile("/c/[0-9a-f]{64}(?=/|$)")
_LONGEST_REQUEST, _SECONDS = 1 << 14, 5.0


@dataclass
class _Counts:
    refused: int = 0
    repeated: int = 0
    looks: int = 0


class Watch:
    """Numbers since the server was started.

    Parameters
    ----------
    storage
        Where the rest is read from.
    collections
        What is collected.
    routes
        The paths that exist, as templates.
    """

    def __init__(self, storage: Storage, collections: Sequence[Served], routes: frozenset[str]) -> None:
        self._storage, self._collections, self._routes = storage, collections, routes
        self._digests = {each.collection.digest for each in collections}
        self._started = time.time()
        self._times = RequestTimes()
        self._since = {each.number: _Counts() for each in collections}
        self._told = {each.number: _Counts() for each in collections}

    def notice(self, seen: Seen) -> None:
        """Count what a group of requests held; publish the sums after a look, and once more at the end."""
        since = self._since[seen.served.number]
        since.refused += seen.refused
        since.repeated += seen.repeated
        since.looks += seen.has_looked
        if seen.has_looked or seen.has_ended:
            self._told[seen.served.number] = replace(since)
            self._times.look(seen.served.collection.digest)
            self._times.look(_ANY)

    def add(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count a request; one of a device is told at the next look."""
        route = _DIGEST.sub("/c/{digest}", path)
        digest = None
        if route in _OF_DEVICES:
            digest = path[3:67] if path[3:67] in self._digests else _ANY
        self._times.add(method, route if route in self._routes else "", status, seconds, collection=digest)

    def text(self) -> str:
        """Return everything in Prometheus' format; this reads the database."""
        with self._storage.seen() as ours:
            heads = [(each, ours.head(each.number)) for each in self._collections]
        collected = []
        for each, head in heads:
            told = self._told[each.number]
            collected.append(
                Collected(each.collection.digest, head.shown, told.refused, told.repeated, told.looks, head.closed)
            )
        return metrics_text(MetricsState(__version__, self._started, tuple(collected), self._times.told))


@contextlib.asynccontextmanager
async def scraped(watch: Watch, listens: socket.socket) -> AsyncIterator[None]:
    """Answer every request at a socket with the numbers, until the block ends."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            async with asyncio.timeout(_SECONDS):
                await reader.readuntil(b"\r\n\r\n")
                try:
                    status, body = "200 OK", (await asyncio.to_thread(watch.text)).encode()
                except AnonhistError:
                    # Whoever scrapes sees this, again and again; the server's log need not.
                    status, body = "503 Service Unavailable", b""
                head = f"HTTP/1.1 {status}\r\ncontent-type: {CONTENT_TYPE}\r\ncontent-length: {len(body)}\r\n"
                writer.write(f"{head}connection: close\r\n\r\n".encode() + body)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, sock=listens, limit=_LONGEST_REQUEST)
    try:
        yield
    finally:
        server.close()
