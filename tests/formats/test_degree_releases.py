"""Releases of degrees: written, read back, and refused where no mechanism for edges or nodes makes such."""

import csv
import io
import json
from copy import deepcopy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError
from anonhist.formats.document import to_document
from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.formats.tables import csv_text, to_arrow
from anonhist.graphs import BoundedDegrees, EdgePolicy, EdgePrivacy, Graph, NodePrivacy, as_graph, release_degrees
from anonhist.graphs.files import _CENTRAL, _METHODS
from anonhist.graphs.graph import Direction
from anonhist.graphs.node_privacy import METHODS
from anonhist.mechanisms import MECHANISM_NAMES, FrobeniusMechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.releases import Release
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

GOLDEN = Path(__file__).parent / "golden"
SUBSTITUTE = NeighboringRelation.SUBSTITUTE
EDGES = [(f"n{i}", f"n{(i * i + 3 * i + 7) % 20}") for i in range(30)]
NODES = sorted({name for edge in EDGES for name in edge} | {"alone", "too"})
COUNTED = EdgePolicy(self_loops="count", duplicates="count")

Made = tuple[EdgePrivacy | NodePrivacy, str | BoundedDegrees, EdgePolicy, bool]
MADE: dict[str, Made] = {
    **{
        f"edge {name}": (EdgePrivacy(len(NODES)), name, EdgePolicy(), False)
        for name in MECHANISM_NAMES
        if name != "auto"
    },
    "edge": (EdgePrivacy(), "auto", EdgePolicy(), False),
    "edge in": (EdgePrivacy(relation=SUBSTITUTE), "auto", EdgePolicy(Direction.IN), False),
    "edge counted": (EdgePrivacy(len(NODES)), "auto", COUNTED, True),
    **{f"node {name}": (NodePrivacy(), BoundedDegrees(5, name), EdgePolicy(), True) for name in METHODS[1:]},
    "node partition": (NodePrivacy(SUBSTITUTE), BoundedDegrees(5, "partition"), EdgePolicy(), True),
    "node unlisted": (NodePrivacy(), BoundedDegrees(5, "histogram"), EdgePolicy(), False),
    "node chosen": (NodePrivacy(), BoundedDegrees(candidates=(2, 4, 8)), EdgePolicy(), True),
    "node out flow": (NodePrivacy(), BoundedDegrees(3, "survival", "flow"), EdgePolicy(Direction.OUT), False),
}


def _graph(policy: EdgePolicy, *, listed: bool) -> Graph:
    return as_graph(EDGES, policy=policy, nodes=NODES if listed else None)


@cache
def _release(name: str) -> Release:
    privacy, mechanism, policy, listed = MADE[name]
    released = release_degrees(
        _graph(policy, listed=listed),
        privacy=privacy,
        epsilon=Fraction(5, 3),
        mechanism=mechanism,
        simulations=2,
        source=SeededSource(7),
    )
    return released.with_error()


def _numbers(release: Release) -> list[Any]:
    error = release.error
    return [release.zeros, release.items, error.zeros_error, error.k_plus_errors.tolist(), error.levels.tolist()]


@pytest.mark.slow
@each_of("ending", ["json", "parquet"])
@each_of("name", MADE)
def test_a_release_is_read_as_it_was_written(tmp_path: Path, name: str, ending: str) -> None:
    made = _release(name)
    write(made, tmp_path / f"a.{ending}")
    read = read_release(tmp_path / f"a.{ending}")
    assert (read.mechanism, read.guarantee, read.reason) == (made.mechanism, made.guarantee, made.reason)
    assert read.profile == made.profile
    assert read.profile.unit == made.profile.unit
    assert _numbers(read) == _numbers(made)
    assert len(read.resimulate()) == 2


@pytest.mark.slow
def test_these_are_all_mechanisms() -> None:
    edges = {f"edge-{name}" for name in MECHANISM_NAMES if name != "auto"}
    nodes = {f"node-{name}" for name in METHODS[1:]}
    assert {_release(name).mechanism.name for name in MADE} == edges | nodes
    assert _CENTRAL.keys() | _METHODS.keys() == edges | nodes


