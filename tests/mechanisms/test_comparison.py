"""Mechanisms side by side: against releases made and measured by hand, and what does not apply."""

import math
import re
import statistics
from fractions import Fraction
from itertools import accumulate
from typing import Any

import pytest

import anonhist as ah
from anonhist.catalogue import takers
from anonhist.errors import kind_of
from anonhist.mechanisms import (
    MECHANISM_NAMES,
    METRICS,
    Comparison,
    ComparisonRow,
    CumulativeMechanism,
    FrobeniusMechanism,
    PartitionMechanism,
    PrivHistMechanism,
    comparison,
)
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.releases import Release
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

SMALL = Profile.from_counts([90, 40, 40, 17, 9, 5, 5, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1])
NAMES = [metric.name for metric in METRICS]


def shares(counts: list[int], marks: int) -> list[float]:
    total = sum(counts)
    sums = [part / total if total else 0.0 for part in accumulate(counts)] + [1.0 if total else 0.0] * marks
    return sums[:marks]


def by_hand(truth: Profile, release: Release) -> dict[str, float]:
    """Return every error by its definition, with a list of counts in descending order."""
    right, made = truth.partition().tolist(), release.profile.partition().tolist()
    length = max(len(right), len(made))
    gaps = [a - b for a, b in zip(right + [0] * (length - len(right)), made + [0] * (length - len(made)), strict=True)]
    # Up to 200 labels, the log scale has every number of them.
    curve = zip(shares(right, len(right)), shares(made, len(right)), strict=True)
    return {
        "sorted_l1": sum(map(abs, gaps)),
        "sorted_l2": math.sqrt(sum(gap**2 for gap in gaps)),
        "items": abs(release.n - sum(right)),
        "singletons": abs(right.count(1) - made.count(1)),
        "labels": abs(len(right) - len(made)),
        "guessing": statistics.mean(abs(a - b) for a, b in curve),
    }


@pytest.mark.slow
@each_of(
    ("name", "mechanism"),
    [
        ("frobenius", FrobeniusMechanism("0.5")),
        ("auto", FrobeniusMechanism("0.5")),
        ("partition", PartitionMechanism("0.5")),
        ("privhist", PrivHistMechanism("0.5")),
        ("cumulative", CumulativeMechanism("0.5", public_cap=100)),
    ],
)
def test_numbers_are_those_of_releases_made_by_hand(name: str, mechanism: Any) -> None:
    found = ah.compare(SMALL, epsilons=["0.5"], mechanisms=[name], repeats=5, source=SeededSource(7))
    source = SeededSource(7)
    mechanism.release(SMALL, source=source)  # the one that is not counted
    each = [by_hand(SMALL, mechanism.release(SMALL, source=source)) for _ in range(5)]
    assert [row.metric for row in found.rows] == NAMES
    for row in found.rows[:-1]:
        numbers = [errors[row.metric] for errors in each]
        assert (row.mechanism, row.epsilon, row.repeats) == (name, Fraction(1, 2), 5)
        assert row.mean == pytest.approx(statistics.mean(numbers), abs=1e-12)
        assert row.standard_error == pytest.approx(statistics.stdev(numbers) / math.sqrt(5), abs=1e-12)
        assert row.mean > 0


def test_n_is_the_released_one_where_there_is_one() -> None:
    # PrivHist releases n in a step of its own, which errs less than its profile.
    found = ah.compare(SMALL, epsilons=[2], mechanisms=["privhist"], repeats=3, source=SeededSource(1))
    source = SeededSource(1)
    releases = [PrivHistMechanism(2).release(SMALL, source=source) for _ in range(4)][1:]
    row = found.row("privhist", Fraction(2), "items")
    assert row is not None
    assert row.mean == pytest.approx(statistics.mean(abs(each.n - SMALL.n) for each in releases))
    assert row.mean != pytest.approx(statistics.mean(abs(each.profile.n - SMALL.n) for each in releases))


def test_the_release_alone_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(comparison, "perf_counter", lambda: clock[0])
    real = FrobeniusMechanism.release
    takes = iter([100.0, 1.0, 2.0, 6.0])

    def slow(self: FrobeniusMechanism, profile: Profile, **options: Any) -> Release:
        clock[0] += next(takes)
        return real(self, profile, **options)

    def slow_error(truth: Profile, release: Release) -> float:
        assert isinstance(release, Release)
        clock[0] += 1000.0
        return float(truth.n)

    monkeypatch.setattr(FrobeniusMechanism, "release", slow)
    monkeypatch.setattr(comparison, "ERRORS", dict.fromkeys(comparison.ERRORS, slow_error))
    found = ah.compare(SMALL, epsilons=[1], mechanisms=["frobenius"], repeats=3)
    row = found.row("frobenius", Fraction(1), "seconds")
    assert row is not None
    assert (row.mean, row.standard_error) == (pytest.approx(3.0), pytest.approx(math.sqrt(7) / math.sqrt(3)))


