"""Edge privacy: the guarantee, and any mechanism for profiles with the number of degrees that an edge changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, SupportsIndex

import numpy as np

from anonhist.catalogue import MECHANISMS, PUBLIC_NUMBERS
from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, converted, frozen, optional
from anonhist.graphs.graph import DEGREES, Degrees, EdgePolicy, Graph
from anonhist.mechanisms import MECHANISM_NAMES, CentralMechanism, choose
from anonhist.mechanisms.picking import check_name, named_mechanism
from anonhist.mechanisms.setting import cap_counts, check_relation, make_release, without_sizes
from anonhist.privacy import EpsilonLike, Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon, parse_whole_number
from anonhist.profiles import Profile
from anonhist.randomness import RandomSource
from anonhist.releases import Evidence, Release
from anonhist.releases.evidence import runs_with_misfit
from anonhist.releases.made import ReleaseKind, runs_fall_short, simulation_work

_public_nodes = optional(partial(parse_whole_number, name="public_nodes", most=2**31))


@frozen
class EdgeMechanism:
    """Degrees of a graph with edge privacy: a public, frozen, printable value.

    One extra edge adds one to two degrees (to one in- or out-degree), so the sorted list of degrees moves by 2 (by 1)
    in ℓ1: that is the sensitivity. Neighbors have the same nodes.

    Parameters
    ----------
    central
        A mechanism for profiles whose unit is the edge of this policy.
    policy
        What counts as an edge.
    public_nodes
        Number of nodes, isolated ones included, if it is public. Then the number of nodes of degree 0 is released as
        well, and released values never exceed what this number allows.

    Raises
    ------
    UsageError
        If the mechanism protects something else, or the number is not a whole number from 1 to 2^31.

    Guarantees
    ----------
    The guarantee of the mechanism, for one edge; the rest is post-processing. Data with more nodes than
    ``public_nodes`` are visibly refused. Proof: docs/proofs/graphs.md.

    Examples
    --------
    >>> from anonhist.mechanisms import FrobeniusMechanism
    >>> from anonhist.graphs.graph import EdgePolicy
    >>> edges = EdgeMechanism(FrobeniusMechanism(1, PrivacyUnit.edge()), EdgePolicy(), public_nodes=100)
    >>> edges.parameters["epsilon"], edges.parameters["public_nodes"], edges.central.epsilon_per_cell
    ('1', 100, Fraction(1, 2))
    """

    kind: ClassVar[ReleaseKind] = DEGREES

    central: CentralMechanism
    policy: EdgePolicy
    public_nodes: Converted[SupportsIndex | None, int | None] = converted(_public_nodes, default=None)

    def __post_init__(self) -> None:
        if self.central.unit != PrivacyUnit.edge(degrees=self.policy.degrees_per_edge):
            raise UsageError("The mechanism's unit must be the edge of this policy.")

    @property
    def name(self) -> str:
        """The name in a release file: ``edge-`` and the name of the mechanism for profiles."""
        return f"edge-{self.central.name}"

    @property
    def nodes_reach(self) -> int | None:
        """0 if the number of nodes is public; None otherwise."""
        return None if self.public_nodes is None else 0

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters as text and whole numbers, enough to rebuild the mechanism."""
        return {
            **self.central.parameters,
            "direction": self.policy.direction.value,
            "self_loops": self.policy.self_loops,
            "duplicates": self.policy.duplicates,
            **({} if self.public_nodes is None else {"public_nodes": self.public_nodes}),
        }

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one release."""
        promise = self.central.guarantee
        nodes = "which nodes there are is not protected"
        if self.public_nodes is not None:
            nodes = f"that there are {self.public_nodes:,} nodes must be public knowledge"
        return replace(promise, arithmetic=f"{promise.arithmetic}; {nodes}")

    def release(
        self, graph: Graph | Degrees, *, source: RandomSource | None = None, reason: str | None = None
    ) -> Release:
        """Spend the budget once on private degrees.

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
            If the graph was read with another policy, or has more nodes than ``public_nodes``.
        DataError
            If there is not enough memory.
        """
        with without_sizes():
            degrees = graph.degree_profile() if isinstance(graph, Graph) else graph
        if degrees.policy != self.policy:
            raise UsageError("The graph was read with a different policy from the mechanism's.")
        if (
            self.public_nodes is not None
            and max(degrees.num_nodes or 0, degrees.profile.num_labels) > self.public_nodes
        ):
            raise UsageError(
                "`public_nodes` is below the number of nodes in the data: give the true number, if it is public."
            )
        drawn = self.central.release(degrees.profile, source=source)
        profile = self._possible(drawn.profile)
        evidence = None if drawn.evidence is None else self.evidence(drawn.evidence)
        return make_release(
            profile,
            self,
            reason=reason,
            items=drawn.items,
            zeros=self._zeros(profile),
            draw=None if drawn.draw is None else self._possible(drawn.draw),
            evidence=evidence,
        )

    def evidence(self, found: Evidence) -> Evidence:
        """Return evidence from noisy values; if the number of nodes is known, it includes nodes without an edge.

        All other nodes have a degree of 1 or more, so φ_0 and its interval follow from their number.
        """
        if self.public_nodes is None:
            return found
        singles = None if found.prevalences is None else found.prevalences.of_no_more(self.public_nodes)
        band = found.band.of_no_more(self.public_nodes)
        low, high = (int(end) for end in band.at(1))
        return replace(found, band=band, prevalences=singles, zeros=(self.public_nodes - high, self.public_nodes - low))

    @property
    def runs_fall_short(self) -> str:
        """The statement of the mechanism for profiles about intervals from its runs."""
        return runs_fall_short(self.central)

    def simulation_work(self, profile: Profile) -> int:
        """Return the work of the wrapped mechanism."""
        return simulation_work(self.central, profile)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile of degrees, with simulation randomness."""
        return [self._possible(run) for run in self.central.simulate(profile, size=size, rng=rng)]

    def simulate_with_misfit(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> list[tuple[Profile, float]]:
        """Return the same, each with its misfit, if the mechanism for profiles reports it.

        Raises
        ------
        UsageError
            If it does not report it.
        """
        runs = runs_with_misfit(self.central, profile, size=size, rng=rng)
        return [(self._possible(run), misfit) for run, misfit in runs]

    def simulate_with_zeros(
        self, profile: Profile, zeros: int, *, size: int, rng: np.random.Generator
    ) -> Sequence[tuple[Profile, int]]:
        """Return the same with numbers of nodes of degree 0: the rest of the public number of nodes."""
        return [(run, self._zeros(run) or 0) for run in self.simulate(profile, size=size, rng=rng)]

    def _zeros(self, profile: Profile) -> int | None:
        return None if self.public_nodes is None else self.public_nodes - profile.num_labels

    def _possible(self, profile: Profile) -> Profile:
        """Clip values that a public number of nodes rules out; this can only reduce the error."""
        if self.public_nodes is None:
            return profile
        if self.policy.is_simple:
            profile = cap_counts(profile, self.public_nodes - 1) if self.public_nodes > 1 else Profile([], [])
        beyond = profile.num_labels - self.public_nodes
        if beyond <= 0:
            return profile
        kept = np.minimum(profile.prevalences, np.maximum(np.cumsum(profile.prevalences) - beyond, 0))
        return Profile(profile.counts[kept > 0], kept[kept > 0], unit=profile.unit)


@frozen
class EdgePrivacy:
    """Protect every single edge; the nodes are not protected.

    Parameters
    ----------
    public_nodes
        Number of nodes, isolated ones included, if it is public. It makes releases slightly more accurate, and adds the
        number of nodes of degree 0. By default, nodes without an edge are not released, and the number of nodes with an
        edge is as private as the edges.
    relation
        Neighbors differ by an edge that is added or removed, or replaced by another.

    Raises
    ------
    UsageError
        If a parameter is impossible.

    Examples
    --------
    >>> EdgePrivacy(public_nodes=4_039).relation.distance
    1
    """

    public_nodes: Converted[SupportsIndex | None, int | None] = converted(_public_nodes, default=None)
    relation: Checked[NeighboringRelation] = converted(check_relation, default=NeighboringRelation.ADD_OR_REMOVE)

    def prepare(
        self, policy: EdgePolicy, *, nodes_listed: bool, epsilon: EpsilonLike, mechanism: object
    ) -> PreparedEdges:
        """Prepare the release of a graph of this policy; see :func:`anonhist.graphs.release.prepare_degrees`."""
        if not isinstance(mechanism, str):
            raise UsageError(
                f"With edge privacy, `mechanism` must be one of {', '.join(MECHANISM_NAMES)}, not {mechanism!r:.80}."
            )
        check_name(mechanism)
        unit = PrivacyUnit.edge(degrees=policy.degrees_per_edge)
        if mechanism == "auto":
            chosen, reason = choose(epsilon=epsilon, unit=unit, relation=self.relation)
            return PreparedEdges(EdgeMechanism(chosen, policy, self.public_nodes), reason)
        options = self._options(policy, mechanism)
        try:
            named = named_mechanism(mechanism, parse_epsilon(epsilon), unit, self.relation, options)
        except UsageError as error:
            if error.parameters.isdisjoint(options):
                raise
            message = f"`public_nodes` is too large for `mechanism={mechanism!r}`; choose another mechanism."
            raise UsageError(message) from None
        return PreparedEdges(EdgeMechanism(named, policy, self.public_nodes), None)

    def _options(self, policy: EdgePolicy, mechanism: str) -> dict[str, Any]:
        """Return the public number that the mechanism needs, derived from the number of nodes."""
        needed = next((option for option in MECHANISMS[mechanism].options if option in PUBLIC_NUMBERS), None)
        if needed is None:
            return {}
        if self.public_nodes is None or not (policy.is_simple or needed == "public_labels"):
            raise UsageError(
                f"`mechanism={mechanism!r}` needs the number of nodes (`public_nodes`), and edges without self-loops "
                "and duplicates; choose another mechanism."
            )
        largest = max(1, self.public_nodes - 1)
        numbers = {
            "public_labels": self.public_nodes,
            "public_cap": largest,
            "public_items": self.public_nodes * largest,
        }
        return {needed: numbers[needed]}


@dataclass(frozen=True)
class PreparedEdges:
    """A release with edge privacy, prepared without its graph; ``reason`` is None if the mechanism was named."""

    mechanism: EdgeMechanism
    reason: str | None

    @property
    def dearest(self) -> EdgeMechanism:
        """The mechanism with whose cost the release is charged."""
        return self.mechanism

    def release(self, graph: Graph | Degrees, *, source: RandomSource | None = None) -> Release:
        """Spend the budget once on private degrees."""
        return self.mechanism.release(graph, source=source, reason=self.reason)
