"""Files of edges in formats of their own; except for those of networkx, no program that reads them wrote them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from anonhist_testing.way_in.sources import Held, Rows, Source
from anonhist_testing.way_in.values import written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

#: The options for a file of edges, which has no columns to name.
_SAID = {"origin": None, "target": None}
# Names that stand in lines without quotes.
_PLAIN = re.compile(r"[^\s\"#%*<\ufeff][^\s\"]*")


def _in_line(value: Any, _: str) -> str | None:
    text = None if value is None else written(value)
    return None if not text or "\n" in text or "\r" in text else text


def _in_label(value: Any, declared: str) -> str | None:
    text = _in_line(value, declared)
    return None if text is None or '"' in text else text


def _in_xml(value: Any, declared: str) -> str | None:
    text = _in_line(value, declared)
    return text if text is not None and text.isprintable() else None


def _in_matrix(value: Any, _: str) -> int | None:
    text = "" if value is None else written(value)
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,5}", text) else None


def _hold(
    write: Callable[[Path, Rows], None], name: str, *, files: int = 1, **said: Any
) -> Callable[..., AbstractContextManager[Held]]:
    @contextmanager
    def hold(_: dict[str, str], rows: Rows, folder: Path) -> Iterator[Held]:
        size = -(-len(rows) // files)
        for number in range(files):
            write(folder / name.replace("*", str(number)), rows[number * size : (number + 1) * size])
        yield str(folder / name), _SAID | said

    return hold


def _word(name: str | None) -> str:
    if name is None:
        return '""'
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _write_lines(path: Path, rows: Rows) -> None:
    path.write_text("# ours\n" + "".join(f"{_word(u)} {_word(v)}\n" for u, v in rows), encoding="utf-8")


def _write_konect(path: Path, rows: Rows) -> None:
    lines = (f"{_word(u)}\t{_word(v)}\t1\n" for u, v in rows)
    path.write_text("% sym weighted\n" + "".join(lines), encoding="utf-8")


def _write_commented(path: Path, rows: Rows) -> None:
    """Write a table in which every second line is a comment."""
    fields = ([f'"{(name or "").replace(chr(34), chr(34) * 2)}"' for name in row] for row in rows)
    lines = ["#", "source,target", *(",".join(row) for row in fields)]
    path.write_text("".join(f"{line}\n# of, ours,\n" for line in lines), encoding="utf-8")


def _whole(rows: Rows) -> list[tuple[Any, Any]]:
    """Return the edges that have both ends: other edges cannot be written."""
    return [(u, v) for u, v in rows if u is not None and v is not None]


def _write_pajek(path: Path, rows: Rows) -> None:
    edges = _whole(rows)
    places = {name: place for place, name in enumerate(dict.fromkeys(end for edge in edges for end in edge), start=1)}
    lines = [f"*Vertices {len(places)}", *(f'{place} "{name}" 0.5' for name, place in places.items()), "*Edges"]
    lines += [f"{places[u]} {places[v]} 1.5" for u, v in edges]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _write_matrix(path: Path, rows: Rows) -> None:
    edges = _whole(rows)
    size = max((end for edge in edges for end in edge), default=0)
    lines = ["%%MatrixMarket matrix coordinate integer general", f"{size} {size} {len(edges)}"]
    lines += [f"{u} {v} {number % 7 - 3 or 9}" for number, (u, v) in enumerate(edges)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _write_networkx(write: str) -> Callable[[Path, Rows], None]:
    def write_graph(path: Path, rows: Rows) -> None:
        import networkx as nx

        graph = nx.MultiGraph()
        graph.add_edges_from(_whole(rows))
        getattr(nx, write)(graph, path)

    return write_graph


OF_EDGES = (
    Source("lines of edges", _hold(_write_lines, "part-*.txt", files=4), _in_line, has_address=True, of_edges=True),
    Source("konect", _hold(_write_konect, "out.ours"), _in_line, has_address=True, of_edges=True),
    Source(
        "csv with comments",
        _hold(_write_commented, "part-*.csv", files=4, comment="#", origin="source", target="target"),
        _in_line,
        has_address=True,
        of_edges=True,
    ),
    Source("pajek", _hold(_write_pajek, "ours.net"), _in_label, has_address=True, of_edges=True),
    Source("matrix market", _hold(_write_matrix, "ours.mtx"), _in_matrix, has_address=True, of_edges=True),
    Source(
        "graphml", _hold(_write_networkx("write_graphml"), "ours.graphml"), _in_xml, has_address=True, of_edges=True
    ),
    Source("gml", _hold(_write_networkx("write_gml"), "ours.gml"), _in_xml, has_address=True, of_edges=True),
)
