"""On which day each label reaches each threshold, by one query, alike on every engine."""

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.ingest.windows import read_cumulative
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts
from anonhist_testing.cases import each_of

DAYS = [f"2026-11-{day:02}" for day in range(3, 9)]
KEY = "0123456789abcdef" * 2
NAMES = ("user", "label", "seen")


def _rows() -> list[tuple[str | None, str | None, str | None]]:
    """Days before and after those listed, missing labels, users and dates, equal rows."""
    rng = np.random.default_rng(4)
    users, labels, days = rng.integers(0, 6, 300), rng.zipf(1.4, 300) % 23, rng.integers(1, 11, 300)
    rows: list[tuple[str | None, str | None, str | None]] = [
        (f"u{user}", f"l{label}", f"2026-11-{day:02} 10:00:00")
        for user, label, day in zip(users.tolist(), labels.tolist(), days.tolist(), strict=True)
    ]
    rows += [("u1", None, f"2026-11-{day:02} 23:59:59") for day in (3, 3, 5, 8)]
    rows += [(None, "l1", "2026-11-04 00:00:00"), ("u2", "l2", None), ("u3", "", "2026-11-05 00:00:00")]
    return rows


ROWS = _rows()


def _polars(_: Path) -> Any:
    return pl.DataFrame(ROWS, schema=list(NAMES), orient="row")


def _times(_: Path) -> Any:
    return _polars(_).with_columns(pl.col("seen").str.to_datetime())


def _pandas(_: Path) -> Any:
    return pd.DataFrame(ROWS, columns=list(NAMES))


def _arrow(_: Path) -> Any:
    return pa.table({name: [row[at] for row in ROWS] for at, name in enumerate(NAMES)})


def _parquet(folder: Path) -> Any:
    path = folder / "events.parquet"
    _times(folder).write_parquet(path)
    return path


def _jsonl(folder: Path) -> Any:
    path = folder / "events.jsonl"
    _polars(folder).write_ndjson(path)
    return path


def _sqlite(folder: Path) -> Any:
    with sqlite3.connect(folder / "events.db") as connection:
        connection.execute("DROP TABLE IF EXISTS events")
        connection.execute("CREATE TABLE events (user TEXT, label TEXT, seen TEXT)")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?)", ROWS)
    connection.close()
    return f"sqlite:///{folder / 'events.db'}"


ENGINES: dict[str, Callable[[Path], Any]] = {
    "polars": _polars,
    "times": _times,
    "pandas": _pandas,
    "arrow": _arrow,
    "parquet": _parquet,
    "jsonl": _jsonl,
    "sqlite": _sqlite,
}
engines = each_of("engine", list(ENGINES))


def reading(engine: str, folder: Path, **given: Any) -> CumulativeCounts:
    """Read the rows on an engine."""
    table = {"table": "events"} if engine == "sqlite" else {}
    asked = {"label": "label", "by": "day(seen)", "days": DAYS, "thresholds": [1, 2, 4, 9], **table, **given}
    return read_cumulative(ENGINES[engine](folder), **asked)


def by_definition(thresholds: list[int], *, keep_null: bool = False) -> NDArray[np.int64]:
    """How many labels have reached each threshold by the end of each day."""
    reached = np.zeros((len(thresholds), len(DAYS)), dtype=np.int64)
    kept = [(label, seen[:10]) for _, label, seen in ROWS if seen is not None and (keep_null or label is not None)]
    for at, day in enumerate(DAYS):
        counts = Counter(label for label, seen in kept if DAYS[0] <= seen <= day)
        for row, k in enumerate(thresholds):
            reached[row, at] = sum(count >= k for count in counts.values())
    return reached


@pytest.mark.full
@engines
def test_labels_reach_thresholds_as_they_are_defined(engine: str, tmp_path: Path) -> None:
    read = reading(engine, tmp_path)
    assert read.k_plus.tolist() == by_definition([1, 2, 4, 9]).tolist()
    assert (read.thresholds, read.days, read.unit) == ((1, 2, 4, 9), tuple(DAYS), PrivacyUnit.item())
    assert not read.increments.flags.writeable
    # Rows without a label are a label where they are kept, apart from the empty text.
    kept = reading(engine, tmp_path, keep_null=True, thresholds=[1, 3])
    assert kept.k_plus.tolist() == by_definition([1, 3], keep_null=True).tolist()
    assert kept.k_plus[0, -1] == read.k_plus[0, -1] + 1


@pytest.mark.full
@engines
def test_users_have_few_items_over_all_days(engine: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"user": "user", "max_per_user": 2, "order_key": KEY, "thresholds": range(1, 13)}
    read = reading(engine, tmp_path, **given)
    assert read.unit == PrivacyUnit.user(max_items=2)
    assert read.order_key == KEY
    # Six users of two items each; a label of r items has reached r of these thresholds.
    assert read.k_plus[:, -1].sum() == 12
    assert read.k_plus.tolist() == reading("polars", tmp_path, **given).k_plus.tolist()