def test_zeros_are_written_where_they_are_released() -> None:
    with_zeros = {name for name in MADE if to_document(_release(name))["zeros"] is not None}
    told = {name for name in MADE if name.startswith("edge ") and name != "edge in"}
    assert with_zeros == told | {"node cumulative", "node histogram", "node chosen"}
    for name in MADE:
        error = to_document(_release(name))["error"]
        assert (error["zeros_standard_error"] is not None) == (name in with_zeros)


def test_a_table_begins_with_the_nodes_without_an_edge() -> None:
    made = _release("edge frobenius")
    first, second = list(csv.DictReader(io.StringIO(csv_text(made))))[:2]
    estimate = made.prevalence(0)
    assert (first["count"], int(first["prevalence"]), int(first["k_plus"])) == ("0", made.zeros, len(NODES))
    assert float(first["prevalence_standard_error"]) == pytest.approx(estimate.standard_error, abs=6e-5)
    assert (float(first["prevalence_low"]), float(first["prevalence_high"])) == estimate.interval
    assert [name for name, cell in first.items() if not cell] == [
        f"k_plus_{end}" for end in ("standard_error", "low", "high")
    ]
    assert int(second["k_plus"]) == made.profile.num_labels
    table = to_arrow(made)
    assert [column.null_count for column in table.columns] == [0] * 6 + [1] * 3
    assert table.column("k_plus").type == pa.int64()
    assert "\n0," not in csv_text(_release("edge"))


def test_rows_that_were_filtered_are_no_release(tmp_path: Path) -> None:
    table = to_arrow(_release("node cumulative"))
    assert table.column("count")[0].as_py() == 0
    pq.write_table(table.slice(1), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="rows are not those that were released"):
        read_release(tmp_path / "a.parquet")


def _document(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(to_document(_release(name))))
    return document


