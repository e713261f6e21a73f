"""What is wrong with a call for degrees is told in one sentence, before edges are read wherever that can be."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Cli = Callable[..., CompletedProcess[str]]
Refusals = Callable[..., list[CompletedProcess[str]]]

_SECRETS = ("zebra", "heron", "731973")
_EDGE = ("--unit", "edge", "--epsilon", "1")
_NODE = ("--unit", "node", "--epsilon", "1")


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "edges.txt").write_text("# zebra\nzebra heron\nheron 731973\nnewt zebra\n")
    (folder / "edges.csv").write_text("zebra,when,heron\na,1,b\n")
    (folder / "commas.txt").write_text("zebra,heron\nheron,731973\n")
    (folder / "one.csv").write_text("node\nzebra\n")
    (folder / "nodes.txt").write_text("zebra\nheron\n")
    (folder / "out.json").write_text("precious")
    (folder / "page.html").write_text("precious")
    return folder


# What is refused before edges are read: there is no such file, and nobody says so.
UNREAD: list[tuple[tuple[str, ...], str]] = [
    ((), "with --unit edge or node; there is no default"),
    (("--unit", "edge"), "such as --epsilon 1; there is no default"),
    (("--epsilon", "1"), "Choose what to protect"),
    (("--unit", "user", "--epsilon", "1"), "'user'"),
    (("--unit", "edge", "--epsilon", "0"), "epsilon must be a finite number greater than zero"),
    (("--unit", "edge", "--epsilon", "1e-9"), "too small"),
    (("--unit", "node", "--epsilon", "1e-9"), "too small"),
    (("--unit", "node", "--epsilon", "much"), "epsilon must be"),
    ((*_EDGE, "--relation", "swap"), "'swap'"),
    ((*_EDGE, "--directed", "both"), "'both'"),
    ((*_EDGE, "--self-loops", "merge"), "'merge'"),
    ((*_EDGE, "--duplicates", "drop"), "'drop'"),
    ((*_EDGE, "--max-degree", "5"), "--max-degree applies only to --unit node"),
    ((*_EDGE, "--max-degree", "auto"), "--max-degree applies only to --unit node"),
    ((*_EDGE, "--choice-share", "1/4"), "--choice-share applies only to --unit node"),
    ((*_EDGE, "--bounding", "flow"), "--bounding applies only to --unit node"),
    ((*_NODE, "--public-nodes", "5"), "--public-nodes applies only to --unit edge"),
    ((*_EDGE, "--public-nodes", "0"), "--public-nodes must be a whole number"),
    ((*_EDGE, "--public-nodes", "1e12"), "--public-nodes must be a whole number"),
    ((*_EDGE, "--public-nodes", "all"), "--public-nodes must be a whole number"),
    ((*_EDGE, "--mechanism", "magic"), "There is no mechanism called 'magic'"),
    (
        (*_EDGE, "--mechanism", "isotonic"),
        "--mechanism isotonic needs the number of nodes (--public-nodes)",
    ),
    (
        (*_EDGE, "--mechanism", "cumulative", "--public-nodes", "9", "--duplicates", "count"),
        "edges without self-loops and duplicates",
    ),
    (
        (*_EDGE, "--mechanism", "relaxed-partition", "--public-nodes", "1e9"),
        "--public-nodes is too large for --mechanism relaxed-partition",
    ),
    ((*_NODE, "--max-degree", "0"), "--max-degree must be a whole number"),
    ((*_NODE, "--max-degree", "1e9"), "--max-degree must be a whole number from 1 to 2^20"),
    ((*_NODE, "--max-degree", "some"), "--max-degree must be a whole number"),
    ((*_NODE, "--max-degree", "5", "--choice-share", "1/4"), "--choice-share requires --max-degree auto"),
    ((*_NODE, "--choice-share", "1"), "--choice-share must be below 1"),
    ((*_NODE, "--choice-share", "0"), "--choice-share must be"),
    ((*_NODE, "--mechanism", "frobenius"), "--mechanism must be one of auto, cumulative, survival, histogram"),
    ((*_NODE, "--mechanism", "cumulative"), "only if a list of nodes was read (--nodes)"),
    ((*_NODE, "--mechanism", "histogram", "--bounding", "flow"), "leave --bounding out"),
    ((*_NODE, "--bounding", "luck"), "'luck'"),
    ((*_NODE, "--self-loops", "count"), "with --self-loops drop and --duplicates merge"),
    ((*_NODE, "--duplicates", "count"), "with --self-loops drop and --duplicates merge"),
    ((*_EDGE, "--simulations", "1"), "--simulations must be 0 or a whole number from 2 to 1,000"),
    ((*_EDGE, "--not-private-truth"), "--not-private-truth requires --report"),
    ((*_EDGE, "-o", "new.html"), "use --report FILE.html"),
    ((*_EDGE, "-o", "new.txt"), ".csv, .json, .parquet"),
    ((*_EDGE, "-o", "out.json"), "exists already"),
    ((*_EDGE, "-o", "new.json", "--report", "page.html"), "exists already"),
    ((*_EDGE, "-o", "new.json", "--report", "new.pdf"), ".html"),
    ((*_EDGE, "--nodes", "out.json", "-o", "out.json", "--force"), "is the input"),
    ((*_EDGE, "--nodes", "page.html", "--report", "page.html", "--force"), "is the input"),
    ((*_EDGE, "--nodes", "nodes.txt"), "add --public-nodes N, or leave --nodes out"),
]

READ: list[tuple[tuple[str, ...], int, str]] = [
    (("none.txt", *_EDGE), 3, "There is no file 'none.txt'"),
    (("none.csv", *_NODE), 3, "There is no file 'none.csv'"),
    (("page.html", *_EDGE), 2, "has an unknown ending"),
    (("edges.txt", *_EDGE, "--public-nodes", "9", "--nodes", "none.txt"), 3, "There is no file 'none.txt'"),
    (("edges.txt", *_EDGE, "--public-nodes", "9", "--nodes", "nodes.txt"), 3, "list"),
    (("edges.txt", *_NODE, "--nodes", "nodes.txt"), 3, "list"),
    (("-", *_EDGE, "--public-nodes", "9", "--nodes", "-"), 2, "Standard input can be read once"),
    (("edges.csv", *_EDGE), 2, "--source"),
    (("edges.csv", *_NODE, "--source", "x"), 3, "no column 'x' to use as source"),
    (
        ("edges.csv", *_NODE, "--source", "when", "--target", "when"),
        2,
        "must be in two columns (--source and --target)",
    ),
    (("one.csv", *_EDGE), 3, "Edges need two columns"),
    (("commas.txt", *_EDGE), 3, "give the separator (--delimiter)"),
    (("edges.txt", *_EDGE, "--table", "x"), 2, "table"),
    (("edges.txt", *_EDGE, "--public-nodes", "2"), 2, "--public-nodes is below the number of nodes"),
    (("edges.txt", *_EDGE, "-o", "edges.txt", "--force"), 2, ".csv, .json, .parquet"),
]


@pytest.mark.usefixtures("files")
def test_what_is_wrong_is_told_before_edges_are_read(refusals: Refusals) -> None:
    calls = ((("degrees", "none.parquet", *arguments), 2, told) for arguments, told in UNREAD)
    assert refusals(calls, secrets=_SECRETS) == []


@pytest.mark.usefixtures("files")
def test_edges_that_cannot_be_used_are_told_without_a_value(refusals: Refusals) -> None:
    calls = ((("degrees", *arguments), code, told) for arguments, code, told in READ)
    assert refusals(calls, secrets=_SECRETS) == []


def test_a_warning_comes_before_the_edges_are_read(cli: Cli, files: Path) -> None:
    del files
    done = cli("degrees", "none.txt", *_EDGE, "-o", "new.json", "--report", "new.html", "--not-private-truth")
    assert done.returncode == 3
    assert done.stderr.startswith("Warning: --not-private-truth draws the true degrees")
    assert "There is no file 'none.txt'" in done.stderr
