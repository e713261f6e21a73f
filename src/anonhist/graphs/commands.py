"""``anonhist degrees``: edges in, private degrees out."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import click

from anonhist.catalogue import MECHANISMS, PUBLIC_NUMBERS, MechanismName
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, parse_epsilon
from anonhist.terminal.charging import AskedAccount, charging_options
from anonhist.terminal.decorators import (
    Brief,
    OneOf,
    SectionedCommand,
    WholeNumber,
    as_one,
    one_character,
    whole_number,
)
from anonhist.terminal.options import (
    delimiter_option,
    engine_option,
    engine_options,
    epsilon_option,
    no_header_option,
    relation_option,
    release_output_options,
    simulations_option,
    table_option,
)
from anonhist.terminal.output import say_line
from anonhist.terminal.reading import ENGINE, LIMITS, held_source, limits_of, reading_bars

if TYPE_CHECKING:
    from fractions import Fraction

    from anonhist.graphs.edge_privacy import EdgePrivacy
    from anonhist.graphs.node_privacy import BoundedDegrees, NodePrivacy
    from anonhist.terminal.destinations import Outputs

NOT_PRIVATE = "--not-private-truth draws the true degrees on the page: the page is not private and must not be shared."
# Mechanisms whose public numbers follow from the number of nodes, if that is known.
_WITH_NUMBERS = [name for name, entry in MECHANISMS.items() if {*entry.options}.intersection(PUBLIC_NUMBERS)]
_WITHOUT_NUMBERS = [name for name in MECHANISMS if name not in _WITH_NUMBERS]
_SECTIONS = {
    "Input": ("origin", "target", "nodes", "table", "format_", "delimiter", "no_header", "comment"),
    "Edges": ("directed", "self_loops", "duplicates"),
    "Privacy": ("unit", "epsilon", "relation"),
    "Mechanism": ("mechanism", "simulations"),
    "Mechanism, with --unit edge": ("public_nodes",),
    "Mechanism, with --unit node": ("max_degree", "choice_share", "bounding"),
    "Engine": ENGINE,
    "Ledger": charging_options.names,
    "Output": ("output", "report", "title", "not_private_truth", "force", "quiet"),
}
# As the help lists them, which must not load the reading code: tests/cli/test_choices.py compares the two.
_FORMATS = ("lines", "snap", "konect", "pajek", "matrix-market", "graphml", "gml")
_EXAMPLES = """
anonhist degrees edges.txt.gz --unit edge --epsilon 1 -o release.json --report degrees.html
anonhist degrees edges.parquet --source from --target to --directed in --unit node --max-degree auto --epsilon 2
anonhist degrees edges.csv --nodes members.txt --unit node --max-degree 32 --epsilon 1
"""
_BRIEF = Brief(
    (
        *("origin", "target", "nodes", "format_", "directed", "unit", "epsilon", "max_degree", "ledger", "dataset"),
        *("output", "report", "force"),
    ),
    "EDGES is text with the two nodes of an edge on each line, a table, a graph file (KONECT, Pajek, Matrix Market, "
    "…), a pattern, a URL, a database, or - for standard input. Without -o, the release is written to release.json, or "
    "as CSV in a pipe.",
)


def _exact(_: click.Context, __: click.Parameter, epsilon: str) -> Fraction:
    return parse_epsilon(epsilon)


def _as_read(
    *, format_: str | None, delimiter: str | None, no_header: bool, comment: str | None, **others: Any
) -> dict[str, Any]:
    """Return how edges are read, as keyword arguments of the functions."""
    limits = limits_of(**{name: others.pop(name) for name in LIMITS})
    header = False if no_header else None
    said = {"format": format_, "delimiter": one_character(delimiter), "header": header, "limits": limits}
    return {**others, **said, "comment": one_character(comment)}


_reading_options = as_one(
    "reading",
    click.option(
        "--source",
        "origin",
        metavar="COLUMN",
        help="Column of the node at which an edge starts (if undirected: of one node).",
    ),
    click.option(
        "--target",
        metavar="COLUMN",
        help="Column of the node at which an edge ends (if undirected: of the other node).",
    ),
    table_option,
    click.option(
        "--format",
        "format_",
        type=OneOf(_FORMATS),
        help="Format of a graph file; by default its name decides: lines of words (.txt, .edges, .edgelist), konect "
        "(out.NAME), pajek (.net), matrix-market (.mtx), graphml, gml. snap and konect are like lines, but only # "
        "(snap) or % (konect) begins a comment.",
    ),
    delimiter_option,
    no_header_option,
    click.option(
        "--comment",
        metavar="CHAR",
        help="For delimited text: skip lines that begin with this character. By default, no line is skipped: #a is a "
        "node.",
    ),
    engine_option,
    *engine_options,
    made=_as_read,
)


def _given(*, max_degree: str | None, **others: Any) -> dict[str, Any]:
    """Return the given options."""
    others["max_degree"] = max_degree if max_degree == "auto" else whole_number(max_degree, name="--max-degree")
    return {name: value for name, value in others.items() if value is not None}


# Each belongs to one unit.
_own_options = as_one(
    "own",
    click.option(
        "--public-nodes",
        type=WholeNumber(),
        metavar="N",
        help="Number of nodes, including isolated ones, if it is public; then the number of isolated nodes is "
        "released, too.",
    ),
    click.option(
        "--max-degree",
        metavar="N",
        help="Largest degree: drop edges until no node has more than N. auto chooses N privately, with a share of the "
        "budget.  [default: auto]",
    ),
    click.option(
        "--choice-share",
        metavar="S",
        help="Share of epsilon that --max-degree auto spends on choosing.  [default: 1/4]",
    ),
    click.option(
        "--bounding",
        type=OneOf(("projection", "flow")),
        help="How edges are dropped: projection drops whole edges; flow drops fractions of edges, keeps more of them "
        "and takes longer.  [default: projection]",
    ),
    made=_given,
)


@click.command(cls=SectionedCommand, sections=_SECTIONS, brief=_BRIEF, epilog=_EXAMPLES)
@click.argument("edges", metavar="EDGES")
@click.option(
    "--nodes",
    metavar="FILE",
    help="File of all nodes, including isolated ones: one name per line, or a table with a column 'node'. To count the "
    "nodes that a Pajek, Matrix Market, GraphML or GML file lists, name it here, too. Without --nodes, only nodes with "
    "an edge count. With --unit node, whether a node is listed must not depend on other nodes; if the list is public, "
    "add --relation substitute.",
)
@_reading_options
@click.option(
    "--directed",
    type=OneOf(("in", "out")),
    help="Treat edges as directed: count the edges into a node or the edges out of it. By default, edges are "
    "undirected.",
)
@click.option(
    "--self-loops",
    type=OneOf(("drop", "count")),
    default="drop",
    show_default=True,
    help="Whether edges from a node to itself count.",
)
@click.option(
    "--duplicates",
    type=OneOf(("merge", "count")),
    default="merge",
    show_default=True,
    help="Whether equal edges count once or once per row.",
)
@click.option(
    "--unit",
    required=True,
    type=OneOf(("edge", "node")),
    help="What to protect: each single edge, or each node with all its edges, which needs far more noise.",
)
@epsilon_option(required=True, callback=_exact)
@relation_option
@click.option(
    "--mechanism",
    metavar="NAME",
    help="Mechanism that adds the noise. auto picks the one with the smallest expected error and says why. With "
    f"--unit edge: {', '.join(_WITHOUT_NUMBERS)}, and with --public-nodes {', '.join(_WITH_NUMBERS)}. With --unit "
    "node, noise is added to the number of nodes with at most each degree (cumulative, with --nodes), at least "
    "(survival) or exactly (histogram) each degree, or to the list of degrees (partition).  [default: auto]",
)
@_own_options
@charging_options
@release_output_options(also_printed=" and the warning that a page is not private")
@click.option(
    "--not-private-truth",
    is_flag=True,
    help="NOT PRIVATE: also draw the true degrees. The page must then not be shared.",
)
@simulations_option
def degrees(
    *,
    edges: str,
    nodes: str | None,
    reading: dict[str, Any],
    directed: str | None,
    self_loops: Literal["drop", "count"],
    duplicates: Literal["merge", "count"],
    unit: str,
    epsilon: Fraction,
    relation: str,
    mechanism: MechanismName | None,
    own: dict[str, Any],
    simulations: int | None,
    account: AskedAccount,
    outputs: Outputs,
    not_private_truth: bool,
) -> None:
    """Release how many nodes of a graph have each degree.

    EDGES is text with the two nodes of an edge on each line (.txt, .edges, .edgelist; # and % start comments, names
    with spaces are in quotes), a file of KONECT (out.NAME), Pajek (.net), Matrix Market (.mtx), or, with the extra
    [networkx], GraphML or GML, a table (.csv, .tsv, .jsonl, .parquet; from Gephi, too), each of these compressed (.gz,
    .zst), a pattern such as 'edges/*.parquet', a URL (https://, s3:// or gs://, with the extra [remote]), a database
    (duckdb:///FILE; with the extra [ibis] sqlite:///FILE, postgresql://… and warehouses such as
    bigquery://PROJECT/DATASET), or - for text on standard input.

    Without -o, the release is written to release.json in the working directory, or as CSV to standard output in a pipe.
    """
    if not_private_truth and outputs.page is None:
        raise UsageError("--not-private-truth requires --report FILE.html, the page it draws on.")
    account.check()
    from anonhist.graphs.graph import Direction, EdgePolicy
    from anonhist.graphs.release import prepare_degrees
    from anonhist.terminal.display import write_release

    policy = EdgePolicy(Direction(directed or "undirected"), self_loops, duplicates)
    privacy, way = _asked(unit, NeighboringRelation(relation), mechanism or "auto", own)
    prepared = prepare_degrees(privacy, epsilon, way, simulations, policy, nodes_listed=nodes is not None)
    find = partial(outputs.for_release, edges, *([] if nodes is None else [nodes]))
    destination = account.destined(find, prepared.price)
    if nodes is not None and unit == "edge" and "public_nodes" not in own:
        raise UsageError(
            "With --unit edge, --nodes has an effect only if the number of nodes is public: add --public-nodes N, "
            "or leave --nodes out."
        )
    if not_private_truth:
        say_line(f"Warning: {NOT_PRIVATE}", sys.stderr, bold=True, fg="red")

    from anonhist.graphs.graph import Graph
    from anonhist.graphs.reading import read_degrees, read_edges

    # For edge privacy, only the number of nodes of each degree is read.
    read = read_degrees if unit == "edge" else read_edges
    with account.charged(prepared.price) as recorded:
        with reading_bars("Estimating errors", quiet=outputs.quiet, releases=True) as bars:
            with recorded.reading():
                held, said = held_source(edges, reading)
                graph = read(held, nodes=nodes, policy=policy, notify=bars.notify, progress=bars.reading, **said)
            released = replace(prepared.release(graph), receipt=recorded.receipt)
            true_degrees = graph.degree_profile() if isinstance(graph, Graph) else graph
            truth = true_degrees.profile if not_private_truth else None
            del graph, true_degrees
            released = released.with_error(progress=bars.working)
        write_release(released, destination, recorded, not_private_truth=truth)


def _asked(
    unit: str, relation: NeighboringRelation, mechanism: MechanismName, given: dict[str, Any]
) -> tuple[EdgePrivacy | NodePrivacy, MechanismName | BoundedDegrees]:
    """Return the guarantee and the mechanism, or refuse options that belong to the other unit."""
    from anonhist.graphs.edge_privacy import EdgePrivacy
    from anonhist.graphs.node_privacy import BoundedDegrees, NodePrivacy, parse_method

    owner, other = (EdgePrivacy, "node") if unit == "edge" else (BoundedDegrees, "edge")
    for name in given:
        if name not in signature(owner).parameters:
            raise UsageError(f"`{name}` applies only to `unit={other!r}`; leave it out.")
    if "choice_share" in given and isinstance(given.get("max_degree"), int):
        raise UsageError("--choice-share requires --max-degree auto: no budget is spent on a given largest degree.")
    if unit == "edge":
        return EdgePrivacy(**given, relation=relation), mechanism
    return NodePrivacy(relation), BoundedDegrees(method=parse_method(mechanism, name="mechanism"), **given)
