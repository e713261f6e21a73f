"""What all mechanisms have in common: counts of labels stay capped, and memory tells nothing of the data."""

import traceback

import numpy as np
import pytest

import anonhist as ah
from anonhist.errors import DataError, UsageError
from anonhist.mechanisms import MECHANISM_NAMES, additive, privhist, setting
from anonhist.mechanisms.exponential import partition
from anonhist.mechanisms.frobenius import mechanism as frobenius
from anonhist.mechanisms.picking import mechanism_class, named_mechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.profiles import Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

CAP = PrivacyUnit.label(max_count=5)
PUBLIC = {"public_items": 500, "public_labels": 60, "public_cap": 9}


def make_mechanism(name: str, unit: PrivacyUnit) -> object:
    own = {option: PUBLIC[option] for option in mechanism_class(name).own_options() if option in PUBLIC}
    if name == "prevalence":
        own = {}
    return named_mechanism(name, parse_epsilon("4"), unit, NeighboringRelation.ADD_OR_REMOVE, own)


@pytest.mark.slow
@each_of("name", [name for name in MECHANISM_NAMES if name != "auto"])
def test_no_released_count_of_a_label_is_above_the_cap(name: str) -> None:
    profile, mechanism = Profile.from_prevalences({1: 20, 5: 3, 30: 4}), make_mechanism(name, CAP)
    largest = set()
    for seed in range(15):
        released = mechanism.release(profile, source=SeededSource(seed)).profile
        assert not released.k_plus(6)
        largest.add(int(released.counts.max(initial=0)))
    for run in mechanism.simulate(profile, size=15, rng=np.random.default_rng(1)):
        assert not run.k_plus(6)
    assert 5 in largest


@pytest.mark.parametrize(
    ("module", "function", "mechanism"),
    [
        (frobenius, "noisy_rows", ah.mechanisms.FrobeniusMechanism(1)),
        (privhist, "cut", ah.mechanisms.PrivHistMechanism(1)),
        (additive, "add_noise", ah.mechanisms.CumulativeMechanism(1, public_cap=9)),
        (partition, "hyperbola", ah.mechanisms.BoundedPartitionMechanism(1, public_items=9)),
        (partition, "walk_around", ah.mechanisms.PartitionMechanism("1.2")),
        (partition, "refitted", ah.mechanisms.PartitionMechanism("1.2")),
    ],
)
def test_a_lack_of_memory_is_told_without_sizes(
    module: object, function: str, mechanism: ah.mechanisms.FrobeniusMechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 16.0 GiB for an array with shape (2147471303,)")

    monkeypatch.setattr(module, function, fails)
    with pytest.raises(DataError, match="not enough memory to release these data") as caught:
        mechanism.release(Profile.from_counts([3, 1]), source=SeededSource(1))
    assert "2147471303" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", ["frobenius", "partition", "prevalence"])
def test_a_lack_of_memory_before_the_noise_is_told_without_sizes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = make_mechanism(name, CAP)

    def fails(*_: object) -> None:
        raise MemoryError("Unable to allocate 16.0 GiB for an array with shape (2147471303,)")

    monkeypatch.setattr(setting, "cap_counts", fails)
    with pytest.raises(DataError, match="not enough memory to release these data") as caught:
        list(mechanism.release_each([Profile.from_counts([3, 1])], source=SeededSource(1)))
    assert "2147471303" not in "".join(traceback.format_exception(caught.value))


def test_a_lack_of_memory_of_groups_is_told_without_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = {("a",): Profile.from_counts([3, 1])}
    grouped = GroupedProfile(("g",), profiles, unit=ah.PrivacyUnit.label(max_count=2, groups=1))

    def fails(*_: object) -> None:
        raise MemoryError("Unable to allocate 16.0 GiB for an array with shape (2147471303,)")

    monkeypatch.setattr(setting, "cap_counts", fails)
    with pytest.raises(DataError, match="not enough memory to release these data") as caught:
        ah.release_groups(grouped, epsilon=1)
    assert "2147471303" not in "".join(traceback.format_exception(caught.value))


def test_options_of_single_mechanisms_reach_them() -> None:
    profile = Profile.from_counts([3, 1])
    member = ah.mechanisms.calibrate(parse_epsilon("0.5"), 0.1)
    assert ah.release(profile, epsilon="0.5", mechanism="partition", member=member).mechanism.family == member
    relaxed = ah.release(profile, epsilon=1, mechanism="relaxed-partition", public_items=9, delta="1e-10")
    assert relaxed.guarantee.delta == parse_epsilon("1e-10")
    thirds = ah.release(profile, epsilon=1, mechanism="privhist", shares="thirds")
    assert thirds.mechanism.shares == ah.mechanisms.BudgetShares.thirds()
    for options in ({"member": member}, {"delta": "1e-12"}, {"shares": "thirds"}):
        with pytest.raises(UsageError, match="does not apply to mechanism='frobenius'"):
            ah.release(profile, epsilon=1, mechanism="frobenius", **options)


def test_shares_too_small_for_a_step_are_refused_before_anything_is_drawn() -> None:
    for shares in ("1e-9,0.5,0.499999999", "0.5,1e-9,0.499999999", "0.5,0.499999999,1e-9"):
        with pytest.raises(UsageError, match="leaves its step with ε/Δ below 1e-05"):
            ah.mechanisms.PrivHistMechanism(1, shares=shares)
    assert ah.mechanisms.PrivHistMechanism(2, shares="0.5,0.5,0.0").shares.blocks == 0


def test_a_member_whose_band_would_fill_memory_is_refused() -> None:
    with pytest.raises(UsageError, match=r"c must be at least 0\.00049"):
        ah.mechanisms.PartitionMechanism(1, member=ah.mechanisms.FamilyParameters(0.00048, 0.0))


def test_a_unit_of_several_sketches_is_for_sketches() -> None:
    with pytest.raises(UsageError, match=r"protect one user with all their items \(at most 6 of them count\)"):
        make_mechanism("frobenius", PrivacyUnit.user(max_items=3, sketches=2))
