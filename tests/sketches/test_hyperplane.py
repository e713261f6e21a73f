"""Algorithm 2 against a linear program and least squares."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import linprog

from anonhist.sketches.inverses import Circulant, best_on_hyperplane, truncated_reach
from anonhist.sketches.noise import NoiseDistribution

CASES = range(40)
Case = tuple[Circulant, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def case_of(number: int) -> Case:
    """Return A, A written out, g and s: noise of one or two parts, g of counters or of anything."""
    rng = np.random.default_rng(number)
    rates = [Fraction(int(rng.integers(4, 30)), 10) for _ in range(1 + number % 2)]
    reaches = [truncated_reach(rate, size=1, beta=0.5) for rate in rates]
    largest, reach = int(rng.integers(0, 9)), sum(reaches)
    length = largest + 2 * reach + 1 + int(rng.integers(0, 4))
    noise = Circulant.of(NoiseDistribution(tuple((rate, Fraction(1)) for rate in rates)), reaches, length)
    seen = rng.multinomial(50, rng.dirichlet(np.ones(length))) / 50 if number % 3 else rng.normal(size=length)
    inside = np.zeros(length)
    inside[reach : reach + largest + 1] = 1
    matrix = np.array([noise.multiply(unit) for unit in np.eye(length)]).T
    return noise, matrix, np.asarray(seen), inside


def linear_program(
    matrix: NDArray[np.float64], seen: NDArray[np.float64], inside: NDArray[np.float64], norm: str
) -> float:
    """Return the least ‖A·f − g‖ under s·f = 1: bounds t on the residuals, one for each or one for all."""
    length = seen.size
    bounds = np.eye(length) if norm == "1" else np.ones((length, 1))
    done = linprog(
        np.append(np.zeros(length), np.ones(bounds.shape[1])),
        A_ub=np.block([[matrix, -bounds], [-matrix, -bounds]]),
        b_ub=np.concatenate((seen, -seen)),
        A_eq=[np.append(inside, np.zeros(bounds.shape[1]))],
        b_eq=[1],
        bounds=(None, None),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert done.status == 0
    return float(done.fun)


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["1", "inf"])
def test_no_linear_program_does_better(norm: str) -> None:
    for number in CASES:
        noise, matrix, seen, inside = case_of(number)
        found = best_on_hyperplane(noise, seen, inside, norm)
        distance = float(np.linalg.norm(matrix @ found - seen, 1 if norm == "1" else np.inf))
        assert inside @ found == pytest.approx(1, abs=1e-10)
        assert distance == pytest.approx(linear_program(matrix, seen, inside, norm), abs=1e-10)


def test_is_the_least_squares_solution() -> None:
    for number in CASES:
        noise, matrix, seen, inside = case_of(number)
        along = null_space(inside[None, :])
        start = inside / inside.sum()
        steps = np.linalg.lstsq(matrix @ along, seen - matrix @ start, rcond=None)[0]
        found = best_on_hyperplane(noise, seen, inside, "2")
        np.testing.assert_allclose(found, start + along @ steps, atol=1e-10)
        # Karush, Kuhn, Tucker: the gradient Aᵀ(A·f − g) is a multiple of s.
        gradient = matrix.T @ (matrix @ found - seen)
        np.testing.assert_allclose(gradient, inside * gradient[inside > 0].mean(), atol=1e-10)


def test_corrects_where_the_sum_inside_is_wrong() -> None:
    noise, matrix, seen, inside = case_of(7)
    plain = noise.solve(seen)
    assert abs(inside @ plain - 1) > 0.01
    for norm in ("1", "2", "inf"):
        assert np.abs(matrix @ best_on_hyperplane(noise, seen, inside, norm) - seen).max() > 1e-4
    # Nothing to correct, nothing corrected.
    for norm in ("1", "2", "inf"):
        np.testing.assert_allclose(best_on_hyperplane(noise, seen, np.ones(seen.size), norm), plain, atol=1e-10)


def test_of_equal_directions_the_first_is_taken() -> None:
    noise = Circulant.of(NoiseDistribution(((Fraction(1), Fraction(1)),)), [6], 64)
    inside = np.zeros(64)
    inside[10:40] = 1
    found = best_on_hyperplane(noise, np.full(64, 1 / 64), inside, "1") - 1 / 64
    # Both ends of the range cost the same; the correction stands at the lower one.
    assert int(np.argmax(np.abs(found))) == 10
