"""Projections against their optimality conditions, in exact arithmetic, and at the ends of float64."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.numeric.fits import project_to_simplex, project_to_solid_simplex, truncate_and_renormalize
from anonhist_testing.cases import each_of

LARGEST = float(np.finfo(np.float64).max)
Projection = Callable[..., NDArray[np.float64]]
ALL: list[Projection] = [project_to_simplex, project_to_solid_simplex, truncate_and_renormalize]


def by_supports(values: list[Fraction], total: Fraction) -> list[Fraction]:
    """Try every number of entries above 0, exactly: one meets the conditions of Karush, Kuhn and Tucker."""
    descending = sorted(values, reverse=True)
    for kept in range(1, len(values) + 1):
        shift = (total - sum(descending[:kept])) / kept
        if all(u + shift >= 0 for u in descending[:kept]) and all(u + shift <= 0 for u in descending[kept:]):
            return [max(value + shift, Fraction(0)) for value in values]
    raise AssertionError


@pytest.mark.slow
@given(st.lists(st.integers(-12, 12), min_size=1, max_size=8), st.integers(1, 20))
def test_projection_meets_the_conditions_of_the_nearest_point(eighths: list[int], total: int) -> None:
    values = [Fraction(each, 8) for each in eighths]
    expected = [float(each) for each in by_supports(values, Fraction(total, 4))]
    found = project_to_simplex([float(value) for value in values], total / 4)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


@pytest.mark.slow
@given(
    st.lists(st.floats(-3, 3), min_size=6, max_size=6),
    st.lists(st.floats(0, 1), min_size=6, max_size=6),
    st.floats(0, 1),
)
def test_no_other_point_of_the_solid_simplex_is_nearer(vector: list[float], rival: list[float], size: float) -> None:
    found = project_to_solid_simplex(vector)
    other = size * truncate_and_renormalize(rival)
    ours, theirs = (float(((np.array(vector) - point) ** 2).sum()) for point in (found, other))
    assert found.min() >= 0
    assert found.sum() <= 1 + 1e-12
    assert ours <= theirs + 1e-12


def test_solid_projection_leaves_small_sums_alone_and_cuts_large_ones() -> None:
    assert project_to_solid_simplex([0.25, -1.0, 0.5]).tolist() == [0.25, 0.0, 0.5]
    assert project_to_solid_simplex([0.75, 1.25, -9.0]).tolist() == project_to_simplex([0.75, 1.25, -9.0]).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_a_million_entries_add_up(scale: float) -> None:
    vector = scale * np.random.default_rng(5).normal(size=1_000_000)
    for project in ALL:
        found = project(vector)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1.0, abs=1e-9)
    # The same shift for all that stay above 0, and none left at 0 that it would lift: again the conditions.
    found = project_to_simplex(vector)
    shifts = (found - vector)[found > 0]
    assert np.ptp(shifts) <= 1e-9 * scale
    assert (vector[found == 0] + shifts.max()).max(initial=-1.0) <= 1e-9 * scale


@each_of(
    ("vector", "expected"),
    [
        ([-5.0], [1.0]),
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ([0.0] * 4, [0.25] * 4),
        ([1e300, 0.0], [1.0, 0.0]),
        ([LARGEST, -LARGEST, LARGEST], [0.5, 0.0, 0.5]),
        ([2.0**63, 2.0**63, 0.0], [0.5, 0.5, 0.0]),
    ],
)
def test_projects_at_the_ends_of_float64(vector: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(project_to_simplex(vector), expected, rtol=1e-14)
    if sum(vector) > 0:
        np.testing.assert_allclose(project_to_solid_simplex(vector), expected, rtol=1e-14)


@each_of(
    ("vector", "expected"),
    [
        ([-5.0, -1.0], [0.5, 0.5]),
        ([5e-324, -1.0, 5e-324], [0.5, 0.0, 0.5]),
        ([LARGEST, LARGEST, -LARGEST], [0.5, 0.5, 0.0]),
        ([3.0, -7.0, 1.0], [0.75, 0.0, 0.25]),
    ],
)
def test_renormalizes_at_the_ends_of_float64(vector: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(truncate_and_renormalize(vector), expected, rtol=1e-14)


@pytest.mark.parametrize("project", ALL)
def test_input_is_left_alone(project: Projection) -> None:
    vector = np.array([3.0, -1.0, 0.5])
    project(vector)
    assert vector.tolist() == [3.0, -1.0, 0.5]


@pytest.mark.parametrize("project", ALL)
def test_total_is_what_it_adds_up_to(project: Projection) -> None:
    assert project([3.0, 2.0, -1.0], 2.5).sum() == pytest.approx(2.5)


@each_of("project", ALL)
@each_of("vector", [[], [np.nan], [np.inf, 0.0], 3.0, [[1.0]]])
def test_refuses_what_is_not_a_vector(project: Projection, vector: object) -> None:
    with pytest.raises(UsageError, match="at least one finite number"):
        project(vector)


@each_of("project", ALL)
@each_of("total", [0.0, -1.0, np.inf, np.nan])
def test_refuses_an_impossible_total(project: Projection, total: float) -> None:
    with pytest.raises(UsageError, match="number above 0"):
        project([1.0], total)
