"""The stated range of the error holds the real mean error, also on data that no fit expects. Draws are fixed."""

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from anonhist.catalogue import Levels
from anonhist.errors import DataError
from anonhist.formats.document import from_document
from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism
from anonhist.mechanisms.frobenius.mechanism import inside_groups
from anonhist.mechanisms.grouping import release_groups
from anonhist.mechanisms.setting import make_release
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist.profiles.grouped import GroupedProfile, total_of
from anonhist.releases.runs import BY_POSTERIOR, flattened
from anonhist_testing.sources import SeededSource

ITEM, USER = PrivacyUnit.item(), PrivacyUnit.user(max_items=20)
FEW = {
    "ten plateaus": Profile.from_prevalences(dict.fromkeys(range(20, 201, 20), 20)),
    "powers of two": Profile.from_prevalences({10 * 2**power: 40 for power in range(6)}),
    "five plateaus": Profile.from_prevalences(dict.fromkeys(range(30, 151, 30), 40)),
}


def real_mean(mechanism: FrobeniusMechanism | PartitionMechanism, data: Profile, runs: int) -> float:
    found = mechanism.simulate(data, size=runs, rng=np.random.default_rng(2))
    return float(np.mean([sorted_l1(data, run.with_unit(data.unit)) for run in found]))


@pytest.mark.slow
@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("name", "epsilon", "unit"),
    [
        ("ten plateaus", "0.1", ITEM),
        ("ten plateaus", "0.5", ITEM),
        ("powers of two", "0.1", ITEM),
        ("powers of two", "0.5", ITEM),
        ("five plateaus", "0.1", ITEM),
        ("five plateaus", "0.5", ITEM),
        ("ten plateaus", "1", USER),
    ],
)
def test_the_range_holds_the_mean_error_on_data_with_few_different_counts(
    name: str, epsilon: str, unit: PrivacyUnit
) -> None:
    data = FEW[name].with_unit(unit)
    mechanism = FrobeniusMechanism(epsilon, unit)
    real, held = real_mean(mechanism, data, 48), 0
    drawn = mechanism.simulate_with_evidence(data, size=4, rng=np.random.default_rng(3))
    for profile, evidence in drawn:
        error = make_release(profile, mechanism, reason=None, evidence=evidence, simulations=8).error
        assert error.sorted_l1 is not None
        assert error.expected_range is not None
        low, high = error.expected_range
        # Of users, where each cell has 0.05 of ε, the page of intervals says 12.5 on average.
        assert low < error.sorted_l1.value < high < (12 if unit is ITEM else 16) * low
        held += low <= real <= high
    assert held == 4


@pytest.mark.slow
def test_the_range_begins_below_the_mean_error_where_noise_makes_several_counts_of_one() -> None:
    data, mechanism = FEW["five plateaus"], PartitionMechanism("1.1")
    real = real_mean(mechanism, data, 100)
    found = [mechanism.release(data, source=SeededSource(seed)).error.expected_range for seed in range(24)]
    assert sum(within is not None and within[0] <= real <= within[1] for within in found) >= 23


@pytest.mark.full
def test_a_range_begins_at_the_errors_of_flatter_data_where_these_are_below_one_item() -> None:
    data, mechanism = Profile.from_prevalences({10: 100}), PartitionMechanism(2)
    real = real_mean(mechanism, data, 300)
    assert 0.2 < real < 0.7
    found = [mechanism.release(data, source=SeededSource(seed)).error.expected_range for seed in range(40)]
    assert all(within is not None and within[0] <= real <= within[1] for within in found)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["frobenius", "partition"])
def test_the_range_of_a_total_follows_from_those_of_its_groups(mechanism: Literal["frobenius", "partition"]) -> None:
    profiles = {(name,): FEW["five plateaus"] for name in "abc"}
    grouped = GroupedProfile(("g",), profiles, unit=ITEM, levels=Levels.NESTED)
    made = release_groups(grouped, epsilon="0.5", mechanism=mechanism, simulations=8, source=SeededSource(4))
    ranges = [each.error.expected_range for each in made.values()]
    values = [each.error.sorted_l1.value for each in made.values() if each.error.sorted_l1 is not None]
    expected, within = made[()].error.sorted_l1, made[()].error.expected_range
    assert expected is not None
    assert within is not None
    lows, highs = (sum(ends[side] for ends in ranges if ends is not None) for side in (0, 1))
    assert within[1] == pytest.approx(highs)
    assert within[0] <= expected.value * lows / sum(values) + 1e-9
    assert isinstance(made.mechanism, FrobeniusMechanism | PartitionMechanism)
    total = total_of(profiles.values())
    runs = made.mechanism.simulate_each([*profiles.values()], size=24, rng=np.random.default_rng(1))
    assert within[0] <= np.mean([sorted_l1(total, total_of(run)) for run in runs]) <= within[1]