def test_the_first_rows_of_users_that_pass_are_counted_in_sqlite(tmp_path: Path) -> None:
    # One query compares numbers, ranks, and runs counts: SQLite limits how deep it may be.
    rows = [(at % 3, at % 5, f"2026-11-{3 + at % 4:02}", at) for at in range(60)]
    with closing(sqlite3.connect(tmp_path / "events.db")) as connection:
        connection.execute("CREATE TABLE events (user INTEGER, label INTEGER, seen TEXT, number INTEGER)")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
        connection.commit()
    given: dict[str, Any] = {"label": "label", "by": "day(seen)", "days": DAYS, "thresholds": [1, 2, 4]}
    given |= {"user": "user", "max_per_user": 5, "order_by": "number", "order_key": KEY, "where": "not label = 3"}
    read = read_cumulative(f"sqlite:///{tmp_path / 'events.db'}", table="events", **given)
    elsewhere = read_cumulative(pl.DataFrame(rows, schema=["user", "label", "seen", "number"], orient="row"), **given)
    assert read.increments.any()
    assert read.increments.tolist() == elsewhere.increments.tolist()


def test_months_are_windows_too() -> None:
    rows = pl.DataFrame({"label": ["a", "a", "b"], "t": [date(2026, month, 1) for month in (1, 2, 2)]})
    read = read_cumulative(rows, label="label", by="month(t)", days=["2026-01", "2026-02"], thresholds=[1, 2])
    assert read.k_plus.tolist() == [[1, 2], [0, 1]]


def test_a_day_without_data_has_what_was_reached_before() -> None:
    rows = pl.DataFrame({"label": ["a"], "t": ["2026-11-01"]})
    days = ["2026-10-31", "2026-11-01", "2026-11-02"]
    assert read_cumulative(rows, label="label", by="day(t)", days=days, thresholds=[1]).k_plus.tolist() == [[0, 1, 1]]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"by": "seen"}, r"need dates: day\(seen\), week\(seen\) or month\(seen\)"),
        ({"by": "month(seen)"}, "must be written as 2026-11, for"),
        ({"days": []}, "lists no day"),
        ({"days": DAYS[::-1]}, "ascending order"),
        ({"days": [DAYS[0], DAYS[0]]}, "twice"),
        ({"days": ["2026-02-30"]}, "must be written as 2026-11-23"),
        ({"days": [None]}, "must be written as 2026-11-23"),
        ({"thresholds": []}, "whole numbers of at least 1 in ascending order"),
        ({"thresholds": [2, 1]}, "ascending order"),
        ({"thresholds": [1, 1]}, "ascending order"),
        ({"thresholds": [0, 1]}, "at least 1"),
        ({"thresholds": [1.5]}, "whole numbers"),
        ({"thresholds": [True]}, "whole numbers"),
        ({"thresholds": range(1, 200)}, "at most 100"),
        ({"unit": PrivacyUnit.label(max_count=4)}, "must not exceed max_count: counts of 4 or more"),
        ({"unit": PrivacyUnit.label(max_count=9, groups=2)}, "without groups"),
        ({"unit": PrivacyUnit.edge()}, "for items, for users"),
        ({"user": "user"}, "must be given together"),
        ({"order_key": KEY}, "requires user"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=told):
        reading("polars", tmp_path, **given)


def test_columns_must_be_there_and_hold_dates(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'when'"):
        reading("polars", tmp_path, by="day(when)")
    rows = pl.DataFrame({"label": ["a"], "seen": [7]})
    with pytest.raises(UsageError, match="a column of dates or times"):
        read_cumulative(rows, label="label", by="day(seen)", days=DAYS, thresholds=[1])
    with pytest.raises(UsageError, match="no column of dates"):
        read_cumulative(["a", "b"], by="day(x)", days=DAYS, thresholds=[1])


@pytest.mark.parametrize(
    ("increments", "kind", "told"),
    [
        ([[1, 2]], UsageError, "one for each threshold and day"),
        ([[1.0, 2.0], [0.0, 0.0]], UsageError, "must be whole numbers"),
        ([[1, 2], [-1, 0]], DataError, "must not be negative"),
        ([[2**53, 2], [0, 0]], DataError, "nor above"),
        ([[0, 2], [1, 0]], DataError, "smaller thresholds first"),
    ],
)
def test_counts_that_cannot_be_are_refused(increments: Any, kind: type[Exception], told: str) -> None:
    with pytest.raises(kind, match=told):
        CumulativeCounts((1, 2), ("2026-11-01", "2026-11-02"), increments)


def test_weeks_follow_each_other_where_their_numbers_get_longer() -> None:
    weeks = ["1917-07-02", "1917-07-09", "1917-07-16", "1917-07-23"]
    frame = pl.DataFrame({"label": ["a"] * 3, "seen": weeks[:3]})
    for source in (frame, frame.to_pandas(), frame.to_arrow()):
        read = read_cumulative(source, label="label", by="week(seen)", days=weeks, thresholds=[1, 2, 3])
        assert read.k_plus.tolist() == [[1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]]
