"""What can go wrong in a database, whichever it is."""

from __future__ import annotations

from enum import Enum, auto


class Failure(Enum):
    """Why a statement failed; those who asked say it in their own words."""

    LOCKED = auto()
    """Another program holds it."""
    NOT_ALLOWED = auto()
    """This login, or this user, may not do that."""
    READ_ONLY = auto()
    """It cannot be written to."""
    NO_ROOM = auto()
    """The disk is full."""
    BROKEN_DISK = auto()
    """The disk does not work."""
    NOT_OPENED = auto()
    """The file cannot be opened."""
    NOT_THERE = auto()
    """There is no such table or schema."""
    DISCONNECTED = auto()
    """The connection broke: whether the transaction was stored is unknown."""
    DAMAGED = auto()
    """The file is damaged, or is no database."""
    OTHER = auto()
    """Anything else."""
