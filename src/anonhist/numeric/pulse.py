"""Progress signals from long computations; they do not change any result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

_Item = TypeVar("_Item")

# After this many steps, half of the share is shown as done, because the total number of steps is not known.
_HALF = 500

_WATCHER: ContextVar[Callable[[], None] | None] = ContextVar("anonhist_pulse", default=None)


def pulse() -> None:
    """Signal that a step is done; each takes a fraction of a second at most."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher()


@contextmanager
def tell_share(progress: Callable[[float], None] | None, first: float, last: float) -> Iterator[None]:
    """Report the share done while the block runs: more after every step, and ``last`` at the end.

    After s steps the share is ``first + (last − first)·s/(s + 500)``, because their total is not known. Inside another
    such block, only the inner ``progress`` is called, or the outer one if the inner is None.
    """
    if progress is None:
        yield
        return
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1
        progress(first + (last - first) * steps / (steps + _HALF))

    token = _WATCHER.set(step)
    try:
        yield
    finally:
        _WATCHER.reset(token)
    progress(last)


def pulsing(items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield the same items, with a progress signal after each."""
    for item in items:
        yield item
        pulse()
