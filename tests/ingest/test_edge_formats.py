"""Graphs in the formats of other programs: small files whose degrees are known, against networkx, and refusals."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.io
import scipy.sparse

from anonhist.errors import AnonhistError, DataError, MissingExtraError, UsageError
from anonhist.graphs.graph import Direction, EdgePolicy
from anonhist.graphs.reading import read_degrees, read_edges
from anonhist.graphs.release import as_graph
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

INTO, OUT = EdgePolicy(Direction.IN), EdgePolicy(Direction.OUT)
EACH = EdgePolicy(self_loops="count", duplicates="count")

STAR = '*Vertices 5\n1 "Ann Lee" 0.1 0.2 ic Red\n2 bob\n% remark\n4 "dan"\n\n'
EDGES_OF_STAR = "*Edges\n1 2 2.5\n1 3\n 3 1 [5-7]\n1 4\n"
MATRIX = "%%MatrixMarket matrix coordinate {kind}\n% remark\n\n 5 5 {entries}\n"
GML = """Creator "graph [ of ours"
graph
[ directed 0
  node [ id 1 label "Ann Lee" ] node [ id 2 label "Zo&#235;" ]
  node [ id 3 ] node [ id 4 label "d" graphics [ x 1.0 ] ]
  edge [ source 1 target 2 weight 2.5 ]
  edge [ source 2 target 1 ]
  edge [ source 1 target 3 ]
]
"""
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="{default}">
<node id="a b"/><node id="b"/><node id="c"/><node id="alone"/>
<edge source="a b" target="b"/><edge source="b" target="a b"/><edge source="a b" target="c"/></graph></graphml>
"""


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def degrees_of(source: Any, **said: Any) -> dict[int, int]:
    """Read with both functions, and return how many nodes with an edge have each degree."""
    graph, degrees = read_edges(source, **said), read_degrees(source, **said)
    assert graph.degree_profile().profile == degrees.profile
    assert graph.degree_profile().num_nodes == degrees.num_nodes
    return dict(zip(degrees.profile.counts.tolist(), degrees.profile.prevalences.tolist(), strict=True))


def refused(kind: type[AnonhistError], source: Any, **said: Any) -> str:
    """Read what both functions must refuse in the same way, without what it holds."""
    sentences = set()
    for read in (read_edges, read_degrees):
        with pytest.raises(kind) as caught:
            read(source, **said)
        sentences.add(caught.value.sentence)
    (sentence,) = sentences
    assert sentence.endswith((".", ")"))
    assert not {"secret", "Ann", "7777"} & set(sentence.replace("'", " ").replace("Ann Lee", "").split())
    assert "could not be read by the engine" not in sentence
    return sentence


def test_names_in_quotes_are_whole(tmp_path: Path) -> None:
    assert degrees_of(written(tmp_path / "e.edgelist", '"Ann Lee" "Bob Ray"\n"Ann Lee" "Cy Fox"\n')) == {1: 2, 2: 1}
    lines = [
        'Ann "Bob ""B"" Ray" 7 "x',
        '  "Ann"\tCy',
        '"#Ann" Ann',
        "#Ann Dan",
        '# "a" b',
        '"" Ann',
        '5" Ann',
        '"Ann"',
    ]
    path = written(tmp_path / "e.txt", "\n".join(lines) + "\n")
    heard: list[str] = []
    graph = read_edges(path, notify=heard.append)
    expected = as_graph([("Ann", 'Bob "B" Ray'), ("Ann", "Cy"), ("#Ann", "Ann"), ('5"', "Ann")])
    assert graph.identities.tolist() == expected.identities.tolist()
    assert graph.degrees().tolist() == expected.degrees().tolist()
    assert heard == ["Of 6 rows these were left out: 2 without both ends."]
    names = written(tmp_path / "all.txt", '"Ann Lee"\n"Bob Ray" and remarks\n"Cy Fox"\nalone\n')
    assert read_degrees(tmp_path / "e.edgelist", nodes=names).num_zeros == 1


