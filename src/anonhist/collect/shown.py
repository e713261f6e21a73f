"""What the page of a collection shows: rendered once for each look, in a process of its own, and kept."""

from __future__ import annotations

import asyncio
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import monotonic

from anonhist.collect.live_page import Rendered, ShownState, rendered
from anonhist.collect.served import Served
from anonhist.collect.storage import Head, Storage

# Whoever asks sooner gets what was read last.
_SECONDS = 1.0


class ShownPages:
    """The newest pages of collections."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._kept: dict[int, tuple[Head, Rendered]] = {}
        self._read: dict[int, float] = {}
        self._turns: dict[int, asyncio.Lock] = {}

    async def of(self, served: Served) -> Rendered:
        """Return the page of the last look; while a new one is made, others who ask get the one before."""
        turn = self._turns.setdefault(served.number, asyncio.Lock())
        kept = self._kept.get(served.number)
        is_new = monotonic() - self._read.get(served.number, -_SECONDS) < _SECONDS
        if kept is not None and (is_new or turn.locked()):
            return kept[1]
        async with turn:
            kept = self._kept.get(served.number)
            head = await asyncio.to_thread(self._head, served.number)
            if kept is None or (kept[0].shown, kept[0].closed) != (head.shown, head.closed):
                kept = await _in_process(self._storage, served)
                self._kept[served.number] = kept
            self._read[served.number] = monotonic()
            return kept[1]

    def _head(self, number: int) -> Head:
        with self._storage.seen() as ours:
            return ours.head(number)


async def _in_process(storage: Storage, served: Served) -> tuple[Head, Rendered]:
    """Render in a process that ends afterwards: estimates take up to seconds, and large tallies much memory."""
    process = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    try:
        return await asyncio.get_running_loop().run_in_executor(process, _rendered, storage, served)
    finally:
        process.shutdown(wait=False)


def _rendered(storage: Storage, served: Served) -> tuple[Head, Rendered]:
    with storage.seen() as ours:
        head = ours.head(served.number)
        tally = ours.tally(served.number, served.collection.survey.digest, shown=True) if head.shown else None
    # Before the end, nobody learns how many came since the look.
    reports = head.counted + head.waiting if head.closed else head.shown
    return head, rendered(served.collection, ShownState(reports, tally, head.closed))
