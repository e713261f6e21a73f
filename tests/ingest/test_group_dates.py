"""Groups of days, weeks and months: alike on every engine, and as Python has them."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from anonhist.errors import UsageError
from anonhist.ingest.group_names import with_periods
from anonhist.ingest.group_values import Part
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.periods import Period, period_key
from anonhist.mechanisms.grouping import FindGroups
from anonhist_testing.cases import each_of

Held = Callable[[dict[str, list[Any]]], AbstractContextManager[tuple[Any, dict[str, Any]]]]

# Mondays and Sundays at the ends of months, leap years and years, and weeks that belong to the year before or after.
DAYS = [
    date(year, month, day)
    for year in (1999, 2000, 2004, 2015, 2016, 2020, 2021, 2024, 2026)
    for month, day in ((1, 1), (1, 3), (1, 4), (2, 28), (3, 1), (3, 2), (5, 1), (12, 28), (12, 31))
] + [date(2000, 2, 29), date(2024, 2, 29), date(1970, 1, 1)]
TOKYO = timezone(timedelta(hours=9))
LATE = [datetime(day.year, day.month, day.day, 23, 59, 59) for day in DAYS]  # noqa: DTZ001  # no zone
COLUMNS: dict[str, list[Any]] = {
    "label": [f"l{at}" for at in range(len(DAYS) + 1)],
    "text": [*map(str, LATE), None],
    "short": [*(day.isoformat() for day in DAYS), None],
    "day": [*DAYS, None],
    "time": [*LATE, None],
    "zoned": [*(time.replace(tzinfo=UTC) for time in LATE), None],
}


def iso_monday(day: date) -> str:
    year, week, _ = day.isocalendar()
    return date.fromisocalendar(year, week, 1).isoformat()


NAMES: dict[str, Callable[[date], str]] = {
    "day": date.isoformat,
    "week": iso_monday,
    "month": lambda day: day.isoformat()[:7],
}


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.drawn(8)
@pytest.mark.parametrize("column", ["text", "short", "day", "time", "zoned"])
def test_periods_are_those_of_python_on_every_engine(hold_grouped: Held, column: str) -> None:
    held = {"label": COLUMNS["label"], column: COLUMNS[column]}
    for period, name in NAMES.items():
        told = Counter(map(name, DAYS))
        with hold_grouped(held) as (source, said):
            read = read_groups(
                source,
                label="label",
                by=f"{period}({column})",
                groups=[*told, "1901-01-07"[: len(name(DAYS[0]))]],
                **said,
            )
        assert {group: profile.n for (group,), profile in read.items() if profile.n} == told, period
        with hold_grouped(held) as (source, said):
            missing = read_groups(
                source, label="label", by=f"{period}({column})", groups=[None], keep_null=True, **said
            )
        assert missing[None].n == 1


@pytest.mark.slow
def test_every_week_of_python_is_found_in_text() -> None:
    days = [date.fromordinal(at) for at in range(1, date.max.toordinal() + 1, 5)]
    table = nw.from_native(pl.DataFrame({"day": [day.isoformat() for day in days]}))
    keys = table.select(week=period_key(table, "day", Period.WEEK, "week(day)"))["week"].to_list()
    assert list(map(Period.WEEK.name_at, keys)) == list(map(iso_monday, days))


@pytest.mark.parametrize("year", ["0000", "0001", "1900", "2000", "2023", "2024", "9999"])
def test_text_has_a_date_where_python_finds_one(year: str) -> None:
    texts = [f"{year}-{month:02}-{day:02}" for month in range(14) for day in range(33)]
    rest = [
        "",
        "2026-11",
        "22.11.2026",
        "2026-1-1",
        " 2026-11-22",
        "20261122",
        "2026-W48-1",
        "\uff12026-11-22",
        "2026/11/22",
    ]

    def is_date(text: str) -> bool:
        try:
            return date.fromisoformat(text).isoformat() == text
        except ValueError:
            return False

    told = [date.fromisoformat(text) if is_date(text) else None for text in texts + rest]
    frame = pl.DataFrame({"day": texts + rest, "label": [f"{at:03}" for at in range(len(texts + rest))]})
    for source in (frame, frame.to_pandas().astype(object), duckdb.connect().from_arrow(frame.to_arrow())):
        for period in Period:
            part = Part("day", period)
            table = with_periods(nw.from_native(source), [part])
            found = table.select("label", key=part.keys(table)).to_native()
            rows = sorted(found.fetchall() if hasattr(found, "fetchall") else nw.from_native(found).rows())
            names = [None if key is None or key != key else period.name_at(key) for _, key in rows]  # noqa: PLR0124  # NaN
            assert names == [None if day is None else period.name_of(day) for day in told], (type(source), period)


@pytest.mark.full
def test_text_is_taken_as_written_and_times_with_a_zone_in_utc() -> None:
    late = datetime(2026, 11, 23, 0, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    frame = pl.DataFrame({"label": ["a"], "seen": [late]})
    elsewhere = duckdb.connect()
    elsewhere.execute("SET TimeZone = 'Asia/Tokyo'")
    objects = pd.DataFrame({"label": ["a"], "seen": np.array([late], dtype=object)})
    for source in (
        frame,
        frame.lazy(),
        frame.to_arrow(),
        frame.to_pandas(),
        elsewhere.from_arrow(frame.to_arrow()),
        objects,
    ):
        for period, name in (("day", "2026-11-22"), ("week", "2026-11-16"), ("month", "2026-11")):
            read = read_groups(source, label="label", by=f"{period}(seen)", groups=[name])
            assert read[name].n == 1, (type(source), period)
    written = frame.with_columns(seen=pl.lit(late.isoformat()))
    assert read_groups(written, label="label", by="day(seen)", groups=["2026-11-23"])["2026-11-23"].n == 1


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["2026-11-22", "2026-11-23"])])
def test_categories_are_text(kind: Any) -> None:
    frame = pl.DataFrame({"label": ["a", "b"], "day": ["2026-11-22", "2026-11-23"]}, schema_overrides={"day": kind})
    for source in (frame, frame.to_arrow(), frame.to_pandas()):
        read = read_groups(source, label="label", by="week(day)", groups="2026-11-22..2026-11-23")
        assert [profile.n for profile in read.values()] == [1, 1]


@each_of(
    ("by", "given", "told"),
    [
        ("day(seen)", date(2026, 11, 23), "2026-11-23"),
        ("day(seen)", datetime(2026, 11, 23), "2026-11-23"),  # noqa: DTZ001  # no zone
        ("day(seen)", datetime(2026, 11, 23, 9, tzinfo=TOKYO), "2026-11-23"),
        ("day(seen)", np.datetime64("2026-11-23"), "2026-11-23"),
        ("day(seen)", pd.Timestamp("2026-11-23"), "2026-11-23"),
        ("day(seen)", "2026-11-23 00:00:00", "2026-11-23"),
        ("week(seen)", date(2026, 11, 23), "2026-11-23"),
        ("week(seen)", "2026-W48", "2026-11-23"),
        ("month(seen)", date(2026, 11, 1), "2026-11"),
        ("month(seen)", "2026-11", "2026-11"),
    ],
)
def test_listed_periods_are_dates(by: str, given: Any, told: str) -> None:
    frame = pl.DataFrame({"label": ["a"], "seen": [date(2026, 11, 23)]})
    assert read_groups(frame, label="label", by=by, groups=[given])[told].n == 1


@each_of(
    ("by", "given", "told"),
    [
        ("day(seen)", "23.11.2026", "'23.11.2026', which is no day: name it as in 2026-11-23"),
        ("day(seen)", "2026-02-29", "'2026-02-29', which is no day"),
        ("day(seen)", 20261123, "20261123, which is no day"),
        ("day(seen)", datetime(2026, 11, 23, 1), "which is no day"),  # noqa: DTZ001  # no zone
        ("week(seen)", "2026-11-24", "not the first day of a week: name the one that holds it 2026-11-23"),
        ("week(seen)", "2026-W54", "which is no week: name it as in 2026-11-23"),
        ("month(seen)", "2026-11-22", "not the first day of a month: name the one that holds it 2026-11"),
        ("month(seen)", "2026-13", "which is no month: name it as in 2026-11"),
    ],
)
def test_what_is_no_period_is_not_listed(by: str, given: Any, told: str) -> None:
    frame = pl.DataFrame({"label": ["a"], "seen": [date(2026, 11, 23)]})
    with pytest.raises(UsageError, match=told):
        read_groups(frame, label="label", by=by, groups=[given])


def test_two_ways_to_name_a_day_list_it_twice() -> None:
    frame = pl.DataFrame({"label": ["a"], "seen": [date(2026, 11, 23)]})
    with pytest.raises(UsageError, match="lists a group twice"):
        read_groups(frame, label="label", by="week(seen)", groups=["2026-11-23", date(2026, 11, 23)])


def test_the_group_of_all_others_may_be_called_as_a_day() -> None:
    frame = pl.DataFrame({"label": ["a", "b", "c"], "seen": ["2026-11-24", "2026-11-25", "2026-12-01"]})
    for other in ("2026-11-24", "105706", "=2026-11-23"):
        read = read_groups(frame, label="label", by="week(seen)", groups=["2026-11-23"], other=other)
        assert {name: profile.n for (name,), profile in read.items()} == {"2026-11-23": 2, other: 1}


@each_of(
    ("by", "told"),
    [
        ("day(seen)", [f"2026-11-{day:02}" for day in range(22, 31)] + ["2026-12-01"]),
        ("week(seen)", ["2026-11-16", "2026-11-23", "2026-11-30"]),
        ("month(seen)", ["2026-11", "2026-12"]),
        ("seen", [f"2026-11-{day:02}" for day in range(22, 31)] + ["2026-12-01"]),
    ],
)
def test_a_range_lists_all_periods_that_meet_it(by: str, told: list[str]) -> None:
    frame = pl.DataFrame({"label": ["a"], "seen": [date(2026, 11, 23)]})
    read = read_groups(frame, label="label", by=by, groups="2026-11-22..2026-12-01")
    assert [name for (name,) in read] == told


def test_columns_without_dates_are_refused() -> None:
    for values in ([1], [1.5], [True], [timedelta(1)], [b"2026-11-22"]):
        with pytest.raises(UsageError, match=r"week\(seen\) needs a column of dates or times, or of text"):
            read_groups(
                pl.DataFrame({"label": ["a"], "seen": values}), label="label", by="week(seen)", groups=["2026-11-23"]
            )


def test_keys_of_periods_ascend_as_time_does() -> None:
    # A week's number gets another digit in 1917, and got others long before.
    for period in Period:
        days = [
            date(1, 1, 1),
            date(9, 12, 31),
            date(192, 9, 1),
            date(1917, 7, 9),
            date(1917, 7, 16),
            date(9999, 12, 31),
        ]
        keys = [period.key_of(period.name_of(day)) for day in days]
        assert keys == sorted(keys)
        assert len({len(key) for key in keys}) == 1


def test_weeks_before_and_after_1917_have_their_keys_on_every_engine(hold_grouped: Held) -> None:
    days = [date(1917, 7, 8), date(1917, 7, 9), date(1917, 7, 16), date(1917, 7, 22), date(192, 8, 27)]
    with hold_grouped({"label": list("abcde"), "seen": days}) as (source, said):
        read = read_groups(source, label="label", by="week(seen)", groups="1917-07-08..1917-07-16", **said)
    assert {name: profile.n for (name,), profile in read.items()} == {"1917-07-02": 1, "1917-07-09": 1, "1917-07-16": 2}


@pytest.mark.full
@each_of("by", ["day(seen)", "week(seen)", "month(seen)"])
def test_dates_that_python_does_not_have_are_in_no_group(by: str) -> None:
    engine = duckdb.connect()
    known = ", ".join(["('a', TIMESTAMP '2026-11-23 12:00:00')"] * 60)
    strange = ", ".join(f"('a', TIMESTAMP '{day}')" for day in ("10001-01-02", "0044-03-15 (BC)", "infinity"))
    few = pl.DataFrame(
        {"label": ["a"] * 62, "seen": [20_000] * 60 + [2_933_000, -720_000]}, schema_overrides={"seen": pl.Int32}
    ).with_columns(pl.col("seen").cast(pl.Date))
    with_strange = engine.sql(f"SELECT * FROM (VALUES {known}, {strange}) AS rows (label, seen)")  # noqa: S608  # ours
    for source in (with_strange, few, few.lazy(), few.to_arrow()):
        found = read_groups(source, label="label", by=by, groups=FindGroups("20", "1e-6"))
        assert [profile.n for profile in found.values()] == [60]


def test_times_of_pandas_in_any_zone_are_taken_in_utc() -> None:
    times = pd.to_datetime(["2026-12-28 20:00", "2026-12-28 12:00"]).tz_localize("America/New_York")
    frame = pd.DataFrame({"label": ["a", "b"], "seen": times})
    for kind in ("datetime64[us, America/New_York]", "datetime64[ns, UTC]", "timestamp[us, tz=Asia/Tokyo][pyarrow]"):
        held = frame.astype({"seen": kind})
        read = read_groups(held, label="label", by="day(seen)", groups=["2026-12-28", "2026-12-29"])
        assert [profile.n for profile in read.values()] == [1, 1]
        with pytest.raises(UsageError, match=r"'seen' holds times: group by day\(seen\)"):
            read_groups(held, label="label", by="seen", groups=["2026-12-28"])


def test_categories_of_dates_have_their_days() -> None:
    times = pd.to_datetime(["2026-11-22 23:30", "2026-11-23 00:00", None, "2026-11-22 23:30"])
    zoned = times.tz_localize("America/New_York")
    texts = ["2026-11-22T05", "2026-11-23", None, "2026-11-22"]
    for values, told in ((times, [2, 1]), (times.date, [2, 1]), (texts, [2, 1]), (zoned, [0, 3])):
        frame = pd.DataFrame({"label": list("abcd"), "seen": pd.Categorical(values)})
        for period, groups in (("day", ["2026-11-22", "2026-11-23"]), ("week", ["2026-11-16", "2026-11-23"])):
            read = read_groups(frame, label="label", by=f"{period}(seen)", groups=groups)
            assert [profile.n for profile in read.values()] == told
