"""Formulas beside what they mean: all subsamples of small tables, and sums over them."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import DataError, UsageError
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds
from anonhist.species.bootstrap import draw_again
from anonhist.species.hill import ORDERS, asymptotic, at_size, observed, parse_orders
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.richness import species_richness
from anonhist.species.sample import ReferenceSample
from anonhist_testing.cases import each_of

# Species in rows, sampling units in columns.
MATRICES = (
    [[1, 1, 0, 1, 0], [0, 1, 0, 0, 0], [1, 0, 0, 0, 1], [1, 1, 1, 1, 1]],
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]],
    [[1, 1, 1], [1, 1, 1]],
)


def hill(counts: list[int], total: float, order: int) -> float:
    shares = np.array([count / total for count in counts if count])
    if order == 1:
        return math.exp(-float(shares @ np.log(shares)))
    return float((shares**order).sum()) ** (1 / (1 - order))


def subsamples(matrix: list[list[int]], size: int) -> list[list[int]]:
    """Return the incidences of each species in every set of so many units."""
    units = range(len(matrix[0]))
    return [[sum(row[unit] for unit in chosen) for row in matrix] for chosen in combinations(units, size)]


def test_rarefied_units_are_the_mean_over_all_sets_of_units() -> None:
    for matrix in MATRICES:
        sample = ReferenceSample.of(IncidenceFrequencies.from_matrix(matrix))
        for size in range(1, sample.size + 1):
            drawn = subsamples(matrix, size)
            assert at_size(sample, 0, size) == pytest.approx(np.mean([sum(c > 0 for c in each) for each in drawn]))
            # Orders 1 and 2 take the mean numbers of species with each count, and the mean number of detections.
            expected = size * sample.total / sample.size
            means = [np.mean([each.count(k) for each in drawn]) for k in range(1, size + 1)]
            shares = np.arange(1, size + 1) / expected
            first = math.exp(-float(np.array(means) @ (shares * np.log(shares))))
            assert at_size(sample, 1, size) == pytest.approx(first)
            assert at_size(sample, 2, size) == pytest.approx(1 / float(np.array(means) @ shares**2))


def test_rarefied_individuals_are_the_mean_over_all_subsets() -> None:
    for counts in ([3, 2, 1, 1], [4, 1], [1, 1, 1]):
        sample = ReferenceSample.of(Profile.from_counts(counts))
        people = [species for species, count in enumerate(counts) for _ in range(count)]
        for size in range(1, sample.size + 1):
            sets = [[chosen.count(each) for each in range(len(counts))] for chosen in combinations(people, size)]
            assert at_size(sample, 0, size) == pytest.approx(np.mean([sum(c > 0 for c in each) for each in sets]))
            squares = np.mean([sum((c / size) ** 2 for c in each) for each in sets])
            assert at_size(sample, 2, size) == pytest.approx(1 / squares)
            entropy = np.mean([math.log(hill(each, size, 1)) for each in sets])
            assert at_size(sample, 1, size) == pytest.approx(math.exp(entropy))


def test_coverage_of_parts_is_what_the_left_out_unit_adds() -> None:
    # C(m) = 1 − Σ (chance that a detection of the next unit is of a species not in m units).
    for matrix in MATRICES:
        sample = ReferenceSample.of(IncidenceFrequencies.from_matrix(matrix))
        for size in range(1, sample.size):
            new, all_ = 0, 0
            for chosen in combinations(range(sample.size), size):
                for other in set(range(sample.size)) - set(chosen):
                    found = [row[other] and not any(row[unit] for unit in chosen) for row in matrix]
                    new += sum(map(int, found))
                    all_ += sum(row[other] for row in matrix)
            assert sample.coverage(size) == pytest.approx(1 - new / all_, abs=1e-12)


def test_individuals_and_units_of_one_have_the_same_formulas() -> None:
    counts = [9, 4, 2, 2, 1, 1, 1]
    people = ReferenceSample.of(Profile.from_counts(counts))
    # A unit with one individual each.
    units = ReferenceSample.of(IncidenceFrequencies(20, Profile.from_counts(counts)))
    for order in ORDERS:
        assert asymptotic(people, order) == pytest.approx(asymptotic(units, order), rel=1e-12)
        for size in (1, 7, 7.5, 20, 31):
            assert at_size(people, order, size) == pytest.approx(at_size(units, order, size), rel=1e-12)
            assert people.coverage(size) == units.coverage(size)


def test_asymptotes_are_the_published_double_sums() -> None:
    for data in (
        Profile.from_counts([9, 4, 2, 2, 1, 1, 1]),
        IncidenceFrequencies.from_frequencies([30, 9, 4, 2, 1, 1]),
    ):
        sample = ReferenceSample.of(data)
        n, once, twice = sample.size, sample.of_count(1), sample.of_count(2)
        a = 2 * twice / ((n - 1) * once + 2 * twice)
        pairs = zip(sample.counts.tolist(), sample.prevalences.tolist(), strict=True)
        seen = sum(many * count / n * sum(1 / k for k in range(count, n)) for count, many in pairs)
        left = -math.log(a) - sum((1 - a) ** r / r for r in range(1, n))
        entropy = seen + once / n * (1 - a) ** (1 - n) * left
        value = math.exp(n / sample.total * entropy + math.log(sample.total / n))
        assert asymptotic(sample, 1) == pytest.approx(value, rel=1e-9)


COUNTS = st.lists(st.integers(1, 12), min_size=1, max_size=12)


@given(COUNTS, st.integers(0, 9), st.booleans())
def test_curves_rise_with_size_and_meet_the_data(counts: list[int], more: int, units: bool) -> None:  # noqa: FBT001
    profile = Profile.from_counts(counts)
    data = IncidenceFrequencies(max(counts) + more, profile) if units else profile
    sample = ReferenceSample.of(data)
    if sample.size < 2:
        return
    sizes = [1, *(size for size in (1.5, sample.size - 1, sample.size - 0.25) if size > 1), sample.size]
    sizes += [sample.size + 0.5, 2 * sample.size, 9 * sample.size]
    sizes = sorted(sizes)
    coverages = [sample.coverage(size) for size in sizes]
    assert all(low <= high + 1e-9 for low, high in pairwise(coverages))
    assert -1e-9 <= coverages[0] <= coverages[-1] <= 1
    for order in ORDERS:
        numbers = [at_size(sample, order, size) for size in sizes]
        assert all(low <= high * (1 + 1e-9) for low, high in pairwise(numbers))
        assert at_size(sample, order, sample.size) == observed(sample, order)
        assert numbers[-1] <= asymptotic(sample, order) * (1 + 1e-9) or order == 2
    for size in sizes:
        target = sample.coverage(size)
        if sample.coverage(1) < target < 1 - 1e-9:
            assert sample.coverage(sample.size_at(target)) == pytest.approx(target, abs=1e-9)


def test_edges() -> None:
    everywhere = ReferenceSample.of(IncidenceFrequencies(5, Profile.from_counts([5, 5, 5])))
    assert [everywhere.coverage(size) for size in (1, 5, 9)] == [1, 1, 1]
    for order in ORDERS:
        assert asymptotic(everywhere, order) == pytest.approx(3)
        assert at_size(everywhere, order, 2) == pytest.approx(3)
        assert at_size(everywhere, order, 50) == pytest.approx(3)
    alone = ReferenceSample.of(IncidenceFrequencies(4, Profile.from_counts([1] * 4)))
    assert asymptotic(alone, 0) == 4 + 0.75 * 4 * 3 / 2
    assert asymptotic(alone, 2) == 4**2 * 0.75 / 2
    # A single species in a single unit of four: nothing seems to be missing.
    lone = ReferenceSample.of(IncidenceFrequencies(4, Profile.from_counts([1])))
    assert (lone.coverage(4), asymptotic(lone, 0)) == (1, 1)
    nothing = ReferenceSample.of(IncidenceFrequencies(4, Profile([], [])))
    assert [at_size(nothing, order, 3) for order in ORDERS] == [0, 0, 0]
    assert [asymptotic(nothing, order) for order in ORDERS] == [0, 0, 0]


@pytest.mark.parametrize("method", ["chao2", "chao2-bc", "ice", "ice-1"])
def test_richness_of_edges(method: str) -> None:
    for counts, least in (([3, 3, 2], 3), ([4, 4], 2), ([1], 1), ([1, 1, 1], 3), ([2, 2], 2), ([1, 30], 2)):
        found = species_richness(IncidenceFrequencies(40, Profile.from_counts(counts)), method=method)  # type: ignore[arg-type]
        low, high = found.interval
        assert least <= low <= high < math.inf
        assert found.value >= least
        assert 0 <= found.standard_error < math.inf


def test_the_lower_end_of_chao2_alone_is_stated() -> None:
    # All infrequent species of the second were found once: ICE is there the value of chao2-bc.
    for counts in ([3, 3, 2, 1, 1], [1, 1, 1]):
        data = IncidenceFrequencies(40, Profile.from_counts(counts))
        for method in ("chao2", "chao2-bc"):
            assert species_richness(data, method=method).statement.holds is Holds.AT_LEAST
        for varying in ("ice", "ice-1"):
            told = species_richness(data, method=varying).statement
            assert (told.holds, "take chao2" in told.reason) == (Holds.NONE, True)


@each_of("method", ["chao2", "chao2-bc"])
def test_the_lower_end_holds_where_nearly_all_species_were_found(method: Any) -> None:
    # Before it was rounded down, it held in 48 and 55%: it was S and a small part of one more.
    rng, held = np.random.default_rng(4), 0
    for _ in range(200):
        units = rng.binomial(200, 5 / 200, 100)
        data = IncidenceFrequencies(200, Profile.from_counts(units[units > 0]))
        held += species_richness(data, method=method).interval[0] <= 100
    assert held >= 190


def test_small_samples_are_refused() -> None:
    for data in (IncidenceFrequencies(1, Profile.from_counts([1, 1])), IncidenceFrequencies(7, Profile([], []))):
        with pytest.raises(DataError):
            species_richness(data)


def test_more_species_in_units_than_there_are_units_are_refused() -> None:
    with pytest.raises(DataError, match="more sampling units than there are"):
        IncidenceFrequencies(3, Profile.from_counts([4]))
    with pytest.raises(DataError, match="begin with the number"):
        IncidenceFrequencies.from_frequencies([0, 1])
    for matrix in ([[2, 0]], [1, 0], [[]], [[0.5]]):
        with pytest.raises(DataError):
            IncidenceFrequencies.from_matrix(matrix)
    with pytest.raises(UsageError):
        IncidenceFrequencies(3, [1, 2])  # type: ignore[arg-type]


def test_coverages_that_no_sample_has_are_refused() -> None:
    sample = ReferenceSample.of(Profile.from_counts([5, 3, 1, 1]))
    for coverage in (sample.coverage(1) / 2, 1.0, 1.5, -1.0, math.nan):
        with pytest.raises(UsageError, match="cannot be compared"):
            sample.size_at(coverage)
    for orders in ([], [3], [0, 0.5], [True], "0"):
        with pytest.raises(UsageError):
            parse_orders(orders)  # type: ignore[arg-type]


@pytest.mark.full
def test_bootstrap_samples_are_like_the_data() -> None:
    data = IncidenceFrequencies.from_frequencies([200, 80, 59, 34, 23, 19, 15, 13, 8, 8, 4, 3, 2, 2, 1, 1, 1])
    drawn = list(draw_again(data, times=400, rng=np.random.default_rng(3)))
    assert {sample.size for sample in drawn} == {200}
    detections = [sample.total for sample in drawn]
    # Their mean is U up to four standard errors; the sampler is seeded, so this never fails by chance.
    assert abs(np.mean(detections) - data.detections) < 4 * np.std(detections) / 20
