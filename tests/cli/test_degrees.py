"""Degrees of graphs on the command line: from edges to a release."""

import csv
import gzip
import io
import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonhist as ah
from anonhist.cli.entry import anonhist as command_line
from anonhist.graphs import EdgeMechanism, NodeMechanism
from anonhist.graphs.bounding import BOUNDINGS
from anonhist.graphs.node_privacy import METHODS
from anonhist.mechanisms import MECHANISM_NAMES
from anonhist.mechanisms.setting import NOISE_IS_EXACT
from anonhist.privacy import warning
from anonhist.profiles import Profile

Cli = Callable[..., CompletedProcess[str]]

# A ring of 30 nodes, with spokes from a hub to 10 of them: at large budgets noise is nothing.
RING = [(f"n{i}", f"n{(i + 1) % 30}") for i in range(30)]
SPOKES = [("hub", f"n{i}") for i in range(10)]
EDGES = RING + SPOKES
TRUTH = {2: 20, 3: 10, 10: 1}
_EDGE = ("degrees", "edges.txt.gz", "--unit", "edge", "--epsilon", "60", "--simulations", "2")
_NODE = ("degrees", "edges.txt.gz", "--unit", "node", "--epsilon", "5000", "--simulations", "2")


@pytest.fixture
def graph(folder: Path) -> Path:
    """Write the edges as text, as a table and as CSV, and a list of all nodes."""
    text = "# FromNode ToNode\n" + "".join(f"{source}\t{target}\n" for source, target in [*EDGES, ("n1", "n0")])
    (folder / "edges.txt.gz").write_bytes(gzip.compress(text.encode()))
    rows = {"weight": [1] * len(EDGES), "from": [s for s, _ in EDGES], "to": [t for _, t in EDGES]}
    pq.write_table(pa.table(rows), folder / "edges.parquet")
    (folder / "edges.csv").write_text("".join(f"{s};{t}\n" for s, t in EDGES))
    (folder / "nodes.txt").write_text("".join(f"n{i}\n" for i in range(35)) + "hub\n")
    return folder


def _release(folder: Path, name: str = "out.json") -> ah.Release:
    return ah.read(folder / name)


def _pairs(profile: Profile) -> dict[int, int]:
    return dict(zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True))


@pytest.mark.slow
def test_edges_become_a_release_and_a_page(cli: Cli, graph: Path) -> None:
    done = cli(*_EDGE, "-o", "release.json", "--report", "degrees.html")
    assert (done.returncode, done.stderr) == (0, "")
    released = _release(graph, "release.json")
    assert _pairs(released.profile) == TRUTH
    assert released.zeros is None
    told = done.stdout.splitlines()
    interval = r"\(95% interval \d+ to \d+\)"
    assert re.fullmatch(rf"Released: degree sum 80 {interval} of 31 nodes {interval}\.", told[0])
    assert told[1] == "Edges: Edges have no direction; self-loops are left out; equal edges count once."
    assert [line.partition(":")[0] for line in told[2:6]] == ["Protection", "Promise", "Warning", "Error"]
    assert told[3] == f"Promise: {released.guarantee.sentence.replace(f'; {NOISE_IS_EXACT}', '')}"
    assert "when one edge is added or removed" in told[3]
    about = r"about [\d,]+ \([\d,]+ to [\d,]+\) expected, .+ of the degree sum|less than one expected"
    assert re.fullmatch(rf"Error: ({about}) \(sorted ℓ1, (2 simulations|by the noisy values)\)\.", told[5])
    # Below the numbers.
    assert told[6] == told[-6] == ""
    assert told[-5].startswith("Mechanism: edge-")
    assert told[-4] == f"Arithmetic: {NOISE_IS_EXACT}."
    assert told[-3:] == ["Not recorded in a ledger (--ledger).", "Wrote release.json.", "Wrote degrees.html."]
    assert "anonhist degrees edges.txt.gz" in (graph / "degrees.html").read_text(encoding="utf-8")
    assert cli("show", "release.json").stdout.splitlines() == told[:-3]


