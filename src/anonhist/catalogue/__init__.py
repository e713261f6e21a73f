"""Catalogues of named things, as plain data: the command line lists them without loading any."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal


@dataclass(frozen=True)
class Option:
    """An option, as the command line presents it.

    ``meaning`` is said if it is missing. ``title`` is how tables show its value, such as ``q = {}``; empty if they do
    not.
    """

    metavar: str
    help: str
    kind: Literal["text", "whole", "number"] = "text"
    meaning: str = ""
    title: str = ""


def is_there(home: str) -> bool:
    """Tell whether the room of a ``.module:name`` is installed: features may be left out.

    Examples
    --------
    >>> is_there(".cli.show:show"), is_there(".nowhere.page:VIEW")
    (True, False)
    """
    return find_spec(f"anonhist.{home.split('.')[1]}") is not None


def load(home: str) -> Any:
    """Return the object at ``module:name``; modules of this package begin with a dot."""
    module, _, name = home.partition(":")
    return getattr(import_module(module, "anonhist"), name)
