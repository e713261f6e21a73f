"""Noise on the increments of days, and on the k+ counts themselves at the ends of blocks of days."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.mechanisms.windows.levels import Levels
from anonhist.mechanisms.windows.reached import far_of_reached, noisy_reached, terms_of_reached
from anonhist.mechanisms.windows.two_levels import TwoLevelMechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise


@frozen
class AnchorsMechanism(TwoLevelMechanism):
    """Release the k+ counts of a few days on their own, and between them follow noisy increments, by least squares.

    Many thresholds make increments expensive, and the counts of one day cheap: a label that is added changes |K|
    increments, but on any one day it is between two thresholds, which is one number. So a few days, whose k+ counts
    need no other day, hold the sums of increments in place.

    Parameters
    ----------
    epsilon, unit, relation, thresholds, days
        See :class:`~anonhist.mechanisms.windows.window_mechanism.WindowMechanism`.
    width, share
        From one such day to the next, and the share of ε for all of them together. The last day is always one of them.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy. Noise is exact and added to whole numbers, so floating point costs nothing.
    Proof: docs/proofs/cumulative-windows.md.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> unit = PrivacyUnit.label(max_count=10)
    >>> round(AnchorsMechanism(1, unit, thresholds=10, days=365, width=61, share="0.3").worst, 1)
    98.5
    """

    name: ClassVar[str] = "anchors"

    @property
    def _far_of_blocks(self) -> int:
        return self.blocks * far_of_reached(self.unit)

    @property
    def _terms(self) -> tuple[int, ...]:
        return terms_of_reached(self.unit, self.thresholds)

    def _levels(self, of_block: float, of_day: float) -> Levels:
        return Levels(self.days, self.width, of_day, of_end=of_block)

    def _measure(self, increments: NDArray[np.int64], noise: Noise) -> NDArray[np.float64]:
        ends = np.minimum(np.arange(1, self.blocks + 1) * self.width, self.days) - 1
        return noisy_reached(np.cumsum(increments, axis=1)[:, ends], self.unit, self.rates[0], noise)