def test_columns_directions_and_a_chosen_largest_degree(cli: Cli, graph: Path) -> None:
    given = ("--source", "from", "--target", "to", "--directed", "in", "--unit", "node", "--max-degree", "auto")
    done = cli("degrees", "edges.parquet", *given, "--epsilon", "5000", "--simulations", "2", "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    released = _release(graph)
    # In-degrees: the ring's nodes have one each, those with a spoke two.
    assert released.profile.k_plus(1) == 30
    assert released.profile.k_plus(3) == 0
    assert released.guarantee.epsilon == 5000
    assert released.guarantee.spending[0][0] == "choosing the largest degree"
    assert "Edges: Edges have a direction, and in-degrees are counted;" in done.stdout
    assert (
        f"Each node keeps at most {released.mechanism.parameters['max_degree']} edges, chosen privately" in done.stdout
    )
    assert "Errors and intervals do not cover what this leaves out" in done.stdout
    assert "when one node with all its edges is added or removed" in done.stdout


@pytest.mark.slow
def test_a_pipe_gets_a_table(process: Cli, graph: Path) -> None:
    text = gzip.decompress((graph / "edges.txt.gz").read_bytes())
    given = ("--unit", "edge", "--epsilon", "60", "--simulations", "2", "--public-nodes", "4e1")
    done = process("degrees", "-", *given, stdin=text)
    assert (done.returncode, done.stderr) == (0, f"Warning: {warning(Fraction(60))}\n")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["count"], row["prevalence"], row["k_plus"]) for row in rows] == [
        ("0", "9", "40"),
        ("2", "20", "31"),
        ("3", "10", "11"),
        ("10", "1", "1"),
    ]


