"""``anonhist degrees``: the command and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from anonhist.catalogue.mechanisms import MECHANISMS, PUBLIC_NUMBERS
from anonhist.cli.options import (
    delimiter_option,
    force_option,
    no_header_option,
    relation_option,
    simulations_option,
    table_option,
)
from anonhist.cli.sections import SectionedCommand
from anonhist.privacy import parse_epsilon

if TYPE_CHECKING:
    from fractions import Fraction

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
    "What to write": ("output", "report", "not_private_truth", "force", "quiet"),
}

_EXAMPLES = """
anonhist degrees edges.txt.gz --unit edge --epsilon 1 -o release.json --report degrees.html
anonhist degrees edges.parquet --source from --target to --directed in --unit node --max-degree auto --epsilon 2
anonhist degrees edges.csv --nodes members.txt --unit node --max-degree 32 --epsilon 1
"""


def _exact(_: click.Context, __: click.Parameter, epsilon: str) -> Fraction:
    return parse_epsilon(epsilon)


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("edges", metavar="EDGES")
@click.option("--source", "origin", metavar="COLUMN", help="Column of the node that an edge leaves, or of either end.")
@click.option("--target", metavar="COLUMN", help="Column of the node that an edge leads to, or of the other end.")
@click.option(
    "--nodes",
    metavar="FILE",
    help="All nodes, with edges or without: one name a line, or a table with a column 'node'. Without it a node is "
    "there only because of its edges. With --unit node, a node must be listed whichever others there are; if the "
    "list is public, add --relation substitute.",
)
@table_option
@delimiter_option
@no_header_option
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
    "--public-nodes",
    metavar="N",
    help="How many nodes there are, those without edges too, if everybody knows that; then nodes without an edge are "
    "released as well.",
)
@click.option(
    "--mechanism",
    metavar="NAME",
    help="How noise is added: auto, which picks what errs least and says why. With --unit edge: "
    f"{', '.join(_WITHOUT_NUMBERS)}, and with --public-nodes {', '.join(_WITH_NUMBERS)}. With "
    "--unit node: to how many nodes have at most each degree (cumulative, with --nodes), at least (survival), exactly "
    "(histogram), or to the list of degrees (partition).  [default: auto]",
)
@click.option(
    "--max-degree",
    metavar="N",
    help="Edges are left out until no node has more than N, or auto: chosen privately, with a share of the budget.  "
    "[default: auto]",
)
@click.option(
    "--choice-share", metavar="S", help="Which share of epsilon the choice of --max-degree auto spends.  [default: 1/4]"
)
@click.option(
    "--bounding",
    type=click.Choice(("projection", "flow")),
    help="How edges are left out: one by one, or by shares, which keeps more and takes longer.  [default: projection]",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write: FILE.json (everything), FILE.csv, FILE.parquet, or - for CSV on standard output.",
)
@click.option("--report", metavar="FILE.html", help="Also write a page with plots and the promise in plain words.")
@click.option(
    "--not-private-truth",
    is_flag=True,
    help="NOT PRIVATE: draw the true degrees beside the released ones; the page must not be shared then.",
)
@simulations_option
@force_option
@click.option("--quiet", is_flag=True, help="Say nothing but errors, and that a page is not private.")
def degrees(**options: Any) -> None:
    """Turn a list of edges into private degrees: how many nodes have which.

    EDGES is text with both ends of an edge on each line (.txt, .edges, .edgelist; # and % begin remarks), a table
    (.csv, .tsv, .jsonl, .parquet), either also as .gz and .zst, a pattern such as 'edges/*.parquet', a database
    (duckdb:///FILE; sqlite:///FILE and postgresql://… with the extra [ibis]), or - for text on standard input.

    Without -o, a terminal gets release.json in the working directory, and a pipe gets CSV on standard output.
    """
    from anonhist.cli.degrees.release import run_degrees

    run_degrees(**options)
