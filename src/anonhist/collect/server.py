"""The server's process: its socket, its parts, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from anonhist.errors import MissingExtraError, OutputError

if TYPE_CHECKING:
    from anonhist.collect.served import Served
    from anonhist.collect.storage import Storage

_BACKLOG = 2_048
_KEEP_ALIVE_SECONDS, _LAST_SECONDS = 15, 15


@dataclass(frozen=True)
class Settings:
    """How a server is run.

    Attributes
    ----------
    token
        What a request for a tally must know; None refuses all of them.
    most_per_hour
        How many requests an address may send within an hour; None for any number.
    keep_reports
        Whether reports are stored, too.
    metrics
        The socket at which numbers are told; None for none.
    """

    token: str | None = None
    most_per_hour: int | None = None
    keep_reports: bool = False
    metrics: socket.socket | None = None


def check_installed() -> None:
    """Refuse to go on without the packages of the extra ``service``."""
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise MissingExtraError(
            "The server needs Starlette and Uvicorn; install them with: pip install 'anonhist[service]'."
        )


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with contextlib.ExitStack() as unless_listening:
            # The event loop sends without delay only where the protocol is named; or each answer takes 40 ms longer.
            made = unless_listening.enter_context(socket.socket(family, kind, socket.IPPROTO_TCP))
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(place)
            made.listen(_BACKLOG)
            unless_listening.pop_all()
    except OSError as error:
        raise OutputError(f"Nothing can listen at {host}:{port} ({error.strerror}): choose another port.") from None
    return made


def run(
    storage: Storage,
    collections: Sequence[Served],
    listens: socket.socket,
    settings: Settings,
    started: Callable[[], None],
) -> None:
    """Serve until SIGTERM or Ctrl-C; then finish the requests that have begun."""
    asyncio.run(_serve(storage, collections, listens, settings, started))


async def _serve(
    storage: Storage,
    collections: Sequence[Served],
    listens: socket.socket,
    settings: Settings,
    started: Callable[[], None],
) -> None:
    import uvicorn

    from anonhist.collect.application import ROUTES, Application
    from anonhist.collect.connections import MOST_HEAD_BYTES, bounded_protocol, most_connections, sweep_for_ever
    from anonhist.collect.shown import end_all
    from anonhist.collect.watching import Watch, scraped
    from anonhist.collect.writer import Writer

    class Server(uvicorn.Server):
        """One whose end is a normal one, whatever signal asked for it."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            loop = asyncio.get_running_loop()
            numbers = (signal.SIGINT, signal.SIGTERM)
            # The loop takes over the descriptor by which other commands end at once.
            with contextlib.suppress(NotImplementedError):
                for number in numbers:
                    loop.add_signal_handler(number, self.handle_exit, number, None)
            yield

    watch = Watch(storage, collections, ROUTES)
    writer = Writer(storage, collections, keep_reports=settings.keep_reports, notice=watch.notice)
    application = Application(
        storage,
        writer,
        collections,
        token=settings.token,
        most_per_hour=settings.most_per_hour,
        watch=None if settings.metrics is None else watch,
    )
    config = uvicorn.Config(
        application,
        http=bounded_protocol(),
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=most_connections(),
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )
    server = Server(config)
    writer.start()
    sweep = asyncio.create_task(sweep_for_ever(server.server_state.connections))
    telling = contextlib.nullcontext() if settings.metrics is None else scraped(watch, settings.metrics)
    try:
        async with telling:
            started()
            await server.serve(sockets=[listens])
    finally:
        sweep.cancel()
        end_all()
        await asyncio.to_thread(writer.stop)
