"""Chromium for tests: started once, driven through a pipe, with pages of one test apart from those of another.

The DevTools protocol needs no other package: https://chromedevtools.github.io/devtools-protocol/. Messages are texts of
JSON that end with a zero byte; the browser reads them from its file 3 and writes to its file 4.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe"),
]
# Above all files that Chromium opens by number.
OUT_OF_THE_WAY = 100
LONGEST_SECONDS = 300.0
LONGEST_WAIT_SECONDS = 60.0


def pipe() -> tuple[int, int]:
    """Return the ends of a pipe, of which no other program that is started gets one."""
    ends = os.pipe()
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY) for end in ends)
    for end in ends:
        os.close(end)
    return read, write


class ChromiumError(AssertionError):
    """What a page or the browser complains of."""


class Chromium:
    """A running browser with its own folder: ``with Chromium(folder) as browser, browser.page() as page``."""

    def __init__(self, profile: Path) -> None:
        assert BROWSER is not None
        theirs_in, self._write = pipe()
        self._read, theirs_out = pipe()
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        files = [*quiet, (os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
        command = [BROWSER, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._pid = os.posix_spawn(BROWSER, command, os.environ, file_actions=files)
        os.close(theirs_in)
        os.close(theirs_out)
        self._received, self._number = b"", 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let the browser write what it has to, and wait until it has ended."""
        self.call("Browser.close")
        os.waitpid(self._pid, 0)
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Return what the browser answers; what it tells by itself meanwhile is let go."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        left = json.dumps(message).encode() + b"\0"
        while left:
            left = left[os.write(self._write, left) :]
        while (found := self._next()).get("id") != self._number:
            pass
        if "error" in found:
            raise ChromiumError(found["error"]["message"])
        result: dict[str, Any] = found["result"]
        return result

    def _next(self) -> dict[str, Any]:
        parts = [self._received]
        while b"\0" not in parts[-1]:
            if not select.select([self._read], [], [], LONGEST_SECONDS)[0]:
                message = f"Chromium did not answer for {LONGEST_SECONDS:g} seconds."
                raise ChromiumError(message)
            parts.append(os.read(self._read, 1 << 20))
            assert parts[-1], "Chromium has ended"
        message_bytes, _, self._received = b"".join(parts).partition(b"\0")
        found: dict[str, Any] = json.loads(message_bytes)
        return found

    def memory(self) -> str:
        """Return the name of a new memory: pages of another one see nothing that these store."""
        name: str = self.call("Target.createBrowserContext")["browserContextId"]
        return name

    @contextmanager
    def page(self, memory: str | None = None) -> Iterator[Page]:
        """Open an empty page, in the browser's own folder unless a memory is named, and close it at last."""
        where = {} if memory is None else {"browserContextId": memory}
        target = self.call("Target.createTarget", url="about:blank", **where)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        try:
            yield Page(self, session)
        finally:
            self.call("Target.closeTarget", targetId=target)


class Page:
    """A page of a browser."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser, self._session = browser, session

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return what the browser answers about this page."""
        return self._browser.call(method, self._session, **parameters)

    def open(self, address: str) -> None:
        """Go to an address, and wait until the page and what belongs to it have been loaded."""
        told = self.call("Page.navigate", url=address)
        if "errorText" in told:
            raise ChromiumError(told["errorText"])
        self.wait_for("document.readyState === 'complete'")

    def run(self, expression: str) -> Any:
        """Return the value of an expression, or of its promise."""
        told = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in told:
            thrown = told["exceptionDetails"]
            raise ChromiumError(thrown.get("exception", {}).get("description", thrown["text"]))
        return told["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + LONGEST_WAIT_SECONDS
        while not self.run(condition):
            if time.monotonic() > end:
                message = f"never came true: {condition}"
                raise ChromiumError(message)
            time.sleep(0.01)

    def resize(self, width: int, height: int) -> None:
        """Give the window so many pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, **features: str) -> None:
        """Let the reader prefer something, such as ``color_scheme="dark"``."""
        named = [{"name": f"prefers-{name.replace('_', '-')}", "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=named)

    def picture(self, part: tuple[float, float, float, float]) -> bytes:
        """Return a part of the page as PNG: from so far right and down, so wide and high."""
        clip = {**dict(zip(("x", "y", "width", "height"), part, strict=True)), "scale": 1}
        told = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        return base64.b64decode(told["data"])
