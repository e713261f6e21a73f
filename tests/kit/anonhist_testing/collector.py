"""A collection server in a process of its own, which can be killed, and clients that send to it again and again."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from anonhist.local import Collection, new_identifier, wire_line

_SECONDS = 60


@dataclass
class Running:
    """A running server.

    Attributes
    ----------
    process
        Its process.
    port
        Where it listens.
    printed
        What it printed when it began.
    """

    process: subprocess.Popen[str]
    port: int
    printed: str

    def connection(self, timeout: float = _SECONDS) -> http.client.HTTPConnection:
        """Return a new connection."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, path: str, body: bytes | None = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Send one request, and return the status, the headers with small letters, and the body of the answer."""
        connection = self.connection()
        try:
            connection.request("GET" if body is None else "POST", path, body, headers)
            return answer_on(connection)
        finally:
            connection.close()

    def stop(self) -> int:
        """End it as systemd does, and return its exit code."""
        self.process.terminate()
        return self.process.wait(_SECONDS)

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait(_SECONDS)


def answer_on(connection: http.client.HTTPConnection) -> tuple[int, dict[str, str], bytes]:
    """Return the next answer on a connection."""
    answer = connection.getresponse()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


@contextmanager
def serving(
    collection: str | Path, database: str, *options: str, port: int = 0, hidden: Sequence[str] = ()
) -> Iterator[Running]:
    """Run ``anonhist serve`` until the block ends, unless it ended before, without packages that are hidden."""
    command = ["serve", str(collection), "--database", database, *options, "--port", str(port)]
    start = f"import sys; sys.modules.update(dict.fromkeys({list(hidden)!r})); from anonhist.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, *(("-c", start) if hidden else ("-m", "anonhist")), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        printed = ""
        while "Stop with" not in printed:
            line = process.stdout.readline()
            assert line, f"the server did not start: {printed}"
            printed += line
        found = int(printed.partition("/c/")[0].rpartition(":")[2])  # after that of the metrics
        yield Running(process, found, printed)
    finally:
        process.kill()
        process.wait(_SECONDS)
        process.stdout.close()


def today() -> Any:
    """Return the day in UTC."""
    return datetime.now(UTC).date()


def lines_of(collection: Collection, values: Sequence[Any], *, together: int = 1) -> list[bytes]:
    """Return requests with randomized reports of values, several in each."""
    reports = collection.survey.randomize(values)
    starts = range(0, len(values), together)
    parts = [reports.rows(np.arange(start, min(start + together, len(values)))) for start in starts]
    return [wire_line(collection.survey, part, new_identifier(today())).encode() for part in parts]


@dataclass
class Sender:
    """A client that sends each of its lines until it is answered, and some of them again.

    Attributes
    ----------
    path
        Where reports go.
    lines
        What is to be sent.
    again
        After how many answers the last line is repeated.
    """

    path: str
    lines: list[bytes]
    again: int = 10
    answered: list[bytes] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)
    place: int = 0

    def run(self, running: Running) -> None:
        """Send until everything is answered or the server has gone."""
        connection = running.connection()
        try:
            while self.place < len(self.lines):
                self._send(connection, self.lines[self.place])
                self.answered.append(self.lines[self.place])
                self.place += 1
                if self.place % self.again == 0:
                    self._send(connection, self.answered[-(self.place // self.again) % len(self.answered)])
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()

    def _send(self, connection: http.client.HTTPConnection, line: bytes) -> None:
        connection.request("POST", self.path, line)
        status, _, body = answer_on(connection)
        self.statuses.add(status)
        assert status != 200 or json.loads(body)["accepted"], body


def all_at_once(senders: Sequence[Sender], running: Running) -> list[threading.Thread]:
    """Start all senders in threads, and return these."""
    threads = [threading.Thread(target=each.run, args=(running,)) for each in senders]
    for each in threads:
        each.start()
    return threads
