"""Every way into a Profile: what goes in right, and what is refused."""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import BoundedUnits, FrobeniusCoordinates, Profile
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import partitions_up_to
from anonhist_testing.strategies import partitions, profiles, repeatable, units

LARGEST = 2**63 - 1
Make = Callable[[Any], Profile]


def as_dict(profile: Profile) -> dict[int, int]:
    return dict(zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True))


def count_parts(partition: Iterable[int]) -> dict[int, int]:
    parts = list(partition)
    return {part: parts.count(part) for part in sorted(set(parts))}


@pytest.mark.slow
def test_all_small_partitions_by_every_way_in() -> None:
    for partition in partitions_up_to(12):
        expected = count_parts(partition)
        labels = [index for index, part in enumerate(partition) for _ in range(part)]
        shuffled = [*partition[1::2], 0, *partition[::2], 0]
        made = {
            Profile(list(expected), list(expected.values())),
            Profile.from_prevalences(expected),
            Profile.from_prevalences([(part, 1) for part in partition]),
            Profile.from_counts(shuffled),
            Profile.from_labels(labels),
            Profile.from_partition(partition),
            FrobeniusCoordinates.of(Profile.from_counts(partition)).profile(),
        }
        assert len(made) == 1
        profile = made.pop()
        assert as_dict(profile) == expected
        assert tuple(profile.partition().tolist()) == partition
        assert profile.n == sum(partition)
        assert profile.num_labels == len(partition)
        assert len(profile) == len(expected)


@pytest.mark.slow
@repeatable
@given(profiles(unit=units()))
def test_large_profiles_survive_every_round_trip(profile: Profile) -> None:
    pairs = list(as_dict(profile).items())
    unit = profile.unit
    assert Profile(profile.counts, profile.prevalences, unit=unit) == profile
    assert Profile.from_prevalences(pairs[::-1], unit=unit) == profile
    assert Profile.from_prevalences(dict(pairs[::-1]), unit=unit) == profile
    assert profile.n == sum(count * prevalence for count, prevalence in pairs)
    assert profile.num_labels == sum(prevalence for _, prevalence in pairs)
    assert profile.unit == unit


@pytest.mark.slow
@repeatable
@given(partitions(), st.integers(0, 2**32))
def test_order_of_counts_and_labels_does_not_matter(partition: tuple[int, ...], seed: int) -> None:
    labels = [f"label {index}" for index, part in enumerate(partition) for _ in range(part)]
    counts = [*partition, 0]
    for shuffled in (labels, counts):
        np.random.default_rng(seed).shuffle(shuffled)
    expected = Profile.from_partition(partition)
    assert Profile.from_labels(labels) == expected
    assert Profile.from_counts(counts) == expected


def generator(values: Iterable[int]) -> Iterator[int]:
    yield from values


@each_of(
    "given_as",
    [
        list,
        tuple,
        generator,
        np.array,
        *(partial(np.array, dtype=kind) for kind in "bhilBHILefdgO"),
        lambda values: [float(value) for value in values],
        lambda values: [values[0], *map(float, values[1:])],
        lambda values: [np.uint64(value) for value in values],
        lambda values: np.array(values).astype(">i4"),
        lambda values: np.repeat(values, 2)[::2],
        np.ma.array,
        pd.Series,
        lambda values: pd.Series(values, dtype="Int64"),
        pl.Series,
    ],
)
def test_numbers_may_come_in_any_container(given_as: Callable[[list[int]], Any]) -> None:
    expected = Profile.from_prevalences({3: 2, 8: 5})
    assert Profile(given_as([3, 8]), given_as([2, 5])) == expected
    assert Profile.from_counts(given_as([8, 3, 8, 8, 8, 3, 8])) == expected
    assert Profile.from_partition(given_as([8, 8, 8, 8, 8, 3, 3])) == expected
    made = Profile(given_as([3, 8]), given_as([2, 5]))
    for array in (made.counts, made.prevalences):
        assert type(array) is np.ndarray
        assert array.dtype == np.int64
        assert array.dtype.isnative


