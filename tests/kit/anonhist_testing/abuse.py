"""Clients that a server should not suffer from: slow ones with large bodies, and one whose body does not end."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anonhist_testing.collector import Running

_SECONDS = 60


def memory(process: int, field: str = "VmRSS") -> float:
    """Return the memory of a process in megabytes: now, or the most it ever had (``VmHWM``)."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def _head(path: str, size: int) -> bytes:
    return f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {size}\r\n\r\n".encode()


@contextmanager
def slow_clients(
    running: Running, path: str, many: int, size: int, patience: float = _SECONDS
) -> Iterator[list[bytes]]:
    """Connect clients that send all of a body but its last byte, and yield the answers that they get, in any order.

    Each waits for its answer for some seconds.
    """
    content, found = _head(path, size) + b"x" * (size - 1), []

    def send(each: socket.socket) -> None:
        with each, suppress(OSError):
            each.sendall(content)
            found.append(each.recv(1 << 12))

    with ThreadPoolExecutor(many) as threads:
        for _ in range(many):
            threads.submit(send, socket.create_connection(("127.0.0.1", running.port), timeout=patience))
        yield found


def send_endless(running: Running, path: str, megabytes: int) -> None:
    """Send a body of so many megabytes, or as much of it as the server takes."""
    with socket.create_connection(("127.0.0.1", running.port), timeout=_SECONDS) as client, suppress(OSError):
        client.sendall(_head(path, megabytes << 20))
        for _ in range(megabytes):
            client.sendall(b"z" * (1 << 20))


def longest_wait(running: Running, path: str, lines: list[bytes]) -> float:
    """Send requests one after the other, each of which must be accepted, and return the longest wait in seconds."""
    waits = []
    for line in lines:
        before = time.monotonic()
        status, _, _ = running.ask(path, line)
        assert status == 200, status
        waits.append(time.monotonic() - before)
    return max(waits)
