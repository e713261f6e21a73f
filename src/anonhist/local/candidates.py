"""Candidates: values of interest, named before anybody looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def distinct_candidates(candidates: Iterable[str]) -> tuple[str, ...]:
    """Return the candidates, or refuse a list of none or with one twice.

    Raises
    ------
    UsageError
        If there is none, one is no text, or one is named twice.
    """
    names = tuple(candidates)
    if isinstance(candidates, str) or not all(isinstance(name, str) for name in names):
        raise UsageError("Candidates must be a list of texts.")
    if not names:
        raise UsageError("The list of candidates is empty; name one at least.")
    if len(set(names)) < len(names):
        raise UsageError("A candidate is named twice; name each once.")
    return tuple(map(str, names))