@pytest.mark.full
@each_of(
    "line", ['"Ann Lee secret', '"Ann"Lee secret', 'secret "Ann Lee', 'secret "Ann"Lee', '"Ann \\"A\\" Lee" secret']
)
def test_a_quote_that_is_not_closed_is_refused(tmp_path: Path, line: str) -> None:
    path = written(tmp_path / "e.txt", f"a b\n{line}\n")
    assert "begins with a quote" in refused(DataError, path)


@pytest.mark.full
@each_of("form", ["lines", "snap", "konect"])
def test_each_format_of_lines_has_comments_of_its_own(tmp_path: Path, form: str) -> None:
    path = written(tmp_path / "any.tsv", "# a\tb\n% c\td\n1\t2 5\n2\t3\n")
    expected = {"lines": {1: 2, 2: 1}, "snap": {1: 4, 2: 1}, "konect": {1: 4, 2: 1}}
    assert degrees_of(path, format=form) == expected[form]


@pytest.mark.full
def test_comments_of_snap_are_none_of_a_table_unless_it_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "snap.tsv", "# FromNodeId\tToNodeId\n1\t2\n1\t3\n2\t3\n")
    assert degrees_of(path, format="snap") == degrees_of(path, header=False, comment="#") == {2: 3}
    assert "as comments do" in refused(DataError, path, header=False)
    konect = written(tmp_path / "out.konect", "% asym\n1 2\n1 3\n")
    assert "as comments do" in refused(DataError, konect, delimiter=" ", header=False)
    late = written(tmp_path / "late.csv", "name,source,target\n" + "x,1,2\n" * 300 + "%,3,4\n")
    assert "as comments do" in refused(DataError, late)
    assert degrees_of(late, comment="!") == {1: 4}


def test_hashtags_are_nodes(tmp_path: Path) -> None:
    path = written(tmp_path / "tags.csv", "source,target\n#a,# b\n#a,50%\n%c,#a\n")
    assert degrees_of(path) == {1: 3, 3: 1}


@pytest.mark.full
@each_of("name", ["out.konect", "out.ego-facebook", "OUT.a.b.gz"])
def test_files_of_konect_are_known_by_their_names(
    tmp_path: Path, compress: Callable[[Path, bytes], None], name: str
) -> None:
    content = "% asym posweighted\n% 2 3 3\n1 2 1 1199145600\n1\t3 2\n"
    compress(tmp_path / name, content.encode()) if name.endswith(".gz") else written(tmp_path / name, content)
    assert degrees_of(tmp_path / name) == {1: 2, 2: 1}
    assert degrees_of(tmp_path / name, policy=OUT) == {2: 1}


def test_networks_of_konect_that_are_no_graph_of_one_kind_of_nodes_are_refused(tmp_path: Path) -> None:
    assert "change over time" in refused(DataError, written(tmp_path / "out.dynamic", "% sym dynamic\n1 2 -1\n"))
    for mark in ("", "\ufeff"):
        two = written(tmp_path / "out.bip", f"{mark}% bip unweighted\n1 1\n1 2\n")
        assert "bipartite" in refused(DataError, two)
        both = written(tmp_path / "out.sym", f"{mark}% sym unweighted\n1 2\n1 3\n")
        assert degrees_of(both) == {1: 2, 2: 1}
        assert "`direction`" in refused(UsageError, both, policy=INTO)
    with pytest.raises(DataError) as caught:
        read_edges(two)
    assert caught.value.is_public
    # Other files of that name are what their endings say.
    assert degrees_of(written(tmp_path / "out.csv", "source,target\n%bip,b\n")) == {1: 2}


