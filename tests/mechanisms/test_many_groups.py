"""Many groups drawn and fitted together: as if each had been released on its own, with noise of its own."""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism, PrevalenceMechanism
from anonhist.mechanisms.frobenius import mechanism as frobenius
from anonhist.mechanisms.frobenius.mechanism import CoordinateNoise
from anonhist.mechanisms.frobenius.posterior import pass_work
from anonhist.mechanisms.frobenius.row_weights import NoisyCoordinates
from anonhist.mechanisms.grouping import release_groups
from anonhist.mechanisms.noise import simulated_noise
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.releases import Evidence
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

Ints = NDArray[np.int64]
Draw = Callable[[Fraction, int], Ints]


def some_profiles() -> list[Profile]:
    """Profiles of many shapes, of which several have an equal length."""
    rng = np.random.default_rng(4)
    drawn = [Profile.from_counts(np.bincount(rng.zipf(1.5, n) % 500)) for n in (3, 30, 60, 100, 400) for _ in range(8)]
    return [Profile([], []), Profile([1], [1]), *drawn, Profile([10**6], [1]), Profile([40], [60]), *drawn[:8]]


class Recorded:
    """Noise that remembers every draw."""

    def __init__(self, seed: int) -> None:
        self._draw = simulated_noise(np.random.default_rng(seed))
        self.drawn: list[int] = []

    def __call__(self, gamma: Fraction, size: int) -> Ints:
        found = self._draw(gamma, size)
        self.drawn += found.tolist()
        return found


def stages(length: int) -> list[tuple[int, int]]:
    """Where each stage of so many rows begins and ends: a quarter as long as all before it."""
    found = [0]
    while found[-1] < length:
        found.append(min(length, max(found[-1] + 1, math.ceil(1.25 * found[-1]))))
    return list(pairwise(found))


def noise_on(side: Ints, sums: Ints, begins: NDArray[np.bool_], begun: int) -> Ints:
    """Return the noises that made these sums of one side: the groups of a stage use the first of its noises."""
    padded = np.pad(side, (0, max(0, sums.size - side.size)))[: sums.size]
    starts = np.flatnonzero(begins)
    held = sums[starts] - np.add.reduceat(padded, starts)
    found = np.zeros(sums.size, dtype=np.int64)
    for first, last in [*stages(begun), *((at, at + 1) for at in range(begun, sums.size))]:
        inside = (starts >= first) & (starts < last)
        found[first : first + np.count_nonzero(inside)] = held[inside]
    return found


def noises_of(profile: Profile, noisy: NoisyCoordinates, margin: int) -> list[Ints]:
    """Return the noises that a release of this profile alone must have drawn to release these values, call by call."""
    truth = FrobeniusCoordinates.of(profile)
    begun = max(1, int(noisy.sizes[0]) + margin)
    sides = [
        noise_on(side, rows.sums[0], rows.begins[0], begun)
        for side, rows in ((truth.arms, noisy.arms), (truth.legs, noisy.legs))
    ]
    one_by_one = [side[at : at + 1] for at in range(begun, sides[0].size) for side in sides]
    return [noisy.sizes - truth.durfee_size, *(side[:begun] for side in sides), *one_by_one]