_MANY = [["number of nodes", "1/4"], ["degrees", "17/12"]]
# Of which release, where, what is put there (nothing: it is taken away), and what the refusal says.
GONE = object()
BAD: list[tuple[str, str, Any, str]] = [
    ("edge", "mechanism.name", "edge-auto", "unknown to this version"),
    ("edge", "mechanism.name", "edge-", "unknown to this version"),
    ("edge", "mechanism.name", "edge-edge-frobenius", "unknown to this version"),
    ("edge", "mechanism.name", "edge-isotonic", "public_labels must be among them"),
    ("edge", "mechanism.name", "frobenius", "parameters of the frobenius mechanism in the file are invalid"),
    ("edge", "mechanism.name", "node-frobenius", "unknown to this version"),
    ("edge", "mechanism.name", "node-survival", "they must be bounding, direction, epsilon, max_degree, relation"),
    ("edge", "mechanism.parameters", {}, "direction, duplicates, self_loops must be among them"),
    ("edge", "mechanism.parameters.direction", "in", "must be the edge of this policy"),
    ("edge", "mechanism.parameters.direction", "both", "the direction must be undirected or in or out"),
    ("edge", "mechanism.parameters.direction", 1, "the direction must be"),
    ("edge", "mechanism.parameters.self_loops", "keep", "self_loops must be 'drop' or 'count'"),
    ("edge", "mechanism.parameters.duplicates", "keep", "duplicates must be 'merge' or 'count'"),
    ("edge", "mechanism.parameters.duplicates", ["merge"], "whole numbers and text"),
    ("edge", "mechanism.parameters.public_nodes", 100, "arithmetic is not that of the mechanism"),
    ("edge", "mechanism.parameters.bound", 1, "must be the edge of this policy"),
    ("edge", "mechanism.parameters.bound", 3, "changes one degree"),
    ("edge", "mechanism.parameters.unit", "item", "item"),
    ("edge", "mechanism.parameters.epsilon", "10/6", "as this program writes them"),
    ("edge", "mechanism.parameters.epsilon", "2", "the guarantee's epsilon is not that"),
    ("edge", "mechanism.parameters.relation", "substitute", "the guarantee's relation is not that"),
    ("edge", "mechanism.parameters.extra", 1, "are invalid"),
    ("edge in", "mechanism.parameters.direction", "out", ""),
    ("edge frobenius", "mechanism.parameters.public_nodes", True, "whole numbers and text"),
    ("edge frobenius", "mechanism.parameters.public_nodes", 0, "public_nodes must be a whole number"),
    ("edge frobenius", "mechanism.parameters.public_nodes", "62", "public_nodes must be a whole number"),
    ("edge frobenius", "mechanism.parameters.public_nodes", len(NODES) + 1, "arithmetic is not that"),
    ("edge frobenius", "zeros", 0, "do not add up to the number of nodes"),
    ("edge frobenius", "zeros", -1, "zeros"),
    ("edge frobenius", "zeros", True, "zeros must be a whole number"),
    ("edge frobenius", "zeros", 2**63, "add up to the number of nodes"),
    ("edge frobenius", "zeros", None, "do not add up to the number of nodes"),
    ("edge frobenius", "zeros", GONE, "a release by exactly the fields"),
    ("edge frobenius", "error.zeros_standard_error", None, "belong together"),
    ("edge frobenius", "error.zeros_standard_error", GONE, "the error by exactly the fields"),
    ("edge frobenius", "error.zeros_standard_error", -1.0, "not negative"),
    ("edge frobenius", "error.zeros_standard_error", "5", "finite numbers"),
    ("edge frobenius", "profile", {"counts": [len(NODES)], "prevalences": [1]}, "too large for so few nodes"),
    ("edge frobenius", "profile", {"counts": [1], "prevalences": [len(NODES) + 1]}, "add up to the number of nodes"),
    ("edge frobenius", "items", 5, "items belong to"),
    ("edge isotonic", "mechanism.parameters.public_labels", 1, "arithmetic is not that"),
    ("edge isotonic", "profile", {"counts": [1], "prevalences": [len(NODES) + 1]}, "beyond the public numbers"),
    ("edge privhist", "items", GONE, "a release by exactly the fields"),
    ("edge privhist", "items", None, "items, the number of items that PrivHist publishes, is missing"),
    ("edge", "zeros", 5, "zeros belong to"),
    ("edge", "error.zeros_standard_error", 5.0, "belong together"),
    ("edge", "guarantee.unit", "node", "the guarantee's unit is not that"),
    ("edge", "guarantee.bound", 1, "the guarantee's unit is not that"),
    ("edge", "guarantee.epsilon", "1", "the guarantee's epsilon is not that"),
    ("edge", "guarantee.relation", "substitute", "the guarantee's relation is not that"),
    ("edge", "guarantee.delta", "1/1000", "the guarantee's delta is not that"),
    ("edge", "guarantee.arithmetic", "perfectly private", "the guarantee's arithmetic is not that"),
    ("edge", "guarantee.spending", [["a look", "2/3"], ["degrees", "1"]], "the guarantee's spending is not that"),
    ("edge", "guarantee.sentence", "Nothing can be learnt from this.", "sentence"),
    ("edge", "error.levels", [2], "row per level|every released count"),
    ("node survival", "mechanism.name", "node-cumulative", "spending is not that"),
    ("node survival", "mechanism.name", "node-histogram", "they must be bounding, direction, epsilon"),
    ("node survival", "mechanism.name", "node-partition", ""),
    ("node survival", "mechanism.name", "survival", "unknown to this version"),
    ("node survival", "mechanism.name", "edge-survival", "unknown to this version"),
    ("node survival", "mechanism.parameters.epsilon", "10/6", "as this program writes them"),
    ("node survival", "mechanism.parameters.epsilon", 1, "epsilon must be text"),
    ("node survival", "mechanism.parameters.epsilon", "2", "the guarantee's epsilon is not that"),
    ("node survival", "mechanism.parameters.epsilon", "1/10000000000", "too small"),
    ("node survival", "mechanism.parameters.max_degree", 6, "the guarantee's unit is not that"),
    ("node survival", "mechanism.parameters.max_degree", 0, "max_degree must be a whole number"),
    ("node survival", "mechanism.parameters.max_degree", 2**20 + 1, "max_degree must be a whole number"),
    ("node survival", "mechanism.parameters.max_degree", "5", "max_degree must be a whole number"),
    ("node survival", "mechanism.parameters.max_degree", GONE, "they must be"),
    ("node survival", "mechanism.parameters.direction", "in", "the guarantee's unit is not that"),
    ("node survival", "mechanism.parameters.relation", "swap", "the relation must be add-or-remove or substitute"),
    ("node survival", "mechanism.parameters.bounding", "luck", "bounded by projection or flow"),
    ("node survival", "mechanism.parameters.bounding", "flow", ""),
    ("node survival", "mechanism.parameters.nodes", "listed", "they must be"),
    ("node survival", "mechanism.parameters.choice_epsilon", "1", "must be given together"),
    ("node survival", "zeros", 5, "zeros belong to"),
    ("node survival", "items", 5, "items belong to"),
    ("node survival", "profile", {"counts": [6], "prevalences": [1]}, "above the bound on degrees"),
    ("node survival", "guarantee.bound", 5, "the guarantee's unit is not that"),
    ("node survival", "guarantee.unit", "user", "the guarantee's unit is not that"),
    ("node survival", "guarantee.spending", [["degrees", "5/3"]], "the guarantee's spending is not that"),
    ("node out flow", "mechanism.parameters.bounding", "projection", "the guarantee's unit is not that"),
    ("node histogram", "mechanism.parameters.nodes", "not listed", "conditions is not that of"),
    ("node histogram", "mechanism.parameters.nodes", "known", "nodes must be listed or not listed"),
    ("node histogram", "mechanism.parameters.bounding", "flow", "after a projection"),
    ("node unlisted", "mechanism.parameters.nodes", "listed", "conditions is not that of"),
    ("node cumulative", "zeros", GONE, "a release by exactly the fields"),
    ("node cumulative", "zeros", None, "zeros, the number of nodes without an edge, are missing"),
    ("node cumulative", "zeros", 2**63 - 1, "more nodes than can be counted"),
    ("node cumulative", "zeros", -1, "zeros"),
    ("node cumulative", "error.zeros_standard_error", GONE, "the error by exactly the fields"),
    ("node cumulative", "error.zeros_standard_error", None, "belong together"),
    ("node cumulative", "guarantee.conditions", [], "conditions is not that of"),
    ("node cumulative", "guarantee.party_epsilon", "9", "party_epsilon is not that of"),
    ("node cumulative", "guarantee.spending", _MANY[::-1], "the guarantee's spending is not that"),
    ("node chosen", "mechanism.parameters.choice_epsilon", GONE, "must be given together"),
    ("node chosen", "mechanism.parameters.choice_epsilon", "1/3", "the guarantee's epsilon is not that"),
    ("node chosen", "mechanism.parameters.choice_epsilon", 1, "choice_epsilon must be text"),
    ("node chosen", "mechanism.parameters.choice_candidates", "2,4,8,16", ""),
    ("node chosen", "mechanism.parameters.choice_candidates", "16,32", "one of the candidates"),
    ("node chosen", "mechanism.parameters.choice_candidates", "8,4,2", "ascending"),
    ("node chosen", "mechanism.parameters.choice_candidates", "2,4,,8", "commas between them"),
    ("node chosen", "mechanism.parameters.choice_candidates", "2,4,8,²", "commas between them"),
    ("node chosen", "mechanism.parameters.choice_candidates", "2,4,8," + "9" * 11, "commas between them"),
    ("node chosen", "mechanism.parameters.choice_candidates", "2, 4, 8", "commas between them"),
    ("node chosen", "mechanism.parameters.choice_candidates", "02,4,8", "as this program writes them"),
    ("node chosen", "mechanism.parameters.choice_candidates", 2, "choice_candidates must be text"),
]