@pytest.mark.full
@each_of("packed", ["", ".gz", ".zst"])
def test_networks_of_pajek_are_read(tmp_path: Path, compress: Callable[[Path, bytes], None], packed: str) -> None:
    path = tmp_path / f"star.net{packed}"
    content = ("\ufeff*Network ours\n" + STAR + EDGES_OF_STAR).replace("\n", "\r\n").encode()
    compress(path, content) if packed else written(path, content)
    assert degrees_of(path) == {1: 3, 3: 1}
    assert degrees_of(path, policy=EACH) == {1: 2, 2: 1, 4: 1}
    expected = as_graph([("Ann Lee", "bob"), ("Ann Lee", "3"), ("Ann Lee", "dan")])
    assert read_edges(path).identities.tolist() == expected.identities.tolist()
    assert read_degrees(path).num_nodes is None
    for nodes in (path, str(path), ["Ann Lee", "bob", "3", "dan", "5"]):
        assert sorted(read_edges(path, nodes=nodes).degrees().tolist()) == [0, 1, 1, 1, 3]
        assert read_degrees(path, nodes=nodes).num_zeros == 1


def test_lists_of_pajek_join_one_vertex_with_many(tmp_path: Path) -> None:
    content = "*vertices 6 3\n*ARCSLIST\n1 2 3\n*Arcs :2 'likes'\n4 1\n*edgeslist\n5 6 1\n"
    path = written(tmp_path / "lists.net", content)
    assert degrees_of(path) == {1: 4, 2: 1, 4: 1}
    arcs = written(tmp_path / "arcs.net", content.split("*edgeslist", maxsplit=1)[0])
    assert degrees_of(arcs, policy=INTO) == {1: 3}
    assert degrees_of(arcs, policy=OUT) == {1: 1, 2: 1}
    assert "(`direction`)" in refused(DataError, path, policy=INTO)


BAD_PAJEK = {
    "is not a network": ["", "1 2\n", "*Edges\n1 2\n", "*Vertices x\n", f"{STAR}*Matrix\n0 1\n", f"{STAR}{STAR}"]
    + [f"{STAR}{EDGES_OF_STAR}{line}\n" for line in ("secret 1", "7777", "1 2.5", "*secret")]
    + ['*Vertices 2\n1 "secret\n', "*Vertices 2\nsecret\n", "*Vertices 2\n3 secret\n"],
    "missing vertex": [f"{STAR}{EDGES_OF_STAR}1 7777\n", f"{STAR}{EDGES_OF_STAR}0 1\n"],
    "the same name": ['*Vertices 2\n1 secret\n2 "secret"\n*Edges\n1 2\n', "*Vertices 2\n1 2\n*Edges\n1 2\n"],
    "UTF-8": [b"*Vertices 2\n1 secr\xe9t\n*Edges\n1 2\n"],
}


@pytest.mark.full
@each_of("content", [(said, content) for said, contents in BAD_PAJEK.items() for content in contents])
def test_what_is_no_network_of_pajek_is_refused(tmp_path: Path, content: tuple[str, str | bytes]) -> None:
    said, held = content
    path = written(tmp_path / "bad.net", held or "% nothing\n")
    assert said in refused(DataError, path)


@pytest.mark.full
@each_of(
    "held",
    [
        (STAR + EDGES_OF_STAR, "pajek"),
        (MATRIX.format(kind="pattern general", entries=1) + "1 2\n", "matrix-market"),
        (GRAPHML.format(default="directed"), "graphml"),
        (GML.replace("graph\n[", "graph [").split("\n", 1)[1], "gml"),
        ("graph|[|node|[|id 1|]|node|[|id 2|]|edge|[|source 1|target 2|]|]|".replace("|", "\n "), "gml"),
    ],
)
def test_a_graph_that_is_called_a_list_of_edges_is_refused_by_its_own_line(
    tmp_path: Path, held: tuple[str, str]
) -> None:
    content, form = held
    path = written(tmp_path / "renamed.txt", f"a b\n{content}")
    assert f"`format={form!r}`" in refused(DataError, path)
    assert degrees_of(written(path, content), format=form) in ({1: 3, 3: 1}, {1: 2}, {1: 2, 2: 1})


