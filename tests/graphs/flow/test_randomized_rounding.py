"""The distribution of rounding, at every tie; and what rounding costs a mechanism, by enumeration."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.graphs.flow import Ratios, randomized_rounding, rounded_epsilon
from anonhist_testing.sources import SeededSource, TapeSource

WORD = 2**64
PARTS = [Fraction(1, 3), Fraction(2, 7), Fraction(1, 2), Fraction(5, 8), Fraction(2**32 - 1, 2**32), Fraction(1, 2**31)]


def ratios(*values: Fraction) -> Ratios:
    return Ratios(np.array([v.numerator for v in values]), np.array([v.denominator for v in values]))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("whole", [0, 5])
def test_a_fraction_goes_up_iff_the_word_is_below_its_digits(part: Fraction, whole: int) -> None:
    digits = part.numerator * WORD // part.denominator
    for word, is_up in ((0, True), (digits - 1, True), (digits + 1, False), (WORD - 1, False)):
        tape = TapeSource([word])
        assert randomized_rounding(ratios(whole + part), source=tape).tolist() == [whole + is_up]


@pytest.mark.parametrize("part", PARTS)
def test_a_tie_is_broken_by_the_next_digits(part: Fraction) -> None:
    digits = part.numerator * WORD**2 // part.denominator
    first, second = divmod(digits, WORD)
    for word, is_up in ((second - 1, True), (second + 1, False)):
        if word >= 0:
            tape = TapeSource([7, first, WORD - 1, word])
            rounded = randomized_rounding(ratios(Fraction(1, 2), part, Fraction(1, 2)), source=tape)
            assert rounded.tolist() == [1, int(is_up), 0]
            assert tape.position == 4


def test_whole_numbers_stay_whatever_the_words() -> None:
    for word in (0, 1, WORD - 1):
        whole = Ratios(np.array([0, 12, 7]), np.array([1, 3, 7]))
        assert randomized_rounding(whole, source=TapeSource([word] * 3)).tolist() == [0, 4, 1]


@pytest.mark.slow
def test_fractions_are_rounded_independently_with_the_right_means() -> None:
    # Standard error of each share below 0.0016, of each product of two less: 5 of them.
    values = [Fraction(1, 3), Fraction(9, 4), Fraction(5, 6)]
    rounded = randomized_rounding(ratios(*values * 100_000), source=SeededSource(7)).reshape(-1, 3)
    up = rounded - np.array([0, 2, 0])
    chances = np.array([1 / 3, 1 / 4, 5 / 6])
    assert set(up.ravel().tolist()) == {0, 1}
    assert np.all(np.abs(up.mean(axis=0) - chances) < 5 * np.sqrt(chances * (1 - chances) / 100_000))
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert abs(np.mean(up[:, one] * up[:, other]) - chances[one] * chances[other]) < 5 * 0.0016


@pytest.mark.parametrize(("above", "below"), [(-1, 2), (1, 0), (1, -3), (1, 2**32 + 1)])
def test_what_cannot_be_rounded_is_refused(above: int, below: int) -> None:
    with pytest.raises(UsageError, match="Fractions can be rounded if"):
        randomized_rounding(Ratios(np.array([1, above]), np.array([1, below])), source=TapeSource([0, 0]))


def noisy_list(values: tuple[int, ...], outputs: NDArray[np.int64], gamma: float) -> NDArray[np.float64]:
    """Return the probability of every output: discrete Laplace noise on the sorted list."""
    distances = np.abs(outputs - np.sort(values)).sum(axis=1)
    chances: NDArray[np.float64] = np.exp(-gamma * distances) * math.tanh(gamma / 2) ** len(values)
    return chances


def rounded_noisy_list(values: tuple[Fraction, ...], outputs: NDArray[np.int64], gamma: float) -> NDArray[np.float64]:
    """Return the same for a list that is rounded first: the mean over all ways to round."""
    chances = np.zeros(len(outputs))
    for ups in product((0, 1), repeat=len(values)):
        parts = [
            (value - value // 1) if up else 1 - (value - value // 1) for value, up in zip(values, ups, strict=True)
        ]
        whole = tuple(int(value // 1) + up for value, up in zip(values, ups, strict=True))
        chances += float(math.prod(parts)) * noisy_list(whole, outputs, gamma)
    return chances


@pytest.mark.parametrize(("entries", "denominator"), [(1, 8), (2, 4), (3, 2)])
def test_rounding_costs_what_it_is_said_to_cost(entries: int, denominator: int) -> None:
    gamma, largest = 0.25, 2
    outputs = np.array(list(product(range(-1, largest + 2), repeat=entries)))
    steps = [Fraction(step, denominator) for step in range(largest * denominator + 1)]
    lists = list(combinations_with_replacement(steps, entries))
    chances = np.log([rounded_noisy_list(values, outputs, gamma) for values in lists])
    whole = np.array([[float(value) for value in values] for values in lists])
    losses = np.abs(chances[:, np.newaxis] - chances).max(axis=2)
    distances = np.abs(whole[:, np.newaxis] - whole).sum(axis=2)
    apart = distances > 0
    per_unit = losses[apart] / distances[apart]
    # Never above e^γ − 1; short steps come near it and are above γ, whole ones cost γ.
    assert per_unit.max() <= math.expm1(gamma)
    step = 1 / denominator
    assert per_unit.max() == pytest.approx(math.log1p(step * math.expm1(gamma)) / step, rel=1e-9)
    assert per_unit.max() > gamma * 1.05


def of_fraction(chances: NDArray[np.float64], value: Fraction) -> NDArray[np.float64]:
    """Return what is drawn for one fraction, of what is drawn for each whole number."""
    whole, part = int(value // 1), float(value % 1)
    above = chances[min(whole + 1, len(chances) - 1)]
    return np.asarray((1 - part) * chances[whole] + part * above)


@pytest.mark.parametrize("epsilon", ["1e-64", "1e-9", "0.1", "1", "3", "17/3", "400", "1e64"])
@pytest.mark.parametrize("distance", [1, 2, 128, 2**40])
def test_budgets_after_rounding_are_kept_to_and_used(epsilon: str, distance: int) -> None:
    gamma, exact = rounded_epsilon(epsilon, distance), Fraction(epsilon)
    with localcontext() as context:
        context.prec = 400

        def spend(rate: Fraction) -> Decimal:
            return ((Decimal(rate.numerator) / rate.denominator).exp() - 1) * distance

        budget = Decimal(exact.numerator) / exact.denominator
        assert 0 < spend(gamma) <= budget
        assert spend(gamma * Fraction(100_001, 100_000)) > budget
    assert len(str(gamma.numerator)) + len(str(gamma.denominator)) < 100


def test_budgets_and_distances_out_of_range_are_refused() -> None:
    for epsilon, distance in ((0, 3), (-1, 3), (math.nan, 3), (1, 0), (1, 1.5)):
        with pytest.raises(UsageError, match=r"epsilon|distance"):
            rounded_epsilon(epsilon, distance)  # type: ignore[arg-type]
