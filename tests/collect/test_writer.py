"""The writer: it counts each request once, in groups, answers when they are stored, and takes looks at fixed sizes."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonhist.collect import writer as writing
from anonhist.collect.databases import storage_at
from anonhist.collect.served import Answer, Line, Served, current_day
from anonhist.collect.sqlite import SqliteStorage
from anonhist.collect.storage import Head, Storage
from anonhist.collect.writer import Writer
from anonhist.local import Batches, Collection, OptimizedUnary, Tally
from anonhist.local.reading import tally_reports
from anonhist.local.wire import read_wire_line
from anonhist_testing.collector import lines_of

VALUES = ["bus", "car", "bicycle", "foot"]


class Bench:
    """A writer on a new database, and what it made of requests."""

    def __init__(self, collection: Collection, storage: Storage, **options: Any) -> None:
        storage.make()
        session = storage.session()
        with session.writing() as ours:
            self.served = Served(collection, ours.number_of(collection))
        session.close()
        self.storage, self.options = storage, options
        self.day = current_day()

    def run(self, work: Callable[[Writer], Awaitable[Any]]) -> Any:
        async def whole() -> Any:
            writer = Writer(self.storage, [self.served], today=lambda: self.day, **self.options)
            writer.start()
            try:
                return await work(writer)
            finally:
                await asyncio.to_thread(writer.stop)

        return asyncio.run(whole())

    def line(self, body: bytes) -> Line:
        found = self.served.line(body, self.day)
        assert isinstance(found, Line)
        return found

    def send(self, *bodies: bytes) -> list[Answer]:
        async def work(writer: Writer) -> list[Answer]:
            waiting = [writer.submit(self.served, self.line(body), len(body)) for body in bodies]
            return [await each for each in waiting if each is not None]

        return self.run(work)

    @property
    def head(self) -> Head:
        with self.storage.seen() as ours:
            return ours.head(self.served.number)

    def tally(self, *, shown: bool = False) -> Tally:
        with self.storage.seen() as ours:
            return ours.tally(self.served.number, self.served.collection.survey.digest, shown=shown)


@pytest.fixture
def bench(collection: Collection, tmp_path: Path) -> Bench:
    return Bench(collection, storage_at(f"sqlite:///{tmp_path / 'c.db'}"))


def tally_of(collection: Collection, lines: list[bytes]) -> Tally:
    total = collection.survey.empty_tally()
    for line in lines:
        total += collection.survey.tally(read_wire_line(collection.survey, line.decode()).reports)
    return total


def test_repeated_requests_count_once_and_get_the_same_answer(bench: Bench, collection: Collection) -> None:
    lines = lines_of(collection, VALUES * 5, together=2)
    first = bench.send(*lines, *lines)
    assert first == bench.send(*lines)[:10] * 2
    assert {json.loads(body)["accepted"] for _, body in first} == {2}
    assert bench.tally() == tally_of(collection, lines)


def test_bad_reports_are_named_by_their_rows_and_the_rest_counts(bench: Bench, collection: Collection) -> None:
    good, mixed, bad = lines_of(collection, VALUES * 3, together=4)
    mixed = mixed[:51] + b'{"report":["9","1","x","22","3"]}}\n'
    bad = bad[:51] + b'{"report":["9","a"]}}\n'
    answers = bench.send(good, mixed, bad, bad)
    assert [status for status, _ in answers] == [200, 200, 422, 422]
    assert set(json.loads(answers[1].body)["refused"]) == {"1", "3", "4"}
    assert answers[2] == answers[3]
    assert bench.tally().users == 4 + 2
    assert bench.tally() == tally_of(collection, [good]) + Tally(
        collection.survey.digest, 2, np.array([1, 3]), np.array([1, 1])
    )


def test_looks_are_taken_at_fixed_numbers_of_reports(bench: Bench, collection: Collection) -> None:
    lines = lines_of(collection, VALUES * 100)
    bench.send(*lines[:99])
    assert bench.head == Head(99, 0, 0, closed=False)
    bench.send(*lines[99:160])
    assert bench.head == Head(160, 157, 0, closed=False)
    assert bench.tally(shown=True).users == 157
    bench.send(*lines[160:300])
    assert bench.head == Head(300, 245, 0, closed=False)
    assert bench.tally(shown=True) == tally_of(collection, lines[:245])
    assert bench.tally() == tally_of(collection, lines[:300])
    # A look within one request takes a part of its reports.
    bench.send(*lines_of(collection, VALUES * 100, together=100))
    assert bench.head == Head(700, 597, 0, closed=False)


def test_it_closes_after_the_last_day(tmp_path: Path, collection: Collection) -> None:
    bench = Bench(collection, storage_at(f"sqlite:///{tmp_path / 'c.db'}"))
    lines = lines_of(collection, VALUES * 40)
    bench.send(*lines[:120])
    late = bench.line(lines[150])
    bench.day = bench.served.last_day + 1
    refused = bench.served.line(lines[150], bench.day)
    assert isinstance(refused, Answer)
    assert refused.status == 410

    async def work(writer: Writer) -> Answer:
        # It was on its way at midnight.
        waiting = writer.submit(bench.served, late, 99)
        assert waiting is not None
        return await waiting

    assert bench.run(work).status == 410
    head = bench.head
    assert head.closed
    assert head.counted == head.shown == bench.tally(shown=True).users
    with bench.storage.seen() as ours:
        ((left,),) = ours.run("SELECT count(*) FROM anonhist_ids").fetchall()
    assert left == 0


def test_identifiers_are_known_as_long_as_they_are_accepted(bench: Bench, collection: Collection) -> None:
    lines = lines_of(collection, VALUES)
    first = bench.day
    bench.send(*lines)
    for passed in (collection.keep_ids, collection.keep_ids + 1):
        # Read on the last day on which they are accepted, and counted by a writer for which it is the next.
        bench.day = first + collection.keep_ids
        read = [bench.line(line) for line in lines]
        bench.day = first + passed

        async def work(writer: Writer, read: list[Line] = read) -> None:
            for each in read:
                waiting = writer.submit(bench.served, each, 99)
                assert waiting is not None
                await waiting

        bench.run(work)
        assert bench.tally() == tally_of(collection, lines)
    refused = bench.served.line(lines[0], bench.day)
    assert isinstance(refused, Answer)
    assert refused.status == 410


def test_without_room_nothing_is_acknowledged_and_nothing_lost(tmp_path: Path, collection: Collection) -> None:
    storage = SqliteStorage(f"sqlite:///{tmp_path / 'c.db'}")
    bench = Bench(collection, storage)
    lines = lines_of(collection, VALUES * 2_000)
    bench.send(*lines[:100])
    storage.most_pages = (tmp_path / "c.db").stat().st_size // 4096 + 8
    answers = [answer for start in range(100, 8_000, 500) for answer in bench.send(*lines[start : start + 500])]
    assert {status for status, _ in answers} == {200, 507}
    stored = [line for line, answer in zip(lines[100:], answers, strict=True) if answer.status == 200]
    assert bench.tally() == tally_of(collection, lines[:100] + stored)
    storage.most_pages = 1 << 20
    assert {answer.status for answer in bench.send(*lines)} == {200}
    assert bench.tally() == tally_of(collection, lines)


def test_answers_wait_for_the_disk(bench: Bench, collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = lines_of(collection, ["bus"])
    seen: list[int] = []
    deliver = Writer._deliver

    def look(self: Writer, outcome: Any) -> None:
        # Another connection sees only what was committed.
        seen.append(bench.tally().users)
        deliver(self, outcome)

    monkeypatch.setattr(Writer, "_deliver", look)
    bench.send(line)
    assert seen == [1]


def test_a_repeated_request_waits_for_the_disk_as_a_new_one(
    bench: Bench, collection: Collection, tmp_path: Path
) -> None:
    (line,) = lines_of(collection, ["bus"])

    async def twice(writer: Writer) -> list[int]:
        sizes = []
        for _ in range(2):
            answer = writer.submit(bench.served, bench.line(line), len(line))
            assert answer is not None
            await answer
            sizes.append((tmp_path / "c.db-wal").stat().st_size)
        return sizes

    before, after = bench.run(twice)
    assert after > before
    assert bench.tally().users == 1


def test_a_database_that_fails_refuses_and_is_used_again(
    bench: Bench, collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonhist.collect.sqlite._PATIENCE", 0.05)
    lines = lines_of(collection, VALUES)

    async def work(writer: Writer) -> list[int]:
        found = []
        for line in lines:
            blocked = sqlite3.connect(tmp_path / "c.db", isolation_level=None)
            if len(found) == 1:
                blocked.execute("BEGIN IMMEDIATE")
            waiting = writer.submit(bench.served, bench.line(line), len(line))
            assert waiting is not None
            found.append((await waiting).status)
            assert writer.is_well == (found[-1] == 200)
            blocked.close()
        return found

    assert bench.run(work) == [200, 503, 200, 200]
    assert bench.tally().users == 3


def test_requests_are_refused_when_too_many_wait(
    bench: Bench, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_MOST_WAITING", 3)
    lines = lines_of(collection, VALUES * 2)

    async def work(writer: Writer) -> list[bool]:
        waiting = [writer.submit(bench.served, bench.line(line), len(line)) for line in lines]
        for each in waiting:
            if each is not None:
                await each
        assert writer.submit(bench.served, bench.line(lines[-1]), 100) is not None
        return [each is not None for each in waiting]

    assert bench.run(work) == [True] * 3 + [False] * 5
    assert bench.tally().users == 4


@pytest.mark.parametrize("survey", [None, OptimizedUnary(alphabet=100, epsilon=1)], ids=["k-rr", "unary"])
def test_reports_are_kept_only_on_request_and_then_without_order(
    collection: Collection, survey: Any, tmp_path: Path
) -> None:
    if survey is not None:
        collection = Collection(survey=survey, answers="once", last_day="2099-12-31")
    values = [place % 4 if survey is not None else VALUES[place % 4] for place in range(120)]
    lines = lines_of(collection, values)
    for keeps in (False, True):
        address = f"sqlite:///{tmp_path / f'{keeps}.db'}"
        bench = Bench(collection, storage_at(address), keep_reports=keeps)
        bench.send(*lines)
        bench.send(*lines)
        with bench.storage.seen() as ours:
            kept = [report for (report,) in ours.run("SELECT report FROM anonhist_reports ORDER BY key").fetchall()]
        assert len(kept) == 120 * keeps
    sent = [json.dumps(json.loads(line)["reports"], separators=(",", ":")) for line in lines]
    assert sorted(kept) == sorted(sent)
    assert kept != sent
    content = "".join(f'{{"reports":{each}}}\n' for each in kept)
    (tmp_path / "kept.ndjson").write_text(content)
    assert tally_reports(collection.survey, tmp_path / "kept.ndjson") == bench.tally()


def test_batches_are_counted_when_they_are_whole_and_a_rest_is_dropped(collection: Collection, tmp_path: Path) -> None:
    batches = Batches(users=60, honest=30, delta="1e-6")
    collection = Collection(survey=collection.survey, answers="once", last_day="2099-12-31", shown=batches)
    bench = Bench(collection, storage_at(f"sqlite:///{tmp_path / 'c.db'}"))
    lines = lines_of(collection, VALUES * 70)
    bench.send(*lines[:59])
    assert bench.head == Head(0, 0, 59, closed=False)
    assert bench.tally().users == 0
    bench.send(*lines[:61])
    assert bench.head == Head(60, 0, 1, closed=False)
    assert bench.tally().users == 60
    # 120 is the first number of whole batches beyond 100.
    bench.send(*lines[61:150])
    assert bench.head == Head(120, 120, 30, closed=False)
    bench.send(*lines[150:])
    assert bench.head == Head(240, 240, 40, closed=False)
    rest = collection.survey.empty_tally()
    with bench.storage.seen() as ours:
        for (report,) in ours.run("SELECT report FROM anonhist_reports WHERE waiting = 1").fetchall():
            line = f'{{"id":"{"0" * 32}","reports":{report}}}'
            rest += collection.survey.tally(read_wire_line(collection.survey, line).reports)
    assert bench.tally() + rest == tally_of(collection, lines)
    bench.day = bench.served.last_day + 1

    async def nothing(_: Writer) -> None:
        """Let the writer start, which looks at the day, and end."""

    bench.run(nothing)
    assert bench.head == Head(240, 240, 40, closed=True)
    with bench.storage.seen() as ours:
        assert ours.run("SELECT count(*) FROM anonhist_reports").fetchone() == (0,)
