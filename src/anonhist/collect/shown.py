"""What the page of a collection shows: rendered once for each look, in a process of its own, and kept."""

from __future__ import annotations

import asyncio
import signal
import sys
from multiprocessing import active_children, get_context
from multiprocessing.connection import Connection
from time import monotonic

from anonhist.collect.live_page import Rendered, ShownState, rendered
from anonhist.collect.served import Served
from anonhist.collect.storage import Head, Storage
from anonhist.errors import AnonhistError, OutputError

# Whoever asks sooner gets what was read last, or the same refusal.
_SECONDS = 1.0
# Anybody may ask for the pages of all collections at once: each process takes 50 MB and more, and a thread that waits.
_MOST_PROCESSES = 2


class ShownPages:
    """The newest pages of collections."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._kept: dict[int, tuple[Head, Rendered]] = {}
        self._read: dict[int, float] = {}
        self._failed: dict[int, float] = {}
        self._turns: dict[int, asyncio.Lock] = {}
        self._processes = asyncio.Semaphore(_MOST_PROCESSES)

    async def of(self, served: Served) -> Rendered:
        """Return the page of the last look; while a new one is made, others who ask get the one before.

        Raises
        ------
        OutputError
            If the process that makes pages cannot do so now.
        """
        turn = self._turns.setdefault(served.number, asyncio.Lock())
        kept = self._kept.get(served.number)
        is_new = monotonic() - self._read.get(served.number, -_SECONDS) < _SECONDS
        if kept is not None and (is_new or turn.locked()):
            return kept[1]
        async with turn:
            kept = self._kept.get(served.number)
            head = await asyncio.to_thread(self._head, served.number)
            if kept is None or (kept[0].shown, kept[0].closed) != (head.shown, head.closed):
                kept = await self._made(served)
                self._kept[served.number] = kept
            self._read[served.number] = monotonic()
            return kept[1]

    def _head(self, number: int) -> Head:
        with self._storage.seen() as ours:
            return ours.head(number)

    async def _made(self, served: Served) -> tuple[Head, Rendered]:
        """Render; a process that fails is told once, and not started again at once."""
        failed = self._failed.get(served.number)
        if failed is None or monotonic() - failed >= _SECONDS:
            async with self._processes:
                found = await asyncio.to_thread(_apart, self._storage, served)
            if isinstance(found, tuple):
                self._failed.pop(served.number, None)
                return found
            if isinstance(found, AnonhistError):
                raise found
            if failed is None:
                print(f"anonhist: no page could be made ({found}).", file=sys.stderr)  # noqa: T201
            self._failed[served.number] = monotonic()
        raise OutputError("No page can be made now.")


def _apart(storage: Storage, served: Served) -> tuple[Head, Rendered] | AnonhistError | str:
    """Render in a process that ends afterwards: estimates take up to seconds, and large tallies much memory.

    Of an error that should not happen, only the kind is returned: its text might quote data.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    with ours:
        try:
            with theirs:
                # Whoever ends the server may end its processes, too; but they end with their page.
                _block_signals()
                process = context.Process(target=_send, args=(theirs, storage, served), daemon=True)
                process.start()
            try:
                found: tuple[Head, Rendered] | AnonhistError | str = ours.recv()
            finally:
                process.join()
        except (OSError, EOFError) as error:
            return type(error).__name__
    return found


def _block_signals() -> None:
    """Block, in this thread and the processes that it starts, what ends the server."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})


def end_all() -> None:
    """End all processes that make pages."""
    for each in active_children():
        each.kill()


def _send(to: Connection, storage: Storage, served: Served) -> None:
    try:
        to.send(_rendered(storage, served))
    except AnonhistError as error:
        to.send(error)
    except Exception as error:  # noqa: BLE001  # it is told, whatever it is
        to.send(type(error).__name__)


def _rendered(storage: Storage, served: Served) -> tuple[Head, Rendered]:
    with storage.seen() as ours:
        head = ours.head(served.number)
        tally = ours.tally(served.number, served.collection.survey.digest, shown=True) if head.shown else None
    # Before the end, nobody learns how many came since the look.
    reports = head.counted + head.waiting if head.closed else head.shown
    return head, rendered(served.collection, ShownState(reports, tally, head.closed))
