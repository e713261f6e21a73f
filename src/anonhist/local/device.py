"""The memory of a device: a report is drawn, and written, in one transaction before anybody sees it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import OutputError, UsageError
from anonhist.local.collection import Invited
from anonhist.local.randomizers.rappor import RAPPOR, Memory
from anonhist.local.wire import is_identifier, new_identifier, wire_line

if TYPE_CHECKING:
    from datetime import date

    from anonhist.local.collection import Collection
    from anonhist.local.reports import Reports
    from anonhist.randomness import RandomSource

_TABLES = (
    "CREATE TABLE IF NOT EXISTS lines (collection TEXT, occasion TEXT, line TEXT, PRIMARY KEY (collection, occasion))",
    "CREATE TABLE IF NOT EXISTS memories (collection TEXT PRIMARY KEY, cohort INTEGER, bits BLOB)",
)
# Another process that answers at the same time is done by then.
_SECONDS = 30


def answer(
    collection: Collection,
    value: Any,
    *,
    memory: str | Path,
    occasion: str,
    day: date | None,
    invitation: str | None,
    source: RandomSource,
) -> str:
    """Return the remembered line of an occasion, or draw one and remember it; see :meth:`Collection.answer`."""
    times = collection.answers.times
    if not isinstance(occasion, str) or (times > 1) != (occasion != ""):
        raise UsageError("Name the occasion of the answer if, and only if, there may be several answers.")
    if any("\ud800" <= character <= "\udfff" for character in occasion):
        raise UsageError("The occasion contains half a surrogate pair, which no memory can hold; correct it.")
    # Whether a value is refused says nothing of what is remembered.
    collection.survey.check_answers([value])
    # SQLite keeps nothing of databases named "", ":memory:" or "file:…?mode=memory": an absolute path is none of these.
    path = Path(memory).absolute()
    try:
        # The memory tells that somebody answered: nobody else may read it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        with closing(sqlite3.connect(path, timeout=_SECONDS, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = FULL")
            # From here on, no other process can read or draw, so of two answers the first stands.
            database.execute("BEGIN IMMEDIATE")
            for table in _TABLES:
                database.execute(table)
            line = _remembered(database, collection, occasion)
            if line is None:
                if day is not None and day > collection.last_day:
                    raise UsageError("This collection has ended.")
                identifier = _identifier(collection, day, invitation, source)
                reports = _drawn(database, collection, value, source)
                line = wire_line(collection.survey, reports, identifier)
                database.execute("INSERT INTO lines VALUES (?, ?, ?)", (collection.digest, occasion, line))
            database.execute("COMMIT")
    except (sqlite3.Error, OSError):
        raise OutputError(f"The memory {str(memory)!r} cannot be used, so no answer was given.") from None
    return line


def _remembered(database: sqlite3.Connection, collection: Collection, occasion: str) -> str | None:
    """Return the line of an occasion, or None if there is room for one."""
    given = dict(database.execute("SELECT occasion, line FROM lines WHERE collection = ?", (collection.digest,)))
    if occasion not in given and len(given) >= collection.answers.times:
        raise UsageError("All answers that this collection asks a person for were given.")
    return given.get(occasion)


def _identifier(collection: Collection, day: date | None, invitation: str | None, source: RandomSource) -> str:
    """Return the invitation, whose day is the last one, or a new identifier where anybody may answer."""
    if not isinstance(collection.open_to, Invited):
        if invitation is not None:
            raise UsageError("Anybody may answer this collection: leave `invitation` out.")
        return new_identifier(day, source=source)
    if invitation is None:
        raise UsageError("This collection is for invited people: give the `invitation`.")
    if not is_identifier(invitation) or invitation[:4] != new_identifier(collection.last_day)[:4]:
        raise UsageError("The `invitation` is not one of this collection: give all of its 32 digits.")
    return invitation


def _drawn(database: sqlite3.Connection, collection: Collection, value: Any, source: RandomSource) -> Reports:
    survey = collection.survey
    if isinstance(survey, RAPPOR) and collection.answers.times > 1:
        return _again(database, collection.digest, survey, value, source)
    return survey.randomize([value], source=source)


def _again(database: sqlite3.Connection, digest: str, survey: RAPPOR, value: Any, source: RandomSource) -> Reports:
    """Return a report from the remembered bits, which are drawn at the first answer."""
    found = database.execute("SELECT cohort, bits FROM memories WHERE collection = ?", (digest,)).fetchone()
    if found is None:
        state = survey.remember([value], source=source)
        row = digest, int(state.cohorts[0]), state.bits.tobytes()
        database.execute("INSERT INTO memories VALUES (?, ?, ?)", row)
    else:
        cohort, bits = found
        state = Memory(survey.digest, np.array([cohort]), np.frombuffer(bits, dtype=np.uint8).reshape(1, -1))
    return survey.randomize_again(state, source=source)
