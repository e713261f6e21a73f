"""From the options that say what to read to a graph, or to its degrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.arguments import one_character
from anonhist.cli.decorators import as_one
from anonhist.cli.options import delimiter_option, no_header_option, table_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.cli.progress import Bars
    from anonhist.graphs import Degrees, EdgePolicy, Graph


def _as_read(
    origin: str | None, target: str | None, table: str | None, delimiter: str | None, *, no_header: bool
) -> dict[str, Any]:
    """Return how edges are read, as the functions call it."""
    columns = {"origin": origin, "target": target, "table": table}
    return {**columns, "delimiter": one_character(delimiter), "header": False if no_header else None}


reading_options = as_one(
    "reading",
    click.option(
        "--source",
        "origin",
        metavar="COLUMN",
        help="Column of the node at which an edge starts (undirected: of one end).",
    ),
    click.option(
        "--target", metavar="COLUMN", help="Column of the node at which an edge ends (undirected: of the other end)."
    ),
    table_option,
    delimiter_option,
    no_header_option,
    made=_as_read,
)


def read_graph(
    unit: str,
    edges: str,
    nodes: str | None,
    policy: EdgePolicy,
    reading: Mapping[str, Any],
    *,
    remarks: list[str] | None,
    bars: Bars,
) -> Graph | Degrees:
    """Read edges for node privacy; for edge privacy no more than how many nodes have which degree."""
    from anonhist.ingest.edges import read_degrees, read_edges

    read = read_degrees if unit == "edge" else read_edges
    return read(
        edges,
        nodes=nodes,
        policy=policy,
        notify=None if remarks is None else remarks.append,
        progress=bars.reading,
        **reading,
    )


def degrees_of(graph: Graph | Degrees) -> Degrees:
    """Return how many nodes have which degree, which for edge privacy is all that was read."""
    from anonhist.graphs.graph import Graph

    return graph.degree_profile() if isinstance(graph, Graph) else graph
