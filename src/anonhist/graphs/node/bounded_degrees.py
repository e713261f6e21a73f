"""Node privacy: how degrees are bounded and released."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Literal, SupportsIndex, get_args

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.graphs.node.bounding import named_bounding
from anonhist.graphs.node.choice import CANDIDATES, DegreeChoice, parse_candidates
from anonhist.graphs.node.cumulative_degrees import CumulativeDegrees
from anonhist.graphs.node.histogram_degrees import HistogramDegrees
from anonhist.graphs.node.node_mechanism import NEEDS_NODES
from anonhist.graphs.node.partition_degrees import PartitionDegrees
from anonhist.graphs.node.prepared import PreparedNodes
from anonhist.graphs.node.survival_degrees import SurvivalDegrees
from anonhist.privacy import parse_epsilon, parse_whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anonhist.graphs.node.node_mechanism import NodeMechanism
    from anonhist.graphs.policy import Direction, EdgePolicy
    from anonhist.privacy import EpsilonLike, NeighboringRelation


MethodName = Literal["auto", "cumulative", "survival", "histogram", "partition"]
METHODS: tuple[MethodName, ...] = get_args(MethodName)
BoundingName = Literal["projection", "flow"]
# Share of the budget for a choice of the largest degree.
CHOICE_SHARE = Fraction(1, 4)


def parse_method(given: object, *, name: str) -> MethodName:
    """Return the name of a method; refuse anything else. ``name`` is the parameter it was given as."""
    for method in METHODS:
        if given == method:
            return method
    message = f"`{name}` must be one of {', '.join(METHODS)}, not {given!r:.80}."
    raise UsageError(message)


def _max_degree(given: SupportsIndex | Literal["auto"]) -> int | Literal["auto"]:
    if isinstance(given, str):
        if given != "auto":
            message = f"`max_degree` must be a whole number or 'auto', not {given!r:.80}."
            raise UsageError(message)
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
        θ: edges are left out until no node has more. A public number from 1 to 2^20, or ``"auto"``: chosen from
        ``candidates`` by :class:`~anonhist.graphs.node.choice.DegreeChoice`, with a share of the budget.
    method
        How noise is added: ``"cumulative"`` (nodes must be listed), ``"survival"``, ``"histogram"``, ``"partition"``,
        or ``"auto"``: the one with the lowest error predicted for this θ and ε.
    bounding
        How edges are left out: ``"projection"``, for graphs of any size, or ``"flow"``, which keeps more of them and
        takes longer.
    choice_share
        Share of ε that a choice of θ spends, between 0 and 1; 1/4 by default.
    candidates
        What θ is chosen from: ascending numbers; by default the powers of two up to 4,096.

    Raises
    ------
    UsageError
        If one of them is impossible.

    Examples
    --------
    >>> BoundedDegrees(max_degree=64).method
    'auto'
    """

    max_degree: Converted[SupportsIndex | Literal["auto"], int | Literal["auto"]] = converted(
        _max_degree, default="auto"
    )
    method: MethodName = "auto"
    bounding: BoundingName = "projection"
    choice_share: Converted[EpsilonLike, Fraction] = converted(_choice_share, default=CHOICE_SHARE)
    candidates: Converted[Iterable[SupportsIndex], tuple[int, ...]] = converted(parse_candidates, default=CANDIDATES)

    def __post_init__(self) -> None:
        parse_method(self.method, name="method")
        named_bounding(self.bounding)

    def prepare(
        self, policy: EdgePolicy, epsilon: EpsilonLike, relation: NeighboringRelation, *, nodes_listed: bool
    ) -> PreparedNodes:
        """Make the mechanism for each θ that may be chosen, or for the one that is given.

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
            # Some are impossible for so small a budget: that is as public as the budget.
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
        """Return the mechanism requested, or the one with the lowest predicted error: from public facts alone.

        Raises
        ------
        UsageError
            If ε is too small for so large a degree.
        """
        mechanisms: dict[str, Callable[..., NodeMechanism]] = {
            "survival": SurvivalDegrees,
            "cumulative": CumulativeDegrees,
            "partition": PartitionDegrees,
            "histogram": partial(HistogramDegrees, nodes_listed=nodes_listed),
        }
        if not nodes_listed:
            del mechanisms["cumulative"]
        bounding = named_bounding(self.bounding)
        made: list[NodeMechanism] = []
        refusals: list[UsageError] = []
        for make in mechanisms.values() if self.method == "auto" else [mechanisms[self.method]]:
            try:
                made.append(make(epsilon, relation, max_degree=max_degree, direction=direction, bounding=bounding))
            except UsageError as error:
                refusals.append(error)
        if not made:
            raise refusals[0]
        return min(made, key=lambda mechanism: mechanism.predicted_error)
