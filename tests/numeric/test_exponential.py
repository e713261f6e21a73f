from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

from anonhist.numeric.exponential import (
    certified_floors,
    complement,
    divide_bounds,
    exp_bounds,
    float_rate,
    multiply_bounds,
    powers,
)
from anonhist_testing.cases import each_of

RATES = [Fraction(text) for text in ("1/1000000007", "1/2000", "1/3", "1", "22/7", "10", "50", "355/2")]


@cache
def decimal_exp(gamma: Fraction) -> Decimal:
    """e^(−γ) by Python's decimals, correct to some 300 digits."""
    with localcontext(prec=320):
        return (-Decimal(gamma.numerator) / gamma.denominator).exp()


def scaled_exp(gamma: Fraction, bits: int) -> Decimal:
    """e^(−γ)·2^bits, as correct."""
    with localcontext(prec=320):
        return decimal_exp(gamma) * 2**bits


@each_of("bits", [16, 64, 128, 700])
@each_of("gamma", RATES)
def test_the_bounds_hold_and_are_close(gamma: Fraction, bits: int) -> None:
    lower, upper = exp_bounds(gamma, bits=bits)
    assert lower <= scaled_exp(gamma, bits) <= upper
    assert upper - lower <= 2


@each_of("gamma", RATES)
def test_the_bounds_hold_at_every_precision(gamma: Fraction) -> None:
    # What a bound that is short by a little misses by is seen at few precisions only.
    for bits in range(1, 400):
        lower, upper = exp_bounds(gamma, bits=bits)
        assert lower <= scaled_exp(gamma, bits) <= upper


def test_a_gamma_far_beyond_the_precision_costs_nothing() -> None:
    assert exp_bounds(Fraction(10**30), bits=64) == (0, 1)
    assert exp_bounds(Fraction(64), bits=64) == (0, 1)


def test_gamma_zero_is_one() -> None:
    assert exp_bounds(Fraction(0), bits=8) == (256, 256)


@each_of("gamma", RATES)
def test_the_bounds_of_powers_hold(gamma: Fraction) -> None:
    reached = powers(gamma, count=40, bits=128)
    assert len(reached) == 41
    for k, (lower, upper) in enumerate(reached):
        assert lower <= scaled_exp(gamma * k, 128) <= upper
        assert upper - lower <= 3 * k


def test_interval_arithmetic_rounds_outwards() -> None:
    third, half, most = (85, 86), (128, 128), (200, 201)  # of 256
    assert multiply_bounds(third, half, bits=8) == (42, 43)
    assert multiply_bounds(third, third, bits=8) == (28, 29)
    assert divide_bounds(third, half, bits=8) == (170, 172)
    assert divide_bounds(third, most, bits=8) == (108, 111)
    assert complement(third, bits=8) == (170, 171)
    assert complement((0, 300), bits=8) == (0, 256)


@each_of("bits", [1, 16, 64, 200])
@each_of("gamma", RATES)
def test_certified_floors_are_the_floors(gamma: Fraction, bits: int) -> None:
    found = certified_floors(lambda precision: [exp_bounds(gamma, bits=precision)], bits=bits)
    assert found == [int(scaled_exp(gamma, bits))]


def test_bounds_that_do_not_agree_are_asked_for_more_digits() -> None:
    # 1/2 + 2^-200: no bound of fewer than 200 digits can say that its first digit is 1.
    number = Fraction(1, 2) + Fraction(1, 2**200)
    asked = []

    def bounds(precision: int) -> list[tuple[int, int]]:
        asked.append(precision)
        scaled = number * 2**precision
        return [(int(scaled) - 1, int(scaled) + 1)]

    assert certified_floors(bounds, bits=1) == [1]
    assert asked == [65, 129, 257]


def test_one_minus_a_number_too_small_to_see_is_below_one() -> None:
    tiny = Fraction(10**30)
    found = certified_floors(lambda precision: [complement(exp_bounds(tiny, bits=precision), bits=precision)], bits=64)
    assert found == [2**64 - 1]


def test_rates_of_pmfs_are_floats_of_any_rate() -> None:
    assert float_rate(Fraction(1, 3)) == 1 / 3
    assert float_rate(Fraction(10) ** 400) == 1000.0
