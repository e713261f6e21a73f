"""Node privacy: noisy numbers of nodes of each degree."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.graphs.node.bounding import Projection
from anonhist.graphs.node.node_mechanism import NoisyBins, Run
from anonhist.graphs.node.noisy_sums import TAIL, evidence_of
from anonhist.graphs.node.sensitivity import histogram
from anonhist.mechanisms.bands import reaches
from anonhist.mechanisms.noise import Noise, add_noise, noise_quantile
from anonhist.mechanisms.noisy_total import of_prevalences
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.releases import Evidence

# As a file records it.
_LISTED = {True: "listed", False: "not listed"}


@frozen
class HistogramDegrees(NoisyBins):
    """Release how many nodes have each degree, 1..θ, and 0 where nodes are listed.

    ``φ̃_r = max(0, φ_r + G)``, independent G with ``P(G = j) ∝ e^(−γ|j|)``. One extra node, of degree k after the
    projection, adds 1 to its bin and moves at most k others from one bin to the next: in total the bins change by at
    most 2θ + 1 (4θ + 1 for in- or out-degrees), and γ is the budget divided by that.

    It is the usual method, and is here for comparison: the errors of bins add up in numbers of nodes of at least some
    degree.

    Parameters
    ----------
    epsilon, relation, max_degree, direction, choice, bounding
        See :class:`~anonhist.graphs.node.node_mechanism.NodeMechanism`.
    nodes_listed
        Whether nodes without an edge are counted; that needs a graph that lists its nodes.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy for one node with all its edges. Noise is exact and added to whole numbers, so
    floating point costs nothing. Proof: docs/proofs/graphs.md.

    Examples
    --------
    >>> HistogramDegrees(epsilon=1, max_degree=8).rate
    Fraction(1, 17)
    """

    method: ClassVar[str] = "histogram"
    own_parameters: ClassVar[tuple[str, ...]] = ("nodes",)

    nodes_listed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.bounding, Projection):
            raise UsageError("The histogram of degrees is released after a projection: leave `bounding` out.")

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters, enough to make the mechanism again."""
        return {**super().parameters, "nodes": _LISTED[self.nodes_listed]}

    @classmethod
    def _own(cls, parameters: dict[str, object]) -> dict[str, Any]:
        listed = {told: is_listed for is_listed, told in _LISTED.items()}
        nodes = parameters["nodes"]
        if not isinstance(nodes, str) or nodes not in listed:
            raise UsageError(f"nodes must be {' or '.join(listed)}.")
        return {"nodes_listed": listed[nodes]}

    @property
    def predicted_error(self) -> float:
        """``θ^1.5 / γ``: bins err by about √2/γ each, and their sums wander."""
        return float(self.max_degree**1.5 / float(self.rate))

    @property
    def releases_zeros(self) -> bool:
        """Whether nodes are listed."""
        return self.nodes_listed

    @property
    def rate(self) -> Fraction:
        """γ of the noise."""
        return self._rate(self.epsilon, histogram(self.max_degree, self.direction, counts_zeros=self.nodes_listed))

    def _noisy(self, bins: NDArray[np.int64], noise: Noise) -> NDArray[np.int64]:
        return add_noise(bins, noise(self.rate, bins.size))

    def _publish(self, noisy: NDArray[np.int64]) -> tuple[Profile, int | None]:
        seen = np.maximum(noisy, 0)
        present = np.flatnonzero(seen[1:]) + 1
        # Noise may produce many nodes of large degrees: no more than can be counted.
        labels = np.minimum(seen[present], (2**62 // max(1, present.size)) // np.maximum(present, 1))
        kept = labels > 0
        return Profile(present[kept], labels[kept]), int(seen[0]) if self.nodes_listed else None

    def _evidence(self, noisy: NDArray[np.int64], run: Run) -> Evidence:
        del run
        rate = float(self.rate)
        degrees = noisy[1:].astype(np.float64)
        alone = noise_quantile(rate, 1, TAIL)
        zeros = (float(noisy[0]) - alone, float(noisy[0]) + alone) if self.nodes_listed else None
        reaching = np.cumsum(degrees[::-1])[::-1]
        reach = reaches(rate, degrees.size)[::-1]
        # Intervals hold for each k; running extremes make their ends non-increasing.
        high = np.maximum.accumulate((reaching + reach)[::-1])[::-1]
        low = np.minimum(np.minimum.accumulate(reaching - reach), high)
        singles = degrees - alone, degrees + alone
        return evidence_of((low, high), singles, items=of_prevalences(noisy[1:], rate), zeros=zeros)
