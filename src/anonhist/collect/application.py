"""The server's answers to requests: reports on a path without a framework, everything else by Starlette."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from hashlib import blake2b
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from anonhist.collect.bodies import NO_ROOM, Bodies, Receive
from anonhist.collect.lines import is_stream
from anonhist.collect.live_page import HEADERS, static_files
from anonhist.collect.openapi import openapi
from anonhist.collect.rate_limits import RateLimits
from anonhist.collect.served import Answer, Served, current_day, refusal
from anonhist.collect.shown import ShownPages
from anonhist.collect.storage import Storage
from anonhist.collect.watching import Watch
from anonhist.collect.writer import BUSY, Writer
from anonhist.errors import AnonhistError
from anonhist.local.files import tally_text

ROUTES = frozenset(
    (
        *("/c", "/c/{digest}", "/c/{digest}/", "/c/{digest}/reports", "/c/{digest}/estimate", "/c/{digest}/tally"),
        *("/c/{digest}/collection.json", "/healthz", "/readyz", "/openapi.json", "/client.js"),
    )
)
Scope = MutableMapping[str, Any]
_Give = Callable[[Request, Served], Awaitable[Response]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

BODY_SECONDS, _LINGER_SECONDS = 10.0, 1.0
# Of an answer that nobody reads, the server holds two at most.
_PIECE = 1 << 16
_RETRY_SECONDS = 5
# A school behind one address answers within one lesson.
_MOST_AT_ONCE = 100
_JSON = (b"content-type", b"application/json")
_ALWAYS = [
    (b"access-control-allow-origin", b"*"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
]
_SAFE = {"Access-Control-Allow-Origin": "*", **HEADERS}
_TOO_LATE = refusal(408, "The body did not arrive within 10 seconds.")
_TOO_OFTEN = refusal(429, "Too many requests came from this address within an hour.")
_POST_ONLY = refusal(405, "Send reports by POST.")


class Application:
    """An ASGI application for some collections.

    Parameters
    ----------
    storage, writer
        Where reports are counted, and the thread that does so.
    collections
        What is collected.
    token
        What a request for a tally must know; None refuses all of them.
    most_per_hour
        How many requests an address may send within an hour; None for any number.
    watch
        Counts requests; None if nobody watches.
    today
        Returns the day.
    """

    def __init__(
        self,
        storage: Storage,
        writer: Writer,
        collections: Sequence[Served],
        *,
        token: str | None = None,
        most_per_hour: int | None = None,
        watch: Watch | None = None,
        today: Callable[[], int] = current_day,
    ) -> None:
        self._writer, self._today, self._watch = writer, today, watch
        self._bodies = Bodies()
        self._posts = {f"/c/{each.collection.digest}/reports": each for each in collections}
        self._limits = (
            None
            if most_per_hour is None
            else RateLimits(per_hour=most_per_hour, burst=min(most_per_hour, _MOST_AT_ONCE))
        )
        self._others = _Pages(storage, writer, collections, token=token, today=today).application()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        served = self._posts.get(scope.get("path", ""))
        if self._watch is None:
            await self._answer(served, scope, receive, send)
            return
        started, statuses = time.perf_counter(), [0]

        async def noting(message: MutableMapping[str, Any]) -> None:
            statuses[0] = message.get("status", statuses[0])
            await send(message)

        await self._answer(served, scope, receive, noting)
        self._watch.add(scope["method"], scope["path"], statuses[0], time.perf_counter() - started)

    async def _answer(self, served: Served | None, scope: Scope, receive: Receive, send: Send) -> None:
        if served is None:
            await self._others(scope, receive, in_pieces(send))
            return
        method, wait = scope["method"], _RETRY_SECONDS
        if method == "POST":
            limited = 0 if self._limits is None else self._limits.wait((scope.get("client") or ("",))[0])
            wait = limited or wait
            answer = _TOO_OFTEN if limited else await self._reports(served, scope, receive)
        elif method == "OPTIONS":
            await _send_preflight(send)
            return
        else:
            answer = _POST_ONLY
        status, body = answer
        headers = [_JSON, (b"content-length", b"%d" % len(body)), *_ALWAYS]
        if status in {429, 503, 507}:
            headers.append((b"retry-after", b"%d" % wait))
        elif status == 405:
            headers.append((b"allow", b"POST, OPTIONS"))
        if status in {408, 413} or answer is NO_ROOM:
            # What is still to come of the body is not read.
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if answer is NO_ROOM:
            # The rest is not read, because that would keep others waiting; and a connection that is closed at once may
            # lose the answer.
            await send({"type": "http.response.body", "body": body, "more_body": True})
            await asyncio.sleep(_LINGER_SECONDS)
            body = b""
        await send({"type": "http.response.body", "body": body})

    async def _reports(self, served: Served, scope: Scope, receive: Receive) -> Answer:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                message = await self._bodies.read(receive)
        except TimeoutError:
            return _TOO_LATE
        if isinstance(message, Answer):
            return message
        read = served.stream if is_stream(scope["headers"]) else served.line
        line = read(message, self._today())
        if isinstance(line, Answer):
            return line
        answer = self._writer.submit(served, line, len(message) + line.more_bytes)
        return BUSY if answer is None else await answer


def in_pieces(send: Send) -> Send:
    """Send large bodies in pieces, each when the client has read of those before: all clients share what is left."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        body: bytes = message.get("body", b"")
        last = max(0, len(body) - 1) // _PIECE * _PIECE
        for start in range(0, last, _PIECE):
            await send({"type": message["type"], "body": body[start : start + _PIECE], "more_body": True})
        await send({**message, "body": body[last:]} if last else message)

    return sending


