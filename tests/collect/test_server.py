"""The server as a process: what it acknowledged is counted once, whatever happens to it and whoever calls."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

import anonhist as ah
from anonhist.cli.entry import run
from anonhist.collect.reading import read_collected
from anonhist.collect.server import listening
from anonhist.errors import OutputError
from anonhist.local import Collection
from anonhist.local.wire import read_wire_line
from anonhist_testing.collector import Running, Sender, all_at_once, answer_on, lines_of, serving

VALUES = ["bus", "car", "bicycle", "foot"]


def tally_of(collection: Collection, lines: list[bytes]) -> ah.local.Tally:
    total = collection.survey.empty_tally()
    for line in lines:
        total += collection.survey.tally(read_wire_line(collection.survey, line.decode()).reports)
    return total


def kill_and_send(collection: Collection, file: Path, address: str, *, rounds: int, each: int) -> None:
    path = f"/c/{collection.digest}/reports"
    lines = lines_of(collection, VALUES * (rounds * each))
    senders = [Sender(path, lines[start::4]) for start in range(4)]
    for turn in range(rounds + 1):
        with serving(file, address) as running:
            threads = all_at_once(senders, running)
            if turn < rounds:
                wanted = (turn + 1) * len(lines) // (rounds + 1)
                while sum(sender.place for sender in senders) < wanted and any(each.is_alive() for each in threads):
                    time.sleep(0.002)
                running.kill()
            for thread in threads:
                thread.join()
    assert {status for sender in senders for status in sender.statuses} == {200}
    assert sorted(line for sender in senders for line in sender.answered) == sorted(lines)
    assert read_collected(collection.survey, address) == tally_of(collection, lines)


@pytest.mark.full
def test_what_was_acknowledged_is_counted_once_though_the_server_is_killed(
    collection: Collection, collection_file: Path, address: str
) -> None:
    kill_and_send(collection, collection_file, address, rounds=1, each=60)


@pytest.mark.slow
def test_it_is_so_in_twenty_rounds(collection: Collection, collection_file: Path, address: str) -> None:
    kill_and_send(collection, collection_file, address, rounds=20, each=60)


@pytest.mark.slow
def test_two_servers_on_one_database_count_each_request_once(
    collection: Collection, collection_file: Path, address: str
) -> None:
    path, lines = f"/c/{collection.digest}/reports", lines_of(collection, VALUES * 50)
    with serving(collection_file, address) as one, serving(collection_file, address) as other:
        # Both get all, in opposite orders.
        senders = [Sender(path, lines), Sender(path, lines[::-1])]
        threads = [
            thread for sender, to in zip(senders, (one, other), strict=True) for thread in all_at_once([sender], to)
        ]
        for thread in threads:
            thread.join()
        assert [one.stop(), other.stop()] == [0, 0]
    assert [len(sender.answered) for sender in senders] == [200, 200]
    assert {status for sender in senders for status in sender.statuses} == {200}
    assert read_collected(collection.survey, address) == tally_of(collection, lines)


@pytest.fixture
def running(collection_file: Path, tmp_path: Path) -> Iterator[Running]:
    with serving(collection_file, f"sqlite:///{tmp_path / 'abused.db'}") as found:
        yield found


@pytest.mark.full
def test_it_ends_when_all_who_were_heard_are_answered(
    collection: Collection, collection_file: Path, tmp_path: Path
) -> None:
    address = f"sqlite:///{tmp_path / 'collected.db'}"
    senders = [Sender(f"/c/{collection.digest}/reports", lines_of(collection, VALUES * 250)) for _ in range(4)]
    with serving(collection_file, address) as running:
        threads = all_at_once(senders, running)
        while sum(sender.place for sender in senders) < 400:
            time.sleep(0.002)
        assert running.stop() == 0
        for thread in threads:
            thread.join()
    answered = [line for sender in senders for line in sender.answered]
    heard = answered + [sender.lines[sender.place] for sender in senders if sender.place < len(sender.lines)]
    counted = read_collected(collection.survey, address).users
    assert len(answered) <= counted <= len(heard)
    assert 400 <= len(answered) < 4000
    # Nothing is left in the file beside the database, where deleted rows would be.
    assert not (tmp_path / "collected.db-wal").exists()


def raw(running: Running, content: bytes, seconds: float = 20) -> bytes:
    """Send bytes as they are, and return what comes back until the server closes or has answered."""
    found = b""
    with socket.create_connection(("127.0.0.1", running.port), timeout=seconds) as connection, suppress(OSError):
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        while part := connection.recv(1 << 16):
            found += part
    return found


@pytest.mark.full
def test_malformed_requests_are_refused_and_others_answered(collection: Collection, running: Running) -> None:
    path = f"/c/{collection.digest}/reports"
    (line,) = lines_of(collection, ["bus"])
    spaced = json.dumps(json.loads(line)).encode()
    bodies = {
        b"": 422,
        b"{}": 422,
        b"\xff" * 40: 422,
        b"[" * 100_000: 422,
        b"1" * 100_000: 422,
        b'{"id":NaN,"reports":{}}': 422,
        spaced: 422,
        line + line: 422,
        line.replace(b'"id"', b'"id":"x","id"'): 422,
        line.replace(b'"report"', b'"bus"'): 422,
        line.replace(line[7:11], b"0000"): 410,
        line.replace(line[7:11], b"ffff"): 410,
        b"x" * (1 << 20): 422,
        b"x" * ((1 << 20) + 1): 413,
    }
    for body, status in bodies.items():
        assert (running.ask(path, body)[0], body[:40]) == (status, body[:40])
    # Chunked bodies are counted as they come.
    for length, status in ((1 << 10, 422), (1 << 21, 413)):
        with closing(running.connection()) as connection:
            connection.request("POST", path, iter([b"y" * 1024] * (length >> 10)), {}, encode_chunked=True)
            assert answer_on(connection)[0] == status
    assert running.ask(f"/c/{'0' * 64}/reports", line)[0] == 404
    assert running.ask(path)[0] == 405
    assert running.ask("/c/../../etc/passwd")[0] == 404
    assert b"400 Bad Request" in raw(running, b"nothing of HTTP\r\n\r\n")
    # Endless heads are cut off, long before slow ones are.
    with socket.create_connection(("127.0.0.1", running.port), timeout=4) as connection, suppress(ConnectionError):
        connection.sendall(b"GET / HTTP/1.1\r\nx: " + b"y" * (1 << 20))
        assert connection.recv(1) == b""
    status, headers, body = running.ask(path, line)
    assert (status, body, headers["access-control-allow-origin"]) == (200, b'{"accepted":1}', "*")
    assert "set-cookie" not in headers
    assert "access-control-allow-credentials" not in headers


@pytest.mark.full
def test_a_request_that_breaks_off_is_not_counted(
    collection: Collection, collection_file: Path, tmp_path: Path
) -> None:
    address = f"sqlite:///{tmp_path / 'c.db'}"
    broken, whole = lines_of(collection, ["bus", "car"])
    with serving(collection_file, address) as running:
        head = f"POST /c/{collection.digest}/reports HTTP/1.1\r\nHost: x\r\nContent-Length: {len(broken) + 9}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", running.port), timeout=4) as connection:
            connection.sendall(head.encode() + broken)
            time.sleep(0.2)
        assert running.ask(f"/c/{collection.digest}/reports", whole)[0] == 200
        assert running.stop() == 0
    assert read_collected(collection.survey, address) == tally_of(collection, [whole])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the memory of a process")
def test_slow_and_endless_clients_do_not_keep_others_waiting(collection: Collection, running: Running) -> None:
    path = f"/c/{collection.digest}/reports"
    slow = [socket.create_connection(("127.0.0.1", running.port), timeout=60) for _ in range(500)]
    for place, each in enumerate(slow):
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 90\r\n".encode()
        each.sendall(head if place % 2 else head + b"\r\n{")
    endless = socket.create_connection(("127.0.0.1", running.port), timeout=60)
    endless.sendall(f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {200 << 20}\r\n\r\n".encode())

    def send_all() -> None:
        with suppress(OSError):
            for _ in range(200):
                endless.sendall(b"z" * (1 << 20))

    with ThreadPoolExecutor(1) as others:
        sending = others.submit(send_all)
        started = time.monotonic()
        waits = []
        for line in lines_of(collection, VALUES * 10):
            before = time.monotonic()
            assert running.ask(path, line)[0] == 200
            waits.append(time.monotonic() - before)
        assert max(waits) < 1
        sending.result()
        status = Path(f"/proc/{running.process.pid}/status").read_text().splitlines()
        (memory,) = (int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        assert memory < 150 << 10
    said = []
    for each in slow:
        with each, suppress(OSError):
            said.append(each.recv(1 << 12))
    endless.close()
    assert time.monotonic() - started < 40
    assert sum(b"408" in each for each in said) == 250
    assert all(b"408" in each or not each for each in said)


@pytest.mark.full
def test_answers_do_not_wait_for_the_client_to_acknowledge_their_heads(
    collection: Collection, running: Running
) -> None:
    waits = []
    with closing(running.connection()) as connection:
        for _ in range(40):
            before = time.monotonic()
            connection.request("POST", f"/c/{collection.digest}/reports", b"nothing")
            answer_on(connection)
            waits.append(time.monotonic() - before)
    # That would take 40 ms each, after the first ones.
    assert min(waits[20:]) < 0.02


@pytest.mark.full
def test_pages_have_headers_that_keep_scripts_and_frames_out(collection: Collection, running: Running) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OutputError, match="choose another port"):
        listening("127.0.0.1", taken.getsockname()[1])
    for path in ("/c", f"/c/{collection.digest}/", f"/c/{collection.digest}/estimate", "/openapi.json", "/client.js"):
        status, headers, body = running.ask(path)
        assert (status, bool(body)) == (200, True)
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert not {"set-cookie", "server", "access-control-allow-credentials"} & set(headers)
        if "etag" in headers:
            assert running.ask(path, **{"If-None-Match": headers["etag"]})[0] == 304
    status, headers, _ = running.ask(f"/c/{collection.digest}")
    assert (status, headers["location"]) == (308, f"{collection.digest}/")
    assert running.ask("/healthz")[0] == running.ask("/readyz")[0] == 200
    assert running.ask(f"/c/{collection.digest}/tally")[0] == 401
    loaded = json.loads(running.ask(f"/c/{collection.digest}/collection.json")[2])
    assert loaded["digest"] == collection.digest
    assert len(loaded["today"]) == 10


@pytest.mark.full
def test_the_token_opens_the_tally(collection: Collection, collection_file: Path, tmp_path: Path) -> None:
    address, token = f"sqlite:///{tmp_path / 'c.db'}", "0123456789abcdef"
    (tmp_path / "token").write_text(token + "\n")
    path = f"/c/{collection.digest}"
    lines = lines_of(collection, VALUES * 30, together=40)
    with serving(collection_file, address, "--token-file", str(tmp_path / "token")) as running:
        for line in lines:
            assert json.loads(running.ask(f"{path}/reports", line)[2]) == {"accepted": 40}
        for wrong in ("", "Bearer", "Bearer 0123456789abcdee", f"Basic {token}"):
            assert running.ask(f"{path}/tally", Authorization=wrong)[0] == 401
        status, _, body = running.ask(f"{path}/tally", Authorization=f"Bearer {token}")
        assert status == 200
        # While the server runs, a command reads the database, too.
        collection.survey.save(tmp_path / "survey.json")
        assert run(["local", "tally", str(tmp_path / "survey.json"), address, "-o", str(tmp_path / "tally.json")]) == 0
    assert ah.read(tmp_path / "tally.json") == tally_of(collection, lines)
    assert json.loads(body)["counts"] == tally_of(collection, lines).counts.tolist()


@pytest.mark.full
def test_an_address_may_be_limited(collection: Collection, collection_file: Path, tmp_path: Path) -> None:
    path = f"/c/{collection.digest}/reports"
    with serving(collection_file, f"sqlite:///{tmp_path / 'c.db'}", "--most-per-hour", "3") as running:
        answers = [running.ask(path, line) for line in lines_of(collection, ["bus"] * 5)]
    assert [status for status, _, _ in answers] == [200, 200, 200, 429, 429]
    assert int(answers[-1][1]["retry-after"]) > 0


@pytest.mark.full
def test_metrics_move_at_looks_only(collection: Collection, collection_file: Path, tmp_path: Path) -> None:
    path = f"/c/{collection.digest}/reports"
    lines = lines_of(collection, ["bus"] * 130)
    with serving(collection_file, f"sqlite:///{tmp_path / 'c.db'}", "--metrics-port", "0") as running:
        metrics = Running(running.process, int(running.printed.partition("/metrics")[0].rpartition(":")[2]), "")

        def told() -> str:
            return metrics.ask("/metrics")[2].decode()

        for line in (*lines[:99], lines[0], b"{}"):
            running.ask(path, line)
        before = told()
        running.ask("/healthz")
        assert "/reports" not in before
        assert f'anonhist_reports_total{{collection="{collection.digest}"}} 0' in before
        for line in lines[99:]:
            running.ask(path, line)
        after = told()
    assert f'anonhist_reports_total{{collection="{collection.digest}"}} 125' in after
    assert f'anonhist_repeated_reports_total{{collection="{collection.digest}"}} 1' in after
    assert f'anonhist_looks_total{{collection="{collection.digest}"}} 2' in after
    labels = 'http_request_method="POST",http_route="/c/{digest}/reports",http_response_status_code="200"'
    # The request that reached 125 was not answered yet.
    assert f"http_server_request_duration_seconds_count{{{labels}}} 125" in after
    assert 'http_route="/healthz"' in after


@pytest.mark.full
def test_metrics_without_a_database_are_refused_quietly(collection_file: Path, tmp_path: Path) -> None:
    with serving(collection_file, f"sqlite:///{tmp_path / 'c.db'}", "--metrics-port", "0") as running:
        metrics = Running(running.process, int(running.printed.partition("/metrics")[0].rpartition(":")[2]), "")
        (tmp_path / "c.db").rename(tmp_path / "away.db")
        assert [metrics.ask("/metrics")[0] for _ in range(3)] == [503] * 3
        (tmp_path / "away.db").rename(tmp_path / "c.db")
        assert metrics.ask("/metrics")[0] == 200
        assert running.stop() == 0
        assert running.process.stdout is not None
        assert running.process.stdout.read() == ""


def test_all_values_have_requests_of_one_length(collection: Collection) -> None:
    assert len({len(line) for value in VALUES for line in lines_of(collection, [value] * 50)}) == 1


SLOW_DISK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static int slowly(const char *name, int file) {
    usleep(400000);
    return ((int (*)(int)) dlsym(RTLD_NEXT, name))(file);
}
int fsync(int file) { return slowly("fsync", file); }
int fdatasync(int file) { return slowly("fdatasync", file); }
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="without a C compiler, the disk is not slowed down")
def test_no_answer_comes_before_the_disk_has_it(
    collection: Collection, collection_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow.c").write_text(SLOW_DISK)
    command = ["cc", "-shared", "-fPIC", "-o", str(tmp_path / "slow.so"), str(tmp_path / "slow.c"), "-ldl"]
    subprocess.run(command, check=True)
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "slow.so"))
    with serving(collection_file, f"sqlite:///{tmp_path / 'c.db'}") as running:
        lines = lines_of(collection, VALUES)
        # The last one is repeated.
        for line in [*lines, lines[0]]:
            before = time.monotonic()
            assert running.ask(f"/c/{collection.digest}/reports", line)[0] == 200
            assert time.monotonic() - before >= 0.4
        # What is not written does not wait.
        waits = []
        for _ in range(5):
            before = time.monotonic()
            running.ask("/healthz")
            waits.append(time.monotonic() - before)
        assert min(waits) < 0.4
