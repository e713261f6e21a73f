"""A run: what a scheduler may start several times, and is charged once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from anonhist.errors import UsageError
from anonhist.frozen import Checked, converted, frozen

_LONGEST_ID, _LONGEST_SETTING = 1000, 200


def parse_run_id(given: str) -> str:
    """Return the id of a run, or refuse what is not one line.

    Examples
    --------
    >>> parse_run_id("daily 2026-11-25")
    'daily 2026-11-25'
    """
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST_ID or not given.isprintable():
        raise UsageError(f"`run_id` must be one line of 1 to {_LONGEST_ID:,} characters, not {given!r:.80}.")
    return given


def as_setting(value: object) -> str:
    r"""Return a public setting as a short line of text, the same for equal values: of long ones a digest.

    Examples
    --------
    >>> as_setting(5), as_setting("\t"), as_setting(["Mon", "Tue"])
    ('5', "'\\t'", "['Mon', 'Tue']")
    >>> len(as_setting("x" * 10_000))
    71
    """
    text = value if isinstance(value, str) else repr(value)
    if not text.isprintable():
        text = ascii(text)
    return text if len(text) <= _LONGEST_SETTING else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@frozen
class Run:
    """A run, and what was asked of it beside what its charge says.

    Attributes
    ----------
    id
        Its name, which the caller gives: the same for each try.
    settings
        All else that decides what is released, such as days and columns, by name: public texts.
    output
        Where its release goes, as it was typed; empty if that is not known.

    Examples
    --------
    >>> run = Run("daily 2026-11-25", {"days": "2026-11-25"}, "day.json")
    >>> Run.read(run.details()) == run
    True
    """

    id: Checked[str] = converted(parse_run_id)
    settings: Mapping[str, str] = field(default_factory=dict)
    output: str = ""

    def __post_init__(self) -> None:
        texts = (*self.settings, *self.settings.values(), self.output)
        if not all(isinstance(each, str) and each.isprintable() for each in texts):
            raise UsageError("The settings of a run must be texts of one line.")

    def details(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"id": self.id, "settings": dict(self.settings), "output": self.output}

    @classmethod
    def read(cls, details: Mapping[str, Any]) -> Run:
        """Return what these values say."""
        return cls(details["id"], dict(details["settings"]), details["output"])
