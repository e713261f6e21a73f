"""Node privacy with listed nodes: noisy numbers of nodes of at most each degree, and of all nodes."""

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
    cells_from_below,
    evidence_of,
    single_bounds,
    smooth_sums,
)
from anonhist.mechanisms.bands import falling_bounds
from anonhist.mechanisms.noise import Noise, add_noise, noise_quantile
from anonhist.mechanisms.noisy_total import of_difference
from anonhist.mechanisms.skeletons import profile_of_fit
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.releases import Evidence

# An error in the number of nodes affects every φ_{r+}, an error in another sum only one: so its share is larger.
NODES_SHARE = Fraction(3, 20)


@frozen
class CumulativeDegrees(NoisyBins):
    """Release the number n of nodes, and how many nodes have a degree of at most i, for i = 0..θ − 1.

    ``ñ = n + G`` with a share of the budget (3/20), and ``c̃_i = #{v: deg(v) ≤ i} + G`` with the rest, all G
    independent, ``P(G = j) ∝ e^(−γ|j|)``. One extra node, of degree k after the projection, adds 1 to n and to θ − k of
    the sums, and moves at most k others by one degree: n changes by 1, the sums c_0..c_{θ−1} by θ in total (2θ for in-
    or out-degrees). So γ is the first share of the budget for n, and the rest divided by θ for the sums. Published are
    ``φ_{r+} = ñ − c_{r−1}``, where c are the sums that :func:`~anonhist.graphs.node.noisy_sums.smooth_sums` estimates,
    from 0 to ñ, and the rest of ñ: the nodes without an edge. Intervals come from the noisy numbers themselves
    (:func:`~anonhist.mechanisms.bands.falling_bounds`).

    Parameters
    ----------
    epsilon, relation, max_degree, direction, choice, bounding
        See :class:`~anonhist.graphs.node.node_mechanism.NodeMechanism`.

    Guarantees
    ----------
    Pure differential privacy for one node with all its edges. Noise is exact and added to whole numbers, so floating
    point costs nothing. Proof: docs/proofs/graphs.md.

    References
    ----------
    .. [1] W.-Y. Day, N. Li, M. Lyu, "Publishing graph degree distribution with node differential privacy", SIGMOD
       2016: the cumulative histogram; here n is separate, and the sums are fitted by a smooth distribution.

    Examples
    --------
    >>> mechanism = CumulativeDegrees(epsilon=1, max_degree=8)
    >>> print(mechanism.guarantee)
    1-differentially private (δ = 0) when one node with all its edges is added or removed, spent in steps (0.15 for
    number of nodes, 0.85 for degrees), provided that each node has the same name whichever other nodes there are, and
    that the list of nodes, which is as private as the nodes and must not be public, has each node whichever others
    there are; noise is exact and added to whole numbers, so floating point costs nothing.
    """

    method: ClassVar[str] = "cumulative"

    @property
    def steps(self) -> tuple[tuple[str, Fraction], ...]:
        """The number of nodes, and the sums."""
        nodes = NODES_SHARE * self.epsilon
        return (("number of nodes", nodes), ("degrees", self.epsilon - nodes))

    @property
    def nodes_reach(self) -> int:
        """How far the released number of nodes may be off, in 95 % of releases."""
        return noise_quantile(float(self.rates[0]), 1, TAIL)

    def simulation_work(self, profile: Profile) -> int:
        """Return approximately how many numbers the fit of one run computes, independent of the number of nodes."""
        del profile
        return WORK_OF_FIT

    @property
    def predicted_error(self) -> float:
        """``7 θ^1.3 / (γθ)^0.8``."""
        return float(7 * self.max_degree**1.3 / float(self.rates[1] * self.max_degree) ** 0.8)

    @property
    def releases_zeros(self) -> bool:
        """Yes: nodes are listed."""
        return True

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """γ of the number of nodes, and of the sums."""
        (_, nodes), (_, degrees) = self.steps
        # The last sum is left out: it is n.
        distance = self.bounding.sums_distance(self.max_degree, self.direction) - 1
        return nodes / self.relation.distance, self._rate(degrees, distance)

    def _noisy(self, bins: NDArray[np.int64], noise: Noise) -> NDArray[np.int64]:
        """Return ñ, then the noisy sums."""
        rate, sums_rate = self.rates
        sums = np.cumsum(bins)
        return np.concatenate(
            (add_noise(sums[-1:], noise(rate, 1)), add_noise(sums[:-1], noise(sums_rate, self.max_degree)))
        )

    def _publish(self, noisy: NDArray[np.int64]) -> tuple[Profile, int]:
        nodes, sums_rate = max(0, int(noisy[0])), self.rates[1]
        seen = noisy[1:].astype(np.float64)
        fitted = smooth_sums(seen, float(sums_rate), cells_from_below(self.max_degree), labels=nodes)
        reaching = nodes - np.clip(np.maximum.accumulate(fitted), 0, nodes)
        profile = profile_of_fit(np.arange(1, self.max_degree + 1), reaching)
        return profile, max(0, nodes - profile.num_labels)

    def _evidence(self, noisy: NDArray[np.int64], run: Run) -> Evidence:
        rate, sums_rate = (float(each) for each in self.rates)
        nodes, seen = float(noisy[0]), -noisy[1:].astype(np.float64)
        guess = run[0].cumulative_prevalence(np.arange(1, self.max_degree + 1)).astype(np.float64) - max(0.0, nodes)

        def bounds(tail: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            # Sums never fall, so their negatives never rise. A fifth of the error probability is for the number of
            # nodes.
            low, high = falling_bounds(seen, guess, sums_rate, tail=tail * 4 / 5)
            reach = noise_quantile(rate, 1, tail / 5)
            return low + nodes - reach, high + nodes + reach

        low, high = falling_bounds(seen, guess, sums_rate, tail=TAIL)
        singles = single_bounds(seen, sums_rate, *bounds(SINGLE_TAIL))
        # The degree sum is that of n − c_i: of θ times n, without the sum of all c_i.
        items = of_difference(int(noisy[0]), self.max_degree, rate, noisy[1:], sums_rate)
        return evidence_of(bounds(TAIL), singles, items=items, zeros=(-high[0], -low[0]))
