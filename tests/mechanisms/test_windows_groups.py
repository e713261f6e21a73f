"""Cumulative windows of groups: how far one unit moves the numbers of all groups, and what noise that needs."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.ingest.windows import read_cumulative_groups
from anonhist.mechanisms.window_mechanism import far_of_reached, moved
from anonhist.mechanisms.window_release import release_cumulative_groups
from anonhist.mechanisms.windows_by_day import DailyMechanism, IncrementsMechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist_testing.apart import Row, days_apart, read_apart, rows_apart

DAYS = ["2026-11-01", "2026-11-02"]
KEY = "0f" * 16
LABEL = PrivacyUnit.label(max_count=2)
# Which column names the unit, how many rows one may have, the reader's bounds, the unit and the groups.
CASES: dict[str, tuple[int, int, dict[str, Any], PrivacyUnit, str]] = {
    "item": (0, 1, {}, PrivacyUnit.item(), "xy"),
    "user of 1": (0, 3, {"user": "user", "max_per_user": 1}, PrivacyUnit.user(max_items=1), "xy"),
    "user of 2": (0, 3, {"user": "user", "max_per_user": 2}, PrivacyUnit.user(max_items=2), "xy"),
    "user of 1 in each of 2": (
        0,
        3,
        {"user": "user", "max_per_user": 1, "max_groups_per_user": 2},
        PrivacyUnit.user(max_items=1, groups=2),
        "xy",
    ),
    "label in 1": (1, 4, {"unit": LABEL, "max_groups_per_label": 1}, PrivacyUnit.label(max_count=2), "xyz"),
    "label in 2": (1, 4, {"unit": LABEL, "max_groups_per_label": 2}, PrivacyUnit.label(max_count=2, groups=2), "xyz"),
}
THRESHOLDS = [(1,), (2,), (1, 2)]


def read(rows: list[Row], days: list[str], groups: str, given: dict[str, Any]) -> NDArray[np.int64]:
    """The increments of all groups, by the reader: shape (groups, thresholds, days)."""
    names = ("user", "label", "group", "day")
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    key = {"order_key": KEY} if len(given) > 1 else {}
    asked = {"cumulative_by": "day(day)", "days": days, "thresholds": (1, 2), "groups": list(groups), **given, **key}
    found = read_cumulative_groups(table, label="label", by="group", **asked)
    return np.array([each.increments for each in found.values()])


def of_one(column: int, most: int, groups: str) -> Iterator[tuple[list[Row], list[list[Row]]]]:
    """Small data sets without a unit, and for each all that the unit may add: few rows of one value in a column."""
    # Of labels, who the users are does not matter.
    users = ("u", "v") if column == 0 else ("u",)
    possible: list[Row] = list(product(users, ("a", "b"), groups, DAYS))
    own = [row for row in possible if row[column] == possible[0][column]]
    others = [row for row in possible if row[column] != possible[0][column]]
    added = [list(rows) for more in range(1, most + 1) for rows in combinations_with_replacement(own, more)]
    for rest in ([], *([row] for row in others)):
        yield rest, added


def changes(numbers: NDArray[np.int64], unit: PrivacyUnit) -> NDArray[np.int64]:
    """How far apart any two of some results are in what the noise of a day is added to, on the day where it is most."""
    reached = numbers.cumsum(axis=-1)
    if unit.max_count is not None:
        # How many labels are between two thresholds.
        reached = -np.diff(reached, axis=2, append=0)
    return distances(np.moveaxis(reached, -1, 0)).max(axis=0)


def distances(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """ℓ1 distances of any two results, summed over the last two axes; the results are along the axis before."""
    apart = np.abs(numbers[..., :, np.newaxis, :, :] - numbers[..., np.newaxis, :, :, :])
    return np.asarray(apart.sum(axis=(-1, -2)))


@pytest.mark.slow
@pytest.mark.parametrize("case", list(CASES))
def test_one_unit_moves_all_groups_by_what_the_noise_is_for(case: str) -> None:
    column, most, given, unit, groups = CASES[case]
    farthest = dict.fromkeys(product(THRESHOLDS, (1, 2), (1, 2)), 0)
    for rest, added in of_one(column, most, groups):
        # The first is the data set without the unit, all others are neighbors of it, and replacements of each other.
        # Each has names of its own: what is the same in all of them is one row, which counts whatever it is called.
        sets = [rest, *(rest + more for more in added)]
        found = read_apart(lambda rows, days: read(rows, days, groups, given), sets, DAYS)
        for thresholds, width in product(THRESHOLDS, (1, 2)):
            numbers = found[:, :, [k - 1 for k in thresholds]]
            summed = np.add.reduceat(numbers, np.arange(0, len(DAYS), width), axis=-1)
            flat = summed.reshape(*summed.shape[:2], -1)
            apart = distances(flat)
            for steps, far in ((1, apart[0].max()), (2, apart.max())):
                bound = moved(unit, thresholds=len(thresholds), intervals=-(-len(DAYS) // width))
                assert far <= bound * steps
                farthest[thresholds, width, steps] = max(farthest[thresholds, width, steps], int(far))
            daily = changes(numbers, unit)
            assert daily[0].max() <= far_of_reached(unit)
            assert daily.max() <= 2 * far_of_reached(unit)
    if unit.max_count is not None:
        # Of labels every bound is reached, also where one is replaced.
        for (thresholds, width, steps), far in farthest.items():
            if width == 1:
                assert far == len(thresholds) * unit.groups * steps


@pytest.mark.parametrize("case", list(CASES))
def test_data_sets_that_are_read_as_one_are_counted_apart(case: str) -> None:
    column, most, given, _, groups = CASES[case]
    rest, added = list(of_one(column, most, groups))[-1]
    sets = [rest + more for more in added]
    together = read_apart(lambda rows, days: read(rows, days, groups, given), sets, DAYS)
    for at in range(0, len(together), 20):
        alone = read(rows_apart(at, sets[at], DAYS), days_apart(at, DAYS), groups, given)
        assert (alone == together[at]).all()


@pytest.mark.parametrize("relation", list(NeighboringRelation))
def test_noise_is_for_all_groups_of_a_unit(relation: NeighboringRelation) -> None:
    given: dict[str, Any] = {"thresholds": 2, "days": 4}
    step = relation.distance
    label, user = PrivacyUnit.label(max_count=9, groups=3), PrivacyUnit.user(max_items=5, groups=3)
    assert IncrementsMechanism(1, label, relation, **given).rates == (Fraction(1, 6 * step),)
    assert IncrementsMechanism(1, user, relation, **given).rates == (Fraction(1, 60 * step),)
    assert DailyMechanism(1, label, relation, **given).rates == (Fraction(1, 12 * step),)
    assert DailyMechanism(1, user, relation, **given).rates == (Fraction(1, 60 * step),)


UNIT = PrivacyUnit.label(max_count=5, groups=2)


def grouped(unit: PrivacyUnit = UNIT) -> GroupedCumulativeCounts:
    key = None if unit == PrivacyUnit.item() else KEY
    increments = {"a": [[40, 10], [0, 20]], "b": [[0, 0], [0, 0]], "c": [[7, 0], [7, 0]]}
    return GroupedCumulativeCounts(
        ("x",),
        {
            (name,): CumulativeCounts((1, 3), tuple(DAYS), each, unit, order_key=key)
            for name, each in increments.items()
        },
    )


def test_all_groups_are_released_under_one_guarantee() -> None:
    release = release_cumulative_groups(grouped(), epsilon=200)
    assert (release.groups, release.by, release.days) == ((("a",), ("b",), ("c",)), ("x",), tuple(DAYS))
    assert {group: each.values.tolist() for group, each in release.items()} == {
        group: each.k_plus.tolist() for group, each in grouped().items()
    }
    assert release.guarantee.unit == UNIT
    assert release.guarantee.epsilon == 200
    assert all(each.guarantee == release.guarantee for each in release.values())
    assert release["a"][DAYS[0], 1].assumes == "labels in more than 2 groups had none left out"
    assert repr(release).startswith("GroupedCumulativeRelease(3 groups by x, 2 thresholds on 2 days, ")
    with pytest.raises(AttributeError, match="immutable"):
        release.by = ("y",)
    with pytest.raises(KeyError, match="no group"):
        release["d"]


@pytest.mark.parametrize(
    ("given", "read_for", "told"),
    [
        ({"unit": PrivacyUnit.label(max_count=5)}, UNIT, "protect at least that"),
        ({"unit": UNIT}, PrivacyUnit.item(), "read the data with max_groups_per_label"),
        ({"unit": PrivacyUnit.label(max_count=2, groups=2)}, UNIT, "must not exceed max_count"),
        ({"mechanism": "frobenius"}, UNIT, "must be one of auto, "),
        ({"epsilon": 0}, UNIT, "epsilon"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], read_for: PrivacyUnit, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        release_cumulative_groups(grouped(read_for), **{"epsilon": 1, **given})
    with pytest.raises(UsageError, match="as read_cumulative_groups returns"):
        release_cumulative_groups({}, epsilon=1)  # type: ignore[arg-type]  # that is the point
