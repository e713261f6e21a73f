"""A server on this machine that gives pages of the client to Chromium, and keeps what they send."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

CLIENT = Path(__file__).parents[2] / "src" / "anonhist" / "local" / "client"
GOLDEN = Path(__file__).parents[1] / "formats" / "golden"
NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--dump-dom"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
# The picture holds back the end of loading, after which Chromium prints the page, until the test has told its result.
PAGE = """<!doctype html><meta charset="utf-8"><title>test</title><img src="/told" alt="">
<script type="module">
const tell = (result) => fetch("/result", {{ method: "POST", body: JSON.stringify(result) }});
try {{
  const {{ Collection }} = await import("/client.js");
  tell(await (async () => {{ {script} }})());
}} catch (error) {{ tell({{ error: String(error) }}); }}
</script>"""


@dataclass
class Site:
    """Files by path, what was posted to /reports with its headers, and the answers to be given there, in order."""

    files: dict[str, tuple[str, bytes]]
    posted: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    wait: int | None = None
    result: Any = None
    told: threading.Event = field(default_factory=threading.Event)
    address: str = ""


class Handler(BaseHTTPRequestHandler):
    """Requests of the browser; ``site`` is set for each server."""

    site: Site

    def do_GET(self) -> None:
        if self.path == "/told":
            self.site.told.wait(300)
        kind, content = self.site.files.get(self.path, ("text/plain", b""))
        if self.path == "/posted":
            self._answer(200, str(len(self.site.posted)).encode())
            return
        self._answer(200 if self.path in self.site.files else 404, content, kind)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/result":
            self.site.result = json.loads(body)
            self.site.told.set()
            self._answer(200)
            return
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
    found = Site({"/client.js": ("text/javascript", (CLIENT / "client.js").read_bytes())})
    for path in GOLDEN.glob("collection*.json"):
        found.files[f"/{path.name}"] = ("application/json", path.read_bytes())
    handler = type("OfSite", (Handler,), {"site": found})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        found.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield found
        server.shutdown()
        thread.join()


@pytest.fixture
def browse(site: Site, tmp_path: Path) -> Browse:
    """Run a script in a page, in one profile for the whole test, and return its result."""

    def run(script: str, profile: str = "profile") -> Any:
        assert BROWSER is not None
        site.result = None
        site.told.clear()
        site.files["/"] = ("text/html", PAGE.format(script=script).encode())
        command = [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / profile}", f"{site.address}/"]
        subprocess.run(command, capture_output=True, timeout=400, check=True)
        return site.result

    return run
