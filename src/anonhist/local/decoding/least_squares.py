"""Least squares over all distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.local.decoding.decoder import Decoded, Decoder
from anonhist.local.decoding.descent import ROUNDING, largest_curvature, minimize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.decoding.channel import Channel
    from anonhist.local.decoding.decoder import Observed

# Steps of the power iteration that finds the scale of the ridge.
_ROUNDS = 100


@frozen
class ConstrainedLeastSquares(Decoder):
    """``argmin_{f ≥ 0, Σf = 1} n/2·Σ_c (Qf − m)_c²/u_c``, m the shares observed, u those expected if f is uniform.

    The weights are nearly those of Pearson's χ², so that the objective is in nats, like a likelihood. For
    k-RR it is the projection of the raw estimates. It needs no inverse of Q and stays stable if least squares without
    constraints would be ill-conditioned.

    Parameters
    ----------
    ridge
        Strength of the shrinkage of the listed frequencies to their mean, at least 0, as a share of the largest
        curvature of the objective: in directions with less curvature than this, shrinkage dominates. It does not vanish
        as n grows.
    tolerance
        Stop when the objective is certified to be within this many nats of its minimum; half a nat is one standard
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
    >>> ConstrainedLeastSquares().decode(np.array([0.7, 0.3]), channel, np.array([60.0, 40.0])).frequencies.round(3)
    array([0.7, 0.3])
    """

    name: ClassVar[str] = "least-squares"
    fits_counts: ClassVar[bool] = True
    ridge: float = 0.0
    tolerance: float = 0.01
    iterations: int = 5_000

    def __post_init__(self) -> None:
        if not (0.0 <= self.ridge < math.inf and 0.0 <= self.tolerance < math.inf and self.iterations >= 1):
            raise UsageError("Least squares need a ridge and a tolerance of at least 0 and at least one iteration.")

    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        del raw
        channel, shares, total = observed()
        uniform = channel.forward(np.full(channel.items, 1.0 / channel.items))
        weights = np.divide(1.0, uniform, out=np.zeros(channel.cells), where=uniform > 0)
        fit = Squares(shares, weights)
        if self.ridge > 0.0:
            listed = channel.items - other
            pull = self.ridge * largest_curvature(fit, channel, uniform, rounds=_ROUNDS)
            fit = Squares(np.append(shares, np.zeros(listed)), np.append(weights, np.full(listed, pull)))
            channel = _WithDeviations(channel, listed)
        tolerance = max(self.tolerance / total, ROUNDING)
        least = minimize(fit, channel, tolerance=tolerance, iterations=self.iterations)
        doubt = f"The fit is only proved to be within {least.gap * total:.2g} nats of the best one."
        return least.decoded(tolerance, doubt)


@dataclass(frozen=True, eq=False)
class Squares:
    """``φ(c) = ½ Σ w (c − m)²``."""

    shares: NDArray[np.float64]
    weights: NDArray[np.float64]

    def slopes(self, expected: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``w (c − m)``."""
        return self.weights * (expected - self.shares)

    def curvatures(self, expected: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return w."""
        del expected
        return self.weights

    def excess(self, expected: NDArray[np.float64], step: NDArray[np.float64]) -> float:
        """Return ``½ Σ w s²``."""
        del expected
        return float((self.weights * step) @ step) / 2.0

    def allows(self, expected: NDArray[np.float64]) -> bool:
        """Return True, because squares are defined everywhere."""
        del expected
        return True


@dataclass(frozen=True, eq=False)
class _WithDeviations:
    """Q, and below it the distance of each listed frequency from their mean: a ridge adds one square for each."""

    channel: Channel
    listed: int

    @property
    def items(self) -> int:
        return self.channel.items

    @property
    def cells(self) -> int:
        return self.channel.cells + self.listed

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        listed = frequencies[: self.listed]
        return np.append(self.channel.forward(frequencies), listed - listed.mean())

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = self.channel.cells
        result = self.channel.adjoint(weights[:cells])
        result[: self.listed] += weights[cells:] - weights[cells:].mean()
        return result
