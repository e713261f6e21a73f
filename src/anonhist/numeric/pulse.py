"""Signs of life from long computations, for whoever watches: they change no result."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_Item = TypeVar("_Item")

# Half of the share that is left is shown as done after so many steps: nobody knows how many there will be.
_HALF = 500

_WATCHER: ContextVar[Callable[[], None] | None] = ContextVar("anonhist_pulse", default=None)


def pulse() -> None:
    """Say that a step is done, to whoever watches this computation: each takes a fraction of a second at most."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher()


@contextmanager
def tell_share(progress: Callable[[float], None] | None, first: float, last: float) -> Iterator[None]:
    """Tell the share done while the block runs: after every step some more, at the end ``last``.

    After s steps it is ``first + (last − first)·s/(s + 500)``, as nobody knows how many there will be. Inside another
    such block it tells its own watcher alone, or the outer one where it has none.

    Parameters
    ----------
    progress
        Who is told, or None.
    first, last
        The share done before the block and after it.

    Examples
    --------
    >>> told = []
    >>> with tell_share(told.append, 0.0, 1.0):
    ...     pulse()
    >>> [round(share, 3) for share in told]
    [0.002, 1.0]
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
    """Yield the same, with a sign of life after each.

    Examples
    --------
    >>> list(pulsing("ab"))
    ['a', 'b']
    """
    for item in items:
        yield item
        pulse()
