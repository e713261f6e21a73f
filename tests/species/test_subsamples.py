"""Chances of counts in a part of a sample, for sizes up to 2^62: beside exact fractions and sums of logarithms."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from anonhist.profiles import Profile
from anonhist.species.comparison import compare_sites
from anonhist.species.hill import _logarithms, _rarefied, at_size, observed
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.sample import ReferenceSample
from anonhist.species.subsamples import last_rise, log_missed, log_probability

SIZES = (2, 9, 60, 99_999, 100_001, 10**7, 10**10, 10**12, 2**53 + 1, 2**62)


def exact_missed(size: int, part: int, count: int) -> float:
    """Return ln[C(n − r, m)/C(n, m)], by a product over the smaller of r and m."""
    few, many = sorted((part, count))
    chance = Fraction(1)
    for at in range(few):
        chance *= Fraction(size - many - at, size - at)
    return math.log(chance) if chance > Fraction(1, 10**280) else -math.inf


@pytest.mark.parametrize("size", SIZES)
def test_chances_to_miss_a_species_are_exact(size: int) -> None:
    for part in {1, 2, size // 3, size // 2, size - 1, max(size - 2, 1), max(size - 40, 1), size}:
        for count in (1, 2, 3, 17, 60):
            if not 0 < part <= size or count > size - part:
                continue
            found = float(log_missed(size, part, np.array([count]))[0])
            expected = exact_missed(size, part, count)
            assert math.exp(found) == pytest.approx(math.exp(expected), rel=1e-9, abs=1e-12)


def test_chances_of_counts_add_up_and_are_those_of_fractions() -> None:
    for size, part, count in ((40, 13, 9), (10**6, 300_000, 50), (10**12, 4 * 10**11, 30), (2**62, 2**60, 40)):
        found = np.arange(min(part, count) + 1)
        chances = np.exp(log_probability(size, part, np.full(found.shape, count), found))
        assert float(chances.sum()) == pytest.approx(1, abs=1e-11)
        k = min(count, part) // 3
        exact = Fraction(math.comb(count, k))
        for at in range(k):
            exact *= Fraction(part - at, size - at)
        for at in range(count - k):
            exact *= Fraction(size - part - at, size - k - at)
        assert chances[k] == pytest.approx(float(exact), rel=1e-10)


def test_large_means_join_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    for size, part, counts in ((10**6, 400_000, [30_000, 90_000, 400_001]), (300_000, 299_999, [20_000, 100_000])):
        sample = ReferenceSample.of(IncidenceFrequencies(size, Profile.from_counts(counts)))
        by_moments = _logarithms(sample, part)
        monkeypatch.setattr("anonhist.species.hill._LARGE_MEAN", math.inf)
        assert by_moments == pytest.approx(_logarithms(sample, part), rel=1e-11)
        monkeypatch.undo()


def test_the_last_rise_is_the_difference() -> None:
    for counts in ([3, 2, 1, 1], [40, 9, 1500, 2], [1, 1]):
        for units in (0, 1500):
            profile = Profile.from_counts(counts)
            sample = ReferenceSample.of(IncidenceFrequencies(units, profile) if units else profile)
            before = math.log(_rarefied(sample, 1, sample.size - 1))
            rise = last_rise(sample.size, sample.counts, sample.prevalences, sample.total)
            assert rise == pytest.approx(math.log(observed(sample, 1)) - before, abs=1e-12)


@pytest.mark.parametrize("times", [10**3, 10**9, 10**13, 10**16])
def test_huge_counts_give_smooth_curves(times: int) -> None:
    counts = [45 * times, 30 * times, 9 * times, 20, 7, 4, 3, 2, 2, 2, 1, 1, 1, 1]
    sample = ReferenceSample.of(Profile.from_counts(counts))
    sizes = [1, 10, times, *(int(sample.size * share) for share in (0.1, 0.5, 0.9)), sample.size - 1, sample.size]
    for order in (0, 1, 2):
        values = [at_size(sample, order, size) for size in (*sizes, sample.size + 1, 2 * sample.size)]
        assert all(low <= high * (1 + 1e-9) for low, high in pairwise(values))
    # Half of the draws miss a species found once with probability 1/2, one found twice with 1/4, and so on.
    half = sum(1 - 0.5**count for count in counts if count < 1000) + 3
    assert at_size(sample, 0, sample.size // 2) == pytest.approx(half, rel=200 / times + 1e-9)
    # Beyond n, with β·n ≈ f_1/f_0 and f_0 = f_1²/(2f_2).
    assert at_size(sample, 0, 2 * sample.size) == pytest.approx(
        14 + 8 / 3 * -math.expm1(-4 * 3 / 8), rel=100 / times + 1e-9
    )
    assert at_size(sample, 1, sample.size // 2) == pytest.approx(observed(sample, 1), rel=100 / times + 1e-9)
    covers = [sample.coverage(size) for size in sizes]
    assert all(low <= high + 1e-12 for low, high in pairwise(covers))


def test_huge_sites_are_compared() -> None:
    sites = {"a": Profile.from_counts([10**17, 10**16, 5, 2, 1, 1]), "b": Profile.from_counts([10**12, 9, 1, 1, 2])}
    found = compare_sites(sites, points=4, bootstraps=3, rng=np.random.default_rng(1))
    assert all(math.isfinite(row.value) for row in found.estimates)
