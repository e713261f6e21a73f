"""``anonhist degrees``: edges in, private degrees out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.arguments import one_character, whole_number
from anonhist.cli.central.release import DEFAULT_OUTPUT, check_outputs, write_outputs
from anonhist.cli.reading import tell_operator
from anonhist.cli.targets import STDOUT
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, parse_simulations

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from anonhist.cli.progress import Bars
    from anonhist.graphs import BoundedDegrees, Degrees, EdgePolicy, EdgePrivacy, Graph, NodePrivacy

NOT_PRIVATE = "--not-private-truth draws the true degrees on the page: it is not private, and must not be shared."
_OF_EDGES = ("public_nodes",)
_OF_NODES = ("max_degree", "choice_share", "bounding")


def run_degrees(
    *,
    edges: str,
    nodes: str | None,
    directed: str | None,
    self_loops: str,
    duplicates: str,
    unit: str,
    epsilon: Fraction,
    relation: str,
    simulations: int | None,
    output: str | None,
    report: str | None,
    not_private_truth: bool,
    force: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Check everything that can be checked, then read, release, estimate errors, and write."""
    if simulations is not None:
        parse_simulations(simulations, name="--simulations")
    if not_private_truth and report is None:
        raise UsageError("--not-private-truth belongs to --report FILE.html, the page it draws on.")
    target = output if output is not None else (DEFAULT_OUTPUT if sys.stdout.isatty() else STDOUT)
    for source in (edges, nodes):
        if source is not None:
            check_outputs(source, target, report, force=force)
    from anonhist.graphs.policy import Direction, EdgePolicy

    policy = EdgePolicy(Direction(directed or "undirected"), self_loops, duplicates)
    privacy, mechanism = _asked(unit, NeighboringRelation(relation), options)
    privacy.check(policy, nodes_listed=nodes is not None, epsilon=epsilon, mechanism=mechanism)
    if nodes is not None and unit == "edge" and options["public_nodes"] is None:
        raise UsageError(
            "--nodes says nothing with --unit edge unless everybody knows how many nodes there are: add "
            "--public-nodes N, or leave --nodes out."
        )
    if not_private_truth:
        click.secho(f"Warning: {NOT_PRIVATE}", err=True, bold=True, fg="red")

    from anonhist.cli.progress import progress_bars
    from anonhist.graphs.release import release_degrees

    remarks: list[str] = []
    with progress_bars("Estimating errors", shown=not quiet) as bars:
        graph = _read(unit, edges, nodes, policy, options, remarks=None if quiet else remarks, bars=bars)
        released = release_degrees(
            graph,
            privacy=privacy,
            epsilon=epsilon,
            mechanism=mechanism,
            simulations=simulations,
        )
        truth = _degrees(graph).profile if not_private_truth else None
        del graph
        released = released.with_error(progress=bars.working)
    tell_operator(remarks, quiet=quiet)  # after the bars, which would be written over
    write_outputs(released, target, report, force=force, quiet=quiet, not_private_truth=truth)


def _asked(
    unit: str, relation: NeighboringRelation, options: Mapping[str, Any]
) -> tuple[EdgePrivacy | NodePrivacy, str | BoundedDegrees]:
    """Return what to promise and how to keep it, or refuse options that belong to the other unit."""
    from anonhist.graphs.edge.privacy import EdgePrivacy
    from anonhist.graphs.node.bounded_degrees import BoundedDegrees, parse_method
    from anonhist.graphs.node.privacy import NodePrivacy

    own, foreign, other = (_OF_EDGES, _OF_NODES, "node") if unit == "edge" else (_OF_NODES, _OF_EDGES, "edge")
    for name in foreign:
        if options[name] is not None:
            message = f"`{name}` belongs to `unit={other!r}`; leave it out."
            raise UsageError(message)
    given: dict[str, Any] = {name: options[name] for name in own if options[name] is not None}
    for name in ("public_nodes", "max_degree"):
        if name in given and given[name] != "auto":
            given[name] = whole_number(given[name], name=f"`{name}`")
    if "choice_share" in given and isinstance(given.get("max_degree"), int):
        raise UsageError("--choice-share belongs to --max-degree auto: a largest degree that is given costs nothing.")
    mechanism = options["mechanism"] or "auto"
    if unit == "edge":
        return EdgePrivacy(**given, relation=relation), mechanism
    return NodePrivacy(relation), BoundedDegrees(method=parse_method(mechanism, name="mechanism"), **given)


def _read(
    unit: str,
    edges: str,
    nodes: str | None,
    policy: EdgePolicy,
    options: Mapping[str, Any],
    *,
    remarks: list[str] | None,
    bars: Bars,
) -> Graph | Degrees:
    """Read edges for node privacy; for edge privacy no more than how many nodes have which degree."""
    from anonhist.ingest.edges import read_degrees, read_edges

    read = read_degrees if unit == "edge" else read_edges
    return read(
        edges,
        origin=options["origin"],
        target=options["target"],
        nodes=nodes,
        policy=policy,
        table=options["table"],
        delimiter=one_character(options["delimiter"]),
        header=False if options["no_header"] else None,
        notify=None if remarks is None else remarks.append,
        progress=bars.reading,
    )


def _degrees(graph: Graph | Degrees) -> Degrees:
    from anonhist.graphs.graph import Graph

    return graph.degree_profile() if isinstance(graph, Graph) else graph