def test_pairs_may_be_rows_of_an_array() -> None:
    assert Profile.from_prevalences(np.array([[8, 2], [3, 1]])) == Profile.from_prevalences({3: 1, 8: 2})


@each_of(
    "labels",
    [
        "aabbc",
        b"aabbc",
        ["x", "x", ("y", 1), ("y", 1), 7],
        np.array(["x", "y", "x", "y", "z"]),
        pd.Series(["x", "y", "x", "y", "z"]),
        pl.Series(["x", "y", "x", "y", "z"]),
        iter([0.5, 0.5, frozenset({1}), frozenset({1}), Fraction(1, 3)]),
    ],
)
def test_labels_may_be_any_hashable_values(labels: Any) -> None:
    assert as_dict(Profile.from_labels(labels)) == {1: 1, 2: 2}


@each_of(
    "labels",
    [
        ["a", None, "a", float("nan"), float("nan"), pd.NA, pd.NaT],
        np.array(["a", None, "a", np.nan, None, None, None], dtype=object),
        pd.Series(["a", None, "a", None, None, None, None]),
        pl.Series(["a", None, "a", None, None, None, None]),
        np.array([1.5, np.nan, 1.5, np.nan, np.nan, np.nan, np.nan]),
    ],
)
def test_what_is_missing_is_no_label_as_where_profiles_are_read(labels: Any) -> None:
    assert Profile.from_labels(labels) == read_profile(labels) == Profile.from_counts([2])
    for make in (Profile.from_labels, read_profile):
        assert make(labels, keep_null=True) == Profile.from_counts([2, 5])


def test_empty_by_every_way_in() -> None:
    empty = Profile([], [])
    for made in (
        Profile.from_counts([]),
        Profile.from_counts([0, 0]),
        Profile.from_counts(np.array([], dtype=float)),
        Profile.from_prevalences({}),
        Profile.from_prevalences([]),
        Profile.from_prevalences(np.zeros((0, 2), dtype=int)),
        Profile.from_labels([]),
        Profile.from_labels(""),
        Profile.from_partition([]),
        FrobeniusCoordinates([], []).profile(),  # type: ignore[arg-type]  # lists are converted
    ):
        assert made == empty
    assert (empty.n, empty.num_labels, len(empty), empty.durfee_size) == (0, 0, 0, 0)
    assert empty.counts.dtype == empty.prevalences.dtype == empty.partition().dtype == np.int64


WAYS: dict[str, Make] = {
    "counts": lambda value: Profile([value], [1]),
    "prevalences": lambda value: Profile([1], [value]),
    "mapped count": lambda value: Profile.from_prevalences({value: 1}),
    "mapped prevalence": lambda value: Profile.from_prevalences({1: value}),
    "paired count": lambda value: Profile.from_prevalences([(1, 1), (value, 1)]),
    "paired prevalence": lambda value: Profile.from_prevalences([(2, 1), (2, value)]),
    "listed count": lambda value: Profile.from_counts([5, value]),
    "array of counts": lambda value: Profile.from_counts(np.array([value])),
    "part": lambda value: Profile.from_partition([value]),
    "second part": lambda value: Profile.from_partition([9, value]),
    "arm": lambda value: FrobeniusCoordinates(np.array([value]), np.array([0])).profile(),
    "leg": lambda value: FrobeniusCoordinates([0], [value]).profile(),  # type: ignore[arg-type]  # lists are converted
}
NEVER_WHOLE = [
    -1,
    -(2**63),
    2**63,
    2**64,
    2**64 + 1,
    10**30,
    0.5,
    1.5,
    -0.5,
    float("nan"),
    float("inf"),
    -float("inf"),
    1e300,
    2.0**53,
    np.float32(2**24),
    np.uint64(2**63),
    True,
    np.True_,
    "3",
    b"3",
    "",
    None,
    1 + 0j,
    Decimal(3),
    Fraction(3),
    np.datetime64(3, "D"),
    np.timedelta64(3, "D"),
    (3,),
    (3, 4),
]


