"""Rows of tables of numbers with intervals, as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anonhist.report.wording import interval

if TYPE_CHECKING:
    from collections.abc import Iterable

LEVELS = (1, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000, 1_000_000)


def rows(listed: Iterable[tuple[str, str, tuple[float, float]]], *, places: int = 0, unit: str = "") -> str:
    """Write rows of a name, a number and the ends of its interval."""
    return text_rows((name, value, interval(*ends, places=places) + unit) for name, value, ends in listed)


def text_rows(listed: Iterable[tuple[str, str, str]]) -> str:
    """Write rows of a name, a number and its interval, all plain text."""
    # A narrow window may break an interval before its upper end, but no number.
    return "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td><td>{_breakable(ends)}</td></tr>'
        for name, value, ends in listed
    )


def _breakable(ends: str) -> str:
    low, to, high = escape(ends).partition(" to ")
    return f"{low} <span>to {high}</span>" if to else low
