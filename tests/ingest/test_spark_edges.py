"""Edges in tables of Spark: degrees are counted on the cluster, and are those of edges in memory."""

from typing import Any

import pytest

from anonhist.errors import DataError
from anonhist.graphs import edge_query as module
from anonhist.graphs.graph import SIMPLE, Direction, EdgePolicy
from anonhist.graphs.reading import read_degrees, read_edges
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.slow

EDGES = [(at * at % 23, at * 7 % 19) for at in range(300)] + [(None, 3), (4, None), (2**62 + 1, 2**62), (5, 5)]
POLICIES = [
    SIMPLE,
    EdgePolicy(self_loops="count", duplicates="count"),
    EdgePolicy(Direction.IN, duplicates="count"),
    EdgePolicy(Direction.OUT, self_loops="count"),
]


@pytest.fixture(scope="module")
def tables(spark: Any) -> dict[str, Any]:
    """The same edges as numbers, as numbers of two widths and as text, in five partitions."""
    whole = spark.createDataFrame(EDGES, "source long, target long").repartition(5)
    narrow = whole.where("source < 1000 OR source IS NULL")
    return {
        "whole": whole,
        "text": whole.selectExpr("CAST(source AS string) AS source", "CAST(target AS string) AS target"),
        "mixed": narrow.selectExpr("CAST(source AS int) AS source", "target"),
    }


@each_of(("kind", "policy"), [("whole", each) for each in POLICIES] + [("text", SIMPLE), ("mixed", POLICIES[1])])
def test_degrees_are_those_of_edges_in_memory(tables: dict[str, Any], kind: str, policy: EdgePolicy) -> None:
    rows = [edge for edge in EDGES if kind != "mixed" or (edge[0] or 0) < 1000]
    complete = [(str(source), str(target)) for source, target in rows if None not in (source, target)]
    told: list[str] = []
    found = read_degrees(tables[kind], policy=policy, notify=told.append)
    assert found.profile == read_degrees(complete, policy=policy).profile
    assert f"Of {len(rows)} rows" in told[0]
    assert "2 without both ends" in told[0]
    assert read_edges(tables[kind], policy=policy).degree_profile().profile == found.profile


def test_only_degrees_reach_the_driver(tables: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[list[tuple[Any, ...]]] = []
    fetch = module.fetch

    def spy(query: Any) -> list[tuple[Any, ...]]:
        fetched.append(fetch(query))
        return fetched[-1]

    monkeypatch.setattr(module, "fetch", spy)
    found = read_degrees(tables["whole"]).profile
    (rows,) = fetched
    assert len(rows) == len(found.counts)
    read_degrees(tables["whole"], notify=print)
    # What was left out is one row more.
    assert [len(each) for each in fetched[1:]] == [1, len(found.counts)]


def test_edges_are_read_and_merged_once(tables: dict[str, Any]) -> None:
    import narwhals as nw

    from anonhist.graphs.edge_query import edge_rows

    rows = edge_rows(nw.from_native(tables["whole"]), "source", "target")
    query = module._degrees(rows, SIMPLE).to_native()
    plan = query._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Scan") == 1
    assert "Union" not in plan
    # Whole numbers are compared as such: nothing becomes text.
    assert "as string" not in plan


def test_numbers_without_a_name_are_refused(spark: Any) -> None:
    fractions = spark.createDataFrame([(1.0, 2.0), (2.5, 1.0)], "source double, target double")
    with pytest.raises(DataError, match="whole numbers"):
        read_degrees(fractions)
    assert read_degrees(fractions.where("source = 1")).profile.n == 2


def test_listed_nodes_count_although_they_have_no_edges(tables: dict[str, Any]) -> None:
    names = {end for edge in EDGES for end in edge if end is not None}
    found = read_degrees(tables["whole"], nodes=[*names, "alone"])
    assert (found.num_nodes, found.num_zeros) == (len(names) + 1, 1)
    with pytest.raises(DataError, match="not listed"):
        read_degrees(tables["whole"], nodes=[7])
