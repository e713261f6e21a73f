"""Groups of data that are counted already: the same as of their events, on every engine."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.ingest.groups.read import read_groups
from anonhist.mechanisms.grouping import FindGroups, GroupSelection
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.distances import sorted_l1
from anonhist.randomness import RandomSource
from anonhist_testing.cases import each_of

Table = dict[str, list[Any]]
Held = Callable[[Table], AbstractContextManager[tuple[Any, dict[str, Any]]]]

EVENTS = [
    *[("DE", "2026-11-02", "a")] * 3,
    *[("DE", "2026-11-09", "a")] * 2,
    *[("DE", "2026-11-09", "b")],
    *[("FR", "2026-11-02", "a")] * 5,
    *[("FR", "2026-11-02", "c")] * 5,
    *[("FR", "2026-11-02", None)] * 2,
    *[("PL", "2026-12-01", "c")] * 7,
]
COLUMNS = ("country", "day", "label")
BY = [("country", "day"), ("country",), ("month(day)", "country")]
KEY = "0123456789abcdef" * 2


def events() -> Table:
    return {name: [row[at] for row in EVENTS] for at, name in enumerate(COLUMNS)}


def counts() -> Table:
    # The last label in its group is in two rows, which add up.
    counted = Counter(EVENTS) - Counter([EVENTS[-1]])
    rows = [*((*row, count) for row, count in counted.items()), (*EVENTS[-1], 1)]
    return {name: [row[at] for row in rows] for at, name in enumerate((*COLUMNS, "count"))}


def prevalences() -> Table:
    found = Counter((row[:2], count) for row, count in Counter(EVENTS).items())
    rows = [(*group, count, many) for (group, count), many in found.items()]
    return {name: [row[at] for row in rows] for at, name in enumerate(("country", "day", "count", "prevalence"))}


def listed(by: tuple[str, ...]) -> list[tuple[str, ...]]:
    days = {"day": 10, "month(day)": 7}
    return sorted({tuple(row[0] if part == "country" else row[1][: days[part]] for part in by) for row in EVENTS})


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.parametrize("by", BY)
def test_counts_are_read_as_their_events(hold_grouped: Held, by: tuple[str, ...]) -> None:
    for keep_null in (False, True):
        given: dict[str, Any] = {"by": by, "groups": listed(by), "keep_null": keep_null}
        told = read_groups(pl.DataFrame(events()), label="label", **given)
        for said in ({"format": "counts"}, {"format": "counts", "label": "label"}):
            with hold_grouped(counts()) as (source, own):
                assert dict(read_groups(source, **said, **own, **given)) == dict(told)


@pytest.mark.full
@pytest.mark.first(2)
def test_labels_are_in_the_same_few_groups_as_those_of_events(hold_grouped: Held) -> None:
    given: dict[str, Any] = {
        "by": "country",
        "groups": ["DE", "FR"],
        "other": "rest",
        "unit": PrivacyUnit.label(max_count=3),
        "max_groups_per_label": 1,
    }
    kept = set()
    with hold_grouped(counts()) as (source, own):
        for word in range(6):
            key = f"{word:032x}"
            read = read_groups(source, format="counts", order_key=key, **own, **given)
            told = read_groups(pl.DataFrame(events()), label="label", order_key=key, **given)
            assert dict(read) == dict(told)
            assert sum(profile.num_labels for profile in read.values()) == 3
            kept.add(tuple(profile.num_labels for profile in read.values()))
    assert len(kept) > 1


@pytest.mark.first(4)
def test_prevalences_are_read_as_their_events(hold_grouped: Held) -> None:
    given: dict[str, Any] = {"by": ["day", "country"], "groups": listed(("day", "country"))}
    told = read_groups(pl.DataFrame(events()), label="label", keep_null=True, **given)
    with hold_grouped(prevalences()) as (source, own):
        assert dict(read_groups(source, format="prevalences", **own, **given)) == dict(told)


def test_what_rows_say_is_read_off_the_columns() -> None:
    for table in (counts(), prevalences()):
        read = read_groups(pl.DataFrame(table), by=["country", "day"], groups=[("PL", "2026-12-01")])
        assert read["PL", "2026-12-01"] == Profile.from_counts([7])
    as_events = read_groups(
        pl.DataFrame(counts()), by=["country", "day"], groups=[("PL", "2026-12-01")], label="label", format="events"
    )
    assert as_events["PL", "2026-12-01"] == Profile.from_counts([2])
    with pytest.raises(UsageError, match="Column 'count' may hold the number of items"):
        read_groups(
            pl.DataFrame(counts()).rename({"label": "name"}), by=["country", "day"], groups=[("PL", "")], label="name"
        )


def test_one_item_more_changes_one_count_of_one_group() -> None:
    before = pl.DataFrame(counts())
    given: dict[str, Any] = {"by": "country", "groups": ["DE", "FR"], "other": "rest", "format": "counts"}
    exact = read_groups(before, **given)
    for at in range(len(before)):
        more = before.with_columns(count=pl.col("count") + pl.Series([int(at == each) for each in range(len(before))]))
        after = read_groups(more, keep_null=False, **given)
        distances = [sorted_l1(exact[group], after[group]) for group in exact]
        assert sum(distances) == (0 if before["label"][at] is None else 1)


@pytest.mark.parametrize(("bounds", "told"), [({}, [6, 7, 10]), ({"max_groups_per_label": 9}, [1, 2, 2])])
def test_groups_are_found_by_what_they_hold(bounds: dict[str, int], told: list[int]) -> None:
    seen: list[list[int]] = []

    def select(_: GroupSelection, units: NDArray[np.int64], *, source: RandomSource) -> NDArray[np.bool_]:
        del source
        seen.append(sorted(units.tolist()))
        return units > 0

    unit = PrivacyUnit.label(max_count=3) if bounds else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GroupSelection, "select", select)
        given: dict[str, Any] = {"by": "country", "groups": FindGroups(1, "0.1"), "unit": unit, **bounds}
        found = read_groups(pl.DataFrame(counts()), format="counts", **given)
        read_groups(pl.DataFrame(events()), label="label", **given)
        if not bounds:
            kept = pl.DataFrame(prevalences()).group_by("country", "count").agg(pl.col("prevalence").sum())
            read_groups(kept, by="country", groups=FindGroups(1, "0.1"))
    assert seen[:2] == [told, told]
    assert seen[2:] in ([], [[6, 7, 12]])
    assert list(found) == [("DE",), ("FR",), ("PL",)]


@each_of("wrong", [-1, 2.5, None, float("nan")])
def test_counts_that_are_none_are_refused(wrong: Any) -> None:
    for bounds in ({}, {"unit": PrivacyUnit.label(max_count=3), "max_groups_per_label": 1}):
        table = {"g": ["a", "b", "c"], "label": ["x"] * 3, "count": [wrong, 1.0, 1.0]}
        with pytest.raises(DataError, match="'count' must hold whole numbers from 0 to 2"):
            read_groups(pl.DataFrame(table, strict=False), by="g", groups=["a", "b", "c"], format="counts", **bounds)
    table = {"g": ["a"], "count": [1.0], "prevalence": [wrong]}
    with pytest.raises(DataError, match="'prevalence' must hold whole numbers"):
        read_groups(pl.DataFrame(table, strict=False), by="g", groups=["a"], format="prevalences")


@pytest.mark.full
@pytest.mark.first(2)
def test_sums_that_wrap_are_refused(hold_grouped: Held) -> None:
    large = 2**62
    for many in (2, 3, 4, 5):
        table = {"g": ["a"] * many, "label": ["x"] * many, "count": [large] * many}
        with hold_grouped(table) as (source, own), pytest.raises(DataError, match=r"more than 2\^63"):
            read_groups(source, by="g", groups=["a"], format="counts", **own)
        table = {"g": ["a"] * many, "count": [1] * many, "prevalence": [large] * many}
        with hold_grouped(table) as (source, own), pytest.raises(DataError, match=r"more than 2\^63"):
            read_groups(source, by="g", groups=["a"], format="prevalences", **own)
    with hold_grouped({"g": ["a"], "label": ["x"], "count": [2**63 - 1]}) as (source, own):
        assert read_groups(source, by="g", groups=["a"], format="counts", **own)["a"].n == 2**63 - 1


@each_of(
    ("table", "given", "told"),
    [
        (counts, {"user": "day", "max_per_user": 1}, "Counted data do not say which user"),
        (counts, {"label": "count"}, "Column 'count' cannot hold both labels and counts"),
        (prevalences, {"label": "day"}, "Data of format prevalences have no labels"),
        (counts, {"by": "label"}, "'label' is the counted column, too"),
        (counts, {"by": "count"}, "'count' is the counted column, too"),
        (prevalences, {"by": "prevalence"}, "'prevalence' is the counted column, too"),
        (
            prevalences,
            {"unit": PrivacyUnit.label(max_count=2), "max_groups_per_label": 2},
            "Prevalences do not reveal which labels are the same in several groups, so labels cannot be protected",
        ),
        (prevalences, {"by": "month(day)", "groups": ["2026-11"]}, "put together into days, weeks and months"),
        (prevalences, {"other": "rest"}, "put together into other groups"),
        (prevalences, {"levels": "crossing"}, "put together into crossing levels"),
        (counts, {"format": "labels"}, "must be one of events, counts, prevalences for groups, not 'labels'"),
        (events, {"format": "counts"}, "no column 'count'"),
        (counts, {"format": "prevalences"}, "no column 'prevalence'"),
    ],
)
def test_what_counted_data_do_not_say_is_refused(table: Callable[[], Table], given: dict[str, Any], told: str) -> None:
    said = {"by": "country", "groups": ["DE"], "format": table.__name__} | given
    with pytest.raises(AnonhistError, match=told):
        read_groups(pl.DataFrame(table()), **said)


def test_files_of_counts(tmp_path: Path) -> None:
    pl.DataFrame(counts()).write_csv(tmp_path / "counts.csv")
    pl.DataFrame(counts()).write_ndjson(tmp_path / "counts.jsonl")
    told = read_groups(pl.DataFrame(counts()), by="country", groups="DE,FR", format="counts")
    assert dict(read_groups(tmp_path / "counts.csv", by="country", groups="DE,FR", format="counts")) == dict(told)
    assert dict(read_groups(tmp_path / "counts.jsonl", by="country", groups="DE,FR", format="counts")) == dict(told)
    # Keys of JSON lines do not decide what the rows are.
    with pytest.raises(UsageError, match="name the key that holds the labels"):
        read_groups(tmp_path / "counts.jsonl", by="country", groups="DE,FR")
