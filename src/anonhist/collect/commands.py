"""``anonhist serve``: collect randomized reports, and show estimates as they grow."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonhist.errors import DataError, UsageError
from anonhist.terminal.decorators import SectionedCommand, WholeNumber

if TYPE_CHECKING:
    from socket import socket

    from anonhist.local.collection import Collection

_LOOPBACK = "127.0.0.1"
_TOKEN = "ANONHIST_TOKEN"  # noqa: S105  # the name of a variable
_SECTIONS = {
    "Server": ("database", "host", "port", "url"),
    "Operator": ("token_file", "keep_reports", "most_per_hour", "metrics_port"),
}
_EXAMPLES = """
anonhist serve collection.json --database sqlite:///collected.db --port 8000
anonhist serve collections/ --database postgresql://collector@db/answers --url https://answers.example.org
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("source", metavar="COLLECTION|FOLDER")
@click.option(
    "--database",
    required=True,
    metavar="ADDRESS",
    help="Where reports are counted: sqlite:///FILE, which is made if it is missing, or postgresql://HOST/DATABASE.",
)
@click.option(
    "--host",
    default=_LOOPBACK,
    show_default=True,
    help="Address to listen at. Let a proxy with TLS face the network.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0 for a free one.")
@click.option(
    "--url",
    metavar="ADDRESS",
    help="Where browsers reach the server, for the printed snippet.  [default: host and port]",
)
@click.option(
    "--token-file",
    metavar="FILE",
    help=f"File with the token that a request for a tally must know.  [default: the variable {_TOKEN}]",
)
@click.option(
    "--keep-reports",
    is_flag=True,
    help="Store the randomized reports, too, in random order and without ids. By default, only their tally is kept.",
)
@click.option(
    "--most-per-hour",
    type=WholeNumber(),
    metavar="N",
    help="Requests that an address may send within an hour; a keyed hash of it is in memory for as long. By default, "
    "any number.",
)
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Port on this machine alone that tells numbers for Prometheus; those that reports move, at looks only.",
)
def serve(
    *,
    source: str,
    database: str,
    host: str,
    port: int,
    url: str | None,
    token_file: str | None,
    keep_reports: bool,
    most_per_hour: int | None,
    metrics_port: int | None,
) -> None:
    """Collect randomized reports from browsers.

    COLLECTION is a file from 'anonhist collect new', FOLDER a folder of such files. The server counts each request
    once, however often it is sent, and answers when that is on the disk. It shows estimates at /c/DIGEST/ as they grow.
    Of reports, it keeps only the tally, which 'anonhist local tally survey.json ADDRESS' writes to a file.
    """
    from anonhist.collect.server import Settings, check_installed, listening, run

    check_installed()
    from anonhist.collect.databases import storage_at
    from anonhist.collect.served import Served, check_servable

    found = _collections(source)
    for each in found:
        check_servable(each)
    token, storage = _token(token_file), storage_at(database)
    with ExitStack() as open_:
        listens = open_.enter_context(listening(host, port))
        metrics = None if metrics_port is None else open_.enter_context(listening(_LOOPBACK, metrics_port))
        storage.make()
        session = storage.session()
        try:
            with session.writing() as ours:
                served = [Served(each, ours.number_of(each)) for each in found]
        finally:
            session.close()
        shown = f"[{host}]" if ":" in host else host
        address = (url or f"http://{shown}:{listens.getsockname()[1]}").rstrip("/")
        settings = Settings(token, most_per_hour, keep_reports, metrics)
        run(storage, served, listens, settings, lambda: _say(found, address, metrics))


def _collections(source: str) -> list[Collection]:
    """Return the collections of a file or folder, each once."""
    from anonhist.formats.files import read
    from anonhist.local.collection import Collection

    path = Path(source)
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    found = [value for value in map(read, files) if isinstance(value, Collection)]
    if not found or (len(found) < len(files) and not path.is_dir()):
        raise DataError(f"There is no collection in {source!r}: 'anonhist collect new' writes one.")
    if len({each.digest for each in found}) < len(found):
        raise UsageError(f"Two files of the folder {source!r} hold the same collection; remove one.")
    return found


def _token(file: str | None) -> str | None:
    if file is None:
        token = os.environ.get(_TOKEN, "")
    else:
        from anonhist.errors import unreadable

        try:
            token = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise unreadable(file, error) from None
    if (token or file is not None) and len(token) < 16:
        raise UsageError(
            "The token of the operator needs at least 16 characters, such as those of 'openssl rand -hex 16'."
        )
    return token or None


def _say(collections: list[Collection], address: str, metrics: socket | None) -> None:
    """Print where everything is, and what pages need."""
    from anonhist.local.collection import Invited

    if metrics is not None:
        click.echo(f"Metrics: http://{_LOOPBACK}:{metrics.getsockname()[1]}/metrics")
    for each in collections:
        place = f"{address}/c/{each.digest}"
        click.echo(f"{each.survey.title or 'A collection'}: {place}/")
        click.echo(
            f'<script type="module">\n'
            f'  import {{ Collection }} from "{address}/client.js";\n'
            f'  const collection = await Collection.load("{place}/collection.json", {{ digest: "{each.digest}" }});\n'
            f"  await collection.answer(value); // randomized here, and remembered\n"
            f'  await collection.send("{place}/reports");\n'
            f"</script>"
        )
        if isinstance(each.open_to, Invited):
            click.echo("Only invitations of 'anonhist collect invite' count.")
    click.echo("Stop with Ctrl-C.")
    sys.stdout.flush()
