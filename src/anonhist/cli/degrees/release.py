"""``anonhist degrees``: edges in, private degrees out."""

from __future__ import annotations

import sys
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import click

from anonhist.catalogue.mechanisms import MECHANISMS, PUBLIC_NUMBERS
from anonhist.cli.arguments import whole_number
from anonhist.cli.decorators import as_one
from anonhist.cli.degrees.reading import degrees_of, read_graph, reading_options
from anonhist.cli.options import force_option, relation_option, release_output_options, simulations_option
from anonhist.cli.output import say_line
from anonhist.cli.reading import tell_operator
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.targets import STDOUT
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, parse_epsilon

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from anonhist.cli.targets import AskedPage
    from anonhist.graphs import BoundedDegrees, EdgePrivacy, NodePrivacy
    from anonhist.mechanisms.releasing import MechanismName

NOT_PRIVATE = "--not-private-truth draws the true degrees on the page: it is not private, and must not be shared."
# What follows from how many nodes there are is known where that is.
_WITH_NUMBERS = [name for name, entry in MECHANISMS.items() if {*entry.options}.intersection(PUBLIC_NUMBERS)]
_WITHOUT_NUMBERS = [name for name in MECHANISMS if name not in _WITH_NUMBERS]
_SECTIONS = {
    "What to read": ("origin", "target", "nodes", "table", "delimiter", "no_header"),
    "What an edge is": ("directed", "self_loops", "duplicates"),
    "What to promise": ("unit", "epsilon", "relation"),
    "How to release": ("mechanism", "simulations"),
    "How to release, with --unit edge": ("public_nodes",),
    "How to release, with --unit node": ("max_degree", "choice_share", "bounding"),
    "What to write": ("output", "report", "title", "not_private_truth", "force", "quiet"),
}
_EXAMPLES = """
anonhist degrees edges.txt.gz --unit edge --epsilon 1 -o release.json --report degrees.html
anonhist degrees edges.parquet --source from --target to --directed in --unit node --max-degree auto --epsilon 2
anonhist degrees edges.csv --nodes members.txt --unit node --max-degree 32 --epsilon 1
"""


def _exact(_: click.Context, __: click.Parameter, epsilon: str) -> Fraction:
    return parse_epsilon(epsilon)


