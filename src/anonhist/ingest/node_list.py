"""Lists of all nodes, those without edges too."""

from __future__ import annotations

from typing import Any

from anonhist.errors import UsageError
from anonhist.ingest.columns import label_column
from anonhist.ingest.edge_text import is_edge_text, nodes_of_lines
from anonhist.ingest.files import names_are_a_line
from anonhist.ingest.naming import as_text, check_batch, name_columns
from anonhist.ingest.record_batches import record_batches
from anonhist.ingest.sources import as_path, open_source, plain_labels
from anonhist.numeric.value_name import value_name

_ROWS = 1 << 20
_COLUMN = "node"


def node_names(nodes: Any) -> Any:
    """Return the distinct names of nodes as an Arrow array of large texts, in any order.

    Parameters
    ----------
    nodes
        A path or ``"-"``: text with one name a line, a table (.csv, .parquet, …) with a column ``node`` or one column
        alone, or JSON lines with a key ``node``; a table in memory, or an iterable of names. Names that are missing
        are left out.

    Raises
    ------
    UsageError
        If the source is a database, or it is not clear which column holds the names.
    DataError
        If the source cannot be read, or a name is a number that is not whole.

    Examples
    --------
    >>> node_names(["bob", 7, "bob", None]).to_pylist()
    ['bob', '7']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    source = as_path(nodes)
    plain = plain_labels(source)
    if plain is not None:
        names = (value_name(each, only_whole=True) for each in plain)
        chunks = [pa.array(names, type=pa.large_string())]
    else:
        if isinstance(source, str) and source.startswith(("duckdb://", "sqlite://", "postgres://", "postgresql://")):
            raise UsageError("List the nodes in a file or in a table in memory, not in a database.")
        chunks = _read(source)
    return pc.unique(pa.chunked_array(chunks, type=pa.large_string()).drop_null())


def _read(source: Any) -> list[Any]:
    import pyarrow as pa

    is_lines = isinstance(source, str) and is_edge_text(source)
    kind = "labels" if is_lines else None
    with open_source(
        source, table=None, format=kind, delimiter=None, header=True, keys=(_COLUMN,), twice=False
    ) as table:
        if is_lines:
            names = nodes_of_lines(table)
        else:
            columns = table.collect_schema().names()
            column = label_column(
                columns,
                _COLUMN if _COLUMN in columns else None,
                first_line=names_are_a_line(source, format=None, header=True),
                role="node",
                option=f"call it {_COLUMN!r}",
            )
            texts = as_text(table, column, only_whole=True)
            names = table.select(node=texts, **name_columns(table, {column: True}))
        chunks = []
        for batch in record_batches(names, _ROWS):
            check_batch(batch, only_whole=True)
            chunks.append(batch.column("node").cast(pa.large_string()))
        return chunks
