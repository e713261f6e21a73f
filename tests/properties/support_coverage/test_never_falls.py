"""Estimates of how many labels draws show never fall as draws grow, and surfaces of one quantity agree."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import anonhist as ah
from anonhist.profiles import Profile
from anonhist.properties.estimator import value_of
from anonhist.properties.support_coverage import (
    LINEAR_COVERAGE_METHODS,
    rarefaction_curve,
    support_coverage,
    support_coverage_estimator,
)
from anonhist.properties.unseen_labels import Mixture, PoissonMixture
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

DATA = Path(__file__).parents[3] / "data"
# How often each read of a sequencing library was seen: the histogram posted in issue 29 of smithlabcode/preseq, on
# which smoothed series fall from 8n draws on. Numbers alone.
READS = ah.read_profile(Path(__file__).parent / "sequencing_reads.csv")
TREES = ah.read_profile(DATA / "bci_trees.csv")


def zipf(exponent: float, labels: int, n: int) -> Profile:
    shares = np.arange(1.0, labels + 1) ** -exponent
    return Profile.from_counts(np.random.default_rng(5).multinomial(n, shares / shares.sum()))


PROFILES = {
    "reads": READS,
    "trees": TREES,
    "passwords": ah.read_profile(DATA / "pw_phpbb.csv"),
    "spiders": Profile.from_prevalences({1: 12, 2: 4, 4: 1, 6: 2, 8: 1, 9: 1, 15: 2, 17: 1, 22: 1, 46: 1}),
    "zipf": zipf(1.0, 1000, 1000),
    "steep zipf": zipf(1.8, 10_000, 3000),
    "uniform": zipf(0.0, 500, 700),
    "singletons": Profile([1], [100]),
    "pairs": Profile([2], [50]),
    "more pairs than singletons": Profile([1, 2], [5, 50]),
    "odd counts": Profile([1, 3, 5, 7], [9, 40, 30, 20]),
    "even counts": Profile([1, 2, 4, 6, 8], [9, 40, 30, 20, 90]),
    "one item": Profile([1], [1]),
    "one label": Profile([50], [1]),
    "huge": Profile([1, 2, 3, 10**14], [10**14, 10**13, 10**6, 5]),
}
SHARES = (0.1, 0.5, 0.9, 1, 1.001, 1.1, 1.5, 1.9, 1.999, 2, 2.001, 2.01, 2.5, 3, 4, 5, 8, 10, 12, 15, 20, 50, 100, 1000)


def value_at(profile: Profile, draws: int) -> float:
    """Return the default estimate, without its interval."""
    return value_of(support_coverage_estimator(None, draws=draws, n=profile.n), profile)


@pytest.mark.slow
@each_of("name", PROFILES)
def test_more_draws_never_show_fewer_labels(name: str) -> None:
    profile = PROFILES[name]
    draws = sorted({max(round(share * profile.n), 1) for share in SHARES})
    values = [value_at(profile, each) for each in draws]
    assert values == sorted(values)
    for each, value in zip(draws, values, strict=True):
        if each >= profile.n:
            assert profile.num_labels <= value <= each
    # Nothing hangs on which other numbers of draws are asked for.
    curve = rarefaction_curve(profile, draws=draws[-1], points=9, bootstraps=3, rng=np.random.default_rng(1))
    assert bool(np.all(np.diff(curve.value) >= -1e-9 * curve.value[:-1]))
    for x, value in zip(curve.x.tolist(), curve.value.tolist(), strict=True):
        assert value_at(profile, round(x)) == pytest.approx(value, rel=1e-6)
    assert support_coverage(profile, draws=draws[-1]).value == values[-1]


@each_of("name", PROFILES)
def test_one_draw_more_changes_little_where_methods_change(name: str) -> None:
    profile = PROFILES[name]
    for draws in (profile.n, 2 * profile.n):
        before, after = (value_at(profile, draws + more) for more in (0, 1))
        assert 0 <= after - before <= 1 + 1e-9 * before


@each_of("name", PROFILES)
def test_new_labels_come_ever_more_slowly(name: str) -> None:
    mixture = PoissonMixture.of(PROFILES[name])
    new = np.array([mixture.new_labels(each) for each in np.linspace(0, 20, 81)])
    assert new[0] == 0
    assert bool(np.all(np.diff(new) >= 0))
    assert bool(np.all(np.diff(new, 2) <= 1e-9 * new[-1]))


@pytest.mark.slow
@each_of("name", PROFILES)
def test_intervals_of_one_quantity_overlap(name: str) -> None:
    profile = PROFILES[name]
    support = ah.support_size(profile)
    for times in (1, 1.5, 2.5, 10):
        draws = round(times * profile.n)
        low, high = support_coverage(profile, draws=draws).interval
        curve = rarefaction_curve(profile, draws=max(draws, 1), points=4, bootstraps=5, rng=np.random.default_rng(1))
        assert max(low, curve.low[-1]) <= min(high, curve.high[-1]) + 1e-9
        # A sample shows no more labels than there are.
        assert low <= support.interval[1]
        assert all(
            support_coverage(profile, draws=draws, method=method).interval[0] <= high
            for method in LINEAR_COVERAGE_METHODS[1:]
        )


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.parametrize("epsilon", ["0.3", "1"])
def test_of_a_release_draws_show_no_fewer_labels_than_the_data_have_at_least(epsilon: str) -> None:
    release = ah.release(TREES, epsilon=epsilon, simulations=8, source=SeededSource(3))
    n, least = release.profile.n, release.k_plus(1).interval[0]
    assert ah.support_size(release).interval[0] == least
    values = []
    for times in (1, 1.001, 1.5, 2, 2.01, 5, 20):
        found = support_coverage(release, draws=round(times * n))
        values.append(found.value)
        assert found.value >= release.profile.num_labels
        if times > 1:
            # What the sample may have had by chance: a number of labels varies by less than its root.
            assert found.interval[0] >= least - 2 * least**0.5
    assert values == sorted(values)
    curve = rarefaction_curve(release, draws=5 * n, points=8, bootstraps=5, rng=np.random.default_rng(1))
    at = curve.kinds.index("observed")
    assert bool(np.all(curve.low[at:] >= curve.low[at]))
    assert curve.value[-1] == pytest.approx(support_coverage(release, draws=5 * n).value)


@pytest.mark.full
def test_a_series_that_falls_says_so() -> None:
    draws = 15 * READS.n
    fallen = support_coverage(READS, draws=draws, method="smoothed-binomial-b")
    assert any("falls" in warning for warning in fallen.warnings)
    assert support_coverage(READS, draws=draws).warnings == ()
    zipf_like = support_coverage(PROFILES["zipf"], draws=1500, method="good-toulmin")
    assert not any("falls" in warning for warning in zipf_like.warnings)
    # The interval is that of the property: it is not pulled down to where the series fell.
    assert support_coverage(READS, draws=draws).interval[0] == support_coverage(READS, draws=2 * READS.n).interval[0]


def test_the_mixture_finds_rates_that_are_there() -> None:
    # 3,000 labels of mean 1 and 1,000 of mean 5: a share e^−λ is unseen, and t further samples show 1 − e^−λt of them.
    rng = np.random.default_rng(4)
    counts = np.concatenate((rng.poisson(1.0, 3000), rng.poisson(5.0, 1000)))
    profile = Profile.from_counts(counts[counts > 0])
    for times in (0.5, 1, 3):
        new = sum(labels * np.exp(-rate) * -np.expm1(-times * rate) for labels, rate in ((3000, 1.0), (1000, 5.0)))
        found = Mixture(round((1 + times) * profile.n)).value(profile) - profile.num_labels
        # 1,100 labels are unseen: to five standard deviations of Chao's bound, 60 each.
        assert found == pytest.approx(new, abs=300)


FALLEN = PROFILES | {
    "singletons and pairs": Profile([1, 2], [140, 60]),
    "ever fewer": Profile.from_prevalences({1: 62, 2: 42, 3: 27, 4: 19, 5: 15, 6: 11, 7: 8, 8: 16}),
    "five and one": Profile.from_counts([1] * 5 + [1000]),
    "two labels": Profile([50], [2]),
    "two items": Profile([1], [2]),
}


def assert_ends_never_fall(data: Profile | ah.Release) -> None:
    """Check both ends of the interval over a grid of draws, finer than that at which they are computed."""
    n = (data if isinstance(data, Profile) else data.profile).n
    shares = (0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99, 1.05, 1.25, 1.4, 1.7, 1.8, 1.95, 1.99, *SHARES)
    draws = sorted({max(round(share * n), 1) for share in shares} | {n + 1, 2 * n + 1})
    found = [support_coverage(data, draws=each) for each in draws]
    for ends in zip(*(each.interval for each in found), strict=True):
        for (fewer, before), (more, after) in pairwise(zip(draws, ends, strict=True)):
            assert after >= before * (1 - 1e-12), (fewer, more)
    assert all(each.interval[0] <= each.value <= each.interval[1] for each in found)


@pytest.mark.slow
@each_of("name", FALLEN)
def test_ends_of_intervals_never_fall_as_draws_grow(name: str) -> None:
    assert_ends_never_fall(FALLEN[name])


@pytest.mark.slow
@pytest.mark.drawn(1)
@each_of("name", ("trees", "ever fewer", "zipf"))
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_of_a_release_ends_never_fall_as_draws_grow(name: str, epsilon: str) -> None:
    release = ah.release(FALLEN[name], epsilon=epsilon, simulations=8, source=SeededSource(3))
    assert_ends_never_fall(release)
    curve = rarefaction_curve(release, draws=3 * release.profile.n, bootstraps=5, rng=np.random.default_rng(1))
    assert bool(np.all(np.diff(curve.low) >= 0))
    assert bool(np.all(np.diff(curve.high) >= 0))


@pytest.mark.full
@each_of("name", FALLEN)
def test_the_band_of_a_curve_never_falls(name: str) -> None:
    curve = rarefaction_curve(FALLEN[name], bootstraps=5, rng=np.random.default_rng(1))
    assert bool(np.all(np.diff(curve.low) >= 0))
    assert bool(np.all(np.diff(curve.high) >= 0))
