"""Profiles of several groups: how much one unit changes in all of them, and what that costs."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.formats.files import read as read_file
from anonhist.formats.releases import read_release
from anonhist.ingest.groups.read import read_groups
from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism, PrevalenceMechanism
from anonhist.mechanisms.grouping import FindGroups, release_groups
from anonhist.mechanisms.setting import cap_counts
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.distances import sorted_l1
from anonhist.profiles.grouped import GroupedProfile
from anonhist.releases.grouped import GroupedRelease, total_delta

Row = tuple[str, str, str]
GROUPS = ["x", "y"]
# user, label, group
POSSIBLE: list[Row] = list(product(("u", "v"), ("a", "b"), GROUPS))
KEY = "0f" * 16


def read(rows: list[Row], **given: Any) -> GroupedProfile:
    table = pl.DataFrame(rows, schema={"user": pl.String, "label": pl.String, "group": pl.String}, orient="row")
    chooses = "user" in given or "max_groups_per_label" in given
    return read_groups(
        table, label="label", by="group", groups=GROUPS, **given, **({"order_key": KEY} if chooses else {})
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


def of_one(column: int, most: int) -> Iterator[tuple[list[Row], list[Row]]]:
    """All small data sets without a unit, and all that the unit may add: few rows of one value in a column."""
    own = [row for row in POSSIBLE if row[column] == POSSIBLE[0][column]]
    others = [row for row in POSSIBLE if row[column] != POSSIBLE[0][column]]
    for size in range(2):
        for rest in combinations_with_replacement(others, size):
            for more in range(1, most + 1):
                for added in combinations_with_replacement(own, more):
                    yield list(rest), list(added)


CASES: dict[str, tuple[int, int, dict[str, Any], PrivacyUnit]] = {
    "item": (0, 1, {}, PrivacyUnit.item()),
    "user of 1": (0, 3, {"user": "user", "max_per_user": 1}, PrivacyUnit.user(max_items=1)),
    "user of 2": (0, 4, {"user": "user", "max_per_user": 2}, PrivacyUnit.user(max_items=2)),
    "user of 1 in 2": (
        0,
        4,
        {"user": "user", "max_per_user": 1, "max_groups_per_user": 2},
        PrivacyUnit.user(max_items=1, groups=2),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", list(CASES))
def test_one_unit_moves_all_groups_together_by_what_the_noise_is_for(case: str) -> None:
    column, most, given, unit = CASES[case]
    farthest = 0
    for rest, added in of_one(column, most):
        before, after = read(rest, **given), read(rest + added, **given)
        assert before.unit == after.unit == unit
        farthest = max(farthest, moved(before, after))
    assert farthest == unit.max_distance


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2])
def test_one_label_changes_a_prevalence_in_few_groups(most: int) -> None:
    unit = PrivacyUnit.label(max_count=2)
    farthest = 0
    for rest, added in of_one(1, 3):
        before, after = (read(rows, unit=unit, max_groups_per_label=most) for rows in (rest, rest + added))
        assert before.unit == PrivacyUnit.label(max_count=2, groups=most)
        farthest = max(farthest, changed(before, after, 2))
    assert farthest == most


@pytest.mark.slow
def test_without_a_bound_on_groups_a_label_would_pay_for_each() -> None:
    # Read for items, where nothing bounds the groups of a label.
    assert max(changed(read(rest), read(rest + added), 2) for rest, added in of_one(1, 3)) == len(GROUPS)


def rates(mechanism: Any, profile: Profile) -> list[tuple[Fraction, int]]:
    """The rates of the noise that a release asks for, and of how many numbers."""
    asked: list[tuple[Fraction, int]] = []

    def noise(gamma: Fraction, size: int) -> NDArray[np.int64]:
        asked.append((gamma, size))
        return np.zeros(size, dtype=np.int64)

    mechanism._run(mechanism.admit(profile), noise)
    return asked


@pytest.mark.parametrize("relation", list(NeighboringRelation))
@pytest.mark.parametrize("most", [1, 3])
def test_losses_add_up_to_epsilon_and_reach_it(relation: NeighboringRelation, most: int) -> None:
    unit = PrivacyUnit.label(max_count=4, groups=most)
    mechanism = PrevalenceMechanism(Fraction(1, 2), unit, relation)
    ((gamma, size),) = rates(mechanism, Profile.from_counts([9, 3, 1]))
    assert size == 4
    # A label has one prevalence in each of at most so many groups; two labels may be in different ones.
    assert gamma * most * relation.distance == mechanism.epsilon


@pytest.mark.parametrize("relation", list(NeighboringRelation))
@pytest.mark.parametrize(
    "unit", [PrivacyUnit.item(), PrivacyUnit.user(max_items=3), PrivacyUnit.user(max_items=3, groups=4)]
)
def test_a_step_of_distance_one_costs_its_part_of_epsilon(unit: PrivacyUnit, relation: NeighboringRelation) -> None:
    cells = unit.max_items or 1
    for mechanism in (FrobeniusMechanism(1, unit, relation), PartitionMechanism(1, unit, relation)):
        assert mechanism.epsilon_per_cell * cells * unit.groups * relation.distance == 1


@pytest.mark.parametrize("groups", [1, 2, 50])
def test_the_noise_of_a_group_does_not_depend_on_the_number_of_groups(groups: int) -> None:
    profiles = {(str(at),): Profile.from_counts([5, 2]) for at in range(groups)}
    released = release_groups(GroupedProfile(("g",), profiles, unit=PrivacyUnit.item()), epsilon="0.5", simulations=0)
    assert released.mechanism == FrobeniusMechanism(Fraction(1, 2))
    assert all(each.guarantee.epsilon == Fraction(1, 2) for each in released.values())
    assert released.guarantee == released["0"].guarantee


def test_delta_adds_up_over_groups_that_may_differ() -> None:
    one = PartitionMechanism(2, PrivacyUnit.user(max_items=2))
    assert one.delta > 0
    assert [total_delta(one, groups) for groups in (1, 2, 3)] == [one.delta, 2 * one.delta, 2 * one.delta]
    replaced = PartitionMechanism(4, PrivacyUnit.user(max_items=2), NeighboringRelation.SUBSTITUTE)
    assert total_delta(replaced, 9) == 4 * replaced.delta
    profiles = {(name,): Profile.from_counts([3]) for name in "abc"}
    grouped = GroupedProfile(("g",), profiles, unit=PrivacyUnit.user(max_items=2))
    released = release_groups(grouped, epsilon=2, mechanism="partition", simulations=0)
    assert released.guarantee.delta == 2 * released["a"].guarantee.delta == 2 * one.delta
    assert release_groups(grouped, epsilon=3, mechanism="partition", simulations=0).guarantee.delta == 0


def test_labels_must_have_been_bounded_when_they_were_read() -> None:
    grouped = GroupedProfile(("g",), {(name,): Profile.from_counts([1]) for name in "abc"}, unit=PrivacyUnit.item())
    for groups in (1, 5):
        with pytest.raises(UsageError, match="read the data with max_groups_per_label"):
            release_groups(grouped, epsilon=1, unit=PrivacyUnit.label(max_count=1, groups=groups))


@pytest.mark.parametrize("unit", [PrivacyUnit.user(max_items=20), PrivacyUnit.user(max_items=3, groups=7)])
def test_groups_that_were_found_are_released_for_the_same_unit(unit: PrivacyUnit) -> None:
    found = FindGroups("0.5", "1e-6")
    grouped = GroupedProfile(("g",), {("a",): Profile.from_counts([9])}, unit=PrivacyUnit.item(), finding=found)
    with pytest.raises(UsageError, match="The groups were found for one item: release them for the same"):
        release_groups(grouped, epsilon=1, unit=unit)
    replaced = FindGroups("0.5", "1e-6", NeighboringRelation.SUBSTITUTE)
    grouped = GroupedProfile(("g",), {("a",): Profile.from_counts([9])}, unit=PrivacyUnit.item(), finding=replaced)
    with pytest.raises(UsageError, match="found for another relation"):
        release_groups(grouped, epsilon=1)


def test_delta_of_found_groups_does_not_depend_on_how_many_were_found() -> None:
    deltas = set()
    for number in (1, 2, 9):
        grouped = GroupedProfile(
            ("g",),
            {(str(at),): Profile.from_counts([3]) for at in range(number)},
            unit=PrivacyUnit.user(max_items=4),
            order_key=KEY,
            finding=FindGroups("0.5", "1e-30"),
        )
        deltas.add(release_groups(grouped, epsilon=6, simulations=0).guarantee.delta)
    assert deltas == {4 * PartitionMechanism(6, PrivacyUnit.user(max_items=4)).delta + Fraction(1, 10**30)}


def test_one_group_that_was_found_says_so_on_its_own(tmp_path: Path) -> None:
    profiles = {("a",): Profile.from_counts([9, 2])}
    finding = FindGroups("0.5", "1e-6")
    grouped = GroupedProfile(("g",), profiles, unit=PrivacyUnit.item(), finding=finding)
    for epsilon in ("0.5", "3"):
        released = release_groups(grouped, epsilon=epsilon, simulations=2)
        told = "finding them cost an epsilon of 0.5 and a δ of 1.0e-6 more"
        assert told in released["a"].guarantee.sentence
        assert told not in released.guarantee.sentence
        assert released.guarantee.epsilon == Fraction(epsilon) + Fraction(1, 2)
        released["a"].save(tmp_path / f"{epsilon}.json")
        assert told in read_release(tmp_path / f"{epsilon}.json").guarantee.sentence
        released.save(tmp_path / f"all-{epsilon}.json")
        back = read_file(tmp_path / f"all-{epsilon}.json")
        assert isinstance(back, GroupedRelease)
        assert (back.guarantee, back["a"].guarantee) == (released.guarantee, released["a"].guarantee)


@pytest.mark.full
def test_groups_are_released_independently_and_without_data_too() -> None:
    profiles = {("a",): Profile.from_counts([40, 30, 20]), ("b",): Profile([], [])}
    grouped = GroupedProfile(("g",), profiles, unit=PrivacyUnit.item())
    drawn = {release_groups(grouped, epsilon="0.3", simulations=0)["b"].profile.n for _ in range(12)}
    assert len(drawn) > 1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"mechanism": "isotonic"}, "must be one of auto, frobenius, partition, prevalence, not 'isotonic'"),
        ({"unit": PrivacyUnit.item()}, "protects less"),
        ({"unit": PrivacyUnit.user(max_items=2, groups=2)}, "protects less"),
        ({"mechanism": "prevalence"}, "public_cap"),
    ],
)
def test_what_would_not_hold_is_refused(given: dict[str, Any], told: str) -> None:
    grouped = GroupedProfile(("g",), {("a",): Profile([], [])}, unit=PrivacyUnit.user(max_items=3, groups=2))
    with pytest.raises(UsageError, match=told):
        release_groups(grouped, epsilon=1, **given)
    with pytest.raises(UsageError, match="Groups are needed"):
        release_groups(Profile([], []), epsilon=1)  # type: ignore[arg-type]


def test_a_release_of_groups_is_a_value() -> None:
    profiles = {("a", None): Profile.from_counts([4]), ("b", "1"): Profile([], [])}
    released = release_groups(GroupedProfile(("g", "h"), profiles, unit=PrivacyUnit.item()), epsilon=1, simulations=2)
    assert released.groups == (("a", None), ("b", "1"))
    assert released["a", None].guarantee.epsilon == 1
    with pytest.raises(AttributeError, match="immutable"):
        released.by = ()  # type: ignore[misc]
    with pytest.raises(KeyError, match="There is no group"):
        released["c", "d"]
    other = release_groups(GroupedProfile(("g", "h"), profiles, unit=PrivacyUnit.item()), epsilon=2, simulations=2)
    with pytest.raises(UsageError, match="one mechanism"):
        GroupedRelease(("g", "h"), {("a", "x"): released["a", None], ("b", "x"): other["b", "1"]})
    with pytest.raises(UsageError, match="at least one group"):
        GroupedRelease(("g",), {})


def test_groups_share_their_runs_on_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = {(name,): Profile.from_counts(counts) for name, counts in (("a", [9, 4, 1]), ("b", [7]), ("c", []))}
    grouped = GroupedProfile(("g",), profiles, unit=PrivacyUnit.item())
    released = release_groups(grouped, epsilon=4, mechanism="frobenius", simulations=3)
    alone = {group: replace(each).error for group, each in released.items()}
    simulated, simulate = list[int](), FrobeniusMechanism.simulate

    def noted(self: FrobeniusMechanism, profile: Profile, **given: Any) -> list[Profile]:
        simulated.append(profile.n)
        return simulate(self, profile, **given)

    monkeypatch.setattr(FrobeniusMechanism, "simulate", noted)
    assert {group: each.error for group, each in released.with_error().items()} == alone
    assert simulated.count(0) == 1
