"""Names of values: no row decides how the values of others are called, whatever type a column takes."""

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError
from anonhist.graphs.graph import Degrees
from anonhist.graphs.node_names import node_names
from anonhist.graphs.reading import read_degrees, read_edges
from anonhist.graphs.release import as_graph
from anonhist.ingest import read_profile
from anonhist.ingest.holders import holder_of
from anonhist.ingest.naming import NAMED, as_text, name_columns
from anonhist.ingest.query import fetch
from anonhist.local.reading import opened_values
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.sketches import DomainSketch
from anonhist.sketches.reading import update_sketch
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Table = dict[str, list[Any]]
Held = Callable[[Table], AbstractContextManager[tuple[Any, dict[str, Any]]]]

TYPED = ["parquet", "pandas", "pandas pyarrow", "polars", "polars lazy", "arrow", "duckdb relation", "ibis duckdb"]
TYPED += ["duckdb", "sqlite", "postgresql"]
typed = pytest.mark.parametrize("hold", TYPED, indirect=True)
# What no engine decides is tested on one of each kind.
a_few_engines = pytest.mark.parametrize("hold", ["parquet", "pandas", "polars lazy", "sqlite"], indirect=True)

EDGES = [(10, 9), (9, 10), (100, 9), (0, -3), (2**53 - 1, 100), (7, 7)]
_OPENED: dict[str, Any] = {"table": None, "format": None, "delimiter": None, "header": True}


def sketch_counts(
    source: Any, labels: tuple[str, ...], unit: PrivacyUnit | None = None, **options: Any
) -> dict[str, int]:
    """Return how often a sketch counted each label."""
    sketch = DomainSketch(alphabet=labels, epsilon=1, unit=unit or PrivacyUnit.item())
    before = sketch.counters.copy()
    update_sketch(sketch, source, **options)
    return {label: n for label, n in zip(labels, (sketch.counters - before).tolist(), strict=True) if n}


@typed
def test_every_engine_names_each_number_alike(hold: Held) -> None:
    """Names, and what has none, in one query: the number, its name, whether it has one that is whole, and any."""
    named_whole = [(7.0, "7"), (-0.0, "0"), (-3.0, "-3"), (1e6, "1000000"), (2.0**53 - 1, "9007199254740991")]
    named_whole += [(1 - 2.0**53, "-9007199254740991")]
    nameless = [2.0**53, -(2.0**60), 1e300, float("inf"), float("-inf")]
    values = [*(value for value, _ in named_whole), 7.25, -0.5, *nameless, None]
    table: Table = {"place": list(range(len(values))), "value": values}
    with hold(table) as (source, said), holder_of(source, **_OPENED | said).open() as opened:
        whole, any_number = ({"value": only_whole} for only_whole in (True, False))
        rows = opened.table.select(
            "place",
            text=as_text(opened.table, "value", only_whole=True),
            is_whole=name_columns(opened.table, whole)[NAMED],
            is_any=name_columns(opened.table, any_number)[NAMED],
        )
        # Where types do not bind, a number is text.
        found = sorted(fetch(rows), key=lambda row: int(row[0]))
    assert [int(row[0]) for row in found] == table["place"]
    assert [row[1] for row in found[: len(named_whole)]] == [name for _, name in named_whole]
    assert pd.isna(found[-1][1])
    assert [row[2] for row in found] == [1] * len(named_whole) + [0] * 7 + [1]
    assert [row[3] for row in found] == [1] * (len(named_whole) + 2) + [0] * 5 + [1]


@a_few_engines
def test_nodes_keep_their_names_when_a_row_lacks_an_end(hold: Held) -> None:
    expected = as_graph(EDGES)
    # One end is missing in one row, so that its column holds floats; the other column holds whole numbers.
    table: Table = {"source": [*(float(edge[0]) for edge in EDGES), None], "target": [*(edge[1] for edge in EDGES), 5]}
    listed = [-3, 0, 7.0, "9", np.float64(10), 100, 2**53 - 1]
    with hold(table) as (source, said):
        graph = read_edges(source, **said)
        assert graph.identities.tolist() == expected.identities.tolist()
        assert (graph.sources.tolist(), graph.targets.tolist()) == (
            expected.sources.tolist(),
            expected.targets.tolist(),
        )
        assert read_degrees(source, **said).profile == expected.degree_profile().profile
        assert read_degrees(source, nodes=listed, **said).num_zeros == 1


