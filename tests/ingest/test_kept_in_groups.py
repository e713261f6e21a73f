"""Which items of a user and which groups of a label count: alike on every engine, and no group is favored."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date, timedelta
from hashlib import md5
from typing import Any

import numpy as np
import polars as pl
import pytest

from anonhist.ingest.groups.read import read_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.grouped import GroupedProfile
from anonhist_testing.user_bound import sample

Held = Callable[[dict[str, list[Any]]], AbstractContextManager[tuple[Any, dict[str, Any]]]]

KEY = "0123456789abcdef" * 2
MONDAYS = [date(2026, 11, 30) + timedelta(weeks=at) for at in range(6)]
# user, label, day: a user has up to three items in a week, some of them equal; weeks go across the turn of the year.
ROWS = [
    (f"u{user}", f"l{item % 2}", monday + timedelta(days=(user + item) % 7))
    for user in range(12)
    for at, monday in enumerate(MONDAYS)
    for item in range((user + at) % 4)
]
TABLE: dict[str, list[Any]] = {name: [row[at] for row in ROWS] for at, name in enumerate(("user", "label", "day"))}
GROUPS = [monday.isoformat() for monday in MONDAYS[:5]]


def week_of(day: date) -> str:
    year, week, _ = day.isocalendar()
    return date.fromisocalendar(year, week, 1).isoformat()


def text_in_queries(week: str) -> str:
    return str((date.fromisoformat(week).toordinal() - 1) // 7)


def digest(occurrence: int, user: str, place: str) -> str:
    return md5(f"{KEY}{occurrence} {user}\n={place}".encode(), usedforsecurity=False).hexdigest()


def kept_of_users(rows: list[tuple[str, str, date]], most: int, most_groups: int | None) -> Counter[tuple[str, str]]:
    """Return how often each label counts in each group: the definition, row by row."""
    of_user: dict[str, list[tuple[str, str]]] = {}
    for user, label, day in rows:
        if week_of(day) in GROUPS:
            of_user.setdefault(user, []).append((week_of(day), label))
    kept: Counter[tuple[str, str]] = Counter()
    for user, items in of_user.items():
        groups = sorted({week for week, _ in items}, key=lambda week: digest(0, user, text_in_queries(week)))
        counted = [(text_in_queries(week), label, week) for week, label in items if week in groups[:most_groups]]
        # The unit of a bound is the user, or the user in a group.
        for within in [""] if most_groups is None else sorted({text for text, *_ in counted}):
            own = [row for row in counted if within in ("", row[0])]
            text = f"{KEY} {user}\n{within}" if within else f"{KEY} {user}"
            kept.update((week, label) for _, label, week in sample(own, bound=most, start_text=text))
    return kept


def counts_of(kept: Counter[tuple[str, str]]) -> dict[str, list[int]]:
    return {group: sorted(many for (week, _), many in kept.items() if week == group and many) for group in GROUPS}


def counts_in(read: GroupedProfile) -> dict[str | None, list[int]]:
    return {
        group: np.repeat(profile.counts, profile.prevalences.astype(np.int64)).tolist()
        for (group,), profile in read.items()
    }


@pytest.mark.first(2)
@pytest.mark.drawn(8)
@pytest.mark.parametrize(("most", "most_groups"), [(1, None), (3, None), (1, 2), (2, 3)])
def test_items_of_users_are_kept_by_definition_on_every_engine(
    hold_grouped: Held, most: int, most_groups: int | None
) -> None:
    with hold_grouped(TABLE) as (source, said):
        read = read_groups(
            source,
            label="label",
            by="week(day)",
            groups=GROUPS,
            user="user",
            max_per_user=most,
            max_groups_per_user=most_groups,
            order_key=KEY,
            **said,
        )
    assert counts_in(read) == counts_of(kept_of_users(ROWS, most, most_groups))


@pytest.mark.first(8)
@pytest.mark.parametrize("most", [1, 3])
def test_groups_of_labels_are_kept_by_definition_on_every_engine(hold_grouped: Held, most: int) -> None:
    counts = Counter((week_of(day), user) for user, _, day in ROWS)
    told: Counter[tuple[str, str]] = Counter()
    for user in {user for user, *_ in ROWS}:
        groups = [week for week in GROUPS if (week, user) in counts]
        # A label stands where a user stands, and the label's number is that of one that is there.
        first = sorted(groups, key=lambda week: digest(1, user, text_in_queries(week)))[:most]
        told.update({(week, user): counts[week, user] for week in first})
    with hold_grouped(TABLE) as (source, said):
        read = read_groups(
            source,
            label="user",
            by="week(day)",
            groups=GROUPS,
            unit=PrivacyUnit.label(max_count=9),
            max_groups_per_label=most,
            order_key=KEY,
            **said,
        )
    assert counts_in(read) == counts_of(told)


@pytest.mark.parametrize("bounds", [{"max_per_user": 1}, {"max_per_user": 1, "max_groups_per_user": 1}])
def test_no_week_is_favored_by_any_key(bounds: dict[str, int]) -> None:
    users = 600
    rows = pl.DataFrame(
        [(f"u{user}", "a", monday) for user in range(users) for monday in MONDAYS],
        schema=["user", "label", "day"],
        orient="row",
    )
    read = read_groups(
        rows, label="label", by="week(day)", groups=[*map(str, MONDAYS)], user="user", order_key=KEY, **bounds
    )
    sizes = [profile.n for profile in read.values()]
    assert sum(sizes) == users
    # Chi-squared with five degrees of freedom: a fixed key, so this is the same at each run; 20.5 is exceeded by one
    # key in a thousand.
    assert sum((size - users / 6) ** 2 for size in sizes) / (users / 6) < 20.5
