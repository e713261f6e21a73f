"""Columns whose types do not bind: one row more, first of all, renames no other."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError
from anonhist.graphs.reading import read_degrees
from anonhist.ingest import read_profile
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.windows import read_cumulative, read_cumulative_groups
from anonhist.local import KRR, OptimizedUnary
from anonhist.local.reading import tally_reports
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist.sketches import HashedSketch
from anonhist.sketches.reading import update_sketch

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Rows = list[tuple[Any, ...]]
Hold = Callable[[Rows], tuple[Any, dict[str, Any]]]
COLUMNS = ("label", "user", "g", "day", "peer")
KEY = "0" * 32
TEXTS = ["x"] * 120
NUMBERS = [k for number in range(12) for k in [number] * 10 + [str(number)] * 10]
FLOATS = [k for number in range(12) for k in [number] * 10 + [float(number)] * 10]


def _rows(labels: list[Any]) -> Rows:
    days = ["2026-11-01", "2026-11-02"]
    return [(label, 1000 + at // 7, at % 3, days[at % 2], f"n{at % 50}") for at, label in enumerate(labels)]


def _objects(rows: Rows) -> tuple[Any, dict[str, Any]]:
    return pd.DataFrame(
        {name: pd.Series(values, dtype=object) for name, values in zip(COLUMNS, zip(*rows, strict=True), strict=True)}
    ), {}


def _objects_of_polars(rows: Rows) -> tuple[Any, dict[str, Any]]:
    columns = zip(COLUMNS, zip(*rows, strict=True), strict=True)
    return pl.DataFrame({name: pl.Series(name, list(values), dtype=pl.Object) for name, values in columns}), {}


@pytest.fixture(params=["pandas", "polars", "sqlite", "view", "declared", "ibis"])
def hold(request: pytest.FixtureRequest, tmp_path: Path) -> Hold:
    """Hold rows in columns whose types do not bind."""

    def held(rows: Rows) -> tuple[Any, dict[str, Any]]:
        if request.param == "pandas":
            return _objects(rows)
        if request.param == "polars":
            return _objects_of_polars(rows)
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.db"
        declared = " BLOB, ".join(COLUMNS) + " NONE" if request.param == "declared" else ", ".join(COLUMNS)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"CREATE TABLE t ({declared})")
            connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(COLUMNS))})", rows)  # noqa: S608
            # A formula has no type, and neither has what follows from one.
            views = ", ".join(f"coalesce({name}, NULL) AS {name}" for name in COLUMNS)
            connection.execute(f"CREATE VIEW v AS SELECT {views} FROM t")  # noqa: S608
            connection.commit()
        if request.param == "ibis":
            return ibis.sqlite.connect(path).table("t"), {}
        return f"sqlite:///{path}", {"table": "v" if request.param == "view" else "t"}

    return held


def _by_item(source: Any, **said: Any) -> list[Profile]:
    return [read_profile(source, label="label", **said)]


def _by_user(source: Any, **said: Any) -> list[Profile]:
    return [read_profile(source, label="label", user="user", max_per_user=1, order_key=KEY, **said)]


def _by_mixed_user(source: Any, **said: Any) -> list[Profile]:
    options: dict[str, Any] = {"user": "label", "max_per_user": 1, "order_key": KEY}
    return [read_profile(source, label="peer", **options, **said)]


def _ordered(source: Any, **said: Any) -> list[Profile]:
    options: dict[str, Any] = {"user": "user", "max_per_user": 1, "order_by": "label", "order_key": KEY}
    return [read_profile(source, label="peer", **options, **said)]


def _groups(source: Any, **said: Any) -> list[Profile]:
    return list(read_groups(source, label="label", by="g", groups=[0, 1, 2], **said).values())


def _by_mixed_groups(source: Any, **said: Any) -> list[Profile]:
    return list(read_groups(source, label="peer", by="label", groups=[*range(12), 999, "x"], **said).values())


def _run(read: Callable[..., Any], hold: Hold, rows: Rows) -> Any:
    source, said = hold(rows)
    return read(source, **said)


@pytest.mark.first(2)
@pytest.mark.drawn(8)
@pytest.mark.parametrize("ends", [NUMBERS, FLOATS], ids=["texts", "floats"])
@pytest.mark.parametrize("read", [_by_item, _by_user, _by_mixed_user, _ordered, _groups, _by_mixed_groups])
def test_one_row_before_all_others_changes_what_is_read_by_one(
    hold: Hold, ends: list[Any], read: Callable[..., list[Profile]]
) -> None:
    rows = _rows([*TEXTS, *ends])
    new = (999, 5, 0, "2026-11-01", "new")
    before = _run(read, hold, rows)
    assert sum(profile.n for profile in before) >= 13
    for place in (0, len(rows)):
        after = _run(read, hold, [*rows[:place], new, *rows[place:]])
        assert sum(map(sorted_l1, before, after)) == 1
    shuffled = [rows[at] for at in np.random.default_rng(5).permutation(len(rows))]
    if read is not _by_user:  # a user's equal labels may be written in two ways
        assert _run(read, hold, shuffled) == before


def _labels_in_few_groups(source: Any, **said: Any) -> Any:
    unit = PrivacyUnit.label(max_count=100)
    read = read_groups(
        source, label="label", by="g", groups=["a"], max_groups_per_label=1, order_key=KEY, unit=unit, **said
    )
    return dict(zip(read["a"].counts.tolist(), read["a"].prevalences.tolist(), strict=True))


@pytest.mark.first(2)
def test_a_label_more_changes_one_prevalence(hold: Hold) -> None:
    rows = [(label, 1, "a", None, None) for label in [*(f"t{at}" for at in range(100)), *NUMBERS]]
    assert _run(_labels_in_few_groups, hold, rows) == {1: 100, 20: 12}
    assert _run(_labels_in_few_groups, hold, [(999, 1, "a", None, None), *rows]) == {1: 101, 20: 12}


@pytest.mark.first(2)
def test_a_row_more_changes_windows_by_one(hold: Hold) -> None:
    asked: dict[str, Any] = {"label": "label", "days": ["2026-11-01"], "thresholds": [1, 15]}
    rows = [(label, 1, at % 2, "2026-11-01", None) for at, label in enumerate([*TEXTS, *NUMBERS])]
    new = (999, 1, 0, "2026-11-01", None)
    found = [
        _run(lambda s, **said: read_cumulative(s, by="day(day)", **asked, **said).k_plus.tolist(), hold, each)
        for each in (rows, [new, *rows])
    ]
    assert found == [[[13], [13]], [[14], [13]]]

    def in_groups(source: Any, **said: Any) -> list[Any]:
        read = read_cumulative_groups(source, by="g", groups=[0, "1"], cumulative_by="day(day)", **asked, **said)
        return [read[str(g)].k_plus.tolist() for g in (0, 1)]

    assert [_run(in_groups, hold, each) for each in (rows, [new, *rows])] == [
        [[[13], [1]], [[13], [1]]],
        [[[14], [1]], [[13], [1]]],
    ]


@pytest.mark.full
def test_a_row_more_is_one_edge_and_one_label_of_a_sketch(hold: Hold) -> None:
    rows = _rows([*TEXTS, *FLOATS])
    new = (999.0, 5, 0, "2026-11-01", "n0")

    def degrees(source: Any, **said: Any) -> Profile:
        return read_degrees(source, origin="label", target="peer", **said).profile

    sketch = HashedSketch(buckets=1000, epsilon=1, key=b"by value")

    def counters(source: Any, **said: Any) -> Any:
        before = sketch.counters.copy()
        update_sketch(sketch, source, label="label", **said)
        return sketch.counters - before

    few, more = (_run(degrees, hold, each) for each in (rows, [new, *rows]))
    assert sorted_l1(few, more) == 2
    assert few.num_labels == 63
    fewer, most = (_run(counters, hold, each) for each in (rows, [new, *rows]))
    assert np.abs(most - fewer).sum() == 1
    assert np.count_nonzero(fewer) <= 13


def test_numbers_whose_beginning_is_missing_are_groups() -> None:
    numbers = [*[None] * 120, *[7] * 1000]
    for first in (None, 7):
        frame = pd.DataFrame({"label": ["a"] * 1121, "g": pd.Series([first, *numbers], dtype=object)})
        read = read_groups(frame, label="label", by="g", groups=[7])
        assert read["7"].n == 1000 + (first == 7)


def test_text_after_numbers_does_not_rename_them(tmp_path: Path) -> None:
    lines = [str(number % 5000) for number in range(20_000)]
    (tmp_path / "a.csv").write_text("\n".join(["id", *lines, "text"]) + "\n")
    (tmp_path / "b.csv").write_text("\n".join(["id", "text", *lines, "text"]) + "\n")
    # What pandas finds in the rows is the caller's, but a column that it leaves as objects is read value by value.
    first, second = (read_profile(pd.read_csv(tmp_path / name, low_memory=True)["id"]) for name in ("a.csv", "b.csv"))
    assert sorted_l1(first, second) == 1


def _parquet(folder: Path, *parts: Any, column: str = "id") -> str:
    folder.mkdir()
    for at, part in enumerate(parts):
        pq.write_table(pa.table({"user": pa.array(range(len(part))), column: part}), folder / f"{at}.parquet")
    return str(folder / "*.parquet")


@pytest.mark.full
def test_a_value_has_one_name_in_parquet_files_of_several_types(tmp_path: Path) -> None:
    whole, missing = pa.array([7, 8, 2**60]), pa.array([None, None, None])
    floats = pa.array([7.0, None, 1.5])
    pattern = _parquet(tmp_path / "numbers", whole, floats, missing)
    assert read_profile(pattern, label="id") == Profile.from_counts([2, 1, 1, 1])
    groups = read_groups(pattern, label="user", by="id", groups=["07", 8.0, 2**60])
    assert {name: profile.n for (name,), profile in groups.items()} == {"1152921504606846976": 1, "7": 2, "8": 1}
    for part, name in ((pa.array(["7", "x", None]), "text"), (pa.array([True, None, None]), "truth")):
        mixed = _parquet(tmp_path / name, whole, floats, part)
        assert read_profile(mixed, label="id").n == 5 + len(part.drop_null())
        assert read_groups(mixed, label="user", by="id", groups=["7"])["7"].n == (3 if name == "text" else 2)
    only_text = _parquet(tmp_path / "only text", missing, pa.array(["07", "x", "x"]))
    assert {g: p.n for (g,), p in read_groups(only_text, label="user", by="id", groups=["07"]).items()} == {"07": 1}
    times = _parquet(tmp_path / "times", whole, pa.array([0, 1, 2], pa.timestamp("us")))
    with pytest.raises(DataError, match="same columns of the same types"):
        read_profile(times, label="id")


def test_parquet_files_of_several_types_are_ordered_as_one(tmp_path: Path) -> None:
    parts: list[Any] = [[10, 9], [2.5, None]]
    kept = []
    for last in (pa.array([100, 3]), pa.array([100.0, 3.0])):
        pattern = _parquet(tmp_path / str(last.type), *map(pa.array, parts), last, column="when")
        options: dict[str, Any] = {"user": "user", "max_per_user": 2, "order_by": "when", "order_key": KEY}
        kept.append(read_profile(pattern, label="when", **options))
    # Of the first user 2.5 and 10, and not "10" and "100"; of the second the missing one, left out, and 3.
    assert kept[0] == kept[1]
    unit = PrivacyUnit.user(max_items=2)
    assert kept[0].partition().tolist() == Profile.from_counts([1, 1, 1, 1], unit=unit).partition().tolist()


@pytest.mark.full
def test_columns_of_sqlite_that_are_generated_or_declared(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute(
            "CREATE TABLE t (a TEXT, flag BOOLEAN, bytes BLOB, n INTEGER, "
            "lower TEXT GENERATED ALWAYS AS (lower(a)) VIRTUAL, kept TEXT GENERATED ALWAYS AS (upper(a)) STORED)"
        )
        rows = [("A", 1, b"x", 7), ("a", True, "x", "7"), ("b", 0, b"\xff", 7.0), (None, None, None, "many")]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        connection.commit()
    url = f"sqlite:///{tmp_path / 'a.db'}"
    found = {
        name: read_profile(url, table="t", label=name, count="none").partition().tolist()
        for name in ("a", "lower", "kept", "flag", "bytes", "n")
    }
    assert found == {"a": [1, 1, 1], "lower": [2, 1], "kept": [2, 1], "flag": [2, 1], "bytes": [1, 1, 1], "n": [3, 1]}
    for by, groups, told in (("flag", [True, "FALSE"], [2, 1]), ("n", ["07"], [3]), ("a", ["A", "b"], [1, 1])):
        read = read_groups(url, table="t", label="lower" if by != "a" else "n", by=by, groups=groups, count="none")
        assert [profile.n for profile in read.values()] == told


@pytest.mark.slow
def test_a_wide_table_of_sqlite_is_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(f'c{at}' for at in range(300))})")
        connection.executemany("INSERT INTO t (c7, c299) VALUES (?, ?)", [("a", 7), ("a", 7.0), ("b", "7")])
        connection.commit()
    url = f"sqlite:///{tmp_path / 'a.db'}"
    assert read_profile(url, table="t", label="c7") == Profile.from_counts([2, 1])
    assert read_groups(url, table="t", label="c7", by="c299", groups=[7])["7"].n == 3


def test_a_report_of_another_type_makes_no_other_invalid() -> None:
    survey = KRR(alphabet=3, epsilon=1)
    reports = survey.randomize([0, 2, 2] * 100)
    rows = [(survey.digest, code) for code in reports.columns["report"].tolist()]
    for bad in (("x", "x"), (survey.digest, 2.0**60), (survey.digest, b"1"), (survey.digest, None)):
        for held in ([bad, *rows], [*rows, bad]):
            frame = pd.DataFrame(held, columns=["survey", "report"], dtype=object)
            assert tally_reports(survey, frame, skip_bad=1) == survey.tally(reports)


def test_users_whose_categories_have_one_name_are_one_user() -> None:
    users = pd.Categorical([1, "1"] * 50, categories=[1, "1"])
    frame = pd.DataFrame({"label": [f"l{at}" for at in range(100)], "user": users})
    for bound in (1, 3):
        assert read_profile(frame, label="label", user="user", max_per_user=bound, order_key=KEY).n == bound


@pytest.mark.parametrize(
    "value",
    [
        np.timedelta64(1, "D"),
        pd.Timedelta(1),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=1))),
        (1, 2),
    ],
    ids=str,
)
def test_whatever_has_a_name_can_be_ordered_by(value: Any) -> None:
    when = pd.Series([1, 2, 3, 4, 5, value], dtype=object)
    frame = pd.DataFrame({"label": list("abcdef"), "user": list("xxxxxy"), "when": when})
    assert read_profile(frame, label="label", user="user", max_per_user=1, order_by="when", order_key=KEY).n == 2


def test_texts_that_arrow_holds_as_views_are_texts() -> None:
    texts = pa.array(["a", "a", "b", *[None] * 200], pa.string_view())
    frame = pd.DataFrame({"label": pd.array(pd.arrays.ArrowExtensionArray(texts)), "user": range(203)})
    assert read_profile(frame, label="label") == read_profile(frame["label"]) == Profile.from_counts([2, 1])
    assert read_profile(frame["label"], keep_null=True) == Profile.from_counts([200, 2, 1])
    assert read_profile(frame, label="user", user="label", max_per_user=1, order_key=KEY).n == 2
    assert read_groups(frame, label="user", by="label", groups=["a"])["a"].n == 2


def test_a_lone_surrogate_has_a_sentence_of_its_own() -> None:
    frame = pd.DataFrame({"label": pd.Series(["a", "secret \ud83d"] * 3, dtype=object)})
    with pytest.raises(DataError, match=r"^The table contains a lone surrogate, [a-z :,]+\.$"):
        read_profile(frame, label="label")


def test_days_of_numpy_and_pandas_are_days() -> None:
    days = pd.Series([np.datetime64("2026-11-02"), pd.Period("2026-11-02"), date(2026, 11, 2), 7], dtype=object)
    periods = pd.Series(pd.PeriodIndex(["2026-11-02"] * 4, freq="D"))
    for held, told in ((days, 3), (periods, 4)):
        frame = pd.DataFrame({"label": list("abcd"), "day": held})
        assert read_groups(frame, label="label", by="day(day)", groups=["2026-11-02"])["2026-11-02"].n == told


def test_fractions_of_times_of_day_are_kept() -> None:
    times = [time(1), time(1, 0, 0, 5), time(1, 0, 1), time(1, 0, 1, 500_000), time(1)]
    for source in (pl.Series("label", times), pa.array(times), pd.Series(times, dtype=object)):
        assert read_profile(source) == Profile.from_counts([2, 1, 1, 1])


def test_where_a_row_stands_in_a_text_decides_nothing(tmp_path: Path) -> None:
    for rows in (b'"a\nb",x\nc,y\n', b'c,y\n"a\nb",x\n', b"\na,x\nb,y\n", b"a,x\n\nb,y\n"):
        (tmp_path / "a.csv").write_bytes(rows)
        assert read_profile(tmp_path / "a.csv", header=False, label="column0").n == 2


def test_a_report_that_is_missing_makes_no_other_invalid(tmp_path: Path) -> None:
    survey = KRR(alphabet=3, epsilon=1)
    reports = survey.randomize([0, 2, 2] * 100)
    codes = reports.columns["report"].tolist()
    digests = [survey.digest] * (len(codes) + 1)
    for place in (0, len(codes)):
        held = pa.array([*map(float, codes[:place]), None, *map(float, codes[place:])], pa.float64())
        pq.write_table(pa.table({"survey": digests, "report": held}), tmp_path / "a.parquet")
        assert tally_reports(survey, tmp_path / "a.parquet", skip_bad=1) == survey.tally(reports)
    pq.write_table(pa.table({"survey": digests[:2], "report": pa.nulls(2)}), tmp_path / "b.parquet")
    both = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    assert tally_reports(survey, both, skip_bad=3) == survey.tally(reports)
    unary = OptimizedUnary(alphabet=3, epsilon=1)
    pq.write_table(pa.table({"survey": [unary.digest], "report": pa.nulls(1)}), tmp_path / "b.parquet")
    assert tally_reports(unary, tmp_path / "b.parquet", skip_bad=1) == unary.empty_tally()
