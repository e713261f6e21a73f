"""Edges from everywhere, against counting them one by one."""

import gzip
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.graphs import reading as module
from anonhist.graphs.edge_query import degree_query, node_query
from anonhist.graphs.graph import IDENTITY_KEY, SIMPLE, Degrees, Direction, EdgePolicy, Graph
from anonhist.graphs.reading import read_degrees, read_edges
from anonhist.graphs.release import as_graph
from anonhist.ingest import holders
from anonhist.ingest.columns import MissingColumnError, UnnamedColumnError
from anonhist.ingest.read import read_profile
from anonhist.numeric.hashing import keyed_hash
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Table = dict[str, list[Any]]
Held = Callable[[Table], AbstractContextManager[tuple[Any, dict[str, Any]]]]
Feed = Callable[..., None]
WriteTable = Callable[[Path, Table], str]

POLICIES = [
    EdgePolicy(direction, loops, duplicates)
    for direction in Direction
    for loops in ("drop", "count")
    for duplicates in ("merge", "count")
]
SOME_POLICIES = [SIMPLE, POLICIES[3], POLICIES[4], POLICIES[11]]
NAMES = ["9", "10", "a", "A", "Zoë", "é", "\uffff", "\U0001f600", "007"]
EDGES: list[tuple[str | None, str | None]] = [
    *zip([NAMES[i] for i in (0, 1, 2, 3, 4, 7, 8, 0, 2)], [NAMES[i] for i in (1, 0, 2, 2, 5, 6, 7, 1, 2)], strict=True),
    *((NAMES[i * i % 7], NAMES[i % 5]) for i in range(12)),
    ("a", None),
    (None, "a"),
    (None, None),
]


def table_of(edges: list[tuple[Any, Any]]) -> Table:
    return {"source": [edge[0] for edge in edges], "target": [edge[1] for edge in edges]}


def reference(edges: list[tuple[Any, Any]], policy: EdgePolicy) -> tuple[Graph, str | None]:
    """Count edges one by one; return the graph and what the operator is told."""
    kept: Counter[tuple[str, str]] = Counter()
    missing = loops = duplicates = 0
    for source, target in edges:
        if source is None or target is None:
            missing += 1
            continue
        u, v = str(source), str(target)
        if u == v and policy.self_loops == "drop":
            loops += 1
            continue
        edge = (u, v) if policy.direction.is_directed else (min(u, v), max(u, v))
        if policy.duplicates == "merge" and edge in kept:
            duplicates += 1
        else:
            kept[edge] += 1
    names = sorted({str(name) for edge in edges if None not in edge for name in edge})
    places = [(names.index(u), names.index(v)) for u, v in sorted(kept.elements())]
    ends = np.array(places, dtype=np.int64).reshape(-1, 2)
    identities = keyed_hash(names, key=IDENTITY_KEY)[:, 0].copy()
    graph = Graph(ends[:, 0].copy(), ends[:, 1].copy(), identities, policy)
    parts = ((missing, "without both ends"), (loops, "from a node to itself"), (duplicates, "equal to another"))
    told = ", ".join(f"{number} {what}" for number, what in parts if number)
    return graph, f"Of {len(edges)} rows these were left out: {told}." if told else None


def assert_same(found: Graph, expected: Graph) -> None:
    assert found.policy == expected.policy
    assert found.identities.tolist() == expected.identities.tolist()
    assert found.sources.tolist() == expected.sources.tolist()
    assert found.targets.tolist() == expected.targets.tolist()


def assert_same_degrees(found: Degrees, expected: Degrees) -> None:
    assert (found.profile, found.policy, found.num_nodes) == (expected.profile, expected.policy, expected.num_nodes)


def assert_read(source: Any, edges: list[tuple[Any, Any]], policy: EdgePolicy = SIMPLE, **said: Any) -> None:
    """Read with both functions, and compare with counting one by one what they return and what they tell."""
    expected, told = reference(edges, policy)
    for read in (read_edges, read_degrees):
        heard: list[str] = []
        found = read(source, policy=policy, notify=heard.append, **said)
        assert heard == ([told] if told else [])
        if isinstance(found, Graph):
            assert_same(found, expected)
            assert not found.nodes_listed
        else:
            assert_same_degrees(found, expected.degree_profile())


