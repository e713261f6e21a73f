import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.numeric.projective_space import HadamardMatrix, walsh_hadamard
from anonhist_testing.cases import each_of

SIZES = [2, 4, 8, 64]


def signs(size: int) -> np.ndarray:
    """By the definition of Sylvester: H_2b = [[H_b, H_b], [H_b, −H_b]]."""
    matrix = np.ones((1, 1), dtype=np.int64)
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


@each_of("size", [1, *SIZES])
def test_the_transform_is_that_of_the_matrix(size: int) -> None:
    values = np.random.default_rng(7).integers(-(2**40), 2**40, (3, size))
    kept = values.copy()
    np.testing.assert_array_equal(walsh_hadamard(values), values @ signs(size))
    np.testing.assert_array_equal(values, kept)


@each_of("size", SIZES)
def test_rows_support_the_columns_where_they_are_positive(size: int) -> None:
    design = HadamardMatrix(size)
    supports = design.supports(np.arange(size)[:, np.newaxis], np.arange(design.items))
    np.testing.assert_array_equal(supports, signs(size)[:, 1:] == 1)
    overlap = supports.T.astype(int) @ supports
    expected = np.full((size - 1, size - 1), float(design.num_shared))
    np.fill_diagonal(expected, design.support)
    np.testing.assert_array_equal(overlap, expected)


@each_of("size", SIZES)
def test_choices_are_the_supporting_rows_each_once(size: int) -> None:
    design = HadamardMatrix(size)
    choices = np.arange(design.support)
    for item in range(design.items):
        rows = design.supporter(np.full(choices.size, item), choices)
        np.testing.assert_array_equal(np.sort(rows), np.flatnonzero(signs(size)[:, item + 1] == 1))


@each_of("size", SIZES)
def test_sums_and_their_adjoint_are_those_of_the_supports(size: int) -> None:
    design, draws = HadamardMatrix(size), np.random.default_rng(7)
    supports = signs(size)[:, 1:] == 1
    weights = draws.integers(0, 2**50, (2, size))
    np.testing.assert_array_equal(design.sums(weights), weights @ supports)
    np.testing.assert_allclose(design.sums(weights / 2**50), (weights / 2**50) @ supports, rtol=1e-13)
    shares = draws.random((2, size - 1))
    np.testing.assert_allclose(design.spread(shares), shares @ supports.T, rtol=1e-13)


def test_sums_hold_as_many_users_as_a_tally() -> None:
    weights = np.array([2**61, 0, 2**61 - 1, 1])
    assert HadamardMatrix(4).sums(weights).tolist() == [2**62 - 1, 2**61, 2**61 + 1]


@each_of("size", [0, 1, 3, 12])
def test_other_sizes_are_refused(size: int) -> None:
    with pytest.raises(UsageError, match="power of two"):
        HadamardMatrix(size)
