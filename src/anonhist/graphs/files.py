"""The mechanism of a release of degrees, rebuilt from a document and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import Any

from anonhist.catalogue import MECHANISMS
from anonhist.errors import DataError, UsageError
from anonhist.formats.document import (
    Recorded,
    Remade,
    check_no_excess,
    check_no_zeros,
    check_profile,
    unknown_mechanism,
)
from anonhist.formats.tables import Table, named_estimates
from anonhist.graphs.edge_privacy import EdgeMechanism
from anonhist.graphs.graph import Direction, EdgePolicy
from anonhist.graphs.node_degrees import NODE_MECHANISMS
from anonhist.graphs.node_mechanism import NodeMechanism
from anonhist.mechanisms.picking import from_parameters
from anonhist.mechanisms.setting import member_of
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS

# Mechanisms for profiles that release the list of degrees with edge privacy, and those that release degrees of nodes.
_CENTRAL = {f"edge-{name}": name for name in MECHANISMS}
_METHODS = {f"node-{method}": each for method, each in NODE_MECHANISMS.items()}
_POLICY = {"direction", "self_loops", "duplicates"}
STATISTICS_TABLE = Table(lambda statistics: named_estimates("statistic", statistics.by_name()))


def remake(recorded: Recorded) -> Remade:
    """Rebuild the mechanism of a release of degrees, with exactly the guarantee of the release."""
    check_no_excess(recorded.excess)
    name, parameters, guarantee = recorded.name, recorded.parameters, recorded.guarantee
    if name not in _CENTRAL.keys() | _METHODS.keys():
        raise DataError(unknown_mechanism(name))
    if any(type(each) not in (str, int) for each in parameters.values()):
        raise DataError("the parameters of a mechanism for degrees must be whole numbers and text")
    try:
        made = _for_edges(name, parameters) if name in _CENTRAL else _for_nodes(name, parameters)
    except UsageError as error:
        raise DataError(f"The parameters of the {name} mechanism in the file are invalid: {error}") from None
    if dict(made.mechanism.parameters) != dict(parameters):
        raise DataError("the parameters of a mechanism for degrees must be written as this program writes them")
    promised = made.guarantee
    for each in fields(guarantee):
        if getattr(guarantee, each.name) != getattr(promised, each.name):
            raise DataError(f"the guarantee's {each.name} is not that of the mechanism")
    return made


def _check_edges(mechanism: EdgeMechanism, profile: Profile, items: int | None, zeros: int | None) -> None:
    check_profile(mechanism.central, profile, items)
    nodes = mechanism.public_nodes
    if nodes is None:
        check_no_zeros(zeros)
        return
    if mechanism.policy.is_simple and profile.k_plus(nodes):
        raise DataError("a degree is too large for so few nodes")
    if zeros is None or zeros + profile.num_labels != nodes:
        raise DataError("zeros and nodes with edges do not add up to the number of nodes")


def _check_nodes(mechanism: NodeMechanism, profile: Profile, items: int | None, zeros: int | None) -> None:
    if reason := mechanism.impossible(profile, items):
        raise DataError(reason)
    if mechanism.releases_zeros and zeros is None:
        raise DataError("zeros, the number of nodes without an edge, are missing")
    if not mechanism.releases_zeros:
        check_no_zeros(zeros)
    if profile.num_labels + (zeros or 0) > MAX_ITEMS:
        raise DataError("there are more nodes than can be counted")


def _for_edges(name: str, parameters: Mapping[str, Any]) -> Remade:
    given = dict(parameters)
    if not given.keys() >= _POLICY:
        raise UsageError(f"{', '.join(sorted(_POLICY))} must be among them.")
    direction, self_loops, duplicates = (given.pop(each) for each in ("direction", "self_loops", "duplicates"))
    nodes = given.pop("public_nodes", None)
    policy = EdgePolicy(member_of(Direction, direction, "direction"), self_loops, duplicates)
    mechanism = EdgeMechanism(from_parameters(_CENTRAL[name], given), policy, nodes)
    return Remade(mechanism, mechanism.guarantee, partial(_check_edges, mechanism))


def _for_nodes(name: str, parameters: Mapping[str, Any]) -> Remade:
    mechanism = _METHODS[name].from_parameters(parameters)
    return Remade(mechanism, mechanism.guarantee, partial(_check_nodes, mechanism))
