"""Entrances: how each is called, how far apart two results are, and what is promised for one extra unit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import numpy as np

from anonhist.ingest import read_profile
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.user_labels import read_user_labels
from anonhist.ingest.windows import read_cumulative, read_cumulative_groups
from anonhist.mechanisms.bound_choosing import PreparedChoice
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.chosen_bound import Bounds, ChosenBound
from anonhist.releases.relations import Design
from anonhist_testing.way_in.distances import capped_l1, increments_l1, sorted_l1_of_groups, sorted_l1_of_profiles
from anonhist_testing.way_in.tables import Role, Unit, Use

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anonhist_testing.way_in.sources import Source

KEY = "0123456789abcdef" * 2
_CHOOSES = (0, 1, 2, 4)
DAYS = tuple(str(date(2026, 11, 1) + timedelta(days)) for days in range(92))
MONTHS = ("2026-10", "2026-11", "2026-12", "2027-01")
THRESHOLDS = (1, 3, 10)


class Measure(NamedTuple):
    """How far apart two results are in one respect, and how far apart they may be."""

    distance: int
    promise: int


@dataclass(frozen=True)
class Entrance:
    """A way in.

    Parameters
    ----------
    name
        What people call it.
    roles
        The columns that it reads.
    unit
        The unit by which neighbors differ.
    read
        Reads a source, given its options and a public list of groups.
    measures
        Returns how far apart two results are, and what is promised for a unit with this many rows.
    takes
        Whether it reads a source: as the documentation says, some entrances do not read all sources.
    """

    name: str
    roles: Mapping[str, Role]
    unit: Unit
    read: Callable[[Any, dict[str, Any], list[Any]], Any]
    measures: Callable[[Any, Any, int], list[Measure]]
    takes: Callable[[Source], bool] = lambda source: not source.of_edges


_NAME, _LABEL, _GROUP = Role(Use.NAMES), Role(Use.NAMES, 30), Role(Use.GROUPS, 8)
_DATE, _ORDER = Role(Use.DATES), Role(Use.ORDER)
_ITEM = Unit()


def _user(most_rows: int) -> Unit:
    return Unit(most_rows, "who")


def _of_profiles(promise: Callable[[int], int]) -> Callable[[Any, Any, int], list[Measure]]:
    return lambda few, more, rows: [Measure(sorted_l1_of_profiles(few, more), promise(rows))]


def _of_counted_users(few: Any, more: Any, rows: int) -> list[Measure]:
    """Measure the items that count, and the number of items of each user before the bound, for one extra user."""
    own = sorted_l1_of_profiles(few.users.numbers, more.users.numbers)
    users = more.users.numbers.num_labels - few.users.numbers.num_labels
    return [Measure(sorted_l1_of_profiles(few, more), min(2, rows)), Measure(own, rows), Measure(abs(users), 1)]


def _of_matched_labels(few: Any, more: Any, rows: int) -> list[Measure]:
    """Measure the labels matched to users, and the pairs of each user and of each label, for one extra user."""
    of_each = [
        (Profile.from_counts(np.bincount(one)), Profile.from_counts(np.bincount(other)))
        for one, other in ((few.users, more.users), (few.labels, more.labels))
    ]
    return [
        *(Measure(abs(more.num_matched(most) - few.num_matched(most)), min(most, rows)) for most in (1, 2, 8)),
        *(Measure(sorted_l1_of_profiles(*pair), rows) for pair in of_each),
        Measure(abs(of_each[0][1].num_labels - of_each[0][0].num_labels), min(1, rows)),
    ]


def _of_groups(promise: Callable[[int], int]) -> Callable[[Any, Any, int], list[Measure]]:
    def measures(few: Any, more: Any, rows: int) -> list[Measure]:
        levels = [(few, more), *zip(few.above, more.above, strict=True)]
        return [Measure(sorted_l1_of_groups(less, whole), promise(rows)) for less, whole in levels]

    return measures


def _of_levels(promise: Callable[[int], int]) -> Callable[[Any, Any, int], list[Measure]]:
    """Also measure relations of totals and groups that do not hold: none may fail."""

    def broken(read: Any) -> int:
        found = {group: each for level in (*read.above, read) for group, each in level.items()}
        return sum(not relation.holds(found) for relation in Design(read.groups, read.unit).relations)

    def measures(few: Any, more: Any, rows: int) -> list[Measure]:
        return [*_of_groups(promise)(few, more, rows), *(Measure(broken(each), 0) for each in (few, more))]

    return measures


def _of_labels(cap: int, groups: int) -> Callable[[Any, Any, int], list[Measure]]:
    def measures(few: Any, more: Any, rows: int) -> list[Measure]:
        levels = [(few, more), *zip(few.above, more.above, strict=True)]
        return [Measure(capped_l1(less, whole, cap), min(groups, rows)) for less, whole in levels]

    return measures


def _of_counted_units(measured: Callable[[Any, Any, int], list[Measure]]) -> Callable[[Any, Any, int], list[Measure]]:
    """Also measure the number of groups of each unit before the bound: one extra unit with one number."""

    def measures(few: Any, more: Any, rows: int) -> list[Measure]:
        own = sorted_l1_of_profiles(few.units.numbers, more.units.numbers)
        units = more.units.numbers.num_labels - few.units.numbers.num_labels
        return [*measured(few, more, rows), Measure(own, rows), Measure(abs(units), 1)]

    return measures


def of_windows(most: int, thresholds: int, days: int) -> Callable[[Any, Any, int], list[Measure]]:
    """Measure increments, and the numbers of each day; for groups, all together."""

    def measures(few: Any, more: Any, rows: int) -> list[Measure]:
        items = min(most, rows)
        increments, daily = increments_l1(few, more)
        return [Measure(increments, items * min(2 * thresholds, 2 * days - 1)), Measure(daily, items)]

    return measures


def _profile(**asked: Any) -> Callable[[Any, dict[str, Any], list[Any]], Any]:
    return lambda source, said, _: read_profile(source, label="what", **said, **asked)


def condition_on(column: str, values: list[Any]) -> str:
    """Return a public condition on a column with values that its type accepts: some, those from one on, and nulls.

    Examples
    --------
    >>> for values in ([1, 2, 3, 4], ["it's"], [True, False], []):
    ...     print(condition_on("n", values))
    n in (1, 2) or not n < 3 or n is null
    n in ('it''s') or not n < 'it''s' or n is null
    n in (true) or n is null
    n is null
    """
    literals = list(map(_literal, values))
    half = -(-len(literals) // 2)
    tests = [f"{column} in ({', '.join(literals[:half])})"] if literals else []
    if literals and not isinstance(values[-1], bool):
        tests.append(f"not {column} < {literals[half % len(literals)]}")
    return " or ".join([*tests, f"{column} is null"])


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:f}" if isinstance(value, Decimal) else str(value) if isinstance(value, int) else _quoted(str(value))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _chosen(source: Any, said: dict[str, Any], _: list[Any]) -> Any:
    """Read with a bound that is chosen: return what it is chosen by, and the profile, whose bound is always 2."""
    found: list[Mapping[int, int]] = []

    def draw(choice: PreparedChoice, sizes: Mapping[int, int], **_: Any) -> PrivacyUnit:
        found.append(sizes)
        return choice.units[1]

    asked = ChosenBound(1, 100, candidates=(1, 2, 4))
    with patch.object(PreparedChoice, "draw", draw):
        profile = read_profile(source, label="what", max_per_user=asked, **said, **_BOUNDED)
    return profile, found[0]


def _of_choices(few: Any, more: Any, rows: int) -> list[Measure]:
    """Measure the items that count, and the differences of what bounds keep, by which one is chosen."""
    kept = [
        {bound: sum(min(size, bound) * many for size, many in each[1].items()) for bound in _CHOOSES}
        for each in (few, more)
    ]
    own = [
        Measure(abs(kept[1][high] - kept[1][low] - kept[0][high] + kept[0][low]), min(high, rows) - min(low, rows))
        for low, high in pairwise(_CHOOSES)
    ]
    return [Measure(sorted_l1_of_profiles(few[0], more[0]), min(2, rows)), *own]


def _chosen_of_labels(source: Any, said: dict[str, Any], groups: list[Any]) -> Any:
    """Read groups with bounds that are chosen: return them, and what they are chosen by; they are always 2 and 1."""
    found: list[Sequence[Mapping[int, int]]] = []

    def draw(choice: PreparedChoice, *places: Mapping[int, int], **_: Any) -> PrivacyUnit:
        found.append(places)
        return choice.units[1]

    asked = ChosenBound(1, 100, candidates=(1, 2, 4), group_candidates=(1, 2))
    chosen: dict[str, Any] = {"max_count": asked, "max_groups_per_label": asked, "order_key": KEY}
    with patch.object(PreparedChoice, "draw", draw):
        read = read_groups(source, label="what", by="where", groups=groups, other="all others", **chosen, **said)
    return read, found[0]


def _of_label_choices(few: Any, more: Any, rows: int) -> list[Measure]:
    """Measure labels in the groups that count, and the differences of what pairs of bounds keep."""
    bounds = [Bounds(items, groups) for items in (1, 2, 4) for groups in (1, 2)]

    def kept(places: Sequence[Mapping[int, int]], of: Bounds) -> int:
        return sum(min(size, of.items) * many for sizes in places[: of.groups] for size, many in sizes.items())

    own = [{each: kept(places, each) for each in bounds} for places in (few[1], more[1])]
    differences = [
        Measure(
            abs(own[1][one] - own[1][other] - own[0][one] + own[0][other]),
            min(one.apart(other, NeighboringRelation.ADD_OR_REMOVE), max(one.items, other.items) * rows),
        )
        for one, other in combinations(bounds, 2)
    ]
    return [Measure(capped_l1(few[0], more[0], 2), min(1, rows)), *differences]


def _filtered(read: Callable[..., Any], **asked: Any) -> Callable[[Any, dict[str, Any], list[Any]], Any]:
    """Return a function that reads the rows that a condition on the column of groups keeps."""

    def reading(source: Any, said: dict[str, Any], groups: list[Any]) -> Any:
        return read(source, label="what", where=condition_on("where", groups), **said, **asked)

    return reading


def _groups(**asked: Any) -> Callable[[Any, dict[str, Any], list[Any]], Any]:
    def read(source: Any, said: dict[str, Any], groups: list[Any]) -> Any:
        return read_groups(source, **({"label": "what", "by": "where", "groups": groups} | said | asked))

    return read


def _cumulative(**asked: Any) -> Callable[[Any, dict[str, Any], list[Any]], Any]:
    windows: dict[str, Any] = {"label": "what", "days": DAYS, "thresholds": THRESHOLDS}
    return lambda source, said, _: read_cumulative(source, **said, **(windows | {"by": "day(when)"} | asked))


def _cumulative_groups(**asked: Any) -> Callable[[Any, dict[str, Any], list[Any]], Any]:
    windows: dict[str, Any] = {"label": "what", "by": "where", "days": DAYS, "thresholds": THRESHOLDS}

    def read(source: Any, said: dict[str, Any], groups: list[Any]) -> Any:
        return read_cumulative_groups(source, **said, cumulative_by="day(when)", groups=groups, **windows, **asked)

    return read


_BOUNDED: dict[str, Any] = {"user": "who", "order_key": KEY}

PROFILES = (
    Entrance("profile", {"what": _LABEL}, _ITEM, _profile(), _of_profiles(lambda _: 1)),
    Entrance(
        "profile with missing labels", {"what": _LABEL}, _ITEM, _profile(keep_null=True), _of_profiles(lambda _: 1)
    ),
    Entrance(
        "profile of users",
        {"who": _NAME, "what": _LABEL},
        _user(5),
        _profile(max_per_user=1, **_BOUNDED),
        _of_profiles(lambda rows: min(1, rows)),
    ),
    Entrance("profile of users with a chosen bound", {"who": _NAME, "what": _LABEL}, _user(5), _chosen, _of_choices),
    Entrance(
        "profile of users in order",
        {"when": _ORDER, "who": _NAME, "what": _LABEL},
        _user(5),
        _profile(max_per_user=2, order_by="when", keep_null=True, **_BOUNDED),
        _of_profiles(lambda rows: min(2, rows)),
    ),
    Entrance(
        "profile of users who are counted",
        {"who": _NAME, "what": _LABEL},
        _user(5),
        _profile(max_per_user=2, count_users=True, **_BOUNDED),
        _of_counted_users,
    ),
    Entrance(
        "profile of filtered rows",
        {"where": _GROUP, "what": _LABEL},
        _ITEM,
        _filtered(read_profile, keep_null=True),
        _of_profiles(lambda _: 1),
    ),
    Entrance(
        "profile of users of filtered rows",
        {"where": _GROUP, "who": _NAME, "what": _LABEL},
        _user(6),
        _filtered(read_profile, max_per_user=2, count_users=True, **_BOUNDED),
        _of_counted_users,
    ),
    Entrance(
        "labels of users",
        {"who": _NAME, "what": _LABEL},
        _user(5),
        lambda source, said, _: read_user_labels(source, label="what", user="who", **said),
        _of_matched_labels,
    ),
)
_LEVELS: dict[str, Role] = {"where": _GROUP, "whose": Role(Use.GROUPS, 4), "what": _LABEL}
GROUPS = (
    Entrance("groups", {"where": _GROUP, "what": _LABEL}, _ITEM, _groups(other="all others"), _of_groups(lambda _: 1)),
    Entrance(
        "groups of users",
        {"where": _GROUP, "who": _NAME, "what": _LABEL},
        _user(6),
        _groups(max_per_user=2, **_BOUNDED),
        _of_groups(lambda rows: min(2, rows)),
    ),
    Entrance(
        "groups of users in few groups",
        {"where": _GROUP, "who": _NAME, "what": _LABEL},
        _user(8),
        _groups(max_per_user=2, max_groups_per_user=2, other="all others", **_BOUNDED),
        _of_groups(lambda rows: min(4, rows)),
    ),
    Entrance(
        "groups of labels",
        {"where": _GROUP, "what": _LABEL},
        Unit(6, "what"),
        _groups(unit=PrivacyUnit.label(max_count=5), max_groups_per_label=1, order_key=KEY),
        _of_labels(5, 1),
    ),
    Entrance(
        "groups of labels with chosen bounds",
        {"where": _GROUP, "what": _LABEL},
        Unit(6, "what"),
        _chosen_of_labels,
        _of_label_choices,
    ),
    Entrance(
        "groups of labels that are counted",
        {"where": _GROUP, "what": _LABEL},
        Unit(6, "what"),
        # With the group of all others, there are several groups, so that something can be left out.
        _groups(
            unit=PrivacyUnit.label(max_count=5),
            max_groups_per_label=1,
            other="all others",
            count_units=True,
            order_key=KEY,
        ),
        _of_counted_units(_of_labels(5, 1)),
    ),
    Entrance(
        "groups of users that are counted",
        {"where": _GROUP, "who": _NAME, "what": _LABEL},
        _user(8),
        _groups(max_per_user=2, max_groups_per_user=1, other="all others", count_units=True, **_BOUNDED),
        _of_counted_units(_of_groups(lambda rows: min(2, rows))),
    ),
    Entrance(
        "groups of days",
        {"when": _DATE, "what": _LABEL},
        _ITEM,
        _groups(by="day(when)", groups=DAYS, other="all others"),
        _of_groups(lambda _: 1),
    ),
    Entrance(
        "groups of weeks of users",
        {"when": _DATE, "who": _NAME, "what": _LABEL},
        _user(6),
        _groups(by="week(when)", groups="2026-11-01..2027-01-31", max_per_user=2, **_BOUNDED),
        _of_groups(lambda rows: min(2, rows)),
    ),
    Entrance(
        "groups of months",
        {"when": _DATE, "what": _LABEL},
        _ITEM,
        _groups(by="month(when)", groups=MONTHS),
        _of_groups(lambda _: 1),
    ),
    Entrance(
        "groups on nested levels",
        _LEVELS,
        _ITEM,
        _groups(by=["where", "whose"], levels="nested"),
        _of_groups(lambda _: 1),
    ),
    Entrance(
        "groups of users on crossing levels",
        _LEVELS | {"who": _NAME},
        _user(6),
        _groups(by=["where", "whose"], levels="crossing", max_per_user=2, **_BOUNDED),
        _of_levels(lambda rows: min(2, rows)),
    ),
    Entrance(
        "groups of labels on crossing levels",
        _LEVELS,
        Unit(6, "what"),
        _groups(
            by=["where", "whose"],
            levels="crossing",
            unit=PrivacyUnit.label(max_count=5),
            max_groups_per_label=2,
            order_key=KEY,
        ),
        _of_labels(5, 2),
    ),
)
CUMULATIVE = (
    Entrance(
        "cumulative windows of filtered rows",
        {"where": _GROUP, "when": _DATE, "who": _NAME, "what": _LABEL},
        _user(6),
        _filtered(read_cumulative, max_per_user=2, by="month(when)", days=MONTHS, thresholds=THRESHOLDS, **_BOUNDED),
        of_windows(2, len(THRESHOLDS), len(MONTHS)),
    ),
    Entrance(
        "cumulative windows",
        {"when": _DATE, "what": _LABEL},
        _ITEM,
        _cumulative(),
        of_windows(1, len(THRESHOLDS), len(DAYS)),
    ),
    Entrance(
        "cumulative windows of users",
        {"when": _DATE, "who": _NAME, "what": _LABEL},
        _user(6),
        _cumulative(max_per_user=2, by="month(when)", days=MONTHS, **_BOUNDED),
        of_windows(2, len(THRESHOLDS), len(MONTHS)),
    ),
    Entrance(
        "cumulative windows of groups",
        {"where": _GROUP, "when": _DATE, "what": _LABEL},
        _ITEM,
        _cumulative_groups(),
        of_windows(1, len(THRESHOLDS), len(DAYS)),
    ),
    Entrance(
        "cumulative windows of groups of users",
        {"where": _GROUP, "when": _DATE, "who": _NAME, "what": _LABEL},
        _user(6),
        _cumulative_groups(max_per_user=2, max_groups_per_user=2, **_BOUNDED),
        of_windows(4, len(THRESHOLDS), len(DAYS)),
    ),
)