@each_of(("name", "where", "value", "reason"), BAD)
def test_what_no_mechanism_for_degrees_releases_is_refused(
    tmp_path: Path, name: str, where: str, value: object, reason: str
) -> None:
    whole = deepcopy(_document(name))
    *folders, last = where.split(".")
    inside = whole
    for each in folders:
        inside = inside[each]
    if value is GONE:
        del inside[last]
    else:
        inside[last] = value
    (tmp_path / "bad.json").write_text(json.dumps(whole))
    if not reason:  # another mechanism that promises the same
        assert read_release(tmp_path / "bad.json").mechanism != _release(name).mechanism
        return
    with pytest.raises(DataError, match=reason) as caught:
        read_release(tmp_path / "bad.json")
    assert str(caught.value).startswith(f"'{tmp_path}/bad.json' is not a release that can be read: ")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_other_releases_have_no_zeros(tmp_path: Path) -> None:
    made = FrobeniusMechanism(1).release(Profile.from_counts([3, 1]), source=SeededSource(7))
    of_sketch = json.loads((GOLDEN / "release-hashed-sketch.json").read_text(encoding="utf-8"))
    for document in (to_document(made), of_sketch):
        document["zeros"], document["error"]["zeros_standard_error"] = 5, 1.0
        (tmp_path / "bad.json").write_text(json.dumps(document))
        with pytest.raises(DataError, match="zeros belong to a release of degrees"):
            read_release(tmp_path / "bad.json")


