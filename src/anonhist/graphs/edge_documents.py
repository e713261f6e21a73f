"""Files of one graph each: KONECT's first lines, matrices of Matrix Market, networks of Pajek, GraphML and GML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from anonhist.errors import DataError, MissingExtraError, UsageError, mask, public_error
from anonhist.graphs.edge_formats import EdgeFormat
from anonhist.graphs.graph import MAX_NODES, EdgePolicy
from anonhist.ingest.columns import Schema
from anonhist.ingest.delimited import first_line, lines_relation, unpacked, unpacked_lines
from anonhist.ingest.engine import (
    NO_DIRECTION,
    NO_ENTRY,
    NO_PAJEK,
    NO_VERTEX,
    TWO_ALIKE,
    UNDIRECTED,
    EngineLimits,
    connect,
    followed,
    translate_failures,
)
from anonhist.ingest.holders import telling_of_rows
from anonhist.ingest.locations import escape_pattern, is_remote, readable

_ROWS = 2**16
_HEAD = re.compile(rb"\*vertices\s+(\d+)", re.IGNORECASE)
_VERTEX = re.compile(rb'(\d+)(?:\s*$|\s+(?:"([^"]*)"|([^\s"]\S*))(?:\s|$))')
_UNDIRECTED, _LISTS = (b"*edges", b"*edgeslist"), (b"*arcslist", b"*edgeslist")
_SECTIONS = (b"*arcs", *_UNDIRECTED, *_LISTS)


class _Vertices:
    """The number of vertices, and the labels of those that have one: names that stay when other vertices leave."""

    def __init__(self) -> None:
        self.size: int | None = None
        self._labels: dict[int, str] = {}

    def add(self, line: bytes) -> None:
        """Add a vertex: its number, and its label in quotes or without spaces."""
        found = _VERTEX.match(line)
        if found is None or not 1 <= (number := int(found[1])) <= (self.size or 0):
            raise _NotPajekError(NO_PAJEK)
        label = (found[2] or found[3] or b"").decode()
        if label:
            self._labels[number] = label

    def check(self) -> None:
        """Refuse labels that are not names: two vertices have the same label, or one has the number of another."""
        labels = set(self._labels.values())
        numbers = (int(label) for label in labels if label.isdecimal() and str(int(label)) == label)
        others = any(1 <= number <= (self.size or 0) and number not in self._labels for number in numbers)
        if others or len(labels) < len(self._labels):
            raise _NotPajekError(TWO_ALIKE)

    def names(self, numbers: list[int]) -> Any:
        """Return the names of vertices as Arrow texts."""
        import pyarrow as pa

        if not self._labels:
            return pa.array(numbers, pa.int64()).cast(pa.string())
        return pa.array([self._labels.get(number) or str(number) for number in numbers], pa.string())


class _NotPajekError(Exception):
    """Describes the problem, as the beginning of one of the error sentences."""


def pajek_batches(path: str, kinds: Any, *, is_directed: bool) -> Iterator[Any]:
    """Yield Arrow batches (source, target) of the edges of a local file, with the names of their vertices.

    If ``is_directed``, edges without a direction are refused.
    """
    import pyarrow as pa

    vertices = _Vertices()
    with unpacked_lines(path) as file:
        pairs = _pairs(file, vertices, is_directed=is_directed)
        while rows := list(islice(pairs, _ROWS)):
            sources, targets = zip(*rows, strict=True)
            ends = {*sources, *targets}
            if min(ends) < 1 or max(ends) > (vertices.size or 0):
                raise _NotPajekError(NO_VERTEX)
            yield pa.record_batch([vertices.names(list(each)) for each in (sources, targets)], schema=kinds)


def pajek_names(path: str) -> Any:
    """Return the names of all vertices of a network as Arrow texts."""
    vertices = _Vertices()
    with translate_failures("The list of nodes", path=path), unpacked_lines(path) as file:
        for _ in _pairs(file, vertices, is_directed=False):
            # The list of vertices ends where edges begin.
            break
        size = vertices.size or 0
        if size > MAX_NODES:
            raise DataError("A graph can have at most 2^31 nodes.")
        return vertices.names(list(range(1, size + 1))).cast("large_string")


def _pairs(file: Any, vertices: _Vertices, *, is_directed: bool) -> Iterator[tuple[int, int]]:
    """Yield the numbers of both ends of each edge, after reading the vertices."""
    section = b""
    try:
        for line in file:
            begins = line.encode("latin-1").lstrip(b"\xef\xbb\xbf \t\r\n")
            if not begins or begins[:1] == b"%":
                continue
            if begins[:1] == b"*":
                section = _section(begins, vertices, is_directed=is_directed)
            elif section == b"*vertices":
                vertices.add(begins)
            elif section in _LISTS:
                first, *others = map(int, begins.split())
                yield from ((first, other) for other in others)
            elif section in _SECTIONS:
                first, second, *_ = begins.split(None, 2)
                yield int(first), int(second)
            else:
                raise _NotPajekError(NO_PAJEK)
    except UnicodeDecodeError:
        raise
    except ValueError:
        raise _NotPajekError(NO_PAJEK) from None
    if vertices.size is None:
        raise _NotPajekError(NO_PAJEK)


def _section(line: bytes, vertices: _Vertices, *, is_directed: bool) -> bytes:
    """Return the section that a line begins, and check the previous section."""
    # The names of several relations follow a colon.
    name = re.split(rb"[\s:]", line, maxsplit=1)[0].lower()
    if name == b"*network" and vertices.size is None:
        return name
    if name == b"*vertices":
        head = _HEAD.match(line)
        if head is None or vertices.size is not None:
            raise _NotPajekError(NO_PAJEK)
        vertices.size = int(head[1])
        return name
    if name not in _SECTIONS or vertices.size is None:
        raise _NotPajekError(NO_PAJEK)
    if is_directed and name in _UNDIRECTED:
        raise _NotPajekError(NO_DIRECTION)
    vertices.check()
    return name


_MARK = b"\xef\xbb\xbf"
_BANNER = re.compile(
    rf"(?:{_MARK.decode('latin-1')})?%%MatrixMarket\s+(\w+)\s+(\w+)\s+([\w-]+)\s+([\w-]+)", re.IGNORECASE | re.ASCII
)
_SIZES = re.compile(r"\s*(\d+)\s+(\d+)\s+(\d+)\s*", re.ASCII)
# The content of an entry after its position.
_FIELDS = {
    "pattern": (),
    "real": ("real",),
    "integer": ("real",),
    "unsigned-integer": ("real",),
    "complex": ("real", "imaginary"),
}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
# The number of lines that may precede the size of a matrix.
_LONGEST_PREFACE = 100_000
_KONECT_HEADER = re.compile(rb"\s*%\s*(sym|asym|bip)\b\s*(\w*)", re.IGNORECASE)
_GRAPH = re.compile(r"^(\s*graph\s*\[)", re.IGNORECASE | re.MULTILINE)
_BARE_GRAPHML = re.compile(rb"<graphml(?=[\s>])(?![^>]*\sxmlns\s*=)")
_NAMED_GRAPHML = b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
_FROM_HERE = "KONECT, Pajek, Matrix Market, GraphML and GML files are read only from this machine, each by its name"


def local_files(source: str, form: EdgeFormat) -> list[str]:
    """Return the files of a source in a format whose first lines must be read first; a document is one file."""
    if source == "-" or is_remote(source):
        raise UsageError(f"{_FROM_HERE}: write it to a file here first.")
    found = readable(source)
    if form.is_document and len(found) > 1:
        raise UsageError(f"{mask(source)!r} matches {len(found)} files, and each holds a separate graph: name one.")
    return found


def check_konect(paths: list[str], policy: EdgePolicy) -> None:
    """Refuse networks of KONECT that are not a graph with one kind of nodes, judged by their first lines.

    It refuses bipartite networks, edges that appear and disappear, and undirected edges if in- or out-degrees are
    counted. The first lines are public, because they are not rows.
    """
    for path in paths:
        header = _KONECT_HEADER.match(first_line(path).removeprefix(_MARK))
        kind, weights = (b"", b"") if header is None else (part.lower() for part in header.groups())
        if kind == b"bip":
            raise public_error(
                f"The file {mask(path)!r} is bipartite: it numbers two kinds of nodes from 1 on, so equal numbers are "
                "different nodes. Rename the nodes of one kind first, such as 1 to r1."
            )
        if weights == b"dynamic":
            raise public_error(
                f"The file {mask(path)!r} has edges that change over time: write those of one moment to a file."
            )
        if kind == b"sym" and policy.direction.is_directed:
            raise UsageError(f"The file {mask(path)!r} {UNDIRECTED}")


@contextmanager
def opened_document(
    path: str,
    form: EdgeFormat,
    policy: EdgePolicy,
    *,
    progress: Callable[[float], None] | None,
    limits: EngineLimits,
) -> Iterator[Any]:
    """Open a matrix or a network of Pajek as rows (source, target); its content is read once, when requested."""
    import narwhals as nw
    import pyarrow as pa

    with (
        translate_failures("The input", path=path),
        connect(limits=limits) as connection,
        telling_of_rows(Schema.FOUND),
        followed(connection, progress),
    ):
        if form is EdgeFormat.MATRIX_MARKET:
            yield nw.from_native(_matrix_ends(connection, path, policy))
        else:
            kinds = pa.schema([("source", pa.string()), ("target", pa.string())])
            batches = pajek_batches(path, kinds, is_directed=policy.direction.is_directed)
            yield nw.from_native(connection.from_arrow(pa.RecordBatchReader.from_batches(kinds, batches)))


@dataclass(frozen=True)
class _Matrix:
    """The header of a matrix: its size, and the format of its entries."""

    size: int
    entries: int
    lines: int
    values: tuple[str, ...]
    is_symmetric: bool


def _matrix(path: str) -> _Matrix:
    """Read the lines before the entries of a matrix, or refuse one that does not hold edges."""
    what = f"The file {mask(path)!r}"
    with translate_failures("The input", path=path), unpacked_lines(path) as file:
        banner = _BANNER.match(file.readline(1024))
        if banner is None:
            raise public_error(f"{what} does not begin with the header line %%MatrixMarket matrix coordinate ….")
        kind, layout, field, symmetry = (part.lower() for part in banner.groups())
        if (kind, layout) != ("matrix", "coordinate") or field not in _FIELDS or symmetry not in _SYMMETRIES:
            raise public_error(
                f"{what} is not a matrix in coordinates of the kinds {', '.join(_FIELDS)}, and of the symmetries "
                f"{', '.join(_SYMMETRIES)}: write it as one, such as with scipy.io.mmwrite from a sparse matrix."
            )
        for number, line in enumerate(islice(file, _LONGEST_PREFACE), start=2):
            if line.strip() and not line.lstrip().startswith("%"):
                sizes = _SIZES.fullmatch(line)
                if sizes is None:
                    break
                rows, columns, entries = (int(size) for size in sizes.groups())
                if rows != columns:
                    raise DataError("A matrix of edges must be square, with a row and a column for each node.")
                return _Matrix(rows, entries, number, _FIELDS[field], symmetry != "general")
    raise DataError(f"{what} has no line with the size of its matrix: numbers of rows, columns and entries.")


def _matrix_ends(connection: Any, path: str, policy: EdgePolicy) -> Any:
    """Return the positions of all nonzero entries, as a relation (source, target)."""
    matrix = _matrix(path)
    if policy.duplicates == "count":
        raise UsageError(
            "A matrix has one entry per pair of nodes, so equal edges cannot be counted separately: merge them."
        )
    if matrix.is_symmetric and policy.direction.is_directed:
        raise UsageError(f"The file {mask(path)!r} {UNDIRECTED}")
    lines = lines_relation(connection, escape_pattern(path), skiprows=matrix.lines)
    lines = lines.filter(r"NOT regexp_matches(label, '^\s*(%|$)')")
    if lines.aggregate("count(*)").fetchall() != [(matrix.entries,)]:
        raise DataError(
            f"The file {mask(path)!r} has more or fewer entries than its size line states: it was cut off or changed."
        )
    names = ["source", "target", *matrix.values]
    entry = r"^\s*(\d+)\s+(\d+)" + r"\s+(\S+)" * len(matrix.values) + r"\s*$"
    words = lines.project(f"regexp_extract(label, '{entry}', {names}) AS words")
    if matrix.values:
        is_zero = " AND ".join(f"{_value(part)} = 0" for part in matrix.values)
        words = words.filter(f"coalesce(NOT ({is_zero}), true)")
    return words.project(", ".join(f"{_place(end, matrix)} AS {end}" for end in ("source", "target")))


def _value(part: str) -> str:
    """Return SQL that parses a number as written by C and Fortran; null for other text."""
    return f"try_cast(translate(words.{part}, 'dD', 'ee') AS DOUBLE)"


def _place(end: str, matrix: _Matrix) -> str:
    place = f"try_cast(words.{end} AS BIGINT)"
    is_no_entry = " OR ".join(f"{number} IS NULL" for number in (place, *map(_value, matrix.values)))
    refused = f"WHEN {is_no_entry} THEN error('{NO_ENTRY}') WHEN {place} NOT BETWEEN 1 AND {matrix.size}"
    return f"CASE {refused} THEN error('{NO_VERTEX}') ELSE {place} END"


def edges_of_networkx(path: str, form: EdgeFormat, policy: EdgePolicy) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Return the edges of GraphML or GML as pairs, and its nodes, as networkx reads them.

    Nodes of GraphML are named by their ids. Nodes of GML are named by their labels, because programs renumber them when
    writing; by their ids if they have none. The errors of networkx about unreadable files quote lines, so they are not
    repeated.
    """
    try:
        from networkx import parse_gml
        from networkx.readwrite.graphml import GraphMLReader
    except ImportError:
        raise MissingExtraError(
            "GraphML and GML are read through networkx; install it with: pip install 'anonhist[networkx]'."
        ) from None
    what = f"The file {mask(path)!r}"
    with translate_failures("The input", path=path), unpacked(path) as file:
        content = file.read()
    try:
        if form is EdgeFormat.GRAPHML:
            import io

            # Some programs do not declare which names are meant.
            content = _BARE_GRAPHML.sub(_NAMED_GRAPHML, content, count=1)
            # Otherwise the ids of edges would decide whether edges between the same nodes are already equal.
            found = list(
                GraphMLReader(node_type=str, edge_key_type=str, force_multigraph=True)(path=io.BytesIO(content))
            )
        else:
            text = content.decode("utf-8-sig")
            # Otherwise equal edges would be an error, against the policy.
            found = [parse_gml(_GRAPH.sub(r"\1 multigraph 1 ", text, count=1), label="id")]
    except Exception:  # noqa: BLE001  # parsers raise what they like, and quote what they stumbled over
        called = "GraphML" if form is EdgeFormat.GRAPHML else "GML"
        raise DataError(f"{what} is not a {called} file that networkx can read.") from None
    if len(found) != 1:
        raise DataError(f"{what} holds {len(found)} graphs: write one of them to a separate file.")
    (graph,) = found
    if policy.direction.is_directed and not graph.is_directed():
        raise UsageError(f"{what} {UNDIRECTED}")
    names = {node: node if label is None else label for node, label in graph.nodes(data="label")}
    if form is EdgeFormat.GRAPHML:
        names = {node: node for node in graph}
    elif len(set(map(str, names.values()))) < len(names):
        raise DataError(f"{what} has two nodes with the same name: give each a unique label.")
    return [(names[first], names[second]) for first, second in graph.edges()], list(names.values())


def names_in_document(path: str, form: EdgeFormat) -> Any:
    """Return the names of all nodes that a file lists, as Arrow texts; a matrix lists one per row."""
    import numpy as np
    import pyarrow as pa

    if form is EdgeFormat.PAJEK:
        return pajek_names(path)
    return pa.array(np.arange(1, _matrix(path).size + 1)).cast(pa.large_string())
