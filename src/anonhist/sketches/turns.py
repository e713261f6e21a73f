"""Threads that change one object: one after the other, each change whole."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    Method = TypeVar("Method", bound=Callable[..., Any])


def in_turn(method: Method) -> Method:
    """Make a method wait until no other thread is in such a method of the same object, which has a lock ``turn``."""

    @wraps(method)
    def wait(owner: Any, *args: Any, **kwargs: Any) -> Any:
        with owner.turn:
            return method(owner, *args, **kwargs)

    return cast("Method", wait)
