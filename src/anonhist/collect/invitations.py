"""Invitations: identifiers that are drawn before anybody answers; where a collection has them, only they are accepted.

An invitation has the collection's last day as its day, so it is known for as long as it can be used. The database holds
a hash of each. A report uses one up in the transaction that counts it, as any identifier: a request that is repeated
gets the same answer as a new one.

That an unknown identifier is refused reveals nothing about an answer: who is invited was decided before, and an
identifier is not computed from a value. To learn whether somebody else is invited takes a guess of 112 random bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from anonhist.collect.served import Served
from anonhist.collect.storage import Identifier, Transaction
from anonhist.errors import UsageError
from anonhist.local.collection import Collection, Invited
from anonhist.local.wire import new_identifier

MOST_INVITATIONS = 1 << 20
_AT_ONCE = 500
_MOST_FORGOTTEN = 1_000


def new_invitations(collection: Collection, many: int) -> list[str]:
    """Return so many new invitations.

    Raises
    ------
    UsageError
        If everybody may answer.
    """
    if not isinstance(collection.open_to, Invited):
        raise UsageError(
            "Anybody may answer this collection: only one that is described for invited people has invitations."
        )
    return [new_identifier(collection.last_day) for _ in range(many)]


def add_invitations(ours: Transaction, served: Served, invitations: Sequence[str]) -> None:
    """Accept invitations from now on."""
    hashes = sorted(_hash(Identifier(served.last_day, bytes.fromhex(each[4:]))) for each in invitations)
    query = "INSERT INTO anonhist_invitations VALUES "
    for start in range(0, len(hashes), _AT_ONCE):
        some = hashes[start : start + _AT_ONCE]
        rows = ", ".join(["(?, ?)"] * len(some))
        values = [value for each in some for value in (served.number, each)]
        ours.run(f"{query}{rows}", *values)


def with_invitations(ours: Transaction, served: Served, given: Sequence[Identifier]) -> set[Identifier]:
    """Return which identifiers are invitations, used or not."""
    by_hash = {_hash(each): each for each in given}
    hashes, found = list(by_hash), set[Identifier]()
    for start in range(0, len(hashes), _AT_ONCE):
        some = hashes[start : start + _AT_ONCE]
        query = "SELECT hash FROM anonhist_invitations WHERE collection = ? AND hash IN "
        rows = ours.run(f"{query}({', '.join('?' * len(some))})", served.number, *some).fetchall()
        found.update(by_hash[bytes(each)] for (each,) in rows)
    return found


def forget_invitations(ours: Transaction, served: Served) -> bool:
    """Delete some of a collection that has ended, and return whether more may be left."""
    query = (
        "DELETE FROM anonhist_invitations WHERE collection = ? AND hash IN "
        "(SELECT hash FROM anonhist_invitations WHERE collection = ? LIMIT ?)"
    )
    return int(ours.run(query, served.number, served.number, _MOST_FORGOTTEN).rowcount) == _MOST_FORGOTTEN


def _hash(identifier: Identifier) -> bytes:
    # Of 112 random bits, so that no key is needed against guesses.
    return sha256(identifier.day.to_bytes(2) + identifier.random).digest()
