"""Changes of a sketch: one thread at a time; which sketches can be merged; clipping and unfolding."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from anonhist.errors import UsageError
from anonhist.randomness import RandomSource, geometric

if TYPE_CHECKING:
    from collections.abc import Callable

    Method = TypeVar("Method", bound=Callable[..., Any])
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.sketches.sketch import Sketch


def in_turn(method: Method) -> Method:
    """Make a method wait until no other thread is in such a method of the same object, which has a lock ``turn``."""

    @wraps(method)
    def wait(owner: Any, *args: Any, **kwargs: Any) -> Any:
        with owner.turn:
            return method(owner, *args, **kwargs)

    return cast("Method", wait)


def check_mergeable(one: Sketch, other: Sketch) -> None:
    """Refuse sketches whose sum would not be a sketch with independent noise; see :meth:`Sketch.merge`."""
    if one.addresses != other.addresses:
        raise UsageError(
            "Only sketches with the same domain, or with the same key and number of buckets, can be merged."
        )
    if (one.unit, one.relation) != (other.unit, other.relation):
        raise UsageError("Only sketches that protect the same unit can be merged.")
    if one.users_in is not other.users_in:
        raise UsageError("Only sketches with the same `users_in` can be merged.")
    if one.clipped is not None or other.clipped is not None:
        raise UsageError("A clipped sketch cannot be merged before it is unfolded.")
    if {part.identity for part in one.noise} & {part.identity for part in other.noise}:
        raise UsageError("These sketches share noise: one already contains the other or a copy of it.")


def check_unclipped(sketch: Sketch, what: str) -> None:
    """Refuse a sketch that is clipped."""
    if sketch.clipped is not None:
        raise UsageError(f"A clipped sketch cannot be {what} before it is unfolded.")


def check_foldable(sketch: Sketch) -> None:
    """Refuse a sketch that cannot be clipped."""
    if len(sketch.noise) > 1 or sketch.noise[0].shape < 1:
        raise UsageError("Only a sketch that was not merged and has the whole noise of one sketch can be clipped.")


def fold(counters: NDArray[np.int64], largest: int) -> NDArray[np.int64]:
    """Return the counters moved into [0, largest].

    Examples
    --------
    >>> fold(np.array([-3, 2, 9]), 5).tolist()
    [0, 2, 5]
    """
    return np.clip(counters, 0, largest)


def unfold(counters: NDArray[np.int64], largest: int, gamma: Fraction, *, source: RandomSource) -> NDArray[np.int64]:
    """Return counters with the distribution that they had before they were clipped to [0, largest].

    From a counter at 0 a geometric number of rate γ is subtracted, to one at the largest value it is added: beyond the
    range, discrete Laplace noise has no memory, as long as true counts are in the range.

    Parameters
    ----------
    counters
        Counters in [0, largest], shape (d,), of one part of discrete Laplace noise.
    largest
        n ≥ 1, no true count is larger.
    gamma
        The rate γ of the noise.
    source
        The source of random words.

    References
    ----------
    .. [1] H. Wu, R. Pagh, "Profile reconstruction from private sketches", 2024, Lemma 4.1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.randomness import SystemSource
    >>> wide = unfold(np.array([0, 2, 5]), 5, Fraction(1), source=SystemSource())
    >>> bool(wide[0] <= 0), int(wide[1]), bool(wide[2] >= 5)
    (True, 2, True)
    """
    wide = counters.copy()
    for end, sign in ((0, -1), (largest, 1)):
        places = np.flatnonzero(counters == end)
        wide[places] += sign * geometric(gamma, places.size, source=source)
    return wide
