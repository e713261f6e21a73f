"""Files of cumulative windows of groups: what is written is read, and what cannot be is refused.

What they share with files without groups is tried in test_cumulative_releases.py.
"""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.formats.files import read, write
from anonhist.formats.releases import is_table_of_release, to_cumulative_document
from anonhist.formats.tables import csv_text
from anonhist.mechanisms.window_release import release_cumulative_groups
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles.grouped import Group
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist.releases.cumulative import GroupedCumulativeRelease

KEY = "0123456789abcdef" * 2
DAYS = tuple(f"2026-11-{day:02}" for day in range(1, 4))
UNITS = {
    "item": (PrivacyUnit.item(), None),
    "users": (PrivacyUnit.user(max_items=3), KEY),
    "users in groups": (PrivacyUnit.user(max_items=3, groups=2), KEY),
    "labels": (PrivacyUnit.label(max_count=5, groups=2), KEY),
}
INCREMENTS: dict[Group, Any] = {
    (None, "2026-11"): [[4, 1, 0], [0, 0, 0]],
    ("a,b", "2026-11"): [[40, 10, 7], [20, 9, 3]],
    ("fall", "2026-12"): [[0, 0, 0], [0, 0, 0]],
}


def release_of(
    unit: str = "labels", by: tuple[str, ...] = ("campaign", "month(seen)"), **given: Any
) -> GroupedCumulativeRelease:
    protected, key = UNITS[unit]
    counts = {
        group[: len(by)]: CumulativeCounts((1, 3), DAYS, each, unit=protected, order_key=key)
        for group, each in INCREMENTS.items()
    }
    return release_cumulative_groups(GroupedCumulativeCounts(by, counts), epsilon="1/3", **given)


@pytest.mark.parametrize("relation", list(NeighboringRelation))
@pytest.mark.parametrize("ending", ["json", "parquet"])
@pytest.mark.parametrize("unit", list(UNITS))
def test_what_is_written_is_read(unit: str, ending: str, relation: NeighboringRelation, tmp_path: Path) -> None:
    release = release_of(unit, relation=relation)
    path = tmp_path / f"reach.{ending}"
    write(release, path)
    back = read(path)
    assert isinstance(back, GroupedCumulativeRelease)
    assert to_cumulative_document(back) == to_cumulative_document(release)
    assert (back.groups, back.by) == (release.groups, release.by)
    assert (back.mechanism, back.guarantee) == (release.mechanism, release.guarantee)
    assert str(back["a,b", "2026-11"][DAYS[2], 3]) == str(release["a,b", "2026-11"][DAYS[2], 3])
    assert is_table_of_release(str(path)) == (ending == "parquet")


def test_the_table_has_the_groups_first(tmp_path: Path) -> None:
    release = release_of()
    write(release, tmp_path / "reach.csv")
    text = (tmp_path / "reach.csv").read_text()
    assert text == csv_text(release)
    rows = list(csv.DictReader(text.splitlines()))
    assert list(rows[0]) == ["campaign", "month(seen)", "k", "day", "value", "low", "high"]
    assert len(rows) == 3 * 2 * 3
    for row in rows:
        found = release[row["campaign"] or None, row["month(seen)"]][row["day"], int(row["k"])]
        assert (found.value, *found.interval) == tuple(float(row[name]) for name in ("value", "low", "high"))


def test_a_grouping_column_must_not_be_named_as_another(tmp_path: Path) -> None:
    release = release_of(by=("day",))
    with pytest.raises(UsageError, match="rename it in the data"):
        write(release, tmp_path / "reach.csv")
    write(release, tmp_path / "reach.json")
    assert read(tmp_path / "reach.json")


def _set(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_set("by", to="x"), "must be lists"),
        (_set("by", to=["x"]), "one name for each grouping column"),
        (_set("by", 0, to=3), "a grouping column must be plain text"),
        (_set("groups", to=3), "must be lists"),
        (_set("groups", to=[]), "at least one group"),
        (_set("groups", 0, to=3), "a group"),
        (_set("groups", 0, "group", to="x"), "must be a list"),
        (_set("groups", 0, "group", to=["fall", "2026-12"]), "listed twice"),
        (_set("groups", 0, "group", to=["fall"]), "one name for each grouping column"),
        (_set("groups", 0, "group", to=[3, "x"]), "the name of a group must be plain text"),
        (_set("groups", 1, "values", 0, 0, to=10**6), "must not decrease"),
        (_set("groups", 1, "lows", to=[]), "a list for each threshold"),
        (_set("mechanism", "parameters", "groups", to=3), "the sentence of the guarantee"),
    ],
)
def test_what_cannot_be_is_refused(change: Callable[[Any], None], told: str, tmp_path: Path) -> None:
    document = to_cumulative_document(release_of())
    change(document)
    path = tmp_path / "reach.json"
    path.write_text(json.dumps(document))
    with pytest.raises(DataError, match=told):
        read(path)


def test_rows_that_were_changed_later_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "reach.parquet"
    write(release_of(), path)
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(DataError, match="changed later"):
        read(path)


def test_groups_of_one_release_are_made_together() -> None:
    first, second = release_of(), release_of()
    other = release_of("item")
    group = first.groups[0]
    same = {first.groups[0]: first[group], first.groups[1]: second[group]}
    assert len(GroupedCumulativeRelease(first.by, same)) == 2
    with pytest.raises(UsageError, match="by one mechanism"):
        GroupedCumulativeRelease(first.by, same | {first.groups[1]: other[group]})