@pytest.mark.slow
@a_few_engines
def test_numbers_without_a_name_are_no_nodes(hold: Held) -> None:
    with hold({"source": [2, 3], "target": [1.0, 7.25]}) as (source, said):
        for read, options in ((read_edges, {}), (read_degrees, {}), (read_degrees, {"nodes": [1, 2, 3]})):
            with pytest.raises(DataError, match="whole numbers or text first") as told:
                read(source, **said, **options)
            assert "7.25" not in str(told.value)


@pytest.mark.slow
@a_few_engines
def test_labels_of_a_sketch_keep_their_names_when_a_row_lacks_one(hold: Held) -> None:
    labels = ("7", "10", "7.0", "10.0")
    table: Table = {"pet": [7.0, 10.0, None, 7.0], "who": [1.0, 1.0, 3.0, 7.5], "n": [1, 2, 3, 4]}
    with hold(table) as (source, said):
        assert sketch_counts(source, labels, label="pet", count="none", **said) == {"7": 2, "10": 1}
        assert sketch_counts(source, labels, label="pet", count="n", **said) == {"7": 5, "10": 2}
        users = PrivacyUnit.user(max_items=1)
        bounded = {"unit": users, "user": "who", "order_key": "0" * 32, "count": "none"}
        assert sketch_counts(source, labels, label="pet", **bounded, **said) == {"7": 1, "10": 1}
    with hold({"pet": [7.0, 7.25], "who": [1, 1], "n": [1, 1]}) as (source, said):
        for given in ({}, {"count": "n"}, {"user": "who", "unit": users}):
            options: dict[str, Any] = {"label": "pet", "count": "none", **given, **said}
            with pytest.raises(DataError, match="whole numbers or text first"):
                sketch_counts(source, labels, **options)


@pytest.mark.slow
@typed
def test_floats_that_may_be_different_whole_numbers_are_no_labels_and_no_users(hold: Held) -> None:
    table: Table = {
        "label": [1.5, 1.5, -0.0, 0.0, None, 3.0],
        "user": [1.0, 1.5, 1.5, 1.5, None, -0.0],
        "large": [-2.0, -2.0, 1.0, 2.0**53, 1.0, 1.0],
        "text": ["b", "a", "c", None, "d", "d"],
    }
    with hold(table) as (source, said):
        assert read_profile(source, label="label", **said) == Profile.from_counts([2, 2, 1])
        assert read_profile(source, label="text", user="user", max_per_user=2, **said).n == 4
        for options in (
            {"label": "large"},
            # Its text comes after the user's other labels, so it would be left out unseen.
            {"label": "large", "user": "user", "max_per_user": 1},
            {"label": "label", "user": "large", "max_per_user": 1, "order_by": "text"},
        ):
            with pytest.raises(DataError, match="cannot represent every whole number"):
                read_profile(source, **said, **options)
    with (
        hold({"label": [2.0**60, 1.0], "count": [2, 3]}) as (source, said),
        pytest.raises(DataError, match="cannot represent every whole number"),
    ):
        read_profile(source, **said)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([7, 8.0, 7.0, None, "7"], dtype=object),
        pd.Series(pd.Categorical([7.0, 8.0, 7.0, None, 7.0])),
        pd.Series([7, 8, 7, None, 7], dtype="Int64"),
        pd.Series([7.0, 8, 7, None, 7], dtype="Float64"),
        pd.Series([7, 8, 7, None, 7], dtype=pd.ArrowDtype(pa.float64())),
        pd.Series([Decimal("7.00"), Decimal(8), 7, None, Decimal("7.0")], dtype=object),
        pl.Series([Decimal("7.00"), Decimal("8.00"), Decimal("7.00"), None, Decimal("7.00")]),
        pa.array([7.0, 8.0, 7.0, None, 7.0]).dictionary_encode(),
        pa.array([Decimal("7.00"), Decimal("8.00"), Decimal("7.00"), None, Decimal("7.00")]),
        pl.Series(["7", "8", "7", None, "7"], dtype=pl.Categorical),
        pl.Series([7, 8, 7, None, 7], dtype=pl.Int128),
        pl.Series([7, 8, 7, None, 7], dtype=pl.Float32),
    ],
)  # fmt: skip
def test_columns_of_every_type_name_whole_numbers_alike(column: Any) -> None:
    assert sketch_counts(column, ("7", "8")) == {"7": 3, "8": 1}
    assert sorted(node_names(column).to_pylist()) == ["7", "8"]
    frame: Any = pa.table({"a": column, "b": column}) if isinstance(column, pa.Array) else None
    if frame is None:
        frame = (pd.DataFrame if isinstance(column, pd.Series) else pl.DataFrame)({"a": column, "b": column})
    assert read_edges(frame, nodes=[7, 8]).num_nodes == 2
    assert read_profile(column) == Profile.from_counts([3, 1])


