"""The cumulative mechanism: its fit, its public cap, and the ends of what it takes."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from anonhist.errors import UsageError
from anonhist.mechanisms import CumulativeMechanism, PrevalenceMechanism, additive, zipf_profile
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_published_are_the_rounded_values_of_scipys_fit(epsilon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[NDArray[np.int64]] = []
    really = additive.add_noise

    def record_sums(reaching: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
        seen.append(really(reaching, noise))
        return seen[-1]

    monkeypatch.setattr(additive, "add_noise", record_sums)
    mechanism, profile = CumulativeMechanism(epsilon, public_cap=400), zipf_profile(500)
    for seed in range(20):
        released = mechanism.release(profile, source=SeededSource(seed)).profile
        fit = isotonic_regression(seen[-1], increasing=False).x
        # Means that end in one half may be rounded to either side: the two fits add up in another order.
        sure = np.abs(fit - np.floor(fit) - 0.5) > 1e-9
        reaching = released.cumulative_prevalence(np.arange(1, 401))
        assert reaching[sure].tolist() == np.maximum(np.rint(fit[sure]), 0).tolist()
        assert np.abs(reaching - np.maximum(fit, 0)).max() < 0.5 + 1e-9
        assert sure.mean() > 0.5
        assert not released.k_plus(401)
    assert len(seen) == 20


def test_noise_is_added_to_the_cumulative_prevalences(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []

    def record_sums(reaching: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
        seen.append(reaching.tolist())
        return reaching + 0 * noise

    monkeypatch.setattr(additive, "add_noise", record_sums)
    profile = Profile.from_counts([1, 6, 3, 3])
    assert CumulativeMechanism(1, public_cap=6).release(profile).profile == profile
    assert CumulativeMechanism(1, public_cap=8).release(profile).profile == profile
    capped = PrivacyUnit.label(max_count=4)
    assert CumulativeMechanism(1, capped, public_cap=4).release(profile).profile.n == 11
    assert seen == [[4, 3, 3, 1, 1, 1], [4, 3, 3, 1, 1, 1, 0, 0], [4, 3, 3, 1]]


def test_it_errs_less_than_prevalences_under_noise() -> None:
    # One item changes one number here, and two there; sums from above add up the noise of all.
    profile, rng = zipf_profile(3000), np.random.default_rng(2)
    mechanisms = (CumulativeMechanism(1, public_cap=1000), PrevalenceMechanism(1, public_cap=1000))
    ours, theirs = (
        np.mean([sorted_l1(profile, run) for run in mechanism.simulate(profile, size=30, rng=rng)])
        for mechanism in mechanisms
    )
    assert ours < 0.5 * theirs


@each_of("cap", [1, 2, 1000])
@each_of("epsilon", ["1e-5", "1", "40"])
def test_extremes_give_valid_profiles(epsilon: str, cap: int) -> None:
    mechanism = CumulativeMechanism(epsilon, public_cap=cap)
    huge = [Profile([count], [(2**63 - 1) // count]) for count in (1, cap)]
    for profile in (Profile([], []), Profile([1], [2**62]), Profile([cap], [7]), *huge):
        released = mechanism.release(profile, source=SeededSource(3)).profile
        assert 0 <= released.n <= 2**63 - 1
        assert not released.k_plus(cap + 1)
        if epsilon == "40" and profile.n < 2**53:
            assert released == profile
        if epsilon == "40" and profile.n >= 2**62:
            # What cannot be held beside noise is cut at 2^62 items.
            assert 2**62 - cap <= released.n <= 2**62


def test_noise_cannot_wrap_the_largest_numbers_around() -> None:
    mechanism, largest = CumulativeMechanism("0.01", public_cap=1), Profile([1], [2**63 - 1])
    runs = [mechanism.release(largest, source=SeededSource(seed)).profile for seed in range(20)]
    runs += mechanism.simulate(largest, size=20, rng=np.random.default_rng(1))
    assert {run.n for run in runs} == {2**62}


@pytest.mark.parametrize("profile", [Profile([2**63 - 1], [1]), Profile([1, 5], [4, 1]), Profile([2**40], [2**22])])
def test_counts_above_the_public_cap_are_refused_before_anything_is_drawn(profile: Profile) -> None:
    mechanism = CumulativeMechanism(1, public_cap=4)
    sentence = "^The data exceed public_cap, and this refusal already reveals that: do not try other values"
    source = SeededSource(1)
    with pytest.raises(UsageError, match=sentence):
        mechanism.release(profile, source=source)
    assert source.words(1) == SeededSource(1).words(1)
    with pytest.raises(UsageError, match=sentence):
        mechanism.simulate(profile, size=1, rng=np.random.default_rng(1))


def test_what_is_out_of_range_is_refused() -> None:
    for number in (0, -1, 2**24 + 1, 1.5, "5", None, True, np.nan):
        with pytest.raises(UsageError, match="public_cap must be a whole number from 1 to 2\\^24"):
            CumulativeMechanism(1, public_cap=number)
    assert type(CumulativeMechanism(1, public_cap=1e6).public_cap) is int
    with pytest.raises(UsageError, match="too small"):
        CumulativeMechanism("9.9e-6", public_cap=5)


def test_promise_names_the_public_cap() -> None:
    mechanism = CumulativeMechanism(2, public_cap=5000)
    assert "no count is above 5,000, which must be public knowledge" in str(mechanism.guarantee)
    assert (mechanism.guarantee.delta, mechanism.guarantee.epsilon) == (0, 2)
