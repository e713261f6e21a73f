"""Connections: how many there are, what each may make the server hold, and which are closed by force."""

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anonhist.collect.connections import MOST, Sweep, most_connections
from anonhist.local import KRR, Collection
from anonhist_testing.abuse import longest_wait, memory
from anonhist_testing.collector import Running, answer_on, lines_of, serving

PARSERS = pytest.mark.parametrize("running", ["httptools", "h11"], indirect=True)


@pytest.fixture
def running(request: pytest.FixtureRequest, collection_file: Path, tmp_path: Path) -> Iterator[Running]:
    """Return a server with a parser: h11 where httptools cannot be imported."""
    hidden = ("httptools",) if request.param == "h11" else ()
    with serving(collection_file, f"sqlite:///{tmp_path / 'c.db'}", hidden=hidden) as found:
        yield found


def connected(running: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", running.port), timeout=60)


def flood(running: Running, begin: bytes, endless: bytes, *, most: int = 1 << 23) -> int:
    """Send a beginning, and then the same bytes until the server closes the connection; return how many it took."""
    sent = 0
    with connected(running) as client:
        client.sendall(begin)
        client.settimeout(3)
        with suppress(ConnectionError, TimeoutError):
            while sent < most:
                client.sendall(endless)
                sent += len(endless)
    return sent


@pytest.mark.full
@PARSERS
def test_reports_are_taken_and_pages_shown(running: Running, collection: Collection) -> None:
    path, lines = f"/c/{collection.digest}/reports", lines_of(collection, ["bus", "car"] * 60)
    with closing(running.connection()) as connection:
        for line in lines:
            connection.request("POST", path, line)
            assert answer_on(connection)[::2] == (200, b'{"accepted":1}')
        connection.request("POST", path, iter([lines[0][:20], lines[0][20:]]), {}, encode_chunked=True)
        assert answer_on(connection)[0] == 200
    status, _, page = running.ask(f"/c/{collection.digest}/")
    assert status == 200
    assert b"100 people had answered" in page
    assert running.ask(path, b"x" * ((1 << 20) + 1))[0] == 413


@pytest.mark.full
@PARSERS
def test_what_does_not_end_beside_a_body_is_cut_off(running: Running, collection: Collection) -> None:
    post = f"POST /c/{collection.digest}/reports HTTP/1.1\r\nhost: x\r\n".encode()
    chunked = post + b"transfer-encoding: chunked\r\n\r\n"
    for begin, endless in (
        (post + b"x: ", b"y" * 1000),
        (post, b"x: y\r\n" * 100),
        (chunked + b"1\r\n{\r\n0\r\n", b"x: y\r\n" * 100),
        (chunked + b"1\r\n{\r\n0\r\nx: ", b"y" * 1000),
        (chunked + b"1;", b"y" * 1000),
    ):
        assert flood(running, begin, endless) < 1 << 23, endless[:9]
    assert memory(running.process.pid, "VmHWM") < 150
    assert longest_wait(running, f"/c/{collection.digest}/reports", lines_of(collection, ["bus"])) < 1


@pytest.mark.full
@PARSERS
def test_few_headers_and_few_requests_at_once_are_held(running: Running) -> None:
    for headers, is_answered in ((50, True), (5_000, False)):
        with connected(running) as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n" + b"x: y\r\n" * headers + b"\r\n")
            assert read_all(client).startswith(b"HTTP/1.1 200") == is_answered
    # The slower parser reads one after the other, so that all are answered.
    is_slow = "httptools" in str(running.process.args)
    for many, are_answered in ((10, True), (100, is_slow)):
        with connected(running) as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n" * many)
            assert (read_all(client).count(b"HTTP/1.1 200") == many) == are_answered
    assert memory(running.process.pid, "VmHWM") < 75


def read_all(client: socket.socket) -> bytes:
    """Read until the server closes a connection or says nothing more."""
    found = b""
    client.settimeout(1)
    with suppress(ConnectionError, TimeoutError):
        while part := client.recv(1 << 16):
            found += part
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not tell the files of a process")
def test_clients_that_never_read_are_closed(tmp_path: Path) -> None:
    # So large that the system does not take all answers.
    labels = [f"{place:0300}" for place in range(10_000)]
    collection = Collection(survey=KRR(alphabet=labels, epsilon=1), answers="once", last_day="2099-12-31")
    collection.save(tmp_path / "collection.json")
    request = f"GET /c/{collection.digest}/collection.json HTTP/1.1\r\nhost: x\r\n\r\n".encode()
    with ExitStack() as stack:
        servers, readers = [], []
        for hidden in ((), ("httptools",)):
            address = f"sqlite:///{tmp_path / f'{len(servers)}.db'}"
            running = stack.enter_context(serving(tmp_path / "collection.json", address, hidden=hidden))
            servers.append((running, sockets(running)))
            never, ends, reads = (stack.enter_context(connected(running)) for _ in range(3))
            never.sendall(request * 8)
            ends.sendall(request * 7 + request.replace(b"host", b"connection: close\r\nhost"))
            reads.sendall(request * 8)
            readers.append(reads)
        started = time.monotonic()
        time.sleep(1)
        assert [sockets(running) - before for running, before in servers] == [3, 3]
        while time.monotonic() - started < 60 and any(sockets(running) > before + 1 for running, before in servers):
            # A slow client that reads stays.
            time.sleep(1)
            for reads in readers:
                assert read_some(reads, 1 << 18)
        assert [sockets(running) - before for running, before in servers] == [1, 1]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the memory of a process")
@pytest.mark.parametrize("hidden", [(), ("httptools",)], ids=["httptools", "h11"])
def test_large_answers_that_nobody_reads_take_little_memory(tmp_path: Path, hidden: tuple[str, ...]) -> None:
    labels = [f"{place:0300}" for place in range(40_000)]
    collection = Collection(survey=KRR(alphabet=labels, epsilon=1), answers="once", last_day="2099-12-31")
    collection.save(tmp_path / "collection.json")
    path = f"/c/{collection.digest}/collection.json"
    with ExitStack() as stack:
        running = stack.enter_context(
            serving(tmp_path / "collection.json", f"sqlite:///{tmp_path / 'c.db'}", hidden=hidden)
        )
        whole = running.ask(path)[2]
        before = memory(running.process.pid)
        for _ in range(60):
            stack.enter_context(connected(running)).sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert len(whole) > 12_000_000
        # It is whole though it comes in pieces.
        assert running.ask(path)[2] == whole
        assert memory(running.process.pid, "VmHWM") - before < 60


def read_some(client: socket.socket, size: int) -> int:
    """Read so many bytes, unless the connection ends before, and return how many came."""
    found = 0
    while found < size and (part := client.recv(size - found)):
        found += len(part)
    return found


def sockets(running: Running) -> int:
    """Return how many sockets a server has."""
    found = 0
    for each in Path(f"/proc/{running.process.pid}/fd").iterdir():
        with suppress(OSError):
            found += str(each.readlink()).startswith("socket:")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("running", ["httptools"], indirect=True)
@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 2 * MOST, reason="the system allows few open files")
def test_connections_are_few(running: Running, collection: Collection) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(running)) for _ in range(MOST + 700)]
        time.sleep(1)
        assert 0 <= sockets(running) - MOST * 11 // 10 < 10
        # One that is beyond the limit, but not far.
        clients[10].sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        assert clients[10].recv(99).startswith(b"HTTP/1.1 503")
        assert memory(running.process.pid, "VmHWM") < 150
        time.sleep(11)
        # Those that have sent nothing are gone.
        path = f"/c/{collection.digest}/reports"
        assert longest_wait(running, path, lines_of(collection, ["bus"] * 20)) < 1