async def _send_preflight(send: Send) -> None:
    headers = [
        *_ALWAYS,
        (b"access-control-allow-methods", b"POST"),
        (b"access-control-allow-headers", b"content-type"),
        (b"access-control-max-age", b"86400"),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


class _Pages:
    """The answers to everything but reports.

    ``token`` is what a request for a tally must know, or None.
    """

    def __init__(
        self,
        storage: Storage,
        writer: Writer,
        collections: Sequence[Served],
        *,
        token: str | None,
        today: Callable[[], int],
    ) -> None:
        self._storage, self._writer, self._token, self._today = storage, writer, token, today
        self._served = {each.collection.digest: each for each in collections}
        self._shown = ShownPages(storage)
        client = files("anonhist.local").joinpath("client", "client.js").read_bytes()
        self._files = {"client.js": ("text/javascript; charset=utf-8", client), **static_files()}
        self._api = json.dumps(openapi()).encode()
        self._described_on: dict[str, tuple[int, bytes]] = {}

    def application(self) -> Starlette:
        """Return the ASGI application."""
        routes = [
            Route("/c", self._listed),
            *(Route(f"/c/{{digest}}{path}", self._of_collection(give)) for path, give in self._by_path().items()),
            Route("/healthz", self._alive),
            Route("/readyz", self._ready),
            Route("/openapi.json", self._described),
            *(Route(f"/{name}", _file(kind, content)) for name, (kind, content) in self._files.items()),
        ]
        made = Starlette(routes=routes, exception_handlers={404: _not_found, 405: _get_only})
        made.router.redirect_slashes = False
        return made

    def _by_path(self) -> dict[str, _Give]:
        return {
            "": self._to_page,
            "/": self._page,
            "/estimate": self._estimate,
            "/collection.json": self._collection,
            "/tally": self._tally,
        }

    def _of_collection(self, give: _Give) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            served = self._served.get(request.path_params["digest"])
            if served is None:
                return said(404, "There is no such collection here.")
            try:
                return await give(request, served)
            except AnonhistError:
                return said(503, "This cannot be shown now: ask again later.", {"Retry-After": f"{_RETRY_SECONDS}"})

        return respond

    async def _listed(self, _: Request) -> Response:
        found = [{"digest": each, "title": one.collection.survey.title} for each, one in self._served.items()]
        return json_of(json.dumps({"collections": found}).encode())

    async def _to_page(self, request: Request, _: Served) -> Response:
        # Relative, because a proxy may add to the path.
        return RedirectResponse(f"{request.path_params['digest']}/", 308, headers=_SAFE)

    async def _page(self, request: Request, served: Served) -> Response:
        shown = await self._shown.of(served)
        return unless_known(request, shown.html, "text/html; charset=utf-8", shown.etag)

    async def _estimate(self, request: Request, served: Served) -> Response:
        shown = await self._shown.of(served)
        if request.query_params.get("format") == "csv":
            return unless_known(request, shown.csv, "text/csv; charset=utf-8", shown.etag)
        return unless_known(request, shown.json, "application/json", shown.etag)

    async def _collection(self, _: Request, served: Served) -> Response:
        # Written once a day: it may have megabytes of labels.
        today, digest = self._today(), served.collection.digest
        if self._described_on.get(digest, (None,))[0] != today:
            self._described_on[digest] = today, served.description(today)
        return json_of(self._described_on[digest][1])

    async def _tally(self, request: Request, served: Served) -> Response:
        if self._token is None or not _knows(request, self._token):
            return said(401, "This needs the token of the operator.", {"WWW-Authenticate": "Bearer"})
        text = await asyncio.to_thread(_tally_text, self._storage, served)
        return json_of(text.encode())

    async def _alive(self, _: Request) -> Response:
        return json_of(b'{"status":"alive"}')

    async def _ready(self, _: Request) -> Response:
        if not self._writer.is_well:
            return said(503, "The last reports could not be stored.")
        return json_of(b'{"status":"ready"}')

    async def _described(self, _: Request) -> Response:
        return json_of(self._api)


def _file(kind: str, content: bytes) -> Callable[[Request], Awaitable[Response]]:
    etag = f'"{blake2b(content, digest_size=16).hexdigest()}"'

    async def respond(request: Request) -> Response:
        return unless_known(request, content, kind, etag)

    return respond


def said(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a refusal."""
    return json_of(refusal(status, sentence).body, status, headers)


def json_of(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return JSON that nothing on the way keeps."""
    every = {**_SAFE, "Cache-Control": "no-store", **(headers or {})}
    return Response(body, status, every, "application/json")


def unless_known(request: Request, body: bytes, kind: str, etag: str) -> Response:
    """Return content, or nothing if the client has it."""
    headers = {**_SAFE, "ETag": etag}
    if etag in request.headers.get("If-None-Match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=kind)


async def _not_found(_: Request, __: Exception) -> Response:
    return said(404, "There is no such page.")


async def _get_only(_: Request, __: Exception) -> Response:
    return said(405, "Ask for pages by GET.", {"Allow": "GET, HEAD"})


def _knows(request: Request, token: str) -> bool:
    """Return whether a request has the token; the time of the comparison does not depend on how much is right."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return hmac.compare_digest(given.strip(" ").encode(), token.encode()) and scheme.lower() == "bearer"


def _tally_text(storage: Storage, served: Served) -> str:
    with storage.seen() as ours:
        return tally_text(ours.tally(served.number, served.collection.survey.digest, shown=False))
