"""Totals of groups: what one unit changes on every level, sums that agree, and what is known of their errors."""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from anonhist.catalogue import Levels
from anonhist.errors import UsageError
from anonhist.formats.files import read as read_file
from anonhist.ingest.groups.read import read_groups
from anonhist.mechanisms.group_planning import prepare_groups
from anonhist.mechanisms.grouping import FindGroups, release_groups
from anonhist.mechanisms.releasing import AskedRelease
from anonhist.mechanisms.setting import cap_counts
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist.profiles.grouped import GroupedProfile, total_of
from anonhist.releases.grouped import CrossingTotals, GroupedRelease, NestedTotals
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

Row = tuple[str, str, str, str]
GROUPS = [("n", "x"), ("n", "y"), ("s", "x")]
# user, label, and two grouping columns; the last group is not listed.
POSSIBLE: list[Row] = [(user, label, *group) for user, label, group in product("uv", "ab", [*GROUPS, ("s", "y")])]
KEY = "0f" * 16


def read(rows: list[Row], levels: Any = "crossing", **given: Any) -> GroupedProfile:
    table = pl.DataFrame(rows, schema=dict.fromkeys(("user", "label", "g", "h"), pl.String), orient="row")
    chooses = "user" in given or "max_groups_per_label" in given
    return read_groups(
        table,
        label="label",
        by=["g", "h"],
        groups=GROUPS,
        levels=levels,
        **given,
        **({"order_key": KEY} if chooses else {}),
    )


def moved(first: GroupedProfile, second: GroupedProfile) -> int:
    return sum(sorted_l1(first[group], second[group]) for group in first)


def changed(first: GroupedProfile, second: GroupedProfile, cap: int) -> int:
    """How much the capped prevalences of all groups change."""

    def prevalences(profile: Profile) -> NDArray[np.int64]:
        counted = np.zeros(cap, dtype=np.int64)
        capped = cap_counts(profile, cap)
        counted[capped.counts - 1] = capped.prevalences
        return counted

    return sum(int(np.abs(prevalences(first[group]) - prevalences(second[group])).sum()) for group in first)


def of_one(column: int, most: int) -> list[tuple[list[Row], list[Row]]]:
    """Small data sets without a unit, and what the unit may add: few rows of one value in a column."""
    # Of labels, who the users are does not matter.
    possible = POSSIBLE if column == 0 else [row for row in POSSIBLE if row[0] == "u"]
    own = [row for row in possible if row[column] == possible[0][column]]
    others = [row for row in possible if row[column] != possible[0][column]]
    return [(rest, list(added)) for rest in [[], [others[0]]] for added in combinations_with_replacement(own, most)]


