"""Noise on each increment, added up."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.mechanisms.basis.noise import add_noise
from anonhist.mechanisms.windows.window_mechanism import WindowMechanism, moved

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise


@frozen
class IncrementsMechanism(WindowMechanism):
    """Add noise to how many labels reach each threshold on each day, and add up: the error grows like √T.

    ``x̃[k, t] = x[k, t] + G``, independent G with ``P(G = j) ∝ exp(−ε|j|/Δ)``. A label that is added or removed changes
    one increment for each threshold, Δ = |K|; an item 2|K|, m items 2m|K|, and with T ≤ |K| days 2T − 1 for each item.
    Twice that, if units are replaced.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy. Noise is exact and added to whole numbers, so floating point costs nothing.
    Proof: docs/proofs/cumulative-windows.md.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> mechanism = IncrementsMechanism(1, PrivacyUnit.label(max_count=10), thresholds=10, days=30)
    >>> mechanism.rates, round(mechanism.worst, 1)
    ((Fraction(1, 10),), 77.4)
    """

    name: ClassVar[str] = "increments"

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The rate of all noise."""
        far = moved(self.unit, thresholds=self.thresholds, intervals=self.days)
        return (self.epsilon / (far * self.relation.distance),)

    def _run(self, increments: NDArray[np.int64], noise: Noise) -> NDArray[np.float64]:
        noisy = add_noise(increments, noise(self.rates[0], increments.size).reshape(increments.shape))
        return np.cumsum(noisy.astype(np.float64), axis=1)

    def _sums(self) -> Iterable[tuple[Fraction, NDArray[np.float64], NDArray[np.float64]]]:
        # As many noisy increments as there are days so far.
        terms = np.arange(1.0, self.days + 1)
        return [(self.rates[0], terms, terms)]
