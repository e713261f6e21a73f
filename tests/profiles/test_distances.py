"""Sorted distances, against the plain definitions."""

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product, zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile, sorted_l1, sorted_l2, sorted_l2_squared, sorted_linf
from anonhist_testing.partitions import larger_neighbors, partitions_up_to
from anonhist_testing.strategies import partitions, profiles, repeatable

LARGEST = 2**63 - 1


def gaps(first: tuple[int, ...], second: tuple[int, ...]) -> list[int]:
    return [abs(a - b) for a, b in zip_longest(first, second, fillvalue=0)]


def column_distance(first: Profile, second: Profile) -> int:
    """Σ_r |φ_{r+} − φ'_{r+}| in Python's integers, over the pieces on which neither changes."""
    borders = sorted({0, *first.counts.tolist(), *second.counts.tolist()})
    return sum((high - low) * abs(first.k_plus(high) - second.k_plus(high)) for low, high in pairwise(borders))


def row_distances(first: Profile, second: Profile) -> tuple[int, int, int]:
    """Return ℓ1, ℓ2², ℓ∞ in Python's integers, over the pieces of rows on which neither changes."""

    def pieces(profile: Profile) -> list[tuple[int, int]]:
        rows, end = [], 0
        for count, prevalence in zip(profile.counts.tolist()[::-1], profile.prevalences.tolist()[::-1], strict=True):
            end += prevalence
            rows.append((end, count))
        return rows

    def row(of: list[tuple[int, int]], label: int) -> int:
        return next((count for end, count in of if label <= end), 0)

    both = pieces(first), pieces(second)
    ends = sorted({0, *(end for one in both for end, _ in one)})
    found = [(high - low, abs(row(both[0], high) - row(both[1], high))) for low, high in pairwise(ends)]
    return (
        sum(length * gap for length, gap in found),
        sum(length * gap**2 for length, gap in found),
        max((gap for _, gap in found), default=0),
    )


@pytest.mark.slow
def test_all_pairs_up_to_seven_against_the_definition() -> None:
    small = partitions_up_to(7)
    made = [Profile.from_partition(partition) for partition in small]
    # Each pair in one order: that the order does not matter is tested below.
    pairs = combinations_with_replacement(zip(small, made, strict=True), 2)
    for (partition, profile), (other_partition, other) in pairs:
        rows = gaps(partition, other_partition)
        assert sorted_l1(profile, other) == sum(rows) == column_distance(profile, other)
        assert sorted_l2_squared(profile, other) == sum(gap**2 for gap in rows)
        assert sorted_linf(profile, other) == max(rows, default=0)
        assert sorted_l2(profile, other) == math.sqrt(sum(gap**2 for gap in rows))


@pytest.mark.slow
@repeatable
@given(profiles(), profiles())
def test_large_profiles_against_pythons_integers(first: Profile, second: Profile) -> None:
    l1, squared, linf = row_distances(first, second)
    assert sorted_l1(first, second) == l1 == column_distance(first, second)
    assert sorted_l2_squared(first, second) == squared
    assert sorted_linf(first, second) == linf


@pytest.mark.slow
@settings(repeatable, max_examples=80)  # that they are follows from the definitions, which the tests above look at
@given(profiles(), profiles(), profiles())
def test_they_are_distances(first: Profile, second: Profile, third: Profile) -> None:
    for measure in (sorted_l1, sorted_linf):
        assert measure(first, first) == 0
        assert measure(first, second) == measure(second, first)
        assert measure(first, third) <= measure(first, second) + measure(second, third)
        assert (measure(first, second) == 0) == (first == second)
    empty = Profile.from_counts([])
    assert sorted_l1(first, empty) == first.n
    assert sorted_linf(first, empty) == max(first.counts.tolist(), default=0)
    l1, squared, linf = (measure(first, second) for measure in (sorted_l1, sorted_l2_squared, sorted_linf))
    assert linf**2 <= squared <= linf * l1


