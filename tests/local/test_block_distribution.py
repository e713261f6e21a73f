from fractions import Fraction

import numpy as np
import pytest

from anonhist.local.block_design import BlockDesign, BlockEstimator
from anonhist.numeric import ExponentialQuotient
from anonhist.numeric.projective_space import HadamardMatrix, ProjectiveSpace

CASES = [
    (BlockDesign(HadamardMatrix(8), 1), 7),
    (BlockDesign(HadamardMatrix(4), 3), 8),
    (BlockDesign(HadamardMatrix(2), 5), 5),
    (BlockDesign(ProjectiveSpace(3, 2), 3), 10),
    (BlockDesign(ProjectiveSpace(2, 3), 2), 12),
    (BlockDesign(ProjectiveSpace(3, 3), 1), 9),
]
EPSILONS = ["1/100", "1", "6"]


def distributions() -> list[tuple[BlockEstimator, np.ndarray, np.ndarray]]:
    """Each distribution with the exact matrix of its survey, and what a cell counts for the estimate of a value."""
    made = []
    for (blocks, size), text in [(case, text) for case in CASES for text in EPSILONS]:
        epsilon = Fraction(text)
        distribution = BlockEstimator(blocks, size, epsilon)
        matrix = blocks.matrix(size, ExponentialQuotient.exponential(epsilon))
        cells, values = np.arange(blocks.cells), np.arange(size)[:, np.newaxis]
        supports = blocks.supports(cells, values).astype(np.int64)
        beside = (cells // blocks.design.points == values // blocks.design.items).astype(np.int64)
        made.append(
            (
                distribution,
                np.array([[float(entry) for entry in row] for row in matrix]),
                distribution.raw(supports, beside, 1),
            )
        )
    return made


@pytest.mark.slow
def test_estimates_are_unbiased_for_every_value() -> None:
    for distribution, matrix, counted in distributions():
        np.testing.assert_allclose(counted @ matrix.T, np.eye(distribution.size), atol=1e-11 * distribution.factor)


@pytest.mark.slow
def test_variances_are_those_of_the_exact_matrix() -> None:
    for distribution, matrix, counted in distributions():
        variances = counted**2 @ matrix.T - (counted @ matrix.T) ** 2
        own, near, far = distribution.variances
        home = np.arange(distribution.size) // distribution.blocks.design.items
        expected = np.where(home == home[:, np.newaxis], near, far)
        np.fill_diagonal(expected, own)
        np.testing.assert_allclose(variances, expected, rtol=1e-7, atol=1e-9)
        shares = np.random.default_rng(7).dirichlet(np.ones(distribution.size))
        together = np.bincount(home, shares)[home]
        np.testing.assert_allclose(variances @ shares, distribution.variance(shares, together - shares), rtol=1e-7)


@pytest.mark.slow
def test_the_mean_variance_is_that_over_all_values_of_equal_frequency() -> None:
    for distribution, matrix, counted in distributions():
        variances = counted**2 @ matrix.T - (counted @ matrix.T) ** 2
        assert distribution.mean_variance == pytest.approx(variances.mean(), rel=1e-7)


@pytest.mark.slow
def test_block_shares_are_unbiased() -> None:
    for distribution, matrix, _ in distributions():
        blocks = distribution.blocks
        home = np.arange(distribution.size) // blocks.design.items
        for block in range(blocks.blocks):
            reached = matrix[:, block * blocks.design.points : (block + 1) * blocks.design.points].sum(axis=1)
            shares = [float(distribution.block_share(np.array(each), 1)) for each in (0, 1)]
            mean = shares[0] * (1 - reached) + shares[1] * reached
            np.testing.assert_allclose(mean, home == block, atol=1e-8)


@pytest.mark.slow
def test_support_in_the_block_is_at_most_as_probable_as_the_null_says() -> None:
    for distribution, matrix, _ in distributions():
        blocks = distribution.blocks
        values = np.arange(distribution.size)
        supports = blocks.supports(np.arange(blocks.cells), values[:, np.newaxis])
        beside = np.arange(blocks.cells) // blocks.design.points == values[:, np.newaxis] // blocks.design.items
        given = (supports @ matrix.T) / (beside @ matrix.T)
        others = given[~np.eye(distribution.size, dtype=bool)]
        assert others.max() <= distribution.null_probability * (1 + 1e-12)
        # And hardly less: the test gives nothing away.
        assert others.max() >= distribution.null_probability * (1 - 1e-12)
        assert (np.diag(given) > distribution.null_probability).all()


def test_variances_of_hadamard_response_are_the_published_ones() -> None:
    epsilon = Fraction(5)
    odds = float(np.exp(5.0))
    for blocks in (1, 7, 128):
        distribution = BlockEstimator(BlockDesign(HadamardMatrix(256), blocks), 200 * blocks, epsilon)
        own, near, far = distribution.variances
        assert far == pytest.approx(2 * (2 * blocks - 1 + odds) / (odds - 1) ** 2, rel=1e-12)
        assert near == pytest.approx((odds + 1) * (2 * blocks - 1 + odds) / (odds - 1) ** 2, rel=1e-12)
        assert own == pytest.approx(near - 1, rel=1e-12)


def test_a_tiny_epsilon_loses_no_digits() -> None:
    distribution = BlockEstimator(BlockDesign(HadamardMatrix(1024), 1), 1000, Fraction(1, 10**9))
    # ((E + 1)/(E − 1))² = (2/ε)²·(1 + O(ε²)).
    assert distribution.variances[1] == pytest.approx(4e18, rel=1e-12)
