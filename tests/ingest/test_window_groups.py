"""Cumulative windows of groups: by one query, each group as if it were alone, units bounded over all of them."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.windows import read_cumulative, read_cumulative_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist_testing.cases import each_of

DAYS = [f"2026-11-{day:02}" for day in range(3, 9)]
KEY = "0123456789abcdef" * 2
NAMES = ("user", "label", "campaign", "region", "seen")
Row = tuple[str | None, ...]


def _rows() -> list[Row]:
    """Groups that are not listed, days before and after those listed, missing values, equal rows."""
    rng = np.random.default_rng(6)
    number = 400
    columns = (
        rng.integers(0, 6, number),
        rng.zipf(1.4, number) % 23,
        rng.integers(0, 4, number),
        rng.integers(0, 2, number),
        rng.integers(1, 11, number),
    )
    rows: list[Row] = [
        (f"u{user}", f"l{label}", f"c{campaign}", f"r\x1f{region}", f"2026-11-{day:02} 10:00:00")
        for user, label, campaign, region, day in zip(*(each.tolist() for each in columns), strict=True)
    ]
    rows += [("u1", None, "c1", "r\x1f0", f"2026-11-{day:02} 23:59:59") for day in (3, 3, 5, 8)]
    rows += [("u1", "l1", None, "r\x1f0", "2026-11-04 00:00:00"), (None, "l1", "c0", None, "2026-11-04 00:00:00")]
    return rows


ROWS = _rows()


def _polars(_: Path) -> Any:
    return pl.DataFrame(ROWS, schema=list(NAMES), orient="row")


def _pandas(_: Path) -> Any:
    return pd.DataFrame(ROWS, columns=list(NAMES))


def _arrow(_: Path) -> Any:
    return pa.table({name: [row[at] for row in ROWS] for at, name in enumerate(NAMES)})


def _parquet(folder: Path) -> Any:
    path = folder / "events.parquet"
    _polars(folder).write_parquet(path)
    return path


def _jsonl(folder: Path) -> Any:
    path = folder / "events.jsonl"
    _polars(folder).write_ndjson(path)
    return path


def _sqlite(folder: Path) -> Any:
    with sqlite3.connect(folder / "events.db") as connection:
        connection.execute("DROP TABLE IF EXISTS events")
        connection.execute("CREATE TABLE events (user TEXT, label TEXT, campaign TEXT, region TEXT, seen TEXT)")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", ROWS)
    connection.close()
    return f"sqlite:///{folder / 'events.db'}"


ENGINES: dict[str, Callable[[Path], Any]] = {
    "polars": _polars,
    "pandas": _pandas,
    "arrow": _arrow,
    "parquet": _parquet,
    "jsonl": _jsonl,
    "sqlite": _sqlite,
}
engines = each_of("engine", list(ENGINES))


def reading(engine: str, folder: Path, **given: Any) -> GroupedCumulativeCounts:
    """Read the rows on an engine."""
    table = {"table": "events"} if engine == "sqlite" else {}
    asked = {
        "label": "label",
        "by": "campaign",
        "groups": ["c2", "c0", "none"],
        "cumulative_by": "day(seen)",
        "days": DAYS,
        "thresholds": [1, 2, 4],
        **table,
        **given,
    }
    return read_cumulative_groups(ENGINES[engine](folder), **asked)


def values(read: GroupedCumulativeCounts) -> dict[Any, Any]:
    return {group: each.k_plus.tolist() for group, each in read.items()}


@pytest.mark.full
@engines
def test_each_group_is_counted_as_if_it_were_alone(engine: str, tmp_path: Path) -> None:
    read = reading(engine, tmp_path)
    assert (list(read), read.by, read.unit) == ([("c2",), ("c0",), ("none",)], ("campaign",), PrivacyUnit.item())
    for name in ("c0", "c2", "none"):
        alone = _polars(tmp_path).filter(pl.col("campaign") == name)
        given: dict[str, Any] = {"label": "label", "by": "day(seen)", "days": DAYS, "thresholds": [1, 2, 4]}
        assert read[name].k_plus.tolist() == read_cumulative(alone, **given).k_plus.tolist()
    assert read["c0"].k_plus[0, -1] > 0
    assert not read["none"].k_plus.any()


@pytest.mark.full
@engines
def test_groups_of_several_columns_and_of_missing_values(engine: str, tmp_path: Path) -> None:
    groups = [("c1", "r\x1f0"), ("c1", "r\x1f1")]
    with pytest.raises(UsageError, match="control characters"):
        reading(engine, tmp_path, by=["campaign", "region"], groups=groups)
    read = reading(engine, tmp_path, by=["campaign", "month(seen)"], groups=[("c1", "2026-11"), (None, "2026-11")],
                   keep_null=True)  # fmt: skip
    assert read[None, "2026-11"].k_plus.tolist() == [[0, 1, 1, 1, 1, 1], [0] * 6, [0] * 6]
    # Rows without a label are one label of theirs.
    one = reading(engine, tmp_path, groups=["c1"])["c1"]
    assert (read["c1", "2026-11"].k_plus - one.k_plus).tolist() == [[1] * 6, [1] * 6, [0] * 5 + [1]]


@pytest.mark.slow
@engines
def test_users_have_few_items_over_all_groups_and_days(engine: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"user": "user", "max_per_user": 2, "order_key": KEY, "thresholds": range(1, 13)}
    read = reading(engine, tmp_path, **given)
    assert (read.unit, read["c0"].order_key) == (PrivacyUnit.user(max_items=2), KEY)
    # Six users of two items each; a label of r items in a group has reached r of these thresholds.
    assert sum(each.k_plus[:, -1].sum() for each in read.values()) == 12
    assert values(read) == values(reading("polars", tmp_path, **given))
    of_each = reading(engine, tmp_path, **given, max_groups_per_user=1)
    assert of_each.unit == PrivacyUnit.user(max_items=2)
    assert sum(each.k_plus[:, -1].sum() for each in of_each.values()) == 12
    two = reading(engine, tmp_path, **given, max_groups_per_user=2)
    assert two.unit == PrivacyUnit.user(max_items=2, groups=2)
    assert sum(each.k_plus[:, -1].sum() for each in two.values()) == 24
    assert values(two) == values(reading("polars", tmp_path, **given, max_groups_per_user=2))


@pytest.mark.full
@engines
def test_labels_count_in_few_groups_on_all_days(engine: str, tmp_path: Path) -> None:
    labels = PrivacyUnit.label(max_count=4)
    given: dict[str, Any] = {"unit": labels, "max_groups_per_label": 1, "order_key": KEY}
    read = reading(engine, tmp_path, **given)
    assert read.unit == PrivacyUnit.label(max_count=4, groups=1)
    # Each label in one group, and there with all its items: as of profiles, by the same key.
    rows = _polars(tmp_path).filter(pl.col("seen").str.slice(0, 10).is_in(DAYS))
    same = read_groups(rows, label="label", by="campaign", groups=["c2", "c0", "none"], **given)
    for group, each in read.items():
        assert each.k_plus[:, -1].tolist() == [same[group].k_plus(k) for k in (1, 2, 4)]
    here = _polars(tmp_path).filter(
        pl.col("campaign").is_in(["c0", "c2"]) & pl.col("seen").str.slice(0, 10).is_in(DAYS)
    )
    assert sum(each.k_plus[0, -1] for each in read.values()) == here["label"].drop_nulls().n_unique()
    assert values(read) == values(reading("polars", tmp_path, **given))
    assert values(reading(engine, tmp_path, **given | {"max_groups_per_label": 3})) == values(reading(engine, tmp_path))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"groups": []}, "groups lists no group"),
        ({"groups": ["c0", "c0"]}, "lists a group twice"),
        ({"groups": [("a", "b")]}, "one value for each grouping column"),
        ({"by": "day(seen)", "groups": DAYS}, "have one day each"),
        ({"by": "label", "groups": ["l1"]}, "is the label column, too"),
        ({"by": []}, "must name the grouping columns"),
        ({"cumulative_by": "seen"}, "need dates"),
        ({"groups": [f"c{each}" for each in range(600_000)]}, "the limit of one release: name fewer"),
        ({"unit": PrivacyUnit.label(max_count=9)}, "set the number of them"),
        ({"unit": PrivacyUnit.label(max_count=3), "max_groups_per_label": 1}, "must not exceed max_count"),
        ({"max_groups_per_label": 1}, "applies only to a label unit"),
        ({"max_groups_per_user": 1}, "requires user and max_per_user"),
        ({"order_key": KEY}, "requires user or max_groups_per_label"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=told):
        reading("polars", tmp_path, **given)


def test_columns_must_be_there(tmp_path: Path) -> None:
    for given in ({"by": "where"}, {"cumulative_by": "day(where)"}):
        with pytest.raises(DataError, match="'where'"):
            reading("polars", tmp_path, **given)


def test_groups_of_counts_hold_together() -> None:
    counts = CumulativeCounts((1, 2), ("2026-11-01",), [[3], [1]])
    grouped = GroupedCumulativeCounts(("x",), {("a",): counts})
    assert (repr(grouped), grouped["a"], grouped["a",]) == ("GroupedCumulativeCounts(1 groups by x)", counts, counts)
    with pytest.raises(AttributeError, match="immutable"):
        grouped.by = ("y",)
    other = CumulativeCounts((1, 3), ("2026-11-01",), [[3], [1]])
    for groups, told in (
        ({}, "There is no group"),
        ({("a", "b"): counts}, "one name for each grouping column"),
        ({("a",): counts, ("b",): other}, "the same thresholds"),
    ):
        with pytest.raises(UsageError, match=told):
            GroupedCumulativeCounts(("x",), groups)
