"""Ways to bound degrees, so that one node with any number of edges changes them by at most a public number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol, Self, SupportsIndex

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.graphs.flow import degree_flow, degree_flow_distance, randomized_rounding, rounded_epsilon
from anonhist.graphs.graph import Direction, Graph, text_of
from anonhist.graphs.projection import cumulative_histogram, project, sorted_list
from anonhist.mechanisms.choosing import least_loss
from anonhist.numeric.arrays import Ints
from anonhist.privacy import EpsilonLike, NeighboringRelation, parse_epsilon, short_decimal
from anonhist.profiles.chosen_bound import listed_candidates, parse_candidates, written_candidates
from anonhist.randomness import RandomSource, SystemSource


class Bounding(Protocol):
    """A way to bound degrees: frozen and public."""

    name: ClassVar[str]

    def degrees(self, graph: Graph, max_degree: int, source: RandomSource) -> Ints:
        """Return the degree of every node, from 0 to ``max_degree``, shape (num_nodes,)."""

    def list_distance(self, max_degree: int, direction: Direction) -> int:
        """Return how far, in ℓ1, one node moves the sorted list of degrees, and so the numbers φ_{r+}, r = 1..θ."""

    def sums_distance(self, max_degree: int, direction: Direction) -> int:
        """Return how far, in ℓ1, one node moves the numbers of nodes of degree ≤ i, i = 0..θ, if nodes are listed."""

    def rate(self, epsilon: Fraction, distance: int) -> Fraction:
        """Return the rate γ per unit of either distance at which noise makes a release ``epsilon``-private."""


@dataclass(frozen=True)
class Projection:
    """Leave out edges one by one, in graphs of any size: :func:`~anonhist.graphs.projection.project`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> Projection().rate(Fraction(1), 16)
    Fraction(1, 16)
    """

    name: ClassVar[str] = "projection"

    def degrees(self, graph: Graph, max_degree: int, source: RandomSource) -> Ints:
        """Return the degrees of the projection, which is deterministic."""
        return project(graph, max_degree)

    def list_distance(self, max_degree: int, direction: Direction) -> int:
        """Return 2θ, or with directions max(2θ, 3θ − 2): see :mod:`anonhist.graphs.projection`."""
        return sorted_list(max_degree, direction)

    def sums_distance(self, max_degree: int, direction: Direction) -> int:
        """Return θ + 1, or with directions 2θ + 1 (2 for θ = 1): see :mod:`anonhist.graphs.projection`."""
        return cumulative_histogram(max_degree, direction)

    def rate(self, epsilon: Fraction, distance: int) -> Fraction:
        """Return ``epsilon / distance``."""
        return epsilon / distance


@dataclass(frozen=True)
class Flow:
    """Keep as much of every edge as the bound allows: see :func:`~anonhist.graphs.flow.degree_flow`.

    No choice of edges within the bound keeps more. It solves a flow problem exactly, which takes seconds for a graph of
    about 10⁵ edges. The degrees are fractions, which are rounded at random, and noise has the rate
    ``γ = ln(1 + ε/Δ) ≈ ε/Δ − (ε/Δ)²/2`` (docs/proofs/graphs.md).

    Examples
    --------
    >>> from fractions import Fraction
    >>> 0 < Fraction(1, 16) - Flow().rate(Fraction(1), 16) < Fraction(1, 16) ** 2 / 2
    True
    """

    name: ClassVar[str] = "flow"

    def degrees(self, graph: Graph, max_degree: int, source: RandomSource) -> Ints:
        """Return the degrees of the flow, rounded at random."""
        return randomized_rounding(degree_flow(graph, max_degree), source=source)

    def list_distance(self, max_degree: int, direction: Direction) -> int:
        """Return 2θ, or 3θ with directions: see :func:`~anonhist.graphs.flow.degree_flow_distance`."""
        return degree_flow_distance(direction, max_degree)

    def sums_distance(self, max_degree: int, direction: Direction) -> int:
        """Return θ + 1, or 2θ + 1 with directions."""
        return (2 if direction.is_directed else 1) * max_degree + 1

    def rate(self, epsilon: Fraction, distance: int) -> Fraction:
        """Return ``ln(1 + epsilon/distance)``, rounded down."""
        return rounded_epsilon(epsilon, distance)


BOUNDINGS: dict[str, Bounding] = {each.name: each for each in (Projection(), Flow())}


def named_bounding(name: object) -> Bounding:
    """Return a way to bound degrees by its name."""
    if not isinstance(name, str) or name not in BOUNDINGS:
        raise UsageError(f"Degrees are bounded by {' or '.join(BOUNDINGS)}, not {name!r:.80}.")
    return BOUNDINGS[name]


CHOICE_PARAMETERS = {"choice_epsilon", "choice_candidates"}
CANDIDATES = tuple(2**power for power in range(13))
# How much the choice favors small candidates, because wrongly chosen large ones have the largest errors (measured): at
# 64, in units of the sensitivity divided by ε; elsewhere in proportion to the square root of the candidate.
_CAUTION, _CAUTION_AT = 2, 64


@frozen
class DegreeChoice:
    """A private choice of θ, the bound on degrees, that weighs edges left out against noise.

    A candidate's loss is ``q_θ = noise_θ − kept_θ + 2Δ_θ (θ/64)^½ / ε``: noise_θ is the error predicted from public
    numbers, kept_θ the degree sum that is kept, ``Δ_θ = 2θ``, and the last term a safety margin. One extra node raises
    kept_θ by 0 to Δ_θ, so ``s_θ = max_j (q_θ − q_j) / max(Δ_θ, Δ_j)`` changes by at most 1: the high sensitivity of
    large candidates does not blur small ones. The lowest score is 0, that of the lowest loss. Each candidate enters a
    draw with probability ``exp(−ε s_θ / 2)``, and one of the entrants is drawn uniformly.

    Source: Raskhodnikova and Smith 2016, scores for candidates of different sensitivities; McKenna and Sheldon 2020;
    Day and others 2016, the loss, with one sensitivity for all candidates.

    Parameters
    ----------
    epsilon
        The budget of the choice, > 0.
    candidates
        Ascending whole numbers from 1 to 2^20, at most 64: a public list, chosen without looking at the data.

    Raises
    ------
    UsageError
        If a parameter is invalid.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy. Scores and coins are exact, so floating point costs nothing. Proof:
    docs/proofs/graphs.md.

    Examples
    --------
    >>> from anonhist.privacy import NeighboringRelation
    >>> choice = DegreeChoice(epsilon=50, candidates=(1, 8, 64))
    >>> kept, noise = {1: 10, 8: 5_000, 64: 5_100}, {1: 1.0, 8: 20.0, 64: 9_000.0}
    >>> choice.draw(kept, noise, NeighboringRelation.ADD_OR_REMOVE)
    8
    """

    epsilon: Converted[EpsilonLike, Fraction] = converted(parse_epsilon)
    candidates: Converted[Iterable[SupportsIndex], tuple[int, ...]] = converted(parse_candidates, default=CANDIDATES)

    @property
    def parameters(self) -> Mapping[str, str]:
        """Public parameters, as text."""
        return {"choice_epsilon": short_decimal(self.epsilon), "choice_candidates": listed_candidates(self.candidates)}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, object]) -> Self | None:
        """Rebuild a choice from the :attr:`parameters` of a mechanism; None if θ was given.

        Raises
        ------
        UsageError
            If they are not parameters of a choice.
        """
        given = parameters.keys() & CHOICE_PARAMETERS
        if not given:
            return None
        if given != CHOICE_PARAMETERS:
            raise UsageError(f"{' and '.join(sorted(CHOICE_PARAMETERS))} must be given together.")
        listed = text_of(parameters, "choice_candidates")
        candidates = written_candidates(listed, "the candidates must be whole numbers with commas between them.")
        return cls(parse_epsilon(text_of(parameters, "choice_epsilon")), candidates)

    def draw(
        self,
        kept: Mapping[int, int],
        noise: Mapping[int, float],
        relation: NeighboringRelation,
        *,
        source: RandomSource | None = None,
    ) -> int:
        """Spend the budget once: choose a candidate.

        Parameters
        ----------
        kept
            The degree sum that each candidate keeps: private.
        noise
            The error due to noise with each: public, ≥ 0.
        relation
            Which data sets are neighbors.
        source
            Privacy randomness; the operating system's by default.
        """
        randomness, candidates = source or SystemSource(), self.candidates
        # The term added to the loss of each candidate is public.
        cautions = [_CAUTION * 2 * each * Fraction((each / _CAUTION_AT) ** 0.5) / self.epsilon for each in candidates]
        losses = [Fraction(noise[bound]) - kept[bound] + more for bound, more in zip(candidates, cautions, strict=True)]
        rate = self.epsilon / (2 * relation.distance)
        return candidates[least_loss(losses, [2 * each for each in candidates], rate, source=randomness)]
