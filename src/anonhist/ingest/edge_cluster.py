"""Degrees of edges in a table of Spark, counted on the cluster: as many rows come from it as there are degrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.ingest.edge_query import LeftOut
from anonhist.ingest.naming import NAMED, check_named
from anonhist.ingest.query import fetch, one_if

if TYPE_CHECKING:
    from anonhist.graphs.graph import EdgePolicy


def count_degrees(rows: Any, policy: EdgePolicy, *, tells: bool) -> tuple[list[tuple[int, int]], LeftOut | None]:
    """Return the pairs (degree, prevalence) of rows (source, target), and what was left out where that is to be told.

    Of a table that can be read twice that is a query of its own, without any grouping. In one query with the degrees,
    as for other engines, it makes all rows that are grouped longer.

    Raises
    ------
    DataError
        If an end has no name.
    """
    left_out = None
    if tells or NAMED in rows.collect_schema().names():
        [(number, without_ends, loops, nameless)] = fetch(_summary(rows))
        check_named(not nameless, only_whole=True)
        left_out = LeftOut(int(number), int(without_ends or 0), int(loops or 0) if _drops(policy) else 0, 0)
    pairs = [(int(degree), int(prevalence)) for degree, prevalence in fetch(_degrees(rows, policy))]
    if left_out is None:
        return pairs, None
    edges = sum(degree * prevalence for degree, prevalence in pairs) // policy.degrees_per_edge
    kept = left_out.rows - left_out.without_ends - left_out.self_loops
    return pairs, LeftOut(left_out.rows, left_out.without_ends, left_out.self_loops, kept - edges)


def _summary(rows: Any) -> Any:
    """Return the one-row query: rows, those without both ends, those from a node to itself, those without a name."""
    import narwhals as nw

    source, target = nw.col("source"), nw.col("target")
    has_names = (nw.col(NAMED) == 1) if NAMED in rows.collect_schema().names() else nw.lit(1) == nw.lit(1)
    told = rows.select(
        missing=one_if(source.is_null() | target.is_null()), loop=one_if(source == target), nameless=one_if(~has_names)
    )
    return told.select(nw.len().alias("rows"), nw.col("missing", "loop", "nameless").sum())


def _degrees(rows: Any, policy: EdgePolicy) -> Any:
    """Return the query (degree, prevalence)."""
    import narwhals as nw

    is_edge = "source IS NOT NULL AND target IS NOT NULL" + (" AND source <> target" if _drops(policy) else "")
    edges = rows.to_native().where(is_edge)
    if policy.direction.is_directed:
        edges = edges.selectExpr("source AS first", "target AS second")
    else:
        edges = edges.selectExpr("least(source, target) AS first", "greatest(source, target) AS second")
    if policy.duplicates == "merge":
        edges = edges.distinct()
    # An array of both ends: of two queries each would read and merge all edges anew.
    node = {"out": "first", "in": "second"}.get(policy.direction.value, "explode(array(first, second))")
    nodes = nw.from_native(edges.selectExpr(f"{node} AS node")).group_by("node").agg(degree=nw.len())
    return nodes.group_by("degree").agg(prevalence=nw.len()).select("degree", "prevalence")


def _drops(policy: EdgePolicy) -> bool:
    return policy.self_loops == "drop"
