"""Block floating point against exact fractions, on numbers that floats could not hold side by side."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.numeric import BlockMatrix, BlockVector, align
from anonhist_testing.cases import each_of

BLOCKS, LENGTH = 4, 3
SIZE = BLOCKS * LENGTH
Numbers = list[Fraction]


def power(exponent: int) -> Fraction:
    # Blocks of zeros have an exponent far below all others.
    return Fraction(2) ** int(exponent) if exponent > -(2**50) else Fraction(0)


def exact(vector: BlockVector) -> Numbers:
    pairs = zip(vector.values, vector.exponents, strict=True)
    return [Fraction(float(value)) * power(exponent) for block, exponent in pairs for value in block]


def exact_matrix(matrix: BlockMatrix) -> list[Numbers]:
    rows = [[Fraction(0)] * SIZE for _ in range(SIZE)]
    for j, panel in enumerate(matrix.panels):
        for below, row in enumerate(panel):
            i = j * matrix.block + below
            scale = power(matrix.exponents[i // matrix.block, j])
            rows[i][j * matrix.block : (j + 1) * matrix.block] = [Fraction(float(value)) * scale for value in row]
    return rows


def vector_of(rng: np.random.Generator, *, spread: int) -> BlockVector:
    exponents = rng.integers(-spread, spread + 1, BLOCKS)
    return BlockVector(rng.random((BLOCKS, LENGTH)) + 0.1, exponents).normalize()


def matrix_of(rng: np.random.Generator, *, spread: int) -> BlockMatrix:
    matrix = BlockMatrix.of(np.tril(rng.random((SIZE, SIZE)) + 0.1), blocks=BLOCKS)
    return BlockMatrix(matrix.panels, matrix.exponents + np.tril(rng.integers(-spread, spread + 1, (BLOCKS, BLOCKS))))


def assert_blocks_agree(found: Numbers, expected: Numbers) -> None:
    for start in range(0, SIZE, LENGTH):
        largest = max(expected[start : start + LENGTH])
        for one, other in zip(found[start : start + LENGTH], expected[start : start + LENGTH], strict=True):
            assert abs(one - other) <= other / 2**48 + largest / power(1300)


@each_of("spread", [0, 700, 5000, 20_000])
def test_products_with_vectors(spread: int) -> None:
    rng = np.random.default_rng(spread)
    matrix, vector = matrix_of(rng, spread=spread), vector_of(rng, spread=spread)
    rows, numbers = exact_matrix(matrix), exact(vector)
    column = [sum((a * b for a, b in zip(row, numbers, strict=True)), Fraction(0)) for row in rows]
    assert_blocks_agree(exact(matrix @ vector), column)
    row = [sum((numbers[i] * rows[i][j] for i in range(SIZE)), Fraction(0)) for j in range(SIZE)]
    assert_blocks_agree(exact(vector @ matrix), row)


@pytest.mark.parametrize("spread", [0, 700, 5000])
def test_squares(spread: int) -> None:
    matrix = matrix_of(np.random.default_rng(spread), spread=spread)
    rows = exact_matrix(matrix)
    found = exact_matrix(matrix.square(floor=-(10**6)))
    for first in range(0, SIZE, LENGTH):
        for second in range(0, first + 1, LENGTH):
            inner = [
                (i, j, sum((rows[i][k] * rows[k][j] for k in range(SIZE)), Fraction(0)))
                for i in range(first, first + LENGTH)
                for j in range(second, second + LENGTH)
            ]
            largest = max(value for _, _, value in inner)
            assert all(abs(found[i][j] - value) <= value / 2**48 + largest / power(1300) for i, j, value in inner)


def test_blocks_below_the_floor_are_dropped() -> None:
    matrix = BlockMatrix.of(np.tril(np.ones((SIZE, SIZE))), blocks=BLOCKS)
    exponents = matrix.exponents.copy()
    exponents[:, 2] -= 3000
    small = BlockMatrix(matrix.panels, exponents).square(floor=-2000)
    assert small.panels[2].size == 0
    assert all(small.panels[j].size for j in (0, 1, 3))
    vector = BlockVector(np.ones((BLOCKS, LENGTH)), np.zeros(BLOCKS, dtype=np.int64))
    kept = exact_matrix(small)
    assert exact(small @ vector) == [sum(row) for row in kept]
    assert exact(vector @ small) == [sum(column) for column in zip(*kept, strict=True)]
    assert exact(small.square(floor=-2000) @ vector) == exact(small @ (small @ vector))


@each_of("by", [1, -1, 3, -3])
def test_shifted_numbers_stand_beside_each_other(by: int) -> None:
    vector = vector_of(np.random.default_rng(1), spread=900)
    numbers = exact(vector)
    own, beside = vector.with_shift(by)
    expected = [numbers[i + by] if 0 <= i + by < SIZE else Fraction(0) for i in range(SIZE)]
    largest = [max(numbers[max(0, i - 2 * LENGTH) : i + 2 * LENGTH + 1]) for i in range(SIZE)]
    for found, wanted in ((exact(own), numbers), (exact(BlockVector(beside, own.exponents)), expected)):
        for one, other, bound in zip(found, wanted, largest, strict=True):
            assert abs(one - other) <= bound / power(1300)


def ratios(weights: NDArray[np.float64]) -> Numbers:
    exactly = [Fraction(float(weight)) for weight in weights]
    return [one / max(exactly) for one in exactly]


def test_weights_of_decisions() -> None:
    rng = np.random.default_rng(4)
    matrix, vector, other = matrix_of(rng, spread=2000), vector_of(rng, spread=2000), vector_of(rng, spread=2000)
    rows, numbers = exact_matrix(matrix), exact(vector)
    at, low, high = np.array([11, 4, 7]), 2, 9
    for found, row in zip(matrix.row_weights(at, low, high, vector), at.tolist(), strict=True):
        assert_same_distribution(found, [rows[row][i] * numbers[i] for i in range(low, high)])
    columns = np.array([1, 3, 0])
    for found, row, column in zip(matrix.path_weights(at, columns, low, high), at, columns, strict=True):
        assert_same_distribution(found, [rows[row][i] * rows[i][column] for i in range(low, high)])
    index, factors = np.array([[0, 5], [11, 3]]), np.array([[0.5, 2.0], [1.0, 0.0]])
    for found, chosen, factor in zip(vector.weigh(factors, index), index, factors, strict=True):
        assert_same_distribution(found, [numbers[i] * Fraction(f) for i, f in zip(chosen, factor, strict=True)])
    assert_same_distribution(vector.times(other), [a * b for a, b in zip(numbers, exact(other), strict=True)])


def assert_same_distribution(found: NDArray[np.float64], expected: Numbers) -> None:
    largest = max(expected)
    for one, other in zip(ratios(found), expected, strict=True):
        assert abs(one - other / largest) <= other / largest / 2**50 + 1 / power(1000)


def test_zero_blocks_weigh_nothing() -> None:
    values = np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]])
    vector = BlockVector(values, np.array([9000, 5, -9000])).normalize()
    assert exact(vector) == [0, 0, 32, 64, 0, 0]
    matrix = BlockMatrix.of(np.eye(6), blocks=3)
    assert exact(matrix @ vector) == exact(vector @ matrix) == exact(vector)
    scaled, taken = align(np.zeros((1, 2)), np.array([[7, -7]]))
    assert scaled.tolist() == [[0.0, 0.0]]
    assert taken.shape == (1,)
