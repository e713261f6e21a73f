"""Values of grouping columns: the same names on every engine, and what is listed is compared as the column does."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.ingest.groups.read import read_groups
from anonhist.mechanisms.grouping import FindGroups, GroupSelection
from anonhist_testing.cases import each_of

Held = Callable[[dict[str, list[Any]]], AbstractContextManager[tuple[Any, dict[str, Any]]]]
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def sizes(source: Any, groups: Any, **said: Any) -> dict[str | None, int]:
    read = read_groups(source, label="label", by="g", groups=groups, **said)
    return {name: profile.n for (name,), profile in read.items()}


@pytest.mark.first(12)
@pytest.mark.parametrize(
    ("values", "listed", "told"),
    [
        ([7, 7, 12, -1], [7, "12", -1.0, 3], {"-1": 1, "12": 1, "3": 0, "7": 2}),
        ([7.0, 7.0, 0.0, 1.5], [7, "-0", "1e2"], {"0": 1, "100": 0, "7": 2}),
        (["7", "7.0", "07", "x"], ["7", "07", "x"], {"07": 1, "7": 1, "x": 1}),
        (["a,b", "a\x1fb", "A", "ä"], ["a,b", "A", "ä", "a"], {"A": 1, "a": 0, "a,b": 1, "ä": 1}),
    ],
)
def test_values_have_the_same_names_on_every_engine(
    hold_grouped: Held, values: list[Any], listed: list[Any], told: dict[str, int]
) -> None:
    with hold_grouped({"label": list("abcd"), "g": values}) as (source, said):
        # In text files every column is text, and a number in one is listed as it is written there.
        is_text = str(source).endswith((".csv", ".jsonl"))
        named = list(told) if is_text else listed
        found = sizes(source, named, **said)
    if isinstance(values[0], float) and str(source).endswith(".csv"):
        assert found == {"0": 0, "100": 0, "7": 0}
    else:
        assert found == told


def test_truth_values_have_the_same_names_on_every_engine(hold_grouped: Held) -> None:
    with hold_grouped({"label": list("abc"), "g": [True, False, True]}) as (source, said):
        if str(source).endswith(".csv"):
            assert sizes(source, ["True", "False"], **said) == {"False": 1, "True": 2}
            return
        listed = ["true", "false"] if str(source).endswith(".jsonl") else [True, "FALSE"]
        assert sizes(source, listed, **said) == {"false": 1, "true": 2}


def test_dates_have_the_same_names_on_every_engine(hold_grouped: Held) -> None:
    day, next_day = date(2026, 11, 22), date(2026, 11, 23)
    with hold_grouped({"label": list("abc"), "g": [day, next_day, day]}) as (source, said):
        assert sizes(source, [day, "2026-11-23"], **said) == {"2026-11-22": 2, "2026-11-23": 1}


@pytest.mark.full
def test_7_and_its_text_are_one_group(tmp_path: Path) -> None:
    (tmp_path / "mixed.jsonl").write_text(
        '{"label": "a", "g": 7}\n{"label": "b", "g": "7"}\n{"label": "c", "g": 7.0}\n'
    )
    objects = pd.DataFrame({"label": ["a", "b", "c", "d"], "g": np.array([7, "7", 7.0, None], dtype=object)})
    for source in (tmp_path / "mixed.jsonl", objects):
        assert sizes(source, [7]) == sizes(source, ["7"]) == {"7": 3}
        with pytest.raises(UsageError, match="lists a group twice; numbers, dates and texts that are written alike"):
            sizes(source, [7, "7"])


def test_objects_of_pandas_are_named_by_their_values() -> None:
    held = [True, "true", Decimal("7.00"), 7, date(2026, 11, 22), "2026-11-22", float("nan")]
    frame = pd.DataFrame({"label": list("abcdefg"), "g": np.array(held, dtype=object)})
    assert sizes(frame, [True, 7, date(2026, 11, 22)]) == {"2026-11-22": 2, "7": 2, "true": 2}
    assert sizes(frame, [None], keep_null=True) == {None: 1}


@pytest.mark.full
@each_of(
    ("values", "listed", "told"),
    [
        (["x"], 7.0, "7.0 for the grouping column 'g', which holds text: list its groups as text"),
        (["x"], True, "True for the grouping column 'g', which holds text"),
        (["x"], Decimal(7), "which holds text"),
        (["x"], datetime(2026, 11, 22), "which holds text"),  # noqa: DTZ001  # no zone
        (["x"], ("a", "b"), "one value for each grouping column: g"),
        (["x"], {"a"}, "which holds text"),
        ([7], "x", "'x' for the grouping column 'g', which holds numbers: list its groups as whole numbers"),
        ([7], True, "True for the grouping column 'g', which holds numbers"),
        ([7], 7.5, "7.5 for the grouping column 'g', which holds numbers"),
        ([7.5], 7.5, "or convert it to text if it holds fractions"),
        ([7], "7e999999999", "which holds numbers"),
        ([7], 2.0**60, "which holds numbers"),
        ([7], float("inf"), "which holds numbers"),
        ([7], date(2026, 11, 22), "which holds numbers"),
        ([Decimal("7.25")], "7.25", "which holds numbers"),
        ([True], 1, "1 for the grouping column 'g', which holds truth values: list its groups as true and false"),
        ([True], "yes", "which holds truth values"),
        ([date(2026, 11, 22)], "22.11.2026", "'22.11.2026', which is no day: name it as in 2026-11-23"),
        ([date(2026, 11, 22)], 20261122, "which is no day"),
        ([date(2026, 11, 22)], NOON, "which is no day"),
        ([NOON], NOON, "'g' holds times: group by day(g), week(g) or month(g), or convert it to text"),
        ([[1]], 1, "Groups are made of text, whole numbers, truth values and dates"),
        ([b"a"], b"a", "Groups are made of text"),
        ([{"a": 1}], 1, "Groups are made of text"),
        ([7], "1_0", "which holds numbers"),
        ([7], "١", "which holds numbers"),
        (["x"], None, "a missing value in row 1, which makes a group only with keep_null"),
        (["x"], float("nan"), "a missing value"),
    ],
)
def test_a_value_that_the_column_cannot_hold_is_not_listed(values: list[Any], listed: Any, told: str) -> None:
    frame = pl.DataFrame({"label": ["a"], "g": values})
    for source in (frame, frame.lazy(), frame.to_arrow(), duckdb.connect().from_arrow(frame.to_arrow())):
        with pytest.raises(UsageError) as caught:
            sizes(source, [listed])
        assert told in str(caught.value)
        assert str(caught.value).endswith(".")


@each_of(
    ("values", "listed"),
    [
        ([7], [7, "07"]),
        ([7], [7, 7.0]),
        ([7], ["7", " 7"]),
        (["7"], [7, "7"]),
        ([True], [True, "TRUE"]),
        ([date(2026, 11, 22)], [date(2026, 11, 22), "2026-11-22"]),
        ([date(2026, 11, 22)], ["2026-W47-7", "2026-11-22"]),
        (["x"], ["x", "x"]),
    ],
)
def test_values_that_are_equal_are_listed_twice(values: list[Any], listed: list[Any]) -> None:
    with pytest.raises(UsageError, match="lists a group twice"):
        sizes(pl.DataFrame({"label": ["a"], "g": values}), listed)


def test_identifiers_and_enumerations_of_databases_are_text() -> None:
    engine = duckdb.connect()
    engine.execute("CREATE TYPE mood AS ENUM ('good', 'bad')")
    known = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
    engine.execute(f"CREATE TABLE t AS SELECT 'a' AS label, UUID '{known}' AS g, 'bad'::mood AS m")
    assert sizes(engine.table("t"), [known]) == {known: 1}
    assert read_groups(engine.table("t"), label="label", by="m", groups="good,bad")["bad"].n == 1
    with pytest.raises(UsageError, match="which holds text"):
        sizes(engine.table("t"), [UUID(known)])


@pytest.mark.full
def test_groups_are_listed_in_tables_and_files(tmp_path: Path) -> None:
    data = pl.DataFrame({"label": ["a", "b"], "g": [7, 8], "seen": [date(2026, 11, 22), date(2026, 11, 23)]})
    both = pl.DataFrame({"g": [7, 8], "day(seen)": [date(2026, 11, 22)] * 2})
    both.write_parquet(tmp_path / "groups.parquet")
    both.write_csv(tmp_path / "groups.csv")
    both.rename({"day(seen)": "seen"}).write_csv(tmp_path / "seen.csv")
    both.with_columns(pl.col("day(seen)").cast(pl.String)).write_ndjson(tmp_path / "groups.jsonl")
    files = [tmp_path / name for name in ("groups.parquet", "groups.csv", "seen.csv", "groups.jsonl")]
    for groups in (both, both.lazy(), both.to_arrow(), both.to_pandas(), both.rows(), *files, str(files[0])):
        read = read_groups(data, label="label", by=["g", "day(seen)"], groups=groups)
        assert {group: profile.n for group, profile in read.items()} == {("7", "2026-11-22"): 1, ("8", "2026-11-22"): 0}
    for wrong in (pl.DataFrame({"h": [7]}), pa.table({"g": [7], "h": [7]})):
        with pytest.raises(UsageError, match="The list of groups must have the columns g and no others"):
            sizes(data, wrong)
    (tmp_path / "cut.parquet").write_bytes(files[0].read_bytes()[:50])
    with pytest.raises(DataError, match=r"The list of groups '.*cut.parquet' is not a complete Parquet file"):
        sizes(data, tmp_path / "cut.parquet")
    with pytest.raises(UsageError, match=r"There is no list of groups 'gone\.csv'"):
        sizes(data, "gone.csv")


@each_of("wrong", ["", ",", "a,,b", [], (), b"a,b", 7, None, pl.DataFrame({"g": []})])
def test_what_lists_no_group_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError) as caught:
        sizes(pl.DataFrame({"label": ["a"], "g": ["x"]}), wrong)
    assert "`" not in str(caught.value)


@each_of(
    ("given", "told"),
    [
        ({"by": "label"}, "The grouping column 'label' is the label column, too: group by another column"),
        ({"by": "user", "user": "user", "max_per_user": 1}, "'user' is the user column, too"),
        ({"by": "nowhere"}, "no column 'nowhere'"),
        ({"by": "day(nowhere)"}, "no column 'nowhere'"),
        ({"by": ["g", "g"]}, "names a grouping column twice"),
    ],
)
def test_columns_that_cannot_group_are_refused(given: dict[str, Any], told: str) -> None:
    frame = pl.DataFrame({"label": ["a"], "user": ["u"], "g": ["x"]})
    with pytest.raises(AnonhistError, match=told):
        read_groups(frame, **{"label": "label", "groups": ["x"], **given})


def test_a_column_called_as_a_period_of_another_is_refused() -> None:
    frame = pl.DataFrame({"label": ["a"], "seen": ["2026-11-22"], "day(seen)": ["x"]})
    with pytest.raises(UsageError, match=r"The data have a column 'day\(seen\)' beside 'seen': rename one of them"):
        read_groups(frame, label="label", by="day(seen)", groups=["2026-11-22"])


def test_more_groups_than_memory_holds_are_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 100}.__getitem__)
    told = "100 groups need at least 0.0 GB of memory, and this machine has 0.0 GB: list fewer groups"
    with pytest.raises(DataError, match=told):
        read_groups("nowhere.csv", label="label", by="g", groups=list(range(100)))
    frame = pl.DataFrame({"label": ["a"] * 100, "g": list(range(100))})
    assert len(sizes(frame, list(range(68)))) == 68
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GroupSelection, "select", lambda *_, **__: np.ones(100, dtype=np.bool_))
        with pytest.raises(DataError, match=told):
            sizes(frame, FindGroups(1, "0.1"))
    monkeypatch.delattr(os, "sysconf")
    assert len(sizes(frame, list(range(100)))) == 100


def test_the_operator_is_told_if_no_item_is_in_any_group() -> None:
    told: list[str] = []
    frame = pl.DataFrame({"label": ["a"], "seen": ["22.11.2026"]})
    read_groups(frame, label="label", by="week(seen)", groups="2026-11-01..2026-11-30", notify=told.append)
    (sentence,) = told
    assert sentence.startswith("No item is in any of the groups")
    told.clear()
    read_groups(frame, label="label", by="seen", groups=["22.11.2026"], notify=told.append)
    assert not told


def test_names_that_people_write_are_names_of_groups() -> None:
    named = ["می\u200cخواهم", "東京\u3000都", "Côte\u00a0d’Azur", "👩\u200d🚀"]
    frame = pl.DataFrame({"label": ["a"] * 240, "g": named * 60})
    assert sizes(frame, named) == dict.fromkeys(sorted(named), 60)
    found = read_groups(frame, label="label", by="g", groups=FindGroups("20", "1e-6"))
    assert sorted(name for (name,) in found) == sorted(named)
    for told in ("a\nb", "a\u2028b", "a\u202eb", "\x7f"):
        with pytest.raises(UsageError, match="has a name with line feeds or other control characters"):
            sizes(frame, [told])
        with pytest.raises(UsageError, match="must be a name for the group of all others"):
            read_groups(frame, label="label", by="g", groups=["x"], other=told)


def test_a_collation_does_not_make_one_group_of_two(tmp_path: Path) -> None:
    with duckdb.connect(f"{tmp_path}/a.db") as made:
        made.execute("CREATE TABLE e (label VARCHAR COLLATE NOCASE, g VARCHAR COLLATE NOCASE)")
        made.execute("INSERT INTO e VALUES ('a', 'DE'), ('A', 'DE'), ('a', 'de'), ('b', 'FR')")
        assert sizes(made.table("e"), ["DE"]) == {"DE": 2}
    given: dict[str, Any] = {"label": "label", "by": "g", "table": "e"}
    read = read_groups(f"duckdb:///{tmp_path}/a.db", groups=["DE", "FR"], other="rest", **given)
    assert {name: profile.counts.tolist() for (name,), profile in read.items()} == {"DE": [1], "FR": [1], "rest": [1]}
    assert read[("DE",)].num_labels == 2


def test_many_groups_fit_on_a_command_line() -> None:
    frame = pl.DataFrame({"label": ["a"], "g": ["g007"]})
    read = read_groups(frame, label="label", by="g", groups=",".join(f"g{at:03}" for at in range(1000)))
    assert len(read) == 1000
    assert read["g007"].n == 1


def test_others_are_not_counted_in_the_total_of_a_listed_name() -> None:
    frame = pl.DataFrame({"label": ["a", "b"], "state": ["rest", "CA"], "county": ["x", "y"]})
    given: dict[str, Any] = {"label": "label", "by": ["state", "county"], "groups": [("rest", "x")], "other": "rest"}
    assert len(read_groups(frame, **given)) == 2
    for levels in ("nested", "crossing"):
        with pytest.raises(UsageError, match="would be counted in the total of the listed groups"):
            read_groups(frame, levels=levels, **given)
