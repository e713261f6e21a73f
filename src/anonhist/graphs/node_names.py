"""Names of nodes: lists of all nodes, and ends of edges as ranks of names, without one Python object per name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.graphs.edge_documents import local_files, names_in_document
from anonhist.graphs.edge_formats import EdgeFormat, edge_format_of, nodes_of_lines
from anonhist.graphs.graph import IDENTITY_KEY, MAX_NODES
from anonhist.ingest.files import DATABASES
from anonhist.ingest.holders import Reading, holder_of
from anonhist.ingest.locations import as_path
from anonhist.ingest.memory import plain_labels
from anonhist.ingest.naming import as_text, check_batch, name_columns, names_of
from anonhist.ingest.query import record_batches, text_buffers
from anonhist.numeric.arrays import Ints
from anonhist.numeric.hashing import hash_buffer

UNLISTED = "A node of an edge is not listed: list all nodes, or leave the list out (`nodes`)."
_ROWS = 1 << 20
_COLUMN = "node"


class EndNames:
    """The ends of edges, batch by batch, as Arrow arrays."""

    def __init__(self) -> None:
        self.rows = self.without_ends = 0
        self._sources: list[Any] = []
        self._targets: list[Any] = []

    def add(self, batch: Any) -> None:
        """Add an Arrow batch with the columns ``source`` and ``target``; rows without both ends are only counted."""
        import pyarrow.compute as pc

        self.rows += batch.num_rows
        has_both = pc.and_(batch.column("source").is_valid(), batch.column("target").is_valid())
        if has_both.true_count < batch.num_rows:
            self.without_ends += batch.num_rows - has_both.true_count
            batch = batch.filter(has_both)
        if not batch.num_rows:
            return
        self._sources.append(_plain(batch.column("source")))
        self._targets.append(_plain(batch.column("target")))

    def rank(self, listed: Any | None) -> tuple[Ints, Ints, NDArray[np.uint64]]:
        """Return sources and targets of all edges as ranks of their names, and the identities of the nodes by rank.

        ``listed`` holds the distinct names of all nodes as an Arrow array; None if there are only the ends. The added
        ends are discarded afterwards.
        """
        import pyarrow.compute as pc

        names, codes = self._encode()
        nodes = names if listed is None else listed
        if len(nodes) > MAX_NODES:
            raise DataError("A graph can have at most 2^31 nodes.")
        # Bytes of UTF-8 sort in the order of code points.
        order = pc.sort_indices(nodes)
        nodes = nodes.take(order)
        identities = hash_buffer(*text_buffers(nodes), key=IDENTITY_KEY)[:, 0].copy()
        if listed is None:
            ranks = np.empty(len(nodes), dtype=np.int64)
            ranks[order.to_numpy()] = np.arange(len(nodes))
        else:
            ranks = ranks_among(names, nodes)
        ends = np.concatenate([np.zeros(0, dtype=np.int64), *(ranks[part] for part in codes)])
        sources, targets = np.split(ends, 2)
        return sources, targets, identities

    def _encode(self) -> tuple[Any, list[NDArray[np.int32]]]:
        """Return the distinct names and, part by part, the names that sources and then targets have."""
        import pyarrow as pa

        if not self._sources:
            return pa.array([], type=pa.large_string()), []
        parts = [*self._sources, *self._targets]
        self._sources, self._targets = [], []
        if len({part.type for part in parts}) > 1:
            # Engines may write names that were numbers or categories as another text type than names that were text.
            parts = [as_large_text(part) for part in parts]
        ends = pa.chunked_array(parts)
        # All parts get the same dictionary.
        chunks = ends.dictionary_encode().chunks
        return as_large_text(chunks[0].dictionary), [chunk.indices.to_numpy() for chunk in chunks]


def ranks_among(names: Any, nodes: Any) -> Ints:
    """Return the position of each name among the nodes, both Arrow arrays, or refuse a missing one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    places = pc.index_in(as_large_text(names), value_set=nodes)
    if places.null_count:
        raise DataError(UNLISTED)
    return np.asarray(places.cast(pa.int64()).to_numpy())


def as_large_text(values: Any) -> Any:
    """Return an Arrow array of texts that may exceed 2^31 bytes."""
    import pyarrow as pa

    return values.cast(pa.large_string())


def _plain(ends: Any) -> Any:
    """Return whole numbers unchanged, to be named once they are distinct; everything else becomes text."""
    import pyarrow as pa

    return ends if pa.types.is_integer(ends.type) or pa.types.is_string(ends.type) else as_large_text(ends)


def node_names(nodes: Any, form: EdgeFormat | None = None) -> Any:
    """Return the distinct names of nodes as an Arrow array of large texts, in any order; missing names are left out.

    ``nodes`` is a path or ``"-"``: text with one name per line, a table with a column ``node`` or only one column, JSON
    lines with a key ``node``, or a graph in a format that lists its vertices; or a table in memory, or an iterable.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    source = as_path(nodes)
    plain = plain_labels(source)
    if plain is not None:
        chunks = [names_of(plain, only_whole=True)]
    else:
        if isinstance(source, str) and source.startswith(DATABASES):
            raise UsageError("List the nodes in a file or in a table in memory, not in a database.")
        chunks = _read(source, edge_format_of(source) if form is None and isinstance(source, str) else form)
    return pc.unique(pa.chunked_array(chunks, type=pa.large_string()).drop_null())


def _read(source: Any, form: EdgeFormat | None) -> list[Any]:
    import pyarrow as pa

    if form is not None and form.is_document:
        (path,) = local_files(source, form)
        return [names_in_document(path, form)]
    kind = None if form is None else "labels"
    with holder_of(source, format=kind).open(Reading((_COLUMN,))) as opened:
        table, header = opened.table, opened.header
        if form is not None:
            names = nodes_of_lines(table, form)
        else:
            called = _COLUMN if _COLUMN in header.names else None
            column = header.in_table(header.label_column(called, role="node", option=f"call it {_COLUMN!r}"))
            names = table.select(node=as_text(table, column, only_whole=True), **name_columns(table, {column: True}))
        chunks = []
        for batch in record_batches(names, _ROWS):
            check_batch(batch, only_whole=True)
            chunks.append(batch.column("node").cast(pa.large_string()))
        return chunks