def test_what_opens_a_graph_elsewhere_is_a_name_in_quotes(tmp_path: Path) -> None:
    lines = '"*Vertices" 12\n"graph" [\n\t"<graphml" a\n"["\n[ a\ngraph a\n'
    expected = as_graph([("*Vertices", "12"), ("graph", "["), ("<graphml", "a"), ("[", "a"), ("graph", "a")])
    path = written(tmp_path / "e.txt", lines)
    assert read_edges(path).identities.tolist() == expected.identities.tolist()
    assert degrees_of(path) == {1: 3, 2: 2, 3: 1}
    assert read_degrees(path, nodes=written(tmp_path / "nodes.txt", f"{lines}12\na\n[\n")).num_zeros == 0


@pytest.mark.full
def test_matrices_are_read_as_scipy_reads_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    for number, (field, symmetry) in enumerate(
        [
            (field, symmetry)
            for field in ("pattern", "integer", "real", "complex")
            for symmetry in ("general", "symmetric")
        ]
        + [("real", "skew-symmetric"), ("complex", "hermitian")]
    ):
        dense = rng.integers(-1, 2, size=(12, 12)).astype({"integer": int, "complex": complex}.get(field, float))
        dense = dense * 1j if field == "complex" and symmetry != "hermitian" else dense
        if symmetry != "general":
            lower = np.tril(dense, -1)
            dense = lower + (-lower.T if symmetry == "skew-symmetric" else lower.T)
        matrix = scipy.sparse.coo_array(dense)
        path = tmp_path / f"{number}.mtx"
        scipy.io.mmwrite(path, matrix, field=field, symmetry=symmetry, comment="of ours")
        names = scipy.sparse.coo_array((matrix.data != 0, (matrix.row + 1, matrix.col + 1)), shape=(13, 13))
        expected = as_graph(names)
        graph = read_edges(path)
        assert graph.identities.tolist() == expected.identities.tolist()
        assert graph.sources.tolist() == expected.sources.tolist()
        assert graph.targets.tolist() == expected.targets.tolist()
        assert read_degrees(path).profile == expected.degree_profile().profile
        if symmetry == "general":
            assert degrees_of(path, policy=INTO) == dict(
                Counter(as_graph(names, policy=INTO).degrees().tolist()) - Counter({0: 99})
            )
        else:
            assert "`direction`" in refused(UsageError, path, policy=INTO)


@pytest.mark.full
@each_of("packed", ["", ".gz", ".zst"])
def test_entries_that_are_zero_are_no_edges_and_rows_are_nodes_if_they_are_named(
    tmp_path: Path, compress: Callable[[Path, bytes], None], packed: str
) -> None:
    content = "\ufeff" + MATRIX.format(kind="real general", entries=6)
    content += "1 2 1.5\n 2 1 -1e3\n1\t3 0\n% remark\n\n3 3 0.0D+00\n5 5 0.d0 \n4 1 7D-02\n"
    path = tmp_path / f"a.mtx{packed}"
    compress(path, content.encode()) if packed else written(path, content)
    assert degrees_of(path) == {1: 2, 2: 1}
    assert sorted(read_edges(path, nodes=path).degrees().tolist()) == [0, 0, 1, 1, 2]
    assert read_degrees(path, nodes=path).num_zeros == 2
    assert "merge" in refused(UsageError, path, policy=EACH)


@pytest.mark.full
def test_files_with_carriage_returns_alone_are_read(tmp_path: Path) -> None:
    network = '*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Edges\n1 2\n2 3\n'
    matrix = MATRIX.format(kind="unsigned-integer general", entries=2) + "1 2 1\n2 3 1\n"
    for name, content in (("k.net", network), ("k.mtx", matrix), ("out.k", "% sym\n1 2\n2 3\n")):
        for end in ("\r", "\r\n"):
            path = written(tmp_path / name, content.replace("\n", end))
            assert degrees_of(path) == {1: 2, 2: 1}
            if name != "out.k":
                assert read_edges(path, nodes=path).num_nodes == (3 if name == "k.net" else 5)


