"""A profile per group, by one query, alike on every engine."""

import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.ingest.group_names import group_of, key_of
from anonhist.ingest.groups.read import read_groups
from anonhist.mechanisms.grouping import FindGroups, GroupSelection
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.distances import sorted_l1
from anonhist.profiles.grouped import GroupedProfile
from anonhist.randomness import RandomSource
from anonhist_testing.cases import each_of

ROWS = [
    # user, label, country, day
    ("u1", "a", "DE", "2026-11-02"),
    ("u1", "a", "DE", "2026-11-02"),
    ("u1", "b", "DE", "2026-11-09"),
    ("u1", "b", "FR", "2026-11-02"),
    ("u2", "a", "FR", "2026-11-02"),
    ("u2", None, "FR", "2026-11-08"),
    ("u2", "c", None, "2026-11-02"),
    ("u3", "c", "PL", "2026-11-02"),
    (None, "c", "DE", "2026-12-01"),
    ("u3", "a", "d\x1fe\x1b1", "2026-12-01"),
]
NAMES = ("user", "label", "country", "day")
GROUPS = ["DE", "FR", "d", "XX"]


def _pandas(_: Path) -> Any:
    return pd.DataFrame(ROWS, columns=list(NAMES))


def _polars(_: Path) -> Any:
    return pl.DataFrame(ROWS, schema=list(NAMES), orient="row")


def _arrow(_: Path) -> Any:
    return pa.table({name: [row[at] for row in ROWS] for at, name in enumerate(NAMES)})


def _duckdb(_: Path) -> Any:
    frame = _pandas(_)  # noqa: F841  # the query names it
    return duckdb.sql("SELECT * FROM frame").to_arrow_table()


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
        connection.execute("CREATE TABLE events (user TEXT, label TEXT, country TEXT, day TEXT)")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", ROWS)
    connection.close()
    return f"sqlite:///{folder / 'events.db'}"


