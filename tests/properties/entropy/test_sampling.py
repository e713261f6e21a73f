"""Standard errors against the spread of repeated samples, and intervals against the truth, with stated error rates."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, chi2

from anonhist.profiles import Profile
from anonhist.properties.entropy import ENTROPY_METHODS, entropy, entropy_estimator
from anonhist.properties.estimate import Estimate, quantile
from anonhist.properties.estimator import Estimator, error_of, value_of

# Profile maximum likelihood is slow, and has tests of its own.
CLOSED = tuple(method for method in ENTROPY_METHODS if method != "pml")

LABELS, SAMPLES = 200, 600
# So many of them say what errors are stated: between samples these differ by a tenth, so their mean is known to 1%.
STATED = 100
# Of each assertion below, if what it tests is so.
FALSE_FAIL_RATE = 1e-6
# What first-order errors, read off an estimated population, may be off by: relative, of the variance.
SLACK = 0.15
POPULATIONS = ["zipf", "dirichlet", "geometric"]


def population(name: str) -> np.ndarray:
    place = np.arange(1, LABELS + 1)
    weights = {
        "zipf": 1 / place,
        "dirichlet": np.random.default_rng(5).gamma(0.5, size=LABELS),
        "geometric": 0.9**place,
    }[name]
    return np.asarray(weights / weights.sum())


@cache
def profiles(name: str, n: int) -> list[Profile]:
    rng = np.random.default_rng([POPULATIONS.index(name), n])
    return [Profile.from_counts(counts) for counts in rng.multinomial(n, population(name), size=SAMPLES)]


def size_for(method: str) -> int | None:
    return LABELS if method == "polynomial" else None


def estimate_all(method: str, drawn: list[Profile]) -> list[Estimate]:
    return [entropy(profile, method=method, alphabet_size=size_for(method)) for profile in drawn]


def values_of(estimator: Estimator, drawn: list[Profile]) -> list[float]:
    """Return the numbers alone, which cost a tenth of what their errors do."""
    return [value_of(estimator, profile) for profile in drawn]


def is_variance(values: np.ndarray, variance: float) -> bool:
    """Whether values may be normal with this variance, up to the slack."""
    squares = float(((values - values.mean()) ** 2).sum())
    low, high = chi2.ppf([FALSE_FAIL_RATE / 2, 1 - FALSE_FAIL_RATE / 2], values.size - 1)
    return bool(low * (1 - SLACK) * variance <= squares <= high * (1 + SLACK) * variance)


def is_probability(found: int, probability: float) -> bool:
    """Whether so many of the samples may have come out true."""
    tails = binom.cdf(found, SAMPLES, probability), binom.sf(found - 1, SAMPLES, probability)
    return bool(min(tails) >= FALSE_FAIL_RATE / 2)


@pytest.mark.slow
@pytest.mark.parametrize("method", CLOSED)
@pytest.mark.parametrize("name", POPULATIONS)
def test_standard_errors_are_the_spread(name: str, method: str) -> None:
    drawn = profiles(name, 1000)
    values = np.array(values_of(entropy_estimator(method, size_for(method)), drawn))
    points = [(entropy_estimator(method, size_for(method)).point(profile), profile) for profile in drawn[:STATED]]
    variance = float(np.mean([error_of(point, profile) ** 2 for point, profile in points]))
    assert is_variance(values, variance)
    # The other direction: errors off by √2 would be seen, whether too large or too small.
    assert not is_variance(values, 2 * variance)
    assert not is_variance(values, variance / 2)


def holding(intervals: list[tuple[float, float]], name: str) -> int:
    shares = population(name)
    truth = float(-shares @ np.log(shares))
    return sum(low <= truth <= high for low, high in intervals)


# Where nearly all labels were seen, bias is small beside the spread, for those that take it off much sooner.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "name", "n"),
    [
        *[(method, name, 50_000) for method in ("plug-in", "chao-shen") for name in ("geometric", "zipf")],
        *[
            (method, name, 5000)
            for method in ("miller-madow", "jackknife", "grassberger", "polynomial")
            for name in ("dirichlet", "zipf")
        ],
    ],
)
def test_values_and_errors_are_right_where_there_is_no_bias(method: str, name: str, n: int) -> None:
    half, narrow = quantile(0.7), []
    for profile in profiles(name, n):
        point = entropy_estimator(method, size_for(method)).point(profile)
        error = error_of(point, profile)
        narrow.append((point.value - half * error, point.value + half * error))
    middle = holding(narrow, name)
    assert is_probability(middle, 0.7)
    # The other direction: intervals of 70% are not taken for some of 85 or 50%.
    assert not is_probability(middle, 0.85)
    assert not is_probability(middle, 0.5)


# The interval is the same for all methods; it depends on whether the alphabet is known.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "name", "n"),
    [
        *[("plug-in", name, 50_000) for name in ("geometric", "zipf")],
        *[(method, name, 5000) for method in ("grassberger", "polynomial") for name in ("dirichlet", "zipf")],
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(method: str, name: str, n: int) -> None:
    found = estimate_all(method, profiles(name, n))
    held = holding([estimate.interval for estimate in found], name)
    assert held >= 0.95 * len(found) or is_probability(held, 0.95)


def test_all_methods_have_the_same_interval_and_errors_of_their_own() -> None:
    for profile in profiles("zipf", 1000)[:3]:
        found = {method: entropy(profile, method=method) for method in CLOSED if size_for(method) is None}
        assert len({estimate.interval for estimate in found.values()}) == 1
        for method, estimate in found.items():
            assert estimate.standard_error == error_of(entropy_estimator(method, None).point(profile), profile)


@pytest.mark.slow
def test_bias_is_taken_off_where_labels_are_missing() -> None:
    """Root mean squared errors in bits for 1,000 equally frequent labels and 500 items, published to two digits."""
    rng = np.random.default_rng(8)
    samples = [Profile.from_counts(counts) for counts in rng.multinomial(500, np.full(1000, 1e-3), size=200)]
    published = {"plug-in": 1.45, "miller-madow": 0.89}
    roots = {}
    for method in CLOSED:
        nats = values_of(entropy_estimator(method, 1000 if method == "polynomial" else None), samples)
        roots[method] = math.sqrt(np.mean(np.square(np.array(nats) / math.log(2) - math.log2(1000))))
    # The spread of one sample is 0.04 bits, of the mean of 200 samples 0.003.
    assert {method: roots[method] for method in published} == pytest.approx(published, abs=0.02)
    order = ["plug-in", "miller-madow", "jackknife", "grassberger", "chao-shen", "polynomial"]
    assert sorted(roots, key=lambda method: -roots[method]) == order
    assert roots["polynomial"] < 0.11
