from itertools import product

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.numeric.projective_space import ProjectiveSpace
from anonhist_testing.cases import each_of

SMALL = [(2, 2), (2, 3), (2, 5), (3, 2), (3, 3), (3, 4), (5, 2), (5, 3), (7, 3), (11, 2)]


def polynomials(field: int, length: int) -> list[tuple[int, ...]]:
    """Monic ones, coefficients from that of the highest power down to v_0, in the documented order."""
    return [
        (0,) * (length - 1 - degree) + (1, *rest)
        for degree in range(length)
        for rest in product(range(field), repeat=degree)
    ]


def documented_matrix(field: int, length: int) -> np.ndarray:
    """Row y, column x: whether the coefficient of z^{t−1} in the product is zero."""
    vectors = np.array(polynomials(field, length))
    return vectors @ vectors[:, ::-1].T % field == 0


@each_of(("field", "length"), SMALL)
def test_support_is_as_documented(field: int, length: int) -> None:
    space = ProjectiveSpace(field, length)
    every = np.arange(space.points)
    assert len(polynomials(field, length)) == space.points == space.items
    np.testing.assert_array_equal(space.supports(every[:, np.newaxis], every), documented_matrix(field, length))


@each_of(("field", "length"), SMALL)
def test_items_have_equally_many_points_and_so_have_pairs(field: int, length: int) -> None:
    space = ProjectiveSpace(field, length)
    supports = documented_matrix(field, length).astype(int)
    expected = np.full((space.items, space.items), space.num_shared)
    np.fill_diagonal(expected, space.support)
    np.testing.assert_array_equal(supports.T @ supports, expected)


@each_of(("field", "length"), SMALL)
def test_choices_are_the_supporting_points_each_once(field: int, length: int) -> None:
    space = ProjectiveSpace(field, length)
    supports, choices = documented_matrix(field, length), np.arange(space.support)
    for item in range(space.items):
        points = space.supporter(np.full(choices.size, item), choices)
        np.testing.assert_array_equal(np.sort(points), np.flatnonzero(supports[:, item]))


@each_of(("field", "length"), [(2**31 - 1, 2), (1_048_573, 3), (2, 61), (65_537, 3)])
def test_large_spaces_do_not_overflow(field: int, length: int) -> None:
    space, draws = ProjectiveSpace(field, length), np.random.default_rng(7)
    items = np.append(draws.integers(0, space.items, 200), [0, space.items - 1])
    choices = np.append(draws.integers(0, space.support, 200), [space.support - 1, space.support - 1])
    points = space.supporter(items, choices)
    assert points.min() >= 0
    assert points.max() < space.points
    for point, item in zip(points.tolist(), items.tolist(), strict=True):
        y, x = _digits(point, field, length), _digits(item, field, length)
        assert sum(a * b for a, b in zip(x, reversed(y), strict=True)) % field == 0
    assert space.supports(points, items).all()
    # Two points support both of the items by chance only: the test can tell.
    assert not space.supports(points, (items + 1) % space.items).all()


def _digits(number: int, field: int, length: int) -> list[int]:
    degree = next(m for m in range(length) if number < (field ** (m + 1) - 1) // (field - 1))
    value = number - (field**degree - 1) // (field - 1) + field**degree
    return [value // field**i % field for i in range(length)]


@each_of(("field", "length"), SMALL)
def test_sums_are_exact(field: int, length: int) -> None:
    space = ProjectiveSpace(field, length)
    weights = np.random.default_rng(7).integers(0, 2**53, (2, space.points))
    expected = weights @ documented_matrix(field, length).astype(np.int64)
    np.testing.assert_array_equal(space.sums(weights), expected)
    np.testing.assert_allclose(space.sums(weights / 2**53), expected / 2**53, rtol=1e-12)
    np.testing.assert_allclose(space.spread(weights / 2**53), expected / 2**53, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("field", "length"), [(149, 3), (2, 17), (3, 11), (47, 3), (22_027, 2)])
def test_sums_of_large_spaces_are_exact(field: int, length: int) -> None:
    space, draws = ProjectiveSpace(field, length), np.random.default_rng(7)
    weights = draws.integers(0, 2**44, space.points)
    sums = space.sums(weights)
    for item in draws.integers(0, space.items, 8):
        assert sums[item] == weights[space.supports(np.arange(space.points), np.array(item))].sum()


@pytest.mark.slow
@pytest.mark.parametrize(("field", "length"), [(2, 3), (3, 3), (2, 5), (3, 4), (5, 3), (17, 3)])
def test_sums_of_the_first_items_are_those_of_all(field: int, length: int) -> None:
    space, draws = ProjectiveSpace(field, length), np.random.default_rng(7)
    weights = draws.integers(0, 2**40, space.points) * draws.integers(0, 2, space.points)
    met = np.flatnonzero(weights)
    every = space.sums(weights)
    for size in range(1, space.points + 1):
        np.testing.assert_array_equal(space.first_sums(met, weights[met], size), every[:size])


def test_few_items_of_a_large_space_are_folded() -> None:
    space = ProjectiveSpace(149, 4)
    assert space.is_folded(100_000)
    assert not space.is_folded(space.items)
    assert not ProjectiveSpace(149, 2).is_folded(100)


@each_of(("field", "length"), [(4, 3), (1, 3), (2, 1), (9, 2), (2**31 - 1, 3)])
def test_other_spaces_are_refused(field: int, length: int) -> None:
    with pytest.raises(UsageError, match="projective space"):
        ProjectiveSpace(field, length)
