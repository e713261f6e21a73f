"""Differences of two releases: their intervals, what is claimed all at once, and which pairs are refused."""

import math
import pickle
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import anonhist as ah
from anonhist.accounting import Receipt
from anonhist.errors import UsageError
from anonhist.ingest import read_profile
from anonhist.mechanisms.noise import noise_quantile
from anonhist.mechanisms.window_release import release_cumulative
from anonhist.profiles.grouped import GroupedProfile
from anonhist.profiles.windows import CumulativeCounts
from anonhist.properties.estimate import Estimate, Holds, Statement
from anonhist.releases.difference import compare_releases, difference
from anonhist.releases.numbers import Key, factor_of, stretched
from anonhist.releases.release import Release
from anonhist.report.difference import summary
from anonhist.sketches import HashedSketch
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

FEW = ah.Profile.from_counts([9, 7, 7, 3, 3, 3, *[1] * 40])
MANY = ah.Profile.from_counts([400, 90, 90, *[5] * 300, *[1] * 900])


def made(profile: ah.Profile = FEW, *, seed: int = 1, epsilon: float = 2, **options: object) -> ah.Release:
    return ah.release(profile, epsilon=epsilon, simulations=4, source=SeededSource(seed), **options)  # type: ignore[arg-type]


def estimate(value: float, low: float, high: float, holds: Holds = Holds.BOTH) -> Estimate:
    return Estimate(
        value, 1.0, (low, high), "made up", statement=Statement(holds, "" if holds is Holds.BOTH else "why")
    )


def test_the_interval_of_a_difference_is_that_of_mover() -> None:
    found = difference(Key("entropy"), estimate(10, 8, 13), estimate(7, 6, 9), "data")
    assert found.value == -3
    assert found.interval == pytest.approx((-3 - math.sqrt(10), -3 + math.sqrt(8)))
    whole = difference(Key("items"), estimate(10, 8, 13), estimate(7, 6, 9), "data")
    assert whole.interval == (-3 - round(math.hypot(1.5, 3.5)), -3 + round(math.hypot(2.5, 2.5)))
    # Numbers that are off by one in up to 5% each differ wrongly by one in up to 10%.
    assert difference(Key("labels"), estimate(4, 4, 4), estimate(4, 4, 4), "data").interval == (-1, 1)


def test_an_end_needs_one_of_each_number() -> None:
    low, high = estimate(4, 3, math.inf, Holds.AT_LEAST), estimate(4, 0, 6, Holds.AT_MOST)
    both, none = estimate(4, 3, 5), estimate(4, 0, math.inf, Holds.NONE)
    for first, second, holds in (
        (both, low, Holds.AT_LEAST),
        (low, both, Holds.AT_MOST),
        (high, low, Holds.AT_LEAST),
        (low, low, Holds.NONE),
        (both, none, Holds.NONE),
    ):
        found = difference(Key("entropy"), first, second, "data")
        assert (found.statement.holds, found.statement.reason) == (holds, "why")
        assert [math.isinf(end) for end in found.interval] == [
            holds in (Holds.AT_MOST, Holds.NONE),
            holds in (Holds.AT_LEAST, Holds.NONE),
        ]


def test_the_factor_is_that_of_laplace_noise_and_enough_for_its_whole_sums() -> None:
    for comparisons in (1, 2, 20, 500):
        factor = factor_of(comparisons)
        # Of Laplace noise, P(X > ln 20) = 1/40.
        assert math.exp(-factor * math.log(20)) / 2 == pytest.approx(0.025 / comparisons)
        for rate, terms in ((0.01, 1), (0.3, 1), (1.0, 4), (3.0, 1), (6.0, 2), (0.5, 60)):
            reach = noise_quantile(rate, terms, 0.025)
            found = stretched(estimate(1e6, 1e6 - reach, 1e6 + reach), factor, grain=1)
            assert math.floor(found.interval[1] - 1e6) >= noise_quantile(rate, terms, 0.025 / comparisons)
    lopsided = stretched(estimate(10, 10, 14), 2.0)
    assert lopsided.interval == (8, 18)


