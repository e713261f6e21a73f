import math

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.numeric.fits import (
    _EVALUATIONS,
    LARGEST_LOG,
    Curvature,
    Likelihood,
    SmoothFit,
    _climb,
    _Counted,
    rates_at,
    smooth_fit,
)
from anonhist.sketches.likelihood import _Mixture
from anonhist_testing.cases import each_of


class _Quadratic:
    """−(u − best)'·information·(u − best)/2."""

    def __init__(self, best: NDArray[np.float64], information: NDArray[np.float64]) -> None:
        self._best, self._information = best, information

    def value(self, logs: NDArray[np.float64]) -> float:
        return -0.5 * float((logs - self._best) @ self._information @ (logs - self._best))

    def curvature(self, logs: NDArray[np.float64]) -> Curvature:
        return Curvature(self.value(logs), self._information @ (self._best - logs), self._information)


class _Watched:
    """A likelihood that remembers where it was asked for its derivatives, and how often for its value."""

    def __init__(self, likelihood: Likelihood) -> None:
        self._likelihood = likelihood
        self.places: list[NDArray[np.float64]] = []
        self.values = 0

    def value(self, logs: NDArray[np.float64]) -> float:
        self.values += 1
        return self._likelihood.value(logs)

    def curvature(self, logs: NDArray[np.float64]) -> Curvature:
        self.places.append(logs)
        return self._likelihood.curvature(logs)


def _mixture(seed: int, size: int = 20, scale: float = 1e4) -> _Mixture:
    rng = np.random.default_rng(seed)
    matrix = np.exp(-np.abs(np.arange(-5, size + 5)[:, np.newaxis] - np.arange(size)))
    matrix /= matrix.sum(axis=0)
    rates = scale * rng.dirichlet(np.full(size, 0.3))
    return _Mixture(rng.poisson(matrix @ rates).astype(np.float64), matrix, np.ones(size))


@each_of("size", [1, 2, 3, 4, 5, 30])
def test_what_is_smooth_is_found_exactly(size: int) -> None:
    rng = np.random.default_rng(size)
    places = np.linspace(-1, 1, size)
    best = 1.5 - 2 * places + 3 * places**2  # third differences are zero
    root = rng.normal(size=(size, size)) + 3 * np.eye(size)
    found = smooth_fit(_Quadratic(best, 1e6 * root @ root.T), np.zeros(size), np.zeros(size)).logs
    np.testing.assert_allclose(found, best, atol=1e-4)


def test_the_start_stays_where_nothing_is_known() -> None:
    start = np.linspace(0, 3, 12)
    found = smooth_fit(_Quadratic(np.zeros(12), np.zeros((12, 12))), start, start).logs
    np.testing.assert_allclose(found, start, atol=1e-6)


def test_errors_are_smoothed_away() -> None:
    rng = np.random.default_rng(3)
    truth = 3 * np.sin(np.linspace(0, 3, 80))
    seen = truth + rng.normal(size=80)
    found = smooth_fit(_Quadratic(seen, np.eye(80)), np.zeros(80), np.zeros(80)).logs
    assert np.mean((found - truth) ** 2) < 0.15 * np.mean((seen - truth) ** 2)


@pytest.mark.slow
def test_a_jump_stays_a_jump() -> None:
    rng = np.random.default_rng(4)
    truth = np.where(np.arange(60) < 30, 0.0, 8.0) + np.where(np.arange(60) == 45, 5.0, 0.0)
    seen = truth + 0.3 * rng.normal(size=60)
    found = smooth_fit(_Quadratic(seen, np.eye(60) / 0.3**2), np.zeros(60), np.zeros(60)).logs
    assert np.abs(found - truth)[[28, 29, 30, 31, 45]].max() < 1
    away = np.abs(np.arange(60) - 29.5) > 8
    away &= np.abs(np.arange(60) - 45) > 6
    assert np.mean((found - truth)[away] ** 2) < 0.5 * np.mean((seen - truth)[away] ** 2)


@each_of("seed", range(5))
@each_of("precision", [1e4, 1.0, 1e-4])
def test_every_step_climbs_to_the_top(seed: int, precision: float) -> None:
    differences = np.diff(np.eye(20), n=3, axis=0)
    penalty = precision * differences.T @ differences
    watched = _Watched(_mixture(seed))
    logs, found = _climb(_Counted(watched), penalty, np.full(20, math.log(500.0)))

    def height(at: NDArray[np.float64]) -> float:
        return watched.value(at) - 0.5 * float(at @ penalty @ at)

    heights = [height(place) for place in watched.places]
    assert len(heights) > 2
    assert np.diff(heights).min() > 0
    np.testing.assert_array_equal(watched.places[-1], logs)
    assert found.value == watched.value(logs)
    # Nothing near is higher by more than the tolerance.
    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.1, 1.0):
        assert max(height(logs + size * rng.normal(size=20)) for _ in range(20)) < height(logs) + 2e-3


def test_rates_that_vanish_hold_up_no_others() -> None:
    watched = _Watched(_mixture(1))
    _climb(_Counted(watched), np.zeros((20, 20)), np.full(20, math.log(500.0)))
    assert len(watched.places) < 25