@pytest.mark.parametrize(
    ("soft", "hard", "most", "raised"),
    [
        (20_000, 20_000, MOST, None),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, MOST, None),
        (1_024, 1_024, 512, 1_024),
        (1_024, 1 << 20, MOST, 4_000),
        (256, resource.RLIM_INFINITY, MOST, 4_000),
    ],
)
def test_connections_are_fewer_where_the_system_allows_few_open_files(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, most: int, raised: int | None
) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: given.append(limits))
    assert most_connections() == most
    assert given == ([] if raised is None else [(raised, hard)])

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert most_connections() == (MOST if raised is None else soft // 2)


def connection(*, unread: int = 0, cycle: Any = None, idle: Any = None) -> Any:
    transport = SimpleNamespace(get_write_buffer_size=lambda: made.unread)
    made: Any = type("Connection", (), {})()
    made.unread, made.cycle, made.timeout_keep_alive_task, made.transport = unread, cycle, idle, transport
    made.emptied = 0
    return made


def test_a_client_that_reads_a_large_answer_in_pieces_is_not_closed() -> None:
    busy = SimpleNamespace(response_complete=False)
    reads, never = connection(unread=90_000, cycle=busy), connection(unread=90_000, cycle=busy)
    sweep = Sweep()
    for turn in range(20):
        # When the client has read a piece, the next one takes its place.
        reads.emptied += turn % 5 == 0
        assert reads not in sweep.stuck([reads, never] if turn < 6 else [reads])
    assert [sweep.stuck([reads]) for _ in range(6)][-1] == [reads]


def test_connections_that_do_not_move_are_closed_after_some_rounds() -> None:
    busy = SimpleNamespace(response_complete=False)
    done = SimpleNamespace(response_complete=True)
    idle = connection(cycle=done, idle=object())
    head, next_head, waits = connection(), connection(cycle=done), connection(cycle=busy)
    never, reads, gone = (
        connection(unread=9_000, cycle=busy),
        connection(unread=9_000, cycle=busy),
        connection(unread=9, cycle=done, idle=object()),
    )
    every = [idle, head, next_head, waits, never, reads, gone]
    sweep = Sweep()
    assert sweep.stuck(every) == []
    assert sweep.stuck(every) == [head, next_head]
    every = [idle, waits, never, reads, gone]
    for turn in range(4):
        # Now and then, its buffer is filled with the next answer.
        reads.unread = 9_000 - turn % 3
        assert sweep.stuck(every) == []
    assert sweep.stuck(every) == [never, gone]
    reads.unread = 0
    for _ in range(9):
        assert sweep.stuck([idle, waits, reads]) == []
