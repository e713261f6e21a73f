"""What there is by name, as plain data: the command line lists it without loading any of it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal


@dataclass(frozen=True)
class Option:
    """Something that is chosen by name, as the command line asks for it.

    Attributes
    ----------
    metavar
        What stands for a value in the help: ``N``.
    help
        What it is, a sentence.
    kind
        Whether it is a whole number such as 1e6, a number, or text that its owner reads.
    meaning
        What it is in a few words, for whoever left it out.
    title
        How a table says what it was, such as ``q = {}``; empty if it does not.
    """

    metavar: str
    help: str
    kind: Literal["text", "whole", "number"] = "text"
    meaning: str = ""
    title: str = ""


def load(home: str) -> Any:
    """Return what lives at ``module:name``; modules of this package begin with a dot.

    Examples
    --------
    >>> load(".catalogue:Option").__name__
    'Option'
    """
    module, _, name = home.partition(":")
    return getattr(import_module(module, "anonhist"), name)
