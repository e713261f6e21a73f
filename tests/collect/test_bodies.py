"""Bodies of requests: all of them together hold a bounded number of bytes, and small ones always get through."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from anonhist.collect.bodies import NO_ROOM, Bodies, Receive
from anonhist.collect.served import Answer
from anonhist.local import Collection
from anonhist_testing.abuse import longest_wait, memory, send_endless, slow_clients
from anonhist_testing.collector import lines_of, serving

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
