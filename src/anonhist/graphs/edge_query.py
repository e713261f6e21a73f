"""Queries on edges, written once for every engine: apply the policy, count each node, count the counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonhist.errors import DataError, UsageError
from anonhist.graphs.graph import Direction, EdgePolicy
from anonhist.ingest.columns import Header, quoted
from anonhist.ingest.engine import IS_COMMENT, NO_DIRECTION, UNDIRECTED
from anonhist.ingest.naming import NAMED, as_text, check_named, name_columns
from anonhist.ingest.plain_types import is_spark
from anonhist.ingest.query import fetch, one_if

# The reason why a row is not an edge (1 for self-loops): an end has no name.
NAMELESS = 2
# Common names of the two end columns, in any case.
_PAIRS = (("source", "target"), ("from", "to"), ("src", "dst"))


def edge_columns(header: Header, origin: str | None, target: str | None, *, may_guess: bool = True) -> tuple[str, str]:
    """Return the columns of both ends, or refuse missing or unnamed ones.

    Two columns with other names are read as the ends only if ``may_guess``: the first line of a text may itself be an
    edge.
    """
    header.require(source=origin, target=target)
    names = header.names
    if origin is not None and origin == target:
        raise UsageError("The two ends of an edge must be in two columns (`origin` and `target`).")
    if len(names) < 2:
        raise DataError("Edges need two columns, one for each end.")
    if origin is None and target is None:
        ends = _called_ends(names) or ((names[0], names[1]) if len(names) == 2 and may_guess else None)
        if ends:
            header.require(source=ends[0], target=ends[1])
            return ends
    others = header.without(origin, target)
    return (
        others.label_column(None, role="source", option="origin") if origin is None else origin,
        others.label_column(None, role="target", option="target") if target is None else target,
    )


def _called_ends(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the columns with common names of ends: exact, or in any case, as in Gephi's tables."""
    folded = [name.casefold() for name in names]
    exact = [pair for pair in _PAIRS if set(pair) <= set(names)]
    in_any_case = [pair for pair in _PAIRS if all(folded.count(end) == 1 for end in pair)]
    if exact:
        return exact[0]
    first, second = (names[folded.index(end)] for end in in_any_case[0]) if in_any_case else (None, None)
    return None if first is None or second is None else (first, second)


def edge_rows(table: Any, origin: str, target: str) -> Any:
    """Return the rows (source, target) of a table: as text, or as numbers if these are equal exactly when texts are.

    If ends may lack a name, a third column ``named`` is 0 for rows with a nameless end.
    """
    import narwhals as nw

    kinds = [table.collect_schema()[name] for name in (origin, target)]
    # Elsewhere, numbers may become floats beside null, or have other types than declared; Arrow has none of 128 bits.
    is_narrow = kinds[0].is_integer() and kinds[0] not in (nw.Int128, nw.UInt128)
    if kinds[0] == kinds[1] and is_narrow and (table.implementation.is_duckdb() or is_spark(table)):
        return table.select(source=nw.col(origin), target=nw.col(target))
    names = {end: as_text(table, name, only_whole=True) for end, name in (("source", origin), ("target", target))}
    return table.select(**names, **name_columns(table, {origin: True, target: True}))


def with_directions(table: Any, header: Header) -> Any:
    """Return a table of directed edges, or refuse a table of Gephi with undirected ones.

    DuckDB checks rows as it reads them, because standard input can be read only once.
    """
    import narwhals as nw

    folded = [name.casefold() for name in header.names]
    if folded.count("type") != 1 or not {*_PAIRS[0]} <= {*folded}:
        return table
    kind = header.in_table(header.names[folded.index("type")])
    if not isinstance(table.collect_schema()[kind], nw.String):
        return table
    if table.implementation.is_duckdb():
        says = f"lower({quoted(kind)}) = 'undirected'"
        checked = f"CASE WHEN {says} THEN error('{NO_DIRECTION}') ELSE {quoted(kind)} END"
        return nw.from_native(table.to_native().filter(f"coalesce({checked}, '') <> 'undirected'"))
    if fetch(table.filter(nw.col(kind).str.to_lowercase() == "undirected").select(rows=nw.len()))[0][0]:
        raise DataError(f"The table {UNDIRECTED}")
    return table


def without_comments(table: Any, header: Header) -> Any:
    """Return delimited text, or refuse it if a row begins like a comment: with # or %, and a space or nothing after it.

    Comments read as edges would be counted silently. Hashtags are nodes.
    """
    import narwhals as nw

    first = quoted(header.in_table(header.names[0]))
    is_comment = f"substr({first}, 1, 1) IN ('#', '%') AND substr({first}, 2, 1) IN ('', ' ')"
    # As a filter, because the engine would skip an unused column.
    return nw.from_native(table.to_native().filter(f"CASE WHEN {is_comment} THEN error('{IS_COMMENT}') ELSE true END"))


