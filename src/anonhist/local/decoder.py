"""The interface of all decoders, and the decoders that need only the raw estimates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.numeric.fits import project_to_simplex, project_to_solid_simplex, truncate_and_renormalize

if TYPE_CHECKING:
    from collections.abc import Callable

    Observed = Callable[[], tuple["Channel", NDArray[np.float64], float]]


class Channel(Protocol):
    """Q, of shape (cells, items): column x is the distribution of the cell given item x, and adds up to 1.

    A report of B bits is B observations of 2B cells, two for each bit j (0 and 1), each divided by B.
    If the frequencies of a list need not add up to 1, the last item is "other".
    """

    @property
    def items(self) -> int:
        """The number of items."""

    @property
    def cells(self) -> int:
        """The number of counted cells."""

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Q f``, shape (cells,): the share of observations expected in each cell."""

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Qᵀ w``, shape (items,)."""


@dataclass(frozen=True, eq=False)
class SupportChannel:
    """``Q(cell | x) = base + gain·[cell supports x]``; base and gain are numbers or of shape (cells,).

    ``spread`` maps shares of the values to the share of values that each cell supports; ``gather`` maps weights of the
    cells to their sum over the cells that support each value. ``others`` is the share of all other values that a cell
    supports on average; None if there are no others. They form one more item, the last.
    """

    values: int
    cells: int
    base: float | NDArray[np.float64]
    gain: float | NDArray[np.float64]
    spread: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    gather: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    others: float | NDArray[np.float64] | None = None

    @property
    def items(self) -> int:
        """The number of shares to decode: the values, and the others if there are any."""
        return self.values + (self.others is not None)

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of every cell, shape (cells,)."""
        supported = self.spread(frequencies[: self.values])
        if self.others is not None:
            supported = supported + self.others * frequencies[-1]
        return self.base * float(frequencies.sum()) + self.gain * supported

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected weight of the cell reported by a person with each value, shape (items,)."""
        floor, gains = float((self.base * weights).sum()), self.gain * weights
        own = floor + self.gather(gains)
        return own if self.others is None else np.append(own, floor + float((self.others * gains).sum()))


@dataclass(frozen=True, eq=False)
class BitChannel:
    """Reports of several bits, each a separate observation: the ones of all cells, then their zeros.

    ``ones`` is the share of the reports that have each bit set, ``weights`` the share that include the bit of each cell
    at all.
    """

    ones: SupportChannel
    bits: int
    weights: float | NDArray[np.float64] = 1.0

    @property
    def items(self) -> int:
        """The number of shares to decode."""
        return self.ones.items

    @property
    def cells(self) -> int:
        """Two cells for each bit."""
        return 2 * self.ones.cells

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of every cell, shape (cells,)."""
        ones = self.ones.forward(frequencies)
        return np.concatenate((ones, self.weights * float(frequencies.sum()) - ones)) / self.bits

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected weight of the cells filled by a person with each value, shape (items,)."""
        ones, zeros = weights.reshape(2, -1)
        return (float((self.weights * zeros).sum()) + self.ones.adjoint(ones - zeros)) / self.bits


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

    ``name`` is its name in files and on the command line; ``fits_counts`` says whether it needs the channel and the
    counts, or only the unbiased estimates.
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
            The number of observations in each cell, shape (cells,), at least 0, not necessarily integers.
        other
            Whether there may be unlisted items: then the result and the channel have one more entry, the last, which is
            not in ``raw``.

        Raises
        ------
        UsageError
            If shapes do not agree, a number is not finite or a count is below 0, or a channel is needed and missing.
        DataError
            If there are no reports, or reports that are impossible under the channel.
        """
        values = np.asarray(raw, dtype=np.float64)
        if values.ndim != 1 or values.size == 0 or not bool(np.isfinite(values).all()):
            raise UsageError("Decoding needs a one-dimensional list of at least one finite estimate.")
        return self._decode(values, partial(checked_shares, channel, counts, items=values.size + other), other=other)

    @abstractmethod
    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        """Return the frequencies; ``observed`` checks the counts, see :func:`checked_shares`."""


def checked_shares(
    channel: Channel | None, counts: ArrayLike | None, *, items: int
) -> tuple[Channel, NDArray[np.float64], float]:
    """Return the channel, the share of the observations in each cell, and their number."""
    if channel is None or counts is None:
        raise UsageError("This decoder needs the channel and the counts of its cells.")
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


@dataclass(frozen=True)
class Projected(Decoder):
    """``argmin_{f ≥ 0, Σf = 1} |f − raw|²``, as in Kairouz and others 2016; best if few items are frequent.

    If there may be other items, the sum is at most 1, and "other" is the rest.

    Examples
    --------
    >>> Projected().decode(np.array([0.75, 0.5, -0.25])).frequencies.tolist()
    [0.625, 0.375, 0.0]
    """

    name: ClassVar[str] = "projected"

    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        del observed
        if not other:
            return Decoded(project_to_simplex(raw))
        listed = project_to_solid_simplex(raw)
        return Decoded(np.append(listed, max(1.0 - float(listed.sum()), 0.0)))


@dataclass(frozen=True)
class Normalized(Decoder):
    """``max(raw, 0)``, divided by its sum; equal frequencies if nothing is above 0.

    If noise is far larger than every frequency, this often has a lower ℓ1 error than a projection, because it stays
    closer to uniform. If there may be other items, only a sum above 1 is scaled, and "other" is the rest up to 1.

    Examples
    --------
    >>> Normalized().decode(np.array([1.5, -1.0, 0.5])).frequencies.tolist()
    [0.75, 0.0, 0.25]
    """

    name: ClassVar[str] = "normalized"

    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        del observed
        if not other:
            return Decoded(truncate_and_renormalize(raw))
        listed = np.maximum(raw, 0.0)
        rest = 1.0 - float(listed.sum())
        return Decoded(np.append(listed if rest >= 0 else truncate_and_renormalize(listed), max(rest, 0.0)))


@dataclass(frozen=True)
class Unbiased(Decoder):
    """The raw estimates, unchanged: unbiased, but some frequencies are below 0; "other" is the rest up to 1.

    Examples
    --------
    >>> Unbiased().decode(np.array([0.75, -0.25]), other=True).frequencies.tolist()
    [0.75, -0.25, 0.5]
    """

    name: ClassVar[str] = "unbiased"

    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        del observed
        return Decoded(np.append(raw, 1.0 - float(raw.sum())) if other else raw.copy())
