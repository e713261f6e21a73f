"""EM from the uniform distribution, stopped before it fits the noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.local.decoding.decoder import Decoded, Decoder
from anonhist.local.decoding.likelihood import MaximumLikelihood, Surprise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.decoding.decoder import Observed

# No frequency changes by more than this factor in a lengthened step.
_BOLDEST = 0.5
# Precision with which the last step is shortened.
_HALVINGS = 40


@frozen
class ExpectationMaximization(Decoder):
    """``f_x ← f_x·(1 + η(g_x − 1))`` with ``g = Qᵀ(m/(Qf))``, from uniform, until f is about as likely as the truth.

    With η = 1 that is a step of EM. Longer steps are tried and kept while the likelihood increases; with η = 1 it
    always does. The path leads from the uniform distribution to the most likely one. It fits the clearest signals first
    and the noise last. The log-likelihood of the truth is on average half a nat per free frequency below the maximum;
    the path is stopped ``shortfall`` nats per free frequency below it, in the middle of a step.

    With a thousand items of Zipf frequencies and a million reports of k-RR, the ℓ1 error is 1.19, 0.47 and 0.15 at
    ε = 1, 3 and 5, and that of the projection 1.55, 0.63 and 0.17. At ε = 8, with little noise, it is 0.032,
    and that of the projection 0.027.

    Parameters
    ----------
    shortfall
        Nats for each frequency that is above 0 at the maximum; above 0.
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
    >>> ExpectationMaximization().decode(np.array([0.7, 0.3]), channel, np.array([60.0, 40.0])).frequencies.round(2)
    array([0.6, 0.4])
    """

    name: ClassVar[str] = "em"
    fits_counts: ClassVar[bool] = True
    shortfall: float = 0.25
    iterations: int = 5_000

    def __post_init__(self) -> None:
        if not (0.0 < self.shortfall < math.inf and self.iterations >= 1):
            raise UsageError("Stopping early needs a shortfall above 0 and at least one iteration.")

    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        del raw, other
        channel, shares, total = observed()
        most = MaximumLikelihood().maximum(channel, shares, total)
        allowed = self.shortfall * np.count_nonzero(most.frequencies) / total
        surprise = Surprise(shares)
        here = np.full(channel.items, 1.0 / channel.items)
        at = channel.forward(here)
        taken, stretch = 0, 1.0
        while (below := -surprise.rise(at, most.expected - at)) > allowed and taken < self.iterations:
            taken += 1
            pull = -channel.adjoint(surprise.slopes(at)) - 1.0
            stretch = max(1.0, min(stretch, _BOLDEST / float(np.abs(pull).max())))
            while True:
                there = here * np.maximum(1.0 + stretch * pull, 0.0)
                there /= there.sum()
                at_there = channel.forward(there)
                if stretch == 1.0 or surprise.rise(at, at_there - at) < 0.0:
                    break
                stretch = max(1.0, stretch / 4.0)
            part = _part(surprise, (at, at_there, most.expected), allowed)
            here, at, stretch = here + part * (there - here), at + part * (at_there - at), 2.0 * stretch
        if below > allowed:
            return Decoded(here, taken, converged=False, note="EM reached its maximum number of iterations.")
        return Decoded(
            here, taken, note="" if taken else "The reports are just as likely if all items are equally frequent."
        )


def _part(
    surprise: Surprise, cells: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], allowed: float
) -> float:
    """Return the fraction of a step to take: 1, or the part at which the likelihood reaches the stopping level."""
    at, at_there, best = cells
    if -surprise.rise(at_there, best - at_there) >= allowed:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        part = (low + high) / 2.0
        between = at + part * (at_there - at)
        low, high = (part, high) if -surprise.rise(between, best - between) > allowed else (low, part)
    return high
