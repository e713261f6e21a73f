"""The pmfs and the variance against decimals and against sums."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from anonhist.numeric import ExponentialQuotient
from anonhist.randomness import (
    bernoulli_exp_pmf,
    bernoulli_pmf,
    categorical_pmf,
    discrete_laplace_pmf,
    discrete_laplace_variance,
    geometric_pmf,
)
from anonhist_testing.cases import each_of

RATES = [Fraction(text) for text in ("1e-9", "1/2000", "1/3", "1", "10", "50")]


def ratio(gamma: Fraction) -> Decimal:
    return (-Decimal(gamma.numerator) / gamma.denominator).exp()


@each_of("gamma", RATES)
def test_pmfs_are_accurate_where_they_are_normal_floats(gamma: Fraction) -> None:
    steps = np.unique(np.geomspace(1, max(2, 700 / float(gamma)), 40).astype(np.int64))
    steps = np.append(0, steps[steps * float(gamma) <= 700])
    one, two = geometric_pmf(gamma, steps), discrete_laplace_pmf(gamma, -steps)
    with localcontext() as context:
        context.prec = 60
        p = ratio(gamma)
        for k, geometric, laplace in zip(steps.tolist(), one.tolist(), two.tolist(), strict=True):
            assert geometric == pytest.approx(float((1 - p) * p**k), rel=1e-12, abs=0)
            assert laplace == pytest.approx(float((1 - p) / (1 + p) * p**k), rel=1e-12, abs=0)
    assert np.array_equal(discrete_laplace_pmf(gamma, steps), two)
    assert geometric_pmf(gamma, [-1, -7]).tolist() == [0.0, 0.0]


@each_of("gamma", RATES)
def test_the_variance_is_accurate(gamma: Fraction) -> None:
    with localcontext() as context:
        context.prec = 60
        p = ratio(gamma)
        assert discrete_laplace_variance(gamma) == pytest.approx(float(2 * p / (1 - p) ** 2), rel=1e-13, abs=0)


def test_the_variance_is_that_of_the_pmf() -> None:
    gamma, k = Fraction(1, 3), np.arange(-400, 401)
    assert discrete_laplace_pmf(gamma, k).sum() == pytest.approx(1, rel=1e-13)
    assert discrete_laplace_variance(gamma) == pytest.approx((k**2 * discrete_laplace_pmf(gamma, k)).sum())


def test_a_huge_rate_puts_all_mass_at_zero() -> None:
    huge = Fraction(10) ** 400
    assert geometric_pmf(huge, [0, 1, 10**6]).tolist() == [1.0, 0.0, 0.0]
    assert discrete_laplace_pmf(huge, [-1, 0, 1]).tolist() == [0.0, 1.0, 0.0]
    assert discrete_laplace_variance(huge) == 0.0
    assert bernoulli_exp_pmf(huge, [0, 1]).tolist() == [1.0, 0.0]


def test_bernoulli_pmfs() -> None:
    assert bernoulli_pmf(Fraction(1, 4), [True, False]).tolist() == [0.25, 0.75]
    assert bernoulli_pmf(Fraction(1, 4), [-1, 2]).tolist() == [0.0, 0.0]
    small = ExponentialQuotient.exponential(Fraction(1, 10**12))
    assert bernoulli_pmf(1 / small, [0, 1]).tolist() == [-math.expm1(-1e-12), math.exp(-1e-12)]
    assert bernoulli_exp_pmf(Fraction(0), [0, 1]).tolist() == [0.0, 1.0]
    tiny = Fraction(1, 10**12)
    assert bernoulli_exp_pmf(tiny, [0, 1]).tolist() == [-math.expm1(-1e-12), math.exp(-1e-12)]


@each_of("scale", [5e-324 * 3, 2.0**-1000, 1.0, 2.0**900, 1.6e308])
def test_categorical_pmf_at_any_scale(scale: float) -> None:
    weights = np.array([0.0, 1.0, 0.25, 1.0]) * scale
    total = sum(map(Fraction, weights.tolist()))
    expected = [float(Fraction(weight) / total) for weight in weights.tolist()]
    assert categorical_pmf(weights).tolist() == pytest.approx(expected, rel=1e-12, abs=0)