BAD_MATRICES = {
    "does not begin": ["1 2\n", "% remark\n1 2\n"],
    "in coordinates": [
        f"%%MatrixMarket {kind}\n2 2 1\n1 2\n"
        for kind in ("matrix array real general", "vector coordinate real general", "matrix coordinate secret general")
    ],
    "must be square": ["%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n"],
    "no line with the size": [
        f"%%MatrixMarket matrix coordinate pattern general\n{line}\n" for line in ("secret", "% remark", "2 2")
    ],
    "no entry": [
        MATRIX.format(kind=f"{field} general", entries=1) + line
        for field, lines in {
            "pattern": ("secret\n", "1\n", "1 x\n", "-1 2\n", "1 " + "9" * 30, "1 2.5", "1 2x", "1 2 3"),
            "real": ("1 2", "1 2 secret", "1 2 0,0", "1 2x 1", "1 2 1 1"),
            "complex": ("1 2 0", "1 2 1", "1 2 1 secret", "1 2 1 1 1"),
        }.items()
        for line in lines
    ],
    "missing vertex": [MATRIX.format(kind="pattern general", entries=1) + line for line in ("1 7777\n", "0 1\n")],
    "more or fewer": [
        MATRIX.format(kind="real general", entries=entries) + "1 2 1\n% 1\n\n2 3 0\n" for entries in (0, 1, 3, 1000)
    ],
}


@pytest.mark.full
@each_of("content", [(said, content) for said, contents in BAD_MATRICES.items() for content in contents])
def test_what_is_no_matrix_of_edges_is_refused(tmp_path: Path, content: tuple[str, str]) -> None:
    said, held = content
    assert said in refused(DataError, written(tmp_path / "bad.mtx", held))


def test_gml_is_read_through_networkx(tmp_path: Path) -> None:
    pytest.importorskip("networkx", reason="networkx is not installed")
    path = written(tmp_path / "a.gml", GML)
    assert degrees_of(path) == {1: 2, 2: 1}
    assert degrees_of(path, policy=EACH) == {1: 1, 2: 1, 3: 1}
    expected = as_graph([("Ann Lee", "Zoë"), ("Ann Lee", "3")], nodes=["Ann Lee", "Zoë", "3", "d"])
    listed = read_edges(path, nodes=str(path))
    assert listed.identities.tolist() == expected.identities.tolist()
    assert listed.degrees().tolist() == expected.degrees().tolist()
    assert read_edges(path, nodes=["Ann Lee", "Zoë", "3"]).num_nodes == 3
    assert "`direction`" in refused(UsageError, path, policy=OUT)
    assert degrees_of(written(path, GML.replace("directed 0", "directed 1")), policy=OUT) == {1: 1, 2: 1}
    for bad in (
        "graph [ node [ secret",
        GML.replace("id 1 ", ""),
        GML.replace("target 3", "target 7777"),
        "secret",
        "\x00",
    ):
        assert "networkx can read" in refused(DataError, written(path, bad))
    assert "the same name" in refused(DataError, written(path, GML.replace("Ann Lee", "3")))
    assert "networkx can read" in refused(DataError, written(path, GML.encode() + b"\xff"))