@pytest.mark.slow
def test_all_mechanisms_run_by_default_in_order() -> None:
    found = ah.compare(SMALL, epsilons=[1, "0.5"], repeats=2)
    assert found.mechanisms == MECHANISM_NAMES
    assert found.epsilons == (1, Fraction(1, 2))
    assert [(row.epsilon, row.mechanism, row.metric) for row in found.rows] == [
        (epsilon, name, metric) for epsilon in (1, Fraction(1, 2)) for name in MECHANISM_NAMES for metric in NAMES
    ]
    assert found.skipped == ()
    assert (found.items, found.labels, found.repeats) == (SMALL.n, SMALL.num_labels, 2)
    assert found.taken == (("public_items", 500), ("public_labels", 20), ("public_cap", 100))


def test_auto_says_what_it_picked() -> None:
    found = ah.compare(SMALL, epsilons=["0.5", 2], mechanisms=["auto"], repeats=2)
    assert found.picked == ((Fraction(1, 2), "frobenius"), (Fraction(2), "partition"))


@pytest.mark.parametrize(
    ("counts", "taken"),
    [
        ([], {"public_items": 1, "public_labels": 1, "public_cap": 1}),
        ([1], {"public_items": 1, "public_labels": 1, "public_cap": 1}),
        ([6, 5], {"public_items": 20, "public_labels": 2, "public_cap": 10}),
        ([200], {"public_items": 200, "public_labels": 1, "public_cap": 200}),
        ([201, 1], {"public_items": 500, "public_labels": 2, "public_cap": 500}),
    ],
)
def test_public_numbers_come_from_the_data_rounded_up(counts: list[int], taken: dict[str, int]) -> None:
    found = ah.compare(Profile.from_counts(counts), epsilons=[3], repeats=2)
    assert dict(found.taken) == taken
    assert found.mechanisms == MECHANISM_NAMES


@pytest.mark.slow
def test_given_public_numbers_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}
    real = comparison.entrants_of

    def spy(*arguments: Any, **options: Any) -> Any:
        entrants, skipped = real(*arguments, **options)
        seen.update({name: mechanism.parameters for name, mechanism in entrants})
        return entrants, skipped

    monkeypatch.setattr(comparison, "entrants_of", spy)
    found = ah.compare(SMALL, epsilons=[1], repeats=2, public_items=1000, public_labels=30, public_cap=1e3)
    assert found.taken == ()
    assert seen["isotonic"]["public_labels"] == 30
    assert seen["bounded-partition"]["public_items"] == seen["relaxed-partition"]["public_items"] == 1000
    assert seen["cumulative"]["public_cap"] == seen["prevalence"]["public_cap"] == 1000
    # Only what some mechanism needs is taken from the data.
    assert ah.compare(SMALL, epsilons=[1], mechanisms=["auto", "privhist"], repeats=2).taken == ()


def test_what_does_not_apply_is_skipped_with_its_reason() -> None:
    found = ah.compare(SMALL, epsilons=[21, 25], mechanisms=["relaxed-partition", "frobenius"], repeats=2)
    assert found.mechanisms == ("frobenius",)
    (skipped,) = found.skipped
    assert (skipped.mechanism, skipped.epsilons) == ("relaxed-partition", (21, 25))
    assert "an ε of at most 20" in skipped.reason
    assert found.row("relaxed-partition", Fraction(21), "items") is None


@pytest.mark.full
def test_what_applies_at_some_budgets_runs_there() -> None:
    found = ah.compare(SMALL, epsilons=["0.001", 25, 1], mechanisms=["bounded-partition", "privhist"], repeats=2)
    assert {row.epsilon for row in found.rows if row.mechanism == "bounded-partition"} == {Fraction(1)}
    (skipped,) = found.skipped
    assert skipped.epsilons == (Fraction(1, 1000), 25)
    assert "ε of at most 20" in skipped.reason


@pytest.mark.slow
def test_a_public_number_below_the_data_skips_those_that_need_it() -> None:
    found = ah.compare(SMALL, epsilons=[1], repeats=2, public_cap=50)
    assert {each.mechanism for each in found.skipped} == {*takers("public_cap")}
    assert all(each.reason == "the data exceed public_cap, so it would refuse them." for each in found.skipped)
    assert "frobenius" in found.mechanisms


def test_labels_are_compared_with_their_counts_capped() -> None:
    unit = PrivacyUnit.label(max_count=10)
    found = ah.compare(SMALL, epsilons=[60], mechanisms=["prevalence", "cumulative"], repeats=4, unit=unit)
    assert found.mechanisms == ("prevalence", "cumulative")
    # Counts above ten are ten to each of these, so next to no noise leaves next to no error.
    row = found.row("prevalence", Fraction(60), "sorted_l1")
    assert row is not None
    assert row.mean == 0
    assert found.items == sum(min(count, 10) for count in SMALL.partition().tolist())
    assert found.taken == ()


