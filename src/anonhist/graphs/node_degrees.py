"""Node privacy for any graph: noisy numbers of nodes of at least each degree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.graphs.bounding import Projection
from anonhist.graphs.node_mechanism import NodeMechanism, NoisyBins, Run
from anonhist.graphs.noisy_sums import (
    SINGLE_TAIL,
    TAIL,
    WORK_OF_FIT,
    cells_from_above,
    cells_from_below,
    evidence_of,
    single_bounds,
    smooth_sums,
)
from anonhist.graphs.projection import histogram
from anonhist.mechanisms import CentralMechanism, choose
from anonhist.mechanisms.bands import falling_bounds, sum_bounds
from anonhist.mechanisms.noise import Noise, add_noise, noise_quantile, of_difference, of_prevalences, of_sums
from anonhist.mechanisms.setting import cap_counts
from anonhist.mechanisms.skeletons import profile_of_fit
from anonhist.numeric.arrays import Floats, Ints
from anonhist.profiles import Profile
from anonhist.randomness import RandomSource
from anonhist.releases import Evidence, runs_with_misfit
from anonhist.releases.made import runs_fall_short


@frozen
class SurvivalDegrees(NoisyBins):
    """Release how many nodes have a degree of at least r, for r = 1..θ.

    ``φ̃_{r+} = φ_{r+} + G``, independent G with ``P(G = j) ∝ e^(−γ|j|)``. One extra node, of degree k after the
    projection, adds 1 to k of the numbers and moves at most k others by one degree: in total they change by at most 2θ
    (3θ − 2 for in- or out-degrees, if that is more), and γ is the budget divided by that. Nodes without an edge are
    never counted, so nodes need not be listed. It publishes the numbers that
    :func:`~anonhist.graphs.noisy_sums.smooth_sums` estimates, and intervals from the noisy numbers themselves
    (:func:`~anonhist.mechanisms.bands.falling_bounds`).

    Parameters
    ----------
    epsilon, relation, max_degree, direction, choice, bounding
        See :class:`~anonhist.graphs.node_mechanism.NodeMechanism`.

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
        return WORK_OF_FIT

    @property
    def predicted_error(self) -> float:
        """``7 θ^1.3 / (γθ)^0.8``."""
        return float(7 * self.max_degree**1.3 / float(self.rate * self.max_degree) ** 0.8)

    @property
    def rate(self) -> Fraction:
        """γ of the noise."""
        return self._rate(self.epsilon, self.bounding.list_distance(self.max_degree, self.direction))

    def _noisy(self, bins: Ints, noise: Noise) -> Ints:
        return add_noise(np.cumsum(bins[:0:-1])[::-1], noise(self.rate, self.max_degree))

    def _publish(self, noisy: Ints) -> tuple[Profile, None]:
        seen = noisy.astype(np.float64)
        labels = max(1.0, float(seen[0]))
        fitted = smooth_sums(seen, float(self.rate), cells_from_above(self.max_degree), labels=labels)
        return profile_of_fit(np.arange(1, self.max_degree + 1), np.minimum.accumulate(fitted)), None

    def _evidence(self, noisy: Ints, run: Run) -> Evidence:
        seen, rate = noisy.astype(np.float64), float(self.rate)
        guess = run[0].cumulative_prevalence(np.arange(1, self.max_degree + 1)).astype(np.float64)
        reaching, wider = (falling_bounds(seen, guess, rate, tail=tail) for tail in (TAIL, SINGLE_TAIL))
        # The degree sum is the sum of all φ_{r+}.
        return evidence_of(reaching, single_bounds(seen, rate, *wider), items=of_sums(noisy, rate))


# An error in the number of nodes affects every φ_{r+}, an error in another sum only one, so its share is larger.
NODES_SHARE = Fraction(3, 20)


