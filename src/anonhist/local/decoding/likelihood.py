"""The distribution under which the counts are most likely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.local.decoding.channel import Channel
from anonhist.local.decoding.decoder import Decoded, Decoder
from anonhist.local.decoding.descent import ROUNDING, Minimum, minimize

if TYPE_CHECKING:
    from anonhist.local.decoding.decoder import Observed

# Below this ratio, u − ln(1 + u) is computed from its series.
_SMALL = 1e-4


@frozen
class MaximumLikelihood(Decoder):
    """``argmax_{f ≥ 0, Σf = 1} Σ_c N_c ln(Qf)_c``, as EM would find it, but faster: see :func:`minimize`.

    The bits of a report count as independent observations, which they are given the item.

    Parameters
    ----------
    tolerance
        Stop when the log-likelihood is certified to be within this many nats of its maximum; half a nat is one standard
        error.
    iterations
        The largest number of steps.

    Raises
    ------
    UsageError
        If a number is out of its range.

    Examples
    --------
    >>> from anonhist.local.decoding.channel import SupportChannel
    >>> channel = SupportChannel(2, 2, base=0.25, gain=0.5, spread=np.asarray, gather=np.asarray)
    >>> MaximumLikelihood().decode(np.array([0.7, 0.3]), channel, np.array([60.0, 40.0])).frequencies.round(3)
    array([0.7, 0.3])
    """

    name: ClassVar[str] = "mle"
    fits_counts: ClassVar[bool] = True
    tolerance: float = 0.01
    iterations: int = 5_000

    def __post_init__(self) -> None:
        if not (0.0 <= self.tolerance < math.inf and self.iterations >= 1):
            raise UsageError("Maximum likelihood needs a tolerance of at least 0 and at least one iteration.")

    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        del raw, other
        channel, shares, total = observed()
        most = self.maximum(channel, shares, total)
        doubt = f"The likelihood is only proved to be within {most.gap * total:.2g} nats of the maximum."
        return most.decoded(self._gap(total), doubt)

    def maximum(self, channel: Channel, shares: NDArray[np.float64], total: float) -> Minimum:
        """Return the maximum for shares of ``total`` observations."""
        return minimize(Surprise(shares), channel, tolerance=self._gap(total), iterations=self.iterations)

    def _gap(self, total: float) -> float:
        return max(self.tolerance / total, ROUNDING)


@dataclass(frozen=True, eq=False)
class Surprise:
    """``φ(c) = −Σ m ln c``, m the shares observed: nats per observation. Cells without observations do not count."""

    shares: NDArray[np.float64]

    def slopes(self, expected: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``−m/c``."""
        return -self._over(self.shares, expected)

    def curvatures(self, expected: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``m/c²``."""
        return self._over(self._over(self.shares, expected), expected)

    def rise(self, expected: NDArray[np.float64], step: NDArray[np.float64]) -> float:
        """Return ``−Σ m ln(1 + s/c)``."""
        ratio = self._over(step, expected)
        return math.inf if ratio.min() <= -1.0 else -float(self.shares @ np.log1p(ratio))

    def excess(self, expected: NDArray[np.float64], step: NDArray[np.float64]) -> float:
        """Return ``Σ m (u − ln(1 + u))``, ``u = s/c``."""
        ratio = self._over(step, expected)
        if ratio.min() <= -1.0:
            return math.inf
        series = ratio * ratio * (0.5 - ratio * (1.0 / 3.0 - ratio / 4.0))
        return float(self.shares @ np.where(np.abs(ratio) < _SMALL, series, ratio - np.log1p(ratio)))

    def allows(self, expected: NDArray[np.float64]) -> bool:
        """Return whether every cell that was observed has a probability above 0."""
        return bool((expected[self.shares > 0] > 0).all())

    def _over(self, numerator: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.divide(numerator, expected, out=np.zeros(expected.size), where=self.shares > 0)
