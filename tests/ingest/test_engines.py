"""One body of cases for all engines, compared with what plain Python counts of the same rows."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import date
from typing import Any

import pytest

from anonhist.ingest import read_profile
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.windows import read_cumulative
from anonhist.mechanisms.grouping import FindGroups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Bounded, BoundedUnits, Profile
from anonhist_testing.cases import each_of
from anonhist_testing.user_bound import items_of_users, kept_groups, kept_items, sample

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Held = Callable[[dict[str, list[Any]]], AbstractContextManager[tuple[Any, dict[str, Any]]]]

KEY = "0123456789abcdef" * 2
SIZE = 60
# Equal rows, ties, missing values in each column; "rank" alone is another in each row.
EVENTS: dict[str, list[Any]] = {
    "who": [None if at % 13 == 5 else f"u{at % 7}" for at in range(SIZE)],
    "what": [None if at % 11 == 3 else f"l{at * at % 5}" for at in range(SIZE)],
    "where": [None if at % 17 == 4 else ("DE", "FR", "é x")[at * at % 3 + (at % 4 == 0)] for at in range(SIZE)],
    "rank": [f"{at * 37 % SIZE:02}" for at in range(SIZE)],
    "tie": [None if at % 19 == 7 else "xyz"[at % 3] for at in range(SIZE)],
    "seen": [None if at % 23 == 9 else f"2026-11-{2 + at % 9:02} 10:00" for at in range(SIZE)],
    "day": [None if at % 23 == 9 else date(2026, 11, 27 + at % 4) for at in range(SIZE)],
    "number": [None if at % 29 == 8 else at % 5 for at in range(SIZE)],
    "ratio": [None if at % 29 == 8 else at % 5 / 2 for at in range(SIZE)],
}
ROWS = [dict(zip(EVENTS, row, strict=True)) for row in zip(*EVENTS.values(), strict=True)]


def counted(labels: Iterable[Any], unit: PrivacyUnit | None = None) -> Profile:
    """Count labels, as Python compares them."""
    return Profile.from_counts(list(Counter(labels).values()), unit=unit)


@pytest.mark.first(2)
@each_of(("label", "keep_null"), [("what", False), ("what", True), ("number", False), ("ratio", False), ("day", False)])
def test_labels(hold_anywhere: Held, label: str, keep_null: bool) -> None:  # noqa: FBT001
    with hold_anywhere(EVENTS) as (source, said):
        read = read_profile(source, label=label, keep_null=keep_null, **said)
    assert read == counted(row[label] for row in ROWS if keep_null or row[label] is not None)


@pytest.mark.full
@pytest.mark.first(2)
@each_of(
    ("bound", "said"),
    [
        (1, {}),
        (3, {"keep_null": True, "count_users": True}),
        (3, {"order_by": "tie"}),
        (4, {"order_by": "tie", "keep_null": True}),
        (2, {"order_by": "rank"}),
        (3, {"order_by": "number", "user": "number"}),
        (99, {"count_users": True}),
    ],
)
def test_users(hold_anywhere: Held, bound: int, said: dict[str, Any]) -> None:
    given: dict[str, Any] = {"user": "who"} | said
    user, order_by, keep_null = given["user"], given.get("order_by"), given.get("keep_null", False)
    with hold_anywhere(EVENTS) as (source, named):
        read = read_profile(source, label="what", max_per_user=bound, order_key=KEY, **given, **named)
    rows = [(_text(row[user]), row["what"], _text(row[order_by]) if order_by else None) for row in ROWS]
    kept = kept_items(rows, bound=bound, key=KEY, keep_null=keep_null)
    assert read == Profile.from_counts(list(kept.values()), unit=PrivacyUnit.user(max_items=bound))
    if given.get("count_users"):
        items = items_of_users(rows, keep_null=keep_null)
        assert read.users == BoundedUnits(bound, Profile.from_counts(items.values()))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def profiles(
    rows: Iterable[tuple[tuple[str | None, ...], str | None]], unit: PrivacyUnit | None = None
) -> dict[tuple[str | None, ...], Profile]:
    """Count the labels of each group, of rows (group, label)."""
    labels: defaultdict[tuple[str | None, ...], list[str | None]] = defaultdict(list)
    for group, label in rows:
        labels[group].append(label)
    return {group: counted(each, unit) for group, each in labels.items()}


def labelled(*parts: Callable[[dict[str, Any]], str | None]) -> list[tuple[tuple[str | None, ...], str | None]]:
    """Return the groups and labels of rows that have a label."""
    return [(tuple(part(row) for part in parts), row["what"]) for row in ROWS if row["what"] is not None]


def where(row: dict[str, Any]) -> str | None:
    """Return the group of a row by its country."""
    return row["where"]


def month(row: dict[str, Any]) -> str | None:
    """Return the group of a row by the month of its date."""
    return None if row["day"] is None else row["day"].isoformat()[:7]


def week(row: dict[str, Any]) -> str | None:
    """Return the group of a row by the week of its time, of the two there are."""
    return None if row["seen"] is None else "2026-11-02" if row["seen"] < "2026-11-09" else "2026-11-09"


def number(row: dict[str, Any]) -> str | None:
    """Return the group of a row by its number."""
    return _text(row["number"])


@pytest.mark.first(2)
@each_of(
    ("by", "groups", "parts"),
    [
        ("where", [("DE",), ("FR",), ("XX",)], (where,)),
        ("number", [("0",), ("3",), ("8",)], (number,)),
        ("week(seen)", [("2026-11-02",), ("2026-11-09",), ("2026-11-16",)], (week,)),
        (["where", "month(day)"], [("DE", "2026-11"), ("é x", "2026-11"), ("FR", "2026-12")], (where, month)),
    ],
)
def test_groups(hold_anywhere: Held, by: Any, groups: list[tuple[str]], parts: tuple[Any, ...]) -> None:
    listed = groups if len(parts) > 1 else [group for (group,) in groups]
    with hold_anywhere(EVENTS) as (source, said):
        read = read_groups(source, label="what", by=by, groups=listed, **said)
    told = profiles(labelled(*parts))
    assert dict(read) == {group: told.get(group, Profile([], [])) for group in groups}


@pytest.mark.first(4)
def test_missing_and_other_groups(hold_anywhere: Held) -> None:
    with hold_anywhere(EVENTS) as (source, said):
        read = read_groups(source, label="what", by="where", groups=[None, "FR"], other="rest", keep_null=True, **said)
    told = profiles(((row["where"] if row["where"] in (None, "FR") else "rest",), row["what"]) for row in ROWS)
    assert dict(read) == told


@pytest.mark.first(2)
@each_of("said", [{}, {"max_groups_per_user": 1}, {"max_groups_per_user": 2}])
def test_users_of_groups(hold_anywhere: Held, said: dict[str, int]) -> None:
    with hold_anywhere(EVENTS) as (source, named):
        read = read_groups(
            source,
            label="what",
            by="where",
            groups=["DE", "FR"],
            user="who",
            max_per_user=2,
            order_by="rank",
            order_key=KEY,
            **said,
            **named,
        )
    rows = [row for row in ROWS if row["where"] in ("DE", "FR") and None not in (row["who"], row["what"])]
    pairs = [(row["who"], row["where"]) for row in rows]
    chosen = kept_groups(pairs, most=said["max_groups_per_user"], key=KEY) if said else set(pairs)
    seen: Counter[Any] = Counter()
    kept = []
    for row in sorted(rows, key=lambda row: row["rank"]):
        if (row["who"], row["where"]) in chosen:
            one = (row["who"], row["where"] if said else None)
            seen[one] += 1
            kept += [((row["where"],), row["what"])] if seen[one] <= 2 else []
    assert dict(read) == profiles(kept, read.unit)


@pytest.mark.first(2)
@each_of("said", [{}, {"order_by": "rank"}, {"other": "rest"}])
def test_all_levels_count_the_same_rows_of_users(hold_anywhere: Held, said: dict[str, str]) -> None:
    listed = [("DE", "2026-11"), ("DE", "2026-12"), ("FR", "2026-11")]
    with hold_anywhere(EVENTS) as (source, named):
        read = read_groups(
            source,
            label="what",
            by=["where", "month(day)"],
            groups=listed,
            levels="crossing",
            user="who",
            max_per_user=2,
            order_key=KEY,
            **said,
            **named,
        )
    of_user: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in sorted(ROWS, key=lambda row: row["rank"]):
        group = (where(row), month(row))
        group = group if group in listed or None in group or "other" not in said else ("rest", "rest")
        if (group in listed or group == ("rest", "rest")) and None not in (row["who"], row["what"]):
            of_user[row["who"]].append((*group, row["what"]))
    kept = [
        row
        for user, rows in of_user.items()
        for row in (rows[:2] if "order_by" in said else sample(rows, bound=2, start_text=f"{KEY} {user}"))
    ]
    for depth, level in enumerate([*read.above, read]):
        told = profiles(((row[:depth], row[2]) for row in kept), read.unit)
        assert dict(level) == {group: told.get(group, Profile([], [], unit=read.unit)) for group in level}
        assert {*told} <= {*level}


@pytest.mark.first(4)
def test_labels_of_few_groups(hold_anywhere: Held) -> None:
    unit = PrivacyUnit.label(max_count=5)
    given: dict[str, Any] = {"label": "who", "by": "where", "groups": ["DE", "FR", "é x"], "order_key": KEY}
    with hold_anywhere(EVENTS) as (source, said):
        read = read_groups(source, unit=unit, max_groups_per_label=1, **given, **said)
    rows = [(row["who"], row["where"]) for row in ROWS if None not in (row["who"], row["where"])]
    kept = kept_groups(rows, most=1, key=KEY, number=1)
    told = profiles((((group,), label) for label, group in rows if (label, group) in kept), read.unit)
    # Every label there is, each in one group.
    assert sum(profile.num_labels for profile in told.values()) == 7
    assert dict(read) == {(group,): Profile([], [], unit=read.unit) for group in given["groups"]} | told


@pytest.mark.full
@pytest.mark.first(2)
@each_of(
    "given",
    [
        {"unit": PrivacyUnit.label(max_count=5), "max_groups_per_label": 1},
        {"unit": PrivacyUnit.label(max_count=5), "max_groups_per_label": 2, "keep_null": True, "other": "rest"},
        {"user": "who", "max_per_user": 2, "max_groups_per_user": 1},
        {"user": "who", "max_per_user": 2, "max_groups_per_user": 2, "keep_null": True, "other": "rest"},
        {"user": "who", "max_per_user": 4},
    ],
)
def test_units_of_groups_before_the_bound(hold_anywhere: Held, given: dict[str, Any]) -> None:
    with hold_anywhere(EVENTS) as (source, said):
        read = read_groups(
            source, label="what", by="where", groups=["DE", "FR"], order_key=KEY, count_units=True, **given, **said
        )
    unit, keeps_null, other = "who" if "user" in given else "what", "keep_null" in given, given.get("other")
    pairs = []
    for row in ROWS:
        group = row["where"] if row["where"] in ("DE", "FR") else other
        is_whole = keeps_null or None not in (row["what"], row["where"])
        if group is not None and is_whole and (unit == "what" or row["who"] is not None):
            pairs.append((row[unit], group))
    numbers = Counter(one for one, _ in (set(pairs) if "max_groups_per_user" in given or unit == "what" else pairs))
    of = {1: Bounded.GROUPS_OF_LABELS, 2: Bounded.ITEMS_OF_USERS, 3: Bounded.GROUPS_OF_USERS}
    kind = of[1 if unit == "what" else 3 if "max_groups_per_user" in given else 2]
    bound = given.get("max_groups_per_label") or given.get("max_groups_per_user") or given["max_per_user"]
    assert read.units == BoundedUnits(bound, Profile.from_counts([*numbers.values()]), kind)


@pytest.mark.first(4)
def test_found_groups(hold_anywhere: Held) -> None:
    # So much budget finds every group, whatever is drawn.
    finding = FindGroups(epsilon="1000", delta="1/2")
    with hold_anywhere(EVENTS) as (source, said):
        read = read_groups(source, label="what", by="where", groups=finding, **said)
    assert dict(read) == profiles((group, label) for group, label in labelled(where) if group != (None,))


@pytest.mark.first(4)
@each_of("said", [{}, {"user": "who", "max_per_user": 3, "order_by": "rank", "order_key": KEY}])
def test_windows(hold_anywhere: Held, said: dict[str, Any]) -> None:
    days, thresholds = [f"2026-11-{day:02}" for day in range(3, 7)], [1, 2, 4]
    with hold_anywhere(EVENTS) as (source, named):
        read = read_cumulative(source, label="what", by="day(seen)", days=days, thresholds=thresholds, **said, **named)
    reached, seen, users = [[0] * len(days) for _ in thresholds], Counter[str](), Counter[str]()
    listed = [row for row in ROWS if row["what"] is not None and row["seen"] is not None and row["seen"][:10] in days]
    kept = []
    for row in sorted(listed, key=lambda row: row["rank"]):
        if said:
            users[row["who"]] += 1
        if not said or (row["who"] is not None and users[row["who"]] <= 3):
            kept.append(row)
    for at, day in enumerate(days):
        seen.update(row["what"] for row in kept if row["seen"].startswith(day))
        for place, threshold in enumerate(thresholds):
            reached[place][at] = sum(count >= threshold for count in seen.values())
    assert read.k_plus.tolist() == reached


@pytest.mark.first(4)
def test_counted_data(hold_anywhere: Held) -> None:
    counts = {"label": ["a", "b", "a", None, "c"], "count": [3, 1, 2, 7, 1]}
    with hold_anywhere(counts) as (source, said):
        read = read_profile(source, format="counts", **said)
    assert read == Profile.from_counts([5, 1, 1])
    prevalences = {"count": [1, 5, 1, 2**40], "prevalence": [4, 1, 2, 3]}
    with hold_anywhere(prevalences) as (source, said):
        read = read_profile(source, format="prevalences", **said)
    assert read == Profile([1, 5, 2**40], [6, 1, 3])


@pytest.mark.first(2)
def test_counted_groups(hold_anywhere: Held) -> None:
    counts = {"where": ["DE", "DE", "FR", "XX"], "label": ["a", "a", "b", "c"], "count": [3, 1, 2, 9]}
    with hold_anywhere(counts) as (source, said):
        read = read_groups(source, by="where", groups=["DE", "FR"], format="counts", **said)
    assert dict(read) == {("DE",): Profile.from_counts([4]), ("FR",): Profile.from_counts([2])}
    bounds: dict[str, Any] = {"unit": PrivacyUnit.label(max_count=9), "max_groups_per_label": 1, "count_units": True}
    counts = {"where": ["DE", "DE", "FR", "XX"], "label": ["a", "a", "a", "c"], "count": [3, 1, 2, 9]}
    with hold_anywhere(counts) as (source, said):
        read = read_groups(source, by="where", groups=["DE", "FR"], format="counts", **bounds, **said)
    assert read.units == BoundedUnits(1, Profile.from_counts([2]), Bounded.GROUPS_OF_LABELS)
