"""The error of each group before any data are touched: near the measured one, and each size simulated once."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import anonhist.mechanisms.group_planning as planning_module
from anonhist.errors import UsageError
from anonhist.mechanisms import FrobeniusMechanism, GroupSize, plan_groups
from anonhist.mechanisms.grouping import release_groups
from anonhist.mechanisms.planning import power_law_profile
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist.profiles.grouped import GroupedProfile
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

WEEK = PrivacyUnit.label(max_count=20, groups=7)
UNITS = {"items": PrivacyUnit.item(), "users": PrivacyUnit.user(max_items=3, groups=2), "labels": WEEK}


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("epsilon", ["0.3", "3"])
def test_measured_errors_of_groups_are_near_the_predicted(unit: str, epsilon: str) -> None:
    # Drawn from Zipf laws, of which the plan knows the numbers of items and of labels alone.
    rng = np.random.default_rng(4)
    profiles = {}
    for at, (items, exponent) in enumerate([(60, 1.0), (900, 0.8), (900, 1.3), (20_000, 1.0)] * 12):
        shares = np.arange(1.0, 400) ** -exponent
        counts = rng.multinomial(items, shares / shares.sum())
        profiles[str(at), str(at % 4)] = Profile.from_counts(counts[counts > 0])
    grouped = GroupedProfile(("one", "kind"), profiles, unit=UNITS[unit])
    released = release_groups(grouped, epsilon=epsilon, source=SeededSource(1))
    # Groups of a kind are guessed to have as many labels each: few sizes are simulated.
    labels = [
        round(np.mean([each.num_labels for (_, kind), each in profiles.items() if kind == str(at)])) for at in range(4)
    ]
    sizes = {group: GroupSize(each.n, labels[int(group[1])]) for group, each in profiles.items()}
    planned = plan_groups(sizes, by=["one", "kind"], epsilon=epsilon, unit=UNITS[unit], simulations=64, rng=rng)
    assert [row.group for row in planned] == list(profiles)
    assert planned.mechanism == released.mechanism.name
    for kind in range(4):
        rows = [row for row in planned if row.group[1] == str(kind)]
        actual = [
            float(sorted_l1(released.mechanism.admit(grouped[row.group]), released[row.group].profile)) for row in rows
        ]
        expected = np.mean([row.sorted_l1.value for row in rows])
        # Means of twelve releases; an error below an item is not told apart.
        assert 0.5 < (np.mean(actual) + 1) / (expected + 1) < 1.75, kind


@pytest.mark.slow
def test_plans_differ_by_about_their_standard_error() -> None:
    # A skewed shape: of 16 runs the mean was between half of this and twice as much, with errors far too small.
    unit, sizes = PrivacyUnit.label(max_count=10, groups=14), {("fall",): GroupSize(700, 600)}
    rows = [
        plan_groups(sizes, by=["g"], epsilon=1, unit=unit, rng=np.random.default_rng(seed))[0] for seed in range(12)
    ]
    means = np.array([row.sorted_l1.value for row in rows])
    stated = np.array([row.sorted_l1.standard_error for row in rows])
    assert {row.simulations for row in rows} == {1000}
    assert (stated < 0.04 * means).all()
    # χ² of 11 degrees: this ratio is beyond 1.7 once in 2,000 times.
    assert np.std(means, ddof=1) < 1.7 * stated.mean()


@pytest.mark.full
def test_runs_that_take_long_are_fewer_and_never_few() -> None:
    sizes = {(str(at),): 40 + at for at in range(40)}
    assert {row.simulations for row in plan_groups(sizes, by=["g"], epsilon=3)} == {303, 314, 325}
    slow, truth = FrobeniusMechanism("0.01"), Profile.from_counts([30, 10])
    assert [planning_module._affordable(truth, slow, sizes) for sizes in (1, 64)] == [35, 32]


@pytest.mark.full
def test_sizes_that_are_alike_are_simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[GroupSize] = []
    profile = planning_module._profile

    def counted(size: GroupSize, shape: Any) -> Profile:
        made.append(size)
        return profile(size, shape)

    monkeypatch.setattr(planning_module, "_profile", counted)
    equal = plan_groups({(str(at),): 50 + at % 2 for at in range(500)}, by=["g"], epsilon=1, simulations=2)
    assert (len(made), equal.near, len(equal)) == (2, 1, 500)
    assert equal[0].sorted_l1 is equal[2].sorted_l1 is not equal[1].sorted_l1
    made.clear()
    many = plan_groups({(str(at),): at for at in range(3000)}, by=["g"], epsilon=1, simulations=2)
    assert len(made) <= 64
    assert 1 < many.near <= 1.2
    for row in many:
        # The largest of those that are alike stands for them.
        planned_as = next(size.items for size in made if size.items >= row.items)
        assert planned_as <= max(row.items * many.near, row.items + 1)


@pytest.mark.full
def test_what_is_planned_is_said() -> None:
    planned = plan_groups(
        {("a", None): 9000, ("b", "2"): 0},
        by=["x", "y"],
        epsilon="1/3",
        unit=WEEK,
        relation=NeighboringRelation.SUBSTITUTE,
        rng=np.random.default_rng(1),
    )
    assert (planned.epsilon, planned.unit, planned.by) == (Fraction(1, 3), WEEK, ("x", "y"))
    first, second = planned
    assert first.relative_error == first.sorted_l1.value / 9000
    assert second.relative_error == float("inf")
    assert second.mostly_noise
    rows = planned.to_arrow().to_pylist()
    assert (rows[0]["x"], rows[0]["y"], rows[0]["items"], rows[1]["mostly_noise"]) == ("a", "", 9000, True)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no group": ({"sizes": {}}, "no group"),
    "name": ({"sizes": {"DE": 3}}, "one name for each grouping column"),
    "names": ({"sizes": {("DE", "1"): 3}}, "one name for each grouping column"),
    "by": ({"by": []}, "one name for each grouping column"),
    "items": ({"sizes": {("DE",): -1}}, "items must be a whole number"),
    "too many": ({"sizes": {("DE",): 10**16}}, "items must be a whole number"),
    "shape": ({"shape": "flat"}, "shape must be"),
    "shape of labels": ({"shape": "worst", "sizes": {("DE",): GroupSize(5, 3)}}, "sets the shape"),
    "epsilon": ({"epsilon": 0}, "epsilon must be"),
    "simulations": ({"simulations": 0}, "simulations must be"),
    "column": ({"by": ["items"]}, "has the name of a column of the table"),
}


@each_of("case", list(BAD))
def test_what_cannot_be_planned_is_refused(case: str) -> None:
    change, says = BAD[case]
    asked: dict[str, Any] = {"sizes": {("DE",): 30}, "by": ["country"], "epsilon": 1, "simulations": 2} | change
    with pytest.raises(UsageError, match=says):
        plan_groups(asked.pop("sizes"), **asked).to_arrow()


def test_more_labels_than_items_are_refused() -> None:
    for items, labels in ((3, 4), (3, 0), (0, 1)):
        with pytest.raises(UsageError, match=r"at most the number of items|labels must be"):
            GroupSize(items, labels)
        with pytest.raises(UsageError, match="at most the number of items"):
            power_law_profile(items, labels)


@each_of("items", [1, 7, 100, 5_000, 10**6])
@each_of("share", [0.0, 0.01, 0.3, 0.9, 1.0])
def test_a_power_law_has_the_numbers_that_were_asked_for(items: int, share: float) -> None:
    labels = max(1, round(share * items))
    profile = power_law_profile(items, labels)
    assert (profile.n, profile.num_labels) == (items, labels)


def test_a_power_law_falls_as_it_says() -> None:
    # T/k for three labels, T = 328 or so.
    assert power_law_profile(600, 3).partition().tolist() == [327, 164, 109]
    counts = power_law_profile(3_000, 1_000).partition()
    # (1,000/k)^s: of 3,000 items, s is 0.75; the first has what rounding left out.
    assert counts[[9, 99, 399, 999]].tolist() == [int((1000 / k) ** 0.7505) for k in (10, 100, 400, 1000)]
    assert counts[0] - 1000**0.7505 < 10