ENGINES: dict[str, Callable[[Path], Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "arrow": _arrow,
    "duckdb": _duckdb,
    "parquet": _parquet,
    "jsonl": _jsonl,
    "sqlite": _sqlite,
}
engines = each_of("engine", list(ENGINES))


def reading(engine: str, folder: Path, **given: Any) -> GroupedProfile:
    """Read the rows on an engine."""
    table = {"table": "events"} if engine == "sqlite" else {}
    return read_groups(ENGINES[engine](folder), label="label", **table, **given)


def expected(by: tuple[int, ...], kept: Callable[[tuple[Any, ...]], bool]) -> dict[tuple[Any, ...], Profile]:
    counts = Counter((tuple(row[at] for at in by), row[1]) for row in ROWS if kept(row))
    found: dict[tuple[Any, ...], list[int]] = {}
    for (group, _), count in counts.items():
        found.setdefault(group, []).append(count)
    return {group: Profile.from_counts(each) for group, each in found.items()}


@engines
def test_each_group_is_counted_on_its_own(engine: str, tmp_path: Path) -> None:
    read = reading(engine, tmp_path, by="country", groups=GROUPS)
    told = expected((2,), lambda row: None not in row[1:3])
    assert dict(read) == {(name,): told.get((name,), Profile([], [])) for name in sorted(GROUPS)}
    assert read["XX"].n == read["d"].n == 0
    assert read.unit == PrivacyUnit.item()


@pytest.mark.full
@engines
def test_missing_values_are_a_group_where_they_are_kept(engine: str, tmp_path: Path) -> None:
    read = reading(engine, tmp_path, by="country", groups=[None, "FR"], other="rest", keep_null=True)
    told = expected((2,), lambda _: True)
    assert read[None] == told[(None,)]
    assert read["FR"] == told[("FR",)] == Profile.from_counts([1, 1, 1])
    assert read["rest"] == Profile.from_counts([3, 1, 2])
    assert sum(profile.n for profile in read.values()) == len(ROWS)


@pytest.mark.full
@engines
def test_groups_of_several_columns_and_of_dates(engine: str, tmp_path: Path) -> None:
    read = reading(engine, tmp_path, by=["country", "month(day)"], groups=[("DE", "2026-11"), ("DE", "2026-12")])
    assert read.by == ("country", "month(day)")
    assert read["DE", "2026-11"] == Profile.from_counts([2, 1])
    assert read["DE", "2026-12"] == Profile.from_counts([1])


@pytest.mark.full
@pytest.mark.first(1)
@engines
@pytest.mark.parametrize("most", [1, 2, 3])
def test_users_have_few_items_over_all_groups(engine: str, most: int, tmp_path: Path) -> None:
    key = "0123456789abcdef" * 2
    read = reading(
        engine,
        tmp_path,
        by="country",
        groups=GROUPS,
        user="user",
        max_per_user=most,
        order_key=key,
    )
    # u1 has four items, u2 one in the groups that are listed.
    assert sum(profile.n for profile in read.values()) == min(4, most) + 1
    assert read.unit == PrivacyUnit.user(max_items=most)
    assert read.order_key == key
    alike = read_groups(
        _polars(tmp_path), label="label", by="country", groups=GROUPS, user="user", max_per_user=most, order_key=key
    )
    assert dict(read) == dict(alike)


@pytest.mark.slow
@engines
def test_users_have_few_items_in_each_of_few_groups(engine: str, tmp_path: Path) -> None:
    kept = set()
    for word in range(12):
        read = reading(
            engine,
            tmp_path,
            by="country",
            groups=["DE", "FR"],
            user="user",
            max_per_user=2,
            max_groups_per_user=1,
            order_key=f"{word:032x}",
        )
        assert read.unit == PrivacyUnit.user(max_items=2, groups=1)
        kept.add((read["DE"].n, read["FR"].n))
    # u1 is in Germany with two of three items, or in France with one; u2 in France.
    assert kept == {(2, 1), (0, 2)}


@pytest.mark.full
@pytest.mark.first(2)
@engines
def test_labels_are_in_few_groups_whichever(engine: str, tmp_path: Path) -> None:
    kept = set()
    for word in range(12):
        read = reading(
            engine,
            tmp_path,
            by="country",
            groups=["DE", "FR"],
            unit=PrivacyUnit.label(max_count=3),
            max_groups_per_label=1,
            order_key=f"{word:032x}",
        )
        # In Germany a twice, b once, c once; in France a and b once.
        assert read["DE"].num_labels + read["FR"].num_labels == 3
        kept.add((read["DE"].num_labels, read["FR"].num_labels))
    assert kept == {(3, 0), (2, 1), (1, 2)}


def test_which_groups_are_kept_is_not_decided_by_their_names() -> None:
    rows = pl.DataFrame(
        {"label": [f"l{at}" for at in range(400)] * 4, "group": ["a"] * 400 + ["b"] * 400 + ["c"] * 400 + ["d"] * 400}
    )
    read = read_groups(
        rows,
        label="label",
        by="group",
        groups=["a", "b", "c", "d"],
        unit=PrivacyUnit.label(max_count=1),
        max_groups_per_label=1,
    )
    sizes = [profile.num_labels for profile in read.values()]
    assert sum(sizes) == 400
    # Five standard deviations of a binomial number.
    assert all(abs(size - 100) < 44 for size in sizes)


def test_one_more_row_changes_what_its_user_has_and_nothing_else(tmp_path: Path) -> None:
    key = "ab" * 16
    given = {"label": "label", "by": "country", "groups": GROUPS, "user": "user", "max_per_user": 1, "order_key": key}
    before = read_groups(_polars(tmp_path), **given)
    for row in ROWS:
        more = pl.DataFrame([*ROWS, row], schema=list(NAMES), orient="row")
        after = read_groups(more, **given)
        assert sum(sorted_l1(before[group], after[group]) for group in before) <= 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"by": [], "groups": ["DE"]}, "must name the grouping columns"),
        ({"by": ["country", "country"], "groups": [("DE", "DE")]}, "twice"),
        ({"by": "country", "groups": []}, "lists no group"),
        ({"by": "country", "groups": ["DE", "DE"]}, "lists a group twice"),
        ({"by": "day", "groups": [7, "7"]}, "lists a group twice; numbers, dates and texts that are written alike"),
        ({"by": ["country", "day"], "groups": ["DE"]}, "one value for each grouping column: country, day"),
        ({"by": "country", "groups": ["a\nb"]}, r"\('a\\nb',\) has a name with line feeds"),
        ({"by": "country", "groups": ["DE"], "other": "DE"}, "has the name of a listed group"),
        ({"by": "country", "groups": ["DE"], "unit": PrivacyUnit.label(max_count=2)}, "max_groups_per_label"),
        ({"by": "country", "groups": ["DE"], "max_groups_per_label": 2}, "only to a label unit"),
        ({"by": "country", "groups": ["DE"], "max_groups_per_user": 2}, "requires user and"),
        (
            {"by": "country", "groups": ["DE"], "user": "user", "max_per_user": 1, "max_groups_per_label": 1},
            "only to a label unit",
        ),
        (
            {
                "by": "country",
                "groups": ["DE"],
                "user": "user",
                "max_per_user": 10,
                "unit": PrivacyUnit.user(max_items=5, groups=2),
            },
            r"The bounds make it a release for one user with all their items \(at most 10 of them count\): leave unit",
        ),
        ({"by": "country", "groups": ["DE"], "order_key": "ab" * 16}, "requires user or"),
        ({"by": "country", "groups": ["DE"], "unit": PrivacyUnit.edge()}, "for items, for users"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=told):
        read_groups(_polars(tmp_path), label="label", **given)