@each_of("value", NEVER_WHOLE)
def test_what_is_no_count_is_refused_by_every_way_in(value: object) -> None:
    for way, make in WAYS.items():
        with pytest.raises(DataError) as refused:
            pytest.fail(f"{way}: {make(value)!r} was made")
        # One sentence, and never the value: data do not belong in errors.
        message = str(refused.value)
        assert message.endswith("."), way
        assert "\n" not in message, way
        assert refused.value.__suppress_context__ or refused.value.__context__ is None, way
        if value not in ("", None, -1) and not isinstance(value, tuple):
            assert repr(value) not in message, way


@each_of("way", [way for way in WAYS if way not in ("listed count", "array of counts", "arm", "leg")])
def test_zero_is_refused_where_it_is_no_count(way: str) -> None:
    with pytest.raises(DataError, match="at least 1"):
        WAYS[way](0)


@each_of(
    ("counts", "prevalences"),
    [
        ([1, 2], [1]),
        ([], [1]),
        ([1], []),
        ([2, 1], [1, 1]),
        ([1, 1], [1, 1]),
        ([1, 3, 2], [1, 1, 1]),
        ([[1, 2]], [[1, 1]]),
        (np.ones((2, 2)), np.ones((2, 2))),
        (np.zeros((0, 2)), np.zeros((0, 2))),
        ([[1], [2, 3]], [1, 1]),
        ([[]], [[]]),
        (3, 1),
        (np.int64(3), np.int64(1)),
        ("3", "1"),
        (None, None),
        (np.ma.array([1, 2], mask=[False, True]), [1, 1]),
        (pd.Series([1, None]), [1, 1]),
        (pd.Series([1, None], dtype="Int64"), [1, 1]),
        (pl.Series([1, None]), [1, 1]),
    ],
)
def test_misshapen_columns_are_refused(counts: Any, prevalences: Any) -> None:
    with pytest.raises(DataError):
        Profile(counts, prevalences)


@each_of(
    "pairs", [[1, 2], [(1,)], [(1, 2, 3)], [(1, 2), (3,)], ["ab"], 7, None, "text", [None], [[[1], [2]]], [(1, (2,))]]
)
def test_what_is_no_pair_is_refused(pairs: Any) -> None:
    with pytest.raises(DataError):
        Profile.from_prevalences(pairs)


@each_of(
    ("make", "value"),
    [
        (Profile.from_counts, {"a": 3}),
        (Profile.from_counts, {3: 1}),
        (Profile.from_counts, {3, 8}),
        (Profile.from_counts, {"a": 3}.keys()),
        (Profile.from_labels, {"a": 3}),
    ],
)
def test_containers_that_would_lose_counts_are_refused(make: Make, value: Any) -> None:
    with pytest.raises(UsageError, match=r"list|one label per item"):
        make(value)


def test_values_of_a_mapping_are_counts() -> None:
    assert as_dict(Profile.from_counts({"a": 3, "b": 3}.values())) == {3: 2}


@each_of("labels", [5, None, [["a"]], [{}], np.ones((2, 2)), pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})])
def test_what_holds_no_labels_is_refused(labels: Any) -> None:
    with pytest.raises(DataError):
        Profile.from_labels(labels)


@each_of("parts", [[1, 2], [3, 1, 2], [3, 0], [0], [2, -1]])
def test_a_partition_descends_to_at_least_one(parts: list[int]) -> None:
    with pytest.raises(DataError):
        Profile.from_partition(parts)


@pytest.mark.parametrize("unit", ["item", 1, {"kind": "item"}])
def test_a_unit_is_a_privacy_unit(unit: Any) -> None:
    for make in (Profile.from_counts, Profile.from_partition, Profile.from_labels, Profile.from_prevalences):
        with pytest.raises(UsageError, match="PrivacyUnit"):
            make([], unit=unit)
    with pytest.raises(UsageError, match="PrivacyUnit"):
        Profile([], []).with_unit(unit)


