"""Estimators against scikit-bio on real and on large profiles; where its 64-bit products wrap, against exact numbers.

Small samples, drawn at random, are in the tests of each property.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from skbio.diversity import alpha

import anonhist as ah
from anonhist.profiles import Profile
from anonhist.properties import (
    gini_simpson,
    hill_number,
    min_entropy,
    renyi_entropy,
    simpson,
    tsallis_entropy,
)
from anonhist.properties.entropy import entropy
from anonhist.properties.sample_coverage import sample_coverage
from anonhist.properties.support_size import support_size
from anonhist_papers.inspectre.coverage import sample
from anonhist_testing.cases import each_of
from anonhist_testing.published import chao1_interval

DATA = Path(__file__).parents[2] / "data"
# scikit-bio takes these for the quantile.
OF_CHAO1, OF_ESTY = 1.96, 1.959963985

# Real data, and shapes: long and short tails, even, dense, sparse, a giant, nothing seen once or nothing seen twice.
PROFILES: dict[str, Callable[[], Profile]] = {
    "trees of Barro Colorado": lambda: ah.read_profile(DATA / "bci_trees.csv"),
    "MySpace passwords": lambda: ah.read_profile(DATA / "pw_myspace.csv"),
    "phpBB passwords": lambda: ah.read_profile(DATA / "pw_phpbb.csv"),
    "words of Hamlet": lambda: sample("hamlet"),
    "surnames": lambda: sample("surnames"),
    "Zipf": lambda: Profile.from_counts([10**6 // rank for rank in range(1, 3001)]),
    "even": lambda: Profile([37], [2000]),
    "staircase": lambda: Profile.from_counts(range(1, 1001)),
    "powers of two": lambda: Profile.from_counts([2**power for power in range(20)]),
    "a giant": lambda: Profile.from_prevalences({1: 5000, 2: 700, 10: 3, 11: 3, 10**6: 1}),
    "no singletons": lambda: Profile.from_prevalences({2: 900, 3: 400, 50: 8}),
    "no doubletons": lambda: Profile.from_prevalences({1: 400, 3: 300, 70: 30}),
    "two labels": lambda: Profile.from_counts([999_999, 2]),
}
Counts = NDArray[np.int64]
# Each value by us and by scikit-bio, and how near they must be.
ORACLES: dict[str, tuple[Callable[[Profile], float], Callable[[Counts], float], float]] = {
    "chao1": (lambda p: support_size(p, method="chao1").value, alpha.chao1, 1e-14),
    "ace": (lambda p: support_size(p, method="ace").value, alpha.ace, 1e-13),
    "observed": (lambda p: support_size(p, method="observed").value, alpha.sobs, 0.0),
    "good-turing": (lambda p: sample_coverage(p).value, alpha.goods_coverage, 1e-15),
    "shannon": (lambda p: entropy(p, method="plug-in").value, alpha.shannon, 1e-13),
    "shannon, bits": (
        lambda p: entropy(p, method="plug-in", base=2).value,
        lambda counts: alpha.shannon(counts, base=2),
        1e-13,
    ),
    "dominance": (lambda p: 1 / hill_number(p, order=2, method="plug-in").value, alpha.dominance, 1e-13),
    "dominance, finite": (
        lambda p: simpson(p).value,
        lambda counts: alpha.dominance(counts, finite=True),
        1e-13,
    ),
    "simpson": (lambda p: tsallis_entropy(p, order=2, method="plug-in").value, alpha.simpson, 1e-13),
    "simpson, finite": (
        lambda p: gini_simpson(p).value,
        lambda counts: alpha.simpson(counts, finite=True),
        1e-13,
    ),
    "min-entropy": (lambda p: min_entropy(p).value, lambda counts: alpha.renyi(counts, order=math.inf), 1e-14),
    "berger-parker": (lambda p: math.exp(-min_entropy(p).value), alpha.berger_parker_d, 1e-14),
}


def hill(counts: Counts, order: float) -> float:
    # A product of powers, one factor a label, loses digits: 2e-10 of RockYou's number of order 1.
    return math.exp(alpha.shannon(counts)) if order == 1 else float(alpha.hill(counts, order=order))


ORDERS = (0, 0.25, 0.5, 1, 1.5, 2, 3, 5, 12)
FAMILIES = {
    "hill": (hill_number, hill),
    "renyi": (renyi_entropy, alpha.renyi),
    "tsallis": (tsallis_entropy, alpha.tsallis),
}


@cache
def make_case(name: str) -> tuple[Profile, Counts]:
    profile = PROFILES[name]()
    return profile, profile.partition().astype(np.int64)


@each_of("oracle", ORACLES)
def test_value_is_that_of_scikit_bio(oracle: str) -> None:
    ours, theirs, tolerance = ORACLES[oracle]
    for name in PROFILES:
        profile, counts = make_case(name)
        # Differences to 1 are right to the last digit of 1.
        assert ours(profile) == pytest.approx(float(theirs(counts)), rel=tolerance, abs=1e-15), name


@pytest.mark.full
@each_of("name", PROFILES)
@each_of("family", FAMILIES)
def test_every_order_is_that_of_scikit_bio(name: str, family: str) -> None:
    profile, counts = make_case(name)
    ours, theirs = FAMILIES[family]
    found = [ours(profile, order=order, method="plug-in").value for order in ORDERS]
    assert found == pytest.approx([float(theirs(counts, order=order)) for order in ORDERS], rel=1e-12, abs=1e-15)


@each_of("name", PROFILES)
def test_standard_error_of_coverage_is_that_of_scikit_bio(name: str) -> None:
    profile, counts = make_case(name)
    low, high = (float(end) for end in alpha.esty_ci(counts))
    estimate = sample_coverage(profile)
    assert estimate.standard_error == pytest.approx((high - low) / (2 * OF_ESTY), rel=1e-11, abs=1e-16)
    # Ours is never shorter: few labels seen once are a count, whose interval is no normal one.
    assert estimate.interval[0] <= max(1 - high, 0.0) + 1e-9


# Two singletons or more, and no products beyond 64 bits.
@each_of("name", ["trees of Barro Colorado", "words of Hamlet", "Zipf", "a giant", "no doubletons"])
def test_interval_of_chao1_is_that_of_scikit_bio(name: str) -> None:
    profile, counts = make_case(name)
    assert chao1_interval(profile, math.erf(OF_CHAO1 / math.sqrt(2))) == pytest.approx(
        alpha.chao1_ci(counts), rel=1e-12
    )


@pytest.mark.parametrize(("n", "fits"), [(2_097_151, True), (2_097_152, False), (3_000_000, False)])
def test_coverage_where_the_cube_of_n_leaves_64_bits(n: int, fits: bool) -> None:  # noqa: FBT001
    prevalences = {1: 90_000, 2: 20_000, n - 130_000: 1}
    profile = Profile.from_prevalences(prevalences)
    exact = math.sqrt(Fraction(90_000 * (n - 90_000) + 2 * n * 20_000, n**3))
    with np.errstate(all="ignore"):
        low, high = alpha.esty_ci(profile.partition().astype(np.int64))
    # Of scikit-bio 0.7.4: no number, or a wrong one.
    assert (high - low == pytest.approx(2 * OF_ESTY * exact, rel=1e-11)) == fits
    estimate = sample_coverage(profile)
    assert estimate.value == float(1 - Fraction(90_000, n))
    assert estimate.standard_error == pytest.approx(exact, rel=1e-15)


@pytest.mark.parametrize(("once", "twice", "fits"), [(10_000, 100, True), (60_000, 100, False), (34_694, 1744, False)])
def test_chao1_where_products_of_its_variance_leave_64_bits(
    once: int,
    twice: int,
    fits: bool,  # noqa: FBT001
) -> None:
    profile = Profile.from_prevalences({1: once, 2: twice, 5: 900})
    assert (once**2 * twice * (once - 1) ** 2 < 2**63) == fits
    unseen = Fraction(once * (once - 1), 2 * (twice + 1))
    variance = (
        unseen
        + Fraction(once * (2 * once - 1) ** 2, 4 * (twice + 1) ** 2)
        + Fraction(once**2 * twice * (once - 1) ** 2, 4 * (twice + 1) ** 4)
    )
    stretch = math.exp(OF_CHAO1 * math.sqrt(math.log1p(variance / unseen**2)))
    ends = profile.num_labels + float(unseen) / stretch, profile.num_labels + float(unseen) * stretch
    with np.errstate(all="ignore"):
        of_oracle = alpha.chao1_ci(profile.partition().astype(np.int64))
    # Of scikit-bio 0.7.4; the last numbers are those of real data, MySpace's passwords.
    assert (of_oracle == pytest.approx(ends, rel=1e-9)) == fits
    estimate = support_size(profile, method="chao1", level=math.erf(OF_CHAO1 / math.sqrt(2)))
    assert estimate.value == pytest.approx(profile.num_labels + float(unseen), rel=1e-15)
    assert estimate.standard_error == pytest.approx(math.sqrt(variance), rel=1e-14)
    assert chao1_interval(profile, math.erf(OF_CHAO1 / math.sqrt(2))) == pytest.approx(ends, rel=1e-12)
    assert estimate.interval == (math.floor(ends[0]), math.inf)