CASES: dict[str, tuple[int, int, dict[str, Any], list[PrivacyUnit]]] = {
    "item": (0, 1, {}, [PrivacyUnit.item()] * 3),
    "user of 2": (0, 2, {"user": "user", "max_per_user": 2}, [PrivacyUnit.user(max_items=2)] * 3),
    "user of 1 in 3": (
        0,
        3,
        {"user": "user", "max_per_user": 1, "max_groups_per_user": 3},
        [PrivacyUnit.user(max_items=1, groups=groups) for groups in (1, 2, 3)],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", list(CASES))
def test_on_every_level_one_unit_moves_groups_by_what_the_noise_is_for(case: str) -> None:
    column, most, given, units = CASES[case]
    farthest = [0, 0, 0]
    once = cache(lambda *rows: read(list(rows), **given))
    for rest, added in of_one(column, most):
        before, after = once(*rest), once(*rest, *added)
        levels = [*zip((*before.above, before), (*after.above, after), strict=True)]
        assert [first.unit for first, _ in levels] == units
        farthest = [max(far, moved(*level)) for far, level in zip(farthest, levels, strict=True)]
    assert farthest == [unit.max_distance for unit in units]


@pytest.mark.slow
def test_on_every_level_a_label_changes_a_prevalence_in_few_groups() -> None:
    farthest = [0, 0, 0]
    once = cache(lambda *rows: read(list(rows), unit=PrivacyUnit.label(max_count=2), max_groups_per_label=3))
    for rest, added in of_one(1, 3):
        before, after = once(*rest), once(*rest, *added)
        levels = [*zip((*before.above, before), (*after.above, after), strict=True)]
        farthest = [max(far, changed(*level, cap=2)) for far, level in zip(farthest, levels, strict=True)]
        assert [first.unit.groups for first, _ in levels] == [1, 2, 3]
    assert farthest == [1, 2, 3]


@each_of("relation", [*NeighboringRelation])
def test_the_budgets_of_crossing_levels_add_up(relation: NeighboringRelation) -> None:
    grouped = read(POSSIBLE, unit=PrivacyUnit.label(max_count=2), max_groups_per_label=3)
    shares = ["0.2", "0.3", "0.5"]
    release = release_groups(grouped, epsilon="0.6", relation=relation, level_shares=shares, simulations=0)
    assert release.guarantee.epsilon == Fraction("0.6")
    assert release.guarantee.relation is relation
    made = [next(iter(release.level(depth).values())).mechanism for depth in range(3)]
    assert [each.guarantee.epsilon for each in made] == [Fraction(share) * Fraction("0.6") for share in shares]
    # The noise of a level is for the groups that there are on it, and no more.
    assert [each._gamma * groups * relation.distance for each, groups in zip(made, (1, 2, 3), strict=True)] == [
        each.guarantee.epsilon for each in made
    ]
    assert "0.12 for everything together, 0.18 for groups by g, 0.3 for groups by g, h" in release.guarantee.sentence


def test_delta_of_crossing_levels_adds_up() -> None:
    found = release_groups(read(POSSIBLE), epsilon=3, mechanism="partition", simulations=0, consistent=False)
    alone = [next(iter(found.level(depth).values())).guarantee.delta for depth in range(3)]
    assert all(alone)
    assert found.guarantee.delta == sum(alone)


def test_a_label_of_several_groups_counts_once_where_levels_cross() -> None:
    rows = [("u", "a", "n", "x"), ("u", "a", "n", "y"), ("u", "a", "s", "x"), ("u", "a", "s", "y")]
    crossing, nested = read(rows), read(rows, "nested")
    (everything,), by_g = crossing.above[0].values(), crossing.above[1]
    # The row of the group that is not listed counts nowhere.
    assert everything == Profile.from_counts([3])
    assert by_g["n"] == Profile.from_counts([2])
    assert nested.above == ()
    released = release_groups(nested, epsilon=50, simulations=0)
    assert released[()].profile == Profile.from_counts([1, 1, 1])


def test_all_other_rows_are_in_totals_where_they_have_a_group() -> None:
    table = pl.DataFrame({"label": ["a", "b", "c"], "g": ["n", "s", "z"], "h": ["x", "y", "z"]})
    grouped = read_groups(table, label="label", by=["g", "h"], groups=[("n", "x")], other="rest", levels="crossing")
    assert [{group: each.n for group, each in level.items()} for level in grouped.above] == [
        {(): 3},
        {("n",): 1, ("rest",): 2},
    ]


def nested(leaves: int, *, epsilon: str = "1", mechanism: Any = "auto", seed: int = 3, **given: Any) -> GroupedRelease:
    rng = np.random.default_rng(5)
    profiles = {(str(at % 3), str(at)): Profile.from_counts(rng.geometric(0.1, 40).tolist()) for at in range(leaves)}
    unit = given.pop("unit", PrivacyUnit.item())
    profiles = dict(sorted(profiles.items()))
    grouped = GroupedProfile(("g", "h"), profiles, unit=unit, levels=Levels.NESTED)
    return release_groups(grouped, epsilon=epsilon, mechanism=mechanism, source=SeededSource(seed), **given)


@each_of("mechanism", ["frobenius", "partition", "prevalence"])
def test_nested_totals_are_sums_at_no_cost(mechanism: str) -> None:
    cap = {"public_cap": 200} if mechanism == "prevalence" else {}
    release = nested(12, epsilon="2", mechanism=mechanism, simulations=2, **cap)
    assert release.levels is Levels.NESTED
    assert release.guarantee == release[next(iter(release))].guarantee
    assert release[()].guarantee == release.guarantee
    assert release[()].profile == total_of(each.profile for each in release.values())
    for prefix, total in release.level(1).items():
        assert total.profile == total_of(each.profile for group, each in release.items() if group[:1] == prefix)
        assert total.profile.n <= release[()].profile.n
    assert release[()].profile == total_of(each.profile for each in release.level(1).values())
    assert [len(release.level(depth)) for depth in range(3)] == [1, 3, 12]
    assert len(release) == 12
    assert len(release.everything) == 16
    assert len(release[()].resimulate()) == 2


@pytest.mark.full
@each_of("levels", ["nested", "crossing"])
@each_of("ending", ["json", "parquet"])
def test_levels_are_in_files(levels: str, ending: str, tmp_path: Path) -> None:
    rows = POSSIBLE * 3
    release = release_groups(read(rows, levels), epsilon=2, simulations=2).with_error()
    path = tmp_path / f"levels.{ending}"
    release.save(path)
    back = read_file(path)
    assert isinstance(back, GroupedRelease)
    assert (back.levels, back.guarantee) == (Levels(levels), release.guarantee)
    for group, each in release.everything.items():
        assert back[group].profile == each.profile
        assert str(back[group].k_plus(1)) == str(each.k_plus(1))
        assert back[group].error.sorted_l1 == each.error.sorted_l1
    table = release.to_polars()
    assert table.columns[:3] == ["g", "h", "level"]
    first = table.filter(pl.col("level") == 0)
    assert (first["count"] * first["prevalence"]).sum() == release[()].profile.n


def test_a_total_of_nested_levels_has_no_file_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="save the release of all groups"):
        nested(3, simulations=0)[()].save(tmp_path / "total.json")
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_intervals_of_totals_hold() -> None:
    truth = nested_truth(24)
    levels = (1, 2, 5, 10, 20, 40)
    held = np.array(
        [
            [low <= truth.k_plus(level) <= high for level in levels for low, high in [total.k_plus(level).interval]]
            for seed in range(25)
            for total in [nested(24, epsilon="0.7", seed=seed, simulations=0)[()]]
        ]
    )
    assert held.mean(axis=0).min() >= 0.92
    # They are no wider than they need to be: the noise of 24 columns, and not 24 times that of one.
    one = nested(24, epsilon="0.7", simulations=0)[()].k_plus(2)
    assert one.interval[1] - one.interval[0] < 100


def nested_truth(leaves: int) -> Profile:
    rng = np.random.default_rng(5)
    return total_of(Profile.from_counts(rng.geometric(0.1, 40).tolist()) for _ in range(leaves))


def test_labels_have_intervals_of_the_noise_of_all_groups() -> None:
    release = nested(10, unit=PrivacyUnit.label(max_count=20, groups=2), simulations=0)
    low, high = release[()].k_plus(20).interval
    # One noisy number of each of ten groups, at a rate of 1/2.
    assert 15 < (high - low) / 2 < 30
    assert release[()].profile.k_plus(21) == 0


def test_a_group_that_was_found_is_on_condition_on_every_level() -> None:
    table = pl.DataFrame({"label": ["a", "b"] * 60, "g": ["n", "s"] * 60})
    for levels in ("nested", "crossing"):
        grouped = read_groups(table, label="label", by="g", groups=FindGroups(5, "1e-3"), levels=levels)
        release = release_groups(grouped, epsilon=2, simulations=0)
        assert release.guarantee.epsilon == 7
        assert all(each.guarantee.conditions for each in release.everything.values())
        assert not release.guarantee.conditions


def test_a_label_of_several_groups_is_told_to_the_operator_alone() -> None:
    told: list[str] = []
    rows = [("u", "a", "n", "x"), ("u", "a", "n", "y"), ("u", "b", "s", "x"), ("u", "b", "s", "y")]
    read(rows, "nested", notify=told.append)
    assert told == ["1 label is in several groups: nested totals count them in each."]
    read(rows, "crossing", notify=told.append)
    read(rows[:1], "nested", notify=told.append)
    assert len(told) == 1


def test_totals_that_no_release_has_are_refused() -> None:
    release = nested(6, simulations=0)
    assert isinstance(release.totals, NestedTotals)
    known = dict(release.totals.known)
    for prefixes in ([()], [*known, ("9",)], [*known][::-1]):
        with pytest.raises(UsageError, match="Levels need the total of each"):
            GroupedRelease(release.by, dict(release), totals=NestedTotals(dict.fromkeys(prefixes)))
    other = nested(6, epsilon="2", simulations=0)
    totals = {prefix: release[prefix] for prefix in known} | {("1",): other["1", "1"]}
    with pytest.raises(UsageError, match="one mechanism"):
        GroupedRelease(release.by, dict(release), totals=CrossingTotals(totals))


def test_totals_of_rows_that_were_not_bounded_do_not_promise_a_bound_for_each_group() -> None:
    # A user with one item in each of two groups has two in the total, which the reader has not cut to one.
    unit = PrivacyUnit.user(max_items=1, groups=2)
    grouped = read(POSSIBLE, "crossing")
    with pytest.raises(UsageError, match="more items in a total"):
        release_groups(grouped, epsilon=1, unit=unit, simulations=0)
    released = release_groups(grouped, epsilon=1, unit=PrivacyUnit.user(max_items=2), simulations=0)
    assert {each.mechanism.unit for each in released.everything.values()} == {PrivacyUnit.user(max_items=2)}
    assert release_groups(read(POSSIBLE, "nested"), epsilon=1, unit=unit, simulations=0).guarantee.unit == unit


@each_of(
    ("levels", "shares", "told"),
    [
        ("sideways", None, "levels must be 'nested' or 'crossing', not 'sideways'."),
        ("nested", ["1"], "level_shares splits ε among crossing levels"),
        (None, ["1"], "level_shares splits ε among crossing levels"),
        ("crossing", ["0.5", "0.5"], "must be 3 numbers that add up to 1"),
        ("crossing", ["0.5", "0.3", "0.3"], "must be 3 numbers that add up to 1"),
        ("crossing", ["1", "0", "0"], "level_shares"),
    ],
)
def test_what_levels_cannot_be_is_told(levels: Any, shares: list[str] | None, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        release_groups(read(POSSIBLE, levels), epsilon=1, level_shares=shares)
    assert told in str(caught.value)


def test_a_level_that_is_not_there_is_told() -> None:
    with pytest.raises(UsageError, match="no level of 0 grouping columns"):
        release_groups(read(POSSIBLE, None), epsilon=1, simulations=0).level(0)
    with pytest.raises(KeyError, match="no group"):
        nested(3, simulations=0)["z",]


def test_levels_that_are_drawn_in_different_ways_state_what_each_costs() -> None:
    # Shares of ε on both sides of ln 3.
    shares = ["0.1", "0.1", "0.8"]
    made = release_groups(read(POSSIBLE), epsilon=4, mechanism="partition", level_shares=shares, consistent=False)
    own, of_everything = made.first.guarantee.arithmetic, made[()].guarantee.arithmetic
    assert made.guarantee.arithmetic == f"{of_everything}, and {own}"
    assert (made.first.guarantee.delta, made[()].guarantee.delta > 0) == (0, True)
    prepared = prepare_groups(
        AskedRelease(4, None, NeighboringRelation.ADD_OR_REMOVE, "partition", {}, None, None, None, None),
        PrivacyUnit.item(),
        shares=(Fraction(1, 10), Fraction(1, 10), Fraction(8, 10)),
    )
    assert prepared.price(None).guarantee.arithmetic == made.guarantee.arithmetic
