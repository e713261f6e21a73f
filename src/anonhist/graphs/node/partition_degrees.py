"""Node privacy: the list of bounded degrees as a partition, released as the profiles of other data are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.graphs.node.node_mechanism import NodeMechanism, Run
from anonhist.mechanisms import CentralMechanism, choose
from anonhist.mechanisms.exponential.calibration import band_delta
from anonhist.mechanisms.setting import cap_counts
from anonhist.profiles import Profile
from anonhist.releases import Evidence, runs_with_misfit
from anonhist.releases.protocols import runs_fall_short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource


@frozen
class PartitionDegrees(NodeMechanism):
    """Release the list of bounded degrees by a mechanism for profiles, the one that ``auto`` picks for its budget.

    One extra node, of degree k, adds the number k to the list and moves at most k others by one: the sorted list
    changes by at most 2θ in ℓ1 (3θ − 2 for in- or out-degrees, if that is more). That is the sensitivity given to the
    mechanism for profiles.

    Parameters
    ----------
    epsilon, relation, max_degree, direction, choice, bounding
        See :class:`~anonhist.graphs.node.node_mechanism.NodeMechanism`. With
        :class:`~anonhist.graphs.node.bounding.Flow` this is the algorithm of Blocki's Theorem 1, with 2θ instead of 3θ.

    Guarantees
    ----------
    ``(epsilon, δ)``-differential privacy for one node with all its edges, δ that of the mechanism for profiles: zero
    if ε/Δ is below 1.1. Proof: docs/proofs/graphs.md.

    References
    ----------
    .. [1] J. Blocki, "Differentially private integer partitions and their applications", 2016, Theorem 1.

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
    def delta(self) -> Fraction:
        """δ of the mechanism for profiles, for this budget."""
        return band_delta(self.epsilon) if self.central.delta else Fraction(0)

    @property
    def arithmetic(self) -> str:
        """The effect of floating point, and what the guarantee rests on."""
        return self.central.arithmetic

    @property
    def predicted_error(self) -> float:
        """``38 γ^−0.9``, γ = ε/Δ: for graphs with a degree sum of about 10⁵."""
        return float(38 / float(self.central.epsilon_per_cell) ** 0.9)

    @property
    def runs_fall_short(self) -> str:
        """What the mechanism for profiles states about intervals from its runs."""
        return runs_fall_short(self.central)

    @property
    def releases_zeros(self) -> bool:
        """No: a profile has none."""
        return False

    def simulate_with_misfit(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> list[tuple[Profile, float]]:
        """Return runs on a public profile of degrees, each with its misfit, if the mechanism for profiles reports it.

        Raises
        ------
        UsageError
            If it does not.
        """
        runs = runs_with_misfit(self.central, cap_counts(profile, self.max_degree), size=size, rng=rng)
        return [(self._cap(run), misfit) for run, misfit in runs]

    def _release_bins(self, bins: NDArray[np.int64], source: RandomSource) -> tuple[Run, Evidence | None]:
        released = self.central.release(self._profile(bins), source=source)
        found = released.evidence
        evidence = None
        if found is not None:
            singles = None if found.prevalences is None else found.prevalences.up_to(self.max_degree)
            evidence = replace(found, band=found.band.up_to(self.max_degree), prevalences=singles)
        return (self._cap(released.profile), None), evidence

    def _simulate_bins(self, bins: NDArray[np.int64], size: int, rng: np.random.Generator) -> Sequence[Run]:
        return [(self._cap(run), None) for run in self.central.simulate(self._profile(bins), size=size, rng=rng)]

    def _cap(self, profile: Profile) -> Profile:
        """Clip degrees above θ, which no node has: post-processing that can only reduce the error."""
        return cap_counts(profile, self.max_degree)

    def _profile(self, bins: NDArray[np.int64]) -> Profile:
        present = np.flatnonzero(bins[1:]) + 1
        return Profile(present, bins[present], unit=self.unit)
