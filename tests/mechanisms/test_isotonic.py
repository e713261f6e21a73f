"""The isotonic mechanism: its fit, its public number, and the ends of what it takes."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.mechanisms import IsotonicMechanism, additive, zipf_profile
from anonhist.numeric import decreasing_fit
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_published_are_the_rounded_values_of_the_nearest_falling_sequence(
    epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[NDArray[np.int64]] = []
    really = additive.add_noise

    def record_sums(counts: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
        seen.append(really(counts, noise))
        return seen[-1]

    monkeypatch.setattr(additive, "add_noise", record_sums)
    mechanism, profile = IsotonicMechanism(epsilon, public_labels=400), zipf_profile(500)
    for seed in range(20):
        released = mechanism.release(profile, source=SeededSource(seed)).profile
        # SciPy is what the program fits with; ours is another one, tested against the formula.
        fit = np.rint(decreasing_fit(seen[-1])).astype(np.int64)
        assert released.partition().tolist() == fit[fit > 0].tolist()
    assert len(seen) == 20


def test_noise_is_added_to_the_counts_in_descending_order_and_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []

    def record_sums(counts: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
        seen.append(counts.tolist())
        return counts + 0 * noise

    monkeypatch.setattr(additive, "add_noise", record_sums)
    profile = Profile.from_counts([1, 7, 3, 3])
    assert IsotonicMechanism(1, public_labels=6).release(profile).profile == profile
    assert IsotonicMechanism(1, public_labels=4).release(profile).profile == profile
    capped = PrivacyUnit.label(max_count=5)
    assert IsotonicMechanism(1, capped, public_labels=4).release(profile).profile.n == 12
    assert seen == [[7, 3, 3, 1, 0, 0], [7, 3, 3, 1], [5, 3, 3, 1]]


def test_fitting_gains_over_setting_negative_counts_to_zero() -> None:
    profile, rng = zipf_profile(2000), np.random.default_rng(8)
    truth = profile.partition()
    labels = 4 * truth.size
    mechanism = IsotonicMechanism("0.5", public_labels=labels)
    ours = [sorted_l1(profile, run) for run in mechanism.simulate(profile, size=40, rng=rng)]
    plain = []
    for _ in range(40):
        noise = rng.geometric(1 - np.exp(-0.5), (2, labels))
        noisy = np.append(truth, np.zeros(labels - truth.size, dtype=np.int64)) + noise[0] - noise[1]
        plain.append(sorted_l1(profile, Profile.from_counts(noisy[noisy > 0])))
    assert np.mean(ours) < 0.5 * np.mean(plain)


@each_of("labels", [1, 2, 1000])
@each_of("epsilon", ["1e-5", "1", "40"])
def test_extremes_give_valid_profiles(epsilon: str, labels: int) -> None:
    mechanism = IsotonicMechanism(epsilon, public_labels=labels)
    for profile in (Profile([], []), Profile([2**63 - 1], [1]), Profile([2**62], [1]), Profile([1], [labels])):
        released = mechanism.release(profile, source=SeededSource(3)).profile
        assert 0 <= released.n <= 2**63 - 1
        assert released.num_labels <= labels
        if epsilon == "40" and profile.n < 2**53:
            assert released == profile
        if epsilon == "40" and profile.n >= 2**62:
            # What cannot be held beside noise is cut at 2^62 items.
            assert 2**61 < released.n <= 2**62


def test_noise_cannot_wrap_the_largest_numbers_around() -> None:
    mechanism, largest = IsotonicMechanism("0.01", public_labels=1), Profile([2**63 - 1], [1])
    runs = [mechanism.release(largest, source=SeededSource(seed)).profile for seed in range(20)]
    runs += mechanism.simulate(largest, size=20, rng=np.random.default_rng(1))
    assert {run.n for run in runs} == {2**62}


@pytest.mark.parametrize("profile", [Profile([1], [2**63 - 1]), Profile([1, 9], [4, 1]), Profile([2**40], [2**22])])
def test_more_labels_than_the_public_number_are_refused_before_anything_is_drawn(profile: Profile) -> None:
    mechanism = IsotonicMechanism(1, public_labels=4)
    sentence = "^The data exceed public_labels, and this refusal already reveals that: do not try other values"
    source = SeededSource(1)
    with pytest.raises(UsageError, match=sentence):
        mechanism.release(profile, source=source)
    assert source.words(1) == SeededSource(1).words(1)
    with pytest.raises(UsageError, match=sentence):
        mechanism.simulate(profile, size=1, rng=np.random.default_rng(1))


def test_what_is_out_of_range_is_refused() -> None:
    for number in (0, -1, 2**24 + 1, 1.5, "5", None, True, np.nan):
        with pytest.raises(UsageError, match="public_labels must be a whole number from 1 to 2\\^24"):
            IsotonicMechanism(1, public_labels=number)
    assert IsotonicMechanism(1, public_labels=1e6).public_labels == 10**6
    assert type(IsotonicMechanism(1, public_labels=1e6).public_labels) is int
    with pytest.raises(UsageError, match="too small"):
        IsotonicMechanism("9.9e-6", public_labels=5)


def test_promise_names_the_public_number() -> None:
    mechanism = IsotonicMechanism("1/3", PrivacyUnit.user(max_items=2), public_labels=5000)
    assert "at most 5,000 labels, which must be public knowledge" in str(mechanism.guarantee)
    assert (mechanism.guarantee.delta, mechanism.guarantee.epsilon) == (0, Fraction(1, 3))
    assert IsotonicMechanism(1, relation=NeighboringRelation.SUBSTITUTE, public_labels=5).epsilon_per_cell == 0.5
