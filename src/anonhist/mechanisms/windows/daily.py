"""A release of its own for each day, with a part of the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.mechanisms.windows.reached import far_of_reached, noisy_reached, terms_of_reached
from anonhist.mechanisms.windows.window_mechanism import WindowMechanism

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise


@frozen
class DailyMechanism(WindowMechanism):
    """Release the k+ counts of each of T days on their own, with ε/T each: best for few days, or many thresholds.

    * Labels: noise of rate ε/T on the number of labels between each threshold and the next, of which a label is in one
      on each day; k+ counts are their sums.
    * Items and users: noise of rate ε/(mT) on the k+ counts themselves, of which an item changes one on each day.

    Half of that rate, if units are replaced.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy. Noise is exact and added to whole numbers, so floating point costs nothing.
    Proof: docs/proofs/cumulative-windows.md.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> mechanism = DailyMechanism(1, PrivacyUnit.label(max_count=10), thresholds=10, days=7)
    >>> mechanism.rates, round(mechanism.worst, 1)
    ((Fraction(1, 7),), 31.3)
    """

    name: ClassVar[str] = "daily"

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The rate of all noise."""
        return (self.epsilon / (self.days * far_of_reached(self.unit) * self.relation.distance),)

    def _run(self, increments: NDArray[np.int64], noise: Noise) -> NDArray[np.float64]:
        return noisy_reached(np.cumsum(increments, axis=1), self.unit, self.rates[0], noise)

    def _sums(self) -> Iterable[tuple[Fraction, NDArray[np.float64], NDArray[np.float64]]]:
        terms = np.array(terms_of_reached(self.unit, self.thresholds), dtype=np.float64)[:, np.newaxis]
        return [(self.rates[0], terms, terms)]
