"""``anonhist collect invite``: write one-time invitations to a collection, and let its server accept them."""

from __future__ import annotations

import os

import click

from anonhist.errors import UsageError
from anonhist.terminal.decorators import SectionedCommand, WholeNumber
from anonhist.terminal.destinations import STDOUT
from anonhist.terminal.options import quiet_option

_AT_ONCE = 10_000
_EXAMPLES = """
anonhist collect invite 500 collection.json --database sqlite:///collected.db -o invitations.txt
anonhist collect invite 500 collection.json --database sqlite:///c.db --page https://example.org/ask -o links.txt
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.argument("many", metavar="N", type=WholeNumber())
@click.argument("source", metavar="COLLECTION")
@click.option(
    "--database",
    required=True,
    metavar="ADDRESS",
    help="Where 'anonhist serve' counts reports; only a hash of each invitation is stored there.",
)
@click.option(
    "--page", metavar="ADDRESS", help="The page that asks: write links to it, from which the client takes invitations."
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="New file with a line for each invitation, for you alone. No other copy of them is kept.",
)
@quiet_option
def invite(*, many: int, source: str, database: str, page: str | None, output: str, quiet: bool) -> None:
    """Write one-time invitations to a collection.

    COLLECTION is a file of 'anonhist collect new --invited'. Each of N invitations counts for one report until the last
    day; nothing else is accepted. They keep forged reports out, but tell you whose report it is, so what protects
    people is epsilon. Send one to each person. A running server accepts them at once.
    """
    from anonhist.collect.databases import storage_at
    from anonhist.collect.invitations import MOST_INVITATIONS, add_invitations, new_invitations
    from anonhist.collect.served import Served, current_day
    from anonhist.formats.atomic import check_free, open_whole
    from anonhist.local.collection_files import COLLECTION_FILES

    if many > MOST_INVITATIONS:
        raise UsageError(f"At most {MOST_INVITATIONS:,} invitations are written at once.")
    if output == STDOUT:
        raise UsageError("Invitations are written to a file, which others cannot read: name one.")
    if page is not None and "#" in page:
        raise UsageError("--page must have no part after #, where the invitation will stand.")
    collection, storage = COLLECTION_FILES.read(source), storage_at(database)
    if os.path.lexists(output):
        raise UsageError(f"{output!r} exists already, and may hold invitations: name a new file.")
    check_free(output, overwrite=False)
    invitations = new_invitations(collection, many)
    if Served(collection, 0).has_ended(current_day()):
        raise UsageError("This collection has ended.")
    storage.make()
    session = storage.session()

    def accept() -> None:
        # In pieces, between which a server counts. If the file gets no name after that, nobody knows what was stored.
        for start in range(0, many, _AT_ONCE):
            with session.writing() as ours:
                served = Served(collection, ours.number_of(collection))
                add_invitations(ours, served, invitations[start : start + _AT_ONCE])

    try:
        with open_whole(output, overwrite=False, before_naming=accept, permissions=0o600) as file:
            begin = "" if page is None else f"{page}#invitation="
            file.write("".join(f"{begin}{each}\n" for each in invitations).encode())
    finally:
        session.close()
    if not quiet:
        click.echo(f"Wrote {many:,} invitations to {output}. Whoever reads this file can answer for others.")
