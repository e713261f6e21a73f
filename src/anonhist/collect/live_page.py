"""A stub until the page is there."""

from __future__ import annotations

from dataclasses import dataclass

from anonhist.local.collection import Collection
from anonhist.local.reports import Tally


@dataclass(frozen=True)
class ShownState:
    """What is shown."""

    reports: int
    tally: Tally | None
    closed: bool


@dataclass(frozen=True)
class Rendered:
    """The page in its forms."""

    html: bytes
    json: bytes
    csv: bytes
    etag: str


def rendered(collection: Collection, state: ShownState) -> Rendered:
    """Return the page."""
    del collection
    text = f"{state.reports}".encode()
    return Rendered(b"<!doctype html><title>page</title>" + text, b'{"reports":%s}' % text, text, f'"{state.reports}"')
