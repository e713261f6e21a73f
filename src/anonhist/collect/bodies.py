"""How the bodies of requests are read: of all that are on their way at once, only so many bytes are held."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from anonhist.collect.served import MOST_BYTES, Answer, refusal

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_MOST_READ = 8 * MOST_BYTES
# The beginnings of all bodies are held, and there are no more than connections: so single reports and small batches get
# through, however many large bodies are on their way. Of those, the bytes beyond are counted.
_BEGINNING, _MOST_BEYOND = 1 << 14, 24 * MOST_BYTES
_TOO_LARGE = refusal(413, f"A request has at most {MOST_BYTES:,} bytes.")
NO_ROOM = refusal(503, "Too many large requests are on their way: send the same bytes again later.")


class Bodies:
    """The bodies that are being read in one event loop."""

    def __init__(self) -> None:
        self._beyond = 0

    async def read(self, receive: Receive) -> bytes | bytearray | Answer:
        """Return a body, or why it is refused; of one that is refused, nothing is held.

        Raises
        ------
        TimeoutError
            If the client has gone.
        """
        body, length, counted, is_more = bytearray(), 0, 0, True
        try:
            # A client that sends only a little too much reads the answer when it has sent everything.
            while is_more and length <= _MOST_READ:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise TimeoutError
                part: bytes = message.get("body", b"")
                is_more = message.get("more_body", False)
                if not (length or is_more) and len(part) <= MOST_BYTES:
                    return part
                length += len(part)
                more = max(0, length - _BEGINNING) - counted
                if length > MOST_BYTES:
                    body, more = bytearray(), -counted
                elif self._beyond + more > _MOST_BEYOND:
                    return NO_ROOM
                else:
                    body += part
                counted, self._beyond = counted + more, self._beyond + more
            return body if length <= MOST_BYTES else _TOO_LARGE
        finally:
            self._beyond -= counted
