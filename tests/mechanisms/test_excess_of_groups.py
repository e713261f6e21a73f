"""What a bound on groups, or on the items of labels, left out: read from small tables, over all neighbors."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.ingest.groups.read import read_groups
from anonhist.mechanisms import additive, excess, release, skeletons
from anonhist.mechanisms.group_planning import prepare_groups
from anonhist.mechanisms.grouping import FindGroups, release_groups, release_prepared
from anonhist.mechanisms.releasing import AskedRelease
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Bounded, BoundedUnits, Profile
from anonhist.profiles.distances import sorted_l1
from anonhist.profiles.grouped import GroupedProfile
from anonhist.randomness import discrete_laplace_pmf
from anonhist.releases import Release
from anonhist.releases.grouped import GroupedRelease
from anonhist_testing.cases import each_of

ADDED, REPLACED = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
Row = tuple[str, str, str]
GROUPS = ("x", "y", "z")
KEY = "0f" * 16
LABEL = PrivacyUnit.label(max_count=2)
SHARE: dict[str, Any] = {"excess_share": "1/4", "excess_cap": 1}
# What is read, and by which column a unit is known.
CASES: dict[str, tuple[int, dict[str, Any]]] = {
    "groups of labels": (1, {"unit": LABEL, "max_groups_per_label": 1}),
    "groups of users": (0, {"user": "user", "max_per_user": 1, "max_groups_per_user": 1}),
    "items of users": (0, {"user": "user", "max_per_user": 1}),
}


def read(rows: tuple[Row, ...], *, key: str = KEY, **given: Any) -> GroupedProfile:
    table = pl.DataFrame([*rows], schema={"user": pl.String, "label": pl.String, "group": pl.String}, orient="row")
    return read_groups(table, label="label", by="group", groups=[*GROUPS], order_key=key, count_units=True, **given)


class Unused:
    """A source of which nobody may ask."""

    def words(self, _: int) -> NDArray[np.uint64]:
        raise AssertionError


class Step(NamedTuple):
    """Numbers that get noise, each with the rate that the program asks for."""

    rates: tuple[Fraction, ...]
    truth: tuple[int, ...]


def watched(run: Callable[[], Release | GroupedRelease]) -> Step:
    """Release without noise, and watch all that gets some: of profiles and of the excess."""
    rates: list[Fraction] = []
    sums: list[int] = []

    def silent(rate: Fraction, size: int) -> NDArray[np.int64]:
        rates.extend([rate] * size)
        return np.zeros(size, dtype=np.int64)

    def record(truth: NDArray[np.int64], _: NDArray[np.int64]) -> NDArray[np.int64]:
        sums.extend(truth.tolist())
        return truth

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skeletons, "exact_noise", lambda _: silent)
        patch.setattr(excess, "exact_noise", lambda _: silent)
        patch.setattr(additive, "add_noise", record)
        found = run().excess
    assert found is not None
    return Step(tuple(rates), (*sums, found.noisy_within, found.noisy_above, found.noisy_items))


@lru_cache
def _log_pmf(rate: Fraction) -> NDArray[np.float64]:
    return np.log(discrete_laplace_pmf(rate, np.arange(-40, 41)))


def loss(first: Step, second: Step) -> float:
    """Largest log-ratio over all noisy numbers: of independent ones it is the sum of the largest of each."""
    assert first.rates == second.rates
    assert len(first.rates) == len(first.truth)
    shifts = [abs(one - other) for one, other in zip(first.truth, second.truth, strict=True)]
    logs = [_log_pmf(rate) for rate in first.rates]
    return math.fsum(
        float(np.abs(log[shift:] - log[: log.size - shift]).max()) for log, shift in zip(logs, shifts, strict=True)
    )


def tables(column: int) -> Iterator[tuple[tuple[Row, ...], list[tuple[Row, ...]]]]:
    """Yield the rows of others, and all that one unit may have: up to three rows, or none."""
    possible = list(product(("u", "v"), ("a", "b"), GROUPS))
    own = [row for row in possible if row[column] == possible[0][column]]
    others = next(row for row in possible if row[column] != possible[0][column])
    histories = [rows for number in range(4) for rows in combinations_with_replacement(own, number)]
    for rest in ((), (others,)):
        yield rest, histories


def steps_of(case: str, relation: NeighboringRelation, **share: int) -> Iterator[list[Step]]:
    """Yield the steps of all tables that differ in one unit, that without it first."""
    asked = SHARE | share
    column, given = CASES[case]
    own = {} if "unit" in given else {"public_cap": 3}
    for rest, histories in tables(column):
        made = []
        for rows in histories:
            grouped = read(rest + rows, **given)
            made.append(
                watched(
                    lambda grouped=grouped: release_groups(  # type: ignore[misc]  # bound to this table
                        grouped, epsilon=1, relation=relation, mechanism="prevalence", simulations=0, **own, **asked
                    )
                )
            )
        yield made


def worst(steps: Iterator[list[Step]], relation: NeighboringRelation) -> float:
    """Return the largest loss of neighbors."""
    losses = []
    for made in steps:
        distinct = [made[0], *{each for each in made[1:] if each != made[0]}]
        pairs = combinations(distinct, 2) if relation is REPLACED else ((distinct[0], each) for each in distinct[1:])
        losses += [loss(*pair) for pair in pairs]
    return max(losses)


@pytest.mark.slow
@each_of("relation", [ADDED, REPLACED])
@each_of("case", list(CASES))
def test_profiles_and_excess_of_groups_lose_epsilon_at_most(case: str, relation: NeighboringRelation) -> None:
    found = worst(steps_of(case, relation), relation)
    if case == "groups of labels":
        assert found == pytest.approx(1, abs=1e-9)
    else:
        # Of users the prevalence mechanism may have more noise than these tables need.
        assert 0.6 < found <= 1 + 1e-9


@pytest.mark.slow
@each_of("relation", [ADDED, REPLACED])
def test_a_cap_of_all_groups_that_there_are_loses_epsilon_exactly(relation: NeighboringRelation) -> None:
    # Nine is lowered to the two groups beyond the bound, which some label is in.
    assert worst(steps_of("groups of labels", relation, excess_cap=9), relation) == pytest.approx(1, abs=1e-9)


def test_the_cap_counts_no_more_groups_than_there_are() -> None:
    released = {}
    for asked in (None, 2, 9):
        # Ten labels in three groups, five in two, twenty in one.
        units = BoundedUnits(1, Profile.from_prevalences({1: 20, 2: 5, 3: 10}), Bounded.GROUPS_OF_LABELS)
        profiles = {(name,): Profile.from_counts([1] * 30) for name in GROUPS}
        grouped = GroupedProfile(("g",), profiles, unit=PrivacyUnit.label(max_count=2), units=units)
        given = {"excess_share": "1/4", "excess_cap": asked, "simulations": 0, "mechanism": "prevalence"}
        released[asked] = watched(lambda: release_groups(grouped, epsilon=1, **given))  # noqa: B023
        found = released[asked].truth[-3:]
        assert found == (20, 15, 25)
    assert released[None] == released[2] == released[9]
    # A cap below that is kept.
    lower = watched(lambda: release_groups(grouped, epsilon=1, **(given | {"excess_cap": 1})))
    assert lower.rates[-1] == 2 * released[2].rates[-1]


@pytest.mark.full
@each_of("bound", [3, 4])
@each_of("of", [Bounded.GROUPS_OF_LABELS, Bounded.GROUPS_OF_USERS])
@each_of("is_found", [False, True])
def test_nothing_is_spent_where_nothing_can_be_left_out(of: Bounded, bound: int, is_found: bool) -> None:  # noqa: FBT001
    unit = PrivacyUnit(of.unit, 2, 1, bound)
    units = BoundedUnits(bound, Profile([1, 3], [4, 1]), of)
    profiles = {(name,): Profile.from_counts([2, 1]) for name in GROUPS}
    finding = FindGroups("0.2", "1e-6") if is_found else None
    grouped = GroupedProfile(("g",), profiles, unit=unit, units=units, finding=finding)
    with pytest.raises(UsageError, match="leaves nothing out where there are only 3 groups"):
        release_groups(grouped, epsilon=1, excess_share="1/4", source=Unused())
    # Where finding them was a part of the same command, the rest is released.
    asked = AskedRelease(1, unit, ADDED, "frobenius", excess_share="1/4", simulations=0)
    prepared = prepare_groups(asked, unit, bounded=(of, bound))
    assert prepared.price(None).guarantee.epsilon == 1
    released = release_prepared(grouped, prepared)
    assert released.excess is None
    assert released.guarantee.epsilon == Fraction(3, 4) + (Fraction(1, 5) if is_found else 0)


@each_of("given", [CASES["groups of labels"][1], CASES["groups of users"][1]])
def test_listed_groups_of_which_none_can_be_left_out_are_refused_before_rows_are_counted(given: dict[str, Any]) -> None:
    table = pl.DataFrame({"user": ["u"], "label": ["a"], "group": ["x"]})
    asked = {"label": "label", "by": "group", "groups": ["x"], "count_units": True, **given}
    with pytest.raises(UsageError, match="leaves nothing out where there is only one group: leave excess_share out"):
        read_groups(table, **asked)
    # The group of all others is one, too.
    assert read_groups(table, other="rest", **asked).units is not None


@pytest.mark.slow
def test_noise_for_fewer_groups_than_a_unit_may_have_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # A label that counts with all its groups, not with those up to the cap.
    monkeypatch.setattr(BoundedUnits, "excess", lambda self, cap: int(self.numbers.n) + 0 * cap)
    assert worst(steps_of("groups of labels", ADDED), ADDED) > 1.2


def of_labels(counts: tuple[int, ...], relation: NeighboringRelation) -> Step:
    profile = Profile.from_counts([each for each in counts if each])
    given: dict[str, Any] = {"epsilon": 1, "unit": LABEL, "relation": relation, "simulations": 0}
    return watched(lambda: release(profile, **given, **(SHARE | {"excess_cap": 2})))


@each_of("relation", [ADDED, REPLACED])
def test_items_of_labels_and_their_profile_lose_epsilon_at_most(relation: NeighboringRelation) -> None:
    steps = ([of_labels((*rest, own), relation) for own in range(7)] for rest in ((), (1,), (5, 2)))
    assert worst(iter([*steps]), relation) == pytest.approx(1, abs=1e-9)


@pytest.mark.slow
def test_one_item_moves_the_numbers_by_one_and_the_groups_by_more() -> None:
    # So a bound on the groups of labels protects labels, and not items.
    given = CASES["groups of labels"][1]
    possible = [("u", label, group) for label in ("a", "b") for group in GROUPS]
    for number in range(3):
        for rows in combinations_with_replacement(possible, number):
            before = read(tuple(rows), **given).units
            assert before is not None
            for item in possible:
                after = read((*rows, item), **given).units
                assert after is not None
                assert abs(after.within - before.within) <= 1
                assert abs(after.above - before.above) <= 1
                assert 0 <= after.excess(9) - before.excess(9) <= 1
    many, item = (("u", "a", "x"),) * 5, ("u", "a", "y")
    farthest = 0
    for at in range(8):
        few, more = (read(rows, key=f"{at:032x}", **given) for rows in (many, (*many, item)))
        farthest = max(farthest, sum(sorted_l1(few[group], more[group]) for group in few))
    assert farthest == 6
    with pytest.raises(UsageError, match="applies only to a label unit"):
        read(many, max_groups_per_label=1)


@each_of(
    ("options", "says"),
    [
        ({"excess_share": 0.1, "units": None}, "read the groups with max_groups_per_label, or with user and"),
        ({"excess_cap": 5}, "excess_cap requires excess_share"),
        ({"excess_share": 1}, "below 1"),
        ({"excess_share": "1e-15"}, "too large to draw"),
        ({"excess_share": 0.1, "unit": PrivacyUnit.user(max_items=30)}, "users with at least 2 groups, not one user"),
    ],
)
def test_what_cannot_be_released_is_refused_before_noise(options: dict[str, Any], says: str) -> None:
    units = options.pop("units", BoundedUnits(2, Profile([4], [1]), Bounded.GROUPS_OF_USERS))
    unit = PrivacyUnit.user(max_items=3, groups=2)
    profiles = {(name,): Profile.from_counts([3]) for name in GROUPS}
    grouped = GroupedProfile(("g",), profiles, unit=unit, units=units)
    with pytest.raises(UsageError, match=says):
        release_groups(grouped, **{"epsilon": 1, **options}, source=Unused())


@each_of(
    ("given", "says"),
    [
        ({}, "count_units counts what a bound leaves out"),
        ({"other": "rest"}, "count_units counts what a bound leaves out"),
    ],
)
def test_units_are_counted_only_where_they_are_bounded(given: dict[str, Any], says: str) -> None:
    table = pl.DataFrame({"label": ["a"], "group": ["x"]})
    with pytest.raises(UsageError, match=says):
        read_groups(table, label="label", by="group", groups=["x"], count_units=True, **given)