def read_refused(kind: type[AnonhistError], *args: Any, **said: Any) -> str:
    """Read what both functions must refuse with the same sentence, and return it."""
    messages = set()
    for read in (read_edges, read_degrees):
        with pytest.raises(kind) as caught:
            read(*args, **said)
        messages.add(str(caught.value))
    (message,) = messages
    assert message.endswith((".", ")"))
    assert "secret" not in message
    return message


@pytest.mark.parametrize("policy", [SIMPLE, POLICIES[11]], ids=str)
def test_every_engine_reads_what_counting_one_by_one_gives(hold: Held, policy: EdgePolicy) -> None:
    with hold(table_of(EDGES)) as (source, said):
        assert_read(source, EDGES, policy, **said)


def test_every_engine_reads_numbers_as_their_text(hold: Held) -> None:
    edges = [(10, 9), (9, 10), (100, 9), (-3, 2**62), (2**62 + 1, 2**62), (7, 7)]
    with hold(table_of(edges)) as (source, said):
        assert_read(source, edges, **said)


@pytest.mark.slow
def test_numbers_of_different_widths_and_of_any_width_are_their_text() -> None:
    with duckdb.connect() as connection:
        for types in (("BIGINT", "BIGINT"), ("UTINYINT", "BIGINT"), ("HUGEINT", "HUGEINT"), ("VARCHAR", "INTEGER")):
            selected = f"CAST(7 AS {types[0]}) AS source, CAST(12 AS {types[1]}) AS target"
            assert_read(connection.sql(f"SELECT {selected}"), [(7, 12)])
        for kind, number in (("HUGEINT", 2**127 - 1), ("UHUGEINT", 2**128 - 1)):
            selected = f"{number}::{kind} AS source, 1::{kind} AS target"
            assert_read(connection.sql(f"SELECT {selected}"), [(number, 1)])


@pytest.mark.parametrize("kind", ["object", "category", "datetime64[ns]"])
def test_the_ends_of_an_edge_may_be_columns_of_different_types(kind: str) -> None:
    frame = pd.DataFrame({"source": pd.Series(["2020", "2021", "2020"], dtype=kind), "target": [1, 2, 2]})
    assert_same_degrees(read_edges(frame).degree_profile(), read_degrees(frame))
    assert read_edges(frame[["target", "source"]], origin="target", target="source").degrees().tolist() == [1, 2, 2, 1]


