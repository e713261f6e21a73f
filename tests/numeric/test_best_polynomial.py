"""The best polynomial: published errors, the alternation that proves it, and a linear program that finds the same."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import linprog

from anonhist.errors import UsageError
from anonhist.numeric import BestPolynomial, best_polynomial
from anonhist_testing.cases import each_of


def error_at(best: BestPolynomial, x: Decimal) -> Decimal:
    """``p(x) − x·ln(1/x)``, in more digits than are tested."""
    with localcontext(prec=160):
        value = sum((a * x**m for m, a in enumerate(best.coefficients) if m), best.coefficients[0])
        return value + x * x.ln() if x else value


@pytest.mark.full
@each_of(
    ("degree", "error"),
    [(2, 0.0528192), (5, 0.00895642), (8, 0.00352645), (11, 0.00186983), (18, 0.000699524)],
)
def test_errors_are_the_published_ones(degree: int, error: float) -> None:
    assert float(best_polynomial(degree).error) == pytest.approx(error, rel=6e-6)


@pytest.mark.slow
@each_of("degree", [1, 2, 3, 7, 18, 40])
def test_errors_alternate_at_one_place_more_than_there_are_coefficients(degree: int) -> None:
    best = best_polynomial(degree)
    assert len(best.coefficients) == degree + 1
    assert len(best.extrema) == degree + 2
    assert (best.extrema[0], best.extrema[-1]) == (0, 1)
    assert list(best.extrema) == sorted(set(best.extrema))
    for i, x in enumerate(best.extrema):
        signed = error_at(best, x) * (-1) ** i
        assert abs(signed - best.error) <= best.error * Decimal("1e-27")


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 7, 18, 40])
def test_the_error_is_nowhere_larger(degree: int) -> None:
    best = best_polynomial(degree)
    places = np.concatenate([np.geomspace(1e-9, 1, 150), (1 - np.cos(np.linspace(0, math.pi, 200))) / 2])
    largest = max(abs(error_at(best, Decimal(float(x)))) for x in places)
    assert largest <= best.error * (1 + Decimal("1e-27"))
    assert largest > best.error * Decimal("0.9")


@pytest.mark.parametrize("degree", [2, 5])
def test_agrees_with_a_linear_program_on_a_grid(degree: int) -> None:
    x = (1 - np.cos(np.linspace(0, math.pi, 2001))) / 2
    values = -x * np.log(np.where(x > 0, x, 1))
    powers = np.vander(x, degree + 1, increasing=True)
    level = np.ones((x.size, 1))
    found = linprog(
        [*[0.0] * (degree + 1), 1.0],
        A_ub=np.block([[powers, -level], [-powers, -level]]),
        b_ub=np.concatenate([values, -values]),
        bounds=(None, None),
    )
    best = best_polynomial(degree)
    assert float(best.error) == pytest.approx(found.fun, rel=1e-5)
    np.testing.assert_allclose([float(a) for a in best.coefficients], found.x[:-1], rtol=2e-3)


def test_lines_are_level() -> None:
    half = Decimal(-1).exp() / 2
    for degree in (0, 1):
        best = best_polynomial(degree)
        assert abs(best.error - half) < Decimal("1e-27")
        assert abs(best.coefficients[0] - half) < Decimal("1e-27")
        assert all(abs(a) < Decimal("1e-27") for a in best.coefficients[1:])
        assert len(best.coefficients) == degree + 1


def test_a_second_call_gives_the_same_object() -> None:
    assert best_polynomial(6) is best_polynomial(6)


def test_refuses_negative_degrees() -> None:
    with pytest.raises(UsageError, match="0 or more"):
        best_polynomial(-1)