@pytest.mark.slow
def test_degrees_with_a_plain_mechanism_are_a_release_too(tmp_path: Path) -> None:
    made = FrobeniusMechanism(1, PrivacyUnit.edge()).release(
        _graph(EdgePolicy(), listed=False).degree_profile().profile
    )
    write(made, tmp_path / "a.json")
    assert read_release(tmp_path / "a.json").mechanism == made.mechanism


GOLDEN_NAMES = ("edge frobenius", "edge in", "node chosen", "node histogram")


@each_of("name", GOLDEN_NAMES)
def test_golden_files_stay_readable(name: str) -> None:
    # Written when the format was made; never to be written anew.
    read = read_release(GOLDEN / f"release-{name.replace(' ', '-')}.json")
    made = _release(name)
    assert (read.mechanism, read.guarantee, read.zeros is None) == (made.mechanism, made.guarantee, made.zeros is None)


@each_of("name", GOLDEN_NAMES)
def test_releases_are_written_as_ever(name: str) -> None:
    golden = json.loads((GOLDEN / f"release-{name.replace(' ', '-')}.json").read_text(encoding="utf-8"))
    written = to_document(_release(name))
    assert golden.keys() == written.keys()
    assert golden["error"].keys() == written["error"].keys()
    # The sentence is for people, and may be put better; numbers may change with what draws them.
    assert golden["guarantee"].pop("sentence")
    assert written["guarantee"].pop("sentence")
    for part in ("format", "version", "guarantee", "mechanism"):
        assert golden[part] == written[part]


@each_of("name", ["node cumulative", "node histogram", "node survival"])
def test_intervals_from_noisy_values_are_read_as_they_were_written(tmp_path: Path, name: str) -> None:
    made = _release(name)
    write(made, tmp_path / "a.json")
    read = read_release(tmp_path / "a.json")
    for count in range(7):
        if count or made.zeros is not None:
            assert read.prevalence(count) == made.prevalence(count)
        assert read.k_plus(count + 1) == made.k_plus(count + 1)
    row = next(csv.DictReader(io.StringIO(csv_text(read))))
    assert (float(row["prevalence_low"]), float(row["prevalence_high"])) == made.prevalence(int(row["count"])).interval


@each_of(
    ("field", "value"),
    [
        ("prevalence_band", {"ends": [1], "lows": [2], "highs": [1]}),
        ("prevalence_band", {"ends": [1], "lows": [1]}),
        ("prevalence_band", []),
        ("zeros_interval", [4, 3]),
        ("zeros_interval", [-1, 3]),
        ("zeros_interval", [1, 2, 3]),
        ("zeros_interval", [1.5, 3]),
        ("zeros_interval", 3),
    ],
)
def test_what_is_no_interval_from_noisy_values_is_refused(tmp_path: Path, field: str, value: object) -> None:
    document = to_document(_release("node cumulative"))
    document["error"][field] = value
    (tmp_path / "bad.json").write_text(json.dumps(document))
    with pytest.raises(DataError):
        read_release(tmp_path / "bad.json")
