"""The isotonic fit against SciPy, against the min-max formula, and at the ends of float64."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from anonhist.errors import UsageError
from anonhist.numeric import decreasing_fit
from anonhist_testing.cases import each_of

LARGEST = float(np.finfo(np.float64).max)
SHAPES = ["noise", "ties", "rising", "falling", "noise on a rise", "noise on a fall", "walk", "heavy tails", "one jump"]


def numbers_of_shape(shape: str, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    place = np.arange(size, dtype=np.float64)
    return {
        "noise": rng.normal(size=size),
        "ties": rng.integers(-2, 3, size).astype(np.float64),
        "rising": place,
        "falling": -place,
        "noise on a rise": place + 3 * rng.normal(size=size),
        "noise on a fall": -place + 3 * rng.normal(size=size),
        "walk": np.cumsum(rng.normal(size=size)),
        "heavy tails": rng.standard_cauchy(size),
        "one jump": np.where(place == size - 1, 1e9, -place),
    }[shape]


def by_formula(values: list[float]) -> list[float]:
    """``y_i = min_{a ≤ i} max_{b ≥ i} mean(x_a..x_b)`` for a non-increasing fit, term by term."""
    size = len(values)
    return [
        min(max(float(np.mean(values[a : b + 1])) for b in range(i, size)) for a in range(i + 1)) for i in range(size)
    ]


@each_of("size", [1, 2, 3, 17, 400, 20_000])
@each_of("shape", SHAPES)
def test_agrees_with_scipy(shape: str, size: int) -> None:
    values = numbers_of_shape(shape, size, np.random.default_rng([SHAPES.index(shape), size]))
    expected = isotonic_regression(values, increasing=False).x
    np.testing.assert_allclose(decreasing_fit(values), expected, rtol=1e-12, atol=1e-12 * np.abs(values).max())


@pytest.mark.slow
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=9))
def test_agrees_with_the_min_max_formula(values: list[int]) -> None:
    assert decreasing_fit(values).tolist() == pytest.approx(by_formula([float(value) for value in values]), abs=1e-12)


@pytest.mark.slow
@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8),
    st.lists(st.floats(-1e9, 1e9), min_size=8, max_size=8),
)
def test_no_other_falling_sequence_is_nearer(values: list[float], other: list[float]) -> None:
    fit = decreasing_fit(values)
    rival = np.sort(other[: len(values)])[::-1]
    ours, theirs = (float(((np.array(values) - each) ** 2).sum()) for each in (fit, rival))
    assert ours <= theirs * (1 + 1e-9) + 1e-6
    # Moving a little toward any rival must not help either: the fit is a minimum, not just better than strangers.
    nearer = float(((np.array(values) - (0.999 * fit + 0.001 * rival)) ** 2).sum())
    assert ours <= nearer * (1 + 1e-9) + 1e-6


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40))
def test_falls_stays_inside_and_is_its_own_fit(values: list[float]) -> None:
    fit = decreasing_fit(values)
    assert fit.shape == (len(values),)
    assert np.isfinite(fit).all()
    assert (fit[1:] <= fit[:-1]).all()
    if values:
        slack = 1e-12 * max(map(abs, values))
        assert min(values) - slack <= fit[-1]
        assert fit[0] <= max(values) + slack
    np.testing.assert_array_equal(decreasing_fit(fit), fit)


def test_input_is_left_alone() -> None:
    values = np.array([1.0, 2.0, 3.0])
    assert decreasing_fit(values).tolist() == [2.0, 2.0, 2.0]
    assert values.tolist() == [1.0, 2.0, 3.0]


def test_empty_and_single() -> None:
    assert decreasing_fit([]).shape == (0,)
    assert decreasing_fit([]).dtype == np.float64
    assert decreasing_fit([-7]).tolist() == [-7.0]


@each_of(
    ("values", "expected"),
    [
        ([-LARGEST, LARGEST], [0.0, 0.0]),
        ([LARGEST, -LARGEST], [LARGEST, -LARGEST]),
        ([0.5e308, 1.5e308], [1e308, 1e308]),
        ([0.0, *[LARGEST] * 3], [0.75 * LARGEST] * 4),
        ([5e-324, 1e-323, 0.0], [1e-323, 1e-323, 0.0]),
        ([2.0**62, 2.0**63, 2.0**62], [1.5 * 2.0**62, 1.5 * 2.0**62, 2.0**62]),
    ],
)
def test_sums_neither_overflow_nor_vanish(values: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(decreasing_fit(values), expected, rtol=1e-14, atol=5e-324)


def test_long_rising_runs_of_the_largest_floats() -> None:
    values = LARGEST / 1000 * np.arange(1, 1001)
    np.testing.assert_allclose(decreasing_fit(values), np.full(1000, values[500] / 2 + values[499] / 2), rtol=1e-12)


@each_of("values", [[1.0, np.nan], [np.inf], [-np.inf, 0.0], 3.0, [[1.0, np.nan]], [[[1.0]]]])
def test_refuses_what_has_no_fit(values: object) -> None:
    with pytest.raises(UsageError, match="a list or table of finite numbers"):
        decreasing_fit(values)  # type: ignore[arg-type]  # refusing other types is tested


@each_of("shape", SHAPES)
def test_agrees_with_scipy_where_weights_differ(shape: str) -> None:
    for size in (1, 2, 17, 400, 20_000):
        rng = np.random.default_rng([SHAPES.index(shape), size])
        values, weights = (
            numbers_of_shape(shape, size, rng),
            np.ldexp(rng.random(size) + 1, rng.integers(-20, 20, size)),
        )
        expected = isotonic_regression(values, weights=weights, increasing=False).x
        fit = decreasing_fit(values, weights=weights)
        np.testing.assert_allclose(fit, expected, rtol=1e-12, atol=1e-11 * np.abs(values).max())


@pytest.mark.parametrize("size", [1, 2, 400])
def test_rows_of_a_table_are_fitted_one_by_one(size: int) -> None:
    rng = np.random.default_rng(size)
    # Rising runs of rising rows would be pooled across their ends, and walks take more passes than noise.
    table = np.stack([numbers_of_shape(shape, size, rng) + 1000 * row for row, shape in enumerate(SHAPES)])
    weights = np.ldexp(rng.random(table.shape) + 1, rng.integers(-20, 20, table.shape))
    for each in (np.ones(table.shape), weights):
        expected = [decreasing_fit(row, weights=weight) for row, weight in zip(table, each, strict=True)]
        np.testing.assert_allclose(decreasing_fit(table, weights=each), expected, rtol=1e-9)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_empty_tables(shape: tuple[int, int]) -> None:
    assert decreasing_fit(np.ones(shape)).shape == shape


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 6)), max_size=12))
def test_a_weight_stands_for_values_in_a_row(rows: list[tuple[int, int]]) -> None:
    values, weights = [row[0] for row in rows], [row[1] for row in rows]
    fit = decreasing_fit(values, weights=weights)
    np.testing.assert_allclose(np.repeat(fit, weights), decreasing_fit(np.repeat(values, weights)), atol=1e-12)


def test_sums_of_heavy_values_do_not_overflow() -> None:
    fit = decreasing_fit([-LARGEST, LARGEST, 0.0], weights=[2.0**63, 2.0**64, 2.0**-64])
    np.testing.assert_allclose(fit, [LARGEST / 3, LARGEST / 3, 0.0], rtol=1e-14)


@each_of("weights", [[1.0], [1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [np.inf, 1.0], [1e-30, 1.0], 2.0])
def test_refuses_weights_that_weigh_nothing_or_all(weights: object) -> None:
    with pytest.raises(UsageError, match=r"one weight for each value, from 2\^-64 to 2\^64"):
        decreasing_fit([1.0, 2.0], weights=weights)  # type: ignore[arg-type]  # refusing other types is tested
