"""The partition mechanism as a user meets it, and its audit."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.mechanisms import PartitionMechanism, staircase_profile
from anonhist.mechanisms.exponential import partition
from anonhist.mechanisms.exponential.calibration import band_width
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain, denoise
from anonhist.mechanisms.noise import SimulatedChoices
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import FrobeniusCoordinates, Profile, sorted_l1
from anonhist_testing.audit import audit
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import Partition, partitions_up_to
from anonhist_testing.sources import SeededSource


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "draws"), [("1", 11_000), ("1.2", 8_000), ("3", 5_000)])
def test_audit_comes_close_to_epsilon_and_not_above(epsilon: str, draws: int) -> None:
    rate = 1e-6
    mechanism = PartitionMechanism(epsilon)
    rng = np.random.default_rng(4)
    empty, one = Profile.from_counts([]), Profile.from_counts([1])
    hits = [sum(out.n == 0 for out in mechanism.simulate(profile, size=draws, rng=rng)) for profile in (empty, one)]
    bound = audit(hits=hits[0], other_hits=hits[1], draws=draws, false_alarm_rate=rate).epsilon_bound
    assert 0.85 * float(epsilon) < bound <= float(epsilon)


@pytest.mark.slow
def test_audit_catches_a_mechanism_that_claims_less_than_it_spends() -> None:
    # Far above what is claimed: fewer draws show it as surely.
    draws = 2_000
    rng = np.random.default_rng(4)
    spends_two = PartitionMechanism(2)
    profiles = (Profile.from_counts([]), Profile.from_counts([1]))
    hits = [sum(out.n == 0 for out in spends_two.simulate(one, size=draws, rng=rng)) for one in profiles]
    assert audit(hits=hits[0], other_hits=hits[1], draws=draws, false_alarm_rate=1e-6).epsilon_bound > 1.5


def test_simulated_profiles_are_those_of_the_diagrams_drawn() -> None:
    mechanism, profile = PartitionMechanism(1), Profile.from_counts([2, 1])
    chain = DiagonalChain(FrobeniusCoordinates.of(profile), mechanism.family)
    drawn = chain.draw(300, SimulatedChoices(np.random.default_rng(5)))
    assert len({(one.arms.tobytes(), one.legs.tobytes()) for one in drawn}) > 10
    runs = mechanism.simulate(profile, size=300, rng=np.random.default_rng(5))
    assert runs == [one.profile() for one in drawn]


def test_budget_is_shared_among_cells() -> None:
    user = PrivacyUnit.user(max_items=5)
    mechanism = PartitionMechanism(Fraction(5), user)
    assert mechanism.epsilon_per_cell == 1
    assert mechanism.family == PartitionMechanism(1).family
    replaced = PartitionMechanism(2, PrivacyUnit.item(), NeighboringRelation.SUBSTITUTE)
    assert replaced.family == PartitionMechanism(1).family


def test_delta_covers_the_band_and_is_told() -> None:
    for epsilon in (Fraction(1, 10), Fraction(1)):
        release = PartitionMechanism(epsilon).release(Profile.from_counts([3, 1]), source=SeededSource(1))
        assert release.guarantee.delta >= 2 * Fraction(math.exp(float(epsilon))) / 2**70
        assert "band" in str(release.guarantee)
        assert release.guarantee.epsilon == epsilon


@pytest.mark.parametrize(
    ("epsilon", "items", "denoised"), [("0.2", 10**4, True), ("0.2", 100, False), ("0.6", 10**4, False)]
)
def test_a_plain_draw_that_is_more_than_noise_is_denoised(
    epsilon: str, items: int, *, denoised: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []
    monkeypatch.setattr(partition, "denoise", lambda one, *, c: called.append(c) or one)
    PartitionMechanism(epsilon).release(staircase_profile(items), source=SeededSource(1))
    assert called == ([PartitionMechanism(epsilon).family.c] if denoised else [])


@cache
def candidates_in_rows(size: int) -> NDArray[np.int64]:
    return np.array([(*one, *(0,) * (size - len(one))) for one in partitions_up_to(size)])


@pytest.mark.slow
@each_of("c", [0.9, 1.2])
@each_of("released", [(), (1,), (3, 1), (4, 4, 1), (3, 2, 1), (6, 1, 1)])
def test_denoised_partition_is_the_cellwise_median_of_the_enumerated_posterior(c: float, released: Partition) -> None:
    candidates = candidates_in_rows(24)
    weights = np.exp(-c * np.abs(candidates - [*released, *(0,) * (24 - len(released))]).sum(axis=1))
    total = math.fsum(weights)
    largest = math.exp(c * sum(released))
    beyond = largest * (1 / math.prod(1 - math.exp(-c * k) for k in range(1, 200)))
    beyond -= largest * math.fsum(np.exp(-c * candidates.sum(axis=1)))
    # Entry (row, column): the posterior probability of that cell.
    inside = np.stack([weights @ (row[:, None] > np.arange(24)) for row in candidates.T]) / total
    assert (np.abs(inside - 0.5) > beyond / total).all()
    expected = (inside > 0.5).sum(axis=1).tolist()
    found = denoise(FrobeniusCoordinates.of(Profile.from_partition(released)), c=c).profile()
    assert found.partition().tolist() == [row for row in expected if row]


def test_out_of_domain_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="at least"):
        PartitionMechanism("0.00099")
    with pytest.raises(UsageError, match="at most"):
        PartitionMechanism(41)
    corner = 2**20 + 1
    # Before the coordinates are made: those of the second profile would not fit in memory.
    monkeypatch.setattr(partition, "FrobeniusCoordinates", None)
    for side in (corner, 2**31):
        with pytest.raises(UsageError, match="Durfee"):
            PartitionMechanism(1).release(Profile.from_prevalences({side: side}))


def test_the_domain_is_that_of_capped_counts() -> None:
    # With counts taken as 3 at most no data are beyond it: nobody may learn from a refusal that their counts were not.
    mechanism = PartitionMechanism(3, PrivacyUnit.label(max_count=3))
    wide = Profile.from_prevalences({2**20 + 1: 2**20 + 1})
    assert mechanism.release(wide, source=SeededSource(2)).profile.counts.max() <= 3


@pytest.mark.slow
# The first is the cheapest whose band is in several blocks.
@pytest.mark.parametrize("epsilon", ["0.008", "0.05", "0.5", "1", "2", "10"])
def test_extremes_give_valid_profiles(epsilon: str) -> None:
    for profile in map(Profile.from_prevalences, ({}, {2**63 - 1: 1}, {1: 2**63 - 1})):
        released = PartitionMechanism(epsilon).release(profile, source=SeededSource(3)).profile
        assert 0 <= released.n <= 2**63 - 1
        if profile.n and epsilon == "10":
            assert sorted_l1(profile, released) < 50


def test_band_depends_on_the_budget_alone() -> None:
    widths = {band_width(PartitionMechanism(1).family) for _ in range(3)}
    assert len(widths) == 1
