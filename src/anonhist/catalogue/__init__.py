"""Catalogues of named things, as plain data: the command line lists them without loading any."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal


@dataclass(frozen=True)
class Option:
    """An option, as the command line presents it.

    Attributes
    ----------
    metavar
        The placeholder for a value in the help: ``N``.
    help
        A sentence that describes it.
    kind
        Whether it is a whole number such as 1e6, a number, or text that its owner parses.
    meaning
        A few words for the message if it is missing.
    title
        How tables show its value, such as ``q = {}``; empty if they do not.
    """

    metavar: str
    help: str
    kind: Literal["text", "whole", "number"] = "text"
    meaning: str = ""
    title: str = ""


def load(home: str) -> Any:
    """Return the object at ``module:name``; modules of this package begin with a dot.

    Examples
    --------
    >>> load(".catalogue:Option").__name__
    'Option'
    """
    module, _, name = home.partition(":")
    return getattr(import_module(module, "anonhist"), name)