@frozen
class CumulativeDegrees(NoisyBins):
    """Release the number n of nodes, and how many nodes have a degree of at most i, for i = 0..θ − 1.

    ``ñ = n + G`` with a share of the budget (3/20), and ``c̃_i = #{v: deg(v) ≤ i} + G`` with the rest, all G
    independent, ``P(G = j) ∝ e^(−γ|j|)``. One extra node, of degree k after the projection, adds 1 to n and to θ − k of
    the sums, and moves at most k others by one degree: n changes by 1, the sums c_0..c_{θ−1} by θ in total (2θ for in-
    or out-degrees). So γ is the first share of the budget for n, and the rest divided by θ for the sums. It publishes
    ``φ_{r+} = ñ − c_{r−1}``, where c are the sums that :func:`~anonhist.graphs.noisy_sums.smooth_sums` estimates, from
    0 to ñ, and the rest of ñ: the nodes without an edge. Intervals come from the noisy numbers themselves
    (:func:`~anonhist.mechanisms.bands.falling_bounds`).

    Source: Day and others 2016.

    Parameters
    ----------
    epsilon, relation, max_degree, direction, choice, bounding
        See :class:`~anonhist.graphs.node_mechanism.NodeMechanism`.

    Guarantees
    ----------
    Pure differential privacy for one node with all its edges. Noise is exact and added to whole numbers, so floating
    point costs nothing. Proof: docs/proofs/graphs.md.

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
        """The largest error of the released number of nodes, in 95% of releases."""
        return noise_quantile(float(self.rates[0]), 1, TAIL)

    def simulation_work(self, profile: Profile) -> int:
        """Return approximately how many numbers the fit of one run computes, independent of the number of nodes."""
        return WORK_OF_FIT

    @property
    def predicted_error(self) -> float:
        """``7 θ^1.3 / (γθ)^0.8``."""
        return float(7 * self.max_degree**1.3 / float(self.rates[1] * self.max_degree) ** 0.8)

    @property
    def releases_zeros(self) -> bool:
        """Always true: nodes are listed."""
        return True

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """γ of the number of nodes, and of the sums."""
        (_, nodes), (_, degrees) = self.steps
        # The last sum is left out, because it is n.
        distance = self.bounding.sums_distance(self.max_degree, self.direction) - 1
        return nodes / self.relation.distance, self._rate(degrees, distance)

    def _noisy(self, bins: Ints, noise: Noise) -> Ints:
        """Return ñ, then the noisy sums."""
        rate, sums_rate = self.rates
        sums = np.cumsum(bins)
        return np.concatenate(
            (add_noise(sums[-1:], noise(rate, 1)), add_noise(sums[:-1], noise(sums_rate, self.max_degree)))
        )

    def _publish(self, noisy: Ints) -> tuple[Profile, int]:
        nodes, sums_rate = max(0, int(noisy[0])), self.rates[1]
        seen = noisy[1:].astype(np.float64)
        fitted = smooth_sums(seen, float(sums_rate), cells_from_below(self.max_degree), labels=nodes)
        reaching = nodes - np.clip(np.maximum.accumulate(fitted), 0, nodes)
        profile = profile_of_fit(np.arange(1, self.max_degree + 1), reaching)
        return profile, max(0, nodes - profile.num_labels)

    def _evidence(self, noisy: Ints, run: Run) -> Evidence:
        rate, sums_rate = (float(each) for each in self.rates)
        nodes, seen = float(noisy[0]), -noisy[1:].astype(np.float64)
        guess = run[0].cumulative_prevalence(np.arange(1, self.max_degree + 1)).astype(np.float64) - max(0.0, nodes)

        def bounds(tail: float) -> tuple[Floats, Floats]:
            # Sums never fall, so their negatives never rise. A fifth of the error probability is for the number of
            # nodes.
            low, high = falling_bounds(seen, guess, sums_rate, tail=tail * 4 / 5)
            reach = noise_quantile(rate, 1, tail / 5)
            return low + nodes - reach, high + nodes + reach

        low, high = falling_bounds(seen, guess, sums_rate, tail=TAIL)
        singles = single_bounds(seen, sums_rate, *bounds(SINGLE_TAIL))
        # The degree sum is the sum of n − c_i: θ times n, minus the sum of all c_i.
        items = of_difference(int(noisy[0]), self.max_degree, rate, noisy[1:], sums_rate)
        return evidence_of(bounds(TAIL), singles, items=items, zeros=(-high[0], -low[0]))


# The name in a file.
_LISTED = {True: "listed", False: "not listed"}


@frozen
class HistogramDegrees(NoisyBins):
    """Release the number of nodes with each degree, 1..θ, and 0 if nodes are listed.

    ``φ̃_r = max(0, φ_r + G)``, independent G with ``P(G = j) ∝ e^(−γ|j|)``. One extra node, of degree k after the
    projection, adds 1 to its bin and moves at most k others from one bin to the next: in total the bins change by at
    most 2θ + 1 (4θ + 1 for in- or out-degrees), and γ is the budget divided by that.

    It is the usual method, and is included for comparison: the errors of bins add up in numbers of nodes of at least
    some degree.

    Parameters
    ----------
    epsilon, relation, max_degree, direction, choice, bounding
        See :class:`~anonhist.graphs.node_mechanism.NodeMechanism`.
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
        """Public parameters, enough to rebuild the mechanism."""
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
        """``θ^1.5 / γ``: bins err by about √2/γ each, and their sums behave like a random walk."""
        return float(self.max_degree**1.5 / float(self.rate))

    @property
    def releases_zeros(self) -> bool:
        """Whether nodes are listed."""
        return self.nodes_listed

    @property
    def rate(self) -> Fraction:
        """γ of the noise."""
        return self._rate(self.epsilon, histogram(self.max_degree, self.direction, counts_zeros=self.nodes_listed))

    def _noisy(self, bins: Ints, noise: Noise) -> Ints:
        return add_noise(bins, noise(self.rate, bins.size))

    def _publish(self, noisy: Ints) -> tuple[Profile, int | None]:
        seen = np.maximum(noisy, 0)
        present = np.flatnonzero(seen[1:]) + 1
        # Noise may produce many nodes of large degrees: no more than can be counted.
        labels = np.minimum(seen[present], (2**62 // max(1, present.size)) // np.maximum(present, 1))
        kept = labels > 0
        return Profile(present[kept], labels[kept]), int(seen[0]) if self.nodes_listed else None

    def _evidence(self, noisy: Ints, run: Run) -> Evidence:
        rate = float(self.rate)
        degrees = noisy[1:].astype(np.float64)
        alone = noise_quantile(rate, 1, TAIL)
        zeros = (float(noisy[0]) - alone, float(noisy[0]) + alone) if self.nodes_listed else None
        # Intervals hold for each k; running extremes make their ends non-increasing.
        low, high = sum_bounds(degrees, rate)
        singles = degrees - alone, degrees + alone
        return evidence_of((np.minimum(low, high), high), singles, items=of_prevalences(noisy[1:], rate), zeros=zeros)


@frozen
class PartitionDegrees(NodeMechanism):
    """Release the list of bounded degrees by a mechanism for profiles, the one that ``auto`` picks for its budget.

    One extra node, of degree k, adds the number k to the list and moves at most k others by one: the sorted list
    changes by at most 2θ in ℓ1 (3θ − 2 for in- or out-degrees, if that is more). That is the sensitivity given to the
    mechanism for profiles.

    Source: Blocki 2016, Theorem 1.

    Parameters
    ----------
    epsilon, relation, max_degree, direction, choice, bounding
        See :class:`~anonhist.graphs.node_mechanism.NodeMechanism`. With
        :class:`~anonhist.graphs.bounding.Flow` this is the algorithm of Blocki's Theorem 1, with 2θ instead of 3θ.

    Guarantees
    ----------
    ``epsilon``-differential privacy for one node with all its edges. Proof: docs/proofs/graphs.md.

    Examples
    --------
    >>> PartitionDegrees(epsilon=1, max_degree=8).central.epsilon_per_cell
    Fraction(1, 16)
    """

    method: ClassVar[str] = "partition"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.central  # noqa: B018  # refuses what is impossible

    @cached_property
    def central(self) -> CentralMechanism:
        """The mechanism for profiles."""
        budget = self._rate(self.epsilon, self.unit.max_distance) * self.l1_sensitivity
        mechanism, _ = choose(epsilon=budget, unit=self.unit, relation=self.relation)
        return mechanism

    @property
    def arithmetic(self) -> str:
        """The effect of floating point, and the conditions of the guarantee."""
        return self.central.arithmetic

    @property
    def predicted_error(self) -> float:
        """``38 γ^−0.9``, γ = ε/Δ: for graphs with a degree sum of about 10⁵."""
        return float(38 / float(self.central.epsilon_per_cell) ** 0.9)

    @property
    def runs_fall_short(self) -> str:
        """The statement of the mechanism for profiles about intervals from its runs."""
        return runs_fall_short(self.central)

    def simulate_with_misfit(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> list[tuple[Profile, float]]:
        """Return runs on a public profile of degrees, each with its misfit, if the mechanism for profiles reports it.

        Raises
        ------
        UsageError
            If it does not report it.
        """
        runs = runs_with_misfit(self.central, cap_counts(profile, self.max_degree), size=size, rng=rng)
        return [(self._cap(run), misfit) for run, misfit in runs]

    def _release_bins(self, bins: Ints, source: RandomSource) -> tuple[Run, Evidence | None]:
        released = self.central.release(self._profile(bins), source=source)
        found = released.evidence
        evidence = None
        if found is not None:
            singles = None if found.prevalences is None else found.prevalences.up_to(self.max_degree)
            evidence = replace(found, band=found.band.up_to(self.max_degree), prevalences=singles)
        return (self._cap(released.profile), None), evidence

    def _simulate_bins(self, bins: Ints, size: int, rng: np.random.Generator) -> Sequence[Run]:
        return [(self._cap(run), None) for run in self.central.simulate(self._profile(bins), size=size, rng=rng)]

    def _cap(self, profile: Profile) -> Profile:
        """Clip degrees above θ, which no node has: post-processing that can only reduce the error."""
        return cap_counts(profile, self.max_degree)

    def _profile(self, bins: Ints) -> Profile:
        present = np.flatnonzero(bins[1:]) + 1
        return Profile(present, bins[present], unit=self.unit)


# The first of several with the same predicted error is picked.
NODE_MECHANISMS: dict[str, type[NodeMechanism]] = {
    each.method: each for each in (SurvivalDegrees, CumulativeDegrees, PartitionDegrees, HistogramDegrees)
}
