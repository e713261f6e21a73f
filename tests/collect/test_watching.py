"""What a scrape tells: nothing that a report moves, before a look; and at the end, everything once."""

import asyncio
from pathlib import Path

import pytest

from anonhist.collect.application import ROUTES
from anonhist.collect.databases import storage_at
from anonhist.collect.served import Served, current_day
from anonhist.collect.watching import Watch
from anonhist.collect.writer import Seen, Writer
from anonhist.local import Batches, Collection
from anonhist_testing.collector import lines_of


class Watched:
    """Collections on a new database, and what is told of them."""

    def __init__(self, path: Path, *collections: Collection) -> None:
        self.storage = storage_at(f"sqlite:///{path / 'c.db'}")
        self.storage.make()
        session = self.storage.session()
        with session.writing() as ours:
            self.served = [Served(each, ours.number_of(each)) for each in collections]
        session.close()
        self.day, self.watch = current_day(), Watch(self.storage, self.served, ROUTES)

    def send(self, *bodies: bytes, to: int = 0, watch: Watch | None = None) -> None:
        """Let a writer take requests, each in a group of its own."""
        served = self.served[to]

        async def work() -> None:
            notice = (watch or self.watch).notice
            writer = Writer(self.storage, self.served, today=lambda: self.day, notice=notice)
            writer.start()
            for body in bodies:
                line = served.line(body, self.day)
                assert not isinstance(line, tuple)
                waiting = writer.submit(served, line, len(body))
                assert waiting is not None
                await waiting
            await asyncio.to_thread(writer.stop)

        asyncio.run(work())

    def told(self, name: str, at: int = 0, watch: Watch | None = None) -> int:
        start = f'anonhist_{name}{{collection="{self.served[at].collection.digest}"}} '
        lines = (watch or self.watch).text().splitlines()
        return next(int(line.removeprefix(start)) for line in lines if line.startswith(start))


def invalid(line: bytes) -> bytes:
    return line[:51] + b'{"report":["9"]}}\n'


@pytest.mark.full
def test_at_the_end_everything_is_told_once(collection: Collection, tmp_path: Path) -> None:
    watched = Watched(tmp_path, collection)
    lines = lines_of(collection, ["bus", "car"] * 60)
    watched.send(*lines[:110], *lines[:3], invalid(lines[119]))
    names = ("reports_total", "refused_reports_total", "repeated_reports_total", "looks_total", "collection_closed")
    assert [watched.told(each) for each in names] == [100, 0, 0, 1, 0]
    other = Watch(watched.storage, watched.served, ROUTES)
    watched.send(*lines[:7], watch=other)
    assert [watched.told(each, watch=other) for each in names] == [100, 0, 0, 0, 0]
    watched.day += 1 + watched.served[0].last_day - watched.day
    watched.send()
    for _ in range(2):
        assert [watched.told(each) for each in names] == [110, 1, 3, 2, 1]
        # A server that finds the collection closed by another tells what it held back, too.
        watched.send(watch=other)
        assert [watched.told(each, watch=other) for each in names] == [110, 0, 7, 0, 1]


@pytest.mark.full
def test_looks_are_counted_as_they_are_taken(collection: Collection, tmp_path: Path) -> None:
    batches = Batches(users=60, honest=30, delta="1e-6")
    by_batch = Collection(survey=collection.survey, answers="once", last_day="2099-12-31", shown=batches)
    watched = Watched(tmp_path, collection, by_batch)
    lines = lines_of(by_batch, ["bus", "car"] * 90)
    looks = []
    for start in range(0, 180, 20):
        watched.send(*lines[start : start + 20], to=1)
        looks.append(watched.told("looks_total", 1))
    # At 120 and at 180 reports.
    assert looks == [0] * 5 + [1] * 3 + [2]
    # Eleven sizes at once are one look.
    watched.send(*lines_of(collection, ["bus"] * 1_000, together=1_000))
    assert watched.told("reports_total") == 932
    assert watched.told("looks_total") == 1


def test_requests_of_devices_move_nothing_before_a_look(collection: Collection, tmp_path: Path) -> None:
    watched = Watched(tmp_path, collection)
    watch, (served,) = watched.watch, watched.served
    watch.add("GET", "/healthz", 200, 0.1)
    before, here = watch.text(), f"/c/{served.collection.digest}"
    for method, path, status in (
        ("GET", f"{here}/collection.json", 200),
        ("GET", "/client.js", 200),
        ("POST", f"{here}/reports", 200),
        ("OPTIONS", f"{here}/reports", 204),
        ("GET", f"{here}/reports", 405),
        ("POST", f"/c/{'0' * 64}/reports", 404),
        ("GET", f"/c/{'0' * 64}/collection.json", 404),
    ):
        watch.add(method, path, status, 0.1)
        assert watch.text() == before, path
    watch.notice(Seen(served, 1, 1))
    assert watch.text() == before
    watch.notice(Seen(served, has_looked=True))
    after = watch.text()
    for route in ("/c/{digest}/collection.json", "/client.js", "/c/{digest}/reports"):
        assert f'http_route="{route}"' in after
    watch.add("GET", f"{here}/", 200, 0.1)
    assert watch.text() != after
    assert "0" * 64 not in after
