"""The one thread that writes: it takes all requests that wait, counts them at once, and answers when they are stored.

A request is answered only after the transaction that counts it is on the disk. If the process ends before, the device
sends the same bytes again, and its identifier decides whether they still have to be counted.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

import numpy as np

from anonhist.collect.looks import next_look
from anonhist.collect.served import ENDED, Answer, Line, Served, counted_answer, current_day, refusal
from anonhist.collect.storage import (
    Head,
    Identifier,
    Session,
    Storage,
    StorageDownError,
    StorageFullError,
    Tier,
    Transaction,
)
from anonhist.errors import AnonhistError
from anonhist.local.reports import BytesColumn, Reports
from anonhist.local.wire import digits, read_texts
from anonhist.randomness import SystemSource

MOST_AT_ONCE = 5_000
# What may wait, before requests are told to come back.
_MOST_WAITING, _MOST_BYTES_WAITING = 20_000, 1 << 26
# How often an idle writer looks at the day.
_IDLE_SECONDS = 30.0
_NO_ROOM = refusal(507, "The collector has no room: send the same bytes again later.")
_DOWN = refusal(503, "The collector cannot store anything now: send the same bytes again later.")
BUSY = refusal(503, "The collector is busy: send the same bytes again later.")


@dataclass(frozen=True)
class Waiting:
    """A request that waits for its answer."""

    served: Served
    line: Line
    size: int
    answer: asyncio.Future[Answer]


class Writer:
    """The thread, and the queue before it.

    Parameters
    ----------
    storage
        Where it writes.
    collections
        What is collected.
    keep_reports
        Whether reports are stored, too, in random order and without identifiers.
    today
        Returns the day.
    """

    def __init__(
        self,
        storage: Storage,
        collections: Sequence[Served],
        *,
        keep_reports: bool = False,
        today: Callable[[], int] = current_day,
    ) -> None:
        self._storage, self._collections = storage, collections
        self._keep_reports, self._today = keep_reports, today
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = Thread(target=self._run, name="writer", daemon=True)
        self._session: Session | None = None
        self._waiting = self._bytes = 0
        self._pruned: dict[int, int] = {}
        self._ended = Event()
        # Whether the last transaction was stored.
        self.is_well = True

    def start(self) -> None:
        """Start writing; answers are given in the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self) -> None:
        """Write what waits, and end."""
        self._queue.put(None)
        self._thread.join()

    def submit(self, served: Served, line: Line, size: int) -> asyncio.Future[Answer] | None:
        """Queue a request, and return its coming answer; None if too many wait."""
        if self._ended.is_set() or self._waiting >= _MOST_WAITING or self._bytes + size > _MOST_BYTES_WAITING:
            return None
        assert self._loop is not None  # noqa: S101  # it was started
        answer: asyncio.Future[Answer] = self._loop.create_future()
        # Only the event loop counts, so no lock is needed.
        self._waiting += 1
        self._bytes += size
        self._queue.put(Waiting(served, line, size, answer))
        return answer

    def _deliver(self, answers: Iterable[tuple[Waiting, Answer]]) -> None:
        for each, answer in answers:
            self._waiting -= 1
            self._bytes -= each.size
            # A client may have gone.
            if not each.answer.done():
                each.answer.set_result(answer)

    # The thread

    def _run(self) -> None:
        going = True
        while going:
            group, going = self._group()
            try:
                if group:
                    answers = self._stored(group)
                    assert self._loop is not None  # noqa: S101  # it was started
                    self._loop.call_soon_threadsafe(self._deliver, answers)
                self._look_after_days()
            except AnonhistError:
                self._forget_session()
            except Exception as error:  # noqa: BLE001  # a thread that ends would leave all later requests unanswered
                self._say(error)
                self._forget_session()
        self._ended.set()
        self._forget_session()

    def _group(self) -> tuple[list[Waiting], bool]:
        """Return all that waits, and whether to go on."""
        group: list[Waiting] = []
        try:
            first = self._queue.get(timeout=_IDLE_SECONDS)
            while first is not None:
                group.append(first)
                if len(group) == MOST_AT_ONCE:
                    return group, True
                first = self._queue.get_nowait()
        except Empty:
            return group, True
        return group, False

    def _stored(self, group: list[Waiting]) -> list[tuple[Waiting, Answer]]:
        """Count a group, and return the answers: all are refused alike if it cannot be stored."""
        try:
            with self._connected().writing() as ours:
                answers = [pair for served, own in _by_collection(group) for pair in self._count(ours, served, own)]
            self.is_well = True
        except StorageFullError:
            self.is_well = False
            return [(each, _NO_ROOM) for each in group]
        except Exception as error:  # noqa: BLE001  # they are answered, whatever happened
            if not isinstance(error, StorageDownError):
                self._say(error)
            self.is_well = False
            self._forget_session()
            return [(each, _DOWN) for each in group]
        return answers

    def _count(self, ours: Transaction, served: Served, group: list[Waiting]) -> list[tuple[Waiting, Answer]]:
        head = ours.head(served.number)
        if head.closed:
            return [(each, ENDED) for each in group]
        survey = served.collection.survey
        texts: dict[str, list[Any]] = {column.name: [] for column in survey.columns}
        for each in group:
            for name, values in texts.items():
                values.extend(each.line.texts[name])
        reports, good, bad = read_texts(survey, texts)
        rows = np.array([each.line.rows for each in group])
        begins = np.cumsum(rows) - rows
        refused: list[dict[int, str]] = [{} for _ in group]
        for row, what in bad.items():
            place = int(np.searchsorted(begins, row, side="left")) - 1
            refused[place][row - int(begins[place])] = what
        # Of requests with one identifier, the first counts, and all get its answer if they are the same.
        first: dict[Identifier, int] = {}
        for place, each in enumerate(group):
            if len(refused[place]) < each.line.rows:
                first.setdefault(each.line.identifier, place)
        new = ours.add_identifiers(served.number, list(first))
        is_new = np.zeros(len(group), dtype=np.bool_)
        is_new[[first[each] for each in new]] = True
        chosen = np.repeat(is_new, rows)[good]
        if chosen.any():
            self._add(ours, served, head, reports if chosen.all() else reports.rows(chosen))
        return [(each, counted_answer(each.line.rows, wrong)) for each, wrong in zip(group, refused, strict=True)]

    def _add(self, ours: Transaction, served: Served, head: Head, reports: Reports) -> None:
        """Count reports, and note a look that they reach."""
        survey = served.collection.survey
        if self._keep_reports:
            ours.keep(served.number, zip(_keys(len(reports)), _report_texts(served, reports), strict=True))
        counted, look = head.counted + len(reports), head.shown
        while (size := next_look(served.collection, look)) is not None and size <= counted:
            look = size
        if look > head.shown:
            until = np.arange(len(reports)) < look - head.counted
            ours.add(served.number, survey.tally(reports.rows(until)), Tier.SINCE, cells=survey.cells)
            ours.show_all(served.number, cells=survey.cells)
            reports = reports.rows(~until)
        if len(reports):
            ours.add(served.number, survey.tally(reports), Tier.SINCE, cells=survey.cells)
        ours.set_head(served.number, Head(counted, look, closed=False))

    def _look_after_days(self) -> None:
        """Close collections that have ended, and delete some identifiers that are too old."""
        today = self._today()
        for served in self._collections:
            if self._pruned.get(served.number) == today:
                continue
            with self._connected().writing() as ours:
                head = ours.head(served.number)
                if served.has_ended(today) and not head.closed:
                    ours.show_all(served.number, cells=served.collection.survey.cells)
                    ours.set_head(served.number, Head(head.counted, head.counted, closed=True))
                is_more = ours.forget(served.number, served.oldest(today))
            if not is_more:
                self._pruned[served.number] = today

    def _connected(self) -> Session:
        if self._session is None:
            self._session = self._storage.session()
        return self._session

    def _forget_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            try:
                session.close()
            except Exception as error:  # noqa: BLE001  # it is not used again
                self._say(error)

    def _say(self, error: Exception) -> None:
        """Print the kind of an error that should not happen: its text might quote a request."""
        print(f"anonhist: the writer met a {type(error).__name__}.", file=sys.stderr)  # noqa: T201


def _by_collection(group: list[Waiting]) -> list[tuple[Served, list[Waiting]]]:
    found: dict[int, tuple[Served, list[Waiting]]] = {}
    for each in group:
        found.setdefault(each.served.number, (each.served, []))[1].append(each)
    return list(found.values())


def _keys(many: int) -> list[bytes]:
    """Return random keys of 16 bytes."""
    content = SystemSource().words(2 * many).tobytes()
    return [content[start : start + 16] for start in range(0, len(content), 16)]


def _report_texts(served: Served, reports: Reports) -> list[str]:
    """Return each report as JSON, as ``anonhist local tally`` reads it in a column ``reports``."""
    columns = {}
    for column in served.collection.survey.columns:
        values, many = reports.columns[column.name], digits(column)
        columns[column.name] = (
            [row.tobytes().hex() for row in values]
            if isinstance(column, BytesColumn)
            else [f"{value:0{many}x}" for value in values.tolist()]
        )
    names = list(columns)
    return [
        json.dumps({name: [value] for name, value in zip(names, row, strict=True)}, separators=(",", ":"))
        for row in zip(*columns.values(), strict=True)
    ]
