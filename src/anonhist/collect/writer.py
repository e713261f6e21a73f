"""The one thread that writes: it takes all requests that wait, counts them at once, and answers when they are stored.

A request is answered only after the transaction that counts it is on the disk. If the process ends before, the device
sends the same bytes again, and its identifier decides whether they still have to be counted.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, NamedTuple

import numpy as np

from anonhist.collect.invitations import forget_invitations, with_invitations
from anonhist.collect.kept import batch, drop_waiting, keep
from anonhist.collect.lines import Line, read_lines
from anonhist.collect.looks import next_look
from anonhist.collect.served import ENDED, NO_INVITATION, Answer, Served, counted_answer, current_day, refusal
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
from anonhist.local.collection import Batches
from anonhist.local.reports import Reports

MOST_AT_ONCE = 5_000
# What may wait, before requests are told to come back.
_MOST_WAITING, _MOST_BYTES_WAITING = 20_000, 1 << 26
# How often an idle writer looks at the day.
_IDLE_SECONDS, _SOON_SECONDS = 30.0, 0.05
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


class Seen(NamedTuple):
    """What a group of requests to a collection held besides what was counted, and whether it led to a look.

    The last one of a collection has ended, and holds nothing. Of several servers on one database, one took the look.
    """

    served: Served
    refused: int = 0
    repeated: int = 0
    has_looked: bool = False
    has_ended: bool = False


class Outcome(NamedTuple):
    """What becomes of a group of requests."""

    answers: list[tuple[Waiting, Answer]]
    seen: list[Seen]


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
    notice
        Called in the event loop with what each group held, before its answers are given.
    """

    def __init__(
        self,
        storage: Storage,
        collections: Sequence[Served],
        *,
        keep_reports: bool = False,
        today: Callable[[], int] = current_day,
        notice: Callable[[Seen], None] = lambda _: None,
    ) -> None:
        self._notice = notice
        self._storage, self._collections = storage, collections
        self._keep_reports, self._today = keep_reports, today
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = Thread(target=self._run, name="writer", daemon=True)
        self._session: Session | None = None
        self._waiting = self._bytes = 0
        self._pruned: dict[int, int] = {}
        self._told_ended: set[int] = set()
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

    def _deliver(self, outcome: Outcome) -> None:
        for seen in outcome.seen:
            self._notice(seen)
        for each, answer in outcome.answers:
            self._waiting -= 1
            self._bytes -= each.size
            # A client may have gone.
            if not each.answer.done():
                each.answer.set_result(answer)

    # The thread

    def _run(self) -> None:
        going = True
        while going:
            is_more = self._guarded(self._look_after_days)
            group, going = self._group(_SOON_SECONDS if is_more else _IDLE_SECONDS)
            if group:
                self._guarded(self._answer, group)
        self._ended.set()
        self._forget_session()

    def _guarded(self, work: Callable[..., bool], *values: Any) -> bool:
        """Do something with the database; if it fails, the connection is opened again next time."""
        try:
            return work(*values)
        except AnonhistError:
            self._forget_session()
        except Exception as error:  # noqa: BLE001  # a thread that ends would leave all later requests unanswered
            self._say(error)
            self._forget_session()
        return False

    def _group(self, seconds: float) -> tuple[list[Waiting], bool]:
        """Return all that waits, and whether to go on."""
        group: list[Waiting] = []
        try:
            first = self._queue.get(timeout=seconds)
            while first is not None:
                group.append(first)
                if len(group) == MOST_AT_ONCE:
                    return group, True
                first = self._queue.get_nowait()
        except Empty:
            return group, True
        return group, False

    def _answer(self, group: list[Waiting]) -> bool:
        outcome = self._stored(group)
        assert self._loop is not None  # noqa: S101  # it was started
        self._loop.call_soon_threadsafe(self._deliver, outcome)
        return True

    def _stored(self, group: list[Waiting]) -> Outcome:
        """Count a group, and return the answers: all are refused alike if it cannot be stored."""
        try:
            with self._connected().writing() as ours:
                parts = [self._count(ours, served, own) for served, own in _by_collection(group)]
            self.is_well = True
        except StorageFullError:
            self.is_well = False
            return Outcome([(each, _NO_ROOM) for each in group], [])
        except Exception as error:  # noqa: BLE001  # they are answered, whatever happened
            if not isinstance(error, StorageDownError):
                self._say(error)
            self.is_well = False
            self._forget_session()
            return Outcome([(each, _DOWN) for each in group], [])
        return Outcome([pair for answers, _ in parts for pair in answers], [seen for _, seen in parts if seen])

    def _count(
        self, ours: Transaction, served: Served, group: list[Waiting]
    ) -> tuple[list[tuple[Waiting, Answer]], Seen | None]:
        head = ours.head(served.number)
        if head.closed:
            return [(each, ENDED) for each in group], None
        strangers: list[tuple[Waiting, Answer]] = []
        if served.is_for_invited:
            invited = with_invitations(ours, served, [each.line.identifier for each in group])
            strangers = [(each, NO_INVITATION) for each in group if each.line.identifier not in invited]
            group = [each for each in group if each.line.identifier in invited]
            if not group:
                return strangers, None
        survey = served.collection.survey
        reports, good, bad = read_lines(survey, [each.line for each in group])
        rows = np.array([each.line.rows for each in group])
        begins = np.cumsum(rows) - rows
        refused: list[dict[int, str]] = [{} for _ in group]
        for row, what in bad.items():
            place = int(np.searchsorted(begins, row, side="left")) - 1
            refused[place][row - int(begins[place])] = what
        # Of requests with one identifier, the first counts.
        first: dict[Identifier, int] = {}
        for place, each in enumerate(group):
            if len(refused[place]) < each.line.rows:
                first.setdefault(each.line.identifier, place)
        new = ours.add_identifiers(served.number, list(first))
        is_new = np.zeros(len(group), dtype=np.bool_)
        is_new[[first[each] for each in new]] = True
        chosen = np.repeat(is_new, rows)[good]
        if chosen.any():
            has_looked = self._add(ours, served, head, reports if chosen.all() else reports.rows(chosen))
        else:
            has_looked = False
            # An answer waits for the disk, whether its identifier is new or repeated.
            ours.write_something()
        answers = [(each, counted_answer(each.line.rows, wrong)) for each, wrong in zip(group, refused, strict=True)]
        seen = Seen(served, len(bad) + len(strangers), int(chosen.size - chosen.sum()), has_looked)
        return [*strangers, *answers], seen

    def _add(self, ours: Transaction, served: Served, head: Head, reports: Reports) -> bool:
        """Count reports, or let them wait for their batch; return whether a look was taken."""
        shown = served.collection.shown
        if isinstance(shown, Batches):
            return self._add_in_batches(ours, served, head, reports, shown.users)
        survey = served.collection.survey
        if self._keep_reports:
            keep(ours, served, reports, waiting=False)
        counted = head.counted + len(reports)
        look = _last_look(served, head.shown, counted)
        if look > head.shown:
            until = np.arange(len(reports)) < look - head.counted
            ours.add(served.number, survey.tally(reports.rows(until)), Tier.SINCE, cells=survey.cells)
            ours.show_all(served.number, cells=survey.cells)
            reports = reports.rows(~until)
        ours.add(served.number, survey.tally(reports), Tier.SINCE, cells=survey.cells)
        ours.set_head(served.number, head._replace(counted=counted, shown=look))
        return look > head.shown

    def _add_in_batches(self, ours: Transaction, served: Served, head: Head, reports: Reports, size: int) -> bool:
        keep(ours, served, reports, waiting=True)
        counted, look, waiting = head.counted, head.shown, head.waiting + len(reports)
        cells = served.collection.survey.cells
        while waiting >= size:
            ours.add(served.number, batch(ours, served, size, keeps=self._keep_reports), Tier.SINCE, cells=cells)
            counted, waiting = counted + size, waiting - size
            if _last_look(served, look, counted) == counted:
                look = counted
                ours.show_all(served.number, cells=cells)
        ours.set_head(served.number, Head(counted, look, waiting, closed=False))
        return look > head.shown

    def _look_after_days(self) -> bool:
        """Close collections that have ended, and delete some identifiers that are too old; return whether more are."""
        today, is_more = self._today(), False
        for served in self._collections:
            if self._pruned.get(served.number) == today:
                continue
            has_ended = served.has_ended(today)
            with self._connected().writing() as ours:
                head = ours.head(served.number)
                closes = has_ended and not head.closed
                if closes:
                    ours.show_all(served.number, cells=served.collection.survey.cells)
                    drop_waiting(ours, served)
                    ours.set_head(served.number, head._replace(shown=head.counted, closed=True))
                # A day more than is accepted: a request may have been read before midnight, by this server or another.
                is_left = ours.forget(served.number, served.oldest(today) - 1)
                if served.is_for_invited and has_ended:
                    is_left |= forget_invitations(ours, served)
            if has_ended and served.number not in self._told_ended:
                self._told_ended.add(served.number)
                assert self._loop is not None  # noqa: S101  # it was started
                self._loop.call_soon_threadsafe(self._notice, Seen(served, has_looked=closes, has_ended=True))
            if is_left:
                is_more = True
            else:
                self._pruned[served.number] = today
        return is_more

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


def _last_look(served: Served, shown: int, counted: int) -> int:
    """Return the number of reports of the last look that so many reached."""
    while (size := next_look(served.collection, shown)) is not None and size <= counted:
        shown = size
    return shown