def test_listed_nodes_without_an_edge_are_told(cli: Cli, graph: Path) -> None:
    done = cli(*_NODE, "--nodes", "nodes.txt", "--max-degree", "16", "--mechanism", "histogram", "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert (_pairs(_release(graph).profile), _release(graph).zeros) == (TRUTH, 5)
    assert re.match(r"Released: degree sum 80 of 31 nodes \(95% .*\), and 5 nodes without any\.\n", done.stdout)


_OPTIONS: list[tuple[tuple[str, ...], tuple[str, ...], dict[str, Any]]] = [
    (_EDGE, (), {"epsilon": "60", "relation": "add-or-remove", "direction": "undirected", "bound": 2}),
    (_EDGE, ("--directed", "out"), {"direction": "out", "bound": 1}),
    (_EDGE, ("--self-loops", "count", "--duplicates", "count"), {"self_loops": "count", "duplicates": "count"}),
    (_EDGE, ("--relation", "substitute"), {"relation": "substitute"}),
    (_EDGE, ("--public-nodes", "40"), {"public_nodes": 40}),
    (_NODE, ("--max-degree", "1e1"), {"max_degree": 10, "epsilon": "5000", "bounding": "projection"}),
    (_NODE, ("--choice-share", "1/10"), {"choice_epsilon": "500", "epsilon": "4500"}),
    (_NODE, ("--max-degree", "auto"), {"choice_epsilon": "1250"}),
    (_NODE, ("--max-degree", "8", "--bounding", "flow"), {"bounding": "flow"}),
    (_NODE, ("--relation", "substitute", "--directed", "out"), {"relation": "substitute", "direction": "out"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("base", "given", "expected"), _OPTIONS)
def test_options_are_what_is_done(
    base: tuple[str, ...], given: tuple[str, ...], expected: dict[str, object], cli: Cli, graph: Path
) -> None:
    done = cli(*base, *given, "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    parameters = _release(graph).mechanism.parameters
    assert expected.items() <= parameters.items()


@pytest.mark.parametrize("name", MECHANISM_NAMES)
def test_edge_mechanisms_by_name(name: str, cli: Cli, graph: Path) -> None:
    given = ("--public-nodes", "40") if name not in ("auto", "frobenius", "partition", "privhist") else ()
    done = cli(*_EDGE[:-3], "20", *_EDGE[-2:], "--mechanism", name, *given, "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    mechanism = _release(graph).mechanism
    assert isinstance(mechanism, EdgeMechanism)
    assert name in ("auto", mechanism.central.name)


@pytest.mark.slow
@pytest.mark.parametrize(("base", "given"), [(_EDGE, ()), (_NODE, ("--max-degree", "16"))])
def test_a_release_of_degrees_is_planned_with_and_estimated_from(
    base: tuple[str, ...], given: tuple[str, ...], cli: Cli, graph: Path
) -> None:
    del graph
    assert cli(*base, *given, "-o", "out.json").returncode == 0
    planned = cli("plan", "--like", "out.json", "--epsilon", "5", "-o", "-")
    assert (planned.returncode, planned.stderr) == (0, "")
    assert re.fullmatch(r"epsilon,.+\n5,(frobenius|partition),.+\n", planned.stdout)
    estimated = cli("estimate", "entropy", "out.json")
    assert (estimated.returncode, estimated.stderr) == (0, f"Warning: {warning(Fraction(60))}\n")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_node_mechanisms_by_name(method: str, cli: Cli, graph: Path) -> None:
    done = cli(*_NODE, "--max-degree", "16", "--mechanism", method, "--nodes", "nodes.txt", "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    mechanism = _release(graph).mechanism
    assert isinstance(mechanism, NodeMechanism)
    assert method in ("auto", mechanism.method)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--unit", "edge", "--mechanism", "isotonic"), "--public-nodes"),
        (("--unit", "node", "--mechanism", "cumulative"), "--nodes"),
        (("--unit", "node", "--simulations", "1"), "--simulations must be"),
    ],
)
def test_what_no_graph_could_be_released_with_is_refused_before_edges_are_looked_for(
    given: tuple[str, ...], told: str, cli: Cli
) -> None:
    done = cli("degrees", "nowhere.txt", "--epsilon", "1", *given, "-o", "out.json")
    assert done.returncode == 2
    assert told in done.stderr
    assert "nowhere.txt" not in done.stderr


def test_choices_are_those_there_are() -> None:
    options = {option.name: option for option in command_line.commands["degrees"].params}
    kind = options["bounding"].type
    assert isinstance(kind, click.Choice)
    assert tuple(kind.choices) == tuple(BOUNDINGS)
    mechanism = options["mechanism"]
    assert isinstance(mechanism, click.Option)
    assert mechanism.help is not None
    assert {*MECHANISM_NAMES, *METHODS} <= set(re.findall(r"[a-z-]+", mechanism.help))


def test_text_with_other_signs_between_is_read_as_said(cli: Cli, graph: Path) -> None:
    done = cli("degrees", "edges.csv", "--delimiter", ";", "--no-header", *_EDGE[2:], "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert _pairs(_release(graph).profile) == TRUTH


@pytest.mark.slow
@pytest.mark.parametrize("base", [_EDGE, _NODE])
def test_the_truth_is_drawn_only_on_demand_and_loudly(
    base: tuple[str, ...], cli: Cli, graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[dict[int, int] | None] = []

    def write_sheet(*_: object, not_private_truth: Profile | None = None, **__: object) -> None:
        drawn.append(None if not_private_truth is None else _pairs(not_private_truth))

    monkeypatch.setattr("anonhist.report.shown.write_sheet", write_sheet)
    quiet = (*base, "--quiet", "--report", "out.html")
    done = cli(*quiet, "-o", "out.json")
    assert (done.returncode, done.stdout, done.stderr, drawn) == (0, "", "", [None])
    done = cli(*quiet, "-o", "out2.json", "--not-private-truth")
    assert (done.returncode, done.stdout, drawn) == (0, "", [None, TRUTH])
    assert re.fullmatch(r"Warning: --not-private-truth draws the true degrees .+ must not be shared\.\n", done.stderr)
    assert set(json.loads((graph / "out.json").read_text())) == set(json.loads((graph / "out2.json").read_text()))


@pytest.mark.slow
def test_a_terminal_speaks_of_nodes_and_degrees(terminal: Cli, graph: Path) -> None:
    (graph / "loops.txt").write_text("".join(f"{s} {t}\n" for s, t in EDGES) + "n1 n1\nn1\n")
    given = ("--unit", "edge", "--epsilon", "60", "--public-nodes", "40", "--simulations", "2")
    done = terminal("degrees", "loops.txt", *given, width=100)
    assert done.returncode == 0
    screen = "\n".join(line for line in done.stdout.replace("\r", "\n").split("\n") if "━" not in line)
    assert re.search(r"^nodes of degree 0 +9 +9 to 9$", screen, re.MULTILINE)
    assert re.search(r"^nodes of degree 1 or more +31 +", screen, re.MULTILINE)
    assert re.search(r"^nodes of degree 3 or more +11 +", screen, re.MULTILINE)
    assert re.search(r"\nnodes\n", screen)
    assert "degree of a node (both scales logarithmic)" in screen
    assert (
        "Shown only on your terminal: Of 42 rows these were left out: 1 without both ends, 1 from a node to itself."
        in " ".join(screen.split())
    )
    assert "Wrote release.json." in screen
    logged = terminal("degrees", "loops.txt", *given, "--quiet", "-o", "quiet.json")
    assert (logged.returncode, logged.stdout) == (0, "")


@pytest.mark.slow
def test_the_line_on_the_terminal_has_the_interval_of_the_page(cli: Cli, graph: Path) -> None:
    done = cli(*_NODE, "--max-degree", "4", "-o", "out.json", "--report", "out.html")
    low, high = _release(graph).error.k_plus(_release(graph).profile, 1).interval
    assert f" nodes (95% interval {low:.0f} to {high:.0f})" in done.stdout
    page = (graph / "out.html").read_text()
    assert f"nodes with an edge; 95% interval {low:.0f}\u00a0to\u00a0{high:.0f}<" in page


@pytest.mark.full
def test_graphs_of_other_programs_are_read_by_their_names_or_formats(cli: Cli, folder: Path) -> None:
    pajek = '*Vertices 5\n1 "Ann Lee"\n*Edges\n1 2\n1 3\n1 4\n'
    held = {
        "out.konect": "% asym\n1 2\n1 3\n1 4\n",
        "a.net": pajek,
        "a.mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n2 1\n3 1\n4 1\n",
        "quoted.edgelist": '"Ann Lee" "Bob Ray"\n"Ann Lee" c\nd "Ann Lee"\n',
        "gephi.csv": "Id,Source,Target,Type\n1,a,b,Undirected\n2,a,c,Undirected\n3,d,a,Undirected\n",
    }
    given: dict[str, tuple[str, ...]] = {name: (name,) for name in held}
    given["renamed.txt"] = ("renamed.txt", "--format", "pajek")
    given["snap.tsv"] = ("snap.tsv", "--no-header", "--comment", "#")
    held |= {"renamed.txt": pajek, "snap.tsv": "# From\tTo\n1\t2\n1\t3\n1\t4\n"}
    written = ("-o", "release.json", "--force", "--simulations", "0")
    for name, content in held.items():
        (folder / name).write_text(content)
        told = cli("degrees", *given[name], "--unit", "edge", "--epsilon", "1e6", *written)
        assert told.returncode == 0, told.stderr
        assert _pairs(_release(folder, "release.json").profile) == {1: 3, 3: 1}, name
    told = cli(
        "degrees", "a.net", "--nodes", "a.net", "--unit", "edge", "--public-nodes", "5", "--epsilon", "1e6", *written
    )
    assert _release(folder, "release.json").zeros == 1, told.stderr
