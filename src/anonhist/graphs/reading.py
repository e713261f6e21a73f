"""From a source of edges to a graph, or only to its degrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, converted, derived, frozen
from anonhist.graphs.edge_documents import check_konect, edges_of_networkx, local_files, opened_document
from anonhist.graphs.edge_formats import EdgeFormat, EdgeFormatName, edge_format_of, edges_of_lines, parse_edge_format
from anonhist.graphs.edge_query import (
    NAMELESS,
    LeftOut,
    count_degrees,
    degree_query,
    edge_columns,
    edge_rows,
    node_query,
    with_directions,
    with_names,
    without_comments,
)
from anonhist.graphs.graph import SIMPLE, Degrees, EdgePolicy, Graph, check_policy, normalize
from anonhist.graphs.node_names import EndNames, node_names, ranks_among
from anonhist.graphs.release import as_graph
from anonhist.ingest.columns import required_key
from anonhist.ingest.engine import NO_LIMITS, EngineLimits
from anonhist.ingest.files import DATABASES, SPARK_URLS, Form, SparkFiles, is_delimited
from anonhist.ingest.holders import Reading, holder_of
from anonhist.ingest.locations import as_path
from anonhist.ingest.memory import is_table
from anonhist.ingest.naming import check_batch, check_named
from anonhist.ingest.plain_types import is_spark
from anonhist.ingest.query import fetch, record_batches
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile

_ROWS = 1 << 20


def read_edges(
    source: Any,
    /,
    *,
    origin: str | None = None,
    target: str | None = None,
    nodes: Any = None,
    policy: EdgePolicy = SIMPLE,
    table: str | None = None,
    format: EdgeFormatName | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    notify: Callable[[str], None] | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
) -> Graph:
    """Read a graph, for node privacy: all edges come into the memory of this process.

    Which edges must be dropped depends on all of them, so those of a database or a Spark cluster are collected here, on
    the driver. For edge privacy, :func:`read_degrees` counts on the engine instead.

    Parameters
    ----------
    source
        *Text*: a path or glob of .txt, .edges or .edgelist, .gz and .zst too, or ``"-"`` for standard input. Each line
        names both ends of an edge, separated by spaces or tabs; the rest of the line is ignored, and so are lines that
        begin with # or %. A name with spaces is in quotes, as in ``"Ann Lee" "Bob Ray"``; quotes inside it are doubled.
        *Graph file formats*: see ``format``. *Tables*: other files, URLs, databases and tables in memory as for
        :func:`read_profile`, and text, too, if its columns, its delimiter, its header or its comments are given. *Edges
        in memory*: everything that :func:`as_graph` accepts.
    origin, target
        Columns of both ends, or keys of JSON lines. Columns may be left out if they are called source and target, from
        and to, or src and dst, in any case, as in Gephi's tables, or if there are only two; for delimited text, then
        say whether it has a header. Names are compared as text, as written. Numbers must be whole: 7.0 in a column of
        floats is the node 7, and fractions and floats of 2^53 and more are refused.
    nodes
        All nodes, with or without edges: the path of a text with one name per line or of a table with a column
        ``node``, a table in memory, or an iterable of names, such as ``graph.nodes`` of a networkx graph. Without it, a
        node exists only because of its edges. With node privacy, whether a node is listed must not depend on other
        nodes. The vertices that a file of Pajek, Matrix Market, GraphML or GML lists count only if that file is named
        here, too: the same path as ``source``, or another. Then each node without an edge has degree 0. One more edge
        changes no list; one more node may also add a node of degree 0, so the list must hold nodes whether or not they
        have edges. A matrix lists all of its rows, so a removed node must leave an empty row.
    policy
        What counts as an edge.
    table
        Table of a database.
    format
        The format of files; by default it follows from their names. ``"lines"`` (.txt, .edges, .edgelist): lines of
        words. ``"snap"``, ``"konect"`` (out.NAME): the same, where only # or only % begins a comment. ``"pajek"``
        (.net): a vertex is named by its label, or by its number without one. ``"matrix-market"`` (.mtx): an entry in
        coordinates that is not zero is an edge from its row to its column; in symmetric ones edges have no direction.
        ``"graphml"``, ``"gml"`` (.graphml, .gml): through networkx, which holds them as Python objects; nodes are named
        by their ids in GraphML, by their labels in GML. Directions, weights and times in a file count only as the
        policy says; in- and out-degrees of edges without a direction are refused.
    delimiter, header
        For delimited text; header lines are expected unless ``header=False``.
    comment
        For delimited text: the character that begins comment lines, which may precede the header. By default there are
        no comments: #a is a node, and a row that begins with # or % and a space is refused. With comments, fields in
        quotes must end on the same line.
    notify
        Receives the number of rows left out of files and tables: those without both ends and those that the policy
        leaves out. It is for the operator's terminal, and as private as the data.
    progress
        Receives the share done, in [0, 1], while the engine works.
    limits
        The memory and the number of threads that DuckDB may use, and where it spills: for files and its own databases.

    Returns
    -------
    Graph
        A private graph. No edge becomes a Python object: each takes 16 bytes, and three times that while edges are
        sorted.

    Raises
    ------
    DataError
        If the data cannot be used, or an edge has an end that is not listed; the message contains none of their values.
    UsageError
        If the call contradicts itself, or does not say which of several columns to read.

    Examples
    --------
    >>> read_edges([("ann", "bob"), ("bob", "cy")])
    Graph(3 nodes, 2 edges)
    """
    said = (origin, target, table, format, delimiter, header, comment)
    asked = _Asked(as_path(source), as_path(nodes), *said, policy, limits)
    if asked.is_in_memory:
        return asked.graph()
    listed = asked.listed()
    names = EndNames()
    with asked.opened_rows(progress) as rows:
        for batch in record_batches(with_names(rows), _ROWS):
            check_batch(batch, only_whole=True)
            names.add(batch)
    sources, targets, identities = names.rank(listed)
    edges = normalize(sources, targets, num_nodes=identities.size, policy=policy)
    asked.tell(LeftOut(names.rows, names.without_ends, edges.self_loops, edges.duplicates), notify)
    return Graph(edges.sources, edges.targets, identities, policy, nodes_listed=listed is not None)


def read_degrees(
    source: Any,
    /,
    *,
    origin: str | None = None,
    target: str | None = None,
    nodes: Any = None,
    policy: EdgePolicy = SIMPLE,
    table: str | None = None,
    format: EdgeFormatName | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    notify: Callable[[str], None] | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
) -> Degrees:
    """Count degrees on the engine that holds the edges, for edge privacy: edges never reach Python.

    Only the number of nodes with each degree leaves the engine, even a Spark cluster, unless nodes are listed.

    Parameters
    ----------
    source, origin, target, nodes, policy, table, format, delimiter, header, comment, notify, progress, limits
        As for :func:`read_edges`. If nodes are listed, the names of those with edges reach Python.

    Returns
    -------
    Degrees
        Private degrees, the same as ``read_edges(…).degree_profile()``.

    Raises
    ------
    DataError, UsageError
        As for :func:`read_edges`.

    Examples
    --------
    >>> degrees = read_degrees([("ann", "bob"), ("bob", "cy")])
    >>> degrees.profile
    Profile(n=4, num_labels=3, {1: 2, 2: 1})
    """
    said = (origin, target, table, format, delimiter, header, comment)
    asked = _Asked(as_path(source), as_path(nodes), *said, policy, limits)
    if asked.is_in_memory:
        return asked.graph().degree_profile()
    listed = asked.listed()
    with asked.opened_rows(progress) as rows:
        if listed is None and is_spark(rows):
            pairs, left_out = count_degrees(rows, policy, tells=notify is not None)
        else:
            query = node_query(rows, policy)
            found = fetch(degree_query(query)) if listed is None else _among(query, listed)
            check_named(all(row[2] != NAMELESS for row in found), only_whole=True)
            pairs = [(int(degree), int(prevalence)) for degree, is_null, _, prevalence, _ in found if not is_null]
            left_out = _count_left_out(found, policy)
    if left_out is not None:
        asked.tell(left_out, notify)
    unit = PrivacyUnit.edge(degrees=policy.degrees_per_edge)
    return Degrees(Profile.from_prevalences(pairs, unit=unit), policy, None if listed is None else len(listed))


@frozen
class _Asked:
    """The options about a source of edges and its nodes; contradictory ones are refused."""

    source: Any
    nodes: Any
    origin: str | None
    target: str | None
    table: str | None
    format: Converted[object, EdgeFormat | None] = converted(parse_edge_format)
    delimiter: str | None
    header: bool | None
    comment: str | None
    policy: EdgePolicy
    limits: EngineLimits | None
    # The format of a file that defines edges itself, None for a table: as given, or else by its name.
    form: Converted[Any, EdgeFormat | None] = derived(
        lambda self: (
            self.format
            if self.format is not None or not isinstance(self.source, str) or self.says_columns
            else edge_format_of(self.source)
        )
    )

    def __post_init__(self) -> None:
        check_policy(self.policy)
        source = self.source
        is_file = isinstance(source, str) and not source.startswith((*DATABASES, *SPARK_URLS))
        if self._is_edges and (self.says_columns or self.format is not None):
            raise UsageError("Pairs, matrices and networkx graphs have no columns to name and no delimiter.")
        if self.format is not None and (not is_file or self.says_columns):
            raise UsageError(
                "`format` is for graph files: leave it out for tables, for which you can name the columns (`origin` "
                "and `target`), the separator (`delimiter`) and the comments (`comment`)."
            )
        if self.comment is not None and not is_delimited(source):
            raise UsageError("Comments are recognized only in delimited files on this machine: leave `comment` out.")
        if self._is_of_nodes and source == "-":
            raise UsageError("Standard input can be read once: as edges or as nodes, not as both.")

    @property
    def says_columns(self) -> bool:
        """Whether any option applies only to tables."""
        said = (self.origin, self.target, self.table, self.delimiter, self.header, self.comment)
        return any(each is not None for each in said)

    @property
    def _is_edges(self) -> bool:
        """Whether the source is edges that need no engine."""
        return not isinstance(self.source, str | SparkFiles) and not is_table(self.source)

    @property
    def _is_of_nodes(self) -> bool:
        """Whether the list of nodes is the file of edges itself."""
        return isinstance(self.nodes, str) and isinstance(self.source, str) and self.nodes == self.source

    @property
    def is_in_memory(self) -> bool:
        """Whether a graph is made from the source without an engine."""
        return self._is_edges or self.form in (EdgeFormat.GRAPHML, EdgeFormat.GML)

    def graph(self) -> Graph:
        """Make a graph without an engine."""
        nodes = self.nodes
        if not self._is_of_nodes and (isinstance(nodes, str) or is_table(nodes)):
            nodes = node_names(nodes).to_pylist()
        if self.form is None:
            return as_graph(self.source, policy=self.policy, nodes=nodes)
        (path,) = local_files(self.source, self.form)
        pairs, own = edges_of_networkx(path, self.form, self.policy)
        return as_graph(pairs, policy=self.policy, nodes=own if self._is_of_nodes else nodes)

    def listed(self) -> Any:
        """Return the names of all nodes, if they are listed; a file that lists its own nodes is read like its edges."""
        if self.nodes is None:
            return None
        return node_names(self.nodes, self.form if self._is_of_nodes else None)

    @contextmanager
    def opened_rows(self, progress: Callable[[float], None] | None) -> Iterator[Any]:
        """Open the source as rows (source, target)."""
        source, form = self.source, self.form
        if form is not None and form.is_document:
            (path,) = local_files(source, form)
            limits = self.limits or NO_LIMITS
            with opened_document(path, form, self.policy, progress=progress, limits=limits) as rows:
                yield rows
            return
        if form is EdgeFormat.KONECT:
            check_konect(local_files(source, form), self.policy)
        kind = None if form is None else "labels"
        has_header = self.header is not False
        holder = holder_of(source, table=self.table, format=kind, delimiter=self.delimiter, header=has_header)
        # JSON lines do not declare which of their keys are the ends.
        said = (("source", "origin", self.origin), ("target", "target", self.target))
        ends = said if holder.form is Form.JSON else ()
        keys = tuple(required_key(key, role=role, option=option) for role, option, key in ends)
        asked = Reading(keys, comment=self.comment, progress=progress, limits=self.limits)
        with holder.open(asked) as opened:
            if form is not None:
                yield edges_of_lines(opened.table, form)
                return
            # An assumed header may be missing: the first edge would be silently dropped.
            may_guess = self.header is not None or not opened.header.is_line
            columns = edge_columns(opened.header, self.origin, self.target, may_guess=may_guess)
            table = opened.table
            if self.comment is None and is_delimited(source):
                table = without_comments(table, opened.header)
            if self.policy.direction.is_directed:
                table = with_directions(table, opened.header)
            yield edge_rows(table, *map(opened.header.in_table, columns))

    def tell(self, left_out: LeftOut, notify: Callable[[str], None] | None) -> None:
        """Tell the operator what was left out, or refuse a text in which no line is an edge."""
        if left_out.rows and left_out.without_ends == left_out.rows and self.form is not None:
            raise DataError("No line has two names separated by spaces or tabs; give the separator (`delimiter`).")
        if notify is not None and (left_out.without_ends or left_out.self_loops or left_out.duplicates):
            notify(str(left_out))


def _among(query: Any, listed: Any) -> list[tuple[int, bool, int, int, int]]:
    """Run a query (node, is_loop, degree, rows) and count its counts here, after checking that all nodes are listed."""
    import pyarrow as pa

    found: list[tuple[int, bool, int, int, int]] = []
    for batch in record_batches(with_names(query), _ROWS):
        is_node = batch.column("node").is_valid()
        ranks_among(batch.column("node").filter(is_node), listed)
        is_loop, degrees, rows = (
            batch.column(name).cast(pa.int64()).to_numpy() for name in ("is_loop", "degree", "rows")
        )
        is_null = ~is_node.to_numpy(zero_copy_only=False)
        found += [
            (int(degree), True, int(loop), 1, int(row))
            for degree, loop, row in zip(degrees[is_null], is_loop[is_null], rows[is_null], strict=True)
        ]
        distinct, places, prevalences = np.unique(degrees[~is_null], return_inverse=True, return_counts=True)
        sums = np.zeros(distinct.size, dtype=np.int64)
        np.add.at(sums, places, rows[~is_null])
        found += [
            (degree, False, 0, prevalence, row)
            for degree, prevalence, row in zip(distinct.tolist(), prevalences.tolist(), sums.tolist(), strict=True)
        ]
    return found


def _count_left_out(found: list[tuple[Any, ...]], policy: EdgePolicy) -> LeftOut:
    """Return the excluded rows according to the counts (degree, is_null, is_loop, prevalence, rows)."""
    # Each row occurs once for each end that counts.
    ends = policy.degrees_per_edge
    nowhere = sum(int(row[4]) for row in found if row[1]) // ends
    self_loops = sum(int(row[4]) for row in found if row[2]) // ends
    kept = sum(int(row[4]) for row in found if not row[1]) // ends
    edges = sum(int(row[0]) * int(row[3]) for row in found if not row[1]) // ends
    return LeftOut(nowhere + kept, nowhere - self_loops, self_loops, kept - edges)
