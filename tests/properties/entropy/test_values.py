"""Every entropy against a second way to compute it: item by item, in many digits, or by others."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import psi
from skbio.diversity.alpha import shannon

from anonhist.numeric import best_polynomial
from anonhist.profiles import Profile
from anonhist.properties.entropy import (
    ENTROPY_METHODS,
    ChaoShen,
    Grassberger,
    Jackknife,
    MillerMadow,
    PlugIn,
    Polynomial,
    entropy_estimator,
)
from anonhist.properties.estimator import Estimator, LinearStatistic
from anonhist_testing.cases import each_of

# Profile maximum likelihood is slow, and has tests of its own.
CLOSED = tuple(method for method in ENTROPY_METHODS if method != "pml")

COUNTS = st.lists(st.integers(1, 12), min_size=1, max_size=9)
# The first polynomial of each degree takes its time.
STEADY = settings(derandomize=True, deadline=None, database=None)
EULER = float(-psi(1.0))


def of_sample(counts: Sequence[int]) -> float:
    n = sum(counts)
    return math.fsum(-c / n * math.log(c / n) for c in counts if c)


def leaving_out(counts: Sequence[int]) -> float:
    n = sum(counts)
    if n == 1:
        return 0.0
    left = [of_sample([*counts[:i], c - 1, *counts[i + 1 :]]) for i, c in enumerate(counts) for _ in range(c)]
    return n * of_sample(counts) - (n - 1) * math.fsum(left) / n


def of_grassberger(counts: Sequence[int]) -> float:
    n = sum(counts)
    logarithms = [float(psi(c) + (-1) ** c * (psi((c + 1) / 2) - psi(c / 2)) / 2) for c in counts]
    return max(0.0, math.log(n) - math.fsum(c * g for c, g in zip(counts, logarithms, strict=True)) / n)


def of_chao_and_shen(counts: Sequence[int]) -> float:
    n = sum(counts)
    once = counts.count(1)
    coverage = 1 - (once if once < n else n - 1) / n
    shares = [coverage * c / n for c in counts]
    return math.fsum(-p * math.log(p) / (1 - (1 - p) ** n) for p in shares)


def by_powers(counts: Sequence[int], size: int, degree: int, interval: float, threshold: int) -> float:
    """Term by term, with falling factorials, as the paper has it, not cut."""
    n, total = sum(counts), Decimal(0)
    with localcontext(prec=80):
        for c in [*counts, *[0] * (size - len(counts))]:
            if c > threshold:
                total += Decimal(-c / n * math.log(c / n) + 1 / (2 * n))
                continue
            for m, a in enumerate(best_polynomial(degree).coefficients):
                total += a * math.perm(c, m) * Decimal(interval) ** (1 - m) / n
            total += c * (n / Decimal(interval)).ln() / n
    return float(total)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "naive"),
    [
        (PlugIn(), of_sample),
        (MillerMadow(), lambda counts: of_sample(counts) + (len(counts) - 1) / (2 * sum(counts))),
        (Jackknife(), leaving_out),
        (Grassberger(), of_grassberger),
        (ChaoShen(), of_chao_and_shen),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
@STEADY
@given(counts=COUNTS)
def test_agrees_with_the_plain_definition(
    estimator: Estimator, naive: Callable[[Sequence[int]], float], counts: list[int]
) -> None:
    assert estimator.point(Profile.from_counts(counts)).value == pytest.approx(naive(counts), rel=1e-11, abs=1e-12)


@pytest.mark.slow
@STEADY
@given(COUNTS, st.integers(0, 40), st.integers(0, 14), st.floats(0.5, 60), st.integers(0, 15))
def test_polynomial_agrees_with_powers(
    counts: list[int], more: int, degree: int, interval: float, threshold: int
) -> None:
    size = len(counts) + more
    public = {"alphabet_size": size, "degree": degree, "interval": interval, "threshold": threshold}
    profile = Profile.from_counts(counts)
    expected = by_powers(counts, size, degree, interval, threshold)
    weights = Polynomial(**public).statistic(profile.n).weights
    slack = 1e-12 * float(np.abs(weights(profile.counts)) @ profile.prevalences) + 1e-11
    assert Polynomial(**public).statistic(profile.n).of(profile) == pytest.approx(expected, rel=1e-11, abs=slack)
    cut = Polynomial(**public).point(profile).value
    assert cut == pytest.approx(min(max(expected, 0.0), math.log(size)), rel=1e-11, abs=slack)


def test_polynomial_of_the_published_example() -> None:
    profile = Profile.from_prevalences({1: 2910, 2: 45})
    bits = [
        Polynomial(alphabet_size=10**5).point(profile).value / math.log(2),
        Polynomial(10**5, degree=18, interval=3.5 * math.log(10**5), threshold=18).point(profile).value / math.log(2),
    ]
    assert bits == pytest.approx([15.79499] * 2, abs=5e-6)


@pytest.mark.slow
@STEADY
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=200))
def test_plug_in_agrees_with_scikit_bio(counts: list[int]) -> None:
    found = PlugIn().point(Profile.from_counts(counts)).value
    assert found == pytest.approx(float(shannon(counts, base=math.e)), rel=1e-11, abs=1e-12)


CONVENTIONS = {
    "plug-in": (0, 0, 0, math.log(7)),
    "miller-madow": (0, 0, 0, math.log(7) + 6 / 14),
    "jackknife": (0, 0, 0, 7 * math.log(7) - 6 * math.log(6)),
    # G(6) = 2 + 2/3 + 2/5 − γ − ln 2: below ln 6, so that six items of one label come out as 0.
    "grassberger": (
        EULER + math.log(2),
        0,
        math.log(7) - (2 + 2 / 3 + 2 / 5 - EULER - math.log(2)),
        math.log(7) + EULER + math.log(2),
    ),
    "chao-shen": (0, 0, 0, 2 * math.log(7) / 7 / (1 - (48 / 49) ** 7)),
    # No label but those seen: with a single one there is no choice.
    "polynomial": (0, 0, 0, math.log(7)),
}


@each_of("method", CLOSED)
def test_conventions_of_one_item_one_label_and_singletons(method: str) -> None:
    profiles = [Profile([1], [1]), Profile([6], [1]), Profile([7], [1]), Profile([1], [7])]
    found = [entropy_estimator(method, None).point(profile).value for profile in profiles]
    assert found == pytest.approx(CONVENTIONS[method], rel=1e-12, abs=1e-14)


def in_many_digits(method: str, prevalences: dict[int, int]) -> float:
    """Formulas without any care for rounding, in 120 digits."""
    with localcontext(prec=120):
        n = Decimal(sum(r * f for r, f in prevalences.items()))
        once = Decimal(min(prevalences.get(1, 0), int(n) - 1))

        def gain(r: Decimal) -> Decimal:
            return r * r.ln() - ((r - 1) * (r - 1).ln() if r > 1 else 0)

        def chance(r: Decimal) -> Decimal:
            p = (1 - once / n) * r / n
            return -p * p.ln() / (1 - ((n * (1 - p).ln()).exp() if p < 1 else 0))

        def digamma(r: Decimal) -> Decimal:
            """ψ(⌊r/2⌋ + ½) + ln 2: for large counts by the first terms of its series."""
            half = int(r) // 2
            return Decimal(float(psi(half + 0.5))) + Decimal(2).ln() if half < 10**6 else (2 * Decimal(half)).ln()

        terms = {
            "plug-in": lambda r: -r / n * (r / n).ln(),
            "miller-madow": lambda r: -r / n * (r / n).ln() + (1 - r / n) / (2 * n),
            "jackknife": lambda r: r / n * (gain(n) - gain(r)),
            "grassberger": lambda r: r / n * (n.ln() - digamma(r)),
            "chao-shen": chance,
        }
        return float(sum((f * terms[method](Decimal(r)) for r, f in prevalences.items()), Decimal(0)))


@each_of("method", [method for method in CLOSED if method != "polynomial"])
@each_of(
    "prevalences",
    [
        {10**15: 3, 10**15 - 7: 2},
        {1: 10**15},
        {1: 2**62},
        {1: 10**15, 2: 10**14, 10**15: 1},
        {1: 1, 10**15: 1},
        {3: 10**14, 10**6 + 1: 10**7},
    ],
)
def test_huge_counts_lose_no_digits(method: str, prevalences: dict[int, int]) -> None:
    point = entropy_estimator(method, None).point(Profile.from_prevalences(prevalences))
    assert point.value == pytest.approx(in_many_digits(method, prevalences), rel=1e-12, abs=1e-14)


@pytest.mark.slow
def test_polynomial_of_huge_counts_and_alphabets() -> None:
    counts = [10**15] * 3 + [10**15 - 7] * 2
    found = Polynomial(5).point(Profile.from_counts(counts)).value
    assert found == pytest.approx(math.log(5), rel=1e-14)
    spread = Profile.from_prevalences({1: 10**15, 4: 10**14})
    statistic = Polynomial(alphabet_size=2**62).statistic(spread.n)
    weight = statistic.weights(np.array([0, 1, 4]))
    assert statistic.of(spread) == pytest.approx(weight @ [2**62 - 11 * 10**14, 10**15, 10**14], rel=1e-12)
    assert weight[0] * spread.n == pytest.approx(3.5 * math.log(2**62) * float(best_polynomial(68).error), rel=1e-12)


@pytest.mark.slow
def test_polynomial_of_high_degree_agrees_with_powers() -> None:
    # In floats, terms of about 10^9 with turning signs would leave seven digits.
    public = {"alphabet_size": 60, "degree": 26, "interval": 57.0, "threshold": 40}
    counts = list(range(1, 31))
    found = Polynomial(**public).statistic(sum(counts)).of(Profile.from_counts(counts))
    assert found == pytest.approx(by_powers(counts, 60, 26, 57.0, 40), rel=1e-12)


@pytest.mark.slow
def test_more_labels_seen_than_an_alphabet_may_be_said_to_have() -> None:
    # Settings end at 2^62; what was seen may not.
    profile = Profile([1], [2**63 - 1])
    assert Polynomial().point(profile).value == pytest.approx(math.log(2**63 - 1), rel=1e-14)


@pytest.mark.slow
@each_of("size", [1, 2, 3, 4, 1000, 2**62])
@each_of("counts", [[1], [2], [1, 1], [2, 1], [10**15], [1] * 40])
def test_polynomial_of_small_samples_and_alphabets_stays_between_the_ends(size: int, counts: list[int]) -> None:
    # A release may hold more labels than there can be; that must not stop anything.
    point = Polynomial(size).point(Profile.from_counts(counts))
    assert 0 <= point.value <= math.log(size)
    assert point.weights is not None
    assert np.isfinite(point.weights(np.array([0, 1, 2, 100, 10**15, 2**62]))).all()


def test_weights_of_chao_and_shen_are_derivatives() -> None:
    counts, prevalences = np.array([1, 2, 3, 9, 40]), np.array([6.0, 3.0, 0.0, 2.0, 1.0])
    profile = Profile.from_prevalences({1: 6, 2: 3, 9: 2, 40: 1})
    n = profile.n

    def value(phi: np.ndarray) -> float:
        q = (1 - phi[0] / n) * counts / n
        return float(-(q * np.log(q) / (1 - (1 - q) ** n)) @ phi)

    point = ChaoShen().point(profile)
    assert point.weights is not None
    assert value(prevalences) == pytest.approx(point.value, rel=1e-12)
    steps = 1e-5 * np.eye(counts.size)
    slopes = [(value(prevalences + step) - value(prevalences - step)) / 2e-5 for step in steps]
    assert point.weights(counts).tolist() == pytest.approx(slopes, rel=1e-7)
    assert point.weights(np.array([0])).tolist() == [0.0]


@pytest.mark.slow
@pytest.mark.parametrize("method", [method for method in CLOSED if method != "chao-shen"])
@STEADY
@given(counts=COUNTS)
def test_weights_of_the_others_add_up_to_the_value(method: str, counts: list[int]) -> None:
    profile = Profile.from_counts(counts)
    size = len(counts) + 5
    point = entropy_estimator(method, size).point(profile)
    assert point.weights is not None
    total = float(point.weights(profile.counts) @ profile.prevalences) + 5 * float(point.weights(np.array([0]))[0])
    most = math.log(size) if method == "polynomial" else math.inf
    assert point.value == pytest.approx(min(max(total, 0.0), most), rel=1e-12, abs=1e-13)


def test_labels_not_seen_weigh_nothing_where_none_are_assumed() -> None:
    profile = Profile.from_counts([5, 2, 1, 1])
    unknown, known = Polynomial().point(profile), Polynomial(4).point(profile)
    assert unknown.weights is not None
    assert known.weights is not None
    assert unknown.value == known.value
    assert unknown.weights(np.array([0])).tolist() == [0.0]
    assert known.weights(np.array([0]))[0] > 0
    assert unknown.weights(profile.counts).tolist() == known.weights(profile.counts).tolist()


STATISTICS: dict[str, Callable[[int], LinearStatistic]] = {
    "plug-in": PlugIn().statistic,
    "miller-madow": MillerMadow().statistic,
    "jackknife": Jackknife().statistic,
    "polynomial 1000": Polynomial(1000).statistic,
    "polynomial 10^6": Polynomial(10**6).statistic,
    "polynomial 1": Polynomial(1).statistic,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("n", [30, 1000, 50_000])
def test_steps_of_weights_fall_from_the_head_on(name: str, n: int) -> None:
    statistic = STATISTICS[name](n)
    steps = np.diff(statistic.weights(np.arange(n + 1)))[statistic.head :]
    assert (np.diff(steps) <= 1e-13).all()
    # The test sees something: the steps do not stand still.
    assert steps[0] - steps[-1] > 0.1 / n


def test_sensitivities_are_those_of_the_specification() -> None:
    n, bits = 1000, math.log(2)
    private = Polynomial(1000, 9, 2 * math.log(1000), 11).statistic(n)
    spread = [
        float(np.ptp(np.diff(statistic.weights(np.arange(n + 1)))))
        for statistic in (PlugIn().statistic(n), MillerMadow().statistic(n), private)
    ]
    assert spread[:2] == pytest.approx([0.0079073, 0.0084073], abs=5e-8)
    assert spread[2] / bits == pytest.approx(0.01647, abs=5e-6)