def test_graphml_is_read_through_networkx(tmp_path: Path, compress: Callable[[Path, bytes], None]) -> None:
    pytest.importorskip("networkx", reason="networkx is not installed")
    path = tmp_path / "a.graphml.zst"
    compress(path, GRAPHML.format(default="undirected").encode())
    assert degrees_of(path) == {1: 2, 2: 1}
    assert degrees_of(path, policy=EACH) == {1: 1, 2: 1, 3: 1}
    assert sorted(read_edges(path, nodes=path).degrees().tolist()) == [0, 1, 1, 2]
    assert read_degrees(path, nodes=path).num_zeros == 1
    assert "`direction`" in refused(UsageError, path, policy=OUT)
    plain = written(tmp_path / "a.graphml", GRAPHML.format(default="directed"))
    assert degrees_of(plain, policy=OUT) == {1: 1, 2: 1}
    content = GRAPHML.format(default="directed")
    for bad in ("<graphml><secret", content.replace('target="c"', 'directed="false" target="c"'), "<secret/>"):
        assert "graph" in refused(DataError, written(plain, bad))
    bare = content.replace(' xmlns="http://graphml.graphdrawing.org/xmlns"', "")
    for said in ("", ' version="1" xmlns:other="http://example.org"'):
        assert degrees_of(written(plain, bare.replace("<graphml", f"<graphml{said}")), policy=OUT) == {1: 1, 2: 1}
    two = content.replace("</graphml>", '<graph edgedefault="directed"/></graphml>')
    assert "2 graphs" in refused(DataError, written(plain, two))