def test_a_smooth_release_has_a_narrow_range() -> None:
    mechanism = FrobeniusMechanism(1)
    data = Profile.from_counts(np.ceil(1000 / np.arange(1, 501)).astype(np.int64))
    error = mechanism.release(data, source=SeededSource(1)).error
    assert error.sorted_l1 is not None
    assert error.expected_range is not None
    low, high = error.expected_range
    assert high < 1.4 * error.sorted_l1.value
    assert high < 2 * low


def test_nothing_is_flattened_by_less_than_the_cheapest_join() -> None:
    data = Profile.from_counts([9, 9, 9, 7, 7, 1])
    assert flattened(data, 0.9) == data
    assert flattened(data, 4.9) == Profile.from_counts([9, 9, 9, 7, 7])
    assert flattened(data, 5) == Profile.from_counts([9] * 5)
    assert flattened(data, 10**6) == Profile([], [])


@pytest.mark.parametrize("distance", [1.0, 10.0, 100.0, 1e4, 1e6])
def test_flattened_data_have_no_more_labels_and_are_no_farther_than_asked(distance: float) -> None:
    data = Profile.from_counts(np.ceil(5000 / np.arange(1, 2001)).astype(np.int64))
    flat = flattened(data, distance)
    assert flat.num_labels <= data.num_labels
    # Labels that moved twice may end nearer to where they began.
    assert 0 < sorted_l1(data, flat) <= distance
    assert len(flat) < len(data)


def test_the_largest_counts_are_flattened_exactly() -> None:
    largest = 2**62
    assert flattened(Profile([largest - 1, largest], [1, 1]), 1) == Profile([largest - 1], [2])


def test_rows_differ_from_the_means_of_their_groups_by_no_more_than_the_bound() -> None:
    rng = np.random.default_rng(5)
    tight = 0.0
    for _ in range(300):
        lengths = rng.integers(1, 6, size=rng.integers(2, 7))
        steps = rng.integers(0, 9, size=lengths.sum()) * (rng.random(lengths.sum()) < rng.random())
        rows = 4 + np.cumsum(steps)[::-1].astype(np.float64)
        starts = np.cumsum(lengths) - lengths
        means = np.add.reduceat(rows, starts) / lengths
        apart = float(np.abs(rows - np.repeat(means, lengths)).sum())
        # The first group has nothing before it that could bound its rows: in a release it is of one row.
        apart -= float(np.abs(rows - np.repeat(means, lengths))[: lengths[0]].sum())
        many = np.where(lengths > 1, lengths, 0)
        many[0] = 0
        (bound,) = inside_groups(means, many, np.zeros(lengths.size, dtype=np.int64), np.array([4]))
        assert apart <= bound + 1e-9
        tight = max(tight, apart / max(bound, 1e-9))
    assert tight > 0.9


def test_files_hold_the_range(tmp_path: Path) -> None:
    by_noise, made = (
        FrobeniusMechanism(each).release(FEW["five plateaus"], source=SeededSource(1)) for each in ("0.5", "0.05")
    )
    for each in (by_noise, made):
        write(each, tmp_path / "release.json", overwrite=True)
        assert read_release(tmp_path / "release.json").error == each.error
    document = json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))
    for wrong in ([1.0], [3.0, 2.0], [0.0, 1.0], [-1.0, 1e9], "wide"):
        document["error"]["sorted_l1"]["range"] = wrong
        with pytest.raises(DataError):
            from_document(document)
    document["error"]["sorted_l1"]["range"] = None
    expected = made.error.sorted_l1
    assert expected is not None
    # Where no range was kept, it follows from the error by factors.
    found = from_document(document).error.expected_range
    assert found == pytest.approx((expected.interval[0] / 1.25, expected.value * 1.6))
    assert by_noise.error.sorted_l1.method == BY_POSTERIOR
    document["error"]["method"] = BY_POSTERIOR
    with pytest.raises(DataError, match="must have a range"):
        from_document(document)
    del document["error"]["sorted_l1"]["range"]
    with pytest.raises(DataError, match="the sorted ℓ1 error by exactly the fields"):
        from_document(document)
