"""Negative binomial numbers: the pmf against decimals, the sampler against the pmf, and every coin it tosses.

Statistical assertions fail by chance with probability at most 10^−9 each, and miss the wrong distribution with at most
that; the seeds are fixed, so this was decided once.
"""

import importlib
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.randomness import (
    discrete_laplace_pmf,
    geometric,
    geometric_pmf,
    negative_binomial,
    negative_binomial_pmf,
)
from anonhist_testing.cases import each_of
from anonhist_testing.exact import Decisions, output_distribution
from anonhist_testing.sources import SeededSource, TapeSource
from anonhist_testing.statistics import (
    assert_pmf_differs,
    assert_pmf_equal,
    min_samples_for,
    pmf_discrepancy,
)

MODULE = importlib.import_module("anonhist.randomness.geometric")


@each_of(("gamma", "parts"), [("1", 2), ("1/3", 3), ("1/5000", 7), ("20", 1000), ("1/100", 10**9)])
def test_the_pmf_is_accurate(gamma: str, parts: int) -> None:
    rate, at = Fraction(gamma), np.array([0, 1, 2, 50, 999, 9_999, 10_000, 20_000])
    at = at[at * float(rate) < 700]
    found = dict(zip(at.tolist(), negative_binomial_pmf(rate, parts, at).tolist(), strict=True))
    with localcontext() as context:
        context.prec = 50
        p = (-Decimal(rate.numerator) / rate.denominator).exp()
        expected = (1 - p) ** (1 / Decimal(parts))
        for k in range(int(at[-1]) + 1):
            if k in found:
                assert found[k] == pytest.approx(float(expected), rel=1e-12, abs=0)
            expected *= p * (1 + parts * k) / (parts * (k + 1))
    assert negative_binomial_pmf(rate, parts, [-1, -7]).tolist() == [0.0, 0.0]


def test_one_part_is_the_geometric_distribution() -> None:
    k = np.arange(-3, 200)
    assert negative_binomial_pmf(Fraction(1, 3), 1, k) == pytest.approx(geometric_pmf(Fraction(1, 3), k), rel=1e-12)
    drawn = negative_binomial(Fraction(1, 3), 1, 1000, source=SeededSource(1))
    # As many are proposed as are asked for and some more: words are used in other groups, for one distribution.
    assert drawn.tolist() == geometric(Fraction(1, 3), 64 + 1050, source=SeededSource(1))[:1000].tolist()