def with_names(rows: Any) -> Any:
    """Return rows whose ends or nodes will leave the engine; those of Spark are text.

    Older versions of Spark send them through pandas, where whole numbers beside null become floats.
    """
    import narwhals as nw

    if not is_spark(rows):
        return rows
    kinds = rows.collect_schema()
    whole = [name for name in ("source", "target", "node") if name in kinds and kinds[name].is_integer()]
    return rows.with_columns(nw.col(*whole).cast(nw.String)) if whole else rows


def node_query(rows: Any, policy: EdgePolicy) -> Any:
    """Return the lazy query (node, is_loop, degree, rows) over rows (source, target).

    ``rows`` is the number of rows in which the node was an end. Excluded rows are null among the nodes: self-loops that
    the policy leaves out, with ``is_loop`` 1, rows without two ends, with 0, and rows with a nameless end, with 2.
    Without directions each row has two ends, so everything is counted twice. One query gives all of this, because
    standard input can be read only once.
    """
    import narwhals as nw

    source, target = nw.col("source"), nw.col("target")
    is_loop = (source == target) & nw.lit(policy.self_loops == "drop")
    is_edge = ~source.is_null() & ~target.is_null() & ~is_loop
    reason = nw.when(is_loop).then(nw.lit(1)).otherwise(nw.lit(0))
    if NAMED in rows.collect_schema().names():
        is_edge = is_edge & (nw.col(NAMED) == 1)
        reason = nw.when(nw.col(NAMED) == 0).then(nw.lit(NAMELESS)).otherwise(reason)
    if policy.direction.is_directed:
        first, second = source, target
    else:
        first = nw.when(source <= target).then(source).otherwise(target)
        second = nw.when(source <= target).then(target).otherwise(source)
    edges = rows.select(first=nw.when(is_edge).then(first), second=nw.when(is_edge).then(second), is_loop=reason)
    if policy.duplicates == "merge":
        edges = edges.group_by("first", "second", "is_loop").agg(rows=nw.len())
    else:
        edges = edges.with_columns(rows=nw.lit(1))
    ends = _ends(edges, policy.direction)
    return ends.group_by("node", "is_loop").agg(nw.len().alias("degree"), nw.col("rows").sum())


def degree_query(nodes: Any) -> Any:
    """Return the lazy query (degree, is_null, is_loop, prevalence, rows) over the rows of :func:`node_query`."""
    import narwhals as nw

    counted = nodes.with_columns(is_null=nw.col("node").is_null())
    return counted.group_by("degree", "is_null", "is_loop").agg(nw.len().alias("prevalence"), nw.col("rows").sum())


def _ends(edges: Any, direction: Direction) -> Any:
    """Return one row (node, is_loop, rows) for each end that counts."""
    import narwhals as nw

    if direction.is_directed:
        return edges.select("is_loop", "rows", node=nw.col("first" if direction is Direction.OUT else "second"))
    if edges.implementation.is_duckdb():
        # Two queries would read the source twice, which standard input does not allow.
        return nw.from_native(edges.to_native().project('is_loop, "rows", unnest(["first", "second"]) AS node'))
    if is_spark(edges):
        # With two queries, each would read and merge all edges again.
        return nw.from_native(edges.to_native().selectExpr("is_loop", "rows", "explode(array(first, second)) AS node"))
    ends = [edges.select("is_loop", "rows", node=nw.col(name)) for name in ("first", "second")]
    return nw.concat(ends, how="vertical")


@dataclass(frozen=True)
class LeftOut:
    """The number of rows left out, and why; private, only for the operator."""

    rows: int
    without_ends: int
    self_loops: int
    duplicates: int

    def __str__(self) -> str:
        parts = (
            (self.without_ends, "without both ends"),
            (self.self_loops, "from a node to itself"),
            (self.duplicates, "equal to another"),
        )
        told = ", ".join(f"{number:,} {what}" for number, what in parts if number) or "none"
        return f"Of {self.rows:,} rows these were left out: {told}."


def count_degrees(rows: Any, policy: EdgePolicy, *, tells: bool) -> tuple[list[tuple[int, int]], LeftOut | None]:
    """Return the pairs (degree, prevalence) of rows (source, target), and the excluded rows if ``tells``.

    For a table that can be read twice, a separate query without grouping counts the excluded rows: in one query with
    the degrees, as for other engines, all grouped rows would become longer.
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
    """Return the one-row query: all rows, those without both ends, those from a node to itself, nameless ones."""
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
    # An array of both ends, because with two queries each would read and merge all edges again.
    node = {"out": "first", "in": "second"}.get(policy.direction.value, "explode(array(first, second))")
    nodes = nw.from_native(edges.selectExpr(f"{node} AS node")).group_by("node").agg(degree=nw.len())
    return nodes.group_by("degree").agg(prevalence=nw.len()).select("degree", "prevalence")


def _drops(policy: EdgePolicy) -> bool:
    return policy.self_loops == "drop"