@pytest.mark.slow
@settings(repeatable, max_examples=120)
@given(partitions(max_items=40), partitions(max_items=40))
def test_split_at_any_count(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    # ‖λ − μ‖₁ = Σ_{r ≤ T} |φ_{r+} − φ'_{r+}| + ‖(λ − T)₊ − (μ − T)₊‖₁
    whole = [Profile.from_partition(one) for one in (first, second)]
    distance = sorted_l1(*whole)
    columns = np.abs(np.subtract(*(profile.cumulative_prevalence(np.arange(1, 101)) for profile in whole)))
    for split in (0, 1, 2, 5, 100):
        low = columns[:split].sum()
        high = [Profile.from_counts([max(0, part - split) for part in one]) for one in (first, second)]
        assert distance == low + sorted_l1(*high)


def with_one_more(shared: tuple[int, ...], unit: PrivacyUnit) -> set[tuple[int, ...]]:
    """Return everything that counts may become when one unit comes in; a label's are capped at what the unit says."""
    if unit.kind == "label":
        capped = tuple(min(count, unit.bound) for count in shared)
        return {tuple(sorted((*capped, min(count, unit.bound)))) for count in range(1, 2 * unit.bound)}
    grown, newest = set[tuple[int, ...]](), {shared}
    for _ in range(unit.bound):
        newest = {more for partition in newest for more in larger_neighbors(partition)}
        grown |= newest
    return grown


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize(
    "unit", [PrivacyUnit.item(), PrivacyUnit.user(max_items=3), PrivacyUnit.label(max_count=4)], ids=str
)
def test_neighbours_are_as_far_apart_as_their_unit_says_at_most(
    unit: PrivacyUnit, relation: NeighboringRelation
) -> None:
    """All pairs with up to four items in common."""
    farthest = 0
    for shared in partitions_up_to(4):
        grown = with_one_more(shared, unit)
        without = shared if unit.kind != "label" else tuple(min(count, unit.bound) for count in shared)
        pairs = combinations(grown, 2) if relation is NeighboringRelation.SUBSTITUTE else product([without], grown)
        made = {one: Profile.from_counts(one, unit=unit) for one in (without, *grown)}
        farthest = max(farthest, max((sorted_l1(made[one], made[other]) for one, other in pairs), default=0))
    # Two labels, of which each has at least one item, do not differ by the counts of both.
    possible = (
        unit.bound - 1 if (unit.kind, relation.distance) == ("label", 2) else unit.max_distance * relation.distance
    )
    assert farthest == possible <= unit.max_distance * relation.distance


def test_sums_beyond_int64_are_exact() -> None:
    tall, wide = Profile.from_prevalences({LARGEST: 1}), Profile.from_prevalences({1: LARGEST})
    assert sorted_l1(tall, wide) == 2 * (LARGEST - 1)
    assert sorted_l2_squared(tall, wide) == (LARGEST - 1) ** 2 + LARGEST - 1
    assert sorted_linf(tall, wide) == LARGEST - 1
    assert sorted_l1(tall, Profile.from_counts([])) == LARGEST
    assert sorted_l1(Profile.from_prevalences({2**31: 2**32 - 1}), wide) == 2 * (2**32 - 1) * (2**31 - 1) + (
        LARGEST - (2**32 - 1) * 2**31
    )


@pytest.mark.slow
@repeatable
@given(st.integers(0, 2**62), st.integers(0, 2**62), st.integers(1, 50))
def test_l2_is_the_nearest_float(first: int, second: int, repeats: int) -> None:
    small = min(second, 2**62 // repeats)
    one = Profile.from_counts([first])
    other = Profile.from_counts([small] * repeats)
    squared = sorted_l2_squared(one, other)
    root = sorted_l2(one, other)
    assert isinstance(root, float)
    # Both midpoints to the neighbouring floats enclose the root.
    low, high = (Fraction(math.nextafter(root, end)) for end in (0.0, math.inf))
    assert ((low + Fraction(root)) / 2) ** 2 <= squared <= ((Fraction(root) + high) / 2) ** 2


def test_units_do_not_matter() -> None:
    first, second = Profile.from_counts([5, 2]), Profile.from_counts([4, 4], unit=PrivacyUnit.label(max_count=9))
    assert sorted_l1(first, second) == 3
    assert sorted_l2_squared(first, second) == 5
    assert isinstance(sorted_l1(first, second), int)
    assert not isinstance(sorted_l1(first, second), np.integer)
