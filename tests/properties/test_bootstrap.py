"""Bootstrap samples: the distribution they should have, with labels one by one and taken together."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from anonhist.profiles import Profile
from anonhist.properties import sampling
from anonhist.properties.sampling import Assemblage, resample, sampling_error, spread
from anonhist_testing.statistics import assert_pmf_equal

MANY = Profile.from_prevalences({1: 3000, 2: 1500, 3: 700, 40: 30, 900: 2})
FEW = Profile.from_prevalences({1: 30, 2: 15, 3: 7, 40: 2})


def describe(profile: Profile) -> NDArray[np.float64]:
    return np.array([*(profile.prevalence(r) for r in (1, 2, 3, 40)), profile.num_labels, profile.k_plus(30)], float)


def test_of_few_labels_every_sample_has_all_items() -> None:
    samples = list(resample(FEW, size=20, rng=np.random.default_rng(1)))
    assert [sample.n for sample in samples] == [FEW.n] * 20
    assert len(set(samples)) == 20


@pytest.mark.parametrize("profile", [MANY, FEW], ids=["many", "few"])
def test_samples_follow_the_assemblage(profile: Profile) -> None:
    size = 400
    samples = list(resample(profile, size=size, rng=np.random.default_rng(2)))
    population = Assemblage.of(profile)
    means = population.probabilities * profile.n
    for count in (1, 2, 5, 40):
        drawn = np.array([sample.prevalence(count) for sample in samples])
        expected = float(population.labels @ stats.binom(profile.n, population.probabilities).pmf(count))
        # Poisson instead of binomial counts move the expectation by less than a part in 500 here; four standard errors.
        assert abs(drawn.mean() - expected) <= 4 * drawn.std() / math.sqrt(size) + expected / 500
    items = np.array([sample.n for sample in samples])
    assert abs(items.mean() - profile.n) <= 4 * math.sqrt(means.sum() / size)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [10, 3000], ids=["one by one", "taken together"])
def test_each_count_is_poisson(labels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_FEW", 0)
    profile = Profile([9], [labels])
    drawn = [sample.prevalence(9) for sample in resample(profile, size=4000, rng=np.random.default_rng(3))]
    assert_pmf_equal(drawn, stats.binom(labels, stats.poisson(9).pmf(9)).pmf, false_fail_rate=1e-6)


@pytest.mark.slow
def test_both_ways_spread_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    # Multinomial counts fix n; Poisson counts are regressed on it. Each is off by 3.5%, four of these together 20%.
    profile = Profile.from_prevalences({1: 300, 2: 150, 3: 70, 40: 10})
    exact = spread(profile, describe, size=400, rng=np.random.default_rng(4))
    monkeypatch.setattr(sampling, "_FEW", 0)
    regressed = spread(profile, describe, size=400, rng=np.random.default_rng(5))
    assert regressed == pytest.approx(exact, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("profile", [MANY, FEW], ids=["many", "few"])
def test_spread_is_the_sampling_error_of_a_linear_statistic(profile: Profile) -> None:
    weights = (lambda counts: (counts > 0) * 1.0, np.log1p, lambda counts: (counts == 2) * 1.0)

    def statistic(sample: Profile) -> NDArray[np.float64]:
        return np.array([float(w(sample.counts) @ sample.prevalences) for w in weights])

    errors = spread(profile, statistic, size=400, rng=np.random.default_rng(6))
    stated = [sampling_error(profile, w) for w in weights]
    # Off by 3.5% at 400 samples, four of these; and 5% for what is first order in few labels.
    assert errors == pytest.approx(stated, rel=0.14 + 0.05)


def test_what_n_fixes_has_no_spread() -> None:
    def items(sample: Profile) -> NDArray[np.float64]:
        return np.array([*(sample.n / divisor for divisor in range(1, 30)), 7.0])

    for profile in (MANY, FEW):
        assert spread(profile, items, size=7, rng=np.random.default_rng(7)).tolist() == [0.0] * 30


def test_the_same_generator_gives_the_same_samples() -> None:
    first, second = (list(resample(MANY, size=3, rng=np.random.default_rng(8))) for _ in range(2))
    assert first == second
    assert len(set(first)) == 3


@pytest.mark.parametrize(
    "profile",
    [
        Profile([1], [10**15]),
        Profile([10**15], [1]),
        Profile([2**63 - 1], [1]),
        Profile([1, 2**62], [2**62 - 1, 1]),
        Profile([10**11], [10**4]),
        Profile([1, 2, 3, 10**14], [10**14, 10**13, 10**6, 5]),
        Profile([1], [1]),
    ],
)
def test_of_any_size(profile: Profile) -> None:
    for sample in resample(profile, size=3, rng=np.random.default_rng(9)):
        items = min(profile.n, 2**62)
        assert abs(sample.n - items) <= 8 * math.sqrt(items)


def test_rare_labels_are_drawn_beside_huge_ones() -> None:
    profile = Profile.from_prevalences({1: 30, 10**12: 1000})
    rng = np.random.default_rng(5)
    drawn = [sample.num_labels - 1000 for sample in resample(profile, size=20, rng=rng)]
    # About 30 of the items are of rare labels, seen or not.
    assert 20 < np.mean(drawn) < 32
    assert all(sample.n == profile.n for sample in resample(profile, size=3, rng=rng))
