"""A server on this machine that gives pages of the client to Chromium, and keeps what they send."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from anonhist_testing.chromium import Chromium, Page

CLIENT = Path(__file__).parents[2] / "src" / "anonhist" / "local" / "client"
GOLDEN = Path(__file__).parents[1] / "formats" / "golden"
KINDS = {".js": "text/javascript", ".ts": "text/plain", ".html": "text/html", ".json": "application/json"}
SCRIPT = "(async () => {{ const {{ Collection }} = await import('/client.js'); {script} }})()"


@dataclass
class Site:
    """Files by path, what was posted to /reports with its headers, and the answers to be given there, in order."""

    files: dict[str, tuple[str, bytes]]
    posted: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    wait: int | None = None
    address: str = ""


class Handler(BaseHTTPRequestHandler):
    """Requests of the browser; ``site`` is set for each server."""

    site: Site

    def do_GET(self) -> None:
        kind, content = self.site.files.get(self.path, ("text/plain", b""))
        if self.path == "/posted":
            self._answer(200, str(len(self.site.posted)).encode())
            return
        self._answer(200 if self.path in self.site.files else 404, content, kind)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.site.posted.append((dict(self.headers), body))
        status = self.site.answers.pop(0) if self.site.answers else 200
        if status:
            self._answer(status)
        else:
            self.close_connection = True

    def do_OPTIONS(self) -> None:
        self.site.posted.append((dict(self.headers), b"OPTIONS"))
        self._answer(200)

    def _answer(self, status: int, content: bytes = b"", kind: str = "text/plain") -> None:
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(content)))):
            self.send_header(name, value)
        if self.site.wait is not None:
            self.send_header("Retry-After", str(self.site.wait))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


Browse = Callable[..., Any]


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site({"/": ("text/html", b"<!doctype html><title>test</title>")})
    for path in CLIENT.glob("*"):
        found.files[f"/{path.name}"] = (KINDS[path.suffix], path.read_bytes())
    for path in GOLDEN.glob("collection*.json"):
        found.files[f"/{path.name}"] = ("application/json", path.read_bytes())
    handler = type("OfSite", (Handler,), {"site": found})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        found.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield found
        server.shutdown()
        thread.join()


def run_script(page: Page, site: Site, script: str) -> Any:
    """Return what a script returns in a page of the site."""
    page.open(f"{site.address}/")
    return page.run(SCRIPT.format(script=script))


@pytest.fixture
def browse(site: Site, chromium: Chromium) -> Browse:
    """Run a script in a page. No other test sees what it stores, because each has another address."""
    memories: dict[str, str] = {}

    def run(script: str, device: str | None = None) -> Any:
        memory = None if device is None else memories.setdefault(device, chromium.memory())
        with chromium.page(memory) as page:
            return run_script(page, site, script)

    return run


@pytest.fixture
def browse_anew(site: Site, tmp_path: Path) -> Browse:
    """Run a script in a browser that is started for it, with the disk of the one before."""

    def run(script: str) -> Any:
        with Chromium(tmp_path / "profile") as browser, browser.page() as page:
            return run_script(page, site, script)

    return run