@each_of(
    "column",
    [
        pd.Series([7, 1.5], dtype=object),
        pd.Series(pd.Categorical([7.0, 1.5])),
        pd.Series([Decimal("1.5"), 7], dtype=object),
        pl.Series([Decimal("1.50"), Decimal("7.00")]),
        pa.array([Decimal("1.50"), Decimal("7.00")]),
        pa.array([7.0, 1.5]).dictionary_encode(),
    ],
)
def test_columns_of_every_type_refuse_fractions_as_names(column: Any) -> None:
    with pytest.raises(DataError, match="whole numbers or text first"):
        sketch_counts(column, ("7", "8"))
    with pytest.raises(DataError, match="whole numbers or text first"):
        node_names(column)
    assert read_profile(column).counts.tolist() == [1]


def test_times_of_pandas_are_written_each_for_itself() -> None:
    days = ["2024-01-01 00:00:00", "2024-01-02 00:00:00"]
    for more in ([], ["2024-01-03 12:30:00.000001"]):
        times = pd.Series(pd.to_datetime([*days, *more], format="ISO8601"))
        for column in (times, times.dt.tz_localize("UTC"), times.astype("category")):
            assert node_names(column).to_pylist()[:2] == days
    durations = times.dt.floor("s") - pd.Timestamp("2023-12-31")
    assert node_names(durations).to_pylist() == ["86400", "172800", "304200"]


@pytest.mark.parametrize("values", [[7.0, 8.0, -0.0], [7, 8, 0]])
def test_values_to_be_randomized_have_the_same_names(tmp_path: Path, values: list[float]) -> None:
    pq.write_table(pa.table({"pet": values}), tmp_path / "a.parquet")
    with opened_values(str(tmp_path / "a.parquet"), "pet") as batches:
        assert sorted(value for batch in batches for value in batch) == ["0", "7", "8"]
    pq.write_table(pa.table({"pet": [7.0, 2.0**53]}), tmp_path / "a.parquet")
    with (
        pytest.raises(DataError, match="cannot represent every whole number"),
        opened_values(str(tmp_path / "a.parquet"), "pet") as batches,
    ):
        list(batches)


@pytest.mark.parametrize(
    "column", [pa.array([[7], [8]]), pa.array([{"a": 7}, {"a": 8}]), pl.Series([[7], [8]])], ids=str
)
def test_lists_and_structures_are_no_names(column: Any) -> None:
    for read in (node_names, lambda table: sketch_counts(table, ("7", "8"))):
        with pytest.raises(DataError, match="cannot hold names"):
            read(column)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgresql"])
def test_decimals_of_databases_are_named_as_whole_numbers(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    url = request.getfixturevalue("postgresql") if kind == "postgresql" else f"{kind}:///{tmp_path / 'a.db'}"
    opened_database: Any = {
        "duckdb": lambda: duckdb.connect(tmp_path / "a.db"),
        "sqlite": lambda: sqlite3.connect(tmp_path / "a.db"),
        "postgresql": lambda: psycopg.connect(url),
    }[kind]()
    with closing(opened_database) as database:
        cursor = database.cursor()
        for name, fraction in (("whole_ids", "10.00"), ("other_ids", "10.50")):
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.execute(f"CREATE TABLE {name} (source NUMERIC(10, 2), target BIGINT)")
            cursor.execute(f"INSERT INTO {name} VALUES (7.00, 10), ({fraction}, 100), (NULL, 5)")  # noqa: S608
        database.commit()
    for read in (read_edges, read_degrees):
        graph = read(url, table="whole_ids")
        degrees = graph if isinstance(graph, Degrees) else graph.degree_profile()
        assert degrees.profile.counts.tolist() == [1, 2]
        with pytest.raises(DataError, match="whole numbers or text first"):
            read(url, table="other_ids")


def test_truth_values_of_pandas_keep_their_names_beside_a_missing_one() -> None:
    for values in ([True, False], [True, False, None]):
        for kind in (None, "boolean"):
            assert sorted(node_names(pd.Series(values, dtype=kind)).to_pylist()) == ["False", "True"]
