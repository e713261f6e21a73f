"""A collection as a server takes it: which requests it accepts, and what it answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, NamedTuple

from anonhist.collect.lines import Line
from anonhist.collect.storage import Identifier
from anonhist.errors import DataError, UsageError
from anonhist.local.collection import Collection, Invited
from anonhist.local.collection_files import collection_document
from anonhist.local.wire import FIRST_DAY, digits, parsed_line
from anonhist.local.wire_stream import StreamRows, parsed_stream

MOST_BYTES = 1 << 20
MOST_REPORTS = 1_000


def current_day() -> int:
    """Return the day in UTC, counted from 1970-01-01."""
    return (datetime.now(UTC).date() - FIRST_DAY).days


class Answer(NamedTuple):
    """A status and a body of JSON."""

    status: int
    body: bytes


def refusal(status: int, sentence: str) -> Answer:
    """Return the answer that says what is wrong; the sentence contains nothing of the request."""
    return Answer(status, json.dumps({"error": sentence}).encode())


ENDED = refusal(410, "This collection has ended: drop the report.")
_OTHER_DAY = refusal(
    410,
    "The day of the id is too old or in the future: drop the report, and load the description from this server, which "
    "says the day.",
)
_NO_LINE = refusal(422, "This is not a line of reports of this collection as a client writes it.")
NO_INVITATION = refusal(403, "This collection is for invited people, and the id is no invitation to it.")
_ONE_EACH = refusal(422, "An invitation is for one report.")
_NO_STREAM = refusal(
    422,
    "This is not an Arrow stream of reports of this collection: uncompressed, with its columns as whole numbers or "
    "fixed-size binary, and the id in the metadata of its schema.",
)
_TOO_MANY = refusal(422, f"A request holds at most {MOST_REPORTS:,} reports.")
_BEFORE_PARTS = (b",", b"[", b"{")


@dataclass(frozen=True)
class Served:
    """A collection, and its number in the database."""

    collection: Collection
    number: int

    @cached_property
    def last_day(self) -> int:
        """The last day on which reports are taken."""
        return (self.collection.last_day - FIRST_DAY).days

    @cached_property
    def _digits(self) -> dict[str, int]:
        """How many digits the values of each column have."""
        return {each.name: digits(each) for each in self.collection.survey.columns}

    @property
    def is_for_invited(self) -> bool:
        """Whether an identifier must be an invitation."""
        return isinstance(self.collection.open_to, Invited)

    def has_ended(self, today: int) -> bool:
        """Return whether no more reports are taken."""
        return today > self.last_day

    def oldest(self, today: int) -> int:
        """Return the earliest day whose identifiers are known; all invitations have the last one."""
        return today - self.collection.keep_ids

    def line(self, body: bytes | bytearray, today: int) -> Line | Answer:
        """Return the values in the body of a request, or why it is refused."""
        if self.has_ended(today):
            return ENDED
        most = 2 * MOST_REPORTS * len(self._digits)
        # Lists in lists take hundreds of milliseconds, and twenty times the memory of the body: so what has far more
        # parts than a line has is not parsed.
        if len(body) > most and sum(map(body.count, _BEFORE_PARTS)) > most:
            return _TOO_MANY
        try:
            identifier, texts = parsed_line(self.collection.survey, body.decode())
        except (DataError, UnicodeDecodeError):
            return _NO_LINE
        # Nor is anything long held while the line waits: an empty text is refused as any bad one.
        held = {name: _formed(texts[name], many) for name, many in self._digits.items()}
        return self._accepted(identifier, held, len(next(iter(held.values()))), today)

    def stream(self, body: bytes | bytearray, today: int) -> Line | Answer:
        """Return the values in the body of a gateway's request, or why it is refused."""
        if self.has_ended(today):
            return ENDED
        try:
            identifier, rows = parsed_stream(self.collection.survey, bytes(body))
        except DataError:
            return _NO_STREAM
        return self._accepted(identifier, rows, len(rows.present), today)

    def _accepted(
        self, identifier: str, values: dict[str, list[str]] | StreamRows, rows: int, today: int
    ) -> Line | Answer:
        """Return a request, or why it is refused for its identifier or the number of its rows."""
        day = int(identifier[:4], 16)
        if self.is_for_invited:
            if day != self.last_day:
                return NO_INVITATION
            if rows > 1:
                return _ONE_EACH
        elif not self.oldest(today) <= day <= today + 1:
            return _OTHER_DAY
        if rows > MOST_REPORTS:
            return _TOO_MANY
        return Line(Identifier(day, bytes.fromhex(identifier[4:])), values, rows)

    def description(self, today: int) -> bytes:
        """Return the file of the collection with the day, as devices load it."""
        document = collection_document(self.collection) | {"today": _day_text(today)}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _formed(values: list[Any], many: int) -> list[str]:
    """Return texts as they stand if they may be so many digits, and others empty."""
    return [each if isinstance(each, str) and len(each) == many and each.isascii() else "" for each in values]


def _day_text(day: int) -> str:
    return date.fromordinal(FIRST_DAY.toordinal() + day).isoformat()


def check_servable(collection: Collection) -> None:
    """Refuse a collection that the server cannot take.

    Raises
    ------
    UsageError
        If a report is longer than a request may be.
    """
    length = sum(digits(column) + len(column.name) + 8 for column in collection.survey.columns) + 60
    if length > MOST_BYTES:
        raise UsageError(f"A report of this survey needs {length:,} bytes, and a request may have {MOST_BYTES:,}.")


def counted_answer(rows: int, refused: dict[int, str]) -> Answer:
    """Return the answer to a request: how many reports count, and why the others, by their row, do not."""
    if not refused:
        return Answer(200, b'{"accepted":%d}' % rows)
    body = {"accepted": rows - len(refused), "refused": {str(row): what for row, what in refused.items()}}
    return Answer(422 if len(refused) == rows else 200, json.dumps(body).encode())
