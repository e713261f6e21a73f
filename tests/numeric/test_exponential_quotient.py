"""Exact quotients of e^γ against decimals of 700 digits, and against each other."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.numeric import ExponentialQuotient
from anonhist_testing.cases import each_of

RATES = [Fraction(text) for text in ("1e-64", "1e-9", "1/3", "1", "22/7", "20", "100")]
E, ROOT = ExponentialQuotient.exponential(1), ExponentialQuotient.exponential(Fraction(1, 2))

# The same formulas for quotients and for decimals.
FORMULAS = {
    "t": lambda t: t,
    "1/t^3": lambda t: 1 / t**3,
    "keep": lambda t: t / (t + 999),
    "signal": lambda t: (t - 1) / (t + 999),
    "variance": lambda t: 4 * t / (t - 1) ** 2,
    "steep": lambda t: (t - 1) ** 5 / (t + 1) ** 9,
    "negative": lambda t: (1 - t**2) / (5 * t - 2),
    "both negative": lambda t: (1 - t**2) / (1 - t**3),
    "pole": lambda t: (t + 1) / (t - 3),
    "growing": lambda t: (t**3 - 5) / (7 * t - 2),
}


def exponential(gamma: Fraction) -> Decimal:
    return (Decimal(gamma.numerator) / gamma.denominator).exp()


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@each_of("gamma", RATES)
def test_floats_and_bounds_are_those_of_decimals(gamma: Fraction, formula) -> None:  # noqa: ANN001 - see FORMULAS
    with localcontext() as context:
        context.prec = 700
        number, true = formula(ExponentialQuotient.exponential(gamma)), formula(exponential(gamma))
        assert abs(Decimal(float(number)) - true) <= Decimal(math.ulp(float(true))) * Decimal("0.6")
        for bits in (0, 1, 16, 64, 300):
            lower, upper = number.bounds(bits)
            assert lower <= true * 2**bits <= upper
            assert upper - lower <= 2
        # The same number a little to either side is told apart.
        near = Fraction(true)
        step = abs(near) / 10**600
        assert near - step < number < near + step
        assert not number <= near - step
        assert not number >= near + step
        assert (number > 0, bool(number)) == (true > 0, True)


def test_numbers_are_equal_if_they_are_equal_as_functions() -> None:
    assert ROOT**2 == E
    assert hash(ROOT**2) == hash(E)
    assert (E - 1) / (ROOT - 1) == ROOT + 1
    third = ExponentialQuotient.exponential(Fraction(1, 3))
    assert third * ROOT == ExponentialQuotient.exponential(Fraction(5, 6))
    assert hash(third * ROOT) == hash(ExponentialQuotient.exponential(Fraction(5, 6)))
    assert third != ROOT
    assert E + 1 != E
    assert third**3 == ROOT**2 == E
    assert ExponentialQuotient((2, 0, 4), (6,), Fraction(1, 2)) == (1 + 2 * E) / 3


def test_numbers_of_different_rates_are_compared_and_combined() -> None:
    third = ExponentialQuotient.exponential(Fraction(1, 3))
    assert third < ROOT < E
    assert third < ROOT
    assert (E + third) - E == third
    assert float(E + third) == pytest.approx(math.e + math.exp(1 / 3), rel=1e-15)
    assert float(E / third) == pytest.approx(math.exp(2 / 3), rel=1e-15)
    with pytest.raises(UsageError, match="no common root of reasonable degree"):
        E + ExponentialQuotient.exponential(Fraction(10**9, 10**9 + 1))


def test_a_rational_quotient_is_the_fraction_it_is() -> None:
    three_quarters = 3 * (E + 1) / (4 * E + 4)
    assert three_quarters == Fraction(3, 4)
    assert Fraction(3, 4) == three_quarters
    assert hash(three_quarters) == hash(Fraction(3, 4))
    assert three_quarters.rational == Fraction(3, 4)
    assert float(three_quarters) == 0.75
    assert three_quarters.bounds(1) == (1, 2)
    assert (E - E).rational == 0
    assert hash(E - E) == hash(0)
    assert not E - E
    assert three_quarters > Fraction(2, 3)
    assert three_quarters < 1
    assert E.rational is None


def test_a_number_has_one_form_only() -> None:
    number = ExponentialQuotient((2, 0, 0, -2), (-4, 0, 0, 0), Fraction(1, 3))
    assert (number.numerator, number.denominator, number.gamma) == ((-1, 1), (2,), 1)
    zero = ExponentialQuotient((0, 0), (0, 5), Fraction(3))
    assert (zero.numerator, zero.denominator, zero.gamma) == ((), (1,), 1)


def test_arithmetic_takes_whole_numbers_and_fractions_from_either_side() -> None:
    half = Fraction(1, 2)
    assert half + E == E + half == (2 * E + 1) / 2
    assert half - E == -(E - half) == (1 - 2 * E) / 2
    assert half * E == E * half == E / 2
    assert half / E == 1 / (2 * E)
    assert np.int64(2) + E == E + 2
    assert sum([E, E, 1]) == 2 * E + 1
    assert abs(1 - E) == E - 1
    assert abs(E - 1) == E - 1
    assert E**-2 * E**2 == 1
    assert E**0 == 1
    assert ((E - 2) / (E + 1)) ** -3 == (E + 1) ** 3 / (E - 2) ** 3


@each_of("stranger", [0.5, "1", None, True, 1j])
def test_what_is_not_exact_is_refused(stranger: object) -> None:
    for operation in ("__add__", "__sub__", "__mul__", "__truediv__", "__rsub__", "__rtruediv__", "__lt__", "__eq__"):
        assert getattr(E, operation)(stranger) is NotImplemented
    with pytest.raises(TypeError):
        E + stranger  # type: ignore[operator]
    with pytest.raises(TypeError):
        E**0.5  # type: ignore[operator]
    assert stranger != E


@each_of("gamma", [0, -1, Fraction(-1, 2), 0.5, "1"])
def test_a_rate_must_be_exact_and_positive(gamma: Fraction) -> None:
    with pytest.raises(UsageError, match="gamma must be exact and greater than 0"):
        ExponentialQuotient.exponential(gamma)


def test_division_by_zero_is_that_of_fractions() -> None:
    for call in (lambda: E / 0, lambda: 1 / (E - E), lambda: (E - E) ** -1, lambda: ExponentialQuotient((1,), (0, 0))):
        with pytest.raises(ZeroDivisionError, match="denominator 0"):
            call()


def test_a_rate_beyond_all_digits_costs_nothing() -> None:
    huge = ExponentialQuotient.exponential(Fraction(10) ** 30)
    keep = huge / (huge + 5)
    assert 1 - Fraction(1, 10**40) < keep < 1
    assert keep.bounds(64) == (2**64 - 1, 2**64)
    assert float(keep) == 1.0
    assert float(1 / huge) == 0.0
    assert (1 / huge).bounds(64) == (0, 1)
    assert (-1 / huge).bounds(64) == (-1, 0)
    assert huge > 10**40
    assert float((huge + 3) / (huge - 1)) == 1.0
    large = ExponentialQuotient.exponential(50_000)
    for call in (lambda: float(huge), lambda: huge.bounds(1), lambda: large.bounds(1), lambda: float(E**1000)):
        with pytest.raises(OverflowError):
            call()


def test_the_smallest_floats_are_reached() -> None:
    assert float(E**-700) == pytest.approx(math.exp(-700), rel=1e-15)
    assert float(E**-740) == pytest.approx(math.exp(-740), rel=0, abs=5e-324)
    assert float(E**-740) > 0
    assert float(E**-800) == 0.0
    assert float(E**700) == pytest.approx(math.exp(700), rel=1e-15)


def test_they_are_written_for_people() -> None:
    assert repr((ROOT + 3) / (ROOT - 1)) == "(e^(1/2) + 3)/(e^(1/2) - 1)"
    assert str(E / (E + 3)) == "e/(e + 3)"
    assert str(-2 * E**3 + E - 5) == "-2*e^3 + e - 5"
    assert str(1 / (2 * E)) == "1/(2*e)"
    assert str(3 * E / 4) == "(3*e)/4"
    assert str(E - E) == "0"
    assert str(-E) == "-e"


def test_the_rows_of_a_randomizer_sum_to_one_and_its_ratio_is_e_to_the_epsilon() -> None:
    k = 6
    shares = [ROOT**kept / (1 + ROOT) ** k for kept in range(k + 1)]
    rows = [[shares[k - (report ^ 1 << x).bit_count()] for report in range(1 << k)] for x in range(k)]
    assert all(sum(row) == 1 for row in rows)
    assert max(a / b for a, b in zip(rows[0], rows[1], strict=True)) == E
    assert min(a / b for a, b in zip(rows[0], rows[1], strict=True)) == 1 / E
