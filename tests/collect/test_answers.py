"""Answers that a server rarely gives: in the words of HTTP, without data, and as if nothing had happened before."""

import asyncio
import errno
import os
import threading
import time
from multiprocessing.resource_tracker import ensure_running
from pathlib import Path
from typing import Any

import pytest

from anonhist.collect import shown
from anonhist.collect.application import Application
from anonhist.collect.databases import storage_at
from anonhist.collect.live_page import Rendered
from anonhist.collect.served import Served
from anonhist.collect.shown import ShownPages
from anonhist.collect.storage import Head
from anonhist.collect.writer import Writer
from anonhist.local import KRR, Collection
from anonhist_testing.collector import Running, lines_of, serving

TOKEN = "0123456789abcdef"  # noqa: S105  # it opens nothing


@pytest.fixture
def application(collection: Collection, tmp_path: Path) -> Application:
    storage = storage_at(f"sqlite:///{tmp_path / 'c.db'}")
    storage.make()
    session = storage.session()
    with session.writing() as ours:
        served = [Served(collection, ours.number_of(collection))]
    session.close()
    return Application(storage, Writer(storage, served), served, token=TOKEN)


def ask(application: Application, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Return the status, the headers and the body of an answer."""
    messages: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(application(scope, receive, send))
    given = {name.decode().lower(): value.decode() for name, value in messages[0]["headers"]}
    return messages[0]["status"], given, b"".join(each.get("body", b"") for each in messages[1:])


def test_what_is_not_allowed_says_what_is(application: Application, collection: Collection) -> None:
    here = f"/c/{collection.digest}"
    for method, path, allowed in (
        ("GET", f"{here}/reports", {"POST", "OPTIONS"}),
        ("PUT", f"{here}/reports", {"POST", "OPTIONS"}),
        ("POST", f"{here}/estimate", {"GET", "HEAD"}),
        ("DELETE", "/c", {"GET", "HEAD"}),
        ("POST", "/client.js", {"GET", "HEAD"}),
    ):
        status, headers, _ = ask(application, method, path)
        assert (status, set(headers["allow"].split(", "))) == (405, allowed), path
    assert ask(application, "OPTIONS", f"{here}/reports")[0] == 204


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_the_scheme_of_a_token_has_no_case(application: Application, collection: Collection, scheme: str) -> None:
    path = f"/c/{collection.digest}/tally"
    assert ask(application, "GET", path, authorization=f"{scheme} {TOKEN}")[0] == 200
    for wrong in (
        scheme,
        f"{scheme} ",
        f"{scheme} {TOKEN.upper()}",
        f"{scheme}{TOKEN}",
        f"{scheme}\t{TOKEN}",
        f"{scheme}s {TOKEN}",
        TOKEN,
        f" {TOKEN}",
        f"Basic {TOKEN}",
    ):
        status, headers, _ = ask(application, "GET", path, authorization=wrong)
        assert (status, headers["www-authenticate"]) == (401, "Bearer"), wrong


@pytest.mark.parametrize("way", ["none starts", "it ends at once"])
def test_a_page_that_cannot_be_made_is_refused_and_made_later(
    application: Application,
    collection: Collection,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    way: str,
) -> None:
    tries = []

    def launch(*_: object) -> int:
        tries.append(1)
        if way == "none starts":
            raise BlockingIOError(errno.EAGAIN, "secret: bus")
        return os.posix_spawn("/bin/false", ["false"], {})

    path = f"/c/{collection.digest}/"
    ensure_running()
    with monkeypatch.context() as patch:
        patch.setattr("multiprocessing.util.spawnv_passfds", launch)
        for _ in range(3):
            status, headers, body = ask(application, "GET", path)
            assert status == 503
            assert int(headers["retry-after"]) > 0
            assert b"error" in body
        assert len(tries) == 1
        time.sleep(shown._SECONDS)
        assert ask(application, "GET", path)[0] == 503
        assert len(tries) == 2
    printed = capfd.readouterr()
    kinds = ["BlockingIOError"] if way == "none starts" else ["EOFError", "BrokenPipeError"]
    assert printed.err in [f"anonhist: no page could be made ({kind}).\n" for kind in kinds]
    assert printed.out == ""
    time.sleep(shown._SECONDS)
    assert ask(application, "GET", path)[0] == 200


def test_few_pages_are_made_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = storage_at(f"sqlite:///{tmp_path / 'c.db'}")
    storage.make()
    session = storage.session()
    every = [
        Collection(survey=KRR(alphabet=many, epsilon=1), answers="once", last_day="2099-12-31") for many in range(2, 8)
    ]
    with session.writing() as ours:
        served = [Served(each, ours.number_of(each)) for each in every]
    session.close()
    making, most = [0], []

    def make(_: Any, one: Served) -> tuple[Head, Rendered]:
        making[0] += 1
        most.append(making[0])
        time.sleep(0.1)
        making[0] -= 1
        return Head(0, 0, 0, closed=False), Rendered(one.collection.digest.encode(), b"", b"", "")

    async def work() -> list[bytes]:
        pages = ShownPages(storage)
        return [each.html for each in await asyncio.gather(*map(pages.of, served))]

    monkeypatch.setattr(shown, "_apart", make)
    assert asyncio.run(work()) == [each.digest.encode() for each in every]
    assert max(most) <= 2


@pytest.mark.full
@pytest.mark.parametrize("seconds", [0, 0.5, 9])
def test_the_end_is_quiet(collection: Collection, collection_file: Path, tmp_path: Path, seconds: float) -> None:
    path = f"/c/{collection.digest}/"
    with serving(collection_file, f"sqlite:///{tmp_path / 'c.db'}") as running:
        (line,) = lines_of(collection, ["bus"] * 200, together=200)
        assert running.ask(f"{path}reports", line)[0] == 200
        asks = threading.Thread(target=quietly, args=(running, path))
        asks.start()
        # At 9, the page is there, or else it is being made.
        asks.join(seconds)
        assert running.stop() == 0
        assert running.process.stdout is not None
        assert running.process.stdout.read() == ""
        asks.join()


def quietly(running: Running, path: str) -> None:
    assert running.ask(path)[0] in {200, 503}
