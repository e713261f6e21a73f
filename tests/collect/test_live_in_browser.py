"""The live page in Chromium: it asks again, shows what is new, breaks no policy, and stops when a collection closes."""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from anonhist.collect.live_page import HEADERS, Rendered, ShownState, rendered, static_files
from anonhist.local import KRR, Collection
from anonhist_testing.sources import SeededSource

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--dump-dom"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr"),
]
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed: the live page is not tested in a browser"),
]
LABELS = ['<b onclick="alert(1)">bus</b>', "car"]
SURVEY = KRR(alphabet=LABELS, epsilon=1)
COLLECTION = Collection(survey=SURVEY, answers="once", last_day="2026-12-31")


def _look(users: int, *, closed: bool = False) -> Rendered:
    tally = SURVEY.tally(SURVEY.randomize(LABELS * (users // 2), source=SeededSource(1))) if users else None
    return rendered(COLLECTION, ShownState(users, tally, closed))


class Server(BaseHTTPRequestHandler):
    """It shows one look after the other: each is new once, then the same as before, and then comes the next one."""

    looks: list[Rendered]
    asked: list[tuple[int, str | None]]
    told: threading.Event
    script: bytes | None = None

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        if name == "told":  # The picture that keeps the browser from printing the page before the test is over.
            self.told.wait(60)
            self.send_error(404)
            return
        files = static_files()
        if name in files:
            kind, body = files[name]
            if name == "live.js":
                body = body.replace(b"SECONDS = 30", b"SECONDS = 0.2")
            self._answer(200, body, kind)
            return
        known = self.headers["If-None-Match"]
        look = self.looks[0]
        if known == look.etag and len(self.looks) > 1:
            self.looks.pop(0)
            self._answer(304, b"", "text/html", look.etag)
        else:
            page = look.html.replace(b"</main>", b'<img src="/told" alt=""></main>')
            self._answer(200, page, "text/html; charset=utf-8", look.etag)
        self.asked.append((len(self.looks), known))

    def _answer(self, status: int, body: bytes, kind: str, etag: str = "") -> None:
        self.send_response(status)
        for header, value in (*HEADERS.items(), ("Content-Type", kind), ("Content-Length", str(len(body)))):
            self.send_header(header, value)
        if etag:
            self.send_header("ETag", etag)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, Any]]:
    looks = [_look(0), _look(100), _look(1_000, closed=True)]
    handler = type("Own", (Server,), {"looks": looks, "asked": [], "told": threading.Event()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        thread = threading.Thread(target=site.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{site.server_address[1]}/c/{COLLECTION.digest}/", handler
        handler.told.set()
        site.shutdown()
        thread.join()


def test_the_page_follows_the_looks_and_breaks_no_policy(server: tuple[str, Any], tmp_path: Path) -> None:
    assert BROWSER is not None
    address, handler = server
    first, _, last = handler.looks
    tags = [look.etag for look in handler.looks]
    # Long enough for all looks, and for more questions if the script did not stop.
    threading.Timer(6, handler.told.set).start()
    command = [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert handler.looks == [last]
    # Each look was told apart from the one before by its tag, and after the last one nobody asked.
    assert [known for _, known in handler.asked] == [None, tags[0], tags[0], tags[1], tags[1]]
    assert "Nothing is shown yet" in first.html.decode()
    assert "This collection is closed. 1,000 people answered." in done.stdout
    assert f'data-etag="&quot;{last.etag[1:-1]}&quot;"' in done.stdout
    rows = re.findall(r"<td>[\d.]+%</td>", done.stdout)
    assert len(rows) == len(LABELS)
    assert "&lt;b onclick" in done.stdout
    # Chromium says what its policy refused, and errors of scripts.
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line and "404" not in line]
    assert console == []
