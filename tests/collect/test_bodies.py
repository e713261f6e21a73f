"""Bodies of requests: all of them together hold a bounded number of bytes, and small ones always get through."""

import asyncio
import json
import sys
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from anonhist.collect.application import Application
from anonhist.collect.bodies import NO_ROOM, Bodies, Receive
from anonhist.collect.databases import storage_at
from anonhist.collect.lines import Line, read_lines
from anonhist.collect.served import Answer, Served, current_day
from anonhist.local import KRR, Collection, new_identifier, wire_line
from anonhist_testing.abuse import longest_wait, memory, send_endless, slow_clients
from anonhist_testing.collector import lines_of, serving, today

MIB = 1 << 20


def of(parts: list[bytes], then: Callable[[], Awaitable[None]] | None = None) -> Receive:
    """Return what a server gives of a body: its parts, and the last one only after something has happened."""
    left = list(parts)

    async def receive() -> dict[str, object]:
        if len(left) == 1 and then is not None:
            await then()
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    return receive


def test_large_bodies_are_refused_while_others_hold_the_room_and_small_ones_never() -> None:
    async def work() -> None:
        bodies, end = Bodies(), asyncio.Event()

        async def wait() -> None:
            await end.wait()

        large = [b"x" * (MIB - 9), b"y" * 9]
        slow = [asyncio.create_task(bodies.read(of(large, wait))) for _ in range(40)]
        await asyncio.sleep(0)
        assert [each.done() for each in slow] == [False] * 24 + [True] * 16
        assert {each.result() for each in slow[24:]} == {NO_ROOM}
        assert NO_ROOM.status == 503
        small = [b"{", b"z" * (1 << 13)]
        assert await bodies.read(of(small)) == b"".join(small)
        assert await bodies.read(of(large[:1])) == large[0]
        # One that ends, however it ends, makes room.
        slow[0].cancel()
        await asyncio.sleep(0)
        assert await bodies.read(of([b"x" * (MIB // 2)] * 2)) == b"x" * MIB
        end.set()
        assert [bytes(each) for each in await asyncio.gather(*slow[1:24])] == [b"".join(large)] * 23
        again = [asyncio.create_task(bodies.read(of(large))) for _ in range(24)]
        assert NO_ROOM not in await asyncio.gather(*again)

    asyncio.run(work())


def test_what_is_too_long_is_read_for_a_while_and_not_held() -> None:
    async def work() -> None:
        bodies, end = Bodies(), asyncio.Event()

        async def wait() -> None:
            await end.wait()

        long = [asyncio.create_task(bodies.read(of([b"x" * MIB, b"x", b""], wait))) for _ in range(40)]
        await asyncio.sleep(0)
        # All wait, and hold nothing.
        assert not any(each.done() for each in long)
        assert await bodies.read(of([b"x", b"x" * (MIB - 1)])) == b"x" * MIB
        end.set()
        for each in await asyncio.gather(*long):
            assert isinstance(each, Answer)
            assert each.status == 413

    asyncio.run(work())


def body_of(*values: object) -> bytes:
    """Return a request with values as they stand."""
    said = {"id": new_identifier(today()), "reports": {"report": values}}
    return json.dumps(said, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "body",
    [
        body_of([[]] * 340_000),
        body_of([{}] * 340_000),
        body_of([1.5] * 250_000),
        body_of(["ab"] * 200_000),
        body_of({f"{each:x}": [] for each in range(100_000)}),
        body_of(*["0"] * 250_000),
    ],
    ids=["lists", "objects", "numbers", "texts", "keys", "reports"],
)
def test_bodies_of_many_parts_are_refused_before_they_are_parsed(collection: Collection, body: bytes) -> None:
    assert MIB // 2 < len(body) <= MIB
    served, today_ = Served(collection, 1), current_day()
    tracemalloc.start()
    try:
        answer = served.line(body, today_)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(answer, Answer)
    assert answer.status == 422
    assert most < MIB // 4


@pytest.mark.parametrize(
    "bad",
    ["x" * (MIB - 1_000), "\N{GRINNING FACE}" * 80_000, "\N{GRINNING FACE}", 1.5, [[]] * 900, None, {"report": "0"}],
    ids=["long", "wide", "one", "number", "lists", "null", "object"],
)
def test_what_waits_holds_no_bad_values_and_they_are_refused_one_by_one(collection: Collection, bad: object) -> None:
    line = Served(collection, 1).line(body_of("0", bad, "3"), current_day())
    assert isinstance(line, Line)
    assert line.values == {"report": ["0", "", "3"]}
    reports, _, wrong = read_lines(collection.survey, [line])
    assert reports.columns["report"].tolist() == [0, 3]
    assert wrong == {2: "The value of 'report' must have 1 hexadecimal digits in lowercase."}


def test_the_queue_counts_what_requests_take_in_memory(tmp_path: Path) -> None:
    survey = KRR(alphabet=5_000, epsilon=1)
    served = Served(Collection(survey=survey, answers="once", last_day="2099-12-31"), 1)
    body = wire_line(survey, survey.randomize([4_000] * 1_000), new_identifier(today())).encode()
    line = served.line(body, current_day())
    assert isinstance(line, Line)
    assert isinstance(line.values, dict)
    takes = sum(sys.getsizeof(each) + sum(map(sys.getsizeof, each)) for each in line.values.values())
    assert takes > 5 * len(body)
    sizes = []

    class Full:
        def submit(self, _: Served, __: Line, size: int) -> None:
            sizes.append(size)

    application: Any = Application(storage_at(f"sqlite:///{tmp_path / 'c.db'}"), Full(), [served])  # type: ignore[arg-type]
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"path": f"/c/{served.collection.digest}/reports", "method": "POST", "headers": []}
    asyncio.run(application(scope, of([body]), send))
    assert sent[0]["status"] == 503
    assert takes <= sizes[0] <= 2 * takes


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the memory of a process")
def test_slow_large_bodies_take_little_memory_and_others_do_not_wait(
    collection: Collection, collection_file: Path, tmp_path: Path
) -> None:
    path = f"/c/{collection.digest}/reports"
    with serving(collection_file, f"sqlite:///{tmp_path / 'c.db'}") as running:
        with slow_clients(running, path, 500, MIB - 1) as answers:
            waits = [longest_wait(running, path, lines_of(collection, ["bus"] * 2)) for _ in range(40)]
        send_endless(running, path, 200)
        most = memory(running.process.pid, "VmHWM")
    assert max(waits) < 1
    assert most < 150
    refused = [each for each in answers if each.startswith(b"HTTP/1.1 503")]
    assert len(refused) > 400
    assert all(b"retry-after: 5\r\n" in each and b"connection: close\r\n" in each for each in refused)
    assert all(each[9:12] in {b"503", b"408"} for each in answers)
