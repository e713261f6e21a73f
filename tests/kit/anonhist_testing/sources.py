"""Repeatable sources of words, for tests and simulations, never for privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class SeededSource:
    """Words from a seeded NumPy generator: the same seed, the same words, on every machine.

    Parameters
    ----------
    seed
        A whole number, a sequence of them, or a ``numpy.random.SeedSequence``.

    Examples
    --------
    >>> bool((SeededSource(7).words(3) == SeededSource(7).words(3)).all())
    True
    """

    # The seed of a soak, for tests that draw anew in a soak.
    mixed_in: ClassVar[tuple[int, ...]] = ()

    def __init__(self, seed: int | Sequence[int] | np.random.SeedSequence) -> None:
        if self.mixed_in and not isinstance(seed, np.random.SeedSequence):
            seed = [*self.mixed_in, *np.atleast_1d(seed).tolist()]
        # The raw output of a bit generator is fixed by NumPy's compatibility policy; that of a Generator is not.
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next ``count`` words."""
        raw: NDArray[np.uint64] = self._generator.bit_generator.random_raw(count)
        return raw


class TapeSource:
    """Words from a tape written beforehand; it refuses to go on when the tape ends.

    With it, a test decides every random bit of a sampler: ties can be provoked, and every value of the bits that matter
    can be tried.

    Parameters
    ----------
    tape
        Whole numbers from 0 to 2^64 − 1.

    Attributes
    ----------
    position : int
        How many words have been read.

    Examples
    --------
    >>> tape = TapeSource([1, 2, 3])
    >>> tape.words(2).tolist(), tape.position
    ([1, 2], 2)
    """

    def __init__(self, tape: ArrayLike) -> None:
        self._tape = np.array(tape, dtype=np.uint64)
        self.position = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next ``count`` words of the tape.

        Raises
        ------
        UsageError
            If fewer words are left.
        """
        end = self.position + count
        if end > self._tape.size:
            message = f"The tape has {self._tape.size} words; {end} were asked for."
            raise UsageError(message)
        words = self._tape[self.position : end]
        self.position = end
        return words
