"""Networks of Pajek, line by line: a list of vertices, then edges between their numbers."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.graphs.graph import MAX_NODES
from anonhist.ingest.delimited import unpacked_lines
from anonhist.ingest.engine import NO_DIRECTION, NO_PAJEK, NO_VERTEX, TWO_ALIKE, translate_failures

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROWS = 2**16
_HEAD = re.compile(rb"\*vertices\s+(\d+)", re.IGNORECASE)
_VERTEX = re.compile(rb'(\d+)(?:\s*$|\s+(?:"([^"]*)"|([^\s"]\S*))(?:\s|$))')
_UNDIRECTED, _LISTS = (b"*edges", b"*edgeslist"), (b"*arcslist", b"*edgeslist")
_SECTIONS = (b"*arcs", *_UNDIRECTED, *_LISTS)


class _Vertices:
    """How many vertices there are, and the labels of those that have one: names that stay when others leave."""

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
        """Refuse labels that are not names: two vertices have the same, or one has the number of another."""
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
        labels = self._labels
        return pa.array([labels.get(number) or str(number) for number in numbers], pa.string())


class _NotPajekError(Exception):
    """What is wrong, as one of the sentences of failures begins."""


def pajek_batches(path: str, kinds: Any, *, is_directed: bool) -> Iterator[Any]:
    """Yield Arrow batches (source, target) of the edges, with the names of their vertices.

    Parameters
    ----------
    path
        A local file, packed or not.
    kinds
        The schema of the batches.
    is_directed
        Whether in- or out-degrees are counted: then edges without a direction are refused.
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
            # The list ends where edges begin.
            break
        size = vertices.size or 0
        if size > MAX_NODES:
            raise DataError("A graph can have at most 2^31 nodes.")
        return vertices.names(list(range(1, size + 1))).cast("large_string")


def _pairs(file: Any, vertices: _Vertices, *, is_directed: bool) -> Iterator[tuple[int, int]]:
    """Yield the numbers of both ends of each edge, having read the vertices before."""
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
    """Return which section a line begins, having checked what was read before it."""
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
