"""What a release of degrees remembers of its mechanism: made again from a document, and checked."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from anonhist.errors import DataError, UsageError
from anonhist.formats.central_releases import check_no_items, check_no_zeros, check_profile
from anonhist.graphs.edge.mechanism import EdgeMechanism
from anonhist.graphs.node.bounding import named_bounding
from anonhist.graphs.node.choice import DegreeChoice
from anonhist.graphs.node.cumulative_degrees import CumulativeDegrees
from anonhist.graphs.node.histogram_degrees import HistogramDegrees
from anonhist.graphs.node.mechanism import NodeMechanism
from anonhist.graphs.node.partition_degrees import PartitionDegrees
from anonhist.graphs.node.survival_degrees import SurvivalDegrees
from anonhist.graphs.policy import Direction, EdgePolicy
from anonhist.mechanisms.names import from_parameters
from anonhist.privacy import NeighboringRelation, parse_epsilon
from anonhist.profiles.whole import MAX_ITEMS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import Enum

    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile

_Kind = TypeVar("_Kind", bound="Enum")

_EDGE = "edge-"
_METHODS: dict[str, type[NodeMechanism]] = {
    f"node-{each.method}": each for each in (CumulativeDegrees, SurvivalDegrees, HistogramDegrees, PartitionDegrees)
}
_POLICY = {"direction", "self_loops", "duplicates"}
_NODE = {"epsilon", "max_degree", "direction", "relation", "bounding"}
_CHOICE = {"choice_epsilon", "choice_candidates"}
# How version 1, which has no conditions, says what the promise for a node rests on.
_OF_VERSION_1 = "; a node must have the same name whichever other nodes there are"
_LISTED = {"listed": True, "not listed": False}


def degree_mechanism(
    name: str, parameters: Mapping[str, object], guarantee: Guarantee
) -> EdgeMechanism | NodeMechanism:
    """Make the mechanism of a release of degrees again.

    Parameters
    ----------
    name
        ``edge-`` and the name of a mechanism for profiles, or ``node-`` and a method.
    parameters
        Its :attr:`~anonhist.graphs.node.mechanism.NodeMechanism.parameters`.
    guarantee
        What the release promises.

    Raises
    ------
    DataError
        If there is no such mechanism, the parameters are not its own, or it does not promise exactly that.
    """
    if not name.startswith(_EDGE) and name not in _METHODS:
        message = f"The file names a mechanism unknown to this version: {name!r:.80}."
        raise DataError(message)
    if any(type(each) not in (str, int) for each in parameters.values()):
        raise DataError("the parameters of a mechanism for degrees must be whole numbers and text")
    try:
        mechanism = _for_edges(name, parameters) if name.startswith(_EDGE) else _for_nodes(name, parameters)
    except UsageError as error:
        message = f"The parameters of the {name} mechanism in the file are invalid: {error}"
        raise DataError(message) from None
    if dict(mechanism.parameters) != dict(parameters):
        raise DataError("the parameters of a mechanism for degrees must be written as this program writes them")
    if isinstance(mechanism, NodeMechanism) and guarantee.arithmetic == mechanism.arithmetic + _OF_VERSION_1:
        guarantee = replace(guarantee, arithmetic=mechanism.arithmetic, conditions=mechanism.conditions)
    for each in fields(guarantee):
        if getattr(guarantee, each.name) != getattr(mechanism.guarantee, each.name):
            message = f"the guarantee's {each.name} is not that of the mechanism"
            raise DataError(message)
    return mechanism


def check_degrees(
    mechanism: EdgeMechanism | NodeMechanism, profile: Profile, items: int | None, zeros: int | None
) -> None:
    """Refuse degrees, or numbers beside them, that the mechanism does not release.

    Raises
    ------
    DataError
        With what is wrong in one clause.
    """
    if isinstance(mechanism, EdgeMechanism):
        check_profile(mechanism.central, profile, items)
        _check_public_nodes(mechanism, profile, zeros)
        return
    check_no_items(items)
    if profile.k_plus(mechanism.max_degree + 1):
        raise DataError("a degree is above the largest that was kept")
    if mechanism.releases_zeros and zeros is None:
        raise DataError("zeros, how many nodes have no edge, are missing")
    if not mechanism.releases_zeros:
        check_no_zeros(zeros)
    if profile.num_labels + (zeros or 0) > MAX_ITEMS:
        raise DataError("there are more nodes than can be counted")


def _check_public_nodes(mechanism: EdgeMechanism, profile: Profile, zeros: int | None) -> None:
    nodes = mechanism.public_nodes
    if nodes is None:
        check_no_zeros(zeros)
        return
    if mechanism.policy.is_simple and profile.k_plus(nodes):
        raise DataError("a degree is larger than so few nodes can have")
    if zeros is None or zeros + profile.num_labels != nodes:
        raise DataError("zeros and the nodes that have edges are not as many as there are nodes")


def _for_edges(name: str, parameters: Mapping[str, Any]) -> EdgeMechanism:
    given = dict(parameters)
    if not given.keys() >= _POLICY:
        message = f"{', '.join(sorted(_POLICY))} must be among them."
        raise UsageError(message)
    direction, self_loops, duplicates = (given.pop(each) for each in ("direction", "self_loops", "duplicates"))
    nodes = given.pop("public_nodes", None)
    policy = EdgePolicy(_member(Direction, direction, "direction"), self_loops, duplicates)
    return EdgeMechanism(from_parameters(name.removeprefix(_EDGE), given), policy, nodes)


def _for_nodes(name: str, parameters: Mapping[str, Any]) -> NodeMechanism:
    made_by = _METHODS[name]
    own = _NODE | (parameters.keys() & _CHOICE) | ({"nodes"} if made_by is HistogramDegrees else set())
    if parameters.keys() != own:
        message = f"they must be {', '.join(sorted(own))}."
        raise UsageError(message)
    setting = (
        parse_epsilon(_text(parameters, "epsilon")),
        parameters["max_degree"],
        _member(Direction, parameters["direction"], "direction"),
        _member(NeighboringRelation, parameters["relation"], "relation"),
        _choice(parameters),
        named_bounding(parameters["bounding"]),
    )
    if made_by is not HistogramDegrees:
        return made_by(*setting)
    listed = _LISTED.get(parameters["nodes"])
    if listed is None:
        message = f"nodes must be {' or '.join(_LISTED)}."
        raise UsageError(message)
    return HistogramDegrees(*setting, nodes_listed=listed)


def _choice(parameters: Mapping[str, Any]) -> DegreeChoice | None:
    """Return how the largest degree was chosen, None where it was given."""
    given = parameters.keys() & _CHOICE
    if not given:
        return None
    if given != _CHOICE:
        message = f"{' and '.join(sorted(_CHOICE))} belong together."
        raise UsageError(message)
    listed = _text(parameters, "choice_candidates").split(",")
    # Ten digits are more than any candidate has.
    if not all(each.isascii() and each.isdigit() and len(each) <= 10 for each in listed):
        raise UsageError("the candidates must be whole numbers with commas between them.")
    choice = DegreeChoice(parse_epsilon(_text(parameters, "choice_epsilon")), tuple(map(int, listed)))
    if parameters["max_degree"] not in choice.candidates:
        raise UsageError("the largest degree must be one of the candidates it was chosen from.")
    return choice


def _text(parameters: Mapping[str, Any], name: str) -> str:
    value = parameters[name]
    if not isinstance(value, str):
        message = f"{name} must be text."
        raise UsageError(message)
    return value


def _member(kind: type[_Kind], value: object, name: str) -> _Kind:
    """Return the member with this value."""
    known = {member.value: member for member in kind}
    if value not in known:
        message = f"the {name} must be {' or '.join(known)}."
        raise UsageError(message)
    return known[value]
