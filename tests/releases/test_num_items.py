"""How many items there are, with an interval: from noisy values, from runs, or from a number released on its own."""

from dataclasses import replace

import numpy as np
import pytest

from anonhist.catalogue import MECHANISMS as CATALOGUE
from anonhist.errors import DataError
from anonhist.formats.document import from_document, to_document
from anonhist.mechanisms import (
    CentralMechanism,
    CumulativeMechanism,
    FrobeniusMechanism,
    IsotonicMechanism,
    PartitionMechanism,
    PrevalenceMechanism,
    PrivHistMechanism,
)
from anonhist.mechanisms.noise import of_prevalences, of_sums, weighted_quantile
from anonhist.mechanisms.picking import mechanism_class
from anonhist.mechanisms.setting import make_release
from anonhist.mechanisms.skeletons import AdditiveMechanism
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

LABEL = PrivacyUnit.label(max_count=6)
SHAPES = {
    "nothing": Profile([], []),
    "one label": Profile([300], [1]),
    "rare labels": Profile([1], [300]),
    "a square": Profile([20], [20]),
    "mixed": Profile([1, 2, 3, 9, 40], [90, 30, 12, 4, 1]),
}
MECHANISMS: dict[str, CentralMechanism] = {
    "frobenius 0.1": FrobeniusMechanism("0.1"),
    "frobenius 1": FrobeniusMechanism(1),
    "partition": PartitionMechanism("1.2"),
    "prevalence": PrevalenceMechanism("0.5", LABEL),
    "isotonic": IsotonicMechanism("0.5", public_labels=400),
    "cumulative": CumulativeMechanism("0.5", public_cap=400),
    "privhist": PrivHistMechanism("0.5"),
}


def test_every_mechanism_with_intervals_from_noisy_values_is_tried() -> None:
    kept = {name for name in CATALOGUE if mechanism_class(name).keeps_noisy_values}
    assert kept <= {mechanism.name for mechanism in MECHANISMS.values()}


@pytest.mark.slow
@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", MECHANISMS)
@each_of("shape", list(SHAPES))
def test_the_interval_holds(name: str, shape: str) -> None:
    mechanism, profile = MECHANISMS[name], SHAPES[shape]
    runs = 40 if name == "partition" else 100
    truth = mechanism.admit(profile).n
    source = SeededSource(f"{name} {shape}".encode()[0])
    if isinstance(mechanism, AdditiveMechanism):
        # Fits of many releases together take less time. What these are moved by is no part of the interval.
        releases = [each.release for each in mechanism.release_each([profile] * runs, source=source)]
    else:
        releases = [mechanism.release(profile, source=source) for _ in range(runs)]
    held = sum(low <= truth <= high for low, high in (each.num_items().interval for each in releases))
    # With a true rate of 95%, fewer hold in one of 4,000 tests.
    assert held >= (33 if runs == 40 else 86)


@pytest.mark.slow
@each_of("rate", [2.0, 0.5, 0.02])
@each_of("places", [1, 5, 64, 65])
@each_of("cut", [1, 4, 65])
def test_a_weighted_sum_of_noises_is_within_its_quantile(rate: float, places: int, cut: int) -> None:
    rng = np.random.default_rng(places)
    stop = -np.expm1(-rate)
    noise = rng.geometric(stop, (40_000, places)) - rng.geometric(stop, (40_000, places))
    sums = noise @ np.minimum(np.arange(1, places + 1), cut)
    quantile = weighted_quantile(rate, places, min(places, cut))
    # Four standard errors of a share of 2.5% in 40,000 draws are 0.31%.
    assert np.mean(sums > quantile) <= 0.025 + 0.0035
    assert np.mean(sums > 0.93 * quantile - 1) >= 0.025 - 0.0035


def test_an_interval_reaches_beyond_what_was_cut() -> None:
    largest = 2**63 - 1
    assert of_sums(np.array([largest, 3]), 1.0) == (0, largest)
    assert of_prevalences(np.array([0, 0, 2**62]), 1.0) == (0, largest)
    assert of_sums(np.array([-9]), 1.0) == (0, 0)
    # A single count.
    assert of_prevalences(np.array([7]), 1.0) == (4, 10)


@pytest.mark.full
@each_of("name", list(MECHANISMS))
def test_what_is_read_back_has_the_same_interval(name: str) -> None:
    made = MECHANISMS[name].release(SHAPES["mixed"], source=SeededSource(1)).with_error()
    back = from_document(to_document(made))
    assert str(back.num_items()) == str(made.num_items())
    assert back.num_items().statement.holds is Holds.BOTH
    # The interval is that of before the errors were simulated, or comes with them.
    assert str(replace(made, recorded_error=None).num_items()) == str(made.num_items())


def test_an_interval_for_items_is_kept_and_null_where_there_is_none() -> None:
    made = MECHANISMS["frobenius 1"].release(SHAPES["mixed"])
    document = to_document(made)
    assert document["error"]["items_interval"] == list(made.error.items_interval or ())
    without = replace(made, recorded_error=replace(made.error, items_interval=None))
    assert to_document(without)["error"] == document["error"] | {"items_interval": None}
    document["error"]["items_interval"] = None
    assert from_document(document).num_items().statement.reason == "none was kept for the number of items"
    del document["error"]["items_interval"]
    with pytest.raises(DataError, match="the error by exactly the fields"):
        from_document(document)


def test_what_was_bounded_is_said() -> None:
    profile = SHAPES["mixed"]
    user = FrobeniusMechanism(1, PrivacyUnit.user(max_items=3)).release(profile)
    assert user.num_items().assumes == "users with more than 3 items had none left out"
    label = MECHANISMS["prevalence"].release(profile)
    assert label.num_items().assumes == "no label has more than 6 items: more were not counted"
    short = replace(PartitionMechanism("0.5").release(profile), simulations=2)
    assert short.num_items().statement.holds is Holds.NONE


def test_the_interval_holds_what_was_released() -> None:
    mechanism = FrobeniusMechanism("0.5")
    release = mechanism.release(SHAPES["nothing"], source=SeededSource(3))
    assert release.evidence is not None
    far = replace(release.evidence, items=(0, 0))
    again = make_release(SHAPES["one label"], mechanism, evidence=far)
    assert again.num_items().interval == (0, 300)


@pytest.mark.slow
def test_there_may_be_as_many_items_as_labels() -> None:
    # Noise of many prevalences, each times its count, is often far below zero.
    mechanism = PrevalenceMechanism("0.1", PrivacyUnit.label(max_count=20))
    alone_would_end_at_zero = 0
    for seed in range(200):
        release = mechanism.release(Profile([], []), source=SeededSource(seed))
        items, labels = release.num_items().interval, release.k_plus(1).interval
        alone_would_end_at_zero += release.error.items_interval == (0, 0)
        assert labels[1] <= items[1]
    assert alone_would_end_at_zero


@each_of("seed", range(4))
@each_of("counts", [[2**61 - 1, 2**61], [2**62 - 1], [2**62 - 1, 1]])
def test_the_interval_holds_n_where_floats_skip_whole_numbers(counts: list[int], seed: int) -> None:
    # Both ends were the same float, below n.
    release = FrobeniusMechanism("0.5").release(Profile.from_counts(counts), source=SeededSource(seed))
    assert release.error.items_interval is not None
    least, most = release.error.items_interval
    low, high = release.num_items().interval
    assert int(low) <= min(least, release.n) <= max(most, release.n) <= int(high)
    assert low < high
