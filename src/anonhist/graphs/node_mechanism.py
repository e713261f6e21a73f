"""Base class of releases of degrees with node privacy: bounded degrees, a budget, a guarantee."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from fractions import Fraction
from typing import Any, ClassVar, Self, SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, converted, derived, frozen, named
from anonhist.graphs.bounding import CHOICE_PARAMETERS, Bounding, DegreeChoice, Flow, Projection, named_bounding
from anonhist.graphs.graph import DEGREES, Direction, EdgePolicy, Graph, check_direction, text_of
from anonhist.mechanisms.noise import Noise, exact_noise, simulated_noise
from anonhist.mechanisms.setting import Setting, make_release, member_of, without_sizes
from anonhist.numeric.arrays import Ints
from anonhist.numeric.pulse import pulsing
from anonhist.privacy import (
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
    short_decimal,
)
from anonhist.profiles import Profile
from anonhist.randomness import RandomSource, SystemSource
from anonhist.releases import Evidence, Release
from anonhist.releases.made import ReleaseKind

# A profile, and the number of nodes without an edge if that is released.
Run = tuple["Profile", int | None]

LARGEST_MAX_DEGREE = 2**20
SMALLEST_RATE = Fraction(1, 10**9)
# Parameters of all methods in a file.
_PARAMETERS = ("epsilon", "max_degree", "direction", "relation", "bounding")
# Conditions of the guarantee, which no program can check.
NAMES_STAY = "each node has the same name whichever other nodes there are"
# If nodes are listed, an added or removed node also changes the list, but one whose edges change stays on it.
LIST_STAYS = {
    NeighboringRelation.ADD_OR_REMOVE: "the list of nodes, which is as private as the nodes and must not be public, "
    "has each node whichever others there are",
    NeighboringRelation.SUBSTITUTE: "the list of nodes, which is public, does not depend on the edges",
}
NEEDS_NODES = (
    "With node privacy, the number of nodes can be released only if a list of nodes was read (`nodes`): without one, a "
    "single node decides whether its neighbors count as nodes."
)


@frozen
class NodeMechanism(Setting, ABC):
    """Degrees of a graph with node privacy: bounded first, then released.

    Edges are left out until no node has more than θ, so that one node, however many edges it has, changes the counts by
    at most a public number, to which noise is calibrated. Edges left out are missing from the release, and its stated
    errors do not cover them.

    Parameters
    ----------
    epsilon
        The budget of the degrees, > 0; a choice of θ has its own.
    relation
        Neighbors differ by a node, with any edges, that is added or removed, or whose edges are replaced by others.
    max_degree
        θ, from 1 to 2^20: public, or chosen by ``choice``.
    direction
        Which degrees are counted.
    choice
        How θ was chosen and with which budget; None if it was given.
    bounding
        How edges are left out: :class:`~anonhist.graphs.bounding.Projection` or
        :class:`~anonhist.graphs.bounding.Flow`.

    Attributes
    ----------
    unit
        A node, with the largest distance by which it moves the list of bounded degrees.

    Raises
    ------
    UsageError
        If a number is out of range, or ε is too small.
    """

    kind: ClassVar[ReleaseKind] = DEGREES
    method: ClassVar[str]
    # Parameters specific to a method.
    own_parameters: ClassVar[tuple[str, ...]] = ()
    # Only the budget per distance matters, which is checked below.
    smallest_epsilon_per_cell: ClassVar[Fraction] = Fraction(0)

    unit: Converted[Any, PrivacyUnit] = derived(
        lambda self: PrivacyUnit.node(
            max_distance=self.bounding.list_distance(self.max_degree, self.direction), max_degree=self.max_degree
        )
    )
    _: KW_ONLY
    max_degree: Converted[SupportsIndex, int] = named(parse_whole_number, most=LARGEST_MAX_DEGREE)
    direction: Checked[Direction] = converted(check_direction, default=Direction.UNDIRECTED)
    choice: DegreeChoice | None = None
    bounding: Bounding = Projection()  # It is a frozen value.

    def __post_init__(self) -> None:
        if not isinstance(self.bounding, Projection | Flow) or not isinstance(self.choice, DegreeChoice | None):
            raise UsageError("`bounding` must be Projection() or Flow(), and `choice` a DegreeChoice or None.")
        super().__post_init__()
        distance = self.unit.max_distance
        if self.choice is not None and self.max_degree not in self.choice.candidates:
            raise UsageError("The largest degree must be one of the candidates.")
        if self.epsilon / distance < SMALLEST_RATE:
            raise UsageError(
                f"`epsilon` = {short_decimal(self.epsilon)} is too small for degrees up to {self.max_degree:,}; give "
                "more, or a smaller `max_degree`."
            )

    @property
    def name(self) -> str:
        """The name in a release file: ``node-`` and the method."""
        return f"node-{self.method}"

    @property
    def policy(self) -> EdgePolicy:
        """What counts as an edge: self-loops are left out, and equal edges count once."""
        return EdgePolicy(self.direction)

    @property
    def nodes_reach(self) -> int | None:
        """The largest error of the released number of nodes, in 95% of releases; None if it has no separate noise."""
        return None

    @property
    def steps(self) -> tuple[tuple[str, Fraction], ...]:
        """The budget of each step of the release, without the choice of θ."""
        return (("degrees", self.epsilon),)

    def _rate(self, epsilon: Fraction, distance: int) -> Fraction:
        """Return γ for numbers that one node moves by ``distance``, from this budget."""
        return self.bounding.rate(epsilon, distance * self.relation.distance)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Conditions of the guarantee."""
        return (NAMES_STAY, LIST_STAYS[self.relation]) if self.releases_zeros else (NAMES_STAY,)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one release, including the choice of θ."""
        chosen = () if self.choice is None else (("choosing the largest degree", self.choice.epsilon),)
        steps = (*chosen, *self.steps)
        spending = steps if len(steps) > 1 else ()
        total = sum((spent for _, spent in steps), Fraction(0))
        return Guarantee(
            self.unit, self.relation, total, self.delta, self.arithmetic, spending, conditions=self.conditions
        )

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters as text and whole numbers, enough to rebuild the mechanism."""
        return {
            "epsilon": short_decimal(self.epsilon),
            "max_degree": self.max_degree,
            "direction": self.direction.value,
            "relation": self.relation.value,
            "bounding": self.bounding.name,
            **({} if self.choice is None else self.choice.parameters),
        }

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, object]) -> Self:
        """Rebuild a mechanism from its :attr:`parameters`.

        Raises
        ------
        UsageError
            If they are not parameters of this mechanism.
        """
        names = {*_PARAMETERS, *cls.own_parameters, *(parameters.keys() & CHOICE_PARAMETERS)}
        if parameters.keys() != names:
            raise UsageError(f"they must be {', '.join(sorted(names))}.")
        max_degree: Any = parameters["max_degree"]
        return cls(
            parse_epsilon(text_of(parameters, "epsilon")),
            relation=member_of(NeighboringRelation, parameters["relation"], "relation"),
            max_degree=max_degree,
            direction=member_of(Direction, parameters["direction"], "direction"),
            choice=DegreeChoice.from_parameters(parameters),
            bounding=named_bounding(parameters["bounding"]),
            **cls._own({name: parameters[name] for name in cls.own_parameters}),
        )

    @classmethod
    def _own(cls, parameters: dict[str, object]) -> dict[str, Any]:
        return parameters

    @property
    @abstractmethod
    def predicted_error(self) -> float:
        """Approximate sorted ℓ1 error due to noise, from public numbers alone, for choosing a mechanism."""

    @property
    def releases_zeros(self) -> bool:
        """Whether the number of nodes without an edge is released."""
        return False

    def release(self, graph: Graph, *, source: RandomSource | None = None, reason: str | None = None) -> Release:
        """Spend the budget once on a private graph; the budget of a choice of θ must already be spent.

        Parameters
        ----------
        graph
            The private data.
        source
            Privacy randomness; the operating system's by default.
        reason
            Why this mechanism was picked; recorded in the release.

        Raises
        ------
        UsageError
            If the graph counts other degrees, self-loops or duplicates, or does not list its nodes although the number
            of nodes without edges would be released.
        DataError
            If there is not enough memory.
        """
        if graph.policy.direction is not self.direction:
            raise UsageError("The mechanism and the graph must count degrees of the same direction.")
        if self.releases_zeros and not graph.nodes_listed:
            raise UsageError(NEEDS_NODES)
        randomness = source or SystemSource()
        with without_sizes():
            degrees = self.bounding.degrees(graph, self.max_degree, randomness)
            bins = np.bincount(degrees, minlength=self.max_degree + 1).astype(np.int64)
            (profile, zeros), evidence = self._release_bins(bins, randomness)
        return make_release(profile, self, reason=reason, zeros=zeros, evidence=evidence)

    def impossible(self, profile: Profile, items: int | None) -> str:
        """Return a message if a degree is above θ."""
        is_above = bool(profile.k_plus(self.max_degree + 1))
        return super().impossible(profile, items) or ("a degree is above the bound on degrees" if is_above else "")

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile of degrees, with simulation randomness; no edges are left out."""
        return [run for run, _ in self.simulate_with_zeros(profile, 0, size=size, rng=rng)]

    def simulate_with_zeros(
        self, profile: Profile, zeros: int, *, size: int, rng: np.random.Generator
    ) -> Sequence[tuple[Profile, int]]:
        """Return the same with numbers of nodes of degree 0; the public data have ``zeros`` of them."""
        bins = np.zeros(self.max_degree + 1, dtype=np.int64)
        np.add.at(bins, np.minimum(profile.counts, self.max_degree), profile.prevalences)
        bins[0] = zeros
        return [(run, drawn or 0) for run, drawn in self._simulate_bins(bins, size, rng)]

    @abstractmethod
    def _release_bins(self, bins: Ints, source: RandomSource) -> tuple[Run, Evidence | None]:
        """Release the number of nodes of each degree 0..θ, and evidence from noisy values that are not published.

        Bin 0 may be used only if nodes are listed.
        """

    @abstractmethod
    def _simulate_bins(self, bins: Ints, size: int, rng: np.random.Generator) -> Sequence[Run]:
        """Do the same on public numbers, ``size`` times."""


@frozen
class NoisyBins(NodeMechanism, ABC):
    """A mechanism that adds noise to sums of bins, and publishes a function of them."""

    def _release_bins(self, bins: Ints, source: RandomSource) -> tuple[Run, Evidence | None]:
        noisy = self._noisy(bins, exact_noise(source))
        run = self._publish(noisy)
        return run, self._evidence(noisy, run)

    def _simulate_bins(self, bins: Ints, size: int, rng: np.random.Generator) -> Sequence[Run]:
        return list(pulsing(self._run(bins, simulated_noise(rng)) for _ in range(size)))

    def _run(self, bins: Ints, noise: Noise) -> Run:
        return self._publish(self._noisy(bins, noise))

    @abstractmethod
    def _noisy(self, bins: Ints, noise: Noise) -> Ints:
        """Spend the budget: return numbers with noise."""

    @abstractmethod
    def _publish(self, noisy: Ints) -> Run:
        """Return the published numbers, a function of the noisy ones."""

    @abstractmethod
    def _evidence(self, noisy: Ints, run: Run) -> Evidence:
        """Return intervals for the true numbers, from the noisy ones alone; the published ones guide the search."""
