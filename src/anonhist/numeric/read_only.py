"""Read-only arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

Array = TypeVar("Array", bound=np.ndarray[Any, Any])


def read_only(array: Array) -> Array:
    """Make an array that a cache or several threads share read-only, and return it.

    Examples
    --------
    >>> read_only(np.zeros(2)).flags.writeable
    False
    """
    array.setflags(write=False)
    return array
