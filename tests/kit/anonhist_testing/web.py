"""A web server on this machine that sends files in parts, and does so badly on request."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass
class Web:
    """A running server: the requests that it got, and its behavior.

    Attributes
    ----------
    address
        Its URL, without a slash at the end.
    sent
        How many bytes went out, by path; answers to HEAD have none.
    ranges
        Whether it sends parts of files.
    status
        The status with which it answers every request, instead of a file.
    kept_back
        How many bytes of every part it does not send, although it announced them.
    shortened
        By how many bytes files are shorter than announced.
    """

    address: str
    sent: dict[str, int] = field(default_factory=dict)
    ranges: bool = True
    status: int | None = None
    kept_back: int = 0
    shortened: int = 0


@contextmanager
def serve(folder: Path) -> Iterator[Web]:
    """Serve the files of a folder to this machine alone."""

    class Handler(_Files):
        root = folder

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Handler.web = Web(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Handler.web
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Files(BaseHTTPRequestHandler):
    root: ClassVar[Path]
    web: ClassVar[Web]
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:  # the name that the server calls
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def _answer(self, *, with_body: bool) -> None:
        path = self.root / self.path.partition("?")[0].lstrip("/")
        status = self.web.status or (200 if path.is_file() else 404)
        if status != 200:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data = path.read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")) if self.web.ranges else None
        if asked and self.web.shortened:
            data = data[: -self.web.shortened]
        first, last = 0, len(data) - 1
        if asked:
            first, last = int(asked[1]), min(int(asked[2] or last), last)
        if first > last and data:
            self.send_response(416)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        part = data[first : last + 1]
        self.send_response(206 if asked else 200)
        self.send_header("Accept-Ranges", "bytes" if self.web.ranges else "none")
        self.send_header("Content-Length", str(len(part)))
        # Browsers run no script without it.
        self.send_header("Content-Type", guess_type(path.name)[0] or "application/octet-stream")
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        if not with_body:
            return
        part = part[: len(part) - self.web.kept_back]
        self.web.sent[path.name] = self.web.sent.get(path.name, 0) + len(part)
        try:
            self.wfile.write(part)
        except OSError:
            # The client has seen enough.
            self.close_connection = True
        if self.web.kept_back:
            self.close_connection = True
