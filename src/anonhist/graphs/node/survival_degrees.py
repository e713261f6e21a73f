"""Node privacy for any graph: noisy numbers of nodes of at least each degree."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.graphs.node.node_mechanism import NoisyBins, Run
from anonhist.graphs.node.noisy_sums import (
    SINGLE_TAIL,
    TAIL,
    WORK_OF_FIT,
    cells_from_above,
    evidence_of,
    single_bounds,
    smooth_sums,
)
from anonhist.mechanisms.bands import falling_bounds
from anonhist.mechanisms.noise import Noise, add_noise
from anonhist.mechanisms.noisy_total import of_sums
from anonhist.mechanisms.skeletons import profile_of_fit
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.releases import Evidence


@frozen
class SurvivalDegrees(NoisyBins):
    """Release how many nodes have a degree of at least r, for r = 1..θ.

    ``φ̃_{r+} = φ_{r+} + G``, independent G with ``P(G = j) ∝ e^(−γ|j|)``. One extra node, of degree k after the
    projection, adds 1 to k of the numbers and moves at most k others by one degree: in total they change by at most 2θ
    (3θ − 2 for in- or out-degrees, if that is more), and γ is the budget divided by that. Nodes without an edge are
    never counted, so nodes need not be listed. Published are the numbers that
    :func:`~anonhist.graphs.node.noisy_sums.smooth_sums` estimates, and intervals from the noisy numbers themselves
    (:func:`~anonhist.mechanisms.bands.falling_bounds`).

    Parameters
    ----------
    epsilon, relation, max_degree, direction, choice, bounding
        See :class:`~anonhist.graphs.node.node_mechanism.NodeMechanism`.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy for one node with all its edges. Noise is exact and added to whole numbers, so
    floating point costs nothing. Proof: docs/proofs/graphs.md.

    Examples
    --------
    >>> SurvivalDegrees(epsilon=1, max_degree=8).rate
    Fraction(1, 16)
    """

    method: ClassVar[str] = "survival"

    def simulation_work(self, profile: Profile) -> int:
        """Return approximately how many numbers the fit of one run computes, independent of the number of nodes."""
        del profile
        return WORK_OF_FIT

    @property
    def predicted_error(self) -> float:
        """``7 θ^1.3 / (γθ)^0.8``."""
        return float(7 * self.max_degree**1.3 / float(self.rate * self.max_degree) ** 0.8)

    @property
    def releases_zeros(self) -> bool:
        """No: they are never counted."""
        return False

    @property
    def rate(self) -> Fraction:
        """γ of the noise."""
        return self._rate(self.epsilon, self.bounding.list_distance(self.max_degree, self.direction))

    def _noisy(self, bins: NDArray[np.int64], noise: Noise) -> NDArray[np.int64]:
        reaching = np.cumsum(bins[:0:-1])[::-1]
        return add_noise(reaching, noise(self.rate, self.max_degree))

    def _publish(self, noisy: NDArray[np.int64]) -> tuple[Profile, None]:
        seen = noisy.astype(np.float64)
        labels = max(1.0, float(seen[0]))
        fitted = smooth_sums(seen, float(self.rate), cells_from_above(self.max_degree), labels=labels)
        return profile_of_fit(np.arange(1, self.max_degree + 1), np.minimum.accumulate(fitted)), None

    def _evidence(self, noisy: NDArray[np.int64], run: Run) -> Evidence:
        seen, rate = noisy.astype(np.float64), float(self.rate)
        guess = run[0].cumulative_prevalence(np.arange(1, self.max_degree + 1)).astype(np.float64)
        reaching, wider = (falling_bounds(seen, guess, rate, tail=tail) for tail in (TAIL, SINGLE_TAIL))
        # The degree sum is that of all φ_{r+}.
        return evidence_of(reaching, single_bounds(seen, rate, *wider), items=of_sums(noisy, rate))