def test_columns_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'region'"):
        read_groups(_polars(tmp_path), label="label", by="region", groups=["DE"])
    with pytest.raises(UsageError, match="no grouping columns"):
        read_groups(["a", "b"], by="x", groups=["DE"])


@pytest.mark.parametrize("group", [("a",), (None,), ("\x1b0", "\x1f"), ("\x1b", None, "1"), ("", "\x1b1\x1f\x1b2")])
def test_the_text_of_a_group_tells_it(group: tuple[str | None, ...]) -> None:
    assert group_of(key_of(group)) == group


@pytest.mark.slow
@engines
def test_units_are_counted_in_few_groups(engine: str, tmp_path: Path) -> None:
    seen: list[list[int]] = []

    def select(_: GroupSelection, units: NDArray[np.int64], *, source: RandomSource) -> NDArray[np.bool_]:
        del source
        seen.append(sorted(units.tolist()))
        return units > 0

    given: dict[str, Any] = {"by": "country", "groups": FindGroups(1, "0.1")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GroupSelection, "select", select)
        found = reading(engine, tmp_path, **given)
        reading(engine, tmp_path, user="user", max_per_user=1, **given)
        reading(engine, tmp_path, unit=PrivacyUnit.label(max_count=3), max_groups_per_label=1, **given)
        reading(engine, tmp_path, user="user", max_per_user=9, **given)
    assert found.finding == FindGroups(1, "0.1")
    # A group whose name cannot be printed is not among them.
    assert [(*group, profile.n) for group, profile in found.items()] == [("DE", 4), ("FR", 2), ("PL", 1)]
    assert seen[0] == [1, 2, 4]
    # Three users, and three labels, in one group each, which may be the one that is not printed.
    assert sum(seen[1]) in (2, 3)
    assert sum(seen[2]) in (2, 3)
    # The first user in two groups, the others in one each.
    assert seen[3] == [1, 1, 2]


def test_where_no_group_is_found_it_is_told() -> None:
    rows = pl.DataFrame({"label": ["a"], "group": ["zebra"]})
    with pytest.raises(DataError, match="No group was found") as caught:
        read_groups(rows, label="label", by="group", groups=FindGroups(1, "1e-60"))
    assert "zebra" not in str(caught.value)
    read = read_groups(rows, label="label", by="group", groups=FindGroups(1, "1e-60"), other="rest")
    assert dict(read) == {("rest",): Profile.from_counts([1])}