@pytest.mark.parametrize("parts", [2, 3, 10])
def test_the_parts_add_up_to_a_geometric_and_their_differences_to_a_discrete_laplace_number(parts: int) -> None:
    gamma, reach = Fraction(1, 2), 150
    one = negative_binomial_pmf(gamma, parts, np.arange(reach + 1))
    total = reduce(lambda left, right: np.convolve(left, right)[: reach + 1], [one] * parts)
    # What is cut off of a distribution on 0, 1, 2 … does not reach the entries that are kept.
    assert total == pytest.approx(geometric_pmf(gamma, np.arange(reach + 1)), rel=1e-12, abs=1e-15)
    share = np.convolve(one, one[::-1])
    noise = reduce(np.convolve, [share] * parts)
    middle = noise[noise.size // 2 - 40 : noise.size // 2 + 41]
    assert middle == pytest.approx(discrete_laplace_pmf(gamma, np.arange(-40, 41)), rel=0, abs=1e-12)


def distribution_of_one_draw(
    monkeypatch: pytest.MonkeyPatch, gamma: Fraction, parts: int
) -> tuple[dict[Any, float], float]:
    """Enumerate the program: the geometric number, then every coin; None where the proposal is dropped."""
    undecided: list[Decisions] = []

    def toss(probability: Fraction, size: int, *, source: object) -> np.ndarray:
        del source
        chance = float(probability)
        return np.array([bool(undecided[0].choose((1 - chance, chance))) for _ in range(size)])

    def run(decisions: Decisions) -> int | None:
        undecided[:] = [decisions]
        proposed = np.array([decisions.wait(-np.expm1(-float(gamma)))])
        kept = MODULE._accept(proposed, parts, source=None)
        return int(kept[0]) if kept.size else None

    monkeypatch.setattr(MODULE, "bernoulli", toss)
    distribution = output_distribution(run, unexplored=1e-9)
    return dict(distribution.probabilities), distribution.unexplored


@pytest.mark.parametrize("parts", [2, 5])
def test_what_is_kept_has_exactly_the_distribution(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    gamma = Fraction(3, 2)
    distribution, unexplored = distribution_of_one_draw(monkeypatch, gamma, parts)
    dropped = distribution.pop(None)
    kept = sum(distribution.values())
    assert kept + dropped == pytest.approx(1, abs=2 * unexplored)
    assert kept == pytest.approx((1 - np.exp(-1.5)) ** (1 - 1 / parts), abs=2 * unexplored)
    for k in range(10):
        expected = float(negative_binomial_pmf(gamma, parts, k))
        assert distribution[k] / kept == pytest.approx(expected, abs=4 * unexplored)


DISTRIBUTIONS = [("1", 2), ("1/10", 3), ("1/50", 2), ("1/2", 5)]


@pytest.mark.fresh
@pytest.mark.parametrize(("gamma", "parts"), DISTRIBUTIONS)
def test_the_right_distribution_is_accepted_and_wrong_ones_are_not(gamma: str, parts: int) -> None:
    rate = Fraction(gamma)
    right = partial(negative_binomial_pmf, rate, parts)
    wrong = [partial(negative_binomial_pmf, *other) for other in ((rate * 2, parts), (rate / 2, parts), (rate, 1))]
    size = max(20_000, *(min_samples_for(pmf_discrepancy(right, each)) for each in wrong))
    assert size < 150_000
    samples = negative_binomial(rate, parts, size, source=SeededSource([2, size]))
    assert_pmf_equal(samples, right)
    for each in wrong:
        assert_pmf_differs(samples, each)


@pytest.mark.fresh
def test_draws_of_one_call_are_independent_and_fill_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "_CHUNK", 5_000)
    draws = np.minimum(negative_binomial(Fraction(1), 2, 60_000, source=SeededSource(3)), 2)
    masses = np.array([*negative_binomial_pmf(Fraction(1), 2, [0, 1]), 0.0])
    masses[2] = 1 - masses.sum()
    pairs = {(a, b): masses[a] * masses[b] for a in range(3) for b in range(3)}
    assert_pmf_equal(zip(draws[::2].tolist(), draws[1::2].tolist(), strict=True), pairs)


def test_the_tape_decides_the_draws() -> None:
    """A change here is a change of how words are used."""
    tape = TapeSource([i * 0x9E3779B97F4A7C15 % 2**64 for i in range(1, 200)])
    assert negative_binomial(Fraction(1, 10), 2, 8, source=tape).tolist() == [2, 27, 45, 4, 0, 38, 8, 16]
    assert tape.position == 138


def test_no_draw_needs_no_words_and_wrong_arguments_are_refused() -> None:
    assert negative_binomial(Fraction(1), 2, 0, source=TapeSource([])).tolist() == []
    for parts in (0, -1, True, 1.5, "2", 2**63 + 1):
        with pytest.raises(UsageError, match=r"parts must be a whole number from 1 to 2\^63"):
            negative_binomial(Fraction(1), parts, 1, source=SeededSource(1))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="gamma must be exact"):
        negative_binomial(0.5, 2, 1, source=SeededSource(1))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="size must be"):
        negative_binomial(Fraction(1), 2, -1, source=SeededSource(1))


def test_a_huge_rate_and_a_huge_number_of_parts_give_zeros() -> None:
    for gamma, parts in ((Fraction(10) ** 30, 2), (Fraction(1), 2**63)):
        drawn = Counter(negative_binomial(gamma, parts, 1000, source=SeededSource(5)).tolist())
        assert drawn == {0: 1000}