def test_curves_may_fall_far_where_nothing_is_seen() -> None:
    # A parabola that is high at 2 and 9 and falls by hundreds from there on.
    seen = np.zeros(30)
    seen[[1, 2, 3, 8, 9, 10]] = [500, 5000, 500, 500, 5000, 500]
    watched = _Watched(_Mixture(seen, np.eye(30), np.ones(30)))
    differences = np.diff(np.eye(30), n=3, axis=0)
    logs, _ = _climb(_Counted(watched), 100.0 * differences.T @ differences, np.full(30, math.log(200.0)))
    assert logs[-1] < -500
    assert len(watched.places) < 25


def test_the_same_data_give_the_same_fit() -> None:
    first, second = (smooth_fit(_mixture(7), np.zeros(20), np.zeros(20)).logs for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_the_search_ends_where_nothing_fits() -> None:
    class Crooked:
        """Curved valleys, and curvature that is wrong."""

        def value(self, logs: NDArray[np.float64]) -> float:
            return -1e6 * float(np.sum((logs[1:] - np.sin(9 * logs[:-1])) ** 2)) - float(np.sum((logs - 5) ** 2))

        def curvature(self, logs: NDArray[np.float64]) -> Curvature:
            off = logs[1:] - np.sin(9 * logs[:-1])
            gradient = -2 * (logs - 5)
            gradient[1:] -= 2e6 * off
            gradient[:-1] += 2e6 * off * 9 * np.cos(9 * logs[:-1])
            return Curvature(self.value(logs), gradient, 1e4 * np.eye(logs.size))

    watched = _Watched(Crooked())
    found = smooth_fit(watched, np.zeros(10), np.zeros(10)).logs
    assert np.isfinite(found).all()
    assert _EVALUATIONS - 10 < watched.values < _EVALUATIONS + 20


@pytest.mark.parametrize("seed", range(3))
def test_derivatives_of_a_mixture_are_those_of_differences(seed: int) -> None:
    mixture = _mixture(seed)
    rng = np.random.default_rng(seed)
    logs = rng.normal(5, 1, 20)
    found = mixture.curvature(logs)
    step = 1e-4
    sides = [(logs + step * unit, logs - step * unit) for unit in np.eye(20)]
    gradient = [(mixture.value(up) - mixture.value(down)) / (2 * step) for up, down in sides]
    hessian = [(mixture.curvature(up).gradient - mixture.curvature(down).gradient) / (2 * step) for up, down in sides]
    assert found.value == mixture.value(logs)
    np.testing.assert_allclose(found.gradient, gradient, atol=1e-5 * np.abs(found.gradient).max())
    # Rates move with their logarithms: the gradient is on the diagonal too.
    np.testing.assert_allclose(
        np.diag(found.gradient) - found.information, hessian, atol=1e-6 * np.abs(found.information).max()
    )


def test_a_mixture_is_most_likely_where_its_means_are_what_is_seen() -> None:
    matrix = np.eye(6)
    seen = np.array([3.0, 10.0, 0.0, 7.0, 1.0, 100.0])
    mixture = _Mixture(seen, matrix, np.ones(6))
    logs = np.log(np.maximum(seen, 1e-9))
    np.testing.assert_allclose(mixture.curvature(logs).gradient, 0, atol=1e-8)
    rates = np.array([2.0, 9.0, 1.0, 8.0, 1.0, 90.0])
    assert mixture.value(np.log(rates)) == pytest.approx(float(seen @ np.log(rates) - rates.sum()))


@each_of("log", [-1e300, -1e4, -700.0, 59.0])
def test_no_rates_of_a_mixture_are_too_small_or_large(log: float) -> None:
    found = _mixture(1).curvature(np.full(20, log))
    assert math.isfinite(found.value)
    assert np.isfinite(found.gradient).all()
    assert np.isfinite(found.information).all()


def test_a_value_that_nothing_explains_is_unlikely_but_not_impossible() -> None:
    matrix = np.vstack((np.eye(4), np.zeros(4)))
    mixture = _Mixture(np.array([5.0, 5.0, 5.0, 5.0, 1.0]), matrix, np.ones(4))
    found = mixture.curvature(np.full(4, math.log(5.0)))
    assert -60 < found.value < 20 * math.log(5) - 20
    assert np.isfinite(found.information).all()
    np.testing.assert_allclose(found.gradient, 0, atol=1e-9)


def test_rates_beyond_all_bounds_are_impossible() -> None:
    logs = np.zeros(20)
    logs[3] = LARGEST_LOG + 1
    assert _mixture(1).value(logs) == -math.inf
    np.testing.assert_array_equal(rates_at(np.array([0.0, -1e9])), [1.0, math.exp(-LARGEST_LOG)])


def test_rates_are_drawn_with_the_spread_that_the_precision_leaves() -> None:
    root = np.random.default_rng(1).normal(size=(4, 4))
    fit = SmoothFit(np.log([5.0, 100.0, 2000.0, 40_000.0]), 4000 * (root @ root.T + np.eye(4)))
    rng = np.random.default_rng(2)
    draws = np.array([fit.draw(rng) for _ in range(4000)]) / fit.rates
    np.testing.assert_allclose(draws.mean(axis=0), 1, atol=2e-3)
    # Relative standard errors of variances are 2%.
    np.testing.assert_allclose(draws.var(axis=0), np.diag(np.linalg.inv(fit.precision)), rtol=0.1)
