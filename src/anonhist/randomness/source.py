"""Where random words come from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anonhist.randomness.arguments import checked_size


class RandomSource(Protocol):
    """A source of independent uniform 64-bit words: all that a sampler needs.

    An implementation used for privacy must be cryptographically secure and must never return the same word twice: not
    to two concurrent threads, and not in two processes after a fork.
    """

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` ≥ 0 fresh words, an array of uint64, shape (count,), uniform on 0..2^64 − 1."""
        ...  # pragma: no cover - a protocol has no body


@dataclass(frozen=True)
class SystemSource:
    """The entropy of the operating system: the source of privacy noise.

    Guarantees
    ----------
    Every word comes from ``os.urandom`` in the call that requests it. Nothing is kept between calls, so threads and
    forked processes share nothing, and a snapshot or memory dump contains no unused words. A call for one word takes
    about a microsecond, so a buffer would gain little.

    Examples
    --------
    >>> SystemSource().words(3).shape
    (3,)
    """

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` fresh words, read-only, shape (count,); byte order does not matter to a uniform word.

        Raises
        ------
        UsageError
            If ``count`` is not a whole number of at least 0.
        """
        return np.frombuffer(os.urandom(8 * checked_size(count, name="count")), dtype=np.uint64)
