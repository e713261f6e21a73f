"""Profiles that are moved until totals and groups agree: never farther from the truth before they are rounded."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonhist.catalogue import Levels
from anonhist.errors import UsageError
from anonhist.mechanisms.grouping import release_groups
from anonhist.numeric.staircases import Staircase, above_all, falling_start, lower_of, spliced, within
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.grouped import Group, GroupedProfile, total_of
from anonhist.properties.support_size import support_size
from anonhist.releases import agreement
from anonhist.releases.agreement import agreed, agreed_items, distance, weight_of
from anonhist.releases.grouped import GroupedRelease
from anonhist.releases.relations import Design, check_adjusted
from anonhist_testing.sources import SeededSource

Profiles = dict[Group, Profile]
TREES: list[tuple[Group, ...]] = [
    (("a",),),
    tuple((name,) for name in "abcde"),
    (("n", "x"), ("n", "y"), ("s", "x")),
    (("n", "x", "1"), ("n", "x", "2"), ("n", "y", "1"), ("s", "x", "1"), ("s", "x", "2")),
]
UNITS = [
    PrivacyUnit.item(),
    PrivacyUnit.user(max_items=5),
    *(PrivacyUnit.label(max_count=6, groups=groups) for groups in (1, 2, 3, 9)),
]
DESIGNS = [Design(tree, unit) for tree in TREES for unit in UNITS]


def truth_of(design: Design, rng: np.random.Generator, labels: int = 30) -> Profiles:
    """Return the profiles of a random table of labels; which groups of a label count is random, too."""
    leaves = rng.poisson(rng.gamma(0.5, 2.0, size=(labels, 1)), size=(labels, len(design.groups)))
    found = {}
    for level in design.levels:
        names = [[leaf[: len(level[0])] for leaf in design.groups].index(group) for group in level]
        own = np.array([[leaf[: len(group)] == group for leaf in design.groups] for group in level]) @ leaves.T
        assert len(names) == len(level)
        if not design.has_one_table:
            order = np.argsort(np.argsort(np.where(own > 0, rng.random(own.shape), 2.0), axis=0), axis=0)
            own = np.minimum(np.where(order < design.unit.groups, own, 0), design.unit.max_count or 0)
        found |= {group: Profile.from_counts(counts) for group, counts in zip(level, own, strict=True)}
    return found


def noisy(profile: Profile, rng: np.random.Generator, cap: int | None, scale: float) -> Profile:
    """Return any profile that a release might have: φ_{k+} with noise, made falling."""
    width = cap or 40
    reached = profile.cumulative_prevalence(np.arange(1, width + 1)) + rng.normal(0, scale, width).round()
    reached = np.minimum.accumulate(np.maximum(reached, 0)).astype(np.int64)
    exactly = reached - np.append(reached[1:], 0)
    return Profile(np.flatnonzero(exactly) + 1, exactly[exactly > 0])


def curves(profiles: Profiles) -> dict[Group, Staircase]:
    return {group: agreement.curve_of(each) for group, each in profiles.items()}


@pytest.mark.parametrize("design", DESIGNS, ids=lambda each: f"{len(each.groups)} of {len(each.levels)}, {each.unit}")
def test_all_relations_hold_and_the_truth_is_never_farther(design: Design) -> None:
    rng = np.random.default_rng([len(design.groups), design.unit.groups])
    moved = 0
    for scale in (0.5, 3.0, 30.0) * 4:
        truth = truth_of(design, rng)
        check_adjusted(design, truth)
        weights = rng.uniform(0.1, 2.0, len(design.levels)).tolist()
        raw = {group: noisy(each, rng, design.unit.max_count, scale) for group, each in truth.items()}
        found = agreed(design, raw, weights)
        assert found is not None
        check_adjusted(design, found)
        before = distance(curves(raw), curves(truth), weights)
        projected = agreement.projected(design, curves(raw), weights)
        after = distance(projected, curves(truth), weights)
        assert after <= before * (1 + 1e-9)
        moved += after < before
        assert agreed(design, truth, weights) == truth
    assert moved > 2 or len(design.groups) == 1


def test_numbers_of_items_are_never_farther_from_the_truth() -> None:
    rng = np.random.default_rng(5)
    for tree in TREES:
        design = Design(tree, PrivacyUnit.item())
        for _ in range(20):
            truth = truth_of(design, rng)
            weights = rng.uniform(0.1, 2.0, len(design.levels)).tolist()
            numbers = {g: max(0, each.n + int(rng.normal(0, 40))) for g, each in truth.items()}
            raw = {g: Profile([1], [n]) if n else Profile([], []) for g, n in numbers.items()}
            leaves = agreed_items(design, raw, weights)
            found = {g: sum(n for leaf, n in leaves.items() if leaf[: len(g)] == g) for g in raw}

            def off(values: dict[Group, Any], truth: Profiles = truth, weights: list[float] = weights) -> float:
                return sum(weights[len(g)] * (values[g] - truth[g].n) ** 2 for g in truth)

            # Rounding moves each sum of the first by half an item at most.
            assert off(found) ** 0.5 <= off(numbers) ** 0.5 + (2.0 * len(raw)) ** 0.5
            assert min(leaves.values()) >= 0


def test_totals_and_parts_are_projected_on_the_nearest_that_agree() -> None:
    # ⟨r − p, t − p⟩ ≤ 0 for each t that agrees: this is what makes p the nearest to r.
    rng = np.random.default_rng(1)
    groups = tuple((name,) for name in "abcd")
    design = Design(groups, PrivacyUnit.item())
    weights = [0.3, 1.7]
    for _ in range(30):
        raw = curves({g: noisy(Profile.from_counts(rng.poisson(3, 20)), rng, 12, 5.0) for g in ((), *groups)})
        found = dict(raw)
        agreement._raise_total(design, found, (), weights)
        k = np.arange(1, 13)
        dense, near = ({g: each.at(k) for g, each in some.items()} for some in (raw, found))
        assert all((near[()] >= near[g] - 1e-9).all() and (np.diff(near[g]) <= 1e-9).all() for g in groups)
        for _ in range(20):
            other = {g: rng.uniform(0, 20, 12) for g in groups}
            other[()] = np.max([*other.values()], axis=0) + rng.uniform(0, 5, 12)
            inner = sum(weights[len(g)] * ((dense[g] - near[g]) @ (other[g] - near[g])) for g in dense)
            assert inner <= 1e-6


def test_staircases_are_those_of_dense_arrays() -> None:
    rng = np.random.default_rng(3)
    k = np.arange(1, 30)

    def random() -> Staircase:
        ends = np.sort(rng.choice(k[:25], rng.integers(0, 6), replace=False))
        return Staircase(ends, np.sort(rng.choice(np.arange(1.0, 30.0), ends.size, replace=False))[::-1])

    for _ in range(300):
        one, two, three = random(), random(), random()
        assert np.array_equal(above_all([one, two, three]).at(k), np.max([each.at(k) for each in (one, two, three)], 0))
        assert np.array_equal(lower_of(one, two).at(k), np.minimum(one.at(k), two.at(k)))
        high = above_all([one, two])
        assert np.array_equal(within(three, one, high).at(k), np.clip(three.at(k), one.at(k), high.at(k)))
        assert one.area() == one.at(k).sum()
        at = int(rng.integers(1, 28))
        changed = one.with_value(at, 7.5).at(k)
        assert changed[at - 1] == 7.5
        assert np.array_equal(np.delete(changed, at - 1), np.delete(one.at(k), at - 1))
        area = int(rng.integers(one.area(), high.area() + 1))
        made = spliced(one, high, area)
        assert made.area() == area
        dense = made.at(k)
        assert (np.diff(dense) <= 0).all()
        assert ((dense >= one.at(k)) & (dense <= high.at(k))).all()
        lowered = one.with_value(1, 0.0)
        falling = falling_start(lowered)
        assert (np.diff(falling.at(k)) <= 0).all()
        assert falling.widths() @ falling.heights == pytest.approx(lowered.widths() @ lowered.heights)


GROUPS = {("DE",): [5, 3, 1, 1, 1], ("FR",): [4, 4, 2], ("PL",): []}


def grouped(unit: PrivacyUnit) -> GroupedProfile:
    profiles = {group: Profile.from_counts(counts) for group, counts in GROUPS.items()}
    above = GroupedProfile((), {(): total_of(profiles.values())}, unit=unit.in_at_most(1))
    return GroupedProfile(("country",), profiles, unit=unit, levels=Levels.CROSSING, above=(above,))


def made(read_for: PrivacyUnit, *, consistent: bool = True, **given: Any) -> GroupedRelease:
    return release_groups(
        grouped(read_for), source=SeededSource(7), consistent=consistent, **{"epsilon": "0.4", **given}
    )


@pytest.mark.parametrize("epsilon", ["0.4", "4"])
def test_intervals_are_those_before_and_hold_the_adjusted_numbers(epsilon: str) -> None:
    release, raw = (made(PrivacyUnit.item(), epsilon=epsilon, consistent=each) for each in (True, False))
    assert release.is_consistent
    assert not raw.is_consistent
    changed = 0
    for group, each in release.everything.items():
        drawn = raw[group]
        assert each.unadjusted == drawn
        for k in range(1, 12):
            for mine, before in (
                (each.k_plus(k), drawn.k_plus(k)),
                (each.prevalence(k), drawn.prevalence(k)),
                (each.num_items(), drawn.num_items()),
            ):
                assert mine.interval == (min(before.interval[0], mine.value), max(before.interval[1], mine.value))
                changed += mine.value != before.value
        assert each.error.sorted_l1 is not None
        assert drawn.error.sorted_l1 is not None
        assert each.error.sorted_l1.value == drawn.error.sorted_l1.value
    assert changed or epsilon == "4"
    assert raw.consistent() == release
    assert release.with_error().is_consistent


def test_an_adjusted_profile_has_the_promise_of_all_levels() -> None:
    release = made(PrivacyUnit.item(), level_shares=["0.3", "0.7"])
    for each in release.everything.values():
        assert each.guarantee.epsilon == Fraction("0.4")
        assert each.guarantee == release.guarantee
        assert each.unadjusted is not None
        assert each.unadjusted.guarantee.epsilon < Fraction("0.4")
    assert release.drawn[()].guarantee.epsilon == Fraction("0.12")


@pytest.mark.parametrize("consistent", [True, False])
def test_every_level_can_be_estimated_whatever_its_number_of_groups(*, consistent: bool) -> None:
    release = made(PrivacyUnit.label(max_count=5, groups=3), consistent=consistent)
    assert release.is_consistent == consistent
    for each in release.everything.values():
        assert support_size(each).guarantee == each.guarantee


def test_levels_weigh_as_their_noise_allows() -> None:
    unit = PrivacyUnit.label(max_count=5, groups=3)
    release = made(unit, level_shares=["0.25", "0.75"])
    assert weight_of(release[()].mechanism) == pytest.approx(0.1**2)
    assert weight_of(release["DE"].mechanism) == pytest.approx((0.3 / 3) ** 2)


def test_numbers_that_cannot_be_compared_stay_as_drawn() -> None:
    assert not made(PrivacyUnit.user(max_items=3, groups=2)).is_consistent
    in_one_group = replace(PrivacyUnit.user(max_items=3), in_one_group=True)
    assert not made(in_one_group).is_consistent
    assert not made(in_one_group, unit=PrivacyUnit.user(max_items=3)).is_consistent
    assert not made(PrivacyUnit.user(max_items=2), unit=PrivacyUnit.user(max_items=3)).is_consistent
    # Data that were read for a smaller bound may break what holds for the larger one.
    assert not made(PrivacyUnit.label(max_count=5), unit=PrivacyUnit.label(max_count=9, groups=3)).is_consistent
    nested = GroupedProfile(("c",), {("a",): Profile.from_counts([1])}, unit=PrivacyUnit.item(), levels=Levels.NESTED)
    assert not release_groups(nested, epsilon=1).is_consistent
    many = Profile([2**52 + 1], [1])
    assert agreed(Design((("a",),), PrivacyUnit.item()), {(): many, ("a",): many}, [1.0, 1.0]) is None


def test_adjusted_profiles_that_contradict_each_other_are_refused() -> None:
    release = made(PrivacyUnit.item())
    assert release.adjusted is not None
    own = {group: release.drawn[group] for group in release}
    with pytest.raises(UsageError, match="contradict"):
        GroupedRelease(
            release.by, own, totals=release.totals, adjusted={**release.adjusted, (): Profile.from_counts([1])}
        )
    with pytest.raises(UsageError, match="Only crossing levels"):
        GroupedRelease(release.by, own, adjusted=release.adjusted)
