"""Noise on the increments of days and of blocks of days: a tree of two levels over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.mechanisms.basis.noise import add_noise
from anonhist.mechanisms.windows.levels import Levels
from anonhist.mechanisms.windows.two_levels import TwoLevelMechanism
from anonhist.mechanisms.windows.window_mechanism import moved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise


@frozen
class TreeMechanism(TwoLevelMechanism):
    """Add noise to the increments of days and, apart, to those of blocks of days; running sums by least squares.

    Parameters
    ----------
    epsilon, unit, relation, thresholds, days
        See :class:`~anonhist.mechanisms.windows.window_mechanism.WindowMechanism`.
    width, share
        The days of a block, and the share of ε for blocks.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy. Noise is exact and added to whole numbers, so floating point costs nothing.
    Proof: docs/proofs/cumulative-windows.md.

    References
    ----------
    .. [1] C. Dwork, M. Naor, T. Pitassi, G. N. Rothblum, "Differential privacy under continual observation", STOC 2010.
    .. [2] J. Honaker, "Efficient use of differentially private binary trees", TPDP 2015.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> unit = PrivacyUnit.label(max_count=10)
    >>> round(TreeMechanism(1, unit, thresholds=10, days=365, width=20, share="0.6").worst, 1)
    125.0
    """

    name: ClassVar[str] = "tree"

    @property
    def _far_of_blocks(self) -> int:
        return moved(self.unit, thresholds=self.thresholds, intervals=self.blocks)

    def _levels(self, of_block: float, of_day: float) -> Levels:
        return Levels(self.days, self.width, of_day, of_block=of_block)

    def _measure(self, increments: NDArray[np.int64], noise: Noise) -> NDArray[np.float64]:
        blocks = np.add.reduceat(increments, np.arange(0, self.days, self.width), axis=1)
        return add_noise(blocks, noise(self.rates[0], blocks.size).reshape(blocks.shape)).astype(np.float64)
