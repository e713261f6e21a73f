"""The interface of every decoder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.local.decoding.channel import Channel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    # The channel, the share of the observations in each cell, and their number.
    Observed = Callable[[], tuple[Channel, NDArray[np.float64], float]]


@dataclass(frozen=True, eq=False)
class Decoded:
    """Frequencies, and how they were computed.

    Attributes
    ----------
    frequencies
        float64, shape (k,), or (k + 1,) with "other" last.
    iterations
        Steps taken; 0 if there is a formula.
    converged
        Whether the stopping rule was met; if not, the note says how close the result is.
    note
        A sentence for the reader; may be empty.
    """

    frequencies: NDArray[np.float64]
    iterations: int = 0
    converged: bool = True
    note: str = ""


class Decoder(ABC):
    """Turns counts into frequencies; a frozen value without data.

    Attributes
    ----------
    name
        The name of the decoder in files and on the command line.
    fits_counts
        Whether it needs the channel and the counts, or only the unbiased estimates.
    """

    name: ClassVar[str]
    fits_counts: ClassVar[bool] = False

    def decode(
        self,
        raw: NDArray[np.float64],
        channel: Channel | None = None,
        counts: NDArray[np.float64] | None = None,
        *,
        other: bool = False,
    ) -> Decoded:
        """Return the frequencies.

        Parameters
        ----------
        raw
            The unbiased estimates of the items, shape (k,), k ≥ 1.
        channel
            How items become cells; needed by the decoders that fit the counts.
        counts
            How many observations fell into each cell, shape (cells,), at least 0, not necessarily integers.
        other
            Whether there may be items that are not on the list: then the result and the channel have one
            more entry, the last, which is not in ``raw``.

        Raises
        ------
        UsageError
            If shapes do not agree, a number is not finite or a count is below 0, or a channel is needed and missing.
        DataError
            If there are no reports, or some that are impossible under the channel.
        """
        values = checked_raw(raw)
        observed = partial(checked_shares, channel, counts, items=values.size + other)
        return self._decode(values, observed, other=other)

    @abstractmethod
    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        """Return the frequencies; ``observed`` checks the counts, see :func:`checked_shares`."""


def checked_raw(raw: ArrayLike) -> NDArray[np.float64]:
    """Return raw estimates as an array of at least one finite number."""
    values = np.asarray(raw, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not bool(np.isfinite(values).all()):
        raise UsageError("Decoding needs a one-dimensional list of at least one finite estimate.")
    return values


def checked_shares(
    channel: Channel | None, counts: ArrayLike | None, *, items: int
) -> tuple[Channel, NDArray[np.float64], float]:
    """Return the channel, the share of the observations in each cell, and their number."""
    if channel is None or counts is None:
        raise UsageError("This decoder fits the counts: give it the channel and the counts of its cells.")
    if channel.items != items:
        message = f"The channel has {channel.items} items and there are {items} to decode: they must be the same."
        raise UsageError(message)
    observed = np.asarray(counts, dtype=np.float64)
    if observed.shape != (channel.cells,) or not bool((np.isfinite(observed) & (observed >= 0)).all()):
        message = f"The counts must be {channel.cells} finite numbers of at least 0, one for each cell of the channel."
        raise UsageError(message)
    total = float(observed.sum())
    if total == 0.0:
        raise DataError("There are no reports to decode: collect some first.")
    possible = channel.forward(np.full(items, 1.0 / items)) > 0
    if bool(observed[~possible].any()):
        raise DataError("Some reports are impossible for every item: check that they belong to this survey.")
    return channel, observed / total, total
