"""What counts on a cluster does so by a connection, too: degrees, reports of surveys, updates of sketches."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from anonhist.errors import DataError
from anonhist.graphs.graph import SIMPLE, Direction, EdgePolicy
from anonhist.graphs.reading import read_degrees, read_edges
from anonhist.local import KRR, OptimizedUnary, Survey, reading
from anonhist.local.reading import tally_reports
from anonhist.privacy import PrivacyUnit
from anonhist.sketches import DomainSketch, UsersIn
from anonhist.sketches.cluster import ExactPartials, NoisyPartials
from anonhist.sketches.reading import update_sketch
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

pytestmark = pytest.mark.slow

EDGES = [(at * at % 23, at * 7 % 19) for at in range(300)] + [(None, 3), (4, None), (5, 5)]
ROWS = pl.DataFrame(
    {
        "label": [f"label {at * at % 17}" if at % 11 else None for at in range(400)],
        "user": [f"u{at % 13}" for at in range(400)],
    }
)
KEY = "0123456789abcdef" * 2


@each_of("policy", [SIMPLE, EdgePolicy(Direction.OUT, self_loops="count", duplicates="count")])
def test_degrees(spark_connect: Any, policy: EdgePolicy) -> None:
    table = spark_connect.createDataFrame(EDGES, "source long, target long").repartition(3)
    edges = [(str(source), str(target)) for source, target in EDGES if None not in (source, target)]
    expected = read_degrees(edges, policy=policy).profile
    assert read_degrees(table, policy=policy).profile == expected
    assert read_edges(table, policy=policy).degree_profile().profile == expected


@each_of("survey", [KRR(alphabet=30, epsilon=1), OptimizedUnary(alphabet=30, epsilon=1)])
@each_of("most_groups", [1, 1 << 16])
def test_reports(spark_connect: Any, monkeypatch: pytest.MonkeyPatch, survey: Survey, most_groups: int) -> None:
    # Where there are many different reports, partitions are tallied by the executors.
    monkeypatch.setattr(reading, "_MOST_GROUPS", most_groups)
    found = survey.randomize([at % 30 for at in range(300)], source=SeededSource(7))
    codes = found.columns["report"]
    rows = [(survey.digest, bytes(code) if codes.ndim > 1 else int(code)) for code in codes]
    kind = "binary" if codes.ndim > 1 else "int"
    table = spark_connect.createDataFrame([*rows, ("other", rows[0][1])], f"survey string, report {kind}")
    assert tally_reports(survey, table.repartition(3), skip_bad=1) == survey.tally(found)
    with pytest.raises(DataError, match="reports of another survey"):
        tally_reports(survey, table)
    # Sent again, each counts once; of two that share a number, none does.
    other = next(row for row in rows if row != rows[0])
    numbered = [*((at % 300, *rows[at % 300]) for at in range(900)), (301, *rows[0]), (301, *other), (302, *other)]
    table = spark_connect.createDataFrame(numbered, f"id long, survey string, report {kind}").repartition(3)
    more = survey.tally(found.rows(np.array([rows.index(other)])))
    assert tally_reports(survey, table, unique="id", skip_bad=2) == survey.tally(found) + more


@each_of("way", [ExactPartials(), NoisyPartials(3)])
def test_sketches(spark_connect: Any, way: ExactPartials | NoisyPartials) -> None:
    table = spark_connect.createDataFrame(ROWS.rows(), "label string, user string").repartition(4)
    words = [f"label {at}" for at in range(17)]
    bound: dict[str, Any] = {"unit": PrivacyUnit.user(max_items=3)}
    for settings, given in (({}, {}), (bound, {"user": "user", "order_key": KEY})):
        # At this epsilon no counter has noise.
        on_cluster = settings | ({"users_in": UsersIn.ONE_SKETCH} if given else {})
        found = DomainSketch(alphabet=words, epsilon=400, source=SeededSource(1), **on_cluster)
        expected = DomainSketch(alphabet=words, epsilon=400, source=SeededSource(1), **settings)
        update_sketch(found, table, label="label", partials=way, **given)
        update_sketch(expected, ROWS, label="label", **given)
        assert found.counters.tolist() == expected.counters.tolist()
