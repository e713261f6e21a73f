"""Node privacy: the guarantee, and how degrees are bounded and released."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, SupportsIndex, get_args

import numpy as np

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, converted, frozen, named
from anonhist.graphs.bounding import CANDIDATES, DegreeChoice, named_bounding
from anonhist.graphs.flow import edge_count_flow, edge_count_flow_distance
from anonhist.graphs.graph import Degrees, Direction, EdgePolicy, Graph
from anonhist.graphs.node_degrees import NODE_MECHANISMS, CumulativeDegrees, HistogramDegrees
from anonhist.graphs.node_mechanism import NAMES_STAY, NEEDS_NODES, SMALLEST_RATE, NodeMechanism
from anonhist.graphs.projection import project_each
from anonhist.mechanisms.noise import add_noise, exact_noise
from anonhist.mechanisms.setting import NOISE_IS_EXACT, check_relation, without_sizes
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
    short_decimal,
)
from anonhist.profiles.chosen_bound import parse_candidates
from anonhist.properties.estimate import Estimate
from anonhist.randomness import RandomSource, discrete_laplace_variance
from anonhist.releases import Release
from anonhist.releases.content import estimates_digest

MethodName = Literal["auto", "cumulative", "survival", "histogram", "partition"]
METHODS: tuple[MethodName, ...] = get_args(MethodName)
BoundingName = Literal["projection", "flow"]
# Share of the budget for a choice of the largest degree.
CHOICE_SHARE = Fraction(1, 4)


def parse_method(given: object, *, name: str) -> MethodName:
    """Return the name of a method; refuse everything else. ``name`` is the parameter that gave it."""
    for method in METHODS:
        if given == method:
            return method
    raise UsageError(f"`{name}` must be one of {', '.join(METHODS)}, not {given!r:.80}.")


def _max_degree(given: SupportsIndex | Literal["auto"]) -> int | Literal["auto"]:
    if isinstance(given, str):
        if given != "auto":
            raise UsageError(f"`max_degree` must be a whole number or 'auto', not {given!r:.80}.")
        return given
    return parse_whole_number(given, name="max_degree", most=2**20)


def _choice_share(given: EpsilonLike) -> Fraction:
    share = parse_epsilon(given, name="choice_share")
    if share >= 1:
        raise UsageError("`choice_share` must be below 1: the rest of the budget releases the degrees.")
    return share


@frozen
class BoundedDegrees:
    """How to release degrees with node privacy: bound them first, then add noise to them.

    Parameters
    ----------
    max_degree
        θ: edges are left out until no node has more than θ. A public number from 1 to 2^20, or ``"auto"``: chosen from
        ``candidates`` by :class:`~anonhist.graphs.bounding.DegreeChoice`, with a share of the budget.
    method
        How noise is added: ``"cumulative"`` (nodes must be listed), ``"survival"``, ``"histogram"``, ``"partition"``,
        or ``"auto"``: the one with the lowest error predicted for this θ and ε.
    bounding
        How edges are left out: ``"projection"``, for graphs of any size, or ``"flow"``, which keeps more of them and
        takes longer.
    choice_share
        Share of ε that a choice of θ spends, between 0 and 1; 1/4 by default.
    candidates
        The candidates for θ, ascending; by default the powers of two up to 4,096.

    Raises
    ------
    UsageError
        If a parameter is impossible.

    Examples
    --------
    >>> BoundedDegrees(max_degree=64).method
    'auto'
    """

    max_degree: Converted[SupportsIndex | Literal["auto"], int | Literal["auto"]] = converted(
        _max_degree, default="auto"
    )
    method: Checked[MethodName] = named(parse_method, default="auto")
    bounding: BoundingName = "projection"
    choice_share: Converted[EpsilonLike, Fraction] = converted(_choice_share, default=CHOICE_SHARE)
    candidates: Converted[Iterable[SupportsIndex], tuple[int, ...]] = converted(parse_candidates, default=CANDIDATES)

    def __post_init__(self) -> None:
        named_bounding(self.bounding)

    def prepare(
        self, policy: EdgePolicy, epsilon: EpsilonLike, relation: NeighboringRelation, *, nodes_listed: bool
    ) -> PreparedNodes:
        """Make the mechanism for each θ that may be chosen, or for the given θ.

        Raises
        ------
        UsageError
            If graphs of this policy cannot be released with these options.
        """
        if not policy.is_simple:
            raise UsageError(
                "Node privacy needs graphs without self-loops, in which equal edges count once: read the edges "
                "with `self_loops='drop'` and `duplicates='merge'`."
            )
        if self.method == "cumulative" and not nodes_listed:
            raise UsageError(NEEDS_NODES)
        budget, direction = parse_epsilon(epsilon), policy.direction
        why = "which has the lowest predicted error" if self.method == "auto" else "as requested"
        if isinstance(self.max_degree, int):
            best = self._best(budget, self.max_degree, direction, relation, nodes_listed)
            return PreparedNodes({self.max_degree: best}, None, nodes_listed, why)
        spent = budget * self.choice_share
        ready: dict[int, NodeMechanism] = {}
        refusals: list[UsageError] = []
        for bound in self.candidates:
            # A small budget may rule some out, which is as public as the budget.
            try:
                ready[bound] = self._best(budget - spent, bound, direction, relation, nodes_listed)
            except UsageError as error:
                refusals.append(error)
        if not ready:
            raise refusals[0]
        return PreparedNodes(ready, DegreeChoice(spent, tuple(ready)), nodes_listed, why)

    def _best(
        self,
        epsilon: Fraction,
        max_degree: int,
        direction: Direction,
        relation: NeighboringRelation,
        nodes_listed: bool,  # noqa: FBT001  # a fact about the source
    ) -> NodeMechanism:
        """Return the requested mechanism, or the one with the lowest predicted error, from public facts alone."""
        able = [each for each in NODE_MECHANISMS.values() if nodes_listed or each is not CumulativeDegrees]
        bounding = named_bounding(self.bounding)
        made: list[NodeMechanism] = []
        refusals: list[UsageError] = []
        for kind in able if self.method == "auto" else [NODE_MECHANISMS[self.method]]:
            own: dict[str, Any] = {"nodes_listed": nodes_listed} if kind is HistogramDegrees else {}
            try:
                made.append(
                    kind(epsilon, relation, max_degree=max_degree, direction=direction, bounding=bounding, **own)
                )
            except UsageError as error:
                refusals.append(error)
        if not made:
            raise refusals[0]
        return min(made, key=lambda mechanism: mechanism.predicted_error)


@frozen
class NodePrivacy:
    """Protect every node with all its edges, however many.

    Parameters
    ----------
    relation
        Neighbors differ by a node with all its edges that is added or removed, or whose edges are replaced by
        others.

    Raises
    ------
    UsageError
        If it is not a relation.

    Examples
    --------
    >>> NodePrivacy().relation.distance
    1
    """

    relation: Checked[NeighboringRelation] = converted(check_relation, default=NeighboringRelation.ADD_OR_REMOVE)

    def prepare(
        self, policy: EdgePolicy, *, nodes_listed: bool, epsilon: EpsilonLike, mechanism: object
    ) -> PreparedNodes:
        """Prepare the release of a graph of this policy; see :func:`anonhist.graphs.release.prepare_degrees`."""
        if not isinstance(mechanism, BoundedDegrees):
            mechanism = BoundedDegrees(method=parse_method(mechanism, name="mechanism"))
        return mechanism.prepare(policy, epsilon, self.relation, nodes_listed=nodes_listed)


@dataclass(frozen=True)
class PreparedNodes:
    """A release with node privacy, prepared without its graph: the mechanism for each possible θ.

    ``choice`` is None if θ is given. ``why`` is the end of the release's reason.
    """

    mechanisms: Mapping[int, NodeMechanism]
    choice: DegreeChoice | None
    nodes_listed: bool
    why: str

    @property
    def dearest(self) -> NodeMechanism:
        """The mechanism whose cost is charged: with a choice of θ, that of the largest δ; ε is the same for all."""
        dearest = max(self.mechanisms.values(), key=lambda each: each.guarantee.delta)
        return dearest if self.choice is None else replace(dearest, choice=self.choice)

    def release(self, graph: Graph | Degrees, *, source: RandomSource | None = None) -> Release:
        """Choose θ if it was not given, then release the degrees; refuse other graphs before any noise is drawn."""
        if not isinstance(graph, Graph):
            raise UsageError("Node privacy needs the edges, not only the degrees: read them with read_edges (a Graph).")
        mechanism, *_ = self.mechanisms.values()
        if (graph.policy, graph.nodes_listed) != (mechanism.policy, self.nodes_listed):
            raise UsageError("The graph was read with different settings from those the release was prepared for.")
        if self.choice is not None:
            with without_sizes():
                projected = project_each(graph, self.choice.candidates)
                kept = {bound: int(degrees.sum()) for bound, degrees in projected.items()}
            noise = {bound: each.predicted_error for bound, each in self.mechanisms.items()}
            chosen = self.choice.draw(kept, noise, mechanism.relation, source=source)
            mechanism = replace(self.mechanisms[chosen], choice=self.choice)
        return mechanism.release(graph, source=source, reason=self._reason(mechanism))

    def _reason(self, mechanism: NodeMechanism) -> str:
        edges = "1 edge" if mechanism.max_degree == 1 else f"{mechanism.max_degree:,} edges"
        picked = f", chosen privately with ε = {short_decimal(mechanism.choice.epsilon)}" if mechanism.choice else ""
        return f"Each node keeps at most {edges}{picked}. Mechanism {mechanism.method}, {self.why}."


_ASSUMES = "No node has more than max_degree edges; of nodes with more, only max_degree are counted."


def private_edge_count(
    graph: Graph,
    *,
    epsilon: EpsilonLike,
    max_degree: int,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Estimate:
    """Release the number of edges with node privacy, counting only edges within a bound on degrees.

    The result is ``F_D + G/2`` (without directions; with directions ``F_D + G``), F_D the
    :func:`~anonhist.graphs.flow.edge_count_flow` for D = ``max_degree``, and G with ``P(G = j) ∝ e^(−ε|j|/2D)``,
    drawn exactly and added in whole numbers: 2F_D is a whole number, and one node changes it by at most 2D.

    Source: Kasiviswanathan and others 2013, section 4.

    Parameters
    ----------
    graph
        A private graph without self-loops and equal edges.
    epsilon
        > 0; a float means its shortest decimal.
    max_degree
        D, from 1 to 2^62, public: the noise grows with it, and edges beyond it are not counted.
    relation
        Neighbors differ by a node, with any edges, that is added or removed, or whose edges are replaced by others.
    source
        Privacy randomness; the operating system's by default.
    ledger, dataset, purpose, run_id
        The ledger to charge before any noise is drawn, as for :func:`~anonhist.mechanisms.release`.

    Returns
    -------
    Estimate
        In edges, ≥ 0. The interval covers the noise: if degrees exceed D, it is an interval for F_D, which is less than
        the number of edges.

    Raises
    ------
    UsageError
        If the budget or D is out of range, or ε is too small, or the graph counts self-loops or duplicates.
    DataError
        If there is not enough memory, or the graph is too large for an exact flow.

    Examples
    --------
    >>> from anonhist.graphs.release import as_graph
    >>> ring = as_graph([(node, (node + 1) % 1000) for node in range(1000)])
    >>> estimate = private_edge_count(ring, epsilon=1, max_degree=2)
    >>> abs(estimate.value - 1000) < 100
    True
    """
    if not isinstance(graph, Graph):
        raise UsageError("Node privacy needs the edges: read them with read_edges (a Graph).")
    check_relation(relation)
    budget, direction = parse_epsilon(epsilon), graph.policy.direction
    halves = 1 if direction.is_directed else 2
    distance = halves * edge_count_flow_distance(direction, max_degree)
    rate = budget / (distance * relation.distance)
    if rate < SMALLEST_RATE:
        message = f"`epsilon` is too small for `max_degree` = {max_degree:,}; give more, or a smaller `max_degree`."
        raise UsageError(message)
    unit = PrivacyUnit.node(max_distance=distance, max_degree=max_degree)
    guarantee = Guarantee(unit, relation, budget, arithmetic=NOISE_IS_EXACT, conditions=(NAMES_STAY,))
    price = Price(guarantee, "private edge count", {"max_degree": max_degree})
    with recording(account_of(ledger, dataset, purpose, run_id), lambda: price) as recorded:
        # The graph exists already: whatever fails now may depend on it.
        recorded.keep()
        with without_sizes():
            counted = np.array([int(halves * edge_count_flow(graph, max_degree))], dtype=np.int64)
        value = max(0.0, int(add_noise(counted, exact_noise(source)(rate, 1))[0]) / halves)
        estimate = _estimate(value, rate, halves, guarantee)
        recorded.complete(lambda: estimates_digest([("edge count", estimate)]))
    return estimate


def _estimate(value: float, rate: Fraction, halves: int, guarantee: Guarantee) -> Estimate:
    """Return the estimate, with an interval for its noise."""
    # The noise exceeds B with probability 2p^(B + 1)/(1 + p).
    reach = max(1, math.ceil(-math.log(0.025 * (1 + math.exp(-float(rate)))) / float(rate)) - 1) / halves
    return Estimate(
        value,
        math.sqrt(discrete_laplace_variance(rate)) / halves,
        (max(0.0, value - reach), value + reach),
        "private maximum flow",
        assumes=_ASSUMES,
        unit="edges",
        guarantee=guarantee,
    )
