"""The prevalence mechanism: its noise, its cap, and what fitting gains."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.mechanisms import PrevalenceMechanism, additive
from anonhist.mechanisms.noise import add_noise
from anonhist.mechanisms.setting import cap_counts
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.randomness import discrete_laplace_pmf
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import larger_neighbors, partitions_up_to
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

FIVE = PrivacyUnit.label(max_count=5)
THREE_ITEMS = PrivacyUnit.user(max_items=3)


def record_noise(
    monkeypatch: pytest.MonkeyPatch, mechanism: PrevalenceMechanism, profile: Profile, seeds: range
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    seen = []
    real = additive.add_noise

    def noisy(phi: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
        seen.append((phi.copy(), noise.copy()))
        return real(phi, noise)

    monkeypatch.setattr(additive, "add_noise", noisy)
    for seed in seeds:
        mechanism.release(profile, source=SeededSource(seed))
    return seen


def prevalences(mechanism: PrevalenceMechanism, profile: Profile) -> NDArray[np.int64]:
    return mechanism._prevalences(mechanism.admit(profile))


def test_one_label_changes_one_prevalence_by_one() -> None:
    counts = [1, 1, 3, 5, 9, 70]
    for more in (1, 4, 5, 6, 1000):
        before = prevalences(PrevalenceMechanism(1, FIVE), Profile.from_counts(counts))
        after = prevalences(PrevalenceMechanism(1, FIVE), Profile.from_counts([*counts, more]))
        assert np.abs(after - before).sum() == 1
        assert before.tolist() == [2, 0, 1, 0, 3]


@pytest.mark.fresh
@pytest.mark.slow
@pytest.mark.parametrize(
    ("relation", "gamma"),
    [(NeighboringRelation.ADD_OR_REMOVE, Fraction(1)), (NeighboringRelation.SUBSTITUTE, Fraction(1, 2))],
)
def test_noise_has_the_stated_distribution(
    monkeypatch: pytest.MonkeyPatch, relation: NeighboringRelation, gamma: Fraction
) -> None:
    seen = record_noise(monkeypatch, PrevalenceMechanism(1, FIVE, relation), Profile.from_counts([1, 5]), range(600))
    noise = np.concatenate([one for _, one in seen])
    assert_pmf_equal(noise, lambda k: discrete_laplace_pmf(gamma, k))
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        assert_pmf_differs(noise, lambda k, factor=factor: discrete_laplace_pmf(gamma * factor, k))


@pytest.mark.fresh
@pytest.mark.slow
@pytest.mark.parametrize(
    ("relation", "gamma"),
    [(NeighboringRelation.ADD_OR_REMOVE, Fraction(1)), (NeighboringRelation.SUBSTITUTE, Fraction(1, 2))],
)
def test_simulated_noise_has_the_distribution_of_a_release(
    monkeypatch: pytest.MonkeyPatch, relation: NeighboringRelation, gamma: Fraction
) -> None:
    seen = record_noise(monkeypatch, PrevalenceMechanism(1, FIVE, relation), Profile.from_counts([1, 5]), range(0))
    PrevalenceMechanism(1, FIVE, relation).simulate(Profile.from_counts([1, 5]), size=600, rng=np.random.default_rng(4))
    noise = np.concatenate([one for _, one in seen])
    assert noise.size == 600 * 5
    assert_pmf_equal(noise, lambda k: discrete_laplace_pmf(gamma, k))
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        assert_pmf_differs(noise, lambda k, factor=factor: discrete_laplace_pmf(gamma * factor, k))


@each_of(
    ("noisy", "published"),
    [
        ([3, -2], {1: 1}),  # sums 1, −2: there are never fewer labels than none
        ([-1, 0, 2], {3: 2}),  # sums 1, 2, 2: their mean is 5/3, and 2 is nearest
        ([-2, 1, 2], {3: 2}),  # sums 1, 3, 2
        ([4, -1, 0], {1: 3}),  # sums 3, −1, 0
        ([0, 2**62], {2: 2**61}),  # 2^63 items would be too many
    ],
)
def test_the_published_profile_is_the_rounded_fit_of_sums(noisy: list[int], published: dict[int, int]) -> None:
    assert additive._publish(np.array(noisy)) == Profile.from_prevalences(published)


def largest_change(relation: NeighboringRelation) -> int:
    """Return the largest ℓ1 change of φ_1..φ_9 over all pairs of up to 8 items that differ in one item."""
    mechanism = PrevalenceMechanism(1, relation=relation, public_cap=9)
    phi = {one: prevalences(mechanism, Profile.from_partition(one)) for one in partitions_up_to(8)}
    pairs = [(fewer, more) for fewer in partitions_up_to(7) for more in larger_neighbors(fewer)]
    if relation is NeighboringRelation.SUBSTITUTE:
        pairs = [pair for fewer in partitions_up_to(7) for pair in combinations(larger_neighbors(fewer), 2)]
    return max(int(np.abs(phi[first] - phi[second]).sum()) for first, second in pairs)


@pytest.mark.parametrize(("relation", "most"), [(each, 2 * each.distance) for each in NeighboringRelation])
def test_an_item_changes_prevalences_by_what_the_noise_is_for(relation: NeighboringRelation, most: int) -> None:
    assert largest_change(relation) == most
    assert PrevalenceMechanism(1, relation=relation, public_cap=9)._gamma == Fraction(1, most)


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_a_user_pays_for_twice_the_cells(relation: NeighboringRelation) -> None:
    mechanism = PrevalenceMechanism("0.3", THREE_ITEMS, relation, public_cap=9)
    assert mechanism._gamma == Fraction(3, 10) / (2 * 3 * relation.distance)
    # The worst that three items do: three labels, of counts far apart, rise by one.
    before, after = (prevalences(mechanism, Profile.from_counts(counts)) for counts in ([1, 4, 7], [2, 5, 8]))
    assert np.abs(before - after).sum() == 2 * 3


@pytest.mark.parametrize("profile", [Profile([5], [1]), Profile([1, 9], [4, 1]), Profile([2**63 - 1], [1])])
def test_counts_above_the_public_cap_are_refused_before_anything_is_drawn(profile: Profile) -> None:
    sentence = "^The data exceed public_cap, and this refusal already reveals that: do not try other values"
    for unit in (PrivacyUnit.item(), THREE_ITEMS):
        mechanism, source = PrevalenceMechanism(1, unit, public_cap=4), SeededSource(1)
        with pytest.raises(UsageError, match=sentence):
            mechanism.release(profile, source=source)
        assert source.words(1) == SeededSource(1).words(1)
        with pytest.raises(UsageError, match=sentence):
            mechanism.simulate(profile, size=1, rng=np.random.default_rng(1))
    held = Profile([1, 4], [9, 2])
    assert PrevalenceMechanism(40, public_cap=4).release(held, source=SeededSource(1)).profile == held


def test_the_cap_is_given_once() -> None:
    with pytest.raises(UsageError, match="max_count is the cap: leave public_cap out"):
        PrevalenceMechanism(1, FIVE, public_cap=5)
    with pytest.raises(UsageError, match="needs public_cap, a public number that no count exceeds"):
        PrevalenceMechanism(1, THREE_ITEMS)
    for number in (0, -1, 2**24 + 1, 1.5, "5", True, np.nan):
        with pytest.raises(UsageError, match="public_cap must be a whole number from 1 to 2\\^24"):
            PrevalenceMechanism(1, public_cap=number)
    assert PrevalenceMechanism(1, public_cap=2**24).largest_count == 2**24
    assert type(PrevalenceMechanism(1, public_cap=1e6).public_cap) is int


def test_promise_names_the_public_cap_where_data_are_refused() -> None:
    assert "no count is above 5,000, which must be public" in str(PrevalenceMechanism(1, public_cap=5000).guarantee)
    assert "public" not in str(PrevalenceMechanism(1, FIVE).guarantee)


@pytest.mark.parametrize("epsilon", ["1e-9", "1", "60"])
def test_extremes_give_valid_profiles(epsilon: str) -> None:
    mechanism = PrevalenceMechanism(epsilon, public_cap=1000)
    for profile in (Profile([], []), Profile([1], [2**63 - 1]), Profile([1000], [2**53]), Profile([1, 999], [7, 1])):
        released = mechanism.release(profile, source=SeededSource(3)).profile
        assert 0 <= released.n <= 2**63 - 1
        assert not released.k_plus(1001)
        if epsilon == "60" and profile.n < 2**53:
            assert released == profile
        if epsilon == "60" and profile.n >= 2**62:
            assert 2**62 - 1000 <= released.n <= 2**62


def test_published_profile_is_valid_and_capped() -> None:
    profile = Profile.from_prevalences({1: 500, 2: 100, 7: 10, 300: 2})
    for seed in range(30):
        released = PrevalenceMechanism("0.5", FIVE).release(profile, source=SeededSource(seed)).profile
        assert released.counts.max() <= 5
        assert released.unit == FIVE
    exact = PrevalenceMechanism(40, FIVE).release(profile, source=SeededSource(0)).profile
    assert dict(zip(exact.counts.tolist(), exact.prevalences.tolist(), strict=True)) == {1: 500, 2: 100, 5: 12}


def test_cumulative_fit_beats_setting_negatives_to_zero() -> None:
    # Sparse prevalences up to a large cap: noise set to zero from below adds up, noise in sums cancels.
    unit = PrivacyUnit.label(max_count=400)
    profile = Profile.from_prevalences({1: 3000, 2: 500, 3: 100, 50: 3, 400: 1})
    mechanism = PrevalenceMechanism("0.2", unit)
    rng = np.random.default_rng(8)
    levels = np.arange(1, 401)
    truth = profile.cumulative_prevalence(levels)
    ours, plain = [], []
    for run in mechanism.simulate(profile, size=60, rng=rng):
        ours.append(np.abs(run.cumulative_prevalence(levels) - truth).sum())
        noise = rng.geometric(1 - np.exp(-0.2), (2, 400))
        kept = np.maximum(prevalences(mechanism, profile) + noise[0] - noise[1], 0)
        plain.append(np.abs(np.cumsum(kept[::-1])[::-1] - truth).sum())
    assert np.mean(ours) < 0.25 * np.mean(plain)


def test_capping_keeps_labels() -> None:
    profile = Profile.from_prevalences({1: 2, 5: 1, 9: 4})
    assert cap_counts(profile, 5) == Profile.from_prevalences({1: 2, 5: 5})
    assert cap_counts(profile, 100) == profile
    assert cap_counts(Profile.from_counts([]), 3) == Profile.from_counts([])


def test_other_units_and_huge_caps_are_refused() -> None:
    with pytest.raises(UsageError, match="label privacy"):
        PrevalenceMechanism(1)
    with pytest.raises(UsageError, match="2\\^24"):
        PrevalenceMechanism(1, PrivacyUnit.label(max_count=2**24 + 1))
    assert PrevalenceMechanism(1, PrivacyUnit.label(max_count=2**24)).unit.bound == 2**24


def test_the_smallest_epsilon_is_shared_by_the_steps_of_the_relation() -> None:
    smallest = Fraction(1, 2**40)
    assert PrevalenceMechanism(smallest, FIVE).epsilon == smallest
    assert PrevalenceMechanism(2 * smallest, FIVE, NeighboringRelation.SUBSTITUTE).epsilon == 2 * smallest
    with pytest.raises(UsageError, match="at least 1·2\\^-40"):
        PrevalenceMechanism(smallest * Fraction(99, 100), FIVE)
    with pytest.raises(UsageError, match="at least 2·2\\^-40"):
        PrevalenceMechanism(2 * smallest * Fraction(99, 100), FIVE, NeighboringRelation.SUBSTITUTE)
    assert PrevalenceMechanism(6 * smallest, THREE_ITEMS, public_cap=9).epsilon == 6 * smallest
    with pytest.raises(UsageError, match="at least 6·2\\^-40"):
        PrevalenceMechanism(6 * smallest * Fraction(99, 100), THREE_ITEMS, public_cap=9)


def test_noise_is_added_in_whole_numbers_whatever_their_size() -> None:
    # Beyond 2^53 floats skip whole numbers: one label more would change nothing, or two.
    large = np.array([2**53 + 1, 2**60 + 1, 2**63 - 2, 2**63 - 1, 0])
    noise = np.array([-3, 5, 1, 7, -9])
    assert add_noise(large, noise).tolist() == [2**53 - 2, 2**60 + 6, 2**63 - 1, 2**63 - 1, -9]
    released = PrevalenceMechanism(1, FIVE).release(Profile.from_prevalences({1: 2**63 - 1}), source=SeededSource(1))
    assert 0 < released.profile.n <= 2**63 - 1
