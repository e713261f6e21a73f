"""All methods for the support size: conventions, what holds for any data, and how well their errors are told."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, poisson

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds
from anonhist.properties.estimator import Sample, value_of
from anonhist.properties.support_size import (
    SUPPORT_SIZE_METHODS,
    Chebyshev,
    log_normal_ends,
    most_unseen,
    support_size,
    support_size_estimator,
)
from anonhist.properties.support_size_estimators import Ace, ChaoLee, Jackknife1, Jackknife2, Observed
from anonhist_testing.cases import each_of

# Profile maximum likelihood is slow, and has tests of its own.
CLOSED = tuple(method for method in SUPPORT_SIZE_METHODS if method != "pml")

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Estimator
    from anonhist.properties.sampling import Weights

MANY = 10**15
K = 10**4
SINGLETON = 1 + 2 * 4**2 / (0.5 * math.log(K))


def estimate_of(profile: Profile, method: str, *, alphabet_size: int = K) -> Estimate:
    size = max(alphabet_size, profile.num_labels) if method == "chebyshev" else None
    return support_size(profile, method=method, alphabet_size=size)


# One item; a label seen often; two labels; all singletons; huge counts; nothing.
CONVENTIONS = {
    "observed": (1, 1, 2, 5, MANY + 1, 0),
    "chao1": (1, 1, 3, 15, MANY + MANY * (MANY - 1) / 2 + 1, 0),
    "chao1-inext": (1, 1, 2.5, 13, MANY + (2 * MANY - 1) * (MANY - 1) / 4 + 1, 0),
    "ace": (1, 1, 3, 15, MANY + MANY * (MANY - 1) / 2 + 1, 0),
    "jackknife-1": (1, 1, 3, 9, 2 * MANY + 0.5, 0),
    "jackknife-2": (1, 1, 3, 12, 3 * MANY - 0.5, 0),
    # Labels: 10^15 + 1 of which one has half of the items; C = 1/2, γ² = (10^15 + 1)/2 − 1.
    "chao-lee": (1, 1, 3, 15, MANY**2, 0),
    # Where n is small beside k, w(1) is about 1 + 2·L²/M; of 10^15 singletons it is cut at the alphabet size.
    "chebyshev": (SINGLETON, 1, 2 * SINGLETON, 5 * SINGLETON, MANY + 1, 0),
}
SAMPLES = (
    Profile.from_counts([1]),
    Profile.from_counts([7]),
    Profile.from_counts([1, 1]),
    Profile.from_counts([1] * 5),
    Profile([1, MANY], [MANY, 1]),
    Profile([], []),
)


def test_every_method_has_its_conventions() -> None:
    assert tuple(CONVENTIONS) == CLOSED


@each_of("method", CLOSED)
@each_of("sample", range(len(SAMPLES)))
def test_conventions(method: str, sample: int) -> None:
    expected = CONVENTIONS[method][sample]
    estimate = estimate_of(SAMPLES[sample], method)
    assert estimate.value == pytest.approx(expected, rel=3e-3 if method == "chebyshev" else 1e-12)
    assert math.isfinite(estimate.standard_error)
    if not SAMPLES[sample].n:
        assert estimate.interval[0] == 0
        assert estimate.statement.holds is Holds.NONE


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(
    st.dictionaries(
        st.one_of(st.integers(1, 12), st.integers(1, 10**15)),
        st.one_of(st.integers(1, 9), st.integers(1, 10**3)),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(CLOSED),
    st.floats(0.01, 0.99),
    st.booleans(),
)
def test_any_profile_gives_numbers_and_no_end_below_the_labels_seen(
    prevalences: dict[int, int],
    method: str,
    level: float,
    known: bool,  # noqa: FBT001
) -> None:
    profile = Profile.from_prevalences(prevalences)
    size = profile.num_labels + 50 if known or method == "chebyshev" else None
    estimate = support_size(profile, method=method, alphabet_size=size, level=level)
    low, high = estimate.interval
    assert profile.num_labels <= low <= estimate.value <= high
    # Only the method that is told the least probability has an upper end below the alphabet.
    assert (estimate.statement.holds is Holds.BOTH) == (method == "chebyshev")
    assert method == "chebyshev" or high == (math.inf if size is None else size)
    assert 0 <= estimate.standard_error < math.inf
    assert size is None or low <= size


def test_defaults() -> None:
    profile = Profile.from_counts([5, 2, 1, 1, 1])
    assert support_size(profile).method == "chao1"
    assert support_size(profile, alphabet_size=100).method == "chebyshev"
    with pytest.raises(UsageError, match="choose one of observed, chao1, "):
        support_size(profile, method="chao2")


def test_singletons_alone_are_said_to_be_no_ground_for_a_number() -> None:
    profile, other = Profile.from_counts([1, 1, 1]), Profile.from_counts([2, 1, 1])
    for method in ("chao1", "chao1-inext", "ace", "chao-lee"):
        assert any("Every label was seen once" in warning for warning in support_size(profile, method=method).warnings)
        assert support_size(other, method=method).warnings == ()
        # The lower end holds all the same, and is said to.
        assert not any("no bound" in warning for warning in support_size(profile, method=method).warnings)


def ends(profile: Profile, value: float, error: float, *, bias: float = 0.0) -> tuple[float, float]:
    return log_normal_ends(Sample(profile), value, error, bias=bias)


def test_interval_stays_as_wide_as_the_error_where_little_is_missing() -> None:
    low, high = ends(Profile.from_counts([4] * 100), 100 + 1e-9, 10.0)
    assert 100 <= low <= 100 + 1e-9
    assert high >= 100 + 1.95 * 10


def test_interval_opens_by_the_worst_bias() -> None:
    profile = Profile.from_counts([4] * 100)
    straight = ends(profile, 150.0, 10.0)
    biased = ends(profile, 150.0, 10.0, bias=0.25)
    assert biased == pytest.approx((100 + (straight[0] - 100) / 1.25, 100 + (straight[1] - 100) / 0.75))
    assert ends(profile, 150.0, 10.0, bias=1.0)[1] == math.inf
    # Also where nothing seems to be missing.
    assert ends(profile, 100.0, 10.0, bias=1.0)[1] == math.inf


@each_of("least", [0.5, 3.0, 40.0])
@each_of("once", [0, 8, 300])
def test_no_more_labels_were_missed_than_a_binomial_allows(once: int, least: float) -> None:
    # Of once + U labels with counts of 0 or 1, U or more have 0 with probability 0.025 at least, but not one more.
    found = int(most_unseen(once, least, level=0.95))
    tails = [float(binom.sf(many - 1, once + many, 1 / (1 + least))) for many in (found, found + 1)]
    assert tails[0] >= 0.025 > tails[1]


@pytest.mark.slow
def test_the_upper_end_holds_where_so_many_items_leave_the_estimator_nothing_to_add() -> None:
    # From n = M·k on, chebyshev is the number of labels seen: of 300 rare ones 9 are missed, while 1 is most of all.
    # Of 60 intervals at 95% fewer than 46 hold with probability below 1e-6.
    shares = np.append(0.7, np.full(300, 0.001))
    rng = np.random.default_rng()
    profiles = [Profile.from_counts(rng.multinomial(3500, shares)) for _ in range(60)]
    ends = [support_size(profile, alphabet_size=1000).interval for profile in profiles]
    assert sum(low <= 301 <= high for low, high in ends) >= 46
    # And they say something.
    assert max(high for _, high in ends) < 330


# Half of the labels three times as likely as the others: 1,000 labels, 1,500 items, many of each prevalence.
TWO_STEPS = np.repeat([1.0, 3.0], 500) / 2000
RUNS = 800


@pytest.fixture(scope="module")
def random_samples() -> list[Profile]:
    rng = np.random.default_rng(20)
    return [Profile.from_counts(rng.multinomial(1500, TWO_STEPS)) for _ in range(RUNS)]


def error_of(weights: Weights, probabilities: NDArray[np.float64], n: int) -> float:
    """Return the standard deviation of Σ_j w(j)·φ_j under the distribution that items are drawn from."""
    means = n * probabilities
    counts = np.arange(60)
    pmf, w = poisson.pmf(counts, means[:, None]), weights(counts)
    variances, covariances = pmf @ w**2 - (pmf @ w) ** 2, pmf @ (w * counts) - (pmf @ w) * means
    return math.sqrt(variances.sum() - covariances.sum() ** 2 / n)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [Observed(), Ace(), Jackknife1(), Jackknife2(), ChaoLee(), ChaoLee(spread=True), Chebyshev(2000)],
    ids=repr,
)
def test_weights_give_the_error_of_repeated_samples(random_samples: list[Profile], estimator: Estimator) -> None:
    # The standard deviation of 800 nearly normal values is off by more than 12% with probability below 2e-6 (4.8 of
    # its own errors, 2.5% each).
    points = [estimator.point(profile) for profile in random_samples]
    spread = float(np.std([point.value for point in points]))
    errors = [error_of(point.weights, TWO_STEPS, 1500) for point in points[:20] if point.weights is not None]
    assert len(errors) == 20
    assert math.sqrt(np.mean(np.square(errors))) == pytest.approx(spread, rel=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("method", CLOSED)
def test_standard_errors_are_those_of_repeated_samples(random_samples: list[Profile], method: str) -> None:
    # As above, with the distribution estimated from each sample as well; and for Chao1 the published formulas.
    estimator = support_size_estimator(method, 2000 if method == "chebyshev" else None)
    spread = float(np.std([value_of(estimator, profile) for profile in random_samples]))
    estimates = [estimate_of(profile, method, alphabet_size=2000) for profile in random_samples[:100]]
    told = math.sqrt(np.mean([estimate.standard_error**2 for estimate in estimates]))
    assert told == pytest.approx(spread, rel=0.12)


def least_coverage(share: float, runs: int, *, rate: float = 1e-6) -> float:
    return share + NormalDist().inv_cdf(rate) * math.sqrt(share * (1 - share) / runs)


@cache
def of_equal_labels() -> list[Profile]:
    rng = np.random.default_rng(21)
    return [Profile.from_counts(rng.multinomial(600, np.full(500, 1 / 500))) for _ in range(600)]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["chao1", "chao1-inext", "ace", "chao-lee"])
def test_intervals_hold_the_truth_where_labels_are_equally_likely(method: str) -> None:
    # What these four assume. Fewer than 95% in truth, by less than what 600 samples show, would pass.
    held = 0
    for profile in of_equal_labels():
        found = support_size(profile, method=method)
        low, high = ends(profile, found.value, found.standard_error)
        held += low <= 500 <= high
    assert held / 600 >= least_coverage(0.95, 600)
    assert held / 600 < 1


@pytest.mark.slow
@pytest.mark.parametrize("n", [400, 1500, 4000])
def test_intervals_of_chebyshev_hold_the_truth_where_no_label_is_below_one_in_k(n: int) -> None:
    # The worst bias is in the interval, so it holds the truth more often than stated, also where items are few.
    rng = np.random.default_rng(22)
    held = 0
    for _ in range(200):
        profile = Profile.from_counts(rng.multinomial(n, TWO_STEPS))
        low, high = support_size(profile, alphabet_size=2000).interval
        held += low <= 1000 <= high
    assert held / 200 >= least_coverage(0.95, 200)