@pytest.mark.full
def test_what_networkx_writes_has_the_degrees_that_it_has_there(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = networkx.gnm_random_graph(60, 150, seed=3)
    graph.add_edge("Ann Lee", 5)
    graph.add_node("alone")
    degrees = Counter(degree for _, degree in graph.degree() if degree)
    networkx.write_graphml(graph, tmp_path / "a.graphml")
    networkx.write_gml(graph, tmp_path / "a.gml")
    networkx.write_pajek(networkx.relabel_nodes(graph, str), tmp_path / "a.net")
    networkx.write_edgelist(networkx.relabel_nodes(graph, {"Ann Lee": '"Ann Lee"'}), tmp_path / "a.edgelist")
    ordered = sorted(graph, key=str)
    scipy.io.mmwrite(tmp_path / "a.mtx", networkx.to_scipy_sparse_array(graph, ordered))
    assert degrees_of(graph) == degrees
    for ending in ("graphml", "gml", "net", "edgelist", "mtx"):
        assert degrees_of(tmp_path / f"a.{ending}") == degrees, ending
    for ending in ("graphml", "gml", "net"):
        found = read_edges(tmp_path / f"a.{ending}")
        assert found.identities.tolist() == as_graph([(str(u), str(v)) for u, v in graph.edges()]).identities.tolist()


def test_without_networkx_its_formats_say_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    path = written(tmp_path / "a.gml", GML)
    assert "anonhist[networkx]" in refused(MissingExtraError, path)
    assert "anonhist[networkx]" in refused(MissingExtraError, written(tmp_path / "a.graphml", GRAPHML))


@pytest.mark.full
@each_of("names", [("Source", "Target"), ("SOURCE", "TARGET"), ("From", "To"), ("source", "Target")])
def test_tables_of_gephi_are_read_whatever_the_case_of_their_names(tmp_path: Path, names: tuple[str, str]) -> None:
    rows = "1,a,b,Undirected,x,2.5\n2,a,c,Undirected,,1\n3,c,a,Undirected,,1\n"
    path = written(tmp_path / "gephi.csv", f"Id,{names[0]},{names[1]},Type,Label,Weight\n{rows}")
    assert degrees_of(path) == {1: 2, 2: 1}
    # Those that are called so exactly come first.
    both = written(tmp_path / "both.csv", "Source,Target,source,target\na,b,x,y\nc,d,x,z\n")
    assert degrees_of(both) == {1: 2, 2: 1}


@pytest.mark.parametrize("hold", [str, pl.read_csv, pd.read_csv, duckdb.read_csv])
def test_edges_of_gephi_without_a_direction_have_no_in_degrees(tmp_path: Path, hold: Callable[[str], Any]) -> None:
    rows = "a,b,Directed\na,c,directed\n,,\nd,e,\n"
    directed = hold(str(written(tmp_path / "directed.csv", f"Source,Target,Type\n{rows}")))
    assert degrees_of(directed, policy=OUT) == {1: 1, 2: 1}
    assert degrees_of(directed, policy=INTO) == {1: 3}
    mixed = hold(str(written(tmp_path / "mixed.csv", f"Source,Target,Type\n{rows}c,a,Undirected\n")))
    assert degrees_of(mixed) == {1: 4, 2: 1}
    assert "(`direction`)" in refused(DataError, mixed, policy=INTO)
    # A column of that name in other tables says something else.
    other = hold(str(written(tmp_path / "other.csv", f"From,To,Type\n{rows}c,a,Undirected\n")))
    assert degrees_of(other, policy=OUT) == {1: 2, 2: 1}


@pytest.mark.full
def test_lines_of_tables_are_comments_where_a_sign_is_said(
    tmp_path: Path, compress: Callable[[Path, bytes], None]
) -> None:
    content = (
        '\ufeff# head, of three, columns\n\n#\nsource,target\n#not,a row\na#,"b, ""x"""\n% c,a#\n"#d",a#\n,a#\n"",a#\n'
    )
    plain, packed = written(tmp_path / "1.csv", content), tmp_path / "2.csv.gz"
    compress(packed, content.replace("\n", "\r\n").encode())
    expected = as_graph([("a#", 'b, "x"'), ("% c", "a#"), ("#d", "a#")])
    for path in (plain, packed, tmp_path / "?.csv*"):
        assert degrees_of(path, comment="#") == {1: 3, 3: 1}
        assert read_edges(path, comment="#").identities.tolist() == expected.identities.tolist()
    bare = written(tmp_path / "bare.csv", "% a,b\na,b\n%\n#a,b\n")
    assert degrees_of(bare, header=False, comment="%") == {1: 2, 2: 1}
    for bad, said in (
        ("a,secret,c\n", "more or fewer"),
        ('a,"secret\n', "never closed"),
        ('a,"b"secret\n', "never closed"),
    ):
        assert said in refused(DataError, written(plain, content + bad), comment="#")
    for encoding, called in (("utf-16-le", "UTF-16LE"), ("utf-16-be", "UTF-16BE")):
        wide = written(plain, "#é\nsource,target\na,b\n".encode(encoding))
        assert f"is {called} text" in refused(DataError, wide, comment="#")
    assert "only comments" in refused(DataError, written(plain, "# secret\n#\n"), comment="#")


@each_of("said", [{"comment": "##"}, {"comment": '"'}, {"comment": ","}, {"comment": ""}])
def test_a_comment_begins_with_one_sign(tmp_path: Path, said: dict[str, str]) -> None:
    assert "`comment`" in refused(UsageError, written(tmp_path / "a.csv", "source,target\na,b\n"), **said)


def test_formats_and_comments_are_of_files_that_have_them(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "a b\n")
    assert "`format`" in refused(UsageError, path, format="dot")
    for said in ({"origin": "a"}, {"delimiter": ","}, {"header": False}, {"comment": "#"}):
        assert "`format`" in refused(UsageError, path, format="snap", **said)
    assert "`format`" in refused(UsageError, "duckdb:///a.duckdb", format="pajek")
    assert "no columns" in refused(UsageError, [("a", "b")], format="snap")
    for source in ("-", "a.parquet", "https://example.org/a.csv", "duckdb:///a.duckdb", [("a", "b")]):
        refused(UsageError, source, comment="#")
    for source, form in (("-", "pajek"), ("https://example.org/a.mtx", None), ("https://example.org/out.x", None)):
        assert "to a file here first" in refused(UsageError, source, format=form)
    for name in ("1.net", "2.net"):
        written(tmp_path / name, STAR + EDGES_OF_STAR)
    assert "2 files" in refused(UsageError, tmp_path / "*.net")