def test_every_engine_sees_which_nodes_are_listed(hold: Held) -> None:
    expected, _ = reference(EDGES, SIMPLE)
    with hold(table_of(EDGES)) as (source, said):
        found = read_edges(source, nodes=[*NAMES, "alone", "alone"], **said)
        assert (found.num_nodes, found.num_edges, found.nodes_listed) == (10, expected.num_edges, True)
        degrees = read_degrees(source, nodes=[*NAMES, "alone", None], **said)
        assert_same_degrees(degrees, found.degree_profile())
        assert degrees.num_zeros == 1
        for read in (read_edges, read_degrees):
            with pytest.raises(DataError, match="not listed"):
                read(source, nodes=NAMES[:-1], **said)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_every_policy_holds(policy: EdgePolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    # Several batches, the last one not full, and one without an edge.
    monkeypatch.setattr(module, "_ROWS", 4)
    assert_read(pl.DataFrame(table_of([(None, "a")] * 4 + EDGES)), [(None, "a")] * 4 + EDGES, policy)
    listed = [*NAMES, "alone"]
    table = pa.table(table_of(EDGES))
    told: list[list[str]] = [[], []]
    graph = read_edges(table, policy=policy, nodes=listed, notify=told[0].append)
    assert_same_degrees(read_degrees(table, policy=policy, nodes=listed, notify=told[1].append), graph.degree_profile())
    assert told[0] == told[1] == [reference(EDGES, policy)[1]]


@pytest.mark.slow
def test_large_random_graphs_agree(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    pairs = rng.zipf(1.6, size=(30_000, 2)) % 5_000
    path = str(tmp_path / "edges.parquet")
    pq.write_table(pa.table({"from": pairs[:, 0], "to": pairs[:, 1]}), path)
    for policy in SOME_POLICIES:
        expected = as_graph(pairs, policy=policy)
        assert_same(read_edges(path, policy=policy), expected)
        assert_same_degrees(read_degrees(path, policy=policy), expected.degree_profile())


TEXT = "# Nodes: 4\n% another comment\n\n1\t2\n2 1 0.5 1199145600\n  3   \t 1\r\n   \n #x y\n1 1\n12 3 #7\n5\n"
TEXT_EDGES = [("1", "2"), ("2", "1"), ("3", "1"), ("1", "1"), ("12", "3"), ("5", None)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "line_end"),
    [(ending, "\n") for ending in (".txt", ".edgelist", ".TXT", ".txt.gz", ".edges.gz", ".txt.zst")]
    + [(".edges", "\r\n"), (".txt.gz", "\r\n")],
)
def test_lines_of_words_are_edges_and_comments_are_not(
    tmp_path: Path, compress: Callable[[Path, bytes], None], ending: str, line_end: str
) -> None:
    path, data = tmp_path / f"graph{ending}", TEXT.replace("\r", "").replace("\n", line_end).encode()
    if Path(ending).suffix in (".gz", ".zst"):
        compress(path, data)
    else:
        path.write_bytes(data)
    assert_read(path, TEXT_EDGES)
    assert_read(str(path), TEXT_EDGES, POLICIES[7])


@pytest.mark.parametrize("read", [read_edges, read_degrees])
def test_standard_input_is_read_once_and_whole(stdin: Feed, read: Callable[..., Graph | Degrees]) -> None:
    expected = reference(TEXT_EDGES, SIMPLE)[0]
    stdin(TEXT.replace("\r", ""))
    told: list[str] = []
    found = read("-", notify=told.append)
    assert told == [reference(TEXT_EDGES, SIMPLE)[1]]
    if isinstance(found, Graph):
        assert_same(found, expected)
    else:
        assert_same_degrees(found, expected.degree_profile())
    stdin("weight;to;from\n5;a;b\n5;c;b\n")
    found = read("-", delimiter=";")
    degrees = found.degree_profile() if isinstance(found, Graph) else found
    assert degrees.profile == Profile.from_counts([1, 2, 1], unit=PrivacyUnit.edge(degrees=2))


@pytest.mark.slow
def test_no_query_asks_twice_for_what_can_be_read_once() -> None:
    with duckdb.connect() as connection:
        rows = nw.from_native(connection.sql("SELECT 'a' AS source, 'b' AS target"))
        for policy in POLICIES:
            query = degree_query(node_query(rows, policy)).to_native().sql_query()
            assert query.count("'a'") == 1
            assert "UNION" not in query.upper()


def test_several_files_are_one_graph(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("a b\nb c\n")
    (tmp_path / "2.txt").write_text("# more\nb a\nc d\n")
    assert_read(str(tmp_path / "*.txt"), [("a", "b"), ("b", "c"), ("b", "a"), ("c", "d")])


def test_words_keep_what_other_formats_would_take_for_syntax(tmp_path: Path) -> None:
    words = ['a"', "a,b", "'", "\\", "NULL", "a#b", "b%", "1e3", "é\u00a0x"]
    path = tmp_path / "words.txt"
    path.write_text("".join(f"{word} end\n" for word in words), encoding="utf-8")
    assert_read(path, [(word, "end") for word in words])


@pytest.mark.parametrize(
    ("ending", "names"),
    [(ending, ("from", "to")) for ending in (".csv.gz", ".tsv", ".parquet")]
    + [(".csv", names) for names in (("source", "target"), ("src", "dst"), ("left", "right"))],
)
def test_tables_are_read_by_the_names_of_their_columns(
    tmp_path: Path, write_table: WriteTable, ending: str, names: tuple[str, str]
) -> None:
    edges = [("007", "7"), ("7", "b c"), ("é", "007")]
    columns = {names[1]: [edge[1] for edge in edges], names[0]: [edge[0] for edge in edges]}
    known = names[0] != "left"
    others = {"weight": ["1", "2", "3"]} if known else {}
    path = write_table(tmp_path / f"edges{ending}", {**others, **columns})
    if known:
        assert_read(path, edges, EdgePolicy(Direction.IN))
    else:
        # They may be an edge; if they are said to be names, both are taken as they come, which says the direction.
        assert "header=False" in read_refused(UnnamedColumnError, path)
        assert_read(path, [(v, u) for u, v in edges], EdgePolicy(Direction.IN), header=True)
    assert_read(path, [(v, u) for u, v in edges], EdgePolicy(Direction.IN), origin=names[1], target=names[0])


@pytest.mark.slow
def test_text_is_a_table_where_columns_or_delimiters_are_said(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("left\tright\nx y\tz\n")
    assert_read(path, [("x y", "z")], EdgePolicy(Direction.OUT), origin="left", target="right")
    assert_read(path, [("x y", "z")], delimiter="\t", header=True)
    assert_read(path, [("left", "right"), ("x y", "z")], header=False)
    assert_read(path, [("left", "right"), ("x", "y")])


def test_one_column_named_leaves_the_other_of_two() -> None:
    table = pd.DataFrame({"to": ["a", "b"], "from": ["b", "b"], "x": ["c", "d"]})
    for said in ({"origin": "to"}, {"target": "from"}):
        assert_read(table[["to", "from"]], [("a", "b"), ("b", "b")], POLICIES[6], **said)
    assert "'from', 'x'" in read_refused(UnnamedColumnError, table, origin="to")
    assert "(origin)" in read_refused(UnnamedColumnError, table, target="to")


def test_columns_that_are_missing_or_not_said_are_refused(tmp_path: Path, write_table: WriteTable) -> None:
    table = {"secret a": ["1"], "secret b": ["2"], "secret c": ["3"]}
    path = write_table(tmp_path / "edges.csv", table)
    assert "(origin); there are 3 columns" in read_refused(UnnamedColumnError, path)
    assert "'nowhere' to use as target" in read_refused(MissingColumnError, path, target="nowhere")
    with pytest.raises(UnnamedColumnError) as caught:
        read_edges(pl.DataFrame(table))
    assert caught.value.columns == tuple(table)
    assert "two columns" in read_refused(UsageError, path, origin="column0", target="column0", header=False)
    one = write_table(tmp_path / "one.csv", {"source": ["1"]})
    assert "two columns" in read_refused(DataError, one)


@pytest.mark.slow
def test_lists_of_nodes_come_in_many_forms(tmp_path: Path, write_table: WriteTable) -> None:
    lines = tmp_path / "nodes.txt"
    lines.write_text("# all nodes\na\nb and its remarks\n\nc\nb\n")
    columns = {"age": ["1", "2", "3"], "node": ["a", "b", "c"]}
    csv, parquet = (write_table(tmp_path / f"nodes{ending}", columns) for ending in (".csv", ".parquet"))
    one = write_table(tmp_path / "one.csv", {"name": ["a", "b", "c", None]})
    forms: Iterable[Any] = (
        lines,
        str(lines),
        csv,
        parquet,
        one,
        ["a", "b", "c"],
        (name for name in "abc"),
        np.array(["a", "b", "c"]),
        pd.Series(["a", "b", "c", None]),
        pl.DataFrame(columns),
        pa.array(["a", "b", "c", "c"]),
    )
    for nodes in forms:
        graph = read_edges(pl.DataFrame({"source": ["a"], "target": ["c"]}), nodes=nodes)
        assert graph.degrees().tolist() == [1, 0, 1]
    for nodes in (lines, csv, pl.DataFrame(columns), ["a", "b", "c"]):
        for edges in (pl.DataFrame({"source": ["a"], "target": ["c"]}), [("a", "c")]):
            degrees = read_degrees(edges, nodes=nodes)
            assert (degrees.num_nodes, degrees.num_zeros) == (3, 1)


def test_numbers_listed_as_nodes_are_the_nodes_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("0 10\n9 10\n")
    graph = read_edges(path, nodes=range(11))
    assert (graph.num_nodes, sorted(graph.degrees().tolist())) == (11, [0] * 8 + [1, 1, 2])
    parquet = str(tmp_path / "edges.parquet")
    pq.write_table(pa.table({"source": [0, 9], "target": [10, 10]}), parquet)
    assert_same(read_edges(parquet, nodes=range(11)), graph)
    assert_same_degrees(read_degrees(parquet, nodes=range(11)), graph.degree_profile())


def test_lists_of_nodes_that_are_none_are_refused(tmp_path: Path) -> None:
    edges = pl.DataFrame({"source": ["secret"], "target": ["secret2"]})
    assert "not listed" in read_refused(DataError, edges, nodes=["secret"])
    assert "call it 'node'" in read_refused(UsageError, edges, nodes=pl.DataFrame({"a": [1], "b": [2]}))
    assert "not in a database" in read_refused(UsageError, edges, nodes="sqlite:///nodes.db")
    assert "no file" in read_refused(DataError, edges, nodes=str(tmp_path / "none.txt"))
    assert "not a list" in read_refused(UsageError, edges, nodes={"secret": 1, "secret2": 2})
    assert "read once" in read_refused(UsageError, "-", nodes="-")


def test_what_as_graph_takes_is_handed_over() -> None:
    matrix = scipy.sparse.csr_array(([1, 1], ([0, 1], [1, 2])), shape=(4, 4))
    for source in (matrix, np.array([[0, 1], [1, 2]]), [(0, 1), (1, 2)], iter([(0, 1), (1, 2)])):
        graph = read_edges(source, nodes=range(4)) if source is not matrix else read_edges(source)
        assert graph.degrees().tolist() == ([1, 2, 1, 0] if graph.nodes_listed else [1, 2, 1])
    assert_same_degrees(read_degrees(matrix, nodes=range(4)), as_graph(matrix, nodes=range(4)).degree_profile())
    assert "no columns" in read_refused(UsageError, [(0, 1)], origin="a")
    assert "no columns" in read_refused(UsageError, matrix, header=False)
    read_refused(UsageError, 5)


@pytest.mark.slow
def test_files_without_edges_are_graphs_without_edges(tmp_path: Path, write_table: WriteTable) -> None:
    assert_read(write_table(tmp_path / "none.csv", {"source": [], "target": []}), [])
    comments = tmp_path / "none.txt"
    comments.write_text("# nothing\n\n")
    assert_read(comments, [])
    missing = write_table(tmp_path / "missing.csv", {"source": ["a", None], "target": [None, "b"]})
    assert_read(missing, [("a", None), (None, "b")])
    assert read_degrees(comments, nodes=["a"]).num_zeros == 1
    assert read_edges(comments, nodes=["a"]).degrees().tolist() == [0]


def test_texts_in_which_nothing_is_an_edge_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("secret,b\nb,c\n")
    assert "(delimiter)" in read_refused(DataError, path)
    assert_read(path, [("secret", "b"), ("b", "c")], delimiter=",", header=False)


@pytest.mark.slow
def test_damaged_and_missing_files_are_refused_without_what_they_hold(tmp_path: Path) -> None:
    assert "no file" in read_refused(DataError, str(tmp_path / "nowhere.txt"))
    damaged = tmp_path / "edges.txt.gz"
    damaged.write_bytes(gzip.compress(b"secret b\n" * 10_000)[:-200])
    read_refused(DataError, damaged)
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"secret \xff\n")
    assert "UTF-8" in read_refused(DataError, latin)
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    assert "empty" in read_refused(DataError, empty)
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("source,target\nsecret,b\nsecret\n")
    read_refused(DataError, ragged)


def test_a_policy_is_needed(tmp_path: Path) -> None:
    assert "EdgePolicy" in read_refused(UsageError, str(tmp_path), policy="simple")


def test_progress_is_asked_of_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def noted(_: object, progress: object) -> AbstractContextManager[None]:
        asked.append(progress)
        return nullcontext()

    monkeypatch.setattr(holders, "followed", noted)
    path = tmp_path / "edges.txt"
    path.write_text("a b\n")
    for read in (read_edges, read_degrees):
        read(path, progress=print)
    assert asked == [print, print]


def test_counts_of_rows_do_not_protect_nodes() -> None:
    # A node with many edges moves its count by more than the unit says.
    with pytest.raises(UsageError, match="do not bound the degree of a node"):
        read_profile(["hub"] * 100, unit=PrivacyUnit.node(max_distance=4))
