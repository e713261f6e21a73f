"""Forks: a child must have no copies of locks and connections that threads of its parent are using."""

from __future__ import annotations

import os
from threading import RLock
from typing import Protocol
from weakref import WeakSet


class Forked(Protocol):
    """Something with a lock and a connection."""

    def before_fork(self) -> None:
        """Wait until no other thread uses it, keep them from it, and close what is open."""
        ...

    def after_fork(self, *, is_child: bool) -> None:
        """Let it be used again, in a child with a new lock."""
        ...


class _Forks:
    """Everything that must be told of forks, and what was told of the fork that is under way."""

    def __init__(self) -> None:
        self.turn = RLock()
        self.known: WeakSet[Forked] = WeakSet()
        self.told: list[Forked] = []

    def before(self) -> None:
        self.turn.acquire()
        for each in tuple(self.known):
            each.before_fork()
            self.told.append(each)

    def after(self, *, is_child: bool) -> None:
        while self.told:
            self.told.pop().after_fork(is_child=is_child)
        if is_child:
            self.turn = RLock()
        else:
            self.turn.release()


_forks = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_forks.before,
        after_in_parent=lambda: _forks.after(is_child=False),
        after_in_child=lambda: _forks.after(is_child=True),
    )


def tell_of_forks(forked: Forked) -> None:
    """Have something told of every fork from now on, as long as it is there."""
    with _forks.turn:  # none is under way
        _forks.known.add(forked)