def test_equal_data_do_not_differ_and_other_data_do() -> None:
    same = compare_releases(made(MANY, seed=1), made(MANY, seed=2))
    assert (same.differing, same.comparisons) == ((), len(same))
    found = compare_releases(made(FEW), made(MANY), counts=[5, 1])
    assert found["k-plus", 5].differs
    assert found["labels", None].difference.value == found.second.profile.num_labels - found.first.profile.num_labels
    assert [row.key.at for row in found if row.key.what == "prevalence"] == [1, 5]
    for row in found:
        low, high = row.difference.interval
        assert row.together[0] <= low <= row.difference.value <= high <= row.together[1]
    with pytest.raises(UsageError, match="no number"):
        found["k-plus", 77]


def test_budgets_of_both_add_up() -> None:
    found = compare_releases(made(epsilon=1.5), made(MANY, epsilon=2))
    assert (found.guarantee.epsilon, found.guarantee.delta) == (Fraction(7, 2), 0)


def test_sources_are_compared_where_their_properties_have_intervals() -> None:
    found = compare_releases(made(MANY, seed=1), made(MANY, seed=2), of="distribution")
    assert found["support-size", None].difference.statement.holds is Holds.NONE
    assert found["hill-number", 2].has_interval
    assert found.comparisons < len(found)
    assert "independently" in found.caveat
    # Users with many equal items are a smaller sample than their items: sources then seem to differ.
    assert "not if those of one person are alike" in found.caveat
    assert not any(row.key.what in ("items", "k-plus") for row in found)