def drawn_together(
    profiles: list[Profile], rate: Fraction, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> dict[int, NoisyCoordinates]:
    # Few runs in each step, so that there are many steps of several runs, and one noise scale, so that many go on.
    most = 2**11 if rate >= 1 else 2**13
    monkeypatch.setattr(frobenius, "_VALUES", most)
    monkeypatch.setattr(frobenius, "MARGIN", 1)
    found = {}
    for places, noisy in CoordinateNoise(rate, draw).on_each(profiles):
        # Memory is bounded whatever the groups are.
        length = max(1, int(noisy.sizes[0]) + math.ceil(1 / rate))
        assert places.size == 1 or places.size * pass_work(length, float(rate)) <= most
        for at, place in enumerate(places.tolist()):
            assert place not in found
            found[place] = noisy.of(np.arange(places.size) == at)
    assert sorted(found) == list(range(len(profiles)))
    return found


def same(first: NoisyCoordinates, second: NoisyCoordinates) -> bool:
    pairs = [(first.sizes, second.sizes)]
    for side, other in ((first.arms, second.arms), (first.legs, second.legs)):
        pairs += [(side.sums, other.sums), (side.begins, other.begins)]
    return all(np.array_equal(one, other) for one, other in pairs)


@each_of("epsilon", ["1", "0.3"])
def test_each_group_gets_noises_of_its_own_as_if_it_were_the_only_one(
    epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles, rate, noise = some_profiles(), Fraction(epsilon), Recorded(3)
    used: Counter[int] = Counter()
    went_on = 0
    for place, noisy in drawn_together(profiles, rate, noise, monkeypatch).items():
        replayed = noises_of(profiles[place], noisy, math.ceil(1 / rate))
        used.update(np.concatenate(replayed).tolist())
        calls = iter(replayed)
        ((_, alone),) = CoordinateNoise(rate, lambda _, size, calls=calls: next(calls)[:size]).on_each(
            [profiles[place]]
        )
        assert same(alone, noisy)
        assert next(calls, None) is None
        went_on += len(replayed) > 3
    assert went_on > 10
    if rate >= 1:
        # Every draw was used, and none of them twice.
        assert used == Counter(noise.drawn)


def known(evidence: Evidence) -> list[object]:
    assert evidence.prevalences is not None
    bands = (evidence.band, evidence.prevalences)
    return [evidence.misfit, *(side.tolist() for band in bands for side in (band.ends, band.lows, band.highs))]


@pytest.mark.slow
@each_of("epsilon", ["1", "0.3"])
def test_what_is_made_of_noisy_values_does_not_depend_on_other_groups(
    epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As many in one step as there may be, some small enough for the scale of the prior to be fitted.
    mechanism, together = FrobeniusMechanism(epsilon), 0
    monkeypatch.setattr(frobenius, "_VALUES", 2**16)
    for places, noisy in CoordinateNoise(Fraction(epsilon), Recorded(8)).on_each(some_profiles() * 2):
        batch = mechanism._publish(*mechanism._fit([(places, noisy)]))
        together = max(together, places.size)
        for at, (released, evidence) in enumerate(batch):
            only = noisy.of(np.arange(places.size) == at)
            ((alone, of_alone),) = mechanism._publish(*mechanism._fit([(places[at : at + 1], only)]))
            assert released == alone
            assert known(evidence) == known(of_alone)
    assert together > 5


@pytest.mark.slow
def test_a_release_of_groups_has_the_distribution_of_separate_ones() -> None:
    # How often one label is released: a difference of six standard errors has a chance of 2e-9.
    profile, unit, times = Profile.from_counts([2, 1]), PrivacyUnit.item(), 400
    mechanism = FrobeniusMechanism(1, unit)
    alone = [mechanism.release(profile, source=SeededSource(seed)).profile.num_labels for seed in range(times)]
    profiles = {(str(at),): profile for at in range(times)}
    grouped = GroupedProfile(("g",), profiles, unit=unit)
    together = release_groups(grouped, epsilon=1, simulations=0, source=SeededSource(times))
    labels = [each.profile.num_labels for each in together.values()]
    for reached in (1, 2, 3):
        shares = [np.mean(np.array(found) >= reached) for found in (alone, labels)]
        assert abs(shares[0] - shares[1]) < 6 * math.sqrt(0.5 / times)
    assert len(set(labels)) > 3


@pytest.mark.parametrize("mechanism", ["frobenius", "partition", "prevalence"])
def test_groups_keep_their_order_and_every_one_is_told_of(mechanism: str) -> None:
    unit = PrivacyUnit.item()
    profiles = {(str(at),): Profile.from_prevalences({30: at}) if at else Profile([], []) for at in range(40)}
    shares: list[float] = []
    released = release_groups(
        GroupedProfile(("g",), profiles, unit=unit),
        epsilon=20,
        mechanism=mechanism,  # type: ignore[arg-type]
        public_cap=40 if mechanism == "prevalence" else None,
        simulations=0,
        progress=shares.append,
    )
    assert released.groups == tuple(profiles)
    assert [each.profile.prevalence(30) for each in released.values()] == list(range(40))
    assert shares == [(at + 1) / 40 for at in range(40)]


def test_no_noise_is_drawn_if_one_group_is_refused() -> None:
    class Untouched(SeededSource):
        def words(self, count: int) -> NDArray[np.uint64]:
            raise AssertionError

    unit = PrivacyUnit.item()
    profiles = [Profile([2], [1], unit=unit), Profile([9], [1], unit=unit)]
    with pytest.raises(UsageError, match="exceed"):
        list(PrevalenceMechanism(1, unit, public_cap=3).release_each(profiles, source=Untouched(1)))
    # A square of 2^20 + 1 labels, which the partition mechanism cannot hold below ln 3.
    profiles = [Profile([2], [1], unit=unit), Profile([2**20 + 1], [2**20 + 1], unit=unit)]
    with pytest.raises(UsageError, match="Durfee"):
        list(PartitionMechanism(1, unit).release_each(profiles, source=Untouched(1)))