# Each belongs to one unit.
_own_options = as_one(
    "own",
    click.option(
        "--public-nodes",
        metavar="N",
        help="How many nodes there are, those without edges too, if everybody knows that; then nodes without an edge "
        "are released as well.",
    ),
    click.option(
        "--max-degree",
        metavar="N",
        help="Edges are left out until no node has more than N, or auto: chosen privately, with a share of the "
        "budget.  [default: auto]",
    ),
    click.option(
        "--choice-share",
        metavar="S",
        help="Which share of epsilon the choice of --max-degree auto spends.  [default: 1/4]",
    ),
    click.option(
        "--bounding",
        type=click.Choice(("projection", "flow")),
        help="How edges are left out: one by one, or by shares, which keeps more and takes longer.  "
        "[default: projection]",
    ),
)


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("edges", metavar="EDGES")
@click.option(
    "--nodes",
    metavar="FILE",
    help="All nodes, with edges or without: one name a line, or a table with a column 'node'. Without it a node is "
    "there only because of its edges. With --unit node, a node must be listed whichever others there are; if the "
    "list is public, add --relation substitute.",
)
@reading_options
@click.option(
    "--directed",
    type=click.Choice(("in", "out")),
    help="Edges have a direction: count those that lead to a node, or those that leave it. By default they have none.",
)
@click.option(
    "--self-loops",
    type=click.Choice(("drop", "count")),
    default="drop",
    show_default=True,
    help="Whether edges from a node to itself count.",
)
@click.option(
    "--duplicates",
    type=click.Choice(("merge", "count")),
    default="merge",
    show_default=True,
    help="Whether equal edges are one, or each row counts.",
)
@click.option(
    "--unit",
    required=True,
    type=click.Choice(("edge", "node")),
    help="Whom to protect: every single edge, or every node with all its edges, which costs far more. No default.",
)
@click.option(
    "--epsilon",
    required=True,
    metavar="E",
    callback=_exact,
    help="How much privacy to spend in all, such as 1 or 0.5: less is more private and less accurate. No default.",
)
@relation_option
@click.option(
    "--mechanism",
    metavar="NAME",
    help="How noise is added: auto, which picks what errs least and says why. With --unit edge: "
    f"{', '.join(_WITHOUT_NUMBERS)}, and with --public-nodes {', '.join(_WITH_NUMBERS)}. With "
    "--unit node: to how many nodes have at most each degree (cumulative, with --nodes), at least (survival), exactly "
    "(histogram), or to the list of degrees (partition).  [default: auto]",
)
@_own_options
@release_output_options
@click.option(
    "--not-private-truth",
    is_flag=True,
    help="NOT PRIVATE: draw the true degrees beside the released ones; the page must not be shared then.",
)
@simulations_option
@force_option
@click.option("--quiet", is_flag=True, help="Say nothing but errors, and that a page is not private.")
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
    own: dict[str, str | None],
    simulations: int | None,
    output: str | None,
    report: AskedPage | None,
    not_private_truth: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Turn a list of edges into a private degree profile.

    EDGES is text with both ends of an edge on each line (.txt, .edges, .edgelist; # and % begin remarks), a table
    (.csv, .tsv, .jsonl, .parquet), either also as .gz and .zst, a pattern such as 'edges/*.parquet', a database
    (duckdb:///FILE; sqlite:///FILE and postgresql://… with the extra [ibis]), or - for text on standard input.

    Without -o, a terminal gets release.json in the working directory, and a pipe gets CSV on standard output.
    """
    if not_private_truth and report is None:
        raise UsageError("--not-private-truth belongs to --report FILE.html, the page it draws on.")
    from anonhist.cli.central.outputs import DEFAULT_OUTPUT, check_outputs, write_outputs

    target = output if output is not None else (DEFAULT_OUTPUT if sys.stdout.isatty() else STDOUT)
    for source in (edges, nodes):
        if source is not None:
            sheet = check_outputs(source, target, report, force=force)
    from anonhist.graphs.policy import Direction, EdgePolicy
    from anonhist.graphs.release import prepare_degrees

    policy = EdgePolicy(Direction(directed or "undirected"), self_loops, duplicates)
    privacy, way = _asked(unit, NeighboringRelation(relation), mechanism or "auto", own)
    prepared = prepare_degrees(
        privacy=privacy,
        policy=policy,
        nodes_listed=nodes is not None,
        epsilon=epsilon,
        mechanism=way,
        simulations=simulations,
    )
    if nodes is not None and unit == "edge" and own["public_nodes"] is None:
        raise UsageError(
            "--nodes says nothing with --unit edge unless everybody knows how many nodes there are: add "
            "--public-nodes N, or leave --nodes out."
        )
    if not_private_truth:
        say_line(f"Warning: {NOT_PRIVATE}", sys.stderr, bold=True, fg="red")

    from anonhist.cli.progress import progress_bars

    remarks: list[str] = []
    with progress_bars("Estimating errors", shown=not quiet) as bars:
        graph = read_graph(unit, edges, nodes, policy, reading, remarks=None if quiet else remarks, bars=bars)
        released = prepared.release(graph)
        truth = degrees_of(graph).profile if not_private_truth else None
        del graph
        released = released.with_error(progress=bars.working)
    tell_operator(remarks, quiet=quiet)  # after the bars, which would be written over
    write_outputs(released, target, sheet, force=force, quiet=quiet, not_private_truth=truth)


def _asked(
    unit: str, relation: NeighboringRelation, mechanism: MechanismName, own: Mapping[str, str | None]
) -> tuple[EdgePrivacy | NodePrivacy, MechanismName | BoundedDegrees]:
    """Return what to promise and how to keep it, or refuse options that belong to the other unit."""
    from anonhist.graphs.edge.privacy import EdgePrivacy
    from anonhist.graphs.node.bounded_degrees import BoundedDegrees, parse_method
    from anonhist.graphs.node.privacy import NodePrivacy

    given: dict[str, Any] = {name: value for name, value in own.items() if value is not None}
    owner, other = (EdgePrivacy, "node") if unit == "edge" else (BoundedDegrees, "edge")
    for name in given:
        if name not in signature(owner).parameters:
            message = f"`{name}` belongs to `unit={other!r}`; leave it out."
            raise UsageError(message)
    for name in ("public_nodes", "max_degree"):
        if name in given and given[name] != "auto":
            given[name] = whole_number(given[name], name=f"`{name}`")
    if "choice_share" in given and isinstance(given.get("max_degree"), int):
        raise UsageError("--choice-share belongs to --max-degree auto: a largest degree that is given costs nothing.")
    if unit == "edge":
        return EdgePrivacy(**given, relation=relation), mechanism
    return NodePrivacy(relation), BoundedDegrees(method=parse_method(mechanism, name="mechanism"), **given)
