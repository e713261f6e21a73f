"""The collection server under load, on this machine. Run as ``python bench/service.py``.

64 connections send single reports, then batches of 100 reports, a million in all, of randomized response (k-RR) with 20
values, and malformed requests, to ``anonhist serve`` on loopback; then 500 clients send large bodies without their end,
while others send reports, and one a body of 200 MB; then single reports go to a server without httptools. The program
prints how many reports per second are answered, that is, on the disk; how long requests wait; and the processor time
and memory of the server. The load comes from this process, which shares the processor. Beside it stand the time of an
fsync, which no answer can be faster than, and the load of the machine.
PostgreSQL is a server of its own, in a temporary folder; if its programs are missing, the output says so.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, cast

import numpy as np

from anonhist.local import KRR, Collection
from anonhist_testing.abuse import longest_wait, memory, send_endless, slow_clients
from anonhist_testing.collector import Running, lines_of, serving
from anonhist_testing.postgresql import programs, server
from ledger import sync_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CONNECTIONS, SINGLE, BATCHES, TOGETHER, MALFORMED = 64, 20_000, 10_000, 100, 100_000
SLOW, MEGABYTES, PATIENCE = 500, 200, 60.0
_TICKS = os.sysconf("SC_CLK_TCK")


class Sender(asyncio.Protocol):
    """A connection that sends the next request when the one before is answered."""

    def __init__(self, requests: Iterator[bytes], waits: list[float], statuses: set[bytes]) -> None:
        self._requests, self._waits, self._statuses = requests, waits, statuses
        self._answer, self._sent = b"", 0.0
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        self._transport = cast("asyncio.Transport", transport)
        self._next()

    def data_received(self, data: bytes) -> None:
        """Note the end of an answer."""
        self._answer += data
        if self._answer.endswith(b"}"):
            self._waits.append(perf_counter() - self._sent)
            self._statuses.add(self._answer[9:12])
            self._answer = b""
            self._next()

    def connection_lost(self, error: Exception | None) -> None:
        """Say that no more comes."""
        if not self.ended.done():
            self.ended.set_result(None)

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._transport.close()
            return
        self._sent = perf_counter()
        self._transport.write(request)


async def send_all(port: int, requests: Sequence[bytes], connections: int) -> tuple[list[float], set[bytes]]:
    """Send requests over several connections, and return how long each waited, and the statuses."""
    waits: list[float] = []
    statuses: set[bytes] = set()
    left = iter(requests)
    loop = asyncio.get_running_loop()
    senders = [
        (await loop.create_connection(lambda: Sender(left, waits, statuses), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    await asyncio.gather(*(each.ended for each in senders))
    return waits, statuses


def processor_seconds(process: int) -> float:
    """Return the processor time that a process has taken, all its threads together."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def measure(
    what: str, running: Running, path: str, bodies: Sequence[bytes], connections: int, *, expected: bytes, reports: int
) -> None:
    """Send requests, and print what it took."""
    head = b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n\r\n%s"
    requests = [head % (path.encode(), len(body), body) for body in bodies]
    before, started = processor_seconds(running.process.pid), perf_counter()
    waits, statuses = asyncio.run(send_all(running.port, requests, connections))
    seconds, taken = perf_counter() - started, processor_seconds(running.process.pid) - before
    if statuses != {expected} or len(waits) != len(bodies):
        sys.exit(f"Not every request was answered by {expected.decode()}.")
    p50, p99 = (1000 * np.quantile(waits, share) for share in (0.5, 0.99))
    print(
        f"{what:23} {reports / seconds:9,.0f} reports/s  p50 {p50:6.1f} ms  p99 {p99:6.1f} ms  "
        f"{1e6 * taken / len(bodies):5.0f} µs a request  {memory(running.process.pid):4.0f} MB"
    )


def abuse(
    what: str, running: Running, path: str, lines: list[bytes], slow: int, megabytes: int, patience: float
) -> None:
    """Let clients send all of a large body but its end, and one a body without end, while others send reports."""
    with slow_clients(running, path, slow, (1 << 20) - 1, patience) as answers:
        wait = longest_wait(running, path, lines)
    send_endless(running, path, megabytes)
    refused = sum(each[9:12] == b"503" for each in answers)
    print(
        f"{what}: of {slow} slow bodies of 1 MiB, {refused} are refused; another request waits {wait:.2f} s at most; "
        f"with a body of {megabytes} MB, memory was {memory(running.process.pid, 'VmHWM'):.0f} MB at most"
    )


def main() -> None:
    """Measure both databases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to test this program")
    is_quick = parser.parse_args().quick
    single, batches, malformed, connections = (40, 5, 40, 2) if is_quick else (SINGLE, BATCHES, MALFORMED, CONNECTIONS)
    survey = KRR(alphabet=20, epsilon=1)
    collection = Collection(survey=survey, answers="once", last_day="2099-12-31")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        collection.save(folder / "collection.json")
        loads = ", ".join(f"{each:.1f}" for each in os.getloadavg())
        print(
            f"An fsync takes {1000 * sync_time(folder, 4096):.2f} ms. "
            f"{os.cpu_count()} processors, {connections} connections."
        )
        print(f"Load of the machine in the last 1, 5 and 15 minutes: {loads}.")
        addresses = {"SQLite": f"sqlite:///{folder / 'collected.db'}"}
        if programs() is None:
            print("PostgreSQL: not measured, its programs are not installed.")
        else:
            addresses["PostgreSQL"] = stack.enter_context(server(fsync=True)).database()
        for name, address in addresses.items():
            path = f"/c/{collection.digest}/reports"
            with serving(folder / "collection.json", address) as running:
                for many, together in ((single, 1), (batches, TOGETHER)):
                    lines = lines_of(collection, np.arange(many * together) % 20, together=together)
                    what = f"{name}, {together} a request"
                    reports = many * together
                    measure(what, running, path, lines, connections, expected=b"200", reports=reports)
                bad = [lines[0].replace(b"reports", b"report") for _ in range(malformed)]
                measure(f"{name}, malformed", running, path, bad, connections, expected=b"422", reports=malformed)
                others = lines_of(collection, [0] * (connections * 2))
                abuse(name, running, path, others, *((4, 2, 0.2) if is_quick else (SLOW, MEGABYTES, PATIENCE)))
        with serving(folder / "collection.json", addresses["SQLite"], hidden=("httptools",)) as running:
            lines = lines_of(collection, np.arange(single) % 20)
            what = "SQLite, 1, with h11"
            measure(what, running, path, lines, connections, expected=b"200", reports=single)


if __name__ == "__main__":
    main()