def test_releases_that_kept_rows_of_their_own_differ_in_those() -> None:
    rows = pl.DataFrame(
        {"user": [f"u{at % 3000}" for at in range(30_000)], "label": [at // 1000 for at in range(30_000)]}
    )

    def released(key: str, seed: int) -> Release:
        kept = read_profile(rows, label="label", user="user", max_per_user=1, order_key=key * 32)
        return ah.release(kept, epsilon=4, simulations=4, source=SeededSource(seed))

    one, alike, other = released("a", 1), released("a", 2), released("b", 3)
    assert not compare_releases(one, alike).differing
    # Each keeps one row in ten.
    assert compare_releases(one, other).differing
    # With one key, too, an order column or other groups may have chosen other rows, and releases do not record those.
    for pair in ((one, other), (one, alike), (made(MANY), made(MANY, seed=2))):
        found, chose = compare_releases(*pair), pair[0] is one
        assert ("order key" in found.caveat) == chose
        assert summary(found).startswith("The rows, as each release counted them, " if chose else "The two data sets ")
    # Independent samples are independent with other rows of them, too.
    assert "order key" not in compare_releases(one, other, of="distribution").caveat


def test_there_is_no_interval_where_a_release_has_none() -> None:
    capped = ah.PrivacyUnit.label(max_count=5)
    data = ah.Profile.from_counts([5, 5, 3, *[1] * 30])
    found = compare_releases(made(data, unit=capped), made(data, seed=2, unit=capped))
    assert "merged" in found["entropy", None].difference.statement.reason
    assert found["k-plus", 5].has_interval
    assert {row.key.at for row in found if row.key.what == "k-plus"} == {2, 3, 4, 5}
    silent = compare_releases(*(replace(made(seed=seed), simulations=0) for seed in (1, 2)))
    assert silent.comparisons == 0
    assert "0 simulations" in silent["items", None].difference.statement.reason


def test_one_item_of_noise_is_no_difference() -> None:
    # At ε = 3 a release of no data has an item in one of 20 runs, which its own runs may not show.
    nothing, item, flat, more = (ah.Profile.from_counts(counts) for counts in ([], [1], [7] * 50, [*[7] * 49, 8]))
    for pair in ((nothing, item), (item, nothing), (flat, more)):
        first, second = (replace(made(epsilon=4), profile=each, draw=None) for each in pair)
        assert compare_releases(first, second).differing == ()
        for name in ("entropy", "simpson"):
            low, high = compare_releases(first, second)[name, None].difference.interval
            assert low <= 0 <= high


def test_no_data_can_be_compared() -> None:
    nothing = ah.Profile([], [])
    for of in ("data", "distribution"):
        found = compare_releases(made(nothing, epsilon=9), made(MANY), of=of)  # type: ignore[arg-type]
        assert all(np.isfinite(row.difference.value) for row in found)


def _groups() -> ah.GroupedRelease:
    profiles = {(name,): FEW for name in ("DE", "FR")}
    return ah.release_groups(GroupedProfile(("country",), profiles, unit=ah.PrivacyUnit.item()), epsilon=9)


def _windows() -> object:
    return release_cumulative(CumulativeCounts((1, 2), ("1", "2"), np.full((2, 2), 9)), epsilon=1)


@each_of(
    ("second", "told"),
    [
        (made, "Both releases have the same content"),
        (lambda: replace(made(), receipt=Receipt("0" * 32, 3, "0" * 64)), "Both releases have the same content"),
        (lambda: made(unit=ah.PrivacyUnit.user(max_items=3)), "different kinds"),
        (lambda: made(relation=ah.privacy.NeighboringRelation.SUBSTITUTE), "the same relation"),
        (_groups, "name one group of each"),
        (_windows, "share their noise"),
        (lambda: FEW, "Two releases are needed"),
    ],
)
def test_what_cannot_be_compared_is_refused(second: object, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        compare_releases(made(), second())  # type: ignore[operator]


def test_other_bounds_are_refused() -> None:
    few, more = (made(FEW.with_unit(unit), unit=unit) for unit in map(_users, (3, 4)))
    with pytest.raises(UsageError, match="different bounds"):
        compare_releases(few, more)


def test_profiles_of_sketches_are_refused() -> None:
    pair = []
    for labels in (20, 30):
        sketch = HashedSketch(buckets=100, epsilon=1, key=b"week", source=SeededSource(labels))
        sketch.update(map(str, range(labels)))
        pair.append(sketch.reconstruct(simulations=2))
    with pytest.raises(UsageError, match="share their collisions"):
        compare_releases(*pair)


def _users(bound: int) -> ah.PrivacyUnit:
    return ah.PrivacyUnit.user(max_items=bound)


def test_what_was_charged_as_one_is_refused() -> None:
    receipt = Receipt("0" * 32, 3, "0" * 64)
    first, second = (replace(made(seed=seed), receipt=receipt) for seed in (1, 2))
    with pytest.raises(UsageError, match="entry 3 of a ledger"):
        compare_releases(first, second)
    # With receipts of their own, even equal numbers are two draws.
    again = replace(made(seed=1), receipt=Receipt("0" * 32, 4, "1" * 64))
    assert compare_releases(first, again).differing == ()


def _nested() -> ah.GroupedRelease:
    profiles = dict.fromkeys((("DE", "x"), ("DE", "y"), ("FR", "x"), ("FR", "y")), FEW)
    unit = ah.PrivacyUnit.item()
    grouped = GroupedProfile(("country", "day"), profiles, unit=unit, levels=ah.catalogue.Levels.NESTED)
    return ah.release_groups(grouped, epsilon=2, simulations=4, source=SeededSource(5))


def test_a_sum_and_its_part_are_refused() -> None:
    release = _nested()
    again = pickle.loads(pickle.dumps(release))  # noqa: S301  # written above
    for part in (release["DE", "x"], release["DE"], again["DE", "x"], again["DE"]):
        with pytest.raises(UsageError, match="share their noise"):
            compare_releases(release[()], part)
        with pytest.raises(UsageError, match="share their noise"):
            compare_releases(part, again[()])


def test_sums_without_a_common_group_are_compared(tmp_path: Path) -> None:
    release = _nested()
    release.save(tmp_path / "groups.json")
    again = ah.read(tmp_path / "groups.json")
    for other in (release["FR"], release["FR", "x"], again["FR"], again["FR", "y"]):
        assert len(compare_releases(release["DE"], other))
        assert len(compare_releases(other, release["DE"]))
    for total in (release["FR"], again["FR"]):
        assert compare_releases(release["DE"], total).differing == ()
        assert "adds up" not in compare_releases(release["DE"], total).caveat
    # Labels of several groups count once there.
    found = compare_releases(release["DE"], made(MANY))
    assert "adds up groups" in found.caveat
    assert summary(found).startswith("The rows, as each release counted them, ")


def _crossing() -> ah.GroupedRelease:
    rows = {"q": ["a", "b", "c", "a"] * 9, "day": ["x", "y", "z"] * 12, "place": ["DE", "FR"] * 18}
    groups = [(place, day) for place in ("DE", "FR") for day in "xyz"]
    read = ah.read_groups(pa.table(rows), label="q", by=["place", "day"], groups=groups, levels="crossing")
    return ah.release_groups(read, epsilon=1, simulations=4)


def test_groups_that_were_adjusted_together_are_refused(tmp_path: Path) -> None:
    release = _crossing()
    assert release.is_consistent
    release.save(tmp_path / "groups.json")
    told = ah.read(tmp_path / "groups.json").with_error()
    for other in (release["FR"], release["FR", "x"], release[()], told["FR"], told["FR"].with_error()):
        with pytest.raises(UsageError, match="adjusted to agree"):
            compare_releases(release["DE"], other)
    with pytest.raises(UsageError, match="adjusted to agree"):
        compare_releases(release["FR"].unadjusted, release["DE"])  # type: ignore[arg-type]
    # Noises of groups as they were drawn are independent, and so are those of another release.
    drawn = release["DE"].unadjusted, release["FR"].unadjusted
    assert compare_releases(*drawn).guarantee.epsilon == Fraction(2, 3)  # type: ignore[arg-type]
    assert len(compare_releases(release["DE"], _crossing()["FR"]))


def test_one_draw_is_refused_whatever_was_made_of_it() -> None:
    release = _crossing()
    drawn = release["DE"].unadjusted
    assert drawn is not None
    fitted = replace(made(MANY), draw=FEW)
    pairs = [
        (release["DE"], drawn),
        (drawn, release["DE"]),
        # As a command does with a group of a file.
        (replace(drawn, guarantee=release.guarantee), drawn),
        (fitted, replace(fitted, profile=FEW, draw=None)),
        (fitted, replace(fitted, draw=None)),
    ]
    for first, second in pairs:
        with pytest.raises(UsageError, match="the same content"):
            compare_releases(first, second)
    # What was counted under other conditions was drawn by itself.
    here, there = (replace(made(), where=where) for where in ("a = 1", "a = 2"))
    assert compare_releases(here, there).differing == ()


@each_of(
    ("options", "told"),
    [
        ({"counts": [0]}, "counts must be a whole number"),
        ({"counts": []}, "at least one count"),
        ({"of": "people"}, "of must be one of"),
        ({"of": "distribution", "counts": [2]}, "Leave counts out"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        compare_releases(made(), made(MANY), **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_intervals_of_differences_hold() -> None:
    rng, unit = np.random.default_rng(9), ah.PrivacyUnit.label(max_count=8)
    held: list[bool] = []
    together: list[bool] = []
    for _ in range(100):
        data = [ah.Profile.from_counts(rng.integers(1, 9, size)) for size in (300, 330)]
        found = compare_releases(*(ah.release(each, epsilon=1, unit=unit, simulations=2) for each in data))
        rows = [row for row in found if row.key.what in ("k-plus", "prevalence")]
        true = [
            getattr(data[1], name)(int(at or 0)) - getattr(data[0], name)(int(at or 0))
            for name, at in ((row.key.what.replace("-", "_"), row.key.at) for row in rows)
        ]
        held += [
            row.difference.interval[0] <= at <= row.difference.interval[1] for row, at in zip(rows, true, strict=True)
        ]
        together.append(all(row.together[0] <= at <= row.together[1] for row, at in zip(rows, true, strict=True)))
    assert np.mean(held) > 0.93
    assert np.mean(together) > 0.92
