"""Tails of sums of two binomial variables: against the sums themselves, and inverted."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from anonhist.numeric import TwoBinomials
from anonhist_testing.cases import each_of

# Of k-RR at a large and a small epsilon, of unary codes, of local hashing, of subset selection, and next to certain.
PAIRS = [(0.957, 4.3e-5), (0.3, 0.25), (0.5, 0.1), (0.5, 0.002), (0.73, 0.27), (0.9, 0.01), (0.999, 0.3)]


def distribution(users: int, p: float, q: float) -> TwoBinomials:
    return TwoBinomials(users, p, q, 1 - p, 1 - q)


def exact_tails(users: int, own: int, p: float, q: float) -> np.ndarray:
    counts = np.arange(users + 1)
    chances = np.convolve(binom.pmf(counts, own, p), binom.pmf(counts, users - own, q))[: users + 1]
    return np.cumsum(chances[::-1])[::-1]


@each_of("users", [1, 5, 30, 200])
@each_of(("p", "q"), PAIRS)
def test_tails_are_those_of_the_sum(p: float, q: float, users: int) -> None:
    for own in sorted({0, min(1, users), users // 4, users // 2, users}):
        exact = exact_tails(users, own, p, q)
        found = distribution(users, p, q).upper_tail(np.arange(users + 1.0), np.full(users + 1, own / users))
        asked = (exact > 1e-11) & (exact < 0.06)
        ratios = found[asked] / exact[asked]
        assert ((ratios > 0.89) & (ratios < 1.12)).all(), (own, ratios)


@each_of(("p", "q"), PAIRS)
def test_no_count_that_is_likely_is_rejected(p: float, q: float) -> None:
    # All counts, weighted with their probability: nothing is left to chance, and no share is left out.
    users, tail = 40, 0.025
    limits = distribution(users, p, q).compatible_shares(np.arange(users + 1), tail)
    for own in range(users + 1):
        upper = exact_tails(users, own, p, q)
        chances = upper - np.append(upper[1:], 0)
        for missed in (limits[:, 0] > own / users, limits[:, 1] < own / users):
            # Twelve per cent more than the level at most, for the tails are that exact.
            assert chances[missed].sum() <= 1.12 * tail


def test_equal_people_have_the_limits_of_clopper_and_pearson() -> None:
    # Of certain answers where q = 0: c people have it for sure, more only if they were silent.
    users, counts = 1000, np.array([3, 50, 400])
    limits = distribution(users, 0.8, 0.2).compatible_shares(counts, 0.025)
    assert ((limits >= 0) & (limits <= 1)).all()
    # At the ends the shares explain just so much: mean and deviation, in the middle of many people.
    for count, (low, high) in zip(counts[1:].tolist(), limits[1:].tolist(), strict=True):
        for share in (low, high):
            if 0 < share < 1:
                deviation = np.sqrt(users * 0.16)
                assert abs(count - users * (0.2 + 0.6 * share)) == pytest.approx(1.96 * deviation, rel=0.05)
    assert beta.ppf(0.025, 400, 601) < 0.2 + 0.6 * limits[2, 0]  # drawn people vary more than people as they are


def test_the_ends_of_all_numbers_are_finite() -> None:
    for users, p, q in ((2**62, 0.5 + 1e-9, 0.5), (10**6, 1.0, 1e-27), (1, 0.75, 0.25)):
        limits = distribution(users, p, q).compatible_shares(np.array([0, 1, users // 2, users]), 1e-12)
        assert np.isfinite(limits).all()
        assert (limits[:, 0] <= limits[:, 1]).all()