@pytest.mark.slow
def test_the_unit_is_that_of_the_profile_unless_another_is_asked() -> None:
    users = SMALL.with_unit(PrivacyUnit.user(max_items=4))
    one = ah.compare(users, epsilons=[2], mechanisms=["auto"], repeats=2)
    assert (one.unit, one.picked) == (PrivacyUnit.user(max_items=4), ((Fraction(2), "frobenius"),))
    other = ah.compare(SMALL, epsilons=[2], mechanisms=["auto"], repeats=2, relation=NeighboringRelation.SUBSTITUTE)
    assert (other.relation, other.picked) == (NeighboringRelation.SUBSTITUTE, ((Fraction(2), "frobenius"),))
    with pytest.raises(ah.UsageError, match="was read to protect"):
        ah.compare(users, epsilons=[2], unit=PrivacyUnit.item())


@each_of(
    ("options", "told"),
    [
        ({"epsilons": []}, "epsilons must be a list"),
        ({"epsilons": "1"}, "epsilons must be a list"),
        ({"epsilons": 1}, "epsilons must be a list"),
        ({"epsilons": [0]}, "greater than zero"),
        ({"epsilons": [1, -1]}, "greater than zero"),
        ({"epsilons": [0.5, "1/2"]}, "0.5 is listed twice"),
        ({"mechanisms": []}, "mechanisms must be a list"),
        ({"mechanisms": "auto"}, "mechanisms must be a list"),
        ({"mechanisms": [FrobeniusMechanism(1)]}, "must be names"),
        ({"mechanisms": ["magic"]}, "no mechanism called 'magic'"),
        ({"mechanisms": ["auto", "privhist", "auto"]}, "auto is listed twice"),
        ({"repeats": 1}, "repeats must be a whole number from 2"),
        ({"repeats": 2.5}, "repeats must be a whole number from 2"),
        ({"unit": "item"}, "unit must be a PrivacyUnit"),
        ({"relation": "substitute"}, "relation must be a NeighboringRelation"),
        ({"public_cap": 0}, "public_cap must be a whole number"),
        ({"mechanisms": ["privhist"], "public_cap": 9}, "public_cap does not apply to any"),
        (
            {"mechanisms": ["relaxed-partition"], "epsilons": [30]},
            "No mechanism applies. The reason for relaxed-partition:",
        ),
    ],
)
def test_impossible_comparisons_are_refused_in_a_sentence(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ah.UsageError) as refused:
        ah.compare(SMALL, **{"epsilons": [1], **options})
    assert told in str(refused.value)
    assert re.fullmatch(r"[^\n]+\.", str(refused.value))


@pytest.mark.parametrize("thing", [[3, 1], None], ids=["list", "none"])
def test_only_profiles_are_compared_on(thing: Any) -> None:
    with pytest.raises(ah.UsageError, match=rf"A profile is needed.*, not {kind_of(thing)}\."):
        ah.compare(thing, epsilons=[1])


def test_a_release_is_compared_on_by_its_profile() -> None:
    release = FrobeniusMechanism(3).release(SMALL, source=SeededSource(1))
    found = [
        ah.compare(one, epsilons=[1], mechanisms=["privhist"], repeats=2, shares="thirds", source=SeededSource(2))
        for one in (release, release.profile)
    ]
    kept = [[row for row in one.rows if row.metric != "seconds"] for one in found]
    assert kept[0] == kept[1]


def test_shares_are_those_of_privhist() -> None:
    runs = {
        shares: ah.compare(
            SMALL, epsilons=[1], mechanisms=["privhist"], repeats=2, shares=shares, source=SeededSource(5)
        ).rows[0]
        for shares in (None, "thirds")
    }
    assert runs[None] != runs["thirds"]
    with pytest.raises(ah.UsageError, match="shares applies only to privhist, which is not compared"):
        ah.compare(SMALL, epsilons=[1], mechanisms=["frobenius"], shares="thirds")


def test_progress_goes_up_to_one() -> None:
    told: list[float] = []
    ah.compare(SMALL, epsilons=[1, 2], mechanisms=["frobenius", "cumulative"], repeats=3, progress=told.append)
    assert told == sorted(told)
    assert all(any(abs(share - step / 16) < 1e-9 for share in told) for step in range(1, 17))


def test_the_best_are_those_that_cannot_be_told_from_the_least() -> None:
    def row(name: str, mean: float, error: float) -> ComparisonRow:
        return ComparisonRow(name, Fraction(1), "items", mean, error, 9)

    rows = (row("a", 10, 3), row("b", 20, 4), row("c", 20.1, 4), row("d", 30, 20))
    found = Comparison(
        rows, (), (), (), items=1, labels=1, unit=PrivacyUnit.item(), relation=NeighboringRelation.SUBSTITUTE, repeats=9
    )
    # Two standard errors of the difference are 2·√(9 + 16) = 10 for b and c. d varies too wildly to be said to be as
    # good: with a quarter of its mean for its error they are 16.2.
    assert found.best(Fraction(1), "items") == {"a", "b"}
