"""A check that a progress bar moves: it reads no clock, so the result is the same on every machine."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def assert_moves(shares: Sequence[float], *, most: float) -> None:
    """Check the shares that a progress callback got: they rise from 0 to 1, by no more than ``most`` at once.

    Examples
    --------
    >>> assert_moves([0.3, 0.3, 0.8, 1.0], most=0.6)
    >>> assert_moves([0.3, 1.0], most=0.6)
    Traceback (most recent call last):
    ...
    AssertionError: the bar goes from 0.3 to 1.0 at once
    """
    for before, after in pairwise([0.0, *shares]):
        if not before <= after <= 1 or after - before > most:
            message = f"the bar goes from {before} to {after} at once"
            raise AssertionError(message)
    if not shares or shares[-1] != 1:
        raise AssertionError("the bar does not come to its end")