def test_every_way_in_carries_the_unit() -> None:
    unit = PrivacyUnit.user(max_items=4)
    for made in (
        Profile([1], [1], unit=unit),
        Profile.from_counts([1], unit=unit),
        Profile.from_labels("a", unit=unit),
        Profile.from_partition([1], unit=unit),
        Profile.from_prevalences({1: 1}, unit=unit),
        Profile.from_counts([1]).with_unit(unit),
        FrobeniusCoordinates([0], [0]).profile(unit=unit),  # type: ignore[arg-type]  # lists are converted
    ):
        assert made == Profile.from_counts([1]).with_unit(unit)
        assert made != Profile.from_counts([1])
    assert Profile.from_counts([1]).unit == PrivacyUnit.item()


@each_of(
    "prevalences",
    [
        {1: LARGEST},
        {LARGEST: 1},
        {2**62: 1, 1: 2**62 - 1},
        {2**31: 2**31, 3: 2**60},
        {3037000499: 3037000499},
        {7: LARGEST // 7},
    ],
)
def test_n_up_to_the_largest_int64_is_exact(prevalences: dict[int, int]) -> None:
    profile = Profile.from_prevalences(prevalences)
    assert profile.n == sum(count * prevalence for count, prevalence in prevalences.items())
    assert profile.num_labels == sum(prevalences.values())
    assert type(profile.n) is int
    assert type(profile.num_labels) is int


@each_of(
    "prevalences",
    [
        {1: LARGEST, 2: 1},
        {LARGEST: 2},
        {2**62: 1, 1: 2**62},
        {2**62: 2},
        {2**32: 2**31},
        {2**32: 2**32},
        {3037000500: 3037000500},
        {10**15: 10**15},
        {LARGEST: LARGEST},
        {LARGEST - 1: LARGEST, LARGEST: LARGEST},
        {7: LARGEST // 7 + 1},
        {103: 89547301328687144},  # 2^63 + 24, which floats hold for less than 2^63
    ],
)
def test_n_beyond_int64_is_refused_never_wrapped(prevalences: dict[int, int]) -> None:
    pairs = sorted(prevalences.items())
    with pytest.raises(DataError, match=r"more than 2\^63 − 1 items"):
        Profile.from_prevalences(prevalences)
    with pytest.raises(DataError, match=r"more than 2\^63 − 1 items"):
        Profile.from_prevalences([*pairs, *pairs])
    with pytest.raises(DataError, match=r"more than 2\^63 − 1 items"):
        Profile([count for count, _ in pairs], [prevalence for _, prevalence in pairs])


def test_sums_of_pairs_and_of_counts_are_refused_when_they_overflow() -> None:
    with pytest.raises(DataError, match="more than"):
        Profile.from_counts([LARGEST, 1])
    with pytest.raises(DataError, match="more than"):
        Profile.from_prevalences([(1, LARGEST), (1, LARGEST), (1, 2)])
    assert Profile.from_prevalences([(1, 2**62), (1, 2**62 - 1)]).num_labels == LARGEST


@each_of("steps", range(-4, 5))
def test_the_limit_is_exact_where_floats_are_not(steps: int) -> None:
    # 2^31 − 1 divides 2^62 − 2^31: near 2^62 and 2^63 the float sum cannot tell these totals apart.
    for total in (2**62, 2**63):
        rest = total + steps - (2**31 - 1) * 2**30
        pairs = {2**31 - 1: 2**30, 1: rest}
        if total + steps <= LARGEST:
            assert Profile.from_prevalences(pairs).n == total + steps
        else:
            with pytest.raises(DataError):
                Profile.from_prevalences(pairs)


def test_integers_beside_floats_are_not_rounded() -> None:
    assert as_dict(Profile([1.0, 2**53 + 1], [2.0, 3])) == {1: 2, 2**53 + 1: 3}
    assert as_dict(Profile.from_counts([2**62 + 1, 5.0])) == {5: 1, 2**62 + 1: 1}


@each_of("wrong", [3, Profile([1], [1]), BoundedUnits(3, {4: 44_771})])  # type: ignore[arg-type]
def test_users_are_refused_without_a_word_of_them(wrong: Any) -> None:
    with pytest.raises(UsageError, match="users must be BoundedUnits") as caught:
        Profile([1], [1], users=wrong)
    assert "44" not in str(caught.value)
